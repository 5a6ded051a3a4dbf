"""The command line: ``contact-fmu`` and ``python -m contact_fmu``."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line with the arguments of this process and returns the exit code."""
    # While the command runs no Python does, which could see that Ctrl-C was pressed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["contact-fmu", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
