//! The same bits for the same inputs: over runs, threads, builds of this program (debug and release) and the library that
//! is packed into FMUs.
//!
//! `cargo run --release -p robustness -- trajectories > robustness/trajectories.txt` writes the table anew. A change of it
//! is a change of results: look at it.

use robustness::models::MODELS;
use robustness::trajectories::{TABLE, here, in_an_fmu, table};
use std::collections::BTreeMap;

/// Hash by model.
fn listed() -> BTreeMap<&'static str, u64> {
    let rows = TABLE.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.map(|row| (row[0], u64::from_str_radix(row[2], 16).expect("a hash"))).collect()
}

#[test]
fn every_trajectory_has_the_bits_of_the_table() {
    assert_eq!(table(), TABLE);
    assert_eq!(listed().len(), MODELS.len());
}

#[test]
fn the_packed_library_has_the_same() {
    for known in MODELS.iter() {
        assert_eq!(in_an_fmu(known), listed()[known.name], "{}", known.name);
    }
}

#[test]
fn threads_at_once_have_the_same() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for known in MODELS.iter().skip(thread % 2).step_by(2) {
                    assert_eq!(here(known), listed()[known.name], "{}", known.name);
                }
            });
        }
    });
}
