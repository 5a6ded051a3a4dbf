//! Makes a scene that breaks a relation small: what is not needed goes, numbers become short.

use super::motion::Look;
use super::relations::{Case, RELATIONS, Relation, Verdict};
use super::scene::*;
use super::{draw, text};
use std::time::{Duration, Instant};

/// Longest that it may take.
const LIMIT: Duration = Duration::from_secs(20);

/// A smaller scene and what a relation says about it.
pub struct Small {
    /// The scene.
    pub scene: Scene,
    /// How the relation breaks.
    pub message: String,
}

/// The smallest scene found from a seed; none where the relation holds.
pub fn shrink(seed: u64, relation: &str) -> Option<Small> {
    let relation = RELATIONS.iter().find(|one| one.name == relation)?;
    let scene = draw::draw(seed);
    let message = breaks(seed, &scene, relation)?;
    let mut small = Small { scene, message };
    let start = Instant::now();
    while let Some(smaller) = step(seed, &small.scene, relation, start) {
        small = smaller;
    }
    Some(small)
}

/// As a model file, with what broke.
pub fn print(seed: u64, relation: &str, small: &Small) -> String {
    let message = small.message.replace('\n', "\n# ");
    let exchange = if small.scene.is_owned() {
        String::new()
    } else {
        format!("# exchange: {:?}\n", small.scene.exchange)
    };
    let pushes = small.scene.nodes.iter().filter(|node| node.push != Vector::zeros());
    let pushes: String =
        pushes.map(|node| format!("# {}.f_ext = {:?}\n", node.name, node.push.as_slice())).collect();
    format!(
        "# seed {seed}, {relation}: {message}\n# {} steps\n{exchange}{pushes}{}",
        small.scene.steps,
        text::write(&small.scene)
    )
}

fn breaks(seed: u64, scene: &Scene, relation: &Relation) -> Option<String> {
    let case = Case::new(seed, scene.clone()).ok()?;
    match case.look(relation) {
        Verdict::Broke(message) => Some(message),
        Verdict::Held | Verdict::Idle => None,
    }
}

/// The first of all simpler scenes that still breaks.
fn step(seed: u64, scene: &Scene, relation: &Relation, start: Instant) -> Option<Small> {
    for candidate in simpler(scene) {
        if start.elapsed() > LIMIT {
            return None;
        }
        if let Some(message) = breaks(seed, &candidate, relation) {
            return Some(Small { scene: candidate, message });
        }
    }
    None
}

fn changed(scene: &Scene, change: impl FnOnce(&mut Scene)) -> Scene {
    let mut copy = scene.clone();
    change(&mut copy);
    copy
}

/// Without a node or surface, and what names it.
fn without(scene: &Scene, name: &str) -> Scene {
    let named = |end: &Option<String>| end.as_deref() == Some(name);
    changed(scene, |copy| {
        copy.nodes.retain(|node| node.name != name);
        copy.surfaces.retain(|surface| surface.name != name);
        copy.contacts.retain(|contact| !contact.between.iter().any(|one| one == name));
        copy.springs.retain(|spring| !spring.ends.iter().any(named));
        copy.joints.retain(|joint| !joint.ends.iter().any(named));
    })
}

fn simpler(scene: &Scene) -> Vec<Scene> {
    let mut all = Vec::new();
    if scene.steps > 2 {
        all.push(changed(scene, |copy| copy.steps /= 2));
        all.push(changed(scene, |copy| copy.steps -= 1 + copy.steps / 8));
    }
    if scene.nodes.len() > 1 {
        all.extend(scene.nodes.iter().map(|node| without(scene, &node.name)));
    }
    all.extend(scene.surfaces.iter().map(|surface| without(scene, &surface.name)));
    for index in 0..scene.contacts.len() {
        all.push(changed(scene, |copy| drop(copy.contacts.remove(index))));
    }
    for index in 0..scene.springs.len() {
        all.push(changed(scene, |copy| drop(copy.springs.remove(index))));
    }
    for index in 0..scene.joints.len() {
        all.push(changed(scene, |copy| drop(copy.joints.remove(index))));
        if scene.joints[index].friction.is_some() {
            all.push(changed(scene, |copy| copy.joints[index].friction = None));
        }
        if scene.joints[index].drive.is_some() {
            all.push(changed(scene, |copy| copy.joints[index].drive = None));
        }
        if scene.joints[index].limits.is_some() {
            all.push(changed(scene, |copy| copy.joints[index].limits = None));
        }
        if scene.joints[index].angle_limits.is_some() {
            all.push(changed(scene, |copy| copy.joints[index].angle_limits = None));
        }
    }
    settings(scene, &mut all);
    laws(scene, &mut all);
    states(scene, &mut all);
    numbers(scene, &mut all);
    all
}

