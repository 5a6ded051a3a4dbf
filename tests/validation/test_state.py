"""Saved states continue bit by bit, also from bytes in another process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from masters import real_outputs, slave

STEP = 1e-3


def hexadecimal(rows):
    return [[value.hex() for value in row] for row in rows]


@pytest.mark.parametrize("saved_at", [0, 1, 400, 401, 2500, 4999])
def test_restored_state_continues_identically(fmus, model, saved_at):
    fmu = fmus.fmu(model)
    names = real_outputs(fmu)
    with slave(fmu) as one:
        one.steps(0, saved_at, STEP, [])
        state = one.getFMUstate()
        ahead = one.steps(saved_at, saved_at + 300, STEP, names)
        one.setFMUstate(state)
        assert hexadecimal(one.steps(saved_at, saved_at + 300, STEP, names)) == hexadecimal(ahead)
        one.freeFMUstate(state)


@pytest.mark.parametrize("saved_at", [0, 401, 3590])
def test_bytes_continue_identically_in_another_process(fmus, model, saved_at, tmp_path):
    fmu = fmus.fmu(model)
    names = real_outputs(fmu)
    with slave(fmu) as one:
        one.steps(0, saved_at, STEP, [])
        state = one.getFMUstate()
        (tmp_path / "state").write_bytes(one.serializeFMUstate(state))
        one.freeFMUstate(state)
        here = one.steps(saved_at, saved_at + 300, STEP, names)
    script = Path(__file__).with_name("continue_state.py")
    command = [sys.executable, script, fmu, tmp_path / "state", str(saved_at), "300"]
    there = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert there == hexadecimal(here)


def test_reset_returns_to_the_exact_start(fmus, model):
    fmu = fmus.fmu(model)
    names = real_outputs(fmu)
    with slave(fmu) as one:
        first = one.steps(0, 600, STEP, names)
        one.reset()
        one.setupExperiment(startTime=0.0)
        one.enterInitializationMode()
        one.exitInitializationMode()
        assert hexadecimal(one.steps(0, 600, STEP, names)) == hexadecimal(first)
