"""Closed form of the bouncing ball."""

import numpy as np


def ball_height(times, height=0.801, g=10.0, restitution=0.8):
    """Gap of a ball dropped from `height` above the floor."""
    impact = np.sqrt(2 * height / g)
    speed = g * impact
    gaps = np.where(times <= impact, height - g * times**2 / 2, 0.0)
    for _ in range(400):
        speed *= restitution
        flight = 2 * speed / g
        since = times - impact
        gaps = np.where((since > 0) & (since <= flight), since * (speed - g * since / 2), gaps)
        impact += flight
    return gaps
