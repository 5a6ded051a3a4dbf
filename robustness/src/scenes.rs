//! Random scenes: wedges, stacks, hyperstatic supports, jams, the Painleve rod.

use crate::Entropy;
use contact_fmu::engine::{FrictionLaw, Orientation, Scheme, SolverChoice};
use nalgebra::Vector3;

#[path = "../../tests/bodies/mod.rs"]
mod bodies;

pub use bodies::{Scene, Simulation};

/// What a scene is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    BallsInWedge,
    BallsOnOneAnother,
    BoxOnFloor,
    BoxesOnOneAnother,
    PainleveRod,
    JammedBall,
    ManyLegs,
}

/// All of them.
pub const KINDS: [Kind; 7] = [
    Kind::BallsInWedge,
    Kind::BallsOnOneAnother,
    Kind::BoxOnFloor,
    Kind::BoxesOnOneAnother,
    Kind::PainleveRod,
    Kind::JammedBall,
    Kind::ManyLegs,
];

/// How a scene is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stepping {
    TimeOfImpact,
    Capturing,
    Midpoint,
    Multistep,
    Hht,
}

const G: f64 = 9.81;

/// A scene with its step.
pub struct Case {
    /// What it is.
    pub kind: Kind,
    /// How it is stepped.
    pub stepping: Stepping,
    /// Step.
    pub step: f64,
    /// Restitution and friction of all contacts.
    pub law: [f64; 2],
    /// Whether every contact has one point, on a fixed plane, and the exact cone.
    pub is_plain: bool,
    /// The system.
    pub simulation: Simulation,
    /// Radii of balls, by node.
    pub radii: Vec<f64>,
    /// Normals of planes through the origin, by surface; contacts are ball by ball, plane by plane.
    pub normals: Vec<Vector3<f64>>,
}

/// Coefficients of a contact.
struct Law {
    restitution: f64,
    mu: f64,
    friction: FrictionLaw,
}

fn law(entropy: &mut Entropy) -> Law {
    let restitution = match entropy.below(4) {
        0 => 0.0,
        1 => 1.0,
        _ => entropy.unit(),
    };
    let mu = if entropy.one_in(4) { 0.0 } else { entropy.between(0.0, 5.0) };
    let friction = match entropy.below(6) {
        0 => FrictionLaw::Box { iterations: 3 },
        _ => FrictionLaw::Cone,
    };
    Law { restitution, mu, friction }
}

fn vector(entropy: &mut Entropy, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| entropy.between(-size, size))
}

fn mass(entropy: &mut Entropy) -> f64 {
    entropy.decades(10.0_f64.powf(-4.5), 10.0_f64.powf(4.5))
}

/// A scene of any kind.
pub fn any(entropy: &mut Entropy) -> Case {
    let kind = *entropy.pick(&KINDS);
    let step = entropy.decades(1e-5, 1e-1);
    let mut scene = Scene::new(G).with_step(step);
    let stepping = *entropy.pick(&[
        Stepping::TimeOfImpact,
        Stepping::TimeOfImpact,
        Stepping::TimeOfImpact,
        Stepping::Capturing,
        Stepping::Midpoint,
        Stepping::Multistep,
        Stepping::Hht,
    ]);
    scene = match stepping {
        Stepping::TimeOfImpact => scene,
        Stepping::Capturing => scene.capturing(),
        Stepping::Midpoint => scene.with_scheme(Scheme::Midpoint { sweeps: 3 }),
        Stepping::Multistep => scene.with_scheme(Scheme::Multistep { rho: entropy.unit() }),
        Stepping::Hht => scene.with_scheme(Scheme::Hht { alpha: entropy.between(0.0, 1.0 / 3.0) }),
    };
    if stepping == Stepping::Capturing && entropy.one_in(2) {
        scene.settings.correction = false;
    }
    scene.settings.solver.choice = *entropy.pick(&[
        SolverChoice::Auto,
        SolverChoice::Auto,
        SolverChoice::Auto,
        SolverChoice::Auto,
        SolverChoice::Newton,
    ]);
    // What is not solved by then is reported, and takes seconds otherwise.
    scene.settings.solver.max_iterations = 200;
    let law = law(entropy);
    let mut builder = Builder { scene, law, radii: Vec::new(), normals: Vec::new() };
    match kind {
        Kind::BallsInWedge => builder.balls_in_wedge(entropy),
        Kind::BallsOnOneAnother => builder.balls_on_one_another(entropy),
        Kind::BoxOnFloor => builder.boxes(entropy, 1),
        Kind::BoxesOnOneAnother => {
            let count = 2 + entropy.below(3);
            builder.boxes(entropy, count);
        }
        Kind::PainleveRod => builder.rod(entropy),
        Kind::JammedBall => builder.jam(entropy),
        Kind::ManyLegs => builder.legs(entropy),
    }
    let is_plain =
        matches!(kind, Kind::BallsInWedge | Kind::JammedBall) && builder.law.friction == FrictionLaw::Cone;
    let law = [builder.law.restitution, builder.law.mu];
    let simulation = builder.scene.build();
    Case { kind, stepping, step, law, is_plain, simulation, radii: builder.radii, normals: builder.normals }
}

