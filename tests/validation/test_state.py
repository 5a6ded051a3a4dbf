"""Saved states continue bit by bit, also from bytes in another process."""

import json
import subprocess
import sys
from pathlib import Path

from masters import real_outputs, slave

STEP = 1e-3
AHEAD = 300
# A heap of fallen dominoes takes long, so do many bodies in joints, and steps of 100 substeps: not so many of them.
LAST = {"domino_row": 150, "hexapod": 150, "jansen_walker": 150, "slider_crank": 1500}
FEW = {"hexapod": 100, "jansen_walker": 50, "slider_crank": 100}


def hexadecimal(rows):
    return [[value.hex() for value in row] for row in rows]


def early(model, points):
    """As many points, for models that are followed up to a last one only."""
    last = min(LAST.get(model, points[-1]), points[-1])
    return [point * last // points[-1] for point in points]


def ahead_of(model):
    """Steps that are repeated."""
    return FEW.get(model, AHEAD)


def states(one, points, names, count):
    """Walks on to each point, and gives the state there and the rows of the steps ahead."""
    now = 0
    for point in points:
        one.steps(now, point, STEP, [])
        now = point
        state = one.getFMUstate()
        yield point, state, one.steps(point, point + count, STEP, names)
        one.setFMUstate(state)
        one.freeFMUstate(state)


def test_restored_state_continues_identically(fmus, model):
    fmu = fmus.fmu(model)
    names = real_outputs(fmu)
    with slave(fmu) as one:
        for point, state, ahead in states(one, early(model, [0, 1, 400, 401, 2500, 4999]), names, ahead_of(model)):
            one.setFMUstate(state)
            again = one.steps(point, point + ahead_of(model), STEP, names)
            assert hexadecimal(again) == hexadecimal(ahead), point


def test_bytes_continue_identically_in_another_process(fmus, model, tmp_path):
    fmu = fmus.fmu(model)
    names = real_outputs(fmu)
    here, files = [], []
    with slave(fmu) as one:
        for point, state, ahead in states(one, early(model, [0, 401, 3590]), names, ahead_of(model)):
            path = tmp_path / str(point)
            path.write_bytes(one.serializeFMUstate(state))
            files.append(path)
            here.append(hexadecimal(ahead))
    script = Path(__file__).with_name("continue_state.py")
    command = [sys.executable, script, fmu, str(ahead_of(model)), *files]
    there = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert there == here


def test_reset_returns_to_the_exact_start(fmus, model):
    fmu = fmus.fmu(model)
    names = real_outputs(fmu)
    with slave(fmu) as one:
        (count,) = early(model, [600])
        first = one.steps(0, count, STEP, names)
        one.reset()
        one.setupExperiment(startTime=0.0)
        one.enterInitializationMode()
        one.exitInitializationMode()
        assert hexadecimal(one.steps(0, count, STEP, names)) == hexadecimal(first)
