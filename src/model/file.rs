//! The model file as written.
//!
//! The types give the keys of the file with their type, range, default and meaning. [`schema`] is made from
//! them, and `structure` checks a file against that schema, so that all three always agree. What concerns
//! several keys at once is left to [`validate`].

use super::Model;
use super::diagnostics::{ModelFileError, Problem};
use super::friction::FrictionEntry;
use super::{copies, structure, validate};
use crate::engine::{Impact, SchemeName, SolverChoice};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;
use toml::Spanned;
use toml::de::DeTable;

/// Largest model file that is read.
pub const MAX_BYTES: u64 = 16 << 20;

/// A validated model and the text it was read from.
#[derive(Clone, Debug)]
pub struct SourceModel {
    /// The model.
    pub model: Model,
    /// The text of its file.
    pub source: String,
}

/// Reads and validates a model file.
pub fn read(path: &Path) -> Result<SourceModel, ModelFileError> {
    let source = read_text(path)?;
    let model = parse(&source, &path.display().to_string())?;
    Ok(SourceModel { model, source })
}

/// Reads the text of a model file, whatever it says.
pub fn read_text(path: &Path) -> Result<String, ModelFileError> {
    let origin = path.display().to_string();
    text_of(path).map_err(|problem| ModelFileError::new(&origin, "", vec![problem]))
}

/// Validates the text of a model file; `origin` names it in error messages, and files are looked for beside it.
pub fn parse(source: &str, origin: &str) -> Result<Model, ModelFileError> {
    let folder = Path::new(origin).parent().unwrap_or(Path::new(""));
    parse_file(source)
        .and_then(|file| validate::validate(&file, folder))
        .map_err(|problems| ModelFileError::new(origin, source, problems))
}

/// JSON Schema (draft 2020-12) of the model file.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(remove_null)
        .into_generator()
        .into_root_schema_for::<ModelFile>()
}

/// Made once: it takes as long as reading a model file.
static SCHEMA: LazyLock<Schema> = LazyLock::new(schema);

/// TOML has no null: an optional key is one that may be left out.
fn remove_null(schema: &mut Schema) {
    if schema.get("default").is_some_and(|default| default.is_null()) {
        schema.remove("default");
    }
    if let Some(types) = schema.get_mut("type").and_then(|types| types.as_array_mut()) {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(values) = schema.get_mut("enum").and_then(|values| values.as_array_mut()) {
        values.retain(|value| !value.is_null());
    }
    if let Some(options) = schema.get_mut("anyOf").and_then(|options| options.as_array_mut()) {
        options.retain(|option| option["type"] != "null");
        if let [serde_json::Value::Object(only)] = options.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.ensure_object().entry(key).or_insert(value);
            }
        }
    }
    transform_subschemas(&mut remove_null, schema);
}

fn items_above_zero(schema: &mut Schema) {
    if let Some(items) = schema.get_mut("items") {
        items["exclusiveMinimum"] = 0.0.into();
    }
}

fn items_from_one(schema: &mut Schema) {
    if let Some(items) = schema.get_mut("items") {
        items["minimum"] = 1.into();
    }
}

fn text_of(path: &Path) -> Result<String, Problem> {
    let cannot_read = |error| Problem::of_file(format!("cannot read the model file: {error}"));
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(cannot_read)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::of_file(format!("the model file is larger than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[offset];
        Problem::of_file(format!("not a text file: byte 0x{byte:02x} at offset {offset} is not UTF-8"))
            .hint("a model file is TOML text, saved as UTF-8")
    })
}

fn parse_file(source: &str) -> Result<ModelFile, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(source);
    if !errors.is_empty() {
        return Err(structure::syntax_problems(source, &errors));
    }
    if table.get_ref().is_empty() {
        return Err(vec![Problem::of_file("the model file is empty").hint(
            "a model needs at least [model] with a name, and a [[node]] with name and mass; \
             `contact-fmu new NAME` writes a commented one",
        )]);
    }
    let problems = structure::check(table.get_ref(), SCHEMA.as_value());
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut file = ModelFile::deserialize(toml::Deserializer::from(table)).map_err(|error| {
        let message = error.message();
        vec![error.span().map_or_else(|| Problem::of_file(message), |span| Problem::at(span, message))]
    })?;
    copies::expand(&mut file)?;
    Ok(file)
}

