//! `documentation/index.html`: what the model is, what its variables mean, how to run it.

use crate::description::write::GENERATION_TOOL;
use crate::fmi_version::FmiVersion;
use crate::model::{
    Anchor, Between, Contact, ContinuousLaw, Coupling, Drive, Engine, JointKind, Latency, Limits, Members,
    Model, Motion, NodeShape, Scheme, SurfaceShape,
};
use crate::variables::{Causality, Kind, Variability, Variable};
use quick_xml::escape::escape;
use std::fmt::Display;

const SHELL: &str = include_str!("../../fmu-template/skeleton/documentation.html");

/// The page, complete in itself.
pub fn page(model: &Model, variables: &[Variable], version: FmiVersion) -> String {
    let content = [
        introduction(model, version),
        usage(model, version),
        exchange(model),
        coupling(model),
        nodes(model),
        surfaces(model),
        contacts(model),
        springs(model),
        joints(model),
        engine(model),
        variable_table(variables),
    ];
    SHELL.replace("{{title}}", &escape(model.name.as_str())).replace("{{content}}", &content.join("\n"))
}

fn introduction(model: &Model, version: FmiVersion) -> String {
    format!(
        "<h1>{}</h1>\n<p>{}</p>\n\
         <p>An FMI {version} FMU made by {}: point masses and rigid bodies under gravity and external forces, with \
         unilateral contacts (impact with restitution or a continuous force, Coulomb friction), springs and joints. All values are in SI units.</p>",
        escape(model.name.as_str()),
        escape(model.description.as_str()),
        escape(GENERATION_TOOL),
    )
}

fn usage(model: &Model, version: FmiVersion) -> String {
    let events = match version {
        FmiVersion::Two => "<li>External forces are inputs; their time derivatives may be given too.</li>",
        FmiVersion::Three => {
            "<li>External forces are inputs. Vectors and quaternions are arrays; the table below lists their components.</li>\n\
             <li>A master that uses event mode and allows early return is told of impacts, and of contacts that begin or \
             cease to slide: doStep ends there, velocities jump in event mode, and the clock CONTACT.impact ticks.</li>"
        }
    };
    let name = escape(model.name.as_str());
    format!(
        "<h2>How to use it</h2>\n\
         <p>Any master for FMI {version} co-simulation runs it. The suggested experiment goes from 0 to {stop:?} s in \
         communication steps of {step:?} s; any positive step is accepted, and a step is cut into equal substeps \
         no longer than <code>engine.step</code>.</p>\n\
         <pre>contact-fmu simulate {name}.fmu -o {name}.csv</pre>\n\
         <ul>\n\
         <li>Parameters are set before initialization; tunable ones also between steps.</li>\n\
         <li>Positions and velocities of nodes that the FMU owns are outputs whose start values may be set before \
         initialization.</li>\n\
         {events}\n\
         <li>Contact forces belong to a whole communication step: hold them, do not extrapolate.</li>\n\
         <li>The state can be saved, restored and serialized; directional derivatives are provided.</li>\n\
         <li>The model itself is in <code>resources/model.toml</code>.</li>\n\
         </ul>",
        stop = model.experiment.stop,
        step = model.experiment.step,
    )
}

/// How the model behaves in model exchange.
fn exchange(model: &Model) -> String {
    if !model.can_be_sampled() {
        return "<h2>Model exchange</h2>\n<p>This FMU is for co-simulation only: iterative nodes work by repeated \
                steps.</p>"
            .to_owned();
    }
    let items = [
        "A sampled block: no continuous states, no event indicators, a time event every <code>engine.sample</code> \
         from the start time on. At an event it reads its inputs and makes the step to the next one, the same as in \
         co-simulation.",
        "Contact forces for bodies that the importer moves are those of the window that begins at the event: apply \
         and hold them at once, without a delay. They follow the inputs as long as the time of the event lasts.",
        "All other outputs tell of the state at the event and of the window that ends there. An external force on a \
         node that the FMU owns is held over the window, and its effect shows at the next event.",
        "Between events outputs are held, and inputs have no effect. Events of other blocks make no step.",
    ];
    let items: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<h2>Model exchange</h2>\n<ul>\n{items}</ul>")
}

