"""Stops of joints through built FMUs, against closed forms and an independent integration from impact to impact."""

import numpy as np
import pytest
from conftest import contact_fmu, read_csv, refused
from exact import ball_height
from masters import slave
from scipy.integrate import solve_ivp

GRAVITY = 9.81

ROD = """
[model]
name = "rod"
[engine]
step = {step}
{engine}
[[node]]
name = "rod"
coupling = "owned"
mass = 2.0
inertia = [0.01, 0.06, 0.06]
position = [0.3, 0.0, 0.0]
[[joint]]
name = "hinge"
between = {between}
revolute = {{ axis = [0.0, 1.0, 0.0], position = [0.0, 0.0, 0.0] }}
limits = {{ {limits} }}
"""
# theta'' = w2 cos(theta), counted downwards from the horizontal.
INERTIA = 0.06 + 2.0 * 0.3**2
W2 = 2.0 * GRAVITY * 0.3 / INERTIA


def rod(limits, step=1e-3, engine="", between=("ground", "rod")):
    return ROD.format(limits=limits, step=step, engine=engine, between=str(list(between)).replace("'", '"'))


def run(text, folder, stop, step=1e-2, **start):
    """Columns by name."""
    (folder / "model.toml").write_text(text)
    settings = [part for name, value in start.items() for part in ("--set", f"{name}={value!r}")]
    out = folder / "out.csv"
    contact_fmu("simulate", folder / "model.toml", "--stop", stop, "--step", step, *settings, "-o", out)
    return read_csv(out)


def swinging(times, stop, restitution):
    """Angles of a rod let go at the horizontal that falls on a stop, from impact to impact."""
    def fall(_, state):
        return state[1], W2 * np.cos(state[0])

    def hits(_, state):
        return state[0] - stop

    hits.terminal, hits.direction = True, 1.0
    angles, start, state = np.empty_like(times), 0.0, (0.0, 0.0)
    while True:
        found = solve_ivp(fall, (start, times[-1] + 1e-9), state, method="DOP853", rtol=3e-14, atol=1e-15,
                          events=hits, dense_output=True)
        here = (times >= start) & (times <= found.t[-1])
        angles[here] = found.sol(times[here])[0]
        if not len(found.t_events[0]):
            return angles
        start, rate = found.t_events[0][0], found.y_events[0][0][1]
        state = stop, -restitution * rate


@pytest.mark.parametrize("between", [("ground", "rod"), ("rod", "ground")])
def test_pendulum_on_its_stop(between, tmp_path):
    """The stop is an upper or a lower one, by which end is the ground: to 1e-9, after order 2."""
    down = between[0] == "ground"
    limits = "upper = 1.0, restitution = 0.8" if down else "lower = -1.0, restitution = 0.8"
    stop = 1.2
    errors = []
    for step in (1e-3, 2.5e-4, 1e-5):
        rows = run(rod(limits, step, between=between), tmp_path, stop)
        angle = rows["hinge.angle"] * (1 if down else -1)
        errors.append(np.abs(angle - swinging(rows["time"], 1.0, 0.8)).max())
        assert angle.max() < 1.0 + 1e-12
        assert rows["engine.captured"].max() == 0
    assert errors[0] < 1e-5 and errors[0] > 14 * errors[1], errors
    assert errors[2] < 1e-9, errors


def test_rest_on_the_stop(tmp_path):
    rows = run(rod("lower = -0.2, upper = 0.7, restitution = 0.5"), tmp_path, 6.0)
    resting = rows["time"] > 3.0
    assert np.abs(rows["hinge.angle"][resting] - 0.7).max() < 1e-12
    assert np.abs(rows["hinge.rate"][resting]).max() < 1e-12
    assert (rows["hinge.limit_state"][resting] == 1).all()
    moment = 2.0 * GRAVITY * 0.3 * np.cos(0.7)
    assert np.abs(rows["hinge.limit_torque"][resting] + moment).max() < 1e-9 * moment
    # What the joint carries, stop included, is the weight at the centre: a force, and its moment about the hinge.
    assert np.abs(rows["hinge.f[3]"][resting] - 2.0 * GRAVITY).max() < 1e-8
    assert np.abs(rows["hinge.f[1]"][resting]).max() < 1e-8
    assert np.abs(rows["hinge.t[2]"][resting] + moment).max() < 1e-8
    # Contact forces of the node are those of contacts.
    assert np.abs(rows["rod.f[3]"]).max() == 0
    energy = rows["engine.energy"] + rows["engine.dissipated"]
    assert np.abs(energy - energy[0]).max() < 1e-5


