//! Which features of the model language the seeds draw, and how often.

use super::draw::draw;
use super::scene::*;
use std::collections::{BTreeMap, BTreeSet};

/// Names of the features of a scene.
pub fn features(scene: &Scene) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |group: &str, name: &str| {
        found.insert(format!("{group}: {name}"));
    };
    add(
        "scheme",
        match scene.scheme {
            Scheme::MoreauJean(0.5) if scene.time_of_impact => "moreau-jean, time of impact",
            Scheme::MoreauJean(0.5) => "moreau-jean, captured",
            Scheme::MoreauJean(_) => "moreau-jean, theta above 0.5",
            Scheme::Midpoint(_) => "midpoint",
            Scheme::Multistep(_) => "multistep",
            Scheme::Hht(_) => "hht",
        },
    );
    add("solver", scene.solver);
    if scene.energy_balance {
        add("engine", "energy_balance");
    }
    if scene.gamma.is_some() {
        add("engine", "gamma");
    }
    if let Some(correction) = scene.correction {
        add("engine", if correction { "correction = true" } else { "correction = false" });
    }
    if scene.newton {
        add("engine", "impact = newton");
    }
    if scene.lenient {
        add("engine", "allow_initial_penetration");
    }
    if scene.tolerance.is_some() {
        add("engine", "tolerance");
    }
    if scene.max_iterations.is_some() {
        add("engine", "max_iterations");
    }
    if scene.substeps > 1 {
        add("engine", "substeps");
    }
    decade(&mut add, "step in s", scene.step);
    decade(&mut add, "size in m", scene.units.length);
    gravity(scene, &mut add);
    for node in &scene.nodes {
        decade(&mut add, "mass in kg", node.mass);
        add("node shape", shape(&node.shape));
        add("node", if node.inertia.is_some() { "rigid body" } else { "point mass" });
        add(
            "coupling",
            match node.coupling {
                Coupling::Owned => "owned",
                Coupling::Kinetic { .. } if scene.exchange == Exchange::Sequential => "kinetic, sequential",
                Coupling::Kinetic { .. } => "kinetic, parallel",
                Coupling::Iterative => "iterative",
                Coupling::Compliant { .. } => "compliant",
            },
        );
        if node.copies.is_some() {
            add("node", "copies");
        }
        if node.push != Vector::zeros() {
            add("node", "f_ext");
        }
        let turns = node.state.w.norm() * scene.step / std::f64::consts::TAU;
        if turns > 0.0 {
            add(
                "spin",
                match turns {
                    turns if turns > 1.0 => "more than a turn a step",
                    turns if turns > 0.3 => "more than 2 rad a step",
                    _ => "less than 2 rad a step",
                },
            );
        }
    }
    for surface in &scene.surfaces {
        add("surface shape", shape(&surface.shape));
        add(
            "surface motion",
            match surface.motion {
                Motion::Fixed => "fixed",
                Motion::Input { inertia: None } => "input",
                Motion::Input { inertia: Some(_) } => "input with mass",
            },
        );
        let SurfaceExchange { latency, shaping, adapt, guard } = surface.exchange;
        for (name, is_set) in [
            ("latency", latency.is_some()),
            ("no shaping", !shaping),
            ("no adapt", !adapt),
            ("no guard", !guard),
        ] {
            if is_set {
                add("surface motion", name);
            }
        }
    }
    for contact in &scene.contacts {
        contacts(contact, &mut add);
    }
    for spring in &scene.springs {
        add("spring", if spring.damping > 0.0 { "damped" } else { "undamped" });
        add("spring", if spring.ends.contains(&None) { "to the ground" } else { "between nodes" });
    }
    for joint in &scene.joints {
        joints(joint, &mut add);
    }
    found
}

fn decade(add: &mut impl FnMut(&str, &str), group: &str, value: f64) {
    add(group, &format!("1e{:+03}", value.log10().floor()));
}

