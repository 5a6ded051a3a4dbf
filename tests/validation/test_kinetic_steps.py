"""Kinetic couplings at large, small and changing communication steps: energy never rises without a warning."""

import exact
import numpy as np
import pytest
from kinetic_cases import LATENCY, ORDERS, Options, ball, chain, energy_gain, impacts, oscillator

both_orders = pytest.mark.parametrize("order", ORDERS)
both_latencies = pytest.mark.parametrize("auto", [False, True], ids=["given", "auto"])

CASES = {
    "ball": lambda fmus, options: ball(fmus, options, stop=4.5 if options.step > 1e-4 else 2.0),
    "soft oscillator": lambda fmus, options: oscillator(fmus, options, 1e3),
    "stiff oscillator": lambda fmus, options: oscillator(fmus, options, 1e4),
    "chain": chain,
}


def check_energy(result):
    """Either the energy never rises, or it was said that the coupling does not work well."""
    if energy_gain(result) < 5e-6:
        return
    assert any("does not respond as expected" in warning for warning in result.warnings)
    assert result.shaping == 0


@both_orders
@both_latencies
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
def test_energy(fmus, order, auto, name, step):
    result = CASES[name](fmus, Options(order, step, auto))
    check_energy(result)
    assert result.latency == LATENCY[order]
    fine = step < 1e-2 or name == "ball"
    assert (result.warnings == []) == fine
    assert result.shaping == int(fine)


@both_orders
@both_latencies
@pytest.mark.parametrize("step", [1e-2, 1e-4])
def test_ball(fmus, order, auto, step):
    result = ball(fmus, Options(order, step, auto), stop=1.7)
    times, _ = exact.ball_impacts(3)
    found = impacts(result)
    assert np.abs(found[:3, 0] - times).max() < 3e-8
    assert np.abs(found[:3, 2] / found[:3, 1] - 0.8).max() < 3e-8
    assert result.position.min() > -10.0 * step**2 / 2


@both_orders
@both_latencies
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_changing_steps(fmus, order, auto, seed, step):
    """Each step is drawn between a fifth of the largest one and all of it."""
    lengths = step * np.random.default_rng(seed).uniform(0.2, 1.0, size=round(12 / step))
    result = ball(fmus, Options(order, step, auto, lengths=lengths), stop=5.0)
    times, speeds = exact.ball_impacts(4)
    for bounce in range(3):
        top = np.searchsorted(result.times, 0.5 * (times[bounce] + times[bounce + 1]))
        assert abs(result.energies[top] / (0.5 * speeds[bounce + 1] ** 2) - 1) < 3e-8
    rests = result.times > 4.5
    assert np.abs(result.position[rests]).max() < 1e-14
    assert np.abs(result.velocity[rests]).max() < 1e-12
    assert result.latency == LATENCY[order]
    assert result.warnings == []


@both_orders
def test_substeps_change_nothing(fmus, order):
    """Impact times are exact, so that ten internal steps find what one does."""
    step = 1e-2
    runs = [ball(fmus, Options(order, step, engine=f"step = {step / parts}"), stop=4.5) for parts in (1, 10)]
    assert np.abs(runs[0].states - runs[1].states).max() < 1e-12
