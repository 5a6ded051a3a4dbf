//! Which pairs may touch within a substep.
//!
//! A body is held by a box about its shape, wider on all sides by twice the way that it can go within the substep. What
//! is struck may become as fast as what strikes it, so that all bodies that boxes connect get the way of the fastest
//! among them, until boxes connect no more. A body that springs and joints tie to others may get all the energy of these,
//! and that of the springs: `m v^2 / 2 <= E`.

use super::{distance_now, gap_of_points, pose};
use crate::engine::geometry::tree::{Bounds, Tree};
use crate::engine::geometry::{Meeting, NodeShape, Placed, Pose, Solid, Surface, SurfaceShape};
use crate::engine::math::union_find::UnionFind;
use crate::engine::scalar::{Scalar, largest, length};
use crate::engine::state::State;
use crate::engine::system::{Island, Near, Pile, SecondSide, Sides, System};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Where a search for the nearest pair ends, over where it began: everything is within.
const FARTHEST: f64 = 1.0 / f64::EPSILON;

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Pairs of groups that are near, by group, node and surface.
    pub near: Vec<Near>,
    /// The other contacts of the island that are near.
    pub contacts: Vec<usize>,
    /// Farthest that a body gets within the substep, by node.
    ways: Vec<f64>,
    /// How far it turns, by node.
    turns: Vec<f64>,
    /// Boxes about nodes and about surfaces, where they are known.
    node_boxes: Vec<Option<Bounds>>,
    surface_boxes: Vec<Option<Bounds>>,
    tree: Tree,
    /// Way of the fastest in an island, by its leader.
    fastest: Vec<f64>,
}

impl Search {
    /// Finds the pairs that are near, and the islands that they and the ties of `whole` make.
    pub fn find<S: Scalar>(
        &mut self,
        system: &System,
        whole: &Island,
        state: &State<S>,
        (duration, offset): (f64, f64),
        islands: &mut UnionFind,
    ) {
        self.rest(system);
        let tied = tied_energy(system, whole, state);
        for &node in &whole.nodes {
            let margin = TOLERANCES.box_margin * system.nodes[node].shape.extent(&system.details.points);
            let energy = if system.tied[node] { tied } else { 0.0 };
            let (way, turn) = motion(system, state, (node, energy), duration, offset);
            (self.ways[node], self.turns[node]) = (margin.max(2.0 * way), 2.0 * turn);
        }
        // Each pass gives a body a longer way, which is that of another one, or is the last.
        loop {
            self.near.clear();
            if let (true, Some(pile)) = (whole.is_pile, &system.pile) {
                self.find_pairs(system, pile, state);
            }
            islands.reset(system.nodes.len());
            if whole.splits(system, state) {
                self.find_contacts(system, whole, state);
            } else {
                self.contacts.clone_from(&whole.contacts);
                whole.nodes.iter().for_each(|&node| islands.join(whole.nodes[0], node));
            }
            let mut widened = false;
            let own = self.contacts.iter().map(|&contact| system.contacts[contact].sides());
            for Sides { node, surface } in own.chain(self.near.iter().map(|near| near.sides)) {
                let Some(body) = system.surfaces[surface].body else { continue };
                if system.yields(state, body) {
                    islands.join(node, body);
                } else if self.ways[body] > self.ways[node] {
                    self.ways[node] = self.ways[body];
                    widened = true;
                }
            }
            widened |= self.widen(whole, islands);
            if !widened {
                break;
            }
        }
    }

    /// Nothing moves.
    fn rest(&mut self, system: &System) {
        for list in [&mut self.ways, &mut self.turns] {
            list.clear();
            list.resize(system.nodes.len(), 0.0);
        }
    }

    /// Gives all bodies of an island the way of its fastest. Returns whether that is more than before.
    fn widen(&mut self, whole: &Island, islands: &mut UnionFind) -> bool {
        self.fastest.clear();
        self.fastest.resize(self.ways.len(), 0.0);
        for &node in &whole.nodes {
            let fastest = &mut self.fastest[islands.leader(node)];
            *fastest = fastest.max(self.ways[node]);
        }
        let mut widened = false;
        for &node in &whole.nodes {
            let fastest = self.fastest[islands.leader(node)];
            widened |= fastest > self.ways[node];
            self.ways[node] = fastest;
        }
        widened
    }

    /// Finds the contacts of an island whose boxes overlap.
    fn find_contacts<S: Scalar>(&mut self, system: &System, whole: &Island, state: &State<S>) {
        let Search { contacts, ways, turns, node_boxes, surface_boxes, .. } = self;
        for (list, count) in
            [(&mut *node_boxes, system.nodes.len()), (&mut *surface_boxes, system.surfaces.len())]
        {
            list.clear();
            list.resize(count, None);
        }
        contacts.clear();
        for &contact in &whole.contacts {
            let Sides { node, surface } = system.contacts[contact].sides();
            let own = *node_boxes[node].get_or_insert_with(|| {
                let pose = pose(system, state, node).values();
                around(&pose.position, &node_half(system, node, &pose), ways[node])
            });
            let is_near = match &system.surfaces[surface].shape {
                SurfaceShape::Plane { .. } => is_near_plane(system, state, (node, surface), ways, turns),
                SurfaceShape::Stop(_) => true,
                SurfaceShape::Solid { .. } => surface_boxes[surface]
                    .get_or_insert_with(|| surface_box(system, state, &system.surfaces[surface], ways, turns))
                    .meets(&own),
            };
            if is_near {
                contacts.push(contact);
            }
        }
    }

