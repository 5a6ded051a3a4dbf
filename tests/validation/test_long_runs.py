"""A million internal steps: energy never rises where something takes it.

Every model runs a part of that by default; CONTACT_FMU_LONG=1 makes it the whole, and with -s the numbers are printed.
"""

import os
import tomllib

import numpy as np
import pytest
from conftest import MODELS, ROOT
from masters import slave

LONG = bool(os.environ.get("CONTACT_FMU_LONG"))
STEPS = 1_000_000 if LONG else 20_000

# Followed in hundreds of intervals a step, or many contacts: by default a part of the steps.
SLOW = {} if LONG else {"bouncing_ball_compliant": 20, "box_stack": 4, "domino_row": 20}

# Of the largest energy of motion.
TOLERANCE = 1e-9

# What moves or drives the system from outside adds energy.
DRIVEN = {"coupled_ball", "heightfield_rover", "hexapod", "jansen_walker", "manipulator"}


def internal_steps(model):
    """Communication step, and internal steps in it."""
    text = tomllib.loads((ROOT / "models" / model / "model.toml").read_text())
    step = text["experiment"]["step"]
    return step, max(1, round(step / text.get("engine", {}).get("step", step)))


@pytest.mark.parametrize("model", [model for model in MODELS if model not in DRIVEN])
def test_energy_never_rises(fmus, model):
    step, internal = internal_steps(model)
    with slave(fmus.fmu(model)) as one:
        energy = lowest = one.real("engine.energy")[0]
        scale = max(1.0, abs(energy))
        count, most = STEPS // (internal * SLOW.get(model, 1)), 0.0
        for k in range(count):
            one.doStep(k * step, step)
            energy, kinetic = one.real("engine.energy", "engine.kinetic")
            # Of what slides downhill for long, the energy is a small difference of large ones.
            scale = max(scale, kinetic)
            assert energy <= lowest + TOLERANCE * scale, f"step {k}: {energy - lowest:e} J"
            most = max(most, energy - lowest)
            lowest = min(lowest, energy)
        assert np.isfinite(lowest)
        print(f"{model}: {count * internal} steps, highest above the lowest before {most:.1e} J of {scale:g} J")
