//! fmi2DoStep: what it does, what it refuses, and what is left after a refusal.

use crate::common::*;
use contact_fmu::model::{Between, Motion, Other, Surface, SurfaceShape};

#[test]
fn a_ball_falls_and_bounces() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..300, 1e-3);
    assert!((slave.get("ball.r[3]") - (1.001 - 5.0 * 0.3 * 0.3)).abs() < 1e-9);
    assert!((slave.get("ball.v[3]") + 3.0).abs() < 1e-9);
    assert_eq!(slave.get("time"), f64::from(299) * 1e-3 + 1e-3);
    slave.steps(300..3000, 1e-3);
    assert!(slave.get("ball_floor.gap") > -1e-9);
    assert!(slave.get("ball.r[3]") < 1.001);
}

#[test]
fn inputs_and_parameters_act_on_the_next_step() {
    let fmu = Fmu::new(&drifting_ball());
    let slave = Slave::started(&fmu);
    assert_eq!(slave.set("ball.f_ext[1]", 4.0), fmi2OK);
    slave.steps(0..1000, 1e-3);
    assert!((slave.get("ball.v[1]") - 2.0).abs() < 1e-12);
    assert_eq!(slave.set("ball.mass", 4.0), fmi2OK);
    slave.steps(1000..2000, 1e-3);
    assert!((slave.get("ball.v[1]") - 3.0).abs() < 1e-12);
}

#[test]
fn wrong_step_sizes_are_errors_that_change_nothing() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..10, 1e-3);
    let before = slave.saved_bytes();
    for step in [0.0, -0.0, -1e-3, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(slave.step(0.01, step), fmi2Error, "{step}");
        slave.expect_log(fmi2Error, &["communicationStepSize", &step.to_string()]);
        assert_eq!(slave.saved_bytes(), before);
    }
    assert_eq!(slave.step(0.01, 1e-3), fmi2OK);
}

#[test]
fn a_step_that_cannot_move_the_time_is_an_error() {
    let fmu = Fmu::new(&drifting_ball());
    let slave = Slave::instantiated(&fmu);
    slave.set_up(1e6);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.step(1e6, 1e-12), fmi2Error);
    slave.expect_log(fmi2Error, &["too small to change the time"]);
    assert_eq!(slave.step(1e6, 1e-9), fmi2OK);
}

#[test]
fn a_wrong_communication_point_is_an_error_that_names_both_times() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..10, 1e-3);
    let before = slave.saved_bytes();
    for point in [0.0, 0.009, 0.010_001, 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(slave.step(point, 1e-3), fmi2Error, "{point}");
        slave.expect_log(fmi2Error, &["currentCommunicationPoint", &point.to_string(), "is at 0.01"]);
        assert_eq!(slave.saved_bytes(), before);
    }
    assert_eq!(slave.step(0.01, 1e-3), fmi2OK);
}

#[test]
fn a_step_too_long_for_the_engine_is_discarded_and_the_instance_goes_on() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let alone = Slave::started(&fmu);
    for slave in [&slave, &alone] {
        assert_eq!(slave.set_input_derivative("ball.f_ext[1]", 1, 2.0), fmi2OK);
        slave.steps(0..500, 1e-3);
        assert_eq!(slave.set_input_derivative("ball.f_ext[1]", 1, 3.0), fmi2OK);
    }
    let before = slave.saved_bytes();
    let known = [fmu.reference("ball.f_ext[3]")];
    let unknown = [fmu.reference("ball.v[3]")];
    let derivative = slave.directional(&unknown, &known, &[1.0]);
    for step in [1e5, 1e300] {
        assert_eq!(slave.step(0.5, step), fmi2Discard);
        slave.expect_log(fmi2Discard, &["fmi2DoStep", "substeps"]);
        assert_eq!(slave.saved_bytes(), before);
        assert_eq!(slave.directional(&unknown, &known, &[1.0]), derivative);
        let mut time = f64::NAN;
        // SAFETY: a live instance and a place for the value.
        let status = unsafe { fmi2GetRealStatus(slave.component, fmi2LastSuccessfulTime, &mut time) };
        assert_eq!((status, time), (fmi2OK, slave.get("time")));
        let mut terminated = fmi2True;
        // SAFETY: a live instance and a place for the value.
        let status = unsafe { fmi2GetBooleanStatus(slave.component, fmi2Terminated, &mut terminated) };
        assert_eq!((status, terminated), (fmi2OK, fmi2False));
    }
    slave.steps(500..1000, 1e-3);
    alone.steps(500..1000, 1e-3);
    assert_eq!(slave.bits(), alone.bits());
}

