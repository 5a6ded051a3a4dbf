"""The table of shapes that touch one another: every pair falls, touches and comes to rest, in FMUs."""

import numpy as np
import pytest
from solids import NODES, reach, write_files
from textbook import G, box_inertia, contact, model, node, plane, run, surface

DOWN = np.array([0.0, 0.0, -1.0])
# Surfaces whose highest point is at their place plus the number.
SURFACES = {
    "sphere": ({"sphere": {"radius": 0.5}}, 0.5),
    "box": ({"box": {"size": [1.0, 1.0, 0.5]}}, 0.25),
    "cylinder": ({"cylinder": {"radius": 0.5, "length": 1.0, "axis": [0.0, 1.0, 0.0]}}, 0.5),
    "capsule": ({"capsule": {"radius": 0.5, "length": 0.5, "axis": [0.0, 1.0, 0.0]}}, 0.5),
    "mesh": ({"mesh": {"file": "cube.obj"}}, 0.25),
    "heightfield": ({"heightfield": {"file": "flat.txt", "cell": [0.5, 0.5]}}, 0.0),
}
# Bodies of 10 kg that others fall on, with their half height.
BODIES = {
    "sphere": ({"sphere": {"radius": 0.3}}, 0.3),
    "box": ({"box": {"size": [0.6, 0.6, 0.2]}}, 0.1),
    "capsule": ({"capsule": {"radius": 0.3, "length": 0.4, "axis": [0.0, 1.0, 0.0]}}, 0.3),
    "cylinder": ({"cylinder": {"radius": 0.3, "length": 0.2}}, 0.1),
    "disc": ({"disc": {"radius": 0.3, "axis": [0.0, 0.0, 1.0]}}, 0.0),
    "hull": ({"hull": {"file": "cube.obj"}}, 0.25),
}
ROUND = {"sphere", "cylinder", "capsule"}
KNOWN = {}


def above(name):
    return float(reach(name, DOWN))


def fallen(fmus, key, text):
    """The run of a scene, made once."""
    if key not in KNOWN:
        write_files(fmus.folder)
        KNOWN[key] = run(fmus, text, 1.5)
    return KNOWN[key]


def check_rest(done, name, under, height):
    """It is carried, at its height, and moves no more. How three points come to lie on what is round is another question."""
    assert done[f"{name}.f[3]"][-1] == pytest.approx(G, rel=1e-6)
    if height is not None:
        assert abs(done[f"{name}.r[3]"][-1] - height) < 1e-5
    assert np.abs(done.vector(f"{name}.v")[-100:]).max() < 1e-6
    if name != "point":
        assert np.abs(done.vector(f"{name}.w")[-100:]).max() < 1e-6
    assert done[f"{under}.gap"].min() > -1e-4 * 0.1


@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("other", ["plane", *SURFACES])
def test_node_comes_to_rest_on_a_surface(fmus, other, name):
    """Dropped by 5 cm, restitution 0, each on its own surface whose top is at z = 0."""
    entries = [plane("plane")] if other == "plane" else []
    for k, (one, keys) in enumerate(NODES.items()):
        entries.append(node(one, 1.0, position=[3.0 * k, 0.0, above(one) + 0.05], **keys))
        if other == "plane":
            entries.append(contact(one, "plane", 0.0, 0.8))
        else:
            shape, top = SURFACES[other]
            entries += [surface(f"under_{one}", shape=shape, position=[3.0 * k, 0.0, -top]),
                        contact(one, f"under_{one}", 0.0, 0.8)]
    done = fallen(fmus, other, model(*entries))
    height = None if name == "points" and other in ROUND else above(name)
    check_rest(done, name, f"{name}_plane" if other == "plane" else f"{name}_under_{name}", height)


@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("other", BODIES)
def test_node_comes_to_rest_on_a_node(fmus, other, name):
    """The same on a body that rests on a box, on which discs lie."""
    shape, top = BODIES[other]
    entries = [surface("floor", shape={"box": {"size": [60.0, 4.0, 1.0]}}, position=[12.0, 0.0, -0.5])]
    for k, (one, keys) in enumerate(NODES.items()):
        entries += [node(one, 1.0, position=[3.0 * k, 0.0, 2 * top + above(one) + 0.05], **keys),
                    node(f"under_{one}", 10.0, inertia=box_inertia(10.0, [0.5, 0.5, 0.3]), shape=shape,
                         position=[3.0 * k, 0.0, top]),
                    contact(f"under_{one}", "floor", 0.0, 0.8), contact(one, f"under_{one}", 0.0, 0.8)]
    done = fallen(fmus, f"on {other}", model(*entries))
    height = None if name == "points" and other in ROUND - {"cylinder"} else 2 * top + above(name)
    check_rest(done, name, f"{name}_under_{name}", height)
