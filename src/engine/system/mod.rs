//! The constant part of a simulation: what is connected to what, shapes, laws, settings.

pub mod group;
pub mod linkage;
pub mod mechanism;
pub mod pattern;

pub use group::{Group, Members, Pile, SecondSide};
pub use linkage::Linkage;
pub use mechanism::Mechanism;

use super::coupling::{Coupling, CouplingMode};
use super::geometry::part_pairs::{BOX, feature_count};
use super::geometry::stop::Stop;
use super::geometry::{Details, Meeting, NodeShape, Solid, Surface, SurfaceShape, meeting};
use super::law::FrictionLaw;
use super::law::continuous::Compliance;
use super::math::union_find::UnionFind;
use super::scalar::Scalar;
use super::settings::Settings;
use super::state::State;
use super::ties::Ties;
use crate::engine::tolerances::TOLERANCES;

/// Most places of a contact in [`super::State::guesses`]: all features of two boxes have their own.
pub(super) const MOST_PLACES: usize = feature_count(&BOX, &BOX).next_power_of_two();

/// Everything that does not change between instantiation and the end of a simulation.
#[derive(Clone, Debug)]
pub struct System {
    /// Time stepping and solver settings.
    pub settings: Settings,
    /// Nodes, in the order of [`super::State::nodes`]; the bodies that carry surfaces are among them.
    pub nodes: Vec<Node>,
    /// What their shapes, and those of surfaces, are made of.
    pub details: Details,
    /// Surfaces, fixed or carried by a body.
    pub surfaces: Vec<Surface>,
    /// Contacts, in the order of [`super::State::contacts`].
    pub contacts: Vec<Contact>,
    /// Place of a contact's first touching point in [`super::State::guesses`], by contact.
    pub first_points: Vec<usize>,
    /// Bodies that a master moves, in the order of [`super::State::couplings`].
    pub couplings: Vec<Coupling>,
    /// Springs and joints.
    pub ties: Ties,
    /// Whether one of them acts on a node, by node.
    pub tied: Vec<bool>,
    /// Groups of nodes that influence one another through contacts, springs and joints.
    pub islands: Vec<Island>,
    /// Springs and joints island by island, for those that have any.
    pub linkages: Vec<Linkage>,
    /// Number of touching points of all contacts that are pairs.
    pub pair_points: usize,
    /// What groups are made of; none where there are none.
    pub pile: Option<Pile>,
    /// Points of the master that are those of its mechanisms; none where there are none.
    pub mechanism: Option<Mechanism>,
}

/// A point mass or rigid body.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Shape around its position.
    pub shape: NodeShape,
    /// Index in [`super::State::rotations`]; none for a point mass.
    pub rotation: Option<usize>,
    /// Index in [`System::couplings`] and [`super::State::couplings`]; none for a body that the engine moves.
    pub coupling: Option<usize>,
}

/// The two sides of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sides {
    /// Index of the node.
    pub node: usize,
    /// Index of the surface.
    pub surface: usize,
}

/// A pair of a group that may touch within the substep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// Index of the group among the contacts.
    pub contact: usize,
    /// The pair.
    pub sides: Sides,
    /// Number among all that are near.
    pub number: usize,
}

/// What may touch in a contact.
#[derive(Clone, Debug)]
pub enum Between {
    /// A node and a surface.
    Pair(Sides),
    /// Any two of many; those that are near are found in every substep.
    Group(Group),
}

/// What may touch, and what happens then.
#[derive(Clone, Debug)]
pub struct Contact {
    /// What may touch.
    pub between: Between,
    /// Number of points or features that may touch; none of a group, whose pairs have their own.
    pub points: usize,
    /// Whether these are features, which follow from where the shapes are.
    pub by_features: bool,
    /// Whether a touching point stays with a body that turns, or lies on a surface that is not flat: a point of the
    /// node, or one of a surface that moves.
    pub turns_along: bool,
    /// Friction law.
    pub friction: FrictionLaw,
    /// Stiffness by which hyperstatic contacts share their load; infinite for none.
    pub normal_stiffness: f64,
    /// Place of its first touching point in [`super::State::memories`], for contacts whose law looks back at the
    /// last step.
    pub memory: Option<usize>,
    /// What happens where the shapes meet.
    pub response: Response,
}

