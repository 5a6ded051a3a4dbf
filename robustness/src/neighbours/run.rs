//! Runs a scene: the FMU and its master, and what both were at every communication point.

use super::body::Body;
use super::port::{Linked, Packed, Port, Resources};
use super::scene::*;
use super::text;
use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::master::extract::FmuFile;
use contact_fmu::master::library::Library;
use contact_fmu::model::file::{self, SourceModel};
use contact_fmu::model::{self, Model};
use contact_fmu::package;
use contact_fmu::variables::{self, Kind, Slot};
use std::io::Write;

/// What is known at a communication point.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Time.
    pub time: f64,
    /// The step before ended with a warning.
    pub warned: bool,
    /// What was logged in it.
    pub lines: Vec<String>,
    /// Nodes; where the mass that touches is the FMU's, that mass.
    pub nodes: Vec<Pose>,
    /// Contact force and torque on each.
    pub forces: Vec<[Vector; 2]>,
    /// Surfaces.
    pub surfaces: Vec<Pose>,
    /// Contacts of the model, patterns expanded.
    pub contacts: Vec<Touch>,
    /// Forces of joints on their second ends.
    pub joints: Vec<Vector>,
    /// Angles of joints about their axes, with whole turns.
    pub angles: Vec<f64>,
    /// Solver iterations, internal steps.
    pub counts: [i32; 2],
    /// Books of the engine.
    pub books: Books,
}

/// Outputs of a contact.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "named as the variables")]
pub struct Touch {
    pub gap: f64,
    pub f_n: f64,
    pub f_t: Vector,
    pub impulse: f64,
    pub slip: f64,
    pub state: i32,
}

/// Outputs of the engine.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "named as the variables")]
pub struct Books {
    pub residual: f64,
    pub penetration: f64,
    pub kinetic: f64,
    pub potential: f64,
    pub energy: f64,
    pub dissipated: f64,
    pub by_impact: f64,
    pub by_friction: f64,
    pub by_damping: f64,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The start and every step after it.
    pub frames: Vec<Frame>,
    /// All outputs of all steps as bits.
    pub bits: Vec<Vec<u64>>,
    /// Why it ended early.
    pub fault: Option<String>,
}

/// What is done to a run besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Time of the start.
    pub start: f64,
    /// Saves before this step, makes some steps, goes back and goes on.
    pub restore_at: Option<usize>,
    /// Goes on from there in a new instance.
    pub elsewhere: bool,
    /// Through a whole FMU and its packed library.
    pub packed: bool,
}

/// The model of a scene; the message of the check where it is not legal.
pub fn model(scene: &Scene) -> Result<Model, String> {
    let origin = format!("{}/neighbour.toml", super::distance::FOLDER);
    file::parse(&text::write(scene), &origin).map_err(|error| error.to_string())
}

/// The scene with its copies as nodes of their own.
pub fn expanded(scene: &Scene, model: &Model) -> Scene {
    if scene.nodes.iter().all(|node| node.copies.is_none()) {
        return scene.clone();
    }
    let mut nodes = Vec::new();
    for node in &scene.nodes {
        let Some(copies) = &node.copies else {
            nodes.push(node.clone());
            continue;
        };
        for index in 1..=copies.count.iter().product::<u32>() {
            let mut copy = Node { name: format!("{}_{index}", node.name), copies: None, ..node.clone() };
            let built = model.nodes.iter().find(|built| built.name == copy.name).expect("a copy");
            copy.state.r = built.position.into();
            nodes.push(copy);
        }
    }
    Scene { nodes, ..scene.clone() }
}

/// Runs a scene without copies.
pub fn run(scene: &Scene, way: &Way) -> Result<Trace, String> {
    let model = model(scene)?;
    Ok(run_model(scene, &model, way))
}

/// Runs a scene whose model is known.
pub fn run_model(scene: &Scene, model: &Model, way: &Way) -> Trace {
    let attempt = || -> Result<Trace, String> {
        if way.packed {
            let source = SourceModel { model: model.clone(), source: text::write(scene) };
            let bytes = package::build(&source, FmiVersion::Two, &[]).map_err(|error| error.to_string())?;
            let mut file = tempfile::NamedTempFile::with_suffix(".fmu").expect("a file");
            file.write_all(&bytes).expect("the FMU is written");
            let fmu = FmuFile::open(file.path())
                .and_then(|file| file.extract())
                .map_err(|error| error.to_string())?;
            let library = Library::load(&fmu).map_err(|error| error.to_string())?;
            Ok(Run::new(scene, model).all(way, &mut || Packed::new(&library, &fmu)))
        } else {
            let resources = Resources::of(model);
            Ok(Run::new(scene, model).all(way, &mut || Linked::new(&resources)))
        }
    };
    attempt().unwrap_or_else(|fault| Trace { frames: Vec::new(), bits: Vec::new(), fault: Some(fault) })
}

