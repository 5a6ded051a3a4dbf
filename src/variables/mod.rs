//! THE table of FMU variables: `modelDescription.xml` and get/set both read it, nothing else names a variable.
//!
//! The value reference of a variable is its position in the table. FMI 3.0 adds the rows of `events` at its end, and takes
//! the components of a vector together (`arrays`); their value reference is that of the first.

mod access;
mod arrays;
mod events;
mod input_derivatives;
mod units;

pub use access::{get_integer, get_real, impact_impulse, set_real};
pub use arrays::{Array, arrays, singles};
pub use events::table_with_events;
pub use input_derivatives::{clear_input_derivatives, set_input_derivative};
pub use units::{BaseUnit, Unit};

use crate::engine::{CouplingMode, Response, State, System};
use crate::model::pattern::fits;
use crate::model::stops::{Bounded, Stops};
use crate::model::{Anchor, Between, Contact, Drive, Joint, JointKind, Model, Motor, Profile};
use access::UNKNOWN_LATENCY;

/// One scalar variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Structured name, indices from 1.
    pub name: String,
    /// One sentence for the reader.
    pub description: String,
    /// What the variable stands for in the engine.
    pub slot: Slot,
    /// Type and, for reals, unit.
    pub kind: Kind,
    /// FMI causality.
    pub causality: Causality,
    /// FMI variability.
    pub variability: Variability,
    /// FMI initial; inputs and the independent variable have none.
    pub initial: Option<Initial>,
    /// Value at instantiation where the standard wants one.
    pub start: Option<f64>,
    /// Smallest and largest allowed value.
    pub range: Range,
    /// Which inputs of the step an output depends on.
    pub depends_on: Dependence,
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Real with unit.
    Real(Unit),
    /// Integer.
    Integer,
    /// Clock of FMI 3.0 that the FMU triggers.
    Clock,
}

/// FMI causality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Time.
    Independent,
    /// Set before initialization, or between steps when tunable.
    Parameter,
    /// Set by the master before each step.
    Input,
    /// Read by the master after each step.
    Output,
}

/// FMI variability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variability {
    /// Constant after initialization.
    Fixed,
    /// May change between steps.
    Tunable,
    /// Jumps at communication points only: a master must hold it.
    Discrete,
    /// Continuous in time.
    Continuous,
}

/// FMI initial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Given by its start value.
    Exact,
    /// Computed during initialization.
    Calculated,
}

/// Allowed values. Absent bounds do not bind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub min: Option<f64>,
    /// Whether `min` itself is excluded.
    pub above_min: bool,
    /// Largest value.
    pub max: Option<f64>,
}

/// Which inputs of the step an output depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// None.
    Nothing,
    /// The inputs of the bodies of one island.
    Island(usize),
    /// All inputs.
    Everything,
}

