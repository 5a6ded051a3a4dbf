//! Time over ten million steps, of a model without nodes so that nothing but the interface takes time.

use crate::common::*;

const STEPS: u32 = 10_000_000;
const STEP: f64 = 1e-3;

fn nothing() -> Fmu {
    let mut model = drifting_ball();
    model.nodes.clear();
    Fmu::new(&model)
}

#[test]
fn a_master_that_multiplies() {
    let fmu = nothing();
    let slave = Slave::started(&fmu);
    for k in 0..STEPS {
        assert_eq!(slave.step(f64::from(k) * STEP, STEP), fmi2OK);
    }
    assert_eq!(slave.get("time"), f64::from(STEPS - 1) * STEP + STEP);
    assert!((slave.get("time") - 1e4).abs() < 4e-12);
}

#[test]
fn a_master_that_adds() {
    let fmu = nothing();
    let slave = Slave::started(&fmu);
    let mut time = 0.0;
    for _ in 0..STEPS {
        assert_eq!(slave.step(time, STEP), fmi2OK);
        time += STEP;
    }
    assert_eq!(slave.get("time"), time);
}

#[test]
fn a_master_that_counts_nanoseconds() {
    let fmu = nothing();
    let slave = Slave::started(&fmu);
    let step = 1.0 / 60.0;
    for k in 0..100_000 {
        let point = (f64::from(k) * step * 1e9).round() / 1e9;
        assert_eq!(slave.step(point, step), fmi2OK, "{k}");
    }
}