/// What happens where the shapes of a contact meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Response {
    /// They do not overlap: the contact enters the contact problem.
    Hard,
    /// They overlap, and a force drives them apart.
    Continuous {
        /// Its law.
        compliance: Compliance,
        /// Place of its first touching point in [`super::State::compressions`].
        first: usize,
    },
}

impl Contact {
    /// A contact of a node and a surface; one that looks back at the last step gets the next places in `memories`.
    ///
    /// # Panics
    /// Where the pair of shapes has no gap function.
    pub fn new(
        (node, shape): (usize, &NodeShape),
        (place, surface): (usize, &Surface),
        friction: FrictionLaw,
        normal_stiffness: f64,
        memories: &mut usize,
    ) -> Contact {
        let remembers = friction.passes().is_some() || normal_stiffness.is_finite();
        let memory = remembers.then_some(*memories);
        let (points, by_features) = match meeting(shape, &surface.shape).expect("the pair has a gap function")
        {
            Meeting::Points(count) => (count, false),
            Meeting::Features(count) => (count, true),
        };
        if remembers {
            *memories += points;
        }
        let turns_along = shape.has_edges() || surface.body.is_some() || !surface.shape.is_flat();
        Contact {
            between: Between::Pair(Sides { node, surface: place }),
            points,
            by_features,
            turns_along,
            friction,
            normal_stiffness,
            memory,
            response: Response::Hard,
        }
    }

    /// A node at the stop of a joint.
    pub fn of_stop(node: usize, surface: usize) -> Contact {
        Contact {
            between: Between::Pair(Sides { node, surface }),
            points: 1,
            by_features: false,
            turns_along: true,
            friction: FrictionLaw::Cone,
            normal_stiffness: f64::INFINITY,
            memory: None,
            response: Response::Hard,
        }
    }

    /// A contact of any two of a group.
    pub fn of_group(group: Group, friction: FrictionLaw) -> Contact {
        Contact {
            between: Between::Group(group),
            points: 0,
            by_features: false,
            turns_along: true,
            friction,
            normal_stiffness: f64::INFINITY,
            memory: None,
            response: Response::Hard,
        }
    }

    /// What may touch.
    ///
    /// # Panics
    /// Of a group.
    #[inline]
    pub fn sides(&self) -> Sides {
        match &self.between {
            Between::Pair(sides) => *sides,
            Between::Group(_) => unreachable!("a group has many sides"),
        }
    }

    /// The group, if it is one.
    #[inline]
    pub fn group(&self) -> Option<&Group> {
        match &self.between {
            Between::Pair(_) => None,
            Between::Group(group) => Some(group),
        }
    }

    /// The same with a continuous response, which gets the next places in `compressions`. Its force is one of depth, so
    /// that of features it has the one that is always nearest ([`has_nearest_point`](super::geometry::has_nearest_point)).
    pub fn continuous(self, compliance: Compliance, compressions: &mut usize) -> Contact {
        let first = *compressions;
        let points = if self.by_features { 1 } else { self.points };
        *compressions += points;
        Contact { points, by_features: false, response: Response::Continuous { compliance, first }, ..self }
    }

    /// How many places its touching points have in [`super::State::guesses`]: where there are very many features, few
    /// of which touch at a time, some share a place.
    #[inline]
    pub fn places(&self) -> usize {
        self.points.min(MOST_PLACES)
    }

    /// Whether the contact is a rigid Coulomb cone.
    #[inline]
    pub fn is_plain_cone(&self) -> bool {
        self.memory.is_none() && matches!(self.friction, FrictionLaw::Cone)
    }
}

/// Nodes and contacts that are stepped together.
#[derive(Clone, Debug)]
pub struct Island {
    /// Indices of the nodes.
    pub nodes: Vec<usize>,
    /// Indices of the hard contacts that are pairs; of an island that was split, those that are near.
    pub contacts: Vec<usize>,
    /// Pairs of groups that are near in the substep at hand; none in [`System::islands`].
    pub pairs: Vec<Near>,
    /// Whether its nodes are those of [`System::pile`].
    pub is_pile: bool,
    /// Whether it is a part of one of [`System::islands`] that hangs together in the substep at hand.
    pub is_part: bool,
    /// Indices of the continuous ones.
    pub continuous: Vec<usize>,
    /// Whether touching points of some of them stay with bodies that turn.
    pub turns_along: bool,
    /// Indices of the couplings of its nodes.
    pub couplings: Vec<usize>,
    /// Those by a spring inside the engine.
    pub links: Vec<usize>,
    /// Whether the engine moves one of the nodes by itself.
    pub has_own: bool,
    /// Whether it has point masses only, and the engine moves all of them by itself.
    pub has_points_only: bool,
    /// Whether a master repeats steps until it agrees with one of them: contact then acts over the whole step at once.
    pub iterates: bool,
    /// Its springs and joints, by place in [`System::linkages`]; none where it has none.
    pub linkage: Option<usize>,
    /// Its place among the islands of hard contacts alone that no master moves, which come to rest to tolerance.
    pub rest: Option<usize>,
}

