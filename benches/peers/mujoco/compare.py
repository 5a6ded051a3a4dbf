#!/usr/bin/env python3
"""Small cases with known answers in MuJoCo and in contact-fmu, for docs/beside.md.

    pip install mujoco numpy
    python benches/peers/mujoco/compare.py [CASE ...]

Prints one table a case. The builder is target/release/contact-fmu, or what CONTACT_FMU names.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

try:
    import mujoco
except ImportError:
    mujoco = None

ROOT = Path(__file__).resolve().parents[3]
BUILDER = os.environ.get("CONTACT_FMU", str(ROOT / "target/release/contact-fmu"))
G = 9.81


def ours(text, stop, step=1e-3):
    """Columns of a run of a model."""
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out.csv"
        model.write_text(text)
        command = [BUILDER, "simulate", model, "--stop", stop, "--step", step, "-o", out]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        with open(out, newline="") as file:
            header, *rows = csv.reader(file)
    return dict(zip(header, np.array(rows, float).T))


def theirs(world, stop, step=1e-3, options="", prepare=lambda model, data: None, look=lambda data: data.qpos.copy()):
    """What `look` sees of MuJoCo after each step, with time."""
    xml = f'<mujoco><option timestep="{step}" gravity="0 0 -{G}" {options}/><worldbody>{world}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    prepare(model, data)
    mujoco.mj_forward(model, data)
    rows = [look(data)]
    for _ in range(round(stop / step)):
        mujoco.mj_step(model, data)
        rows.append(look(data))
    return np.arange(len(rows)) * step, np.array(rows)


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


FLOOR = """
[[surface]]
name = "floor"
shape.plane.normal = [0.0, 0.0, 1.0]
"""


def damping_ratio(restitution):
    """Of a linear spring and damper that does not pull and rebounds so. [Schwager and Poeschel 2007]"""
    low, high = 0.0, 0.5
    for _ in range(60):
        zeta = (low + high) / 2
        part = np.sqrt(1 - zeta**2)
        rebound = np.exp(-zeta / part * (np.pi - np.arctan2(2 * zeta * part, 1 - 2 * zeta**2)))
        low, high = (zeta, high) if rebound > restitution else (low, zeta)
    return low


def bounce():
    """A ball of 0.1 m that falls from 1 m with restitution 0.8: height of the second and third apex."""
    fall = np.sqrt(2 * 0.9 / G)
    apexes = [0.1 + 0.9 * 0.8 ** (2 * n) for n in (1, 2)]
    # The n-th apex is midway between impacts.
    times = [fall * (1 + 0.8), fall * (1 + 2 * 0.8 + 0.8**2)]

    def errors(t, z):
        found = [z[np.abs(t - time) < 0.05].max() for time in times]
        return [f"{abs(one - apex):.1e}" for one, apex in zip(found, apexes)]

    rows = []
    for step in (1e-2, 1e-3, 1e-4):
        run = ours(f"""
[model]
name = "ball"
[[node]]
name = "ball"
coupling = "owned"
mass = 1.0
shape.sphere.radius = 0.1
position = [0.0, 0.0, 1.0]
{FLOOR}
[[contact]]
between = ["ball", "floor"]
restitution = 0.8
[engine]
step = {step}
""", 1.6, min(step, 1e-2))
        # Samples of a parabola are below its top: the top is that of the energy.
        top = run["ball.r[3]"] + run["ball.v[3]"] ** 2 / (2 * G)
        rows.append(["contact-fmu", f"{step:g}", *errors(run["time"], top)])
        zeta = damping_ratio(0.8)
        for stiffness in (1e3, 1e4, 1e5, 1e6):
            # Explicit in the damping: a period has to have some steps, and the ball must not sink in by its size.
            if stiffness * step**2 > 1.0 or stiffness * step**2 < 1e-4:
                continue
            damping = 2 * zeta * np.sqrt(stiffness)
            world = f'''<geom type="plane" size="5 5 1" solref="-{stiffness} -{damping}" solimp="0.99 0.99 0.001"/>
<body pos="0 0 1"><freejoint/><geom type="sphere" size="0.1" mass="1" solref="-{stiffness} -{damping}" solimp="0.99 0.99 0.001"/></body>'''
            t, z = theirs(world, 1.6, step, look=lambda data: data.qpos[2] + data.qvel[2] ** 2 / (2 * G) * (data.ncon == 0))
            rows.append([f"MuJoCo, solref -{stiffness:g} -{damping:.3g}", f"{step:g}", *errors(t, z)])
    table(["bounce", "step, s", "error of the second apex, m", "of the third, m"], rows)


def incline():
    """A block on a slope with mu = 0.5: at 0.98 of the friction angle it stays, at 1.02 it slides."""
    rows = []
    for part in (0.98, 1.02):
        slope = np.arctan(0.5) * part
        s, c = np.sin(slope), np.cos(slope)
        exact = max(0.0, G * (s - 0.5 * c)) * 5.0**2 / 2
        run = ours(f"""
