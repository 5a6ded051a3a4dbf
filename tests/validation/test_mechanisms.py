"""Contact nodes on mechanisms of the master: against exact paths, and against the same body inside the FMU. Nothing is
told but a mass of each node, which may be wrong by a factor of five; the exchange order is found out."""

from itertools import repeat

import numpy as np
import pytest
from conftest import contact_fmu
from fmi3_side import slave3
from fmpy.fmi1 import FMICallException
from kinetic_cases import ORDERS
from mechanisms import (
    EFFECTIVE,
    FOUND,
    GIVEN,
    STEP,
    Car,
    Cart,
    DoublePendulum,
    FourBar,
    Free,
    Gripper,
    Pendulum,
    Points,
    Rail,
    Several,
    Table,
    couple,
    exact_pendulum,
    model,
    pendulum_errors,
)

pytestmark = pytest.mark.parametrize("order", ORDERS)

def lasting(energies, steps=6):
    """The largest energy that lasts for longer than the delivery of an impact."""
    energies = np.array(energies)
    return np.min([energies[k : len(energies) - steps + k] for k in range(steps)], axis=0).max()


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_double_pendulum(fmus, order, mu, factor):
    result = couple(fmus, DoublePendulum(), [factor * EFFECTIVE], 0.5, mu, order, repeat(STEP), 1.9)
    times, states, energies, forces, warnings = result
    errors = pendulum_errors(times, states, 0.5, mu)
    assert len(errors) > 1
    bar = {"sequential": 1e-2, "parallel": 2e-2}[order]
    assert max(errors) < bar, errors
    _, _, impacts = exact_pendulum(0.5, mu)
    after = (times > impacts[0][0] + 5 * STEP) & (times < impacts[1][0] - STEP)
    span = energies[0] - DoublePendulum().energy(np.zeros(4))
    assert np.abs(energies[after] - impacts[0][1]).max() < 5e-3 * span
    assert energies.max() - energies[0] < 1e-6 * span
    assert warnings == []


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_mechanism_is_found_out(fmus, order, mu, factor):
    """The same where the model does not say that there is one."""
    result = couple(fmus, DoublePendulum(), [factor * EFFECTIVE], 0.5, mu, order, repeat(STEP), 1.9, declared=None)
    times, states, energies, forces, log = result
    errors = pendulum_errors(times, states, 0.5, mu)
    assert max(errors) < {"sequential": 1e-2, "parallel": 2e-2}[order], errors
    assert energies.max() - energies[0] < 1e-5
    assert len(log) == 1 and FOUND in log[0]


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_operator_that_the_master_tells(fmus, order, mu):
    """Nothing is learnt, nothing is probed."""
    result = couple(fmus, DoublePendulum(), [1.0], 0.5, mu, order, repeat(STEP), 1.9, declared=GIVEN)
    times, states, energies, forces, warnings = result
    errors = pendulum_errors(times, states, 0.5, mu)
    assert max(errors) < 5e-3, errors
    _, _, impacts = exact_pendulum(0.5, mu)
    after = (times > impacts[0][0] + 5 * STEP) & (times < impacts[1][0] - STEP)
    span = energies[0] - DoublePendulum().energy(np.zeros(4))
    assert np.abs(energies[after] - impacts[0][1]).max() < 5e-3 * span
    assert energies.max() - energies[0] < 1e-6 * span
    before = round(impacts[0][0] / STEP) - 2
    assert np.abs(forces[:before]).max() == 0.0
    assert warnings == []


