//! Time derivatives of inputs.

use crate::common::*;

/// Velocity after a step of `h` from rest with the force `f + f1 t + f2 t^2/2 + f3 t^3/6` on 2 kg.
fn velocity(h: f64, [f, f1, f2, f3]: [f64; 4]) -> f64 {
    (f * h + f1 * h.powi(2) / 2.0 + f2 * h.powi(3) / 6.0 + f3 * h.powi(4) / 24.0) / 2.0
}

#[test]
fn they_shape_the_input_within_the_next_step_only() {
    let fmu = Fmu::new(&drifting_ball());
    let slave = Slave::instantiated(&fmu);
    assert_eq!(slave.set_input_derivative("ball.f_ext[2]", 1, -3.0), fmi2OK);
    slave.set_up(0.0);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    let force = [1.5, -3.0, 20.0, -100.0];
    assert_eq!(slave.set("ball.f_ext[2]", force[0]), fmi2OK);
    for (order, value) in [(2, force[2]), (3, force[3])] {
        assert_eq!(slave.set_input_derivative("ball.f_ext[2]", order, value), fmi2OK);
    }
    // Cut into 500 substeps, each of which integrates the force to second order.
    assert_eq!(slave.step(0.0, 0.5), fmi2OK);
    let first = velocity(0.5, force);
    assert!((slave.get("ball.v[2]") - first).abs() < 1e-5, "{} {first}", slave.get("ball.v[2]"));
    assert_eq!(slave.get("ball.f_ext[2]"), force[0]);
    assert_eq!(slave.step(0.5, 0.5), fmi2OK);
    let second = slave.get("ball.v[2]") - first;
    assert!((second - velocity(0.5, [force[0], 0.0, 0.0, 0.0])).abs() < 1e-5, "{second}");
}

#[test]
fn they_count_again_when_a_step_is_repeated() {
    let fmu = Fmu::new(&drifting_ball());
    let slave = Slave::started(&fmu);
    assert_eq!(slave.set_input_derivative("ball.f_ext[1]", 1, 8.0), fmi2OK);
    let state = slave.save();
    assert_eq!(slave.step(0.0, 0.5), fmi2OK);
    let bits = slave.bits();
    assert!((slave.get("ball.v[1]") - 0.5).abs() < 1e-9);
    assert_eq!(slave.restore(state), fmi2OK);
    assert_eq!(slave.step(0.0, 0.5), fmi2OK);
    assert_eq!(slave.bits(), bits);
    slave.free_state(state);
}

#[test]
fn wrong_variables_orders_and_values_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let before = slave.saved_bytes();
    for (name, order, value, status, reason) in [
        ("ball.r[1]", 1, 1.0, fmi2Error, "is not an input"),
        ("ball.mass", 1, 1.0, fmi2Error, "is not an input"),
        ("ball_floor.state", 1, 1.0, fmi2Error, "is Integer"),
        ("ball.f_ext[1]", 0, 1.0, fmi2Error, "order 0"),
        ("ball.f_ext[1]", -1, 1.0, fmi2Error, "order -1"),
        ("ball.f_ext[1]", 4, 1.0, fmi2Error, "order 4"),
        ("ball.f_ext[1]", 1, f64::NAN, fmi2Discard, "NaN"),
        ("ball.f_ext[1]", 2, f64::INFINITY, fmi2Discard, "inf"),
    ] {
        let references = [fmu.reference("ball.f_ext[3]"), fmu.reference(name)];
        // SAFETY: arrays of two entries.
        let answer = unsafe {
            fmi2SetRealInputDerivatives(
                slave.component,
                references.as_ptr(),
                2,
                [1, order].as_ptr(),
                [5.0, value].as_ptr(),
            )
        };
        assert_eq!(answer, status, "{name} {order} {value}");
        slave.expect_log(status, &[name, reason]);
        assert_eq!(slave.saved_bytes(), before);
    }
}

#[test]
fn output_derivatives_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    // SAFETY: arrays of one entry.
    let status = unsafe {
        fmi2GetRealOutputDerivatives(slave.component, &fmu.reference("ball.r[1]"), 1, &1, &mut 0.0)
    };
    assert_eq!(status, fmi2Error);
    slave.expect_log(fmi2Error, &["maxOutputDerivativeOrder"]);
}
