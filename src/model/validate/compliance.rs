//! Rules of continuous contacts: which keys go together, which nodes may have them, how stiff they may be.

use super::Validator;
use crate::engine::SchemeName;
use crate::engine::law::continuous::kelvin_voigt::KelvinVoigt;
use crate::engine::law::continuous::spring::PowerSpring;
use crate::engine::law::continuous::{Approach, Compliance, ContinuousLaw, Impact};
use crate::engine::{SHORTEST_CONTACT_INTERVAL, gap};
use crate::model::diagnostics::Problem;
use crate::model::file::{ContactComplianceEntry, ContactEntry, CouplingName, ModelFile};
use crate::model::friction::FrictionEntry;
use crate::model::{Between, Contact, Model, Node, NodeShape};
use nalgebra::Vector3;
use toml::Spanned;

impl Validator<'_> {
    /// A contact with the law of an entry in place of hard contact.
    pub(super) fn continuous(
        &mut self,
        file: &ModelFile,
        entry: &ContactEntry,
        written: &Spanned<ContactComplianceEntry>,
        hard: Contact,
    ) -> Contact {
        let parts = Parts::of(written.get_ref());
        self.compliances.insert(hard.name.clone(), written.span());
        self.no_hard_contact(entry, &parts);
        let mu = match parts.mu {
            None => hard.mu,
            Some(mu) => self.own_friction(entry, mu),
        };
        if parts.tangential_stiffness.is_some() && mu <= 0.0 {
            self.problems.push(
                Problem::at(written.span(), "`tangential_stiffness` has no meaning without friction").hint(
                    if parts.mu.is_some() {
                        "give `mu`, or leave it out"
                    } else {
                        "add friction.cone.mu, or leave it out"
                    },
                ),
            );
        }
        let Between::Pair { node, .. } = hard.between else { return hard };
        let node = &file.node[node];
        let coupling = node.coupling.as_ref().map_or(CouplingName::default(), |written| *written.get_ref());
        if coupling != CouplingName::Owned {
            let message = format!(
                "`compliance` is for nodes with coupling = \"owned\", and the master moves `{}`",
                node.name.get_ref()
            );
            self.problems.push(
                Problem::at(written.span(), message)
                    .hint("write coupling = \"owned\" for it, or leave `compliance` out: hard contact suits every coupling"),
            );
        }
        let scheme = file.engine.scheme;
        if matches!(scheme, SchemeName::Multistep | SchemeName::Hht) {
            let message = format!("scheme \"{}\" knows hard contact only", scheme.text());
            self.problems.push(
                Problem::at(written.span(), message)
                    .hint("leave `compliance` out, or write scheme = \"moreau-jean\" or \"midpoint\""),
            );
        }
        let compliance = Compliance { law: parts.law, tangential_stiffness: parts.tangential_stiffness };
        Contact { restitution: parts.restitution, mu, compliance: Some(compliance), ..hard }
    }

    /// Keys of hard contact would do nothing.
    fn no_hard_contact(&mut self, entry: &ContactEntry, parts: &Parts) {
        if let Some(restitution) = &entry.restitution {
            let hint = if parts.law.has_restitution() {
                format!("leave it out: `compliance.{}` has its own `restitution`", parts.name)
            } else {
                "leave it out, or take a law with restitution: hunt_crossley, lankarani_nikravesh, flores, schmucker"
                    .to_owned()
            };
            let message = "`restitution` is of hard contact and has no meaning with `compliance`";
            self.problems.push(Problem::at(restitution.span(), message).hint(hint));
        }
        if let Some(stiffness) = &entry.normal_stiffness {
            let message = "`normal_stiffness` is of hard contact and has no meaning with `compliance`";
            self.problems.push(
                Problem::at(stiffness.span(), message)
                    .hint(format!("leave it out: `compliance.{}` has its own `stiffness`", parts.name)),
            );
        }
        if let Some(friction) = &entry.friction
            && parts.mu.is_none()
            && !matches!(friction.get_ref(), FrictionEntry::Cone { .. })
        {
            self.problems.push(
                Problem::at(
                    friction.span(),
                    "`compliance` goes with friction.cone only, by an anchor spring",
                )
                .hint("write friction.cone.mu, or leave `compliance` out"),
            );
        }
    }

    /// Friction coefficient of a law that has its own.
    fn own_friction(&mut self, entry: &ContactEntry, mu: f64) -> f64 {
        if let Some(friction) = &entry.friction {
            self.problems.push(
                Problem::at(
                    friction.span(),
                    "`friction` has no meaning with `compliance.schmucker`, which has its own `mu`",
                )
                .hint("write mu in compliance.schmucker instead"),
            );
        }
        mu
    }

    /// No contact is so stiff that it would have to be followed in too short intervals.
    pub(super) fn intervals_are_long_enough(&mut self, model: &Model) {
        let (system, state) = model.assemble();
        for (index, contact) in model.contacts.iter().enumerate() {
            let (Some(compliance), Between::Pair { node, .. }) = (&contact.compliance, &contact.between)
            else {
                continue;
            };
            let node = &model.nodes[*node];
            let fall = gap(&system, &state, index).max(0.0);
            let interval = shortest_interval(model, contact, node, compliance, fall);
            if interval >= SHORTEST_CONTACT_INTERVAL {
                continue;
            }
            let Some(span) = self.compliances.get(&contact.name) else { continue };
            let message = format!(
                "contact `{}` is too stiff for a mass of {} kg: it would have to be followed in intervals of {interval:.1e} s, and {SHORTEST_CONTACT_INTERVAL:e} s is the shortest",
                contact.name, node.mass
            );
            self.problems.push(
                Problem::at(span.clone(), message)
                    .hint("take a lower `stiffness` or `damping`, a higher `restitution`, or leave `compliance` out: hard contact is as stiff as it gets"),
            );
        }
    }
}

