"""Mechanisms in the master whose points are contact nodes of the FMU: pendulums of several links, a four-bar linkage, a table
on four feet, a cart, a slider on a rail. Each gives positions and velocities of its points and is moved under forces there, held over a step."""

from functools import lru_cache

import numpy as np
from cvode_side import write
from fmpy.sundials import CVodeSolver
from masters import FMU2NamedBlock, FMU2NamedSlave
from scipy.integrate import solve_ivp
from scipy.optimize import root

G = 9.81


def model(positions, masses, restitution, mu, step, normal=(0.0, 0.0, 1.0), declared=True):
    """Points `n0`, `n1`, ... over a plane through the origin, `declared` as those of a mechanism, or not, or neither; or with the
    lines that say so."""
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
    key = "" if declared is None else declared if isinstance(declared, str) else f"mechanism = {str(declared).lower()}"
    for k, (position, mass) in enumerate(zip(positions, masses)):
        text += f"""
[[node]]
name = "n{k}"
mass = {mass}
{key}
position = {vector(position)}
[[contact]]
between = ["n{k}", "floor"]
restitution = {restitution}
friction.cone.mu = {mu}
"""
    return text


class Points:
    """The points of an FMU that a master moves: in co-simulation, or in model exchange in the order "events"."""

    def __init__(self, fmus, text, count, order):
        kind = FMU2NamedBlock if order == "events" else FMU2NamedSlave
        self.slave, self.count, self.order = kind(*fmus.of_text(text)), count, order
        self.slave.instantiate()
        names = lambda letter, k: [self.slave.references[f"n{k}.{letter}[{axis}]"] for axis in (1, 2, 3)]
        self.inputs = [reference for k in range(count) for reference in names("r", k) + names("v", k)]
        self.outputs = [reference for k in range(count) for reference in names("f", k)]
        self.time = 0.0

    def give(self, positions, velocities):
        values = [float(x) for pair in zip(positions, velocities) for vector in pair for x in vector]
        self.slave.setReal(self.inputs, values)

    def give_operator(self, operator):
        """The inverse mass of all points, three rows each, where the model has inputs for it."""
        names, values = [], []
        for k in range(self.count):
            own = operator[3 * k : 3 * k + 3, 3 * k : 3 * k + 3]
            names += [f"n{k}.W[{i}]" for i in range(1, 7)]
            values += [own[0, 0], own[1, 1], own[2, 2], own[0, 1], own[0, 2], own[1, 2]]
            for other in range(k + 1, self.count):
                names += [f"n{k}.W_n{other}[{i}]" for i in range(1, 10)]
                values += list(operator[3 * k : 3 * k + 3, 3 * other : 3 * other + 3].ravel())
        self.slave.set_named(dict(zip(names, map(float, values))))

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
        if self.order == "events":
            return self.forces_of_event(positions, velocities, h)
        self.give(positions, velocities)
        self.slave.doStep(self.time, h)
        self.time += h
        new = self.read()
        acting = new if self.order == "sequential" else self.held
        self.held = new
        return acting

    def forces_of_event(self, positions, velocities, h):
        """The same for the time up to the next event."""
        self.slave.setTime(self.time)
        self.give(positions, velocities)
        if self.time > 0.0:
            self.slave.enterEventMode()
        following = self.slave.new_states()
        assert abs(following - self.time - h) < 1e-12
        self.slave.enterContinuousTimeMode()
        self.time = following
        return self.read()

    def end(self):
        self.slave.terminate()
        self.slave.freeInstance()
        return self.slave.warnings


def couple(fmus, mechanism, masses, restitution, mu, order, lengths, stop, normal=(0.0, 0.0, 1.0), declared=True):
    """Runs a mechanism with the FMU. Returns times, states, energies, forces and warnings, and where `declared` is None the lines that
    tell of points of a mechanism that were found. With `declared` GIVEN, the master tells the operator."""
    is_given = declared == GIVEN
    if is_given:
        declared = f'mechanism = "given"\nlatency = {("sequential", "parallel").index(order)}'
    lengths = iter(lengths)
    h = next(lengths)
    positions, velocities = mechanism.points()
    text = model(positions, masses, restitution, mu, h, normal, declared)
    points = Points(fmus, text, len(positions), order)
    if declared is None:
        points.slave.setDebugLogging(True, ["logCoupling"])
    if is_given:
        points.give_operator(mechanism.operator())
    points.start(positions, velocities)
    times, states, energies, forces = [0.0], [mechanism.y.copy()], [mechanism.energy()], []
    while times[-1] < stop - 1e-9:
        if is_given:
            points.give_operator(mechanism.operator())
        force = points.forces(*mechanism.points(), h)
        mechanism.step(h, force)
        times.append(times[-1] + h)
        states.append(mechanism.y.copy())
        energies.append(mechanism.energy())
        forces.append(force)
        h = next(lengths)
    log = points.end()
    if declared is None:
        log = log + [line for line in points.slave.told if FOUND in line]
    return np.array(times), np.array(states), np.array(energies), np.array(forces), log


