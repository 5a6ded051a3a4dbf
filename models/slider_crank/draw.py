"""The slider that rattles in its guide: runs the FMU and draws the figure of this folder."""

import sys
import tempfile
from math import pi
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from fmu_side import FmuSide, build  # noqa: E402

HALF_LENGTH, HALF_HEIGHT, GUIDE, STEP = 0.05, 0.025, 0.026, 1e-4


def rattle(fmu, stop=0.2, step=STEP):
    """Columns: time, crank angle, height and angle of the slider, its speed along the guide."""
    names = ["bearing.angle", "crank_pin.angle", "wrist_pin.angle", "slider.r[3]", "slider.v[1]"]
    with FmuSide(fmu, outputs=names) as crank:
        crank.start()
        rows = [[(k + 1) * step, *crank.step(k * step, step)] for k in range(round(stop / step))]
    rows = np.array(rows)
    return np.column_stack([rows[:, 0], rows[:, 1], rows[:, 4], rows[:, 1:4].sum(axis=1), rows[:, 5]])


def corners(rows):
    """Heights of the four corners."""
    height, angle = rows[:, 2], rows[:, 3]
    places = [(x, z) for z in (-HALF_HEIGHT, HALF_HEIGHT) for x in (-HALF_LENGTH, HALF_LENGTH)]
    return np.array([height + x * np.sin(angle) + z * np.cos(angle) for x, z in places])


def draw(rows, path):
    """Height of the slider between the faces of the guide, and its speed along the guide."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (place, speed) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, constrained_layout=True)
    turns = rows[:, 1] / (2 * pi)
    place.plot(turns, 1e3 * rows[:, 2], linewidth=0.9)
    for side in (-1, 1):
        place.axhline(side * 1e3 * (GUIDE - HALF_HEIGHT), color="0.6", linewidth=0.8)
    place.set_ylabel("height, mm")
    speed.plot(turns, rows[:, 4], linewidth=0.9)
    speed.set_ylabel("speed, m/s")
    speed.set_xlabel("turns of the crank")
    figure.savefig(path, dpi=75)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(rattle(build("slider_crank", folder)), HERE / "figure.png")
