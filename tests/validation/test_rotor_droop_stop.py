"""The blade between its stops: exudyn and the FMU, against an integration from impact to impact and a continuous law.

By default the engagement is shorter, and the continuous law takes longer steps; CONTACT_FMU_LONG=1 makes it the whole.
"""

import sys
import tomllib
from math import cos, degrees, pi, sin

import numpy as np
import pytest
from conftest import LONG, ROOT, long_only
from machine_pages import assert_is_small_figure, run_commands

pytest.importorskip("exudyn")
sys.path.insert(0, str(ROOT / "models/rotor_droop_stop"))
import cosimulate as rotor  # noqa: E402

STEP = 1e-3
CASES = {
    "engagement": rotor.engagement() if LONG else rotor.engagement(rise=6.0, hold=1.0, rest=2.0),
    "gust": rotor.gust() if LONG else rotor.gust(stop=19.0),
}


@pytest.fixture(scope="module")
def hard(fmus):
    return {name: rotor.timed(lambda: rotor.hard(fmus.fmu("rotor_droop_stop"), case, STEP)) for name, case in CASES.items()}


def test_mass_and_places_are_those_of_the_blade():
    model = tomllib.loads((ROOT / "models/rotor_droop_stop/model.toml").read_text())
    (cuff,) = model["node"]
    assert abs(cuff["mass"] - rotor.INERTIA / (rotor.ARM * cos(rotor.STOP)) ** 2) < 0.1
    for surface, side in zip(model["surface"], (-1, 1)):
        place = [rotor.HINGE + side * rotor.ARM * sin(rotor.STOP), 0.0, -rotor.ARM * cos(rotor.STOP)]
        assert np.abs(np.array(surface["position"]) - place).max() < 1e-9
    assert [contact["restitution"] for contact in model["contact"]] == [rotor.RESTITUTION] * 2


def test_page_runs(tmp_path):
    run_commands("models/rotor_droop_stop/README.md", tmp_path)


