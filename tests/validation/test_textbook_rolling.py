"""Balls that slide, roll and spin, in built FMUs, against closed forms.

Between impacts a scheme of order 2 is off by at most (w h)^2 of the way w t that a motion of rate w has turned. What has
constant forces between events that are found exactly has no error but round-off.
"""

import numpy as np
import pytest
from textbook import G, ball_inertia, contact, model, node, plane, rotated, run, turn

H = 1e-3
UP = np.array([0.0, 0.0, 1.0])


def product(one, other):
    """Of quaternions."""
    (a, *v), (b, *w) = one, other
    v, w = np.array(v), np.array(w)
    return np.array([a * b - v @ w, *(a * w + b * v + np.cross(v, w))])


@pytest.mark.parametrize("tilt", [0.0, 0.05])
def test_ball_on_a_turntable(fmus, tilt):
    """Rolling on a plane that turns with rate W: 7/5 v' = 2/5 W n x v + g_t. The velocity turns with 2/7 W; down a slope
    the ball drifts level with (5 / 2 W) n x g_t. [Weckesser, A ball rolling on a freely spinning turntable, 1997]"""
    radius, rate, stop = 0.1, 2 * np.pi, 7.0
    lean = turn("y", tilt)
    frame = lambda vector: rotated(lean, np.asarray(vector, dtype=float))
    normal = frame(UP)
    place, velocity = frame([0.5, 0.0, radius]), frame([0.0, 0.4, 0.0])
    pull = -G * UP + G * (UP @ normal) * normal
    # Rolls from the start: the slip of its lowest point, v - radius w x n, is that of the table.
    slip = velocity - rate * np.cross(normal, place)
    text = model(
        node("ball", 1.0, inertia=ball_inertia(1.0, radius), shape={"sphere": {"radius": radius}}, position=place,
             velocity=velocity, angular_velocity=np.cross(normal, slip) / radius),
        plane("table", motion="input", orientation=lean, angular_velocity=rate * normal),
        contact("ball", "table", 0.0, 1.0), step=H)

    def table(time):
        names = [f"table.{part}[{k}]" for part, count in (("q", 4), ("w", 3)) for k in range(1, count + 1)]
        return dict(zip(names, [*product(lean, turn("z", rate * time)), *(rate * normal)]))

    done = run(fmus, text, stop, H, [f"ball.r[{k}]" for k in (1, 2, 3)], inputs=table)
    spin = 2 / 7 * rate
    drift = 2.5 / rate * np.cross(normal, pull)
    turning = velocity - drift
    angle = (spin * done.time)[:, None]
    expected = place + drift * done.time[:, None] + (
        np.sin(angle) * turning + (1 - np.cos(angle)) * np.cross(normal, turning)) / spin
    error = np.linalg.norm(done.vector("ball.r") - expected, axis=1).max()
    scale = np.linalg.norm(turning) / spin + np.linalg.norm(drift) * stop
    assert error < (spin * H) ** 2 * spin * stop * scale, f"{error:.2e} m"


@pytest.mark.parametrize("direction", [0.0, 0.7])
def test_ball_slides_then_rolls(fmus, direction):
    """Slides with -mu g until 2 v0 / (7 mu g), 12 v0^2 / (49 mu g) far, and rolls on with 5/7 v0. Its angular momentum
    about the ground is kept, so that 5/7 is exact; the place is off by what friction does in a step at most."""
    radius, mu, speed = 0.1, 0.2, 3.0
    along = np.array([np.cos(direction), np.sin(direction), 0.0])
    text = model(node("ball", 2.0, inertia=ball_inertia(2.0, radius), shape={"sphere": {"radius": radius}},
                      position=[0.0, 0.0, radius], velocity=speed * along),
                 plane("floor"), contact("ball", "floor", 0.0, mu))
    done = run(fmus, text, 1.0)
    ends, way = 2 * speed / (7 * mu * G), 12 * speed**2 / (49 * mu * G)
    late = np.maximum(done.time - ends, 0.0)
    early = np.minimum(done.time, ends)
    expected = np.where(late > 0, way + 5 / 7 * speed * late, speed * early - mu * G * early**2 / 2)
    place = done.vector("ball.r")
    assert np.abs(place[:, :2] @ along[:2] - expected).max() < mu * G * H**2
    assert np.abs(done.vector("ball.v")[-1] - 5 / 7 * speed * along).max() < 1e-9
    assert np.abs(radius * np.cross(UP, done.vector("ball.w")[-1]) + 5 / 7 * speed * along).max() < 1e-9
    assert np.abs(place[:, 2] - radius).max() < 1e-12


@pytest.mark.parametrize("mu, kinds", [(0.01, {"slip"}), (0.05, {"stick", "slip"}), (1.0, {"stick"})],
                         ids=["slip", "slip then stick", "stick"])
def test_spinning_ball_between_floor_and_ceiling(fmus, mu, kinds):
    """Free flight, and impacts of a solid ball: p_n = (1 + e) m |v_n|; the slip u = v_t + w x a needs 2/7 m |u| to stop and
    gets at most mu p_n against it. Stick ends with u = 0. [Garwin, Kinematics of an ultraelastic rough ball, 1969, with
    restitution 0 along the surface]"""
    mass, radius, height, e, stop = 0.3, 0.05, 0.6, 0.9, 1.0
    place, velocity, spin = np.array([0.0, 0.0, 0.2]), np.array([1.0, 0.3, -4.0]), np.array([20.0, -60.0, 15.0])
    text = model(node("ball", mass, inertia=ball_inertia(mass, radius), shape={"sphere": {"radius": radius}},
                      position=place, velocity=velocity, angular_velocity=spin),
                 plane("floor"), plane("ceiling", [0.0, 0.0, -1.0], position=[0.0, 0.0, height]),
                 contact("ball", "*", e, mu))
    done = run(fmus, text, stop)
    now, found, seen = 0.0, [], set()
    gravity = -G * UP
    for time in done.time:
        while True:
            # The next impact, from the state just after the last one.
            z, v = place[2], velocity[2]
            down = (v + np.sqrt(v**2 + 2 * G * max(z - radius, 0.0))) / G
            rises = v**2 - 2 * G * (height - radius - z)
            up = (v - np.sqrt(rises)) / G if v > 0 and rises > 0 else np.inf
            flight = min(down, up)
            if now + flight > time:
                break
            place = place + velocity * flight + gravity * flight**2 / 2
            velocity, now = velocity + gravity * flight, now + flight
            normal = UP if flight == down else -UP
            place[2] = radius if flight == down else height - radius
            pressed = -(1 + e) * mass * (velocity @ normal)
            slip = velocity + np.cross(spin, -radius * normal)
            slip = slip - (slip @ normal) * normal
            needed = -2 / 7 * mass * slip
            sticks = np.linalg.norm(needed) <= mu * pressed
            seen.add("stick" if sticks else "slip")
            rubbed = needed if sticks else needed * mu * pressed / np.linalg.norm(needed)
            velocity = velocity + (pressed * normal + rubbed) / mass
            spin = spin + np.cross(-radius * normal, rubbed) / (0.4 * mass * radius**2)
        since = time - now
        found.append([*(place + velocity * since + gravity * since**2 / 2), *spin])
    found = np.array(found)
    assert seen == kinds
    assert np.abs(done.vector("ball.r") - found[:, :3]).max() < 1e-9
    assert np.abs(done.vector("ball.w") - found[:, 3:]).max() < 1e-9 * 60
