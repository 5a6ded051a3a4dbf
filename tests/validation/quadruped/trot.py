"""A trotting quadruped: exudyn moves body and legs and drives eight joints, the FMU gives the forces of the floor on its feet.

Run `python walk.py` for the numbers and the figure of this folder, or import `walk`.
"""

import sys
import tempfile
from math import acos, atan2, floor, pi, sin, sqrt
from pathlib import Path

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    Force,
    MarkerKinematicTreeRigid,
    NodeGenericODE2,
    ObjectKinematicTree,
    SensorKinematicTree,
)

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))
from fmu_side import FmuSide, build, vector  # noqa: E402

STEP = 1e-3
BODY, BODY_INERTIA = 8.0, np.diag([0.08, 0.25, 0.28])
THIGH, SHANK, FOOT, LENGTH = 0.8, 0.4, 0.3, 0.22  # masses of the links and of the foot at their end, and the length of both
FEET = {"front_left": (0.25, 0.15), "front_right": (0.25, -0.15), "hind_left": (-0.25, 0.15), "hind_right": (-0.25, -0.15)}
MASS = BODY + 4 * (THIGH + SHANK + FOOT)
WEIGHT = 9.81 * MASS
HEIGHT = 0.38  # of the hips over the feet
LANDED = 0.2  # from then on to twice that time, drives come to carry the weight
DROP = 0.045  # of the feet over the floor at the start
STIFFNESS, DAMPING = 150.0, 2.0  # of the drives
HAND = 0.04  # time in which a pair hands over what it carries

# The gait: diagonal pairs swing in turn.
START, PERIOD, SWING = 0.6, 0.5, 0.12
STRIDES, STRIDE, LIFT = 4, 0.06, 0.03
PHASE = {"front_left": 0.0, "hind_right": 0.0, "front_right": 0.5, "hind_left": 0.5}
STOP = START + (STRIDES + 0.2) * PERIOD


def travelled(t):
    """Way of the body: within half a period it comes up to speed, and at the end down again."""
    ramp, end = PERIOD / 2, STRIDES * PERIOD

    def risen(t):
        part = min(max(t / ramp, 0.0), 1.0)
        return ramp * (part**3 - part**4 / 2) + max(t - ramp, 0.0)

    t = min(t - START, end)
    return STRIDE / PERIOD * (risen(t) - risen(t - end + ramp))


def feet_at(t):
    """How far each foot has come along the floor, and its height: it stands in the middle under the way of its hip."""
    found = []
    for phase in (PHASE[leg] for leg in FEET):
        cycle = (t - START) / PERIOD - phase
        count = min(max(floor(cycle), -1), STRIDES - 1)
        before, after = (
            travelled(START + (step + phase + 0.5) * PERIOD + SWING / 2) if step >= 0 else 0.0 for step in (count - 1, count)
        )
        part = min((cycle - count) * PERIOD / SWING, 1.0) if count >= 0 else 1.0
        # It goes on once it is off the floor.
        on = min(max((part - 0.25) / 0.6, 0.0), 1.0)
        smooth = on**3 * (10 - 15 * on + 6 * on**2)
        found.append((before + (after - before) * smooth, LIFT * sin(pi * part) ** 2))
    return found


def joint_angles(x, z):
    """Of hip and knee for a foot at x and z against its hip; the knee points backwards."""
    far = x * x + z * z
    knee = acos((far - 2 * LENGTH**2) / (2 * LENGTH**2))
    return atan2(-x, -z) - knee / 2, knee


def loads(t):
    """What each foot is to carry, once they have landed: a pair hands its part to the other one before it swings, and takes it
    back afterwards."""

    def lifted(phase):
        cycle = ((t - START) / PERIOD - phase + 0.5) % 1.0 - 0.5
        inside = 0.0 <= t - START - (phase - 0.5) * PERIOD <= STRIDES * PERIOD
        since = max(-cycle * PERIOD, cycle * PERIOD - SWING, 0.0)
        return max(1.0 - since / HAND, 0.0) if inside else 0.0

    all_feet = WEIGHT / 4 * min(max(t / LANDED - 1.0, 0.0), 1.0)
    return [all_feet * (1.0 - lifted(phase) + lifted((phase + 0.5) % 1.0)) for phase in (PHASE[leg] for leg in FEET)]