    /// Finds the pairs whose boxes overlap.
    fn find_pairs<S: Scalar>(&mut self, system: &System, pile: &Pile, state: &State<S>) {
        let Search { near, ways, turns, tree, .. } = self;
        near.clear();
        let of_nodes = pile.nodes.iter().map(|&node| {
            let pose = pose(system, state, node).values();
            around(&pose.position, &node_half(system, node, &pose), ways[node])
        });
        let of_solids = pile
            .solids
            .iter()
            .map(|&surface| surface_box(system, state, &system.surfaces[surface], ways, turns));
        tree.build(of_nodes.chain(of_solids));
        let mut found = |node: usize, other: SecondSide| {
            if let Some(contact) = pile.contact_of(node, other)
                && let Some((sides, _)) = pile.sides(&system.nodes, &system.surfaces, node, other)
            {
                near.push(Near { contact, sides, number: 0 });
            }
        };
        let bodies = pile.nodes.len();
        tree.meetings(&mut |one, other| match (one < bodies, other < bodies) {
            (true, true) => found(pile.nodes[one], SecondSide::Node(pile.nodes[other])),
            (true, false) => found(pile.nodes[one], SecondSide::Surface(pile.solids[other - bodies])),
            _ => {}
        });
        for &plane in &pile.planes {
            for &node in &pile.nodes {
                if Some(node) != system.surfaces[plane].body
                    && is_near_plane(system, state, (node, plane), ways, turns)
                {
                    found(node, SecondSide::Surface(plane));
                }
            }
        }
        near.sort_unstable();
        for (number, near) in near.iter_mut().enumerate() {
            near.number = number;
        }
    }
}

/// Whether a node may come to a plane within the substep.
fn is_near_plane<S: Scalar>(
    system: &System,
    state: &State<S>,
    (node, plane): (usize, usize),
    ways: &[f64],
    turns: &[f64],
) -> bool {
    let body = system.surfaces[plane].body;
    let carrier = body.map(|body| pose(system, state, body).values());
    let Placed::Plane(place) = system.surfaces[plane].shape.place(carrier.as_ref()) else { return true };
    let to_centre = state.nodes[node].position.map(S::value) - place.origin;
    let spread = carrier.map_or(0.0, |carrier| {
        let body = body.unwrap_or(node);
        ways[body] + turns[body] * (to_centre + place.origin - carrier.position).norm()
    });
    let extent = system.nodes[node].shape.extent(&system.details.points);
    place.normal.dot(&to_centre) <= extent + ways[node] + spread
}

/// Energy of motion of the nodes of an island that springs and joints tie, and energy of the springs.
fn tied_energy<S: Scalar>(system: &System, whole: &Island, state: &State<S>) -> f64 {
    let Some(linkage) = whole.linkage.map(|index| &system.linkages[index]) else { return 0.0 };
    let parameters = &state.parameters;
    let mut energy = 0.0;
    for &node in whole.nodes.iter().filter(|&&node| system.tied[node] && system.yields(state, node)) {
        let velocity = &state.nodes[node].velocity;
        energy += 0.5 * (parameters.mass[node] * velocity.dot(velocity)).value();
        if let Some(rotation) = system.nodes[node].rotation {
            let turning = &state.rotations[rotation];
            let spin = turning.orientation.to_body(&turning.angular_velocity);
            energy += 0.5 * spin.component_mul(&parameters.inertia[rotation]).dot(&spin).value();
        }
    }
    for &spring in &linkage.springs {
        let tie = &system.ties.springs[spring];
        let [one, other] = tie.ends.map(|end| {
            let place = end.place.map(S::from);
            end.node.map_or(place, |node| {
                let pose = pose(system, state, node);
                pose.position + pose.orientation.to_world(&place)
            })
        });
        energy += tie.energy(parameters.stiffness[spring], &(other - one)).value();
    }
    energy
}

