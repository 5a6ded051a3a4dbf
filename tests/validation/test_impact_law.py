"""A rod whose tip hits a floor with restitution and friction, in built FMUs, against the planar impact problem solved by
enumeration. Newton's law adds energy in some of these impacts; the default law of impact never does."""

import numpy as np
import pytest
from textbook import contact, model, node, plane, run, turn

MASS, HALF, INERTIA = 1.0, 0.5, 1.0 / 12.0
# Angle below the horizontal, friction, restitution, velocity along the floor; the rod falls with 1 m/s. In the first five
# Newton's law adds energy.
GAINS = [(1.0379297298582488, 1.0667876545429196, 0.9364405867994596, -0.467358000231509),
         (0.7698094208139905, 0.4827415305258861, 0.9486709096447534, -0.88582487747078),
         (0.5933582519820717, 0.8428706483053986, 0.8828120686199001, -0.24282717569025447),
         (0.8648594596436705, 0.9954128223966424, 0.8729168662865777, -0.4525234318805902),
         (1.0722786190832956, 1.1240669597699737, 0.9896444225826386, -1.4119321955692756)]
KEEPS = [(0.5, 0.3, 1.0, -2.0), (1.2, 0.8, 0.7, 1.5), (0.9, 0.0, 1.0, 0.5), (0.3, 1.2, 0.4, -0.1)]


def operator(angle):
    """Inverse mass of the tip, tangent and normal, and its arm."""
    arm = HALF * np.array([np.cos(angle), -np.sin(angle)])
    turning = np.array([arm[1], -arm[0]])
    return np.eye(2) / MASS + np.outer(turning, turning) / INERTIA, turning


def impulse(w, before, mu, restitution):
    """Tangential and normal impulse by Coulomb's and Newton's laws: the tip sticks, or slips one way or the other."""
    free = before + np.array([0.0, restitution * before[1]])
    stick = np.linalg.solve(w, -free)
    if abs(stick[0]) <= mu * stick[1]:
        return stick
    for way in (1.0, -1.0):
        direction = np.array([-way * mu, 1.0])
        slip = direction * -free[1] / (w[1] @ direction)
        if slip[1] > 0 and way * (free + w @ slip)[0] >= 0:
            return slip
    raise AssertionError("there is no solution")


def work(w, before, p):
    return p @ (before + w @ p / 2)


def consistent(w, before, mu, restitution):
    """The impulse with the largest part of the restitution that does no work, by bisection."""
    p = impulse(w, before, mu, restitution)
    if work(w, before, p) <= 0:
        return p
    low, high = 0.0, 1.0
    for _ in range(60):
        part = (low + high) / 2
        gains = work(w, before, impulse(w, before, mu, part * restitution)) > 0
        low, high = (low, part) if gains else (part, high)
    return impulse(w, before, mu, low * restitution)


def velocities(fmus, case, step, **engine):
    """Velocity along and across the floor and rate of turning after the impact, and what impacts have taken."""
    angle, mu, restitution, along = case
    start = HALF * np.sin(angle) + 4e-4
    rod = node("rod", MASS, inertia=[INERTIA] * 3, shape={"points": [[HALF, 0.0, 0.0]]}, position=[0.0, 0.0, start],
               orientation=turn("y", angle), velocity=[along, 0.0, -1.0])
    text = model(rod, plane("floor"), contact("rod", "floor", restitution, mu), gravity=[0.0, 0.0, 0.0], step=step, **engine)
    done = run(fmus, text, 2 * step, step)
    return [done[name][-1] for name in ("rod.v[1]", "rod.v[3]", "rod.w[2]", "engine.dissipated")]


def expected(case, law):
    angle, mu, restitution, along = case
    w, turning = operator(angle)
    before = np.array([along, -1.0])
    p = law(w, before, mu, restitution)
    return [*(before + p / MASS), turning @ p / INERTIA, -work(w, before, p)]


@pytest.mark.parametrize("case", GAINS + KEEPS)
def test_rod_by_the_default_law(fmus, case):
    found = velocities(fmus, case, 1e-3)
    assert np.abs(np.subtract(found, expected(case, consistent))).max() < 1e-9
    assert found[3] > -1e-9


@pytest.mark.parametrize("case", GAINS + KEEPS)
def test_rod_by_newtons_law(fmus, case):
    found = velocities(fmus, case, 1e-3, impact="newton")
    assert np.abs(np.subtract(found, expected(case, impulse))).max() < 1e-9
    assert (found[3] < -1e-3) == (case in GAINS)


@pytest.mark.parametrize("engine", [{"time_of_impact": False}, {"scheme": "multistep"}, {"scheme": "hht"},
                                    {"scheme": "midpoint"}], ids=str)
@pytest.mark.parametrize("case", GAINS)
def test_other_schemes_add_none(fmus, case, engine):
    assert velocities(fmus, case, 1e-3, **engine)[3] > -1e-9
