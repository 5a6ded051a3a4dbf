"""The page for beginners runs from top to bottom, in one folder."""

import tomllib

import numpy as np
from test_readme import blocks, run_page, run_shell

PAGE = "docs/getting-started.md"


def test_page_runs(tmp_path, capsys):
    *built, ssp, modelica = blocks(PAGE, "sh")
    for script in built:
        run_shell(script, tmp_path)
    names = run_page(PAGE, tmp_path, {})
    assert capsys.readouterr().out.strip() == "lowest 0.100 m, with friction 0.857 m, without 4.000 m"
    # With 2 m/s until the end, or until the first impact.
    assert abs(names["smooth"]["ball.r[1]"][-1] - 4.0) < 1e-9
    assert abs(names["rough"]["ball.r[1]"][-1] - 2.0 * (2 * 0.9 / 9.81) ** 0.5) < 1e-9
    assert np.abs(names["pressed"]["ball.f[3]"][1:] - 9.81).max() < 1e-6
    for script in (ssp, modelica):
        run_shell(script, tmp_path)
    (node,) = tomllib.loads((tmp_path / "contact.toml").read_text())["node"]
    assert "coupling" not in node and node["name"] == "ball"
    for written in ("drop.csv", "contact.fmu", "system.ssp", "BallContact/package.mo"):
        assert (tmp_path / written).exists(), written
