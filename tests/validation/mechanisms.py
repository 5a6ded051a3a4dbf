"""Mechanisms in the master whose points are contact nodes of the FMU: a double pendulum, a table on four feet, a slider on a
rail. Each gives positions and velocities of its points and is moved under forces there, held over a step."""

import numpy as np
from masters import FMU2NamedSlave
from scipy.integrate import solve_ivp

G = 9.81


def model(positions, masses, restitution, mu, step, normal=(0.0, 0.0, 1.0), declared=True):
    """Points `n0`, `n1`, ... over a plane through the origin."""
    vector = lambda numbers: "[" + ", ".join(repr(float(x)) for x in numbers) + "]"
    text = f"""
[model]
name = "mechanism"
[experiment]
step = {step}
[engine]
gravity = [0.0, 0.0, -{G}]
step = {step}
[[surface]]
name = "floor"
shape.plane.normal = {vector(normal)}
"""
    for k, (position, mass) in enumerate(zip(positions, masses)):
        text += f"""
[[node]]
name = "n{k}"
mass = {mass}
mechanism = {str(declared).lower()}
position = {vector(position)}
[[contact]]
between = ["n{k}", "floor"]
restitution = {restitution}
friction.cone.mu = {mu}
"""
    return text


class Points:
    """The points of an FMU that a master moves."""

    def __init__(self, fmus, text, count, order):
        self.slave, self.count, self.order = FMU2NamedSlave(*fmus.of_text(text)), count, order
        self.slave.instantiate()
        names = lambda letter, k: [self.slave.references[f"n{k}.{letter}[{axis}]"] for axis in (1, 2, 3)]
        self.inputs = [reference for k in range(count) for reference in names("r", k) + names("v", k)]
        self.outputs = [reference for k in range(count) for reference in names("f", k)]
        self.time = 0.0

    def give(self, positions, velocities):
        values = [float(x) for pair in zip(positions, velocities) for vector in pair for x in vector]
        self.slave.setReal(self.inputs, values)

    def read(self):
        return np.array(self.slave.getReal(self.outputs)).reshape(self.count, 3)

    def start(self, positions, velocities):
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.give(positions, velocities)
        self.held = self.read()
        self.slave.exitInitializationMode()

    def forces(self, positions, velocities, h):
        """Makes a step. Returns the forces that act in it."""
        self.give(positions, velocities)
        self.slave.doStep(self.time, h)
        self.time += h
        new = self.read()
        acting = new if self.order == "sequential" else self.held
        self.held = new
        return acting

    def end(self):
        self.slave.terminate()
        self.slave.freeInstance()
        return self.slave.warnings


def couple(fmus, mechanism, masses, restitution, mu, order, lengths, stop, normal=(0.0, 0.0, 1.0), declared=True):
    """Runs a mechanism with the FMU. Returns times, states, energies, forces and warnings."""
    lengths = iter(lengths)
    h = next(lengths)
    positions, velocities = mechanism.points()
    text = model(positions, masses, restitution, mu, h, normal, declared)
    points = Points(fmus, text, len(positions), order)
    points.start(positions, velocities)
    times, states, energies, forces = [0.0], [mechanism.y.copy()], [mechanism.energy()], []
    while times[-1] < stop - 1e-9:
        force = points.forces(*mechanism.points(), h)
        mechanism.step(h, force)
        times.append(times[-1] + h)
        states.append(mechanism.y.copy())
        energies.append(mechanism.energy())
        forces.append(force)
        h = next(lengths)
    return np.array(times), np.array(states), np.array(energies), np.array(forces), points.end()