fn settings(scene: &Scene, all: &mut Vec<Scene>) {
    if scene.substeps > 1 {
        all.push(changed(scene, |copy| copy.substeps = 1));
    }
    if scene.scheme != Scheme::MoreauJean(0.5) {
        all.push(changed(scene, |copy| {
            copy.scheme = Scheme::MoreauJean(0.5);
            copy.time_of_impact = true;
        }));
    }
    let is_special = scene.gamma.is_some()
        || scene.correction.is_some()
        || scene.energy_balance
        || scene.newton
        || scene.solver != "auto"
        || scene.tolerance.is_some()
        || scene.max_iterations.is_some();
    if is_special {
        all.push(changed(scene, |copy| copy.gamma = None));
        all.push(changed(scene, |copy| copy.correction = None));
        all.push(changed(scene, |copy| copy.energy_balance = false));
        all.push(changed(scene, |copy| copy.newton = false));
        all.push(changed(scene, |copy| copy.solver = "auto"));
        all.push(changed(scene, |copy| copy.tolerance = None));
        all.push(changed(scene, |copy| copy.max_iterations = None));
        // What was none already is no change: only those that are simpler count.
        all.retain(|one| weight(one) < weight(scene));
    }
    if scene.gravity != Vector::zeros() {
        all.push(changed(scene, |copy| copy.gravity = Vector::zeros()));
    }
}

/// How much there is in the settings.
fn weight(scene: &Scene) -> usize {
    usize::from(scene.gamma.is_some())
        + usize::from(scene.correction.is_some())
        + usize::from(scene.energy_balance)
        + usize::from(scene.newton)
        + usize::from(scene.solver != "auto")
        + usize::from(scene.tolerance.is_some())
        + usize::from(scene.max_iterations.is_some())
        + usize::from(scene.scheme != Scheme::MoreauJean(0.5))
        + scene.substeps as usize
        + scene.steps
        + 10 * (scene.nodes.len() + scene.surfaces.len() + scene.contacts.len())
        + 10 * (scene.springs.len() + scene.joints.len())
        + scene.joints.iter().filter(|joint| joint.friction.is_some()).count()
        + scene.joints.iter().filter(|joint| joint.drive.is_some()).count()
        + scene.joints.iter().filter(|joint| joint.limits.is_some()).count()
        + scene.joints.iter().filter(|joint| joint.angle_limits.is_some()).count()
}

fn laws(scene: &Scene, all: &mut Vec<Scene>) {
    for index in 0..scene.contacts.len() {
        let law = &scene.contacts[index].law;
        if law.friction != Friction::None {
            all.push(changed(scene, |copy| copy.contacts[index].law.friction = Friction::None));
        }
        if !matches!(law.friction, Friction::None | Friction::Cone { .. }) {
            let cone = Friction::Cone { mu: law.friction.mu() };
            all.push(changed(scene, |copy| copy.contacts[index].law.friction = cone));
        }
        if law.restitution != 0.0 {
            all.push(changed(scene, |copy| copy.contacts[index].law.restitution = 0.0));
        }
        if law.normal_stiffness.is_some() {
            all.push(changed(scene, |copy| copy.contacts[index].law.normal_stiffness = None));
        }
        if law.continuous.is_some() {
            all.push(changed(scene, |copy| copy.contacts[index].law.continuous = None));
        }
    }
}