/// How a master works with the bodies that it moves.
fn coupling(model: &Model) -> String {
    let couplings = || model.nodes.iter().map(|node| node.coupling);
    let has_frames = model.surfaces.iter().any(|surface| surface.motion != Motion::Fixed);
    if couplings().all(|coupling| coupling == Coupling::Owned) && !has_frames {
        return String::new();
    }
    let mut items = vec![
        "State in, force out: before each step, set position <code>r</code> and velocity <code>v</code> (of rigid \
         bodies and surfaces also the quaternion <code>q</code> and angular velocity <code>w</code>); over the step, \
         apply the contact force <code>f</code> (and torque <code>t</code>) that was read last, and hold it.",
        "The first forces are there in initialization mode, for a step of the length <code>engine.sample</code>.",
        "A quaternion is scaled to length 1 by the step; one whose length is not between 0.9 and 1.1 is refused.",
        "Time derivatives of <code>r</code>, <code>v</code>, <code>q</code>, <code>w</code>, <code>f_applied</code> \
         and <code>t_applied</code> are accepted and have no effect: the FMU predicts the motion itself.",
        "<code>f_ext</code> and <code>t_ext</code> are optional: forces besides gravity that the master applies and \
         knows beforehand.",
    ];
    if couplings().any(|coupling| coupling == Coupling::Iterative) {
        items.push(
            "Iterative nodes are for masters that repeat a step by saved states: set the state at the end of the \
             step and, as <code>f_applied</code> (and <code>t_applied</code>), the contact force that led to it, \
             until <code>f</code> does not change any more.",
        );
    }
    if couplings().any(|coupling| matches!(coupling, Coupling::Compliant(_))) {
        items.push(
            "Compliant nodes have a mass of their own that touches, at <code>contact_r</code> with \
             <code>contact_v</code>, joined to the master's by a spring and a damper.",
        );
    }
    if has_frames {
        items.push("A surface without mass does not respond to contact: its motion is prescribed.");
    }
    items.push(
        "<code>latency</code>, <code>adapted_mass</code>, <code>energy_excess</code>, <code>response_error</code> \
         and <code>shaping</code> tell how well the coupling works; so does the log category \
         <code>logCoupling</code>.",
    );
    let items: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<h2>Bodies that the master moves</h2>\n<ul>\n{items}</ul>")
}

fn nodes(model: &Model) -> String {
    let rows = model.nodes.iter().map(|node| {
        let shape = match &node.shape {
            NodeShape::Point => "point".to_owned(),
            NodeShape::Sphere { radius } => format!("sphere, radius {radius:?} m"),
            NodeShape::Disc { radius, axis } => format!("disc, radius {radius:?} m, axis {}", vector(*axis)),
            NodeShape::Box { size } => format!("box, edges {} m", vector(*size)),
            NodeShape::Capsule { radius, half_axis } => {
                format!("capsule, radius {radius:?} m, half axis {} m", vector(*half_axis))
            }
            NodeShape::Cylinder { radius, half_axis } => {
                format!("cylinder, radius {radius:?} m, half axis {} m", vector(*half_axis))
            }
            NodeShape::Points { points } => format!("points, {} of them", points.len()),
            NodeShape::Hull { mesh } => {
                format!("convex hull with {} corners", model.meshes[*mesh].corners.len())
            }
        };
        [
            code(&node.name),
            coupling_text(node.coupling),
            format!("{:?} kg", node.mass),
            shape,
            format!("{} m", vector(node.position)),
            format!("{} m/s", vector(node.velocity)),
        ]
    });
    section("Nodes", ["Name", "Coupling", "Mass", "Shape", "Position", "Velocity"], rows)
}

fn coupling_text(coupling: Coupling) -> String {
    match coupling {
        Coupling::Owned => "owned".to_owned(),
        Coupling::Kinetic(kinetic) => format!("kinetic, {}", latency_text(kinetic.latency)),
        Coupling::Iterative => "kinetic, iterative".to_owned(),
        Coupling::Compliant(link) => format!(
            "compliant, {:?} N/m, {:?} N.s/m, {:?} kg at the master, {}",
            link.stiffness,
            link.damping,
            link.master_mass,
            latency_text(link.latency)
        ),
    }
}

fn latency_text(latency: Latency) -> String {
    match latency {
        Latency::Auto => "latency found out".to_owned(),
        Latency::Known(steps) => format!("latency {steps}"),
    }
}

