//! Shared by the tests: systems of bodies put together by hand, surfaces that move among them.

#![allow(dead_code, reason = "each test file uses its own part")]

use contact_fmu::engine::derivative::differentiate;
use contact_fmu::engine::geometry::polyhedron::Polyhedron;
use contact_fmu::engine::geometry::solids::Cuboid;
use contact_fmu::engine::law::continuous::Compliance;
use contact_fmu::engine::{
    Anchor, Contact, Coupling, CouplingMode, CouplingState, Details, Drive, Dual, Facets, FrictionLaw, Group,
    Impact, Joint, JointEnd, JointFriction, JointKind, Kinetic, Latency, Members, Membership, Motion, Motor,
    Node, NodeShape, NodeState, Orientation, Parameters, Profile, Quality, RotationState, Scalar, Scheme,
    Settings, Solid, SolverChoice, SolverSettings, Spring, Start, State, Surface, SurfaceShape, System, Ties,
    Workspace, advance, mechanical_energy,
};
use nalgebra::{Rotation3, Vector3};

/// Bodies, surfaces and contacts in the order in which they were added.
pub struct Scene {
    /// Time stepping and solver.
    pub settings: Settings,
    nodes: Vec<Node>,
    details: Details,
    surfaces: Vec<Surface>,
    contacts: Vec<Contact>,
    couplings: Vec<Coupling>,
    ties: Ties,
    memories: usize,
    compressions: usize,
    /// Where it starts.
    pub state: Start,
}

impl Scene {
    /// Nothing but gravity along -z, with internal steps of 1 ms.
    pub fn new(gravity: f64) -> Scene {
        let settings = Settings {
            scheme: Scheme::MoreauJean,
            theta: 0.5,
            gamma: 0.5,
            time_of_impact: true,
            impact: Impact::Consistent,
            correction: true,
            energy_balance: false,
            allow_initial_penetration: false,
            solver: SolverSettings { choice: SolverChoice::Auto, tolerance: 1e-10, max_iterations: 1000 },
            warm_start: true,
        };
        let gravity = Vector3::new(0.0, 0.0, -gravity);
        Scene {
            settings,
            nodes: Vec::new(),
            details: Details::default(),
            surfaces: Vec::new(),
            contacts: Vec::new(),
            couplings: Vec::new(),
            ties: Ties::default(),
            memories: 0,
            compressions: 0,
            state: Start {
                parameters: Parameters {
                    gravity,
                    step: 1e-3,
                    sample: 1e-3,
                    mass: Vec::new(),
                    inertia: Vec::new(),
                    restitution: Vec::new(),
                    mu: Vec::new(),
                    stiffness: Vec::new(),
                    damping: Vec::new(),
                },
                nodes: Vec::new(),
                rotations: Vec::new(),
                couplings: Vec::new(),
            },
        }
    }

    /// Event capturing in place of times of impact.
    pub fn capturing(mut self) -> Scene {
        self.settings.time_of_impact = false;
        self
    }

