//! A fixed small count of every kind of hostile input; the same by the million: docs/robustness.md.

use contact_fmu_runtime::{fmi2DoStep, fmi2SetReal};
use robustness::client::{Client, PREPARED};
use robustness::runner::{assert_hold_at, assert_holds};
use std::time::{Duration, Instant};

#[test]
fn model_files() {
    assert_holds("model-files", 2000);
}

#[test]
fn shape_files() {
    assert_holds("shape-files", 2000);
}

#[test]
fn archives() {
    assert_holds("archives", 1500);
}

#[test]
fn problems() {
    assert_holds("problems", 20_000);
}

#[test]
fn states() {
    assert_holds("states", 2000);
}

#[test]
fn calls() {
    assert_holds("calls", 2000);
}

#[test]
fn calls_of_fmi3() {
    assert_holds("calls3", 2000);
}

/// A crank that turns so far within a substep that this is halved, up to an event in it.
#[test]
fn an_event_in_a_substep_that_is_cut() {
    assert_hold_at("calls3", &[57139]);
}

#[test]
fn physics_under_stress() {
    assert_holds("stress", 500);
}

/// Stacks of boxes over many decades of mass, by the midpoint rule: light ones that turned far when positions were
/// corrected, or when round-off chose the corners that they rest on, and sweeps that diverged, of bounded friction and of
/// a body that turns by more than a radian in a step.
#[test]
fn light_boxes_between_heavy_ones() {
    let turned = [10178, 23876, 31670, 37177, 43869];
    let diverged = [36456, 42479, 50401, 51636, 53501];
    assert_hold_at("stress", &turned);
    assert_hold_at("stress", &diverged);
}

/// With times of impact and in captured steps: corrections that threw a light box away from under a heavy one, friction
/// where nothing presses any more, answers that pull.
#[test]
fn jammed_bodies_and_bounded_friction() {
    assert_hold_at("stress", &[30594, 48488, 60464, 92662, 22946, 25121, 28774, 30896]);
}

/// At such speeds a body passes all of a terrain within a substep, and every part of it could be met first.
#[test]
fn a_huge_force_on_a_mesh_does_not_hang() {
    let rover = PREPARED.iter().find(|one| one.known.name == "heightfield_rover").expect("an example");
    for force in [-1e9, 1e20, 1e200, f64::MAX] {
        let client = Client::started(rover, true).expect("an instance");
        let reference = rover.reference("chassis.f_ext[1]");
        let start = Instant::now();
        // SAFETY: a live instance, one reference, one value.
        unsafe {
            client.check(fmi2SetReal(client.component, &reference, 1, &force));
            client.check(fmi2DoStep(client.component, 0.0, 28e-3, 1));
        }
        client.check(client.read_all());
        assert!(start.elapsed() < Duration::from_secs(30), "{force:e}: {:?}", start.elapsed());
        println!("{force:e}: {:?}", start.elapsed());
    }
}
