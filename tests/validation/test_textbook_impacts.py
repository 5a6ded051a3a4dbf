"""Impacts of several bodies, of blocks and of mechanisms, in built FMUs, against closed forms and independent integrations
from event to event."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from textbook import G, box_inertia, contact, joint, model, node, plane, run

H = 1e-3


# ---- A cradle of five balls.

def cradle(gap, hung):
    """Five equal balls in a row; the first one is on its way, or is held up on its string of 1 m."""
    radius, length, lift = 0.05, 1.0, 0.5
    entries = []
    for k in range(5):
        x = k * (2 * radius + gap)
        position, velocity = [x, 0.0, 0.0], [0.0, 0.0, 0.0]
        if k == 0 and hung:
            position = [x - length * np.sin(lift), 0.0, length * (1 - np.cos(lift))]
        elif k == 0:
            position, velocity = [x - 0.3, 0.0, 0.0], [2.0, 0.0, 0.0]
        entries.append(node(f"b{k}", 1.0, shape={"sphere": {"radius": radius}}, position=position, velocity=velocity))
        if hung:
            entries.append(joint(f"string{k}", "ground", f"b{k}",
                                 distance={"length": length, "anchors": [[x, 0.0, length], [0.0, 0.0, 0.0]]}))
    entries += [contact(f"b{k}", f"b{k + 1}", 1.0) for k in range(4)]
    return model(*entries, gravity=[0.0, 0.0, -G if hung else 0.0])


@pytest.mark.parametrize("gap", [1e-9, 1e-6])
def test_cradle_with_gaps(fmus, gap):
    """Impacts come one after the other: each ball hands its velocity on, the last one leaves with all of it."""
    done = run(fmus, cradle(gap, hung=False), 0.4)
    velocities = [done[f"b{k}.v[1]"][-1] for k in range(5)]
    assert np.abs(np.array(velocities) - [0.0, 0.0, 0.0, 0.0, 2.0]).max() < 1e-9
    last = 4 * (0.1 + gap) + 2.0 * (0.4 - (0.3 + 4 * gap) / 2.0)
    assert abs(done["b4.r[1]"][-1] - last) < 1e-9


def test_cradle_that_touches(fmus):
    """Newton's law at all contacts at once: b1 to b4 go on together with 2/5 v, b0 goes back with 3/5 v, which keeps momentum
    and energy. [Moreau; models/billiards has three balls]"""
    done = run(fmus, cradle(0.0, hung=False), 0.4)
    velocities = np.array([done[f"b{k}.v[1]"][-1] for k in range(5)])
    assert np.abs(velocities - [-1.2, 0.8, 0.8, 0.8, 0.8]).max() < 1e-9


def test_cradle_on_strings(fmus):
    """The last ball swings up as high as the first one was, half a period later; the others hang still. Pendulums of rate w
    by a scheme of order 2: (w h)^2 of the height and of the time."""
    done = run(fmus, cradle(1e-9, hung=True), 1.2)
    height, rate = 1 - np.cos(0.5), np.sqrt(G)
    last = done["b4.r[3]"]
    assert abs(last.max() / height - 1) < (rate * H) ** 2
    # Period of a pendulum: 4 K(sin^2(a / 2)) / w.
    quarter, _ = quad(lambda phi: 1 / np.sqrt(1 - (np.sin(0.25) * np.sin(phi)) ** 2), 0, np.pi / 2)
    top = done.time[last.argmax()]
    assert abs(top - 2 * quarter / rate) < H
    before = done.time < top
    assert max(done[f"b{k}.r[3]"][before].max() for k in (1, 2, 3)) < 1e-6 * height


# ---- Housner's rocking block.

BLOCK = {"mass": 10.0, "half_width": 0.1, "half_height": 0.4, "lean": 0.1}


def rocking(fmus):
    one = BLOCK
    size = [2 * one["half_width"], 0.3, 2 * one["half_height"]]
    # Leans about its right lower edge.
    c, s = np.cos(one["lean"]), np.sin(one["lean"])
    edge = np.array([one["half_width"], 0.0, 0.0])
    centre = edge + [-one["half_width"] * c + one["half_height"] * s, 0.0, one["half_width"] * s + one["half_height"] * c]
    text = model(node("block", one["mass"], inertia=box_inertia(one["mass"], size), shape={"box": {"size": size}},
                      position=centre, orientation=[np.cos(one["lean"] / 2), 0.0, np.sin(one["lean"] / 2), 0.0]),
                 plane("floor"), contact("block", "floor", 0.0, 2.0))
    return run(fmus, text, 3.0)


def housner():
    """Ten impact times, the rate w of small motions, and the part r of the angular velocity that an impact leaves: about an
    edge 4/3 m R^2 a'' = -m g R sin(alpha - a), r = 1 - 1.5 sin^2(alpha), energy r^2 of what it was. [Housner, The
    behavior of inverted pendulum structures during earthquakes, 1963]"""
    alpha = np.arctan2(BLOCK["half_width"], BLOCK["half_height"])
    reach = np.hypot(BLOCK["half_width"], BLOCK["half_height"])
    square = 3 * G / (4 * reach)
    ratio = 1 - 1.5 * np.sin(alpha) ** 2
    fall = lambda lean: quad(
        # From rest at the lean, a = lean (1 - u^2): the integrand is smooth.
        lambda u: 2 * lean * u / np.sqrt(2 * square * (np.cos(alpha - lean) - np.cos(alpha - lean * (1 - u**2)))),
        0.0, 1.0, epsabs=1e-13)[0]
    lean, times, now = BLOCK["lean"], [], 0.0
    for _ in range(10):
        now += fall(lean)
        times.append(now)
        # The energy after the impact lifts it to the next lean.
        level = np.cos(alpha) + ratio**2 * (np.cos(alpha - lean) - np.cos(alpha))
        lean = alpha - np.arccos(level)
        now += fall(lean)
    return np.array(times), np.sqrt(square), ratio


def impacts_of(done):
    """When the lean changes its sign, from the last value and rate before, and energies between."""
    lean = 2 * np.arctan2(done["block.q[3]"], done["block.q[1]"])
    rate = done["block.w[2]"]
    before = np.flatnonzero(np.sign(lean[1:]) != np.sign(lean[:-1]))[:10]
    push = (rate[before] - rate[before - 1]) / H
    reach = -lean[before] / rate[before]
    return done.time[before] + reach - push / rate[before] * reach**2 / 2, before


def test_rocking_block_impact_times(fmus):
    """Order 2: (w h)^2 of the time."""
    expected, rate, _ = housner()
    times, _ = impacts_of(rocking(fmus))
    assert len(times) == 10
    errors = np.abs(times - expected)
    assert (errors < (rate * H) ** 2 * expected + 1e-9).all(), f"off by {errors.max():.2e} s of {expected[-1]:.3f}"


def test_rocking_block_energy(fmus):
    """Each impact leaves r^2; between impacts nothing is lost but (w h)^2 of it."""
    _, rate, ratio = housner()
    done = rocking(fmus)
    _, before = impacts_of(done)
    rest = BLOCK["mass"] * G * BLOCK["half_height"]
    energy = done["engine.kinetic"] + BLOCK["mass"] * G * done["block.r[3]"] - rest
    levels = [energy[0], *(energy[min(k + 2, len(energy) - 1)] for k in before)]
    found = np.array(levels[1:]) / np.array(levels[:-1])
    assert len(found) == 10
    assert np.abs(found / ratio**2 - 1).max() < 4 * (rate * H) ** 2, f"ratios {found} for {ratio**2:.6f}"


# ---- A double pendulum whose tip hits a floor.

class DoublePendulum:
    """Two rods of 1 m and 1 kg, by their angles from the horizontal; the tip touches the floor at z = -depth. Lagrange's
    equations, and Newton's and Coulomb's law of impact at the tip: p sticks, or slips on the cone, and u_n+ = -e u_n."""

    START = np.array([0.2, -0.4])

    def __init__(self, mu, depth=1.3, e=0.5):
        self.mu, self.depth, self.e = mu, depth, e

    def matrix(self, q):
        both = np.cos(q[0] - q[1]) / 2
        return np.array([[1 / 3 + 1.0, both], [both, 1 / 3]])

    def rates(self, _, state):
        q, v = state[:2], state[2:]
        turning = np.sin(q[0] - q[1]) / 2
        force = [-turning * v[1] ** 2 - 1.5 * G * np.cos(q[0]), turning * v[0] ** 2 - 0.5 * G * np.cos(q[1])]
        return [*v, *np.linalg.solve(self.matrix(q), force)]

    def gap(self, _, state):
        return self.depth + np.sin(state[0]) + np.sin(state[1])

    def impact(self, state):
        q, v = state[:2], state[2:]
        rows = np.array([np.cos(q), -np.sin(q)])
        inverse = np.linalg.inv(self.matrix(q))
        w, u = rows @ inverse @ rows.T, rows @ v
        p = np.linalg.solve(w, [-(1 + self.e) * u[0], -u[1]])
        if abs(p[1]) > self.mu * p[0]:
            way = np.sign(p[1]) * self.mu
            p = np.array([1.0, way]) * -(1 + self.e) * u[0] / (w[0, 0] + w[0, 1] * way)
        return np.array([*q, *(v + inverse @ rows.T @ p)])

    def angles(self, times, start=START):
        """Angles at the given times, and the number of impacts."""
        event = lambda t, state: self.gap(t, state)
        event.terminal, event.direction = True, -1
        now, state, found, impacts = 0.0, np.array([*start, 0.0, 0.0]), [], 0
        while True:
            ahead = times[times >= now]
            solved = solve_ivp(self.rates, (now, times[-1] + 1e-9), state, method="DOP853", rtol=1e-11, atol=1e-12,
                               t_eval=ahead[ahead <= times[-1]], events=event)
            found.append(solved.y[:2].T)
            if solved.status != 1:
                return np.concatenate(found), impacts
            now, state = solved.t_events[0][0], self.impact(solved.y_events[0][0])
            impacts += 1
            times_left = times > now
            if not times_left.any():
                return np.concatenate(found), impacts


@pytest.mark.parametrize("mu, stop", [(0.0, 1.2), (0.5, 0.95)], ids=["smooth", "rough"])
def test_double_pendulum_hits_a_floor(fmus, mu, stop):
    """With rates up to w, order 2 is (w h)^2 w t of an angle, times what the motion itself makes of a small difference."""
    pendulum = DoublePendulum(mu)
    ends = [np.array([0.0, 0.0]), np.array([np.cos(0.2), np.sin(0.2)])]
    ends.append(ends[1] + [np.cos(-0.4), np.sin(-0.4)])
    entries = []
    for k, angle in enumerate(DoublePendulum.START):
        middle = (ends[k] + ends[k + 1]) / 2
        entries.append(node(f"rod{k}", 1.0, inertia=[1e-4, 1 / 12, 1 / 12], position=[middle[0], 0.0, middle[1]],
                            orientation=[np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0], shape={"points": [[0.5, 0.0, 0.0]]}))
        place = [ends[k][0], 0.0, ends[k][1]]
        entries.append(joint(f"pin{k}", "ground" if k == 0 else "rod0", f"rod{k}",
                             revolute={"axis": [0.0, 1.0, 0.0], "position": place}))
    text = model(*entries, plane("floor", position=[0.0, 0.0, -pendulum.depth]), contact("rod1", "floor", 0.5, mu))
    done = run(fmus, text, stop)
    found = np.stack([np.unwrap(-2 * np.arctan2(done[f"rod{k}.q[3]"], done[f"rod{k}.q[1]"])) for k in (0, 1)], axis=1)
    expected, impacts = pendulum.angles(done.time)
    nearby, _ = pendulum.angles(done.time, DoublePendulum.START + 1e-7)
    # Before bounces pile up.
    assert impacts >= 3 and min(pendulum.gap(0.0, angles) for angles in expected) > -1e-9
    growth = max(np.abs(nearby - expected).max() / 1e-7, 1.0)
    fastest = np.abs(np.gradient(expected, done.time, axis=0)).max()
    worst, most = np.abs(found - expected).max(), (fastest * H) ** 2 * fastest * stop * growth
    print(f"{impacts} impacts, growth {growth:.1f}, rates up to {fastest:.1f}: {worst:.2e} rad, may be {most:.2e}")
    assert worst < most, f"{worst:.2e} rad, may be {most:.2e}"


# ---- Painleve's rod.

def rod(fmus, lean, mu, speed, stop):
    """A thin rod of 2 m and 1 kg whose lower end, to the left of its centre, slides to the left with the whole rod."""
    text = model(node("rod", 1.0, inertia=[1e-4, 1 / 3, 1 / 3], position=[np.cos(lean), 0.0, np.sin(lean)],
                      orientation=[np.cos(lean / 2), 0.0, -np.sin(lean / 2), 0.0], velocity=[-speed, 0.0, 0.0],
                      shape={"points": [[-1.0, 0.0, 0.0]]}),
                 plane("floor"), contact("rod", "floor", 0.0, mu))
    return run(fmus, text, stop)


def painleve(lean, mu):
    """1 + 3 cos(a) (cos(a) - mu sin(a)): where it is negative a sliding rod has no contact force. [Painleve 1895; Genot and
    Brogliato, New results on Painleve paradoxes, 1999]"""
    return 1 + 3 * np.cos(lean) * (np.cos(lean) - mu * np.sin(lean))


@pytest.mark.parametrize("mu", [0.3, 1.0, 1.3])
def test_painleve_rod_that_slides(fmus, mu):
    """Where there is one, the force is N = m g / (1 + 3 cos(a) (cos(a) - mu sin(a))); over the first step, to order h."""
    lean = np.radians(60)
    done = rod(fmus, lean, mu, 1.0, 5 * H)
    pressed = G / painleve(lean, mu)
    assert painleve(lean, mu) > 0.0
    # What changes in a step: the angle by N r / I h and more, with a lever of 1 m.
    assert abs(done["rod_floor.f_n"][1] / pressed - 1) < 20 * H, f"{done['rod_floor.f_n'][1]} for {pressed}"


@pytest.mark.parametrize("mu", [2.5, 4.0])
def test_painleve_rod_that_jams(fmus, mu):
    """Where there is none, the rod jams at once, without approach: the impulse is W^-1 (0, -u_t), inside the cone, and takes
    u_t^2 (W^-1)_tt / 2. To order h, with the end on the ground at rest."""
    lean, speed = np.radians(60), 1.0
    assert painleve(lean, mu) < 0.0
    arm = np.array([-np.cos(lean), -np.sin(lean)])
    turns = np.array([-arm[0], arm[1]])
    w = np.eye(2) + 3 * np.outer(turns, turns)
    # Rows: normal z, along x; rotation about y moves the end by (arm_z, -arm_x).
    p = np.linalg.solve(w, [0.0, speed])
    assert abs(p[1]) < mu * p[0]
    done = rod(fmus, lean, mu, speed, 5 * H)
    rate = done["rod.w[2]"][1]
    end = [done["rod.v[3]"][1] - rate * arm[0], done["rod.v[1]"][1] + rate * arm[1]]
    assert np.abs(end).max() < 1e-2 * speed, f"the end moves with {end}"
    kinetic = 0.5 * (done["rod.v[1]"][1] ** 2 + done["rod.v[3]"][1] ** 2 + rate**2 / 3)
    taken = 0.5 * speed**2 - kinetic
    assert abs(taken - 0.5 * p[1] * speed) < 20 * H * speed**2, f"takes {taken} J of {0.5 * p[1] * speed}"
    assert done["rod_floor.gap"].min() > -1e-5
