"""Kinetic bodies in a master that takes part in events: at an impact both sides agree on impulses and velocities, the answer
of one solver for the whole. Steps of 1e-2 s."""

import numpy as np
import pytest
from conftest import contact_fmu
from exact import ball_height
from fmi3_side import slave3
from scipy.integrate import solve_ivp

STEP = 1e-2
MOST_ROUNDS = 20

MODEL = """
[model]
name = "bodies"
[experiment]
step = 1e-2
[engine]
gravity = [0.0, 0.0, -10.0]
{nodes}
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
{contacts}
"""
NODE = """
[[node]]
name = "{name}"
mass = {mass}
position = {position}
velocity = {velocity}
{shape}
"""
CONTACT = """
[[contact]]
between = ["{name}", "floor"]
restitution = {restitution}
friction.cone.mu = {mu}
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmi3_coupling")

    def build(names, mass, positions, velocities, restitution, shape="", mu=0.0):
        nodes = "".join(
            NODE.format(name=name, mass=mass, position=list(map(float, r)), velocity=list(map(float, v)), shape=shape)
            for name, r, v in zip(names, positions, velocities)
        )
        contacts = "".join(CONTACT.format(name=name, restitution=restitution, mu=mu) for name in names)
        source = folder / f"{len(list(folder.glob('*.toml')))}.toml"
        source.write_text(MODEL.format(nodes=nodes, contacts=contacts))
        contact_fmu("build", source, "--fmi", "3", "-o", source.with_suffix(".fmu"))
        return str(source.with_suffix(".fmu"))

    return build


class Master:
    """Moves its own model between events, and lets it take part in them."""

    def __init__(self, slave, names, model):
        self.slave, self.names, self.model = slave, names, model
        self.time, self.rounds, self.impacts = 0.0, [], []
        self.give()
        slave.fmu.enterInitializationMode()
        slave.fmu.exitInitializationMode()
        while slave.fmu.updateDiscreteStates()[0]:
            pass
        slave.fmu.enterStepMode()

    def give(self):
        for name, r, v in zip(self.names, *self.model.points()):
            self.slave.set(**{f"{name}__r": list(r), f"{name}__v": list(v)})

    def step(self, until):
        """To `until`, or to an event before it."""
        event, _, _, last = self.slave.fmu.doStep(self.time, until - self.time)
        forces = [np.array(self.slave.get(f"{name}.f")) for name in self.names]
        self.model.move(last - self.time, forces)
        self.time = last
        self.give()
        if event:
            self.slave.fmu.enterEventMode()
            before = self.model.velocities()
            for count in range(1, 100):
                impulses = [np.array(self.slave.get(f"{name}.impulse")) for name in self.names]
                self.model.hit(before, impulses)
                self.give()
                if not self.slave.fmu.updateDiscreteStates()[0]:
                    break
            self.slave.fmu.enterStepMode()
            if np.any(impulses):
                self.rounds.append(count)
                self.impacts.append(self.time)

    def run(self, stop, see=lambda: None):
        k = 0
        while k * STEP < stop - 1e-9:
            self.step((k + 1) * STEP)
            see()
            if abs(self.time - (k + 1) * STEP) < 1e-12:
                k += 1


class Ball:
    def __init__(self, mass, height):
        self.mass, self.r, self.v = mass, np.array([0.0, 0.0, height]), np.zeros(3)

    def points(self):
        return [self.r], [self.v]

    def move(self, dt, forces):
        acceleration = np.array([0.0, 0.0, -10.0]) + forces[0] / self.mass
        self.r = self.r + dt * self.v + dt * dt / 2 * acceleration
        self.v = self.v + dt * acceleration

    def velocities(self):
        return self.v

    def hit(self, before, impulses):
        self.v = before + impulses[0] / self.mass


@pytest.mark.parametrize("mass", [1.0, 2.5, 0.3], ids=["as declared", "heavier", "lighter"])
def test_ball_follows_the_exact_path(build, mass):
    """Whatever mass the master's ball really has: the FMU is told 1 kg."""
    path = build(["ball"], 1.0, [[0, 0, 1.001]], [[0, 0, 0]], 0.8, "shape.sphere.radius = 0.2")
    with slave3(path, events=True, early_return=True) as slave:
        master = Master(slave, ["ball"], Ball(mass, 1.001))
        errors = []
        master.run(3.0, lambda: errors.append(abs(master.model.r[2] - 0.2 - ball_height(np.array([master.time]))[0])))
    assert len(master.impacts) >= 8
    assert max(errors) < 1e-8
    assert max(master.rounds) <= 5