def test_energy_falls_by_the_restitution(tmp_path):
    rows = run(rod("upper = 1.0, restitution = 0.6", 1e-4), tmp_path, 0.6)
    hit = np.flatnonzero(np.abs(rows["hinge.limit_torque"]) > 0)
    assert len(hit) == 1
    lost = rows["engine.dissipated_impact"][-1]
    energy = INERTIA / 2 * 2 * W2 * np.sin(1.0)
    assert abs(lost - (1 - 0.6**2) * energy) < 1e-7 * energy
    impulse = INERTIA * 1.6 * np.sqrt(2 * W2 * np.sin(1.0))
    assert abs(rows["hinge.limit_torque"][hit[0]] * 1e-2 + impulse) < 1e-7 * impulse


ROTOR = """
[model]
name = "rotor"
[engine]
gravity = [0.0, 0.0, 0.0]
step = 1e-2
[[node]]
name = "rotor"
coupling = "owned"
mass = 3.0
inertia = [0.2, 0.3, 0.4]
shape.sphere.radius = 0.1
[[joint]]
name = "bearing"
between = ["ground", "rotor"]
revolute = {{ axis = [0.0, 0.0, 1.0], position = [0.0, 0.0, 0.0] }}
limits = {{ lower = {lower}, restitution = 0.5 }}
"""


@pytest.mark.parametrize("lower", [-0.8, -7.5])
def test_rotor_under_a_torque_bounces_as_a_ball_falls(lower, tmp_path):
    """At its centre of mass a rotor turns as a ball falls: closed form at any step, over more than a turn, down to rest."""
    rows = run(ROTOR.format(lower=lower), tmp_path, 4.0, **{"rotor.t_ext[3]": -2.0})
    exact = lower + ball_height(rows["time"], -lower, 2.0 / 0.4, 0.5)
    assert np.abs(rows["bearing.angle"] - exact).max() < 1e-9
    assert rows["engine.captured"].max() == 0
    if lower == -0.8:
        assert rows["bearing.limit_state"][-1] == -1
        assert abs(rows["bearing.limit_torque"][-1] - 2.0) < 1e-9


SLIDER = """
[model]
name = "slider"
[engine]
gravity = [0.0, 0.0, -10.0]
step = 1e-2
[[node]]
name = "slider"
coupling = "owned"
mass = 1.5
{inertia}
position = [0.4, -0.3, 0.2]
[[joint]]
name = "guide"
between = {between}
{kind} = {{ axis = [0.0, 0.0, 1.0], position = [0.1, 0.0, 0.7] }}
limits = {{ {limits}, restitution = 0.8 }}
"""


@pytest.mark.parametrize("kind, inertia", [("prismatic", ""), ("prismatic", "inertia = [0.1, 0.2, 0.3]"),
                                           ("cylindrical", "inertia = [0.1, 0.2, 0.3]")])
@pytest.mark.parametrize("grounded_first", [True, False])
def test_slider_falls_on_its_stop_as_a_ball(kind, inertia, grounded_first, tmp_path):
    between, limits, sign = ('["ground", "slider"]', "lower = -0.801", 1) if grounded_first else (
        '["slider", "ground"]', "upper = 0.801", -1)
    text = SLIDER.format(kind=kind, inertia=inertia, between=between, limits=limits)
    rows = run(text, tmp_path, 6.0)
    exact = ball_height(rows["time"], 0.801, 10.0, 0.8) - 0.801
    assert np.abs(sign * rows["guide.distance"] - exact).max() < 1e-9
    assert abs(sign * rows["guide.limit_force"][-1] - 15.0) < 1e-9


