//! Shared by the tests: systems of bodies put together by hand, surfaces that move among them.

#![allow(dead_code, reason = "each test file uses its own part")]

use contact_fmu::engine::{
    ContactMemory, ContactPair, ContactRecord, Coupling, CouplingMode, CouplingState, FrictionLaw, Input,
    Motion, Node, NodeShape, NodeState, Orientation, Parameters, Quality, RotationState, Scheme, Settings,
    SolverChoice, SolverSettings, State, StepRecord, Surface, SurfaceShape, System, Workspace, advance,
};
use nalgebra::Vector3;

/// Bodies, surfaces and contacts in the order in which they were added.
pub struct Scene {
    settings: Settings,
    nodes: Vec<Node>,
    surfaces: Vec<Surface>,
    contacts: Vec<ContactPair>,
    couplings: Vec<Coupling>,
    memories: usize,
    state: State<f64>,
}

impl Scene {
    /// Nothing but gravity along -z, with internal steps of 1 ms.
    pub fn new(gravity: f64) -> Scene {
        let settings = Settings {
            scheme: Scheme::MoreauJean,
            theta: 0.5,
            gamma: 0.5,
            time_of_impact: true,
            correction: true,
            allow_initial_penetration: false,
            solver: SolverSettings { choice: SolverChoice::Auto, tolerance: 1e-10, max_iterations: 1000 },
            warm_start: true,
        };
        let gravity = Vector3::new(0.0, 0.0, -gravity);
        Scene {
            settings,
            nodes: Vec::new(),
            surfaces: Vec::new(),
            contacts: Vec::new(),
            couplings: Vec::new(),
            memories: 0,
            state: State {
                time: 0.0,
                parameters: Parameters {
                    gravity,
                    step: 1e-3,
                    mass: Vec::new(),
                    inertia: Vec::new(),
                    restitution: Vec::new(),
                    mu: Vec::new(),
                },
                inputs: Vec::new(),
                torques: Vec::new(),
                nodes: Vec::new(),
                rotations: Vec::new(),
                trends: Vec::new(),
                contacts: Vec::new(),
                memories: Vec::new(),
                couplings: Vec::new(),
                guesses: Vec::new(),
                step: StepRecord::none(),
            },
        }
    }

    /// Event capturing in place of times of impact.
    pub fn capturing(mut self) -> Scene {
        self.settings.time_of_impact = false;
        self
    }

    /// Another internal step.
    pub fn with_step(mut self, step: f64) -> Scene {
        self.state.parameters.step = step;
        self
    }

    /// Adds a sphere without rotation at rest and returns its index.
    pub fn ball(&mut self, mass: f64, radius: f64, position: [f64; 3]) -> usize {
        self.add(NodeShape::Sphere { radius }, mass, None, position)
    }

    /// Adds a solid sphere that turns and returns its index.
    pub fn solid_ball(&mut self, mass: f64, radius: f64, position: [f64; 3]) -> usize {
        let inertia = Vector3::from_element(0.4 * mass * radius * radius);
        self.add(NodeShape::Sphere { radius }, mass, Some(inertia), position)
    }

    /// Adds a fixed plane and returns its index.
    pub fn plane(&mut self, normal: [f64; 3]) -> usize {
        let shape =
            SurfaceShape::Plane { position: Vector3::zeros(), normal: Vector3::from(normal).normalize() };
        self.surfaces.push(Surface { shape, body: None });
        self.surfaces.len() - 1
    }

    /// Adds a body that a master moves and that carries the plane `z = height` of its frame. Returns the index of the
    /// body and of the surface. It accelerates by nothing but contact.
    pub fn table(&mut self, mass: f64, inertia: [f64; 3], position: [f64; 3], height: f64) -> (usize, usize) {
        let body = self.add(NodeShape::Surface, mass, Some(Vector3::from(inertia)), position);
        self.nodes[body].coupling = Some(self.couplings.len());
        self.couplings.push(Coupling { node: body, mode: CouplingMode::Iterative });
        let given = Motion {
            position: Vector3::from(position),
            velocity: Vector3::zeros(),
            orientation: Orientation::identity(),
            angular_velocity: Vector3::zeros(),
        };
        self.state.couplings.push(CouplingState::new(given, Vector3::zeros(), mass, Some(0)));
        let shape = SurfaceShape::Plane { position: Vector3::z() * height, normal: Vector3::z() };
        self.surfaces.push(Surface { shape, body: Some(body) });
        (body, self.surfaces.len() - 1)
    }

