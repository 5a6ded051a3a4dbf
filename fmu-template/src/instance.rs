//! One instance of the FMU: the model, where the simulation is, and how fmi2Instantiate makes it.

use crate::abi::{
    fmi2Boolean, fmi2CallbackFunctions, fmi2CoSimulation, fmi2Component, fmi2False, fmi2ModelExchange,
    fmi2Status, fmi2String, fmi2Type,
};
use crate::access::Access;
use crate::access3::Arrays;
use crate::coupling_log::CouplingLog;
use crate::do_step3::{Intermediate, UnderWay};
use crate::events::Events;
use crate::exchange::Sampling;
use crate::guard::{Handle, Refusal, panic_text};
use crate::held_force_log::HeldForceLogs;
use crate::lifecycle::{Interface, Mode};
use crate::logger::{Category, Logger};
use crate::repeat_log::RepeatLog;
use crate::{arguments, memory, resources};
use contact_fmu::engine::events;
use contact_fmu::engine::tape::Tape;
use contact_fmu::engine::{self, GivenFault, State, System, Workspace};
use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::model::Model;
use contact_fmu::variables::{self, Slot, Variable};
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An instance.
pub struct Instance {
    /// Messages to the importer.
    pub logger: Arc<Logger>,
    /// Identifies the model.
    pub guid: String,
    /// The variable table; a value reference is a position in it.
    pub variables: Vec<Variable>,
    /// What get and set need of each variable.
    pub access: Vec<Access>,
    /// Version of FMI that it was made for.
    pub version: FmiVersion,
    /// FMI 3.0: which variables are taken together.
    pub arrays: Arc<Arrays>,
    /// FMI 3.0: whether steps may end early at events.
    pub early_return: bool,
    /// FMI 3.0: whether impacts of bodies that the importer moves are events.
    pub exchanges: bool,
    /// FMI 3.0: whom to tell of parts of a step.
    pub intermediate: Option<Intermediate>,
    /// A step of which the importer is told under way.
    pub under_way: Option<UnderWay>,
    /// The constant part of the model.
    pub system: System,
    /// What fmi2Reset goes back to.
    pub initial: State<f64>,
    /// Where the simulation is.
    pub run: Run,
    /// The state before a step that is under way, and in initialization mode [its outputs](Self::find_start_outputs).
    /// Boxed like [`Run::before`], with which it changes places.
    pub undo: Box<State<f64>>,
    /// Scratch memory of steps that end at events; only where there are such.
    pub spare: Option<Box<State<f64>>>,
    /// Whether `undo` holds the outputs of initialization mode.
    pub has_start_outputs: bool,
    /// What was told of each coupling.
    pub coupling_logs: Vec<CouplingLog>,
    /// What was told of the forces on bodies that the FMU moves itself.
    pub held_force_logs: HeldForceLogs,
    /// What was seen of steps that the master makes again.
    pub repeat_log: RepeatLog,
    /// Whether it was told that piles are captured.
    pub told_capture: bool,
    /// Scratch memory of a step.
    pub workspace: Workspace<f64>,
    /// Memory of adjoint derivatives.
    pub tape: Tape,
    /// Bytes that it takes at most, and so more than a saved state does.
    pub memory: usize,
}

/// Where a simulation is: what a saved FMU state holds. Mode and state come first in its bytes
/// ([`contact_fmu::saved_state`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Mode.
    pub mode: Mode,
    /// Parameters, inputs, motion, time.
    pub state: State<f64>,
    /// The same before the last step, with the inputs and parameters that the step used.
    pub before: Box<State<f64>>,
    /// Events of model exchange; none in co-simulation.
    pub sampling: Option<Sampling>,
    /// Events of co-simulation where the importer uses event mode.
    pub events: Option<Events>,
}

impl Run {
    /// Becomes a copy of another run of the same model, without allocating.
    pub fn copy_from(&mut self, other: &Run) {
        self.mode = other.mode;
        self.state.clone_from(&other.state);
        self.before.clone_from(&other.before);
        self.sampling = other.sampling;
        self.events.clone_from(&other.events);
    }

    /// What the instance was made for.
    pub fn interface(&self) -> Interface {
        if self.sampling.is_some() { Interface::ModelExchange } else { Interface::CoSimulation }
    }

    /// Whether outputs are those of a sampled block: in model exchange after initialization.
    pub fn is_sampled(&self) -> bool {
        self.sampling.is_some() && !matches!(self.mode, Mode::Instantiated | Mode::Initialization)
    }
}

