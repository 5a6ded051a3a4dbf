"""Run as a program: continues an FMU from serialized bytes and prints its real outputs as exact numbers."""

import json
import sys
from pathlib import Path

from masters import real_outputs, slave

if __name__ == "__main__":
    fmu, state_file, first, count = sys.argv[1:]
    with slave(fmu) as one:
        state = one.deSerializeFMUstate(Path(state_file).read_bytes())
        one.setFMUstate(state)
        rows = one.steps(int(first), int(first) + int(count), 1e-3, real_outputs(fmu))
        one.freeFMUstate(state)
    print(json.dumps([[value.hex() for value in row] for row in rows]))
