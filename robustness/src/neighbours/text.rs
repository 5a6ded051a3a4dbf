//! A scene as the text of a model file.

use super::scene::*;
use std::fmt::Write;

fn list(values: impl IntoIterator<Item = f64>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", values.join(", "))
}

fn vector(value: &Vector) -> String {
    list(value.iter().copied())
}

fn turn(value: &Turn) -> String {
    list([value.w, value.i, value.j, value.k])
}

fn name(end: &Option<String>) -> &str {
    end.as_deref().unwrap_or("ground")
}

/// Lines of a model file.
struct Lines(String);

impl Lines {
    fn key(&mut self, key: &str, value: impl std::fmt::Display) {
        writeln!(self.0, "{key} = {value}").expect("text can be written");
    }

    fn section(&mut self, section: &str) {
        writeln!(self.0, "\n{section}").expect("text can be written");
    }

    fn vector(&mut self, key: &str, value: &Vector) {
        if *value != Vector::zeros() {
            self.key(key, vector(value));
        }
    }

    fn turned(&mut self, value: &Turn) {
        if *value != Turn::identity() {
            self.key("orientation", turn(value));
        }
    }

    fn shape(&mut self, shape: &Shape) {
        let round = |radius: &f64, length: &f64, axis: &Vector| {
            format!("{{ radius = {radius:?}, length = {length:?}, axis = {} }}", vector(axis))
        };
        match shape {
            Shape::Point => {}
            Shape::Sphere { radius } => self.key("shape.sphere.radius", format!("{radius:?}")),
            Shape::Disc { radius, axis } => {
                self.key("shape.disc", format!("{{ radius = {radius:?}, axis = {} }}", vector(axis)));
            }
            Shape::Box { size } => self.key("shape.box.size", list(*size)),
            Shape::Capsule { radius, length, axis } => self.key("shape.capsule", round(radius, length, axis)),
            Shape::Cylinder { radius, length, axis } => {
                self.key("shape.cylinder", round(radius, length, axis));
            }
            Shape::Points(points) => {
                let points: Vec<String> = points.iter().map(vector).collect();
                self.key("shape.points", format!("[{}]", points.join(", ")));
            }
            Shape::Hull { file, scale } => {
                self.key("shape.hull", format!("{{ file = \"{file}\", scale = {scale:?} }}"));
            }
            Shape::Plane { normal } => self.key("shape.plane.normal", vector(normal)),
            Shape::Mesh { file, scale, open } => {
                let open = if *open { ", open = true" } else { "" };
                self.key("shape.mesh", format!("{{ file = \"{file}\", scale = {scale:?}{open} }}"));
            }
            Shape::Heightfield { file, cell, scale } => self.key(
                "shape.heightfield",
                format!("{{ file = \"{file}\", cell = {}, scale = {scale:?} }}", list(*cell)),
            ),
        }
    }
}

/// The text of a scene.
pub fn write(scene: &Scene) -> String {
    let mut lines = Lines(String::new());
    lines.section("[model]");
    lines.key("name", "\"neighbour\"");
    lines.section("[experiment]");
    lines.key("stop", format!("{:?}", scene.step * scene.steps as f64));
    lines.key("step", format!("{:?}", scene.step));
    engine(&mut lines, scene);
    for one in &scene.nodes {
        node(&mut lines, one);
    }
    for one in &scene.surfaces {
        surface(&mut lines, one);
    }
    for one in &scene.contacts {
        contact(&mut lines, one);
    }
    for one in &scene.springs {
        lines.section("[[spring]]");
        lines.key("name", format!("\"{}\"", one.name));
        lines.key("between", format!("[\"{}\", \"{}\"]", name(&one.ends[0]), name(&one.ends[1])));
        lines.key("stiffness", format!("{:?}", one.stiffness));
        lines.key("damping", format!("{:?}", one.damping));
        lines.key("length", format!("{:?}", one.length));
        lines.key("anchors", format!("[{}, {}]", vector(&one.anchors[0]), vector(&one.anchors[1])));
    }
    for one in &scene.joints {
        joint(&mut lines, one);
    }
    lines.0.trim_start().to_owned()
}