fn gravity(scene: &Scene, add: &mut impl FnMut(&str, &str)) {
    let gravity = scene.gravity;
    if gravity == Vector::zeros() {
        add("gravity", "none");
    } else if gravity.x == 0.0 && gravity.y == 0.0 && gravity.z < 0.0 {
        add("gravity", "along -z");
    } else {
        add("gravity", "any direction");
    }
    let along = scene.nodes.iter().filter(|node| node.state.v.norm() > 0.0 && gravity.norm() > 0.0);
    for node in along {
        let cosine = node.state.v.normalize().dot(&gravity.normalize());
        if cosine > 0.99 {
            add("gravity", "along the flight");
        } else if cosine < -0.99 {
            add("gravity", "against the flight");
        }
    }
}

fn shape(shape: &Shape) -> &'static str {
    match shape {
        Shape::Point => "point",
        Shape::Sphere { .. } => "sphere",
        Shape::Disc { .. } => "disc",
        Shape::Box { .. } => "box",
        Shape::Capsule { .. } => "capsule",
        Shape::Cylinder { .. } => "cylinder",
        Shape::Points(_) => "points",
        Shape::Hull { .. } => "hull",
        Shape::Plane { .. } => "plane",
        Shape::Mesh { .. } => "mesh",
        Shape::Heightfield { .. } => "heightfield",
    }
}

fn contacts(contact: &Contact, add: &mut impl FnMut(&str, &str)) {
    let is_pattern = contact.between.iter().any(|name| name.contains('*'));
    add(
        "contact",
        match (is_pattern, &contact.name) {
            (false, _) => "pair",
            (true, None) => "\"*\"",
            (true, Some(_)) => "group",
        },
    );
    match (&contact.law.continuous, contact.law.restitution) {
        (Some(law), _) => add("continuous law", law.kind.key()),
        (None, 0.0) => add("restitution", "0"),
        (None, 1.0) => add("restitution", "1"),
        (None, _) => add("restitution", "between"),
    }
    add(
        "friction",
        match contact.law.friction {
            Friction::None => "none",
            Friction::Cone { .. } => "cone",
            Friction::Facets { aligned: true, .. } => "facets, aligned",
            Friction::Facets { .. } => "facets, fixed",
            Friction::Box { .. } => "box",
            Friction::Bristle { .. } => "bristle",
        },
    );
    if contact.law.normal_stiffness.is_some() {
        add("contact", "normal_stiffness");
    }
}

fn joints(joint: &Joint, add: &mut impl FnMut(&str, &str)) {
    add(
        "joint",
        match joint.kind {
            JointKind::Revolute { .. } => "revolute",
            JointKind::Cylindrical { .. } => "cylindrical",
            JointKind::Prismatic { .. } => "prismatic",
            JointKind::Spherical { .. } => "spherical",
            JointKind::Fixed { .. } => "fixed",
            JointKind::Distance { .. } => "distance",
        },
    );
    if joint.friction.is_some() {
        add("joint", "friction");
    }
    if joint.limits.is_some() {
        add("joint", "limits");
    }
    if joint.angle_limits.is_some() {
        add("joint", "angle_limits");
    }
    if joint.length.is_some() {
        add("joint", "length");
    }
    if let Some(drive) = &joint.drive {
        add("motor", if drive.is_position { "position" } else { "rate" });
        add(
            "motor",
            match drive.profile {
                Profile::Constant(_) => "constant",
                Profile::Sine { .. } => "sine",
                Profile::Ramp { .. } => "ramp",
                Profile::Table(_) => "table",
                Profile::Input(_) => "input",
            },
        );
    }
}

/// How many of the seeds have each feature.
pub fn table(first: u64, count: u64) -> BTreeMap<String, u64> {
    let mut table = BTreeMap::new();
    for seed in first..first + count {
        for feature in features(&draw(seed)) {
            *table.entry(feature).or_default() += 1;
        }
    }
    table
}
