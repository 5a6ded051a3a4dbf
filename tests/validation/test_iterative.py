"""Nodes for masters that repeat a step until state and force agree: the answer is that of Moreau-Jean on the whole
system, solved here in one piece."""

import functools

import numpy as np
import pytest
from coupled import Iterating, IterativeNode, models  # noqa: F401
from smooth_sides import Linear

TOUCHING = 1e-12


class Contact:
    """A plane that the coordinates touch with `gap = normal @ q + offset`, and how it moves along `tangents`."""

    def __init__(self, normal, tangents, offset=0.0, restitution=0.0, mu=0.0, speed=None):
        self.rows = np.vstack([normal, tangents]) if len(tangents) else np.array([normal], float)
        self.offset, self.restitution, self.mu = offset, restitution, mu
        self.speed = np.zeros(len(self.rows)) if speed is None else np.concatenate([[0.0], speed])


def moreau_jean(mass, stiffness, force, position, velocity, contacts, h, steps):
    """`M (v+ - v) = h (force(t + h/2) - K (q + q+)/2) + J^T p`, `q+ = q + h (v + v+)/2`; block Gauss-Seidel over the
    contacts, each by projection on its cone. Returns rows (q, v)."""
    q, v, m = np.array(position, float), np.array(velocity, float), np.diag(mass)
    inverse = np.linalg.inv(m + h * h / 4 * np.array(stiffness, float))
    states = [np.concatenate([q, v])]
    for k in range(steps):
        free = v + inverse @ (h * (force((k + 0.5) * h) - stiffness @ q) - h * h / 2 * (stiffness @ v))
        active = [
            contact
            for contact in contacts
            if contact.rows[0] @ q + contact.offset + h / 2 * (contact.rows[0] @ v) <= TOUCHING
        ]
        after = free + solve(active, inverse, free, v)
        q, v = q + h / 2 * (v + after), after
        states.append(np.concatenate([q, v]))
    return np.array(states)


def solve(contacts, inverse, free, before):
    """Change of velocity by the impulses of contacts."""
    impulses = [np.zeros(len(contact.rows)) for contact in contacts]
    change = np.zeros_like(free)
    for _ in range(100_000):
        moved = 0.0
        for index, contact in enumerate(contacts):
            rows, old = contact.rows, impulses[index]
            delassus = rows @ inverse @ rows.T
            others = rows @ (free + change) - contact.speed - delassus @ old
            others[0] += contact.restitution * (rows[0] @ before)
            new = single(delassus, others, contact.mu, old)
            change = change + inverse @ rows.T @ (new - old)
            impulses[index] = new
            moved = max(moved, np.abs(new - old).max())
        if moved <= 1e-14 * max((np.abs(impulse).max() for impulse in impulses), default=0.0):
            return change
    raise AssertionError("the contact problem was not solved")


def single(delassus, velocity, mu, guess):
    """Impulse of one contact by projection on its cone."""
    if len(guess) == 1:
        return np.maximum(0.0, -velocity / delassus[0])
    weight = 1.0 / np.linalg.eigvalsh(delassus).max()
    impulse = guess.copy()
    for _ in range(100_000):
        trial = impulse - weight * (delassus @ impulse + velocity)
        trial[0] = max(0.0, trial[0])
        size, limit = np.linalg.norm(trial[1:]), mu * trial[0]
        if size > limit:
            trial[1:] *= limit / size
        moved = np.abs(trial - impulse).max()
        impulse = trial
        if moved <= 1e-15 * (np.abs(impulse).max() + weight * np.abs(velocity).max()):
            return impulse
    raise AssertionError("a contact was not solved")


FLOOR = """
[model]
name = "tip"

[[node]]
name = "tip"
iterative = true
mass = 1.0

[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]

[[contact]]
between = ["tip", "floor"]
friction.cone.mu = 0.0
"""
G = 9.81


def oscillator(k):
    return [1.0, 1.0], k * np.array([[1.0, -1.0], [-1.0, 1.0]]), [-10.0, -10.0], [0.801, 0.801], [0.0, 0.0]