fn engine(lines: &mut Lines, scene: &Scene) {
    lines.section("[engine]");
    if scene.substeps != 1 {
        lines.key("step", format!("{:?}", scene.internal_step()));
    }
    lines.key("gravity", vector(&scene.gravity));
    let (scheme, key, value) = match scene.scheme {
        Scheme::MoreauJean(theta) => ("moreau-jean", "theta", format!("{theta:?}")),
        Scheme::Midpoint(sweeps) => ("midpoint", "sweeps", sweeps.to_string()),
        Scheme::Multistep(rho) => ("multistep", "rho", format!("{rho:?}")),
        Scheme::Hht(alpha) => ("hht", "alpha", format!("{alpha:?}")),
    };
    lines.key("scheme", format!("\"{scheme}\""));
    lines.key(key, value);
    lines.key("time_of_impact", scene.time_of_impact);
    if let Some(correction) = scene.correction {
        lines.key("correction", correction);
    }
    if let Some(gamma) = scene.gamma {
        lines.key("gamma", format!("{gamma:?}"));
    }
    if scene.newton {
        lines.key("impact", "\"newton\"");
    }
    if scene.energy_balance {
        lines.key("energy_balance", true);
    }
    if scene.lenient {
        lines.key("allow_initial_penetration", true);
    }
    if scene.solver != "auto" {
        lines.key("solver", format!("\"{}\"", scene.solver));
    }
    if let Some(tolerance) = scene.tolerance {
        lines.key("tolerance", format!("{tolerance:?}"));
    }
    if let Some(most) = scene.max_iterations {
        lines.key("max_iterations", most);
    }
}

fn node(lines: &mut Lines, node: &Node) {
    lines.section("[[node]]");
    lines.key("name", format!("\"{}\"", node.name));
    match node.coupling {
        Coupling::Owned => lines.key("coupling", "\"owned\""),
        Coupling::Kinetic { latency, shaping, adapt, guard } => {
            lines.key("coupling", "\"kinetic\"");
            if let Some(latency) = latency {
                lines.key("latency", latency);
            }
            for (key, value) in [("shaping", shaping), ("adapt", adapt), ("guard", guard)] {
                if !value {
                    lines.key(key, value);
                }
            }
        }
        Coupling::Iterative => lines.key("iterative", true),
        Coupling::Compliant { stiffness, damping, master_mass } => {
            lines.key("coupling", "\"compliant\"");
            lines.key(
                "compliance",
                format!(
                    "{{ stiffness = {stiffness:?}, damping = {damping:?}, master_mass = {master_mass:?} }}"
                ),
            );
        }
    }
    lines.key("mass", format!("{:?}", node.mass));
    if let Some(inertia) = node.inertia {
        lines.key("inertia", list(inertia));
    }
    lines.shape(&node.shape);
    lines.key("position", vector(&node.state.r));
    lines.vector("velocity", &node.state.v);
    if node.inertia.is_some() {
        lines.turned(&node.state.q);
        lines.vector("angular_velocity", &node.state.w);
    }
    if let Some(copies) = &node.copies {
        let [x, y, z] = copies.count;
        lines.key("copies.count", format!("[{x}, {y}, {z}]"));
        lines.key("copies.spacing", list(copies.spacing));
        lines.key("copies.scatter", format!("{:?}", copies.scatter));
    }
}

fn surface(lines: &mut Lines, surface: &Surface) {
    lines.section("[[surface]]");
    lines.key("name", format!("\"{}\"", surface.name));
    let is_fixed = surface.motion == Motion::Fixed;
    match &surface.shape {
        // A plane that stands still has no frame.
        Shape::Plane { normal } if is_fixed => {
            lines.shape(&Shape::Plane { normal: surface.state.q * normal });
        }
        shape => {
            lines.shape(shape);
            lines.turned(&surface.state.q);
        }
    }
    lines.key("position", vector(&surface.state.r));
    if let Motion::Input { inertia } = &surface.motion {
        lines.key("motion", "\"input\"");
        lines.vector("velocity", &surface.state.v);
        lines.vector("angular_velocity", &surface.state.w);
        if let Some((mass, inertia)) = inertia {
            lines.key("mass", format!("{mass:?}"));
            lines.key("inertia", list(*inertia));
        }
        let SurfaceExchange { latency, shaping, adapt, guard } = surface.exchange;
        if let Some(latency) = latency {
            lines.key("latency", latency);
        }
        for (key, value) in [("shaping", shaping), ("adapt", adapt), ("guard", guard)] {
            if !value {
                lines.key(key, value);
            }
        }
    }
}

fn contact(lines: &mut Lines, contact: &Contact) {
    lines.section("[[contact]]");
    if let Some(name) = &contact.name {
        lines.key("name", format!("\"{name}\""));
    }
    lines.key("between", format!("[\"{}\", \"{}\"]", contact.between[0], contact.between[1]));
    let law = &contact.law;
    let has_own_friction = law.continuous.is_some_and(|law| law.kind == ContinuousKind::Schmucker);
    if !has_own_friction {
        friction(lines, &law.friction);
    }
    match &law.continuous {
        None => lines.key("restitution", format!("{:?}", law.restitution)),
        Some(continuous) => compliance(lines, continuous, law.friction.mu()),
    }
    if let Some(stiffness) = law.normal_stiffness {
        lines.key("normal_stiffness", format!("{stiffness:?}"));
    }
}

