//! `documentation/index.html`: what the model is, what its variables mean, how to run it.

use crate::description::write::GENERATION_TOOL;
use crate::model::{Model, NodeShape, SurfaceShape};
use crate::variables::{Causality, Kind, Variability, Variable};
use quick_xml::escape::escape;
use std::fmt::Display;

const SHELL: &str = include_str!("../../fmu-template/skeleton/documentation.html");

/// The page, complete in itself.
pub fn page(model: &Model, variables: &[Variable]) -> String {
    let content = [
        introduction(model),
        usage(model),
        nodes(model),
        surfaces(model),
        contacts(model),
        engine(model),
        variable_table(variables),
    ];
    SHELL.replace("{{title}}", &escape(model.name.as_str())).replace("{{content}}", &content.join("\n"))
}

fn introduction(model: &Model) -> String {
    format!(
        "<h1>{}</h1>\n<p>{}</p>\n\
         <p>An FMI 2.0 co-simulation FMU made by {}: point masses under gravity and external forces, with hard \
         unilateral contacts (impact with restitution, Coulomb friction). All values are in SI units.</p>",
        escape(model.name.as_str()),
        escape(model.description.as_str()),
        escape(GENERATION_TOOL),
    )
}

fn usage(model: &Model) -> String {
    let name = escape(model.name.as_str());
    format!(
        "<h2>How to use it</h2>\n\
         <p>Any master for FMI 2.0 co-simulation runs it. The suggested experiment goes from 0 to {stop:?} s in \
         communication steps of {step:?} s; any positive step is accepted, and a step is cut into equal substeps \
         no longer than <code>engine.step</code>.</p>\n\
         <pre>contact-fmu simulate {name}.fmu -o {name}.csv</pre>\n\
         <ul>\n\
         <li>Parameters are set before initialization; tunable ones also between steps.</li>\n\
         <li>Positions and velocities are outputs whose start values may be set before initialization.</li>\n\
         <li>External forces are inputs; their time derivatives may be given too.</li>\n\
         <li>Contact forces are means over the last communication step: hold them, do not extrapolate.</li>\n\
         <li>The state can be saved, restored and serialized; directional derivatives are provided.</li>\n\
         <li>The model itself is in <code>resources/model.toml</code>.</li>\n\
         </ul>",
        stop = model.experiment.stop,
        step = model.experiment.step,
    )
}

fn nodes(model: &Model) -> String {
    let rows = model.nodes.iter().map(|node| {
        let shape = match &node.shape {
            NodeShape::Point => "point".to_owned(),
            NodeShape::Sphere { radius } => format!("sphere, radius {radius:?} m"),
            NodeShape::Disc { radius, axis } => format!("disc, radius {radius:?} m, axis {}", vector(*axis)),
            NodeShape::Box { size } => format!("box, edges {} m", vector(*size)),
            NodeShape::Points { points } => format!("points, {} of them", points.len()),
        };
        [
            code(&node.name),
            format!("{:?} kg", node.mass),
            shape,
            format!("{} m", vector(node.position)),
            format!("{} m/s", vector(node.velocity)),
        ]
    });
    section("Nodes", ["Name", "Mass", "Shape", "Position", "Velocity"], rows)
}

fn surfaces(model: &Model) -> String {
    let rows = model.surfaces.iter().map(|surface| {
        let shape = match surface.shape {
            SurfaceShape::Plane { normal } => format!("plane, normal {}", vector(normal)),
        };
        [code(&surface.name), shape, format!("{} m", vector(surface.position))]
    });
    section("Surfaces", ["Name", "Shape", "Position"], rows)
}

fn contacts(model: &Model) -> String {
    let rows = model.contacts.iter().map(|contact| {
        [
            code(&contact.name),
            code(&model.nodes[contact.node].name),
            code(&model.surfaces[contact.surface].name),
            format!("{:?}", contact.restitution),
            if contact.mu > 0.0 { format!("cone, {:?}", contact.mu) } else { "none".to_owned() },
        ]
    });
    section("Contacts", ["Name", "Node", "Surface", "Restitution", "Friction"], rows)
}

fn engine(model: &Model) -> String {
    let engine = &model.engine;
    let rows = [
        ("Internal step", format!("{:?} s", engine.step)),
        ("Gravity", format!("{} m/s2", vector(engine.gravity))),
        ("Theta", format!("{:?}", engine.theta)),
        ("Gamma", format!("{:?}", engine.gamma)),
        ("Steps split at impacts", yes_no(engine.time_of_impact)),
        ("Penetration removed at position level", yes_no(engine.correction)),
        ("Solver", format!("{:?}", engine.solver).to_lowercase()),
        ("Tolerance", format!("{:?}", engine.tolerance)),
        ("Iterations at most", engine.max_iterations.to_string()),
    ];
    section("Engine", ["Setting", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))
}

fn variable_table(variables: &[Variable]) -> String {
    let rows = variables.iter().map(|variable| {
        let unit = match variable.kind {
            Kind::Real(unit) => unit.name(),
            Kind::Integer => "integer",
        };
        let role = match (variable.causality, variable.variability) {
            (Causality::Independent, _) => "time",
            (Causality::Parameter, Variability::Tunable) => "parameter, tunable",
            (Causality::Parameter, _) => "parameter",
            (Causality::Input, _) => "input",
            (Causality::Output, Variability::Discrete) => "output, per step",
            (Causality::Output, _) => "output",
        };
        [
            code(&variable.name),
            role.to_owned(),
            unit.to_owned(),
            variable.start.map(|start| format!("{start:?}")).unwrap_or_default(),
            escape(variable.description.as_str()).into_owned(),
        ]
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
