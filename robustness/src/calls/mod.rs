//! Sequences of FMI calls with hostile arguments, in any order, sometimes from two threads: one harness for the functions of
//! both versions.

// SAFETY of all blocks: calls with wrong arguments are what is tested; handles are those of the library or null.
#![allow(clippy::undocumented_unsafe_blocks)]

mod fmi2;
mod fmi3;

use crate::client::{Log, PREPARED, Prepared, any_model};
use crate::{Entropy, TRACE};
use contact_fmu::variables::{Array, Kind, Variable};
use contact_fmu_runtime::abi::fmi2Status;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

type Pointer = *mut c_void;
type OnInstance = unsafe extern "C" fn(Pointer) -> fmi2Status;
type OnState = unsafe extern "C" fn(Pointer, *mut Pointer) -> fmi2Status;

/// One life of an instance of FMI 2.0.
pub fn run(entropy: &mut Entropy) {
    live(entropy, &fmi2::VERSION);
}

/// One life of an instance of FMI 3.0.
pub fn run3(entropy: &mut Entropy) {
    live(entropy, &fmi3::VERSION);
}

/// A version of FMI: functions of the same shape in all versions, and how those are called that are not.
struct Version {
    /// Models, as it sees their variables.
    variables: &'static std::sync::LazyLock<Vec<Variables>>,
    /// Makes an instance, sometimes from wrong arguments.
    instantiate: fn(&mut Entropy, &'static Prepared, &Variables, Kindness, &Log) -> Pointer,
    free: unsafe extern "C" fn(Pointer),
    enter_initialization: fn(Pointer, flag: usize, start: f64, stop: f64) -> fmi2Status,
    exit_initialization: OnInstance,
    /// Where events come before steps.
    enter_steps: Option<OnInstance>,
    terminate: OnInstance,
    reset: OnInstance,
    get_state: OnState,
    set_state: OnInstance2,
    free_state: OnState,
    state_size: unsafe extern "C" fn(Pointer, Pointer, *mut usize) -> fmi2Status,
    serialize: unsafe fn(Pointer, Pointer, *mut u8, usize) -> fmi2Status,
    deserialize: unsafe fn(Pointer, *const u8, usize, *mut Pointer) -> fmi2Status,
    /// One variable with so many values.
    get: unsafe fn(Pointer, u32, *mut f64, usize) -> fmi2Status,
    set: unsafe fn(Pointer, u32, *const f64, usize) -> fmi2Status,
    /// A step, and how far it came.
    step: fn(Pointer, f64, f64, spoilt: bool) -> (fmi2Status, f64),
    log: unsafe fn(Pointer, usize, usize, *const *const c_char) -> fmi2Status,
    /// Getters and setters with wrong references, counts and pointers.
    access: fn(&Life, &mut Entropy) -> fmi2Status,
    derivatives: fn(&Life, &mut Entropy) -> fmi2Status,
    /// Events of both interfaces; the time that an event may be set to.
    events: fn(&Life, &mut Entropy, f64) -> fmi2Status,
    /// Whether two threads may call at once: not where the importer is called back and reads then.
    on_two_threads: bool,
    /// What only this version has, or refuses always.
    own: fn(&Life, &mut Entropy) -> fmi2Status,
}

type OnInstance2 = unsafe extern "C" fn(Pointer, Pointer) -> fmi2Status;

/// How an instance is made.
#[derive(Clone, Copy)]
struct Kindness {
    co_simulation: bool,
    /// By wrong arguments.
    spoilt: bool,
}

/// What there is to get and set of a model.
struct Variables {
    /// References and numbers of values of the reals.
    reals: Vec<(u32, usize)>,
    /// References of all variables, and how many scalars there are.
    all: Vec<u32>,
    scalars: usize,
    time: u32,
    step: u32,
    sample: u32,
}

impl Variables {
    fn new<'a>(table: &[Variable], arrays: impl Iterator<Item = Array<'a>>) -> Variables {
        let reference =
            |name: &str| table.iter().position(|row| row.name == name).expect("a variable") as u32;
        let (mut reals, mut all) = (Vec::new(), Vec::new());
        for array in arrays {
            all.push(array.first as u32);
            if let Kind::Real(_) = array.head().kind {
                reals.push((array.first as u32, array.size()));
            }
        }
        Variables {
            reals,
            all,
            scalars: table.len(),
            time: reference("time"),
            step: reference("engine.step"),
            sample: reference("engine.sample"),
        }
    }

