//! Rules of bodies that a master moves: which keys go together, and with which scheme.

use super::Validator;
use crate::engine::{Island, Mechanism, SchemeName};
use crate::model::diagnostics::Problem;
use crate::model::file::{
    CouplingName, LatencyEntry, MechanismEntry, MotionName, NodeEntry, SurfaceEntry, SurfaceShapeEntry,
};
use crate::model::{Coupling, Frame, Kinetic, Latency, Link, Membership, Model, Motion, Rotation};
use std::ops::Range;
use toml::Spanned;

/// A key of an entry, and where its value is if it was written.
type Key = (&'static str, Option<Range<usize>>);

fn key<T>(name: &'static str, value: &Option<Spanned<T>>) -> Key {
    (name, value.as_ref().map(Spanned::span))
}

fn given<T: Copy>(value: &Option<Spanned<T>>) -> Option<T> {
    value.as_ref().map(|value| *value.get_ref())
}

impl Validator<'_> {
    /// Who moves a node.
    pub(super) fn coupling(&mut self, entry: &NodeEntry, scheme: SchemeName) -> Coupling {
        let name = given(&entry.coupling).unwrap_or_default();
        let latency = || latency(&entry.latency);
        let [latency_key, shaping, adapt, guard] = [
            key("latency", &entry.latency),
            key("shaping", &entry.shaping),
            key("adapt", &entry.adapt),
            key("guard", &entry.guard),
        ];
        let iterative = key("iterative", &entry.iterative);
        let mechanism = key("mechanism", &entry.mechanism);
        let compliance = key("compliance", &entry.compliance);
        let coupling = match name {
            CouplingName::Owned => {
                let with = "coupling = \"owned\"";
                self.meaningless([latency_key], with, "coupling = \"kinetic\" or \"compliant\"");
                self.meaningless(
                    [shaping, adapt, guard, iterative, mechanism],
                    with,
                    "coupling = \"kinetic\"",
                );
                self.meaningless([compliance], with, "coupling = \"compliant\"");
                Coupling::Owned
            }
            CouplingName::Kinetic => {
                self.meaningless([compliance], "coupling = \"kinetic\"", "coupling = \"compliant\"");
                if given(&entry.iterative).unwrap_or(false) {
                    let keys = [latency_key, shaping, adapt, guard, mechanism];
                    self.meaningless(keys, "iterative = true", "iterative = false");
                    Coupling::Iterative
                } else {
                    Coupling::Kinetic(Kinetic {
                        latency: latency(),
                        shaping: given(&entry.shaping).unwrap_or(true),
                        adapt: given(&entry.adapt).unwrap_or(true),
                        guard: given(&entry.guard).unwrap_or(true),
                        mechanism: self.mechanism(entry),
                    })
                }
            }
            CouplingName::Compliant => {
                let keys = [shaping, adapt, guard, iterative, mechanism];
                self.meaningless(keys, "coupling = \"compliant\"", "coupling = \"kinetic\"");
                self.compliant(entry, latency())
            }
        };
        if name != CouplingName::Owned && scheme != SchemeName::MoreauJean {
            let (span, by_default) = match &entry.coupling {
                Some(written) => (written.span(), ""),
                None => (entry.name.span(), " by default"),
            };
            let message = format!(
                "scheme \"{}\" moves its own nodes only, and `{}` has coupling = \"{}\"{by_default}",
                scheme.text(),
                entry.name.get_ref(),
                name.text()
            );
            self.problems.push(
                Problem::at(span, message)
                    .hint("write coupling = \"owned\" for it, or scheme = \"moreau-jean\""),
            );
        }
        coupling
    }

    /// Whether a node is a point of a mechanism, as far as that is written.
    fn mechanism(&mut self, entry: &NodeEntry) -> Membership {
        let Some(written) = &entry.mechanism else { return Membership::Unsaid };
        let (membership, value) = match written.get_ref() {
            MechanismEntry::Said(false) => return Membership::No,
            MechanismEntry::Said(true) => (Membership::Learnt, "true"),
            MechanismEntry::Word(_) => (Membership::Given, "\"given\""),
        };
        if let Some(inertia) = &entry.inertia {
            self.problems.push(
                Problem::at(inertia.span(), format!("a node with mechanism = {value} is a point"))
                    .hint("leave `inertia` out, or `mechanism` where the node is a whole rigid body"),
            );
        }
        for (key, given) in [("shaping", &entry.shaping), ("adapt", &entry.adapt)] {
            if let Some(off) = given.as_ref().filter(|given| !*given.get_ref()) {
                let message = format!("{key} = false has no meaning with mechanism = {value}");
                self.problems.push(Problem::at(off.span(), message).hint("leave one of both out"));
            }
        }
        if membership == Membership::Given && latency(&entry.latency) == Latency::Auto {
            let message = "mechanism = \"given\" needs the key `latency`: nothing is found out then";
            self.problems.push(Problem::at(written.span(), message).hint(
                "write latency = 0 for a master that applies a force in the step that it is computed for, or latency = 1 for one that does so a step later",
            ));
        }
        let others = self.mechanism_nodes.first().filter(|(_, _, other)| *other != membership);
        if let Some((other, ..)) = others {
            let message = format!("mechanism = {value}, and that of `{other}` is another");
            self.problems.push(Problem::at(written.span(), message).hint(
                "write the same for all points of mechanisms: they may respond to forces on one another",
            ));
        }
        self.mechanism_nodes.push((entry.name.get_ref().clone(), written.span(), membership));
        membership
    }

    /// Nodes of mechanisms go with what else there is.
    pub(super) fn mechanisms_fit(&mut self, model: &Model) {
        let Some((_, span, _)) = self.mechanism_nodes.get(Mechanism::MOST) else {
            return self.mechanisms_are_alone(model);
        };
        let message = format!("at most {} nodes can be points of mechanisms", Mechanism::MOST);
        self.problems.push(Problem::at(span.clone(), message).hint(
            "leave out those that never touch, or give whole rigid bodies as nodes with `inertia` instead of their points",
        ));
    }

    fn mechanisms_are_alone(&mut self, model: &Model) {
        let Some((name, span, _)) = self.mechanism_nodes.first() else { return };
        let (system, _) = model.assemble();
        let node = model.nodes.iter().position(|node| node.name == *name);
        let is_its = |island: &&Island| node.is_some_and(|node| island.nodes.contains(&node));
        if let Some(obstacle) = system.islands.iter().find(is_its).and_then(Island::obstacle_of_mechanisms) {
            let message = format!("points of mechanisms, and what they touch, cannot have {obstacle}");
            self.problems.push(
                Problem::at(span.clone(), message)
                    .hint("leave `mechanism` out, or move those parts into the master"),
            );
        }
    }

    fn compliant(&mut self, entry: &NodeEntry, latency: Latency) -> Coupling {
        if let Some(inertia) = &entry.inertia {
            self.problems.push(
                Problem::at(inertia.span(), "a node with coupling = \"compliant\" is a point mass")
                    .hint("leave `inertia` out, or write coupling = \"kinetic\""),
            );
        }
        let Some(link) = given(&entry.compliance) else {
            let span = entry.coupling.as_ref().map_or(entry.name.span(), Spanned::span);
            self.problems.push(
                Problem::at(span, "coupling = \"compliant\" needs the key `compliance`")
                    .hint("write compliance = { stiffness = 1e4, damping = 0.0, master_mass = 1.0 }"),
            );
            return Coupling::Owned;
        };
        Coupling::Compliant(Link {
            latency,
            stiffness: link.stiffness,
            damping: link.damping,
            master_mass: link.master_mass,
        })
    }

    /// How a surface moves.
    pub(super) fn motion(&mut self, entry: &SurfaceEntry) -> Motion {
        let Some(MotionName::Input) = given(&entry.motion) else {
            if matches!(entry.shape, SurfaceShapeEntry::Plane { .. }) {
                let turned = key("orientation", &entry.orientation);
                self.meaningless([turned], "motion = \"fixed\"", "motion = \"input\"");
            }
            let keys = [
                key("mass", &entry.mass),
                key("inertia", &entry.inertia),
                key("velocity", &entry.velocity),
                key("angular_velocity", &entry.angular_velocity),
                key("latency", &entry.latency),
                key("shaping", &entry.shaping),
                key("adapt", &entry.adapt),
                key("guard", &entry.guard),
            ];
            self.meaningless(keys, "motion = \"fixed\"", "motion = \"input\"");
            return Motion::Fixed;
        };
        let inertia = entry.inertia.as_ref().map(|inertia| self.inertia(inertia));
        let orientation = entry.orientation.as_ref().map(|orientation| self.orientation(orientation));
        Motion::Input(Frame {
            mass: given(&entry.mass).unwrap_or(f64::INFINITY),
            velocity: given(&entry.velocity).unwrap_or_default(),
            rotation: Rotation {
                inertia: inertia.unwrap_or([f64::INFINITY; 3]),
                orientation: orientation.unwrap_or([1.0, 0.0, 0.0, 0.0]),
                angular_velocity: given(&entry.angular_velocity).unwrap_or_default(),
            },
            coupling: Kinetic {
                latency: latency(&entry.latency),
                shaping: given(&entry.shaping).unwrap_or(true),
                adapt: given(&entry.adapt).unwrap_or(true),
                guard: given(&entry.guard).unwrap_or(true),
                mechanism: Membership::No,
            },
        })
    }

    /// Refuses the keys that were written, because they would do nothing.
    fn meaningless<const N: usize>(&mut self, keys: [Key; N], with: &str, without: &str) {
        for (name, span) in keys {
            let Some(span) = span else { continue };
            let message = format!("`{name}` has no meaning with {with}");
            self.problems.push(Problem::at(span, message).hint(format!("leave it out, or write {without}")));
        }
    }
}

fn latency(entry: &Option<Spanned<LatencyEntry>>) -> Latency {
    match given(entry) {
        Some(LatencyEntry::Steps(steps)) => Latency::Known(steps),
        Some(LatencyEntry::Word(_)) | None => Latency::Auto,
    }
}

impl CouplingName {
    /// As in the file.
    fn text(self) -> &'static str {
        match self {
            CouplingName::Kinetic => "kinetic",
            CouplingName::Compliant => "compliant",
            CouplingName::Owned => "owned",
        }
    }
}
