//! The rover on hills: carried at rest, driven, never sunk in.

#![cfg(feature = "cli")]

use crate::common;
use contact_fmu::engine::gap;

#[test]
fn the_rover_stands_and_drives_without_sinking_in() {
    let model = common::model("heightfield_rover");
    let run = common::run(&model, 2e-3, 8.0);
    let contacts = |name: &str| model.contacts.iter().position(|contact| contact.name == name).unwrap();
    let wheels = ["front_left", "front_right", "rear_left", "rear_right"]
        .map(|wheel| contacts(&format!("{wheel}_terrain")));
    let weight = 28.0 * 9.81;
    for state in &run.states[1..450] {
        let load: f64 = wheels.iter().map(|&wheel| state.contacts[wheel].normal_impulse / 2e-3).sum();
        assert!((load - weight).abs() < 1e-6 * weight, "t = {}: {load} N", state.time);
        // How four wheels share the load is not unique, but for each pair.
        for pair in [[0, 1], [0, 2]] {
            let load: f64 =
                pair.iter().map(|&place| state.contacts[wheels[place]].normal_impulse / 2e-3).sum();
            assert!((load - 0.5 * weight).abs() < 1e-6 * weight, "t = {}: {load} N", state.time);
        }
    }
    let mut deepest = 0.0_f64;
    for state in &run.states {
        for contact in 0..model.contacts.len() {
            deepest = deepest.max(-gap(&run.system, state, contact));
        }
    }
    // Over a ridge, a wheel comes down by (v h)^2 / 2 R = 6e-6 m within a step.
    assert!(deepest < 1e-5, "{deepest} m");
    // On the flat, wheels roll without slip: 0.8 m/s.
    let before_hills = run.states.iter().position(|state| state.nodes[0].position[0] > 0.9).unwrap();
    assert!(run.states[before_hills].time > 2.0);
    assert!((run.states[before_hills].nodes[0].velocity[0] - 0.8).abs() < 1e-3);
    let end = run.states.last().unwrap();
    // Over the hills the way is longer than it is far, and wheels slip where they are tilted.
    assert!((4.0..5.3).contains(&end.nodes[0].position[0]), "{:?}", end.nodes[0].position);
    let heights: Vec<f64> = run.states.iter().map(|state| state.nodes[0].position[2]).collect();
    let range = heights.iter().fold(f64::NEG_INFINITY, |most, &z| most.max(z))
        - heights.iter().fold(f64::INFINITY, |least, &z| least.min(z));
    assert!(range > 0.05, "it goes up and down: {range} m");
}
