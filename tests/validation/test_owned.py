"""Owned nodes under forces that a master holds over its steps: those of springs that are too stiff for them add energy, and
the FMU says so; for all others it is silent."""

import numpy as np
import pytest
from owned_cases import ORDERS, chain, oscillator, owned_slave

# A master that holds the position of a body in free flight adds energy to its own masses, which the FMU cannot see.
UNSEEN = 1.07
# After the first impact, or from the start where forces grow before it.
STEPS_TO_WARN = 15


def impact_time(result):
    """When the FMU's mass first turns round."""
    return result.times[np.argmax(result.states[:, len(result.mass)] > 0.0)]


def check(result, step):
    parts = result.energies / result.energies[0]
    grown = result.times[np.argmax(parts > UNSEEN)] if parts.max() > UNSEEN else np.inf
    first = impact_time(result)
    print("most", parts.max(), "end", parts[-1], "grown", grown, "impact", first, "warned", result.warned, result.warnings[:1])
    if np.isfinite(grown):
        assert result.warned <= max(grown, first + STEPS_TO_WARN * step)
    for warning in result.warnings:
        assert "node.f_ext" in warning and "give it with its derivative, take a smaller communication step" in warning


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("stiffness", [1e3, 1e4])
def test_no_gain_without_a_warning(fmus, order, stiffness, step):
    result = oscillator(fmus, order, stiffness, step)
    check(result, step)
    if stiffness * step**2 >= 0.1:
        assert result.warnings
    if step == 1e-4:
        assert (result.energies / result.energies[0]).max() < UNSEEN


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
def test_no_gain_of_a_chain_without_a_warning(fmus, order, step):
    result = chain(fmus, order, step)
    check(result, step)
    if step == 1e-4:
        assert (result.energies / result.energies[0]).max() < 1.002


@pytest.mark.parametrize("order", ORDERS[:2])
@pytest.mark.parametrize("stiffness, step", [(1e3, 1e-3), (1e3, 1e-4), (1e4, 1e-3), (1e4, 1e-4)])
def test_no_warning_with_derivatives(fmus, order, stiffness, step):
    result = oscillator(fmus, order, stiffness, step, derivative=True)
    assert result.warnings == []
    assert (result.energies / result.energies[0]).max() < 1 + 1e-9


def test_growth_without_contact(fmus):
    """A mass on a spring of the master to a fixed point, let go stretched, far from the floor: its energy grows by the factor
    1 + (H omega)^2 / 2 in each step."""
    step, stiffness = 1e-2, 1e4
    slave = owned_slave(fmus, step, 0.0, 100.0)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    for k in range(30):
        slave.set_named({"node.f_ext[3]": stiffness * (100.1 - slave.real("node.r[3]")[0])})
        slave.doStep(k * step, step)
    slave.terminate()
    slave.freeInstance()
    assert len(slave.warnings) == 1 and "node.f_ext grows without end" in slave.warnings[0]


def soft_start(t, duration=0.1):
    s = np.clip(t / duration, 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


RANDOM = np.random.default_rng(4).normal(size=(100_000, 3))
# Forces on a ball of 1 kg as functions of time, its state and the step.
HARMLESS = {
    "constant": lambda t, r, v, k: [3.0, 0.0, -5.0],
    "slow": lambda t, r, v, k: [0.0, 0.0, 8.0 * np.sin(3.0 * t)],
    "harmonic": lambda t, r, v, k: [2.0 * np.cos(40.0 * t), 0.0, 8.0 * np.sin(60.0 * t)],
    "fast": lambda t, r, v, k: [0.0, 0.0, 50.0 * np.sin(300.0 * t)],
    "beats": lambda t, r, v, k: [0.0, 0.0, 9.0 * np.sin(60.0 * t) + 8.0 * np.sin(66.0 * t)],
    "random": lambda t, r, v, k: 20.0 * RANDOM[k],
    "random walk": lambda t, r, v, k: 0.2 * RANDOM[: k + 1].sum(axis=0),
    "switched": lambda t, r, v, k: [0.0, 0.0, 9.0 * np.sign(np.sin(20.0 * t))],
    "ramp": lambda t, r, v, k: [0.0, 0.0, 9.0 * t],
    "set in softly": lambda t, r, v, k: [0.0, 0.0, 9.0 * soft_start(t) * np.sin(200.0 * t)],
    "by contact": lambda t, r, v, k: [0.0, 0.0, -8.0 if r < 0.01 else 0.0],
    "soft damped spring": lambda t, r, v, k: [0.0, 0.0, 100.0 * (0.3 - r) - 2.0 * v],
    "drag": lambda t, r, v, k: [0.0, 0.0, -0.5 * abs(v) * v],
}


@pytest.mark.parametrize("step", [1e-2, 1e-3])
@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_forces(fmus, name, step):
    slave = owned_slave(fmus, step, 10.0, 0.801)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    push = [slave.references[f"node.f_ext[{axis}]"] for axis in (1, 2, 3)]
    hits = 0
    for k in range(round(5.0 / step)):
        r, v = slave.real("node.r[3]", "node.v[3]")
        slave.setReal(push, [float(f) for f in HARMLESS[name](k * step, r, v, k)])
        slave.doStep(k * step, step)
        hits += slave.real("node_floor.impulse")[0] > 1.0
    slave.terminate()
    slave.freeInstance()
    assert slave.warnings == []
    assert hits > 0


def test_steps_that_are_repeated_are_not_compared(fmus):
    """A master that goes back to the start of each step and tries forces of a stiff spring."""
    step = 1e-2
    slave = owned_slave(fmus, step, 10.0, 0.801)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    for k in range(100):
        start = slave.getFMUstate()
        for part in (0.0, 1.0, 0.5):
            slave.setFMUstate(start)
            slave.set_named({"node.f_ext[3]": part * 1e4 * (0.5 - slave.real("node.r[3]")[0])})
            slave.doStep(k * step, step)
        slave.freeFMUstate(start)
    slave.terminate()
    slave.freeInstance()
    assert slave.warnings == []
