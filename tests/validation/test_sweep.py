"""Parameter studies on Dask: the commands of the page, on smaller grids, and what happens to runs that fail."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILDER, LONG, ROOT, contact_fmu, read_csv, ran
from test_readme import blocks

pytest.importorskip("distributed")
sys.path.insert(0, str(ROOT / "scripts"))
import sweep  # noqa: E402

PAGE = "docs/sweeps.md"


@pytest.fixture
def folder(fmus, tmp_path):
    """Where a reader would be."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copytree(ROOT / "models/tilted_plane_friction", tmp_path / "models/tilted_plane_friction")
    shutil.copy(fmus.fmu("tilted_plane_friction"), tmp_path / "tilted_plane_friction.fmu")
    return tmp_path


def shell(script, folder):
    """Runs commands with the tool and this Python's programs on the path; ends what they leave running."""
    path = f"{BUILDER.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = dict(os.environ, PATH=path)
    command = subprocess.Popen(
        ["bash", "-eu", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=open(folder / "messages.txt", "w"),
        start_new_session=True,
    )
    try:
        assert command.wait(timeout=3600 if LONG else 120) == 0, (folder / "messages.txt").read_text()
    finally:
        try:
            os.killpg(command.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    return (folder / "messages.txt").read_text()


def without_pip(script):
    """Commands but those that install, whose packages the tests have."""
    pinned = (ROOT / "tests/validation/requirements.txt").read_text().lower()
    lines = []
    for line in script.splitlines():
        if line.startswith("pip install "):
            assert all(f"{name}==" in pinned for name in line.split()[2:])
        else:
            lines.append(line)
    return "\n".join(lines)


def travel(folder, restitution, mu):
    """By the command line's own run."""
    settings = ["--set", f"ball_plane.restitution={restitution!r}", "--set", f"ball_plane.mu={mu!r}"]
    result = folder / "one.csv"
    contact_fmu("simulate", folder / "tilted_plane_friction.fmu", "--step", 1e-2, *settings, "-o", result)
    return read_csv(result)["ball.r[1]"][-1]


def test_page_runs(folder):
    """The study of the page, by default with 3 x 2 points of its 1000."""
    script = without_pip(blocks(PAGE, "sh")[0])
    if not LONG:
        script = script.replace(":40", ":3").replace(":25", ":2") + " --workers 2"
    messages = shell(script, folder)
    rows = sweep_rows(folder / "travel.csv")
    assert len(rows) == (1000 if LONG else 6)
    assert f"{len(rows)} of {len(rows)} runs" in messages and re.search(r"\d+/\d+ runs, \d+ s left", messages)
    for row in rows[:: max(1, len(rows) // 6)]:
        restitution, mu, way = (float(value) for value in list(row.values())[:3])
        assert abs(way - travel(folder, restitution, mu)) < 1e-9
        assert row["attempts"] == "1" and row["error"] == ""
    assert (folder / "travel.png").read_bytes().startswith(b"\x89PNG")
    assert "scripts/sweep.py" in script
    ran("scripts/sweep.py")


def test_cluster_of_the_page_runs(folder):
    """A scheduler and workers in processes of their own, at a free port."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    script = without_pip(blocks(PAGE, "sh")[1]).replace("8786", str(port)).replace(":25", ":3")
    # The dashboard has a fixed port, which others may have.
    script = script.replace(f"--port {port}", f"--port {port} --no-dashboard").replace("--nworkers", "--no-dashboard --nworkers")
    shell(script, folder)
    assert [float(row["ball_plane.mu"]) for row in sweep_rows(folder / "travel.csv")] == [0.0, 0.03, 0.06]


def sweep_rows(path):
    import csv

    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def client():
    """In this process, so that a test can make a run fail."""
    from dask.distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as one:
        yield one


def small_study(folder, restitutions):
    archive = (folder / "tilted_plane_friction.fmu").read_bytes()
    axes = {"ball_plane.restitution": restitutions, "ball_plane.mu": [0.0, 0.03]}
    return sweep.Study(archive, axes, [("last", "ball.r[1]")], stop=1.0, step=1e-2)


def test_run_that_fails_once_is_tried_again(folder, client, monkeypatch):
    whole, fails = sweep.simulate, [{"ball_plane.restitution": 0.5, "ball_plane.mu": 0.03}]

    def simulate(archive, parameters, *rest):
        if parameters in fails:
            fails.remove(parameters)
            raise RuntimeError("the machine is on fire")
        return whole(archive, parameters, *rest)

    simulate.__module__, simulate.__qualname__ = "sweep", "simulate"
    monkeypatch.setattr(sweep, "simulate", simulate)
    study, told = small_study(folder, [0.0, 0.5]), []
    sweep.run_study(study, client, lambda done, study: told.append(done))
    assert fails == [] and told == [1, 2, 3, 4]
    assert [run.attempts for run in study.runs] == [1, 1, 1, 2]
    assert study.failed() == [] and all(run.error == "" for run in study.runs)
    expected = whole(study.archive, study.runs[3].parameters, study.results, study.stop, study.step)
    assert study.runs[3].values == expected


def test_run_that_always_fails_leaves_the_others_alone(folder, client):
    """The FMU refuses a restitution above 1."""
    study = small_study(folder, [0.5, 1.5])
    sweep.run_study(study, client)
    assert [run.attempts for run in study.runs] == [1, 1, 3, 3]
    assert [run.values is None for run in study.runs] == [False, False, True, True]
    sweep.write_table(study, folder / "table.csv")
    rows = sweep_rows(folder / "table.csv")
    assert [row["ball.r[1]"] == "" for row in rows] == [row["error"] != "" for row in rows] == [False, False, True, True]
    assert rows[2]["attempts"] == "3"
    sweep.draw_map(study, folder / "map.png")
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--vary", "ball_plane.mu", "--result", "ball.r[1]"], "is not NAME=FIRST:LAST:COUNT"),
        (["--vary", "ball_plane.mu=0:1:1", "--result", "ball.r[1]"], "COUNT of at least 2"),
        (["--vary", "ball_plane.mu=0:1:3", "--result", "median:ball.r[1]"], "none of last, max, min, mean"),
        (["--vary", "ball_plane.mu=0:1:3", "--result", "ball.r[1]", "--map", "m.png"], "exactly two parameters"),
        (["--vary", "ball_plane.nu=0:1:3", "--result", "ball.r[1]"], "has no variable 'ball_plane.nu'"),
        (["--vary", "ball_plane.gap=0:1:3", "--result", "ball.r[1]"], "'ball_plane.gap' is a result"),
    ],
)
def test_wrong_options_are_refused(folder, options, message):
    command = [sys.executable, folder / "scripts/sweep.py", folder / "tilted_plane_friction.fmu", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode != 0 and message in done.stderr
    assert not (folder / "sweep.csv").exists()
