"""libcosim's fixed-step algorithm as the master: a ball that another FMU moves bounces on the floor of this one."""

import exact
import numpy as np
import pytest
from conftest import contact_fmu
from fmpy import read_model_description
from kinetic_cases import MODEL, Result, impacts
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave
from masters import references
from smooth_sides import Linear

STEP = 1e-3
FALLING = """
[model]
name = "falling"
[experiment]
step = 1e-3
[engine]
gravity = [0.0, 0.0, -10.0]
[[node]]
name = "ball"
coupling = "owned"
mass = 1.0
position = [0.0, 0.0, 0.801]
"""


def build(folder, name, text):
    source = folder / f"{name}.toml"
    source.write_text(text)
    contact_fmu("build", source, "-o", source.with_suffix(".fmu"))
    return str(source.with_suffix(".fmu"))


@pytest.fixture(scope="module")
def moving(tmp_path_factory):
    return build(tmp_path_factory.mktemp("falling"), "falling", FALLING)


@pytest.mark.parametrize("latency", ["", "latency = 1"], ids=["auto", "given"])
def test_ball_bounces(moving, tmp_path, latency):
    text = MODEL.format(
        step=STEP,
        mass=1.0,
        gravity=[0.0, 0.0, -10.0],
        position=[0.0, 0.0, 0.801],
        velocity=[0.0] * 3,
        normal=[0.0, 0.0, 1.0],
        restitution=0.8,
        engine="",
        node=latency,
        contact="",
    )
    touching = build(tmp_path, "touching", text)
    known = [references(read_model_description(fmu)) for fmu in (moving, touching)]
    execution = CosimExecution.from_step_size(step_size=int(STEP * 1e9))
    ball, node = (
        execution.add_local_slave(CosimLocalSlave(fmu_path=fmu, instance_name=name))
        for fmu, name in ((moving, "ball"), (touching, "node"))
    )
    for axis in (1, 2, 3):
        for letter in "rv":
            source, target = known[0][f"ball.{letter}[{axis}]"], known[1][f"node.{letter}[{axis}]"]
            assert execution.connect_real_variables(ball, source, node, target) == 0
        source, target = known[1][f"node.f[{axis}]"], known[0][f"ball.f_ext[{axis}]"]
        assert execution.connect_real_variables(node, source, ball, target) == 0
    steps = round(5.5 / STEP)
    observer = CosimObserver.create_time_series(buffer_size=steps + 1)
    assert execution.add_observer(observer)
    series = [known[0]["ball.r[3]"], known[0]["ball.v[3]"]]
    for reference in series:
        assert observer.start_time_series(ball, reference, CosimVariableType.REAL)
    last = CosimObserver.create_last_value()
    assert execution.add_observer(last)
    assert execution.simulate_until(target_time=int(steps * STEP * 1e9))
    samples = [
        observer.time_series_real_samples(ball, reference, from_step=1, sample_count=steps)[2] for reference in series
    ]
    states = np.array(samples).T
    side = Linear([1.0], [[0.0]], [-10.0], [0.801], [0.0], [0])
    times = STEP * np.arange(1, steps + 1)
    result = Result(side, times, states, None, [], 1, 1, 1.0, 0.0)
    assert last.last_integer_values(node, [known[1]["node.latency"]])[0] == 1
    expected, _ = exact.ball_impacts(4)
    found = impacts(result)[:4]
    assert np.abs(found[:, 2] / found[:, 1] - 0.8).max() < 1e-8
    assert np.abs(found[:, 0] - expected).max() < 1e-8
    rests = times > 4.5
    assert np.abs(states[rests]).max() < 1e-11
