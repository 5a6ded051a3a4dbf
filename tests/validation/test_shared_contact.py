"""Bodies of all modes on one table that the master moves and that has a mass: an owned ball, a kinetic ball and a compliant
node share one contact problem."""

import functools

import numpy as np
import pytest
from coupled import models  # noqa: F401
from kinetic_cases import LATENCY, ORDERS
from smooth_sides import Linear, Node

H = 1e-3
# Owned ball, kinetic ball, the mass of the compliant node in the FMU and the one in the master, table.
MASSES = np.array([0.7, 1.0, 0.5, 1.5, 5.0])

MODEL = """
[model]
name = "shared"

[experiment]
step = 1e-3

[engine]
gravity = [0.0, 0.0, {gravity}]

[[node]]
name = "owned"
coupling = "owned"
mass = 0.7
shape.sphere.radius = 0.1
position = {owned}
velocity = {owned_speed}

[[node]]
name = "ball"
mass = 1.0
shape.sphere.radius = 0.1
position = {ball}
{latency}

[[node]]
name = "tip"
coupling = "compliant"
mass = 0.5
compliance = {{ stiffness = 1e3, damping = {damping}, master_mass = 1.5 }}
position = {tip}
{latency}

[[surface]]
name = "table"
shape.plane.normal = [0.0, 0.0, 1.0]
motion = "input"
mass = 5.0
{latency}

[[contact]]
between = ["*", "table"]
restitution = {restitution}
friction.cone.mu = 0.3
"""

CONTACTS = ["owned_table", "ball_table", "tip_table"]
TANGENTS = [f"{contact}.f_t[{axis}]" for contact in CONTACTS for axis in (1, 2)]
both_latencies = pytest.mark.parametrize("auto", [False, True], ids=["given", "auto"])


class Shared:
    """The FMU and a master that moves ball, tip and table exactly. `support` = (stiffness, damping) of the table, which
    bears the weight of all at 0."""

    def __init__(self, slave, order, positions, speeds, gravity, support):
        self.slave, self.order = slave, order
        stiffness, damping = support
        bears = -gravity * MASSES.sum() if stiffness else 0.0
        held = {"table": (stiffness, damping, bears)}
        self.sides = {}
        for name, mass in zip(("ball", "tip", "table"), MASSES[[1, 3, 4]]):
            k, d, up = held.get(name, (0.0, 0.0, 0.0))
            force = [0.0, 0.0, gravity * mass + up]
            self.sides[name] = Linear([mass] * 3, k * np.eye(3), force, positions[name], speeds[name], range(3), d * np.eye(3))
        self.nodes = {name: Node(slave, name, [0, 1, 2]) for name in self.sides}

    def give(self):
        for name, side in self.sides.items():
            self.nodes[name].give(side.position, side.velocity)

    def forces(self):
        return {name: node.force() for name, node in self.nodes.items()}

    def velocities(self):
        """Of all masses, in the order of MASSES."""
        of = lambda name: self.slave.real(*(f"{name}[{axis}]" for axis in (1, 2, 3)))
        sides = {name: side.velocity for name, side in self.sides.items()}
        return np.array([of("owned.v"), sides["ball"], of("tip.contact_v"), sides["tip"], sides["table"]])

    def run(self, steps):
        """Velocities, reactions applied to the table, and impulses of the contacts along x, y and z."""
        self.give()
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        held, velocities, reactions, impulses = self.forces(), [self.velocities()], [], []
        for k in range(steps):
            self.give()
            self.slave.doStep(k * H, H)
            new = self.forces()
            applied = new if self.order == "sequential" else held
            for name, side in self.sides.items():
                side.step(applied[name], H)
            held = new
            normal = self.slave.real(*(f"{contact}.impulse" for contact in CONTACTS))
            tangent = np.reshape(self.slave.real(*TANGENTS), (3, 2)) * H
            velocities.append(self.velocities())
            reactions.append(applied["table"])
            impulses.append(np.column_stack([tangent, normal]))
        return np.array(velocities), np.array(reactions), np.array(impulses)


def shared(models, order, auto, positions, speeds, steps, gravity=0.0, restitution=0.5, damping=0.0,
           support=(0.0, 0.0)):  # noqa: F811
    vector = lambda numbers: "[" + ", ".join(repr(float(x)) for x in numbers) + "]"
    text = MODEL.format(
        gravity=gravity, restitution=restitution, latency="" if auto else f"latency = {LATENCY[order]}",
        owned=vector(positions["owned"]), owned_speed=vector(speeds["owned"]), ball=vector(positions["ball"]),
        tip=vector(positions["tip"]), damping=damping,
    )
    with models.instance(text) as slave:
        results = Shared(slave, order, positions, speeds, gravity, support).run(steps)
        latencies = slave.integer("ball.latency", "tip.latency", "table.latency")
        return *results, latencies, slave.warnings


PLACES = {"owned": [0, 0, 0.15], "ball": [1, 0, 0.2], "tip": [2, 0, 0.04], "table": [0, 0, 0]}
SPEEDS = {"owned": [0.3, 0.0, -1.0], "ball": [0.0, -0.4, -1.2], "tip": [-0.2, 0.2, -0.8], "table": [0, 0, 0.1]}