WHEELS = """
[model]
name = "wheels"
[engine]
gravity = [0.0, 0.0, 0.0]
step = 1e-2
[[node]]
name = "one"
coupling = "owned"
mass = 1.0
inertia = [0.5, 0.5, 0.2]
angular_velocity = [0.0, 0.0, 1.0]
velocity = [0.3, 0.1, 0.0]
[[node]]
name = "other"
coupling = "owned"
mass = 2.0
inertia = [0.5, 0.5, 0.6]
position = [0.0, 0.0, 0.1]
angular_velocity = [0.0, 0.0, 3.0]
velocity = [0.3, 0.1, 0.0]
[[joint]]
name = "axle"
between = ["one", "other"]
cylindrical = {{ axis = [0.0, 0.0, 1.0], position = [0.0, 0.0, 0.0] }}
limits = {{ lower = -0.1, upper = 0.1 }}
angle_limits = {{ lower = -0.25, upper = 0.5, restitution = {restitution} }}
"""


@pytest.mark.parametrize("restitution", [1.0, 0.9])
def test_two_free_bodies_between_two_stops(restitution, tmp_path):
    rows = run(WHEELS.format(restitution=restitution), tmp_path, 3.0)
    angle, rate, now, exact = 0.0, 2.0, 0.0, []
    for time in rows["time"]:
        while True:
            left = ((0.5 if rate > 0 else -0.25) - angle) / rate
            if now + left > time:
                break
            now, angle, rate = now + left, (0.5 if rate > 0 else -0.25), -restitution * rate
        exact.append(angle + rate * (time - now))
    assert np.abs(rows["axle.angle"] - exact).max() < 1e-9
    spin = 0.2 * rows["one.w[3]"] + 0.6 * rows["other.w[3]"]
    assert np.abs(spin - 2.0).max() < 1e-12
    # Both fly on together, whatever the stops do.
    for axis, speed in ((1, 0.3), (2, 0.1), (3, 0.0)):
        assert np.abs(rows[f"one.v[{axis}]"] - speed).max() < 1e-12


ROUND_OFF = 1e-12
ARM = """
[model]
name = "arm"
[engine]
step = {step}
{engine}
[[node]]
name = "upper"
coupling = "owned"
mass = 1.0
inertia = [0.002, 0.02, 0.02]
position = [0.25, 0.0, 0.0]
[[node]]
name = "lower"
coupling = "owned"
mass = 0.5
inertia = [0.001, 0.008, 0.008]
position = [0.7, 0.0, 0.0]
[[joint]]
name = "shoulder"
between = ["ground", "upper"]
revolute = {{ axis = [0.0, 1.0, 0.0], position = [0.0, 0.0, 0.0] }}
[[joint]]
name = "elbow"
between = ["upper", "lower"]
revolute = {{ axis = [0.0, 1.0, 0.0], position = [0.5, 0.0, 0.0] }}
limits = {{ lower = 0.0, upper = 1.2, restitution = 0.3 }}
"""


