"""Directional derivatives of the forces of coupled bodies against central differences, and against closed forms."""

import numpy as np
import pytest
import rigid_side
from coupled import models  # noqa: F401
from rigid_side import RigidBody, vector
from smooth_sides import Linear, Node, run

H, G, MASS, RESTITUTION, MU = 1e-3, 9.81, 2.0, 0.5, 0.3
STEPS = 6
ORDERS = {0: "sequential", 1: "parallel"}
CONTACT = ["tip_floor.gap", "tip_floor.f_n", *vector("tip_floor.f_t"), "tip_floor.impulse", "tip_floor.slip"]

MODEL = """
[model]
name = "tip"

[engine]
{engine}

[[node]]
name = "tip"
mass = 2.0
position = [0.0, 0.0, 1.0]
{node}

[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]

[[contact]]
between = ["tip", "floor"]
restitution = 0.5
friction.cone.mu = 0.3
"""


# Central differences by kind of input: small against what bends forces, large against rounding.
DELTAS = {"r": 1e-7, "v": 1e-6, "q": 1e-7, "w": 1e-5, "f_ext": 1e-3, "t_ext": 1e-4, "f_applied": 1e-3, "t_applied": 1e-4}
ROUNDING = 1e-12


def blocks(names):
    """Indices of the components of each vector."""
    groups = {}
    for index, name in enumerate(names):
        groups.setdefault(name.split("[")[0], []).append(index)
    return groups


def expect_derivatives(slave, time, given, outputs):
    """Derivatives of `outputs` by the inputs `given`, over a step from the present state: what the FMU says agrees
    with extrapolated central differences. Returns them with rows and columns by name."""
    saved = slave.getFMUstate()
    references, inputs = [slave.references[name] for name in outputs], list(given)

    def outputs_at(changes):
        slave.setFMUstate(saved)
        slave.set_named({**given, **changes})
        slave.doStep(time, H)
        return np.array(slave.getReal(references))

    def difference(name, delta):
        return (outputs_at({name: given[name] + delta}) - outputs_at({name: given[name] - delta})) / (2 * delta)

    kinds = {name: DELTAS[name.split(".")[1].split("[")[0]] for name in inputs}
    numeric = np.array([(4 * difference(name, d / 2) - difference(name, d)) / 3 for name, d in kinds.items()]).T
    values = outputs_at({})
    said = np.array(
        [slave.getDirectionalDerivative(references, [slave.references[name]], [1.0]) for name in inputs]
    ).T
    slave.freeFMUstate(saved)
    for row, rows in blocks(outputs).items():
        for column, columns in blocks(inputs).items():
            one, other = said[np.ix_(rows, columns)], numeric[np.ix_(rows, columns)]
            rounding = ROUNDING * max(1.0, np.abs(values[rows]).max()) / kinds[inputs[columns[0]]]
            error = np.abs(one - other).max()
            limit = 1e-6 * np.abs(one).max() + rounding
            assert error <= limit, f"d {row} / d {column}: {error:.1e} > {limit:.1e}\n{one}\n{other}"
    return {(row, column): said[i, j] for i, row in enumerate(outputs) for j, column in enumerate(inputs)}


def mode(slave):
    return slave.getInteger([slave.references["tip_floor.state"]])[0]


def fall(steps):
    """Height from which a point with 1 m/s downwards comes down in some steps."""
    return steps * H + G / 2 * (steps * H) ** 2


def above(steps):
    return [0.0, 0.0, fall(steps)]


# State at the start of the history, force of the master besides gravity, where the master has the node at the step at
# hand against where its history took it, and the mode at its end. Nodes on the floor are pressed in and slide a little:
# where they just touch, and where sliding starts, forces have a kink.
PRESSED, STILL = ([0.0, 0.0, -1e-6], [0.0, 0.0, 0.0]), ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
SLIDING = [0.0, 0.0, -1e-6], [2e-4, 1e-4, -1e-5]
REGIMES = {
    "open": (lambda late: ([0.0, 0.0, 1.0], [0.3, 0.2, -0.5]), [0.0, 0.0], STILL, 0),
    "stick": (lambda late: ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]), [1.0, 0.5], SLIDING, 1),
    "slip": (lambda late: ([0.0, 0.0, 0.0], [1.0, 0.5, 0.0]), [0.0, 0.0], PRESSED, 2),
    "impact with slip": (lambda late: (above(STEPS + 0.4 + late), [2.0, 1.0, -1.0]), [0.0, 0.0], STILL, 0),
    "impact with stick": (lambda late: (above(STEPS + 0.4 + late), [0.1, 0.05, -1.0]), [0.0, 0.0], STILL, 0),
    "after an impact": (lambda late: (above(STEPS - 0.6 + late), [2.0, 1.0, -1.0]), [0.0, 0.0], STILL, 0),
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("shaping", [True, False])
@pytest.mark.parametrize("late", ORDERS)
def test_kinetic_nodes(models, late, shaping, regime):  # noqa: F811
    start, push, shift, expected = REGIMES[regime]
    text = MODEL.format(engine="", node=f"latency = {late}\nshaping = {str(shaping).lower()}")
    side = Linear([MASS] * 3, np.zeros((3, 3)), [*push, -MASS * G], *start(late), [0, 1, 2])
    inputs, outputs = [*vector("tip.r"), *vector("tip.v"), *vector("tip.f_ext")], [*vector("tip.f"), *CONTACT]
    with models.instance(text) as slave:
        run(side, Node(slave, "tip", [0, 1, 2]), STEPS * H, H, ORDERS[late])
        values = [*(side.position + shift[0]), *(side.velocity + shift[1]), 0.0, 0.0, 0.0]
        expect_derivatives(slave, STEPS * H, dict(zip(inputs, values)), outputs)
        assert mode(slave) == expected
        pressed = slave.real("tip_floor.impulse")[0] > 0.0
        assert pressed == (regime not in ("open", "after an impact"))


