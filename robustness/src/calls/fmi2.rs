//! The functions of FMI 2.0.

use super::{Kindness, Life, Pointer, Variables, Version};
use crate::Entropy;
use crate::client::{Log, PREPARED, Prepared, instantiate_with};
use contact_fmu::variables::singles;
use contact_fmu_runtime::abi::*;
use contact_fmu_runtime::*;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

static VARIABLES: LazyLock<Vec<Variables>> = LazyLock::new(|| {
    let of = |prepared: &Prepared| Variables::new(&prepared.table, singles(&prepared.table));
    PREPARED.iter().map(of).collect()
});

pub static VERSION: Version = Version {
    variables: &VARIABLES,
    instantiate,
    free: fmi2FreeInstance,
    enter_initialization,
    exit_initialization: fmi2ExitInitializationMode,
    enter_steps: None,
    terminate: fmi2Terminate,
    reset: fmi2Reset,
    get_state: fmi2GetFMUstate,
    set_state: fmi2SetFMUstate,
    free_state: fmi2FreeFMUstate,
    state_size: fmi2SerializedFMUstateSize,
    // SAFETY of all below: as promised by the caller.
    serialize: |i, state, bytes, size| unsafe { fmi2SerializeFMUstate(i, state, bytes.cast(), size) },
    deserialize: |i, bytes, size, state| unsafe { fmi2DeSerializeFMUstate(i, bytes.cast(), size, state) },
    get: |i, reference, values, count| unsafe { fmi2GetReal(i, &reference, count, values) },
    set: |i, reference, values, count| unsafe { fmi2SetReal(i, &reference, count, values) },
    step: |i, point, step, _| (unsafe { fmi2DoStep(i, point, step, fmi2True) }, point + step),
    log: |i, on, n, names| unsafe { fmi2SetDebugLogging(i, on as i32, n, names) },
    access,
    derivatives,
    events,
    on_two_threads: true,
    own,
};

fn instantiate(
    entropy: &mut Entropy,
    prepared: &'static Prepared,
    _: &Variables,
    how: Kindness,
    log: &Log,
) -> Pointer {
    let kind = if how.co_simulation { fmi2CoSimulation } else { fmi2ModelExchange };
    if !how.spoilt {
        return instantiate_with(Some(c"case"), kind, Some(prepared.guid()), Some(prepared.location()), log);
    }
    let text = |entropy: &mut Entropy| -> Option<CString> {
        let choices = [
            "",
            "file:",
            "file:///",
            "/",
            "file://host/x",
            "%",
            "%41%",
            "/dev/null",
            "/proc/self/mem",
            "\u{1b}",
        ];
        match entropy.below(4) {
            0 => None,
            1 => Some(CString::new("x".repeat(entropy.below(10_000))).expect("no zero")),
            _ => Some(CString::new(*entropy.pick(&choices)).expect("no zero")),
        }
    };
    let (name, guid, location) = (text(entropy), text(entropy), text(entropy));
    let kind = *entropy.pick(&[0, 1, 2, -1, i32::MAX]);
    instantiate_with(name.as_deref(), kind, guid.as_deref(), location.as_deref(), log)
}

/// The experiment, and initialization mode unless it is refused.
fn enter_initialization(instance: Pointer, flag: usize, start: f64, stop: f64) -> fmi2Status {
    // SAFETY: a live instance.
    unsafe {
        let status =
            fmi2SetupExperiment(instance, flag as i32, stop, start, i32::from(stop.abs() > 0.0), stop);
        if status == fmi2Status::fmi2OK && flag != 2 { fmi2EnterInitializationMode(instance) } else { status }
    }
}

