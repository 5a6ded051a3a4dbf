"""The walker of Theo Jansen: by default a tenth of a turn, in which two feet lift off and two touch down; CONTACT_FMU_LONG=1
takes a turn with both laws, one as slow as that of the thesis, and stiffer shafts."""

import sys
from math import hypot, pi, radians

import numpy as np
import pytest
from conftest import ROOT, long_only
from machine_pages import assert_is_small_figure, run_commands

sys.path.insert(0, str(ROOT / "models/jansen_walker"))
import linkage  # noqa: E402
import walker as jansen  # noqa: E402



def test_model_file_is_the_one_that_the_program_writes():
    assert (ROOT / "models/jansen_walker/model.toml").read_text() == jansen.model()


def test_page_runs(tmp_path):
    run_commands("models/jansen_walker/README.md", tmp_path)
    assert_is_small_figure(ROOT / "models/jansen_walker/figure.png")


def test_linkage_closes():
    """Every rod has its length at every angle, and the foot goes around on a flat and a high part."""
    n = linkage.LENGTHS
    rods = dict(j="AC", b="BC", d="BD", e="CD", k="AE", c="BE", f="DF", g="EF", h="FG", i="EG")
    feet = []
    for angle in np.linspace(0.0, 2 * pi, 73):
        at = linkage.points(angle)
        for rod, (start, end) in rods.items():
            assert abs(hypot(at[start][0] - at[end][0], at[start][1] - at[end][1]) - n[rod]) < 1e-9
        feet.append(at["G"])
    feet = np.array(feet)
    assert np.ptp(feet[:, 1]) > 20.0
    assert np.ptp([linkage.points(radians(angle))["G"][1] for angle in range(-45, 46)]) < 0.15


def test_strides_of_the_linkage():
    """What the page tells of a rigid leg: its stride while its foot is lower than half a turn later, how long it is flat, and
    how its speed changes."""
    feet = np.array([linkage.points(radians(angle / 10))["G"] for angle in range(3600)])
    lower = feet[:, 1] < np.roll(feet[:, 1], 1800)
    assert lower.mean() == 0.5
    (first,) = np.flatnonzero(lower & ~np.roll(lower, 1))
    stride = feet[(first + 1800) % 3600, 0] - feet[first, 0]
    assert abs(2 * stride / 100 - 1.271) < 1e-3
    apart = (feet[900, 0] - feet[0, 0]) - (feet[0, 0] - feet[-900, 0])
    assert round(apart) == 8
    height = feet[:, 1] - feet[:, 1].min()
    assert [round((height < bar).mean(), 2) for bar in (0.1, 0.5, 1.0, 2.0)] == [0.27, 0.37, 0.43, 0.52]
    speed = np.degrees(np.gradient(feet[:, 0], 0.1))
    assert [round(speed[angle]) for angle in (-800, -400, 0, 300, 800)] == [11, 19, 23, 24, 19]


def stands_then_walks(rows, start):
    """Checks what holds of every run, and gives its numbers."""
    legs, time = jansen.legs_of(rows), rows[:, 0]
    standing = legs[(time > 0.6 * jansen.STAND) & (time < jansen.STAND)]
    assert abs(jansen.WEIGHT - 404.172) < 1e-9
    assert np.abs(standing[:, :, 2].sum(axis=1) / jansen.WEIGHT - 1).max() < 0.003
    found = jansen.numbers_of(rows, start)
    print(found)
    assert abs(found["weight_error"]) < 0.01
    assert found["penetration"] < 1e-3
    assert found["aside"] < 1e-5
    # Friction is inside its law.
    force, friction = legs[:, :, 2], np.hypot(legs[:, :, 3], legs[:, :, 4])
    assert (friction <= 1.2 * force * (1 + 1e-6) + 1e-3).all()
    return found


def assert_sticks(found, slide, load, creep):
    """By states and speeds of contacts, and by the places of the feet."""
    assert found["slide"] < slide
    assert found["stuck"] > 0.99
    assert found["sliding_load"] < load
    assert found["creep"] < creep


def test_it_walks(tmp_path):
    rows = jansen.walked(tmp_path, turns=0.1)
    found = stands_then_walks(rows, jansen.STAND)
    assert_sticks(found, slide=5e-4, load=20.0, creep=1e-4)
    assert 0.15 < found["way"] < 0.2
    force = jansen.legs_of(rows)[:, :, 2]
    assert (force[-1, [1, 2, 4, 7]] > 20.0).all() and (force[-1, [0, 3, 5, 6]] == 0.0).all()
    jansen.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")


@long_only
@pytest.mark.parametrize("friction", [jansen.FACETS, jansen.CONE], ids=["facets", "cone"])
@pytest.mark.parametrize("turn_time", [jansen.TURN, jansen.TURN_OF_THE_THESIS])
def test_a_turn(tmp_path, friction, turn_time):
    rows = jansen.walked(tmp_path, friction, turn_time)
    found = stands_then_walks(rows, 2 * jansen.STAND)
    assert_sticks(found, slide=1e-4, load=20.0, creep=1e-5)
    assert abs(found["weight_error"]) < 1e-4
    assert abs(found["way"] - 1.25) < 0.01
    assert abs(found["bob"] - 0.0142) < 5e-4
    assert 0.19 < found["twist"] < 0.22
    assert found["duty"].min() > 0.495 and found["duty"].max() < 0.53
    assert found["low"].min() > 0.5 and found["low"].max() < 0.545
    # Each foot has been up and down.
    legs = jansen.legs_of(rows)
    assert (legs[:, :, 0].max(axis=0) > 0.15).all() and (legs[:, :, 2].max(axis=0) > 100.0).all()


@long_only
@pytest.mark.parametrize("stiffness, slide", [(100.0, 9e-4), (200.0, 7e-3), (1e4, 3.2e-2)])
def test_stiff_shafts_make_feet_slide(tmp_path, stiffness, slide):
    found = jansen.numbers_of(jansen.walked(tmp_path, twist_stiffness=stiffness))
    print(found)
    assert abs(found["slide"] / slide - 1) < 0.1
