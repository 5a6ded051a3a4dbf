//! Every function in every mode, against the table of FMI 2.0, 4.2.4; the way from mode to mode.

mod common;

use common::*;
use std::ptr::null_mut;

/// Columns: instantiated, initialization mode, step mode, terminated, failed.
/// O fmi2OK, D fmi2Discard, E fmi2Error.
type Row = (&'static str, &'static str, fn(&Slave, &mut Arguments) -> fmi2Status);

/// Room for what the functions read and write.
struct Arguments {
    input: u32,
    output: u32,
    parameter: u32,
    integer: u32,
    state: fmi2FMUstate,
    bytes: Vec<u8>,
}

#[rustfmt::skip]
#[allow(clippy::undocumented_unsafe_blocks, reason = "all: live instances, and arrays of the lengths given")]
const TABLE: &[Row] = &[
    ("fmi2SetDebugLogging", "OOOOO", |s, _| unsafe { fmi2SetDebugLogging(s.component, 0, 0, null_mut()) }),
    ("fmi2SetupExperiment", "OEEEE", |s, _| s.setup_experiment(0.0, Some(1.0))),
    ("fmi2EnterInitializationMode", "OEEEE", |s, _| unsafe { fmi2EnterInitializationMode(s.component) }),
    ("fmi2ExitInitializationMode", "EOEEE", |s, _| s.exit_initialization()),
    ("fmi2Terminate", "EEOEE", |s, _| s.terminate()),
    ("fmi2Reset", "OOOOO", |s, _| s.reset()),
    ("fmi2GetReal", "EOOOO", |s, a| s.get_references(&[a.output]).0),
    ("fmi2GetInteger", "EOOOO", |s, a| unsafe { fmi2GetInteger(s.component, &a.integer, 1, &mut 0) }),
    ("fmi2GetBoolean", "EOOOO", |s, _| unsafe { fmi2GetBoolean(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2GetString", "EOOOO", |s, _| unsafe { fmi2GetString(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2SetReal input", "OOOEE", |s, a| s.set_references(&[a.input], &[1.0])),
    ("fmi2SetReal tunable parameter", "OOOEE", |s, a| s.set_references(&[a.parameter], &[1.0])),
    ("fmi2SetReal fixed parameter", "OOEEE", |s, _| s.set("engine.step", 1e-3)),
    ("fmi2SetReal start value", "OOEEE", |s, a| s.set_references(&[a.output], &[2.0])),
    ("fmi2SetReal computed", "EEEEE", |s, _| s.set("ball_floor.gap", 1.0)),
    ("fmi2SetReal time", "EEEEE", |s, _| s.set("time", 1.0)),
    ("fmi2SetInteger", "OOOEE", |s, _| unsafe { fmi2SetInteger(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2SetBoolean", "OOOEE", |s, _| unsafe { fmi2SetBoolean(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2SetString", "OOOEE", |s, _| unsafe { fmi2SetString(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2GetFMUstate", "OOOOO", |s, a| unsafe { fmi2GetFMUstate(s.component, &mut a.state) }),
    ("fmi2SetFMUstate", "OOOOO", |s, a| s.restore(a.state)),
    ("fmi2FreeFMUstate", "OOOOO", |s, _| unsafe { fmi2FreeFMUstate(s.component, &mut null_mut()) }),
    ("fmi2SerializedFMUstateSize", "OOOOO",
        |s, a| unsafe { fmi2SerializedFMUstateSize(s.component, a.state, &mut 0) }),
    ("fmi2SerializeFMUstate", "OOOOO",
        |s, a| unsafe { fmi2SerializeFMUstate(s.component, a.state, a.bytes.as_mut_ptr().cast(), a.bytes.len()) }),
    ("fmi2DeSerializeFMUstate", "OOOOO", |s, a| {
        let (status, state) = s.deserialize(&a.bytes);
        s.free_state(state);
        status
    }),
    ("fmi2GetDirectionalDerivative", "EOOOO", |s, a| s.directional(&[a.output], &[a.input], &[1.0]).0),
    ("fmi2SetRealInputDerivatives", "OOOEE", |s, _| s.set_input_derivative("ball.f_ext[1]", 1, 0.5)),
    ("fmi2GetRealOutputDerivatives", "EEEEE",
        |s, a| unsafe { fmi2GetRealOutputDerivatives(s.component, &a.output, 1, &1, &mut 0.0) }),
    ("fmi2DoStep", "EEOEE", |s, _| s.step(0.0, 1e-3)),
    ("fmi2CancelStep", "EEEEE", |s, _| unsafe { fmi2CancelStep(s.component) }),
    ("fmi2GetStatus", "EEDDD", |s, _| unsafe { fmi2GetStatus(s.component, fmi2DoStepStatus, &mut fmi2OK) }),
    ("fmi2GetRealStatus", "EEOOO",
        |s, _| unsafe { fmi2GetRealStatus(s.component, fmi2LastSuccessfulTime, &mut 0.0) }),
    ("fmi2GetIntegerStatus", "EEDDD", |s, _| unsafe { fmi2GetIntegerStatus(s.component, 0, &mut 0) }),
    ("fmi2GetBooleanStatus", "EEOOO",
        |s, _| unsafe { fmi2GetBooleanStatus(s.component, fmi2Terminated, &mut 0) }),
    ("fmi2GetStringStatus", "EEDDD",
        |s, _| unsafe { fmi2GetStringStatus(s.component, fmi2PendingStatus, null_mut()) }),
    ("fmi2EnterEventMode", "EEEEE", |s, _| unsafe { fmi2EnterEventMode(s.component) }),
    ("fmi2NewDiscreteStates", "EEEEE", |s, _| unsafe { fmi2NewDiscreteStates(s.component, null_mut()) }),
    ("fmi2EnterContinuousTimeMode", "EEEEE", |s, _| unsafe { fmi2EnterContinuousTimeMode(s.component) }),
    ("fmi2CompletedIntegratorStep", "EEEEE",
        |s, _| unsafe { fmi2CompletedIntegratorStep(s.component, 0, &mut 0, &mut 0) }),
    ("fmi2SetTime", "EEEEE", |s, _| unsafe { fmi2SetTime(s.component, 0.0) }),
    ("fmi2SetContinuousStates", "EEEEE", |s, _| unsafe { fmi2SetContinuousStates(s.component, null_mut(), 0) }),
    ("fmi2GetDerivatives", "EEEEE", |s, _| unsafe { fmi2GetDerivatives(s.component, null_mut(), 0) }),
    ("fmi2GetEventIndicators", "EEEEE", |s, _| unsafe { fmi2GetEventIndicators(s.component, null_mut(), 0) }),
    ("fmi2GetContinuousStates", "EEEEE", |s, _| unsafe { fmi2GetContinuousStates(s.component, null_mut(), 0) }),
    ("fmi2GetNominalsOfContinuousStates", "EEEEE",
        |s, _| unsafe { fmi2GetNominalsOfContinuousStates(s.component, null_mut(), 0) }),
];

const MODES: [&str; 5] = ["instantiated", "initialization mode", "step mode", "terminated", "failed"];

fn in_mode<'a>(fmu: &'a Fmu, mode: &str) -> Slave<'a> {
    match mode {
        "instantiated" => Slave::instantiated(fmu),
        "initialization mode" => Slave::initializing(fmu),
        _ => {
            let slave = Slave::started(fmu);
            match mode {
                "terminated" => assert_eq!(slave.terminate(), fmi2OK),
                "failed" => slave.fail(),
                _ => {}
            }
            slave
        }
    }
}

#[test]
fn every_function_in_every_mode() {
    let fmu = Fmu::new(&bouncing_ball());
    for (column, mode) in MODES.into_iter().enumerate() {
        for (name, expected, call) in TABLE {
            let slave = in_mode(&fmu, mode);
            let state = slave.save();
            let mut arguments = Arguments {
                input: fmu.reference("ball.f_ext[1]"),
                output: fmu.reference("ball.r[3]"),
                parameter: fmu.reference("ball.mass"),
                integer: fmu.reference("engine.substeps"),
                state,
                bytes: slave.serialize(state),
            };
            let before = slave.saved_bytes();
            let status = call(&slave, &mut arguments);
            let letter = match status {
                fmi2OK => 'O',
                fmi2Discard => 'D',
                fmi2Error => 'E',
                other => panic!("{name} in {mode}: {other:?}"),
            };
            assert_eq!(Some(letter), expected.chars().nth(column), "{name} in {mode}: {:?}", slave.log());
            if letter == 'O' {
                assert!(slave.log().is_empty());
            } else {
                slave.expect_log(status, &[name.split(' ').next().unwrap()]);
                assert_eq!(
                    slave.saved_bytes(),
                    before,
                    "{name} in {mode} is refused but changes the instance"
                );
            }
            slave.free_state(arguments.state);
        }
    }
}

#[test]
fn model_exchange_functions_say_what_the_fmu_is() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    // SAFETY: a live instance.
    assert_eq!(unsafe { fmi2SetTime(slave.component, 0.0) }, fmi2Error);
    slave.expect_log(fmi2Error, &["co-simulation only"]);
}

#[test]
fn version_and_platform() {
    // SAFETY: static strings.
    let [version, platform] =
        [fmi2GetVersion(), fmi2GetTypesPlatform()].map(|text| unsafe { std::ffi::CStr::from_ptr(text) });
    assert_eq!((version, platform), (c"2.0", c"default"));
}

#[test]
fn experiment_times_are_checked() {
    let fmu = Fmu::new(&drifting_ball());
    let slave = Slave::instantiated(&fmu);
    for (start, stop) in [(f64::NAN, None), (f64::INFINITY, None), (1.0, Some(0.5)), (0.0, Some(f64::NAN))] {
        assert_eq!(slave.setup_experiment(start, stop), fmi2Error, "{start} {stop:?}");
        slave.expect_log(fmi2Error, &["fmi2SetupExperiment"]);
    }
    assert_eq!(slave.setup_experiment(1.0, Some(1.0)), fmi2OK, "for those who only initialize");
    assert_eq!(slave.setup_experiment(0.25, Some(f64::INFINITY)), fmi2OK);
    // SAFETY: a live instance.
    assert_eq!(unsafe { fmi2EnterInitializationMode(slave.component) }, fmi2OK);
    assert_eq!(slave.get("time"), 0.25);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.step(0.0, 1e-3), fmi2Error);
    assert_eq!(slave.step(0.25, 1e-3), fmi2OK);
    assert_eq!(slave.get("time"), 0.25 + 1e-3);
}

#[test]
fn reset_leaves_nothing_behind() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::instantiated(&fmu);
    let fresh = slave.saved_bytes();
    let run = |slave: &Slave, steps| {
        slave.set_up(0.0);
        assert_eq!(slave.exit_initialization(), fmi2OK);
        slave.steps(0..steps, 1e-3);
        slave.bits()
    };
    let first = run(&slave, 700);
    for name in ["ball.mass", "ball_floor.mu", "gravity[1]", "ball.f_ext[2]"] {
        assert_eq!(slave.set(name, 0.5), fmi2OK);
    }
    assert_eq!(slave.set_input_derivative("ball.f_ext[1]", 2, 3.0), fmi2OK);
    assert_eq!(slave.terminate(), fmi2OK);
    assert_eq!(slave.reset(), fmi2OK);
    assert_eq!(slave.saved_bytes(), fresh);
    assert_eq!(run(&slave, 700), first);
    slave.fail();
    assert_eq!(slave.reset(), fmi2OK);
    assert_eq!(slave.saved_bytes(), fresh);
}

#[test]
fn values_can_be_read_after_terminate_and_failure() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..10, 1e-3);
    let bits = slave.bits();
    assert_eq!(slave.terminate(), fmi2OK);
    assert_eq!(slave.bits(), bits);
    assert_eq!(slave.terminate(), fmi2Error);
    assert_eq!(slave.bits(), bits);
    slave.fail();
    assert_eq!(slave.bits(), bits);
}

#[test]
fn a_start_inside_a_surface_is_refused_and_can_be_mended() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::initializing(&fmu);
    assert_eq!(slave.set("ball.r[3]", 0.15), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2Error);
    slave.expect_log(fmi2Error, &["ball_floor.gap", "0.05", "inside"]);
    assert_eq!(slave.set("ball.r[3]", 0.2 - 1e-10), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.step(0.0, 1e-3), fmi2OK);
}
