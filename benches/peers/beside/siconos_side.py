"""The cases in Siconos: Moreau-Jean's scheme (theta 1/2) and NSGS, with the contact points given.

Bodies have six coordinates, position and small turns. The balls and boxes of these cases touch at points that stay where they
are in the frame of the body or below its centre, so that gaps are linear in them."""

import numpy as np
import siconos.kernel as kernel
import siconos.numerics as numerics
from cases import serve

VERSION = "Siconos 4.4"
CORNERS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


def rows(arm):
    """How a point at `arm` from the centre moves up, and along x and y."""
    x, y, z = arm
    return np.array([[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]], float)


class World:
    def __init__(self, stop, step, gravity, mu, restitution=0.0):
        self.steps, self.step, self.gravity, self.bodies = round(stop / step), step, gravity, []
        self.system = kernel.NonSmoothDynamicalSystem(0.0, stop)
        self.law = kernel.NewtonImpactFrictionNSL(restitution, 0.0, mu, 3)

    def add(self, inertia, position, velocity=(0.0, 0.0, 0.0)):
        mass = np.diag([1.0, 1.0, 1.0, *inertia])
        body = kernel.LagrangianLinearTIDS([*position, 0.0, 0.0, 0.0], [*velocity, 0.0, 0.0, 0.0], mass)
        body.setFExtPtr([*self.gravity, 0.0, 0.0, 0.0])
        self.system.insertDynamicalSystem(body)
        self.bodies.append(body)

    def touch(self, matrix, gap, *bodies):
        interaction = kernel.Interaction(self.law, kernel.LagrangianLinearTIR(matrix, [gap, 0.0, 0.0]))
        self.system.link(interaction, *bodies)

    def run(self, look):
        """What `look` sees of the bodies after each step, with time."""
        problem = kernel.FrictionContact(3, numerics.SICONOS_FRICTION_3D_NSGS)
        options = problem.numericsSolverOptions()
        options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 100000
        options.dparam[numerics.SICONOS_DPARAM_TOL] = 1e-10
        times = kernel.TimeDiscretisation(0.0, self.step)
        simulation = kernel.TimeStepping(self.system, times, kernel.MoreauJeanOSI(0.5), problem)
        seen = [look(self.bodies)]
        for _ in range(self.steps):
            simulation.computeOneStep()
            seen.append(look(self.bodies))
            simulation.nextStep()
        return np.arange(len(seen)) * self.step, np.array(seen)


def ball(world, height, velocity=(0.0, 0.0, 0.0)):
    world.add((0.004, 0.004, 0.004), (0.0, 0.0, height), velocity)
    world.touch(rows((0.0, 0.0, -0.1)), -0.1, world.bodies[0])


def bounce(step, gravity, restitution):
    world = World(1.6, step, (0.0, 0.0, -gravity), 0.0, restitution)
    ball(world, 1.0)
    yield "Siconos", *world.run(lambda bodies: bodies[0].q()[2] + bodies[0].velocity()[2] ** 2 / (2 * gravity))


def incline(gravity, mu):
    world = World(5.0, 1e-3, gravity, mu)
    world.add((0.0025, 0.0025, 0.004), (0.0, 0.0, 0.05))
    for x, y in CORNERS:
        world.touch(rows((0.1 * x, 0.1 * y, -0.05)), -0.05, world.bodies[0])
    _, way = world.run(lambda bodies: bodies[0].q()[0])
    yield "Siconos", way[-1]


def stack(gravity, mu):
    world = World(10.0, 1e-3, (0.0, 0.0, -gravity), mu)
    for k in range(10):
        world.add((0.1**2 / 6,) * 3, (0.0, 0.0, 0.05 + 0.1 * k))
    for x, y in CORNERS:
        below, above = rows((0.05 * x, 0.05 * y, 0.05)), rows((0.05 * x, 0.05 * y, -0.05))
        world.touch(above, -0.05, world.bodies[0])
        for lower, upper in zip(world.bodies, world.bodies[1:]):
            world.touch(np.hstack([-below, above]), -0.1, lower, upper)
    _, places = world.run(lambda bodies: [np.array(body.q()[:3]) for body in bodies])
    yield "Siconos", places[-1]


def rolling(gravity, mu, speed):
    world = World(2.0, 1e-3, (0.0, 0.0, -gravity), mu)
    ball(world, 0.1, (speed, 0.0, 0.0))
    _, seen = world.run(lambda bodies: (bodies[0].velocity()[0], bodies[0].q()[0]))
    yield "Siconos", *seen[-1]


def peer():
    yield VERSION,


if __name__ == "__main__":
    serve(globals())
