"""A helicopter blade between its droop and anti-flap stops: exudyn moves hub and blade, the FMU gives the force of the stops.

Run `python cosimulate.py` for the figure of this folder, or import `simulate`.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from math import copysign, cos, pi, radians, sin
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
sys.path.insert(0, str(HERE.parent))
from fmu_side import FmuSide, build, vector  # noqa: E402

# A blade of the size of a Puma's: uniform, rigid, from the flap hinge to the tip.
MASS, LENGTH, HINGE, CHORD = 74.0, 7.21, 0.29, 0.54
INERTIA = MASS * LENGTH**2 / 3  # about the hinge
WEIGHT_MOMENT = MASS * 9.81 * LENGTH / 2
ARM = 0.3  # from the hinge down to the point that touches
STOP = radians(10.0)
RESTITUTION = 0.8
MATCHED = 0.8109  # given to the law of Flores, makes rebounds of 0.8
AIR, LIFT_SLOPE = 1.225, 5.73
HUB_INERTIA = 4500.0  # with the three other blades


@dataclass(frozen=True)
class Case:
    """What is done to the rotor."""

    stop: float
    speed: callable  # of the hub at a time: rad/s and rad/s2
    wind: callable  # against the leading edge of a blade at azimuth 0, m/s
    collective: float = 0.0
    azimuth: float = 0.0


def engagement(full=27.0, rise=20.0, hold=10.0, rest=10.0):
    """Equation 6.1: up along half a cosine, full speed, down again, and rest."""

    def speed(t):
        down = t - rise - hold
        if t < rise:
            return full / 2 * (1 - cos(pi * t / rise)), full / 2 * pi / rise * sin(pi * t / rise)
        if down <= 0:
            return full, 0.0
        if down < rise:
            return full / 2 * (1 + cos(pi * down / rise)), -full / 2 * pi / rise * sin(pi * down / rise)
        return 0.0, 0.0

    return Case(2 * rise + hold + rest, speed, lambda t: 0.0)


def gust(azimuth=0.0, front_speed=10.0, stop=30.0):
    """Equation 6.2: 15 (1 - cos(pi s / 100)) m/s along 200 m that pass with the speed of the front; the rotor stands."""

    def wind(t):
        way = front_speed * t
        return 15 * (1 - cos(pi * way / 100)) if way < 200 else 0.0

    return Case(stop, lambda t: (0.0, 0.0), wind, radians(10.0), azimuth)


def air_moment(case, t, flap, flap_rate, turn, turn_rate):
    """Of the lift about the flap hinge: 1/2 rho a c times the integral of s |U| (theta U - s flap_rate) along the blade,
    with the speed U = u + w s of the air against it, of one sign from hinge to tip."""
    u = turn_rate * HINGE + case.wind(t) * cos(turn + case.azimuth)
    w = turn_rate * cos(flap)
    tip = u + w * LENGTH
    assert u * tip >= 0.0
    theta, n, L = case.collective, flap_rate, LENGTH
    integral = L**2 * (
        theta * u * u / 2 + (2 * theta * u * w - n * u) * L / 3 + (theta * w * w - n * w) * L * L / 4
    )
    return copysign(AIR / 2 * LIFT_SLOPE * CHORD, tip) * integral


def flores(depth, rate, impact_rate, stiffness, exponent, restitution):
    """Moment of a stop in its flap angle: K d^n (1 + 8/5 (1 - e)/e d'/v), no tension."""
    if depth <= 0.0:
        return 0.0
    damping = 1.6 * (1 - restitution) / restitution * rate / max(impact_rate, 1e-6)
    return max(0.0, stiffness * depth**exponent * (1 + damping))


class Rotor:
    """Hub and blade in exudyn, in minimal coordinates: turn of the hub about z, turn of the blade about y (minus the flap
    angle)."""

    def __init__(self, case, extra_moment=lambda t, flap, flap_rate: 0.0):
        self.case, self.extra = case, extra_moment
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        centre = LENGTH / 2
        node = self.mbs.AddNode(
            NodeGenericODE2(
                referenceCoordinates=[0.0, 0.0],
                initialCoordinates=[0.0, STOP],
                initialCoordinates_t=[0.0, 0.0],
                numberOfODE2Coordinates=2,
            )
        )
        across = MASS * LENGTH**2 / 12
        tree = self.mbs.AddObject(
            ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=[exu.JointType.RevoluteZ, exu.JointType.RevoluteY],
                linkParents=[-1, 0],
                jointTransformations=exu.Matrix3DList([np.eye(3)] * 2),
                jointOffsets=exu.Vector3DList([[0, 0, 0], [HINGE, 0, 0]]),
                linkInertiasCOM=exu.Matrix3DList([np.diag([1.0, 1.0, HUB_INERTIA]), np.diag([1e-3, across, across])]),
                linkCOMs=exu.Vector3DList([[0, 0, 0], [centre, 0, 0]]),
                linkMasses=[1.0, MASS],
                gravity=[0.0, 0.0, -9.81],
                forceUserFunction=self.forces,
            )
        )
        cuff = [0.0, 0.0, -ARM]
        marker = self.mbs.AddMarker(MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=1, localPosition=cuff))
        self.load = self.mbs.AddLoad(Force(markerNumber=marker, loadVector=[0.0, 0.0, 0.0]))
        self.place, self.velocity = (
            self.mbs.AddSensor(
                SensorKinematicTree(
                    objectNumber=tree, linkNumber=1, localPosition=cuff, storeInternal=False, outputVariableType=kind
                )
            )
            for kind in (exu.OutputVariableType.Position, exu.OutputVariableType.Velocity)
        )
        self.node = node
        self.angle = 0.0  # of the hub as it should be, advanced with the steps
        self.mbs.Assemble()

    def forces(self, mbs, t, item, q, q_t):
        """Of the drive on the hub, and of the air on the blade."""
        speed, change = self.case.speed(t)
        angle = self.angle + (t - self.time) * speed
        whole = HUB_INERTIA + INERTIA
        drive = whole * (change + 900.0 * (angle - q[0]) + 60.0 * (speed - q_t[0]))
        flap, flap_rate = -q[1], -q_t[1]
        up = air_moment(self.case, t, flap, flap_rate, q[0], q_t[0]) + self.extra(t, flap, flap_rate)
        return [drive, -up]

    def run(self, step, before_step):
        """Steps to the end; `before_step(time)` sets the load. Gives times, flap angles and hub rates."""
        rows = []
        self.time = 0.0

        def prepare(mbs, end):
            t = len(rows) * step
            self.angle += (t - self.time) * (self.case.speed(self.time)[0] + self.case.speed(t)[0]) / 2
            self.time = t
            before_step(t)
            q = mbs.GetNodeOutput(self.node, exu.OutputVariableType.Coordinates)
            q_t = mbs.GetNodeOutput(self.node, exu.OutputVariableType.Coordinates_t)
            rows.append((t, -q[1], -q_t[1], q[0], q_t[0]))
            return True

        self.mbs.SetPreStepUserFunction(prepare)
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(self.case.stop / step)
        settings.timeIntegration.endTime = self.case.stop
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        # Runge-Kutta: a load that is held over a step acts in this step alone, as the FMU expects.
        self.mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
        return np.array(rows)