# State at the start, and whether the floor answers in the normal and tangential direction.
FIRST = {
    "open": ([0.0, 0.0, 1.0], [0.3, 0.2, -0.5], "open"),
    "stick": ([0.0, 0.0, 0.0], [1e-3, 5e-4, -1e-3], "stick"),
    "slip": ([0.0, 0.0, 0.0], [1.0, 0.5, -1e-3], "slip"),
    "impact with slip": ([0.0, 0.0, 4e-4], [2.0, 1.0, -1.0], "slip"),
    "impact with stick": ([0.0, 0.0, 4e-4], [0.1, 0.05, -1.0], "stick"),
}


def closed_form(kind, restitution, velocity, force):
    """d f / d v of one contact over one step: normal -(1 + e) m / H, tangential -m / H where it sticks; where it
    slips the friction is `-mu t f_n` with the direction t of sliding."""
    if kind == "open":
        return np.zeros((3, 3))
    result = -MASS / H * np.diag([1.0, 1.0, 1.0 + restitution])
    if kind == "slip":
        size = np.linalg.norm(velocity[:2])
        t = np.array(velocity[:2]) / size
        result[:2, 2] = -MU * t * result[2, 2]
        result[:2, :2] = -MU * force[2] / size * (np.eye(2) - np.outer(t, t))
    return result


@pytest.mark.parametrize("regime", FIRST)
def test_first_step_of_a_kinetic_node_in_closed_form(models, regime):  # noqa: F811
    """Without time of impact and shaping the step is one of Moreau-Jean; before the first step there is nothing that
    the engine has seen of the master."""
    position, velocity, kind = FIRST[regime]
    text = MODEL.format(engine="time_of_impact = false", node="latency = 0\nshaping = false")
    given = dict(zip([*vector("tip.r"), *vector("tip.v")], [*position, *velocity]))
    with models.instance(text) as slave:
        slave.set_named(given)
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        said = expect_derivatives(slave, 0.0, given, [*vector("tip.f"), *CONTACT])
        force = slave.real(*vector("tip.f"))
    found = np.array([[said[row, column] for column in vector("tip.v")] for row in vector("tip.f")])
    expected = closed_form(kind, RESTITUTION, velocity, force)
    assert np.abs(found - expected).max() <= 1e-12 * MASS / H


@pytest.mark.parametrize("regime", FIRST)
def test_iterative_nodes(models, regime):  # noqa: F811
    """Where the contact acts the force follows the velocity that is given by -m / H, and the force that is applied by
    1; the external force and the position at the end of the step do not matter."""
    position, velocity, kind = FIRST[regime]
    names = {letter: vector(f"tip.{letter}") for letter in ("r", "v", "f_ext", "f_applied")}
    end, applied = np.array(velocity) + [1e-4, 2e-4, -3e-4], np.array([0.3, 0.2, 5.0])
    values = [*(np.array(position) + H * end), *end, 0.1, 0.2, 0.3, *applied]
    given = dict(zip(sum(names.values(), []), values))
    with models.instance(MODEL.format(engine="", node="iterative = true")) as slave:
        slave.set_named(dict(zip(names["r"] + names["v"], [*position, *velocity])))
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        said = expect_derivatives(slave, 0.0, given, [*vector("tip.f"), *CONTACT])
        force = np.array(slave.real(*vector("tip.f")))
    by = {
        letter: np.array([[said[row, column] for column in columns] for row in vector("tip.f")])
        for letter, columns in names.items()
    }
    free = end - H * applied / MASS
    expected = closed_form(kind, 0.0, free, force)
    assert np.abs(by["v"] - expected).max() <= 1e-12 * MASS / H
    assert np.abs(by["f_applied"] + H / MASS * expected).max() <= 1e-12
    assert not by["r"].any()
    assert np.abs(by["f_ext"]).max() <= 1e-12


