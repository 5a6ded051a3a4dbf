//! `models/ball_pit`: the balls come to rest, do not sink in, and bottom and walls carry their weight; energy only falls.

use contact_fmu::engine::{Workspace, advance, kinetic_energy, mechanical_energy};
use contact_fmu::model::file;

const MODEL: &str = include_str!("../models/ball_pit/model.toml");

#[test]
fn balls_come_to_rest() {
    let model = file::parse(MODEL, "ball_pit").unwrap_or_else(|error| panic!("{error}"));
    let balls = model.nodes.len();
    let (system, mut state) = model.assemble();
    let mut workspace = Workspace::new(&system);
    let step = model.experiment.step;
    let weight = balls as f64 * 0.02 * 9.81;
    let (mut largest_energy, mut carried) = (0.0_f64, 0.0);
    for count in 0..1600 {
        let before = mechanical_energy(&system, &state);
        advance(&system, &mut state, &mut workspace, step).expect("a step");
        assert!(state.step.residual <= 1e-8, "step {count}: {:e}", state.step.residual);
        assert!(state.step.penetration < 3e-4, "{}", state.step.penetration);
        let energy = mechanical_energy(&system, &state);
        assert!(energy <= before + 1e-11, "step {count}: {:e} J", energy - before);
        largest_energy = largest_energy.max(kinetic_energy(&state));
        if count >= 1500 {
            carried += state.nodes.iter().map(|node| node.contact_impulse.z).sum::<f64>() / (100.0 * step);
        }
    }
    // Between balls forces cancel; what is left is what bottom and walls carry.
    assert!((carried / weight - 1.0).abs() < 1e-3, "{carried} of {weight} N");
    assert!(kinetic_energy(&state) < 1e-3 * largest_energy);
    assert!(state.step.penetration < 1e-5, "{}", state.step.penetration);
    let floor = state.contacts[0].normal_impulse / step;
    // Friction at the walls takes a part of the weight, or presses the pile down.
    assert!(floor > 0.5 * weight && floor < 1.1 * weight, "{floor} of {weight} N");
}
