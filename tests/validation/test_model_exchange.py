"""The same FMU in model exchange and in co-simulation, and in a master that integrates the smooth side with CVODE."""

from dataclasses import replace
from itertools import repeat

import exact
import numpy as np
import pytest
from conftest import MODELS, contact_fmu, read_csv
from cvode_side import Integrated
from fmpy import read_model_description, simulate_fmu
from kinetic_cases import Options, ball, ball_side, impacts, on_plane, oscillator
from mechanisms import EFFECTIVE, DoublePendulum, Table, couple, exact_pendulum, pendulum_errors

G, STEP = 10.0, 1e-3
EVENTS = 100
# Nobody moves the other one here.
OWNED = [name for name in MODELS if name != "coupled_ball"]
# Forces of wheels and feet that hold one another are not unique.
TOLERANCE = {"heightfield_rover": 1e-5, "hexapod": 1e-7, "jansen_walker": 1e-4}


@pytest.mark.parametrize("name", OWNED)
def test_fmpy_runs_it_with_the_same_outputs(fmus, name, tmp_path):
    """At each event, outputs are those of co-simulation at that time."""
    description = read_model_description(fmus.fmu(name))
    assert description.modelExchange is not None and description.coSimulation is not None
    step = float(description.defaultExperiment.stepSize)
    result = simulate_fmu(
        fmus.fmu(name),
        fmi_type="ModelExchange",
        solver="CVode",
        stop_time=EVENTS * step,
        output_interval=step,
        record_events=False,
    )
    contact_fmu("simulate", fmus.fmu(name), "--stop", EVENTS * step, "-o", tmp_path / "steps.csv")
    ours = read_csv(tmp_path / "steps.csv")
    assert len(result) == EVENTS + 1
    assert set(result.dtype.names) == set(ours)
    # How many iterations there are is a matter of rounding.
    tolerance = TOLERANCE.get(name, 1e-9)
    for output in set(ours) - {"engine.iterations"}:
        np.testing.assert_allclose(result[output], ours[output], rtol=tolerance, atol=tolerance, err_msg=output)


def test_owned_ball_over_its_whole_run(fmus):
    result = simulate_fmu(
        fmus.fmu("bouncing_ball"),
        fmi_type="ModelExchange",
        solver="CVode",
        stop_time=5.0,
        output=["ball_floor.gap"],
        output_interval=STEP,
        record_events=False,
    )
    times, gaps = result["time"], result["ball_floor.gap"]
    before = times <= 3.4
    assert np.abs(gaps - exact.ball_height(times))[before].max() < 1e-9
    assert np.abs(gaps[times >= 3.61]).max() < 1e-9


def test_input_signals_are_sampled_at_events(fmus):
    """A force that FMPy interpolates between its samples: constant within windows for the FMU."""
    times = np.linspace(0.0, 0.5, 6)
    signal = np.array([(t, 10.0, 4.0 * t) for t in times], dtype=[("time", float), ("ball.f_ext[3]", float), ("ball.f_ext[1]", float)])
    options = dict(stop_time=0.5, output_interval=STEP, input=signal, output=["ball.r[1]", "ball.r[3]"])
    result = simulate_fmu(fmus.fmu("bouncing_ball"), fmi_type="ModelExchange", record_events=False, **options)
    held = 4.0 * STEP * np.arange(500)
    speed = np.concatenate([[0.0], np.cumsum(held * STEP)])
    place = np.concatenate([[0.0], np.cumsum(STEP * (speed[:-1] + speed[1:]) / 2)])
    assert np.abs(result["ball.r[1]"] - place).max() < 1e-12
    assert np.abs(result["ball.r[3]"] - 1.001).max() < 1e-12