TILT, ROUND, WIDE = 0.3, 0.1, 0.2
SHAPES = {
    "sphere": (f"shape.sphere.radius = {ROUND}", np.array([0.0, 0.0, -ROUND]), [1.0, 0.0, 0.0, 0.0]),
    "disc": (
        f"shape.disc.radius = {WIDE}",
        WIDE * np.array([0.0, np.sin(TILT), -np.cos(TILT)]),
        [np.cos(TILT / 2), np.sin(TILT / 2), 0.0, 0.0],
    ),
}
INERTIA = [0.02, 0.03, 0.025]
# Start of the history: height of the touching point, velocity and angular velocity.
RIGID = {
    "open": (1.0, [0.3, 0.2, -0.5], [1.0, 2.0, 3.0]),
    "rolls": (0.0, None, None),
    "slips": (0.0, [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]),
    "impact with slip": (fall(STEPS + 0.4), [2.0, 1.0, -1.0], [0.3, 0.2, 0.1]),
    "impact with stick": (fall(STEPS + 0.4), [0.1, 0.05, -1.0], [0.3, 0.2, 0.1]),
}


@pytest.mark.parametrize("regime", RIGID)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("late", ORDERS)
def test_rigid_kinetic_nodes(models, late, shape, regime):  # noqa: F811
    shape_text, arm, orientation = SHAPES[shape]
    height, velocity, spin = RIGID[regime]
    if regime == "rolls":
        # About the axis of the disc, and just so that the touching point rests.
        axis = np.array([0.0, np.cos(TILT), np.sin(TILT)]) if shape == "disc" else np.array([0.0, 1.0, 0.0])
        spin = 3.0 * axis
        velocity = -np.cross(spin, arm)
    elif regime.startswith("impact"):
        height += H * late * (1.0 + G * (STEPS + 0.4) * H)
    text = MODEL.format(engine="", node=f"latency = {late}\ninertia = {INERTIA}\n{shape_text}")
    body = RigidBody(MASS, INERTIA, [0.0, 0.0, height - arm[2]], velocity, orientation, spin, [0.0, 0.0, -G])
    outputs = [*vector("tip.f"), *vector("tip.t"), *CONTACT]
    with models.instance(text) as slave:
        rigid_side.run(slave, "tip", body, STEPS, H, ORDERS[late])
        if height == 0.0:
            body.r = body.r - [0.0, 0.0, 1e-6]
        given = {**body.inputs("tip"), **dict.fromkeys([*vector("tip.f_ext"), *vector("tip.t_ext")], 0.0)}
        expect_derivatives(slave, STEPS * H, given, outputs)
        assert mode(slave) == {"rolls": 1, "slips": 2}.get(regime, 0)
        assert (slave.real("tip_floor.impulse")[0] > 0.0) == (regime != "open")


TABLE = """
[model]
name = "table"

[[node]]
name = "tip"
mass = 2.0
{node}

[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
motion = "input"
{table}

[[contact]]
between = ["tip", "floor"]
restitution = 0.5
friction.cone.mu = 0.3
"""
# Where the node is given at the step at hand; there the table moves with 0.004 and -0.005 m/s.
ON_TABLE = {
    "stick": ([0.5, 0.2, -1e-6], [4.2e-3, -4.9e-3, -1e-5], 1),
    "slip": ([0.5, 0.2, -1e-6], [1.0, 0.5, 0.0], 2),
    "impact": ([0.5, 0.2, 4e-4], [2.0, 1.0, -1.0], 0),
}


@pytest.mark.parametrize("regime", ON_TABLE)
@pytest.mark.parametrize("table", ["", "mass = 5.0", "mass = 5.0\ninertia = [0.5, 0.6, 0.7]"])
@pytest.mark.parametrize("node", ["latency = 0", "latency = 0\nshaping = false"])
def test_surfaces_that_move(models, node, table, regime):  # noqa: F811
    """Also by the motion of the surface, and of the force on it."""
    position, velocity, expected = ON_TABLE[regime]
    given = dict(zip([*vector("tip.r"), *vector("tip.v")], [*position, *velocity]))
    motion = {"r": [0.0] * 3, "v": [0.01, -0.02, 0.0], "q": [1.0, 0.0, 0.0, 0.0], "w": [0.0, 0.0, 0.03]}
    for letter, values in motion.items():
        given.update(zip(vector(f"floor.{letter}", len(values)), values))
    # Where the node sticks, its sliding speed is next to zero, where it has a kink.
    contact = CONTACT[:-1] if regime == "stick" else CONTACT
    outputs = [*vector("tip.f"), *vector("floor.f"), *vector("floor.t"), *contact]
    with models.instance(TABLE.format(node=node, table=table and f"{table}\nlatency = 0")) as slave:
        slave.set_named({name: max(x, 0.0) if name == "tip.r[3]" else x for name, x in given.items()})
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        said = expect_derivatives(slave, 0.0, given, outputs)
        assert mode(slave) == expected
    assert np.isfinite(list(said.values())).all()
    assert said["tip.f[3]", "floor.v[3]"] != 0.0