    /// Number of values of a variable, or one.
    fn size(&self, reference: u32) -> usize {
        self.reals.iter().find(|(known, _)| *known == reference).map_or(1, |(_, size)| *size)
    }
}

/// An instance and what a master knows of it.
struct Life {
    version: &'static Version,
    instance: Pointer,
    prepared: &'static Prepared,
    variables: &'static Variables,
    co_simulation: bool,
    /// Where the instance is, as far as a master knows.
    time: f64,
    saved: Pointer,
    /// Whether log categories were switched off.
    quiet: bool,
    log: Box<Log>,
}

impl Drop for Life {
    fn drop(&mut self) {
        // SAFETY: a live instance, which is not used afterwards; null or a saved state.
        unsafe {
            (self.version.free_state)(self.instance, &mut self.saved);
            (self.version.free)(self.instance);
        }
    }
}

fn live(entropy: &mut Entropy, version: &'static Version) {
    let place = any_model(entropy);
    let (prepared, variables) = (&PREPARED[place], &version.variables[place]);
    let how = Kindness { co_simulation: !entropy.one_in(3), spoilt: entropy.one_in(32) };
    let log = Box::new(Log::default());
    let instance = (version.instantiate)(entropy, prepared, variables, how, &log);
    if instance.is_null() {
        let lines = log.take();
        assert!(lines.len() == 1 && !lines[0].contains("internal error"), "{lines:?}");
        return;
    }
    let co_simulation = how.co_simulation;
    let (time, saved, quiet) = (0.0, null_mut(), false);
    let mut life = Life { version, instance, prepared, variables, co_simulation, time, saved, quiet, log };
    if !entropy.one_in(3) {
        life.start();
    }
    for _ in 0..3 + entropy.below(30) {
        life.call(entropy);
    }
}

impl Life {
    /// To its first step or event.
    fn start(&mut self) {
        let entered = (self.version.enter_initialization)(self.instance, 0, 0.0, 0.0);
        // SAFETY: a live instance.
        let left = unsafe { (self.version.exit_initialization)(self.instance) };
        assert_eq!([entered, left], [fmi2Status::fmi2OK; 2], "{:?}", self.log.take());
        if let (Some(enter), true) = (self.version.enter_steps, self.co_simulation) {
            // Refused where the instance has no event mode.
            // SAFETY: a live instance.
            self.check(unsafe { enter(self.instance) });
        }
    }

    /// Checks the answer to a call: a documented status, a log line with all but fmi2OK, no internal error.
    fn check(&self, status: fmi2Status) {
        let lines = self.log.take();
        assert!(!lines.iter().any(|line| line.contains("internal error")), "{lines:?}");
        assert!((status as i32) < fmi2Status::fmi2Fatal as i32, "{status:?}");
        assert!(self.quiet || status == fmi2Status::fmi2OK || !lines.is_empty(), "{status:?} without a line");
    }

