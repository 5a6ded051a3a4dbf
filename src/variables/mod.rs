//! THE table of FMU variables: `modelDescription.xml` and get/set both read it, nothing else names a variable.
//!
//! The value reference of a variable is its position in the table.

mod access;
mod input_derivatives;
mod units;

pub use access::{get_integer, get_real, set_real};
pub use input_derivatives::{clear_input_derivatives, set_input_derivative};
pub use units::{BaseUnit, Unit};

use crate::engine::{State, System};
use crate::model::Model;

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
    /// Which inputs an output depends on.
    pub depends_on: Dependence,
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Real with unit.
    Real(Unit),
    /// Integer.
    Integer,
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

/// Which inputs an output depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// None.
    Nothing,
    /// The inputs of one node.
    Node(usize),
    /// All inputs.
    Everything,
}

/// What a variable stands for in the engine. `axis` is 0, 1, 2; `component` is 0 to 3; `rotation` is the index among
/// the nodes that rotate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it, and the table holds the description of each")]
pub enum Slot {
    Time,
    NodePosition { node: usize, axis: usize },
    NodeVelocity { node: usize, axis: usize },
    NodeOrientation { node: usize, rotation: usize, component: usize },
    NodeAngularVelocity { node: usize, rotation: usize, axis: usize },
    ExternalForce { node: usize, axis: usize },
    ExternalTorque { node: usize, rotation: usize, axis: usize },
    NodeForce { node: usize, axis: usize },
    NodeTorque { node: usize, rotation: usize, axis: usize },
    NodeMass { node: usize },
    ContactGap { contact: usize },
    ContactNormalForce { contact: usize },
    ContactTangentialForce { contact: usize, axis: usize },
    ContactImpulse { contact: usize },
    ContactSlip { contact: usize },
    ContactState { contact: usize },
    ContactRestitution { contact: usize },
    ContactMu { contact: usize },
    Iterations,
    Residual,
    Penetration,
    Energy,
    Dissipated,
    Substeps,
    Gravity { axis: usize },
    EngineStep,
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
    let mut rows = Rows { variables: Vec::new(), system: &system, state: &state };
    rows.push("time", "Simulation time", Slot::Time, Kind::Real(Unit::Second), Role::Independent);
    for (index, node) in model.nodes.iter().enumerate() {
        rows.node(index, &node.name);
    }
    for (index, contact) in model.contacts.iter().enumerate() {
        let node = &model.nodes[contact.node].name;
        let surface = &model.surfaces[contact.surface].name;
        rows.contact(index, contact.node, &contact.name, node, surface);
    }
    rows.engine();
    rows.variables
}

/// Causality, variability, initial and range that go together.
enum Role {
    Independent,
    Input,
    /// An output that starts from a value which may be set before initialization.
    State(usize),
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
}

impl Rows<'_> {
    fn node(&mut self, node: usize, name: &str) {
        let own = Dependence::Node(node);
        self.vector(
            &format!("{name}.r"),
            &format!("Position of {name}"),
            |axis| Slot::NodePosition { node, axis },
            Unit::Meter,
            || Role::State(node),
        );
        self.vector(
            &format!("{name}.v"),
            &format!("Velocity of {name}"),
            |axis| Slot::NodeVelocity { node, axis },
            Unit::MeterPerSecond,
            || Role::State(node),
        );
        let rotation = self.system.nodes[node].rotation;
        if let Some(rotation) = rotation {
            for (component, letter) in ["w", "x", "y", "z"].into_iter().enumerate() {
                self.push(
                    format!("{name}.q[{}]", component + 1),
                    format!("Orientation of {name}, unit quaternion from body to world, {letter}"),
                    Slot::NodeOrientation { node, rotation, component },
                    Kind::Real(Unit::One),
                    Role::State(node),
                );
            }
            self.vector(
                &format!("{name}.w"),
                &format!("Angular velocity of {name}, world components"),
                |axis| Slot::NodeAngularVelocity { node, rotation, axis },
                Unit::RadianPerSecond,
                || Role::State(node),
            );
        }
        self.vector(
            &format!("{name}.f_ext"),
            &format!("External force on {name}"),
            |axis| Slot::ExternalForce { node, axis },
            Unit::Newton,
            || Role::Input,
        );
        if let Some(rotation) = rotation {
            self.vector(
                &format!("{name}.t_ext"),
                &format!("External torque on {name}, world components"),
                |axis| Slot::ExternalTorque { node, rotation, axis },
                Unit::NewtonMeter,
                || Role::Input,
            );
        }
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
        self.push(
            format!("{name}.mass"),
            format!("Mass of {name}"),
            Slot::NodeMass { node },
            Kind::Real(Unit::Kilogram),
            Role::Tunable(Range::POSITIVE),
        );
    }

    fn contact(&mut self, contact: usize, node_index: usize, name: &str, node: &str, surface: &str) {
        let pair = format!("between {node} and {surface}");
        let own = Dependence::Node(node_index);
        self.real(
            name,
            "gap",
            format!("Distance {pair}, negative when they overlap"),
            Slot::ContactGap { contact },
            Unit::Meter,
            Role::Continuous(own),
        );
        self.real(
            name,
            "f_n",
            format!("Normal force {pair}, mean over the step"),
            Slot::ContactNormalForce { contact },
            Unit::Newton,
            Role::PerStep(own),
        );
        self.vector(
            &format!("{name}.f_t"),
            &format!("Friction force {pair} on {node}, mean over the step"),
            |axis| Slot::ContactTangentialForce { contact, axis },
            Unit::Newton,
            || Role::PerStep(own),
        );
        self.real(
            name,
            "impulse",
            format!("Normal impulse {pair} over the step"),
            Slot::ContactImpulse { contact },
            Unit::NewtonSecond,
            Role::PerStep(own),
        );
        self.real(
            name,
            "slip",
            format!("Sliding speed {pair} while they touch, else 0"),
            Slot::ContactSlip { contact },
            Unit::MeterPerSecond,
            Role::PerStep(own),
        );
        self.real(
            name,
            "restitution",
            format!("Newton coefficient of restitution {pair}"),
            Slot::ContactRestitution { contact },
            Unit::One,
            Role::Tunable(Range::UNIT_INTERVAL),
        );
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
                "Deepest penetration over the step, before correction",
                Slot::Penetration,
                Kind::Real(Unit::Meter),
            ),
            ("engine.energy", "Kinetic and gravitational energy", Slot::Energy, Kind::Real(Unit::Joule)),
            (
                "engine.dissipated",
                "Energy taken by contact since the start",
                Slot::Dissipated,
                Kind::Real(Unit::Joule),
            ),
            ("engine.substeps", "Internal steps that the step was cut into", Slot::Substeps, Kind::Integer),
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
            Role::State(node) => {
                (C::Output, V::Continuous, Some(Initial::Exact), Range::ANY, Dependence::Node(node))
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
        let has_start = causality == C::Input || initial == Some(Initial::Exact);
        let start = has_start.then(|| get_real(slot, self.system, self.state));
        self.variables.push(Variable {
            name: name.into(),
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

/// Range of the values that a step computes.
fn computed_range(slot: Slot) -> Range {
    match slot {
        Slot::ContactNormalForce { .. }
        | Slot::ContactImpulse { .. }
        | Slot::ContactSlip { .. }
        | Slot::Iterations
        | Slot::Residual
        | Slot::Penetration
        | Slot::Substeps => Range::NOT_NEGATIVE,
        Slot::ContactState { .. } => Range { min: Some(0.0), above_min: false, max: Some(2.0) },
        _ => Range::ANY,
    }
}