/// Farthest that a point of a body that others may give some energy gets within a substep without being struck, and how far
/// the body turns.
fn motion<S: Scalar>(
    system: &System,
    state: &State<S>,
    (node, energy): (usize, f64),
    duration: f64,
    offset: f64,
) -> (f64, f64) {
    let parameters = &state.parameters;
    let mut acceleration = length(&parameters.gravity).value();
    if let Some(coupling) = system.nodes[node].coupling {
        acceleration = acceleration.max(length(&state.couplings[coupling].acceleration.linear).value());
    }
    let middle = offset + 0.5 * duration;
    if state.inputs.are_given() {
        acceleration += (length(&state.inputs[node].at(middle)) / parameters.mass[node]).value();
    }
    let spin = system.nodes[node].rotation.map_or(0.0, |rotation| {
        let least = parameters.inertia[rotation]
            .iter()
            .fold(f64::INFINITY, |least, moment| least.min(moment.value()));
        let torque = length(&state.torques[rotation].at(middle)).value();
        let fastest = length(&state.rotations[rotation].angular_velocity).value();
        fastest.max((2.0 * energy / least).sqrt()) + duration * torque / least
    });
    let extent = system.nodes[node].shape.extent(&system.details.points);
    let fastest = (2.0 * energy / parameters.mass[node].value()).sqrt();
    let speed = length(&state.nodes[node].velocity).value().max(fastest) + spin * extent;
    (duration * (speed + duration * acceleration), duration * spin)
}

fn around(centre: &Vector3<f64>, half: &Vector3<f64>, way: f64) -> Bounds {
    let reach = half.add_scalar(way);
    Bounds { low: centre - reach, high: centre + reach }
}

fn surface_box<S: Scalar>(
    system: &System,
    state: &State<S>,
    surface: &Surface,
    ways: &[f64],
    turns: &[f64],
) -> Bounds {
    let carrier = surface.body.map(|body| pose(system, state, body).values());
    match surface.shape.place(carrier.as_ref()) {
        Placed::Solid(solid, place) => {
            let way = surface.body.map_or(0.0, |body| {
                let lever = place.position - state.nodes[body].position.map(S::value);
                ways[body] + turns[body] * (lever.norm() + solid.extent())
            });
            around(&place.position, &half(&solid, &place), way)
        }
        Placed::Plane(_) => Bounds {
            low: Vector3::from_element(f64::NEG_INFINITY),
            high: Vector3::from_element(f64::INFINITY),
        },
    }
}

fn node_half(system: &System, node: usize, pose: &Pose<f64>) -> Vector3<f64> {
    let shape = &system.nodes[node].shape;
    match (shape, shape.as_surface()) {
        (NodeShape::Sphere { radius }, _) => Vector3::from_element(*radius),
        (_, Some(SurfaceShape::Solid { solid, .. })) => half(&solid, pose),
        _ => Vector3::from_element(shape.extent(&system.details.points)),
    }
}

/// Half edges of the box along the axes around a solid.
fn half(solid: &Solid, pose: &Pose<f64>) -> Vector3<f64> {
    match solid {
        Solid::Box(cuboid) => (0..3).fold(Vector3::zeros(), |sum, axis| {
            let edge = Vector3::from_fn(|k, _| if k == axis { cuboid.half[axis] } else { 0.0 });
            sum + pose.orientation.to_world(&edge).abs()
        }),
        Solid::Capsule(capsule) => {
            pose.orientation.to_world(&capsule.half_axis).abs() + Vector3::from_element(capsule.radius)
        }
        Solid::Cylinder(cylinder) => {
            pose.orientation.to_world(&cylinder.half_axis).abs() + Vector3::from_element(cylinder.radius)
        }
        _ => Vector3::from_element(solid.extent()),
    }
}

/// The pair of a group that is nearest, or deepest inside one another, and its signed distance; none where no pair of
/// the group can touch.
pub fn nearest_pair<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> Option<(Sides, S)> {
    let pile = system.pile.as_ref()?;
    let mut search = Search::default();
    search.rest(system);
    let mut reach = 0.0_f64;
    loop {
        search.find_pairs(system, pile, state);
        let pairs = search.near.iter().filter(|near| near.contact == contact);
        let nearest = pairs
            .map(|near| (near.sides, gap_of_pair(system, state, near.sides)))
            .min_by(|(_, one), (_, other)| one.value().total_cmp(&other.value()));
        // Boxes that are wider by as much on either side hold all that is nearer than this.
        if nearest.is_some_and(|(_, gap)| gap.value() <= 2.0 * reach) || !reach.is_finite() {
            return nearest;
        }
        let least = pile.nodes.iter().map(|&node| system.nodes[node].shape.extent(&system.details.points));
        let positions = pile.nodes.iter().map(|&node| largest(&state.nodes[node].position));
        let apart = TOLERANCES.small * positions.fold(f64::MIN_POSITIVE, f64::max);
        let first = least.fold(f64::INFINITY, f64::min).max(apart);
        reach = match nearest {
            Some((_, gap)) => gap.value(),
            None if reach == 0.0 => first,
            None if reach > FARTHEST * first => f64::INFINITY,
            None => 4.0 * reach,
        };
        search.ways.fill(reach);
    }
}

/// Signed distance of a pair.
pub fn gap_of_pair<S: Scalar>(system: &System, state: &State<S>, sides: Sides) -> S {
    match system.meeting(sides) {
        Meeting::Features(_) => distance_now(system, state, sides),
        Meeting::Points(points) => gap_of_points(system, state, sides, points),
    }
}
