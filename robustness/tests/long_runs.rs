//! Long runs in part; the whole of them: docs/robustness.md.

use robustness::long_runs::{ball, instances, restores};

/// What an allocator may keep for itself.
const KEPT: usize = 2 << 20;

#[test]
fn a_ball_that_bounces_for_ever_keeps_time_energy_and_memory() {
    let run = ball(true, 1_000_000);
    assert_eq!(run.time_error, 0.0);
    assert!(run.energy_drift < 1e-9, "{run:?}");
    assert!(run.growth < KEPT, "{run:?}");
}

#[test]
fn a_ball_that_rests_stays_where_it_is() {
    let run = ball(false, 1_000_000);
    assert_eq!((run.time_error, run.rest_drift), (0.0, 0.0));
    assert!(run.growth < KEPT, "{run:?}");
}

#[test]
fn ten_thousand_instances() {
    let growth = instances(10_000, 1000);
    assert!(growth < KEPT, "{growth} bytes");
}

#[test]
fn a_hundred_thousand_restored_states() {
    let growth = restores(100_000);
    assert!(growth < KEPT, "{growth} bytes");
}