def targets(t):
    """Joint angles at a time, leg by leg."""
    way = travelled(t)
    return np.array([angle for x, z in feet_at(t) for angle in joint_angles(x - way, z - HEIGHT)])


class Robot:
    """Body and legs in exudyn, in minimal coordinates: three ways and three angles of the body, then hip and knee of each
    leg."""

    def __init__(self):
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        kinds = exu.JointType
        types = [kinds.PrismaticX, kinds.PrismaticY, kinds.PrismaticZ, kinds.RevoluteX, kinds.RevoluteY, kinds.RevoluteZ]
        parents, offsets = [-1, 0, 1, 2, 3, 4], [[0.0, 0.0, 0.0]] * 6
        masses, centres, inertias = [0.0] * 5 + [BODY], [[0.0, 0.0, 0.0]] * 6, [np.zeros((3, 3))] * 5 + [BODY_INERTIA]
        self.shanks = []
        for x, y in FEET.values():
            for parent, offset, mass, tip in ((5, [x, y, 0.0], THIGH, 0.0), (len(types), [0.0, 0.0, -LENGTH], SHANK, FOOT)):
                types.append(kinds.RevoluteY)
                parents.append(parent)
                offsets.append(offset)
                masses.append(mass + tip)
                centre = LENGTH * (mass / 2 + tip) / (mass + tip)
                centres.append([0.0, 0.0, -centre])
                across = (mass / 3 + tip) * LENGTH**2 - (mass + tip) * centre**2
                inertias.append(np.diag([across, across, across / 20]))
            self.shanks.append(len(types) - 1)
        start = [0.0, 0.0, HEIGHT + DROP, 0.0, 0.0, 0.0, *targets(0.0)]
        self.count = len(types)
        self.node = self.mbs.AddNode(
            NodeGenericODE2(
                referenceCoordinates=[0.0] * self.count,
                initialCoordinates=start,
                initialCoordinates_t=[0.0] * self.count,
                numberOfODE2Coordinates=self.count,
            )
        )
        tree = self.mbs.AddObject(
            ObjectKinematicTree(
                nodeNumber=self.node,
                jointTypes=types,
                linkParents=parents,
                jointTransformations=exu.Matrix3DList([np.eye(3)] * self.count),
                jointOffsets=exu.Vector3DList(offsets),
                linkInertiasCOM=exu.Matrix3DList(inertias),
                linkCOMs=exu.Vector3DList(centres),
                linkMasses=masses,
                gravity=[0.0, 0.0, -9.81],
                forceUserFunction=self.drive,
            )
        )
        foot = [0.0, 0.0, -LENGTH]
        self.loads, self.sensors = [], []
        for shank in self.shanks:
            marker = self.mbs.AddMarker(MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=shank, localPosition=foot))
            self.loads.append(self.mbs.AddLoad(Force(markerNumber=marker, loadVector=[0.0, 0.0, 0.0])))
            for kind in (exu.OutputVariableType.Position, exu.OutputVariableType.Velocity):
                sensor = SensorKinematicTree(
                    objectNumber=tree, linkNumber=shank, localPosition=foot, storeInternal=False, outputVariableType=kind
                )
                self.sensors.append(self.mbs.AddSensor(sensor))
        self.mbs.Assemble()

    def drive(self, mbs, t, item, q, q_t):
        """Torques of the drives, which follow their targets."""
        wanted, nudge = targets(t), 1e-5
        rates = (targets(t + nudge) - wanted) / nudge
        torques = STIFFNESS * (wanted - np.array(q[6:])) + DAMPING * (rates - np.array(q_t[6:]))
        for leg, load in enumerate(loads(t)):
            hip, knee = wanted[2 * leg : 2 * leg + 2]
            torques[2 * leg] -= LENGTH * (sin(hip) + sin(hip + knee)) * load
            torques[2 * leg + 1] -= LENGTH * sin(hip + knee) * load
        return [0.0] * 6 + list(torques)

    def feet(self):
        """Position and velocity of each foot, one after the other."""
        return [x for sensor in self.sensors for x in self.mbs.GetSensorValues(sensor)]

    def coordinates(self):
        return self.mbs.GetNodeOutput(self.node, exu.OutputVariableType.Coordinates)


