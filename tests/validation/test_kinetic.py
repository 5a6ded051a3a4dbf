"""Kinetic couplings, state in and force out, with masters that integrate exactly: against exact solutions, in both
exchange orders, with the latency given or found out."""

from functools import lru_cache

import exact
import numpy as np
import pytest
from kinetic_cases import (
    LATENCY,
    ORDERS,
    Options,
    ball,
    chain,
    chain_system,
    impacts,
    on_plane,
    oscillator,
    oscillator_system,
)

G = 10.0
STEP = 1e-3

pytestmark = pytest.mark.parametrize("order", ORDERS)
both_latencies = pytest.mark.parametrize("auto", [False, True], ids=["given", "auto"])


@lru_cache
def exact_oscillator(stiffness, step):
    return exact.stopped(*oscillator_system(stiffness), 0.8, step * np.arange(round(1.0 / step) + 1))


@lru_cache
def exact_chain():
    return exact.stopped(*chain_system(), 0.8, STEP * np.arange(2601))


def check_latency(result, order, auto, first_impact):
    """The latency is the true one, and was known before the first impact; nothing was worth a warning."""
    assert result.latency == LATENCY[order]
    assert result.detected < (first_impact if auto else 1.5 * STEP)
    assert result.shaping == 1
    assert result.warnings == []


@both_latencies
def test_ball(fmus, order, auto):
    result = ball(fmus, Options(order, auto=auto))
    times, speeds = exact.ball_impacts(4)
    check_latency(result, order, auto, times[0])
    found = impacts(result)
    assert np.abs(found[:3, 0] - times[:3]).max() < 1e-9
    assert np.abs(found[:4, 2] / found[:4, 1] - 0.8).max() < 1e-9
    assert np.abs(found[:4, 1] / speeds - 1).max() < 1e-9
    assert result.position.min() > -G * STEP**2 / 2
    rests = result.times > 4.5
    assert np.abs(result.position[rests]).max() < 1e-13
    assert np.abs(result.forces[rests[1:]] - G).max() < 1e-8


@both_latencies
@pytest.mark.parametrize("mass", [0.5, 2.0])
def test_ball_of_wrong_mass(fmus, order, auto, mass):
    result = ball(fmus, Options(order, auto=auto, mass=mass))
    assert result.latency == LATENCY[order]
    assert result.warnings == []
    found = impacts(result)
    assert np.abs(found[1:4, 2] / found[1:4, 1] - 0.8).max() < 1e-9
    # The second half of the first impulse makes up for the first.
    assert np.abs(found[0, 2] / found[0, 1] - 0.8) < 1e-9
    assert abs(result.mass - 1.0) < 1e-9
    assert np.abs(result.position[result.times > 4.5]).max() < 1e-13


@both_latencies
@pytest.mark.parametrize(
    "stiffness, step, bar",
    # The parallel order looks one window further ahead, over springs that bend the way.
    [
        (1e3, 1e-3, {"sequential": 3e-3, "parallel": 3e-3}),
        (1e4, 1e-3, {"sequential": 4e-3, "parallel": 2e-2}),
        (1e4, 1e-4, {"sequential": 5e-4, "parallel": 5e-4}),
    ],
)
def test_oscillator(fmus, order, auto, stiffness, step, bar):
    result = oscillator(fmus, Options(order, step, auto), stiffness, stop=1.0)
    check_latency(result, order, auto, np.sqrt(2 * 0.801 / G))
    assert np.abs(result.position - exact_oscillator(stiffness, step)[:, 0]).max() < bar[order]
    assert abs(result.mass - 1.0) < 1e-3


@both_latencies
def test_chain(fmus, order, auto):
    result = chain(fmus, Options(order, auto=auto))
    check_latency(result, order, auto, 0.1)
    expected = exact_chain()
    energy = result.side.energies(expected)[-1]
    assert abs(energy / 50.0 - 0.9850) < 1e-4
    assert abs(result.energies[-1] - energy) < 2e-4 * 50.0
    impulse = expected[-1, 100:].sum() + 100.0
    assert abs(impulse - 197.885) < 1e-3
    assert abs(result.forces.sum() * STEP - impulse) < 5e-3
    assert np.abs(result.position - expected[:, 0]).max() < 1e-3
    assert abs(result.mass - 1.0) < 1e-2


@both_latencies
def test_tilted_plane(fmus, order, auto):
    g, angle, mu = 9.81, 0.05, 0.02
    height = np.cos(angle) - 0.1
    result = on_plane(fmus, Options(order, auto=auto), angle, g, 0.8, mu, (0.0, height), 5.0)
    check_latency(result, order, auto, np.sqrt(2 * height / (g * np.cos(angle))))
    expected = exact.tilted_travel(result.times, height, g, angle, mu, 0.8)
    assert abs(expected[-1] - 3.69724) < 5e-6
    assert abs(result.position[-1] - expected[-1]) < 1e-8
    assert np.abs(result.position - expected).max() < 5e-5
    assert result.states[:, 1].min() > -g * STEP**2 / 2


@both_latencies
def test_stick_slip_under_a_harmonic_force(fmus, order, auto):
    g, mu, omega = 9.81, 0.3, 2 * np.pi
    amplitude = 1.3 * mu * g
    harmonic = np.array([[0.0, omega], [-omega, 0.0]]), np.array([[amplitude, 0.0], [0.0, 0.0]]), [0.0, 1.0]
    result = on_plane(fmus, Options(order, auto=auto), 0.0, g, 0.0, mu, (0.0, 0.0), 5.0, extra=harmonic)
    assert result.latency == LATENCY[order]
    assert result.warnings == []
    expected = exact.stick_slip(result.times, mu * g, amplitude, omega)
    assert np.abs(expected[:, 0]).max() > 2e-2
    assert np.abs(result.position - expected[:, 0]).max() < 4e-6
    # It takes a few windows to see the force grow, and to see that sliding has ended.
    stuck = expected[:, 1] == 0.0
    for windows in range(1, 4):
        stuck[windows:] &= expected[:-windows, 1] == 0.0
        stuck[:-windows] &= expected[windows:, 1] == 0.0
    stuck[:10] = False
    assert stuck.sum() > 1000
    assert np.abs(result.velocity[stuck]).max() < 1e-6
    assert np.abs(result.states[:, 1]).max() < 1e-15


@both_latencies
def test_rest(fmus, order, auto):
    """A point dropped by 1 mm on a plane that it sticks to."""
    duration = 10.0 if auto else 60.0
    result = on_plane(fmus, Options(order, auto=auto), 0.3, 9.81, 0.3, 0.5, (0.0, 1e-3), duration)
    assert result.latency == LATENCY[order]
    assert result.warnings == []
    settled = result.times > 1.0
    assert np.ptp(result.states[settled, :2], axis=0).max() < 1e-14
    assert result.forces[settled[1:]].std(axis=0).max() < 1e-10
    assert np.abs(result.states[settled, 1]).max() < 9.81 * STEP**2 / 2
