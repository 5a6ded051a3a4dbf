"""Kinetic couplings with masters that have integrators of their own, forces that the FMU is not told of, and other masses
than the model says."""

import exact
import numpy as np
import pytest
from conftest import LONG
from kinetic_cases import (
    BALL_OFFSET,
    LATENCY,
    ORDERS,
    Options,
    away_from_impacts,
    ball,
    ball_side,
    ball_slave,
    chain,
    drive,
    energy_gain,
    impacts,
    on_plane,
    oscillator,
    symplectic_energies,
)

STEP = 1e-3
EULER = ("implicit Euler", "symplectic Euler")
RULES = (*EULER, "trapezoidal", "RK4")
PLAIN = "shaping = false\nadapt = false\nguard = false"

pytestmark = pytest.mark.parametrize("order", ORDERS)
both_latencies = pytest.mark.parametrize("auto", [False, True], ids=["given", "auto"])


@both_latencies
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_ball_by_an_integrator(fmus, order, auto, rule, step):
    result = ball(fmus, Options(order, step, auto, rule=rule))
    weight = 1.0 if rule in EULER else 0.5
    found = impacts(result, weight=weight)[:4]
    # Euler's speeds are not those of its flights: half a step of gravity lies between them.
    bar = 1e-8 if weight == 0.5 else 6.0 * step
    assert np.abs(found[:, 2] / found[:, 1] - 0.8).max() < bar
    assert energy_gain(result) < 5e-6
    rests = result.times > 4.8
    assert np.abs(result.position[rests]).max() < 1.01 * (weight - 0.5) * 10.0 * step**2 + 1e-13
    assert np.abs(result.velocity[rests]).max() < 1e-11
    assert (result.latency, result.shaping, result.warnings) == (LATENCY[order], 1, [])


@both_latencies
@pytest.mark.parametrize("rule", RULES)
def test_oscillator_by_an_integrator(fmus, order, auto, rule):
    result = oscillator(fmus, Options(order, STEP, auto, rule=rule), 1e3)
    energies = symplectic_energies(result, STEP) if rule == "symplectic Euler" else result.energies
    assert energy_gain(result, energies=energies) < 1e-8
    assert (result.latency, result.shaping, result.warnings) == (LATENCY[order], 1, [])


@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_plain_coupling_is_the_scheme_of_moreau_and_jean(fmus, order, step):
    """One substep, nothing done against the ways of the master: nothing is lost by co-simulating."""
    options = Options(order, step, node=PLAIN, engine=f"step = {step}\ntime_of_impact = false")
    result = ball(fmus, options)
    expected = exact.moreau_jean([0.801], [0.0], [-10.0], 0.8, 0.0, step, len(result.times) - 1)
    assert np.abs(result.states - expected).max() < 1e-12
    g, angle, mu, height = 9.81, 0.05, 0.02, np.cos(0.05) - 0.1
    result = on_plane(fmus, options, angle, g, 0.8, mu, (0.0, height), 5.0)
    acceleration = [g * np.sin(angle), -g * np.cos(angle)]
    expected = exact.moreau_jean([0.0, height], [0.0, 0.0], acceleration, 0.8, mu, step, len(result.times) - 1)
    assert np.abs(result.states - expected).max() < 1e-12


OMEGA, PUSH = 40.0, 3.0
CONSTANT = (np.zeros((1, 1)), np.ones((1, 1)), [-PUSH])
HARMONIC = (np.array([[0.0, OMEGA], [-OMEGA, 0.0]]), np.array([[PUSH, 0.0]]), [0.0, 1.0])


def pushed_ball(times, velocity, position):
    """Heights of the ball under an acceleration with the given integrals from time 0, event by event."""
    heights = np.zeros(len(times))
    now, q, v, end = 0.0, 0.801, 0.0, times[-1]
    while now < end and (v > 1e-3 or q > 0.0):
        begin, from_q, from_v = now, q, v
        height = lambda t: from_q + from_v * (t - begin) + position(t) - position(begin) - velocity(begin) * (t - begin)
        look = 1e-3 if q > 0.0 else min(1e-3, v / 100.0)
        high = now + look
        while height(high) > 0.0 and high < end:
            high += look
        low = high - look
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if height(middle) > 0.0 else (low, middle)
        here = (times >= now) & (times < high)
        heights[here] = height(times[here])
        v = -0.8 * (v + velocity(high) - velocity(now))
        now, q = high, 0.0
    return heights


