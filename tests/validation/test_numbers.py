"""The numbers in README's table of accuracy are bounds of tests: for each claim, where it is checked."""

import re

import pytest
from conftest import ROOT

# Model; words of its row; file and line that checks them.
CLAIMS = [
    ("bouncing_ball", "below 1e-12 m", "tests/physics.rs", 'assert!(error < 1e-12, "step {step}: {error:e}");'),
    ("tilted_plane", "below 1e-9 m", "tests/physics.rs", 'assert!(error < 1e-9, "{name}: {error:e}");'),
    ("double_impact", "symmetric to 1e-12 m", "tests/physics.rs", "assert!(difference < 1e-12"),
    ("heightfield_rover", "weight on the wheels to 1e-6", "tests/rover.rs", "(load - weight).abs() < 1e-6 * weight"),
    ("heightfield_rover", "penetration below 1e-5 m", "tests/rover.rs", "assert!(deepest < 1e-5"),
    ("billiards", "below 1e-10 m and m/s", "tests/solids.rs", "(last.nodes[0].position[0] - cue).abs() < 1e-10"),
    ("billiards", "below 1e-10 m and m/s", "tests/solids.rs", "(node.velocity - Vector3::new(velocity, 0.0, 0.0)).norm() < 1e-10"),
    ("box_drop", "first impact below 1e-9 m/s", "tests/box_drop.rs", "(impact.velocity - velocity).norm() < 1e-9"),
    ("box_stack", "drift below 1e-10 m", "tests/stacks.rs", "(node.position - before.position).norm() < 1e-10"),
    ("box_stack", "loads to 1e-9", "tests/stacks.rs", "(force - weight).abs() < 1e-9 * weight"),
    ("domino_row", "hits within 6e-4 s", "tests/dominoes.rs", "(-1e-4..STEP + 1e-4).contains(&late)"),
    ("ball_pit", "the weight within 0.1 %", "tests/ball_pit.rs", "(carried / weight - 1.0).abs() < 1e-3"),
    ("ball_pit", "penetration below 1e-5 m", "tests/ball_pit.rs", "state.step.penetration < 1e-5"),
    ("resting_block", "zero drift", "tests/physics.rs", "assert_eq!(last.nodes[block].position, run.states[0].nodes[block].position"),
    ("resting_block", "below 1e-10 m", "tests/physics.rs", 'assert!(error < 1e-10, "block {block}'),
    # The table of the model's page is compared with that of the run by tests/wheel_paper.rs.
    ("wheel", "friction within 0.0028 % (RMS)", "models/wheel/README.md", "mean over each step, RMS | 0.0028 % |"),
    ("wheel", "position within 0.00020 %", "models/wheel/README.md", "from the start (after 0.1 s) | 0.00020 % |"),
    ("oscillator", "below 1e-4 m", "tests/subsystems.rs", 'assert!(worst < 1e-4, "k = {stiffness}: {worst:e} m");'),
    ("chain", "balances to 1e-10", "tests/subsystems.rs", "assert!(balance < 1e-10 * start.abs().max(1.0)"),
    ("reduced_dae", "link closed to 1e-12 m", "tests/subsystems.rs", "assert!(drift < 1e-12"),
    ("reduced_dae", "4.81 N at rest to 1e-9", "tests/subsystems.rs", "(force - 4.81).abs() < 1e-9"),
    ("slider_crank", "more than 100 impacts", "tests/slider_crank.rs", "exact.impacts > 100"),
    ("slider_crank", "below 1e-5 m", "tests/slider_crank.rs", "assert!(worst < 1e-5"),
    ("rotor_droop_stop", "below 1e-4 deg beyond a stop", "tests/validation/test_rotor_droop_stop.py", "assert rotor.beyond(rows) < 1e-4"),
    ("rotor_droop_stop", "below 0.01 deg", "tests/validation/test_rotor_droop_stop.py", "assert late < 0.01"),
    ("hexapod", "weight on the feet to 1e-9 N", "tests/validation/test_hexapod.py", "(rest.sum(axis=1) - hexapod.WEIGHT).max() < 1e-9"),
    ("hexapod", "loaded feet stick", "tests/validation/test_hexapod.py", "assert rows[:, 10:16][forces(rows) > 1.0].max() < 1e-12"),
    ("jansen_walker", "over a turn to 0.01 %", "tests/validation/test_jansen_walker.py", 'abs(found["weight_error"]) < 1e-4'),
    ("jansen_walker", "loaded feet stick", "tests/validation/test_jansen_walker.py", 'assert found["stuck"] > 0.99'),
    ("manipulator", "loads to 1e-9", "tests/validation/test_manipulator.py", "np.abs(normal[held] / load - 1).max() < 1e-9"),
    ("manipulator", "friction to 1e-6", "tests/validation/test_manipulator.py", "(sign * arm.MU * load) - 1).max() < 1e-6"),
    ("bouncing_ball_compliant", "effective restitution within 1e-3", "tests/compliance_docs.rs", "(found[place] - expected).abs() < 1e-3"),
    ("bouncing_ball_compliant", "below 1e-4 m over two bounces", "tests/compliance_docs.rs", 'assert!(error < 1e-4, "ball {ball}'),
]


def rows():
    table = (ROOT / "README.md").read_text().split("## Accuracy")[1].split("\n\n")[1]
    return {re.match(r"\| \[(\w+)\]", row)[1]: row for row in table.splitlines()[2:]}


@pytest.mark.parametrize("model, words, file, check", CLAIMS, ids=lambda value: None)
def test_claim_is_checked(model, words, file, check):
    assert words in rows()[model]
    assert check in (ROOT / file).read_text(), file


def test_every_row_has_a_check():
    assert {model for model, *_ in CLAIMS} == rows().keys()