fn surfaces(model: &Model) -> String {
    let rows = model.surfaces.iter().map(|surface| {
        let shape = match surface.shape {
            SurfaceShape::Plane { normal } => format!("plane, normal {}", vector(normal)),
            SurfaceShape::Sphere { radius } => format!("sphere, radius {radius:?} m"),
            SurfaceShape::Box { size } => format!("box, edges {} m", vector(size)),
            SurfaceShape::Capsule { radius, half_axis } => {
                format!("capsule, radius {radius:?} m, half axis {} m", vector(half_axis))
            }
            SurfaceShape::Cylinder { radius, half_axis } => {
                format!("cylinder, radius {radius:?} m, half axis {} m", vector(half_axis))
            }
            SurfaceShape::Mesh { mesh } => {
                format!("mesh of {} triangles", model.meshes[mesh].triangles.len())
            }
        };
        let motion = match surface.motion {
            Motion::Fixed => "fixed".to_owned(),
            Motion::Input(frame) if frame.mass.is_finite() => {
                format!("by the master, {:?} kg, {}", frame.mass, latency_text(frame.coupling.latency))
            }
            Motion::Input(_) => "by the master, prescribed".to_owned(),
        };
        [code(&surface.name), shape, format!("{} m", vector(surface.position)), motion]
    });
    section("Surfaces", ["Name", "Shape", "Position", "Motion"], rows)
}

fn contacts(model: &Model) -> String {
    let rows = model.contacts.iter().map(|contact| {
        let [node, surface] = match &contact.between {
            Between::Pair { node, other } => [code(&model.nodes[*node].name), code(model.name_of(*other))],
            Between::Group(group) => group.sides.each_ref().map(members),
        };
        [
            code(&contact.name),
            node,
            surface,
            response(contact),
            match contact.mu {
                mu if mu <= 0.0 => "none".to_owned(),
                mu if contact.compliance.is_some() => format!("anchor spring, {mu:?}"),
                mu => format!("cone, {mu:?}"),
            },
        ]
    });
    section("Contacts", ["Name", "Node", "Surface", "Restitution", "Friction"], rows)
}

