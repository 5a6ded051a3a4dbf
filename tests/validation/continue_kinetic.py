"""A ball and its master, one step at a time. Run as a program: continues both from a serialized FMU state and the
master's own, and prints the steps as exact numbers, and what the FMU warns of."""

import json
import sys
from pathlib import Path

import numpy as np
from fmpy import read_model_description
from kinetic_cases import BALL_OFFSET, ball_side
from masters import FMU2NamedSlave
from smooth_sides import Node

STEP = 1e-3


class Loop:
    def __init__(self, slave, order, side=None, offset=BALL_OFFSET, also=()):
        self.slave, self.order, self.also = slave, order, also
        self.side, self.node = side or ball_side(), Node(slave, "node", [2], offset)
        self.node.give(self.side.position, self.side.velocity)
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        self.held, self.count = self.node.force(), 0

    def step(self):
        self.node.give(self.side.position, self.side.velocity)
        self.slave.doStep(self.count * STEP, STEP)
        new = self.node.force()
        self.side.step(new if self.order == "sequential" else self.held, STEP)
        self.held = new
        self.count += 1
        known = ("node.adapted_mass", "node.energy_excess", "node.response_error", "node_floor.impulse")
        seen = self.slave.real(*known, *self.also)
        numbers = [float(number).hex() for number in [*self.side.x, *new, *seen]]
        return numbers + self.slave.integer("node.latency", "node.shaping")

    def steps(self, count):
        return [self.step() for _ in range(count)]

    def own(self):
        """What the master keeps."""
        return self.side.x.copy(), self.held.copy(), self.count

    def take(self, x, held, count):
        self.side.x, self.held, self.count = np.array(x), np.array(held), count

    def close(self):
        self.slave.terminate()
        self.slave.freeInstance()


if __name__ == "__main__":
    folder, order, state_file, first, count, *numbers = sys.argv[1:]
    one = FMU2NamedSlave(read_model_description(folder), folder)
    one.instantiate()
    loop = Loop(one, order)
    state = one.deSerializeFMUstate(Path(state_file).read_bytes())
    one.setFMUstate(state)
    one.freeFMUstate(state)
    *x, held = map(float.fromhex, numbers)
    loop.take(x, [held], int(first))
    print(json.dumps([loop.steps(int(count)), one.warnings]))
    loop.close()
