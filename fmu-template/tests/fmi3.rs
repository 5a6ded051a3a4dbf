//! Every function of FMI 3.0 in every mode, against the tables of FMI 3.0, 2.3, 3.2 and 4.2; wrong arguments.

use crate::common::{Fmu, GUID, bouncing_ball};
use contact_fmu_runtime::abi::fmi2Status::{self, *};
use contact_fmu_runtime::abi3::*;
use contact_fmu_runtime::*;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

/// Lines of an instance, at an address that stays.
#[derive(Debug, Default)]
struct Log {
    lines: Vec<String>,
}

/// An instance and its log.
struct Slave {
    instance: fmi3Instance,
    log: Box<Log>,
}

unsafe extern "C" fn keep_line(
    environment: fmi3InstanceEnvironment,
    _: fmi3Status,
    category: fmi3String,
    message: fmi3String,
) {
    // SAFETY: the environment that was given with the instance, and zero-terminated strings.
    let (log, category, message) =
        unsafe { (&mut *environment.cast::<Log>(), CStr::from_ptr(category), CStr::from_ptr(message)) };
    log.lines.push(format!("{}: {}", category.to_string_lossy(), message.to_string_lossy()));
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Steps,
    StepsWithEvents,
    Exchange,
}

impl Slave {
    fn new(fmu: &Fmu, kind: Kind, token: &str) -> Slave {
        let mut log: Box<Log> = Box::default();
        let environment = (&raw mut *log).cast();
        let (token, path) = (CString::new(token).unwrap(), CString::new(fmu.resources()).unwrap());
        let (name, token, path) = (c"slave".as_ptr(), token.as_ptr(), path.as_ptr());
        let events = u8::from(kind == Kind::StepsWithEvents);
        // SAFETY: strings live through the call, the log as long as the instance.
        let instance = unsafe {
            match kind {
                Kind::Exchange => {
                    fmi3InstantiateModelExchange(name, token, path, 0, 0, environment, Some(keep_line))
                }
                _ => fmi3InstantiateCoSimulation(
                    name,
                    token,
                    path,
                    0,
                    0,
                    events,
                    events,
                    null(),
                    0,
                    environment,
                    Some(keep_line),
                    None,
                ),
            }
        };
        Slave { instance, log }
    }

    /// In a mode: I instantiated, N initialization, E event, S step, C continuous-time, T terminated.
    fn in_mode(fmu: &Fmu, kind: Kind, mode: char) -> Slave {
        let slave = Slave::new(fmu, kind, GUID);
        let i = slave.instance;
        let first = match kind {
            Kind::Steps => 'S',
            Kind::StepsWithEvents | Kind::Exchange => 'E',
        };
        // SAFETY: a live instance.
        unsafe {
            if mode != 'I' {
                assert_eq!(fmi3EnterInitializationMode(i, 0, 0.0, 0.0, 0, 0.0), fmi2OK);
            }
            if !"IN".contains(mode) {
                assert_eq!(fmi3ExitInitializationMode(i), fmi2OK);
            }
            match mode {
                'S' if first == 'E' => assert_eq!(fmi3EnterStepMode(i), fmi2OK),
                'C' => assert_eq!(fmi3EnterContinuousTimeMode(i), fmi2OK),
                'T' => assert_eq!(fmi3Terminate(i), fmi2OK),
                _ => {}
            }
        }
        slave
    }
}

impl Drop for Slave {
    fn drop(&mut self) {
        // SAFETY: from an instantiation, not used afterwards.
        unsafe { fmi3FreeInstance(self.instance) };
    }
}

fn reference(fmu: &Fmu, name: &str) -> u32 {
    fmu.reference(name)
}

type Call = fn(fmi3Instance, &Fmu) -> fmi3Status;

