//! The same bits for the same inputs: over runs, threads, builds of this program (debug and release) and the library that
//! is packed into FMUs.
//!
//! `cargo run --release -p robustness -- trajectories > robustness/trajectories.txt` writes the table anew. A change of it
//! is a change of results: look at it.

use contact_fmu::variables::table;
use robustness::models::MODELS;
use robustness::trajectories::{TABLE, falls, here, in_an_fmu, line};

/// The line of a model.
fn listed(model: usize) -> &'static str {
    TABLE.lines().nth(model).expect("a line for each model")
}

#[test]
fn every_trajectory_has_the_bits_of_the_table() {
    assert_eq!(TABLE.lines().count(), MODELS.len());
    for (model, known) in MODELS.iter().enumerate() {
        let trajectory = here(known);
        assert_eq!(line(known, &trajectory), listed(model));
        // What a master drives stays where it is without one.
        let is_driven = table(&known.model).iter().any(|variable| variable.name.ends_with(".drive"));
        let stays = !known.model.nodes.iter().all(falls);
        let may_miss = known.model.contacts.is_empty() || is_driven || stays;
        assert!(may_miss || trajectory.touches, "{}: nothing touches", known.name);
    }
}

#[test]
fn the_packed_library_has_the_same() {
    for (model, known) in MODELS.iter().enumerate() {
        assert_eq!(line(known, &in_an_fmu(known)), listed(model));
    }
}

#[test]
fn threads_at_once_have_the_same() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for (model, known) in MODELS.iter().enumerate().skip(thread % 2).step_by(2) {
                    assert_eq!(line(known, &here(known)), listed(model));
                }
            });
        }
    });
}
