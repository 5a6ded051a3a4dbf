"""Smooth sides of a co-simulation: linear systems under a force held over each step, moved exactly or by the rule of a
common integrator, and the loops by which masters exchange values with the FMU."""

import numpy as np


def exponential(matrix):
    """exp(matrix), by scaling, a Taylor series and squaring."""
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(matrix).sum(axis=1).max(), 1e-300)))) + 5)
    scaled = matrix / 2.0**halvings
    result = term = np.eye(len(matrix))
    for order in range(1, 15):
        term = term @ scaled / order
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


class Linear:
    """M q'' + D q' + K q = f + f_contact on the coordinates `touching`, with states x = (q, v, extra).

    `extra` = (A, B): more states z' = A z that add B z to the forces.
    """

    def __init__(self, mass, stiffness, force, position, velocity, touching, damping=None, extra=None, rule="exact"):
        n = len(mass)
        self.n, self.rule, self.touching = n, rule, list(touching)
        self.mass, self.stiffness, self.force = (np.asarray(x, float) for x in (mass, stiffness, force))
        states, push = (np.zeros((0, 0)), np.zeros((n, 0))) if extra is None else extra[:2]
        size = 2 * n + len(states)
        inverse = np.diag(1.0 / self.mass)
        self.a = np.zeros((size, size))
        self.a[:n, n : 2 * n] = np.eye(n)
        self.a[n : 2 * n, :n] = -inverse @ self.stiffness
        if damping is not None:
            self.a[n : 2 * n, n : 2 * n] = -inverse @ damping
        self.a[n : 2 * n, 2 * n :] = inverse @ push
        self.a[2 * n :, 2 * n :] = states
        self.b = np.zeros((size, len(self.touching) + 1))
        for column, row in enumerate(self.touching):
            self.b[n + row, column] = 1.0 / self.mass[row]
        self.b[n : 2 * n, -1] = inverse @ self.force
        self.x = np.concatenate([position, velocity, [] if extra is None else extra[2]])
        self.steps = {}

    @property
    def position(self):
        return self.x[self.touching]

    @property
    def velocity(self):
        return self.x[[self.n + row for row in self.touching]]

    @property
    def energy(self):
        q, v = self.x[: self.n], self.x[self.n : 2 * self.n]
        return 0.5 * self.mass @ (v * v) + 0.5 * q @ self.stiffness @ q - self.force @ q

    def energies(self, states):
        """Energies of recorded states."""
        q, v = states[:, : self.n], states[:, self.n : 2 * self.n]
        return 0.5 * (v * v) @ self.mass + 0.5 * ((q @ self.stiffness) * q).sum(axis=1) - q @ self.force

    def matrices(self, h):
        """x+ = phi x + gamma (f, 1)."""
        if h not in self.steps:
            size, inputs = self.b.shape
            one, a, b = np.eye(size), self.a, self.b
            if self.rule == "exact":
                whole = np.zeros((size + inputs, size + inputs))
                whole[:size, :size], whole[:size, size:] = a * h, b * h
                whole = exponential(whole)
                phi, gamma = whole[:size, :size], whole[:size, size:]
            elif self.rule == "implicit Euler":
                phi = np.linalg.inv(one - h * a)
                gamma = phi @ b * h
            elif self.rule == "trapezoidal":
                solve = np.linalg.inv(one - h / 2 * a)
                phi, gamma = solve @ (one + h / 2 * a), solve @ b * h
            elif self.rule == "RK4":
                ah = a * h
                phi = one + ah @ (one + ah / 2 @ (one + ah / 3 @ (one + ah / 4)))
                gamma = (one + ah / 2 @ (one + ah / 3 @ (one + ah / 4))) @ b * h
            elif self.rule == "symplectic Euler":
                kick, drift = one.copy(), one.copy()
                kick[self.n :] += h * a[self.n :]
                drift[: self.n, self.n : 2 * self.n] += h * np.eye(self.n)
                push = np.zeros_like(b)
                push[self.n :] = h * b[self.n :]
                phi, gamma = drift @ kick, drift @ push
            else:
                raise ValueError(self.rule)
            if len(self.steps) > 3:
                self.steps.clear()
            self.steps[h] = phi, gamma
        return self.steps[h]

    def trial(self, force, h):
        phi, gamma = self.matrices(h)
        return phi @ self.x + gamma[:, :-1] @ force + gamma[:, -1]

    def step(self, force, h):
        self.x = self.trial(force, h)


class Node:
    """A node of the FMU along some axes (0, 1, 2) of space; it stays where it is along the others."""

    def __init__(self, slave, name, axes, offset=(0.0, 0.0, 0.0)):
        self.slave, self.axes, self.offset = slave, list(axes), [float(x) for x in offset]
        references = lambda letter: [slave.references[f"{name}.{letter}[{axis + 1}]"] for axis in range(3)]
        self.inputs = references("r") + references("v")
        self.outputs = [references("f")[axis] for axis in self.axes]

    def give(self, position, velocity):
        values = [*self.offset, 0.0, 0.0, 0.0]
        for axis, r, v in zip(self.axes, position, velocity):
            values[axis] += r
            values[3 + axis] = v
        self.slave.setReal(self.inputs, values)

    def force(self):
        return np.array(self.slave.getReal(self.outputs))


def run(side, node, stop, steps, order, keep=(), watch=None):
    """Steps both sides until `stop`. `order` "sequential": the FMU first, its force acts in the same step; "parallel":
    both at once, the force acts in the next step; "events": model exchange. Returns times, states, forces as applied, and the FMU's variables
    `keep` after each step. `watch` is called with the time after each step."""
    if order == "events":
        return run_events(side, node, stop, steps, watch)
    slave = node.slave
    lengths = iter(steps) if hasattr(steps, "__iter__") else None
    node.give(side.position, side.velocity)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    held = node.force()
    slave.exitInitializationMode()
    held = node.force()
    times, states, forces, kept = [0.0], [side.x.copy()], [], []
    count = 0
    while times[-1] < stop - 1e-9:
        h = steps if lengths is None else next(lengths)
        time = count * h if lengths is None else times[-1]
        node.give(side.position, side.velocity)
        slave.doStep(time, h)
        new = node.force()
        applied = new if order == "sequential" else held
        side.step(applied, h)
        held = new
        count += 1
        times.append(time + h)
        states.append(side.x.copy())
        forces.append(applied)
        kept.append(slave.real(*keep) if keep else [])
        if watch is not None:
            watch(times[-1])
    return np.array(times), np.array(states), np.array(forces), np.array(kept)


def run_events(side, node, stop, step, watch=None):
    """The same in model exchange: the FMU names the times of events, which are `step` apart, and the side is moved between
    them under the force of the last one."""
    block = node.slave
    node.give(side.position, side.velocity)
    block.setupExperiment(startTime=0.0)
    block.enterInitializationMode()
    block.exitInitializationMode()
    times, states, forces = [0.0], [side.x.copy()], []
    while True:
        node.give(side.position, side.velocity)
        following = block.new_states()
        block.enterContinuousTimeMode()
        if watch is not None:
            watch(times[-1])
        if times[-1] > stop - 1e-9:
            return np.array(times), np.array(states), np.array(forces), np.array([])
        assert abs(following - times[-1] - step) < 1e-12
        forces.append(node.force())
        side.step(forces[-1], step)
        block.setTime(following)
        node.give(side.position, side.velocity)
        block.enterEventMode()
        times.append(following)
        states.append(side.x.copy())