def test_operator_of_two_nodes_that_the_master_tells(fmus, order):
    """Both masses of a pendulum may touch, and do soon after one another."""
    pendulum = lambda: Pendulum((1.2, 1.2), -0.7, lengths=[1.0, 0.4], nodes=(0, 1))
    reference = Pendulum((1.2, 1.2), -0.7, lengths=[1.0, 0.4], nodes=(0, 1))
    times, states, energies, forces, warnings = couple(
        fmus, pendulum(), [1.0, 1.0], 0.5, 0.3, order, repeat(STEP), 1.5, declared=GIVEN
    )
    _, finer, *_ = couple(fmus, reference, [1.0, 1.0], 0.5, 0.3, order, repeat(STEP / 4), 1.5, declared=GIVEN)
    assert (np.abs(forces[:, :, 2]).max(axis=0) > 100.0).all()
    assert lasting(energies) - energies[0] < 1e-6
    # Impacts are delivered over two steps, in which states are on the way.
    away = np.convolve(np.abs(forces).max(axis=(1, 2)) > 100.0, np.ones(9), "same") < 0.5
    assert np.abs(states[:-1] - finer[::4][: len(states) - 1])[away, :2].max() < 1e-2
    assert warnings == []


def test_operator_as_arrays_of_fmi_3(fmus, order, tmp_path):
    """The same forces as by FMI 2.0."""
    pendulum = Pendulum((1.2, 1.2), -0.7, lengths=[1.0, 0.4], nodes=(0, 1))
    key = f'mechanism = "given"\nlatency = {ORDERS.index(order)}'
    text = model(pendulum.points()[0], [1.0, 1.0], 0.5, 0.3, STEP, declared=key)
    (tmp_path / "model.toml").write_text(text)
    contact_fmu("build", "--fmi", "3", tmp_path / "model.toml", "-o", tmp_path / "model.fmu")
    points = Points(fmus, text, 2, order)
    with slave3(tmp_path / "model.fmu") as arrays:
        sizes = {name: [int(d.start) for d in arrays.variables[name].dimensions] for name in ("n0.W", "n1.W", "n0.W_n1")}
        assert sizes == {"n0.W": [6], "n1.W": [6], "n0.W_n1": [9]}

        def give():
            (positions, velocities), W = pendulum.points(), pendulum.operator()
            points.give_operator(W)
            own = lambda k: [W[3 * k + i, 3 * k + j] for i, j in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]]
            values = {"n0.W": own(0), "n1.W": own(1), "n0.W_n1": list(W[:3, 3:].ravel())}
            for k in range(2):
                values |= {f"n{k}.r": list(map(float, positions[k])), f"n{k}.v": list(map(float, velocities[k]))}
            arrays.set(**values)

        give()
        points.start(*pendulum.points())
        arrays.start()
        for k in range(600):
            give()
            force = points.forces(*pendulum.points(), STEP)
            arrays.fmu.doStep(k * STEP, STEP)
            assert np.abs(np.array([arrays.get("n0.f"), arrays.get("n1.f")]) - points.held).max() < 1e-9
            pendulum.step(STEP, force)
    assert points.end() == []


@pytest.mark.parametrize("number, value", [(1, -0.1), (4, 5.0), (1, 0.0)])
def test_operator_that_cannot_be_is_refused(fmus, order, number, value):
    """Negative, with too much across, and none at all."""
    key = f'mechanism = "given"\nlatency = {ORDERS.index(order)}'
    points = Points(fmus, model([(0.0, 0.0, 1.0)], [1.0], 0.5, 0.3, STEP, declared=key), 1, order)
    points.give_operator(np.eye(3) * (value != 0.0))
    points.slave.set_named({f"n0.W[{number}]": value})
    with pytest.raises(FMICallException):
        points.start([(0.0, 0.0, 1.0)], [(0.0, 0.0, 0.0)])
        points.forces([(0.0, 0.0, 1.0)], [(0.0, 0.0, 0.0)], STEP)
    assert any(f"n0.W[{number}] is {value:g}" in line for line in points.slave.warnings)


@pytest.mark.parametrize("start", ["flat", "sliding"])
def test_feet_are_found_out(fmus, order, start):
    table = Table(**STARTS[start])
    owned = table.owned(fmus, 0.5, 0.5, STEP, 1.0)
    _, states, energies, _, log = couple(fmus, table, [2.5] * 4, 0.5, 0.5, order, repeat(STEP), 1.0, declared=None)
    assert energies.max() < energies[0] * (1 + 1e-9)
    assert np.abs(states[:, :3] - owned).max() < 1e-3
    assert sorted(line.split(":")[0] for line in log if FOUND in line) == ["n0", "n1", "n2", "n3"] and len(log) == 4


