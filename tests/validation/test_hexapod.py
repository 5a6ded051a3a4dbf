"""The six-legged robot: stands, then walks. By default its first step; CONTACT_FMU_LONG=1 takes all four."""

import sys
import tomllib

import numpy as np
import pytest
from conftest import LONG, ROOT, read_csv
from machine_pages import assert_is_small_figure, run_commands

sys.path.insert(0, str(ROOT / "models/hexapod"))
import walk as hexapod  # noqa: E402

STEPS = hexapod.STEPS if LONG else 1


@pytest.fixture(scope="module")
def rows(fmus):
    stop = hexapod.STAND + STEPS * (hexapod.SWING + hexapod.PAUSE)
    return hexapod.walk(fmus.fmu("hexapod"), stop)


def between(rows, start, end):
    return (rows[:, 0] > start) & (rows[:, 0] < end)


def forces(rows):
    return rows[:, 4:10]


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    """All variables over the first step, by the commands of the page."""
    folder = tmp_path_factory.mktemp("page")
    run_commands("models/hexapod/README.md", folder)
    return read_csv(folder / "walk.csv")


def test_model_file_is_the_one_that_the_program_writes():
    assert (ROOT / "models/hexapod/model.toml").read_text() == hexapod.model()


def test_page_runs_and_the_command_line_walks_it_too(rows, columns):
    for column, name in enumerate(["body.r[1]", "body.r[2]", "body.r[3]"], start=1):
        walked = columns[name][1:]
        assert len(walked) == 1000
        assert np.abs(walked - rows[: len(walked), column]).max() < 1e-9


def test_figure_is_drawn(rows, tmp_path):
    hexapod.draw(rows, tmp_path / "figure.png")
    assert_is_small_figure(tmp_path / "figure.png")
    assert_is_small_figure(ROOT / "models/hexapod/figure.png")


def test_feet_carry_the_weight_at_rest(rows):
    rest = forces(rows)[between(rows, 0.1, hexapod.STAND)]
    assert abs(hexapod.WEIGHT - 156.96) < 1e-9
    assert np.abs(rest.sum(axis=1) - hexapod.WEIGHT).max() < 1e-9
    assert np.abs(rest - 26.16).max() < 1e-6
    # The rubber carries all but the feet.
    sag = (hexapod.WEIGHT / 6 - 9.81 * hexapod.FOOT_MASS) / hexapod.FOOT_STIFFNESS
    assert np.abs(rows[between(rows, 0.2, hexapod.STAND), 3] - (hexapod.STANDING - sag)).max() < 1e-12


def test_moments_balance_in_the_pause(columns):
    """Of all six feet about the centre of mass, which is not in their middle after a step."""
    model = tomllib.loads((ROOT / "models/hexapod/model.toml").read_text())
    end = hexapod.STAND + hexapod.SWING + hexapod.PAUSE
    pause = between(columns["time"][:, None], end - 0.05, end)

    def place(node):
        return np.column_stack([columns[f"{node}.r[{k}]"][pause] for k in (1, 2)])

    masses = {node["name"]: node["mass"] for node in model["node"]}
    centre = sum(mass * place(node) for node, mass in masses.items()) / sum(masses.values())
    carried = [columns[f"{leg.name}_foot_floor.f_n"][pause] for leg in hexapod.LEGS]
    arms = [place(f"{leg.name}_foot") - centre for leg in hexapod.LEGS]
    assert pause.sum() > 20 and np.abs(sum(arms)).max() > 0.1
    assert np.abs(sum(carried) - hexapod.WEIGHT).max() < 1e-9
    assert np.abs(sum(force[:, None] * arm for force, arm in zip(carried, arms))).max() < 1e-6
    assert np.min(carried) > 15.0


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


def test_it_goes_its_way_and_does_not_slide(rows):
    assert abs(rows[-1, 1] - STEPS * hexapod.ADVANCE) < 3e-6
    assert np.abs(rows[:, 2]).max() < 1e-5
    assert -7e-5 < (rows[:, 3] - hexapod.STANDING).min() and (rows[:, 3] - hexapod.STANDING).max() < 0
    assert rows[:, 10:16][forces(rows) > 1.0].max() < 1e-12
    walking = forces(rows)[between(rows, hexapod.STAND, rows[-1, 0])].sum(axis=1)
    assert abs(walking.mean() / hexapod.WEIGHT - 1) < 1e-4