/// What a variable stands for in the engine. `axis` is 0, 1, 2; `component` is 0 to 3; `rotation` is the index among
/// the nodes that rotate; `coupling` is the index among the bodies that a master moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it, and the table holds the description of each")]
pub enum Slot {
    Time,
    NodePosition {
        node: usize,
        axis: usize,
    },
    NodeVelocity {
        node: usize,
        axis: usize,
    },
    NodeOrientation {
        node: usize,
        rotation: usize,
        component: usize,
    },
    NodeAngularVelocity {
        node: usize,
        rotation: usize,
        axis: usize,
    },
    ExternalForce {
        node: usize,
        axis: usize,
    },
    ExternalTorque {
        node: usize,
        rotation: usize,
        axis: usize,
    },
    NodeForce {
        node: usize,
        axis: usize,
    },
    NodeTorque {
        node: usize,
        rotation: usize,
        axis: usize,
    },
    NodeMass {
        node: usize,
    },
    GivenPosition {
        coupling: usize,
        axis: usize,
    },
    GivenVelocity {
        coupling: usize,
        axis: usize,
    },
    GivenOrientation {
        coupling: usize,
        component: usize,
    },
    GivenAngularVelocity {
        coupling: usize,
        axis: usize,
    },
    AppliedForce {
        coupling: usize,
        axis: usize,
    },
    AppliedTorque {
        coupling: usize,
        axis: usize,
    },
    /// Number of the inverse mass of all points of mechanisms.
    GivenInverseMass {
        row: usize,
        column: usize,
    },
    CouplingForce {
        coupling: usize,
        axis: usize,
    },
    CouplingTorque {
        coupling: usize,
        axis: usize,
    },
    CouplingLatency {
        coupling: usize,
    },
    AdaptedMass {
        coupling: usize,
    },
    EnergyExcess {
        coupling: usize,
    },
    ResponseError {
        coupling: usize,
    },
    CouplingShaping {
        coupling: usize,
    },
    /// `NODE.effective_mass`
    EffectiveMass {
        coupling: usize,
    },
    /// `NODE.condition`
    MechanismCondition {
        coupling: usize,
    },
    ContactGap {
        contact: usize,
    },
    ContactNormalForce {
        contact: usize,
    },
    ContactTangentialForce {
        contact: usize,
        axis: usize,
    },
    ContactImpulse {
        contact: usize,
    },
    ContactSlip {
        contact: usize,
    },
    ContactState {
        contact: usize,
    },
    ContactRestitution {
        contact: usize,
    },
    ContactMu {
        contact: usize,
    },
    SpringStiffness {
        spring: usize,
    },
    SpringDamping {
        spring: usize,
    },
    SpringTension {
        spring: usize,
    },
    SpringLength {
        spring: usize,
    },
    JointForce {
        joint: usize,
        axis: usize,
    },
    JointTorque {
        joint: usize,
        axis: usize,
    },
    JointFrictionState {
        joint: usize,
    },
    JointAngle {
        joint: usize,
    },
    JointRate {
        joint: usize,
    },
    JointDistance {
        joint: usize,
    },
    JointSpeed {
        joint: usize,
    },
    JointDrive {
        joint: usize,
        drive: usize,
    },
    JointLimitForce {
        stops: Stops,
    },
    JointLimitState {
        stops: Stops,
    },
    JointRestitution {
        stops: Stops,
    },
    Iterations,
    Residual,
    Penetration,
    KineticEnergy,
    PotentialEnergy,
    Energy,
    Dissipated,
    DissipatedByImpact,
    DissipatedByFriction,
    DissipatedByDamping,
    Substeps,
    /// `engine.captured`
    Captured,
    Gravity {
        axis: usize,
    },
    EngineStep,
    EngineSample,
    /// The clock of a contact that ticks at impacts.
    ImpactClock {
        contact: usize,
    },
    /// Normal impulse of the last impact, and its time.
    ImpactImpulse {
        contact: usize,
    },
    ImpactTime {
        contact: usize,
    },
    /// Impulse of an impact for the master to apply, and its moment about the centre.
    CouplingImpulse {
        coupling: usize,
        axis: usize,
    },
    CouplingAngularImpulse {
        coupling: usize,
        axis: usize,
    },
}

impl Slot {
    /// Whether it is one of a few states that have names: open, stick, slip.
    pub fn is_contact_state(self) -> bool {
        matches!(self, Slot::ContactState { .. } | Slot::JointFrictionState { .. })
    }

    /// The contact whose clock ticks when the value changes.
    pub fn clock(self) -> Option<usize> {
        match self {
            Slot::ImpactImpulse { contact } | Slot::ImpactTime { contact } => Some(contact),
            _ => None,
        }
    }

    /// Whether a model cannot be used without it: what a master must set and the forces that it must apply; also the few
    /// variables of every model.
    pub fn is_always_shown(self) -> bool {
        use Slot as S;
        matches!(
            self,
            S::GivenPosition { .. }
                | S::GivenVelocity { .. }
                | S::GivenOrientation { .. }
                | S::GivenAngularVelocity { .. }
                | S::AppliedForce { .. }
                | S::AppliedTorque { .. }
                | S::GivenInverseMass { .. }
                | S::CouplingForce { .. }
                | S::CouplingTorque { .. }
                | S::CouplingImpulse { .. }
                | S::CouplingAngularImpulse { .. }
                | S::JointDrive { .. }
                | S::Time
                | S::Gravity { .. }
                | S::EngineStep
                | S::EngineSample
                | S::Iterations
                | S::Residual
                | S::Penetration
                | S::Substeps
                | S::Captured
                | S::KineticEnergy
                | S::PotentialEnergy
                | S::Energy
                | S::Dissipated
                | S::DissipatedByImpact
                | S::DissipatedByFriction
                | S::DissipatedByDamping
        )
    }

    /// Whether it is a force for the master to hold over the step that comes.
    pub fn is_force_for_master(self) -> bool {
        matches!(self, Slot::CouplingForce { .. } | Slot::CouplingTorque { .. })
    }
}

impl Range {
    const ANY: Range = Range { min: None, above_min: false, max: None };
    const POSITIVE: Range = Range { min: Some(0.0), above_min: true, max: None };
    const NOT_NEGATIVE: Range = Range { min: Some(0.0), above_min: false, max: None };
    const UNIT_INTERVAL: Range = Range { min: Some(0.0), above_min: false, max: Some(1.0) };

    /// Whether `value` is finite and within the bounds.
    pub fn contains(&self, value: f64) -> bool {
        value.is_finite()
            && self.min.is_none_or(|min| if self.above_min { value > min } else { value >= min })
            && self.max.is_none_or(|max| value <= max)
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) if self.above_min => write!(f, "above {min} and at most {max}"),
            (Some(min), Some(max)) => write!(f, "from {min} to {max}"),
            (Some(min), None) if self.above_min => write!(f, "above {min}"),
            (Some(min), None) => write!(f, "{min} or more"),
            (None, Some(max)) => write!(f, "{max} or less"),
            (None, None) => write!(f, "any finite number"),
        }
    }
}

