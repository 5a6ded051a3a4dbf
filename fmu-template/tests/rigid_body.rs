//! Rigid bodies through the C functions: their variables, their start, their saved state.

use crate::common::*;
use contact_fmu::variables::{BaseUnit, Causality, Kind};

const STEP: f64 = 1e-3;

#[test]
fn a_rigid_body_has_its_own_variables() {
    let fmu = Fmu::new(&wheel());
    for (name, count, causality, unit) in [
        ("q", 4, Causality::Output, "1"),
        ("w", 3, Causality::Output, "rad/s"),
        ("t_ext", 3, Causality::Input, "N.m"),
        ("t", 3, Causality::Output, "N.m"),
    ] {
        for index in 1..=count {
            let variable = &fmu.variables[fmu.reference(&format!("wheel.{name}[{index}]")) as usize];
            assert_eq!(variable.causality, causality, "{name}");
            assert!(matches!(variable.kind, Kind::Real(found) if found.name() == unit), "{name}");
        }
        assert!(fmu.variables.iter().all(|variable| variable.name != format!("wheel.{name}[{}]", count + 1)));
    }
    let Kind::Real(unit) = fmu.variables[fmu.reference("wheel.w[1]") as usize].kind else { panic!() };
    assert_eq!(unit.base(), BaseUnit { kg: 0, m: 0, s: -1, rad: 1 });
    let ball = Fmu::new(&bouncing_ball());
    assert!(ball.variables.iter().all(|variable| !variable.name.starts_with("ball.q")));
}

#[test]
fn the_wheel_rolls() {
    let fmu = Fmu::new(&wheel());
    let slave = Slave::started(&fmu);
    slave.steps(0..5000, STEP);
    // The exact motion, models/wheel/checkpoints.json.
    for (name, exact) in [("wheel.r[1]", 6.7292854), ("wheel.r[2]", 0.0912516), ("wheel.r[3]", 0.2854866)] {
        assert!((slave.get(name) - exact).abs() < 1e-5, "{name} {}", slave.get(name));
    }
    assert!(slave.get("wheel_floor.gap").abs() < 1e-11);
    assert!(slave.get("wheel_floor.slip") < 1e-12);
    let length: f64 = (1..=4).map(|index| slave.get(&format!("wheel.q[{index}]")).powi(2)).sum();
    assert!((length - 1.0).abs() < 1e-14);
    // The moment of the contact force about the centre: friction and normal force at the lowest point of the rim.
    let force = [1, 2, 3].map(|axis| slave.get(&format!("wheel.f[{axis}]")));
    let torque = [1, 2, 3].map(|axis| slave.get(&format!("wheel.t[{axis}]")));
    let power: f64 = force.iter().zip(torque).map(|(f, t)| f * t).sum();
    assert!(power.abs() < 1e-12, "one force makes a moment across itself: {power}");
    assert!(torque.iter().any(|t| t.abs() > 0.1));
}

#[test]
fn a_quaternion_that_is_no_rotation_is_refused_and_can_be_mended() {
    let fmu = Fmu::new(&wheel());
    let slave = Slave::initializing(&fmu);
    assert_eq!(slave.set("wheel.r[3]", 1.0), fmi2OK);
    assert_eq!(slave.set("wheel.q[1]", 0.5), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2Error);
    slave.expect_log(fmi2Error, &["wheel.q[1]", "length 0.52"]);
    assert_eq!(slave.set("wheel.q[2]", 0.0), fmi2OK);
    assert_eq!(slave.set("wheel.q[1]", 1.0009), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.get("wheel.q[1]"), 1.0, "nearly a rotation is made one");
    assert_eq!(slave.step(0.0, STEP), fmi2OK);
}

#[test]
fn a_wheel_that_starts_inside_the_floor_is_refused() {
    let fmu = Fmu::new(&wheel());
    let slave = Slave::initializing(&fmu);
    // Upright it needs the whole radius.
    assert_eq!(slave.set("wheel.q[1]", 1.0), fmi2OK);
    assert_eq!(slave.set("wheel.q[2]", 0.0), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2Error);
    slave.expect_log(fmi2Error, &["wheel_floor.gap", "inside"]);
}

