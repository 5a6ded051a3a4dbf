//! Sequences of FMI calls with hostile arguments, in any order, sometimes from two threads.

use crate::client::{Client, PREPARED, any_model, instantiate};
use crate::{Entropy, TRACE};
use contact_fmu_runtime::abi::*;
use contact_fmu_runtime::*;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

/// One life of an instance.
pub fn run(entropy: &mut Entropy) {
    if entropy.one_in(32) {
        return instantiate_anyhow(entropy);
    }
    let prepared = &PREPARED[any_model(entropy)];
    let co_simulation = !entropy.one_in(3);
    let client = if entropy.one_in(3) {
        Client::new(prepared, co_simulation)
    } else {
        Client::started(prepared, co_simulation)
    };
    let Some(client) = client else { return };
    let mut life = Life { client, time: 0.0, saved: null_mut(), quiet: false };
    for _ in 0..3 + entropy.below(30) {
        life.call(entropy);
    }
    life.end();
}

/// Arguments of fmi2Instantiate.
fn instantiate_anyhow(entropy: &mut Entropy) {
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
    let (component, log) = instantiate(name.as_deref(), kind, guid.as_deref(), location.as_deref());
    assert!(component.is_null());
    let lines = log.take();
    assert!(lines.len() == 1 && !lines[0].contains("internal error"), "{lines:?}");
}

struct Life {
    client: Client,
    /// Where the instance is, as far as a master knows.
    time: f64,
    saved: fmi2FMUstate,
    /// Whether log categories were switched off.
    quiet: bool,
}

impl Life {
    fn check(&self, status: fmi2Status) -> fmi2Status {
        if self.quiet { self.client.check_quietly(status) } else { self.client.check(status) }
    }

    fn end(self) {
        let mut saved = self.saved;
        // SAFETY: a live instance; null or a saved state.
        self.check(unsafe { fmi2FreeFMUstate(self.client.component, &mut saved) });
    }

    /// One call; what is refused must have changed nothing.
    fn call(&mut self, entropy: &mut Entropy) {
        // In model exchange a step is made when its outputs are asked for, so a call that fails may have made it.
        let before = (self.client.co_simulation && entropy.one_in(4)).then(|| self.client.bytes());
        let status = self.any(entropy);
        if *TRACE {
            eprintln!("{}: {status:?} at {}", self.client.prepared.known.name, self.time);
        }
        if let (Some(before), fmi2Status::fmi2Error | fmi2Status::fmi2Discard) = (before, status) {
            assert_eq!(before, self.client.bytes(), "a call with {status:?} has changed the instance");
        }
    }

    fn any(&mut self, entropy: &mut Entropy) -> fmi2Status {
        match entropy.below(20) {
            0 => self.lifecycle(entropy),
            1..=4 => self.step(entropy),
            5 | 6 => self.check(self.client.read_all()),
            7..=9 => self.set(entropy),
            10 | 11 => self.access(entropy),
            12 | 13 => self.state(entropy),
            14 => self.derivatives(entropy),
            15 => self.status(entropy),
            16 | 17 => self.exchange(entropy),
            18 => self.logging(entropy),
            _ => self.on_two_threads(entropy),
        }
    }

    fn lifecycle(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let c = self.client.component;
        let (start, stop) = (entropy.hostile_number(), entropy.hostile_number());
        // SAFETY: a live instance.
        let status = unsafe {
            match entropy.below(6) {
                0 => fmi2SetupExperiment(
                    c,
                    entropy.below(3) as i32,
                    stop,
                    start,
                    entropy.below(2) as i32,
                    stop,
                ),
                1 => fmi2EnterInitializationMode(c),
                2 => fmi2ExitInitializationMode(c),
                3 => fmi2Terminate(c),
                _ => fmi2Reset(c),
            }
        };
        self.time = self.client.real(self.client.prepared.reference("time")).unwrap_or(0.0);
        self.check(status)
    }