impl Island {
    pub(super) fn empty() -> Island {
        Island {
            nodes: Vec::new(),
            contacts: Vec::new(),
            pairs: Vec::new(),
            is_pile: false,
            is_part: false,
            continuous: Vec::new(),
            turns_along: false,
            couplings: Vec::new(),
            links: Vec::new(),
            has_own: false,
            has_points_only: false,
            iterates: false,
            linkage: None,
            rest: None,
        }
    }

    /// Whether velocities within tolerance are as good as none: no spring and no memory of friction makes another of it.
    /// A lone contact of a point mass is solved exactly, and at once.
    fn comes_to_rest(&self, contacts: &[Contact]) -> bool {
        let is_plain = |contact: &Contact| contact.memory.is_none() && contact.friction.passes().is_none();
        self.couplings.is_empty()
            && self.is_untied()
            && (self.is_pile || self.contacts.len() > usize::from(self.has_points_only))
            && self.contacts.iter().all(|&contact| is_plain(&contacts[contact]))
            && (!self.is_pile
                || contacts.iter().all(|contact| contact.group().is_none() || is_plain(contact)))
    }

    /// Its hard contacts: pairs of their own, and those of groups that are near.
    pub(super) fn all_pairs<'a>(&'a self, system: &'a System) -> impl Iterator<Item = (usize, Sides)> + 'a {
        let own = self.contacts.iter().map(|&contact| (contact, system.contacts[contact].sides()));
        own.chain(self.pairs.iter().map(|near| (near.contact, near.sides)))
    }

    /// Whether its steps are split at impacts. Those of a master that iterates are captured.
    #[inline]
    pub fn finds_impacts(&self, settings: &Settings) -> bool {
        settings.time_of_impact && !self.iterates
    }

    /// Whether hard contacts alone connect its nodes.
    fn is_untied(&self) -> bool {
        self.continuous.is_empty() && self.linkage.is_none()
    }

    /// Whether parts of it that nothing connects may be stepped on their own: a body of the master connects what touches it
    /// where contact moves it.
    pub(super) fn splits<S: Scalar>(&self, system: &System, state: &State<S>) -> bool {
        let yields = |&coupling: &usize| system.yields(state, system.couplings[coupling].node);
        self.is_untied() && !self.couplings.iter().any(yields)
    }

    /// Whether in every substep it is found anew what hangs together.
    #[inline]
    pub(super) fn is_searched<S: Scalar>(&self, system: &System, state: &State<S>) -> bool {
        self.is_pile || (self.nodes.len() > 1 && self.splits(system, state))
    }

    /// Whether so many pairs hang together that every impact starts many others: such steps are captured.
    #[inline]
    pub(super) fn is_crowd(&self) -> bool {
        self.is_part && self.contacts.len() + self.pairs.len() > TOLERANCES.split_pairs
    }

    /// Finds out how its nodes are coupled.
    fn couple(&mut self, nodes: &[Node], couplings: &[Coupling]) {
        self.couplings = self.nodes.iter().filter_map(|&node| nodes[node].coupling).collect();
        for &index in &self.couplings {
            match couplings[index].mode {
                CouplingMode::Kinetic(_) => {}
                CouplingMode::Iterative => self.iterates = true,
                CouplingMode::Compliant(_) => self.links.push(index),
            }
        }
        let is_point = |&node: &usize| nodes[node].rotation.is_none() && nodes[node].coupling.is_none();
        self.has_points_only = self.nodes.iter().all(is_point);
        self.has_own = self.couplings.len() < self.nodes.len() || !self.links.is_empty();
    }
}