/// Value references by what they are.
#[derive(Default)]
struct References {
    reals: Vec<(u32, Place)>,
    integers: Vec<(u32, Place)>,
    /// Inputs of bodies of the master, by coupling: r, v, q, w.
    given: Vec<Vec<(u32, Given)>>,
    /// Forces that the master applied, of iterative nodes.
    applied: Vec<Vec<(u32, usize)>>,
    /// External force on a node.
    external: Vec<(u32, usize, usize)>,
    /// Inputs of motors, by joint.
    drives: Vec<(u32, usize)>,
}

#[derive(Clone, Copy)]
enum Given {
    R(usize),
    V(usize),
    Q(usize),
    W(usize),
}

/// Where an output goes.
#[derive(Clone, Copy)]
enum Place {
    R(usize, usize),
    V(usize, usize),
    Q(usize, usize),
    W(usize, usize),
    Force(usize, usize),
    Torque(usize, usize),
    CouplingForce(usize, usize),
    CouplingTorque(usize, usize),
    Gap(usize),
    NormalForce(usize),
    Friction(usize, usize),
    Impulse(usize),
    Slip(usize),
    State(usize),
    Joint(usize, usize),
    Angle(usize),
    Book(fn(&mut Books) -> &mut f64),
    Iterations,
    Substeps,
    Other,
}

impl References {
    fn of(model: &Model) -> References {
        let table = variables::table(model);
        let mut references = References::default();
        let bodies = model.body_names().count();
        references.given = (0..bodies).map(|_| Vec::new()).collect();
        references.applied = (0..bodies).map(|_| Vec::new()).collect();
        for (vr, variable) in (0_u32..).zip(&table) {
            use Slot as S;
            let place = match variable.slot {
                S::NodePosition { node, axis } => Place::R(node, axis),
                S::NodeVelocity { node, axis } => Place::V(node, axis),
                S::NodeOrientation { node, component, .. } => Place::Q(node, component),
                S::NodeAngularVelocity { node, axis, .. } => Place::W(node, axis),
                S::NodeForce { node, axis } => Place::Force(node, axis),
                S::NodeTorque { node, axis, .. } => Place::Torque(node, axis),
                S::CouplingForce { coupling, axis } => Place::CouplingForce(coupling, axis),
                S::CouplingTorque { coupling, axis } => Place::CouplingTorque(coupling, axis),
                S::ContactGap { contact } => Place::Gap(contact),
                S::ContactNormalForce { contact } => Place::NormalForce(contact),
                S::ContactTangentialForce { contact, axis } => Place::Friction(contact, axis),
                S::ContactImpulse { contact } => Place::Impulse(contact),
                S::ContactSlip { contact } => Place::Slip(contact),
                S::ContactState { contact } => Place::State(contact),
                S::JointForce { joint, axis } => Place::Joint(joint, axis),
                S::JointAngle { joint } => Place::Angle(joint),
                S::Iterations => Place::Iterations,
                S::Substeps => Place::Substeps,
                S::Residual => Place::Book(|books| &mut books.residual),
                S::Penetration => Place::Book(|books| &mut books.penetration),
                S::KineticEnergy => Place::Book(|books| &mut books.kinetic),
                S::PotentialEnergy => Place::Book(|books| &mut books.potential),
                S::Energy => Place::Book(|books| &mut books.energy),
                S::Dissipated => Place::Book(|books| &mut books.dissipated),
                S::DissipatedByImpact => Place::Book(|books| &mut books.by_impact),
                S::DissipatedByFriction => Place::Book(|books| &mut books.by_friction),
                S::DissipatedByDamping => Place::Book(|books| &mut books.by_damping),
                _ => Place::Other,
            };
            match variable.slot {
                S::GivenPosition { coupling, axis } => references.given[coupling].push((vr, Given::R(axis))),
                S::GivenVelocity { coupling, axis } => references.given[coupling].push((vr, Given::V(axis))),
                S::GivenOrientation { coupling, component } => {
                    references.given[coupling].push((vr, Given::Q(component)));
                }
                S::GivenAngularVelocity { coupling, axis } => {
                    references.given[coupling].push((vr, Given::W(axis)));
                }
                S::AppliedForce { coupling, axis } => references.applied[coupling].push((vr, axis)),
                S::AppliedTorque { coupling, axis } => references.applied[coupling].push((vr, 3 + axis)),
                S::ExternalForce { node, axis } => references.external.push((vr, node, axis)),
                S::JointDrive { joint, .. } => references.drives.push((vr, joint)),
                _ => {}
            }
            match variable.kind {
                Kind::Real(_) => references.reals.push((vr, place)),
                Kind::Integer => references.integers.push((vr, place)),
                Kind::Clock => unreachable!("FMI 2.0 has no clocks"),
            }
        }
        references
    }
}

