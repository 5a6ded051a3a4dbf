//! The functions of FMI 3.0: arrays of wrong sizes, event mode, early return, calls from within a step.

use super::{Kindness, Life, Pointer, Variables, Version};
use crate::Entropy;
use crate::client::{Log, PREPARED, Prepared};
use contact_fmu::variables;
use contact_fmu_runtime::abi::fmi2Status;
use contact_fmu_runtime::abi3::*;
use contact_fmu_runtime::*;
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

static VARIABLES: LazyLock<Vec<Variables>> = LazyLock::new(|| {
    let of = |prepared: &Prepared| {
        let table = variables::table_with_events(&prepared.known.model);
        Variables::new(&table, variables::arrays(&table).into_iter())
    };
    PREPARED.iter().map(of).collect()
});

pub static VERSION: Version = Version {
    variables: &VARIABLES,
    instantiate,
    free: fmi3FreeInstance,
    // SAFETY of all below: as promised by the caller.
    enter_initialization: |i, flag, start, stop| unsafe {
        fmi3EnterInitializationMode(i, flag as u8, stop, start, (stop.abs() > 0.0).into(), stop)
    },
    exit_initialization: fmi3ExitInitializationMode,
    enter_steps: Some(fmi3EnterStepMode),
    terminate: fmi3Terminate,
    reset: fmi3Reset,
    get_state: fmi3GetFMUState,
    set_state: fmi3SetFMUState,
    free_state: fmi3FreeFMUState,
    state_size: fmi3SerializedFMUStateSize,
    serialize: |i, state, bytes, size| unsafe { fmi3SerializeFMUState(i, state, bytes, size) },
    deserialize: |i, bytes, size, state| unsafe { fmi3DeserializeFMUState(i, bytes, size, state) },
    get: |i, reference, values, count| unsafe { fmi3GetFloat64(i, &reference, 1, values, count) },
    set: |i, reference, values, count| unsafe { fmi3SetFloat64(i, &reference, 1, values, count) },
    step,
    log: |i, on, n, names| unsafe { fmi3SetDebugLogging(i, on as u8, n, names) },
    access,
    derivatives,
    events,
    on_two_threads: false,
    own,
};

thread_local! {
    /// The instance whose step is under way, for calls from within it.
    static STEPPING: Cell<fmi3Instance> = const { Cell::new(null_mut()) };
}

unsafe extern "C" fn keep_line(
    environment: fmi3InstanceEnvironment,
    status: fmi3Status,
    _: fmi3String,
    message: fmi3String,
) {
    // SAFETY: the environment that was given with the instance, and a zero-terminated string.
    let (log, message) = unsafe { (&*environment.cast::<Log>(), CStr::from_ptr(message)) };
    log.keep(format!("{status:?}: {}", message.to_string_lossy()));
}

/// Reads, which is allowed, and does what is not: none of it may do harm.
unsafe extern "C" fn meddle(
    _: fmi3InstanceEnvironment,
    time: f64,
    _: bool,
    _: bool,
    _: bool,
    can_return: bool,
    wants_return: *mut fmi3Boolean,
    return_time: *mut f64,
) {
    let instance = STEPPING.get();
    let (mut value, mut state) = (0.0, null_mut());
    // SAFETY: a live instance in a step, and places for what is written.
    unsafe {
        assert_eq!(fmi3GetFloat64(instance, &0, 1, &mut value, 1), fmi2Status::fmi2OK);
        assert!(value == time, "{value} in a step that is at {time}");
        assert_eq!(fmi3Reset(instance), fmi2Status::fmi2Error);
        assert_eq!(fmi3GetFMUState(instance, &mut state), fmi2Status::fmi2Error);
        fmi3FreeInstance(instance);
        if can_return && time.to_bits() & 1 == 0 {
            *wants_return = fmi3True;
            *return_time = time;
        }
    }
}

fn instantiate(
    entropy: &mut Entropy,
    prepared: &'static Prepared,
    variables: &Variables,
    how: Kindness,
    log: &Log,
) -> Pointer {
    let environment = (&raw const *log).cast_mut().cast();
    let text = |right: &CStr, entropy: &mut Entropy| -> CString {
        let choices = [c"", c"file:", c"/", c"/proc/self/mem", c"%41%", c"\x1b"];
        if how.spoilt && entropy.one_in(2) { (*entropy.pick(&choices)).to_owned() } else { right.to_owned() }
    };
    let (token, path) = (text(prepared.guid(), entropy), text(prepared.location(), entropy));
    let name = if how.spoilt && entropy.one_in(4) { null() } else { c"case".as_ptr() };
    let told = entropy.one_in(4);
    let wanted = [if how.spoilt { entropy.bits() as u32 } else { variables.time }];
    let (token, path, log) = (token.as_ptr(), path.as_ptr(), Some(keep_line as _));
    // SAFETY: strings live through the call, the log as long as the instance.
    unsafe {
        if !how.co_simulation {
            return fmi3InstantiateModelExchange(name, token, path, 0, 0, environment, log);
        }
        fmi3InstantiateCoSimulation(
            name,
            token,
            path,
            fmi3False,
            fmi3False,
            entropy.below(2) as u8 * 7,
            entropy.below(2) as u8,
            wanted.as_ptr(),
            1,
            environment,
            log,
            if told { Some(meddle) } else { None },
        )
    }
}