/// Model file of contact-fmu: TOML, SI units.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "contact-fmu model file")]
pub(super) struct ModelFile {
    /// What the model is called.
    pub model: ModelSection,
    /// Default experiment of the FMU.
    #[serde(default)]
    pub experiment: ExperimentSection,
    /// Time stepping and contact solver.
    #[serde(default)]
    pub engine: EngineSection,
    /// Nodes: point masses and rigid bodies that move, by the FMU or by its master. At least one.
    #[serde(default)]
    pub node: Vec<NodeEntry>,
    /// Surfaces that nodes can touch.
    #[serde(default)]
    pub surface: Vec<SurfaceEntry>,
    /// Contacts: which nodes can touch which surfaces and other nodes, and how.
    #[serde(default)]
    pub contact: Vec<ContactEntry>,
    /// Springs and dampers between nodes that the FMU moves, or between such a node and the ground.
    #[serde(default)]
    pub spring: Vec<SpringEntry>,
    /// Joints between nodes that the FMU moves, or between such a node and the ground.
    #[serde(default)]
    pub joint: Vec<JointEntry>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelSection {
    /// String, required: FMI model identifier, a C identifier.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// String on one line, default empty: what the model shows.
    #[schemars(with = "Option<String>")]
    pub description: Option<Spanned<String>>,
    /// Names, default all: variables that the FMU has; "*" stands for any characters, as in "ball_1.*". Inputs that a master must set, [engine] and gravity are always included.
    #[schemars(with = "Option<Vec<String>>")]
    pub outputs: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ExperimentSection {
    /// Number above 0 in s, default 1.0: stop time.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub stop: f64,
    /// Number above 0 in s, default 1e-3: preferred communication step.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub step: f64,
}

impl Default for ExperimentSection {
    fn default() -> Self {
        ExperimentSection { stop: 1.0, step: 1e-3 }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EngineSection {
    /// Number above 0 in s, default the step of [experiment]: longest internal step; a communication step is cut into equal internal steps.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0.0))]
    pub step: Option<Spanned<f64>>,
    /// Three numbers in m/s2, default [0.0, 0.0, -9.81]: acceleration of gravity.
    pub gravity: [f64; 3],
    /// String, default "moreau-jean": time stepping scheme.
    pub scheme: SchemeName,
    /// Number from 0 to 1, default 0.5, for scheme "moreau-jean" only: weight of the end of the step; 0.5 keeps energy, 1 is implicit Euler.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub theta: Option<Spanned<f64>>,
    /// Whole number from 1 to 100, default 3, for scheme "midpoint" only: fixed-point sweeps per internal step, each with one contact problem.
    #[schemars(with = "Option<u32>", range(min = 1, max = 100))]
    pub sweeps: Option<Spanned<u32>>,
    /// Number from 0 to 1, default 0.6, for scheme "multistep" only: spectral radius of what is much faster than the step; 1 damps nothing.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub rho: Option<Spanned<f64>>,
    /// Number from 0 to 1/3, default 0.1, for scheme "hht" only: damping of what is faster than the step; 0 damps nothing.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 0.3333333333333333))]
    pub alpha: Option<Spanned<f64>>,
    /// Number from 0 to 1, default 0.5: a contact counts as closed when it would close within this part of the step.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma: f64,
    /// Boolean, default true with scheme "moreau-jean" and false with the others, which do not support it: split steps at impacts.
    #[schemars(with = "Option<bool>")]
    pub time_of_impact: Option<Spanned<bool>>,
    /// String, default "consistent": how contacts with restitution rebound.
    pub impact: Impact,
    /// Boolean, default true with time_of_impact and with scheme "midpoint", else false: remove penetration at position level, without adding energy.
    pub correction: Option<bool>,
    /// Boolean, default false, with scheme "moreau-jean" and theta = 0.5, and with scheme "midpoint": the energy of bodies that rotate or are in joints decreases by what impacts, friction and damping dissipate, to round-off.
    #[schemars(with = "Option<bool>")]
    pub energy_balance: Option<Spanned<bool>>,
    /// Boolean, default false: a simulation may start with nodes inside surfaces.
    pub allow_initial_penetration: bool,
    /// String, default "auto": contact solver.
    #[schemars(with = "SolverChoice")]
    pub solver: Spanned<SolverChoice>,
    /// Number above 0 and below 1, default 1e-10: relative residual at which a contact problem counts as solved.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub tolerance: f64,
    /// Whole number from 1 to 4294967295, default 1000: limit of solver iterations.
    #[schemars(range(min = 1, max = 4294967295u32))]
    pub max_iterations: u32,
}

impl Default for EngineSection {
    fn default() -> Self {
        EngineSection {
            step: None,
            gravity: [0.0, 0.0, -9.81],
            scheme: SchemeName::MoreauJean,
            theta: None,
            sweeps: None,
            rho: None,
            alpha: None,
            gamma: 0.5,
            time_of_impact: None,
            impact: Impact::Consistent,
            correction: None,
            energy_balance: None,
            allow_initial_penetration: false,
            solver: Spanned::new(0..0, SolverChoice::Auto),
            tolerance: 1e-10,
            max_iterations: 1000,
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeEntry {
    /// String, required: letters, digits and _, unique among nodes, surfaces, contacts, springs and joints.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// String, default "kinetic": who moves the node.
    #[schemars(with = "Option<CouplingName>")]
    pub coupling: Option<Spanned<CouplingName>>,
    /// Number above 0 in kg, required: mass.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub mass: f64,
    /// Three numbers above 0 in kg.m2, default none: principal moments of inertia in the body frame; makes the node a rigid body.
    #[schemars(with = "Option<[f64; 3]>", transform = items_above_zero)]
    pub inertia: Option<Spanned<[f64; 3]>>,
    /// Table, default a point: shape around the position.
    #[schemars(with = "Option<NodeShapeEntry>")]
    pub shape: Option<Spanned<NodeShapeEntry>>,
    /// Three numbers in m, default [0.0, 0.0, 0.0]: initial position.
    #[schemars(with = "Option<[f64; 3]>")]
    pub position: Option<Spanned<[f64; 3]>>,
    /// Three numbers in m/s, default [0.0, 0.0, 0.0]: initial velocity.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Four numbers w x y z, default [1.0, 0.0, 0.0, 0.0]: initial orientation, a unit quaternion from body to world; needs inertia.
    #[schemars(with = "Option<[f64; 4]>")]
    pub orientation: Option<Spanned<[f64; 4]>>,
    /// Three numbers in rad/s, default [0.0, 0.0, 0.0]: initial angular velocity in world components; needs inertia.
    #[schemars(with = "Option<[f64; 3]>")]
    pub angular_velocity: Option<Spanned<[f64; 3]>>,
    /// "auto", 0 or 1, default "auto", for coupling "kinetic" and "compliant" only: communication steps after which the master applies a force.
    #[schemars(with = "Option<LatencyEntry>")]
    pub latency: Option<Spanned<LatencyEntry>>,
    /// Boolean, default true, for coupling "kinetic" only: distribute each impulse over two steps, so that both position and velocity are correct afterwards.
    #[schemars(with = "Option<bool>")]
    pub shaping: Option<Spanned<bool>>,
    /// Boolean, default true, for coupling "kinetic" only: estimate the mass from the response of the node.
    #[schemars(with = "Option<bool>")]
    pub adapt: Option<Spanned<bool>>,
    /// Boolean, default true, for coupling "kinetic" only: remove energy that the coupling has added.
    #[schemars(with = "Option<bool>")]
    pub guard: Option<Spanned<bool>>,
    /// Boolean or "given", for coupling "kinetic" only: whether the node is a point of a mechanism of the master, such as the tip of an arm; the response of all such nodes to forces on one another is then estimated, or with "given" told by the master. If left out, the FMU finds out by small test forces.
    #[schemars(with = "Option<MechanismEntry>")]
    pub mechanism: Option<Spanned<MechanismEntry>>,
    /// Boolean, default false, for coupling "kinetic" only: the master repeats steps until state and force agree.
    #[schemars(with = "Option<bool>")]
    pub iterative: Option<Spanned<bool>>,
    /// Table with stiffness, damping and master_mass, required for coupling "compliant" and for it only: spring and damper between the mass that touches and the master's.
    #[schemars(with = "Option<ComplianceEntry>")]
    pub compliance: Option<Spanned<ComplianceEntry>>,
    /// Table with count, spacing and scatter, default one node: copies on a grid, with the names name_1, name_2 and so on.
    #[schemars(with = "Option<CopiesEntry>")]
    pub copies: Option<Spanned<CopiesEntry>>,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CopiesEntry {
    /// Three whole numbers from 1 up, required: copies along x, y and z.
    #[schemars(transform = items_from_one)]
    pub count: [u32; 3],
    /// Three numbers in m, required: distance of neighbours along x, y and z.
    pub spacing: [f64; 3],
    /// Number from 0 up in m, default 0.0: largest deviation of positions from the grid along each axis; the same in every build.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub scatter: f64,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CouplingName {
    /// The master moves the node and applies the contact force that the FMU gives.
    #[default]
    Kinetic,
    /// The FMU moves the mass that touches; a spring and a damper join it to the master's.
    Compliant,
    /// The FMU itself moves the node.
    Owned,
}

/// A number of communication steps, or a word.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum LatencyEntry {
    Steps(u8),
    Word(LatencyWord),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LatencyWord {
    Auto,
}

impl JsonSchema for LatencyEntry {
    fn schema_name() -> Cow<'static, str> {
        "Latency".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": ["auto", 0, 1] })
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum MechanismEntry {
    Said(bool),
    Word(MechanismWord),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MechanismWord {
    Given,
}

impl JsonSchema for MechanismEntry {
    fn schema_name() -> Cow<'static, str> {
        "Mechanism".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [true, false, "given"] })
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ComplianceEntry {
    /// Number above 0 in N/m, required: stiffness of the spring, in all directions.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub stiffness: f64,
    /// Number from 0 up in N.s/m, default 0.0: coefficient of the damper, in all directions.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub damping: f64,
    /// Number above 0 in kg, required: mass that the master moves.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub master_mass: f64,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum NodeShapeEntry {
    /// A sphere around the position.
    Sphere {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
    },
    /// A disc without thickness, which touches with its rim; needs inertia.
    Disc {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
        /// Three numbers, default [0.0, 1.0, 0.0]: direction across the disc in the body frame; it is scaled to length 1.
        #[schemars(with = "Option<[f64; 3]>")]
        axis: Option<Spanned<[f64; 3]>>,
    },
    /// A box around the position, its edges along the axes of the body frame; needs inertia.
    Box {
        /// Three numbers above 0 in m, required: lengths of the edges.
        #[schemars(transform = items_above_zero)]
        size: [f64; 3],
    },
    /// A capsule around the position: a cylinder with half balls as ends; needs inertia.
    Capsule {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
        /// Number above 0 in m, required: distance of the centres of its ends.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        length: f64,
        /// Three numbers, default [0.0, 0.0, 1.0]: direction of the axis in the body frame; it is scaled to length 1.
        #[schemars(with = "Option<[f64; 3]>")]
        axis: Option<Spanned<[f64; 3]>>,
    },
    /// A cylinder around the position, with flat ends; needs inertia.
    Cylinder {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
        /// Number above 0 in m, required: distance of the two ends.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        length: f64,
        /// Three numbers, default [0.0, 0.0, 1.0]: direction of the axis in the body frame; it is scaled to length 1.
        #[schemars(with = "Option<[f64; 3]>")]
        axis: Option<Spanned<[f64; 3]>>,
    },
    /// Points of the body, each of which may touch; more than one needs inertia.
    Points(
        /// Points of three numbers in m, required: places in the body frame.
        Vec<[f64; 3]>,
    ),
    /// The convex hull of the corners in a file; needs inertia.
    Hull {
        /// String, required: STL or OBJ file, beside the model file; a closed mesh, or points alone. Its origin is the position.
        #[schemars(with = "String")]
        file: Spanned<String>,
        /// Number above 0, default 1.0: factor that converts lengths in the file to m.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        scale: f64,
    },
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SurfaceEntry {
    /// String, required: letters, digits and _, unique among nodes, surfaces, contacts, springs and joints.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Table, required: shape of the surface.
    pub shape: SurfaceShapeEntry,
    /// Three numbers in m, default [0.0, 0.0, 0.0]: a point of a plane, the centre of another shape; with motion "input", the initial origin of its frame.
    #[serde(default)]
    pub position: [f64; 3],
    /// String, default "fixed": how the surface moves.
    #[schemars(with = "Option<MotionName>")]
    pub motion: Option<Spanned<MotionName>>,
    /// Number above 0 in kg, default infinite, for motion "input" only: mass of the surface; without it, contact does not change its motion.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0.0))]
    pub mass: Option<Spanned<f64>>,
    /// Three numbers above 0 in kg.m2, default infinite, for motion "input" only: principal moments of inertia in the surface's frame; without them, contact does not change its rotation.
    #[schemars(with = "Option<[f64; 3]>", transform = items_above_zero)]
    pub inertia: Option<Spanned<[f64; 3]>>,
    /// Four numbers w x y z, default [1.0, 0.0, 0.0, 0.0], not for a plane that stands still: orientation, a unit quaternion from the surface's frame to the world; with motion "input" the initial one.
    #[schemars(with = "Option<[f64; 4]>")]
    pub orientation: Option<Spanned<[f64; 4]>>,
    /// Three numbers in m/s, default [0.0, 0.0, 0.0], for motion "input" only: initial velocity of the frame's origin.
    #[schemars(with = "Option<[f64; 3]>")]
    pub velocity: Option<Spanned<[f64; 3]>>,
    /// Three numbers in rad/s, default [0.0, 0.0, 0.0], for motion "input" only: initial angular velocity in world components.
    #[schemars(with = "Option<[f64; 3]>")]
    pub angular_velocity: Option<Spanned<[f64; 3]>>,
    /// "auto", 0 or 1, default "auto", for motion "input" only: communication steps after which the master applies a force.
    #[schemars(with = "Option<LatencyEntry>")]
    pub latency: Option<Spanned<LatencyEntry>>,
    /// Boolean, default true, for motion "input" only: distribute each impulse over two steps, so that both position and velocity are correct afterwards.
    #[schemars(with = "Option<bool>")]
    pub shaping: Option<Spanned<bool>>,
    /// Boolean, default true, for motion "input" only: estimate the mass from the response of the surface.
    #[schemars(with = "Option<bool>")]
    pub adapt: Option<Spanned<bool>>,
    /// Boolean, default true, for motion "input" only: remove energy that the coupling has added.
    #[schemars(with = "Option<bool>")]
    pub guard: Option<Spanned<bool>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum SurfaceShapeEntry {
    /// A plane, solid on the side that its normal points away from.
    Plane {
        /// Three numbers, required: normal out of the solid, with motion "input" in the surface's frame; it is scaled to length 1.
        #[schemars(with = "[f64; 3]")]
        normal: Spanned<[f64; 3]>,
    },
    /// A ball around the position.
    Sphere {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
    },
    /// A box around the position, its edges along the axes of the surface's frame.
    Box {
        /// Three numbers above 0 in m, required: lengths of the edges.
        #[schemars(transform = items_above_zero)]
        size: [f64; 3],
    },
    /// A cylinder around the position, with flat ends.
    Cylinder {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
        /// Number above 0 in m, required: distance of the two ends.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        length: f64,
        /// Three numbers, default [0.0, 0.0, 1.0]: direction of the axis in the surface's frame; it is scaled to length 1.
        #[schemars(with = "Option<[f64; 3]>")]
        axis: Option<Spanned<[f64; 3]>>,
    },
    /// A capsule around the position: a cylinder with half balls as ends.
    Capsule {
        /// Number above 0 in m, required: radius.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        radius: f64,
        /// Number above 0 in m, required: distance of the centres of its ends.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        length: f64,
        /// Three numbers, default [0.0, 0.0, 1.0]: direction of the axis in the surface's frame; it is scaled to length 1.
        #[schemars(with = "Option<[f64; 3]>")]
        axis: Option<Spanned<[f64; 3]>>,
    },
    /// Triangles of a file, solid on the side that their normals point away from; they need not be convex.
    Mesh {
        /// String, required: STL or OBJ file, beside the model file. Its origin is the position.
        #[schemars(with = "String")]
        file: Spanned<String>,
        /// Number above 0, default 1.0: factor that converts lengths in the file to m.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        scale: f64,
        /// Boolean, default false: the mesh may have a boundary; the side behind it is solid.
        #[serde(default)]
        open: bool,
    },
    /// Heights over a grid, solid below; its middle is the position.
    Heightfield {
        /// String, required: text file with rows of heights in m, beside the model file; a row is along x, the next one a cell farther along y.
        #[schemars(with = "String")]
        file: Spanned<String>,
        /// Two numbers above 0 in m, required: distance of neighbouring heights along x and y.
        #[schemars(transform = items_above_zero)]
        cell: [f64; 2],
        /// Number above 0, default 1.0: factor of the heights.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        scale: f64,
    },
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MotionName {
    /// The surface stands still.
    #[default]
    Fixed,
    /// The master moves the surface and may apply the contact force that the FMU gives.
    Input,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContactEntry {
    /// String, default the two names joined by _: letters, digits and _, unique among nodes, surfaces, contacts, springs and joints. With "*" in `between`, a name makes the contacts one group with one set of variables, the totals. Without a name each pair has variables of its own; more than 10000 pairs are a group in any case, called all, all_floor and so on.
    #[schemars(with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// Two names, required: a node and a surface, or two nodes; "*" stands for every node and every surface that the other side can touch, "ball_*" for those whose names begin with "ball_". If several entries match a pair, the one with more exact names counts.
    #[schemars(with = "[String; 2]")]
    pub between: Spanned<[Spanned<String>; 2]>,
    /// Number from 0 to 1, default 0.0: Newton coefficient of restitution.
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 1.0))]
    pub restitution: Option<Spanned<f64>>,
    /// Table, default no friction: friction law.
    #[schemars(with = "Option<FrictionEntry>")]
    pub friction: Option<Spanned<FrictionEntry>>,
    /// Number above 0 in N/m, default none: normal compliance by which hyperstatic contacts share their load.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0.0))]
    pub normal_stiffness: Option<Spanned<f64>>,
    /// Table, default hard contact: law of a continuous contact, in which shapes overlap and a force pushes them apart.
    #[schemars(with = "Option<ContactComplianceEntry>")]
    pub compliance: Option<Spanned<ContactComplianceEntry>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum ContactComplianceEntry {
    /// A linear spring and a linear damper: F = K d + D d'.
    KelvinVoigt {
        /// Number above 0 in N/m, required: stiffness K.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: f64,
        /// Number from 0 up in N.s/m, default 0.0: damping D.
        #[serde(default)]
        #[schemars(range(min = 0.0))]
        damping: f64,
        /// Number above 0 in N/m, default the stiffness: stiffness of the spring by which friction acts.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        tangential_stiffness: Option<f64>,
    },
    /// An elastic contact: F = K d^n.
    Hertz {
        /// Number above 0 in N/m^n, required: stiffness K.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: f64,
        /// Number from 1 to 10, default 1.5: exponent n.
        #[serde(default = "default_exponent")]
        #[schemars(range(min = 1.0, max = 10.0))]
        exponent: f64,
        /// Number above 0 in N/m, default that of the normal force at its depth: stiffness of the spring by which friction acts.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        tangential_stiffness: Option<f64>,
    },
    /// F = K d^n (1 + 3/2 (1 - e) d'/v), with the speed v at first touch.
    HuntCrossley {
        /// Number above 0 in N/m^n, required: stiffness K.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: f64,
        /// Number from 1 to 10, default 1.5: exponent n.
        #[serde(default = "default_exponent")]
        #[schemars(range(min = 1.0, max = 10.0))]
        exponent: f64,
        /// Number from 0 to 1, required: coefficient of restitution e.
        #[schemars(range(min = 0.0, max = 1.0))]
        restitution: f64,
        /// Number above 0 in N/m, default that of the normal force at its depth: stiffness of the spring by which friction acts.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        tangential_stiffness: Option<f64>,
    },
    /// F = K d^n (1 + 3/4 (1 - e^2) d'/v), with the speed v at first touch.
    LankaraniNikravesh {
        /// Number above 0 in N/m^n, required: stiffness K.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: f64,
        /// Number from 1 to 10, default 1.5: exponent n.
        #[serde(default = "default_exponent")]
        #[schemars(range(min = 1.0, max = 10.0))]
        exponent: f64,
        /// Number from 0 to 1, required: coefficient of restitution e.
        #[schemars(range(min = 0.0, max = 1.0))]
        restitution: f64,
        /// Number above 0 in N/m, default that of the normal force at its depth: stiffness of the spring by which friction acts.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        tangential_stiffness: Option<f64>,
    },
    /// F = K d^n (1 + 8/5 (1 - e)/e d'/v), with the speed v at first touch.
    Flores {
        /// Number above 0 in N/m^n, required: stiffness K.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: f64,
        /// Number from 1 to 10, default 1.5: exponent n.
        #[serde(default = "default_exponent")]
        #[schemars(range(min = 1.0, max = 10.0))]
        exponent: f64,
        /// Number above 0 and at most 1, required: coefficient of restitution e.
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        restitution: f64,
        /// Number above 0 in N/m, default that of the normal force at its depth: stiffness of the spring by which friction acts.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        tangential_stiffness: Option<f64>,
    },
    /// F = K d (1 + (1 - e)/e d'/v), with the speed v at first touch, and friction by an anchor spring.
    Schmucker {
        /// Number above 0 in N/m, required: stiffness K.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: f64,
        /// Number above 0 and at most 1, required: coefficient of restitution e.
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        restitution: f64,
        /// Number from 0 up, default 0.0: friction coefficient.
        #[serde(default)]
        #[schemars(range(min = 0.0))]
        mu: f64,
        /// Number above 0 in N/m, default the stiffness: stiffness of the spring by which friction acts.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        tangential_stiffness: Option<f64>,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SpringEntry {
    /// String, required: letters, digits and _, unique among nodes, surfaces, contacts, springs and joints.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Two names, required: nodes with coupling "owned"; "ground" stands for the fixed frame.
    #[schemars(with = "[String; 2]")]
    pub between: Spanned<[Spanned<String>; 2]>,
    /// Number from 0 up in N/m, required: stiffness.
    #[schemars(range(min = 0.0))]
    pub stiffness: f64,
    /// Number from 0 up in N.s/m, default 0.0: coefficient of the damper.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub damping: f64,
    /// Number from 0 up in m, default 0.0: length at rest.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub length: f64,
    /// Two points of three numbers in m, default the centres of the nodes and the origin of the ground: the ends, each in the frame of its node or, on the ground, in the world's.
    #[schemars(with = "Option<[[f64; 3]; 2]>")]
    pub anchors: Option<Spanned<[[f64; 3]; 2]>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = exactly_one_kind)]
pub(super) struct JointEntry {
    /// String, required: letters, digits and _, unique among nodes, surfaces, contacts, springs and joints.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Two names, required: nodes with coupling "owned"; "ground" stands for the fixed frame.
    #[schemars(with = "[String; 2]")]
    pub between: Spanned<[Spanned<String>; 2]>,
    /// Table with axis and position: the ends turn about the axis.
    #[schemars(with = "Option<AxisEntry>")]
    pub revolute: Option<Spanned<AxisEntry>>,
    /// Table with axis and position: the ends turn about the axis and slide along it.
    #[schemars(with = "Option<AxisEntry>")]
    pub cylindrical: Option<Spanned<AxisEntry>>,
    /// Table with position: the ends turn about the position.
    #[schemars(with = "Option<PlaceEntry>")]
    pub spherical: Option<Spanned<PlaceEntry>>,
    /// Table with axis and position: the ends slide along the axis.
    #[schemars(with = "Option<AxisEntry>")]
    pub prismatic: Option<Spanned<AxisEntry>>,
    /// Table, may be empty: the ends do not move against each other.
    #[schemars(with = "Option<FixedEntry>")]
    pub fixed: Option<Spanned<FixedEntry>>,
    /// Table, may be empty: the ends keep their distance.
    #[schemars(with = "Option<DistanceEntry>")]
    pub distance: Option<Spanned<DistanceEntry>>,
    /// Table, default none, for revolute, cylindrical and prismatic only: friction in the joint.
    #[schemars(with = "Option<JointFrictionEntry>")]
    pub friction: Option<Spanned<JointFrictionEntry>>,
    /// Table with rate or position, default none, for revolute and prismatic only: rate or position that a motor imposes on the angle or distance of the joint, which starts at 0.
    #[schemars(with = "Option<DriveEntry>")]
    pub drive: Option<Spanned<DriveEntry>>,
    /// Table with lower, upper or both, default none, for revolute, prismatic and cylindrical only: hard stops of the angle in rad of a revolute joint, of the distance in m of the others; both start at 0.
    #[schemars(with = "Option<LimitsEntry>")]
    pub limits: Option<Spanned<LimitsEntry>>,
    /// Table with lower, upper or both, default none, for cylindrical only: hard stops of the angle in rad, which starts at 0.
    #[schemars(with = "Option<LimitsEntry>")]
    pub angle_limits: Option<Spanned<LimitsEntry>>,
}

/// Keys of a joint of which it has exactly one.
const JOINT_KINDS: [&str; 6] = ["revolute", "cylindrical", "spherical", "prismatic", "fixed", "distance"];

fn exactly_one_kind(schema: &mut Schema) {
    let kinds = JOINT_KINDS.map(|kind| serde_json::json!({ "required": [kind] }));
    schema.insert("oneOf".to_owned(), kinds.to_vec().into());
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AxisEntry {
    /// Three numbers, required: direction of the axis at the start, in world components; it is scaled to length 1.
    #[schemars(with = "[f64; 3]")]
    pub axis: Spanned<[f64; 3]>,
    /// Three numbers in m, required: position of the joint at the start, in world components.
    #[schemars(with = "[f64; 3]")]
    pub position: Spanned<[f64; 3]>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaceEntry {
    /// Three numbers in m, required: position of the joint at the start, in world components.
    #[schemars(with = "[f64; 3]")]
    pub position: Spanned<[f64; 3]>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FixedEntry {
    /// Three numbers in m, default the centre of the second node, or of the first if the second is the ground: position of the joint at the start, in world components.
    pub position: Option<[f64; 3]>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DistanceEntry {
    /// Number above 0 in m, default the distance at the start, which it must agree with: distance of the ends.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0.0))]
    pub length: Option<Spanned<f64>>,
    /// Two points of three numbers in m, default the centres of the nodes and the origin of the ground: the ends, each in the frame of its node or, on the ground, in the world's.
    #[schemars(with = "Option<[[f64; 3]; 2]>")]
    pub anchors: Option<Spanned<[[f64; 3]; 2]>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JointFrictionEntry {
    /// Number from 0 up, required: friction coefficient up to the threshold.
    #[schemars(range(min = 0.0))]
    pub mu_static: f64,
    /// Number from 0 up to mu_static, required: friction coefficient above the threshold.
    #[schemars(range(min = 0.0))]
    pub mu_kinetic: f64,
    /// Number above 0 in m, required for revolute and cylindrical, without meaning for prismatic: radius of the pin.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub radius: Option<f64>,
    /// Number above 0 in m, required: distance from the position of the joint to either end of its bearing, along the axis.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub half_length: f64,
    /// Number above 0 in m/s, default 1e-3: sliding speed up to which mu_static counts.
    #[serde(default = "default_joint_threshold")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub threshold: f64,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsEntry {
    /// Number, default none: least value, not above 0.
    pub lower: Option<f64>,
    /// Number, default none: largest value, not below 0.
    pub upper: Option<f64>,
    /// Number from 0 to 1, default 0.0: coefficient of restitution at the stops.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum DriveEntry {
    /// The rate: rad/s for revolute, m/s for prismatic.
    Rate(ProfileEntry),
    /// The angle in rad for revolute, the distance in m for prismatic; both start at 0.
    Position(ProfileEntry),
}

/// A function of time.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum ProfileEntry {
    Word(ProfileWord),
    Constant(f64),
    Shape(ProfileShapeEntry),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProfileWord {
    Input,
}

impl JsonSchema for ProfileEntry {
    fn schema_name() -> Cow<'static, str> {
        "Profile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "\"input\" for an FMU input, a number, or a table with sine, ramp or table",
            "anyOf": [
                { "const": "input" },
                { "type": "number" },
                generator.subschema_for::<ProfileShapeEntry>(),
            ],
        })
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum ProfileShapeEntry {
    /// offset + amplitude sin(2 pi frequency t + phase).
    Sine {
        /// Number, required: amplitude.
        amplitude: f64,
        /// Number from 0 up in Hz, required: frequency.
        #[schemars(range(min = 0.0))]
        frequency: f64,
        /// Number in rad, default 0.0: phase.
        #[serde(default)]
        phase: f64,
        /// Number, default 0.0: mean.
        #[serde(default)]
        offset: f64,
    },
    /// From one value to another along half a cosine.
    Ramp {
        /// Number, required: value before.
        from: f64,
        /// Number, required: value after.
        to: f64,
        /// Number in s, required: when it begins.
        start: f64,
        /// Number above 0 in s, required: how long it takes.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        duration: f64,
    },
    /// Straight lines between points.
    Table(
        /// Points of two numbers, required: time in s and value, in the order of time; the first and the last value hold beyond them.
        Vec<[f64; 2]>,
    ),
}

fn default_exponent() -> f64 {
    1.5
}

fn default_joint_threshold() -> f64 {
    1e-3
}
