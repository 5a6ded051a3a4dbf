//! A model as the net handles it: every entry of a model file as plain data, which can be moved, scaled, reordered, made
//! smaller and written.

pub use contact_fmu::model::JointFriction;
use nalgebra::{UnitQuaternion, Vector3};

/// A vector.
pub type Vector = Vector3<f64>;
/// An orientation.
pub type Turn = UnitQuaternion<f64>;

/// The lengths, masses and times that the numbers of a scene are about.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Size of its bodies.
    pub length: f64,
    /// Their mass.
    pub mass: f64,
    /// Time in which they move by their size.
    pub time: f64,
}

impl Units {
    /// Length over time.
    pub fn speed(&self) -> f64 {
        self.length / self.time
    }

    /// Mass times speed squared.
    pub fn energy(&self) -> f64 {
        self.mass * self.speed() * self.speed()
    }
}

/// A model, how long it is run, and what its master does.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What its numbers are about.
    pub units: Units,
    /// Communication steps.
    pub steps: usize,
    /// Their length.
    pub step: f64,
    /// Internal steps in each.
    pub substeps: u32,
    /// Gravity.
    pub gravity: Vector,
    /// Time stepping.
    pub scheme: Scheme,
    /// Split steps at impacts.
    pub time_of_impact: bool,
    /// Remove penetration; none for the default.
    pub correction: Option<bool>,
    /// Activation of captured contacts; none for the default.
    pub gamma: Option<f64>,
    /// Close the balance of energy.
    pub energy_balance: bool,
    /// Newton's law of impact as it stands, also where it adds energy.
    pub newton: bool,
    /// Contact solver.
    pub solver: &'static str,
    /// Its tolerance; none for the default.
    pub tolerance: Option<f64>,
    /// Its iterations at most; none for the default.
    pub max_iterations: Option<u32>,
    /// May start with shapes inside one another, as a copy of another scene that starts closed.
    pub lenient: bool,
    /// Order in which a master exchanges values.
    pub exchange: Exchange,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Surfaces.
    pub surfaces: Vec<Surface>,
    /// Contacts.
    pub contacts: Vec<Contact>,
    /// Springs.
    pub springs: Vec<Spring>,
    /// Joints.
    pub joints: Vec<Joint>,
}

/// When a master applies forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// In the step that they were computed for.
    Sequential,
    /// One step later.
    Parallel,
}

/// Time stepping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// With its theta.
    MoreauJean(f64),
    /// With its sweeps.
    Midpoint(u32),
    /// With its rho.
    Multistep(f64),
    /// With its alpha.
    Hht(f64),
}

/// A point mass or rigid body.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Who moves it.
    pub coupling: Coupling,
    /// Mass.
    pub mass: f64,
    /// Principal moments, of a rigid body.
    pub inertia: Option<[f64; 3]>,
    /// Shape.
    pub shape: Shape,
    /// Initial pose and velocities.
    pub state: Pose,
    /// Force that the master applies all the time.
    pub push: Vector,
    /// Copies on a grid.
    pub copies: Option<Copies>,
}

/// Position, orientation and velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position.
    pub r: Vector,
    /// Velocity.
    pub v: Vector,
    /// From body to world.
    pub q: Turn,
    /// Angular velocity, world components.
    pub w: Vector,
}

impl Pose {
    /// At rest at a place.
    pub fn at(r: Vector, q: Turn) -> Pose {
        Pose { r, v: Vector::zeros(), q, w: Vector::zeros() }
    }
}

/// Who moves a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coupling {
    /// The FMU.
    Owned,
    /// The master, once a step.
    Kinetic {
        /// Steps that forces come late, where the model says so.
        latency: Option<u32>,
        /// Impulses are spread.
        shaping: bool,
        /// The mass is learnt.
        adapt: bool,
        /// Energy is taken back.
        guard: bool,
    },
    /// The master, with repeated steps.
    Iterative,
    /// A spring joins the mass that touches to the master's.
    Compliant {
        /// Of the spring.
        stiffness: f64,
        /// Of its damper.
        damping: f64,
        /// Mass that the master moves.
        master_mass: f64,
    },
}