#[test]
fn an_overflow_is_discarded_and_the_instance_goes_on() {
    let fmu = Fmu::new(&drifting_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..3, 1e-3);
    assert_eq!(slave.set("ball.f_ext[1]", f64::MAX), fmi2OK);
    assert_eq!(slave.set("ball.mass", 1e-3), fmi2OK);
    let before = slave.saved_bytes();
    assert_eq!(slave.step(3e-3, 1.0), fmi2Discard);
    slave.expect_log(fmi2Discard, &["finite"]);
    assert_eq!(slave.saved_bytes(), before);
    assert_eq!(slave.set("ball.f_ext[1]", 0.0), fmi2OK);
    assert_eq!(slave.step(3e-3, 1e-3), fmi2OK);
}

#[test]
fn status_queries_beyond_time_and_termination_are_discarded() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let c = slave.component;
    for kind in [fmi2DoStepStatus, fmi2PendingStatus, fmi2Terminated, 17] {
        // SAFETY: a live instance and a place for the value.
        assert_eq!(unsafe { fmi2GetRealStatus(c, kind, &mut 0.0) }, fmi2Discard);
        slave.expect_log(fmi2Discard, &[&format!("kind {kind}")]);
    }
    // SAFETY: a live instance.
    assert_eq!(unsafe { fmi2GetRealStatus(c, fmi2LastSuccessfulTime, std::ptr::null_mut()) }, fmi2Error);
    slave.expect_log(fmi2Error, &["value is NULL"]);
}

#[test]
fn steps_of_any_length_make_the_same_flight() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let mut time = 0.0;
    for step in [1.0 / 60.0, 3.7e-4, 0.1, 1e-9, 0.05, 0.123_456_789] {
        assert_eq!(slave.step(time, step), fmi2OK);
        time += step;
        assert!((slave.get("ball.r[3]") - (1.001 - 5.0 * time * time)).abs() < 1e-9, "{step}");
    }
}

#[test]
fn an_inexact_contact_solution_is_a_warning_with_its_residual() {
    let mut model = bouncing_ball();
    let slope = 0.5_f64.sqrt();
    model.surfaces = [-slope, slope]
        .map(|x| Surface {
            name: format!("slope {x}"),
            shape: SurfaceShape::Plane { normal: [x, 0.0, slope] },
            position: [0.0; 3],
            orientation: [1.0, 0.0, 0.0, 0.0],
            motion: Motion::Fixed,
        })
        .to_vec();
    model.contacts.push(model.contacts[0].clone());
    model.contacts[1].between = Between::Pair { node: 0, other: Other::Surface(1) };
    model.nodes[0].position = [0.0, 0.0, 0.2 / slope];
    model.nodes[0].velocity = [0.3, 0.2, -1.0];
    model.engine.max_iterations = 1;
    model.engine.tolerance = 1e-300;
    let fmu = Fmu::new(&model);
    let slave = Slave::started(&fmu);
    assert_eq!(slave.step(0.0, 1e-3), fmi2Warning);
    let residual = slave.get("engine.residual");
    slave.expect_log(fmi2Warning, &["fmi2DoStep", &format!("{residual:e}"), "1e-300"]);
    assert_eq!(slave.get("time"), 1e-3);
}
