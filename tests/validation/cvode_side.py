"""A smooth side that CVODE integrates, as Modelica tools do: variable steps and order, anew after each event."""

import numpy as np
from fmpy.sundials import CVodeSolver


class Integrated:
    """The same linear system, x' = a x + b (f, 1), moved by CVODE."""

    def __init__(self, side, tolerance):
        self.side, self.n, self.touching = side, side.n, side.touching
        self.x, self.time, self.held = side.x.copy(), 0.0, np.zeros(len(side.touching) + 1)
        self.solver = CVodeSolver(
            nx=len(self.x),
            nz=0,
            get_x=self.get_x,
            set_x=self.set_x,
            get_dx=self.get_dx,
            get_z=lambda values, count: None,
            get_nominals=self.get_nominals,
            set_time=lambda time: None,
            input=None,
            startTime=0.0,
            relativeTolerance=tolerance,
            maxNumSteps=10_000,
        )

    position = property(lambda self: self.x[self.touching])
    velocity = property(lambda self: self.x[[self.n + row for row in self.touching]])

    def get_x(self, values, count):
        write(values, self.x)

    def set_x(self, values, count):
        self.x = np.array(values[:count])

    def get_dx(self, values, count):
        write(values, self.side.a @ self.x + self.side.b @ self.held)

    def get_nominals(self, values, count):
        write(values, np.ones(count))

    def step(self, force, h):
        self.held = np.append(force, 1.0)
        self.solver.reset(self.time)
        self.solver.step(self.time, self.time + h)
        self.time += h


def write(values, numbers):
    """To memory of CVODE."""
    for index, number in enumerate(numbers):
        values[index] = number
