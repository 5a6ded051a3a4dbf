"""Draws docs/figures/fmi3_events.svg: `python tests/validation/fmi3_figure.py BALL3.fmu docs/figures/fmi3_events.svg`."""

import sys

from fmi3_side import slave3

STEP, STOP = 0.05, 1.2
WIDTH, HEIGHT, MARGIN = 640, 300, 45


def velocities(path, events):
    """Times and vertical velocities as a master sees them, with both sides of an event."""
    with slave3(path, events=events, early_return=events) as ball:
        ball.start()
        if events:
            ball.fmu.updateDiscreteStates()
            ball.fmu.enterStepMode()
        points = [(0.0, ball.get("ball.v")[2])]
        time, regular = 0.0, 0
        while time < STOP - 1e-9:
            event, _, _, time = ball.fmu.doStep(time, STEP * (regular + 1) - time)
            regular += not event
            points.append((time, ball.get("ball.v")[2]))
            if event:
                ball.fmu.enterEventMode()
                points.append((time, ball.get("ball.v")[2]))
                while ball.fmu.updateDiscreteStates()[0]:
                    pass
                ball.fmu.enterStepMode()
        return points


def place(time, velocity):
    x = MARGIN + time / STOP * (WIDTH - 2 * MARGIN)
    y = HEIGHT / 2 - velocity / 4.5 * (HEIGHT / 2 - MARGIN)
    return f"{x:.1f},{y:.1f}"


def curve(points, colour, label, at):
    path = " ".join(place(*point) for point in points)
    dots = "".join(
        '<circle cx="{}" cy="{}" r="2.5" fill="{}"/>'.format(*place(*point).split(","), colour) for point in points
    )
    text = f'<text x="{MARGIN + 10}" y="{at}" fill="{colour}">{label}</text>'
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}{text}'


def draw(path):
    axis = f'<path d="M{place(0, 0)} L{place(STOP, 0)} M{place(0, -4.2)} L{place(0, 4.2)}" stroke="#888"/>'
    labels = (
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT / 2 + 16}" text-anchor="end">t, 0 to {STOP} s</text>'
        f'<text x="8" y="20">v, m/s (-4.2 to 4.2)</text>'
    )
    without = curve(velocities(path, False), "#c55", "without events: steps of 0.05 s", HEIGHT - 30)
    with_events = curve(velocities(path, True), "#25a", "with events: the step ends at the impact", HEIGHT - 12)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{axis}{labels}{without}{with_events}</svg>\n'
    )


if __name__ == "__main__":
    with open(sys.argv[2], "w") as file:
        file.write(draw(sys.argv[1]))