@both_latencies
@pytest.mark.parametrize("told", [False, True], ids=["untold", "told"])
def test_constant_push(fmus, order, auto, told):
    options = Options(order, STEP, auto)
    result = ball(fmus, options, 4.0, CONSTANT, (lambda x: x[2],) if told else None)
    a = -10.0 - PUSH
    expected = pushed_ball(result.times, lambda t: a * t, lambda t: a * t * t / 2)
    away = away_from_impacts(result, 4) & (result.times < 2.0)
    assert np.abs(result.position - expected)[away].max() < 1e-9
    rests = result.times > 3.8
    assert np.abs(result.position[rests]).max() < 1e-13
    assert np.abs(result.forces[rests[1:]] + a).max() < 1e-8
    assert (result.latency, result.warnings) == (LATENCY[order], [])


@both_latencies
@pytest.mark.parametrize("told", [False, True], ids=["untold", "told"])
def test_harmonic_push(fmus, order, auto, told):
    """Told: value and derivative, as a master that interpolates inputs does."""
    tell = (lambda x: PUSH * x[2], lambda x: PUSH * OMEGA * x[3]) if told else None
    result = ball(fmus, Options(order, STEP, auto), 4.0, HARMONIC, tell)
    wave = lambda t: PUSH / OMEGA * (1 - np.cos(OMEGA * t))
    way = lambda t: PUSH / OMEGA * (t - np.sin(OMEGA * t) / OMEGA)
    expected = pushed_ball(result.times, lambda t: wave(t) - 10.0 * t, lambda t: way(t) - 5.0 * t * t)
    # The wave drowns what would tell the latency before the first impact, whose force then comes a window late.
    away = away_from_impacts(result, 8, before=2) & (result.times < 2.0)
    assert np.abs(result.position - expected)[away].max() < 1e-4
    assert np.abs(result.position[result.times > 3.8]).max() < 2e-7
    assert (result.latency, result.warnings) == (LATENCY[order], [])


def test_wrong_masses_in_long_steps_of_euler(fmus, order):
    """Where the first force of an impact is a small one, and the mass is learnt from it all the same. CONTACT_FMU_LONG=1
    makes it a thousand runs, over both orders."""
    random = np.random.default_rng(2)
    gains = []
    for rule in EULER * (250 if LONG else 8):
        step, mass, height = random.uniform(5e-3, 9e-3), 2.0 ** random.uniform(0.1, 1.0), random.uniform(0.3, 1.2)
        options = Options(order, step, True, mass, rule=rule)
        slave = ball_slave(fmus, options)
        side = ball_side(rule)
        side.x[0] = height
        result = drive(side, slave, [2], 1.0, options, BALL_OFFSET)
        # Euler's flights are those of a velocity half a step later.
        energies = 0.5 * (result.velocity - 5.0 * step) ** 2 + 10.0 * result.position
        gains.append(energy_gain(result, energies=energies))
        assert gains[-1] < 1e-2 or result.warnings
    print("gains", order, np.sort(gains))
    assert np.median(gains) < 1e-6


def check_wrong_mass(result, order):
    assert (result.latency, result.shaping, result.warnings) == (LATENCY[order], 1, [])
    assert abs(result.mass - 1.0) < 1e-2
    assert energy_gain(result) < 5e-6


@both_latencies
@pytest.mark.parametrize("mass", [0.5, 0.8, 1.25, 2.0])
class TestWrongMass:
    def test_ball(self, fmus, order, auto, mass):
        result = ball(fmus, Options(order, STEP, auto, mass))
        check_wrong_mass(result, order)
        found = impacts(result)[:4]
        assert np.abs(found[:, 2] / found[:, 1] - 0.8).max() < 1e-8

    def test_oscillator(self, fmus, order, auto, mass):
        check_wrong_mass(oscillator(fmus, Options(order, STEP, auto, mass), 1e3), order)

    def test_chain(self, fmus, order, auto, mass):
        result = chain(fmus, Options(order, STEP, auto, mass))
        check_wrong_mass(result, order)
        assert abs(result.energies[-1] / 50.0 - 0.9850) < 1e-3
        assert abs(result.forces.sum() * STEP - 197.885) < 0.05

    def test_tilted_plane(self, fmus, order, auto, mass):
        g, angle, mu, height = 9.81, 0.05, 0.02, np.cos(0.05) - 0.1
        result = on_plane(fmus, Options(order, STEP, auto, mass), angle, g, 0.8, mu, (0.0, height), 5.0)
        check_wrong_mass(result, order)
        expected = exact.tilted_travel(result.times[-1:], height, g, angle, mu, 0.8)
        assert abs(result.position[-1] - expected[0]) < 1e-6
