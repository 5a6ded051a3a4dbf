"""What the page on masters says of FMPy's steps is what FMPy does, and its messages are those of the program."""

import re

import numpy as np
from conftest import ROOT, contact_fmu
from fmpy import simulate_fmu
from test_readme import run_python

PAGE = "docs/masters.md"


def test_page_runs(tmp_path, monkeypatch):
    contact_fmu("build", ROOT / "models/coupled_ball/model.toml", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    steps = run_python("docs/masters.md")["steps"]
    assert np.allclose(steps, [8e-3, 1e-3], rtol=1e-9)
    ignored = simulate_fmu("coupled_ball.fmu", output=["ball.f[3]"], step_size=1e-3)
    assert np.isclose(ignored["time"][1], 8e-3), "the step size is that of another solver"


def test_messages_are_those_of_the_program():
    """Up to where names and numbers go in."""
    quoted = re.findall(r"^> (.*)$", (ROOT / PAGE).read_text(), re.MULTILINE)
    text = "".join(path.read_text() for path in (ROOT / "fmu-template/src").glob("*.rs"))
    assert len(quoted) == 2
    for message in quoted:
        parts = re.split(r"set |ball|iterative = true|[\d.]+ m\b|let the", message)
        assert all(part in text for part in parts), message
