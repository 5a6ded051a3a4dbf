"""The pendulum with dry friction in its pin: runs the FMU and draws the figure of this folder."""

import sys
import tempfile
from math import copysign, cos, hypot, pi, sin, sqrt
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from fmu_side import FmuSide, build  # noqa: E402

MASS, ARM, RADIUS, G = 1.0, 0.5, 0.05, 9.81
INERTIA = 1 / 12 + MASS * ARM**2  # about the pin
STATIC, KINETIC = 0.3, 0.2
STEP = 1e-3


def swing(fmu, stop=30.0, step=STEP):
    """Columns: time, angle from hanging, its rate."""
    with FmuSide(fmu, outputs=["pin.angle", "rod.w[1]"]) as rod:
        rod.start()
        rows = [[(k + 1) * step, *rod.step(k * step, step)] for k in range(round(stop / step))]
    return np.array(rows) + [0.0, pi / 2, 0.0]


def friction_circle(stop, step=STEP):
    """Angles by the friction circle: Runge-Kutta steps, and rest where it turns and the pin can hold it."""
    part = KINETIC / sqrt(1 + KINETIC**2)

    def acceleration(angle, rate):
        # The force of the pin contains the acceleration: a few sweeps.
        value = -MASS * G * ARM * sin(angle) / INERTIA
        for _ in range(6):
            force = MASS * hypot(ARM * rate**2 + G * cos(angle), ARM * value + G * sin(angle))
            value = (-MASS * G * ARM * sin(angle) - copysign(part, rate) * RADIUS * force) / INERTIA
        return value

    holds = STATIC / sqrt(1 + STATIC**2) * RADIUS * MASS * G
    angle, rate, angles = pi / 2, -1e-12, []
    for _ in range(round(stop / step)):
        a = acceleration(angle, rate)
        b = acceleration(angle + step / 2 * rate, rate + step / 2 * a)
        c = acceleration(angle + step / 2 * rate + step**2 / 4 * a, rate + step / 2 * b)
        d = acceleration(angle + step * rate + step**2 / 2 * b, rate + step * c)
        after = rate + step / 6 * (a + 2 * b + 2 * c + d)
        angle += step * rate + step**2 / 6 * (a + b + c)
        if after * rate < 0 and MASS * G * ARM * abs(sin(angle)) <= holds:
            return np.array(angles + [angle] * (round(stop / step) - len(angles)))
        rate = after
        angles.append(angle)
    return np.array(angles)


def draw(rows, path):
    """Angle and rate, as Figure 2 of the paper."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (angle, rate) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, constrained_layout=True)
    angle.plot(rows[:, 0], friction_circle(rows[-1, 0]), color="0.75", linewidth=3, label="friction circle")
    angle.plot(rows[:, 0], rows[:, 1], color="tab:blue", linewidth=1, label="FMU")
    angle.set_ylabel("angle, rad")
    angle.legend(loc="upper right")
    rate.plot(rows[:, 0], rows[:, 2], color="tab:blue", linewidth=1)
    rate.set_ylabel("rate, rad/s")
    rate.set_xlabel("time, s")
    figure.savefig(path, dpi=75)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(swing(build("friction_pendulum", folder)), HERE / "figure.png")
