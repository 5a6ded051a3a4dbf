"""A six-legged robot: this program is its gait, which gives the angles of the eighteen joints to the FMU.

`python walk.py` walks and draws the figure of this folder, `python walk.py input` prints the angles for
`contact-fmu simulate --input`, and `python walk.py model` prints model.toml, which is made here.
"""

import sys
import tempfile
from dataclasses import dataclass
from math import acos, atan2, cos, hypot, pi, sin
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from fmu_side import FmuSide, build  # noqa: E402

BODY_MASS, BODY_SIZE = 10.0, (0.6, 0.24, 0.1)
LINKS = {"coxa": (0.06, 0.3), "femur": (0.16, 0.4), "tibia": (0.26, 0.25)}  # length, mass
FOOT_MASS, FOOT_STIFFNESS, FOOT_DAMPING = 0.05, 1e6, 1000.0  # kg, N/m and N.s/m
THICKNESS = 0.04  # of links, for their inertia
STANDING = 0.16  # height of the hips
REACH = 0.25  # of a foot from its hip, outwards
WEIGHT = 9.81 * (BODY_MASS + 6 * (FOOT_MASS + sum(mass for _, mass in LINKS.values())))
STEP = 2e-3


@dataclass(frozen=True)
class Leg:
    """Where its hip is on the body, and to which side it reaches."""

    name: str
    x: float
    side: int
    width: float

    @property
    def hip(self):
        return np.array([self.x, self.side * self.width, 0.0])

    @property
    def foot(self):
        """Under the standing robot, seen from the body."""
        return self.hip + [0.0, self.side * REACH, -STANDING]

    def angles(self, foot):
        """Of hip (about z), and elevations of femur and tibia, with the foot at a place seen from the body."""
        x, y, z = foot - self.hip
        y *= self.side
        turn = self.side * -atan2(x, y)
        out = hypot(x, y) - LINKS["coxa"][0]
        femur, tibia = LINKS["femur"][0], LINKS["tibia"][0]
        way = hypot(out, z)
        inner = acos((femur**2 + way**2 - tibia**2) / (2 * femur * way))
        up = atan2(z, out) + inner
        down = atan2(z - femur * sin(up), out - femur * cos(up))
        return np.array([turn, up, down])

    def drives(self, foot):
        """Angles of the three joints since the start."""
        turn, up, down = self.angles(foot) - self.angles(self.foot)
        return [turn, up, down - up]


LEGS = [
    Leg(f"{place}_{side}", x, sign, width)
    for side, sign in (("left", 1), ("right", -1))
    for place, x, width in (("front", 0.26, 0.12), ("middle", 0.0, 0.16), ("rear", -0.26, 0.12))
]
FIRST = {"front_left", "middle_right", "rear_left"}  # tripod that swings first

STAND, SWING, PAUSE, STEPS = 1.0, 0.8, 0.2, 4
ADVANCE, LIFT = 0.06, 0.04  # of the body in each step, of a foot
STOP = STAND + STEPS * (SWING + PAUSE)


def smooth(part):
    """From 0 to 1, with rates and accelerations that start and end at 0."""
    part = min(max(part, 0.0), 1.0)
    return part**3 * (10 - 15 * part + 6 * part**2)


def swings(leg):
    """Steps in which a leg swings, and how far."""
    mine = range(0 if leg.name in FIRST else 1, STEPS, 2)
    return {step: (ADVANCE if step == 0 else 2 * ADVANCE) for step in mine}


def gait(time):
    """Way of the body, and places of the feet in the world (from under the start of the body)."""
    parts = [(time - STAND - step * (SWING + PAUSE)) / SWING for step in range(STEPS)]
    body = ADVANCE * sum(map(smooth, parts))
    feet = []
    for leg in LEGS:
        foot = leg.foot + [0.0, 0.0, STANDING]
        for step, length in swings(leg).items():
            foot[0] += length * smooth(parts[step])
            if 0 < parts[step] < 1:
                foot[2] += LIFT * sin(pi * parts[step]) ** 2
        feet.append(foot)
    return body, feet