impl System {
    /// Joins the parts and groups nodes and contacts into islands.
    pub fn new(
        settings: Settings,
        nodes: Vec<Node>,
        details: impl Into<Details>,
        mut surfaces: Vec<Surface>,
        contacts: Vec<Contact>,
        couplings: Vec<Coupling>,
        ties: Ties,
    ) -> System {
        let pile = Pile::of(&nodes, &mut surfaces, &contacts, &ties);
        let (mut islands, members) = islands(&nodes, &surfaces, &contacts, &couplings, &ties, pile.as_ref());
        let linkages = Linkage::of_islands(&mut islands, &nodes, &surfaces, &contacts, &ties);
        let mut resting = 0..;
        for island in &mut islands {
            island.couple(&nodes, &couplings);
            if island.comes_to_rest(&contacts) {
                island.rest = resting.next();
            }
        }
        let mut count = 0;
        let first_points = contacts
            .iter()
            .map(|pair| {
                let first = count;
                count += pair.places();
                first
            })
            .collect();
        let mut tied = vec![false; nodes.len()];
        ties.ends().flatten().flatten().for_each(|node| tied[node] = true);
        let mut system = System {
            settings,
            nodes,
            details: details.into(),
            surfaces,
            contacts,
            first_points,
            couplings,
            ties,
            tied,
            islands,
            linkages,
            pair_points: count,
            pile,
            mechanism: None,
        };
        system.mechanism = Mechanism::of(&system, members);
        system
    }

    /// Whether impulses change the motion of a node.
    pub(super) fn yields<S: Scalar>(&self, state: &State<S>, node: usize) -> bool {
        let parameters = &state.parameters;
        let turns =
            |rotation: usize| parameters.inertia[rotation].iter().any(|moment| moment.value().is_finite());
        parameters.mass[node].value().is_finite() || self.nodes[node].rotation.is_some_and(turns)
    }

    /// Number of points of a contact that may touch at the same time.
    #[inline]
    pub fn touching_points(&self, contact: usize) -> usize {
        self.contacts[contact].points
    }

    /// How the two sides of a contact touch.
    ///
    /// # Panics
    /// Where the pair of shapes has no gap function.
    pub fn meeting(&self, sides: Sides) -> Meeting {
        meeting(&self.nodes[sides.node].shape, &self.surfaces[sides.surface].shape)
            .expect("the pair has a gap function")
    }

    /// The stop of a joint that a contact is, if it is one.
    #[inline]
    pub fn stop(&self, sides: Sides) -> Option<&Stop> {
        self.surfaces[sides.surface].shape.stop()
    }

    /// Whether a touching point of a contact is a feature, which follows from where the shapes are.
    pub fn is_feature(&self, contact: usize, sides: Sides) -> bool {
        let contact = &self.contacts[contact];
        contact.by_features
            || (contact.group().is_some() && matches!(self.meeting(sides), Meeting::Features(_)))
    }

    /// Whether the two sides of a contact touch at one point at most.
    pub(super) fn touches_at_one_point(&self, contact: usize, sides: Sides) -> bool {
        match &self.contacts[contact].between {
            Between::Pair(_) => self.contacts[contact].points == 1,
            Between::Group(_) => matches!(self.meeting(sides), Meeting::Points(1)),
        }
    }

    /// How much the normal of a contact turns at most for a length that the node slides along.
    pub fn bend(&self, sides: Sides) -> f64 {
        let SurfaceShape::Solid { solid, .. } = &self.surfaces[sides.surface].shape else { return 0.0 };
        let round = match (&self.nodes[sides.node].shape, solid) {
            (NodeShape::Sphere { radius }, _) => radius + solid.roundness(),
            // What is not round touches the side, or a rim, which is sharp.
            (_, Solid::Cylinder(cylinder)) => cylinder.radius,
            _ => solid.roundness(),
        };
        if round > 0.0 { 1.0 / round } else { 0.0 }
    }

    /// Whether the gap of a contact has one least place on any straight way: not over a mesh.
    pub(super) fn is_convex(&self, sides: Sides) -> bool {
        let shape = &self.surfaces[sides.surface].shape;
        !matches!(shape, SurfaceShape::Solid { solid: Solid::Mesh(_), .. })
    }