impl Instance {
    /// A fresh instance of a model.
    pub fn new(
        model: &Model,
        guid: String,
        interface: Interface,
        version: FmiVersion,
        logger: Arc<Logger>,
    ) -> Instance {
        let (mut system, mut initial) = model.assemble();
        let sampling = match interface {
            Interface::CoSimulation => None,
            Interface::ModelExchange => {
                // Forces are there when their window begins, whatever the model says of co-simulation.
                engine::set_latency(&mut system, &mut initial, 0);
                Some(Sampling::new())
            }
        };
        let variables = match version {
            FmiVersion::Two => variables::table(model),
            FmiVersion::Three => variables::table_with_events(model),
        };
        let coupling_logs = CouplingLog::of_all(model, &system, &initial, interface);
        let held_force_logs = HeldForceLogs::new(model, &system, interface);
        let repeat_log = RepeatLog::new(model, &system, &initial);
        Instance {
            logger,
            guid,
            access: variables.iter().map(|variable| Access::of(variable, version)).collect(),
            version,
            arrays: Arc::new(Arrays::of(&variables)),
            early_return: false,
            exchanges: false,
            intermediate: None,
            under_way: None,
            variables,
            workspace: Workspace::new(&system),
            system,
            run: Run {
                mode: Mode::Instantiated,
                state: initial.clone(),
                before: Box::new(initial.clone()),
                sampling,
                events: None,
            },
            undo: Box::new(initial.clone()),
            spare: None,
            has_start_outputs: false,
            coupling_logs,
            held_force_logs,
            repeat_log,
            told_capture: false,
            initial,
            tape: Tape::default(),
            memory: 0,
        }
    }

    /// Whether the importer uses event mode, and allows steps to end early.
    pub fn use_events(&mut self, event_mode: bool, early_return: bool) {
        self.run.events =
            event_mode.then(|| Events::new(self.system.contacts.len(), self.system.couplings.len()));
        self.early_return = early_return;
        if event_mode && early_return && events::can_have_events(&self.system) {
            events::expect_events(&mut self.system, &mut self.initial);
            self.run.state.clone_from(&self.initial);
            State::clone_from(&mut self.run.before, &self.initial);
            State::clone_from(&mut self.undo, &self.initial);
            self.exchanges = true;
        }
        self.spare = Some(Box::new(self.initial.clone()));
    }

    /// Refuses what takes as much memory as the instance itself where there is none.
    pub fn ensure_memory(&self) -> Result<(), Refusal> {
        memory::ensure(self.memory).map_err(Refusal::error)
    }

    /// Puts the state whose outputs are read in initialization mode into `undo`: bodies are where the master gives
    /// them, and there are forces for its first step.
    pub fn find_start_outputs(&mut self) -> Result<(), Refusal> {
        if !self.has_start_outputs {
            engine::check_given(&self.system, &self.run.state).map_err(|fault| self.wrong_given(fault))?;
            State::clone_from(&mut self.undo, &self.run.state);
            engine::take_given_motion(&self.system, &mut self.undo);
            let first_step = self.run.state.parameters.sample;
            engine::couple_initially(&self.system, &mut self.undo, first_step);
            self.has_start_outputs = true;
        }
        Ok(())
    }

    /// Why a motion that the master gives cannot be used.
    #[cold]
    pub fn wrong_given(&self, fault: GivenFault) -> Refusal {
        let (coupling, length) = match fault {
            GivenFault::Orientation { coupling, length } => (coupling, length),
            GivenFault::InverseMass { row, column } => {
                let name = self.name_of(Slot::GivenInverseMass { row, column });
                let value = variables::get_real(
                    Slot::GivenInverseMass { row, column },
                    &self.system,
                    &self.run.state,
                );
                return Refusal::error(format!(
                    "{name} is {value}, with which an impulse would make energy: W is symmetric without negative eigenvalues, in the order xx, yy, zz, xy, xz, yz, between two nodes row by row"
                ));
            }
        };
        let first = self.name_of(Slot::GivenOrientation { coupling, component: 0 });
        let [w, x, y, z] = self.run.state.couplings[coupling].given.orientation.wxyz;
        Refusal::error(format!(
            "the quaternion that starts with {first} is ({w}, {x}, {y}, {z}), of length {length}: set its four components so that it is 1"
        ))
    }

    /// Name of the variable that stands for `slot`.
    pub fn name_of(&self, slot: Slot) -> &str {
        self.variables
            .iter()
            .find(|variable| variable.slot == slot)
            .map_or("a variable that is not shown", |variable| &variable.name)
    }
}

/// fmi2Instantiate: an instance, or null after a log line.
///
/// # Safety
/// Strings are null or zero-terminated; `callbacks` is null or points to the importer's functions.
pub unsafe fn instantiate(
    name: fmi2String,
    fmu_type: fmi2Type,
    guid: fmi2String,
    resource_location: fmi2String,
    callbacks: *const fmi2CallbackFunctions,
    logging_on: fmi2Boolean,
) -> fmi2Component {
    // SAFETY: as promised by the caller.
    let (callbacks, name, guid, location) = unsafe {
        (callbacks.as_ref(), arguments::text(name), arguments::text(guid), arguments::text(resource_location))
    };
    let logger = Arc::new(Logger::new(callbacks, name.unwrap_or_default(), logging_on != fmi2False));
    hand_over("fmi2Instantiate", &logger, || {
        name.ok_or("instanceName is NULL")?;
        let interface = match fmu_type {
            _ if fmu_type == fmi2ModelExchange => Interface::ModelExchange,
            _ if fmu_type == fmi2CoSimulation => Interface::CoSimulation,
            _ => {
                return Err(format!(
                    "fmuType is {fmu_type}: it must be fmi2ModelExchange (0) or fmi2CoSimulation (1)"
                ));
            }
        };
        create(FmiVersion::Two, interface, guid, location, &logger)
    })
}

