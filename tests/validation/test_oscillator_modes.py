"""One oscillator in the three ways to couple it: two masses of 1 kg and the spring between them fall on the floor.

- kinetic: masses and spring are the master's, the FMU has the contact;
- compliant: the lower mass, its contact and the spring are the FMU's;
- owned: the lower mass and its contact are the FMU's. The spring is the master's, and its force goes in as f_ext.
"""

import compliant_cases
import kinetic_cases
import numpy as np
import pytest
from kinetic_cases import ORDERS, Options, slave_of
from smooth_sides import Linear
from test_kinetic import exact_oscillator


def kinetic(fmus, order, stiffness, step):
    return kinetic_cases.oscillator(fmus, Options(order, step), stiffness, stop=1.0).position


def compliant(fmus, order, stiffness, step):
    return compliant_cases.oscillator(fmus, Options(order, step), stiffness, stop=1.0).position


def owned(fmus, order, stiffness, step):
    """The master sees the way of the lower mass over the step in the sequential order, and goes on as it was last in the
    parallel order. The FMU is told the spring's force and its rate."""
    slave = slave_of(fmus, step, position=(0, 0, 0.801), engine=f"step = {step}", node='coupling = "owned"')
    side = Linear([1.0], [[stiffness]], [-10.0], [0.801], [0.0], [0])
    push = [slave.references["node.f_ext[3]"]]
    lower = lambda: np.array(slave.real("node.r[3]", "node.v[3]"))
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    now, path = lower(), [0.801]
    for k in range(round(1.0 / step)):
        stretch = stiffness * (side.x - now)
        slave.setReal(push, stretch[:1])
        slave.setRealInputDerivatives(push, [1], stretch[1:])
        slave.doStep(k * step, step)
        after = lower()
        mean = (now[0] + after[0]) / 2 if order == "sequential" else now[0] + step / 2 * now[1]
        side.step([stiffness * mean], step)
        now = after
        path.append(now[0])
    slave.terminate()
    slave.freeInstance()
    return np.array(path)


# Largest errors of the lower mass up to 1 s that were reached, as {mode: (sequential, parallel)}.
REACHED = {
    (1e3, 1e-3): {kinetic: (9.0e-4, 9.0e-4), compliant: (6.1e-4, 6.1e-4), owned: (1.6e-3, 1.5e-3)},
    (1e4, 1e-3): {kinetic: (9.0e-4, 7.8e-3), compliant: (8.0e-4, 7.0e-4), owned: (8.9e-3, 4.0e-3)},
    (1e4, 2e-3): {owned: (4.8e-2, 3.5e-3)},
    (1e4, 1e-4): {kinetic: (1.5e-4, 1.5e-4), compliant: (1.8e-5, 1.8e-5), owned: (8.9e-5, 2.9e-5)},
}
CASES = [(*case, mode, order) for case, modes in REACHED.items() for mode in modes for order in ORDERS]
MARGIN = 2.0


@pytest.mark.parametrize("stiffness, step, mode, order", CASES)
def test_oscillator(fmus, stiffness, step, mode, order):
    error = np.abs(mode(fmus, order, stiffness, step) - exact_oscillator(stiffness, step)[:, 0]).max()
    print("mode", stiffness, step, mode.__name__, order, f"{error:.2e}")
    assert error < MARGIN * REACHED[stiffness, step][mode][ORDERS.index(order)]
