"""Owned nodes under forces that a master holds over its steps: those of springs that are too stiff for them add energy, and
the FMU says so; for all others it is silent."""

import re

import numpy as np
import pytest
from owned_cases import ORDERS, chain, oscillator, owned_slave

# Before the first impact a spring looks like a force that is a function of time, unless it grows fast.
STEPS_TO_WARN = 5


def impact_time(result):
    """When the FMU's mass first turns round."""
    return result.times[np.argmax(result.states[:, len(result.mass)] > 0.0)]


def check(result, step):
    """Any gain is warned about, one of 1 % before it is there or right after the first impact, and before the energy has
    grown fourfold."""
    parts = result.energies / result.energies[0]
    assert result.warnings or parts.max() < 1 + 1e-9
    grown = result.times[np.argmax(parts > 1.01)] if parts.max() > 1.01 else np.inf
    first = impact_time(result)
    then = parts[np.searchsorted(result.times, result.warned)] if result.warnings else np.nan
    print("most", parts.max(), "end", parts[-1], "grown", grown, "impact", first, "warned", result.warned, "at", then,
          result.warnings[:1])
    if np.isfinite(grown):
        assert result.warned <= max(grown, first + STEPS_TO_WARN * step)
        assert then < 4.0
    for warning in result.warnings:
        assert "node.f_ext" in warning and "give it with its derivative, take a smaller communication step" in warning


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("stiffness", [1e3, 1e4])
def test_no_gain_without_a_warning(fmus, order, stiffness, step):
    result = oscillator(fmus, order, stiffness, step, stop=0.5 if step == 1e-4 else 1.0)
    check(result, step)
    # The energy that is told is the gain of the sequential order, and here all of that is before the first impact.
    if step == 1e-4 and order == "sequential":
        added = float(re.search(r"added up to (\S+) J", result.warnings[0])[1])
        assert added == pytest.approx(result.energies.max() - result.energies[0], rel=2e-2)


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
    "resonance": lambda t, r, v, k: [0.0, 0.0, 4.0 * t * np.sin(60.0 * t)],
    "switched": lambda t, r, v, k: [0.0, 0.0, 9.0 * np.sign(np.sin(20.0 * t))],
    "switched hard": lambda t, r, v, k: [0.0, 0.0, 60.0 * np.sign(np.sin(50.0 * t))],
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
    seen = [slave.references[name] for name in ("node.r[3]", "node.v[3]", "node_floor.impulse")]
    for k in range(round(5.0 / step)):
        r, v, impulse = slave.getReal(seen)
        hits += impulse > 1.0
        slave.setReal(push, [float(f) for f in HARMLESS[name](k * step, r, v, k)])
        slave.doStep(k * step, step)
    slave.terminate()
    slave.freeInstance()
    assert slave.warnings == []
    assert hits > 0


# Pushes along the floor of a block of 1 kg that rests on it with friction 0.3.
PUSHES = {
    "rests": lambda t, k: [0.0, 0.0, 0.0],
    "is pressed": lambda t, k: [1.0, 0.0, -20.0 - 19.0 * np.sin(30.0 * t)],
    "slides": lambda t, k: [5.0, 0.0, 0.0],
    "sticks and slips": lambda t, k: [6.0 * np.sin(7.0 * t), 0.0, 0.0],
    "is shaken": lambda t, k: [8.0 * np.sin(200.0 * t), 3.0 * RANDOM[k, 1], 0.0],
}


@pytest.mark.parametrize("step", [1e-2, 1e-3])
@pytest.mark.parametrize("name", PUSHES)
def test_pushes_of_a_block_on_the_floor(fmus, name, step):
    slave = owned_slave(fmus, step, 10.0, 0.0, contact="friction.cone.mu = 0.3")
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    push = [slave.references[f"node.f_ext[{axis}]"] for axis in (1, 2, 3)]
    for k in range(round(2.0 / step)):
        slave.setReal(push, [float(f) for f in PUSHES[name](k * step, k)])
        slave.doStep(k * step, step)
    r, height = slave.real("node.r[1]", "node.r[3]")
    slave.terminate()
    slave.freeInstance()
    assert slave.warnings == []
    assert abs(height) < 1e-9 and (abs(r) > 1e-4) == (name in ("slides", "sticks and slips", "is shaken"))


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