/// The variable table of a model.
pub fn table(model: &Model) -> Vec<Variable> {
    let (system, state) = model.assemble();
    let mut rows = Rows::new(model, &system, &state);
    rows.push("time", "Simulation time", Slot::Time, Kind::Real(Unit::Second), Role::Independent);
    for (index, node) in model.nodes.iter().enumerate() {
        rows.node(index, &node.name);
    }
    for (index, name) in model.body_names().enumerate().skip(model.nodes.len()) {
        rows.surface(index, name);
    }
    for (index, contact) in model.contacts.iter().enumerate() {
        rows.contact(index, contact, model);
    }
    for (index, spring) in model.springs.iter().enumerate() {
        rows.spring(index, &spring.name, &ends_text(model, spring.ends));
    }
    for (index, joint) in model.joints.iter().enumerate() {
        let between = ends_text(model, joint.ends.map(|end| end.anchor));
        rows.joint(index, joint, &between);
        for bounded in model.bounded().filter(|bounded| bounded.joint == index) {
            rows.limits(joint, &bounded, &between);
        }
    }
    rows.engine();
    rows.variables
}

/// What a spring or joint is between, in words.
fn ends_text(model: &Model, ends: [Anchor; 2]) -> String {
    let [first, second] =
        ends.map(|end| end.node.map_or("the ground", |node| model.nodes[node].name.as_str()));
    format!("between {first} and {second}")
}

/// Index of the island of every node.
pub fn islands(system: &System) -> Vec<usize> {
    let mut islands = vec![0; system.nodes.len()];
    for (index, island) in system.islands.iter().enumerate() {
        for &node in &island.nodes {
            islands[node] = index;
        }
    }
    islands
}

/// Causality, variability, initial and range that go together.
enum Role {
    Independent,
    Input,
    /// An output that starts from a value which may be set before initialization.
    State(Dependence),
    /// An output computed by the step, continuous in time.
    Continuous(Dependence),
    /// An output that belongs to a whole step.
    PerStep(Dependence),
    Tunable(Range),
    Fixed(Range),
}

struct Rows<'a> {
    variables: Vec<Variable>,
    system: &'a System,
    state: &'a State<f64>,
    /// Island of every node.
    islands: Vec<usize>,
    /// Names of bodies, by node.
    names: Vec<&'a str>,
    /// Patterns of the names that are shown; none for all.
    shown: Option<&'a [String]>,
}

