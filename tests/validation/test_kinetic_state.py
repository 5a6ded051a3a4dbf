"""Saved states of kinetic couplings continue bit by bit: in the middle of an impulse that is delivered over two steps,
and while the latency is being found out; also from bytes in another process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from continue_kinetic import STEP, Loop
from kinetic_cases import ORDERS, Options, ball_slave

AHEAD = 80
# The latency is found out in the first five steps. The first impact is in step 401; its impulse is delivered in that and
# the next step, or one later.
POINTS = [0, 1, 2, 3, 4, 5, 400, 401, 402, 403, 404, 450]

both_orders = pytest.mark.parametrize("order", ORDERS)
both_latencies = pytest.mark.parametrize("auto", [False, True], ids=["given", "auto"])


@both_orders
@both_latencies
def test_restored_state_continues_identically(fmus, order, auto):
    loop = Loop(ball_slave(fmus, Options(order, STEP, auto)), order)
    slave, sent, known = loop.slave, [], []
    for point in POINTS:
        loop.steps(point - loop.count)
        state, own = slave.getFMUstate(), loop.own()
        restored = slave.deSerializeFMUstate(slave.serializeFMUstate(state))
        sent.append(abs(loop.held[0]))
        known.append(slave.integer("node.latency")[0] >= 0)
        ahead = loop.steps(AHEAD)
        for saved in (state, restored):
            slave.setFMUstate(saved)
            loop.take(*own)
            assert loop.steps(AHEAD) == ahead
        slave.setFMUstate(state)
        loop.take(*own)
        slave.freeFMUstate(state)
        slave.freeFMUstate(restored)
    assert sum(force > 1000.0 for force in sent) >= 2, "both halves of the impulse were on their way"
    assert known[0] == known[3] == (not auto) and known[-1]
    loop.close()


@both_orders
@both_latencies
@pytest.mark.parametrize("point", [3, 401, 402])
def test_bytes_continue_identically_in_another_process(fmus, order, auto, point, tmp_path):
    loop = Loop(ball_slave(fmus, Options(order, STEP, auto)), order)
    loop.steps(point)
    state = loop.slave.getFMUstate()
    (tmp_path / "state").write_bytes(loop.slave.serializeFMUstate(state))
    loop.slave.freeFMUstate(state)
    x, held, _ = loop.own()
    here = loop.steps(AHEAD)
    folder = loop.slave.unzipDirectory
    loop.close()
    script = Path(__file__).with_name("continue_kinetic.py")
    numbers = [float(number).hex() for number in [*x, *held]]
    command = [sys.executable, script, folder, order, tmp_path / "state", str(point), str(AHEAD), *numbers]
    printed = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()[-1]
    there, warnings = json.loads(printed)
    assert there == here
    assert warnings == [], "where the other process started is no jump"
