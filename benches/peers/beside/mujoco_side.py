"""The cases in MuJoCo."""

import time
from importlib.metadata import version

import mujoco
import numpy as np
from cases import serve

VERSION = f"MuJoCo {version('mujoco')}"


def run(world, stop, step, gravity, look, options="", velocity=0.0):
    """What `look` sees after each step, with time."""
    xml = f'<mujoco><option timestep="{step}" {options}/><worldbody>{world}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    model.opt.gravity[:] = gravity
    data = mujoco.MjData(model)
    data.qvel[0] = velocity
    mujoco.mj_forward(model, data)
    rows = [look(data)]
    for _ in range(round(stop / step)):
        mujoco.mj_step(model, data)
        rows.append(look(data))
    return np.arange(len(rows)) * step, np.array(rows)


def scene(bodies, material):
    """Free bodies of 1 kg over a plane: shape, half sizes and position of each."""
    free = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="{shape}" size="{size}" mass="1" {material}/></body>'
        for shape, size, (x, y, z) in bodies
    )
    return f'<geom type="plane" size="50 50 1" {material}/>{free}'


def damping_ratio(restitution):
    """Of a linear spring and damper that does not pull and rebounds so. [Schwager and Poeschel 2007]"""
    low, high = 0.0, 0.5
    for _ in range(60):
        zeta = (low + high) / 2
        part = np.sqrt(1 - zeta**2)
        rebound = np.exp(-zeta / part * (np.pi - np.arctan2(2 * zeta * part, 1 - 2 * zeta**2)))
        low, high = (zeta, high) if rebound > restitution else (low, zeta)
    return low


def bounce(step, gravity, restitution):
    zeta = damping_ratio(restitution)
    for stiffness in (1e3, 1e4, 1e5, 1e6):
        # Explicit in the damping: a period has to have some steps, and the ball must not sink in by its size.
        if stiffness * step**2 > 1.0 or stiffness * step**2 < 1e-4:
            continue
        damping = 2 * zeta * np.sqrt(stiffness)
        world = scene([("sphere", "0.1", (0, 0, 1))], f'solref="-{stiffness} -{damping}" solimp="0.99 0.99 0.001"')
        look = lambda data: data.qpos[2] + data.qvel[2] ** 2 / (2 * gravity) * (data.ncon == 0)
        yield f"MuJoCo, solref -{stiffness:g} -{damping:.3g}", *run(world, 1.6, step, (0, 0, -gravity), look)


def incline(gravity, mu):
    world = scene([("box", "0.1 0.1 0.05", (0, 0, 0.05))], f'friction="{mu} 0 0"')
    for name, options in (
        ("as it is", ""),
        ("elliptic cone, impratio 10", 'cone="elliptic" impratio="10"'),
        ("elliptic cone, noslip_iterations 20", 'cone="elliptic" noslip_iterations="20"'),
    ):
        _, way = run(world, 5.0, 1e-3, gravity, lambda data: data.qpos[0], options)
        yield f"MuJoCo, {name}", way[-1]


def stack(gravity, mu):
    boxes = [("box", "0.05 0.05 0.05", (0, 0, 0.05 + 0.1 * k)) for k in range(10)]
    for name, options in (("as it is", ""), ("elliptic cone, implicitfast", 'cone="elliptic" integrator="implicitfast"')):
        look = lambda data: data.qpos.reshape(10, 7)[:, :3].copy()
        _, places = run(scene(boxes, f'friction="{mu} 0 0"'), 10.0, 1e-3, (0, 0, -gravity), look, options)
        yield f"MuJoCo, {name}", places[-1]


def rolling(gravity, mu, speed):
    world = scene([("sphere", "0.1", (0, 0, 0.1))], f'friction="{mu} 0 0"')
    for name, options in (("as it is", ""), ("elliptic cone", 'cone="elliptic"')):
        look = lambda data: (data.qvel[0], data.qpos[0])
        _, seen = run(world, 2.0, 1e-3, (0, 0, -gravity), look, options, speed)
        yield f"MuJoCo, {name}", *seen[-1]


def robot(path):
    spec = mujoco.MjSpec.from_file(path)
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
    yield "MuJoCo", best


def peer():
    yield VERSION,


if __name__ == "__main__":
    serve(globals())