def test_figure_is_drawn(hard, tmp_path):
    rotor.draw({name: (CASES[name], rows, rows) for name, (rows, _) in hard.items()}, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")
    assert_is_small_figure(ROOT / "models/rotor_droop_stop/figure.png")


def event_driven(case, step):
    """Flap angles of the hinged blade on a hub that turns as it should: Runge-Kutta steps, cut at impacts."""
    m, L, e, inertia = rotor.MASS, rotor.LENGTH, rotor.HINGE, rotor.INERTIA

    def acceleration(t, flap, rate):
        speed, _ = case.speed(t)
        pull = speed**2 * (inertia * sin(flap) * cos(flap) + m * e * L / 2 * sin(flap))
        air = rotor.air_moment(case, t, flap, rate, 0.0, speed)
        return (air - m * 9.81 * L / 2 * cos(flap) - pull) / inertia

    def advanced(t, flap, rate, h):
        a = acceleration(t, flap, rate)
        b = acceleration(t + h / 2, flap + h / 2 * rate, rate + h / 2 * a)
        c = acceleration(t + h / 2, flap + h / 2 * rate + h * h / 4 * a, rate + h / 2 * b)
        d = acceleration(t + h, flap + h * rate + h * h / 2 * b, rate + h * c)
        return flap + h * rate + h * h / 6 * (a + b + c), rate + h / 6 * (a + 2 * b + 2 * c + d)

    flap, rate, angles = -rotor.STOP, 0.0, []
    for k in range(round(case.stop / step)):
        angles.append(flap)
        t, left = k * step, step
        while left > 0:
            side = 1 if flap > 0 else -1
            pressed = side * acceleration(t, flap, 0.0) >= 0
            if side * flap >= rotor.STOP - 1e-12 and abs(rate) < 1e-5 and pressed:
                flap, rate = side * rotor.STOP, 0.0
                break
            end, end_rate = advanced(t, flap, rate, left)
            side = 1 if end > 0 else -1
            if side * end <= rotor.STOP:
                flap, rate, left = end, end_rate, 0.0
                continue
            inside, outside = 0.0, left
            for _ in range(60):
                middle = (inside + outside) / 2
                beyond = side * advanced(t, flap, rate, middle)[0] > rotor.STOP
                inside, outside = (inside, middle) if beyond else (middle, outside)
            _, rate = advanced(t, flap, rate, inside)
            flap, rate = side * rotor.STOP, -rotor.RESTITUTION * rate
            t, left = t + inside, left - inside
    return np.array(angles)


@pytest.mark.parametrize("name", CASES)
def test_stops_hold_and_the_motion_is_that_of_the_equations(hard, name):
    rows, _ = hard[name]
    exact = event_driven(CASES[name], STEP)
    late = degrees(np.abs(rows[:, 1] - exact).max())
    print(name, "beyond a stop", rotor.beyond(rows), "deg; from the equations", late, "deg")
    assert rotor.beyond(rows) < 1e-4
    assert late < 0.01
    assert degrees(rows[:, 1].max()) > {"engagement": -0.2, "gust": 10 - 1e-3}[name]
    # At rest on the droop stop; at the end of the short gust there is still a breeze.
    force = rotor.WEIGHT_MOMENT / rotor.ARM
    assert abs(force - 8723) < 1
    assert abs(rows[50, 5] / force - 1) < 1e-5 and abs(rows[-1, 5] / force - 1) < 3e-3


def test_opposite_blade_stays_on_its_stop(fmus):
    """The wind comes from behind, and presses it down."""
    rows = rotor.hard(fmus.fmu("rotor_droop_stop"), rotor.gust(azimuth=pi, stop=22.0 if LONG else 10.0), STEP)
    assert np.abs(rows[:, 1] + rotor.STOP).max() < 1e-6
    assert rows[-1, 5] > 8000


@pytest.mark.parametrize("name", CASES)
def test_continuous_law_comes_to_the_same(hard, name):
    """Flores, 1e9: within 0.2 degrees, nearer if its rebounds are made equal, and for more processor time."""
    rows, hard_time = hard[name]
    step = 1e-4 if LONG else 2e-4
    for restitution, bar in ((rotor.RESTITUTION, 0.2), (rotor.MATCHED, 0.1)) if LONG else ((rotor.MATCHED, 0.1),):
        soft, soft_time = rotor.timed(lambda: rotor.continuous(CASES[name], step, restitution=restitution))
        apart = rotor.difference(rows, soft)
        print(name, restitution, "apart", apart, "deg; processor time", soft_time, "against", hard_time)
        assert apart < bar
        assert rotor.beyond(soft) < 0.05
        assert soft_time > (3.0 if LONG else 1.0) * hard_time


@long_only
def test_equal_steps(fmus):
    """At equal steps the continuous law is cheaper."""
    _, hard_time = rotor.timed(lambda: rotor.hard(fmus.fmu("rotor_droop_stop"), CASES["gust"], 1e-4))
    _, soft_time = rotor.timed(lambda: rotor.continuous(CASES["gust"], 1e-4))
    print("at equal steps", soft_time / hard_time)
    assert 0.3 < soft_time / hard_time < 1.2


@long_only
@pytest.mark.parametrize(
    "stiffness, exponent, touch, apart, beyond",
    [
        (1e9, 1.0, 3.6e-3, 0.17, 0.03),
        (1e9, 1.5, 18e-3, 0.38, 0.15),
        (1e9 * rotor.ARM**2, 1.0, 12e-3, 0.28, 0.10),
        (1e9 * rotor.ARM**2.5, 1.5, 62e-3, 1.2, 0.51),
        (1e10, 1.5, 7e-3, 0.16, 0.06),
    ],
)
def test_what_the_stiffness_may_mean(hard, stiffness, exponent, touch, apart, beyond):
    """As a moment of the angle, and as a force at the point below the hinge, which has the arm once for its depth and once
    for its moment."""
    rows, _ = hard["gust"]
    soft = rotor.continuous(CASES["gust"], 1e-4, stiffness=stiffness, exponent=exponent)
    start, end = np.flatnonzero(np.diff(soft[:, 1] > rotor.STOP))[:2]
    found = rotor.difference(rows, soft), rotor.beyond(soft), (end - start) * 1e-4
    print(stiffness, exponent, "apart, beyond, touch lasts", found, "from", soft[start, 2], "rad/s")
    assert abs(soft[start, 2] - 0.417) < 1e-3
    assert abs(found[0] - apart) < 0.02
    assert abs(found[1] - beyond) < 0.01
    assert abs(found[2] / touch - 1) < 0.05


def test_flores_rebounds():
    """The effective restitution of the law, by its equation of motion: docs of the law say .7885 for .8."""

    def rebound(restitution):
        depth, rate, h = 0.0, 1.0, 1e-6
        while True:
            force = rotor.flores(depth, rate, 1.0, 1e6, 1.0, restitution)
            rate -= h * force
            depth += h * rate
            if depth <= 0.0:
                return -rate

    assert abs(rebound(0.8) - 0.7885) < 1e-3
    assert abs(rebound(rotor.MATCHED) - 0.8) < 1e-3
