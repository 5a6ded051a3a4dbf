"""Progress with the time left: on a terminal, and nowhere else."""

import os
import pty
import re
import subprocess

from conftest import BUILDER, ROOT

COMMAND = [BUILDER, "simulate", ROOT / "models/bouncing_ball/model.toml", "--step", "1e-5", "-o", os.devnull]


def test_time_left_is_shown_on_a_terminal():
    ours, its = pty.openpty()
    with subprocess.Popen(COMMAND, stderr=its) as process:
        os.close(its)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # How Linux tells that the other side is closed.
                break
            if not part:
                break
            shown += part
        os.close(ours)
    assert process.returncode == 0
    shares = re.findall(r"\r\[[#.]{30}\] +(\d+) %  (?:\d+ min )?\d+ s left\x1b\[K", shown.decode())
    percents = [int(share) for share in shares]
    assert len(percents) >= 2 and percents == sorted(percents) and percents[-1] <= 100
    assert shown.decode().endswith("\r\x1b[K"), "the line is taken away"


def test_nothing_is_shown_elsewhere():
    done = subprocess.run([*COMMAND, "--stop", "0.1"], capture_output=True, check=True)
    assert done.stderr == b"" and done.stdout == b""
