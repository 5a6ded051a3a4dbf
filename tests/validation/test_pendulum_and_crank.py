"""Figures of the pendulum with friction and of the slider crank, and the numbers beside them."""

import importlib.util

import numpy as np
import pytest
from conftest import ROOT
from machine_pages import assert_is_small_figure, run_commands


def program(model):
    """draw.py of a model as a module."""
    place = importlib.util.spec_from_file_location(f"draw_{model}", ROOT / "models" / model / "draw.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["models/friction_pendulum/README.md", "models/slider_crank/README.md"])
def test_page_runs(page, tmp_path):
    run_commands(page, tmp_path)
    assert_is_small_figure((ROOT / page).with_name("figure.png"))


def test_pendulum_swings_and_sticks(fmus, tmp_path):
    pendulum = program("friction_pendulum")
    rows = pendulum.swing(fmus.fmu("friction_pendulum"))
    apart = np.abs(rows[:, 1] - pendulum.friction_circle(30.0))
    assert apart[rows[:, 0] <= 10.0].max() < 1e-4
    assert apart.max() < 5e-3
    moves = np.abs(np.diff(rows[:, 1])) > 1e-9
    assert abs(rows[np.flatnonzero(moves)[-1] + 1, 0] - 24.79) < 0.05
    assert abs(rows[-1, 1] + 0.0203) < 1e-4
    pendulum.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")


def test_slider_stays_in_its_guide(fmus, tmp_path):
    crank = program("slider_crank")
    rows = crank.rattle(fmus.fmu("slider_crank"), stop=0.1)
    assert np.abs(crank.corners(rows)).max() < crank.GUIDE + 1e-9
    assert np.abs(rows[:, 3]).max() < 1e-9
    # From one face to the other.
    assert np.ptp(rows[:, 2]) > 0.999 * 2 * (crank.GUIDE - crank.HALF_HEIGHT)
    crank.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")