# For `couple`: the master tells how the points respond.
GIVEN = "given"

# What is told where the key is left out and a mechanism is found.
FOUND = "counts from now on as a point of a mechanism"


def runge_kutta(rate, y, h):
    a = rate(y)
    b = rate(y + h / 2 * a)
    c = rate(y + h / 2 * b)
    d = rate(y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


class Pendulum:
    """Points on rods one after the other in the plane of x and z, let go at rest; some of them are nodes over a floor at
    `floor` below the pivot."""

    def __init__(self, angles, floor, masses=None, lengths=None, nodes=(-1,), rule="RK4", damping=0.0, torque=0.0):
        self.links = len(angles)
        self.masses = np.ones(self.links) if masses is None else np.array(masses)
        self.lengths = np.ones(self.links) if lengths is None else np.array(lengths)
        self.y, self.floor, self.rule = np.array([*angles, *np.zeros(self.links)], float), floor, rule
        self.nodes = [range(self.links)[node] for node in nodes]
        beyond = np.cumsum(self.masses[::-1])[::-1]
        self.weights = np.maximum.outer(np.arange(self.links), np.arange(self.links))
        self.weights = beyond[self.weights] * np.outer(self.lengths, self.lengths)
        self.pull = G * beyond * self.lengths
        self.damping, self.torque = damping, torque

    def mass(self, q):
        return self.weights * np.cos(q[:, None] - q)

    def jacobian(self, q, node):
        inner = self.lengths * (np.arange(self.links) <= node)
        return np.array([inner * np.cos(q), inner * np.sin(q)])

    def place(self, y, node):
        q = y[: self.links]
        inner = self.lengths * (np.arange(self.links) <= node)
        return np.array([inner @ np.sin(q), -inner @ np.cos(q) - self.floor]), self.jacobian(q, node) @ y[self.links :]

    def tip(self, y):
        return self.place(y, self.links - 1)

    def points(self):
        found = [self.place(self.y, node) for node in self.nodes]
        spread = lambda pair: (pair[0], 0.0, pair[1])
        return [spread(place) for place, _ in found], [spread(velocity) for _, velocity in found]

    def operator(self):
        """Velocities of the nodes for impulses on them, three rows each."""
        q = self.y[: self.links]
        spread = np.zeros((3 * len(self.nodes), self.links))
        for k, node in enumerate(self.nodes):
            spread[[3 * k, 3 * k + 2]] = self.jacobian(q, node)
        return spread @ np.linalg.solve(self.mass(q), spread.T)

    def rate(self, y, force=None):
        q, w = y[: self.links], y[self.links :]
        push = -self.pull * np.sin(q) - (self.weights * np.sin(q[:, None] - q)) @ (w * w)
        push = push - self.damping * w + self.torque
        for node, own in zip(self.nodes, [] if force is None else force):
            push = push + self.jacobian(q, node).T @ own
        return np.concatenate([w, np.linalg.solve(self.mass(q), push)])

    def energy(self, y=None):
        y = self.y if y is None else y
        q, w = y[: self.links], y[self.links :]
        return 0.5 * w @ self.mass(q) @ w - self.pull @ np.cos(q)

    def step(self, h, force):
        force = np.asarray(force)[:, [0, 2]]
        rate = lambda y: self.rate(y, force)
        if self.rule == "RK4":
            self.y = runge_kutta(rate, self.y, h)
        elif self.rule == "symplectic Euler":
            velocity = self.y[self.links :] + h * rate(self.y)[self.links :]
            self.y = np.concatenate([self.y[: self.links] + h * velocity, velocity])
        elif self.rule == "implicit Euler":
            self.y = root(lambda y: y - self.y - h * rate(y), self.y + h * rate(self.y), tol=1e-13).x
        else:
            self.y = integrate(self, rate, h, float(self.rule.removeprefix("CVODE ")))

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
            q, w = y[: self.links], y[self.links :]
            jacobian, inertia = self.jacobian(q, self.links - 1), self.mass(q)
            velocity = jacobian @ w
            impulse = plane_impact(
                jacobian @ np.linalg.solve(inertia, jacobian.T), velocity + [0.0, restitution * velocity[1]], mu
            )
            y[self.links :] += np.linalg.solve(inertia, jacobian.T @ impulse)
            impacts.append((t, self.energy(y)))
        return places, impacts


class DoublePendulum(Pendulum):
    """Two points of 1 kg on rods of 1 m, let go at 1.2 rad; its tip is a node over a floor 1.6 m below the pivot."""

    def __init__(self, rule="RK4", angles=(1.2, 1.2)):
        super().__init__(angles, -1.6, rule=rule)


# Step, and what a force at the pendulum's tip moves along the normal at the first impact.
STEP = 1e-3
EFFECTIVE = 1.563


@lru_cache
def exact_pendulum(restitution, mu):
    times = STEP * np.arange(1901)
    return times, *DoublePendulum().exact(restitution, mu, times)


def pendulum_errors(times, states, restitution, mu, count=3):
    """Largest errors of the tip between the first impacts, away from the windows in which impulses are delivered."""
    grid, exact, impacts = exact_pendulum(restitution, mu)
    pendulum = DoublePendulum()
    tips = np.array([pendulum.tip(y)[0] for y in states])
    tips = np.array([np.interp(grid, times, tips[:, axis]) for axis in range(2)]).T
    errors = np.abs(tips - exact).max(axis=1)
    starts = [time for time, _ in impacts[:count]]
    ends = [time for time, _ in impacts[1 : count + 1]] + [grid[-1]]
    return [errors[(grid > a + 0.01) & (grid < b - 0.005)].max() for a, b in zip(starts, ends) if b - a > 0.03]


def integrate(mechanism, rate, h, tolerance):
    """The state after a step of CVODE, started anew as after an event."""
    state = {"x": mechanism.y.copy()}
    solver = CVodeSolver(
        nx=len(mechanism.y),
        nz=0,
        get_x=lambda values, count: write(values, state["x"]),
        set_x=lambda values, count: state.update(x=np.array(values[:count])),
        get_dx=lambda values, count: write(values, rate(state["x"])),
        get_z=lambda values, count: None,
        get_nominals=lambda values, count: write(values, np.ones(count)),
        set_time=lambda time: None,
        input=None,
        startTime=0.0,
        relativeTolerance=tolerance,
        maxNumSteps=10_000,
    )
    solver.step(0.0, h)
    return state["x"]


class FourBar:
    """A crank of 0.3 m, a coupler of 1 m and a rocker of 0.8 m on pivots 1 m apart, in the plane of x and z, with 1 kg at both
    joints and at a point of the coupler that is a node. It has one degree of freedom: the point moves in one direction."""

    CRANK, COUPLER, ROCKER, BASE, ARM = 0.3, 1.0, 0.8, 1.0, np.array([0.5, 0.4])

    def __init__(self, angle=0.3, speed=6.0, wall=0.0):
        self.y, self.wall = np.array([angle, speed]), wall

    def places(self, q):
        """Crank's end, the joint of coupler and rocker, and the coupler's point, with their derivatives by the angle."""
        crank = self.CRANK * np.array([np.cos(q), np.sin(q)])
        crank_rate = self.CRANK * np.array([-np.sin(q), np.cos(q)])
        across = np.array([self.BASE, 0.0]) - crank
        far = np.hypot(*across)
        along = (self.COUPLER**2 - self.ROCKER**2 + far**2) / (2 * far)
        joint = crank + along * across / far + np.sqrt(self.COUPLER**2 - along**2) * np.array([-across[1], across[0]]) / far
        # Neither coupler nor rocker changes its length.
        rods = np.array([joint - crank, joint - [self.BASE, 0.0]])
        joint_rate = np.linalg.solve(rods, [rods[0] @ crank_rate, 0.0])
        turned = lambda vector: np.array([-vector[1], vector[0]])
        place = lambda a, b: a + self.ARM[0] * (b - a) + self.ARM[1] * turned(b - a)
        point, point_rate = place(crank, joint), crank_rate * (1 - self.ARM[0]) + self.ARM[0] * joint_rate
        point_rate = point_rate + self.ARM[1] * turned(joint_rate - crank_rate)
        return (crank, joint, point), (crank_rate, joint_rate, point_rate)

    def points(self):
        places, rates = self.places(self.y[0])
        place, velocity = places[2] - [self.wall, 0.0], rates[2] * self.y[1]
        return [(place[0], 0.0, place[1])], [(velocity[0], 0.0, velocity[1])]

    def inertia(self, q):
        return sum(rate @ rate for rate in self.places(q)[1])

    def energy(self):
        height = sum(place[1] for place in self.places(self.y[0])[0])
        return 0.5 * self.inertia(self.y[0]) * self.y[1] ** 2 + G * height

    def rate(self, y, force=np.zeros(2)):
        q, w = y
        _, rates = self.places(q)
        bend = (self.inertia(q + 1e-4) - self.inertia(q - 1e-4)) / 2e-4
        push = rates[2] @ force - G * sum(rate[1] for rate in rates) - 0.5 * bend * w * w
        return np.array([w, push / self.inertia(q)])

    def step(self, h, force):
        self.y = runge_kutta(lambda y: self.rate(y, force[0][[0, 2]]), self.y, h)

    def exact(self, restitution, times):
        """Angles at times, and times of impacts against the wall: each turns the motion back, whatever the friction."""
        y, t, angles, known, impacts = self.y.copy(), 0.0, np.zeros(len(times)), 0, []
        gap = lambda t, y: self.places(y[0])[0][2][0] - self.wall
        gap.terminal, gap.direction = True, -1
        while known < len(times):
            found = solve_ivp(
                lambda t, y: self.rate(y), (t, times[-1] + 1e-9), y, events=gap, rtol=1e-11, atol=1e-12, dense_output=True
            )
            t, y = found.t[-1], found.y[:, -1] * [1.0, -restitution]
            while known < len(times) and times[known] <= t:
                angles[known] = found.sol(times[known])[0]
                known += 1
            if found.status != 1:
                break
            impacts.append(t)
        return angles, impacts


class Cart:
    """A body of 4 kg in the plane of x and z, with a node 0.3 m before and one 0.3 m behind its centre, 0.2 m below it."""

    MASS, INERTIA, ARMS = 4.0, 0.2, np.array([(0.3, -0.2), (-0.3, -0.2)])

    def __init__(self, height, speed):
        self.y = np.array([0.0, height + 0.2, 0.0, speed, 0.0, 0.0])

    def arms(self, angle):
        c, s = np.cos(angle), np.sin(angle)
        return self.ARMS @ np.array([[c, s], [-s, c]])

    def points(self):
        arms = self.arms(self.y[2])
        spread = lambda pairs: [(x, 0.0, z) for x, z in pairs]
        turning = self.y[5] * np.column_stack([-arms[:, 1], arms[:, 0]])
        return spread(self.y[:2] + arms), spread(self.y[3:5] + turning)

    def energy(self):
        return 0.5 * self.MASS * self.y[3:5] @ self.y[3:5] + 0.5 * self.INERTIA * self.y[5] ** 2 + self.MASS * G * self.y[1]

    def rate(self, y, force):
        arms = self.arms(y[2])
        torque = (arms[:, 0] * force[:, 1] - arms[:, 1] * force[:, 0]).sum()
        acceleration = force.sum(axis=0) / self.MASS - [0.0, G]
        return np.array([*y[3:], *acceleration, torque / self.INERTIA])

    def step(self, h, force):
        self.y = runge_kutta(lambda y: self.rate(y, force[:, [0, 2]]), self.y, h)


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


class Free:
    """Balls that have nothing to do with one another nor with anything else."""

    def __init__(self, masses, places, velocities):
        self.masses, self.y = np.array(masses), np.concatenate([np.ravel(places), np.ravel(velocities)]).astype(float)

    def points(self):
        places, velocities = self.y.reshape(2, -1, 3)
        return places, velocities

    def energy(self):
        places, velocities = self.points()
        return 0.5 * self.masses @ (velocities**2).sum(axis=1) + G * self.masses @ places[:, 2]

    def step(self, h, force):
        places, velocities = self.points()
        acceleration = force / self.masses[:, None] - [0.0, 0.0, G]
        places = places + h * velocities + 0.5 * h * h * acceleration
        self.y = np.concatenate([places.ravel(), (velocities + h * acceleration).ravel()])


class Car:
    """A chassis of 100 kg on four wheels of 5 kg, each a node on a spring and a damper that it can move up and down on. It stays level."""

    CHASSIS, WHEEL, STIFFNESS, DAMPING, REST = 100.0, 5.0, 2e4, 5e2, 0.4
    PLACES = np.array([(x, y) for x in (1.2, -1.2) for y in (0.7, -0.7)])

    def __init__(self, height, speed=0.0):
        # x of all, height of the chassis and of wheels, their velocities; springs are as long as they are at rest.
        self.y = np.array([0.0, height + self.REST, *[height] * 4, speed, 0.0, *[0.0] * 4])

    def points(self):
        x, wheels, speed, rising = self.y[0], self.y[2:6], self.y[6], self.y[8:12]
        places = [(x + along, across, z) for (along, across), z in zip(self.PLACES, wheels)]
        return places, [(speed, 0.0, v) for v in rising]

    def rate(self, y, force=np.zeros((4, 3))):
        stretch, slip = y[1] - y[2:6] - self.REST, y[7] - y[8:12]
        spring = self.STIFFNESS * stretch + self.DAMPING * slip
        along = force[:, 0].sum() / (self.CHASSIS + 4 * self.WHEEL)
        wheels = (spring + force[:, 2]) / self.WHEEL - G
        return np.array([*y[6:], along, -spring.sum() / self.CHASSIS - G, *wheels])

    def step(self, h, force):
        self.y = runge_kutta(lambda y: self.rate(y, force), self.y, h)

    def energy(self):
        y = self.y
        springs = 0.5 * self.STIFFNESS * (y[1] - y[2:6] - self.REST) ** 2
        moving = (self.CHASSIS + 4 * self.WHEEL) * y[6] ** 2 + self.CHASSIS * y[7] ** 2 + self.WHEEL * y[8:12] @ y[8:12]
        return 0.5 * moving + springs.sum() + G * (self.CHASSIS * y[1] + self.WHEEL * y[2:6].sum())

    def heights(self, times, parts):
        """Heights of the chassis at times, by short steps with wheels that stay down while they are pressed."""
        y, found = self.y.copy(), [self.y[1]]
        for h in np.diff(times):
            for _ in range(parts):
                y = runge_kutta(self.rate, y, h / parts)
                down = (y[2:6] <= 0.0) & (y[8:12] < 0.0)
                y[2:6][down] = y[8:12][down] = 0.0
            found.append(y[1])
        return np.array(found)


class Gripper:
    """Two pads of 0.5 kg that a carriage guides: they slide along x against one another, and rise with it. They close after 0.2 s
    and lift a box of 0.2 kg, which is the FMU's own, from 0.5 s on."""

    PAD, GRIP, DAMPING, CLOSE, LIFT, RISE = 0.5, 5.0, 5.0, 0.2, 0.5, 0.1

    def __init__(self):
        self.y, self.time = np.array([-0.08, 0.08, 0.0, 0.0]), 0.0

    def height(self, time):
        """Of the carriage, and its velocity: from rest to rest within 0.4 s."""
        part = min(max((time - self.LIFT) / 0.4, 0.0), 1.0)
        return 0.05 + self.RISE * part**3 * (10 - 15 * part + 6 * part**2), self.RISE / 0.4 * 30 * (part * (1 - part)) ** 2

    def points(self):
        height, rising = self.height(self.time)
        return [(x, 0.0, height) for x in self.y[:2]], [(v, 0.0, rising) for v in self.y[2:]]

    def step(self, h, force):
        grip = self.GRIP * np.array([1.0, -1.0]) * (self.time >= self.CLOSE - 1e-9)
        rate = lambda y: np.concatenate([y[2:], (grip - self.DAMPING * y[2:] + force[:, 0]) / self.PAD])
        self.y = runge_kutta(rate, self.y, h)
        self.time += h

    def model(self, step, key):
        pads = "".join(
            f"""
[[node]]
name = "n{k}"
mass = 1.0
{key}
shape.sphere.radius = 0.01
position = [{x}, 0.0, 0.05]
[[contact]]
between = ["n{k}", "box"]
friction.cone.mu = 0.6
"""
            for k, x in enumerate(self.y[:2])
        )
        return f"""
[model]
name = "gripper"
[experiment]
step = {step}
[engine]
gravity = [0.0, 0.0, -{G}]
step = {step}
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
[[node]]
name = "box"
coupling = "owned"
mass = 0.2
inertia = [3.3e-4, 3.3e-4, 3.3e-4]
shape.box.size = [0.1, 0.1, 0.1]
position = [0.0, 0.0, 0.05]
[[contact]]
between = ["box", "floor"]
friction.cone.mu = 0.4
{pads}
"""
