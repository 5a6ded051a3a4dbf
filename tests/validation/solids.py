"""One node of every shape that there is, as keys of the model file, and how far it reaches."""

import numpy as np
from textbook import box_inertia

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
# Corners of the faces, against the clock seen from outside.
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def cuboid_file(half):
    """A box as an OBJ file."""
    corners = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS * half)
    return corners + "".join(f"f {a + 1} {b + 1} {c + 1} {d + 1}\n" for a, b, c, d in FACES)


def write_files(folder):
    """What the shapes below are made of, beside the model files."""
    (folder / "small_cube.obj").write_text(cuboid_file([0.05, 0.05, 0.05]))
    (folder / "cube.obj").write_text(cuboid_file([0.5, 0.5, 0.25]))
    (folder / "plate.obj").write_text(cuboid_file([20.0, 1.0, 5e-4]))
    (folder / "flat.txt").write_text("0 0 0\n" * 3)


# Shapes of nodes with a height of 0.1 m: keys, and corners by which a polyhedron reaches, or axis and lengths of a round one.
ROUND = box_inertia(1.0, [0.1, 0.1, 0.1])
NODES = {
    "point": {},
    "sphere": {"shape": {"sphere": {"radius": 0.05}}, "inertia": ROUND},
    "points": {"shape": {"points": [[0.05, 0.0, -0.05], [-0.03, 0.04, -0.05], [-0.03, -0.04, -0.05], [0.0, 0.0, 0.05]]},
               "inertia": ROUND},
    "box": {"shape": {"box": {"size": [0.1, 0.1, 0.1]}}, "inertia": ROUND},
    "capsule": {"shape": {"capsule": {"radius": 0.05, "length": 0.1, "axis": [1.0, 0.0, 0.0]}}, "inertia": ROUND},
    "cylinder": {"shape": {"cylinder": {"radius": 0.05, "length": 0.1}}, "inertia": ROUND},
    "disc": {"shape": {"disc": {"radius": 0.05, "axis": [0.0, 0.0, 1.0]}}, "inertia": box_inertia(1.0, [0.1, 0.1, 0.01])},
    "hull": {"shape": {"hull": {"file": "small_cube.obj"}}, "inertia": ROUND},
}


def reach(name, down):
    """How far a shape reaches from its centre along unit vectors in its frame."""
    down = np.asarray(down, dtype=float)
    if name in ("point", "sphere"):
        return np.full(down.shape[:-1], 0.0 if name == "point" else 0.05)
    if name == "points":
        return (down @ np.array(NODES["points"]["shape"]["points"]).T).max(axis=-1)
    if name in ("box", "hull"):
        return (down @ (0.05 * CORNERS).T).max(axis=-1)
    if name == "capsule":
        return 0.05 + 0.05 * np.abs(down[..., 0])
    rim = 0.05 * np.hypot(down[..., 0], down[..., 1])
    return rim + (0.05 * np.abs(down[..., 2]) if name == "cylinder" else 0.0)
