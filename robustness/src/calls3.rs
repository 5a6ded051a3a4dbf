//! The same as [`calls`](crate::calls) with the functions of FMI 3.0: arrays of wrong sizes, event mode, early return,
//! calls from within a step.

use crate::client::{Log, PREPARED, Prepared, any_model};
use crate::{Entropy, TRACE};
use contact_fmu::variables::{self, Kind};
use contact_fmu_runtime::abi::fmi2Status;
use contact_fmu_runtime::abi3::*;
use contact_fmu_runtime::*;
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

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
    /// References of what steps would take long with.
    slow: Vec<u32>,
}

static VARIABLES: LazyLock<Vec<Variables>> = LazyLock::new(|| PREPARED.iter().map(Variables::new).collect());

impl Variables {
    fn new(prepared: &Prepared) -> Variables {
        let table = variables::table_with_events(&prepared.known.model);
        let arrays = variables::arrays(&table);
        let reference =
            |name: &str| table.iter().position(|row| row.name == name).expect("a variable") as u32;
        let is_real = |array: &&variables::Array<'_>| matches!(array.head().kind, Kind::Real(_));
        Variables {
            reals: arrays
                .iter()
                .filter(is_real)
                .map(|array| (array.first as u32, array.rows.len()))
                .collect(),
            all: arrays.iter().map(|array| array.first as u32).collect(),
            scalars: table.len(),
            time: reference("time"),
            step: reference("engine.step"),
            sample: reference("engine.sample"),
            slow: vec![reference("engine.step"), reference("engine.sample")],
        }
    }
}

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

struct Life {
    instance: fmi3Instance,
    prepared: &'static Prepared,
    variables: &'static Variables,
    co_simulation: bool,
    time: f64,
    saved: fmi3FMUState,
    quiet: bool,
    log: Box<Log>,
}

impl Drop for Life {
    fn drop(&mut self) {
        // SAFETY: a live instance, which is not used afterwards.
        unsafe {
            fmi3FreeFMUState(self.instance, &mut self.saved);
            fmi3FreeInstance(self.instance);
        }
    }
}

/// One life of an instance.
pub fn run(entropy: &mut Entropy) {
    let place = any_model(entropy);
    let (prepared, variables) = (&PREPARED[place], &VARIABLES[place]);
    let co_simulation = !entropy.one_in(3);
    let Some(mut life) = Life::new(entropy, prepared, variables, co_simulation) else { return };
    if !entropy.one_in(3) {
        life.start();
    }
    for _ in 0..3 + entropy.below(30) {
        life.call(entropy);
    }
}

impl Life {
    /// An instance; none where it cannot be had, and sometimes by wrong arguments.
    fn new(
        entropy: &mut Entropy,
        prepared: &'static Prepared,
        variables: &'static Variables,
        co_simulation: bool,
    ) -> Option<Life> {
        let log = Box::new(Log::default());
        let environment = (&raw const *log).cast_mut().cast();
        let wrong = entropy.one_in(32);
        let text = |right: &CStr, entropy: &mut Entropy| -> CString {
            let choices = [c"", c"file:", c"/", c"/proc/self/mem", c"%41%", c"\x1b"];
            if wrong && entropy.one_in(2) { (*entropy.pick(&choices)).to_owned() } else { right.to_owned() }
        };
        let (token, path) = (text(prepared.guid(), entropy), text(prepared.location(), entropy));
        let name = if wrong && entropy.one_in(4) { null() } else { c"case".as_ptr() };
        let told = entropy.one_in(4);
        let wanted = [if wrong { entropy.bits() as u32 } else { variables.time }];
        // SAFETY: strings live through the call, the log as long as the instance.
        let instance = unsafe {
            if co_simulation {
                fmi3InstantiateCoSimulation(
                    name,
                    token.as_ptr(),
                    path.as_ptr(),
                    fmi3False,
                    fmi3False,
                    entropy.below(2) as u8 * 7,
                    entropy.below(2) as u8,
                    wanted.as_ptr(),
                    1,
                    environment,
                    Some(keep_line),
                    if told { Some(meddle) } else { None },
                )
            } else {
                let (token, path) = (token.as_ptr(), path.as_ptr());
                fmi3InstantiateModelExchange(name, token, path, 0, 0, environment, Some(keep_line))
            }
        };
        if instance.is_null() {
            let lines = log.take();
            assert!(!lines.is_empty() && !lines[0].contains("internal error"), "{lines:?}");
            return None;
        }
        let (time, saved, quiet) = (0.0, null_mut(), false);
        Some(Life { instance, prepared, variables, co_simulation, time, saved, quiet, log })
    }