fn states(scene: &Scene, all: &mut Vec<Scene>) {
    for index in 0..scene.nodes.len() {
        let node = &scene.nodes[index];
        if node.coupling != Coupling::Owned {
            all.push(changed(scene, |copy| copy.nodes[index].coupling = Coupling::Owned));
        }
        if node.copies.is_some() {
            all.push(changed(scene, |copy| copy.nodes[index].copies = None));
        }
        for (is_set, clear) in [
            (node.push != Vector::zeros(), (|node| node.push = Vector::zeros()) as fn(&mut Node)),
            (node.state.w != Vector::zeros(), |node| node.state.w = Vector::zeros()),
            (node.state.v != Vector::zeros(), |node| node.state.v = Vector::zeros()),
            (node.state.q != Turn::identity(), |node| node.state.q = Turn::identity()),
        ] {
            if is_set {
                all.push(changed(scene, |copy| clear(&mut copy.nodes[index])));
            }
        }
        if matches!(node.shape, Shape::Sphere { .. }) && node.inertia.is_some() {
            all.push(changed(scene, |copy| {
                copy.nodes[index].inertia = None;
                copy.nodes[index].state.q = Turn::identity();
                copy.nodes[index].state.w = Vector::zeros();
            }));
        }
    }
    for index in 0..scene.surfaces.len() {
        if scene.surfaces[index].motion != Motion::Fixed {
            all.push(changed(scene, |copy| {
                copy.surfaces[index].motion = Motion::Fixed;
                copy.surfaces[index].state.v = Vector::zeros();
                copy.surfaces[index].state.w = Vector::zeros();
            }));
        }
    }
}

/// In lengths, masses and times of one; and with fewer digits.
fn numbers(scene: &Scene, all: &mut Vec<Scene>) {
    let Units { length, mass, time } = scene.units;
    let is_plain = scene.nodes.iter().all(|node| node.copies.is_none());
    if is_plain && (length - 1.0).abs() + (mass - 1.0).abs() > 1e-3 {
        let scale = (9.81_f64 / scene.gravity.norm().max(1e-300) * length / (time * time)).sqrt();
        let scale = if scene.gravity == Vector::zeros() { 1.0 } else { scale };
        let units =
            Units { length: 1.0 / length, mass: 1.0 / mass, time: 1.0 / (time * scale.clamp(1e-3, 1e3)) };
        all.push(Look { units, ..Look::plain() }.of(scene));
    }
    for digits in [1, 2, 3] {
        let mut copy = scene.clone();
        let mut is_shorter = false;
        visit(&mut copy, &mut |value| {
            let short: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(*value);
            let is_tiny = short.abs() < 1e-12;
            let short = if is_tiny { 0.0 } else { short };
            is_shorter |= short != *value;
            *value = short;
        });
        if is_shorter {
            all.push(copy);
        }
    }
}

fn visit(scene: &mut Scene, change: &mut dyn FnMut(&mut f64)) {
    change(&mut scene.step);
    scene.gravity.iter_mut().for_each(&mut *change);
    for node in &mut scene.nodes {
        change(&mut node.mass);
        node.inertia.iter_mut().flatten().for_each(&mut *change);
        node.state.r.iter_mut().for_each(&mut *change);
        node.state.v.iter_mut().for_each(&mut *change);
        node.state.w.iter_mut().for_each(&mut *change);
        shape(&mut node.shape, change);
    }
    for surface in &mut scene.surfaces {
        surface.state.r.iter_mut().for_each(&mut *change);
        surface.state.v.iter_mut().for_each(&mut *change);
        surface.state.w.iter_mut().for_each(&mut *change);
        shape(&mut surface.shape, change);
    }
    for contact in &mut scene.contacts {
        change(&mut contact.law.restitution);
        if let Friction::Cone { mu } = &mut contact.law.friction {
            change(mu);
        }
    }
    for spring in &mut scene.springs {
        change(&mut spring.stiffness);
        change(&mut spring.damping);
        change(&mut spring.length);
    }
}

fn shape(shape: &mut Shape, change: &mut dyn FnMut(&mut f64)) {
    match shape {
        Shape::Sphere { radius } | Shape::Disc { radius, .. } => change(radius),
        Shape::Box { size } => size.iter_mut().for_each(change),
        Shape::Capsule { radius, length, .. } | Shape::Cylinder { radius, length, .. } => {
            change(radius);
            change(length);
        }
        Shape::Hull { scale, .. } | Shape::Mesh { scale, .. } => change(scale),
        Shape::Heightfield { cell, scale, .. } => {
            cell.iter_mut().for_each(&mut *change);
            change(scale);
        }
        Shape::Point | Shape::Points(_) | Shape::Plane { .. } => {}
    }
}
