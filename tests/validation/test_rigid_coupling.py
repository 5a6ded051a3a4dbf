"""A spinning sphere that the master moves, dropped on the floor: impact with friction in closed form."""

import re

import numpy as np
import pytest
from coupled import models  # noqa: F401
from rigid_side import RigidBody, run

G, H, MASS, RADIUS, RESTITUTION, MU = 10.0, 1e-3, 1.5, 0.1, 0.6, 0.25
INERTIA = 0.4 * MASS * RADIUS**2
ORDERS = {"sequential": 0, "parallel": 1}

SPHERE = f"""
[model]
name = "sphere"

[engine]
gravity = [0.0, 0.0, {-G}]

[[node]]
name = "ball"
mass = {MASS}
inertia = [{INERTIA}, {INERTIA}, {INERTIA}]
shape.sphere.radius = {RADIUS}
position = [0.0, 0.0, 1.0]
{{latency}}

[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]

[[contact]]
between = ["ball", "floor"]
restitution = {RESTITUTION}
friction.cone.mu = {MU}
"""


def impact(v, w):
    """Velocities after an impact with the floor: friction stops the touching point, or is at its limit."""
    arm = np.array([0.0, 0.0, -RADIUS])
    normal = MASS * (1 + RESTITUTION) * -v[2]
    slip = v + np.cross(w, arm)
    slip[2] = 0.0
    holding = -slip / (1 / MASS + RADIUS**2 / INERTIA)
    size, limit = np.linalg.norm(holding), MU * normal
    friction = holding if size <= limit else holding * limit / size
    impulse = friction + [0.0, 0.0, normal]
    return v + impulse / MASS, w + np.cross(arm, impulse) / INERTIA


def bounce(spin, speed):
    """State at the end of the run, and velocities after the first impact, of a ball dropped with its lowest point at
    0.2 m."""
    fall = np.sqrt(2 * 0.2 / G)
    r, v, w = np.array([0.0, 0.0, 0.2 + RADIUS]), np.array([*speed, 0.0]), np.array(spin, float)
    hit = r + fall * v + [0.0, 0.0, -0.2]
    after, spun = impact(v + [0.0, 0.0, -G * fall], w)
    return fall, hit, after, spun


CASES = {"slips": ([3.0, 60.0, 4.0], [1.0, -0.5]), "sticks": ([-2.0, 8.0, 4.0], [0.3, 0.1])}


def drop(models, case, order, latency, scale=1.0):  # noqa: F811
    """Errors of position, velocity and spin 50 steps after the first impact."""
    spin, speed = CASES[case]
    fall, hit, after, spun = bounce(spin, speed)
    steps = round(fall / H) + 50
    text = SPHERE.format(latency="" if latency == "auto" else f"latency = {ORDERS[order]}")
    body = RigidBody(
        MASS, [INERTIA] * 3, [0, 0, 0.2 + RADIUS], [*speed, 0], [1, 0, 0, 0], spin, [0, 0, -G], parts=2
    )
    with models.instance(text) as slave:
        run(slave, "ball", body, steps, H, order, scale=scale)
    flight = steps * H - fall
    position = hit + flight * after + flight**2 / 2 * np.array([0.0, 0.0, -G])
    velocity = after + flight * np.array([0.0, 0.0, -G])
    return body, [np.abs(x - y).max() for x, y in ((body.r, position), (body.v, velocity), (body.w, spun))]


@pytest.mark.parametrize("latency", ["given", "auto"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES)
def test_spin_and_velocity_after_an_impact(models, case, order, latency):  # noqa: F811
    _, (position, velocity, spin) = drop(models, case, order, latency)
    assert position <= 1e-9
    assert velocity <= 1e-8
    assert spin <= 1e-6


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES)
def test_quaternions_are_scaled(models, case, order):  # noqa: F811
    straight, _ = drop(models, case, order, "given")
    for scale in (1 + 1e-3, 1 - 1e-3):
        scaled, _ = drop(models, case, order, "given", scale)
        for one, other in ((straight.r, scaled.r), (straight.v, scaled.v), (straight.w, scaled.w)):
            assert np.abs(one - other).max() <= 1e-11


