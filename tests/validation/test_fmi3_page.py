"""What docs/fmi3.md says is what happens, and its picture is the one that is drawn."""

import numpy as np
from conftest import ROOT, contact_fmu
from fmi3_figure import draw
from test_readme import blocks, run_python, run_shell


def test_page_runs(tmp_path, monkeypatch):
    (tmp_path / "models").symlink_to(ROOT / "models")
    for script in blocks("docs/fmi3.md", "sh"):
        run_shell(script, tmp_path)
    (loop,) = blocks("docs/fmi3.md", "python")
    lines = [line for line in loop.splitlines() if line]
    assert len(lines) - lines.index(next(line for line in lines if line.startswith("ball = "))) <= 20
    monkeypatch.chdir(tmp_path)
    impacts = run_python("docs/fmi3.md")["impacts"]
    first = np.sqrt(2 * 0.801 / 10)
    assert np.allclose(impacts[0], (first, 1.8 * 10 * first), rtol=1e-12)
    assert len(impacts) == 4


def test_picture_is_the_one_drawn(tmp_path):
    path = tmp_path / "ball.fmu"
    contact_fmu("build", ROOT / "models/bouncing_ball/model.toml", "--fmi", "3", "-o", path)
    assert draw(str(path)) == (ROOT / "docs/figures/fmi3_events.svg").read_text()
