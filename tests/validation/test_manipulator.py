"""The arm that presses on a table: forces by their equations. By default one stiffness of Schmucker's law, which takes
long at high ones; CONTACT_FMU_LONG=1 takes all."""

import sys

import numpy as np
import pytest
from conftest import BUILDER, LONG, ROOT
from machine_pages import assert_is_small_figure, run_commands

sys.path.insert(0, str(ROOT / "models/manipulator"))
import press as arm  # noqa: E402

SOFT = arm.STIFFNESSES if LONG else [1e3]
CASES = [("schmucker", k) for k in SOFT] + [("hard", k) for k in arm.STIFFNESSES]


@pytest.fixture(autouse=True)
def tool(monkeypatch):
    monkeypatch.setenv("CONTACT_FMU", str(BUILDER))


def at(rows, start, end):
    return (rows[:, 0] > start) & (rows[:, 0] < end)


def test_model_file_is_the_one_that_the_program_writes():
    assert (ROOT / "models/manipulator/model.toml").read_text() == arm.model()


def test_page_runs(tmp_path):
    run_commands("models/manipulator/README.md", tmp_path)


def test_figure_is_drawn(tmp_path):
    rows = {mode: arm.run("hard", 1e3, mode, tmp_path)[0] for mode in arm.STOP}
    laws = ("schmucker", "hard")
    arm.draw({(law, k, mode): rows[mode] for law in laws for k in arm.STIFFNESSES for mode in rows}, tmp_path / "figure.png")
    assert_is_small_figure(ROOT / "models/manipulator/figure.png")


@pytest.mark.parametrize("mode", arm.STOP)
@pytest.mark.parametrize("law, stiffness", CASES)
def test_forces(tmp_path, law, stiffness, mode):
    rows, _ = arm.run(law, stiffness, mode, tmp_path)
    path = np.array([arm.tip(mode, time) for time in rows[:, 0]])
    assert np.abs(rows[:, 1:4] - path).max() < 1e-12
    normal, friction = rows[:, 4], rows[:, 6]
    load = stiffness * arm.DEPTH
    deep = arm.HOLD + arm.DOWN
    held = at(rows, deep + 0.9 * arm.HOLD, deep + arm.HOLD)
    assert np.abs(normal[held] / load - 1).max() < 1e-9
    if mode == "free":
        slides = deep + arm.HOLD + 0.4 * arm.DOWN, deep + arm.HOLD + 0.6 * arm.DOWN
        there = at(rows, *slides)
        back = at(rows, *(time + arm.DOWN + arm.HOLD for time in slides))
        for part, sign in ((there, -1), (back, 1)):
            assert part.any()
            assert np.abs(friction[part] / (sign * arm.MU * load) - 1).max() < 1e-6
    if law == "schmucker":
        expected = arm.schmucker(mode, stiffness)
        print(stiffness, mode, np.abs(normal - expected[:, 0]).max() / load, np.abs(friction - expected[:, 1]).max() / load)
        assert np.abs(normal - expected[:, 0]).max() < 3e-3 * load
        assert np.abs(friction - expected[:, 1]).max() < 3e-3 * load
    else:
        # The knock is that of the plate, whatever carries it.
        assert normal.max() < max(1.0001 * load, 3.5)
        assert (np.abs(friction) <= arm.MU * normal * (1 + 1e-9) + 1e-9).all()


def test_hard_contact_takes_less(tmp_path):
    stiffness, mode, times = (1e5, "free", 10) if LONG else (1e4, "normal", 2)
    _, soft = arm.run("schmucker", stiffness, mode, tmp_path)
    _, hard = arm.run("hard", stiffness, mode, tmp_path)
    print("Schmucker's law / hard:", soft / hard)
    assert soft > times * hard