#[test]
fn start_values_are_used() {
    let fmu = Fmu::new(&wheel());
    let slave = Slave::initializing(&fmu);
    for (name, value) in [
        ("wheel.r[3]", 2.0),
        ("wheel.q[1]", 0.6),
        ("wheel.q[2]", 0.0),
        ("wheel.q[3]", 0.8),
        ("wheel.w[3]", 0.0),
    ] {
        assert_eq!(slave.set(name, value), fmi2OK);
    }
    assert_eq!(slave.set("wheel.w[2]", 4.0), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!((slave.get("wheel.q[3]"), slave.get("wheel.w[2]")), (0.8, 4.0));
    slave.steps(0..100, STEP);
    // It turns about its axis: q = cos, sin of half the angle.
    let angle = 0.5 * (2.0 * 0.8_f64.atan2(0.6) + 0.4);
    assert!((slave.get("wheel.q[1]") - angle.cos()).abs() < 1e-12);
    assert!((slave.get("wheel.q[3]") - angle.sin()).abs() < 1e-12);
    assert_eq!(slave.set("wheel.q[1]", 1.0), fmi2Error, "only before the start");
}

#[test]
fn torques_are_inputs_with_derivatives() {
    let fmu = Fmu::new(&wheel());
    let slave = Slave::initializing(&fmu);
    for (name, value) in [("wheel.r[3]", 5.0), ("wheel.q[1]", 1.0), ("wheel.q[2]", 0.0), ("wheel.w[3]", 0.0)]
    {
        assert_eq!(slave.set(name, value), fmi2OK);
    }
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.set("wheel.t_ext[2]", 0.3), fmi2OK);
    assert_eq!(slave.set_input_derivative("wheel.t_ext[2]", 1, 6.0), fmi2OK);
    assert_eq!(slave.step(0.0, 0.1), fmi2OK);
    assert!((slave.get("wheel.w[2]") - (0.03 + 0.03) / 0.6).abs() < 1e-13, "{}", slave.get("wheel.w[2]"));
    let (status, derivative) =
        slave.directional(&[fmu.reference("wheel.w[2]")], &[fmu.reference("wheel.t_ext[2]")], &[1.0]);
    assert_eq!(status, fmi2OK);
    assert!((derivative[0] - 0.1 / 0.6).abs() < 1e-13);
}

#[test]
fn a_restored_run_continues_bit_by_bit() {
    let fmu = Fmu::new(&wheel());
    let slave = Slave::started(&fmu);
    for at in [0, 1, 500, 2006, 2500] {
        assert_eq!(slave.reset(), fmi2OK);
        slave.set_up(0.0);
        assert_eq!(slave.exit_initialization(), fmi2OK);
        slave.steps(0..at, STEP);
        assert_eq!(slave.set("wheel.t_ext[3]", 0.02), fmi2OK);
        let bytes = slave.saved_bytes();
        let saved = slave.bits();
        slave.steps(at..at + 50, STEP);
        let straight = slave.bits();
        let other = Slave::instantiated(&fmu);
        other.restore_bytes(&bytes);
        assert_eq!(other.bits(), saved);
        other.steps(at..at + 50, STEP);
        assert_eq!(other.bits(), straight, "through bytes at {at}");
    }
}

#[test]
fn a_state_of_another_size_is_refused() {
    let mut model = wheel();
    let fmu = Fmu::new(&model);
    let bytes = Slave::started(&fmu).saved_bytes();
    model.engine.scheme = contact_fmu::model::Scheme::MoreauJean;
    let other = Fmu::new(&model);
    let slave = Slave::started(&other);
    let (status, _) = slave.deserialize(&bytes);
    assert_eq!(status, fmi2Error);
}