def walk(fmu, stop=STOP, step=STEP):
    """Gives the columns time, x, y, z, three angles of the body; for each foot its place, velocity and force; effective mass
    and condition of the first foot."""
    robot = Robot()
    inputs = [name for leg in FEET for name in vector(f"{leg}.r") + vector(f"{leg}.v")]
    outputs = [name for leg in FEET for name in vector(f"{leg}.f")]
    rows = []
    with FmuSide(fmu, inputs=inputs, outputs=outputs) as contact:

        def before_step(mbs, end):
            t = len(rows) * step
            feet = robot.feet()
            if not rows:
                contact.start(feet)
            forces = np.array(contact.step(t, step, feet)).reshape(4, 3)
            for load, force in zip(robot.loads, forces):
                mbs.SetLoadParameter(load, "loadVector", list(force))
            seen = contact.read("front_left.effective_mass", "front_left.condition")
            rows.append([t, *robot.coordinates()[:6], *feet, *forces.ravel(), *seen])
            return True

        robot.mbs.SetPreStepUserFunction(before_step)
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(stop / step)
        settings.timeIntegration.endTime = stop
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        # Runge-Kutta: a load that is held over a step acts in this step alone, as the FMU expects.
        robot.mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
    return np.array(rows)


def places(rows):
    """Of the feet, by row, foot and axis, with their velocities."""
    return rows[:, 7:31].reshape(-1, 4, 2, 3)


def forces(rows):
    return rows[:, 31:43].reshape(-1, 4, 3)


def h_omega():
    """Of a shank on the drive of its knee."""
    return STEP * sqrt(STIFFNESS / ((SHANK / 3 + FOOT) * LENGTH**2))


def strides(rows):
    """Index ranges of the strides but for the first."""
    bounds = [round((START + k * PERIOD) / STEP) for k in range(1, STRIDES + 1)]
    return list(zip(bounds, bounds[1:]))


def slides(rows):
    """Largest way along the floor of a foot that carries more than a sixth of the weight, but for four steps at both ends, while
    it walks."""
    most = 0.0
    for leg in range(4):
        carries = np.convolve(forces(rows)[:, leg, 2] > WEIGHT / 6, np.ones(9), "same") > 8.5
        carries &= rows[:, 0] > START
        edges = np.flatnonzero(np.diff(np.concatenate([[False], carries, [False]]).astype(int)))
        for start, end in edges.reshape(-1, 2):
            most = max(most, np.ptp(places(rows)[start:end, leg, 0, :2], axis=0).max())
    return most


def draw(rows, path):
    """Heights of the feet, their normal forces and the sum, and the way of the body."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    t, colours = rows[:, 0], ["tab:blue", "tab:green", "tab:red", "tab:orange"]
    figure, (foot, force, body) = plt.subplots(3, 1, figsize=(9, 7.5), sharex=True, constrained_layout=True)
    for leg, (name, colour) in enumerate(zip(FEET, colours)):
        foot.plot(t, 1e3 * places(rows)[:, leg, 0, 2], color=colour, label=name.replace("_", " "))
        force.plot(t, np.clip(forces(rows)[:, leg, 2], 0, 2 * WEIGHT), color=colour, linewidth=0.8)
    foot.set_ylabel("height of the foot, mm")
    foot.legend(loc="upper right", ncols=4)
    force.axhline(WEIGHT / 2, color="0.6", linewidth=0.8)
    force.set_ylim(0, 1.2 * WEIGHT)
    force.set_ylabel("normal force, N")
    body.plot(t, rows[:, 1], label="body")
    body.plot(t, [travelled(time) for time in t], "--", color="0.5", label="by the gait alone")
    body.set_ylabel("way of the body, m")
    body.set_xlabel("time, s")
    body.legend(loc="upper left")
    figure.savefig(path, dpi=70)


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = walk(build("quadruped", folder))
    for a, b in strides(rows):
        mean = forces(rows)[a:b, :, 2].sum(axis=1).mean()
        print(f"{rows[a, 0]:.2f} s to {rows[b, 0]:.2f} s: mean force of the floor {mean:.2f} N, weight {WEIGHT:.2f} N")
    print(f"feet that carry move by {1e3 * slides(rows):.3f} mm at most")
    print(f"way of the body {rows[-1, 1]:.4f} m, by the gait alone {travelled(STOP):.4f} m")
    draw(rows, HERE / "figure.png")


if __name__ == "__main__":
    main()
