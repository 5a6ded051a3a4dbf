"""The commands and programs of README and docs run as they stand."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILDER, ROOT, contact_fmu


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


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
    command = blocks("README.md", "sh")[0]
    assert command.startswith("cargo run --release --locked -- build ")
    arguments = command.split(" -- ")[1].split()
    copied = tmp_path / "models"
    shutil.copytree(ROOT / "models", copied)
    assert contact_fmu(*arguments, cwd=tmp_path).strip().endswith("bouncing_ball.fmu")
    assert (tmp_path / "bouncing_ball.fmu").exists()


def test_second_command_is_what_continuous_integration_runs():
    command = blocks("README.md", "sh")[1].strip()
    assert command in (ROOT / ".ci/run").read_text().splitlines()
    assert os.access(ROOT / command, os.X_OK)


def test_python_runs(folder, monkeypatch, capsys):
    (program,) = blocks("README.md", "python")
    monkeypatch.chdir(folder)
    exec(compile(program, "README.md", "exec"), {})
    assert abs(float(capsys.readouterr().out) - 0.2) < 1e-9


def test_command_line_runs(tmp_path):
    script = blocks("README.md", "sh")[2]
    environment = dict(os.environ, PATH=f"{BUILDER.parent}:{os.environ['PATH']}")
    subprocess.run(["bash", "-eu", "-c", script], check=True, cwd=tmp_path, env=environment)
    assert {"drop.toml", "drop.fmu", "drop.csv", "drop2.csv", "model.schema.json"} <= set(os.listdir(tmp_path))


def test_links_lead_somewhere():
    for page in ["README.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))]:
        text = (ROOT / page).read_text()
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert ((ROOT / page).parent / link).exists(), f"{page}: {link}"
