"""Masters with the trapezoidal rule: one that carries the acceleration over from the last step, as Newmark's and the
generalized alpha method do, and one that computes it anew with the force that is now held."""

import numpy as np
from masters import slave

STEP, G, RADIUS, HEIGHT = 1e-3, 10.0, 0.2, 1.001


def drop(fmu, carried, stop):
    """Heights of the ball's lowest point, and what the FMU warned of. The order is sequential."""
    z, v, before, heights = HEIGHT, 0.0, -G, []
    with slave(fmu) as ball:
        for k in range(round(stop / STEP)):
            ball.set_named({"ball.r[3]": z, "ball.v[3]": v})
            ball.doStep(k * STEP, STEP)
            after = ball.real("ball.f[3]")[0] - G
            start = before if carried else after
            z, v = z + STEP * v + STEP**2 / 4 * (start + after), v + STEP / 2 * (start + after)
            before = after
            heights.append(z - RADIUS)
        return np.array(heights), list(ball.warnings)


def test_started_afresh_it_is_exact(fmus):
    heights, warnings = drop(fmus.fmu("coupled_ball"), False, 1.0)
    assert abs(heights[450:].max() / (0.64 * (HEIGHT - RADIUS)) - 1) < 1e-5
    assert warnings == []


def test_carried_over_it_throws_the_ball_and_says_so(fmus):
    heights, warnings = drop(fmus.fmu("coupled_ball"), True, 1.5)
    faster = np.sqrt(heights[450:].max() / (HEIGHT - RADIUS))
    assert faster > 3.0
    assert any("the coupling has added" in warning for warning in warnings)
