"""Adjoint derivatives of FMI 3.0: those of the forward pass to 1e-12, in one pass back over the step."""

import time as clock
from ctypes import byref, c_bool, c_double, c_uint32

import numpy as np
import pytest
from conftest import ROOT, contact_fmu
from fmi3_side import slave3

MODELS = sorted(path.parent.name for path in (ROOT / "models").glob("*/model.toml"))
# Steps that an adjoint derivative may take.
MOST_STEPS = 5.0
# More where a step has many operations, each of which is noted: 1.5 times of what was measured.
MORE_STEPS = {"chain": 16.5, "slider_crank": 8.5, "domino_row": 7.5, "manipulator": 14.0}
# Clocks are not read more often than this.
MOST_READINGS = 200


@pytest.fixture(scope="module")
def fmu3(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adjoint")

    def build(model):
        path = folder / f"{model}.fmu"
        contact_fmu("build", ROOT / "models" / model / "model.toml", "--fmi", "3", "-o", path)
        return str(path)

    return build


class Call:
    """Everything real that can be asked for, with respect to everything real that can be changed."""

    def __init__(self, slave):
        self.slave = slave
        real = [variable for variable in slave.variables.values() if variable.type == "Float64"]
        self.outputs = [variable for variable in real if variable.causality == "output" and not variable.clocks]
        self.knowns = [
            variable for variable in real
            if variable.causality == "input" or (variable.causality == "parameter" and variable.variability == "tunable")
        ]
        # What the step is cut into is no quantity of the model.
        self.knowns = [variable for variable in self.knowns if not variable.name.startswith("engine.")]

    @staticmethod
    def references(variables):
        return (c_uint32 * len(variables))(*[variable.valueReference for variable in variables])

    @staticmethod
    def size(variables):
        return sum(int(np.prod([int(dimension.start) for dimension in variable.dimensions], initial=1)) for variable in variables)

    def derivative(self, name, seed, count, outputs=None):
        outputs = self.outputs if outputs is None else outputs
        seed, result = (c_double * len(seed))(*seed), (c_double * count)()
        fmu = self.slave.fmu
        function = getattr(fmu, f"fmi3Get{name}Derivative")
        arguments = (
            fmu.component, self.references(outputs), len(outputs), self.references(self.knowns), len(self.knowns),
            seed, len(seed), result, count,
        )
        function(*arguments)
        return lambda: (function(*arguments), np.array(result))[1]


def started(slave, steps):
    step = float(slave.description.defaultExperiment.stepSize)
    slave.start()
    for k in range(steps):
        slave.fmu.doStep(k * step, step)
    return steps * step, step


@pytest.mark.parametrize("model", MODELS)
def test_adjoint_is_the_transpose_of_forward(fmu3, model):
    """w . (J v) = (J' w) . v for all outputs and all inputs and parameters, after 40 steps."""
    with slave3(fmu3(model)) as slave:
        started(slave, 40)
        call = Call(slave)
        n, m = call.size(call.outputs), call.size(call.knowns)
        numbers = np.random.default_rng(1)
        for _ in range(3):
            w, v = numbers.normal(size=n), numbers.normal(size=m)
            forward = call.derivative("Directional", v, n)()
            adjoint = call.derivative("Adjoint", w, m)()
            terms = np.concatenate([w * forward, -v * adjoint])
            assert abs(terms.sum()) <= 1e-12 * np.abs(terms).sum(), (terms.sum(), np.abs(terms).sum())


@pytest.mark.parametrize("model", MODELS)
def test_one_output_costs_few_steps(fmu3, model):
    """The derivative of one output with respect to all inputs and parameters, in times of the step that it is of.

    An input differs a little from step to step: a step that repeats the one before at rest is not made, and costs nothing to
    compare with.
    """
    most = MORE_STEPS.get(model, MOST_STEPS)
    with slave3(fmu3(model)) as slave:
        at, step = started(slave, 20)
        state = slave.fmu.getFMUState()
        flags, last = [c_bool() for _ in range(3)], c_double()
        best = [np.inf, np.inf]
        call = Call(slave)
        output = [variable for variable in call.outputs if variable.name.endswith(".r")][:1] or call.outputs[:1]
        inputs = [variable for variable in call.knowns if variable.causality == "input"][:1]
        given = [slave.fmu.getFloat64([variable.valueReference], call.size([variable])) for variable in inputs]
        m = call.size(call.knowns)
        for reading in range(MOST_READINGS):
            slave.fmu.setFMUState(state)
            for variable, values in zip(inputs, given, strict=True):
                slave.fmu.setFloat64([variable.valueReference], [value + 1e-9 * (1 + reading) for value in values])
            begin = clock.thread_time()
            slave.fmu.fmi3DoStep(slave.fmu.component, at, step, True, *map(byref, flags), byref(last))
            best[0] = min(best[0], clock.thread_time() - begin)
            adjoint = call.derivative("Adjoint", [1.0] * call.size(output), m, output)
            begin = clock.thread_time()
            adjoint()
            best[1] = min(best[1], clock.thread_time() - begin)
            if reading >= 5 and best[1] < most * best[0]:
                break
        slave.fmu.freeFMUState(state)
    print(f"{model}: {m} inputs, {best[1] / best[0]:.2f} steps of {1e6 * best[0]:.0f} us")
    assert best[1] < most * best[0]