    fn step(&mut self, entropy: &mut Entropy) -> fmi2Status {
        const MOST_SUBSTEPS: f64 = 20.0;
        let internal = self.client.real(self.client.prepared.reference("engine.step")).unwrap_or(1e-3);
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
            eprintln!("{}: a step of {step:e} from {point:e}", self.client.prepared.known.name);
        }
        // SAFETY: a live instance.
        let status = unsafe { fmi2DoStep(self.client.component, point, step, fmi2True) };
        if matches!(status, fmi2Status::fmi2OK | fmi2Status::fmi2Warning) {
            self.time = point + step;
        }
        self.check(status)
    }

    fn set(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let prepared = self.client.prepared;
        let count = 1 + entropy.below(3);
        let references: Vec<u32> = (0..count).map(|_| *entropy.pick(&prepared.reals)).collect();
        let values: Vec<f64> = references
            .iter()
            .map(|&reference| {
                // Of other values a step may take seconds.
                if prepared.table[reference as usize].name.starts_with("engine.") {
                    *entropy.pick(&[1e-300, 1e300, 5e-324, f64::NAN, 0.0, -1.0])
                } else if entropy.one_in(2) {
                    entropy.between(-2.0, 2.0)
                } else {
                    entropy.hostile_number()
                }
            })
            .collect();
        if *TRACE {
            let name = |reference: &u32| &prepared.table[*reference as usize].name;
            eprintln!("set {:?} to {values:?}", references.iter().map(name).collect::<Vec<_>>());
        }
        // SAFETY: a live instance, as many references and values as said.
        let status =
            unsafe { fmi2SetReal(self.client.component, references.as_ptr(), count, values.as_ptr()) };
        self.check(status)
    }

    /// Getters and setters with wrong references, counts and pointers.
    fn access(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let c = self.client.component;
        let known = self.client.prepared.table.len();
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
        let status = unsafe {
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
        };
        self.check(status)
    }

    fn state(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let c = self.client.component;
        let mut size = 0;
        // SAFETY: a live instance; null or a saved state; places for what is written.
        let status = unsafe {
            match entropy.below(7) {
                0 => fmi2GetFMUstate(c, &mut self.saved),
                1 => fmi2SetFMUstate(c, self.saved),
                2 => fmi2FreeFMUstate(c, &mut self.saved),
                3 => fmi2SerializedFMUstateSize(
                    c,
                    self.saved,
                    if entropy.one_in(4) { null_mut() } else { &mut size },
                ),
                4 => {
                    let mut bytes = [0; 64];
                    fmi2SerializeFMUstate(c, self.saved, bytes.as_mut_ptr(), entropy.below(65))
                }
                5 => fmi2GetFMUstate(c, null_mut()),
                _ => {
                    let bytes = self.client.bytes();
                    let (status, mut state) = self.client.deserialize(&bytes);
                    assert_eq!(status, fmi2Status::fmi2OK);
                    assert_eq!(fmi2SetFMUstate(c, state), fmi2Status::fmi2OK);
                    assert_eq!(self.client.bytes(), bytes, "saved and restored, the instance is another");
                    fmi2FreeFMUstate(c, &mut state)
                }
            }
        };
        self.time = self.client.real(self.client.prepared.reference("time")).unwrap_or(self.time);
        self.check(status)
    }

    fn derivatives(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let c = self.client.component;
        let prepared = self.client.prepared;
        let pick = |entropy: &mut Entropy| {
            if entropy.one_in(16) { entropy.bits() as u32 } else { *entropy.pick(&prepared.reals) }
        };
        let count = 1 + entropy.below(2);
        let unknowns: Vec<u32> = (0..count).map(|_| pick(entropy)).collect();
        let knowns: Vec<u32> = (0..count).map(|_| pick(entropy)).collect();
        let seeds: Vec<f64> = (0..count).map(|_| entropy.hostile_number()).collect();
        let orders: Vec<i32> = (0..count).map(|_| *entropy.pick(&[1, 2, 3, 0, -1, 4, i32::MAX])).collect();
        let mut places = vec![0.0; count];
        // SAFETY: a live instance and arrays of `count` entries.
        let status = unsafe {
            if entropy.one_in(2) {
                fmi2SetRealInputDerivatives(c, knowns.as_ptr(), count, orders.as_ptr(), seeds.as_ptr())
            } else {
                let (n, place) = (count, places.as_mut_ptr());
                fmi2GetDirectionalDerivative(
                    c,
                    unknowns.as_ptr(),
                    n,
                    knowns.as_ptr(),
                    n,
                    seeds.as_ptr(),
                    place,
                )
            }
        };
        self.check(status)
    }

    fn status(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let c = self.client.component;
        let kind = *entropy.pick(&[0, 1, 2, 3, -1, i32::MAX]);
        let (mut real, mut integer, mut text, mut status) = (0.0, 0, null(), fmi2Status::fmi2OK);
        let is_null = entropy.one_in(4);
        // SAFETY: a live instance and places for what is written, or null.
        let status = unsafe {
            match entropy.below(6) {
                0 => fmi2GetStatus(c, kind, &mut status),
                1 => fmi2GetRealStatus(c, kind, if is_null { null_mut() } else { &mut real }),
                2 => fmi2GetIntegerStatus(c, kind, &mut integer),
                3 => fmi2GetBooleanStatus(c, kind, if is_null { null_mut() } else { &mut integer }),
                4 => fmi2GetStringStatus(c, kind, &mut text),
                _ => fmi2CancelStep(c),
            }
        };
        self.check(status)
    }

    fn exchange(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let c = self.client.component;
        let sample = self.client.real(self.client.prepared.reference("engine.sample")).unwrap_or(1e-3);
        let mut info = MaybeUninit::uninit();
        let (mut first, mut second) = (0, 0);
        let mut places = [0.0; 4];
        let n = entropy.below(5);
        let is_null = entropy.one_in(8);
        // SAFETY: a live instance and places for what is written, or null.
        let status = unsafe {
            match entropy.below(12) {
                0 | 1 => fmi2EnterEventMode(c),
                2 | 3 => fmi2NewDiscreteStates(c, if is_null { null_mut() } else { info.as_mut_ptr() }),
                4 | 5 => fmi2EnterContinuousTimeMode(c),
                6 => fmi2CompletedIntegratorStep(
                    c,
                    1,
                    if is_null { null_mut() } else { &mut first },
                    &mut second,
                ),
                7 => fmi2SetTime(c, entropy.hostile_number()),
                8 => fmi2SetTime(c, self.time + sample),
                9 => fmi2GetDerivatives(c, places.as_mut_ptr(), n),
                10 => fmi2GetEventIndicators(c, places.as_mut_ptr(), n),
                _ => fmi2SetContinuousStates(c, places.as_ptr(), n),
            }
        };
        self.time = self.client.real(self.client.prepared.reference("time")).unwrap_or(self.time);
        self.check(status)
    }

    fn logging(&mut self, entropy: &mut Entropy) -> fmi2Status {
        let names = [c"logAll", c"logStatusError", c"logEvents", c"nonsense", c""];
        let mut categories = [null(); 3];
        for category in &mut categories {
            if !entropy.one_in(6) {
                *category = entropy.pick(&names).as_ptr();
            }
        }
        let (n, on) = (entropy.below(4), entropy.below(2) as i32);
        // SAFETY: a live instance and as many strings as said, or null.
        let status = unsafe { fmi2SetDebugLogging(self.client.component, on, n, categories.as_ptr()) };
        // Categories may be off from now on.
        self.quiet |= n > 0;
        self.check(status)
    }

    /// Two threads at once: each call is carried out or refused.
    fn on_two_threads(&mut self, entropy: &mut Entropy) -> fmi2Status {
        if !entropy.one_in(8) {
            return self.step(entropy);
        }
        let address = self.client.component.expose_provenance();
        let step = self.client.real(self.client.prepared.reference("engine.step")).unwrap_or(1e-3);
        let time = self.time;
        let vr = *entropy.pick(&self.client.prepared.reals);
        std::thread::scope(|scope| {
            for reader in [false, true] {
                scope.spawn(move || {
                    let component = std::ptr::with_exposed_provenance_mut(address);
                    let mut value = 0.0;
                    for k in 0..6 {
                        // SAFETY: a live instance, one reference, one value.
                        let status = unsafe {
                            if reader {
                                fmi2GetReal(component, &vr, 1, &mut value)
                            } else {
                                fmi2DoStep(component, time + f64::from(k) * step, step, fmi2True)
                            }
                        };
                        assert!((status as i32) < fmi2Status::fmi2Fatal as i32, "{status:?}");
                    }
                });
            }
        });
        self.time = self.client.real(self.client.prepared.reference("time")).unwrap_or(self.time);
        self.client.check_quietly(fmi2Status::fmi2OK)
    }
}