class DoublePendulum:
    """Two point masses on massless rods, angles from the vertical, in the plane x z."""

    M1, M2, L1, L2, G = 1.0, 0.7, 0.5, 0.4, 10.0

    def __init__(self, q):
        self.q, self.u = np.array(q, dtype=float), np.zeros(2)

    def jacobian(self, q):
        (a, b), l1, l2 = q, self.L1, self.L2
        return np.array([[l1 * np.cos(a), l2 * np.cos(b)], [l1 * np.sin(a), l2 * np.sin(b)]])

    def mass(self, q):
        m1, m2, l1, l2 = self.M1, self.M2, self.L1, self.L2
        off = m2 * l1 * l2 * np.cos(q[0] - q[1])
        return np.array([[(m1 + m2) * l1**2, off], [off, m2 * l2**2]])

    def acceleration(self, q, u, force):
        m1, m2, l1, l2, g = self.M1, self.M2, self.L1, self.L2, self.G
        s = m2 * l1 * l2 * np.sin(q[0] - q[1])
        right = np.array([
            -s * u[1] ** 2 - (m1 + m2) * g * l1 * np.sin(q[0]),
            s * u[0] ** 2 - m2 * g * l2 * np.sin(q[1]),
        ])
        return np.linalg.solve(self.mass(q), right + self.jacobian(q).T @ force)

    def tip(self, q):
        return np.array([
            self.L1 * np.sin(q[0]) + self.L2 * np.sin(q[1]), 0.0, 1.0 - self.L1 * np.cos(q[0]) - self.L2 * np.cos(q[1])
        ])

    def points(self):
        x, z = self.jacobian(self.q) @ self.u
        return [self.tip(self.q)], [np.array([x, 0.0, z])]

    def flow(self, force):
        return lambda _, y: np.concatenate([y[2:], self.acceleration(y[:2], y[2:], force)])

    def move(self, dt, forces):
        if dt > 0:
            y = solve_ivp(self.flow(forces[0][[0, 2]]), (0, dt), np.concatenate([self.q, self.u]), rtol=1e-12, atol=1e-13).y
            self.q, self.u = y[:2, -1], y[2:, -1]

    def velocities(self):
        return self.u

    def hit(self, before, impulses):
        self.u = before + np.linalg.solve(self.mass(self.q), self.jacobian(self.q).T @ impulses[0][[0, 2]])

    def exact(self, stop, e, floor):
        """One solver for the whole: the path as a function, and times of impact."""
        pieces, times, start = [], [], 0.0
        y = np.concatenate([self.q, self.u])
        touch = lambda _, y: self.tip(y[:2])[2] - floor
        touch.terminal, touch.direction = True, -1
        while start < stop:
            piece = solve_ivp(
                self.flow(np.zeros(2)), (start, stop), y, rtol=1e-12, atol=1e-13, events=touch, dense_output=True
            )
            pieces.append((start, piece.t[-1], piece.sol))
            start, y = piece.t[-1], piece.y[:, -1]
            if piece.status == 1:
                q, u = y[:2], y[2:]
                normal = self.jacobian(q)[1]
                response = np.linalg.solve(self.mass(q), normal)
                u = u - (1 + e) * (normal @ u) / (normal @ response) * response
                times.append(start)
                y = np.concatenate([q, u])
        return pieces, times


def test_double_pendulum_with_a_floor(build):
    """The tip weighs in the FMU what it does alone; in the pendulum it responds otherwise, and not along the normal only."""
    start, floor, e = [0.9, 1.3], 0.2, 0.6
    pendulum = DoublePendulum(start)
    shift = lambda r: r - np.array([0.0, 0.0, floor])

    class Shifted(DoublePendulum):
        def points(self):
            (r,), v = super().points()
            return [shift(r)], v

    stop = 1.6
    pieces, times = pendulum.exact(stop, e, floor)
    third = times[2]
    assert times[3] > third + 0.05
    path = build(["tip"], pendulum.M2, [shift(pendulum.tip(pendulum.q))], [[0, 0, 0]], e)
    with slave3(path, events=True, early_return=True) as slave:
        master = Master(slave, ["tip"], Shifted(start))
        errors = []

        def see():
            (_, _, sol) = next(piece for piece in reversed(pieces) if piece[0] <= master.time + 1e-9)
            errors.append((master.time, np.abs(pendulum.tip(sol(master.time)[:2]) - master.model.tip(master.model.q)).max()))

        master.run(third + 0.05, see)
    assert len(master.impacts) >= 3
    assert np.abs(np.array(master.impacts[:3]) - times[:3]).max() < 1e-6
    assert max(error for _, error in errors) < 1e-5
    assert max(master.rounds) <= MOST_ROUNDS