/// What an entry says.
struct Parts {
    name: &'static str,
    law: ContinuousLaw,
    restitution: f64,
    /// None for laws that take it from `friction`.
    mu: Option<f64>,
    tangential_stiffness: Option<f64>,
}

impl Parts {
    fn of(entry: &ContactComplianceEntry) -> Parts {
        use ContactComplianceEntry as Entry;
        let power = |name,
                     law: fn(PowerSpring) -> ContinuousLaw,
                     stiffness,
                     exponent,
                     restitution,
                     tangential_stiffness| {
            let law = law(PowerSpring { stiffness, exponent });
            Parts { name, law, restitution, mu: None, tangential_stiffness }
        };
        match *entry {
            Entry::KelvinVoigt { stiffness, damping, tangential_stiffness } => Parts {
                name: "kelvin_voigt",
                law: ContinuousLaw::KelvinVoigt(KelvinVoigt { stiffness, damping }),
                restitution: 0.0,
                mu: None,
                tangential_stiffness,
            },
            Entry::Hertz { stiffness, exponent, tangential_stiffness } => {
                power("hertz", ContinuousLaw::Hertz, stiffness, exponent, 1.0, tangential_stiffness)
            }
            Entry::HuntCrossley { stiffness, exponent, restitution, tangential_stiffness } => power(
                "hunt_crossley",
                ContinuousLaw::HuntCrossley,
                stiffness,
                exponent,
                restitution,
                tangential_stiffness,
            ),
            Entry::LankaraniNikravesh { stiffness, exponent, restitution, tangential_stiffness } => {
                let law = ContinuousLaw::LankaraniNikravesh;
                power("lankarani_nikravesh", law, stiffness, exponent, restitution, tangential_stiffness)
            }
            Entry::Flores { stiffness, exponent, restitution, tangential_stiffness } => {
                power("flores", ContinuousLaw::Flores, stiffness, exponent, restitution, tangential_stiffness)
            }
            Entry::Schmucker { stiffness, restitution, mu, tangential_stiffness } => Parts {
                name: "schmucker",
                law: ContinuousLaw::Schmucker { stiffness },
                restitution,
                mu: Some(mu),
                tangential_stiffness,
            },
        }
    }
}

/// The shortest interval in which a contact is followed when the node falls from where it starts: at first touch, or
/// where the spring stops it.
fn shortest_interval(
    model: &Model,
    contact: &Contact,
    node: &Node,
    compliance: &Compliance,
    fall: f64,
) -> f64 {
    let mobility = 1.0 / node.mass + turning(model, node);
    let gravity = Vector3::from(model.engine.gravity).norm();
    let speed = (Vector3::from(node.velocity).norm_squared() + 2.0 * gravity * fall).sqrt();
    let impact = Impact { restitution: contact.restitution, speed: speed.max(f64::MIN_POSITIVE) };
    let touch = Approach { depth: 0.0, speed, acceleration: gravity, mobility };
    let spring = compliance.law.spring();
    let deepest = spring.depth_of_energy(0.5 * speed * speed / mobility);
    let oscillation = ContinuousLaw::oscillation_rate(spring.tangent(deepest), mobility);
    let sliding = if contact.mu > 0.0 {
        ContinuousLaw::oscillation_rate(compliance.tangential(deepest), mobility)
    } else {
        0.0
    };
    1.0 / (compliance.law.rate(&touch, &impact).max(oscillation) + sliding)
}

/// What turning adds to the mobility of the point of a node that turns most easily.
fn turning(model: &Model, node: &Node) -> f64 {
    let norm = |point: &[f64; 3]| Vector3::from(*point).norm();
    let reach = match &node.shape {
        NodeShape::Point | NodeShape::Sphere { .. } => 0.0,
        NodeShape::Disc { radius, .. } => *radius,
        NodeShape::Box { size } => 0.5 * norm(size),
        NodeShape::Capsule { radius, half_axis } => norm(half_axis) + radius,
        NodeShape::Cylinder { radius, half_axis } => norm(half_axis) + radius,
        NodeShape::Points { points } => points.iter().map(norm).fold(0.0, f64::max),
        NodeShape::Hull { mesh } => model.meshes[*mesh].corners.iter().map(norm).fold(0.0, f64::max),
    };
    node.rotation.map_or(0.0, |rotation| {
        let least = rotation.inertia.into_iter().fold(f64::INFINITY, f64::min);
        reach * reach / least
    })
}