    fn start(&mut self) {
        // SAFETY: a live instance.
        let statuses = unsafe {
            [
                fmi3EnterInitializationMode(self.instance, 0, 0.0, 0.0, 0, 0.0),
                fmi3ExitInitializationMode(self.instance),
            ]
        };
        assert_eq!(statuses, [fmi2Status::fmi2OK; 2], "{:?}", self.log.take());
        if self.co_simulation {
            // Refused where there is no event mode.
            // SAFETY: a live instance.
            self.check(unsafe { fmi3EnterStepMode(self.instance) });
        }
    }

    fn check(&self, status: fmi3Status) -> fmi3Status {
        let lines = self.log.take();
        assert!(!lines.iter().any(|line| line.contains("internal error")), "{lines:?}");
        assert!((status as i32) < fmi2Status::fmi2Fatal as i32, "{status:?}");
        assert!(self.quiet || status == fmi2Status::fmi2OK || !lines.is_empty(), "{status:?} without a line");
        status
    }

    fn real(&self, reference: u32) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: a live instance, one reference, one value.
        let status = unsafe { fmi3GetFloat64(self.instance, &reference, 1, &mut value, 1) };
        self.log.take();
        (status == fmi2Status::fmi2OK).then_some(value)
    }

    /// Everything that a saved state holds.
    fn bytes(&self) -> Vec<u8> {
        let (mut state, mut size) = (null_mut(), 0);
        // SAFETY: a live instance, a place for the pointer, room for as many bytes as said.
        unsafe {
            assert_eq!(fmi3GetFMUState(self.instance, &mut state), fmi2Status::fmi2OK);
            assert_eq!(fmi3SerializedFMUStateSize(self.instance, state, &mut size), fmi2Status::fmi2OK);
            let mut bytes = vec![0_u8; size];
            let status = fmi3SerializeFMUState(self.instance, state, bytes.as_mut_ptr(), size);
            assert_eq!(status, fmi2Status::fmi2OK);
            assert_eq!(fmi3FreeFMUState(self.instance, &mut state), fmi2Status::fmi2OK);
            bytes
        }
    }

    /// One call; what is refused must have changed nothing.
    fn call(&mut self, entropy: &mut Entropy) {
        let before = (self.co_simulation && entropy.one_in(4)).then(|| self.bytes());
        let status = match entropy.below(16) {
            0 => self.lifecycle(entropy),
            1..=4 => self.step(entropy),
            5 | 6 => self.set(entropy),
            7 | 8 => self.access(entropy),
            9 | 10 => self.state(entropy),
            11 => self.derivatives(entropy),
            12..=14 => self.events(entropy),
            _ => self.refused(entropy),
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

    fn lifecycle(&mut self, entropy: &mut Entropy) -> fmi3Status {
        let (start, stop) = (entropy.hostile_number(), entropy.hostile_number());
        // SAFETY: a live instance.
        unsafe {
            match entropy.below(5) {
                0 => fmi3EnterInitializationMode(self.instance, entropy.bits() as u8, stop, start, 1, stop),
                1 => fmi3ExitInitializationMode(self.instance),
                2 => fmi3Terminate(self.instance),
                _ => fmi3Reset(self.instance),
            }
        }
    }

    fn step(&mut self, entropy: &mut Entropy) -> fmi3Status {
        const MOST_SUBSTEPS: f64 = 20.0;
        let internal = self.real(self.variables.step).unwrap_or(1e-3);
        let (mut point, mut step) = (self.time, internal * (1 + entropy.below(4)) as f64);
        match entropy.below(8) {
            0 => step = entropy.hostile_number(),
            1 => point = entropy.hostile_number(),
            _ => {}
        }
        if step / internal > MOST_SUBSTEPS && step / internal < 2e7 {
            step = internal * MOST_SUBSTEPS;
        }
        let (mut event, mut terminate, mut early, mut last) = (9, 9, 9, f64::NAN);
        STEPPING.set(self.instance);
        let event_place = if entropy.one_in(32) { null_mut() } else { &raw mut event };
        // SAFETY: a live instance, places for what is written or null.
        let status = unsafe {
            let (terminate, early, last) = (&raw mut terminate, &raw mut early, &raw mut last);
            fmi3DoStep(self.instance, point, step, fmi3True, event_place, terminate, early, last)
        };
        if matches!(status, fmi2Status::fmi2OK | fmi2Status::fmi2Warning) {
            assert!(event < 2 && terminate == 0 && early < 2, "{event} {terminate} {early}");
            assert!(last >= point && last <= point + step, "from {point} by {step} to {last}");
        }
        status
    }

    fn set(&mut self, entropy: &mut Entropy) -> fmi3Status {
        let (reference, count) = *entropy.pick(&self.variables.reals);
        let values: Vec<f64> = (0..count)
            .map(|_| {
                if self.variables.slow.contains(&reference) {
                    *entropy.pick(&[1e-300, 1e300, 5e-324, f64::NAN, 0.0, -1.0])
                } else if entropy.one_in(2) {
                    entropy.between(-2.0, 2.0)
                } else {
                    entropy.hostile_number()
                }
            })
            .collect();
        // SAFETY: a live instance, one reference, as many values as said.
        unsafe { fmi3SetFloat64(self.instance, &reference, 1, values.as_ptr(), count) }
    }

    /// Getters and setters with wrong references, sizes and pointers.
    fn access(&mut self, entropy: &mut Entropy) -> fmi3Status {
        const MOST: usize = 64;
        let references: Vec<u32> = (0..8)
            .map(|_| match entropy.below(4) {
                0 => entropy.bits() as u32,
                1 => entropy.below(self.variables.scalars) as u32,
                _ => *entropy.pick(&self.variables.all),
            })
            .collect();
        let mut vr = references.as_ptr();
        let mut n = entropy.below(9);
        let length = |reference: &u32| {
            let real = self.variables.reals.iter().find(|(known, _)| known == reference);
            real.map_or(1, |(_, count)| *count)
        };
        let mut count = references[..n.min(8)].iter().map(length).sum::<usize>();
        match entropy.below(8) {
            0 => vr = null(),
            1 => n = usize::MAX / (1 + entropy.below(2)),
            2 => vr = vr.cast::<u8>().wrapping_add(1).cast(),
            3 => count = entropy.below(MOST),
            _ => {}
        }
        let (mut reals, mut wholes, mut longs, mut bytes) = ([0.0; MOST], [0; MOST], [0; MOST], [0; MOST]);
        let mut texts = [null(); MOST];
        let i = self.instance;
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

    fn state(&mut self, entropy: &mut Entropy) -> fmi3Status {
        let i = self.instance;
        // SAFETY: a live instance; null or a saved state; places for what is written.
        unsafe {
            match entropy.below(6) {
                0 => fmi3GetFMUState(i, &mut self.saved),
                1 => fmi3SetFMUState(i, self.saved),
                2 => fmi3FreeFMUState(i, &mut self.saved),
                3 => {
                    let mut bytes = [0; 64];
                    fmi3SerializeFMUState(i, self.saved, bytes.as_mut_ptr(), entropy.below(65))
                }
                4 => fmi3GetFMUState(i, null_mut()),
                _ => {
                    let (bytes, mut state) = (self.bytes(), null_mut());
                    let status = fmi3DeserializeFMUState(i, bytes.as_ptr(), bytes.len(), &mut state);
                    assert_eq!(status, fmi2Status::fmi2OK, "{:?}", self.log.take());
                    assert_eq!(fmi3SetFMUState(i, state), fmi2Status::fmi2OK);
                    assert_eq!(self.bytes(), bytes, "saved and restored, the instance is another");
                    fmi3FreeFMUState(i, &mut state)
                }
            }
        }
    }

    fn derivatives(&mut self, entropy: &mut Entropy) -> fmi3Status {
        let [unknown, known] = [(); 2].map(|()| *entropy.pick(&self.variables.reals));
        let seed: Vec<f64> = (0..4).map(|_| entropy.hostile_number()).collect();
        let mut places = [0.0; 4];
        let wrong = usize::from(entropy.one_in(8));
        let (i, out) = (self.instance, places.as_mut_ptr());
        let seed = seed.as_ptr();
        // SAFETY: a live instance and arrays with room for what is said.
        unsafe {
            if entropy.one_in(2) {
                let (n, m) = (known.1.min(3) + wrong, unknown.1);
                fmi3GetDirectionalDerivative(i, &unknown.0, 1, &known.0, 1, seed, n, out, m)
            } else {
                let (n, m) = (unknown.1, known.1.min(3) + wrong);
                fmi3GetAdjointDerivative(i, &unknown.0, 1, &known.0, 1, seed, n, out, m)
            }
        }
    }

    fn events(&mut self, entropy: &mut Entropy) -> fmi3Status {
        let i = self.instance;
        let sample = self.real(self.variables.sample).unwrap_or(1e-3);
        let (mut a, mut b, mut c, mut d, mut e, mut next) = (9, 9, 9, 9, 9, f64::NAN);
        let first = if entropy.one_in(16) { null_mut() } else { &raw mut a };
        // SAFETY: a live instance and places for what is written, or null.
        unsafe {
            match entropy.below(9) {
                0 | 1 => fmi3EnterEventMode(i),
                2 | 3 => fmi3UpdateDiscreteStates(i, first, &mut b, &mut c, &mut d, &mut e, &mut next),
                4 => fmi3EnterStepMode(i),
                5 => fmi3EnterContinuousTimeMode(i),
                6 => fmi3CompletedIntegratorStep(i, 1, first, &mut b),
                7 => fmi3SetTime(i, entropy.hostile_number()),
                _ => fmi3SetTime(i, self.time + sample),
            }
        }
    }

    /// What is always refused, and log categories.
    fn refused(&mut self, entropy: &mut Entropy) -> fmi3Status {
        let (i, mut count) = (self.instance, 0);
        let names = [c"logAll".as_ptr(), c"nonsense".as_ptr(), null()];
        // SAFETY: a live instance and places for what is written, or null.
        unsafe {
            match entropy.below(8) {
                0 => fmi3EnterConfigurationMode(i),
                1 => fmi3EvaluateDiscreteStates(i),
                2 => fmi3GetNumberOfVariableDependencies(i, 0, &mut count),
                3 => fmi3GetIntervalDecimal(i, null(), 0, null_mut(), null_mut()),
                4 => fmi3ActivateModelPartition(i, 0, 0.0),
                5 => fmi3GetNumberOfContinuousStates(i, &mut count),
                6 => fmi3GetOutputDerivatives(i, null(), 0, null(), null_mut(), 0),
                _ => {
                    let n = entropy.below(4);
                    self.quiet |= n > 0;
                    fmi3SetDebugLogging(i, entropy.below(2) as u8, n, names.as_ptr())
                }
            }
        }
    }
}