/// Gives an instance to the importer, or null after a log line.
pub fn hand_over(
    function: &str,
    logger: &Logger,
    make: impl FnOnce() -> Result<Instance, String>,
) -> fmi2Component {
    let made = catch_unwind(AssertUnwindSafe(make))
        .unwrap_or_else(|panic| Err(format!("internal error: {}", panic_text(panic.as_ref()))));
    made.map(Handle::give).unwrap_or_else(|message| {
        logger.log(fmi2Status::fmi2Error, Category::Error, &format!("{function}: {message}"));
        std::ptr::null_mut()
    })
}

/// An instance of the model in the resources folder.
pub fn create(
    version: FmiVersion,
    interface: Interface,
    guid: Option<&CStr>,
    location: Option<&CStr>,
    logger: &Arc<Logger>,
) -> Result<Instance, String> {
    let (identity, place) = match version {
        FmiVersion::Two => ("fmuGUID", "fmuResourceLocation"),
        FmiVersion::Three => ("instantiationToken", "resourcePath"),
    };
    let given = guid.ok_or_else(|| format!("{identity} is NULL"))?.to_string_lossy();
    let (model, guid, memory) = resources::read_model(location, place)?;
    if given != guid {
        return Err(format!(
            "{identity} is {given} but the model in the resources folder has {guid}: modelDescription.xml and resources are not from the same FMU"
        ));
    }
    if interface == Interface::ModelExchange && !model.can_be_sampled() {
        return Err(
            "the model has nodes with iterative = true, which work by repeated steps: this FMU is for co-simulation only"
                .to_owned(),
        );
    }
    Ok(Instance { memory, ..Instance::new(&model, guid, interface, version, Arc::clone(logger)) })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use contact_fmu::model::{Coupling, Engine, Experiment, Impact, Node, NodeShape, Scheme, Solver};
    use std::cell::RefCell;

    thread_local! {
        static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn keep_line(
        _: crate::abi::fmi2ComponentEnvironment,
        _: fmi2String,
        status: fmi2Status,
        _: fmi2String,
        message: fmi2String,
    ) {
        // SAFETY: the logger passes a zero-terminated string.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        LINES.with_borrow_mut(|lines| lines.push(format!("{} {message}", status as i32)));
    }

    /// Log lines of this thread since the last call, each after its status as a number.
    pub fn log_lines() -> Vec<String> {
        LINES.take()
    }

    /// An instance of one ball without contacts, whose log lines are kept.
    pub fn free_flight() -> Instance {
        coupled(Coupling::Owned, false)
    }

    /// The same with another coupling, and debug logging or not.
    pub fn coupled(coupling: Coupling, debug: bool) -> Instance {
        type Fixed = unsafe extern "C" fn(
            crate::abi::fmi2ComponentEnvironment,
            fmi2String,
            fmi2Status,
            fmi2String,
            fmi2String,
        );
        // SAFETY: the same named arguments, and none beyond them is ever passed.
        let logger = unsafe { std::mem::transmute::<Fixed, crate::abi::fmi2CallbackLogger>(keep_line) };
        let callbacks = fmi2CallbackFunctions {
            logger,
            allocateMemory: None,
            freeMemory: None,
            stepFinished: None,
            componentEnvironment: std::ptr::null_mut(),
        };
        let model = Model {
            name: "free_flight".to_owned(),
            description: String::new(),
            outputs: None,
            experiment: Experiment { stop: 1.0, step: 1e-3 },
            engine: Engine {
                step: 1e-3,
                gravity: [0.0, 0.0, -9.81],
                scheme: Scheme::MoreauJean,
                theta: 0.5,
                gamma: 0.5,
                time_of_impact: true,
                impact: Impact::Consistent,
                correction: true,
                energy_balance: false,
                allow_initial_penetration: false,
                solver: Solver::Auto,
                tolerance: 1e-10,
                max_iterations: 1000,
            },
            nodes: vec![Node {
                name: "ball".to_owned(),
                coupling,
                mass: 1.0,
                shape: NodeShape::Point,
                position: [0.0; 3],
                velocity: [0.0; 3],
                rotation: None,
            }],
            surfaces: Vec::new(),
            contacts: Vec::new(),
            springs: Vec::new(),
            joints: Vec::new(),
            meshes: Vec::new(),
        };
        let logger = Arc::new(Logger::new(Some(&callbacks), c"test", debug));
        Instance::new(&model, String::new(), Interface::CoSimulation, FmiVersion::Two, logger)
    }
}