def falling_arm(times):
    """The arm as a double pendulum in angles of the links, from impact to impact of its elbow, and held by it."""
    m1, m2, l, a1, a2 = 1.0, 0.5, 0.5, 0.25, 0.2
    i1, i2 = 0.02 + m1 * a1**2, 0.008 + m2 * a2**2

    def mass(q):
        c = m2 * l * a2 * np.cos(q[0] - q[1])
        return np.array([[i1 + m2 * l * l, c], [c, i2]])

    def load(q, v):
        s = m2 * l * a2 * np.sin(q[0] - q[1])
        return np.array([(m1 * a1 + m2 * l) * GRAVITY * np.cos(q[0]) - s * v[1] ** 2,
                         m2 * a2 * GRAVITY * np.cos(q[1]) + s * v[0] ** 2])

    j = np.array([-1.0, 1.0])
    sides = {"lower": (0.0, 1.0), "upper": (1.2, -1.0)}

    def free(q, v):
        return np.linalg.solve(mass(q), load(q, v))

    def held(q, v, sign):
        """Acceleration with the elbow held, and the torque of the stop."""
        w = np.linalg.solve(mass(q), j)
        a = free(q, v)
        torque = -(j @ a) / (j @ w)
        return a + w * torque, torque * sign

    q, v, start, rest = np.zeros(2), np.zeros(2), 0.0, "lower"
    angles = np.empty((len(times), 2))
    while start < times[-1]:
        if rest:
            bound, sign = sides[rest]
            rhs = lambda _, y: np.concatenate([y[2:], held(y[:2], y[2:], sign)[0]])
            leave = lambda _, y: held(y[:2], y[2:], sign)[1]
            leave.terminal, leave.direction = True, -1.0
            events = [leave]
            if held(q, v, sign)[1] <= 0:
                rest = None
                continue
        else:
            rhs = lambda _, y: np.concatenate([y[2:], free(y[:2], y[2:])])
            # By more than round-off, with which an arm that leaves its stop begins.
            low = lambda _, y: y[1] - y[0] + ROUND_OFF
            low.terminal, low.direction = True, -1.0
            high = lambda _, y: y[1] - y[0] - 1.2 - ROUND_OFF
            high.terminal, high.direction = True, 1.0
            events = [low, high]
        found = solve_ivp(rhs, (start, times[-1] + 1e-9), np.concatenate([q, v]), method="DOP853",
                          rtol=1e-13, atol=1e-15, events=events, dense_output=True, first_step=1e-6)
        here = (times >= start) & (times <= found.t[-1])
        if here.any():
            angles[here] = found.sol(times[here])[:2].T
        q, v, start = found.y[:2, -1], found.y[2:, -1], found.t[-1]
        if rest:
            rest = None
        elif found.status == 1:
            name = "lower" if len(found.t_events[0]) else "upper"
            bound, sign = sides[name]
            w = np.linalg.solve(mass(q), j)
            v = v - w * (1.3 * (j @ v)) / (j @ w)
            q[1] = q[0] + bound
            rest = name if abs(j @ v) < 1e-5 else None
            if rest:
                v = v - w * (j @ v) / (j @ w)
    return angles


def test_arm_of_two_links_with_an_elbow(tmp_path):
    """Two owned bodies: the elbow bounces on its upper stop while the shoulder swings."""
    rows = run(ARM.format(step=1e-4, engine=""), tmp_path, 0.8)
    exact = falling_arm(rows["time"])
    assert np.abs(rows["shoulder.angle"] - exact[:, 0]).max() < 1e-6
    assert np.abs(rows["elbow.angle"] - (exact[:, 1] - exact[:, 0])).max() < 1e-6
    assert (np.abs(rows["elbow.limit_torque"]) > 0).sum() > 2


