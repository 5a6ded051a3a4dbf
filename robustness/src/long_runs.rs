//! Long runs through the library that is packed into FMUs: time, drift and memory.

use crate::client::{Client, Prepared};
use crate::models::{Known, MODELS};
use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::master::extract::{ExtractedFmu, FmuFile};
use contact_fmu::master::library::{Instance, Library};
use contact_fmu::model::file::SourceModel;
use contact_fmu::package;
use contact_fmu_runtime::abi::fmi2Status;
use contact_fmu_runtime::*;
use std::io::Write;
use std::ptr::null_mut;
use tempfile::NamedTempFile;

/// A model by its name.
pub fn model(name: &str) -> &'static Known {
    MODELS.iter().find(|known| known.name == name).expect("a model of that name")
}

/// The FMU of a model, built and extracted.
pub fn packed(known: &Known) -> ExtractedFmu {
    let source = SourceModel { model: known.model.clone(), source: known.text.to_owned() };
    let bytes = package::build(&source, FmiVersion::Two, &[]).expect("an FMU");
    let mut file = NamedTempFile::with_suffix(".fmu").expect("a file");
    file.write_all(&bytes).expect("the FMU is written");
    FmuFile::open(file.path()).expect("a good FMU").extract().expect("room for it")
}

/// Bytes of memory that this process has in use; none where the system does not tell.
pub fn memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// What a long run came to.
#[derive(Debug)]
pub struct LongRun {
    /// Difference between the FMU's time and the master's, which is `k H`.
    pub time_error: f64,
    /// Largest relative difference of the energy from that at the start.
    pub energy_drift: f64,
    /// Largest difference of the position from that at the start of rest.
    pub rest_drift: f64,
    /// Growth of memory, in bytes.
    pub growth: usize,
}

/// Steps the bouncing ball: for ever (restitution 1), or until it rests and on.
pub fn ball(elastic: bool, steps: u64) -> LongRun {
    let known = model("bouncing_ball");
    let fmu = packed(known);
    let library = Library::load(&fmu).expect("the library loads");
    let mut instance =
        library.instantiate(&fmu, "long", false, Box::new(|line| panic!("{line:?}"))).expect("an instance");
    let vr = |name: &str| fmu.description.variable(name).expect("a variable").value_reference;
    // The description leaves the independent variable out; its reference is the first.
    let names = [0, vr("ball.r[3]"), vr("engine.energy"), vr("ball_floor.f_n")];
    if elastic {
        instance.set_real(&[vr("ball_floor.restitution")], &[1.0]).expect("a parameter");
    }
    instance.setup_experiment(None, 0.0, None).expect("set up");
    instance.enter_initialization_mode().expect("initialization");
    instance.exit_initialization_mode().expect("a start");
    let mut values = [0.0; 4];
    let mut read = |instance: &mut Instance<'_>| {
        instance.get_real(&names, &mut values).expect("outputs");
        values
    };
    let energy = read(&mut instance)[2];
    let step = known.model.experiment.step;
    // Long enough to come to rest.
    const SETTLED: u64 = 10_000;
    const LOOK: u64 = 997;
    let mut run = LongRun { time_error: 0.0, energy_drift: 0.0, rest_drift: 0.0, growth: 0 };
    let (mut rest, mut before) = (0.0, 0);
    for k in 0..steps {
        instance.do_step(k as f64 * step, step).expect("a step");
        if k == SETTLED {
            rest = read(&mut instance)[1];
            before = memory().unwrap_or(0);
        }
        if k % LOOK == 0 || k + 1 == steps {
            let [time, height, now, _] = read(&mut instance);
            run.time_error = run.time_error.max((time - (k as f64 * step + step)).abs());
            if elastic {
                run.energy_drift = run.energy_drift.max(((now - energy) / energy).abs());
            } else if k > SETTLED {
                run.rest_drift = run.rest_drift.max((height - rest).abs());
            }
        }
    }
    run.growth = memory().unwrap_or(0).saturating_sub(before);
    run
}

/// Makes and frees instances, `at_once` at a time. Returns the growth of memory after the first round.
pub fn instances(count: usize, at_once: usize) -> usize {
    let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(model("bouncing_ball"))));
    let round = || {
        let all: Vec<Client> =
            (0..at_once).map(|_| Client::started(prepared, true).expect("an instance")).collect();
        for client in &all {
            // SAFETY: a live instance.
            let status = unsafe { fmi2DoStep(client.component, 0.0, 1e-3, 1) };
            assert_eq!(status, fmi2Status::fmi2OK);
        }
    };
    round();
    let before = memory().unwrap_or(0);
    for _ in 0..count / at_once {
        round();
    }
    memory().unwrap_or(0).saturating_sub(before)
}

/// Saves, serializes, goes on, restores and goes on again; each time the bits are the same. Returns the growth of memory.
pub fn restores(count: usize) -> usize {
    let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(model("bouncing_ball"))));
    let client = Client::started(prepared, true).expect("an instance");
    let c = client.component;
    let step = prepared.known.model.experiment.step;
    let mut before = 0;
    for k in 0..count {
        let time = k as f64 * step;
        let mut saved = null_mut();
        // SAFETY: a live instance and a place for the pointer.
        unsafe {
            assert_eq!(fmi2GetFMUstate(c, &mut saved), fmi2Status::fmi2OK);
            assert_eq!(fmi2DoStep(c, time, step, 0), fmi2Status::fmi2OK);
            let straight = client.bytes();
            if k % 2 == 0 {
                assert_eq!(fmi2SetFMUstate(c, saved), fmi2Status::fmi2OK);
            } else {
                // Through bytes: of the state after the step, and back once more.
                let (status, mut state) = client.deserialize(&straight);
                assert_eq!(status, fmi2Status::fmi2OK);
                assert_eq!(fmi2FreeFMUstate(c, &mut state), fmi2Status::fmi2OK);
                assert_eq!(fmi2SetFMUstate(c, saved), fmi2Status::fmi2OK);
            }
            assert_eq!(fmi2DoStep(c, time, step, 0), fmi2Status::fmi2OK);
            assert_eq!(client.bytes(), straight, "restored before step {k}");
            assert_eq!(fmi2FreeFMUstate(c, &mut saved), fmi2Status::fmi2OK);
        }
        if k == count / 10 {
            before = memory().unwrap_or(0);
        }
    }
    memory().unwrap_or(0).saturating_sub(before)
}