/// A grid of copies.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    /// Along x, y, z.
    pub count: [u32; 3],
    /// Distances.
    pub spacing: [f64; 3],
    /// Off the grid by up to this.
    pub scatter: f64,
}

/// Shape of a node or surface.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A point.
    Point,
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A disc without thickness.
    Disc {
        /// Radius.
        radius: f64,
        /// Across it.
        axis: Vector,
    },
    /// A box.
    Box {
        /// Edges.
        size: [f64; 3],
    },
    /// A cylinder with half balls as ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Between the centres of the ends.
        length: f64,
        /// Along it.
        axis: Vector,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Between the ends.
        length: f64,
        /// Along it.
        axis: Vector,
    },
    /// Points.
    Points(Vec<Vector>),
    /// A convex hull of a file.
    Hull {
        /// Name of the file.
        file: &'static str,
        /// Factor of its lengths.
        scale: f64,
    },
    /// Solid below.
    Plane {
        /// Out of the solid.
        normal: Vector,
    },
    /// Triangles of a file.
    Mesh {
        /// Name of the file.
        file: &'static str,
        /// Factor of its lengths.
        scale: f64,
        /// Whether it is said that it may have ends, which it has not.
        open: bool,
    },
    /// Heights of a file.
    Heightfield {
        /// Name of the file.
        file: &'static str,
        /// Distance of neighbours along x and y.
        cell: [f64; 2],
        /// Factor of the heights.
        scale: f64,
    },
}

/// A surface.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Name.
    pub name: String,
    /// Shape.
    pub shape: Shape,
    /// Where it is, and how it moves at first.
    pub state: Pose,
    /// Who moves it.
    pub motion: Motion,
    /// How impulses are exchanged with a master that moves it.
    pub exchange: SurfaceExchange,
}

/// How impulses on a surface with mass are exchanged with its master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceExchange {
    /// Steps that forces come late, where the model says so.
    pub latency: Option<u32>,
    /// Impulses are spread.
    pub shaping: bool,
    /// The mass is learnt.
    pub adapt: bool,
    /// Energy is taken back.
    pub guard: bool,
}

impl Default for SurfaceExchange {
    fn default() -> SurfaceExchange {
        SurfaceExchange { latency: None, shaping: true, adapt: true, guard: true }
    }
}

/// How a surface moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Not at all.
    Fixed,
    /// As the master says: with its velocities for ever, or as contact makes it where it has a mass.
    Input {
        /// Mass and principal moments by which it responds.
        inertia: Option<(f64, [f64; 3])>,
    },
}

/// A contact entry.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Name; none for the default.
    pub name: Option<String>,
    /// Between which names.
    pub between: [String; 2],
    /// How.
    pub law: Law,
}

/// Contact law.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// Restitution of hard contact.
    pub restitution: f64,
    /// Friction.
    pub friction: Friction,
    /// Normal compliance of hard contact.
    pub normal_stiffness: Option<f64>,
    /// A continuous law in place of hard contact.
    pub continuous: Option<Continuous>,
}

/// Friction law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// None.
    None,
    /// Coulomb's cone.
    Cone {
        /// Coefficient.
        mu: f64,
    },
    /// A polygon.
    Facets {
        /// Coefficient.
        mu: f64,
        /// Sides.
        facets: u32,
        /// Turned into the slip.
        aligned: bool,
        /// Around the circle.
        outer: bool,
    },
    /// Two bounded components.
    Box {
        /// Coefficient.
        mu: f64,
        /// Of the bounds.
        iterations: u32,
    },
    /// Regularised.
    Bristle {
        /// Coefficient.
        mu: f64,
        /// None for infinitely stiff.
        stiffness: Option<f64>,
        /// Speed below which it sticks.
        threshold: f64,
        /// Of the bounds.
        iterations: u32,
    },
}

impl Friction {
    /// Friction coefficient.
    pub fn mu(&self) -> f64 {
        match *self {
            Friction::None => 0.0,
            Friction::Cone { mu }
            | Friction::Facets { mu, .. }
            | Friction::Box { mu, .. }
            | Friction::Bristle { mu, .. } => mu,
        }
    }

    /// Whether the law is the same in all directions of the tangent plane.
    pub fn is_isotropic(&self) -> bool {
        self.mu() == 0.0 || matches!(self, Friction::Cone { .. })
    }
}