def chain(n=100, k=1e4):
    ends = np.diag([1.0] + [2.0] * (n - 2) + [1.0])
    return np.ones(n), k * (ends - np.eye(n, k=1) - np.eye(n, k=-1)), np.zeros(n), np.full(n, 0.1), -np.ones(n)


SYSTEMS = {"k=1e3": (oscillator(1e3), 1.0), "k=1e4": (oscillator(1e4), 1.0), "chain": (chain(), 2.6)}
MOST = {"Aitken": 7, "Newton": 3}


@functools.cache
def whole_system(name, h):
    (masses, stiffness, force, position, velocity), stop = SYSTEMS[name]
    contact = Contact(np.eye(len(masses))[0], [], restitution=0.8)
    force = np.array(force)
    return moreau_jean(masses, stiffness, lambda _: force, position, velocity, [contact], h, round(stop / h))


@pytest.mark.parametrize("method", MOST)
@pytest.mark.parametrize("mass", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("h", [1e-2, 1e-3])
@pytest.mark.parametrize("name", SYSTEMS)
def test_impacts_are_those_of_the_whole_system(models, name, h, mass, method):  # noqa: F811
    (masses, stiffness, force, position, velocity), stop = SYSTEMS[name]
    steps, n = round(stop / h), len(masses)
    whole = whole_system(name, h)
    side = Linear(masses, stiffness, force, position, velocity, [0], rule="trapezoidal")
    with models.instance(FLOOR, tip__mass=mass, tip_floor__restitution=0.8) as slave:
        master = Iterating(side, [IterativeNode(slave, "tip", [2])])
        states = master.run(steps, h, method)
    assert np.abs(states - whole)[:, :n].max() <= 1e-10
    assert max(master.iterations) <= MOST[method]


def stick_slip():
    """A block that a spring of 100 N/m drags at 0.1 m/s over the floor."""
    k, speed = 100.0, 0.1
    drive = (np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[k, 0.0], [0.0, 0.0]]), [0.0, speed])
    side = lambda: Linear(
        [1.0, 1.0], np.diag([k, 0.0]), [0.0, -G], [0.0, 0.0], [0.0, 0.0], [0, 1], extra=drive, rule="trapezoidal"
    )
    force = lambda t: np.array([k * speed * t, -G])
    return side, np.diag([k, 0.0]), force, 0.0, 0.3


def incline():
    """A block that is dropped on an incline of 0.3 rad, bounces, slides and sticks; in the frame of the incline."""
    weight = [G * np.sin(0.3), -G * np.cos(0.3)]
    side = lambda: Linear(
        [1.0, 1.0], np.zeros((2, 2)), weight, [0.0, 0.3], [0.0, 0.0], [0, 1], rule="trapezoidal"
    )
    return side, np.zeros((2, 2)), lambda _: np.array(weight), 0.5, 0.5


MOST_WITH_FRICTION = {"Aitken": 7, "Newton": 3}