struct Builder {
    scene: Scene,
    law: Law,
    radii: Vec<f64>,
    normals: Vec<Vector3<f64>>,
}

impl Builder {
    fn plane(&mut self, normal: Vector3<f64>) -> usize {
        self.normals.push(normal.normalize());
        self.scene.plane([normal.x, normal.y, normal.z])
    }

    fn touch(&mut self, node: usize, surface: usize) {
        let Law { restitution, mu, friction } = self.law;
        self.scene.contact_with(node, surface, restitution, mu, friction);
    }

    fn throw(&mut self, entropy: &mut Entropy, node: usize, size: f64) {
        self.scene.state.nodes[node].velocity = vector(entropy, size);
    }

    fn spin(&mut self, entropy: &mut Entropy, size: f64) {
        for rotation in &mut self.scene.state.rotations {
            rotation.angular_velocity = vector(entropy, size);
        }
    }

    fn ball(&mut self, entropy: &mut Entropy, radius: f64, place: [f64; 3]) -> usize {
        let mass = mass(entropy);
        self.radii.push(radius);
        if entropy.one_in(2) {
            self.scene.solid_ball(mass, radius, place)
        } else {
            self.scene.ball(mass, radius, place)
        }
    }

    /// One to three balls that do not see one another, in one to four planes.
    fn balls_in_wedge(&mut self, entropy: &mut Entropy) {
        let planes: Vec<usize> = (0..1 + entropy.below(4))
            .map(|_| {
                let aside = vector(entropy, 1.5);
                self.plane(Vector3::new(aside.x, aside.y, 1.0))
            })
            .collect();
        for _ in 0..1 + entropy.below(3) {
            let radius = entropy.decades(1e-2, 1.0);
            // High enough to be above all planes, or touching one of them.
            let steepest = self.normals.iter().fold(1.0_f64, |least, normal| least.min(normal.z));
            let height = radius / steepest + if entropy.one_in(2) { 0.0 } else { entropy.decades(1e-6, 1.0) };
            let ball = self.ball(entropy, radius, [0.0, 0.0, height]);
            let speed = entropy.decades(1e-3, 10.0);
            self.throw(entropy, ball, speed);
            for &plane in &planes {
                self.touch(ball, plane);
            }
        }
        let spin = entropy.decades(1e-3, 10.0);
        self.spin(entropy, spin);
    }

    /// A column of balls.
    fn balls_on_one_another(&mut self, entropy: &mut Entropy) {
        let floor = self.plane(Vector3::z());
        let mut height = 0.0;
        let mut below = floor;
        for _ in 0..2 + entropy.below(3) {
            let radius = entropy.decades(1e-1, 1.0);
            let gap = if entropy.one_in(2) { 0.0 } else { entropy.decades(1e-6, 1e-1) };
            height += radius + gap;
            let ball = self.ball(entropy, radius, [0.0, 0.0, height]);
            height += radius;
            if entropy.one_in(2) {
                let speed = entropy.decades(1e-3, 3.0);
                self.throw(entropy, ball, speed);
            }
            self.touch(ball, below);
            below = self.scene.surface_of(ball);
        }
    }

