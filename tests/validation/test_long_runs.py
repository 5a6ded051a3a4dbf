"""A million internal steps: energy never rises where something takes it.

Every model runs a part of that by default; CONTACT_FMU_LONG=1 makes it the whole, and with -s the numbers are printed.
"""

import tomllib

import numpy as np
import pytest
from conftest import LONG, MODELS, ROOT
from masters import slave

STEPS = 1_000_000 if LONG else 20_000

# Followed in hundreds of intervals a step, or many contacts: by default a part of the steps.
SLOW = {} if LONG else {
    "bouncing_ball_compliant": 20, "box_stack": 4, "domino_row": 20, "heightfield_rover": 10, "hexapod": 100, "jansen_walker": 200,
}

# Of the largest energy of motion.
TOLERANCE = 1e-9


def text_of(model):
    return tomllib.loads((ROOT / "models" / model / "model.toml").read_text())


def internal_steps(text):
    """Communication step, and internal steps in it."""
    step = text["experiment"]["step"]
    return step, max(1, round(step / text.get("engine", {}).get("step", step)))


def is_driven(text):
    """Whether a master or a motor works on it."""
    return (any(node.get("coupling") != "owned" for node in text["node"])
            or any(surface.get("motion") == "input" for surface in text.get("surface", []))
            or any("drive" in joint for joint in text.get("joint", [])))


@pytest.mark.parametrize("model", MODELS)
def test_energy_never_rises(fmus, model):
    """Where something works on a system from outside, what contact, friction and damping have taken never falls."""
    text = text_of(model)
    step, internal = internal_steps(text)
    sign, watched = (-1, "engine.dissipated") if is_driven(text) else (1, "engine.energy")
    with slave(fmus.fmu(model)) as one:
        energy = lowest = sign * one.real(watched)[0]
        scale = max(1.0, abs(energy))
        count, most = STEPS // (internal * SLOW.get(model, 1)), 0.0
        for k in range(count):
            one.doStep(k * step, step)
            energy, kinetic = one.real(watched, "engine.kinetic")
            energy *= sign
            # Of what slides downhill for long, the energy is a small difference of large ones.
            scale = max(scale, kinetic)
            assert energy <= lowest + TOLERANCE * scale, f"step {k}: {energy - lowest:e} J"
            most = max(most, energy - lowest)
            lowest = min(lowest, energy)
        assert np.isfinite(lowest)
        print(f"{model}: {count * internal} steps, highest above the lowest before {most:.1e} J of {scale:g} J")