fn step(instance: Pointer, point: f64, step: f64, spoilt: bool) -> (fmi3Status, f64) {
    let (mut event, mut terminate, mut early, mut last) = (9, 9, 9, f64::NAN);
    STEPPING.set(instance);
    let event_place = if spoilt { null_mut() } else { &raw mut event };
    // SAFETY: a live instance, places for what is written or null.
    let status = unsafe {
        let (terminate, early, last) = (&raw mut terminate, &raw mut early, &raw mut last);
        fmi3DoStep(instance, point, step, fmi3True, event_place, terminate, early, last)
    };
    if matches!(status, fmi2Status::fmi2OK | fmi2Status::fmi2Warning) {
        assert!(event < 2 && terminate == 0 && early < 2, "{event} {terminate} {early}");
    }
    (status, last)
}

fn access(life: &Life, entropy: &mut Entropy) -> fmi3Status {
    const MOST: usize = 64;
    let references: Vec<u32> = (0..8)
        .map(|_| match entropy.below(4) {
            0 => entropy.bits() as u32,
            1 => entropy.below(life.variables.scalars) as u32,
            _ => *entropy.pick(&life.variables.all),
        })
        .collect();
    let mut vr = references.as_ptr();
    let mut n = entropy.below(9);
    let mut count: usize = references[..n].iter().map(|&reference| life.variables.size(reference)).sum();
    match entropy.below(8) {
        0 => vr = null(),
        1 => n = usize::MAX / (1 + entropy.below(2)),
        2 => vr = vr.cast::<u8>().wrapping_add(1).cast(),
        3 => count = entropy.below(MOST),
        _ => {}
    }
    let room = count.max(MOST);
    let (mut reals, mut wholes, mut longs) = (vec![0.0; room], vec![0; room], vec![0; room]);
    let (mut bytes, mut texts) = (vec![0; room], vec![null(); room]);
    let i = life.instance;
    // SAFETY: a live instance; pointers that are null, misaligned or as long as said, or a count that no array has.
    unsafe {
        match entropy.below(10) {
            0..=2 => fmi3GetFloat64(i, vr, n, reals.as_mut_ptr(), count),
            3 => fmi3GetInt32(i, vr, n, wholes.as_mut_ptr(), count),
            4 => fmi3GetInt64(i, vr, n, longs.as_mut_ptr(), count),
            5 => fmi3GetBoolean(i, vr, n, bytes.as_mut_ptr(), count),
            6 => fmi3GetString(i, vr, n, texts.as_mut_ptr(), count),
            7 => fmi3GetClock(i, vr, n, if n > MOST { null_mut() } else { bytes.as_mut_ptr() }),
            8 => fmi3SetFloat64(i, vr, n, null(), count),
            _ => fmi3SetInt32(i, vr, n, wholes.as_ptr(), count),
        }
    }
}

fn derivatives(life: &Life, entropy: &mut Entropy) -> fmi3Status {
    let [unknown, known] = [(); 2].map(|()| *entropy.pick(&life.variables.reals));
    // Of large ones thrown about a step takes seconds, and its derivatives many times that.
    let wrong = usize::from(entropy.one_in(8) || !life.prepared.is_quick());
    let is_forward = entropy.one_in(2);
    let (given, asked) = if is_forward { (known.1, unknown.1) } else { (unknown.1, known.1) };
    let seed: Vec<f64> = (0..given + wrong).map(|_| entropy.hostile_number()).collect();
    let mut places = vec![0.0; asked];
    let (i, s, n, out) = (life.instance, seed.as_ptr(), given + wrong, places.as_mut_ptr());
    // SAFETY: a live instance and arrays with room for what is said.
    unsafe {
        if is_forward {
            fmi3GetDirectionalDerivative(i, &unknown.0, 1, &known.0, 1, s, n, out, asked)
        } else {
            fmi3GetAdjointDerivative(i, &unknown.0, 1, &known.0, 1, s, n, out, asked)
        }
    }
}

fn events(life: &Life, entropy: &mut Entropy, next: f64) -> fmi3Status {
    let i = life.instance;
    let (mut a, mut b, mut c, mut d, mut e, mut time) = (9, 9, 9, 9, 9, f64::NAN);
    let first = if entropy.one_in(16) { null_mut() } else { &raw mut a };
    // SAFETY: a live instance and places for what is written, or null.
    unsafe {
        match entropy.below(9) {
            0 | 1 => fmi3EnterEventMode(i),
            2 | 3 => fmi3UpdateDiscreteStates(i, first, &mut b, &mut c, &mut d, &mut e, &mut time),
            4 => fmi3EnterStepMode(i),
            5 => fmi3EnterContinuousTimeMode(i),
            6 => fmi3CompletedIntegratorStep(i, 1, first, &mut b),
            7 => fmi3SetTime(i, entropy.hostile_number()),
            _ => fmi3SetTime(i, next),
        }
    }
}

/// What is always refused, and counts.
fn own(life: &Life, entropy: &mut Entropy) -> fmi3Status {
    let (i, mut count) = (life.instance, 0);
    // SAFETY: a live instance and places for what is written, or null.
    unsafe {
        match entropy.below(7) {
            0 => fmi3EnterConfigurationMode(i),
            1 => fmi3EvaluateDiscreteStates(i),
            2 => fmi3GetNumberOfVariableDependencies(i, 0, &mut count),
            3 => fmi3GetIntervalDecimal(i, null(), 0, null_mut(), null_mut()),
            4 => fmi3ActivateModelPartition(i, 0, 0.0),
            5 => fmi3GetNumberOfContinuousStates(i, &mut count),
            _ => fmi3GetOutputDerivatives(i, null(), 0, null(), null_mut(), 0),
        }
    }
}