def test_free_balls_are_found_out(fmus, order):
    """They stay free masses, and touch as if each were alone."""
    places, velocities = [(0.0, 0.0, 0.3), (1.0, 0.0, 0.4), (2.0, 0.0, 0.5)], [(0.5, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.1)]
    masses = [1.0, 2.0, 3.0]
    free = lambda some: Free([masses[k] for k in some], [places[k] for k in some], [velocities[k] for k in some])
    run = lambda some: couple(fmus, free(some), [masses[k] for k in some], 0.6, 0.3, order, repeat(STEP), 1.5, declared=None)
    _, states, energies, _, log = run(range(3))
    assert log == []
    for k in range(3):
        alone = run([k])[1]
        together = states.reshape(-1, 2, 3, 3)[:, :, k].reshape(-1, 6)
        assert np.abs(together - alone)[:, :3].max() < 1e-6


def test_forces_that_are_not_told(fmus, order):
    """Joints that are damped and driven."""
    pendulum = Pendulum((1.2, 1.2), -1.6, damping=0.3, torque=2.0)
    times = STEP * np.arange(1201)
    exact, impacts = pendulum.exact(0.5, 0.5, times)
    times, states, _, _, warnings = couple(fmus, pendulum, [2.0], 0.5, 0.5, order, repeat(STEP), 1.2)
    tips = np.array([pendulum.tip(y)[0] for y in states])
    away = np.all([(times < t - 0.005) | (times > t + 0.01) for t, _ in impacts], axis=0)
    assert len(impacts) > 1
    assert np.abs(tips - exact)[away].max() < {"sequential": 1e-2, "parallel": 2e-2}[order]
    assert warnings == []


@pytest.mark.parametrize("declared", [True, None])
@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_car_on_four_sprung_wheels(fmus, order, speed, declared):
    """Springs and dampers hide how wheels respond up and down; along the road they move as one."""
    car = Car(0.1, speed)
    exact = Car(0.1).heights(STEP * np.arange(1001), 20)
    result = couple(fmus, car, [10.0] * 4, 0.0, 0.4, order, repeat(STEP), 1.0, declared=declared)
    times, states, energies, forces, warnings = result
    assert np.abs(states[:, 1] - exact).max() < 1e-3
    assert energies.max() - energies[0] < 1e-6 * energies[0]
    # With brakes locked, friction stops it from the first touch on.
    assert abs(states[-1, 6]) < 1e-4
    assert np.abs(forces[-100:].sum(axis=1).mean(axis=0) - [0.0, 0.0, 120 * 9.81])[[0, 2]].max() < 1.0
    if declared:
        assert warnings == []
    else:
        assert len(warnings) == 4 and all(FOUND in line for line in warnings)


@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_no_tangential_force_without_friction(fmus, order, factor):
    """While something presses; in flight there are probes."""
    forces = couple(fmus, DoublePendulum(), [factor * EFFECTIVE], 0.5, 0.0, order, repeat(STEP), 1.9)[3]
    pressed = forces[:, 0, 2] > 10.0
    assert pressed.sum() > 3
    assert np.abs(forces[pressed, 0, :2]).max() < 1e-9 * forces[:, 0, 2].max()


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_double_pendulum_without_restitution(fmus, order, mu):
    result = couple(fmus, DoublePendulum(), [2 * EFFECTIVE], 0.0, mu, order, repeat(STEP), 1.0)
    times, states, energies, _, warnings = result
    _, _, impacts = exact_pendulum(0.5, mu)
    pendulum = DoublePendulum()
    heights = np.array([pendulum.tip(y)[0][1] for y in states])
    assert heights.min() > -1e-5
    assert energies.max() - energies[0] < 1e-5
    assert warnings == []
    # It loses what is in the motion against the floor at once.
    first = times > impacts[0][0] + 5 * STEP
    assert energies[first].max() < energies[0] - 1.0