    /// Another scheme.
    pub fn with_scheme(mut self, scheme: Scheme) -> Scene {
        self.settings.scheme = scheme;
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

    /// Adds a body that touches with points, and returns its index.
    pub fn pointed(
        &mut self,
        mass: f64,
        inertia: [f64; 3],
        points: &[Vector3<f64>],
        position: [f64; 3],
    ) -> usize {
        let shape = NodeShape::Points { first: self.details.points.len(), count: points.len() };
        self.details.points.extend(points);
        self.add(shape, mass, Some(Vector3::from(inertia)), position)
    }

    /// Adds a homogeneous box with the given half edges and returns its index.
    pub fn cuboid(&mut self, mass: f64, half: [f64; 3], position: [f64; 3]) -> usize {
        let [x, y, z] = half.map(|edge| edge * edge * mass / 3.0);
        self.pointed(mass, [y + z, z + x, x + y], &corners(half), position)
    }

    /// Adds a homogeneous solid box with the given half edges, which others may touch, and returns its index.
    pub fn solid_box(&mut self, mass: f64, half: [f64; 3], position: [f64; 3]) -> usize {
        let [x, y, z] = half.map(|edge| edge * edge * mass / 3.0);
        let shape = NodeShape::Box(Cuboid { half: Vector3::from(half) });
        self.add(shape, mass, Some(Vector3::new(y + z, z + x, x + y)), position)
    }

    /// Adds a body of any shape and returns its index.
    pub fn body(&mut self, shape: NodeShape, mass: f64, inertia: [f64; 3], position: [f64; 3]) -> usize {
        self.add(shape, mass, Some(Vector3::from(inertia)), position)
    }

    /// Adds the triangles of a hull or mesh for shapes to be made of.
    pub fn facets(&mut self, corners: &[[f64; 3]], triangles: &[[u32; 3]]) -> Facets {
        let corners = corners.iter().map(|&corner| Vector3::from(corner)).collect();
        let polyhedron = Polyhedron::new(corners, triangles).expect("the triangles make a surface");
        let facets = Facets::of(self.details.polyhedra.len(), &polyhedron);
        self.details.polyhedra.push(polyhedron);
        facets
    }

    /// Adds a fixed surface and returns its index.
    pub fn surface(&mut self, shape: SurfaceShape) -> usize {
        self.surfaces.push(Surface { shape, body: None });
        self.surfaces.len() - 1
    }

    /// Puts a solid in the place of the plane that a table carries.
    pub fn carry(&mut self, surface: usize, solid: Solid) {
        let (position, orientation) = (Vector3::zeros(), Orientation::identity());
        self.surfaces[surface].shape = SurfaceShape::Solid { position, orientation, solid };
    }

    /// Adds a fixed solid and returns its index.
    pub fn solid(&mut self, solid: Solid, position: [f64; 3]) -> usize {
        let (position, orientation) = (Vector3::from(position), Orientation::identity());
        self.surfaces
            .push(Surface { shape: SurfaceShape::Solid { position, orientation, solid }, body: None });
        self.surfaces.len() - 1
    }

    /// Adds the shape of a node as one that others may touch and returns its index.
    pub fn surface_of(&mut self, node: usize) -> usize {
        let shape = self.nodes[node].shape.as_surface().expect("the node is solid");
        self.surfaces.push(Surface { shape, body: Some(node) });
        self.surfaces.len() - 1
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
        let plain = Kinetic {
            latency: Latency::Known(0),
            shaping: false,
            adapt: false,
            guard: false,
            mechanism: Membership::No,
        };
        self.couplings.push(Coupling { node: body, mode: CouplingMode::Kinetic(plain) });
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

    /// Adds a spring between the centres of nodes, or of a node and a place of the ground, unstretched at the start.
    pub fn spring(&mut self, ends: [Anchor; 2], stiffness: f64, damping: f64) -> usize {
        let [one, other] = ends.map(|end| self.in_world(&end));
        self.ties.springs.push(Spring { ends, length: (other - one).norm() });
        self.state.parameters.stiffness.push(stiffness);
        self.state.parameters.damping.push(damping);
        self.ties.springs.len() - 1
    }

    /// Adds a joint at a place of the world, with its axis; none of the nodes has turned yet.
    pub fn joint(
        &mut self,
        kind: JointKind,
        nodes: [Option<usize>; 2],
        place: [f64; 3],
        axis: [f64; 3],
    ) -> usize {
        let frame = frame_along(&Vector3::from(axis));
        let ends = nodes.map(|node| {
            let centre = node.map_or(Vector3::zeros(), |node| self.state.nodes[node].position);
            JointEnd { anchor: Anchor { node, place: Vector3::from(place) - centre }, frame }
        });
        self.ties.joints.push(Joint { kind, ends, motor: None, friction: None });
        self.ties.joints.len() - 1
    }

    /// Adds a joint that keeps the distance of two anchors as it is.
    pub fn rigid_rod(&mut self, ends: [Anchor; 2]) -> usize {
        let [one, other] = ends.map(|end| self.in_world(&end));
        let kind = JointKind::Distance { length: (other - one).norm() };
        let ends = ends.map(|anchor| JointEnd { anchor, frame: Orientation::identity() });
        self.ties.joints.push(Joint { kind, ends, motor: None, friction: None });
        self.ties.joints.len() - 1
    }

    /// Leans upright cranks of a parallelogram, on pins on the x axis, by an angle about y, and moves the coupler along.
    pub fn lean_cranks(&mut self, cranks: &[usize], coupler: usize, angle: f64, length: f64) {
        let turn = Orientation::from_turn(&(Vector3::y() * angle));
        for &crank in cranks {
            let rotation = self.nodes[crank].rotation.expect("a crank turns");
            self.state.rotations[rotation].orientation = turn;
            let centre = &mut self.state.nodes[crank].position;
            *centre += turn.to_world(&(Vector3::z() * 0.5 * length)) - Vector3::z() * 0.5 * length;
        }
        let (sine, cosine) = angle.sin_cos();
        self.state.nodes[coupler].position += Vector3::new(sine, 0.0, cosine - 1.0) * length;
    }

    /// Drives a joint.
    pub fn drive(&mut self, joint: usize, drive: Drive, profile: Profile) {
        self.ties.joints[joint].motor = Some(Motor { drive, profile });
    }

    /// Gives a joint friction.
    pub fn rub(&mut self, joint: usize, friction: JointFriction) {
        self.ties.joints[joint].friction = Some(friction);
    }

    /// Where an anchor is; none of the nodes has turned yet.
    fn in_world(&self, anchor: &Anchor) -> Vector3<f64> {
        anchor.place + anchor.node.map_or(Vector3::zeros(), |node| self.state.nodes[node].position)
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
            self.state.rotations.push(RotationState {
                orientation: Orientation::identity(),
                angular_velocity: Vector3::zeros(),
                contact_impulse: Vector3::zeros(),
            });
            self.state.rotations.len() - 1
        });
        self.nodes.push(Node { shape, rotation, coupling: None });
        self.state.parameters.mass.push(mass);
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

    /// Adds a group in which each of `nodes` may touch each other one and each of `surfaces`, and returns its index.
    pub fn group(&mut self, nodes: &[usize], surfaces: &[usize], restitution: f64, mu: f64) -> usize {
        let all = Members { nodes: nodes.to_vec(), surfaces: surfaces.to_vec() };
        let group = Group { sides: [all.clone(), all], rank: 0 };
        self.contacts.push(Contact::of_group(group, FrictionLaw::Cone));
        self.state.parameters.restitution.push(restitution);
        self.state.parameters.mu.push(mu);
        self.contacts.len() - 1
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
        self.add_contact(node, surface, [restitution, mu], law, f64::INFINITY)
    }

    /// The same with a normal stiffness.
    pub fn compliant_contact(
        &mut self,
        node: usize,
        surface: usize,
        restitution: f64,
        mu: f64,
        stiffness: f64,
    ) -> usize {
        self.add_contact(node, surface, [restitution, mu], FrictionLaw::Cone, stiffness)
    }

    /// Adds a continuous contact and returns its index.
    pub fn continuous_contact(
        &mut self,
        node: usize,
        surface: usize,
        compliance: Compliance,
        [restitution, mu]: [f64; 2],
    ) -> usize {
        let contact = self.contact(node, surface, restitution, mu);
        let hard = self.contacts.pop().expect("just added");
        self.contacts.push(hard.continuous(compliance, &mut self.compressions));
        contact
    }

    fn add_contact(
        &mut self,
        node: usize,
        surface: usize,
        [restitution, mu]: [f64; 2],
        law: FrictionLaw,
        stiffness: f64,
    ) -> usize {
        let pair = ((node, &self.nodes[node].shape), (surface, &self.surfaces[surface]));
        self.contacts.push(Contact::new(pair.0, pair.1, law, stiffness, &mut self.memories));
        self.state.parameters.restitution.push(restitution);
        self.state.parameters.mu.push(mu);
        self.contacts.len() - 1
    }

    /// The system and its initial state.
    pub fn build(self) -> Simulation {
        let system = System::new(
            self.settings,
            self.nodes,
            self.details,
            self.surfaces,
            self.contacts,
            self.couplings,
            self.ties,
        );
        let state = self.state.state(&system);
        let workspace = Workspace::new(&system);
        Simulation { system, state, workspace }
    }
}

/// The centre of a node as an anchor.
pub fn centre(node: usize) -> Anchor {
    Anchor { node: Some(node), place: Vector3::zeros() }
}

/// A place of the ground as an anchor.
pub fn ground(place: [f64; 3]) -> Anchor {
    Anchor { node: None, place: Vector3::from(place) }
}

/// A frame with its third axis along a direction.
pub fn frame_along(axis: &Vector3<f64>) -> Orientation<f64> {
    let turn = Rotation3::rotation_between(&Vector3::z(), axis)
        .unwrap_or_else(|| Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    Orientation::from_turn(&turn.scaled_axis())
}

/// Corners of a box with the given half edges.
pub fn corners(half: [f64; 3]) -> Vec<Vector3<f64>> {
    let sign = |index: usize, bit: usize| if index >> bit & 1 == 0 { -1.0 } else { 1.0 };
    (0..8).map(|index| Vector3::from_fn(|axis, _| sign(index, axis) * half[axis])).collect()
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
    /// Plays a master that moves bodies exactly as the engine foretells: it gives the motion that they have, and
    /// what they accelerate by besides contact.
    pub fn give_motion(&mut self) {
        for (entry, coupling) in self.system.couplings.iter().zip(&mut self.state.couplings) {
            let node = &self.state.nodes[entry.node];
            let rotation =
                &self.state.rotations[self.system.nodes[entry.node].rotation.expect("a table turns")];
            let given = Motion {
                position: node.position,
                velocity: node.velocity,
                orientation: rotation.orientation,
                angular_velocity: rotation.angular_velocity,
            };
            let acceleration = coupling.acceleration;
            let mass = self.state.parameters.mass[entry.node];
            *coupling = CouplingState::new(given, acceleration.linear, mass, Some(0));
            coupling.acceleration = acceleration;
            coupling.memory.guess(acceleration);
        }
    }

    /// One communication step, which must be solved.
    pub fn advance(&mut self, duration: f64) {
        self.give_motion();
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

    /// Steps until the next step would have the first contact pressed.
    pub fn advance_to_the_hit(&mut self, duration: f64) {
        loop {
            let before = self.state.clone();
            self.advance(duration);
            if self.state.contacts[0].normal_impulse > 0.0 {
                self.state = before;
                return;
            }
        }
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

    /// Goes on by steps of 1 ms, in none of which energy rises.
    pub fn advance_without_gain(&mut self, steps: usize) {
        let mut energy = mechanical_energy(&self.system, &self.state);
        for _ in 0..steps {
            self.advance(1e-3);
            let now = mechanical_energy(&self.system, &self.state);
            assert!(now <= energy + 1e-9, "{:e}", now - energy);
            energy = now;
        }
    }

    /// Lets one body turn and fly along x into another: it hits, momentum and angular momentum are kept, and contact adds
    /// no energy.
    pub fn collide(&mut self, [one, other]: [usize; 2], turn: [f64; 3]) {
        self.state.nodes[one].velocity = Vector3::new(2.0, 0.0, 0.0);
        self.rotation(one).orientation = Orientation::from_turn(&Vector3::from(turn));
        self.rotation(one).angular_velocity = Vector3::new(0.5, 1.0, 0.0);
        let (momentum, angular) = self.momenta();
        self.advance_without_gain(500);
        let after = self.momenta();
        assert!(self.state.nodes[other].velocity[0] > 0.1, "it was hit");
        assert!((after.0 - momentum).norm() < 1e-13);
        assert!((after.1 - angular).norm() < 1e-9, "{:e}", (after.1 - angular).norm());
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

/// Everything that a derivative may be taken of. What would lift a `closed` contact or press it in is left out: it has
/// no derivative.
fn knobs<S: Scalar>(state: &mut State<S>, closed: bool) -> Vec<&mut S> {
    let components = if closed { 0..2 } else { 0..3 };
    let turning = if closed { 2..3 } else { 0..3 };
    let mut knobs = Vec::new();
    // Where joints hold, motion is not free to choose.
    let (nodes, rotations) = if state.joints.is_empty() {
        (&mut state.nodes[..], &mut state.rotations[..])
    } else {
        (&mut [][..], &mut [][..])
    };
    for node in nodes {
        knobs.extend(&mut node.position.as_mut_slice()[components.clone()]);
        knobs.extend(&mut node.velocity.as_mut_slice()[components.clone()]);
    }
    for rotation in rotations {
        knobs.extend(&mut rotation.angular_velocity.as_mut_slice()[turning.clone()]);
    }
    for input in state.inputs.iter_mut().chain(&mut state.torques) {
        knobs.extend(input.value.iter_mut());
    }
    for coupling in &mut state.couplings {
        let given = &mut coupling.given;
        knobs.extend(&mut given.position.as_mut_slice()[components.clone()]);
        knobs.extend(&mut given.velocity.as_mut_slice()[components.clone()]);
        knobs.extend(&mut given.angular_velocity.as_mut_slice()[turning.clone()]);
    }
    let parameters = &mut state.parameters;
    knobs.extend(parameters.mass.iter_mut().chain(parameters.inertia.iter_mut().flatten()));
    knobs.extend(parameters.restitution.iter_mut().chain(&mut parameters.mu));
    knobs.extend(parameters.stiffness.iter_mut().chain(&mut parameters.damping));
    knobs.extend(state.drives.iter_mut().flat_map(|drive| drive.value.iter_mut()));
    knobs.retain(|knob| knob.value().is_finite());
    knobs
}

/// Everything that comes out of a step.
fn results<S: Scalar>(state: &State<S>) -> Vec<S> {
    let mut results = Vec::new();
    for node in &state.nodes {
        for vector in [&node.position, &node.velocity, &node.contact_impulse] {
            results.extend(vector.iter().copied());
        }
    }
    for rotation in &state.rotations {
        results.extend(rotation.orientation.wxyz);
        results.extend(rotation.angular_velocity.iter().chain(rotation.contact_impulse.iter()).copied());
    }
    for contact in &state.contacts {
        results.push(contact.normal_impulse);
        results.extend(contact.tangential_impulse.iter().copied());
    }
    for joint in &state.joints {
        results.extend([joint.angle, joint.distance]);
        results.extend(joint.impulse.iter().chain(joint.moment.iter()).copied());
        results.extend(joint.friction.into_iter().chain(joint.loads));
    }
    results.push(state.step.dissipated);
    results
}

/// Compares the derivatives of a step of `duration` with differences.
pub fn compare(run: &Simulation, duration: f64, closed: bool) {
    let before = run.state.clone();
    let mut not_zero = 0;
    let count = knobs(&mut before.clone(), closed).len();
    for index in 0..count {
        let seeded = differentiate(&run.system, &before, duration, |state: &mut State<Dual>| {
            knobs(state, closed)[index].tangent = 1.0;
        })
        .unwrap();
        let shifted = |shift: f64| {
            let mut state = before.clone();
            *knobs(&mut state, closed)[index] += shift;
            advance(&run.system, &mut state, &mut Workspace::new(&run.system), duration).unwrap();
            results(&state)
        };
        let shift = 1e-6;
        let (plus, minus) = (shifted(shift), shifted(-shift));
        for (place, exact) in results(&seeded).into_iter().enumerate() {
            let difference = (plus[place] - minus[place]) / (2.0 * shift);
            let scale = 1.0_f64.max(difference.abs());
            assert!(
                (exact.tangent - difference).abs() < 2e-6 * scale,
                "knob {index}, result {place}: {} against {difference}",
                exact.tangent
            );
            not_zero += usize::from(exact.tangent.abs() > 1e-9);
        }
    }
    // Joints leave little that could change.
    let least = if before.joints.is_empty() { 5 } else { 2 };
    assert!(not_zero > least * count, "a comparison of zeros shows nothing: {not_zero}");
}