    /// Adds a table whose motion is prescribed.
    pub fn prescribed_table(&mut self, position: [f64; 3]) -> (usize, usize) {
        self.table(f64::INFINITY, [f64::INFINITY; 3], position, 0.0)
    }

    /// Adds a body.
    pub fn add(
        &mut self,
        shape: NodeShape,
        mass: f64,
        inertia: Option<Vector3<f64>>,
        position: [f64; 3],
    ) -> usize {
        let rotation = inertia.map(|inertia| {
            self.state.parameters.inertia.push(inertia);
            self.state.torques.push(Input::zero());
            self.state.rotations.push(RotationState {
                orientation: Orientation::identity(),
                angular_velocity: Vector3::zeros(),
                contact_impulse: Vector3::zeros(),
            });
            self.state.rotations.len() - 1
        });
        self.nodes.push(Node { shape, rotation, coupling: None });
        self.state.parameters.mass.push(mass);
        self.state.inputs.push(Input::zero());
        self.state.nodes.push(NodeState {
            position: Vector3::from(position),
            velocity: Vector3::zeros(),
            contact_impulse: Vector3::zeros(),
        });
        self.nodes.len() - 1
    }

    /// Adds a contact and returns its index.
    pub fn contact(&mut self, node: usize, surface: usize, restitution: f64, mu: f64) -> usize {
        self.contact_with(node, surface, restitution, mu, FrictionLaw::Cone)
    }

    /// The same with another friction law.
    pub fn contact_with(
        &mut self,
        node: usize,
        surface: usize,
        restitution: f64,
        mu: f64,
        law: FrictionLaw,
    ) -> usize {
        self.contacts.push(ContactPair::new(node, surface, law, f64::INFINITY, &mut self.memories));
        self.state.parameters.restitution.push(restitution);
        self.state.parameters.mu.push(mu);
        self.state.contacts.push(ContactRecord::open());
        self.contacts.len() - 1
    }

    /// The system and its initial state.
    pub fn build(mut self) -> Simulation {
        self.state.memories = vec![ContactMemory::none(); self.memories];
        let system = System::new(self.settings, self.nodes, self.surfaces, self.contacts, self.couplings);
        let workspace = Workspace::new(&system);
        Simulation { system, state: self.state, workspace }
    }
}

/// A system on its way.
pub struct Simulation {
    /// Constant data.
    pub system: System,
    /// Where it is.
    pub state: State<f64>,
    workspace: Workspace<f64>,
}

impl Simulation {
    /// One communication step, which must be solved.
    pub fn advance(&mut self, duration: f64) {
        let quality = advance(&self.system, &mut self.state, &mut self.workspace, duration);
        assert_eq!(
            quality,
            Ok(Quality::Solved),
            "at {} s, residual {:e}",
            self.state.time,
            self.state.step.residual
        );
        self.state.time += duration;
    }

    /// Rotation of a body.
    pub fn rotation(&mut self, node: usize) -> &mut RotationState<f64> {
        let rotation = self.system.nodes[node].rotation.expect("a body that turns");
        &mut self.state.rotations[rotation]
    }

    /// Coupling of a body.
    pub fn coupling(&mut self, node: usize) -> &mut CouplingState<f64> {
        let coupling = self.system.nodes[node].coupling.expect("a body that a master moves");
        &mut self.state.couplings[coupling]
    }

    /// Momentum of all bodies, and angular momentum about the origin.
    pub fn momenta(&self) -> (Vector3<f64>, Vector3<f64>) {
        let mut momentum = Vector3::zeros();
        let mut angular = Vector3::zeros();
        for (index, node) in self.state.nodes.iter().enumerate() {
            let mass = self.state.parameters.mass[index];
            momentum += node.velocity * mass;
            angular += node.position.cross(&node.velocity) * mass;
            if let Some(rotation) = self.system.nodes[index].rotation {
                let inertia = self.state.parameters.inertia[rotation];
                let rotation = &self.state.rotations[rotation];
                let spin = rotation.orientation.to_body(&rotation.angular_velocity);
                angular += rotation.orientation.to_world(&inertia.component_mul(&spin));
            }
        }
        (momentum, angular)
    }
}
