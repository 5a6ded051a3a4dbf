"""An arm that presses its tool on a table, and moves it over the table: Schmucker's law beside hard contact on a spring.

`python press.py` runs all cases and draws the figure of this folder, `python press.py model` prints model.toml, which is
made here.
"""

import sys
import tempfile
import time
from math import acos, atan2, cos, hypot, sin
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from fmu_side import FmuSide, build  # noqa: E402

UPPER, FORE, TOOL, SHOULDER = 0.25, 0.22, 0.1, 0.35  # m: arms, tool, height of the shoulder
MASSES = {"column": 4.0, "upper": 3.0, "fore": 2.0, "tool": 0.5}
REACH, TABLE = 0.30, 0.10  # m: of the tool at the start, height of the table
STIFFNESSES = [1e5, 1e4, 1e3, 5e2]  # N/m
RESTITUTION, MU = 0.8, 0.3
PLATE = 0.05  # kg, on the spring of the hard contact
STEP = 1e-3
CLEARANCE, DEPTH, WAY = 0.01, 0.002, 0.02  # m: above the table at the start, below it, and along it
DOWN, HOLD = 0.4, 0.2  # s
STOP = {"normal": 2 * DOWN + 2 * HOLD, "free": 4 * DOWN + 4 * HOLD}


def smooth(part):
    part = min(max(part, 0.0), 1.0)
    return part**3 * (10 - 15 * part + 6 * part**2)


def tip(mode, now):
    """Where the tool's tip shall be, from the point of the table below its start."""
    moves = [CLEARANCE + DEPTH] if mode == "normal" else [CLEARANCE + DEPTH, WAY, -WAY]
    down, along, start = -moves[0] * smooth((now - HOLD) / DOWN), 0.0, HOLD + DOWN + HOLD
    for move in moves[1:]:
        along += move * smooth((now - start) / DOWN)
        start += DOWN + (HOLD if move > 0 else 0.0)
    up = moves[0] * smooth((now - start) / DOWN)
    return np.array([0.0, along, CLEARANCE + down + up])


def angles(place):
    """Of waist, shoulder, elbow (elevations) with the tool upright."""
    x, y, z = place + [REACH, 0.0, TABLE]
    out, up = hypot(x, y), z + TOOL - SHOULDER
    way = hypot(out, up)
    shoulder = atan2(up, out) + acos((UPPER**2 + way**2 - FORE**2) / (2 * UPPER * way))
    fore = atan2(up - UPPER * sin(shoulder), out - UPPER * cos(shoulder))
    return np.array([atan2(y, x), shoulder, fore])


START = np.array([0.0, 0.0, CLEARANCE])


def drives(place):
    """Angles of the four joints since the start."""
    waist, shoulder, fore = angles(place) - angles(START)
    return [waist, shoulder, fore - shoulder, -fore]


def press(fmu, mode, step=STEP):
    """Columns: time, tip (x, y, z above the table), normal force, friction (x, y, z), all after each step."""
    joints = ["waist", "shoulder", "elbow", "wrist"]
    outputs = ["tool.r[1]", "tool.r[2]", "tool.r[3]", "tool_table.f_n", *(f"tool_table.f_t[{k}]" for k in (1, 2, 3))]
    rows = []
    with FmuSide(fmu, inputs=[f"{joint}.drive" for joint in joints], outputs=outputs) as arm:
        arm.start(drives(START))
        for k in range(round(STOP[mode] / step)):
            values = arm.step(k * step, step, drives(tip(mode, (k + 1) * step)))
            rows.append([(k + 1) * step, values[0] - REACH, values[1], values[2] - TOOL / 2 - TABLE, *values[3:]])
    return np.array(rows)


