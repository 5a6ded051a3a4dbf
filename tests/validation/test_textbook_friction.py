"""Friction that holds, carries and lets slip, in built FMUs, against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq
from textbook import G, box_inertia, contact, joint, model, node, plane, run

H = 1e-3
BOX = [0.2, 0.2, 0.2]


def body(name, mass, size, position, **keys):
    return node(name, mass, inertia=box_inertia(mass, size), shape={"box": {"size": size}}, position=position, **keys)


@pytest.mark.parametrize("part", [12.0 / 9.81, 1.001, 0.999, 0.5], ids=["12 N", "1.001", "0.999", "0.5"])
def test_gripper(fmus, part):
    """Pads on guides press a box of mass m from both sides with F each: it is held while 2 mu F >= m g, and else falls with
    g - 2 mu F / m. The first part is 12 N where 9.81 N are needed."""
    mass, mu = 1.0, 0.5
    force = part * mass * G / (2 * mu)
    pad = [0.05, 0.1, 0.1]
    guide = lambda name, x: joint(f"guide_{name}", "ground", name, prismatic={"axis": [1.0, 0.0, 0.0],
                                                                              "position": [x, 0.0, 0.0]})
    text = model(body("box", mass, BOX, [0.0, 0.0, 0.0]), body("left", 0.2, pad, [-0.125, 0.0, 0.0]),
                 body("right", 0.2, pad, [0.125, 0.0, 0.0]), guide("left", -0.125), guide("right", 0.125),
                 contact("box", "left", 0.0, mu), contact("box", "right", 0.0, mu))
    # The box stays between the pads.
    done = run(fmus, text, 0.14, start={"left.f_ext[1]": force, "right.f_ext[1]": -force})
    falls = max(1 - part, 0.0) * G
    error = np.abs(done["box.r[3]"] + falls * done.time**2 / 2).max()
    assert error < 1e-8, f"{error:.2e} m off, falls with {-2 * done['box.r[3]'][-1] / 0.14**2:.3f} m/s^2"
    assert np.abs(done.vector("box.r")[:, :2]).max() < 1e-8
    assert max(done.statuses) == 0


@pytest.mark.parametrize("masses", [(1, 1000), (1000, 1), (1, 10, 100, 1000), (1000, 100, 10, 1), (1, 1000, 1, 1000)], ids=str)
def test_stack_of_boxes(fmus, masses):
    """From below: each contact carries the weight above it, nothing moves."""
    boxes = [body(f"b{k}", mass, BOX, [0.0, 0.0, 0.1 + 0.2 * k]) for k, mass in enumerate(masses)]
    pairs = [contact("b0", "floor", 0.0, 0.5)]
    pairs += [contact(f"b{k}", f"b{k - 1}", 0.0, 0.5) for k in range(1, len(masses))]
    done = run(fmus, model(*boxes, plane("floor"), *pairs), 1.0)
    for k in range(len(masses)):
        place = done.vector(f"b{k}.r")
        assert np.abs(place - place[0]).max() < 1e-9
        name = "b0_floor.f_n" if k == 0 else f"b{k}_b{k - 1}.f_n"
        assert np.abs(done[name][100:] / (sum(masses[k:]) * G) - 1).max() < 1e-6
    assert max(done.statuses) == 0


@pytest.mark.parametrize("kind", ["point", "box"])
def test_belt_conveyor(fmus, kind):
    """Laid on a belt of speed V: mu g until V / (mu g), V^2 / (2 mu g) far, then with the belt. Friction is constant and the
    end of slip is found: off by what friction does in a step at most."""
    speed, mu = 1.5, 0.4
    load = body("load", 2.0, [0.3, 0.2, 0.05], [0.0, 0.0, 0.025]) if kind == "box" else node("load", 2.0)
    text = model(load, plane("belt", motion="input", velocity=[speed, 0.0, 0.0]), contact("load", "belt", 0.0, mu))
    done = run(fmus, text, 1.0)
    meets = speed / (mu * G)
    slides = np.minimum(done.time, meets)
    expected = mu * G * slides**2 / 2 + speed * np.maximum(done.time - meets, 0.0)
    assert np.abs(done["load.r[1]"] - expected).max() < mu * G * H**2
    assert abs(done["load.v[1]"][-1] - speed) < 1e-9
    assert np.abs(done["load.r[2]"]).max() < 1e-9


def stick_and_slip(times, amplitude, omega, push):
    """Place of a block on a table at A sin(w t) whose friction accelerates it by `push` at most, in closed form from event
    to event: it slips where the table accelerates faster, until the speeds meet."""
    table = lambda t: amplitude * omega * np.cos(omega * t)
    now, place, speed = 0.0, 0.0, table(0.0)
    pieces = []
    while now < times[-1]:
        # Sticks until |A w^2 sin(w t)| rises above the friction.
        angle = np.arcsin(push / (amplitude * omega**2))
        phase = omega * now % np.pi
        inside = phase <= angle or phase >= np.pi - angle
        leaves = now if not inside else now + (angle - phase if phase <= angle else angle + np.pi - phase) / omega
        pieces.append((now, leaves, "stick", place, speed))
        place += amplitude * (np.sin(omega * leaves) - np.sin(omega * now))
        speed = table(leaves)
        way = -push * np.sign(np.sin(omega * (leaves + 1e-9)))
        slip = lambda t: speed + way * (t - leaves) - table(t)
        grid = leaves + np.linspace(1e-6, 2 * np.pi / omega, 4000)
        values = slip(grid)
        first = np.flatnonzero(np.sign(values) != np.sign(values[0]))[0]
        meets = brentq(slip, grid[first - 1], grid[first], xtol=1e-15)
        pieces.append((leaves, meets, way, place, speed))
        since = meets - leaves
        place, speed, now = place + speed * since + way * since**2 / 2, speed + way * since, meets
    found = np.empty_like(times)
    for begin, end, way, place, speed in pieces:
        inside = (times >= begin) & (times <= end)
        since = times[inside] - begin
        found[inside] = place + (amplitude * (np.sin(omega * times[inside]) - np.sin(omega * begin)) if way == "stick"
                                 else speed * since + way * since**2 / 2)
    return found, len(pieces)


@pytest.mark.parametrize("mu", [0.7, 0.9, 1.1])
def test_block_on_a_vibrating_table(fmus, mu):
    """A table at A sin(w t), A w^2 = 9.87 m/s^2: the block rides where mu g is more than that, else it sticks and slips. The
    table is known at communication points, to order 2 between them: (w h)^2 of the amplitude for each event."""
    amplitude, omega, stop = 0.01, 10 * np.pi, 1.0
    text = model(body("block", 1.0, [0.2, 0.2, 0.05], [0.0, 0.0, 0.025], velocity=[amplitude * omega, 0.0, 0.0]),
                 plane("table", motion="input", velocity=[amplitude * omega, 0.0, 0.0]),
                 contact("block", "table", 0.0, mu))
    motion = lambda t: {"table.r[1]": amplitude * np.sin(omega * t), "table.v[1]": amplitude * omega * np.cos(omega * t)}
    done = run(fmus, text, stop, inputs=motion)
    rides = mu * G > amplitude * omega**2
    expected, events = (amplitude * np.sin(omega * done.time), 1) if rides else stick_and_slip(
        done.time, amplitude, omega, mu * G)
    error = np.abs(done["block.r[1]"] - expected).max()
    assert error < (omega * H) ** 2 * amplitude * max(events, 10), f"{error:.2e} m after {events} events"