CASES = {
    "ball": lambda fmus, options: ball(fmus, options, stop=2.0),
    "ball of half the mass": lambda fmus, options: ball(fmus, replace(options, mass=0.5), stop=1.0),
    "oscillator": lambda fmus, options: oscillator(fmus, options, 1e4, stop=1.0),
    "tilted plane": lambda fmus, options: on_plane(
        fmus, options, 0.05, 9.81, 0.8, 0.02, (0.0, np.cos(0.05) - 0.1), 2.0
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_smooth_side_moves_as_in_co_simulation(fmus, case):
    """The smooth side is moved exactly between events, as in steps of the sequential order."""
    events, steps = (CASES[case](fmus, Options(order)) for order in ("events", "sequential"))
    assert events.latency == steps.latency == 0
    assert np.abs(events.times - steps.times).max() < 1e-12
    assert np.abs(events.states - steps.states).max() < 1e-9
    assert np.abs(events.forces - steps.forces).max() < 1e-6
    assert events.warnings == []


@pytest.mark.parametrize("case", ["ball", "tilted plane"])
def test_latency_is_not_found_out_but_known(fmus, case):
    """No probe is sent: the forces before the first impact are zero. In steps it is sent for the latency alone, where the
    node is said to be a free mass."""
    events = CASES[case](fmus, Options("events", auto=True))
    steps = CASES[case](fmus, Options("sequential", auto=True, node="mechanism = false"))
    assert events.detected == 0.0 < steps.detected
    assert np.abs(events.forces[:300]).max() == 0.0 < np.abs(steps.forces[:300]).max()
    probed = events.times < 0.02
    assert np.abs(events.states - steps.states)[probed].max() < 2e-8
    assert np.abs(events.states - steps.states)[~probed].max() < 1e-9


def cvode_ball(fmus, mass, stop, tolerance=1e-12):
    """A ball of 1 kg that CVODE moves between events, and a model that says `mass`."""
    return ball(fmus, Options("events", auto=True, mass=mass), stop=stop, side=Integrated(ball_side(), tolerance))


@pytest.mark.parametrize("tolerance, least, most", [(1e-5, 5e-3, 5e-2), (1e-8, 2e-5, 2e-3), (1e-10, 0.0, 1e-5)])
def test_tolerance_of_the_integrator(fmus, tolerance, least, most):
    """What it leaves grows from impact to impact; the description asks for one that is good enough."""
    hits = exact.ball_impacts(8)[0]
    result = cvode_ball(fmus, 1.0, np.floor(1e3 * hits[7]) * STEP, tolerance)
    away = ~np.any([(hit <= result.times) & (result.times < hit + 3e-3) for hit in hits], axis=0)
    error = np.abs(result.position - exact.ball_height(result.times))[away].max()
    print("tolerance", tolerance, "error", error)
    assert least <= error <= most
    experiment = read_model_description(fmus.fmu("coupled_ball")).defaultExperiment
    assert float(experiment.tolerance) == 1e-10


def test_ball_that_cvode_moves(fmus):
    result = cvode_ball(fmus, 1.0, 4.0)
    times, _ = exact.ball_impacts(4)
    found = impacts(result)
    late = np.abs(found[:3, 0] - times[:3]).max()
    restitution = np.abs(found[:4, 2] / found[:4, 1] - 0.8).max()
    resting = result.times > 3.8
    rest, deepest = np.abs(result.position[resting]).max(), -result.position.min()
    print("impact times", late, "restitution", restitution, "rest", rest, "penetration", deepest)
    assert late < 1e-8
    assert restitution < 1e-6
    assert deepest <= G * STEP**2 / 2
    assert rest <= G * STEP**2 / 2
    assert result.warnings == []


@pytest.mark.parametrize("mass", [0.5, 2.0])
def test_ball_of_wrong_mass_that_cvode_moves(fmus, mass):
    result = cvode_ball(fmus, mass, 2.1)
    found = impacts(result)
    restitution = np.abs(found[1:4, 2] / found[1:4, 1] - 0.8).max()
    print("restitution", restitution, "mass", result.mass)
    assert restitution < 1e-3
    assert abs(result.mass - 1.0) < 1e-6


@pytest.mark.parametrize("factor", [0.5, 5.0])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_tip_of_a_pendulum(fmus, mu, factor):
    """A point of a mechanism that the master integrates between events."""
    result = couple(fmus, DoublePendulum(), [factor * EFFECTIVE], 0.5, mu, "events", repeat(STEP), 1.9)
    times, states, energies, _, warnings = result
    errors = pendulum_errors(times, states, 0.5, mu)
    print("errors", errors)
    assert max(errors) < 1e-2
    impacts = exact_pendulum(0.5, mu)[2]
    after = (times > impacts[0][0] + 5 * STEP) & (times < impacts[1][0] - 5 * STEP)
    span = energies[0] - DoublePendulum().energy(np.zeros(4))
    assert np.abs(energies[after] - impacts[0][1]).max() < 5e-3 * span
    assert energies.max() - energies[0] < 1e-6 * span
    assert warnings == []


@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_table_on_four_feet(fmus, speed):
    """Four points of one body, against the same body in the FMU."""
    table = Table(height=0.45, velocity=(speed, 0.0, 0.0))
    owned = table.owned(fmus, 0.0, 0.5, STEP, 0.6)
    _, states, energies, forces, warnings = couple(fmus, table, [2.5] * 4, 0.0, 0.5, "events", repeat(STEP), 0.6)
    print("error", np.abs(states[:, :3] - owned).max())
    assert np.abs(states[:, :3] - owned).max() < 1e-3
    assert np.abs(forces[-100:].sum(axis=1).mean(axis=0) - [0.0, 0.0, 98.1]).max() < 0.1
    assert energies.max() < energies[0] * (1 + 1e-9)
    assert warnings == []