SCHEMES = {
    "captured": "time_of_impact = false",
    "midpoint": 'scheme = "midpoint"',
    "multistep": 'scheme = "multistep"',
    "hht": 'scheme = "hht"',
    "balanced": "energy_balance = true",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_other_schemes_stop_too(scheme, tmp_path):
    """Captured impacts come late by up to a step, and the rod rests on its stop at the end."""
    step = 1e-3
    rows = run(rod("lower = -0.2, upper = 0.7, restitution = 0.5", step, SCHEMES[scheme]), tmp_path, 4.0)
    fastest = np.sqrt(2 * W2 * np.sin(0.7))
    assert rows["hinge.angle"].max() < 0.7 + (1e-9 if scheme == "balanced" else fastest * step)
    exact = swinging(rows["time"][rows["time"] < 0.6], 0.7, 0.5)
    error = np.abs(rows["hinge.angle"][: len(exact)] - exact).max()
    assert error < (1e-5 if scheme == "balanced" else 3 * fastest * step), error
    # Without correction what was reached is kept.
    allowed = 1e-9 if scheme in ("midpoint", "balanced") else fastest * step
    assert abs(rows["hinge.angle"][-1] - 0.7) < allowed
    assert abs(rows["hinge.rate"][-1]) < 1e-9
    moment = 2.0 * GRAVITY * 0.3 * np.cos(rows["hinge.angle"][-1])
    assert abs(rows["hinge.limit_torque"][-1] + moment) < 1e-5 * moment


@pytest.mark.parametrize("wrong, message", [
    ("limits = { restitution = 0.5 }", "need `lower`, `upper` or both"),
    ("limits = { lower = 0.1, upper = 0.5 }", "the joint starts at 0, beyond its limit 0.1"),
    ("limits = { lower = 0.0, upper = 0.0 }", "`lower` must be below `upper`"),
    ("limits = { upper = 0.5, restitution = 1.5 }", "restitution"),
    ("limits = { up = 0.5 }", "upper"),
    ("angle_limits = { upper = 0.5 }", "call them `limits`"),
    ("limits = { upper = 0.5 }\ndrive.rate = 1.0", "have no meaning in a joint with a `drive`"),
])
def test_what_is_wrong_is_told(wrong, message, tmp_path):
    text = rod("upper = 1.0").replace("limits = { upper = 1.0 }", wrong)
    (tmp_path / "model.toml").write_text(text)
    assert message in refused("check", tmp_path / "model.toml")


def test_start_beyond_a_stop_is_refused(tmp_path):
    (tmp_path / "model.toml").write_text(SLIDER.format(
        kind="prismatic", inertia="", between='["ground", "slider"]', limits="upper = 0.1"))
    told = refused("simulate", tmp_path / "model.toml", "--set", "slider.r[3]=0.5")
    assert "beyond its limit 0.1" in told


def test_state_and_derivatives_at_the_stop(tmp_path):
    """A run that is restored between two impacts goes on with the same bits, and derivatives over the step of an impact
    are those of central differences: by the torque, and by the restitution."""
    (tmp_path / "model.toml").write_text(rod("upper = 1.0, restitution = 0.8"))
    contact_fmu("build", tmp_path / "model.toml", "-o", tmp_path / "rod.fmu")
    names, step = ["hinge.angle", "hinge.rate", "hinge.limit_torque", "engine.dissipated"], 1e-2
    with slave(str(tmp_path / "rod.fmu")) as one:
        one.steps(0, 45, step, [])
        saved = one.serializeFMUstate(one.getFMUstate())
        first = one.steps(45, 110, step, names)
        one.setFMUstate(one.deSerializeFMUstate(saved))
        assert one.steps(45, 110, step, names) == first
        # The impact is in the step in which the torque of the stop is.
        hit = 45 + next(k for k, row in enumerate(first) if row[2] != 0)
        one.setFMUstate(one.deSerializeFMUstate(saved))
        one.steps(45, hit, step, [])
        before = one.getFMUstate()

        def after(name, value):
            one.setFMUstate(before)
            one.set_named({name: value})
            one.doStep(hit * step, step)
            return np.array(one.real(*names))

        for name, value, change in (("rod.t_ext[2]", 0.3, 1e-3), ("hinge.restitution", 0.8, 1e-4)):
            numeric = (after(name, value + change) - after(name, value - change)) / (2 * change)
            after(name, value)
            references = [one.references[output] for output in names]
            said = one.getDirectionalDerivative(references, [one.references[name]], [1.0])
            assert np.abs(said - numeric).max() < 1e-6 * np.abs(numeric).max(), (name, said, numeric)


def test_friction_in_a_joint_with_stops(tmp_path):
    """It rests on its stop, what the joint carries holds the weight, and energy balances."""
    friction = "\nfriction = { mu_static = 0.3, mu_kinetic = 0.2, radius = 0.02, half_length = 0.05 }"
    rows = run(rod("upper = 0.7, restitution = 0.5", 1e-3) + friction, tmp_path, 4.0)
    resting = rows["time"] > 3.0
    assert np.abs(rows["hinge.angle"][resting] - 0.7).max() < 1e-10
    # At rest friction is free within its bound; with the stop it holds the moment of the weight.
    moment = 2.0 * GRAVITY * 0.3 * np.cos(0.7)
    assert np.abs(rows["hinge.t[2]"][resting] + moment).max() < 1e-6
    energy = rows["engine.energy"] + rows["engine.dissipated"]
    assert np.abs(energy - energy[0]).max() < 1e-4
    assert rows["engine.dissipated_friction"][-1] > 0
