"""The step that the page on theory writes down is that of the FMU."""

import re

from conftest import ROOT
from test_readme import run_page

PAGE = "docs/theory.md"


def test_the_step_written_down_is_that_of_the_fmu(tmp_path):
    names = run_page(PAGE, tmp_path, {"captured.toml": 0})
    assert names["difference"] < 1e-12
    # The ball has bounced and slid.
    assert names["path"][-1][2] < 0.05 and 0.5 < names["path"][-1][0] < 2.9


def test_files_named_are_there():
    text = (ROOT / PAGE).read_text()
    named = set(re.findall(r"`((?:scheme|law|problem)/\w+\.rs|\w+\.rs|linkage|scheme)`", text))
    assert len(named) > 9
    for name in named:
        assert (ROOT / "src/engine" / name).exists(), name
