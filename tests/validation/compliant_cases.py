"""Smooth systems whose first mass is in the FMU, joined to the master's by a spring: an oscillator and a chain."""

from dataclasses import dataclass

import numpy as np
from kinetic_cases import chain_system, slave_of
from smooth_sides import Linear, Node, run

CONTACT_MASS = ["node.contact_r[3]", "node.contact_v[3]"]


@dataclass
class Linked:
    """What came of a run: the states of the whole, the FMU's mass first, as positions and then velocities."""

    times: np.ndarray
    states: np.ndarray
    forces: np.ndarray
    mass: np.ndarray
    stiffness: np.ndarray
    force: np.ndarray
    impulses: np.ndarray
    errors: np.ndarray
    warned: float
    warnings: list
    latency: int
    mass_seen: float

    @property
    def position(self):
        return self.states[:, 0]

    @property
    def energies(self):
        q, v = np.hsplit(self.states, 2)
        return 0.5 * (v * v) @ self.mass + 0.5 * ((q @ self.stiffness) * q).sum(axis=1) - q @ self.force

    @property
    def momenta(self):
        return np.hsplit(self.states, 2)[1] @ self.mass

    @property
    def rise(self):
        """Largest rise of the energy between two times, as a part of the energy at the start."""
        return np.max(self.energies - np.minimum.accumulate(self.energies)) / self.energies[0]


def compliant_slave(fmus, options, stiffness, gravity, height, speed=0.0, damping=0.0, master_mass=1.0, restitution=0.8):
    link = f"compliance = {{ stiffness = {stiffness}, damping = {damping}, master_mass = {master_mass} }}"
    return slave_of(fmus, options.step, options.mass, (0, 0, -gravity), (0, 0, height), (0, 0, speed), restitution=restitution,
                    engine=options.engine or f"step = {options.step}",
                    node=f'coupling = "compliant"\n{link}\n{options.latency()}\n{options.node}')


class KickedNode(Node):
    """A node that is told to start at rest, whatever the master's velocity: so starts the mass in the FMU."""

    starts = False

    def give(self, position, velocity):
        super().give(position, velocity if self.starts else np.zeros_like(velocity))
        self.starts = True


def drive(slave, side, options, stiffness, gravity, stop, node=None):
    """Runs the master's masses with the FMU's, the master's first at the other end of the spring, and frees the FMU."""
    node = node or Node(slave, "node", [2])
    warned = []

    def watch(time):
        if slave.warnings and not warned:
            warned.append(time)

    start = [side.position[0], 0.0 if isinstance(node, KickedNode) else side.velocity[0]]
    names = [*CONTACT_MASS, "node_floor.impulse", "node.response_error"]
    times, states, forces, kept = run(side, node, stop, options.step, options.order, keep=names, watch=watch)
    (latency,) = slave.integer("node.latency")
    (mass_seen,) = slave.real("node.adapted_mass")
    slave.terminate()
    slave.freeInstance()
    contact = np.vstack([start, kept[:, :2]])
    n = side.n
    whole = np.hstack([contact[:, :1], states[:, :n], contact[:, 1:], states[:, n : 2 * n]])
    springs = np.zeros((n + 1, n + 1))
    springs[1:, 1:] = side.stiffness
    springs[:2, :2] += stiffness * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Linked(times, whole, forces, np.append(options.mass, side.mass), springs,
                  np.append(-options.mass * gravity, side.force), kept[:, 2], kept[:, 3], warned[0] if warned else np.inf,
                  slave.warnings, latency, mass_seen)


def oscillator(fmus, options, stiffness, stop=1.0, gravity=10.0, height=0.801, speed=0.0, hidden=0.0, damping=0.0,
               extra=None, node=lambda slave, side: None, **link):
    """Two masses of 1 kg, the lower in the FMU, and a force `hidden` on the master's. `node` makes the node."""
    slave = compliant_slave(fmus, options, stiffness, gravity, height, speed, damping, **link)
    side = Linear([1.0], [[0.0]], [hidden - gravity], [height], [speed], [0], extra=extra, rule=options.rule)
    return drive(slave, side, options, stiffness, gravity, stop, node(slave, side))


def chain(fmus, options, stop=2.6):
    """The chain of kinetic_cases with its first mass in the FMU."""
    slave = compliant_slave(fmus, options, 1e4, 0.0, 0.1, -1.0)
    side = Linear(*chain_system(99), [0], rule=options.rule)
    return drive(slave, side, options, 1e4, 0.0, stop)
