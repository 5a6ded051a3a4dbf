//! The importer's logger: what it gets, and which categories.

use crate::common::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};

fn set_debug_logging(slave: &Slave, on: bool, categories: &[&str]) -> fmi2Status {
    let texts: Vec<CString> = categories.iter().map(|name| CString::new(*name).unwrap()).collect();
    let pointers: Vec<fmi2String> = texts.iter().map(|text| text.as_ptr()).collect();
    // SAFETY: as many strings as said.
    unsafe { fmi2SetDebugLogging(slave.component, fmi2Boolean::from(on), pointers.len(), pointers.as_ptr()) }
}

/// Categories of the lines that a wrong step, a bad value and a bounce leave.
fn categories(slave: &Slave) -> Vec<String> {
    assert_eq!(slave.reset(), fmi2OK);
    slave.set_up(0.0);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.step(0.0, -1.0), fmi2Error);
    assert_eq!(slave.set("ball.mass", -1.0), fmi2Discard);
    for k in 0..4000 {
        assert_eq!(slave.step(f64::from(k) * 1e-3, 1e-3), fmi2OK);
    }
    let mut found: Vec<String> = slave.log().into_iter().map(|line| line.category).collect();
    found.dedup();
    found
}

#[test]
fn categories_are_honoured() {
    let fmu = Fmu::new(&bouncing_ball());
    let status = ["logStatusError", "logStatusDiscard"];
    let all = ["logStatusError", "logStatusDiscard", "logEvents"];
    assert_eq!(categories(&Slave::with_logging(&fmu, GUID, true)), all);
    let slave = Slave::with_logging(&fmu, GUID, false);
    assert_eq!(categories(&slave), status);
    for (on, list, expected) in [
        (true, &[][..], &all[..]),
        (false, &[], &status),
        (true, &["logAll"], &all),
        (false, &["logEvents"], &status),
        (false, &["logStatusDiscard"], &["logStatusError"]),
        (true, &["logEvents", "logStatusDiscard"], &["logStatusDiscard", "logEvents"]),
        (true, &["logStatusWarning"], &[]),
        (true, &["logStatusError"], &["logStatusError"]),
        (false, &["logAll"], &[]),
    ] {
        assert_eq!(set_debug_logging(&slave, on, list), fmi2OK);
        assert_eq!(categories(&slave), expected, "{on} {list:?}");
    }
}

#[test]
fn the_published_categories_are_the_ones_that_are_known() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::instantiated(&fmu);
    for (name, description) in contact_fmu::log_categories::LOG_CATEGORIES {
        assert_eq!(set_debug_logging(&slave, true, &[name]), fmi2OK);
        assert!(!description.is_empty());
    }
}

#[test]
fn unknown_categories_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::instantiated(&fmu);
    assert_eq!(set_debug_logging(&slave, false, &["logEvents", "logStatusErrors"]), fmi2Error);
    slave.expect_log(fmi2Error, &["logStatusErrors", "logStatusError, logAll"]);
    // SAFETY: null is refused.
    assert_eq!(unsafe { fmi2SetDebugLogging(slave.component, 1, 1, null()) }, fmi2Error);
    slave.expect_log(fmi2Error, &["categories is NULL"]);
    // SAFETY: one string, which is null and refused.
    assert_eq!(unsafe { fmi2SetDebugLogging(slave.component, 1, 1, &null()) }, fmi2Error);
    slave.expect_log(fmi2Error, &["unknown log category"]);
}

#[test]
fn the_logger_gets_environment_name_and_a_safe_message() {
    let (component, log) = Instantiation {
        name: Some("my instance"),
        kind: fmi2CoSimulation,
        guid: Some(GUID),
        location: Some("/no/such%sfolder#1"),
        logging_on: false,
    }
    .run();
    assert!(component.is_null());
    let lines = log.lock().unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0].instance.as_str(), lines[0].status), ("my instance", fmi2Error));
    assert!(lines[0].message.contains("/no/such%%sfolder##1"), "{}", lines[0].message);
}

#[test]
fn events_name_the_contact() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::with_logging(&fmu, GUID, true);
    slave.set_up(0.0);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    for k in 0..4000 {
        assert_eq!(slave.step(f64::from(k) * 1e-3, 1e-3), fmi2OK);
    }
    let lines = slave.log();
    assert!(lines[0].message.starts_with("ball_floor.state: open -> "), "{}", lines[0].message);
    assert_eq!(lines[0].status, fmi2OK);
}

#[test]
fn a_missing_logger_is_survived() {
    let fmu = Fmu::new(&bouncing_ball());
    let location = CString::new(fmu.resources()).unwrap();
    let guid = CString::new(GUID).unwrap();
    let no_logger = fmi2CallbackFunctions {
        logger: None,
        allocateMemory: None,
        freeMemory: None,
        stepFinished: None,
        componentEnvironment: null_mut(),
    };
    for callbacks in [null(), &raw const no_logger] {
        // SAFETY: pointers as the standard says.
        unsafe {
            let component = fmi2Instantiate(
                c"".as_ptr(),
                fmi2CoSimulation,
                guid.as_ptr(),
                location.as_ptr(),
                callbacks,
                fmi2True,
                fmi2True,
            );
            assert!(!component.is_null());
            assert_eq!(fmi2DoStep(component, 0.0, 1.0, 1), fmi2Error);
            fmi2FreeInstance(component);
        }
    }
}
