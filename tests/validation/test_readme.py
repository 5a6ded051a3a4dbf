"""The commands and programs of README and docs run as they stand."""

import functools
import os
import re
import shutil
import subprocess

import numpy as np
import pymoca.parser
import pytest
from conftest import BUILDER, ROOT, contact_fmu
from exact import ball_height
from other_fmus import other_fmu
from test_modelica import NO_EXTERNAL_OBJECTS, compile_fault


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def run_shell(script, folder):
    """Runs commands in a folder, with the tool on the path."""
    environment = dict(os.environ, PATH=f"{BUILDER.parent}:{os.environ['PATH']}")
    subprocess.run(["bash", "-eu", "-c", script], check=True, cwd=folder, env=environment)


def run_python(page):
    """Runs the programs of a page one after the other, as if they were one, and returns its names."""
    names = {}
    for program in blocks(page, "python"):
        exec(compile(program, page, "exec"), names)
    return names


def run_page(page, folder, models):
    """Runs the programs of a page in a folder with some of its model files, by their numbers on the page, and the tool on
    the path."""
    for name, number in models.items():
        (folder / name).write_text(blocks(page, "toml")[number])
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PATH", f"{BUILDER.parent}:{os.environ['PATH']}")
        return run_python(page)


@pytest.fixture
def folder(tmp_path):
    """Where a reader would be: the FMU of the first command beside him, the tool on the path."""
    contact_fmu("build", ROOT / "models/bouncing_ball/model.toml", cwd=tmp_path)
    return tmp_path


def test_model_file_passes(tmp_path):
    (source,) = blocks("README.md", "toml")
    (tmp_path / "drop.toml").write_text(source)
    contact_fmu("check", tmp_path / "drop.toml")


def test_first_command_builds_the_fmu(tmp_path):
    command = blocks("README.md", "sh")[1]
    assert command.startswith("cargo run --release --locked -- build ")
    arguments = command.split(" -- ")[1].split()
    copied = tmp_path / "models"
    shutil.copytree(ROOT / "models", copied)
    assert contact_fmu(*arguments, cwd=tmp_path).strip().endswith("bouncing_ball.fmu")
    assert (tmp_path / "bouncing_ball.fmu").exists()


def test_second_command_is_what_continuous_integration_runs():
    command = blocks("README.md", "sh")[2].strip()
    assert command in (ROOT / ".ci/run").read_text().splitlines()
    assert os.access(ROOT / command, os.X_OK)


def test_python_runs(folder, monkeypatch, capsys):
    """In FMPy; test_wheel.py runs what comes first."""
    monkeypatch.chdir(folder)
    _, program = blocks("README.md", "python")
    exec(compile(program, "README.md", "exec"), {})
    assert abs(float(capsys.readouterr().out) - 0.2) < 1e-9


def test_command_line_runs(tmp_path):
    run_shell(blocks("README.md", "sh")[3], tmp_path)
    written = {"drop.toml", "drop.fmu", "drop.csv", "drop2.csv", "model.schema.json", "Drop", "drop.ssp", "drop.html"}
    assert written <= set(os.listdir(tmp_path))


@pytest.fixture(scope="module")
def coupling(tmp_path_factory):
    """What the programs of the page on couplings have computed, in a folder with its model file and its FMUs."""
    page, folder = "docs/coupling.md", tmp_path_factory.mktemp("coupling")
    shutil.copytree(ROOT / "models", folder / "models")
    (model,) = [model for model in blocks(page, "toml") if 'name = "sprung"' in model]
    (folder / "sprung.toml").write_text(model)
    for script in blocks(page, "sh"):
        run_shell(script, folder)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        return {**run_python(page), "folder": folder}


def test_coupled_ball_bounces_exactly_in_both_orders(coupling):
    times = 1e-3 * np.arange(1, 5001)
    first = np.sqrt(2 * 0.801 / 10.0)
    flights = 2 * first * 0.8 ** np.arange(1, 30)
    impacts = first + np.concatenate([[0.0], np.cumsum(flights)])
    # An impulse is delivered over up to three steps; the last bounces are shorter than that.
    settled = (times < impacts[20]) | (times > impacts[-1] + 0.1)
    settled &= ~np.any([(impact <= times) & (times < impact + 3e-3) for impact in impacts], axis=0)
    assert settled.sum() > 4000
    for heights in [coupling["heights"], coupling["late_heights"]]:
        error = np.abs(np.array(heights) - 0.2 - ball_height(times))
        assert error[settled].max() < 1e-8
        assert abs(heights[-1] - 0.2) < 1e-12
    assert coupling["latency"] == 1


@pytest.mark.parametrize("reads", [True, False])
def test_ball_at_rest_dips_unless_outputs_are_read_in_initialization_mode(coupling, reads, monkeypatch):
    monkeypatch.chdir(coupling["folder"])
    ball, reference = coupling["open_fmu"]("coupled_ball.fmu")
    state, force = [reference["ball.r[3]"], reference["ball.v[3]"]], [reference["ball.f[3]"]]
    h, z, v, lowest = 1e-3, 0.2, 0.0, 0.2
    ball.setReal(state, [z, v])
    held = ball.getReal(force)[0] if reads else 0.0
    ball.exitInitializationMode()
    for k in range(2000):
        ball.setReal(state, [z, v])
        ball.doStep(k * h, h)
        a = held - 10.0
        z, v = z + h * v + 0.5 * h * h * a, v + h * a
        (held,) = ball.getReal(force)
        lowest = min(lowest, z)
    assert abs(z - 0.2) < 1e-12
    assert abs(lowest - (0.2 if reads else 0.2 - 15e-6)) < 1e-12