@both_latencies
@pytest.mark.parametrize("order", ORDERS)
def test_momentum_of_all(models, order, auto):  # noqa: F811
    """They hit a free table from different heights, each sliding its own way."""
    velocities, reactions, impulses, latencies, warnings = shared(models, order, auto, PLACES, SPEEDS, 600)
    momenta = np.einsum("i,kij->kj", MASSES, velocities)
    # Impulses are delivered over two steps, or one later.
    quiet = np.ones(len(velocities), bool)
    for index in np.flatnonzero(np.abs(impulses).max(axis=(1, 2)) > 0.0):
        quiet[index + 1 : index + 4] = False
    lost = np.abs(momenta - momenta[0]).max(axis=1)
    given, taken = np.cumsum(reactions, axis=0) * H, np.cumsum(impulses.sum(axis=1), axis=0)
    unlike = np.abs(given + taken).max(axis=1)
    hits = (impulses[:, :, 2] > 0.0).sum(axis=0)
    print("momentum", order, auto, "quiet", quiet.sum(), "lost", lost[quiet].max(), "end", lost[-1], "reaction",
          unlike[quiet[1:]].max(), "hits", hits, "taken", taken[-1])
    assert latencies == [LATENCY[order]] * 3
    assert warnings == []
    assert hits.min() > 0 and np.abs(taken[-1]).min() > 0.03 and quiet.sum() > 500
    # The force that finds out the latency is on its way alone.
    probe = 1e-8 if auto else 0.0
    assert unlike[quiet[1:]].max() < 1e-13 + probe
    assert lost[-1] < 1e-13 + probe
    # In the parallel order, what the tip's spring owes its other end is paid over some steps.
    assert lost[quiet].max() < 1e-13 + probe + (1e-5 if order == "parallel" else 0.0)


@functools.cache
def impulses_in_one_piece(h=1e-5, stop=0.6):
    """Normal impulses of the three contacts: Moreau-Jean on all masses along z."""
    names = ("owned", "ball", "tip", "tip", "table")
    z = np.array([PLACES[name][2] for name in names]) - [0.1, 0.1, 0.0, 0.0, 0.0]
    v, total = np.array([SPEEDS[name][2] for name in names]), np.zeros(3)
    inverse = 1.0 / MASSES
    for _ in range(round(stop / h)):
        middle = z + h / 2 * v
        pull = 1e3 * (middle[3] - middle[2])
        after = v.copy()
        after[2:4] += h * pull * np.array([1.0, -1.0]) * inverse[2:4]
        touching = np.flatnonzero(middle[:3] <= middle[4])
        impulses = np.zeros(3)
        for _ in range(20 if len(touching) > 1 else len(touching)):
            for k in touching:
                speed = after[k] - after[4] + 0.5 * min(v[k] - v[4], 0.0)
                change = max(-impulses[k], -speed / (inverse[k] + inverse[4]))
                impulses[k] += change
                after[[k, 4]] += change * inverse[[k, 4]] * [1.0, -1.0]
        total += impulses
        z, v = z + h / 2 * (v + after), after
    return total


@both_latencies
@pytest.mark.parametrize("order", ORDERS)
def test_impulses(models, order, auto):  # noqa: F811
    _, _, impulses, _, _ = shared(models, order, auto, PLACES, SPEEDS, 600)
    errors = np.abs(impulses[:, :, 2].sum(axis=0) - impulses_in_one_piece())
    print("impulses", order, auto, impulses_in_one_piece(), errors)
    assert errors.max() < 2e-4


def loaded(models, order, auto):  # noqa: F811
    """They come to rest on a table that a spring holds; the tip's own spring is unstretched at the start."""
    still = {name: [0.0, 0.0, 0.0] for name in PLACES}
    places = {"owned": [0, 0, 0.1], "ball": [1, 0, 0.1], "tip": [2, 0, 0], "table": [0, 0, 0]}
    return shared(models, order, auto, places, still, 4000, -9.81, 0.0, 20.0, (2e4, 200.0))


@both_latencies
@pytest.mark.parametrize("order", ORDERS)
def test_weight_of_all(models, order, auto):  # noqa: F811
    _, reactions, impulses, latencies, _ = loaded(models, order, auto)
    forces = impulses[-100:].sum(axis=1) / H
    unlike, off = np.abs(reactions[-100:] + forces).max(), np.abs(forces - [0.0, 0.0, 9.81 * MASSES[:4].sum()]).max()
    print("weight", order, auto, "unlike", unlike, "off", off)
    assert latencies == [LATENCY[order]] * 3
    assert unlike < (1e-13 if order == "sequential" else 2e-10)
    assert off < 3e-9


@both_latencies
@pytest.mark.parametrize("order", ORDERS)
def test_all_come_to_rest(models, order, auto):  # noqa: F811
    velocities, _, _, _, warnings = loaded(models, order, auto)
    print("rest", order, auto, np.abs(velocities[-100:]).max(axis=(0, 2)), warnings)
    assert warnings == []
    assert np.abs(velocities[-100:]).max() < 1e-10
