"""Four sections of Theo Jansen's linkage on one crankshaft: eight legs that walk.

`python walker.py` runs it and draws the figure of this folder, `python walker.py model` prints model.toml, which is made here.
"""

import sys
import tempfile
from math import atan2, cos, pi, radians, sin
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
from fmu_side import FmuSide, build  # noqa: E402
from linkage import LENGTHS, mirrored, points  # noqa: E402

SCALE = 0.01  # m in a unit of the linkage
SECTIONS = {"one": (-0.6, 0.0), "two": (-0.2, 90.0), "three": (0.2, 270.0), "four": (0.6, 180.0)}  # y, phase in deg
FRAME_MASS, CRANK_MASS, UPPER_MASS, ROD_MASS, FOOT_MASS = 20.0, 2.0, 1.0, 0.4, 1.0
WEIGHT = 9.81 * (FRAME_MASS + CRANK_MASS + 8 * (UPPER_MASS + ROD_MASS + FOOT_MASS))
THICKNESS = 0.02
TURN = 10.0  # s
STAND = 1.0  # s before the crank starts, which takes as long
STEP = 2e-3
LEGS = [f"{side}_{section}" for section in SECTIONS for side in ("front", "rear")]


def leg_points(side, phase, turn=0.0):
    """Of a leg, in m from the axis of the crank."""
    plane = (points if side == "front" else mirrored)(radians(phase) + turn)
    return {name: SCALE * np.array(place) for name, place in plane.items()}


def height():
    """Of the crank's axis at the start, with the lowest feet on the ground."""
    return -min(leg_points(side, phase)["G"][1] for _, phase in SECTIONS.values() for side in ("front", "rear"))


class Plate:
    """A thin uniform body between corners in a plane: a triangle, or a rod."""

    def __init__(self, mass, corners):
        corners = np.array(corners)
        self.mass, self.centre = mass, corners.mean(axis=0)
        arms = corners - self.centre
        spread = mass / 12 * arms.T @ arms if len(corners) == 3 else mass / 6 * arms.T @ arms
        spread += np.eye(2) * mass * THICKNESS**2 / 12
        moments, axes = np.linalg.eigh(spread)
        self.axis = axes[:, 1] * (1 if axes[0, 1] >= 0 else -1)
        # Along its axis, across it out of the plane (y), across it in the plane.
        depth = mass * THICKNESS**2 / 12
        self.inertia = [moments[0] + depth, moments[0] + moments[1], moments[1] + depth]

    @property
    def quaternion(self):
        """About y, from the body's x into its axis."""
        turn = -atan2(self.axis[1], self.axis[0])
        return [cos(turn / 2), 0.0, sin(turn / 2), 0.0]

    def local(self, place):
        arm = np.array(place) - self.centre
        across = np.array([-self.axis[1], self.axis[0]])
        return [arm @ self.axis, 0.0, arm @ across]


def numbers(values):
    return "[" + ", ".join(f"{round(float(value), 14) + 0.0:.14g}" for value in values) + "]"


def model(friction="friction.facets = { mu = 1.2, facets = 16, aligned = false }", restitution=0.8, turn_time=TURN):
    """Text of model.toml."""
    up = height()

    def world(place, y):
        return numbers([place[0], y, place[1] + up])

    lines = [
        "# Written by `python walker.py model`.",
        "[model]",
        'name = "jansen_walker"',
        'description = "Eight legs of Theo Jansen on one crankshaft (Fancello 2012, section 7.2.2)"',
        "",
        "[experiment]",
        "stop = 1.0                           # it stands; the crank turns afterwards",
        f"step = {STEP:g}",
        "",
        "[engine]",
        "time_of_impact = false               # as in the thesis; bounces within a step are not followed",
        "tolerance = 1e-8                     # feet that hold one another have many solutions, and an exact one takes long",
        "",
        "[[node]]",
        'name = "frame"',
        'coupling = "owned"',
        f"mass = {FRAME_MASS}",
        f"inertia = {numbers([FRAME_MASS / 12 * 1.3**2, FRAME_MASS / 12 * 0.8**2, FRAME_MASS / 12 * (1.3**2 + 0.8**2)])}",
        f"position = {world([0.0, -SCALE * LENGTHS['l']], 0.0)}",
        "",
        "[[node]]",
        'name = "crank"',
        'coupling = "owned"',
        f"mass = {CRANK_MASS}",
        f"inertia = {numbers([CRANK_MASS * 0.12, CRANK_MASS * 0.01, CRANK_MASS * 0.12])}",
        f"position = {world([0.0, 0.0], 0.0)}",
        "",
        "[[joint]]",
        'name = "motor"',
        'between = ["frame", "crank"]',
        f"revolute = {{ axis = [0.0, -1.0, 0.0], position = {world([0.0, 0.0], 0.0)} }}",
        f"drive.rate.ramp = {{ from = 0.0, to = {2 * pi / turn_time:.10g}, start = {STAND}, duration = {STAND} }}",
        "",
        "[[surface]]",
        'name = "ground_plane"',
        "shape.plane.normal = [0.0, 0.0, 1.0]",
    ]
    for section, (y, phase) in SECTIONS.items():
        for side in ("front", "rear"):
            at = leg_points(side, phase)
            name = f"{side}_{section}"
            upper = Plate(UPPER_MASS, [at["B"], at["C"], at["D"]])
            rod = Plate(ROD_MASS, [at["B"], at["E"]])
            foot = Plate(FOOT_MASS, [at["E"], at["F"], at["G"]])
            for part, plate in (("upper", upper), ("rod", rod), ("foot", foot)):
                lines += [
                    "",
                    "[[node]]",
                    f'name = "{name}_{part}"',
                    'coupling = "owned"',
                    f"mass = {plate.mass}",
                    f"inertia = {numbers(plate.inertia)}",
                ]
                if part == "foot":
                    lines.append(f"shape.points = [{numbers(foot.local(at['G']))}]")
                lines += [f"position = {world(plate.centre, y)}", f"orientation = {numbers(plate.quaternion)}"]
            for joint, ends, place in (
                ("shoulder", ("frame", f"{name}_upper"), "B"),
                ("hip", ("frame", f"{name}_rod"), "B"),
                ("knee", (f"{name}_rod", f"{name}_foot"), "E"),
            ):
                lines += [
                    "",
                    "[[joint]]",
                    f'name = "{name}_{joint}"',
                    f'between = ["{ends[0]}", "{ends[1]}"]',
                    f"revolute = {{ axis = [0.0, 1.0, 0.0], position = {world(at[place], y)} }}",
                ]
            pin = [at["A"][0], y, at["A"][1]]
            for link, ends, anchors in (
                ("j", ("crank", f"{name}_upper"), (pin, upper.local(at["C"]))),
                ("k", ("crank", f"{name}_foot"), (pin, foot.local(at["E"]))),
                ("f", (f"{name}_upper", f"{name}_foot"), (upper.local(at["D"]), foot.local(at["F"]))),
            ):
                lines += [
                    "",
                    "[[joint]]",
                    f'name = "{name}_{link}"',
                    f'between = ["{ends[0]}", "{ends[1]}"]',
                    f"distance = {{ length = {SCALE * LENGTHS[link]:g}, anchors = [{numbers(anchors[0])}, {numbers(anchors[1])}] }}",
                ]
            lines += [
                "",
                "[[contact]]",
                f'name = "{name}"',
                f'between = ["{name}_foot", "ground_plane"]',
                f"restitution = {restitution}",
                friction,
            ]
    return "\n".join(lines) + "\n"


