"""Masters that make a step more than once: what they get from nodes with and without `iterative`, and what they are told."""

import numpy as np
import pytest
from conftest import ROOT
from coupled import models  # noqa: F401
from repeating import Repeating
from smooth_sides import Linear
from test_iterative import Contact, moreau_jean

H, G = 1e-3, 10.0
KINETIC = (ROOT / "models/coupled_ball/model.toml").read_text()
ITERATIVE = KINETIC.replace('coupling = "kinetic" ', "iterative = true ")
AGAIN = "the master makes steps again with another position of the body"


def ball(rule="exact"):
    return Linear([1.0], [[0.0]], [-G], [1.001], [0.0], [0], rule=rule)


class EulerBall:
    """A ball whose position moves by the velocity at the start of a step: explicit Euler."""

    n, touching = 1, [0]

    def __init__(self):
        self.x = np.array([1.001, 0.0])

    position = property(lambda self: self.x[:1])
    velocity = property(lambda self: self.x[1:])

    def trial(self, force, h):
        return np.array([self.x[0] + h * self.x[1], self.x[1] + h * (force[0] - G)])


@pytest.mark.parametrize("method", ["Gauss-Seidel", "Newton", "chord"])
@pytest.mark.parametrize("mass", [1.0, 1.5])
def test_iterative_ball_is_that_of_the_whole_system(models, method, mass):  # noqa: F811
    """Whatever the iteration, as long as the mass is about right; bounces until there are none, then rest."""
    with models.instance(ITERATIVE, ball__mass=mass) as slave:
        master = Repeating(slave, ball())
        states = master.run(4000, H, method)
        assert slave.warnings == []
    contact = Contact([1.0], [], offset=-0.2, restitution=0.8)
    whole = moreau_jean([1.0], np.zeros((1, 1)), lambda _: np.array([-G]), [1.001], [0.0], [contact], H, 4000)
    assert len(states) == 4001, f"no agreement at {master.time}"
    assert np.abs(states[:, 0] - whole[:, 0]).max() < 1e-7
    assert max(master.iterations) <= (5 if mass == 1.0 or method == "Newton" else 60)


@pytest.mark.parametrize("method", ["Gauss-Seidel", "Newton", "chord"])
@pytest.mark.parametrize("mass", [0.3, 0.5, 0.7, 1.5, 2.0, 3.0])
def test_mass_is_learnt_at_the_first_impact(models, method, mass):  # noqa: F811
    """Taking outputs over multiplies errors by 1 - m_model / m, in the step of the first impact; from then on, and in that
    step where it would not converge, the mass that shows is taken."""
    with models.instance(ITERATIVE, ball__mass=mass) as slave:
        slave.setDebugLogging(True, ["logCoupling"])
        master = Repeating(slave, EulerBall())
        states = master.run(1000, H, method)
        warnings, told = list(slave.warnings), [line for line in slave.told if "responds like" in line]
    assert len(states) == 1001, f"no agreement at {master.time}"
    slow = method == "Gauss-Seidel" and mass < 1.0
    assert max(master.iterations) <= (np.log(1e-9) / np.log(1.0 - mass) + 3 if slow else 15) and warnings == []
    assert max(master.iterations[402:]) <= 5, "as with the right mass, once it is known"
    assert len(told) == 1 and f"responds like 1.0000 kg, the model says {mass:g} kg: set ball.mass" in told[0]
    with models.instance(ITERATIVE) as slave:
        right = Repeating(slave, EulerBall()).run(1000, H, "Newton")
    assert np.abs(states - right).max() < 1e-7


def test_a_step_that_is_made_a_hundred_times_is_told(models):  # noqa: F811
    """Three times the true mass, and contact from the start, so that no impact shows it: taking outputs over, the force is
    30 N and 0 in turn."""
    with models.instance(ITERATIVE, ball__mass=3.0) as slave:
        master = Repeating(slave, Linear([1.0], [[0.0]], [-G], [0.2], [0.0], [0]))
        assert not master.step(H, "Gauss-Seidel", most=150)
        told = [line for line in slave.warnings if "the master has made this step 100 times" in line]
    assert len(told) == 1 and "set its mass to the one that a force at the body has to move" in told[0]


def test_a_force_that_is_not_told_is_missed(models):  # noqa: F811
    """Without `f_applied` half of the impulse comes out, and no iteration can know."""
    with models.instance(ITERATIVE) as slave:
        states = Repeating(slave, ball(), applied=False).run(420, H, "chord")
        warnings = list(slave.warnings)
    falls = -401 * H * G
    whole = 0.8 * 400 * H * G - falls
    assert abs(states[401][1] - (falls + whole / 2)) < 1e-6
    assert len(warnings) == 1
    assert "ball.f has not been zero for 3 steps, and ball.f_applied has: connect it" in warnings[0]


@pytest.mark.parametrize("method, first, last", [("chord", 0, 3), ("Newton", 0, 3), ("Gauss-Seidel", 390, 400)])
def test_plain_node_under_a_master_that_iterates(models, method, first, last):  # noqa: F811
    """Told in the first steps, long before the first impact; where trials differ only with contact, in the step of the
    impact. Once."""
    with models.instance(KINETIC) as slave:
        master = Repeating(slave, ball(), applied=False)
        at = None
        for k in range(500):
            master.time = k * H
            master.step(H, method)
            told = [line for line in slave.warnings if AGAIN in line]
            at = k if at is None and told else at
    assert len(told) == 1 and first <= at <= last
    assert "set iterative = true in the model and connect ball.f_applied, or let" in told[0]


def test_steps_that_are_tried_from_the_same_state_are_no_iteration(models):  # noqa: F811
    """As masters do that look for a step size, or for the time of an event of another FMU, or evaluate an event again."""
    with models.instance(KINETIC) as slave:
        master = Repeating(slave, ball(), applied=False)
        state, names = [1.001, 0.0], ["ball.r[3]", "ball.v[3]"]
        for k in range(300):
            saved = slave.getFMUstate()
            for length in (H, H / 2, H / 4, H, H):
                slave.setFMUstate(saved)
                slave.set_named(dict(zip(names, state)))
                slave.doStep(k * H, length)
            slave.freeFMUstate(saved)
            (force,) = master.node.force()
            state = [state[0] + H * state[1] + H * H / 2 * (force - G), state[1] + H * (force - G)]
        assert slave.warnings == []


def test_another_start_is_answered_for_that_start(models):  # noqa: F811
    """Why a plain node does not turn iterative by itself: the very calls of an iterating master, a step made again from a
    saved state with the state at its end, also ask for the force of another start."""
    start, end = [0.201, -3.0], [0.1985, -2.5]
    with models.instance(KINETIC) as slave:
        master = Repeating(slave, Linear([1.0], [[0.0]], [-G], start[:1], start[1:], [0]), applied=False)
        saved, forces = slave.getFMUstate(), []
        for position, velocity in [start, end, end, start]:
            slave.setFMUstate(saved)
            master.node.give([position], [velocity])
            slave.doStep(0.0, H)
            forces.append(master.node.force()[0])
        slave.freeFMUstate(saved)
    fresh = []
    for position, velocity in (start, end):
        with models.instance(KINETIC) as slave:
            master = Repeating(slave, Linear([1.0], [[0.0]], [-G], start[:1], start[1:], [0]), applied=False)
            master.node.give([position], [velocity])
            slave.doStep(0.0, H)
            fresh.append(master.node.force()[0])
    assert fresh[0] != fresh[1] and forces == [fresh[0], fresh[1], fresh[1], fresh[0]]