class Table:
    """A rigid body on four feet, without friction."""

    MASS, INERTIA = 12.0, np.array([0.9, 1.4, 2.0])
    FEET = np.array([[0.5, 0.3, -0.4], [0.5, -0.3, -0.4], [-0.5, 0.3, -0.4], [-0.5, -0.3, -0.4]])

    def __init__(self, height, tilt):
        self.r, self.v, self.w = np.array([0.0, 0.0, height]), np.zeros(3), np.zeros(3)
        c, s = np.cos(tilt), np.sin(tilt)
        self.turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])

    def arms(self):
        return self.FEET @ self.turn.T

    def points(self):
        arms = self.arms()
        return [self.r + arm for arm in arms], [self.v + np.cross(self.w, arm) for arm in arms]

    def move(self, dt, forces):
        acceleration = np.array([0.0, 0.0, -10.0]) + sum(forces) / self.MASS
        self.r = self.r + dt * self.v + dt * dt / 2 * acceleration
        self.v = self.v + dt * acceleration
        assert not np.any(self.w), "it falls without turning"

    def velocities(self):
        return self.v, self.w

    def inverse_inertia(self):
        return self.turn @ np.diag(1 / self.INERTIA) @ self.turn.T

    def hit(self, before, impulses):
        self.v = before[0] + sum(impulses) / self.MASS
        moment = sum(np.cross(arm, impulse) for arm, impulse in zip(self.arms(), impulses))
        self.w = before[1] + self.inverse_inertia() @ moment


@pytest.mark.parametrize("tilt, hit", [(0.1, [0, 1]), (0.0, [0, 1, 2, 3])], ids=["two feet", "four feet"])
def test_feet_that_hit_at_once(build, tilt, hit):
    """Velocities after the impact are those of one solver for all feet, to 1e-9."""
    e = 0.5
    table = Table(0.7, tilt)
    names = [f"foot{k}" for k in range(1, 5)]
    positions, velocities = table.points()
    path = build(names, 2.0, positions, velocities, e)
    with slave3(path, events=True, early_return=True) as slave:
        master = Master(slave, names, table)
        while not master.impacts:
            master.step(master.time + STEP)
    fall = min(r[2] for r in positions)
    speed = np.sqrt(2 * 10 * fall)
    # One solver: the feet that hit leave with e times their speed; nothing pulls.
    arms, inverse = table.arms(), table.inverse_inertia()
    normals = [np.concatenate([[0, 0, 1 / table.MASS], inverse @ np.cross(arm, [0, 0, 1])]) for arm in arms[hit]]
    rows = [np.concatenate([[0, 0, 1], np.cross(arm, [0, 0, 1])]) for arm in arms[hit]]
    response = np.array([[row @ normal for normal in normals] for row in rows])
    impulses = np.linalg.lstsq(response, np.full(len(hit), (1 + e) * speed), rcond=None)[0]
    assert impulses.min() > 0
    after = np.array([0, 0, -speed, 0, 0, 0]) + sum(impulse * normal for impulse, normal in zip(impulses, normals))
    assert abs(master.impacts[0] - speed / 10) < 1e-9
    np.testing.assert_allclose(np.concatenate([table.v, table.w]), after, rtol=0, atol=1e-9)
    assert max(master.rounds) <= MOST_ROUNDS


def test_an_iteration_without_end_is_told(build):
    """A master that answers at random: given up after 20 rounds, and told."""
    path = build(["ball"], 1.0, [[0, 0, 0.5]], [[0, 0, 0]], 0.5)
    random = np.random.default_rng(1)

    class Erratic(Ball):
        def hit(self, before, impulses):
            self.v = before + random.normal(size=3)

    with slave3(path, events=True, early_return=True) as slave:
        master = Master(slave, ["ball"], Erratic(1.0, 0.5))
        while not master.rounds:
            master.step(master.time + STEP)
        # The first impulses are a round too.
        assert master.rounds[0] == MOST_ROUNDS - 1
        (message,) = slave.messages
        assert f"do not agree after {MOST_ROUNDS} rounds: apply the impulses of NODE.impulse" in message