def walk(fmu, stop=2 * STAND + TURN, step=STEP):
    """Columns: time, place of the frame, then of each leg in turn its gap, slip, normal force, and friction along x and y."""
    outputs = ["frame.r[1]", "frame.r[2]", "frame.r[3]"]
    for leg in LEGS:
        outputs += [f"{leg}.gap", f"{leg}.slip", f"{leg}.f_n", f"{leg}.f_t[1]", f"{leg}.f_t[2]"]
    with FmuSide(fmu, outputs=outputs) as walker:
        walker.start()
        return np.array([[(k + 1) * step, *walker.step(k * step, step)] for k in range(round(stop / step))])


def legs_of(rows):
    """Gap, slip, normal force and friction: times by legs by these five."""
    return rows[:, 4:].reshape(len(rows), len(LEGS), 5)


def numbers_of(rows, start=2 * STAND):
    """What the README tells, of the part in which the crank turns evenly."""
    rows = rows[rows[:, 0] > start]
    legs, step = legs_of(rows), rows[1, 0] - rows[0, 0]
    gap, slip, force = legs[:, :, 0], legs[:, :, 1], legs[:, :, 2]
    way = rows[0, 1] - rows[-1, 1]
    return dict(
        way=way,
        aside=np.abs(rows[:, 2]).max(),
        weight_error=force.sum(axis=1).mean() / WEIGHT - 1,
        slide=(force * slip).sum() * step / (WEIGHT * way),
        duty=(gap < 1e-3).mean(axis=0),
        penetration=-gap.min(),
    )


def smoothed(values, count=25):
    """Mean over some steps, without which a bouncing foot is all needles."""
    return np.convolve(values, np.ones(count) / count, mode="same")


def draw(rows, path):
    """Heights of the feet of the first section, reactions of its first foot, the sum of all, and the way."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 1, figsize=(8, 9), sharex=True, constrained_layout=True)
    time, legs = rows[:, 0], legs_of(rows)
    for leg, colour in ((0, "tab:red"), (1, "tab:blue")):
        axes[0].plot(time, 100 * legs[:, leg, 0], color=colour, label=LEGS[leg].replace("_", " "))
    axes[0].set_ylabel("height of feet, cm")
    axes[0].legend(loc="upper right", fontsize="small")
    for column, name in ((2, "normal"), (3, "friction along x"), (4, "friction along y")):
        axes[1].plot(time, smoothed(legs[:, 0, column]), linewidth=0.8, label=name)
    axes[1].set_ylabel("reactions, N")
    axes[1].legend(loc="upper right", fontsize="small")
    for leg, name in enumerate(LEGS):
        stands = smoothed(legs[:, leg, 2]) > 5.0
        axes[2].fill_between(time, leg, leg + 0.8, where=stands, color="tab:red" if leg % 2 == 0 else "tab:blue", linewidth=0)
    axes[2].set_yticks(np.arange(len(LEGS)) + 0.4, [name.replace("_", " ") for name in LEGS], fontsize="small")
    axes[2].set_ylabel("on the ground")
    axes[3].plot(time, -rows[:, 1])
    axes[3].set_ylabel("way, m")
    axes[3].set_xlabel("time, s")
    figure.savefig(path, dpi=75)


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = walk(build("jansen_walker", folder))
    for name, value in numbers_of(rows).items():
        print(name, value)
    draw(rows, HERE / "figure.png")


if __name__ == "__main__":
    if sys.argv[1:] == ["model"]:
        print(model(), end="")
    else:
        main()
