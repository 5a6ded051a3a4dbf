"""Smooth systems whose contacts are in the FMU: a ball, oscillators, a chain, and points on a tilted plane.

Each case builds its FMU, runs it with a master of the given exchange order, and returns what came of it.
"""

from dataclasses import dataclass

import numpy as np
from masters import FMU2NamedBlock, FMU2NamedSlave
from smooth_sides import Linear, Node, run

ORDERS = ("sequential", "parallel")
LATENCY = {"sequential": 0, "parallel": 1, "events": 0}
KIND = {"sequential": FMU2NamedSlave, "parallel": FMU2NamedSlave, "events": FMU2NamedBlock}

MODEL = """
[model]
name = "kinetic"
[experiment]
step = {step}
[engine]
gravity = {gravity}
{engine}
[[node]]
name = "node"
mass = {mass}
position = {position}
velocity = {velocity}
{node}
[[surface]]
name = "floor"
shape.plane.normal = {normal}
[[contact]]
between = ["node", "floor"]
restitution = {restitution}
{contact}
"""


@dataclass
class Options:
    """How a case is run."""

    order: str
    step: float = 1e-3
    auto: bool = False
    mass: float = 1.0
    rule: str = "exact"
    engine: str = ""
    node: str = ""
    lengths: object = None

    def latency(self):
        return "" if self.auto else f"latency = {LATENCY[self.order]}"


@dataclass
class Result:
    """What came of a run. `detected` is the time at which the latency was first known."""

    side: Linear
    times: np.ndarray
    states: np.ndarray
    forces: np.ndarray
    warnings: list
    latency: int
    shaping: int
    mass: float
    detected: float

    @property
    def position(self):
        return self.states[:, 0]

    @property
    def velocity(self):
        return self.states[:, self.side.n]

    @property
    def energies(self):
        return self.side.energies(self.states)


def slave_of(
    fmus,
    step=1e-3,
    mass=1.0,
    gravity=(0.0, 0.0, -10.0),
    position=(0.0, 0.0, 0.0),
    velocity=(0.0, 0.0, 0.0),
    normal=(0.0, 0.0, 1.0),
    restitution=0.8,
    engine="",
    node="",
    contact="",
    kind=FMU2NamedSlave,
):
    """An instance of the model, not yet initialized."""
    vector = lambda numbers: "[" + ", ".join(repr(float(x)) for x in numbers) + "]"
    text = MODEL.format(
        step=step,
        mass=mass,
        gravity=vector(gravity),
        position=vector(position),
        velocity=vector(velocity),
        normal=vector(normal),
        restitution=restitution,
        engine=engine,
        node=node,
        contact=contact,
    )
    slave = kind(*fmus.of_text(text))
    slave.instantiate()
    return slave


def drive(side, slave, axes, stop, options, offset=(0.0, 0.0, 0.0), node=None):
    """Runs a smooth side with the FMU and frees the FMU."""
    node = node or Node(slave, "node", axes, offset)
    reference = [slave.references["node.latency"]]
    detected = []

    def watch(time):
        if not detected and slave.getInteger(reference)[0] >= 0:
            detected.append(time)

    steps = options.step if options.lengths is None else options.lengths
    times, states, forces, _ = run(side, node, stop, steps, options.order, watch=watch)
    latency, shaping = slave.integer("node.latency", "node.shaping")
    (mass,) = slave.real("node.adapted_mass")
    slave.terminate()
    slave.freeInstance()
    known = detected[0] if detected else np.inf
    return Result(side, times, states, forces, slave.warnings, latency, shaping, mass, known)


def ball(fmus, options, stop=5.5, extra=None, told=None, side=None):
    """Ball of 1 kg and radius 0.2 m, let go 0.801 m above the floor. `extra`: as for a linear system, a force that the
    master adds; `told`: what of it the FMU is told, and its derivatives, as functions of the state; `side`: what moves the
    ball, if not a linear system."""
    slave = ball_slave(fmus, options)
    side = side or ball_side(options.rule, extra)
    node = None if told is None else ToldNode(slave, side, told, BALL_OFFSET)
    return drive(side, slave, [2], stop, options, BALL_OFFSET, node)


BALL_OFFSET = (0.0, 0.0, 0.2)


def ball_slave(fmus, options):
    return slave_of(
        fmus,
        options.step,
        options.mass,
        position=(0, 0, 1.001),
        engine=options.engine or f"step = {options.step}",
        node=f"shape.sphere.radius = 0.2\n{options.latency()}\n{options.node}",
        kind=KIND[options.order],
    )


def ball_side(rule="exact", extra=None):
    return Linear([1.0], [[0.0]], [-10.0], [0.801], [0.0], [0], extra=extra, rule=rule)


class ToldNode(Node):
    """A node along z whose external force is told through f_ext."""

    def __init__(self, slave, side, told, offset):
        super().__init__(slave, "node", [2], offset)
        self.side, self.told, self.reference = side, told, [slave.references["node.f_ext[3]"]]

    def give(self, position, velocity):
        super().give(position, velocity)
        value, *derivatives = (of(self.side.x) for of in self.told)
        self.slave.setReal(self.reference, [value])
        for order, derivative in enumerate(derivatives, 1):
            self.slave.setRealInputDerivatives(self.reference, [order], [derivative])


def oscillator_system(stiffness):
    """Two masses of 1 kg and the spring between them, let go 0.801 m above the floor."""
    return (
        np.ones(2),
        stiffness * np.array([[1.0, -1.0], [-1.0, 1.0]]),
        np.full(2, -10.0),
        np.full(2, 0.801),
        np.zeros(2),
    )


