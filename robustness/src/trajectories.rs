//! Hashes of the models' trajectories: the same bits in every run, thread, build and library.

use crate::client::{Client, Prepared};
use crate::long_runs::packed;
use crate::models::{Known, MODELS};
use contact_fmu::master::library::Library;
use contact_fmu::variables::Kind;
use contact_fmu_runtime::abi::fmi2Status;
use contact_fmu_runtime::*;

/// The table: a model and its hash a line.
pub const TABLE: &str = include_str!("../trajectories.txt");

/// Communication steps of a model that are hashed: fewer where they are slow.
pub fn steps(known: &Known) -> u32 {
    let substeps = (known.model.experiment.step / known.model.engine.step).ceil().max(1.0);
    let bodies = (known.model.nodes.len() + known.model.contacts.len()) as f64;
    (4e4 / (substeps * bodies * bodies.max(4.0))).clamp(10.0, 400.0) as u32
}

/// 64 bits of Fowler, Noll and Vo's hash over the bits of all reals.
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn take(&mut self, values: &[f64]) {
        for byte in values.iter().flat_map(|value| value.to_bits().to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Hash of a model's trajectory by the library that is compiled into this program.
pub fn here(known: &'static Known) -> u64 {
    let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(known)));
    let client = Client::started(prepared, true).expect("an instance");
    let step = known.model.experiment.step;
    let mut values = vec![0.0; prepared.reals.len()];
    let mut hash = Hash::new();
    for k in 0..steps(known) {
        // SAFETY: a live instance, as many references and values as said.
        let statuses = unsafe {
            [
                fmi2DoStep(client.component, f64::from(k) * step, step, 1),
                fmi2GetReal(client.component, prepared.reals.as_ptr(), values.len(), values.as_mut_ptr()),
            ]
        };
        assert!(
            statuses.iter().all(|&status| status as i32 <= fmi2Status::fmi2Warning as i32),
            "{statuses:?}"
        );
        hash.take(&values);
    }
    hash.0
}

/// The same by the library that is packed into FMUs.
pub fn in_an_fmu(known: &'static Known) -> u64 {
    let fmu = packed(known);
    let library = Library::load(&fmu).expect("the library loads");
    let mut instance = library.instantiate(&fmu, "hash", false, Box::new(drop)).expect("an instance");
    instance.setup_experiment(None, 0.0, None).expect("set up");
    instance.enter_initialization_mode().expect("initialization");
    instance.exit_initialization_mode().expect("a start");
    let table = contact_fmu::variables::table(&known.model);
    let reals: Vec<u32> =
        (0..table.len() as u32).filter(|&vr| matches!(table[vr as usize].kind, Kind::Real(_))).collect();
    let mut values = vec![0.0; reals.len()];
    let step = known.model.experiment.step;
    let mut hash = Hash::new();
    for k in 0..steps(known) {
        instance.do_step(f64::from(k) * step, step).expect("a step");
        instance.get_real(&reals, &mut values).expect("outputs");
        hash.take(&values);
    }
    hash.0
}

/// A table as it is now.
pub fn table() -> String {
    MODELS
        .iter()
        .map(|known| format!("{:24} {:4} {:016x}\n", known.name, steps(known), here(known)))
        .collect()
}
