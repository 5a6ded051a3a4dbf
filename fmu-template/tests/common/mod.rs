//! A small master: calls the C functions of the library as an importer does.

#![allow(dead_code, missing_docs, reason = "each test file uses a part of it")]

use contact_fmu::model::{
    Between, Contact, Coupling, Engine, Experiment, Frame, Friction, Impact, Kinetic, Latency, Link,
    Membership, Model, Motion, Node, NodeShape, Other, Rotation, Scheme, Solver, Surface, SurfaceShape,
    packed,
};
use contact_fmu::variables::{self, Kind, Variable};
pub use contact_fmu_runtime::abi::fmi2Status::{self, *};
pub use contact_fmu_runtime::abi::*;
pub use contact_fmu_runtime::*;
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use tempfile::TempDir;

pub const GUID: &str = "{01234567-89ab-cdef-0123-456789abcdef}";

/// A ball above a floor, restitution 0.8 (the bouncing ball of Fancello 2012, Table 5.1).
pub fn bouncing_ball() -> Model {
    Model {
        name: "bouncing_ball".to_owned(),
        description: String::new(),
        outputs: None,
        experiment: Experiment { stop: 5.0, step: 1e-3 },
        engine: Engine {
            step: 1e-3,
            gravity: [0.0, 0.0, -10.0],
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
            coupling: Coupling::Owned,
            mass: 2.0,
            shape: NodeShape::Sphere { radius: 0.2 },
            position: [0.0, 0.0, 1.001],
            velocity: [0.0; 3],
            rotation: None,
        }],
        surfaces: vec![Surface {
            name: "floor".to_owned(),
            shape: SurfaceShape::Plane { normal: [0.0, 0.0, 1.0] },
            position: [0.0; 3],
            orientation: [1.0, 0.0, 0.0, 0.0],
            motion: Motion::Fixed,
        }],
        contacts: vec![Contact {
            name: "ball_floor".to_owned(),
            between: Between::Pair { node: 0, other: Other::Surface(0) },
            restitution: 0.8,
            mu: 0.3,
            friction: Friction::Cone,
            normal_stiffness: f64::INFINITY,
            compliance: None,
        }],
        springs: Vec::new(),
        joints: Vec::new(),
        meshes: Vec::new(),
    }
}

/// The wheel of Peiret 2016, which slides, spins and rolls, with the midpoint scheme.
pub fn wheel() -> Model {
    let mut model = bouncing_ball();
    model.name = "wheel".to_owned();
    model.engine.gravity = [0.0, 0.0, -9.81];
    model.engine.scheme = Scheme::Midpoint { sweeps: 3 };
    model.engine.time_of_impact = false;
    let tilt = 20.0_f64.to_radians();
    model.nodes = vec![Node {
        name: "wheel".to_owned(),
        coupling: Coupling::Owned,
        mass: 1.0,
        shape: NodeShape::Disc { radius: 0.5, axis: [0.0, 1.0, 0.0] },
        position: [0.0, 0.0, 0.5 * tilt.cos()],
        velocity: [6.0, 0.0, 0.0],
        rotation: Some(Rotation {
            inertia: [0.3, 0.6, 0.3],
            orientation: [(0.5 * tilt).cos(), (0.5 * tilt).sin(), 0.0, 0.0],
            angular_velocity: [0.0, 0.0, -2.0],
        }),
    }];
    model.contacts[0].name = "wheel_floor".to_owned();
    model.contacts[0].restitution = 0.0;
    model
}

pub const KINETIC: Kinetic = Kinetic {
    latency: Latency::Auto,
    shaping: true,
    adapt: true,
    guard: true,
    mechanism: Membership::Unsaid,
};

/// The bouncing ball, moved by the master.
pub fn coupled_ball() -> Model {
    let mut model = bouncing_ball();
    model.name = "coupled_ball".to_owned();
    model.nodes[0].coupling = Coupling::Kinetic(KINETIC);
    model
}