def frame(angle, rate, radius):
    """Position, velocity, quaternion and angular velocity of a frame on the hub, at the height of the cuff."""
    c, s = cos(angle), sin(angle)
    place = [radius * c, radius * s, -ARM * cos(STOP)]
    return place + [-rate * radius * s, rate * radius * c, 0.0, cos(angle / 2), 0.0, 0.0, sin(angle / 2), 0.0, 0.0, rate]


def hard(fmu, case, step):
    """With the stops of the FMU. Gives the columns time, flap, flap rate, hub angle, hub rate, force of both stops."""
    rotor = Rotor(case)
    names = [vector("cuff.r") + vector("cuff.v")]
    for stop in ("droop_stop", "flap_stop"):
        names.append(vector(f"{stop}.r") + vector(f"{stop}.v") + vector(f"{stop}.q", 4) + vector(f"{stop}.w"))
    outputs = [*vector("cuff.f"), "cuff_droop_stop.f_n", "cuff_flap_stop.f_n"]
    forces = []
    with FmuSide(fmu, inputs=sum(names, []), outputs=outputs) as contact:

        def inputs():
            angle = rotor.mbs.GetNodeOutput(rotor.node, exu.OutputVariableType.Coordinates)[0]
            rate = rotor.mbs.GetNodeOutput(rotor.node, exu.OutputVariableType.Coordinates_t)[0]
            cuff = [*rotor.mbs.GetSensorValues(rotor.place), *rotor.mbs.GetSensorValues(rotor.velocity)]
            droop, flap = (frame(angle, rate, HINGE + side * ARM * sin(STOP)) for side in (-1, 1))
            return cuff + droop + flap

        def before_step(t):
            if not forces:
                contact.start(inputs())
            *force, droop, flap = contact.step(t, step, inputs())
            rotor.mbs.SetLoadParameter(rotor.load, "loadVector", force)
            forces.append((droop, flap))

        rows = rotor.run(step, before_step)
    return np.column_stack([rows, forces])


