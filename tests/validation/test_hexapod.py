"""The six-legged robot: stands, then walks. By default its first step; CONTACT_FMU_LONG=1 takes all four."""

import os
import sys

import numpy as np
import pytest
from conftest import ROOT, read_csv
from machine_pages import assert_is_small_figure, run_commands

sys.path.insert(0, str(ROOT / "models/hexapod"))
import walk as hexapod  # noqa: E402

STEPS = hexapod.STEPS if os.environ.get("CONTACT_FMU_LONG") else 1


@pytest.fixture(scope="module")
def rows(fmus):
    stop = hexapod.STAND + STEPS * (hexapod.SWING + hexapod.PAUSE)
    return hexapod.walk(fmus.fmu("hexapod"), stop)


def between(rows, start, end):
    return (rows[:, 0] > start) & (rows[:, 0] < end)


def forces(rows):
    return rows[:, 4:10]


def centre_of_mass(time):
    """Along x and y, by the angles of the legs."""
    way, feet = hexapod.gait(time)
    moment, total = hexapod.BODY_MASS * np.array([way, 0.0]), hexapod.BODY_MASS
    for leg, foot in zip(hexapod.LEGS, feet):
        turn, up, down = leg.angles(foot - np.array([way, 0.0, hexapod.STANDING]))
        out = np.array([-leg.side * np.sin(turn), leg.side * np.cos(turn)])
        reached = 0.0
        for (length, mass), angle in zip(hexapod.LINKS.values(), (0.0, up, down)):
            middle = reached + length / 2 * np.cos(angle)
            moment += mass * (np.array([way, 0.0]) + leg.hip[:2] + middle * out)
            total += mass
            reached += length * np.cos(angle)
    return moment / total


def test_model_file_is_the_one_that_the_program_writes():
    assert (ROOT / "models/hexapod/model.toml").read_text() == hexapod.model()


def test_page_runs_and_the_command_line_walks_it_too(rows, tmp_path):
    run_commands("models/hexapod/README.md", tmp_path)
    columns = read_csv(tmp_path / "walk.csv")
    for column, name in enumerate(["body.r[1]", "body.r[2]", "body.r[3]"], start=1):
        assert np.abs(columns[name][1 : len(rows) + 1] - rows[:, column]).max() < 1e-9


def test_figure_is_drawn(rows, tmp_path):
    hexapod.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")
    assert_is_small_figure(ROOT / "models/hexapod/figure.png")


def test_feet_carry_the_weight_at_rest(rows):
    rest = forces(rows)[between(rows, 0.1, hexapod.STAND)]
    assert abs(hexapod.WEIGHT - 156.96) < 1e-9
    assert np.abs(rest.sum(axis=1) - hexapod.WEIGHT).max() < 1e-9
    assert np.abs(rest - 26.16).max() < 1e-6


def test_moments_balance_in_the_pause(rows):
    """Of all six feet about the centre of mass, which is not in their middle after a step."""
    start = hexapod.STAND + hexapod.SWING
    carried = forces(rows)[between(rows, start + 0.1, start + hexapod.PAUSE)]
    _, feet = hexapod.gait(start + hexapod.PAUSE)
    arms = np.array(feet)[:, :2] - centre_of_mass(start + hexapod.PAUSE)
    assert np.abs(arms.sum(axis=0)).max() > 0.1
    assert np.abs(carried.sum(axis=1) - hexapod.WEIGHT).max() < 1e-9
    assert np.abs(carried @ arms).max() < 1e-6
    assert carried.min() > 15.0


def test_three_feet_carry_while_three_swing(rows):
    middle, outer = hexapod.tripod_loads()
    for step in range(STEPS):
        start = hexapod.STAND + step * (hexapod.SWING + hexapod.PAUSE)
        swing = between(rows, start + 0.05, start + hexapod.SWING - 0.05)
        swinging = [step in hexapod.swings(leg) for leg in hexapod.LEGS]
        assert forces(rows)[np.ix_(swing, swinging)].max() == 0.0
        assert rows[:, 16:][np.ix_(swing, swinging)].max() > 0.9 * hexapod.LIFT
        carrying = forces(rows)[:, ~np.array(swinging)][swing].mean(axis=0)
        names = [leg.name for leg, up in zip(hexapod.LEGS, swinging) if not up]
        for name, load in zip(names, carrying):
            if "middle" in name:
                assert abs(load / middle - 1) < 0.02
            else:
                assert abs(load / outer - 1) < 0.25


def test_it_goes_its_way(rows):
    assert abs(rows[-1, 1] - STEPS * hexapod.ADVANCE) < 2e-5
    assert np.abs(rows[:, 2]).max() < 5e-5
    assert np.abs(rows[:, 3] - hexapod.STANDING).max() < 1e-9
    assert rows[:, 10:16][forces(rows) > 1.0].max() < 1.6e-4
    walking = forces(rows)[between(rows, hexapod.STAND, rows[-1, 0])].sum(axis=1)
    assert abs(walking.mean() / hexapod.WEIGHT - 1) < 1e-4