/// One body of each kind that a master moves, and one that it does not: balls above a table that moves and a wall
/// without mass that does.
pub fn all_couplings() -> Model {
    let mut model = coupled_ball();
    model.name = "all_couplings".to_owned();
    let round = Rotation {
        inertia: [0.02, 0.03, 0.04],
        orientation: [0.8, 0.0, 0.6, 0.0],
        angular_velocity: [0.1, 0.2, 0.3],
    };
    let link = Link { latency: Latency::Known(1), stiffness: 1e4, damping: 2.0, master_mass: 3.0 };
    let ball = model.nodes[0].clone();
    let node = |name: &str, coupling: Coupling, rotation: Option<Rotation>| {
        let name = name.to_owned();
        Node { name, coupling, rotation, ..ball.clone() }
    };
    model.nodes = vec![
        node("owned", Coupling::Owned, None),
        node("ball", Coupling::Kinetic(KINETIC), None),
        node("top", Coupling::Kinetic(KINETIC), Some(round)),
        node("again", Coupling::Iterative, Some(round)),
        node("tip", Coupling::Compliant(link), None),
    ];
    let frame = Frame { mass: 5.0, velocity: [0.0, 0.0, 0.5], rotation: round, coupling: KINETIC };
    let level = Rotation {
        inertia: [f64::INFINITY; 3],
        orientation: [1.0, 0.0, 0.0, 0.0],
        angular_velocity: [0.0; 3],
    };
    let prescribed = Frame { mass: f64::INFINITY, rotation: level, ..frame };
    let surface = |name: &str, normal: [f64; 3], position: [f64; 3], frame: Frame| Surface {
        name: name.to_owned(),
        shape: SurfaceShape::Plane { normal },
        position,
        orientation: [1.0, 0.0, 0.0, 0.0],
        motion: Motion::Input(frame),
    };
    let tilted = Frame { rotation: Rotation { inertia: [0.5, 0.6, 0.7], ..level }, ..frame };
    model.surfaces = vec![
        model.surfaces[0].clone(),
        surface("table", [0.0, 0.0, 1.0], [0.0, 0.0, 0.3], tilted),
        surface("wall", [1.0, 0.0, 0.0], [-2.0, 0.0, 0.0], prescribed),
    ];
    let contact = model.contacts[0].clone();
    let pairs = [(0, 0), (1, 0), (1, 1), (2, 1), (3, 0), (4, 2)];
    model.contacts = pairs
        .into_iter()
        .map(|(node, surface)| {
            let name = format!("{}_{}", model.nodes[node].name, model.surfaces[surface].name);
            let between = Between::Pair { node, other: Other::Surface(surface) };
            Contact { name, between, ..contact.clone() }
        })
        .collect();
    model
}

/// A ball far from everything, without gravity.
pub fn drifting_ball() -> Model {
    let mut model = bouncing_ball();
    model.name = "drifting_ball".to_owned();
    model.engine.gravity = [0.0; 3];
    model.surfaces.clear();
    model.contacts.clear();
    model
}

/// An extracted FMU as far as the library needs it.
pub struct Fmu {
    pub folder: TempDir,
    pub variables: Vec<Variable>,
}

impl Fmu {
    pub fn new(model: &Model) -> Fmu {
        Fmu::with_guid(model, GUID)
    }

    pub fn with_guid(model: &Model, guid: &str) -> Fmu {
        let folder = TempDir::with_prefix("fmu 100% ").unwrap();
        let resources = folder.path().join("resources");
        std::fs::create_dir(&resources).unwrap();
        std::fs::write(resources.join(packed::FILE_NAME), packed::write(model, guid)).unwrap();
        Fmu { folder, variables: variables::table(model) }
    }

    pub fn resources(&self) -> String {
        self.folder.path().join("resources").to_str().unwrap().to_owned()
    }

    pub fn reference(&self, name: &str) -> u32 {
        self.variables.iter().position(|variable| variable.name == name).expect(name) as u32
    }

    fn references(&self, wanted: impl Fn(&Variable) -> bool) -> Vec<u32> {
        (0..self.variables.len() as u32).filter(|&vr| wanted(&self.variables[vr as usize])).collect()
    }

    pub fn reals(&self) -> Vec<u32> {
        self.references(|variable| matches!(variable.kind, Kind::Real(_)))
    }

    pub fn integers(&self) -> Vec<u32> {
        self.references(|variable| variable.kind == Kind::Integer)
    }
}

#[derive(Clone, Debug)]
pub struct LogLine {
    pub instance: String,
    pub status: fmi2Status,
    pub category: String,
    pub message: String,
}

type Log = Mutex<Vec<LogLine>>;

