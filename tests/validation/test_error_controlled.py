"""A master that chooses its step by the error of a step against two of half its length, as PyFMI does: whose error it may
look at, and that no place of the steps helps where it may not."""

import exact
import numpy as np
import pytest
from conftest import ROOT
from coupled import models  # noqa: F401

G = 10.0
KINETIC = (ROOT / "models/coupled_ball/model.toml").read_text()
OWNED = KINETIC.replace('"kinetic"', '"owned"')
TOLERANCE, LONGEST, SHORTEST = 1e-4, 1e-3, 1e-10


class Controlled:
    """Both sides step at once and exchange afterwards. `measured` says what the error is that of: position, velocity, force
    of the ball."""

    def __init__(self, slave, measured):
        self.slave, self.measured = slave, measured
        self.is_owned = "ball.latency" not in slave.references
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        self.values = {"r": 1.001, "v": 0.0, "f": self.read("f")}

    def read(self, letter):
        return self.slave.real(f"ball.{letter}[3]")[0]

    def step(self, values, time, h):
        """Values at the end of a step."""
        if self.is_owned:
            self.slave.doStep(time, h)
            return {letter: self.read(letter) for letter in "rvf"}
        self.slave.set_named({f"ball.{letter}[3]": values[letter] for letter in "rv"})
        self.slave.doStep(time, h)
        a = values["f"] - G
        return {"r": values["r"] + h * values["v"] + 0.5 * h * h * a, "v": values["v"] + h * a, "f": self.read("f")}

    def run(self, stop):
        """Until `stop`, or until steps are too short: that time, the shortest step, how many were rejected, and heights."""
        time, h, shortest, rejected, path = 0.0, LONGEST, LONGEST, 0, []
        while time < stop - 1e-9 and shortest > SHORTEST:
            h = min(h, stop - time)
            saved = self.slave.getFMUstate()
            whole = self.step(self.values, time, h)
            self.slave.setFMUstate(saved)
            half = self.step(self.values, time, h / 2)
            half = self.step(half, time + h / 2, h / 2)
            error = max(abs(whole[x] - half[x]) / (TOLERANCE * (1.0 + abs(half[x]))) for x in self.measured)
            if error <= 1.0:
                time, self.values = time + h, half
                path.append((time, half["r"]))
            else:
                self.slave.setFMUstate(saved)
                rejected += 1
            self.slave.freeFMUstate(saved)
            h = min(LONGEST, h * np.clip(0.9 / np.sqrt(max(error, 1e-10)), 0.2, 2.0))
            shortest = min(shortest, h)
        return time, shortest, rejected, np.array(path)


@pytest.mark.parametrize(
    "text, measured, most", [(KINETIC, "r", 20), (OWNED, "r", 0), (OWNED, "rv", 0)], ids=["kinetic r", "owned r", "owned r v"]
)
def test_what_moves_without_jumps_may_be_measured(models, text, measured, most):  # noqa: F811
    with models.instance(text) as slave:
        time, shortest, rejected, path = Controlled(slave, measured).run(2.0)
    times, heights = path.T
    assert abs(time - 2.0) < 1e-9 and rejected <= most and (rejected > 0) == (most > 0) and shortest > 1e-5
    flies = ~np.any([(hit <= times) & (times < hit + 3e-3) for hit in exact.ball_impacts(3)[0]], axis=0)
    assert np.abs(heights - 0.2 - exact.ball_height(times))[flies].max() < (1e-9 if text is OWNED else 1e-3)


@pytest.mark.parametrize("text, measured", [(KINETIC, "rv"), (KINETIC, "rvf"), (OWNED, "rvf")])
def test_steps_shrink_to_nothing_where_jumps_are_measured(models, text, measured):  # noqa: F811
    """The force is an impulse over the length of its step, so that half the step has twice the force."""
    with models.instance(text) as slave:
        time, shortest, _, _ = Controlled(slave, measured).run(2.0)
    assert shortest <= SHORTEST and abs(time - exact.ball_impacts(1)[0][0]) < 1e-3


@pytest.mark.parametrize("before", [0.0, 1e-9, 1e-6])
def test_no_start_of_the_step_helps(models, before):  # noqa: F811
    """Not even one right at the impact, to which fmi2Discard with the time of the impact would lead a master."""
    impact = exact.ball_impacts(1)[0][0] - before
    forces = []
    for h in (1e-4, 5e-5, 2.5e-5):
        with models.instance(OWNED) as slave:
            Controlled(slave, "r")
            slave.doStep(0.0, impact)
            slave.doStep(impact, h)
            forces.append(slave.real("ball.f[3]")[0])
    ratio = np.array(forces[1:]) / np.array(forces[:-1])
    assert np.abs(ratio - 2.0).max() < 1e-3
