"""The walker of Theo Jansen: by default the first quarter of a turn; CONTACT_FMU_LONG=1 takes a turn, with both laws."""

import sys
from math import hypot, pi, radians

import numpy as np
import pytest
from conftest import ROOT, contact_fmu
from machine_pages import LONG, assert_is_small_figure, run_commands

sys.path.insert(0, str(ROOT / "models/jansen_walker"))
import linkage  # noqa: E402
import walker as jansen  # noqa: E402

LAWS = {"facets": None, "cone": "friction.cone.mu = 1.2"}
WAYS = {"facets": 1.387, "cone": 1.384}


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


def walked(law, folder, stop):
    source, fmu = folder / f"{law}.toml", folder / f"{law}.fmu"
    source.write_text(jansen.model(LAWS[law]) if LAWS[law] else jansen.model())
    contact_fmu("build", source, "-o", fmu)
    return jansen.walk(fmu, stop)


@pytest.mark.parametrize("law", LAWS if LONG else ["facets"])
def test_it_walks(tmp_path, law):
    turns = 1.0 if LONG else 0.25
    rows = walked(law, tmp_path, 2 * jansen.STAND + turns * jansen.TURN)
    legs = jansen.legs_of(rows)
    standing = rows[:, 0] < jansen.STAND
    assert abs(jansen.WEIGHT - 404.172) < 1e-9
    assert np.abs(legs[standing][50:, :, 2].sum(axis=1) / jansen.WEIGHT - 1).max() < 1e-6
    jansen.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")
    found = jansen.numbers_of(rows)
    print(law, found)
    assert abs(found["weight_error"]) < (0.001 if LONG else 0.01)
    assert abs(found["way"] - turns * WAYS[law]) < (0.01 if LONG else 0.02)
    assert found["slide"] < 0.025
    assert found["penetration"] < 3e-4
    assert found["aside"] < 0.06
    # Friction is inside its law.
    force, friction = legs[:, :, 2], np.hypot(legs[:, :, 3], legs[:, :, 4])
    assert (friction <= 1.2 * force * (1 + 1e-6) + 1e-3).all()
    if LONG:
        assert np.abs(found["duty"][::2] - 0.27).max() < 0.03
        assert np.abs(found["duty"][1::2] - 0.40).max() < 0.04
        # Each foot has been up and down.
        assert (legs[:, :, 0].max(axis=0) > 0.15).all() and (legs[:, :, 2].max(axis=0) > 100.0).all()
