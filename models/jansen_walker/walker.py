"""Four sections of Theo Jansen's linkage on one crankshaft: eight legs that walk.

`python walker.py` runs it and draws the figure of this folder, `python walker.py slow` lets the crank turn as slowly as in the
thesis, `python walker.py model` prints model.toml, which is made here.
"""

import sys
import tempfile
from math import atan2, cos, pi, radians, sin
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
from fmu_side import FmuSide, build, vector  # noqa: E402
from linkage import LENGTHS, mirrored, points  # noqa: E402

SCALE = 0.01  # m in a unit of the linkage
SECTIONS = {"one": (-0.6, 90.0), "two": (-0.2, 270.0), "three": (0.2, 270.0), "four": (0.6, 90.0)}  # y, phase in deg
FRAME_MASS, SHAFT_MASS, CRANK_MASS, UPPER_MASS, ROD_MASS, SHIN_MASS, PAD_MASS = 20.0, 1.0, 0.25, 1.0, 0.4, 0.9, 0.1
WEIGHT = 9.81 * (FRAME_MASS + SHAFT_MASS + 4 * CRANK_MASS + 8 * (UPPER_MASS + ROD_MASS + SHIN_MASS + PAD_MASS))
THICKNESS = 0.02
PAD_STIFFNESS, PAD_DAMPING = 3e4, 200.0  # N/m and N.s/m
BUSH_RADIUS, TWIST_STIFFNESS, TWIST_DAMPING = 0.1, 50.0, 2.0  # m, N.m/rad and N.m.s/rad of both bushes of a crank
TURN, TURN_OF_THE_THESIS = 10.0, 200.0  # s
STAND = 1.0  # s before the crank starts, which takes as long
STEP = 4e-3
FACETS, CONE = "friction.facets = { mu = 1.2, facets = 16, aligned = false }", "friction.cone.mu = 1.2"
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


def crank(section, y, world, twist_stiffness):
    """Of a section: it turns in the frame, and two rubber bushes hold it to the shaft."""
    lines = [
        "",
        "[[node]]",
        f'name = "crank_{section}"',
        'coupling = "owned"',
        f"mass = {CRANK_MASS}",
        f"inertia = {numbers([CRANK_MASS * 0.01, CRANK_MASS * 0.02, CRANK_MASS * 0.01])}",
        f"position = {world([0.0, 0.0], y)}",
        "",
        "[[joint]]",
        f'name = "bearing_{section}"',
        f'between = ["frame", "crank_{section}"]',
        f"revolute = {{ axis = [0.0, -1.0, 0.0], position = {world([0.0, 0.0], y)} }}",
    ]
    for bush, place in (("left", -BUSH_RADIUS), ("right", BUSH_RADIUS)):
        lines += [
            "",
            "[[spring]]",
            f'name = "{bush}_bush_{section}"',
            f'between = ["shaft", "crank_{section}"]',
            f"stiffness = {twist_stiffness / (2 * BUSH_RADIUS**2):.10g}",
            f"damping = {TWIST_DAMPING / (2 * BUSH_RADIUS**2):.10g}",
            f"anchors = [{numbers([place, y, 0.0])}, {numbers([place, 0.0, 0.0])}]",
        ]
    return lines


