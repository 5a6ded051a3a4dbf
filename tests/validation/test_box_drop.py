"""A box that the master moves: dropped on a corner, against the scheme of Moreau and Jean in one piece, and at rest on a
slope. It moves in the plane of x and z, and its corners touch in pairs."""

from pathlib import Path

import numpy as np
import pytest
from coupled import models  # noqa: F401
from rigid_side import RigidBody, run, vector

G, H = 9.81, 1e-3
ORDERS = {"sequential": 0, "parallel": 1}
SIZE = np.array([0.4, 0.2, 0.2])
INERTIA = (SIZE @ SIZE - SIZE**2) / 12
CORNERS = np.array([[x, z] for x in (-0.2, 0.2) for z in (-0.1, 0.1)])

BOX = """
[model]
name = "box"

[experiment]
step = 1e-3

[engine]
gravity = [0.0, 0.0, {gravity}]

[[node]]
name = "box"
mass = 1.0
inertia = {inertia}
shape.box.size = {size}
position = {position}
orientation = {orientation}
velocity = {velocity}
{latency}

[[surface]]
name = "floor"
shape.plane.normal = {normal}

[[contact]]
between = ["box", "floor"]
restitution = {restitution}
friction.cone.mu = {mu}
"""

in_all_ways = pytest.mark.parametrize("order, auto", [(order, auto) for order in ORDERS for auto in (False, True)])


def simulate(models, body, order, auto, stop, normal, restitution, mu):  # noqa: F811
    """Positions and angles about -y after each step, and what else the body has done."""
    text = BOX.format(
        gravity=-G, inertia=list(map(float, INERTIA)), size=list(map(float, SIZE)), position=list(map(float, body.r)),
        orientation=list(map(float, body.q)), velocity=list(map(float, body.v)), normal=list(map(float, normal)),
        latency="" if auto else f"latency = {ORDERS[order]}", restitution=restitution, mu=mu,
    )
    start = np.array([*body.r, *body.q])
    with models.instance(text) as slave:
        wrench = lambda: slave.real(*vector("box.f"), *vector("box.t"))
        kept = run(slave, "box", body, round(stop / H), H, order, keep=lambda: [*body.r, *body.q, *wrench()])
        latency = slave.integer("box.latency")[0]
        warnings = slave.warnings
    kept = np.array(kept)
    states = np.vstack([start, kept[:, :7]])
    angles = -2 * np.arctan2(states[:, 5], states[:, 3])
    assert np.abs(states[:, [1, 4, 6]]).max() < 1e-9, "it has left the plane"
    return states[:, 0], states[:, 2], np.unwrap(angles, period=2 * np.pi), kept[:, 7:], latency, warnings


@in_all_ways
def test_box_drop(models, order, auto):  # noqa: F811
    turned = [np.cos(0.15), 0.0, -np.sin(0.15), 0.0]
    body = RigidBody(1.0, INERTIA, [0.0, 0.0, 0.6], [1.0, 0.0, 0.0], turned, [0.0] * 3, [0.0, 0.0, -G], parts=2)
    x, z, angle, _, latency, warnings = simulate(models, body, order, auto, 2.5, [0, 0, 1], 0.5, 0.3)
    expected = np.loadtxt(Path(__file__).parent / "data" / "box_drop.csv", delimiter=",", skiprows=3)
    found = np.stack([x, z, angle], axis=1)[:: round(0.05 / H)]
    errors = np.abs(found - expected[:, 1:])
    corners = z[:, None] + np.sin(angle)[:, None] * CORNERS[:, 0] + np.cos(angle)[:, None] * CORNERS[:, 1]
    print("box", order, auto, "end", errors[-1], "most", errors.max(axis=0), "depth", -corners.min(), latency, warnings)
    assert latency == ORDERS[order]
    assert warnings == []
    assert errors[-1].max() < 2e-6
    assert errors[:, :2].max() < 2e-5
    assert errors[:, 2].max() < 1e-4
    assert corners.min() > -1e-5


@in_all_ways
def test_box_rests_on_a_slope(models, order, auto):  # noqa: F811
    slope = 0.3
    up = np.array([np.sin(slope), 0.0, np.cos(slope)])
    turned = [np.cos(slope / 2), 0.0, np.sin(slope / 2), 0.0]
    body = RigidBody(1.0, INERTIA, 0.1 * up, [0.0] * 3, turned, [0.0] * 3, [0.0, 0.0, -G], parts=1)
    x, z, angle, wrenches, latency, warnings = simulate(models, body, order, auto, 10.0, up, 0.0, 0.5)
    drift = np.hypot(x - x[0], z - z[0]).max()
    forces = np.abs(wrenches[1000:] - [0.0, 0.0, G, 0.0, 0.0, 0.0]).max()
    print("slope", order, auto, "drift", drift, "turn", np.abs(angle + slope).max(), "force", forces, latency, warnings)
    # At rest there may be nothing to find out the latency by.
    assert latency == ORDERS[order] or (auto and latency == -1)
    assert warnings == []
    assert drift < 1e-12
    assert np.abs(angle + slope).max() < 1e-12
    assert forces < 1e-12