def test_two_pendulums(fmus, order):
    """Nodes of two mechanisms that touch soon after one another."""
    starts = [(1.2, 1.2), (1.0, 1.4)]
    pair = Several(*[DoublePendulum(angles=angles) for angles in starts])
    result = couple(fmus, pair, [2 * EFFECTIVE] * 2, 0.5, 0.5, order, repeat(STEP), 1.2)
    times, states, energies, _, warnings = result
    assert energies.max() - energies[0] < 1e-5
    assert warnings == []
    for k, angles in enumerate(starts):
        pendulum = DoublePendulum(angles=angles)
        exact, impacts = pendulum.exact(0.5, 0.5, times)
        tips = np.array([pendulum.tip(y)[0] for y in states[:, 4 * k : 4 * k + 4]])
        away = np.all([(times < t - 0.005) | (times > t + 0.01) for t, _ in impacts], axis=0)
        assert np.abs(tips - exact)[away].max() < {"sequential": 1e-2, "parallel": 2e-2}[order], k


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_double_pendulum_with_short_steps(fmus, order, mu):
    """Up to the second impact."""
    step = 0.1 * STEP
    stop = exact_pendulum(0.5, mu)[2][1][0]
    times, states, energies, _, warnings = couple(
        fmus, DoublePendulum(), [2 * EFFECTIVE], 0.5, mu, order, repeat(step), stop
    )
    errors = pendulum_errors(times, states, 0.5, mu, 1)
    assert errors[0] < {"sequential": 1e-3, "parallel": 3e-3}[order], errors
    assert energies.max() - energies[0] < 1e-6
    assert warnings == []


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_triple_pendulum(fmus, order, mu):
    pendulum = Pendulum((1.2, 1.0, 0.8), -2.2)
    times = STEP * np.arange(901)
    exact, impacts = pendulum.exact(0.5, mu, times)
    times, states, energies, _, warnings = couple(fmus, pendulum, [2.0], 0.5, mu, order, repeat(STEP), 0.9)
    tips = np.array([pendulum.tip(y)[0] for y in states])
    away = np.all([(times < t - 0.005) | (times > t + 0.01) for t, _ in impacts], axis=0)
    assert len(impacts) > 1
    assert np.abs(tips - exact)[away].max() < {"sequential": 1e-2, "parallel": 2e-2}[order]
    assert energies.max() - energies[0] < 1e-5
    assert warnings == []


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_coupler_of_a_four_bar_linkage(fmus, order, mu):
    linkage = FourBar(wall=0.2)
    times = STEP * np.arange(901)
    exact, impacts = linkage.exact(0.5, times)
    result = couple(fmus, linkage, [1.0], 0.5, mu, order, repeat(STEP), 0.9, normal=(1.0, 0.0, 0.0))
    times, states, energies, _, warnings = result
    away = np.all([(times < t - 0.005) | (times > t + 0.01) for t in impacts], axis=0)
    assert len(impacts) > 0
    assert np.abs(states[:, 0] - exact)[away].max() < {"sequential": 1e-2, "parallel": 2e-2}[order]
    assert energies.max() - energies[0] < 1e-5
    assert warnings == []


@pytest.mark.parametrize("declared", [True, None])
def test_cart_slides_to_a_stop(fmus, order, declared):
    """A cart dropped while it rolls on: at the impact and afterwards Coulomb's law slows it down, and it stays level."""
    mu, speed, height, stop = 0.3, 1.0, 0.1, 0.6
    times, states, energies, _, warnings = couple(
        fmus, Cart(height, speed), [2.0] * 2, 0.0, mu, order, repeat(STEP), stop, declared=declared
    )
    fall = np.sqrt(2 * height / 9.81)
    after = times - fall
    slower = speed - mu * 9.81 * fall
    end = slower / (mu * 9.81)
    slid = np.where(after < end, slower * after - 0.5 * mu * 9.81 * after**2, 0.5 * slower * end)
    exact = np.where(after < 0.0, speed * times, speed * fall + slid)
    late = (after < 0.0) | (after > 0.003)
    assert np.abs(states[late, 0] - exact[late]).max() < 1e-4
    assert np.abs(states[after > 0.003][:, 1] - 0.2).max() < 1e-5
    assert np.abs(states[:, 2]).max() < 1e-3
    assert energies.max() - energies[0] < 1e-6
    assert len(warnings) == (0 if declared else 2) and all(FOUND in line for line in warnings)


