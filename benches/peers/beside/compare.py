#!/usr/bin/env python3
"""Small cases with known answers in MuJoCo, Drake, Siconos and contact-fmu, for docs/beside.md.

    benches/peers/beside/run [CASE ...]

installs the peers and prints one table a case. The builder is target/release/contact-fmu, or what CONTACT_FMU names. A peer that
is not there is left out, and told.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from cases import MARK

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILDER = os.environ.get("CONTACT_FMU", str(ROOT / "target/release/contact-fmu"))
DOG = ROOT / "tests/fixtures/urdf/quadruped.urdf"
G = 9.81
# Debian's Siconos is for Debian's Python.
SIDES = {"mujoco_side.py": sys.executable, "drake_side.py": sys.executable, "siconos_side.py": "/usr/bin/python3"}


def ask(side, case, *arguments):
    """Rows of a case by a peer."""
    command = [SIDES[side], str(HERE / side), case, json.dumps(arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [json.loads(line.removeprefix(MARK)) for line in done.stdout.splitlines() if line.startswith(MARK)]


def asked(case, *arguments):
    """Rows of a case by all peers that have it."""
    for side in SIDES:
        if f"def {case}(" in (HERE / side).read_text():
            yield from ask(side, case, *arguments)


def ours(text, stop, step):
    """Columns of a run of a model."""
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out.csv"
        model.write_text(text)
        command = [BUILDER, "simulate", model, "--stop", stop, "--step", step, "-o", out]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        with open(out, newline="") as file:
            header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, float).T))


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def model(nodes, contact, gravity=(0.0, 0.0, -G), step=1e-3):
    """Nodes over a floor."""
    return f"""
[model]
name = "beside"
[engine]
step = {step}
gravity = {[float(component) for component in gravity]}
{nodes}
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
{contact}
"""


def node(name, shape, inertia, position, more=""):
    return f"""
