"""A master that repeats a step of both sides from saved states until their connections agree, as MasterSim does."""

import numpy as np
from smooth_sides import Node


class Repeating:
    """Unknowns are what the connections hold at the end of a step: position and velocity of the node, and its force, once
    for the side and once more for `f_applied` if that is connected. The first guess is what they held before."""

    # Changes relative to values, and absolute ones, that count as none.
    RELATIVE, ABSOLUTE = 1e-9, 1e-9

    def __init__(self, slave, side, name="ball", axis=2, applied=True):
        self.slave, self.side, self.time = slave, side, 0.0
        self.node = Node(slave, name, [axis])
        self.applied = [slave.references[f"{name}.f_applied[{axis + 1}]"]] if applied else []
        self.node.give(side.position, side.velocity)
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        self.held = self.connections(side.x, self.node.force())
        self.iterations = []

    def connections(self, x, force):
        return np.array([x[self.side.touching[0]], x[self.side.n + self.side.touching[0]], *force, *force][: 3 + len(self.applied)])

    def evaluate(self, saved, held, h, in_turn=False):
        """Outputs of both sides after a step with these inputs, and the state of the side; `in_turn` the FMU is given what the
        side has just come to."""
        x = self.side.trial(held[2:3], h)
        if in_turn:
            held = np.concatenate([self.connections(x, [])[:2], held[2:]])
        self.slave.setFMUstate(saved)
        self.node.give(held[:1], held[1:2])
        self.slave.setReal(self.applied, list(held[3:]))
        self.slave.doStep(self.time, h)
        return x, self.connections(x, self.node.force())

    def jacobian(self, saved, held, outputs, h):
        """Of `held - outputs(held)`, by differences."""
        columns = []
        for index in range(len(held)):
            other = held.copy()
            other[index] += 1e-6 * (1.0 + abs(held[index]))
            columns.append((self.evaluate(saved, other, h)[1] - outputs) / (other[index] - held[index]))
        return np.eye(len(held)) - np.array(columns).T

    def step(self, h, method, most=60):
        """One step; returns whether it converged within `most` iterations.

        "Gauss-Seidel" takes outputs over, one side after the other, "Newton" computes the Jacobian anew in each iteration, "chord" keeps the first
        one, as MasterSim does."""
        saved, held, jacobian = self.slave.getFMUstate(), self.held, None
        converged = False
        for count in range(1, most + 1):
            x, outputs = self.evaluate(saved, held, h, in_turn=method == "Gauss-Seidel")
            if method == "Gauss-Seidel":
                change = outputs - held
            else:
                if jacobian is None or method == "Newton":
                    jacobian = self.jacobian(saved, held, outputs, h)
                    x, outputs = self.evaluate(saved, held, h)
                change = np.linalg.solve(jacobian, outputs - held)
            converged = np.abs(change / (self.RELATIVE * np.abs(held) + self.ABSOLUTE)).max() < 1.0
            if converged:
                break
            held = held + change
        self.slave.freeFMUstate(saved)
        self.iterations.append(count)
        self.side.x, self.held = x, outputs
        return converged

    def run(self, steps, h, method):
        """States at all communication points, as far as steps converge."""
        states = [self.side.x.copy()]
        for k in range(steps):
            self.time = k * h
            if not self.step(h, method):
                break
            states.append(self.side.x.copy())
        return np.array(states)