/// A body of the master, and which it is.
#[derive(Clone)]
struct Coupled {
    body: Body,
    /// A node, or else a surface.
    node: Option<usize>,
    surface: Option<usize>,
    is_iterative: bool,
    /// Held force and torque.
    held: [Vector; 2],
}

/// A run on its way.
struct Run<'a> {
    scene: &'a Scene,
    references: References,
    coupled: Vec<Coupled>,
    contacts: usize,
    joints: usize,
}

impl<'a> Run<'a> {
    fn new(scene: &'a Scene, model: &Model) -> Run<'a> {
        let mut coupled = Vec::new();
        let held = [Vector::zeros(); 2];
        for (index, node) in scene.nodes.iter().enumerate() {
            let mass = match node.coupling {
                Coupling::Owned => continue,
                Coupling::Compliant { master_mass, .. } => master_mass,
                Coupling::Kinetic { .. } | Coupling::Iterative => node.mass,
            };
            let body = Body { mass, inertia: node.inertia, pose: node.state };
            let is_iterative = node.coupling == Coupling::Iterative;
            coupled.push(Coupled { body, node: Some(index), surface: None, is_iterative, held });
        }
        for (index, surface) in scene.surfaces.iter().enumerate() {
            let Motion::Input { inertia } = surface.motion else { continue };
            let (mass, moments) = inertia.unwrap_or((f64::INFINITY, [f64::INFINITY; 3]));
            let body = Body { mass, inertia: Some(moments), pose: surface.state };
            coupled.push(Coupled { body, node: None, surface: Some(index), is_iterative: false, held });
        }
        Run {
            scene,
            references: References::of(model),
            coupled,
            contacts: model.contacts.len(),
            joints: model.joints.len(),
        }
    }

    /// Gravity and what the master pushes with, as an acceleration.
    fn acceleration(&self, coupled: &Coupled) -> Vector {
        match coupled.node {
            None => Vector::zeros(),
            Some(node) => self.scene.gravity + self.scene.nodes[node].push / coupled.body.mass,
        }
    }

    fn give(&self, port: &mut dyn Port, index: usize, pose: &Pose) -> Result<(), String> {
        let given = &self.references.given[index];
        let references: Vec<u32> = given.iter().map(|(vr, _)| *vr).collect();
        let values: Vec<f64> = given
            .iter()
            .map(|(_, what)| match *what {
                Given::R(axis) => pose.r[axis],
                Given::V(axis) => pose.v[axis],
                Given::Q(component) => [pose.q.w, pose.q.i, pose.q.j, pose.q.k][component],
                Given::W(axis) => pose.w[axis],
            })
            .collect();
        port.set(&references, &values).map(drop)
    }

    fn all<P: Port>(mut self, way: &Way, make: &mut dyn FnMut() -> Result<P, String>) -> Trace {
        let mut trace = Trace { frames: Vec::new(), bits: Vec::new(), fault: None };
        if let Err(fault) = self.steps(way, make, &mut trace) {
            trace.fault = Some(format!("step {}: {fault}", trace.frames.len()));
        }
        trace
    }

    fn steps<P: Port>(
        &mut self,
        way: &Way,
        make: &mut dyn FnMut() -> Result<P, String>,
        trace: &mut Trace,
    ) -> Result<(), String> {
        let initial = self.coupled.clone();
        let mut port = self.started(way.start, make)?;
        trace.frames.push(self.frame(&mut port, way.start, false, &mut trace.bits)?);
        let mut step = 0;
        let mut restore_at = way.restore_at;
        while step < self.scene.steps {
            if restore_at == Some(step) {
                restore_at = None;
                let saved = port.saved()?;
                let coupled = self.coupled.clone();
                // Whatever is done meanwhile must not matter.
                for ahead in step..(step + 3).min(self.scene.steps) {
                    self.one(&mut port, way.start, ahead)?;
                }
                if way.elsewhere {
                    self.coupled = initial.clone();
                    port = self.started(way.start, make)?;
                }
                port.restore(&saved)?;
                self.coupled = coupled;
            }
            let warned = self.one(&mut port, way.start, step)?;
            step += 1;
            let time = way.start + step as f64 * self.scene.step;
            trace.frames.push(self.frame(&mut port, time, warned, &mut trace.bits)?);
        }
        Ok(())
    }

    fn started<P: Port>(
        &mut self,
        start: f64,
        make: &mut dyn FnMut() -> Result<P, String>,
    ) -> Result<P, String> {
        let mut port = make()?;
        port.initialize(start)?;
        for index in 0..self.coupled.len() {
            let pose = self.coupled[index].body.pose;
            self.give(&mut port, index, &pose)?;
        }
        self.push(&mut port)?;
        self.drive(&mut port, 0.0)?;
        self.take_forces(&mut port)?;
        port.start()?;
        Ok(port)
    }

    fn push(&self, port: &mut dyn Port) -> Result<(), String> {
        for &(vr, node, axis) in &self.references.external {
            let push = self.scene.nodes[node].push;
            if push != Vector::zeros() && self.scene.nodes[node].coupling == Coupling::Owned {
                port.set(&[vr], &[push[axis]])?;
            }
        }
        Ok(())
    }

    fn drive(&self, port: &mut dyn Port, time: f64) -> Result<(), String> {
        for &(vr, joint) in &self.references.drives {
            let Some(Drive { is_position, profile: Profile::Input(value) }) = &self.scene.joints[joint].drive
            else {
                continue;
            };
            port.set(&[vr], &[if *is_position { value * time } else { *value }])?;
        }
        Ok(())
    }

    /// Takes the forces that the master is to hold.
    fn take_forces(&mut self, port: &mut dyn Port) -> Result<(), String> {
        for &(vr, place) in &self.references.reals {
            let (index, row, axis) = match place {
                Place::CouplingForce(index, axis) => (index, 0, axis),
                Place::CouplingTorque(index, axis) => (index, 1, axis),
                _ => continue,
            };
            let mut value = [0.0];
            port.reals(&[vr], &mut value)?;
            self.coupled[index].held[row][axis] = value[0];
        }
        Ok(())
    }

    /// One communication step of the FMU and of the master.
    fn one(&mut self, port: &mut dyn Port, start: f64, step: usize) -> Result<bool, String> {
        let time = start + step as f64 * self.scene.step;
        self.drive(port, step as f64 * self.scene.step)?;
        if self.coupled.iter().any(|coupled| coupled.is_iterative) {
            return self.iterated(port, time);
        }
        for index in 0..self.coupled.len() {
            let pose = self.coupled[index].body.pose;
            self.give(port, index, &pose)?;
        }
        let before: Vec<[Vector; 2]> = self.coupled.iter().map(|coupled| coupled.held).collect();
        let warned = port.step(time, self.scene.step)?;
        self.take_forces(port)?;
        for (index, late) in before.into_iter().enumerate() {
            let acceleration = self.acceleration(&self.coupled[index]);
            let coupled = &mut self.coupled[index];
            let [force, torque] = match self.scene.exchange {
                Exchange::Sequential => coupled.held,
                Exchange::Parallel => late,
            };
            coupled.body.advance(self.scene.step, &acceleration, &force, &torque);
        }
        Ok(warned)
    }

    /// Repeats the step until the forces are those that were applied; surfaces and other couplings go along in
    /// sequential order.
    fn iterated(&mut self, port: &mut dyn Port, time: f64) -> Result<bool, String> {
        const MOST: usize = 60;
        const TOLERANCE: f64 = 1e-9;
        let start = port.saved()?;
        let before = self.coupled.clone();
        for count in 1.. {
            let mut ends = before.clone();
            for (index, end) in ends.iter_mut().enumerate() {
                end.held = self.coupled[index].held;
                let acceleration = self.acceleration(end);
                let [force, torque] = end.held;
                end.body.advance(self.scene.step, &acceleration, &force, &torque);
            }
            port.restore(&start)?;
            for index in 0..ends.len() {
                let pose =
                    if ends[index].is_iterative { ends[index].body.pose } else { before[index].body.pose };
                self.give(port, index, &pose)?;
                for &(vr, axis) in &self.references.applied[index] {
                    port.set(&[vr], &[ends[index].held[axis / 3][axis % 3]])?;
                }
            }
            let warned = port.step(time, self.scene.step)?;
            self.take_forces(port)?;
            let is_same = ends.iter().zip(&self.coupled).all(|(was, is)| {
                let [weight, lever] =
                    [was.body.mass * self.scene.units.speed() / self.scene.step, self.scene.units.length];
                let off = (was.held[0] - is.held[0]).norm() + (was.held[1] - is.held[1]).norm() / lever;
                !was.body.mass.is_finite() || off <= TOLERANCE * (weight + was.held[0].norm())
            });
            if is_same || count == MOST {
                self.coupled = ends;
                return if is_same { Ok(warned) } else { Err(NOT_AGREED.to_owned()) };
            }
        }
        unreachable!("the loop returns")
    }

    fn frame(
        &self,
        port: &mut dyn Port,
        time: f64,
        warned: bool,
        bits: &mut Vec<Vec<u64>>,
    ) -> Result<Frame, String> {
        let references: Vec<u32> = self.references.reals.iter().map(|(vr, _)| *vr).collect();
        let mut values = vec![0.0; references.len()];
        port.reals(&references, &mut values)?;
        let integers: Vec<u32> = self.references.integers.iter().map(|(vr, _)| *vr).collect();
        let mut counts = vec![0; integers.len()];
        port.integers(&integers, &mut counts)?;
        let states = self.scene.nodes.iter().map(|node| node.state);
        let mut frame = Frame {
            time,
            warned,
            lines: port.lines(),
            nodes: states.collect(),
            forces: vec![[Vector::zeros(); 2]; self.scene.nodes.len()],
            surfaces: self.scene.surfaces.iter().map(|surface| surface.state).collect(),
            contacts: vec![Touch::default(); self.contacts],
            joints: vec![Vector::zeros(); self.joints],
            angles: vec![0.0; self.joints],
            counts: [0; 2],
            books: Books::default(),
        };
        for coupled in &self.coupled {
            if let Some(node) = coupled.node {
                frame.nodes[node] = coupled.body.pose;
                frame.forces[node] = coupled.held;
            }
            if let Some(surface) = coupled.surface {
                frame.surfaces[surface] = coupled.body.pose;
            }
        }
        let mut turns: Vec<[f64; 4]> =
            frame.nodes.iter().map(|node| [node.q.w, node.q.i, node.q.j, node.q.k]).collect();
        let mut row = Vec::with_capacity(values.len() + counts.len());
        for (&value, &(vr, place)) in values.iter().zip(&self.references.reals) {
            if !value.is_finite() {
                return Err(format!("variable {vr} is {value}"));
            }
            match place {
                Place::R(node, axis) => frame.nodes[node].r[axis] = value,
                Place::V(node, axis) => frame.nodes[node].v[axis] = value,
                Place::Q(node, component) => turns[node][component] = value,
                Place::W(node, axis) => frame.nodes[node].w[axis] = value,
                Place::Force(node, axis) => frame.forces[node][0][axis] = value,
                Place::Torque(node, axis) => frame.forces[node][1][axis] = value,
                Place::Gap(contact) => frame.contacts[contact].gap = value,
                Place::NormalForce(contact) => frame.contacts[contact].f_n = value,
                Place::Friction(contact, axis) => frame.contacts[contact].f_t[axis] = value,
                Place::Impulse(contact) => frame.contacts[contact].impulse = value,
                Place::Slip(contact) => frame.contacts[contact].slip = value,
                Place::Joint(joint, axis) => frame.joints[joint][axis] = value,
                Place::Angle(joint) => frame.angles[joint] = value,
                Place::Book(book) => *book(&mut frame.books) = value,
                _ => {}
            }
            if vr != TIME {
                row.push(value.to_bits());
            }
        }
        for (&value, &(_, place)) in counts.iter().zip(&self.references.integers) {
            match place {
                Place::State(contact) => frame.contacts[contact].state = value,
                Place::Iterations => frame.counts[0] = value,
                Place::Substeps => frame.counts[1] = value,
                _ => {}
            }
            row.push(value as u64);
        }
        for (node, [w, x, y, z]) in frame.nodes.iter_mut().zip(turns) {
            node.q = Turn::new_unchecked(nalgebra::Quaternion::new(w, x, y, z));
        }
        bits.push(row);
        Ok(frame)
    }
}

/// Value reference of the time.
const TIME: u32 = 0;

/// What is told where an iterating master found no force that agrees with its state.
pub const NOT_AGREED: &str = "repeated steps do not agree";

/// Names of the contacts of a model and between whom they are.
pub fn contact_pairs(model: &Model) -> Vec<Option<[String; 2]>> {
    model
        .contacts
        .iter()
        .map(|contact| match &contact.between {
            model::Between::Pair { node, other } => {
                Some([model.nodes[*node].name.clone(), model.name_of(*other).to_owned()])
            }
            model::Between::Group(_) => None,
        })
        .collect()
}