[[node]]
name = "{name}"
coupling = "owned"
mass = 1.0
inertia = {inertia}
{shape}
position = {position}
{more}
"""


BALL = "shape.sphere.radius = 0.1", [0.004] * 3


def bounce():
    """A ball of 0.1 m that falls from 1 m with restitution 0.8: height of the second and third apex."""
    fall = np.sqrt(2 * 0.9 / G)
    apexes = [0.1 + 0.9 * 0.8 ** (2 * n) for n in (1, 2)]
    # The n-th apex is midway between impacts.
    times = [fall * (1 + 0.8), fall * (1 + 2 * 0.8 + 0.8**2)]

    def errors(t, z):
        found = [np.array(z)[np.abs(np.array(t) - time) < 0.05].max() for time in times]
        return [f"{abs(one - apex):.1e}" for one, apex in zip(found, apexes)]

    rows = []
    for step in (1e-2, 1e-3, 1e-4):
        contact = '[[contact]]\nbetween = ["ball", "floor"]\nrestitution = 0.8'
        run = ours(model(node("ball", *BALL, [0.0, 0.0, 1.0]), contact, step=step), 1.6, step)
        # Samples of a parabola are below its top: the top is that of the energy.
        top = run["ball.r[3]"] + run["ball.v[3]"] ** 2 / (2 * G)
        rows.append(["contact-fmu", f"{step:g}", *errors(run["time"], top)])
        rows += [[label, f"{step:g}", *errors(t, z)] for label, t, z in asked("bounce", step, G, 0.8)]
    if "drake_side.py" in SIDES:
        rows += [[label, "its integrator's", *errors(t, z)] for label, t, z in ask("drake_side.py", "bounce", 0.0, G, 0.8)]
    table(["bounce", "step, s", "error of the second apex, m", "of the third, m"], rows)


def incline():
    """A block on a slope with mu = 0.5: at 0.98 of the friction angle it stays, at 1.02 it slides."""
    rows = []
    for part in (0.98, 1.02):
        slope = np.arctan(0.5) * part
        s, c = np.sin(slope), np.cos(slope)
        exact = max(0.0, G * (s - 0.5 * c)) * 5.0**2 / 2
        gravity = [float(G * s), 0.0, float(-G * c)]
        block = node("block", "shape.box.size = [0.2, 0.2, 0.1]", [0.0025, 0.0025, 0.004], [0.0, 0.0, 0.05])
        contact = '[[contact]]\nbetween = ["block", "floor"]\nfriction.cone.mu = 0.5'
        found = [("contact-fmu", ours(model(block, contact, gravity), 5.0, 1e-2)["block.r[1]"][-1])]
        for label, way in [*found, *asked("incline", gravity, 0.5)]:
            rows.append([f"{part}", label, f"{way:.6g}", f"{abs(way - exact):.1e}"])
    table(["angle, relative to the friction angle", "code, step 1e-3 s", "distance after 5 s, m", "error, m"], rows)


def stack():
    """Ten boxes of 1 kg and 0.1 m on one another, for 10 s."""
    copies = "copies = { count = [1, 1, 10], spacing = [0.0, 0.0, 0.1] }"
    boxes = node("box", "shape.box.size = [0.1, 0.1, 0.1]", [0.1**2 / 6] * 3, [0.0, 0.0, 0.05], copies)
    contacts = "".join(f'[[contact]]\nbetween = ["box_*", "{other}"]\nfriction.cone.mu = 0.5\n' for other in ("floor", "box_*"))
    run = ours(model(boxes, contacts), 10.0, 1e-2)
    found = [("contact-fmu", [[run[f"box_{k}.r[{axis}]"][-1] for axis in (1, 2, 3)] for k in range(1, 11)])]
    rows = []
    for label, places in [*found, *asked("stack", G, 0.5)]:
        places = np.array(places)
        rows.append([label, f"{np.hypot(places[:, 0], places[:, 1]).max():.1e}", f"{0.95 - places[-1, 2]:.1e}"])
    table(["stack of ten, step 1e-3 s", "moved aside after 10 s, m", "top box sunk by, m"], rows)


def rolling():
    """A ball of 0.1 m thrown at 2 m/s without spin, mu = 0.2: it slides for 2 v/(7 mu g), then rolls with 5/7 of v."""
    exact_time, exact_speed = 2 * 2.0 / (7 * 0.2 * G), 2.0 * 5 / 7
    exact_way = 2.0 * exact_time - 0.2 * G * exact_time**2 / 2 + exact_speed * (2.0 - exact_time)
    ball = node("ball", *BALL, [0.0, 0.0, 0.1], "velocity = [2.0, 0.0, 0.0]")
    run = ours(model(ball, '[[contact]]\nbetween = ["ball", "floor"]\nfriction.cone.mu = 0.2'), 2.0, 1e-2)
    found = [("contact-fmu", run["ball.v[1]"][-1], run["ball.r[1]"][-1])]
    rows = []
    for label, speed, way in [*found, *asked("rolling", G, 0.2, 2.0)]:
        rows.append([label, f"{abs(speed - exact_speed):.1e}", f"{abs(way - exact_way):.1e}"])
    table(["sliding, then rolling, step 1e-3 s", "error of the speed, m/s", "error of the distance after 2 s, m"], rows)


def robot():
    """The dog of tests/fixtures/urdf, dropped: processor time of a step of 1e-3 s, mean from 0.1 to 0.6 s."""
    with tempfile.TemporaryDirectory() as folder:
        toml, fmu = f"{folder}/dog.toml", f"{folder}/dog.fmu"
        subprocess.run([BUILDER, "import", str(DOG), "-o", toml, "--floor", "-0.6"], check=True, capture_output=True)
        subprocess.run([BUILDER, "build", toml, "-o", fmu], check=True, capture_output=True)

        def spent(stop):
            before = os.times().children_user
            command = [BUILDER, "simulate", fmu, "--stop", str(stop), "--step", "1e-3", "-o", f"{folder}/out.csv"]
            subprocess.run(command, check=True, capture_output=True)
            return os.times().children_user - before

        few, many = min(spent(0.1) for _ in range(3)), min(spent(0.6) for _ in range(3))
    found = [("contact-fmu", (many - few) / 500)]
    rows = [[label, f"{seconds * 1e6:.0f}"] for label, seconds in [*found, *asked("robot", str(DOG))]]
    table(["a dog with twelve joints on a floor", "us a step of 1e-3 s"], rows)


CASES = {case.__name__: case for case in (bounce, incline, stack, rolling, robot)}

if __name__ == "__main__":
    for side in list(SIDES):
        try:
            ((version,),) = ask(side, "peer")
            print(version)
        except (OSError, subprocess.CalledProcessError):
            del SIDES[side]
            print(f"left out: {side} does not run here")
    for name in sys.argv[1:] or CASES:
        CASES[name]()
