//! Getting and setting variables: start values, wrong references, types, times and values.

use crate::common::*;
use contact_fmu::variables::{Causality, Initial};
use std::ptr::{null, null_mut};

#[test]
fn start_values_are_those_of_the_table() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::initializing(&fmu);
    let mut checked = 0;
    for (reference, variable) in fmu.variables.iter().enumerate() {
        if let Some(start) = variable.start {
            assert_eq!(slave.get_references(&[reference as u32]), (fmi2OK, vec![start]), "{}", variable.name);
            checked += 1;
        }
    }
    assert!(checked > 15);
    assert_eq!(slave.get("ball_floor.gap"), 1.001 - 0.2);
}

#[test]
fn what_is_set_before_initialization_is_read_in_it() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::instantiated(&fmu);
    let settable: Vec<u32> = (0..fmu.variables.len() as u32)
        .filter(|&reference| {
            let variable = &fmu.variables[reference as usize];
            variable.causality == Causality::Input || variable.initial == Some(Initial::Exact)
        })
        .collect();
    let values: Vec<f64> = (0..settable.len()).map(|index| 0.5 + 1e-3 * index as f64).collect();
    assert_eq!(slave.set_references(&settable, &values), fmi2OK);
    slave.set_up(0.0);
    assert_eq!(slave.get_references(&settable), (fmi2OK, values));
}

#[test]
fn unknown_references_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    for reference in [fmu.variables.len() as u32, u32::MAX] {
        let named = format!("value reference {reference}");
        assert_eq!(slave.get_references(&[0, reference]).0, fmi2Error);
        slave.expect_log(fmi2Error, &["fmi2GetReal", &named]);
        assert_eq!(slave.set_references(&[reference], &[0.0]), fmi2Error);
        slave.expect_log(fmi2Error, &["fmi2SetReal", &named]);
        // SAFETY: arrays of one entry.
        let status = unsafe { fmi2GetInteger(slave.component, &reference, 1, &mut 0) };
        assert_eq!(status, fmi2Error);
        slave.expect_log(fmi2Error, &["fmi2GetInteger", &named]);
    }
}

#[test]
fn wrong_types_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let real = fmu.reference("ball.r[1]");
    let integer = fmu.reference("ball_floor.state");
    assert_eq!(slave.get_references(&[integer]).0, fmi2Error);
    slave.expect_log(fmi2Error, &["ball_floor.state", "is Integer, not Real"]);
    // SAFETY: a live instance, arrays of one entry.
    let calls = unsafe {
        [
            ("is Real, not Integer", fmi2GetInteger(slave.component, &real, 1, &mut 0)),
            ("is Real, not Boolean", fmi2GetBoolean(slave.component, &real, 1, &mut 0)),
            ("is Integer, not String", fmi2GetString(slave.component, &integer, 1, &mut null())),
            ("is computed", fmi2SetInteger(slave.component, &integer, 1, &1)),
            ("is Real, not Boolean", fmi2SetBoolean(slave.component, &real, 1, &1)),
            ("is Real, not String", fmi2SetString(slave.component, &real, 1, &c"".as_ptr())),
        ]
    };
    let lines = slave.log();
    assert_eq!(lines.len(), calls.len());
    for ((reason, status), line) in calls.into_iter().zip(lines) {
        assert_eq!((status, line.status), (fmi2Error, fmi2Error));
        assert!(line.message.contains(reason), "{}", line.message);
    }
}

#[test]
fn null_arrays_are_fine_only_when_empty() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let c = slave.component;
    // SAFETY: null or arrays of the length given.
    unsafe {
        assert_eq!(fmi2GetReal(c, null(), 0, null_mut()), fmi2OK);
        assert_eq!(fmi2SetReal(c, null(), 0, null()), fmi2OK);
        assert_eq!(fmi2GetReal(c, null(), 1, &mut 0.0), fmi2Error);
        slave.expect_log(fmi2Error, &["vr is NULL"]);
        assert_eq!(fmi2GetReal(c, &0, 1, null_mut()), fmi2Error);
        slave.expect_log(fmi2Error, &["value is NULL"]);
        assert_eq!(fmi2SetReal(c, &0, 1, null()), fmi2Error);
        slave.expect_log(fmi2Error, &["value is NULL"]);
        assert_eq!(fmi2GetInteger(c, &0, 1, null_mut()), fmi2Error);
        slave.expect_log(fmi2Error, &["value is NULL"]);
        assert_eq!(fmi2SetString(c, null(), 1, null()), fmi2Error);
        slave.expect_log(fmi2Error, &["vr is NULL"]);
    }
}

#[test]
fn a_refused_set_says_which_variable_and_when_it_may_be_set() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    for (name, reason) in [
        ("engine.step", "in step mode, only while it is: instantiated, in initialization mode"),
        ("ball.r[1]", "in step mode, only while it is: instantiated, in initialization mode"),
        ("ball_floor.gap", "it is computed"),
        ("time", "it is computed"),
    ] {
        assert_eq!(slave.set(name, 1.0), fmi2Error);
        slave.expect_log(fmi2Error, &[name, reason]);
    }
}

#[test]
fn bad_values_are_discarded_and_nothing_is_written() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let before = slave.saved_bytes();
    for (name, value) in [
        ("ball.f_ext[1]", f64::NAN),
        ("ball.f_ext[1]", f64::INFINITY),
        ("ball.f_ext[1]", f64::NEG_INFINITY),
        ("gravity[2]", f64::NAN),
        ("ball.mass", 0.0),
        ("ball.mass", -1.0),
        ("ball_floor.restitution", 1.0000001),
        ("ball_floor.restitution", -0.1),
        ("ball_floor.mu", -0.1),
    ] {
        let good = fmu.reference("ball.f_ext[3]");
        assert_eq!(slave.set_references(&[good, fmu.reference(name)], &[7.0, value]), fmi2Discard, "{name}");
        slave.expect_log(fmi2Discard, &[name, &value.to_string(), "allowed is"]);
        assert_eq!(slave.saved_bytes(), before);
    }
    let references = [fmu.reference("ball.f_ext[3]"), fmu.reference("ball.r[1]")];
    assert_eq!(slave.set_references(&references, &[7.0, 1.0]), fmi2Error);
    assert_eq!(slave.saved_bytes(), before);
    assert_eq!(slave.step(0.0, 1e-3), fmi2OK);
}