/// A continuous contact law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuous {
    /// Which.
    pub kind: ContinuousKind,
    /// Stiffness, N/m^n.
    pub stiffness: f64,
    /// Exponent of the depth, where the law has one.
    pub exponent: f64,
    /// Restitution, where the law has one.
    pub restitution: f64,
    /// Damping, where the law has one.
    pub damping: f64,
    /// Of friction's spring; none for the default.
    pub tangential_stiffness: Option<f64>,
}

/// Kind of continuous law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the model file")]
pub enum ContinuousKind {
    KelvinVoigt,
    Hertz,
    HuntCrossley,
    LankaraniNikravesh,
    Flores,
    Schmucker,
}

impl ContinuousKind {
    /// All of them.
    pub const ALL: [ContinuousKind; 6] = [
        ContinuousKind::KelvinVoigt,
        ContinuousKind::Hertz,
        ContinuousKind::HuntCrossley,
        ContinuousKind::LankaraniNikravesh,
        ContinuousKind::Flores,
        ContinuousKind::Schmucker,
    ];

    /// As in a model file.
    pub fn key(self) -> &'static str {
        match self {
            ContinuousKind::KelvinVoigt => "kelvin_voigt",
            ContinuousKind::Hertz => "hertz",
            ContinuousKind::HuntCrossley => "hunt_crossley",
            ContinuousKind::LankaraniNikravesh => "lankarani_nikravesh",
            ContinuousKind::Flores => "flores",
            ContinuousKind::Schmucker => "schmucker",
        }
    }

    /// Whether the force grows with the depth itself.
    pub fn is_linear(self) -> bool {
        matches!(self, ContinuousKind::KelvinVoigt | ContinuousKind::Schmucker)
    }
}

/// A spring and damper.
#[derive(Clone, Debug)]
pub struct Spring {
    /// Name.
    pub name: String,
    /// Between which; none for the ground.
    pub ends: [Option<String>; 2],
    /// Stiffness.
    pub stiffness: f64,
    /// Damping.
    pub damping: f64,
    /// Length at rest.
    pub length: f64,
    /// In the frames of the ends.
    pub anchors: [Vector; 2],
}

/// A joint.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Between which; none for the ground.
    pub ends: [Option<String>; 2],
    /// Which.
    pub kind: JointKind,
    /// Friction in it.
    pub friction: Option<JointFriction>,
    /// What drives it.
    pub drive: Option<Drive>,
    /// Hard stops of the angle of a revolute joint, of the distance of the others.
    pub limits: Option<Limits>,
    /// Hard stops of the angle of a cylindrical joint.
    pub angle_limits: Option<Limits>,
    /// Distance of the ends, where the model says it.
    pub length: Option<f64>,
}

/// Hard stops of a coordinate of a joint, which starts at 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Least value.
    pub lower: Option<f64>,
    /// Largest value.
    pub upper: Option<f64>,
    /// Restitution at both.
    pub restitution: f64,
}

impl Limits {
    /// With values times a factor; a negative one makes the least value of the largest.
    pub fn scaled(&self, factor: f64) -> Limits {
        let [lower, upper] = [self.lower, self.upper].map(|limit| limit.map(|limit| limit * factor));
        let (lower, upper) = if factor < 0.0 { (upper, lower) } else { (lower, upper) };
        Limits { lower, upper, ..*self }
    }
}

/// Kind of joint, with its place in the world at the start.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "named as in the model file")]
pub enum JointKind {
    Revolute { axis: Vector, position: Vector },
    Cylindrical { axis: Vector, position: Vector },
    Prismatic { axis: Vector, position: Vector },
    Spherical { position: Vector },
    Fixed { position: Vector },
    Distance { anchors: [Vector; 2] },
}

/// What a motor prescribes.
#[derive(Clone, Debug)]
pub struct Drive {
    /// The angle or distance itself, not its rate.
    pub is_position: bool,
    /// As which function.
    pub profile: Profile,
}

/// A function of time.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "named as in the model file")]
pub enum Profile {
    Constant(f64),
    Sine {
        amplitude: f64,
        frequency: f64,
        phase: f64,
        offset: f64,
    },
    Ramp {
        from: f64,
        to: f64,
        start: f64,
        duration: f64,
    },
    Table(Vec<[f64; 2]>),
    /// What the master gives: this value, or this rate times the time for a position.
    Input(f64),
}

