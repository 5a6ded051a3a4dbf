"""FMUs of bodies that a master moves, built from model texts, and a master that repeats steps."""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from conftest import contact_fmu
from fmpy import extract, read_model_description
from masters import FMU2NamedSlave
from smooth_sides import Node


class Models:
    """Builds and unpacks the FMU of a model text once."""

    def __init__(self, folder):
        self.folder, self.known = folder, {}

    @contextmanager
    def instance(self, text, **start):
        """An instance before its initialization, with start values by name; `__` in names stands for a dot."""
        if text not in self.known:
            number = len(self.known)
            source, fmu = (self.folder / f"model{number}.{end}" for end in ("toml", "fmu"))
            source.write_text(text)
            contact_fmu("build", source, "-o", fmu)
            unpacked = self.folder / f"model{number}"
            extract(str(fmu), unzipdir=str(unpacked))
            self.known[text] = read_model_description(str(fmu)), str(unpacked)
        one = FMU2NamedSlave(*self.known[text])
        one.instantiate()
        one.set_named({name.replace("__", "."): value for name, value in start.items()})
        try:
            yield one
        finally:
            one.freeInstance()

    def remove(self):
        shutil.rmtree(self.folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    models = Models(tmp_path_factory.mktemp("coupled"))
    yield models
    models.remove()


class IterativeNode(Node):
    """A node that is given the state at the end of a step and the force that led there."""

    def __init__(self, slave, name, axes, offset=(0.0, 0.0, 0.0)):
        super().__init__(slave, name, axes, offset)
        references = lambda letter: [slave.references[f"{name}.{letter}[{axis + 1}]"] for axis in self.axes]
        self.velocities, self.applied = references("v"), references("f_applied")

    def tell(self, force):
        self.slave.setReal(self.applied, list(force))


class Iterating:
    """Repeats each step until the force that the FMU answers is the one that was applied. `side` is moved along the
    axes of all nodes, one node after the other; `also` has what else the FMU is given at the start of a step."""

    # Differences of impulses, relative to impulses above 1 N.s, that count as none.
    TOLERANCE = 1e-12
    MOST = 50

    def __init__(self, side, nodes, also=lambda time: {}):
        self.side, self.nodes, self.slave, self.also = side, nodes, nodes[0].slave, also
        self.force = np.zeros(sum(len(node.axes) for node in nodes))
        self.time, self.iterations = 0.0, []
        self.give(side.x)
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        self.outputs = [reference for node in nodes for reference in node.outputs]
        self.velocities = [reference for node in nodes for reference in node.velocities]
        self.applied = [reference for node in nodes for reference in node.applied]

    def give(self, x):
        first = 0
        for node in self.nodes:
            rows = self.side.touching[first : first + len(node.axes)]
            node.give(x[rows], x[[self.side.n + row for row in rows]])
            first += len(node.axes)

    def answer(self, saved, force, h):
        """State of the side and answer of the FMU when `force` is applied."""
        x = self.side.trial(force, h)
        self.slave.setFMUstate(saved)
        self.give(x)
        self.slave.setReal(self.applied, list(force))
        self.slave.set_named(self.also(self.time))
        self.slave.doStep(self.time, h)
        return x, np.array(self.slave.getReal(self.outputs))

    def derivative(self, h):
        """d answer / d force at the last answer."""
        column = lambda reference: self.slave.getDirectionalDerivative(self.outputs, [reference], [1.0])
        by_velocity = np.array([column(reference) for reference in self.velocities]).T
        by_force = np.array([column(reference) for reference in self.applied]).T
        side = self.side.matrices(h)[1][[self.side.n + row for row in self.side.touching], :-1]
        return by_velocity @ side + by_force

    def step(self, h, method):
        saved = self.slave.getFMUstate()
        force, weight, last = self.force, 1.0, None
        for count in range(1, self.MOST + 1):
            x, answer = self.answer(saved, force, h)
            residual = answer - force
            if np.abs(residual).max() * h <= self.TOLERANCE * max(1.0, np.abs(force).max() * h):
                break
            if method == "Newton":
                force = force + np.linalg.solve(np.eye(len(force)) - self.derivative(h), residual)
            elif method == "Aitken":
                if last is not None:
                    change = residual - last
                    weight = np.clip(-weight * (last @ change) / (change @ change), 0.05, 20.0)
                force, last = force + weight * residual, residual
            else:
                raise ValueError(method)
        self.slave.freeFMUstate(saved)
        assert count < self.MOST, f"no agreement at {self.time} s: {residual}"
        self.side.x, self.force = x, force
        self.iterations.append(count)

    def run(self, steps, h, method):
        """States at all communication points."""
        states = [self.side.x.copy()]
        for k in range(steps):
            self.time = k * h
            self.step(h, method)
            states.append(self.side.x.copy())
        return np.array(states)