def continuous(case, step, stiffness=1e9, exponent=1.0, restitution=RESTITUTION):
    """With a stiff law in the flap hinge, as the thesis has it for comparison: same columns, moments / arm as forces."""
    touch = {1: 0.0, -1: 0.0}  # rates of the touches that last

    def stop_moment(side, flap, flap_rate):
        return flores(side * flap - STOP, side * flap_rate, touch[side], stiffness, exponent, restitution)

    def moment(t, flap, flap_rate):
        return stop_moment(-1, flap, flap_rate) - stop_moment(1, flap, flap_rate)

    rotor = Rotor(case, moment)
    forces = []

    def before_step(t):
        q = rotor.mbs.GetNodeOutput(rotor.node, exu.OutputVariableType.Coordinates)
        q_t = rotor.mbs.GetNodeOutput(rotor.node, exu.OutputVariableType.Coordinates_t)
        flap, flap_rate = -q[1], -q_t[1]
        for side in touch:
            outside = side * flap < STOP
            # The rate at first touch, from the last step before it.
            if outside:
                touch[side] = max(side * flap_rate, 0.0)
        forces.append([stop_moment(side, flap, flap_rate) / (ARM * cos(STOP)) for side in (-1, 1)])

    rows = rotor.run(step, before_step)
    return np.column_stack([rows, forces])


def timed(run):
    """What it gives, and the processor time that it takes."""
    start = time.process_time()
    return run(), time.process_time() - start


def beyond(rows):
    """How far the blade gets beyond a stop, in degrees."""
    return float(np.degrees(np.abs(rows[:, 1]).max() - STOP))


def difference(one, other):
    """Largest difference of the flap angles in degrees, at the times of `one`."""
    at = np.round(one[:, 0] / other[1, 0]).astype(int)
    return float(np.degrees(np.abs(one[:, 1] - other[at, 1]).max()))


def draw(runs, path):
    """Both cases, hard and continuous: flap angle, what moves it, forces of the stops."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 2, figsize=(10, 7.5), sharex="col", constrained_layout=True)
    for column, (name, (case, rows, soft)) in enumerate(runs.items()):
        t = rows[:, 0]
        flap, cause, force = axes[:, column]
        flap.set_title(name)
        flap.plot(soft[::10, 0], np.degrees(soft[::10, 1]), color="tab:orange", linewidth=2.5, label="Flores law, exudyn")
        flap.plot(t[::5], np.degrees(rows[::5, 1]), color="tab:blue", linewidth=1, label="hard stops, FMU")
        for stop in (-10, 10):
            flap.axhline(stop, color="0.6", linewidth=0.8)
        flap.set_ylim(-12, 12)
        flap.set_ylabel("flap angle, deg")
        flap.legend(loc="center right")
        if case.collective:
            cause.plot(t[::20], [case.wind(time) for time in t[::20]], color="tab:green")
            cause.set_ylabel("wind, m/s")
        else:
            cause.plot(t[::20], rows[::20, 4], color="tab:green")
            cause.set_ylabel("hub, rad/s")
        # Impacts reach thousands of kN in a step: the force that lasts is what the picture is about.
        force.plot(t, rows[:, 5] / 1e3, linewidth=0.8, label="droop stop")
        force.plot(t, rows[:, 6] / 1e3, linewidth=0.8, label="anti-flap stop")
        force.set_ylim(0, 30)
        force.set_ylabel("force, kN")
        force.set_xlabel("time, s")
        force.legend(loc="upper right")
    figure.savefig(path, dpi=75)


def main():
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        fmu = build("rotor_droop_stop", folder)
        for name, case in {"engagement and disengagement": engagement(), "gust, rotor at rest": gust()}.items():
            rows, hard_time = timed(lambda: hard(fmu, case, 1e-3))
            same, same_time = timed(lambda: hard(fmu, case, 1e-4))
            soft, soft_time = timed(lambda: continuous(case, 1e-4))
            matched = continuous(case, 1e-4, restitution=MATCHED)
            print(f"{name}: beyond a stop {beyond(rows):.1e} deg, Flores {beyond(soft):.3f} deg")
            print(f"  Flores differs by {difference(rows, soft):.3f} deg, with e = {MATCHED} by {difference(rows, matched):.3f} deg")
            print(f"  steps of 1e-4 differ by {difference(rows, same):.4f} deg from those of 1e-3")
            print(
                f"  processor time: hard {hard_time:.1f} s at 1e-3, {same_time:.1f} s at 1e-4; Flores {soft_time:.1f} s "
                f"at 1e-4: {soft_time / hard_time:.1f} and {soft_time / same_time:.2f} times as much"
            )
            runs[name] = case, rows, soft
    draw(runs, HERE / "figure.png")


if __name__ == "__main__":
    main()