fn friction(lines: &mut Lines, friction: &Friction) {
    match *friction {
        Friction::None => {}
        Friction::Cone { mu } => lines.key("friction.cone.mu", format!("{mu:?}")),
        Friction::Facets { mu, facets, aligned, outer } => lines.key(
            "friction.facets",
            format!("{{ mu = {mu:?}, facets = {facets}, aligned = {aligned}, outer = {outer} }}"),
        ),
        Friction::Box { mu, iterations } => {
            lines.key("friction.box", format!("{{ mu = {mu:?}, iterations = {iterations} }}"));
        }
        Friction::Bristle { mu, stiffness, threshold, iterations } => {
            let stiffness = stiffness.map_or(String::new(), |value| format!(", stiffness = {value:?}"));
            lines.key(
                "friction.bristle",
                format!("{{ mu = {mu:?}{stiffness}, threshold = {threshold:?}, iterations = {iterations} }}"),
            );
        }
    }
}

fn compliance(lines: &mut Lines, law: &Continuous, mu: f64) {
    let mut keys = vec![format!("stiffness = {:?}", law.stiffness)];
    match law.kind {
        ContinuousKind::KelvinVoigt => keys.push(format!("damping = {:?}", law.damping)),
        ContinuousKind::Schmucker => {
            keys.push(format!("restitution = {:?}", law.restitution));
            keys.push(format!("mu = {mu:?}"));
        }
        ContinuousKind::Hertz => keys.push(format!("exponent = {:?}", law.exponent)),
        _ => {
            keys.push(format!("exponent = {:?}", law.exponent));
            keys.push(format!("restitution = {:?}", law.restitution));
        }
    }
    if let Some(stiffness) = law.tangential_stiffness.filter(|_| mu > 0.0) {
        keys.push(format!("tangential_stiffness = {stiffness:?}"));
    }
    lines.key(&format!("compliance.{}", law.kind.key()), format!("{{ {} }}", keys.join(", ")));
}

fn joint(lines: &mut Lines, joint: &Joint) {
    lines.section("[[joint]]");
    lines.key("name", format!("\"{}\"", joint.name));
    lines.key("between", format!("[\"{}\", \"{}\"]", name(&joint.ends[0]), name(&joint.ends[1])));
    let along = |axis: &Vector, position: &Vector| {
        format!("{{ axis = {}, position = {} }}", vector(axis), vector(position))
    };
    let at = |position: &Vector| format!("{{ position = {} }}", vector(position));
    match &joint.kind {
        JointKind::Revolute { axis, position } => lines.key("revolute", along(axis, position)),
        JointKind::Cylindrical { axis, position } => lines.key("cylindrical", along(axis, position)),
        JointKind::Prismatic { axis, position } => lines.key("prismatic", along(axis, position)),
        JointKind::Spherical { position } => lines.key("spherical", at(position)),
        JointKind::Fixed { position } => lines.key("fixed", at(position)),
        JointKind::Distance { anchors } => {
            let length = joint.length.map_or(String::new(), |length| format!("length = {length:?}, "));
            lines.key(
                "distance",
                format!("{{ {length}anchors = [{}, {}] }}", vector(&anchors[0]), vector(&anchors[1])),
            );
        }
    }
    for (key, limits) in [("limits", &joint.limits), ("angle_limits", &joint.angle_limits)] {
        let Some(Limits { lower, upper, restitution }) = limits else { continue };
        let bounds = [("lower", lower), ("upper", upper)];
        let bounds =
            bounds.map(|(key, bound)| bound.map_or(String::new(), |bound| format!("{key} = {bound:?}, ")));
        lines.key(key, format!("{{ {}{}restitution = {restitution:?} }}", bounds[0], bounds[1]));
    }
    if let Some(friction) = &joint.friction {
        lines.key(
            "friction",
            format!(
                "{{ mu_static = {:?}, mu_kinetic = {:?}, radius = {:?}, half_length = {:?}, threshold = {:?} }}",
                friction.mu_static,
                friction.mu_kinetic,
                friction.radius,
                friction.half_length,
                friction.threshold
            ),
        );
    }
    if let Some(drive) = &joint.drive {
        let profile = match &drive.profile {
            Profile::Constant(value) => format!("{value:?}"),
            Profile::Sine { amplitude, frequency, phase, offset } => format!(
                "{{ sine = {{ amplitude = {amplitude:?}, frequency = {frequency:?}, phase = {phase:?}, offset = {offset:?} }} }}"
            ),
            Profile::Ramp { from, to, start, duration } => format!(
                "{{ ramp = {{ from = {from:?}, to = {to:?}, start = {start:?}, duration = {duration:?} }} }}"
            ),
            Profile::Table(points) => {
                let points: Vec<String> = points.iter().map(|point| list(*point)).collect();
                format!("{{ table = [{}] }}", points.join(", "))
            }
            Profile::Input(_) => "\"input\"".to_owned(),
        };
        lines.key(if drive.is_position { "drive.position" } else { "drive.rate" }, profile);
    }
}
