//! A fixed small count of every kind of hostile input; the same by the million: docs/robustness.md.

use robustness::runner::assert_holds;

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
fn physics_under_stress() {
    assert_holds("stress", 500);
}