    /// One call; what is refused must have changed nothing.
    fn call(&mut self, entropy: &mut Entropy) {
        // In model exchange a step is made when its outputs are asked for, so a call that fails may have made it.
        let before = (self.co_simulation && entropy.one_in(4)).then(|| self.bytes());
        let status = match entropy.below(20) {
            0 => self.lifecycle(entropy),
            1..=4 => self.step(entropy),
            5 => self.read_all(),
            6..=8 => self.set(entropy),
            9 | 10 => (self.version.access)(self, entropy),
            11 | 12 => self.state(entropy),
            13 => (self.version.derivatives)(self, entropy),
            14..=16 => {
                let sample = self.real(self.variables.sample).unwrap_or(1e-3);
                (self.version.events)(self, entropy, self.time + sample)
            }
            17 => (self.version.own)(self, entropy),
            18 => self.logging(entropy),
            _ => self.on_two_threads(entropy),
        };
        self.check(status);
        if *TRACE {
            eprintln!("{}: {status:?} at {}", self.prepared.known.name, self.time);
        }
        if let (Some(before), fmi2Status::fmi2Error | fmi2Status::fmi2Discard) = (before, status) {
            assert_eq!(before, self.bytes(), "a call with {status:?} has changed the instance");
        }
        self.time = self.real(self.variables.time).unwrap_or(self.time);
    }

    fn lifecycle(&self, entropy: &mut Entropy) -> fmi2Status {
        let (start, stop) = (entropy.hostile_number(), entropy.hostile_number());
        // SAFETY: a live instance.
        unsafe {
            match entropy.below(5) {
                0 => (self.version.enter_initialization)(self.instance, entropy.below(3), start, stop),
                1 => (self.version.exit_initialization)(self.instance),
                2 => (self.version.terminate)(self.instance),
                _ => (self.version.reset)(self.instance),
            }
        }
    }

    fn step(&self, entropy: &mut Entropy) -> fmi2Status {
        const MOST_SUBSTEPS: f64 = 20.0;
        let internal = self.real(self.variables.step).unwrap_or(1e-3);
        let (mut point, mut step) = (self.time, internal * (1 + entropy.below(4)) as f64);
        match entropy.below(8) {
            0 => step = entropy.hostile_number(),
            1 => point = entropy.hostile_number(),
            2 => step = *entropy.pick(&[5e-324, 1e-300, 1e-18, 0.0, -0.0, 1e300, f64::MAX]),
            _ => {}
        }
        // As many as a step may have at most take seconds.
        if step / internal > MOST_SUBSTEPS && step / internal < 2e7 {
            step = internal * MOST_SUBSTEPS;
        }
        if *TRACE {
            eprintln!("{}: a step of {step:e} from {point:e}", self.prepared.known.name);
        }
        let (status, reached) = (self.version.step)(self.instance, point, step, entropy.one_in(32));
        if matches!(status, fmi2Status::fmi2OK | fmi2Status::fmi2Warning) {
            assert!(reached >= point && reached <= point + step, "from {point} by {step} to {reached}");
        }
        status
    }

    fn set(&self, entropy: &mut Entropy) -> fmi2Status {
        let (reference, count) = *entropy.pick(&self.variables.reals);
        let is_slow = [self.variables.step, self.variables.sample].contains(&reference);
        let value = |_| {
            // Of other values a step may take seconds.
            if is_slow {
                *entropy.pick(&[1e-300, 1e300, 5e-324, f64::NAN, 0.0, -1.0])
            } else if entropy.one_in(2) {
                entropy.between(-2.0, 2.0)
            } else {
                entropy.hostile_number()
            }
        };
        let values: Vec<f64> = (0..count).map(value).collect();
        if *TRACE {
            eprintln!("set {reference} to {values:?}");
        }
        // SAFETY: a live instance, as many values as said.
        unsafe { (self.version.set)(self.instance, reference, values.as_ptr(), count) }
    }

    /// All reals, each of which is a number where the answer is fmi2OK.
    fn read_all(&self) -> fmi2Status {
        for &(reference, count) in &self.variables.reals {
            let mut values = vec![0.0; count];
            // SAFETY: a live instance, as many values as said.
            let status = unsafe { (self.version.get)(self.instance, reference, values.as_mut_ptr(), count) };
            if status != fmi2Status::fmi2OK {
                return status;
            }
            assert!(!values.iter().any(|value| value.is_nan()), "{reference} is {values:?}");
        }
        fmi2Status::fmi2OK
    }

