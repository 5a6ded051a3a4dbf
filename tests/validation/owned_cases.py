"""Smooth systems whose first mass is moved by the FMU and pulled by a spring of the master, whose force goes in as f_ext: an
oscillator and a chain. The master integrates exactly under the position of the FMU's mass, held over each step."""

from dataclasses import dataclass

import numpy as np
from kinetic_cases import chain_system, oscillator_system, slave_of
from smooth_sides import Linear

# The FMU steps first; both step at once; both at once, with a force that the master has made for the last position it was
# given.
ORDERS = ("sequential", "parallel", "late")


@dataclass
class Owned:
    """What came of a run: the states of the whole, the FMU's mass first, as positions and then velocities."""

    times: np.ndarray
    states: np.ndarray
    mass: np.ndarray
    stiffness: np.ndarray
    force: np.ndarray
    warned: float
    warnings: list

    @property
    def energies(self):
        q, v = np.hsplit(self.states, 2)
        return 0.5 * (v * v) @ self.mass + 0.5 * ((q @ self.stiffness) * q).sum(axis=1) - q @ self.force


def owned_slave(fmus, step, gravity, height, speed=0.0, contact=""):
    return slave_of(fmus, step, 1.0, (0, 0, -gravity), (0, 0, height), (0, 0, speed), engine=f"step = {step}",
                    node='coupling = "owned"', contact=contact)


def drive(slave, system, link, order, step, stop, derivative=False):
    """Runs all masses of `system` but the first with the FMU, which has the first, and frees the FMU. `link` is the stiffness
    between the first two. With `derivative`, the force comes with its rate and the master sees the way of the FMU's mass."""
    mass, stiffness, force, position, velocity = system
    side = Linear(mass[1:], stiffness[1:, 1:], force[1:], position[1:], velocity[1:], [0])
    push = [slave.references["node.f_ext[3]"]]
    node = lambda: np.array(slave.real("node.r[3]", "node.v[3]"))
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    before = now = node()
    times, rows, warned = [0.0], [[now[0], *side.x[: side.n], now[1], *side.x[side.n :]]], []
    for k in range(round(stop / step)):
        felt = before if order == "late" else now
        stretch = link * (np.array([side.position[0], side.velocity[0]]) - felt)
        slave.setReal(push, stretch[:1])
        if derivative:
            slave.setRealInputDerivatives(push, [1], stretch[1:])
        slave.doStep(k * step, step)
        before, now = now, node()
        seen = now[0] if order == "sequential" else before[0]
        if derivative:
            seen = (before[0] + now[0]) / 2 if order == "sequential" else before[0] + step / 2 * before[1]
        side.step([link * seen], step)
        times.append((k + 1) * step)
        rows.append([now[0], *side.x[: side.n], now[1], *side.x[side.n :]])
        if slave.warnings and not warned:
            warned.append(times[-1])
    slave.terminate()
    slave.freeInstance()
    return Owned(np.array(times), np.array(rows), mass, stiffness, force, warned[0] if warned else np.inf, slave.warnings)


def oscillator(fmus, order, stiffness, step, stop=1.0, derivative=False):
    return drive(owned_slave(fmus, step, 10.0, 0.801), oscillator_system(stiffness), stiffness, order, step, stop, derivative)


def chain(fmus, order, step, stop=2.6, derivative=False):
    return drive(owned_slave(fmus, step, 0.0, 0.1, -1.0), chain_system(), 1e4, order, step, stop, derivative)
