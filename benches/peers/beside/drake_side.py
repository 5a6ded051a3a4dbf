"""The cases in Drake: discrete steps, point contact of the ball, hydroelastic contact of the boxes."""

import time
from importlib.metadata import version

import numpy as np
from cases import serve
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    HalfSpace,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

VERSION = f"Drake {version('drake')}"


class World:
    """Bodies over the half space z < 0."""

    def __init__(self, step, gravity, mu, approximation="lagged", stiffness=None, dissipation=None, modulus=None):
        config = MultibodyPlantConfig(
            time_step=step,
            contact_model="hydroelastic_with_fallback" if modulus else "point",
            discrete_contact_approximation=approximation,
        )
        self.builder = DiagramBuilder()
        self.plant, self.scene = AddMultibodyPlant(config, self.builder)
        self.plant.mutable_gravity_field().set_gravity_vector(gravity)
        self.step, self.mu, self.stiffness, self.dissipation, self.modulus = step, mu, stiffness, dissipation, modulus
        self.bodies = []
        self.plant.RegisterCollisionGeometry(
            self.plant.world_body(), HalfSpace.MakePose([0, 0, 1], [0, 0, 0]), HalfSpace(), "floor", self.properties(rigid=True)
        )

    def properties(self, rigid=False):
        properties = ProximityProperties()
        AddContactMaterial(self.dissipation, self.stiffness, CoulombFriction(self.mu, self.mu), properties)
        if self.modulus and rigid:
            AddRigidHydroelasticProperties(1.0, properties)
        elif self.modulus:
            AddCompliantHydroelasticProperties(0.1, self.modulus, properties)
        return properties

    def add(self, shape, moments, position, velocity=(0.0, 0.0, 0.0)):
        inertia = SpatialInertia(1.0, [0, 0, 0], UnitInertia(*moments))
        body = self.plant.AddRigidBody(f"body{len(self.bodies)}", inertia)
        self.plant.RegisterCollisionGeometry(body, RigidTransform(), shape, body.name(), self.properties())
        self.bodies.append((body, position, velocity))

    def run(self, stop, look):
        """What `look` sees of positions and velocities after each step, with time."""
        self.plant.Finalize()
        diagram = self.builder.Build()
        simulator = Simulator(diagram)
        context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, position, velocity in self.bodies:
            self.plant.SetFreeBodyPose(context, body, RigidTransform(position))
            if any(velocity):
                self.plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity([0, 0, 0], velocity))
        simulator.Initialize()

        def seen():
            poses = [self.plant.EvalBodyPoseInWorld(context, body).translation() for body, _, _ in self.bodies]
            speeds = [self.plant.EvalBodySpatialVelocityInWorld(context, body).translational() for body, _, _ in self.bodies]
            return look(np.array(poses), np.array(speeds))

        rows = [seen()]
        every = self.step or 1e-3
        for k in range(1, round(stop / every) + 1):
            simulator.AdvanceTo(k * every)
            rows.append(seen())
        return np.arange(len(rows)) * every, np.array(rows)


def dissipation_for(restitution, speed):
    """Hunt and Crossley's coefficient with which a body that hits at a speed rebounds so: integral of m v dv / (1 + d v) down
    equals that up."""
    low, high = 1e-6, (1 - 1e-9) / (restitution * speed)
    way = lambda v, d: v / d - np.log1p(d * v) / d**2
    for _ in range(100):
        d = (low + high) / 2
        # A larger coefficient takes more.
        low, high = (d, high) if way(speed, d) > way(-restitution * speed, d) else (low, d)
    return (low + high) / 2


def bounce(step, gravity, restitution):
    """A step of 0 is the integrator's own."""
    d = dissipation_for(restitution, np.sqrt(2 * gravity * 0.9))
    for stiffness in (1e4, 1e5, 1e6):
        if step and not 1e-4 <= stiffness * step**2 <= 1.0:
            continue
        # Floor and ball, each with twice the stiffness of both in a row.
        world = World(step, [0, 0, -gravity], 0.0, stiffness=2 * stiffness, dissipation=d)
        world.add(Sphere(0.1), (0.004,) * 3, (0.0, 0.0, 1.0))
        look = lambda places, speeds: places[0, 2] + speeds[0, 2] ** 2 / (2 * gravity) * (places[0, 2] > 0.1)
        yield f"Drake, stiffness {stiffness:g}", *world.run(1.6, look)


def incline(gravity, mu):
    for approximation in ("sap", "lagged"):
        world = World(1e-3, gravity, mu, approximation, modulus=1e7)
        world.add(Box(0.2, 0.2, 0.1), (0.0025, 0.0025, 0.004), (0.0, 0.0, 0.05))
        _, way = world.run(5.0, lambda places, speeds: places[0, 0])
        yield f"Drake, hydroelastic, {approximation}", way[-1]


def stack(gravity, mu):
    world = World(1e-3, [0, 0, -gravity], mu, "lagged", modulus=1e7)
    for k in range(10):
        world.add(Box(0.1, 0.1, 0.1), (0.1**2 / 6,) * 3, (0.0, 0.0, 0.05 + 0.1 * k))
    _, places = world.run(10.0, lambda places, speeds: places)
    yield "Drake, hydroelastic", places[-1]


def rolling(gravity, mu, speed):
    for approximation in ("sap", "lagged"):
        world = World(1e-3, [0, 0, -gravity], mu, approximation)
        world.add(Sphere(0.1), (0.004,) * 3, (0.0, 0.0, 0.1), (speed, 0.0, 0.0))
        _, seen = world.run(2.0, lambda places, speeds: (speeds[0, 0], places[0, 0]))
        yield f"Drake, {approximation}", *seen[-1]


def robot(path):
    world = World(1e-3, [0, 0, -9.81], 0.5)
    Parser(world.plant).AddModels(path)
    world.plant.Finalize()
    simulator = Simulator(world.builder.Build())
    context = world.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    (base,) = [world.plant.get_body(index) for index in world.plant.GetFloatingBaseBodies()]
    best = np.inf
    for _ in range(5):
        simulator.get_mutable_context().SetTime(0.0)
        world.plant.SetDefaultContext(context)
        world.plant.SetFreeBodyPose(context, base, RigidTransform([0, 0, 0.6]))
        simulator.Initialize()
        simulator.AdvanceTo(0.1)
        start = time.process_time()
        simulator.AdvanceTo(0.6)
        best = min(best, (time.process_time() - start) / 500)
    yield "Drake", best


def peer():
    yield VERSION,


if __name__ == "__main__":
    serve(globals())