def model(friction=FACETS, turn_time=TURN, twist_stiffness=TWIST_STIFFNESS):
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
        'name = "shaft"',
        'coupling = "owned"',
        f"mass = {SHAFT_MASS}",
        f"inertia = {numbers([SHAFT_MASS * 0.12, SHAFT_MASS * 0.01, SHAFT_MASS * 0.12])}",
        f"position = {world([0.0, 0.0], 0.0)}",
        "",
        "[[joint]]",
        'name = "motor"',
        'between = ["frame", "shaft"]',
        f"revolute = {{ axis = [0.0, -1.0, 0.0], position = {world([0.0, 0.0], 0.0)} }}",
        f"drive.rate.ramp = {{ from = 0.0, to = {2 * pi / turn_time:.10g}, start = {STAND}, duration = {STAND} }}",
        "",
        "[[surface]]",
        'name = "ground_plane"',
        "shape.plane.normal = [0.0, 0.0, 1.0]",
    ]
    for section, (y, phase) in SECTIONS.items():
        lines += crank(section, y, world, twist_stiffness)
        for side in ("front", "rear"):
            at = leg_points(side, phase)
            name = f"{side}_{section}"
            upper = Plate(UPPER_MASS, [at["B"], at["C"], at["D"]])
            rod = Plate(ROD_MASS, [at["B"], at["E"]])
            shin = Plate(SHIN_MASS, [at["E"], at["F"], at["G"]])
            for part, plate in (("upper", upper), ("rod", rod), ("shin", shin)):
                lines += [
                    "",
                    "[[node]]",
                    f'name = "{name}_{part}"',
                    'coupling = "owned"',
                    f"mass = {plate.mass}",
                    f"inertia = {numbers(plate.inertia)}",
                ]
                lines += [f"position = {world(plate.centre, y)}", f"orientation = {numbers(plate.quaternion)}"]
            for joint, ends, place in (
                ("shoulder", ("frame", f"{name}_upper"), "B"),
                ("hip", ("frame", f"{name}_rod"), "B"),
                ("knee", (f"{name}_rod", f"{name}_shin"), "E"),
            ):
                lines += [
                    "",
                    "[[joint]]",
                    f'name = "{name}_{joint}"',
                    f'between = ["{ends[0]}", "{ends[1]}"]',
                    f"revolute = {{ axis = [0.0, 1.0, 0.0], position = {world(at[place], y)} }}",
                ]
            pin = [at["A"][0], 0.0, at["A"][1]]
            for link, ends, anchors in (
                ("j", (f"crank_{section}", f"{name}_upper"), (pin, upper.local(at["C"]))),
                ("k", (f"crank_{section}", f"{name}_shin"), (pin, shin.local(at["E"]))),
                ("f", (f"{name}_upper", f"{name}_shin"), (upper.local(at["D"]), shin.local(at["F"]))),
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
                "[[node]]",
                f'name = "{name}_pad"',
                'coupling = "owned"',
                f"mass = {PAD_MASS}",
                f"position = {world(at['G'], y)}",
                "",
                "[[spring]]",
                f'name = "{name}_rubber"',
                f'between = ["{name}_shin", "{name}_pad"]',
                f"stiffness = {PAD_STIFFNESS:g}",
                f"damping = {PAD_DAMPING:g}",
                f"anchors = [{numbers(shin.local(at['G']))}, [0.0, 0.0, 0.0]]",
                "",
                "[[contact]]",
                f'name = "{name}"',
                f'between = ["{name}_pad", "ground_plane"]',
                "restitution = 0.8",
                friction,
            ]
    return "\n".join(lines) + "\n"


QUANTITIES = ["gap", "slip", "f_n", "f_t[1]", "f_t[2]"]


def turned(w, y):
    """Angle about -y of a quaternion."""
    return -2 * np.arctan2(y, w)


def walk(fmu, stop=2 * STAND + TURN, step=STEP):
    """Columns: time, place of the frame, twist of the first crank, then of each leg in turn its quantities, the place of its
    foot along x and y, and its state (0 open, 1 sticks, 2 slides)."""
    outputs = vector("frame.r") + ["shaft.q[1]", "shaft.q[3]", "crank_one.q[1]", "crank_one.q[3]"]
    for leg in LEGS:
        outputs += [f"{leg}.{quantity}" for quantity in QUANTITIES] + [f"{leg}_pad.r[1]", f"{leg}_pad.r[2]"]
    rows = []
    with FmuSide(fmu, outputs=outputs) as walker:
        walker.start()
        states = [walker.references[f"{leg}.state"] for leg in LEGS]
        for k in range(round(stop / step)):
            found = walker.step(k * step, step)
            twist = (turned(*found[5:7]) - turned(*found[3:5]) + pi) % (2 * pi) - pi
            legs = np.column_stack([np.reshape(found[7:], (len(LEGS), -1)), walker.slave.getInteger(states)])
            rows.append([(k + 1) * step, *found[:3], twist, *legs.ravel()])
    return np.array(rows)