def schmucker(mode, stiffness, step=STEP):
    """Normal force and friction by equations 1 and 2 of the paper, along the path as it is commanded."""
    fine = 20
    times = np.arange(round(STOP[mode] / step) * fine + 1) * step / fine
    path = np.array([tip(mode, now) for now in times])
    depth, along = -path[:, 2], path[:, 1]
    rate = np.gradient(depth, times)
    forces, anchor, speed = np.zeros((len(times), 2)), None, None
    for k, p in enumerate(depth):
        if p <= 0.0:
            anchor = None
            continue
        if anchor is None:
            anchor, speed = along[k], rate[k]
        normal = max(0.0, stiffness * p * (1 + (1 - RESTITUTION) / (RESTITUTION * speed) * rate[k]))
        longest = MU * normal / stiffness
        anchor = min(max(anchor, along[k] - longest), along[k] + longest)
        forces[k] = normal, -stiffness * (along[k] - anchor)
    # The mean over each step.
    whole = (forces[:-1] + forces[1:]) / 2
    return whole.reshape(-1, fine, 2).mean(axis=1)


def numbers(values):
    return "[" + ", ".join(f"{round(float(value), 14) + 0.0:.14g}" for value in values) + "]"


def model(law="schmucker", stiffness=1e4):
    """Text of a model file; `law` "schmucker", or "hard" for a plate on a spring of that stiffness."""
    _, shoulder, fore = angles(START)
    elbow = np.array([UPPER * cos(shoulder), 0.0, SHOULDER + UPPER * sin(shoulder)])
    wrist = elbow + [FORE * cos(fore), 0.0, FORE * sin(fore)]
    lines = [
        "# Written by `python press.py model`.",
        "[model]",
        'name = "manipulator"',
        'description = "An arm that presses its tool on a table (Schmucker 2007, section 3.1)"',
        "",
        "[experiment]",
        "stop = 1.0                           # it stays above the table; press.py moves it",
        f"step = {STEP:g}",
    ]

    def rod(name, length, middle, direction, extra=()):
        mass = MASSES[name]
        across = mass * (length**2 / 12 + 0.04**2 / 4)
        half = -atan2(direction[2], direction[0]) / 2
        lines.extend(
            [
                "",
                "[[node]]",
                f'name = "{name}"',
                'coupling = "owned"',
                f"mass = {mass}",
                f"inertia = {numbers([mass * 0.04**2 / 2, across, across])}",
                *extra,
                f"position = {numbers(middle)}",
                f"orientation = {numbers([cos(half), 0.0, sin(half), 0.0])}",
            ]
        )

    rod("column", SHOULDER, [0.0, 0.0, SHOULDER / 2], [0.0, 0.0, 1.0])
    rod("upper", UPPER, (elbow + [0.0, 0.0, SHOULDER]) / 2, [cos(shoulder), 0.0, sin(shoulder)])
    rod("fore", FORE, (elbow + wrist) / 2, [cos(fore), 0.0, sin(fore)])
    point = [f"shape.points = [{numbers([TOOL / 2, 0.0, 0.0])}]"]
    rod("tool", TOOL, wrist - [0.0, 0.0, TOOL / 2], [0.0, 0.0, -1.0], point)
    for name, ends, axis, place in (
        ("waist", ("ground", "column"), [0, 0, 1], [0, 0, 0]),
        ("shoulder", ("column", "upper"), [0, -1, 0], [0, 0, SHOULDER]),
        ("elbow", ("upper", "fore"), [0, -1, 0], elbow),
        ("wrist", ("fore", "tool"), [0, -1, 0], wrist),
    ):
        lines += [
            "",
            "[[joint]]",
            f'name = "{name}"',
            f'between = ["{ends[0]}", "{ends[1]}"]',
            f"revolute = {{ axis = {numbers(axis)}, position = {numbers(place)} }}",
            'drive.position = "input"',
        ]
    if law == "schmucker":
        lines += [
            "",
            "[[surface]]",
            'name = "table"',
            "shape.plane.normal = [0.0, 0.0, 1.0]",
            f"position = {numbers([REACH, 0, TABLE])}",
            "",
            "[[contact]]",
            'between = ["tool", "table"]',
            f"compliance.schmucker = {{ stiffness = {stiffness:.1f}, restitution = {RESTITUTION}, mu = {MU} }}",
        ]
    else:
        sag = PLATE * 9.81 / stiffness
        damping = 0.4 * (stiffness * PLATE) ** 0.5
        lines += [
            "",
            "[[node]]",
            'name = "table"',
            'coupling = "owned"',
            f"mass = {PLATE}",
            "inertia = [1e-4, 1e-4, 2e-4]",
            "shape.box.size = [0.2, 0.2, 0.02]",
            f"position = {numbers([REACH, 0, TABLE - 0.01])}",
            "",
            "[[joint]]",
            'name = "guide"',
            'between = ["ground", "table"]',
            f"prismatic = {{ axis = [0.0, 0.0, 1.0], position = {numbers([REACH, 0, TABLE - 0.01])} }}",
            "",
            "[[spring]]",
            'name = "environment"',
            'between = ["ground", "table"]',
            f"stiffness = {stiffness:.1f}",
            f"damping = {damping:.6g}",
            f"length = {0.5 + sag:.14g}",
            f"anchors = [{numbers([REACH, 0, TABLE - 0.51])}, [0.0, 0.0, 0.0]]",
            "",
            "[[contact]]",
            'between = ["tool", "table"]',
            f"restitution = {RESTITUTION}",
            f"friction.cone.mu = {MU}",
        ]
    return "\n".join(lines) + "\n"