    /// One real; none where it cannot be read now.
    fn real(&self, reference: u32) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: a live instance, one value.
        let status = unsafe { (self.version.get)(self.instance, reference, &mut value, 1) };
        self.log.take();
        (status == fmi2Status::fmi2OK).then_some(value)
    }

    /// Everything that a saved state holds.
    fn bytes(&self) -> Vec<u8> {
        let (mut state, mut size) = (null_mut(), 0);
        let Version { get_state, state_size, serialize, free_state, .. } = self.version;
        // SAFETY: a live instance, a place for the pointer, room for as many bytes as said.
        unsafe {
            assert_eq!(get_state(self.instance, &mut state), fmi2Status::fmi2OK);
            assert_eq!(state_size(self.instance, state, &mut size), fmi2Status::fmi2OK);
            let mut bytes = vec![0_u8; size];
            assert_eq!(serialize(self.instance, state, bytes.as_mut_ptr(), size), fmi2Status::fmi2OK);
            assert_eq!(free_state(self.instance, &mut state), fmi2Status::fmi2OK);
            bytes
        }
    }

    fn state(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let Version { get_state, set_state, free_state, state_size, serialize, deserialize, .. } =
            self.version;
        let (i, mut size) = (self.instance, 0);
        // SAFETY: a live instance; null or a saved state; places for what is written.
        unsafe {
            match entropy.below(7) {
                0 => get_state(i, &mut self.saved),
                1 => set_state(i, self.saved),
                2 => free_state(i, &mut self.saved),
                3 => state_size(i, self.saved, if entropy.one_in(4) { null_mut() } else { &mut size }),
                4 => {
                    let mut bytes = [0; 64];
                    serialize(i, self.saved, bytes.as_mut_ptr(), entropy.below(65))
                }
                5 => get_state(i, null_mut()),
                _ => {
                    let (bytes, mut state) = (self.bytes(), null_mut());
                    let status = deserialize(i, bytes.as_ptr(), bytes.len(), &mut state);
                    assert_eq!(status, fmi2Status::fmi2OK, "{:?}", self.log.take());
                    assert_eq!(set_state(i, state), fmi2Status::fmi2OK);
                    assert_eq!(self.bytes(), bytes, "saved and restored, the instance is another");
                    free_state(i, &mut state)
                }
            }
        }
    }

    fn logging(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let names = [c"logAll", c"logStatusError", c"logEvents", c"nonsense", c""];
        let mut categories = [std::ptr::null(); 3];
        for category in &mut categories {
            if !entropy.one_in(6) {
                *category = entropy.pick(&names).as_ptr();
            }
        }
        let (n, on) = (entropy.below(4), entropy.below(2));
        // Categories may be off from now on.
        self.quiet |= n > 0;
        // SAFETY: a live instance and as many strings as said, or null.
        unsafe { (self.version.log)(self.instance, on, n, categories.as_ptr()) }
    }

    /// Two threads at once: each call is carried out or refused.
    fn on_two_threads(&mut self, entropy: &mut Entropy) -> fmi2Status {
        if !self.version.on_two_threads || !entropy.one_in(8) {
            return self.step(entropy);
        }
        let address = self.instance.expose_provenance();
        let step = self.real(self.variables.step).unwrap_or(1e-3);
        let time = self.time;
        let (reference, count) = *entropy.pick(&self.variables.reals);
        let Version { get, step: make_step, .. } = self.version;
        std::thread::scope(|scope| {
            for reader in [false, true] {
                scope.spawn(move || {
                    let instance = std::ptr::with_exposed_provenance_mut(address);
                    let mut values = vec![0.0; count];
                    for k in 0..6 {
                        let status = if reader {
                            // SAFETY: a live instance, as many values as said.
                            unsafe { get(instance, reference, values.as_mut_ptr(), count) }
                        } else {
                            make_step(instance, time + f64::from(k) * step, step, false).0
                        };
                        assert!((status as i32) < fmi2Status::fmi2Fatal as i32, "{status:?}");
                    }
                });
            }
        });
        let lines = self.log.take();
        assert!(!lines.iter().any(|line| line.contains("internal error")), "{lines:?}");
        fmi2Status::fmi2OK
    }
}
