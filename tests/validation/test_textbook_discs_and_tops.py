"""Discs and tops that roll, precess and turn over on one contact point, in built FMUs with the default scheme, against
steady motions, the same top on a joint, and independent integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from textbook import G, contact, joint, model, node, plane, rotated, run, turn

H, STOP = 1e-3, 2.0
UP = np.array([0.0, 0.0, 1.0])


def degrees(one, other):
    """Largest angle between unit vectors at the same times."""
    return np.degrees(2 * np.arcsin(np.minimum(np.linalg.norm(one - other, axis=1) / 2, 1.0))).max()


@pytest.mark.parametrize("what", ["energy", "precession", "centre"])
@pytest.mark.parametrize("lean", [0.3, 1.0])
def test_eulers_disc(fmus, lean, what):
    """A thin disc of radius a at an angle alpha to the ground rolls with its centre at rest while its axis precesses with
    W^2 = 4 g / (a sin alpha); its spin W sin alpha is along the radius through the contact, friction does nothing.
    [Moffatt, Euler's disk and its finite-time singularity, 2000]

    Order 2: angles and places to (W h)^2 of what has passed; energy to 1e-3 of the kinetic energy."""
    mass, a = 0.4, 0.1
    rate = np.sqrt(4 * G / (a * np.sin(lean)))
    # The axis leans towards -y: the lowest point of the rim is on the side of y < 0.
    axis, uphill = rotated(turn("x", lean), UP), rotated(turn("x", lean), np.array([0.0, 1.0, 0.0]))
    text = model(node("disc", mass, inertia=[mass * a**2 / 4, mass * a**2 / 4, mass * a**2 / 2],
                      shape={"disc": {"radius": a, "axis": UP}}, orientation=turn("x", lean),
                      position=[0.0, 0.0, a * np.sin(lean)], angular_velocity=rate * np.sin(lean) * uphill),
                 plane("floor"), contact("disc", "floor", 0.0, 1.0))
    done = run(fmus, text, STOP)
    kinetic = mass * a**2 / 4 * (rate * np.sin(lean)) ** 2 / 2
    if what == "energy":
        energy = done["engine.kinetic"] + mass * G * done["disc.r[3]"]
        worst = np.abs(energy - energy[0]).max() / kinetic
        assert worst < 1e-3, f"energy is off by {worst:.2e}"
    elif what == "precession":
        now = done.turned("disc", UP)
        start = np.arctan2(axis[1], axis[0])
        angle = np.unwrap(np.arctan2(now[:, 1], now[:, 0])) - start
        angle -= 2 * np.pi * np.round(angle[0] / (2 * np.pi))
        # The centre is at rest, the contact runs around it as the axis does.
        worst = np.abs(np.abs(angle) - rate * done.time).max()
        assert worst < (rate * H) ** 2 * rate * STOP, f"{worst:.2e} rad of {rate * STOP:.0f}"
    else:
        way = np.linalg.norm(done.vector("disc.r") - done.vector("disc.r")[0], axis=1).max()
        assert way < (rate * H) ** 2 * a * rate * STOP, f"the centre moves {way:.2e} m"


TOP = {"mass": 0.1, "length": 0.05, "across": 1e-4, "along": 6e-5, "spin": 150.0, "lean": 0.3}


def top(held):
    """A top that spins about its axis, on its tip or on a joint."""
    one = TOP
    axis = rotated(turn("y", one["lean"]), UP)
    body = node("top", one["mass"], inertia=[one["across"], one["across"], one["along"]], orientation=turn("y", one["lean"]),
                position=one["length"] * axis, angular_velocity=one["spin"] * axis,
                shape={"points": [[0.0, 0.0, -one["length"]]]})
    if held == "joint":
        return model(body, joint("tip", "ground", "top", spherical={"position": [0.0, 0.0, 0.0]}))
    return model(body, plane("floor"), contact("top", "floor", 0.0, 5.0))


def top_axis(times):
    """Axis n of a heavy symmetric top about a fixed tip: L = A n x n' + C s n, L' = m g l n x (-z), s constant."""
    one = TOP
    across = one["across"] + one["mass"] * one["length"] ** 2
    pull = one["mass"] * G * one["length"]

    def rates(_, state):
        n, momentum = state[:3], state[3:]
        return [*np.cross(momentum, n) / across, *(-pull * np.cross(n, UP))]

    n = rotated(turn("y", one["lean"]), UP)
    solved = solve_ivp(rates, (0.0, times[-1]), [*n, *(one["along"] * one["spin"] * n)], method="DOP853", rtol=1e-11,
                       atol=1e-13, t_eval=times)
    return solved.y[:3].T


@pytest.mark.parametrize("held", ["tip", "joint"])
@pytest.mark.parametrize("what", ["axis", "energy"])
def test_top(fmus, what, held):
    """The same top on its tip, which sticks, and on a spherical joint: axis within 0.5 degrees of the integration, energy to
    1e-3."""
    done = run(fmus, top(held), STOP)
    if what == "axis":
        worst = degrees(done.turned("top", UP), top_axis(done.time))
        assert worst < 0.5, f"{worst:.2f} degrees"
    else:
        energy = done["engine.energy"]
        worst = np.abs(energy / energy[0] - 1).max()
        assert worst < 1e-3, f"energy is off by {worst:.2e}"


# A tippe top: a ball of radius R whose centre of mass is 0.3 R below its centre.
TIPPE = {"mass": 0.02, "radius": 0.02, "offset": 0.006, "mu": 0.3, "spin": 155.0, "lean": 0.3}
TIPPE_INERTIA = TIPPE["mass"] * TIPPE["radius"] ** 2 * np.array([131 / 350, 131 / 350, 2 / 5])


def cross(a, b):
    """As NumPy's, in a fraction of its time for two vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def tippe_axis(times):
    """Eccentric ball that slides on the ground with Coulomb's friction, regularised as u / sqrt(|u|^2 + 1e-4^2): Newton-Euler
    with N from the height of the ball's centre, which is constant. [Cohen, The tippe top revisited, 1977]"""
    mass, radius, mu = TIPPE["mass"], TIPPE["radius"], TIPPE["mu"]

    def rates(_, state):
        q, velocity, spin = state[:4] / np.linalg.norm(state[:4]), state[4:6], state[6:]
        w, v = q[0], q[1:]
        frame = (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * np.cross(np.eye(3), v)
        to_centre = TIPPE["offset"] * frame[:, 2]
        arm = to_centre - radius * UP
        slip = np.array([*velocity, 0.0]) + cross(spin, arm)
        slip[2] = 0.0
        push = UP - mu * slip / np.sqrt(slip @ slip + 1e-8)
        body = spin @ frame
        turning = lambda torque: frame @ ((torque @ frame - cross(body, TIPPE_INERTIA * body)) / TIPPE_INERTIA)
        # The centre of mass is at radius - (to_centre)_z, whose second derivative is linear in N.
        fall = lambda change: -(cross(change, to_centre) + cross(spin, cross(spin, to_centre)))[2]
        free, pushed = fall(turning(np.zeros(3))), fall(turning(cross(arm, push)))
        pressed = mass * (G + free) / (1 - mass * (pushed - free))
        quaternion = 0.5 * np.array([-v @ spin, *(w * spin + cross(spin, v))])
        return [*quaternion, *(pressed * push[:2] / mass), *turning(pressed * cross(arm, push))]

    start = [*turn("y", TIPPE["lean"]), 0.0, 0.0, *(TIPPE["spin"] * UP)]
    solved = solve_ivp(rates, (0.0, times[-1]), start, method="LSODA", rtol=1e-7, atol=1e-9, t_eval=times)
    return rotated(solved.y[:4].T, UP)


def test_tippe_top(fmus):
    """A light ball with a weight fixed off its centre, spun about the vertical: how its axis leans until it has turned over,
    against the regularised equations. With spin s the trapezoidal rule is late by (s h)^2 / 12 of the time."""
    radius, mass, offset, stop = TIPPE["radius"], TIPPE["mass"], TIPPE["offset"], 1.0
    # Half of the mass is around the centre of the ball, the other half as far below the common centre of mass.
    weight = 0.05 * mass * radius**2 * np.ones(3)
    shell = TIPPE_INERTIA - weight - mass * offset**2 * np.array([1.0, 1.0, 0.0])
    spin, middle = TIPPE["spin"] * UP, np.array([0.0, 0.0, radius])
    arm = offset * rotated(turn("y", TIPPE["lean"]), UP)
    part = lambda name, inertia, position, velocity, **keys: node(
        name, mass / 2, inertia=inertia, position=position, velocity=velocity, angular_velocity=spin,
        orientation=turn("y", TIPPE["lean"]), **keys)
    text = model(part("ball", shell, middle, np.cross(spin, arm), shape={"sphere": {"radius": radius}}),
                 part("weight", weight, middle - 2 * arm, -np.cross(spin, arm)),
                 joint("glue", "ball", "weight", fixed={}), plane("floor"), contact("ball", "floor", 0.0, TIPPE["mu"]))
    done = run(fmus, text, stop, names=[f"ball.q[{k}]" for k in range(1, 5)])
    expected, found = tippe_axis(done.time)[:, 2], done.turned("ball", UP)[:, 2]
    assert expected.min() < -0.9, "it turns over"
    fastest = np.abs(np.gradient(expected, done.time)).max()
    worst, most = np.abs(found - expected).max(), fastest * stop * (TIPPE["spin"] * H) ** 2 / 12
    assert worst < most, f"{worst:.2e}, may be {most:.2e}"