unsafe extern "C" fn keep_line(
    environment: fmi2ComponentEnvironment,
    instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the environment that was given to fmi2Instantiate, and zero-terminated strings.
    let (log, [instance, category, message]) = unsafe {
        (
            &*environment.cast::<Log>(),
            [instance, category, message].map(|text| CStr::from_ptr(text).to_str().unwrap().to_owned()),
        )
    };
    log.lock().unwrap().push(LogLine { instance, status, category, message });
}

/// Callbacks that keep log lines in `log`.
pub fn callbacks(log: &Log) -> fmi2CallbackFunctions {
    type Fixed =
        unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);
    // SAFETY: the same named arguments, and none beyond them is ever passed.
    let logger = unsafe { std::mem::transmute::<Fixed, fmi2CallbackLogger>(keep_line) };
    fmi2CallbackFunctions {
        logger,
        allocateMemory: None,
        freeMemory: None,
        stepFinished: None,
        componentEnvironment: (&raw const *log).cast_mut().cast::<c_void>(),
    }
}

/// fmi2Instantiate with everything right except what is given; the log with it.
pub struct Instantiation<'a> {
    pub name: Option<&'a str>,
    pub kind: fmi2Type,
    pub guid: Option<&'a str>,
    pub location: Option<&'a str>,
    pub logging_on: bool,
}

impl Instantiation<'_> {
    pub fn run(&self) -> (fmi2Component, Box<Log>) {
        let log = Box::new(Log::default());
        let callbacks = callbacks(&log);
        let [name, guid, location] =
            [self.name, self.guid, self.location].map(|text| text.map(|text| CString::new(text).unwrap()));
        let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
        // SAFETY: pointers as the standard says; the log outlives the instance.
        let component = unsafe {
            fmi2Instantiate(
                pointer(&name),
                self.kind,
                pointer(&guid),
                pointer(&location),
                &callbacks,
                fmi2False,
                fmi2Boolean::from(self.logging_on),
            )
        };
        (component, log)
    }
}

/// One instance and its log. Freed when dropped.
pub struct Slave<'a> {
    pub component: fmi2Component,
    pub fmu: &'a Fmu,
    log: Box<Log>,
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        // SAFETY: from fmi2Instantiate, not used afterwards.
        unsafe { fmi2FreeInstance(self.component) };
    }
}

