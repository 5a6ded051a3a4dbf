"""Mechanisms drawn at random whose points touch: contact only takes energy from them, or a warning comes before. By default some
dozens; CONTACT_FMU_LONG=1 makes it 1000, and the share that needed a warning is printed (`pytest -s`)."""

import pytest
from conftest import LONG
from kinetic_cases import ORDERS
from random_mechanisms import run

STEP, STOP = 1e-3, 0.8
COUNTS = {1: 160, 2: 170, 3: 170, 4: 170, 5: 170, 6: 160} if LONG else dict.fromkeys(range(1, 7), 8)


@pytest.mark.parametrize("order", ORDERS)
def test_contact_takes_energy_or_warns(fmus, order):
    soft, warned_of_soft, gained = 0, 0, []
    for joints, count in COUNTS.items():
        seeds = range(1000 * joints, 1000 * joints + count)
        for seed, (gain, passed, warned, h_omega, _) in zip(seeds, run(fmus, seeds, joints, order, STEP, STOP)):
            soft += h_omega < 0.1
            warned_of_soft += h_omega < 0.1 and warned is not None
            if passed is not None and (warned is None or warned > passed):
                gained.append((seed, joints, gain))
    print(f"{order}: {sum(COUNTS.values())} mechanisms; of {soft} with H omega below 0.1, {warned_of_soft} were warned about")
    assert gained == []
    assert warned_of_soft < 0.05 * soft
