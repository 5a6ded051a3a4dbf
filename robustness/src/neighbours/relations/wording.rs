//! The same scene in other words: the same motion. Tolerances are those of `compare`.

use super::super::run::{Frame, model};
use super::super::scene::*;
use super::{Case, Verdict, compare};

/// Nodes, surfaces and contacts in another order.
pub fn order(case: &Case) -> Verdict {
    let mut other = case.scene.clone();
    if other.nodes.len() + other.surfaces.len() + other.contacts.len() < 3 {
        return Verdict::Idle;
    }
    other.nodes.reverse();
    other.surfaces.reverse();
    other.contacts.reverse();
    let last = other.nodes.len() - 1;
    case.moves_like(&other, &|index: usize, frame: &Frame| frame.nodes[last - index])
}

/// Each pair by its name, all by `"*"`, and all as one group.
pub fn patterns(case: &Case) -> Verdict {
    let scene = &case.scene;
    let Some(law) = scene.one_law() else { return Verdict::Idle };
    let pairs: Vec<[String; 2]> = scene.pairs();
    // Everything must be in contact with everything.
    if pairs.iter().any(|[one, other]| scene.law_of(one, other).is_none()) {
        return Verdict::Idle;
    }
    let everything = ["*", "*"].map(str::to_owned);
    let can_group = matches!(law.friction, Friction::None | Friction::Cone { .. } | Friction::Facets { .. })
        && law.normal_stiffness.is_none()
        && law.continuous.is_none();
    let entry = |name: Option<&str>, between: [String; 2]| Contact {
        name: name.map(str::to_owned),
        between,
        law: law.clone(),
    };
    let mut wordings = vec![
        pairs.iter().map(|pair| entry(None, pair.clone())).collect::<Vec<_>>(),
        vec![entry(None, everything.clone())],
    ];
    if can_group {
        wordings.push(vec![entry(Some("touching"), everything)]);
    }
    for (index, contacts) in wordings.into_iter().enumerate() {
        let other = Scene { contacts, ..scene.clone() };
        if let Verdict::Broke(message) = case.moves_like(&other, &compare::same) {
            return Verdict::Broke(format!("as {}: {message}", ["pairs", "\"*\"", "a group"][index]));
        }
    }
    Verdict::Held
}

/// Surfaces that stand still, and the same as surfaces of the master that stand still. Energy is balanced only where no master
/// moves anything.
pub fn standing_input(case: &Case) -> Verdict {
    if case.scene.energy_balance {
        return Verdict::Idle;
    }
    let mut other = case.scene.clone();
    let fixed = other.surfaces.iter_mut().filter(|surface| surface.motion == Motion::Fixed);
    let mut count = 0;
    for surface in fixed {
        surface.motion = Motion::Input { inertia: None };
        count += 1;
    }
    if count == 0 {
        return Verdict::Idle;
    }
    case.moves_like(&other, &compare::same)
}

/// A surface of the world, and the same shape on a body that a joint holds to the ground.
pub fn fixed_body(case: &Case) -> Verdict {
    let scene = &case.scene;
    let can_be_node = |surface: &Surface| {
        surface.motion == Motion::Fixed
            && matches!(
                surface.shape,
                Shape::Sphere { .. } | Shape::Box { .. } | Shape::Cylinder { .. } | Shape::Capsule { .. }
            )
    };
    let is_owned = scene.nodes.iter().all(|node| node.coupling == Coupling::Owned);
    // Patterns would match two surfaces of which one is on a body.
    let meet = scene.has_patterns() && scene.surfaces.len() > 1;
    if !is_owned || meet || !scene.surfaces.iter().any(can_be_node) || scene.solver != "auto" {
        return Verdict::Idle;
    }
    let mut other = scene.clone();
    let (carried, surfaces): (Vec<Surface>, Vec<Surface>) = other.surfaces.into_iter().partition(can_be_node);
    other.surfaces = surfaces;
    for surface in carried {
        let mass = scene.units.mass;
        other.joints.push(Joint {
            name: format!("hold_{}", surface.name),
            ends: [None, Some(surface.name.clone())],
            kind: JointKind::Fixed { position: surface.state.r },
            friction: None,
            drive: None,
            limits: None,
            angle_limits: None,
            length: None,
        });
        other.nodes.push(Node {
            name: surface.name,
            coupling: Coupling::Owned,
            mass,
            inertia: Some([mass * scene.units.length * scene.units.length; 3]),
            shape: surface.shape,
            state: surface.state,
            push: Vector::zeros(),
            copies: None,
        });
    }
    case.moves_like(&other, &compare::same)
}

/// Copies, and nodes at the same places: the same model.
pub fn copies(case: &Case) -> Verdict {
    if case.drawn.nodes.iter().all(|node| node.copies.is_none()) {
        return Verdict::Idle;
    }
    match model(&case.drawn) {
        Ok(model) if model == case.model => Verdict::Held,
        Ok(_) => Verdict::Broke("copies make another model than nodes at their places".to_owned()),
        Err(message) => Verdict::Broke(message),
    }
}