def runge_kutta(rate, y, h):
    a = rate(y)
    b = rate(y + h / 2 * a)
    c = rate(y + h / 2 * b)
    d = rate(y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


class DoublePendulum:
    """Two points of 1 kg on rods of 1 m in the plane of x and z, let go at 1.2 rad; its tip is a node over a floor 1.6 m
    below the pivot."""

    FLOOR = -1.6

    def __init__(self, rule="RK4", angles=(1.2, 1.2)):
        self.y, self.rule = np.array([*angles, 0.0, 0.0]), rule

    @staticmethod
    def mass(q):
        c = np.cos(q[0] - q[1])
        return np.array([[2.0, c], [c, 1.0]])

    @staticmethod
    def jacobian(q):
        return np.array([[np.cos(q[0]), np.cos(q[1])], [np.sin(q[0]), np.sin(q[1])]])

    def tip(self, y):
        q = y[:2]
        place = np.array([np.sin(q).sum(), -np.cos(q).sum() - self.FLOOR])
        return place, self.jacobian(q) @ y[2:]

    def points(self):
        (x, z), (u, w) = self.tip(self.y)
        return [(x, 0.0, z)], [(u, 0.0, w)]

    def rate(self, y, force=np.zeros(2)):
        q, w = y[:2], y[2:]
        s = np.sin(q[0] - q[1])
        bias = np.array([s * w[1] ** 2 + 2 * G * np.sin(q[0]), -s * w[0] ** 2 + G * np.sin(q[1])])
        return np.concatenate([w, np.linalg.solve(self.mass(q), self.jacobian(q).T @ force - bias)])

    def energy(self, y=None):
        y = self.y if y is None else y
        return 0.5 * y[2:] @ self.mass(y[:2]) @ y[2:] - 2 * G * np.cos(y[0]) - G * np.cos(y[1])

    def step(self, h, force):
        force = force[0][[0, 2]]
        if self.rule == "RK4":
            self.y = runge_kutta(lambda y: self.rate(y, force), self.y, h)
        elif self.rule == "symplectic Euler":
            velocity = self.y[2:] + h * self.rate(self.y, force)[2:]
            self.y = np.concatenate([self.y[:2] + h * velocity, velocity])
        else:
            raise ValueError(self.rule)

    def exact(self, restitution, mu, times):
        """Places of the tip, and times and energies of impacts, by integration from impact to impact."""
        y, t, places, known, impacts = self.y.copy(), 0.0, np.zeros((len(times), 2)), 0, []
        height = lambda t, y: self.tip(y)[0][1]
        height.terminal, height.direction = True, -1
        while known < len(times) and len(impacts) < 60:
            found = solve_ivp(
                lambda t, y: self.rate(y), (t, times[-1] + 1e-9), y, events=height, rtol=1e-11, atol=1e-12, dense_output=True
            )
            t, y = found.t[-1], found.y[:, -1].copy()
            while known < len(times) and times[known] <= t:
                places[known] = self.tip(found.sol(times[known]))[0]
                known += 1
            if found.status != 1:
                break
            jacobian, inertia = self.jacobian(y[:2]), self.mass(y[:2])
            velocity = jacobian @ y[2:]
            impulse = plane_impact(
                jacobian @ np.linalg.solve(inertia, jacobian.T), velocity + [0.0, restitution * velocity[1]], mu
            )
            y[2:] += np.linalg.solve(inertia, jacobian.T @ impulse)
            impacts.append((t, self.energy(y)))
        return places, impacts


def plane_impact(w, b, mu):
    """The impulse p (tangent, normal) of one contact: u = w p + b, 0 <= p_n, u_n >= 0, |p_t| <= mu p_n opposing u_t."""
    if b[1] >= 0:
        return np.zeros(2)
    stuck = -np.linalg.solve(w, b)
    if stuck[1] >= 0 and abs(stuck[0]) <= mu * stuck[1]:
        return stuck
    for slip in (1.0, -1.0):
        normal = -b[1] / (w[1, 1] - slip * mu * w[1, 0])
        if normal > 0 and slip * (b[0] + (w[0, 1] - slip * mu * w[0, 0]) * normal) >= -1e-14:
            return np.array([-slip * mu * normal, normal])
    raise ValueError("no impulse obeys the laws")


class Table:
    """A rigid body of 10 kg whose four feet are nodes."""

    MASS, INERTIA = 10.0, np.array([0.8, 1.1, 1.5])
    FEET = np.array([(x, y, -0.35) for x in (0.4, -0.4) for y in (0.3, -0.3)])

    def __init__(self, height, orientation=(1.0, 0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0)):
        self.y = np.concatenate([(0.0, 0.0, height), orientation, velocity, np.zeros(3)]).astype(float)

    @staticmethod
    def rotation(q):
        w, x, y, z = q / np.linalg.norm(q)
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def points(self):
        arms = self.FEET @ self.rotation(self.y[3:7]).T
        return self.y[:3] + arms, self.y[7:10] + np.cross(self.y[10:13], arms)

    def rate(self, y, force):
        turn, spin = self.rotation(y[3:7]), y[10:13]
        inertia = turn * self.INERTIA @ turn.T
        torque = np.cross(self.FEET @ turn.T, force).sum(axis=0) - np.cross(spin, inertia @ spin)
        w, vector = y[3], y[4:7]
        quaternion = 0.5 * np.concatenate([[-spin @ vector], w * spin + np.cross(spin, vector)])
        acceleration = force.sum(axis=0) / self.MASS - [0.0, 0.0, G]
        return np.concatenate([y[7:10], quaternion, acceleration, np.linalg.solve(inertia, torque)])

    def step(self, h, force):
        self.y = runge_kutta(lambda y: self.rate(y, force), self.y, h)
        self.y[3:7] /= np.linalg.norm(self.y[3:7])

    def energy(self):
        spin = self.rotation(self.y[3:7]).T @ self.y[10:13]
        return 0.5 * self.MASS * self.y[7:10] @ self.y[7:10] + 0.5 * spin @ (self.INERTIA * spin) + self.MASS * G * self.y[2]

    def owned(self, fmus, restitution, mu, step, stop):
        """Places of the same body where the FMU moves it: a box, whose lower corners are the feet."""
        vector = lambda numbers: "[" + ", ".join(repr(float(x)) for x in numbers) + "]"
        text = f"""
[model]
name = "table"
[experiment]
step = {step}
[engine]
gravity = [0.0, 0.0, -{G}]
step = {step}
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[node]]
name = "table"
coupling = "owned"
mass = {self.MASS}
inertia = {vector(self.INERTIA)}
shape.box.size = [0.8, 0.6, 0.7]
position = {vector(self.y[:3])}
orientation = {vector(self.y[3:7])}
velocity = {vector(self.y[7:10])}
[[contact]]
between = ["table", "floor"]
restitution = {restitution}
friction.cone.mu = {mu}
"""
        slave = FMU2NamedSlave(*fmus.of_text(text))
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        read = lambda: slave.real(*[f"table.r[{axis}]" for axis in (1, 2, 3)])
        places = [read()]
        for k in range(round(stop / step)):
            slave.doStep(k * step, step)
            places.append(read())
        slave.terminate()
        slave.freeInstance()
        return np.array(places)


class Rail:
    """A slider of 2 kg on a straight rail through the floor, 30 degrees steep: its point moves in one direction only."""

    MASS = 2.0
    ALONG = np.array([np.cos(0.5), 0.0, np.sin(0.5)])

    def __init__(self, way=0.3):
        self.y = np.array([way, 0.0])

    def points(self):
        return [self.y[0] * self.ALONG], [self.y[1] * self.ALONG]

    def energy(self):
        return 0.5 * self.MASS * self.y[1] ** 2 + self.MASS * G * self.y[0] * self.ALONG[2]

    def step(self, h, force):
        acceleration = force[0] @ self.ALONG / self.MASS - G * self.ALONG[2]
        self.y = self.y + [h * self.y[1] + 0.5 * h * h * acceleration, h * acceleration]

    def exact(self, restitution, times):
        """Ways at times, up to the third impact."""
        pull, t, way, speed, found = G * self.ALONG[2], 0.0, self.y[0], 0.0, []
        for _ in range(3):
            flight = (speed + np.sqrt(speed**2 + 2 * pull * way)) / pull
            inside = times[(times >= t) & (times < t + flight)] - t
            found.append(way + speed * inside - 0.5 * pull * inside**2)
            t, way, speed = t + flight, 0.0, restitution * (pull * flight - speed)
        return np.concatenate(found)


class Several:
    """Mechanisms of one point each that have nothing to do with one another."""

    def __init__(self, *parts):
        self.parts = parts

    @property
    def y(self):
        return np.concatenate([part.y for part in self.parts])

    def points(self):
        points = [part.points() for part in self.parts]
        return [p for places, _ in points for p in places], [v for _, velocities in points for v in velocities]

    def energy(self):
        return sum(part.energy() for part in self.parts)

    def step(self, h, force):
        for part, own in zip(self.parts, force):
            part.step(h, [own])