impl Scene {
    /// Tolerance of contact problems.
    pub fn solver_tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(1e-10)
    }

    /// Iterations of a contact problem.
    pub fn most_iterations(&self) -> u32 {
        self.max_iterations.unwrap_or(1000)
    }

    /// Internal step.
    pub fn internal_step(&self) -> f64 {
        self.step / f64::from(self.substeps)
    }

    /// Whether the FMU moves everything that moves.
    pub fn is_owned(&self) -> bool {
        self.nodes.iter().all(|node| node.coupling == Coupling::Owned)
            && self.surfaces.iter().all(|surface| surface.motion == Motion::Fixed)
    }

    /// Whether a master repeats steps.
    pub fn is_iterated(&self) -> bool {
        self.nodes.iter().any(|node| node.coupling == Coupling::Iterative)
    }

    /// Whether all contacts are hard.
    pub fn is_hard(&self) -> bool {
        self.contacts.iter().all(|contact| contact.law.continuous.is_none())
    }

    /// Whether a joint holds two nodes together.
    pub fn are_jointed(&self, one: &str, other: &str) -> bool {
        self.joints.iter().any(|joint| {
            let ends = joint.ends.each_ref().map(|end| end.as_deref());
            ends == [Some(one), Some(other)] || ends == [Some(other), Some(one)]
        })
    }

    /// Names of all nodes that a spring or joint holds.
    pub fn tied(&self) -> Vec<&str> {
        let springs = self.springs.iter().flat_map(|spring| &spring.ends);
        let joints = self.joints.iter().flat_map(|joint| &joint.ends);
        springs.chain(joints).filter_map(|end| end.as_deref()).collect()
    }

    /// Whether a spring or joint holds on to the ground.
    pub fn is_grounded(&self) -> bool {
        let springs = self.springs.iter().flat_map(|spring| &spring.ends);
        let joints = self.joints.iter().flat_map(|joint| &joint.ends);
        springs.chain(joints).any(|end| end.is_none())
    }

    /// Whether time itself matters, as it does to motors.
    pub fn knows_time(&self) -> bool {
        self.joints.iter().any(|joint| {
            joint
                .drive
                .as_ref()
                .is_some_and(|drive| !matches!(drive.profile, Profile::Constant(_)) || drive.is_position)
        })
    }

    /// The law of every contact where all have the same.
    pub fn one_law(&self) -> Option<&Law> {
        let first = &self.contacts.first()?.law;
        self.contacts.iter().all(|contact| contact.law == *first).then_some(first)
    }

    /// Whether names of contacts stand for many.
    pub fn has_patterns(&self) -> bool {
        self.contacts.iter().any(|contact| contact.between.iter().any(|name| name.contains('*')))
    }

    /// All pairs that can touch: a node, and a surface or a later node.
    pub fn pairs(&self) -> Vec<[String; 2]> {
        let mut pairs = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            for surface in &self.surfaces {
                pairs.push([node.name.clone(), surface.name.clone()]);
            }
            for other in &self.nodes[index + 1..] {
                if (node.shape.has_volume() || other.shape.has_volume())
                    && !self.are_jointed(&node.name, &other.name)
                {
                    pairs.push([node.name.clone(), other.name.clone()]);
                }
            }
        }
        pairs
    }

    /// The law of a pair, where it is in contact: the entry with more exact names decides.
    pub fn law_of(&self, one: &str, other: &str) -> Option<&Law> {
        let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
        let exact = |contact: &Contact| contact.between.iter().filter(|name| *name != "*").count();
        self.contacts
            .iter()
            .filter(|contact| {
                let [first, second] = &contact.between;
                (fits(first, one) && fits(second, other)) || (fits(first, other) && fits(second, one))
            })
            .filter(|contact| exact(contact) == 2 || !self.are_jointed(one, other))
            .max_by_key(|contact| exact(contact))
            .map(|contact| &contact.law)
    }
}

impl Shape {
    /// Whether it is more than points.
    pub fn has_volume(&self) -> bool {
        !matches!(self, Shape::Point | Shape::Points(_))
    }
}