def joint_angles(time):
    """Of all legs, for the body to go its way."""
    body, feet = gait(time)
    centre = np.array([body, 0.0, STANDING])
    return [angle for leg, foot in zip(LEGS, feet) for angle in leg.drives(foot - centre)]


def walk(fmu, stop=STOP, step=STEP):
    """Columns: time, place of the body, normal force of each foot, slip and gap of each, all after each step."""
    joints = [f"{leg.name}_{joint}" for leg in LEGS for joint in ("hip", "shoulder", "knee")]
    contacts = [f"{leg.name}_foot_floor" for leg in LEGS]
    outputs = ["body.r[1]", "body.r[2]", "body.r[3]"]
    outputs += [f"{name}.{value}" for value in ("f_n", "slip", "gap") for name in contacts]
    rows = []
    with FmuSide(fmu, inputs=[f"{joint}.drive" for joint in joints], outputs=outputs) as robot:
        robot.start(joint_angles(0.0))
        for k in range(round(stop / step)):
            # A position is reached at the end of the step.
            rows.append([(k + 1) * step, *robot.step(k * step, step, joint_angles((k + 1) * step))])
    return np.array(rows)


def tripod_loads():
    """Of a middle foot that carries with the two outer ones of the other side, and of each of those, by statics: the
    centre of mass is in the middle, as the legs are nearly as they stand."""
    middle, outer = LEGS[1].foot[1], LEGS[0].foot[1]
    load = WEIGHT * outer / (middle + outer)
    return load, (WEIGHT - load) / 2


def print_input():
    """The angles as a file for `contact-fmu simulate --input`: each row is what is reached at the end of its step."""
    names = [f"{leg.name}_{joint}.drive" for leg in LEGS for joint in ("hip", "shoulder", "knee")]
    print(",".join(["time", *names]))
    for k in range(round(STOP / STEP) + 1):
        print(",".join(f"{value:.17g}" for value in [k * STEP, *joint_angles((k + 1) * STEP)]))


def model():
    """Text of model.toml."""

    def numbers(values):
        return "[" + ", ".join(f"{float(value) + 0.0:.12g}" for value in values) + "]"

    def rod(length, mass):
        across = mass * (length**2 + THICKNESS**2) / 12
        return [mass * THICKNESS**2 / 6, across, across]

    def turned(direction):
        """Quaternion that takes x into a direction across x: out of a leg that stands straight."""
        half = np.array([0.0, *np.cross([1.0, 0.0, 0.0], direction)])
        half[0] = 1.0 + direction[0]
        return half / np.linalg.norm(half)

    a, b, c = BODY_SIZE
    box = [BODY_MASS / 12 * (b * b + c * c), BODY_MASS / 12 * (a * a + c * c), BODY_MASS / 12 * (a * a + b * b)]
    lines = [
        "# Written by `python walk.py model`.",
        "[model]",
        'name = "hexapod"',
        'description = "A six-legged robot with eighteen driven joints (Schmucker 2007, section 3.2)"',
        "",
        "[experiment]",
        "stop = 1.0                           # it stands; walk.py makes it walk",
        f"step = {STEP:g}",
        "",
        "[engine]",
        "theta = 1.0                          # damps the sway of the rubber feet, whose dampers act up and down only",
        "",
        "[[node]]",
        'name = "body"',
        'coupling = "owned"',
        f"mass = {BODY_MASS}",
        f"inertia = {numbers(box)}",
        f"position = {numbers([0, 0, STANDING])}",
    ]
    for leg in LEGS:
        _, up, down = leg.angles(leg.foot)
        corner = leg.hip + [0.0, 0.0, STANDING]
        corners, directions = [corner], []
        for (length, _), angle in zip(LINKS.values(), (0.0, up, down)):
            directions.append(np.array([0.0, leg.side * cos(angle), sin(angle)]))
            corners.append(corners[-1] + length * directions[-1])
        before = "body"
        joints = ("hip", [0, 0, 1]), ("shoulder", [leg.side, 0, 0]), ("knee", [leg.side, 0, 0])
        for k, ((link, (length, mass)), (joint, axis)) in enumerate(zip(LINKS.items(), joints)):
            name = f"{leg.name}_{link}"
            lines += [
                "",
                "[[node]]",
                f'name = "{name}"',
                'coupling = "owned"',
                f"mass = {mass}",
                f"inertia = {numbers(rod(length, mass))}",
            ]
            lines += [
                f"position = {numbers((corners[k] + corners[k + 1]) / 2)}",
                f"orientation = {numbers(turned(directions[k]))}",
                "",
                "[[joint]]",
                f'name = "{leg.name}_{joint}"',
                f'between = ["{before}", "{name}"]',
                f"revolute = {{ axis = {numbers(axis)}, position = {numbers(corners[k])} }}",
                'drive.position = "input"',
            ]
            before = name
        lines += [
            "",
            "[[node]]",
            f'name = "{leg.name}_foot"',
            'coupling = "owned"',
            f"mass = {FOOT_MASS}",
            f"position = {numbers(corners[-1])}",
            "",
            "[[spring]]",
            f'name = "{leg.name}_rubber"',
            f'between = ["{leg.name}_tibia", "{leg.name}_foot"]',
            f"stiffness = {FOOT_STIFFNESS:g}",
            f"damping = {FOOT_DAMPING:g}",
            f"anchors = [{numbers([LINKS['tibia'][0] / 2, 0, 0])}, [0.0, 0.0, 0.0]]",
        ]
    lines += ["", "[[surface]]", 'name = "floor"', "shape.plane.normal = [0.0, 0.0, 1.0]"]
    for leg in LEGS:
        lines += [
            "",
            "[[contact]]",
            f'between = ["{leg.name}_foot", "floor"]',
            "friction.cone.mu = 0.7",
        ]
    return "\n".join(lines) + "\n"


