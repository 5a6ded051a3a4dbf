"""Runs the commands on the pages of the machines. A program without arguments makes all the numbers and the figure of its
page, which takes long: only with CONTACT_FMU_LONG=1."""

import re
import shutil
import sys
from pathlib import Path

from conftest import LONG, ROOT
from test_readme import blocks, run_shell


def run_commands(page, folder):
    """In a folder with the models."""
    shutil.copytree(ROOT / "models", folder / "models")
    pinned = (ROOT / "tests/validation/requirements.txt").read_text().lower()
    for line in "".join(blocks(page, "sh")).splitlines():
        if line.startswith("pip install "):
            assert all(f"{name}==" in pinned for name in line.split()[2:])
            continue
        program = re.match(r"python (\S+\.py)( +[^ #]\S*)?", line)
        if program:
            assert (folder / program[1]).exists(), line
            if not (program[2] or LONG):
                continue
            figure = (folder / program[1]).with_name("figure.png")
            figure.unlink(missing_ok=True)
        run_shell(f'export PATH="{Path(sys.executable).parent}:$PATH"\n{line}', folder)
        if program and not program[2]:
            assert_is_small_figure(figure)


def assert_is_small_figure(path):
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 100_000
