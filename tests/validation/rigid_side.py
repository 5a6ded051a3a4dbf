"""A free rigid body under a force and torque held over each step."""

import numpy as np


def product(a, b):
    """Of quaternions w x y z."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def rotation_matrix(q):
    w, (x, y, z) = q[0], q[1:]
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


class RigidBody:
    """Newton's and Euler's equations: position and velocity exactly, rotation by the classical Runge-Kutta rule in
    `parts` parts of each step."""

    def __init__(self, mass, inertia, position, velocity, orientation, angular_velocity, gravity, parts=20):
        self.mass, self.inertia, self.parts = mass, np.array(inertia, float), parts
        self.r, self.v = np.array(position, float), np.array(velocity, float)
        self.q, self.w = np.array(orientation, float), np.array(angular_velocity, float)
        self.gravity = np.array(gravity, float)

    def rates(self, q, w, torque):
        turn = rotation_matrix(q)
        spin = turn.T @ w
        change = (turn.T @ torque - np.cross(spin, self.inertia * spin)) / self.inertia
        return 0.5 * product(np.concatenate([[0.0], w]), q), turn @ change

    def step(self, force, torque, h):
        acceleration = np.asarray(force) / self.mass + self.gravity
        self.r = self.r + h * self.v + h * h / 2 * acceleration
        self.v = self.v + h * acceleration
        dt = h / self.parts
        for _ in range(self.parts):
            q, w = self.q, self.w
            a = self.rates(q, w, torque)
            b = self.rates(q + dt / 2 * a[0], w + dt / 2 * a[1], torque)
            c = self.rates(q + dt / 2 * b[0], w + dt / 2 * b[1], torque)
            d = self.rates(q + dt * c[0], w + dt * c[1], torque)
            self.q, self.w = (x + dt / 6 * (k + 2 * l + 2 * m + n) for x, k, l, m, n in zip((q, w), a, b, c, d))
            self.q = self.q / np.linalg.norm(self.q)

    def inputs(self, name, scale=1.0):
        """Values of the FMU's inputs by name; `scale` is the length of the quaternion."""
        groups = {"r": self.r, "v": self.v, "q": scale * self.q, "w": self.w}
        return {f"{name}.{key}[{k + 1}]": x for key, values in groups.items() for k, x in enumerate(values)}


def vector(name, size=3):
    """Names of the components of a vector."""
    return [f"{name}[{k + 1}]" for k in range(size)]


def run(slave, name, body, steps, h, order, first=0, scale=1.0, keep=lambda: None):
    """Steps the FMU and a body. `order` "sequential": a force acts in the step of its answer; "parallel": in the next.
    Starts the FMU where `first` is 0. Returns what `keep` gives after each step."""
    wrench = lambda: np.array(slave.real(*vector(f"{name}.f"), *vector(f"{name}.t")))
    if first == 0:
        slave.set_named(body.inputs(name, scale))
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
    held, kept = wrench(), []
    for k in range(first, first + steps):
        slave.set_named(body.inputs(name, scale))
        slave.doStep(k * h, h)
        answer = wrench()
        applied = answer if order == "sequential" else held
        body.step(applied[:3], applied[3:], h)
        held = answer
        kept.append(keep())
    return kept