[model]
name = "block"
[engine]
gravity = [{float(G * s)!r}, 0.0, {float(-G * c)!r}]
[[node]]
name = "block"
coupling = "owned"
mass = 1.0
inertia = [0.0025, 0.0025, 0.004]
shape.box.size = [0.2, 0.2, 0.1]
position = [0.0, 0.0, 0.05]
{FLOOR}
[[contact]]
between = ["block", "floor"]
friction.cone.mu = 0.5
""", 5.0, 1e-2)
        found = run["block.r[1]"][-1]
        rows.append([f"{part}", "contact-fmu", f"{found:.6g}", f"{abs(found - exact):.1e}"])
        for name, options, geom in (
            ("MuJoCo, as it is", "", ""),
            ("MuJoCo, elliptic cone, impratio 10", 'cone="elliptic" impratio="10"', ""),
            ("MuJoCo, elliptic cone, noslip_iterations 20", 'cone="elliptic" noslip_iterations="20"', ""),
        ):
            world = f'''<geom type="plane" size="50 50 1" friction="0.5 0 0"/>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="0.5 0 0" {geom}/></body>'''

            def tilt(model, data):
                model.opt.gravity[:] = G * s, 0.0, -G * c

            t, x = theirs(world, 5.0, 1e-3, options, tilt, lambda data: data.qpos[0])
            rows.append([f"{part}", name, f"{x[-1]:.6g}", f"{abs(x[-1] - exact):.1e}"])
    table(["part of the friction angle", "code, step 1e-3 s", "way after 5 s, m", "error, m"], rows)


def stack():
    """Ten boxes of 1 kg and 0.1 m on one another, for 10 s."""
    text = """
[model]
name = "stack"
[[node]]
name = "box"
coupling = "owned"
mass = 1.0
inertia = [0.0016666666666666668, 0.0016666666666666668, 0.0016666666666666668]
shape.box.size = [0.1, 0.1, 0.1]
position = [0.0, 0.0, 0.05]
copies = { count = [1, 1, 10], spacing = [0.0, 0.0, 0.1] }
""" + FLOOR + """
[[contact]]
between = ["box_*", "floor"]
friction.cone.mu = 0.5
[[contact]]
between = ["box_*", "box_*"]
friction.cone.mu = 0.5
"""
    run = ours(text, 10.0, 1e-2)
    aside = max(np.hypot(run[f"box_{k}.r[1]"][-1], run[f"box_{k}.r[2]"][-1]) for k in range(1, 11))
    sunk = 0.95 - run["box_10.r[3]"][-1]
    rows = [["contact-fmu", f"{aside:.1e}", f"{sunk:.1e}"]]
    boxes = "".join(f'<body pos="0 0 {0.05 + 0.1 * k}"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1" friction="0.5 0 0"/></body>' for k in range(10))
    world = f'<geom type="plane" size="5 5 1" friction="0.5 0 0"/>{boxes}'
    for name, options in (("MuJoCo, as it is", ""), ("MuJoCo, elliptic cone, implicitfast", 'cone="elliptic" integrator="implicitfast"')):
        t, q = theirs(world, 10.0, 1e-3, options)
        last = q[-1].reshape(10, 7)
        aside = np.hypot(last[:, 0], last[:, 1]).max()
        rows.append([name, f"{aside:.1e}", f"{0.95 - last[-1, 2]:.1e}"])
    table(["stack of ten, step 1e-3 s", "moved aside after 10 s, m", "top box sunk by, m"], rows)


def rolling():
    """A ball of 0.1 m thrown at 2 m/s without spin, mu = 0.2: it slides for 2 v/(7 mu g), then rolls with 5/7 of v."""
    exact_time, exact_speed = 2 * 2.0 / (7 * 0.2 * G), 2.0 * 5 / 7
    way = 2.0 * exact_time - 0.2 * G * exact_time**2 / 2 + exact_speed * (2.0 - exact_time)
    run = ours(f"""