@pytest.mark.parametrize("method", MOST_WITH_FRICTION)
@pytest.mark.parametrize("mass", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("h", [1e-2, 1e-3])
@pytest.mark.parametrize("case", [stick_slip, incline])
def test_friction_is_that_of_the_whole_system(models, case, h, mass, method):  # noqa: F811
    make, stiffness, force, restitution, mu = case()
    steps, side = round(5.0 / h), make()
    contact = Contact([0.0, 1.0], [[1.0, 0.0]], restitution=restitution, mu=mu)
    whole = moreau_jean([1.0, 1.0], stiffness, force, side.x[:2], side.x[2:4], [contact], h, steps)
    start = {"tip__mass": mass, "tip_floor__restitution": restitution, "tip_floor__mu": mu}
    with models.instance(FLOOR, **start) as slave:
        master = Iterating(side, [IterativeNode(slave, "tip", [0, 2])])
        states = master.run(steps, h, method)
    assert np.abs(states[:, :2] - whole[:, :2]).max() <= 1e-10
    assert max(master.iterations) <= MOST_WITH_FRICTION[method]


WEDGE = """
[model]
name = "wedge"

[[node]]
name = "tip"
iterative = true
mass = 1.0

[[surface]]
name = "left"
shape.plane.normal = [0.8, 0.0, 0.6]

[[surface]]
name = "right"
shape.plane.normal = [-0.6, 0.0, 0.8]

[[contact]]
between = ["tip", "*"]
friction.cone.mu = 0.0
"""


@pytest.mark.parametrize("method", ["Aitken", "Newton"])
@pytest.mark.parametrize("mass", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("h", [1e-2, 1e-3])
@pytest.mark.parametrize("restitution, mu", [(0.0, 0.2), (0.5, 0.0)])
def test_a_wedge_is_that_of_the_whole_system(models, restitution, mu, h, mass, method):  # noqa: F811
    """A ball between two planes, tied by springs of unlike stiffness, and pushed along the edge."""
    stiffness, force = np.diag([200.0, 20.0, 50.0]), np.array([2.0, 1.5, -G])
    position, velocity = [0.02, 0.0, 0.3], [0.5, 0.4, 0.0]
    left, right = ([0.8, 0.0, 0.6], [-0.6, 0.0, 0.8]), ([-0.6, 0.0, 0.8], [0.8, 0.0, 0.6])
    contacts = [
        Contact(normal, [tangent, [0.0, 1.0, 0.0]], restitution=restitution, mu=mu)
        for normal, tangent in (left, right)
    ]
    steps = round(2.0 / h)
    whole = moreau_jean([1.0] * 3, stiffness, lambda _: force, position, velocity, contacts, h, steps)
    side = Linear([1.0] * 3, stiffness, force, position, velocity, [0, 1, 2], rule="trapezoidal")
    start = {f"tip_{side}__{key}": x for side in ("left", "right") for key, x in (("restitution", restitution), ("mu", mu))}
    with models.instance(WEDGE, tip__mass=mass, **start) as slave:
        master = Iterating(side, [IterativeNode(slave, "tip", [0, 1, 2])])
        states = master.run(steps, h, method)
    assert np.abs(states - whole)[:, :3].max() <= 1e-10
    # Two contacts answer unlike: a single relaxation factor takes longer.
    most = {"Aitken": 20, "Newton": 5} if mass != 1.0 else MOST
    assert max(master.iterations) <= most[method]


CONVEYOR = """
[model]
name = "conveyor"

[[node]]
name = "first"
iterative = true
mass = 1.0

[[node]]
name = "second"
iterative = true
mass = 2.0

[[surface]]
name = "belt"
shape.plane.normal = [0.0, 0.0, 1.0]
motion = "input"
velocity = [0.3, 0.0, 0.0]

[[contact]]
between = ["*", "belt"]
restitution = 0.5
friction.cone.mu = 0.3
"""


@pytest.mark.parametrize("method", ["Aitken", "Newton"])
@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_several_nodes_on_a_moving_surface_are_those_of_the_whole_system(models, h, method):  # noqa: F811
    """Two masses that a spring joins, dropped on a belt; one is tied to the ground by another spring."""
    k, tie = 400.0, 60.0
    joint = np.array([[k, -k], [-k, k]])
    stiffness = np.zeros((6, 6))
    stiffness[np.ix_([0, 3], [0, 3])] = joint + np.diag([tie, 0.0])
    stiffness[np.ix_([1, 4], [1, 4])] = joint
    masses, position = [1.0] * 3 + [2.0] * 3, [0.0, 0.0, 0.05, 0.1, 0.0, 0.02]
    velocity, force = [0.0, 0.2, 0.0, -0.5, 0.0, 0.0], np.array([0.0, 0.0, -G, 0.0, 0.0, -2 * G])
    unit = np.eye(6)
    contacts = [
        Contact(unit[base + 2], unit[base : base + 2], restitution=0.5, mu=0.3, speed=[0.3, 0.0]) for base in (0, 3)
    ]
    steps = round(2.0 / h)
    whole = moreau_jean(masses, stiffness, lambda _: force, position, velocity, contacts, h, steps)
    side = Linear(masses, stiffness, force, position, velocity, range(6), rule="trapezoidal")
    with models.instance(CONVEYOR) as slave:
        nodes = [IterativeNode(slave, name, [0, 1, 2]) for name in ("first", "second")]
        master = Iterating(side, nodes, also=lambda time: {"belt.r[1]": 0.3 * time})
        states = master.run(steps, h, method)
    assert np.abs(states - whole)[:, :6].max() <= 1e-10


STEP = 1e-3


def trial(slave, time, height, speed, applied):
    """All outputs after a step to a state."""
    slave.set_named({"tip.r[3]": height, "tip.v[1]": 0.3, "tip.v[3]": speed, "tip.f_applied[3]": applied})
    slave.doStep(time, STEP)
    return slave.real("tip.f[1]", "tip.f[3]", "tip_floor.gap", "tip_floor.slip", "engine.energy", "engine.dissipated")


@pytest.fixture
def ball(models):  # noqa: F811
    """A ball just above the floor."""
    start = {"tip__r[3]": 1e-4, "tip__v[3]": -2.0, "tip_floor__restitution": 0.8, "tip_floor__mu": 0.3}
    with models.instance(FLOOR, **start) as slave:
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield slave


def bits(slave):
    state = slave.getFMUstate()
    content = bytes(slave.serializeFMUstate(state))
    slave.freeFMUstate(state)
    return content


def test_a_repeated_step_gives_the_same_bits(ball):
    saved = ball.getFMUstate()
    trials = [(-1e-3, -2.01, 0.0), (-1e-4, 0.4, 900.0), (2e-4, 1.6, 3600.0), (5e-4, 2.0, 5000.0)]
    first = []
    for height, speed, applied in trials:
        ball.setFMUstate(saved)
        first.append((trial(ball, 0.0, height, speed, applied), bits(ball)))
    assert len({content for _, content in first}) == len(trials)
    for (height, speed, applied), answer in reversed(list(zip(trials, first))):
        ball.setFMUstate(saved)
        assert (trial(ball, 0.0, height, speed, applied), bits(ball)) == answer
    ball.freeFMUstate(saved)


def test_the_last_step_is_the_one_that_counts(ball):
    path = [(1e-4, 1.6, 3609.81), (1.7e-3, 1.59, 0.0), (3.2e-3, 1.58, 0.0)]
    start = ball.getFMUstate()
    straight = [(trial(ball, k * STEP, *given), bits(ball)) for k, given in enumerate(path)]
    ball.setFMUstate(start)
    for k, given in enumerate(path):
        saved = ball.getFMUstate()
        for wrong in [(-5e-3, -3.0, 0.0), (8e-3, 5.0, 8000.0)]:
            trial(ball, k * STEP, *wrong)
            ball.setFMUstate(saved)
        assert (trial(ball, k * STEP, *given), bits(ball)) == straight[k]
        ball.freeFMUstate(saved)
    ball.freeFMUstate(start)


def test_energy_balance_and_penetration(models):  # noqa: F811
    """What contact takes is what the ball loses; the FMU has the ball where the master has it."""
    h, names = 1e-3, ["engine.energy", "engine.dissipated", "engine.penetration", "tip_floor.gap", "tip_floor.impulse"]
    side = Linear([1.0, 1.0], np.zeros((2, 2)), [0.0, -G], [0.0, 0.2], [1.0, 0.0], [0, 1], rule="trapezoidal")
    start = {"tip__r[3]": 0.2, "tip__v[1]": 1.0, "tip_floor__restitution": 0.8, "tip_floor__mu": 0.1}
    with models.instance(FLOOR, **start) as slave:
        master = Iterating(side, [IterativeNode(slave, "tip", [0, 2])])
        at_start, deepest = side.energy, 0.0
        for k in range(1500):
            master.time = k * h
            master.step(h, "Aitken")
            energy, dissipated, penetration, gap, impulse = slave.real(*names)
            assert abs(energy - side.energy) <= 1e-10
            assert abs(energy + dissipated - at_start) <= 1e-10
            assert abs(gap - side.x[1]) <= 1e-15
            assert abs(penetration - max(0.0, -gap)) <= 1e-12
            assert abs(impulse - master.force[1] * h) <= 1e-10
            deepest = max(deepest, penetration)
    assert dissipated > 0.9 * 0.36 * 0.2 * G
    # Moreau-Jean lets in what comes in half a step.
    assert 0.0 < deepest <= 0.5 * h * np.sqrt(2 * G * 0.2) * 1.01