def draw(rows, path):
    """Normal forces of the feet of both sides, as in Figure 8 of the paper, their sum, and the way of the body."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 1, figsize=(8, 8), sharex=True, constrained_layout=True)
    time, forces = rows[:, 0], rows[:, 4:10]
    for side, axis in ((0, axes[0]), (3, axes[1])):
        for leg, colour in zip(range(side, side + 3), ("tab:blue", "tab:green", "tab:red")):
            axis.plot(time, forces[:, leg], color=colour, linewidth=1, label=LEGS[leg].name.replace("_", " "))
        axis.set_ylabel("normal force, N")
        axis.set_ylim(0, 90)
        axis.legend(loc="upper left", fontsize="small")
    axes[2].plot(time, forces.sum(axis=1), color="k", linewidth=1)
    axes[2].axhline(WEIGHT, color="0.7", linewidth=0.8)
    axes[2].set_ylabel("sum, N")
    axes[2].set_ylim(WEIGHT - 25, WEIGHT + 25)
    axes[3].plot(time, 1e3 * rows[:, 1])
    axes[3].set_ylabel("way, mm")
    axes[3].set_xlabel("time, s")
    figure.savefig(path, dpi=75)


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = walk(build("hexapod", folder))
    time, forces = rows[:, 0], rows[:, 4:10]
    rest = (time > 0.1) & (time < STAND)
    print(f"at rest: sum - weight {np.abs(forces[rest].sum(axis=1) - WEIGHT).max():.1e} N of {WEIGHT:.2f} N, each foot {forces[rest][-1]}")
    print(f"way {rows[-1, 1]:.6f} m, aside {np.abs(rows[:, 2]).max():.1e} m, height {np.abs(rows[:, 3] - STANDING).max():.1e} m")
    print(f"slip {rows[:, 10:16][forces > 1.0].max():.1e} m/s; sum of a step's mean {forces[time > STAND].sum(axis=1).mean():.4f} N")
    draw(rows, HERE / "figure.png")


if __name__ == "__main__":
    if sys.argv[1:] == ["model"]:
        print(model(), end="")
    elif sys.argv[1:] == ["input"]:
        print_input()
    else:
        main()