    /// A box on the floor or a stack of them, at rest or falling.
    fn boxes(&mut self, entropy: &mut Entropy, count: usize) {
        let floor = self.plane(Vector3::z());
        let (mut below, mut height) = (floor, 0.0);
        let resting = entropy.one_in(2);
        for _ in 0..count {
            let half = [0; 3].map(|_| entropy.between(0.2, 0.6));
            let gap = if resting { 0.0 } else { entropy.decades(1e-6, 1e-1) };
            height += half[2] + gap;
            let mass = mass(entropy);
            let body = self.scene.solid_box(mass, half, [entropy.between(-0.05, 0.05), 0.0, height]);
            height += half[2];
            if !resting {
                let speed = entropy.decades(1e-3, 3.0);
                self.throw(entropy, body, speed);
            }
            self.touch(body, below);
            below = self.scene.surface_of(body);
        }
        if !resting && count == 1 {
            self.lift_and_turn(entropy, 1.1);
        }
    }

    /// Turns the only body, high enough not to start inside the floor.
    fn lift_and_turn(&mut self, entropy: &mut Entropy, height: f64) {
        let turn = vector(entropy, 2.0);
        self.scene.state.rotations[0].orientation = Orientation::from_turn(&turn);
        self.scene.state.nodes[0].position.z = height;
        self.spin(entropy, 5.0);
    }

    /// A thin rod on one end, sliding, for which rigid contact may have no force. [Painleve 1895]
    fn rod(&mut self, entropy: &mut Entropy) {
        let floor = self.plane(Vector3::z());
        let (half, mass) = (entropy.between(0.2, 2.0), mass(entropy));
        let slender = entropy.between(0.05, 1.0) * mass * half * half / 3.0;
        let ends = [Vector3::x() * half, Vector3::x() * -half];
        let lean = entropy.between(0.05, 1.5);
        let gap = if entropy.one_in(2) { 0.0 } else { entropy.decades(1e-6, 1e-2) };
        let rod = self.scene.pointed(
            mass,
            [1e-3 * slender, slender, slender],
            &ends,
            [0.0, 0.0, half * lean.sin() + gap],
        );
        self.scene.state.rotations[0].orientation = Orientation::from_turn(&(Vector3::y() * lean));
        self.scene.state.rotations[0].angular_velocity = Vector3::y() * entropy.between(-5.0, 5.0);
        self.scene.state.nodes[rod].velocity = Vector3::new(entropy.between(-10.0, 10.0), 0.0, 0.0);
        self.touch(rod, floor);
    }

    /// A ball shot into a narrow wedge.
    fn jam(&mut self, entropy: &mut Entropy) {
        let opening = entropy.decades(1e-3, 1.0);
        let planes = [Vector3::new(1.0, 0.0, opening), Vector3::new(-1.0, 0.0, opening)]
            .map(|normal| self.plane(normal));
        let radius = entropy.decades(1e-2, 1.0);
        let height = radius * (1.0 + opening * opening).sqrt() / opening;
        let gap = if entropy.one_in(2) { 0.0 } else { entropy.decades(1e-6, 1e-1) };
        let ball = self.ball(entropy, radius, [0.0, 0.0, height * (1.0 + 1e-12) + gap]);
        self.scene.state.nodes[ball].velocity =
            Vector3::new(entropy.between(-0.1, 0.1), 0.0, -entropy.decades(1e-3, 10.0));
        for plane in planes {
            self.touch(ball, plane);
        }
    }

    /// A table with more legs than it needs.
    fn legs(&mut self, entropy: &mut Entropy) {
        let floor = self.plane(Vector3::z());
        let count = 3 + entropy.below(10);
        let feet: Vec<Vector3<f64>> = (0..count)
            .map(|leg| {
                let angle = std::f64::consts::TAU * leg as f64 / count as f64;
                Vector3::new(angle.cos(), angle.sin(), -0.5)
            })
            .collect();
        let gap = if entropy.one_in(2) { 0.0 } else { entropy.decades(1e-6, 1e-1) };
        let mass = mass(entropy);
        let table =
            self.scene.pointed(mass, [0.3 * mass, 0.3 * mass, 0.5 * mass], &feet, [0.0, 0.0, 0.5 + gap]);
        if entropy.one_in(2) {
            self.throw(entropy, table, 2.0);
            self.scene.state.rotations[0].angular_velocity.z = entropy.between(-5.0, 5.0);
        }
        self.touch(table, floor);
    }
}
