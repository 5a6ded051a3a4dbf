//! Hashes of the models' trajectories: the same bits in every run, thread, build and library.

use crate::client::{Client, Prepared};
use crate::long_runs::packed;
use crate::models::{Known, MODELS};
use contact_fmu::engine::Membership;
use contact_fmu::master::library::{Instance, Library};
use contact_fmu::model::{Coupling, Node};
use contact_fmu::variables::{Causality, Kind, Variable, table as variables};
use contact_fmu_runtime::abi::fmi2Status;
use contact_fmu_runtime::*;

/// The table: a model, its steps, the step in which a contact closes that was open at first, and the hash a line.
pub const TABLE: &str = include_str!("../trajectories.txt");

/// Most steps of a model, where no contact closes.
const MOST: u32 = 1000;
/// How fast nodes that a master moves go along gravity, in m/s.
const DESCENT: f64 = 2.0;

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trajectory {
    /// Steps that are hashed.
    pub steps: u32,
    /// The step in which a contact acts that was open in the first one; none where all are closed, or stay open.
    pub closes: Option<u32>,
    /// Whether any contact acts in any step.
    pub touches: bool,
    /// 64 bits of Fowler, Noll and Vo's hash over the bits of all reals after each step.
    pub hash: u64,
}

/// Steps after what a model is about has begun: fewer where they are slow.
fn steps(known: &Known) -> u32 {
    let substeps = (known.model.experiment.step / known.model.engine.step).ceil().max(1.0);
    let bodies = (known.model.nodes.len() + known.model.contacts.len()) as f64;
    (4e4 / (substeps * bodies * bodies.max(4.0))).clamp(10.0, 400.0) as u32
}

fn hashed(hash: u64, values: &[f64]) -> u64 {
    let bytes = values.iter().flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Calls of an FMU that must succeed.
trait Calls {
    fn set(&mut self, references: &[u32], values: &[f64]);
    fn step(&mut self, time: f64, step: f64);
    fn get(&mut self, references: &[u32], values: &mut [f64]);
}

fn succeed(status: fmi2Status) {
    assert!(status as i32 <= fmi2Status::fmi2Warning as i32, "{status:?}");
}

impl Calls for Client {
    fn set(&mut self, references: &[u32], values: &[f64]) {
        // SAFETY: a live instance, as many references and values as said.
        succeed(unsafe {
            fmi2SetReal(self.component, references.as_ptr(), references.len(), values.as_ptr())
        });
    }

    fn step(&mut self, time: f64, step: f64) {
        // SAFETY: a live instance.
        succeed(unsafe { fmi2DoStep(self.component, time, step, 1) });
    }

    fn get(&mut self, references: &[u32], values: &mut [f64]) {
        // SAFETY: a live instance, as many references and values as said.
        succeed(unsafe {
            fmi2GetReal(self.component, references.as_ptr(), references.len(), values.as_mut_ptr())
        });
    }
}

impl Calls for Instance<'_> {
    fn set(&mut self, references: &[u32], values: &[f64]) {
        self.set_real(references, values).expect("inputs");
    }

    fn step(&mut self, time: f64, step: f64) {
        self.do_step(time, step).expect("a step");
    }

    fn get(&mut self, references: &[u32], values: &mut [f64]) {
        self.get_real(references, values).expect("outputs");
    }
}

/// References of the variables that a condition holds for.
fn references(table: &[Variable], is_one: impl Fn(&Variable) -> bool) -> Vec<u32> {
    (0..table.len() as u32).filter(|&reference| is_one(&table[reference as usize])).collect()
}

/// Whether a node that a master moves may go its way whatever the forces: points of mechanisms are learnt from how they
/// respond, and stay where they are.
pub fn falls(node: &Node) -> bool {
    !matches!(node.coupling, Coupling::Kinetic(settings) if settings.mechanism == Membership::Learnt)
}

/// Steps on until some time after the contact that a model is about has closed. Nodes that a master moves go along gravity
/// to what they can touch.
fn follow(known: &Known, fmu: &mut impl Calls) -> Trajectory {
    let table = variables(&known.model);
    let reals = references(&table, |variable| matches!(variable.kind, Kind::Real(_)));
    let forces = references(&table, |variable| variable.name.ends_with(".f_n"));
    let given = |quantity: &str, axis: usize| {
        let is_given = |variable: &Variable| {
            let node = variable.name.strip_suffix(&format!(".{quantity}[{}]", axis + 1));
            variable.causality == Causality::Input
                && node.is_some_and(|node| known.model.nodes.iter().any(|one| one.name == node && falls(one)))
        };
        references(&table, is_given)
    };
    let gravity = known.model.engine.gravity;
    let weight = gravity.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut falls = Vec::new();
    for axis in (0..3).filter(|&axis| gravity[axis] != 0.0) {
        let (places, speeds) = (given("r", axis), given("v", axis));
        let mut start = vec![0.0; places.len()];
        fmu.get(&places, &mut start);
        falls.push((places, speeds, start, DESCENT * gravity[axis] / weight));
    }
    let step = known.model.experiment.step;
    let after = steps(known);
    let (mut values, mut pressed) = (vec![0.0; reals.len()], vec![0.0; forces.len()]);
    let mut open = Vec::new();
    let mut trajectory = Trajectory { steps: 0, closes: None, touches: false, hash: 0xcbf2_9ce4_8422_2325 };
    let mut end = after;
    while trajectory.steps < end {
        let time = f64::from(trajectory.steps) * step;
        for (places, speeds, start, speed) in &falls {
            let now: Vec<f64> = start.iter().map(|place| place + speed * time).collect();
            fmu.set(places, &now);
            fmu.set(speeds, &vec![*speed; speeds.len()]);
        }
        fmu.step(time, step);
        fmu.get(&reals, &mut values);
        fmu.get(&forces, &mut pressed);
        trajectory.hash = hashed(trajectory.hash, &values);
        trajectory.steps += 1;
        trajectory.touches |= pressed.iter().any(|&force| force != 0.0);
        if trajectory.steps == 1 {
            open = pressed.iter().map(|&force| force == 0.0).collect();
            if open.contains(&true) {
                end = MOST.max(after);
            }
        } else if trajectory.closes.is_none()
            && pressed.iter().zip(&open).any(|(&force, &was_open)| was_open && force != 0.0)
        {
            trajectory.closes = Some(trajectory.steps);
            end = after.max(trajectory.steps + after.min(50));
        }
    }
    trajectory
}

/// Trajectory of a model by the library that is compiled into this program.
pub fn here(known: &'static Known) -> Trajectory {
    let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(known)));
    follow(known, &mut Client::started(prepared, true).expect("an instance"))
}

/// The same by the library that is packed into FMUs.
pub fn in_an_fmu(known: &'static Known) -> Trajectory {
    let fmu = packed(known);
    let library = Library::load(&fmu).expect("the library loads");
    let mut instance = library.instantiate(&fmu, "hash", false, Box::new(drop)).expect("an instance");
    instance.setup_experiment(None, 0.0, None).expect("set up");
    instance.enter_initialization_mode().expect("initialization");
    instance.exit_initialization_mode().expect("a start");
    follow(known, &mut instance)
}

/// A line of the table.
pub fn line(known: &Known, trajectory: &Trajectory) -> String {
    let closes = trajectory.closes.map_or("-".to_owned(), |step| step.to_string());
    format!("{:24} {:4} {closes:>4} {:016x}", known.name, trajectory.steps, trajectory.hash)
}

/// A table as it is now.
pub fn table() -> String {
    MODELS.iter().map(|known| line(known, &here(known)) + "\n").collect()
}