impl<'a> Rows<'a> {
    fn new(model: &'a Model, system: &'a System, state: &'a State<f64>) -> Rows<'a> {
        Rows {
            variables: Vec::new(),
            system,
            state,
            islands: islands(system),
            names: model.body_names().collect(),
            shown: model.outputs.as_deref(),
        }
    }

    fn node(&mut self, node: usize, name: &str) {
        match self.system.nodes[node].coupling {
            None => self.owned_node(node, name),
            Some(coupling) => self.coupled_node(node, coupling, name),
        }
    }

    fn owned_node(&mut self, node: usize, name: &str) {
        let own = Dependence::Island(self.islands[node]);
        self.vector(
            &format!("{name}.r"),
            &format!("Position of {name}"),
            |axis| Slot::NodePosition { node, axis },
            Unit::Meter,
            || Role::State(own),
        );
        self.vector(
            &format!("{name}.v"),
            &format!("Velocity of {name}"),
            |axis| Slot::NodeVelocity { node, axis },
            Unit::MeterPerSecond,
            || Role::State(own),
        );
        let rotation = self.system.nodes[node].rotation;
        if let Some(rotation) = rotation {
            self.quaternion(
                name,
                "",
                |component| Slot::NodeOrientation { node, rotation, component },
                || Role::State(own),
            );
            self.vector(
                &format!("{name}.w"),
                &format!("Angular velocity of {name}, world components"),
                |axis| Slot::NodeAngularVelocity { node, rotation, axis },
                Unit::RadianPerSecond,
                || Role::State(own),
            );
        }
        self.external(node, name);
        self.vector(
            &format!("{name}.f"),
            &format!("Contact force on {name}, mean over the step"),
            |axis| Slot::NodeForce { node, axis },
            Unit::Newton,
            || Role::PerStep(own),
        );
        if let Some(rotation) = rotation {
            self.vector(
                &format!("{name}.t"),
                &format!("Contact torque on {name} about its centre, mean over the step"),
                |axis| Slot::NodeTorque { node, rotation, axis },
                Unit::NewtonMeter,
                || Role::PerStep(own),
            );
        }
        self.mass(node, name);
    }

    fn coupled_node(&mut self, node: usize, coupling: usize, name: &str) {
        let mode = self.system.couplings[coupling].mode;
        self.given(node, coupling, name);
        self.external(node, name);
        if let CouplingMode::Iterative = mode {
            self.vector(
                &format!("{name}.f_applied"),
                &format!("Contact force on {name} with which the master came to the state that it gives"),
                |axis| Slot::AppliedForce { coupling, axis },
                Unit::Newton,
                || Role::Input,
            );
            if self.system.nodes[node].rotation.is_some() {
                self.vector(
                    &format!("{name}.t_applied"),
                    &format!(
                        "Contact torque on {name} with which the master came to the state that it gives"
                    ),
                    |axis| Slot::AppliedTorque { coupling, axis },
                    Unit::NewtonMeter,
                    || Role::Input,
                );
            }
        }
        self.inverse_mass(coupling, name);
        self.coupling_force(node, coupling, name);
        self.mass(node, name);
        if !matches!(mode, CouplingMode::Iterative) {
            self.diagnosis(node, coupling, name);
        }
        if mode.is_of_mechanism() {
            self.along_contact(node, coupling, name);
        }
        if let CouplingMode::Compliant(_) = mode {
            let own = Dependence::Island(self.islands[node]);
            self.vector(
                &format!("{name}.contact_r"),
                &format!("Position of the mass of {name} that touches"),
                |axis| Slot::NodePosition { node, axis },
                Unit::Meter,
                || Role::Continuous(own),
            );
            self.vector(
                &format!("{name}.contact_v"),
                &format!("Velocity of the mass of {name} that touches"),
                |axis| Slot::NodeVelocity { node, axis },
                Unit::MeterPerSecond,
                || Role::Continuous(own),
            );
        }
    }

    /// A surface that a master moves. One without mass does not respond to contact, so there is nothing to diagnose.
    fn surface(&mut self, node: usize, name: &str) {
        let Some(coupling) = self.system.nodes[node].coupling else { return };
        self.given(node, coupling, name);
        self.coupling_force(node, coupling, name);
        if self.state.parameters.mass[node].is_finite() {
            self.mass(node, name);
            self.diagnosis(node, coupling, name);
        }
    }

    /// The motion that a master gives.
    fn given(&mut self, node: usize, coupling: usize, name: &str) {
        const GIVEN: &str = ", given by the master";
        self.vector(
            &format!("{name}.r"),
            &format!("Position of {name}{GIVEN}"),
            |axis| Slot::GivenPosition { coupling, axis },
            Unit::Meter,
            || Role::Input,
        );
        self.vector(
            &format!("{name}.v"),
            &format!("Velocity of {name}{GIVEN}"),
            |axis| Slot::GivenVelocity { coupling, axis },
            Unit::MeterPerSecond,
            || Role::Input,
        );
        if self.system.nodes[node].rotation.is_some() {
            self.quaternion(
                name,
                GIVEN,
                |component| Slot::GivenOrientation { coupling, component },
                || Role::Input,
            );
            self.vector(
                &format!("{name}.w"),
                &format!("Angular velocity of {name}, world components{GIVEN}"),
                |axis| Slot::GivenAngularVelocity { coupling, axis },
                Unit::RadianPerSecond,
                || Role::Input,
            );
        }
    }

    /// Forces that act on a node besides contact and gravity.
    fn external(&mut self, node: usize, name: &str) {
        self.vector(
            &format!("{name}.f_ext"),
            &format!("External force on {name}"),
            |axis| Slot::ExternalForce { node, axis },
            Unit::Newton,
            || Role::Input,
        );
        if let Some(rotation) = self.system.nodes[node].rotation {
            self.vector(
                &format!("{name}.t_ext"),
                &format!("External torque on {name}, world components"),
                |axis| Slot::ExternalTorque { node, rotation, axis },
                Unit::NewtonMeter,
                || Role::Input,
            );
        }
    }

    /// The inverse mass of a point of a mechanism whose master tells it, and that between it and each later one.
    fn inverse_mass(&mut self, coupling: usize, name: &str) {
        let members = match &self.system.mechanism {
            Some(mechanism) if mechanism.is_given => mechanism.members.as_slice(),
            _ => return,
        };
        let Some(place) = members.iter().position(|&member| member == coupling) else { return };
        let own = [("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2)];
        for (index, (letters, row, column)) in own.into_iter().enumerate() {
            self.push(
                format!("{name}.W[{}]", index + 1),
                format!("Velocity that {name} gets from a unit impulse on it, {letters}"),
                Slot::GivenInverseMass { row: 3 * place + row, column: 3 * place + column },
                Kind::Real(Unit::PerKilogram),
                Role::Input,
            );
        }
        for (later, &member) in members.iter().enumerate().skip(place + 1) {
            let other = &self.names[self.system.couplings[member].node];
            let (stem, text) = (
                format!("{name}.W_{other}"),
                format!("Velocity that {name} gets from a unit impulse on {other}"),
            );
            for entry in 0..9 {
                let (row, column) = (entry / 3, entry % 3);
                let letters = ["x", "y", "z"];
                self.push(
                    format!("{stem}[{}]", entry + 1),
                    format!("{text}, {}{}", letters[row], letters[column]),
                    Slot::GivenInverseMass { row: 3 * place + row, column: 3 * later + column },
                    Kind::Real(Unit::PerKilogram),
                    Role::Input,
                );
            }
        }
    }

    /// What is known of how a point of a mechanism moves along what it touches.
    fn along_contact(&mut self, node: usize, coupling: usize, name: &str) {
        let own = Dependence::Island(self.islands[node]);
        const WAY: &str = "along the normal of the last contact, before the first one along gravity";
        self.push(
            format!("{name}.effective_mass"),
            format!("Mass by which {name} responds to a push {WAY}"),
            Slot::EffectiveMass { coupling },
            Kind::Real(Unit::Kilogram),
            Role::PerStep(own),
        );
        self.push(
            format!("{name}.condition"),
            format!(
                "How much more easily {name} moves in some direction than {WAY}: large where it is blocked"
            ),
            Slot::MechanismCondition { coupling },
            Kind::Real(Unit::One),
            Role::PerStep(own),
        );
    }

    /// What the master is to apply.
    fn coupling_force(&mut self, node: usize, coupling: usize, name: &str) {
        let own = Dependence::Island(self.islands[node]);
        self.vector(
            &format!("{name}.f"),
            &format!("Contact force on {name} for the master to apply and hold over its next step"),
            |axis| Slot::CouplingForce { coupling, axis },
            Unit::Newton,
            || Role::PerStep(own),
        );
        if self.system.nodes[node].rotation.is_some() {
            self.vector(
                &format!("{name}.t"),
                &format!(
                    "Contact torque on {name} about its centre for the master to apply and hold over its next step"
                ),
                |axis| Slot::CouplingTorque { coupling, axis },
                Unit::NewtonMeter,
                || Role::PerStep(own),
            );
        }
    }

    fn mass(&mut self, node: usize, name: &str) {
        self.push(
            format!("{name}.mass"),
            format!("Mass of {name}"),
            Slot::NodeMass { node },
            Kind::Real(Unit::Kilogram),
            Role::Tunable(Range::POSITIVE),
        );
    }

    /// How good the coupling of a body is.
    fn diagnosis(&mut self, node: usize, coupling: usize, name: &str) {
        let own = Dependence::Island(self.islands[node]);
        for (suffix, text, slot, kind) in [
            (
                "latency",
                "Steps after which the master applies a force to",
                Slot::CouplingLatency { coupling },
                Kind::Integer,
            ),
            (
                "adapted_mass",
                "Mass seen in the response of",
                Slot::AdaptedMass { coupling },
                Kind::Real(Unit::Kilogram),
            ),
            (
                "energy_excess",
                "Energy that the coupling has added and not yet taken back from",
                Slot::EnergyExcess { coupling },
                Kind::Real(Unit::Joule),
            ),
            (
                "response_error",
                "Part by which the response to the last force differs from the one expected of",
                Slot::ResponseError { coupling },
                Kind::Real(Unit::One),
            ),
            (
                "shaping",
                "Whether impulses are shaped and the mass is learnt for",
                Slot::CouplingShaping { coupling },
                Kind::Integer,
            ),
        ] {
            let meaning = match slot {
                Slot::CouplingLatency { .. } => ": 0, 1, or -1 while not known",
                Slot::CouplingShaping { .. } => ": 1 yes, 0 no",
                _ => "",
            };
            self.push(
                format!("{name}.{suffix}"),
                format!("{text} {name}{meaning}"),
                slot,
                kind,
                Role::PerStep(own),
            );
        }
    }

    fn contact(&mut self, contact: usize, entry: &Contact, model: &Model) {
        let pair = model.between_text(entry);
        let name = entry.name.as_str();
        // Of a group, what its variables mean beyond those of a pair.
        let (node, [least, sum, largest], on) = match &entry.between {
            Between::Pair { node, .. } => (*node, [""; 3], format!(" on {}", model.nodes[*node].name)),
            Between::Group(group) => {
                let node = group.sides.iter().flat_map(|side| &side.nodes).next();
                let notes = [", of the nearest pair", ", sum of all pairs", ", of the fastest pair"];
                (*node.expect("a group has nodes"), notes, String::new())
            }
        };
        let own = Dependence::Island(self.islands[node]);
        self.real(
            name,
            "gap",
            format!("Distance {pair}{least}, negative when they overlap"),
            Slot::ContactGap { contact },
            Unit::Meter,
            Role::Continuous(own),
        );
        self.real(
            name,
            "f_n",
            format!("Normal force {pair}{sum}, mean over the step"),
            Slot::ContactNormalForce { contact },
            Unit::Newton,
            Role::PerStep(own),
        );
        self.vector(
            &format!("{name}.f_t"),
            &format!("Friction force {pair}{on}{sum}, mean over the step"),
            |axis| Slot::ContactTangentialForce { contact, axis },
            Unit::Newton,
            || Role::PerStep(own),
        );
        self.real(
            name,
            "impulse",
            format!("Normal impulse {pair}{sum} over the step"),
            Slot::ContactImpulse { contact },
            Unit::NewtonSecond,
            Role::PerStep(own),
        );
        self.real(
            name,
            "slip",
            format!("Sliding speed {pair}{largest} while they touch, else 0"),
            Slot::ContactSlip { contact },
            Unit::MeterPerSecond,
            Role::PerStep(own),
        );
        if let Some((law, range)) = restitution(&self.system.contacts[contact].response) {
            self.real(
                name,
                "restitution",
                format!("{law} {pair}"),
                Slot::ContactRestitution { contact },
                Unit::One,
                Role::Tunable(range),
            );
        }
        self.real(
            name,
            "mu",
            format!("Friction coefficient {pair}"),
            Slot::ContactMu { contact },
            Unit::One,
            Role::Tunable(Range::NOT_NEGATIVE),
        );
        self.push(
            format!("{name}.state"),
            format!("Contact {pair} at the end of the step: 0 open, 1 stick, 2 slip"),
            Slot::ContactState { contact },
            Kind::Integer,
            Role::PerStep(own),
        );
    }

    /// The island of whichever end is a node.
    fn island_of(&self, ends: [Option<usize>; 2]) -> Dependence {
        let node = ends.into_iter().flatten().next();
        node.map_or(Dependence::Nothing, |node| Dependence::Island(self.islands[node]))
    }

    fn spring(&mut self, spring: usize, name: &str, between: &str) {
        let own = self.island_of(self.system.ties.springs[spring].ends.map(|end| end.node));
        for (suffix, text, slot, unit, role) in [
            (
                "f",
                "Tension of the spring and its damper, negative when they push,",
                Slot::SpringTension { spring },
                Unit::Newton,
                Role::Continuous(own),
            ),
            (
                "length",
                "Length of the spring",
                Slot::SpringLength { spring },
                Unit::Meter,
                Role::Continuous(own),
            ),
            (
                "stiffness",
                "Stiffness of the spring",
                Slot::SpringStiffness { spring },
                Unit::NewtonPerMeter,
                Role::Tunable(Range::NOT_NEGATIVE),
            ),
            (
                "damping",
                "Coefficient of the damper",
                Slot::SpringDamping { spring },
                Unit::NewtonSecondPerMeter,
                Role::Tunable(Range::NOT_NEGATIVE),
            ),
        ] {
            self.real(name, suffix, format!("{text} {between}"), slot, unit, role);
        }
    }

    fn joint(&mut self, joint: usize, entry: &Joint, between: &str) {
        let name = &entry.name;
        let own = self.island_of(entry.ends.map(|end| end.anchor.node));
        if let Some(Motor { drive: kind, profile: Profile::Input(drive) }) = entry.motor {
            let (text, unit) = match (entry.kind, kind) {
                (JointKind::Revolute, Drive::Rate) => ("Rate of turn", Unit::RadianPerSecond),
                (JointKind::Revolute, Drive::Position) => ("Angle", Unit::Radian),
                (_, Drive::Rate) => ("Speed", Unit::MeterPerSecond),
                (_, Drive::Position) => ("Distance", Unit::Meter),
            };
            let text = format!("{text} {between} that the motor is to make");
            self.real(name, "drive", text, Slot::JointDrive { joint, drive }, unit, Role::Input);
        }
        let turning = [
            ("angle", "Angle turned since the start", Slot::JointAngle { joint }, Unit::Radian),
            ("rate", "Rate of turn", Slot::JointRate { joint }, Unit::RadianPerSecond),
        ];
        let sliding = [
            ("distance", "Distance slid since the start", Slot::JointDistance { joint }, Unit::Meter),
            ("speed", "Speed of sliding", Slot::JointSpeed { joint }, Unit::MeterPerSecond),
        ];
        let coordinates = match entry.kind {
            JointKind::Revolute => turning.to_vec(),
            JointKind::Prismatic => sliding.to_vec(),
            JointKind::Cylindrical => [turning, sliding].concat(),
            JointKind::Spherical | JointKind::Fixed | JointKind::Distance { .. } => Vec::new(),
        };
        for (suffix, text, slot, unit) in coordinates {
            self.real(name, suffix, format!("{text} {between}"), slot, unit, Role::Continuous(own));
        }
        self.vector(
            &format!("{name}.f"),
            &format!("Force of the joint {between} on the second, mean over the step"),
            |axis| Slot::JointForce { joint, axis },
            Unit::Newton,
            || Role::PerStep(own),
        );
        self.vector(
            &format!("{name}.t"),
            &format!("Torque of the joint {between} on the second about its place, mean over the step"),
            |axis| Slot::JointTorque { joint, axis },
            Unit::NewtonMeter,
            || Role::PerStep(own),
        );
        if entry.friction.is_some() {
            self.push(
                format!("{name}.friction_state"),
                format!("Friction of the joint {between} at the end of the step: 0 no load, 1 stick, 2 slip"),
                Slot::JointFrictionState { joint },
                Kind::Integer,
                Role::PerStep(own),
            );
        }
    }

    /// What the stops of a joint do, and how they rebound.
    fn limits(&mut self, entry: &Joint, bounded: &Bounded, between: &str) {
        let name = &entry.name;
        let own = self.island_of(entry.ends.map(|end| end.anchor.node));
        // Of the two coordinates of a cylindrical joint that of sliding has the plain names.
        let prefix = if bounded.is_angle && entry.kind == JointKind::Cylindrical { "angle_" } else { "" };
        let stops = bounded.stops;
        let (suffix, what, unit) = if bounded.is_angle {
            ("limit_torque", "Torque about the axis", Unit::NewtonMeter)
        } else {
            ("limit_force", "Force along the axis", Unit::Newton)
        };
        self.real(
            name,
            suffix,
            format!("{what} of the stops of the joint {between} on the second, mean over the step"),
            Slot::JointLimitForce { stops },
            unit,
            Role::PerStep(own),
        );
        self.push(
            format!("{name}.{prefix}limit_state"),
            format!(
                "Stops of the joint {between} at the end of the step: -1 at the lower one, 0 free, 1 at the upper one"
            ),
            Slot::JointLimitState { stops },
            Kind::Integer,
            Role::PerStep(own),
        );
        self.real(
            name,
            &format!("{prefix}restitution"),
            format!("Coefficient of restitution of the stops of the joint {between}"),
            Slot::JointRestitution { stops },
            Unit::One,
            Role::Tunable(Range::UNIT_INTERVAL),
        );
    }

    fn engine(&mut self) {
        let all = Dependence::Everything;
        for (name, text, slot, kind) in [
            (
                "engine.iterations",
                "Iterations of the contact solver over the step",
                Slot::Iterations,
                Kind::Integer,
            ),
            (
                "engine.residual",
                "Largest natural residual of the contact problems of the step, relative",
                Slot::Residual,
                Kind::Real(Unit::One),
            ),
            (
                "engine.penetration",
                "Deepest penetration of hard contacts over the step, before correction",
                Slot::Penetration,
                Kind::Real(Unit::Meter),
            ),
            ("engine.kinetic", "Kinetic energy", Slot::KineticEnergy, Kind::Real(Unit::Joule)),
            (
                "engine.potential",
                "Energy of gravity, springs and continuous contacts",
                Slot::PotentialEnergy,
                Kind::Real(Unit::Joule),
            ),
            ("engine.energy", "Kinetic and potential energy", Slot::Energy, Kind::Real(Unit::Joule)),
            (
                "engine.dissipated",
                "Energy taken by contact, friction and damping since the start",
                Slot::Dissipated,
                Kind::Real(Unit::Joule),
            ),
            (
                "engine.dissipated_impact",
                "The part of it that impacts and position correction took",
                Slot::DissipatedByImpact,
                Kind::Real(Unit::Joule),
            ),
            (
                "engine.dissipated_friction",
                "The part of it that friction took",
                Slot::DissipatedByFriction,
                Kind::Real(Unit::Joule),
            ),
            (
                "engine.dissipated_damping",
                "The part of it that damping took",
                Slot::DissipatedByDamping,
                Kind::Real(Unit::Joule),
            ),
            ("engine.substeps", "Internal steps that the step was cut into", Slot::Substeps, Kind::Integer),
            (
                "engine.captured",
                "Internal steps with more impacts than are followed one by one: the rest of them acted at its end",
                Slot::Captured,
                Kind::Integer,
            ),
        ] {
            self.push(name, text, slot, kind, Role::PerStep(all));
        }
        self.push(
            "engine.step",
            "Internal step: a communication step is cut into equal substeps no longer than this",
            Slot::EngineStep,
            Kind::Real(Unit::Second),
            Role::Fixed(Range::POSITIVE),
        );
        self.push(
            "engine.sample",
            "Time between events in model exchange; in co-simulation the length that the first step is expected to have",
            Slot::EngineSample,
            Kind::Real(Unit::Second),
            Role::Fixed(Range::POSITIVE),
        );
        self.vector(
            "gravity",
            "Acceleration of gravity",
            |axis| Slot::Gravity { axis },
            Unit::MeterPerSecondSquared,
            || Role::Tunable(Range::ANY),
        );
    }

    fn real(&mut self, owner: &str, suffix: &str, description: String, slot: Slot, unit: Unit, role: Role) {
        self.push(format!("{owner}.{suffix}"), description, slot, Kind::Real(unit), role);
    }

    fn quaternion(&mut self, name: &str, note: &str, slot: impl Fn(usize) -> Slot, role: impl Fn() -> Role) {
        for (component, letter) in ["w", "x", "y", "z"].into_iter().enumerate() {
            self.push(
                format!("{name}.q[{}]", component + 1),
                format!("Orientation of {name}, unit quaternion from body to world{note}, {letter}"),
                slot(component),
                Kind::Real(Unit::One),
                role(),
            );
        }
    }

    fn vector(
        &mut self,
        name: &str,
        description: &str,
        slot: impl Fn(usize) -> Slot,
        unit: Unit,
        role: impl Fn() -> Role,
    ) {
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            self.push(
                format!("{name}[{}]", axis + 1),
                format!("{description}, {letter}"),
                slot(axis),
                Kind::Real(unit),
                role(),
            );
        }
    }

    fn is_shown(&self, name: &str) -> bool {
        self.shown.is_none_or(|patterns| patterns.iter().any(|pattern| fits(pattern, name)))
    }

    fn push(
        &mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        slot: Slot,
        kind: Kind,
        role: Role,
    ) {
        use Causality as C;
        use Variability as V;
        let nothing = Dependence::Nothing;
        let (causality, variability, initial, range, depends_on) = match role {
            Role::Independent => (C::Independent, V::Continuous, None, Range::ANY, nothing),
            Role::Input => (C::Input, V::Continuous, None, Range::ANY, nothing),
            Role::State(depends_on) => {
                (C::Output, V::Continuous, Some(Initial::Exact), Range::ANY, depends_on)
            }
            Role::Continuous(depends_on) => {
                (C::Output, V::Continuous, Some(Initial::Calculated), Range::ANY, depends_on)
            }
            Role::PerStep(depends_on) => {
                (C::Output, V::Discrete, Some(Initial::Calculated), computed_range(slot), depends_on)
            }
            Role::Tunable(range) => (C::Parameter, V::Tunable, Some(Initial::Exact), range, nothing),
            Role::Fixed(range) => (C::Parameter, V::Fixed, Some(Initial::Exact), range, nothing),
        };
        let name = name.into();
        if !self.is_shown(&name) && !slot.is_always_shown() {
            return;
        }
        let has_start = causality == C::Input || initial == Some(Initial::Exact);
        let start = has_start.then(|| get_real(slot, self.system, self.state));
        self.variables.push(Variable {
            name,
            description: description.into(),
            slot,
            kind,
            causality,
            variability,
            initial,
            start,
            range,
            depends_on,
        });
    }
}

/// What the coefficient of restitution of a contact is, and its range; none where its law has none.
fn restitution(response: &Response) -> Option<(&'static str, Range)> {
    match response {
        Response::Hard => Some(("Newton coefficient of restitution", Range::UNIT_INTERVAL)),
        Response::Continuous { compliance, .. } if !compliance.law.has_restitution() => None,
        Response::Continuous { compliance, .. } => {
            let range = Range { above_min: !compliance.law.allows_no_rebound(), ..Range::UNIT_INTERVAL };
            Some(("Coefficient of restitution of the contact law", range))
        }
    }
}

/// Range of the values that a step computes.
fn computed_range(slot: Slot) -> Range {
    match slot {
        Slot::ContactNormalForce { .. }
        | Slot::ContactImpulse { .. }
        | Slot::ImpactImpulse { .. }
        | Slot::ContactSlip { .. }
        | Slot::Iterations
        | Slot::Residual
        | Slot::Penetration
        | Slot::Substeps
        | Slot::Captured
        | Slot::KineticEnergy
        | Slot::AdaptedMass { .. }
        | Slot::EffectiveMass { .. }
        | Slot::MechanismCondition { .. }
        | Slot::ResponseError { .. } => Range::NOT_NEGATIVE,
        Slot::CouplingLatency { .. } => {
            Range { min: Some(f64::from(UNKNOWN_LATENCY)), above_min: false, max: Some(1.0) }
        }
        Slot::CouplingShaping { .. } => Range::UNIT_INTERVAL,
        Slot::JointLimitState { .. } => Range { min: Some(-1.0), above_min: false, max: Some(1.0) },
        Slot::ContactState { .. } | Slot::JointFrictionState { .. } => {
            Range { min: Some(0.0), above_min: false, max: Some(2.0) }
        }
        _ => Range::ANY,
    }
}