impl<'a> Slave<'a> {
    pub fn with_logging(fmu: &'a Fmu, guid: &str, logging_on: bool) -> Slave<'a> {
        Slave::of_kind(fmu, fmi2CoSimulation, guid, logging_on)
    }

    pub fn of_kind(fmu: &'a Fmu, kind: fmi2Type, guid: &str, logging_on: bool) -> Slave<'a> {
        let resources = fmu.resources();
        let (component, log) = Instantiation {
            name: Some("slave"),
            kind,
            guid: Some(guid),
            location: Some(&resources),
            logging_on,
        }
        .run();
        assert!(!component.is_null(), "{log:?}");
        Slave { component, fmu, log }
    }

    pub fn instantiated(fmu: &'a Fmu) -> Slave<'a> {
        Slave::with_logging(fmu, GUID, false)
    }

    pub fn initializing(fmu: &'a Fmu) -> Slave<'a> {
        let slave = Slave::instantiated(fmu);
        slave.set_up(0.0);
        slave
    }

    /// In step mode at time zero.
    pub fn started(fmu: &'a Fmu) -> Slave<'a> {
        let slave = Slave::initializing(fmu);
        assert_eq!(slave.exit_initialization(), fmi2OK);
        slave
    }

    /// For model exchange.
    pub fn block(fmu: &'a Fmu) -> Slave<'a> {
        Slave::of_kind(fmu, fmi2ModelExchange, GUID, false)
    }

    /// For model exchange, in its first event at time zero.
    pub fn block_at_event(fmu: &'a Fmu) -> Slave<'a> {
        let block = Slave::block(fmu);
        block.set_up(0.0);
        assert_eq!(block.exit_initialization(), fmi2OK);
        block
    }

    /// For model exchange, after its first event at time zero.
    pub fn block_started(fmu: &'a Fmu) -> Slave<'a> {
        let block = Slave::block_at_event(fmu);
        assert_eq!(block.new_discrete_states().0, fmi2OK);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        block
    }

    pub fn enter_event_mode(&self) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2EnterEventMode(self.component) }
    }

    pub fn new_discrete_states(&self) -> (fmi2Status, fmi2EventInfo) {
        let mut info = fmi2EventInfo {
            newDiscreteStatesNeeded: 7,
            terminateSimulation: 7,
            nominalsOfContinuousStatesChanged: 7,
            valuesOfContinuousStatesChanged: 7,
            nextEventTimeDefined: 7,
            nextEventTime: f64::NAN,
        };
        // SAFETY: a live instance and room for the answer.
        (unsafe { fmi2NewDiscreteStates(self.component, &mut info) }, info)
    }

    pub fn enter_continuous_time_mode(&self) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2EnterContinuousTimeMode(self.component) }
    }

    pub fn set_time(&self, time: f64) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2SetTime(self.component, time) }
    }

    /// An event at `time`, from continuous-time mode and back. Returns the time of the next one.
    pub fn event(&self, time: f64) -> f64 {
        assert_eq!(self.set_time(time), fmi2OK, "{:?}", self.log());
        assert_eq!(self.enter_event_mode(), fmi2OK, "{:?}", self.log());
        let (status, info) = self.new_discrete_states();
        assert_eq!(status, fmi2OK, "{:?}", self.log());
        assert_eq!(self.enter_continuous_time_mode(), fmi2OK);
        info.nextEventTime
    }

    /// From instantiated to initialization mode.
    pub fn set_up(&self, start: f64) {
        assert_eq!(self.setup_experiment(start, None), fmi2OK);
        // SAFETY: a live instance.
        assert_eq!(unsafe { fmi2EnterInitializationMode(self.component) }, fmi2OK);
    }

    pub fn setup_experiment(&self, start: f64, stop: Option<f64>) -> fmi2Status {
        let (defined, stop) = stop.map_or((fmi2False, 0.0), |stop| (fmi2True, stop));
        // SAFETY: a live instance.
        unsafe { fmi2SetupExperiment(self.component, fmi2False, 0.0, start, defined, stop) }
    }

    pub fn exit_initialization(&self) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2ExitInitializationMode(self.component) }
    }