fn access(life: &Life, entropy: &mut Entropy) -> fmi2Status {
    let c = life.instance;
    let known = life.variables.scalars;
    let references: Vec<u32> = (0..16)
        .map(|_| if entropy.one_in(3) { entropy.bits() as u32 } else { entropy.below(known) as u32 })
        .collect();
    let reals: Vec<f64> = (0..16).map(|_| entropy.hostile_number()).collect();
    let (mut real_places, mut integer_places) = ([0.0; 16], [0; 16]);
    let texts = [c"text".as_ptr(); 16];
    let mut text_places = [null(); 16];
    let mut vr = references.as_ptr();
    // A count beyond the arrays is only right to try where it must be refused before anything is read.
    let mut n = entropy.below(17);
    let mut r = reals.as_ptr();
    match entropy.below(6) {
        0 => vr = null(),
        1 => r = null(),
        2 => n = usize::MAX / (1 + entropy.below(2)),
        3 => vr = vr.cast::<u8>().wrapping_add(1).cast(),
        _ => {}
    }
    let out = if r.is_null() { null_mut() } else { real_places.as_mut_ptr() };
    // SAFETY: a live instance; pointers that are null, misaligned or as long as said, or a count that no array has.
    unsafe {
        match entropy.below(9) {
            0 => fmi2GetReal(c, vr, n, out),
            1 => fmi2GetInteger(c, vr, n, integer_places.as_mut_ptr()),
            2 => fmi2GetBoolean(c, vr, n, integer_places.as_mut_ptr()),
            3 => fmi2GetString(c, vr, n, text_places.as_mut_ptr()),
            4 => fmi2SetInteger(c, vr, n, integer_places.as_ptr()),
            5 => fmi2SetBoolean(c, vr, n, integer_places.as_ptr()),
            6 => fmi2SetString(c, vr, n, texts.as_ptr()),
            // Not with values: engine.step could be among the references.
            7 => fmi2SetReal(c, vr, n, null()),
            _ => fmi2GetRealOutputDerivatives(c, vr, n, integer_places.as_ptr(), out),
        }
    }
}

fn derivatives(life: &Life, entropy: &mut Entropy) -> fmi2Status {
    let pick = |entropy: &mut Entropy| {
        if entropy.one_in(16) { entropy.bits() as u32 } else { entropy.pick(&life.variables.reals).0 }
    };
    let count = 1 + entropy.below(2);
    let unknowns: Vec<u32> = (0..count).map(|_| pick(entropy)).collect();
    let knowns: Vec<u32> = (0..count).map(|_| pick(entropy)).collect();
    let seeds: Vec<f64> = (0..count).map(|_| entropy.hostile_number()).collect();
    let orders: Vec<i32> = (0..count).map(|_| *entropy.pick(&[1, 2, 3, 0, -1, 4, i32::MAX])).collect();
    let mut places = vec![0.0; count];
    let (c, u, k, s) = (life.instance, unknowns.as_ptr(), knowns.as_ptr(), seeds.as_ptr());
    // SAFETY: a live instance and arrays of `count` entries.
    unsafe {
        if entropy.one_in(2) {
            fmi2SetRealInputDerivatives(c, k, count, orders.as_ptr(), s)
        } else {
            fmi2GetDirectionalDerivative(c, u, count, k, count, s, places.as_mut_ptr())
        }
    }
}

fn events(life: &Life, entropy: &mut Entropy, next: f64) -> fmi2Status {
    let c = life.instance;
    let mut info = MaybeUninit::uninit();
    let (mut first, mut second) = (0, 0);
    let mut places = [0.0; 4];
    let n = entropy.below(5);
    let is_null = entropy.one_in(8);
    // SAFETY: a live instance and places for what is written, or null.
    unsafe {
        match entropy.below(12) {
            0 | 1 => fmi2EnterEventMode(c),
            2 | 3 => fmi2NewDiscreteStates(c, if is_null { null_mut() } else { info.as_mut_ptr() }),
            4 | 5 => fmi2EnterContinuousTimeMode(c),
            6 => {
                let first = if is_null { null_mut() } else { &raw mut first };
                fmi2CompletedIntegratorStep(c, 1, first, &mut second)
            }
            7 => fmi2SetTime(c, entropy.hostile_number()),
            8 => fmi2SetTime(c, next),
            9 => fmi2GetDerivatives(c, places.as_mut_ptr(), n),
            10 => fmi2GetEventIndicators(c, places.as_mut_ptr(), n),
            _ => fmi2SetContinuousStates(c, places.as_ptr(), n),
        }
    }
}

/// What a step has come to.
fn own(life: &Life, entropy: &mut Entropy) -> fmi2Status {
    let c = life.instance;
    let kind = *entropy.pick(&[0, 1, 2, 3, -1, i32::MAX]);
    let (mut real, mut integer, mut text, mut status) = (0.0, 0, null(), fmi2Status::fmi2OK);
    let is_null = entropy.one_in(4);
    // SAFETY: a live instance and places for what is written, or null.
    unsafe {
        match entropy.below(6) {
            0 => fmi2GetStatus(c, kind, &mut status),
            1 => fmi2GetRealStatus(c, kind, if is_null { null_mut() } else { &mut real }),
            2 => fmi2GetIntegerStatus(c, kind, &mut integer),
            3 => fmi2GetBooleanStatus(c, kind, if is_null { null_mut() } else { &mut integer }),
            4 => fmi2GetStringStatus(c, kind, &mut text),
            _ => fmi2CancelStep(c),
        }
    }
}