def test_a_zero_quaternion_is_refused_by_name(models, capsys):  # noqa: F811
    body = RigidBody(MASS, [INERTIA] * 3, [0, 0, 1], [0, 0, 0], [1, 0, 0, 0], [0, 0, 0], [0, 0, -G])
    with models.instance(SPHERE.format(latency="")) as slave:
        run(slave, "ball", body, 3, H, "sequential")
        slave.set_named({"ball.q[1]": 0.0})
        with pytest.raises(Exception, match=r"fmi2DoStep failed with status 3 \(error\)"):
            slave.doStep(3 * H, H)
        assert re.search(r"ball\.q\[1\].*length 0", capsys.readouterr().out)
        slave.set_named({"ball.q[1]": 1.0})
        slave.doStep(3 * H, H)


@pytest.mark.parametrize("noise", [0.0, 1e-8])
@pytest.mark.parametrize("order", ORDERS)
def test_a_sphere_rolls_down_whatever_the_rounding_of_its_master(models, order, noise):  # noqa: F811
    """Over an incline of 0.2 rad in its own frame: 5/7 of the downhill force, the spin goes along."""
    downhill, steps, rounding = np.array([G * np.sin(0.2), 0.0, -G * np.cos(0.2)]), 500, np.random.default_rng(1)
    text = SPHERE.format(latency=f"latency = {ORDERS[order]}")
    body = RigidBody(
        MASS, [INERTIA] * 3, [0, 0, RADIUS], [0, 0, 0], [1, 0, 0, 0], [0, 0, 0], downhill, parts=1
    )
    given = body.inputs
    body.inputs = lambda name, scale: {
        key: x + noise * rounding.standard_normal() if ".w" in key else x for key, x in given(name, scale).items()
    }
    with models.instance(text) as slave:
        run(slave, "ball", body, steps, H, order)
    time = steps * H
    speed = 5 / 7 * downhill[0] * time
    # The engine first expects the ball to fall straight down.
    assert abs(body.r[0] - speed * time / 2) <= 2e-6
    assert abs(body.v[0] - speed) <= 1e-8
    assert abs(body.w[1] - speed / RADIUS) <= 1e-7
    assert abs(body.r[2] - RADIUS) <= 1e-9


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_inertia_is_learnt_at_the_first_impact(models, order, factor):  # noqa: F811
    """The second impact, which sticks, turns the ball as it should."""
    spin, speed = [0.0, 12.0, 0.0], [0.3, 0.0]
    text = SPHERE.format(latency=f"latency = {ORDERS[order]}")
    right = f"inertia = [{INERTIA}, {INERTIA}, {INERTIA}]"
    wrong = f"inertia = [{factor * INERTIA}, {factor * INERTIA}, {factor * INERTIA}]"
    assert right in text
    body = RigidBody(
        MASS, [INERTIA] * 3, [0, 0, 0.2 + RADIUS], [*speed, 0], [1, 0, 0, 0], spin, [0, 0, -G], parts=2
    )
    fall = np.sqrt(2 * 0.2 / G)
    flight = 2 * RESTITUTION * fall
    with models.instance(text.replace(right, wrong)) as slave:
        run(slave, "ball", body, round((fall + 0.9 * flight) / H), H, order)
        before_v, before_w = body.v.copy(), body.w.copy()
        steps = round(0.2 * flight / H)
        run(slave, "ball", body, steps, H, order, first=round((fall + 0.9 * flight) / H))
    hit = before_v.copy()
    hit[2] = -G * fall * RESTITUTION
    after, spun = impact(hit, before_w)
    assert np.abs(spun - before_w).max() > 1.0
    assert np.abs(body.w - spun).max() <= 1e-9
    assert np.abs(body.v[:2] - after[:2]).max() <= 1e-9