    pub fn terminate(&self) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2Terminate(self.component) }
    }

    pub fn reset(&self) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2Reset(self.component) }
    }

    pub fn step(&self, point: f64, step: f64) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2DoStep(self.component, point, step, fmi2True) }
    }

    /// Steps of equal length from time zero, points computed by multiplication.
    pub fn steps(&self, range: std::ops::Range<u32>, step: f64) {
        for k in range {
            assert_eq!(self.step(f64::from(k) * step, step), fmi2OK, "{:?}", self.log());
        }
    }

    pub fn set_references(&self, references: &[u32], values: &[f64]) -> fmi2Status {
        assert_eq!(references.len(), values.len());
        // SAFETY: arrays of the same length.
        unsafe { fmi2SetReal(self.component, references.as_ptr(), references.len(), values.as_ptr()) }
    }

    pub fn set(&self, name: &str, value: f64) -> fmi2Status {
        self.set_references(&[self.fmu.reference(name)], &[value])
    }

    pub fn get_references(&self, references: &[u32]) -> (fmi2Status, Vec<f64>) {
        let mut values = vec![f64::NAN; references.len()];
        // SAFETY: arrays of the same length.
        let status = unsafe {
            fmi2GetReal(self.component, references.as_ptr(), references.len(), values.as_mut_ptr())
        };
        (status, values)
    }

    pub fn get(&self, name: &str) -> f64 {
        let (status, values) = self.get_references(&[self.fmu.reference(name)]);
        assert_eq!(status, fmi2OK);
        values[0]
    }

    pub fn set_input_derivative(&self, name: &str, order: i32, value: f64) -> fmi2Status {
        // SAFETY: arrays of one entry.
        unsafe { fmi2SetRealInputDerivatives(self.component, &self.fmu.reference(name), 1, &order, &value) }
    }

    pub fn directional(&self, unknowns: &[u32], knowns: &[u32], seeds: &[f64]) -> (fmi2Status, Vec<f64>) {
        assert_eq!(knowns.len(), seeds.len());
        let mut sensitivities = vec![f64::NAN; unknowns.len()];
        // SAFETY: arrays of the lengths given.
        let status = unsafe {
            fmi2GetDirectionalDerivative(
                self.component,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seeds.as_ptr(),
                sensitivities.as_mut_ptr(),
            )
        };
        (status, sensitivities)
    }

    /// Every variable, bit by bit.
    pub fn bits(&self) -> Vec<u64> {
        let (status, reals) = self.get_references(&self.fmu.reals());
        assert_eq!(status, fmi2OK);
        let references = self.fmu.integers();
        let mut integers = vec![0; references.len()];
        // SAFETY: arrays of the same length.
        let status = unsafe {
            fmi2GetInteger(self.component, references.as_ptr(), references.len(), integers.as_mut_ptr())
        };
        assert_eq!(status, fmi2OK);
        reals.into_iter().map(f64::to_bits).chain(integers.into_iter().map(|value| value as u64)).collect()
    }

    /// Log lines since the last call.
    pub fn log(&self) -> Vec<LogLine> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// The one log line since the last call, which has the given status and contains the given texts.
    pub fn expect_log(&self, status: fmi2Status, texts: &[&str]) {
        let lines = self.log();
        assert_eq!(lines.len(), 1, "{lines:?}");
        let category = match status {
            fmi2Warning => "logStatusWarning",
            fmi2Discard => "logStatusDiscard",
            _ => "logStatusError",
        };
        assert_eq!((lines[0].status, lines[0].category.as_str()), (status, category));
        for text in texts {
            assert!(lines[0].message.contains(text), "{text} is not in: {}", lines[0].message);
        }
    }

    pub fn save(&self) -> fmi2FMUstate {
        let mut state = null_mut();
        // SAFETY: a live instance and a place for the pointer.
        assert_eq!(unsafe { fmi2GetFMUstate(self.component, &mut state) }, fmi2OK);
        state
    }

    pub fn restore(&self, state: fmi2FMUstate) -> fmi2Status {
        // SAFETY: a live instance.
        unsafe { fmi2SetFMUstate(self.component, state) }
    }

    pub fn free_state(&self, mut state: fmi2FMUstate) {
        // SAFETY: a live instance and a saved state.
        assert_eq!(unsafe { fmi2FreeFMUstate(self.component, &mut state) }, fmi2OK);
        assert!(state.is_null());
    }

    pub fn serialize(&self, state: fmi2FMUstate) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: a live instance and a saved state.
        assert_eq!(unsafe { fmi2SerializedFMUstateSize(self.component, state, &mut size) }, fmi2OK);
        let mut bytes = vec![0u8; size];
        // SAFETY: room for `size` bytes.
        let status = unsafe { fmi2SerializeFMUstate(self.component, state, bytes.as_mut_ptr().cast(), size) };
        assert_eq!(status, fmi2OK);
        bytes
    }

    pub fn deserialize(&self, bytes: &[u8]) -> (fmi2Status, fmi2FMUstate) {
        let mut state = null_mut();
        // SAFETY: as many bytes as said.
        let status = unsafe {
            fmi2DeSerializeFMUstate(self.component, bytes.as_ptr().cast(), bytes.len(), &mut state)
        };
        (status, state)
    }

    /// All that a saved state of this instance holds.
    pub fn saved_bytes(&self) -> Vec<u8> {
        let state = self.save();
        let bytes = self.serialize(state);
        self.free_state(state);
        bytes
    }

    pub fn restore_bytes(&self, bytes: &[u8]) {
        let (status, state) = self.deserialize(bytes);
        assert_eq!(status, fmi2OK);
        assert_eq!(self.restore(state), fmi2OK);
        self.free_state(state);
    }

    /// Brings the instance into the mode that an internal error leaves behind: through a serialized state whose
    /// first payload byte, the mode, is overwritten.
    pub fn fail(&self) {
        const CHECKSUM: usize = 8 + 4 + 38 + 8;
        const PAYLOAD: usize = CHECKSUM + 4;
        const FAILED: u8 = 4;
        let mut bytes = self.saved_bytes();
        bytes[PAYLOAD] = FAILED;
        let checksum = crc32fast::hash(&bytes[PAYLOAD..]);
        bytes[CHECKSUM..PAYLOAD].copy_from_slice(&checksum.to_le_bytes());
        self.restore_bytes(&bytes);
    }
}
