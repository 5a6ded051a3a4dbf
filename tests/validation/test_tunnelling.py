"""Nothing passes what is thin: every shape, shot at a plate of 1 mm with gravity along its flight and against it,
is on its own side of it at every communication point, no deeper than 1e-4 of its size, and has been turned back in the end."""

import numpy as np
import pytest
from solids import NODES, reach, write_files
from textbook import contact, model, node, rotated, run, surface

PLATES = {"box": {"box": {"size": [40.0, 2.0, 1e-3]}}, "mesh": {"mesh": {"file": "plate.obj"}}}
SPEED, SIZE = 20.0, 0.1
TURN = np.array([0.8, 0.3, -0.4, 0.33])
TURN /= np.linalg.norm(TURN)


@pytest.mark.parametrize("gravity", [-50.0, 50.0], ids=["along", "against"])
@pytest.mark.parametrize("step", [1e-3, 0.01, 0.1])
@pytest.mark.parametrize("stepping", ["time of impact", "captured", "group"])
@pytest.mark.parametrize("plate", PLATES)
def test_nothing_passes_a_plate(fmus, plate, stepping, step, gravity):
    """From above, at 20 m/s, restitution 0.3. What is deeper than its size is on the other side."""
    write_files(fmus.folder)
    entries = [surface("plate", shape=PLATES[plate], position=[0.0, 0.0, -5e-4])]
    for k, (one, keys) in enumerate(NODES.items()):
        keys = keys | ({} if one == "point" else {"orientation": TURN})
        entries.append(node(one, 1.0, position=[2.0 * k - 8.0, 0.0, 0.3 + 0.07 * k], velocity=[0.5, 0.1, -SPEED], **keys))
    together = {"name": "all"} if stepping == "group" else {}
    text = model(*entries, contact("*", "plate", 0.3, 0.2, **together), step=step, gravity=[0.0, 0.0, gravity],
                 **({"time_of_impact": False} if stepping == "captured" else {}))
    done = run(fmus, text, 0.2, step)
    passed = {}
    for one in NODES:
        turned = done.vector(f"{one}.q", 4) if one != "point" else np.tile([1.0, 0.0, 0.0, 0.0], (len(done.time), 1))
        down = rotated(turned * [1, -1, -1, -1], np.array([0.0, 0.0, -1.0]))
        depth = (reach(one, down) - done[f"{one}.r[3]"]).max()
        # A captured step may end inside by what it goes in a step; it may not end on the other side.
        most = 1e-4 * SIZE if stepping != "captured" else SIZE / 2
        hits = 0.6 / SPEED + step < 0.2
        if depth > most or (hits and done[f"{one}.v[3]"].max() <= -SPEED):
            passed[one] = f"{depth:.2e}"
    assert not passed, passed