    /// Half of the least width of the wider one of two shapes; none for a plane or a stop, behind which all is solid. Shapes
    /// of unknown width, and those that are flat, count as plates.
    pub(super) fn half_width(&self, sides: Sides) -> Option<f64> {
        let SurfaceShape::Solid { solid, .. } = &self.surfaces[sides.surface].shape else { return None };
        let own = match self.nodes[sides.node].shape.as_surface() {
            Some(SurfaceShape::Solid { solid, .. }) => solid.half_width(),
            _ => 0.0,
        };
        let width = own.max(solid.half_width());
        if width > 0.0 {
            return Some(width);
        }
        let extent = self.nodes[sides.node].shape.extent(&self.details.points);
        Some(TOLERANCES.slight * if extent > 0.0 { extent.min(solid.extent()) } else { solid.extent() })
    }

    /// Number of points of a contact that may well touch at the same time.
    pub(super) fn likely_points(&self, contact: usize) -> usize {
        /// Two boxes on each other.
        const LIKELY_FEATURES: usize = BOX.corners;
        let contact = &self.contacts[contact];
        if contact.by_features { contact.points.min(LIKELY_FEATURES) } else { contact.points }
    }

    /// How far the shapes of a contact reach from the centres of their bodies.
    pub(super) fn extents(&self, sides: Sides) -> (f64, f64) {
        let surface = match &self.surfaces[sides.surface].shape {
            SurfaceShape::Plane { .. } | SurfaceShape::Stop(_) => 0.0,
            SurfaceShape::Solid { position, solid, .. } => position.norm() + solid.extent(),
        };
        (self.nodes[sides.node].shape.extent(&self.details.points), surface)
    }

    /// Number of [`super::State::guesses`].
    pub fn points_of_contacts(&self) -> usize {
        self.pair_points
    }

    /// Whether a place of a touching point in [`super::State::guesses`] belongs to a pair of a group: it then has one
    /// in [`super::State::points`] too.
    #[inline]
    pub fn group_point(&self, place: usize) -> Option<usize> {
        place.checked_sub(self.pair_points)
    }

    /// Number of [`super::State::memories`].
    pub fn memories(&self) -> usize {
        let remember = (0..self.contacts.len()).filter(|&contact| self.contacts[contact].memory.is_some());
        remember.map(|contact| self.touching_points(contact)).sum()
    }

    /// Number of [`super::State::compressions`].
    pub fn compressions(&self) -> usize {
        let soft = self.contacts.iter().filter(|pair| pair.response != Response::Hard);
        soft.map(|pair| pair.points).sum()
    }
}

/// Nodes that touch surfaces of one body share an island with it, and so do nodes that are tied to one another; all
/// others have one of their own. All that groups may touch is in one, which is split anew in every substep. So are points
/// that may be those of a mechanism, whose couplings are returned too.
fn islands(
    nodes: &[Node],
    surfaces: &[Surface],
    contacts: &[Contact],
    couplings: &[Coupling],
    ties: &Ties,
    pile: Option<&Pile>,
) -> (Vec<Island>, Vec<usize>) {
    let mut together = UnionFind::new(nodes.len());
    let pairs = || contacts.iter().filter(|contact| contact.group().is_none()).map(Contact::sides);
    let on_bodies = pairs().filter_map(|sides| surfaces[sides.surface].body.map(|body| (sides.node, body)));
    let piled = pile.into_iter().flat_map(|pile| pile.bodies(surfaces).map(|body| (pile.first(), body)));
    for (node, other) in on_bodies.chain(ties.pairs()).chain(piled) {
        together.join(node, other);
    }
    let members = Mechanism::members(nodes, contacts, couplings, ties, pile, &mut together);
    for pair in members.windows(2) {
        together.join(couplings[pair[0]].node, couplings[pair[1]].node);
    }
    let mut islands: Vec<Island> = Vec::new();
    let mut places = vec![0; nodes.len()];
    for node in 0..nodes.len() {
        let leader = together.leader(node);
        if leader == node {
            places[node] = islands.len();
            islands.push(Island::empty());
        }
        places[node] = places[leader];
        islands[places[node]].nodes.push(node);
    }
    if let Some(pile) = pile {
        islands[places[pile.first()]].is_pile = true;
    }
    for (index, pair) in contacts.iter().enumerate().filter(|(_, contact)| contact.group().is_none()) {
        let island = &mut islands[places[pair.sides().node]];
        match pair.response {
            Response::Hard => {
                island.contacts.push(index);
                island.turns_along |= pair.turns_along;
            }
            Response::Continuous { .. } => island.continuous.push(index),
        }
    }
    (islands, members)
}