/// Name, modes in which it is done for co-simulation without and with events and for model exchange, call.
#[rustfmt::skip]
#[allow(clippy::undocumented_unsafe_blocks, reason = "all: live instances, and arrays of the lengths given")]
const TABLE: &[(&str, &str, &str, &str, Call)] = &[
    ("fmi3SetDebugLogging", "INST", "INEST", "INECT", |i, _| unsafe { fmi3SetDebugLogging(i, 0, 0, null()) }),
    ("fmi3EnterInitializationMode", "I", "I", "I", |i, _| unsafe { fmi3EnterInitializationMode(i, 0, 0.0, 0.0, 0, 0.0) }),
    ("fmi3ExitInitializationMode", "N", "N", "N", |i, _| unsafe { fmi3ExitInitializationMode(i) }),
    ("fmi3EnterEventMode", "", "S", "C", |i, _| unsafe { fmi3EnterEventMode(i) }),
    ("fmi3Terminate", "S", "ES", "EC", |i, _| unsafe { fmi3Terminate(i) }),
    ("fmi3Reset", "INST", "INEST", "INECT", |i, _| unsafe { fmi3Reset(i) }),
    ("fmi3GetFloat64", "NST", "NEST", "NECT", |i, f| unsafe { fmi3GetFloat64(i, &reference(f, "ball.r[1]"), 1, [0.0; 3].as_mut_ptr(), 3) }),
    ("fmi3GetInt32", "NST", "NEST", "NECT", |i, f| unsafe { fmi3GetInt32(i, &reference(f, "engine.substeps"), 1, &mut 0, 1) }),
    ("fmi3GetInt64", "NST", "NEST", "NECT", |i, f| unsafe { fmi3GetInt64(i, &reference(f, "ball_floor.state"), 1, &mut 0, 1) }),
    ("fmi3GetClock", "N", "NE", "NE", |i, f| unsafe { fmi3GetClock(i, &(f.variables.len() as u32), 1, &mut 0) }),
    ("fmi3SetFloat64 input", "INS", "INES", "INEC", |i, f| unsafe { fmi3SetFloat64(i, &reference(f, "ball.f_ext[1]"), 1, [0.0; 3].as_ptr(), 3) }),
    ("fmi3SetFloat64 tunable parameter", "INS", "INES", "INE", |i, f| unsafe { fmi3SetFloat64(i, &reference(f, "ball.mass"), 1, &1.0, 1) }),
    ("fmi3SetFloat64 start value", "IN", "IN", "IN", |i, f| unsafe { fmi3SetFloat64(i, &reference(f, "ball.v[1]"), 1, [0.0; 3].as_ptr(), 3) }),
    ("fmi3SetClock", "", "", "", |i, f| unsafe { fmi3SetClock(i, &(f.variables.len() as u32), 1, &1) }),
    ("fmi3GetDirectionalDerivative", "NST", "NEST", "NECT", |i, f| unsafe {
        fmi3GetDirectionalDerivative(i, &reference(f, "ball.v[1]"), 1, &reference(f, "ball.f_ext[1]"), 1, [1.0; 3].as_ptr(), 3, [0.0; 3].as_mut_ptr(), 3)
    }),
    ("fmi3GetAdjointDerivative", "NST", "NEST", "NECT", |i, f| unsafe {
        fmi3GetAdjointDerivative(i, &reference(f, "ball.v[1]"), 1, &reference(f, "ball.f_ext[1]"), 1, [1.0; 3].as_ptr(), 3, [0.0; 3].as_mut_ptr(), 3)
    }),
    ("fmi3UpdateDiscreteStates", "", "E", "E", |i, _| unsafe {
        fmi3UpdateDiscreteStates(i, &mut 0, &mut 0, &mut 0, &mut 0, &mut 0, &mut 0.0)
    }),
    ("fmi3EnterContinuousTimeMode", "", "", "E", |i, _| unsafe { fmi3EnterContinuousTimeMode(i) }),
    ("fmi3CompletedIntegratorStep", "", "", "C", |i, _| unsafe { fmi3CompletedIntegratorStep(i, 1, &mut 0, &mut 0) }),
    ("fmi3SetTime", "", "", "EC", |i, _| unsafe { fmi3SetTime(i, 0.0) }),
    ("fmi3SetContinuousStates", "", "", "C", |i, _| unsafe { fmi3SetContinuousStates(i, null(), 0) }),
    ("fmi3GetContinuousStateDerivatives", "", "", "NECT", |i, _| unsafe { fmi3GetContinuousStateDerivatives(i, null_mut(), 0) }),
    ("fmi3GetEventIndicators", "", "", "NECT", |i, _| unsafe { fmi3GetEventIndicators(i, null_mut(), 0) }),
    ("fmi3GetNumberOfEventIndicators", "", "", "INECT", |i, _| unsafe { fmi3GetNumberOfEventIndicators(i, &mut 0) }),
    ("fmi3GetNumberOfContinuousStates", "", "", "INECT", |i, _| unsafe { fmi3GetNumberOfContinuousStates(i, &mut 0) }),
    ("fmi3EnterStepMode", "", "E", "", |i, _| unsafe { fmi3EnterStepMode(i) }),
    ("fmi3DoStep", "S", "S", "", |i, _| unsafe { fmi3DoStep(i, 0.0, 1e-3, 1, &mut 0, &mut 0, &mut 0, &mut 0.0) }),
    ("fmi3GetOutputDerivatives", "", "", "", |i, _| unsafe { fmi3GetOutputDerivatives(i, null(), 0, null(), null_mut(), 0) }),
    ("fmi3EnterConfigurationMode", "", "", "", |i, _| unsafe { fmi3EnterConfigurationMode(i) }),
    ("fmi3ExitConfigurationMode", "", "", "", |i, _| unsafe { fmi3ExitConfigurationMode(i) }),
    ("fmi3GetNumberOfVariableDependencies", "", "", "", |i, _| unsafe { fmi3GetNumberOfVariableDependencies(i, 0, &mut 0) }),
    ("fmi3GetIntervalDecimal", "", "", "", |i, _| unsafe { fmi3GetIntervalDecimal(i, null(), 0, null_mut(), null_mut()) }),
    ("fmi3GetIntervalFraction", "", "", "", |i, _| unsafe { fmi3GetIntervalFraction(i, null(), 0, null_mut(), null_mut(), null_mut()) }),
    ("fmi3GetShiftDecimal", "", "", "", |i, _| unsafe { fmi3GetShiftDecimal(i, null(), 0, null_mut()) }),
    ("fmi3SetIntervalDecimal", "", "", "", |i, _| unsafe { fmi3SetIntervalDecimal(i, null(), 0, null()) }),
    ("fmi3SetShiftFraction", "", "", "", |i, _| unsafe { fmi3SetShiftFraction(i, null(), 0, null(), null()) }),
    ("fmi3EvaluateDiscreteStates", "", "", "", |i, _| unsafe { fmi3EvaluateDiscreteStates(i) }),
    ("fmi3GetFloat32", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetFloat32(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetFloat32", "INS", "INES", "INEC", |i, _| unsafe { fmi3SetFloat32(i, null(), 0, null(), 0) }),
    ("fmi3GetInt8", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetInt8(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetInt8", "INS", "INES", "INE", |i, _| unsafe { fmi3SetInt8(i, null(), 0, null(), 0) }),
    ("fmi3GetUInt8", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetUInt8(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetUInt8", "INS", "INES", "INE", |i, _| unsafe { fmi3SetUInt8(i, null(), 0, null(), 0) }),
    ("fmi3GetInt16", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetInt16(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetInt16", "INS", "INES", "INE", |i, _| unsafe { fmi3SetInt16(i, null(), 0, null(), 0) }),
    ("fmi3GetUInt16", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetUInt16(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetUInt16", "INS", "INES", "INE", |i, _| unsafe { fmi3SetUInt16(i, null(), 0, null(), 0) }),
    ("fmi3GetUInt32", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetUInt32(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetUInt32", "INS", "INES", "INE", |i, _| unsafe { fmi3SetUInt32(i, null(), 0, null(), 0) }),
    ("fmi3GetUInt64", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetUInt64(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetUInt64", "INS", "INES", "INE", |i, _| unsafe { fmi3SetUInt64(i, null(), 0, null(), 0) }),
    ("fmi3GetBoolean", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetBoolean(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetBoolean", "INS", "INES", "INE", |i, _| unsafe { fmi3SetBoolean(i, null(), 0, null(), 0) }),
    ("fmi3GetString", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetString(i, null(), 0, null_mut(), 0) }),
    ("fmi3SetString", "INS", "INES", "INE", |i, _| unsafe { fmi3SetString(i, null(), 0, null(), 0) }),
    ("fmi3GetBinary", "NST", "NEST", "NECT", |i, _| unsafe { fmi3GetBinary(i, null(), 0, null_mut(), null_mut(), 0) }),
    ("fmi3SetBinary", "INS", "INES", "INE", |i, _| unsafe { fmi3SetBinary(i, null(), 0, null(), null(), 0) }),
    ("fmi3SetInt32", "INS", "INES", "INE", |i, _| unsafe { fmi3SetInt32(i, null(), 0, null(), 0) }),
    ("fmi3SetInt64", "INS", "INES", "INE", |i, _| unsafe { fmi3SetInt64(i, null(), 0, null(), 0) }),
    ("fmi3GetVariableDependencies", "", "", "", |i, _| unsafe { fmi3GetVariableDependencies(i, 0, null_mut(), null_mut(), null_mut(), null_mut(), 0) }),
    ("fmi3GetShiftFraction", "", "", "", |i, _| unsafe { fmi3GetShiftFraction(i, null(), 0, null_mut(), null_mut()) }),
    ("fmi3SetIntervalFraction", "", "", "", |i, _| unsafe { fmi3SetIntervalFraction(i, null(), 0, null(), null()) }),
    ("fmi3SetShiftDecimal", "", "", "", |i, _| unsafe { fmi3SetShiftDecimal(i, null(), 0, null()) }),
    ("fmi3GetContinuousStates", "", "", "NECT", |i, _| unsafe { fmi3GetContinuousStates(i, null_mut(), 0) }),
    ("fmi3GetNominalsOfContinuousStates", "", "", "NECT", |i, _| unsafe { fmi3GetNominalsOfContinuousStates(i, null_mut(), 0) }),
    ("fmi3ActivateModelPartition", "", "", "", |i, _| unsafe { fmi3ActivateModelPartition(i, 0, 0.0) }),
];

/// Names of all functions on an instance.
macro_rules! names {
    (
        written { $($written:tt)* }
        on_instance { $($name:ident($($argument:ident: $type:ty),*) => $work:expr;)* }
    ) => { &[$(stringify!($name),)*] };
}
const FUNCTIONS: &[&str] = contact_fmu_runtime::fmi3_functions!(names);

/// All are in the table, but for those of saved states, which have a test of their own.
#[test]
fn the_table_has_every_function() {
    assert!(FUNCTIONS.len() > 60);
    for function in FUNCTIONS.iter().filter(|function| !function.contains("FMUState")) {
        let is_row = |name: &&str| name.split(' ').next() == Some(*function);
        assert!(TABLE.iter().any(|(name, ..)| is_row(name)), "{function}");
    }
}

#[test]
fn every_function_in_every_mode() {
    let fmu = Fmu::new(&bouncing_ball());
    for (name, steps, with_events, exchange, call) in TABLE {
        for (kind, allowed, modes) in [
            (Kind::Steps, steps, "INST"),
            (Kind::StepsWithEvents, with_events, "INEST"),
            (Kind::Exchange, exchange, "INECT"),
        ] {
            for mode in modes.chars() {
                let slave = Slave::in_mode(&fmu, kind, mode);
                let status = call(slave.instance, &fmu);
                let expected = if allowed.contains(mode) { fmi2OK } else { fmi2Error };
                assert_eq!(status, expected, "{name} of {kind:?} in mode {mode}: {:?}", slave.log);
                assert_eq!(slave.log.lines.is_empty(), status == fmi2OK, "{name}: {:?}", slave.log);
            }
        }
        assert_eq!(call(null_mut(), &fmu), fmi2Error, "{name} of no instance");
    }
}

/// States are saved and restored in every mode, also serialized.
#[test]
fn states_in_every_mode() {
    let fmu = Fmu::new(&bouncing_ball());
    for (kind, modes) in [(Kind::Steps, "INST"), (Kind::StepsWithEvents, "INEST"), (Kind::Exchange, "INECT")]
    {
        for mode in modes.chars() {
            let slave = Slave::in_mode(&fmu, kind, mode);
            let (i, mut state, mut copy, mut size) = (slave.instance, null_mut(), null_mut(), 0);
            // SAFETY: a live instance, places for what is written, as many bytes as said.
            unsafe {
                assert_eq!(fmi3GetFMUState(i, &mut state), fmi2OK);
                assert_eq!(fmi3SerializedFMUStateSize(i, state, &mut size), fmi2OK);
                let mut bytes = vec![0; size];
                assert_eq!(fmi3SerializeFMUState(i, state, bytes.as_mut_ptr(), size), fmi2OK);
                assert_eq!(fmi3SerializeFMUState(i, state, bytes.as_mut_ptr(), size - 1), fmi2Error);
                assert_eq!(
                    fmi3DeserializeFMUState(i, bytes.as_ptr(), size, &mut copy),
                    fmi2OK,
                    "{kind:?} {mode}"
                );
                assert_eq!(fmi3SetFMUState(i, copy), fmi2OK);
                assert_eq!(fmi3SetFMUState(i, null_mut()), fmi2Error);
                assert_eq!(fmi3FreeFMUState(i, &mut state), fmi2OK);
                assert_eq!(fmi3FreeFMUState(i, &mut copy), fmi2OK);
            }
        }
    }
}

/// Nulls and bytes that are no state: fmi3Error.
#[test]
fn wrong_states_have_their_status() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::in_mode(&fmu, Kind::Steps, 'S');
    let (i, no, mut state, mut size) = (slave.instance, null_mut(), null_mut(), 0);
    let mut bytes = [0; 16];
    // SAFETY: null or a live instance, null or a state of it, as many bytes as said.
    unsafe {
        assert_eq!(fmi3GetFMUState(i, &mut state), fmi2OK);
        for status in [
            fmi3GetFMUState(no, &mut state),
            fmi3GetFMUState(i, null_mut()),
            fmi3SetFMUState(no, state),
            fmi3FreeFMUState(no, &mut state),
            fmi3SerializedFMUStateSize(no, state, &mut size),
            fmi3SerializedFMUStateSize(i, null_mut(), &mut size),
            fmi3SerializedFMUStateSize(i, state, null_mut()),
            fmi3SerializeFMUState(no, state, bytes.as_mut_ptr(), bytes.len()),
            fmi3SerializeFMUState(i, null_mut(), bytes.as_mut_ptr(), bytes.len()),
            fmi3SerializeFMUState(i, state, null_mut(), bytes.len()),
            fmi3SerializeFMUState(i, state, bytes.as_mut_ptr(), bytes.len()),
            fmi3DeserializeFMUState(no, bytes.as_ptr(), bytes.len(), &mut null_mut()),
            fmi3DeserializeFMUState(i, null(), bytes.len(), &mut null_mut()),
            fmi3DeserializeFMUState(i, bytes.as_ptr(), bytes.len(), &mut null_mut()),
            fmi3DeserializeFMUState(i, bytes.as_ptr(), bytes.len(), null_mut()),
        ] {
            assert_eq!(status, fmi2Error, "{:?}", slave.log);
        }
        assert_eq!(fmi3FreeFMUState(i, &mut state), fmi2OK);
        assert_eq!(fmi3FreeFMUState(i, &mut null_mut()), fmi2OK);
    }
}

#[test]
fn wrong_tokens_and_names_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    for kind in [Kind::Steps, Kind::Exchange] {
        let slave = Slave::new(&fmu, kind, "{00000000-0000-0000-0000-000000000000}");
        assert!(slave.instance.is_null());
        assert!(slave.log.lines[0].contains("instantiationToken is {00000000"), "{:?}", slave.log);
    }
    let mut log: Box<Log> = Box::default();
    let environment = (&raw mut *log).cast();
    // SAFETY: null or zero-terminated strings.
    let instance = unsafe {
        fmi3InstantiateScheduledExecution(
            c"x".as_ptr(),
            null(),
            null(),
            0,
            0,
            environment,
            Some(keep_line),
            None,
            None,
            None,
        )
    };
    assert!(instance.is_null() && log.lines[0].contains("not for scheduled execution"), "{log:?}");
}

/// Nulls, wrong sizes, unknown references: fmi3Error, and what is out of range: fmi3Discard.
#[test]
fn wrong_arguments_have_their_status() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::in_mode(&fmu, Kind::Steps, 'S');
    let i = slave.instance;
    let [r, mass, f, substeps, state] =
        ["ball.r[1]", "ball.mass", "ball.f_ext[1]", "engine.substeps", "ball_floor.state"]
            .map(|name| reference(&fmu, name));
    let (mut values, seeds) = ([0.0; 8], [1.0; 3]);
    let (out, seed) = (values.as_mut_ptr(), seeds.as_ptr());
    for derivative in [fmi3GetDirectionalDerivative, fmi3GetAdjointDerivative] {
        // SAFETY: a live instance; arrays are null or as long as said.
        let answers = unsafe {
            [
                (fmi3GetFloat64(i, null(), 1, out, 3), fmi2Error),
                (fmi3GetFloat64(i, &r, 1, null_mut(), 3), fmi2Error),
                (fmi3GetFloat64(i, &r, 1, out, 2), fmi2Error),
                (fmi3GetFloat64(i, &r, 1, out, 4), fmi2Error),
                (fmi3GetFloat64(i, &(r + 1), 1, out, 1), fmi2Error),
                (fmi3GetFloat64(i, &u32::MAX, 1, out, 1), fmi2Error),
                (fmi3GetFloat64(i, &r, usize::MAX, out, 3), fmi2Error),
                (fmi3GetFloat32(i, &r, 1, null_mut(), 3), fmi2Error),
                (fmi3GetInt32(i, &r, 1, &mut 0, 1), fmi2Error),
                (fmi3GetInt32(i, &substeps, 1, &mut 0, 2), fmi2Error),
                (fmi3GetInt32(i, &substeps, 1, null_mut(), 1), fmi2Error),
                (fmi3GetInt64(i, &substeps, 1, &mut 0, 1), fmi2Error),
                (fmi3GetInt64(i, &state, 1, &mut 0, 0), fmi2Error),
                (fmi3GetInt64(i, null(), 1, &mut 0, 1), fmi2Error),
                (fmi3SetFloat64(i, &mass, 1, null(), 1), fmi2Error),
                (fmi3SetFloat64(i, null(), 1, &1.0, 1), fmi2Error),
                (fmi3SetFloat64(i, &mass, 1, [1.0; 2].as_ptr(), 2), fmi2Error),
                (fmi3SetFloat64(i, &u32::MAX, 1, &1.0, 1), fmi2Error),
                (fmi3SetFloat64(i, &r, 1, [0.0; 3].as_ptr(), 3), fmi2Error),
                (derivative(i, &r, 1, &f, 1, seed, 3, out, 3), fmi2OK),
                (derivative(i, null(), 1, &f, 1, seed, 3, out, 3), fmi2Error),
                (derivative(i, &r, 1, null(), 1, seed, 3, out, 3), fmi2Error),
                (derivative(i, &r, 1, &f, 1, null(), 3, out, 3), fmi2Error),
                (derivative(i, &r, 1, &f, 1, seed, 3, null_mut(), 3), fmi2Error),
                (derivative(i, &r, 1, &f, 1, seed, 2, out, 3), fmi2Error),
                (derivative(i, &r, 1, &f, 1, seed, 3, out, 2), fmi2Error),
                (derivative(i, &(r + 1), 1, &f, 1, seed, 3, out, 1), fmi2Error),
                (derivative(i, &r, 1, &u32::MAX, 1, seed, 1, out, 3), fmi2Error),
                (derivative(i, &f, 1, &f, 1, seed, 3, out, 3), fmi2Error),
                (derivative(i, &r, 1, &r, 1, seed, 3, out, 3), fmi2Error),
                (derivative(i, &r, 1, &f, 1, [f64::NAN; 3].as_ptr(), 3, out, 3), fmi2Discard),
                (fmi3GetFloat32(i, null(), 0, null_mut(), 0), fmi2OK),
                (fmi3SetFloat64(i, &mass, 1, &-1.0, 1), fmi2Discard),
                (fmi3SetFloat64(i, &mass, 1, &f64::NAN, 1), fmi2Discard),
                (fmi3DoStep(i, 0.0, 1e-3, 1, null_mut(), &mut 0, &mut 0, &mut 0.0), fmi2Error),
                (fmi3DoStep(i, 0.0, 0.0, 1, &mut 0, &mut 0, &mut 0, &mut 0.0), fmi2Error),
                (fmi3DoStep(i, 0.5, 1e-3, 1, &mut 0, &mut 0, &mut 0, &mut 0.0), fmi2Error),
                (fmi3DoStep(null_mut(), 0.0, 1e-3, 1, &mut 0, &mut 0, &mut 0, &mut 0.0), fmi2Error),
            ]
        };
        for (row, (status, expected)) in answers.into_iter().enumerate() {
            let status: fmi2Status = status;
            assert_eq!(status, expected, "row {row}: {:?}", slave.log);
        }
    }
}