@pytest.mark.parametrize("rule", ["symplectic Euler", "implicit Euler", "CVODE 1e-6"])
def test_other_masters(fmus, order, rule):
    """The energy that the first impact takes; what such masters lose or gain by themselves counts besides it."""
    result = couple(fmus, DoublePendulum(rule), [2 * EFFECTIVE], 0.5, 0.0, order, repeat(STEP), 0.6)
    times, _, energies, _, warnings = result
    _, _, impacts = exact_pendulum(0.5, 0.0)
    taken = energies[0] - impacts[0][1]
    at = lambda after: energies[np.searchsorted(times, impacts[0][0] + after)]
    assert abs(at(-0.005) - at(0.01) - taken) < 0.1 * taken
    assert warnings == []


def test_steps_of_random_length(fmus, order):
    lengths = np.random.default_rng(5).uniform(0.2 * STEP, STEP, 10_000)
    result = couple(fmus, DoublePendulum(), [2 * EFFECTIVE], 0.5, 0.5, order, lengths, 1.9)
    times, states, energies, _, _ = result
    errors = pendulum_errors(times, states, 0.5, 0.5)
    assert max(errors) < {"sequential": 1e-2, "parallel": 2e-2}[order], errors
    assert energies.max() - energies[0] < 1e-4


TILT = (np.cos(0.1), 0.6 * np.sin(0.1), 0.8 * np.sin(0.1), 0.0)
STARTS = {
    "flat": dict(height=0.45),
    "sliding": dict(height=0.45, velocity=(0.5, 0.0, 0.0)),
    "tilted": dict(height=0.6, orientation=TILT),
}


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize("start", STARTS)
def test_table(fmus, order, start, mu, restitution):
    stop = 1.0
    table = Table(**STARTS[start])
    owned = table.owned(fmus, restitution, mu, STEP, stop)
    result = couple(fmus, table, [2.5] * 4, restitution, mu, order, repeat(STEP), stop)
    _, states, energies, forces, warnings = result
    assert energies.max() < energies[0] * (1 + 1e-9)
    assert warnings == []
    # It has come to rest but for sliding without friction.
    assert np.abs(states[-100:, [9, 10, 11, 12]]).max() < 1e-3
    assert np.abs(forces[-100:].sum(axis=1).mean(axis=0) - [0.0, 0.0, 98.1]).max() < 0.1
    assert np.abs(states[:, :3] - owned).max() < 1e-3


@pytest.mark.parametrize("declared", [True, None])
def test_table_that_slides_from_the_start(fmus, order, declared):
    """Nothing is learnt yet when it touches."""
    table = Table(height=0.35, velocity=(0.5, 0.0, 0.0))
    owned = table.owned(fmus, 0.0, 0.5, STEP, 0.5)
    result = couple(fmus, table, [2.5] * 4, 0.0, 0.5, order, repeat(STEP), 0.5, declared=declared)
    _, states, energies, _, _ = result
    assert energies.max() < energies[0] * (1 + 1e-9)
    assert np.abs(states[:, :3] - owned).max() < {"sequential": 1e-4, "parallel": 1e-2}[order]


