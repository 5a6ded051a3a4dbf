//! Every function in every mode, against the tables of FMI 2.0, 3.2.3 and 4.2.4; the way from mode to mode.

use crate::common::*;
use std::ptr::null_mut;

/// Name, statuses in the modes of co-simulation and of model exchange, call.
/// O fmi2OK, D fmi2Discard, E fmi2Error.
type Row = (&'static str, &'static str, &'static str, fn(&Slave, &mut Arguments) -> fmi2Status);

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
    ("fmi2SetDebugLogging", "OOOOO", "OOOOOO", |s, _| unsafe { fmi2SetDebugLogging(s.component, 0, 0, null_mut()) }),
    ("fmi2SetupExperiment", "OEEEE", "OEEEEE", |s, _| s.setup_experiment(0.0, Some(1.0))),
    ("fmi2EnterInitializationMode", "OEEEE", "OEEEEE", |s, _| unsafe { fmi2EnterInitializationMode(s.component) }),
    ("fmi2ExitInitializationMode", "EOEEE", "EOEEEE", |s, _| s.exit_initialization()),
    ("fmi2Terminate", "EEOEE", "EEOOEE", |s, _| s.terminate()),
    ("fmi2Reset", "OOOOO", "OOOOOO", |s, _| s.reset()),
    ("fmi2GetReal", "EOOOO", "EOOOOO", |s, a| s.get_references(&[a.output]).0),
    ("fmi2GetInteger", "EOOOO", "EOOOOO", |s, a| unsafe { fmi2GetInteger(s.component, &a.integer, 1, &mut 0) }),
    ("fmi2GetBoolean", "EOOOO", "EOOOOO", |s, _| unsafe { fmi2GetBoolean(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2GetString", "EOOOO", "EOOOOO", |s, _| unsafe { fmi2GetString(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2SetReal input", "OOOEE", "OOOOEE", |s, a| s.set_references(&[a.input], &[1.0])),
    ("fmi2SetReal tunable parameter", "OOOEE", "OOOEEE", |s, a| s.set_references(&[a.parameter], &[1.0])),
    ("fmi2SetReal fixed parameter", "OOEEE", "OOEEEE", |s, _| s.set("engine.step", 1e-3)),
    ("fmi2SetReal start value", "OOEEE", "OOEEEE", |s, a| s.set_references(&[a.output], &[2.0])),
    ("fmi2SetReal computed", "EEEEE", "EEEEEE", |s, _| s.set("ball_floor.gap", 1.0)),
    ("fmi2SetReal time", "EEEEE", "EEEEEE", |s, _| s.set("time", 1.0)),
    ("fmi2SetInteger", "OOOEE", "OOOEEE", |s, _| unsafe { fmi2SetInteger(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2SetBoolean", "OOOEE", "OOOEEE", |s, _| unsafe { fmi2SetBoolean(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2SetString", "OOOEE", "OOOEEE", |s, _| unsafe { fmi2SetString(s.component, null_mut(), 0, null_mut()) }),
    ("fmi2GetFMUstate", "OOOOO", "OOOOOO", |s, a| unsafe { fmi2GetFMUstate(s.component, &mut a.state) }),
    ("fmi2SetFMUstate", "OOOOO", "OOOOOO", |s, a| s.restore(a.state)),
    ("fmi2FreeFMUstate", "OOOOO", "OOOOOO", |s, _| unsafe { fmi2FreeFMUstate(s.component, &mut null_mut()) }),
    ("fmi2SerializedFMUstateSize", "OOOOO", "OOOOOO",
        |s, a| unsafe { fmi2SerializedFMUstateSize(s.component, a.state, &mut 0) }),
    ("fmi2SerializeFMUstate", "OOOOO", "OOOOOO",
        |s, a| unsafe { fmi2SerializeFMUstate(s.component, a.state, a.bytes.as_mut_ptr().cast(), a.bytes.len()) }),
    ("fmi2DeSerializeFMUstate", "OOOOO", "OOOOOO", |s, a| {
        let (status, state) = s.deserialize(&a.bytes);
        s.free_state(state);
        status
    }),
    ("fmi2GetDirectionalDerivative", "EOOOO", "EOOOOO", |s, a| s.directional(&[a.output], &[a.input], &[1.0]).0),
    ("fmi2SetRealInputDerivatives", "OOOEE", "EEEEEE", |s, _| s.set_input_derivative("ball.f_ext[1]", 1, 0.5)),
    ("fmi2GetRealOutputDerivatives", "EEEEE", "EEEEEE",
        |s, a| unsafe { fmi2GetRealOutputDerivatives(s.component, &a.output, 1, &1, &mut 0.0) }),
    ("fmi2DoStep", "EEOEE", "EEEEEE", |s, _| s.step(0.0, 1e-3)),
    ("fmi2CancelStep", "EEEEE", "EEEEEE", |s, _| unsafe { fmi2CancelStep(s.component) }),
    ("fmi2GetStatus", "EEDDD", "EEEEEE", |s, _| unsafe { fmi2GetStatus(s.component, fmi2DoStepStatus, &mut fmi2OK) }),
    ("fmi2GetRealStatus", "EEOOO", "EEEEEE",
        |s, _| unsafe { fmi2GetRealStatus(s.component, fmi2LastSuccessfulTime, &mut 0.0) }),
    ("fmi2GetIntegerStatus", "EEDDD", "EEEEEE", |s, _| unsafe { fmi2GetIntegerStatus(s.component, 0, &mut 0) }),
    ("fmi2GetBooleanStatus", "EEOOO", "EEEEEE",
        |s, _| unsafe { fmi2GetBooleanStatus(s.component, fmi2Terminated, &mut 0) }),
    ("fmi2GetStringStatus", "EEDDD", "EEEEEE",
        |s, _| unsafe { fmi2GetStringStatus(s.component, fmi2PendingStatus, null_mut()) }),
    ("fmi2EnterEventMode", "EEEEE", "EEOOEE", |s, _| s.enter_event_mode()),
    ("fmi2NewDiscreteStates", "EEEEE", "EEOEEE", |s, _| s.new_discrete_states().0),
    ("fmi2EnterContinuousTimeMode", "EEEEE", "EEOEEE", |s, _| s.enter_continuous_time_mode()),
    ("fmi2CompletedIntegratorStep", "EEEEE", "EEEOEE",
        |s, _| unsafe { fmi2CompletedIntegratorStep(s.component, 0, &mut 0, &mut 0) }),
    ("fmi2SetTime", "EEEEE", "OEOOEE", |s, _| s.set_time(0.0)),
    ("fmi2SetContinuousStates", "EEEEE", "EEEOEE", |s, _| unsafe { fmi2SetContinuousStates(s.component, null_mut(), 0) }),
    ("fmi2GetDerivatives", "EEEEE", "EEOOOO", |s, _| unsafe { fmi2GetDerivatives(s.component, null_mut(), 0) }),
    ("fmi2GetEventIndicators", "EEEEE", "EOOOOO", |s, _| unsafe { fmi2GetEventIndicators(s.component, null_mut(), 0) }),
    ("fmi2GetContinuousStates", "EEEEE", "EOOOOO", |s, _| unsafe { fmi2GetContinuousStates(s.component, null_mut(), 0) }),
    ("fmi2GetNominalsOfContinuousStates", "EEEEE", "OEOOOO",
        |s, _| unsafe { fmi2GetNominalsOfContinuousStates(s.component, null_mut(), 0) }),
];

const MODES: [&[&str]; 2] = [
    &["instantiated", "initialization mode", "step mode", "terminated", "failed"],
    &["instantiated", "initialization mode", "event mode", "continuous-time mode", "terminated", "failed"],
];

fn in_mode<'a>(fmu: &'a Fmu, kind: fmi2Type, mode: &str) -> Slave<'a> {
    let slave = Slave::of_kind(fmu, kind, GUID, false);
    if mode == "instantiated" {
        return slave;
    }
    slave.set_up(0.0);
    if mode == "initialization mode" {
        return slave;
    }
    assert_eq!(slave.exit_initialization(), fmi2OK);
    match mode {
        "continuous-time mode" => assert_eq!(slave.enter_continuous_time_mode(), fmi2OK),
        "terminated" => assert_eq!(slave.terminate(), fmi2OK),
        "failed" => slave.fail(),
        _ => {}
    }
    slave
}

#[test]
fn every_function_in_every_mode() {
    let fmu = Fmu::new(&bouncing_ball());
    for (kind, modes) in [fmi2CoSimulation, fmi2ModelExchange].into_iter().zip(MODES) {
        for (column, mode) in modes.iter().enumerate() {
            for (name, in_steps, at_events, call) in TABLE {
                let expected = if kind == fmi2CoSimulation { in_steps } else { at_events };
                assert_eq!(expected.len(), modes.len(), "{name}");
                compare(&in_mode(&fmu, kind, mode), mode, name, expected.as_bytes()[column] as char, *call);
            }
        }
    }
}

fn compare(
    slave: &Slave,
    mode: &str,
    name: &str,
    expected: char,
    call: fn(&Slave, &mut Arguments) -> fmi2Status,
) {
    let state = slave.save();
    let mut arguments = Arguments {
        input: slave.fmu.reference("ball.f_ext[1]"),
        output: slave.fmu.reference("ball.r[3]"),
        parameter: slave.fmu.reference("ball.mass"),
        integer: slave.fmu.reference("engine.substeps"),
        state,
        bytes: slave.serialize(state),
    };
    let before = slave.saved_bytes();
    let status = call(slave, &mut arguments);
    let letter = match status {
        fmi2OK => 'O',
        fmi2Discard => 'D',
        fmi2Error => 'E',
        other => panic!("{name} in {mode}: {other:?}"),
    };
    assert_eq!(letter, expected, "{name} in {mode}: {:?}", slave.log());
    if letter == 'O' {
        assert!(slave.log().is_empty());
    } else {
        slave.expect_log(status, &[name.split(' ').next().unwrap()]);
        assert_eq!(slave.saved_bytes(), before, "{name} in {mode} is refused but changes the instance");
    }
    slave.free_state(arguments.state);
}

#[test]
fn functions_of_the_other_interface_say_so() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    assert_eq!(slave.set_time(0.0), fmi2Error);
    slave.expect_log(
        fmi2Error,
        &["fmi2SetTime: for model exchange only, and the instance was made for co-simulation"],
    );
    let block = Slave::block_started(&fmu);
    assert_eq!(block.step(0.0, 1e-3), fmi2Error);
    block.expect_log(
        fmi2Error,
        &["fmi2DoStep: for co-simulation only, and the instance was made for model exchange"],
    );
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