fn members(side: &Members) -> String {
    let count = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let counts = [count(side.nodes.len(), "node"), count(side.surfaces.len(), "surface")];
    counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn springs(model: &Model) -> String {
    if model.springs.is_empty() {
        return String::new();
    }
    let rows = model.springs.iter().map(|spring| {
        let [first, second] = spring.ends.map(|end| end_text(model, end));
        [
            code(&spring.name),
            first,
            second,
            format!("{:?} N/m", spring.stiffness),
            format!("{:?} N.s/m", spring.damping),
            format!("{:?} m", spring.length),
        ]
    });
    section("Springs", ["Name", "From", "To", "Stiffness", "Damping", "Length at rest"], rows)
}

fn joints(model: &Model) -> String {
    if model.joints.is_empty() {
        return String::new();
    }
    let rows = model.joints.iter().map(|joint| {
        let kind = match joint.kind {
            JointKind::Revolute => "revolute".to_owned(),
            JointKind::Cylindrical => "cylindrical".to_owned(),
            JointKind::Spherical => "spherical".to_owned(),
            JointKind::Prismatic => "prismatic".to_owned(),
            JointKind::Fixed => "fixed".to_owned(),
            JointKind::Distance { length } => format!("distance, {length:?} m"),
        };
        let motor = joint.motor.as_ref().map_or("none", |motor| match motor.drive {
            Drive::Rate => "rate",
            Drive::Position => "position",
        });
        let friction = joint.friction.map_or("none".to_owned(), |friction| {
            format!("{:?} at rest, {:?} sliding", friction.mu_static, friction.mu_kinetic)
        });
        let [first, second] = joint.ends.map(|end| end_text(model, end.anchor));
        let limits = [(joint.limits, ""), (joint.angle_limits, "angle ")];
        let mut limits: Vec<String> = limits
            .iter()
            .filter_map(|(limits, what)| Some(format!("{what}{}", limits_text(&(*limits)?))))
            .collect();
        if limits.is_empty() {
            limits.push("none".to_owned());
        }
        [code(&joint.name), kind, first, second, motor.to_owned(), friction, limits.join("; ")]
    });
    section("Joints", ["Name", "Kind", "From", "To", "Motor", "Friction", "Limits"], rows)
}

/// Limits of a joint.
fn limits_text(limits: &Limits) -> String {
    let restitution = format!("restitution {:?}", limits.restitution);
    match (limits.lower, limits.upper) {
        (Some(lower), Some(upper)) => format!("{lower:?} to {upper:?}, {restitution}"),
        (Some(lower), None) => format!("from {lower:?}, {restitution}"),
        (None, Some(upper)) => format!("up to {upper:?}, {restitution}"),
        (None, None) => restitution,
    }
}

/// An end of a spring or joint.
fn end_text(model: &Model, end: Anchor) -> String {
    let owner = end.node.map_or("the ground".to_owned(), |node| code(&model.nodes[node].name));
    format!("{owner} at {} m", vector(end.place))
}

/// Restitution, and the law of a continuous contact.
fn response(contact: &Contact) -> String {
    let restitution = contact.restitution;
    let Some(compliance) = &contact.compliance else { return format!("{restitution:?}") };
    let spring = compliance.law.spring();
    let force = format!("{:?} N/m^{:?}", spring.stiffness, spring.exponent);
    match compliance.law {
        ContinuousLaw::KelvinVoigt(law) => format!("Kelvin-Voigt, {force}, {:?} N.s/m", law.damping),
        ContinuousLaw::Hertz(_) => format!("Hertz, {force}"),
        ContinuousLaw::HuntCrossley(_) => format!("{restitution:?}, Hunt-Crossley, {force}"),
        ContinuousLaw::LankaraniNikravesh(_) => format!("{restitution:?}, Lankarani-Nikravesh, {force}"),
        ContinuousLaw::Flores(_) => format!("{restitution:?}, Flores, {force}"),
        ContinuousLaw::Schmucker { .. } => format!("{restitution:?}, Schmucker, {force}"),
    }
}

fn engine(model: &Model) -> String {
    let engine = &model.engine;
    let rows = [
        ("Internal step", format!("{:?} s", engine.step)),
        ("Gravity", format!("{} m/s2", vector(engine.gravity))),
        ("Scheme", scheme(engine)),
        ("Gamma", format!("{:?}", engine.gamma)),
        ("Steps split at impacts", yes_no(engine.time_of_impact)),
        ("Impact law", format!("{:?}", engine.impact).to_lowercase()),
        ("Penetration removed at position level", yes_no(engine.correction)),
        ("Energy balanced", yes_no(engine.energy_balance)),
        ("Solver", format!("{:?}", engine.solver).to_lowercase()),
        ("Tolerance", format!("{:?}", engine.tolerance)),
        ("Iterations at most", engine.max_iterations.to_string()),
    ];
    section("Engine", ["Setting", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))
}

fn scheme(engine: &Engine) -> String {
    match engine.scheme {
        Scheme::MoreauJean => format!("{}, theta {:?}", engine.scheme, engine.theta),
        scheme => scheme.to_string(),
    }
}

fn variable_table(variables: &[Variable]) -> String {
    let rows = variables.iter().filter_map(|variable| {
        let unit = match variable.kind {
            Kind::Real(unit) => unit.name(),
            Kind::Integer => "integer",
            Kind::Clock => "clock",
        };
        let role = match (variable.causality, variable.variability) {
            (Causality::Independent, _) => return None,
            (Causality::Parameter, Variability::Tunable) => "parameter, tunable",
            (Causality::Parameter, _) => "parameter",
            (Causality::Input, _) => "input",
            (Causality::Output, Variability::Discrete) => "output, per step",
            (Causality::Output, _) => "output",
        };
        Some([
            code(&variable.name),
            role.to_owned(),
            unit.to_owned(),
            variable.start.map(|start| format!("{start:?}")).unwrap_or_default(),
            escape(variable.description.as_str()).into_owned(),
        ])
    });
    section("Variables", ["Name", "Role", "Unit", "Start", "Meaning"], rows)
}

/// A heading and a table of cells that are HTML already.
fn section<const N: usize>(
    title: &str,
    columns: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let row = |tag: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = row("th", &columns.map(str::to_owned));
    let body: String = rows.into_iter().map(|cells| row("td", &cells)).collect();
    format!("<h2>{title}</h2>\n<div class=\"wide\"><table>\n{head}{body}</table></div>")
}

fn code(text: impl Display) -> String {
    format!("<code>{}</code>", escape(text.to_string()))
}

fn vector([x, y, z]: [f64; 3]) -> String {
    format!("({x:?}, {y:?}, {z:?})")
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}
