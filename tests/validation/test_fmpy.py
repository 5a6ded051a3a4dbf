"""FMPy finds nothing to object to, and its runs are the ones of `contact-fmu simulate`."""

import numpy as np
import pytest
from conftest import ROOT, read_csv
from exact import ball_height
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu
from masters import slave


def test_validation_finds_nothing(fmus, model):
    assert validate_fmu(fmus.fmu(model)) == []


def test_description_is_valid_against_the_schema(fmus, model):
    import zipfile
    from pathlib import Path

    import fmpy
    from lxml import etree

    schema = etree.XMLSchema(file=str(Path(fmpy.__file__).parent / "schema/fmi2/fmi2ModelDescription.xsd"))
    with zipfile.ZipFile(fmus.fmu(model)) as archive:
        document = etree.fromstring(archive.read("modelDescription.xml"))
    schema.assertValid(document)


def test_same_numbers_as_simulate(fmus, model):
    ours = fmus.simulated(model)
    step = float(read_model_description(fmus.fmu(model)).defaultExperiment.stepSize)
    theirs = simulate_fmu(fmus.fmu(model), output_interval=step, step_size=step)
    assert set(theirs.dtype.names) == set(ours)
    assert len(theirs["time"]) == len(ours["time"])
    for name in theirs.dtype.names:
        np.testing.assert_allclose(theirs[name], ours[name], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("step", [1e-3, 1e-2, 3.7e-4])
def test_ball_is_exact_at_any_communication_step(fmus, step):
    with slave(fmus.fmu("bouncing_ball")) as ball:
        count = int(5.0 / step)
        heights = np.array(ball.steps(0, count, step, ["ball_floor.gap"]))[:, 0]
        times = step * np.arange(1, count + 1)
        before = times <= 3.4
        assert np.abs(heights - ball_height(times))[before].max() < 1e-9
        assert np.abs(heights[times >= 3.61]).max() < 1e-9


def test_captured_ball_is_the_one_of_siconos(fmus):
    fmu = fmus.variant(
        "bouncing_ball", "captured_ball", [("gravity =", "time_of_impact = false\ngravity =")]
    )
    reference = read_csv(ROOT / "models/bouncing_ball/reference.csv")
    with slave(fmu) as ball:
        rows = np.array(ball.steps(0, 5000, 1e-3, ["ball.r[3]", "ball.v[3]", "ball_floor.impulse"]))
    for column, name in enumerate(["q", "v", "p"]):
        assert np.abs(rows[:, column] - reference[name][1:]).max() < 1e-9


def test_start_values_and_parameters(fmus):
    start = {"ball.r[3]": 2.2, "ball_floor.restitution": 0.5, "gravity[3]": -8.0}
    result = simulate_fmu(
        fmus.fmu("bouncing_ball"), stop_time=1.0, step_size=1e-3, output_interval=1e-3, start_values=start
    )
    heights = ball_height(result["time"], height=2.0, g=8.0, restitution=0.5)
    assert np.abs(result["ball_floor.gap"] - heights).max() < 1e-9


def test_external_force(fmus):
    """A weight-cancelling force leaves the ball where it is; a side force accelerates it."""
    inputs = np.array(
        [(0.0, 10.0, 2.0), (1.0, 10.0, 2.0)],
        dtype=[("time", float), ("ball.f_ext[3]", float), ("ball.f_ext[1]", float)],
    )
    result = simulate_fmu(
        fmus.fmu("bouncing_ball"), stop_time=1.0, step_size=1e-3, output_interval=1e-3, input=inputs
    )
    assert np.abs(result["ball.r[3]"] - 1.001).max() < 1e-12
    assert np.abs(result["ball.r[1]"] - result["time"] ** 2).max() < 1e-12
