"""libcosim runs the FMUs and gets the numbers of `contact-fmu simulate`."""

import re
import subprocess
import sys

import numpy as np
from conftest import MODELS
from fmpy import read_model_description
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave
from masters import references, slave


# Steps that are differences of rounded times differ in their last digits. Stiff springs make more of that, and where
# impacts or the ends of sliding follow one another it grows: until then, in s. Forces of wheels and feet that hold one
# another are not unique.
SENSITIVE = {
    "oscillator": 0.8,
    "chain": 0.8,
    "reduced_dae": 0.8,
    "friction_pendulum": 0.8,
    "slider_crank": 0.01,
    "box_drop": 60.0,
    "box_stack": 60.0,
    "domino_row": 0.3,
    "ball_pit": 0.2,
    "heightfield_rover": 0.008,
    "hexapod": 60.0,
    "jansen_walker": 0.01,
}


def test_same_numbers_as_simulate(fmus, model):
    fmu = fmus.fmu(model)
    ours = fmus.simulated(model)
    description = read_model_description(fmu)
    outputs = [
        variable
        for variable in description.modelVariables
        if variable.causality == "output" and variable.type == "Real"
    ]
    until, tolerance = (SENSITIVE[model], 1e-7) if model in SENSITIVE else (np.inf, 1e-9)
    steps = np.count_nonzero(ours["time"] < until) - 1
    nanoseconds = round(float(description.defaultExperiment.stepSize) * 1e9)
    execution = CosimExecution.from_step_size(step_size=nanoseconds)
    index = execution.add_local_slave(CosimLocalSlave(fmu_path=fmu, instance_name=model))
    observer = CosimObserver.create_time_series(buffer_size=steps + 1)
    assert execution.add_observer(observer)
    for variable in outputs:
        assert observer.start_time_series(index, variable.valueReference, CosimVariableType.REAL)
    assert execution.simulate_until(target_time=steps * nanoseconds)
    for variable in outputs:
        times, numbers, samples = observer.time_series_real_samples(
            index, variable.valueReference, from_step=1, sample_count=steps
        )
        assert len(samples) == steps
        np.testing.assert_allclose(
            samples, ours[variable.name][1 : steps + 1], rtol=tolerance, atol=tolerance, err_msg=variable.name
        )


def test_two_slaves_of_one_fmu_do_not_disturb_each_other(fmus):
    fmu = fmus.fmu("bouncing_ball")
    ours = fmus.simulated("bouncing_ball")["ball.r[3]"]
    reference = references(read_model_description(fmu))["ball.r[3]"]
    execution = CosimExecution.from_step_size(step_size=int(1e6))
    slaves = [
        execution.add_local_slave(CosimLocalSlave(fmu_path=fmu, instance_name=name)) for name in ("one", "two")
    ]
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    for k in range(1, 1001):
        execution.step()
        for index in slaves:
            assert abs(observer.last_real_values(index, [reference])[0] - ours[k]) < 1e-12
        one, two = (observer.last_real_values(index, [reference])[0] for index in slaves)
        assert one == two


def test_the_position_of_one_slave_drives_the_force_on_another(fmus):
    fmu = fmus.fmu("tilted_plane_friction")
    reference = references(read_model_description(fmu))
    execution = CosimExecution.from_step_size(step_size=int(1e6))
    source, target = (
        execution.add_local_slave(CosimLocalSlave(fmu_path=fmu, instance_name=name)) for name in ("one", "two")
    )
    assert execution.connect_real_variables(source, reference["ball.r[3]"], target, reference["ball.f_ext[1]"]) == 0
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    assert execution.simulate_until(target_time=int(1e9))

    with slave(fmu, "one") as one, slave(fmu, "two") as two:
        for k in range(1000):
            two.set_named({"ball.f_ext[1]": one.real("ball.r[3]")[0]})
            for each in (one, two):
                each.doStep(k * 1e-3, 1e-3)
        expected = two.real("ball.r[1]", "ball.v[1]")
    found = observer.last_real_values(target, [reference["ball.r[1]"], reference["ball.v[1]"]])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


LOAD = """
import sys
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimSlave import CosimLocalSlave

for fmu in sys.argv[1:]:
    execution = CosimExecution.from_step_size(step_size=int(1e6))
    execution.add_local_slave(CosimLocalSlave(fmu_path=fmu, instance_name="one"))
    assert execution.simulate_until(target_time=int(1e6))
"""


def test_nothing_is_logged_as_an_error_or_a_warning(fmus):
    """libcosim writes all that it logs, from the moment at which it is loaded."""
    command = [sys.executable, "-c", LOAD, *map(fmus.fmu, ["bouncing_ball", "coupled_ball", "hexapod"])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert done.stdout.count("Parsing finished successfully") == 6, "the log is read"
    assert not re.findall(r".*\[(?:warning|error|fatal)\].*", done.stdout)


def test_every_model_is_covered():
    assert len(MODELS) >= 5