@pytest.mark.parametrize("key", ["mechanism = true", ""], ids=["said", "left_out"])
def test_gripper_holds_a_box_of_the_fmu(fmus, order, key):
    gripper = Gripper()
    points = Points(fmus, gripper.model(STEP, key), 2, order)
    points.start(*gripper.points())
    box = lambda: points.slave.real("box.r[1]", "box.r[2]", "box.r[3]")
    places, forces = [], []
    while gripper.time < 1.2 - 1e-9:
        force = points.forces(*gripper.points(), STEP)
        gripper.step(STEP, force)
        places.append(box())
        forces.append(force)
    places, forces = np.array(places), np.array(forces)
    assert np.abs(places[-1] - [0.0, 0.0, 0.05 + Gripper.RISE]).max() < 1e-3
    # It hangs still, each pad presses with its grip and carries half of the weight.
    assert np.ptp(places[-200:], axis=0).max() < 1e-6
    held = forces[-200:].mean(axis=0)
    assert np.abs(held[:, 0] - [-Gripper.GRIP, Gripper.GRIP]).max() < 1e-2
    assert abs(held[:, 2].sum() + 0.2 * 9.81) < 1e-2
    assert points.end() == []


def test_slider_on_a_rail(fmus, order):
    result = couple(fmus, Rail(), [1.0], 0.5, 0.0, order, repeat(STEP), 1.2)
    times, states, energies, forces, warnings = result
    exact = Rail().exact(0.5, times)
    kicks = np.flatnonzero(forces[:, 0, 2] > 1e2)
    away = np.ones(len(exact), bool)
    for kick in kicks:
        away[max(0, kick - 1) : kick + 4] = False
    assert np.abs(states[: len(exact), 0] - exact)[away].max() < 1e-4
    assert energies.max() - energies[0] < 1e-6
    assert warnings == []


@pytest.mark.parametrize("given", [False, True])
def test_saved_states_and_reset_have_what_was_learnt(fmus, order, given):
    """The same steps again, over an impact, from a saved state and after a reset. What was learnt or given shows in outputs."""
    pendulum = DoublePendulum()
    start = pendulum.y.copy()
    key = f'mechanism = "given"\nlatency = {ORDERS.index(order)}' if given else True
    text = model(pendulum.points()[0], [2 * EFFECTIVE], 0.5, 0.5, STEP, declared=key)
    points = Points(fmus, text, 1, order)

    def forces_of(points, pendulum, count):
        """Forces of so many further steps, and what is shown."""
        found = []
        for _ in range(count):
            if given:
                points.give_operator(pendulum.operator())
            force = points.forces(*pendulum.points(), STEP)
            pendulum.step(STEP, force)
            shown = points.slave.real(*[f"n0.{name}" for name in ("effective_mass", "condition", "response_error", "energy_excess")])
            found.append([*force[0], *shown])
        return np.array(found)

    if given:
        points.give_operator(pendulum.operator())
    points.start(*pendulum.points())
    before = forces_of(points, pendulum, 400)
    saved = points.slave.getFMUstate(), pendulum.y.copy(), points.time, points.held
    after = forces_of(points, pendulum, 400)
    assert np.abs(after).max() > 1e2
    state, pendulum.y, points.time, points.held = saved
    points.slave.setFMUstate(state)
    assert np.array_equal(forces_of(points, pendulum, 400), after)
    points.slave.freeFMUstate(state)
    points.slave.reset()
    points.time, pendulum.y = 0.0, start
    if given:
        points.give_operator(pendulum.operator())
    points.start(*pendulum.points())
    assert np.array_equal(forces_of(points, pendulum, 800), np.concatenate([before, after]))
    points.end()


def test_touching_before_anything_is_learnt_is_told(fmus, order):
    table = Table(height=0.35, velocity=(0.5, 0.0, 0.0))
    warnings = couple(fmus, table, [2.5] * 4, 0.0, 0.5, order, repeat(STEP), 0.01)[4]
    told = [line for line in warnings if "touches before the response of its mechanism is learnt" in line]
    assert sorted(line.split(":")[0] for line in told) == ["n0", "n1", "n2", "n3"]


