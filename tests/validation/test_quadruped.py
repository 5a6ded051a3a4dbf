"""The trotting robot that exudyn moves: its feet are points of one mechanism."""

import sys
import tomllib

import numpy as np
import pytest
from conftest import ROOT, contact_fmu
from machine_pages import assert_is_small_figure

FOLDER = ROOT / "tests/validation/quadruped"

pytest.importorskip("exudyn")
sys.path.insert(0, str(FOLDER))
import trot as quadruped  # noqa: E402


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("quadruped") / "quadruped.fmu"
    contact_fmu("build", FOLDER / "model.toml", "-o", path)
    return quadruped.walk(str(path))


def test_feet_of_the_model_are_those_of_the_robot():
    model = tomllib.loads((FOLDER / "model.toml").read_text())
    places = {node["name"]: node["position"] for node in model["node"]}
    assert places == {leg: [x, y, quadruped.DROP] for leg, (x, y) in quadruped.FEET.items()}
    assert all(node["mechanism"] is True for node in model["node"])
    assert abs(quadruped.WEIGHT - 137.34) < 1e-9
    assert abs(quadruped.h_omega() - 0.09) < 0.01


def test_figure_is_drawn(rows, tmp_path):
    quadruped.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")


def test_forces_sum_to_the_weight_over_a_stride(rows):
    means = [quadruped.forces(rows)[a:b, :, 2].sum(axis=1).mean() for a, b in quadruped.strides(rows)]
    assert len(means) == 3
    assert np.abs(np.array(means) / quadruped.WEIGHT - 1.0).max() < 0.01


def test_feet_that_carry_do_not_slide(rows):
    assert quadruped.slides(rows) < 2e-4
    heights = quadruped.places(rows)[:, :, 0, 2]
    assert heights.min() > -5e-4
    # Each foot leaves the floor once in each stride.
    walking = heights[(rows[:, 0] > quadruped.START)]
    lifted = walking > 0.01
    assert (np.diff(lifted.astype(int), axis=0) == 1).sum(axis=0).tolist() == [quadruped.STRIDES] * 4


def test_it_goes_its_way_upright(rows):
    walked = rows[rows[:, 0] > quadruped.START]
    assert 0.5 < (walked[-1, 1] - walked[0, 1]) / quadruped.travelled(quadruped.STOP) < 2.0
    assert np.abs(walked[:, 2]).max() < 0.02
    assert np.abs(walked[:, 3] - quadruped.HEIGHT).max() < 0.02
    assert np.abs(walked[:, 4:7]).max() < 0.05