def run(law, stiffness, mode, folder):
    """Rows of one case, and the processor time of its steps."""
    source = Path(folder) / "manipulator.toml"
    source.write_text(model(law, stiffness))
    fmu = build("manipulator", folder, source)
    start = time.process_time()
    return press(fmu, mode), time.process_time() - start


def draw(runs, path):
    """Figures 6 and 7 of the paper: its law on the left of each pair, hard contact on the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 4, figsize=(11, 7.5), sharex="col", constrained_layout=True)
    for row, stiffness in enumerate(STIFFNESSES):
        for pair, mode in enumerate(("normal", "free")):
            for side, law in enumerate(("schmucker", "hard")):
                rows = runs[law, stiffness, mode]
                axis = axes[row, 2 * pair + side]
                axis.plot(rows[:, 0], rows[:, 4], color="tab:blue", linewidth=1, label="normal force")
                if mode == "free":
                    axis.plot(rows[:, 0], rows[:, 6], color="tab:red", linewidth=1, label="friction")
                axis.set_ylim(-0.4 * stiffness * DEPTH, 1.3 * stiffness * DEPTH)
                place = axis.twinx()
                place.plot(rows[:, 0], 1e3 * rows[:, 3], color="magenta", linewidth=0.6)
                if mode == "free":
                    place.plot(rows[:, 0], 1e3 * rows[:, 2] / 4, color="green", linewidth=0.6)
                place.set_ylim(-11, 11)
                place.tick_params(labelsize="xx-small")
                axis.tick_params(labelsize="x-small")
                if row == 0:
                    axis.set_title(f"{mode}, {'Schmucker' if law == 'schmucker' else 'hard on a spring'}", fontsize="small")
                if pair + side == 0:
                    axis.set_ylabel(f"{stiffness:g} N/m\nforce, N", fontsize="small")
    axes[0, 2].legend(fontsize="xx-small", loc="upper left")
    figure.supxlabel("time, s; magenta: height of the tip in mm, green: its way along the table in 4 mm", fontsize="small")
    figure.savefig(path, dpi=60)


def main():
    runs, times = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for law in ("schmucker", "hard"):
            for stiffness in STIFFNESSES:
                for mode in STOP:
                    case = law, stiffness, mode
                    runs[case], times[case] = run(*case, folder)
                    print(f"{law}, {stiffness:g} N/m, {mode}: up to {runs[case][:, 4].max():.2f} N")
    for stiffness in STIFFNESSES:
        ratio = times["schmucker", stiffness, "free"] / times["hard", stiffness, "free"]
        print(f"{stiffness:g} N/m: Schmucker's law takes {ratio:.0f} times the processor time")
    draw(runs, HERE / "figure.png")


if __name__ == "__main__":
    if sys.argv[1:] == ["model"]:
        print(model(), end="")
    else:
        main()
