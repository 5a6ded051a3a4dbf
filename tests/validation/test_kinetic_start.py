"""Nodes that start in contact, and inside a surface."""

import subprocess

import numpy as np
import pytest
from conftest import BUILDER
from kinetic_cases import MODEL, ORDERS, Options, on_plane, slave_of
from smooth_sides import Node

both_orders = pytest.mark.parametrize("order", ORDERS)
both_latencies = pytest.mark.parametrize("auto", [False, True], ids=["given", "auto"])
both_schemes = pytest.mark.parametrize("split", [True, False], ids=["time of impact", "captured"])


def engine(split, more=""):
    """Splitting steps at impacts, or capturing them; penetration is corrected in any case."""
    return f"step = 1e-3\ntime_of_impact = {str(split).lower()}\ncorrection = true\n{more}"


@both_orders
@both_latencies
@both_schemes
@pytest.mark.parametrize("angle", [0.0, 0.2], ids=["flat", "tilted"])
def test_rest_from_the_start(fmus, order, auto, split, angle):
    """The force is there from the first step on, so that nothing sinks or slides."""
    g = 9.81
    options = Options(order, 1e-3, auto, engine=engine(split))
    result = on_plane(fmus, options, angle, g, 0.8, 0.3, (0.0, 0.0), 0.3)
    weight = np.array([-g * np.sin(angle), g * np.cos(angle)])
    assert np.abs(result.forces[0] - weight).max() < 1e-12
    assert np.abs(result.states).max() < 1e-12
    assert np.abs(result.forces - weight).max() < 1e-8
    assert result.warnings == []


@both_latencies
def test_force_is_there_in_initialization_mode(fmus, auto):
    """For the position that the master gives, not the one of the model."""
    latency = "" if auto else "latency = 1"
    slave = slave_of(fmus, position=(0, 0, 1.0), node=latency)
    node = Node(slave, "node", [2])
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    assert node.force() == 0.0
    node.give([0.0], [0.0])
    assert abs(node.force()[0] - 10.0) < 1e-12
    slave.exitInitializationMode()
    assert abs(node.force()[0] - 10.0) < 1e-12
    slave.terminate()
    slave.freeInstance()


@pytest.mark.parametrize("coupling", ["kinetic", "owned"])
def test_start_inside_a_surface_is_refused(tmp_path, coupling):
    text = MODEL.format(
        step=1e-3,
        mass=1.0,
        gravity=[0.0, 0.0, -10.0],
        position=[0.0, 0.0, -1e-3],
        velocity=[0.0] * 3,
        normal=[0.0, 0.0, 1.0],
        restitution=0.8,
        engine="",
        node=f'coupling = "{coupling}"',
        contact="",
    )
    source = tmp_path / "inside.toml"
    source.write_text(text)
    done = subprocess.run([BUILDER, "check", source], capture_output=True, text=True)
    assert done.returncode == 1
    assert "`node` starts 0.001 m inside `floor`" in done.stderr
    assert "allow_initial_penetration = true" in done.stderr


@pytest.mark.parametrize("depth", [1e-3, 1e-8])
def test_motion_given_inside_a_surface_is_refused(fmus, depth):
    slave = slave_of(fmus, position=(0, 0, 1.0))
    node = Node(slave, "node", [2])
    node.give([-depth], [0.0])
    slave.setupExperiment(startTime=0.0)
    with pytest.raises(Exception):
        slave.enterInitializationMode()
        slave.exitInitializationMode()
    (message,) = slave.warnings
    assert "node_floor.gap" in message and "inside a surface" in message and "allow_initial_penetration" in message
    slave.freeInstance()


@both_orders
@both_latencies
@both_schemes
@pytest.mark.parametrize("restitution", [0.0, 0.8])
@pytest.mark.parametrize("depth", [1e-3, 1e-6])
def test_kinetic_node_comes_out_without_energy(fmus, order, auto, split, restitution, depth):
    options = Options(order, 1e-3, auto, engine=engine(split, "allow_initial_penetration = true"))
    result = on_plane(fmus, options, 0.0, 10.0, restitution, 0.3, (0.0, -depth), 0.5)
    height, speed = result.states[:, 1], np.abs(result.states[:, 3])
    assert result.warnings == []
    # Where the latency is not known yet, a displacement that is small against gravity may come twice.
    slop, settled = (10.0 * 1e-6 / 2, 60) if auto and order == "parallel" else (1e-9, 6)
    if not split and restitution > 0 and slop > 1e-9:
        # Captured impacts that rebound and are corrected never come to rest, whoever moves the body.
        assert np.abs(height[4:]).max() < 10.0 * 1e-6
        assert speed[settled:].max() < 2.5 * 10.0 * 1e-3
        return
    assert height[4:].min() > -slop
    assert height.max() < slop
    assert height[settled:].min() > -1e-9 and height[settled:].max() < 1e-9
    assert speed[settled:].max() < 1e-9


@both_schemes
@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_owned_node_comes_out_without_energy(fmus, split, restitution):
    slave = slave_of(
        fmus,
        position=(0, 0, -1e-3),
        restitution=restitution,
        node='coupling = "owned"',
        engine=engine(split, "allow_initial_penetration = true"),
    )
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    rows = np.array(slave.steps(0, 500, 1e-3, ["node.r[3]", "node.v[3]"]))
    assert rows[3:, 0].min() > -1e-9
    assert rows[:, 0].max() < 1e-9
    assert np.abs(rows[3:, 1]).max() < 1e-9
    slave.terminate()
    slave.freeInstance()