[model]
name = "ball"
[[node]]
name = "ball"
coupling = "owned"
mass = 1.0
inertia = [0.004, 0.004, 0.004]
shape.sphere.radius = 0.1
position = [0.0, 0.0, 0.1]
velocity = [2.0, 0.0, 0.0]
{FLOOR}
[[contact]]
between = ["ball", "floor"]
friction.cone.mu = 0.2
""", 2.0, 1e-2)
    rows = [["contact-fmu", f"{abs(run['ball.v[1]'][-1] - exact_speed):.1e}", f"{abs(run['ball.r[1]'][-1] - way):.1e}"]]

    def throw(model, data):
        data.qvel[0] = 2.0

    for name, options in (("MuJoCo, as it is", ""), ("MuJoCo, elliptic cone", 'cone="elliptic"')):
        world = '''<geom type="plane" size="50 50 1" friction="0.2 0 0"/>
<body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0.2 0 0"/></body>'''
        t, seen = theirs(world, 2.0, 1e-3, options, throw, lambda data: (data.qvel[0], data.qpos[0]))
        rows.append([name, f"{abs(seen[-1, 0] - exact_speed):.1e}", f"{abs(seen[-1, 1] - way):.1e}"])
    table(["sliding, then rolling, step 1e-3 s", "error of the speed, m/s", "of the way after 2 s, m"], rows)


def robot():
    """The dog of tests/fixtures/urdf, dropped: processor time of a step of 1e-3 s, mean from 0.1 to 0.6 s."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "dog.toml"
        subprocess.run([BUILDER, "import", str(ROOT / "tests/fixtures/urdf/quadruped.urdf"), "-o", str(model), "--floor", "-0.6"], check=True, capture_output=True)
        subprocess.run([BUILDER, "build", str(model), "-o", f"{folder}/dog.fmu"], check=True, capture_output=True)

        def spent(stop):
            before = os.times().children_user
            subprocess.run([BUILDER, "simulate", f"{folder}/dog.fmu", "--stop", str(stop), "--step", "1e-3", "-o", f"{folder}/out.csv"], check=True, capture_output=True)
            return os.times().children_user - before

        few, many = min(spent(0.1) for _ in range(3)), min(spent(0.6) for _ in range(3))
        rows.append(["contact-fmu", f"{(many - few) / 500 * 1e6:.0f}"])
    spec = mujoco.MjSpec.from_file(str(ROOT / "tests/fixtures/urdf/quadruped.urdf"))
    base = spec.worldbody.first_body()
    if base is not None and not base.joints:
        base.add_freejoint()
    base.pos = [0, 0, 0.6]
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])
    spec.option.timestep = 1e-3
    compiled = spec.compile()
    data = mujoco.MjData(compiled)
    best = np.inf
    for _ in range(5):
        mujoco.mj_resetData(compiled, data)
        for _ in range(100):
            mujoco.mj_step(compiled, data)
        start = time.process_time()
        for _ in range(500):
            mujoco.mj_step(compiled, data)
        best = min(best, (time.process_time() - start) / 500)
    rows.append(["MuJoCo", f"{best * 1e6:.0f}"])
    table(["a dog of twelve joints on a floor", "us a step of 1e-3 s"], rows)


CASES = {case.__name__: case for case in (bounce, incline, stack, rolling, robot)}

if __name__ == "__main__":
    if mujoco is None:
        sys.exit("pip install mujoco")
    print(f"MuJoCo {mujoco.__version__}")
    for name in sys.argv[1:] or CASES:
        CASES[name]()