def test_iterating_master_reaches_the_monolithic_step(coupling):
    """Moreau-Jean with theta = 1/2 on wheel, spring and body together."""
    h, solve, a = coupling["H"], coupling["solve"], coupling["A"]
    push = solve @ np.array([0.0, 0.0, 1.0, 0.0])
    x, touches = np.array([0.5, 0.5, 0.0, 0.0]), 0
    assert len(coupling["path"]) == 1000
    for found in coupling["path"]:
        free = solve @ (x + h / 2 * a @ x + h * np.array([0.0, 0.0, -10.0, -10.0]))
        active = x[0] + h / 2 * x[2] <= 0.0
        impulse = max(0.0, (-0.8 * x[2] - free[2]) / push[2]) if active else 0.0
        touches += impulse > 0.0
        x = free + push * impulse
        assert np.abs(found - x).max() < 1e-10
    assert touches > 3
    assert coupling["most"] <= 5


def test_modelica_page_runs(tmp_path):
    """The command writes the package, and the model on the page uses names that are in it."""
    page = "docs/modelica.md"
    shutil.copytree(ROOT / "models", tmp_path / "models")
    (command,) = blocks(page, "sh")
    run_shell(command, tmp_path)
    (text,) = blocks(page, "modelica")
    assert NO_EXTERNAL_OBJECTS in compile_fault(tmp_path / "BallContact", text, "Bounce")
    symbols = pymoca.parser.parse(text).classes["Bounce"].symbols
    package, model = str(symbols["contact"].type).split(".")
    tree = pymoca.parser.parse((tmp_path / package / f"{model}.mo").read_text())
    known = tree.classes[package].classes[model].symbols
    changed = [argument.value.component.name for argument in symbols["contact"].class_modification.arguments]
    assert len(changed) == 3 and set(changed) | {"frame_a"} <= set(known)
    named = re.findall(r"^\| `([\w./]+)` \|", (ROOT / page).read_text(), re.MULTILINE)
    for name in set(named) - {"ContactSystem"}:
        path = tmp_path / package / (name if "/" in name else name.replace(".", "/"))
        assert path.exists() or path.with_suffix(".mo").exists(), name
    assert len(named) == 7


def test_ssp_page_runs(tmp_path, monkeypatch):
    page = "docs/ssp.md"
    (model,) = blocks(page, "toml")
    (tmp_path / "landing.toml").write_text(model)
    other_fmu("smooth_ball", "smooth_ball", tmp_path / "smooth_ball.fmu")
    names = [("ball.r[3]", "z"), ("ball.v[3]", "speed"), ("ball.f[3]", "force")]
    renamed = lambda xml: functools.reduce(lambda text, pair: text.replace(*pair), names, xml)
    other_fmu("smooth_ball", "smooth_ball", tmp_path / "fall.fmu", edit=renamed)
    for command in blocks(page, "sh"):
        run_shell(command, tmp_path)
    monkeypatch.chdir(tmp_path)
    heights = run_python(page)["heights"]
    assert len(heights) >= 1000
    # Between the first two impacts, at 0.4 s and 1.04 s.
    times = 1e-3 * np.arange(450, 1000)
    assert np.abs(heights[449:999] + 0.801 - ball_height(times)).max() < 1e-8
    assert (tmp_path / "fall.ssp").exists()


def test_model_exchange_page_runs(tmp_path, monkeypatch):
    for name in ("bouncing_ball", "coupled_ball"):
        contact_fmu("build", ROOT / "models" / name / "model.toml", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    names = run_python("docs/model-exchange.md")
    names["block"].terminate()
    names["block"].freeInstance()
    result, heights = names["result"], np.array(names["heights"])
    flying = result["time"] < 3.4
    assert np.abs(result["ball.r[3]"] - 0.2 - ball_height(result["time"]))[flying].max() < 1e-9
    times = 1e-3 * np.arange(1, 5001)
    away = (times > 0.41) & (times < 1.03)
    assert np.abs(heights - 0.2 - ball_height(times))[away].max() < 1e-9
    assert len(heights) == 5000 and abs(heights[-1] - 0.2) < 1e-9


def test_report_page_runs(tmp_path):
    """Its commands, and the picture on it and in README, which shows what the first one writes."""
    shutil.copytree(ROOT / "models", tmp_path / "models")
    for script in blocks("docs/report.md", "sh"):
        run_shell(script, tmp_path)
    assert (tmp_path / "dominoes.html").stat().st_size > 1e6
    assert blocks("docs/report.md", "sh")[0].strip() in (ROOT / "README.md").read_text()
    assert (ROOT / "docs/figures/report.png").stat().st_size < 200_000


def test_links_lead_somewhere():
    for page in ["README.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))]:
        text = (ROOT / page).read_text()
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert ((ROOT / page).parent / link).exists(), f"{page}: {link}"