def legs_of(rows):
    """Times by legs by the quantities, the place and the state."""
    return rows[:, 5:].reshape(len(rows), len(LEGS), -1)


def creep(time, force, places, least=20.0, pause=0.2):
    """How far a foot goes, at most, from the place where it first carries more than the least force until it does so no more;
    a stance ends where it carries less for as long as the pause."""
    carries = np.flatnonzero(force > least)
    if len(carries) == 0:
        return 0.0
    stances = np.split(carries, np.flatnonzero(np.diff(time[carries]) > pause) + 1)
    return max(np.linalg.norm(places[stance] - places[stance[0]], axis=1).max() for stance in stances)


def numbers_of(rows, start=2 * STAND):
    """What the README tells, of the part in which the crank turns evenly."""
    rows = rows[rows[:, 0] > start]
    legs, step = legs_of(rows), rows[1, 0] - rows[0, 0]
    gap, slip, force, places, state = legs[:, :, 0], legs[:, :, 1], legs[:, :, 2], legs[:, :, 5:7], legs[:, :, 7]
    way = rows[0, 1] - rows[-1, 1]
    return dict(
        way=way,
        aside=np.abs(rows[:, 2]).max(),
        bob=np.ptp(rows[:, 3]),
        twist=np.abs(rows[:, 4]).max(),
        weight_error=force.sum(axis=1).mean() / WEIGHT - 1,
        slide=(force * slip).sum() * step / (WEIGHT * way),
        stuck=force[state == 1].sum() / force.sum(),
        sliding_load=force[state == 2].max(initial=0.0),
        creep=max(creep(rows[:, 0], force[:, leg], places[:, leg]) for leg in range(len(LEGS))),
        duty=(force > 0).mean(axis=0),
        low=(gap < 1e-3).mean(axis=0),
        penetration=-gap.min(),
    )


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
        axes[1].plot(time, legs[:, 0, column], linewidth=0.8, label=name)
    axes[1].set_ylabel("reactions, N")
    axes[1].legend(loc="upper right", fontsize="small")
    for leg, name in enumerate(LEGS):
        stands = legs[:, leg, 2] > 0.0
        axes[2].fill_between(time, leg, leg + 0.8, where=stands, color="tab:red" if leg % 2 == 0 else "tab:blue", linewidth=0)
    axes[2].set_yticks(np.arange(len(LEGS)) + 0.4, [name.replace("_", " ") for name in LEGS], fontsize="small")
    axes[2].set_ylabel("on the ground")
    axes[3].plot(time, -rows[:, 1])
    axes[3].set_ylabel("way, m")
    axes[3].set_xlabel("time, s")
    figure.savefig(path, dpi=75)


def walked(folder, friction=FACETS, turn_time=TURN, twist_stiffness=TWIST_STIFFNESS, turns=1.0):
    """Stands, starts and walks for some turns of the crank; the rows of `walk`."""
    source = Path(folder) / "walker.toml"
    source.write_text(model(friction, turn_time, twist_stiffness))
    return walk(build("jansen_walker", folder, source), 2 * STAND + turns * turn_time)


def main(turn_time=TURN):
    for name, friction in (("16 sides", FACETS), ("cone", CONE)):
        with tempfile.TemporaryDirectory() as folder:
            rows = walked(folder, friction, turn_time)
        print(name, *(f"  {key} {value}" for key, value in numbers_of(rows).items()), sep="\n")
    if turn_time == TURN:
        draw(rows, HERE / "figure.png")


if __name__ == "__main__":
    if sys.argv[1:] == ["model"]:
        print(model(), end="")
    elif sys.argv[1:] == ["slow"]:
        main(TURN_OF_THE_THESIS)
    else:
        main()
