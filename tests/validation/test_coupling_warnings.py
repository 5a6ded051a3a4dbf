"""What is wired or declared wrongly between the FMU and its master is said in the log."""

import numpy as np
import pytest
from kinetic_cases import BALL_OFFSET, LATENCY, ORDERS, Options, ball_side, ball_slave, drive
from smooth_sides import Node


@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("order", ORDERS)
def test_latency_that_is_given_wrongly(fmus, order, step):
    """Said within two steps after the first impact."""
    wrong = 1 - LATENCY[order]
    options = Options(order, step, auto=True, node=f"latency = {wrong}")
    said = []
    slave = ball_slave(fmus, options)
    side = ball_side()
    give = Node(slave, "node", [2], BALL_OFFSET)
    give.give(side.position, side.velocity)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    held, first = give.force(), None
    for k in range(round(0.5 / step)):
        give.give(side.position, side.velocity)
        slave.doStep(k * step, step)
        new = give.force()
        # Before the first impact there are probes.
        if first is None and np.abs(new).max() > 1.0:
            first = k
        side.step(new if order == "sequential" else held, step)
        held = new
        if slave.warnings and not said:
            said.append(k)
        # The ball is thrown ever higher from here on, without bound.
        if said and k > said[0] + 20:
            break
    slave.freeInstance()
    print("wrong latency", order, step, "impact", first, "said", said, slave.warnings)
    expected = f"the model says latency = {wrong}, but the master applies forces"
    assert any(expected in warning and f"set it to {1 - wrong}" in warning for warning in slave.warnings)
    assert said[0] - first <= 3


class Unconnected(Node):
    """A node whose velocity is not connected."""

    def give(self, position, velocity):
        super().give(position, np.zeros_like(velocity))


def test_velocity_that_is_not_connected(fmus):
    options = Options("sequential", 1e-3)
    slave = ball_slave(fmus, options)
    result = drive(ball_side(), slave, [2], 0.1, options, node=Unconnected(slave, "node", [2], BALL_OFFSET))
    assert len(result.warnings) == 1
    assert "node.r moves while node.v has stayed the same for 10 steps: connect node.v" in result.warnings[0]