def oscillator(fmus, options, stiffness, stop=2.0):
    slave = slave_of(
        fmus,
        options.step,
        options.mass,
        position=(0, 0, 0.801),
        engine=options.engine or f"step = {options.step}",
        node=f"{options.latency()}\n{options.node}",
        kind=KIND[options.order],
    )
    side = Linear(*oscillator_system(stiffness), [0], rule=options.rule)
    return drive(side, slave, [2], stop, options)


def chain_system(count=100, stiffness=1e4):
    """Masses of 1 kg and the springs between them, 0.1 m from the wall and moving there at 1 m/s."""
    ends = np.full(count, 2.0)
    ends[[0, -1]] = 1.0
    springs = stiffness * (np.diag(ends) - np.eye(count, k=1) - np.eye(count, k=-1))
    return np.ones(count), springs, np.zeros(count), np.full(count, 0.1), -np.ones(count)


def chain(fmus, options, stop=2.6):
    slave = slave_of(
        fmus,
        options.step,
        options.mass,
        gravity=(0, 0, 0),
        position=(0, 0, 0.1),
        velocity=(0, 0, -1),
        engine=options.engine or f"step = {options.step}",
        node=f"{options.latency()}\n{options.node}",
        kind=KIND[options.order],
    )
    side = Linear(*chain_system(), [0], rule=options.rule)
    return drive(side, slave, [2], stop, options)


def on_plane(fmus, options, angle, g, restitution, mu, position, stop, extra=None):
    """A mass of 1 kg at (along, above) a plane that falls off by `angle` in the direction of x. Its states are those
    along and above the plane."""
    c, s = np.cos(angle), np.sin(angle)
    along, up = np.array([c, 0.0, -s]), np.array([s, 0.0, c])
    place = position[0] * along + position[1] * up
    slave = slave_of(
        fmus,
        options.step,
        options.mass,
        gravity=(0, 0, -g),
        position=place,
        normal=up,
        restitution=restitution,
        engine=options.engine or f"step = {options.step}",
        node=f"{options.latency()}\n{options.node}",
        contact=f"friction.cone.mu = {mu}",
        kind=KIND[options.order],
    )
    side = Linear(
        [1.0, 1.0], np.zeros((2, 2)), [g * s, -g * c], position, [0.0, 0.0], [0, 1], extra=extra, rule=options.rule
    )
    return drive(side, slave, None, stop, options, node=PlaneNode(slave, along, up))


class PlaneNode(Node):
    """A node whose coordinates are those along and above a tilted plane."""

    def __init__(self, slave, along, up):
        super().__init__(slave, "node", [0, 1, 2])
        self.basis = np.array([along, up])

    def give(self, position, velocity):
        super().give(position @ self.basis, velocity @ self.basis)

    def force(self):
        return self.basis @ super().force()


def impacts(result, acceleration=-10.0, least=0.3, weight=0.5):
    """Times of impacts, speeds before and after, and heights, from where the flights before and after meet. `weight` is
    that of the acceleration in the master's q+ = q + H v + c H^2 a: its flights are those of v + (c - 1/2) H a."""
    t, q = result.times, result.position
    v = result.velocity + (weight - 0.5) * acceleration * (t[1] - t[0])
    lengths = np.diff(t)
    jumps = np.abs(np.diff(v) - acceleration * lengths) > least
    found, i = [], 0
    while i < len(jumps):
        if not jumps[i]:
            i += 1
            continue
        j = i
        while j + 1 < len(jumps) and (jumps[j + 1] or (j + 2 < len(jumps) and jumps[j + 2])):
            j += 1
        # The delivery of an impulse ends one window after the last large force.
        last = min(j + 3, len(t) - 1)
        d = t[last] - t[i]
        before, after = v[i], v[last] - acceleration * d
        start = q[last] - v[last] * d + 0.5 * acceleration * d * d
        s = (start - q[i]) / (before - after)
        found.append(
            (
                t[i] + s,
                -(before + acceleration * s),
                after + acceleration * s,
                q[i] + before * s + 0.5 * acceleration * s * s,
            )
        )
        i = last
    return np.array(found)


def away_from_impacts(result, windows, least=0.01, before=0):
    """Marks the samples that are not within some windows after a change of force that makes velocities of `least`, or
    `before` it."""
    forces = np.vstack([np.zeros_like(result.forces[:1]), result.forces])
    kicks = np.abs(np.diff(forces, axis=0)).max(axis=1) * np.diff(result.times)
    away = np.ones(len(result.times), bool)
    for index in np.flatnonzero(kicks > least):
        away[max(0, index + 1 - before) : index + 1 + windows] = False
    return away


def energy_gain(result, windows=2, energies=None):
    """Largest rise of the energy between two times, away from the windows over which impulses are delivered, as a part
    of the energy at the start."""
    energies = result.energies if energies is None else energies
    kept = energies[away_from_impacts(result, windows)]
    return np.max(kept - np.minimum.accumulate(kept)) / energies[0]


def symplectic_energies(result, step):
    """What the symplectic Euler method keeps in place of the energy: E - (h/2) v (K q - f)."""
    side = result.side
    q, v = result.states[:, : side.n], result.states[:, side.n : 2 * side.n]
    return result.energies - 0.5 * step * (v * (q @ side.stiffness - side.force)).sum(axis=1)