@pytest.mark.parametrize("fault", ["filters", "interpolates"])
@pytest.mark.parametrize("declared", [True, None])
def test_a_master_that_changes_forces_is_told(fmus, order, fault, declared):
    """One that lets half of a force act at once and the rest later, and one that draws lines between forces."""
    pendulum = DoublePendulum()
    positions, velocities = pendulum.points()
    points = Points(fmus, model(positions, [EFFECTIVE], 0.5, 0.5, STEP, declared=declared), 1, order)
    points.slave.setDebugLogging(True, ["logCoupling"])
    points.start(positions, velocities)
    acted, last = np.zeros((1, 3)), np.zeros((1, 3))
    for _ in range(700):
        force = points.forces(*pendulum.points(), STEP)
        if fault == "filters":
            acted = 0.5 * (acted + force)
            pendulum.step(STEP, acted)
        else:
            pendulum.step(STEP / 2, 0.75 * last + 0.25 * force)
            pendulum.step(STEP / 2, 0.25 * last + 0.75 * force)
            last = force
        if np.abs(pendulum.y).max() > 1e3:
            break
    warnings = points.end()
    if declared:
        assert any("its response is not learnt after" in line and "hold n0.f" in line for line in warnings)
    assert any("a force that is filtered or interpolated on its way" in line for line in points.slave.told)


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_what_was_learnt_is_shown(fmus, order, mu):
    """Effective mass along the normal and condition are those of the pendulum, before the first impact and after it."""
    pendulum = DoublePendulum()
    points = Points(fmus, model(pendulum.points()[0], [2 * EFFECTIVE], 0.5, mu, STEP), 1, order)
    points.start(*pendulum.points())
    _, _, impacts = exact_pendulum(0.5, mu)
    for k in range(round(impacts[1][0] / STEP) - 2):
        if abs(k - round(impacts[0][0] / STEP) + 5) < 1 or abs(k - round(impacts[1][0] / STEP) + 5) < 1:
            operator = pendulum.operator()
            mass, condition = 1.0 / operator[2, 2], np.linalg.eigvalsh(operator).max() / operator[2, 2]
            shown = points.slave.real("n0.effective_mass", "n0.condition")
            assert np.abs(np.array(shown) / [mass, condition] - 1.0).max() < 0.05
        pendulum.step(STEP, points.forces(*pendulum.points(), STEP))
    assert points.slave.real("n0.response_error")[0] < 0.1
    assert points.slave.real("n0.energy_excess")[0] < 1e-3
    assert points.end() == []


def test_a_nearly_blocked_push_is_told(fmus, order):
    """A pendulum that hangs almost straight when it touches the floor. The force is bounded, and adds no energy."""
    pendulum = Pendulum((0.35, 0.35), -1.99)
    start = pendulum.energy()
    points = Points(fmus, model(pendulum.points()[0], [1.0], 0.0, 0.5, STEP), 1, order)
    points.slave.setDebugLogging(True, ["logCoupling"])
    points.start(*pendulum.points())
    forces, energies = [], []
    for _ in range(900):
        force = points.forces(*pendulum.points(), STEP)
        pendulum.step(STEP, force)
        forces.append(force)
        energies.append(pendulum.energy())
    log = points.end() + points.slave.told
    # It falls at less than 2 m/s, and no more than both masses can be stopped within a step.
    print(np.abs(forces).max(), max(energies) - start, log)
    assert np.abs(forces).max() < 2.0 * 2.0 / STEP
    assert lasting(energies) - start < 1e-3
    assert any("nearly blocked" in line and "iterative = true" in line for line in log)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_an_undeclared_mechanism_that_gains_energy_is_told(fmus, order, factor, mu):
    pendulum = DoublePendulum()
    start = pendulum.energy()
    span = start - pendulum.energy(np.zeros(4))
    positions, velocities = pendulum.points()
    points = Points(fmus, model(positions, [factor * EFFECTIVE], 0.5, mu, STEP, declared=False), 1, order)
    points.start(positions, velocities)
    gain = 0.0
    # A few steps more than the energy takes to double: the force acts and is seen later.
    left = 1900
    while left > 0:
        pendulum.step(STEP, points.forces(*pendulum.points(), STEP))
        gain = max(gain, pendulum.energy() - start)
        left = min(left - 1, 10) if gain > span else left - 1
    told = any("mechanism = true" in line for line in points.end())
    assert told or gain < 0.01 * span
