//! Time stepping of one island. A scheme decides which contacts act over which interval; the interval itself
//! is always the same: propose velocities that satisfy the contact problem, accept them, move.
//!
//! `M (v+ - v) = h f + J^T p`, `q+ = q + h (theta v+ + (1 - theta) v)`. [Moreau 1988; Jean 1999; Fancello 2012, 3.1]
//!
//! A rigid body turns freely by [`FreeRotation`]; contact impulses change its angular velocity through the inertia
//! at the start of the interval, and weigh `theta` in the mean angular velocity by which it turns. Where the touching
//! point stays with a body that turns, impulses act on it midway and velocities are those at the end, which makes
//! pivoting of order 2. [`midpoint`] has intervals of its own, and [`end_point`] a free motion of its own.

mod balance;
mod catch;
pub mod continuous;
pub mod correction;
pub mod end_point;
mod flight;
mod friction;
mod frictionless;
mod hht;
mod joint_friction;
mod linked;
pub mod midpoint;
pub mod moreau_jean;
mod multistep;
mod rest;
pub mod settling;
pub mod slip_end;
pub mod time_of_impact;

use super::contact::{
    Bodies, Carrier, Impulse, Jacobian, Touch, assemble, features_now, near, pose, scales, turned_to,
};
use super::coupling::{self, CouplingMode};
use super::elementary::hypot;
use super::geometry::{Meeting, NodeShape, Pose};
use super::law::bounded::turn;
use super::law::newton_impact::Bounce;
use super::law::{coulomb_cone, newton_impact};
use super::pile::gap_of_pair;
use super::problem::mixed::Friction;
use super::rotation::{FreeRotation, Orientation, spin};
use super::scalar::{Scalar, length};
use super::solver::{Solvable, SolverSettings, Status};
use super::state::{ContactMode, ContactRecord, State};
use super::step::{Turn, Workspace};
use super::system::{Island, Scheme, Sides, System};
use nalgebra::Vector3;
use std::cell::Cell;

/// Sliding speeds up to this part of the largest velocity in a contact problem are round-off.
const STILL: f64 = 1e-10;

/// A normal that turns further than to this cosine within an interval is not followed.
const FOLLOWED: f64 = 0.9;
/// How far a touching point is followed at most within a substep, over its distance from the centre.
const RUNS_OFF: f64 = 0.25;

/// Distance of features that touch by and by, as a part of the size.
const NEAR: f64 = 1e-3;

/// Components of bounded friction up to this part of the bound hold.
const WITHIN_BOUNDS: f64 = 1.0 - 1e-9;

/// Whether contacts rebound in a contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebound {
    /// Newton's law.
    Newton,
    /// Closed contacts stay closed.
    None,
}

/// Where bodies are in a contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placing {
    /// Where impulses of the proposed interval act.
    Acting,
    /// Where they are.
    Present,
}

/// How forces over an interval `dt` change the motion: by `u` the velocity at its end, by `reach u` the mean velocity.
#[derive(Clone, Copy, Debug)]
pub struct Weights<S> {
    /// Time that forces act.
    pub force: S,
    /// Part of `u` that there is where springs act.
    pub acting: S,
    /// Part of `u` in the mean velocity.
    pub reach: S,
    /// The same for contact.
    pub contact: S,
}

/// One island over one substep.
pub struct IslandStep<'a, S: Scalar> {
    /// Constant data.
    pub system: &'a System,
    /// The island.
    pub island: &'a Island,
    /// Changing data.
    pub state: &'a mut State<S>,
    /// Scratch.
    pub workspace: &'a mut Workspace<S>,
    /// Length of the substep.
    pub length: f64,
    /// Where in the communication step the substep starts.
    pub offset: f64,
    /// How much of the substep is done.
    pub elapsed: f64,
    /// Whether the substep has had so many impacts that short bounces are not followed any more.
    pub crowded: bool,
    /// Whether the balance of energy is closed after every interval.
    pub keeps_energy: bool,
    /// Looks at gaps on the way to impacts so far.
    pub looks: Cell<u32>,
    /// Contact problems so far that were not solved.
    pub unsolved: u32,
}

impl<'a, S: Solvable> IslandStep<'a, S> {
    /// A substep of some `length` that starts at `offset`.
    #[inline]
    pub fn new(
        system: &'a System,
        island: &'a Island,
        state: &'a mut State<S>,
        workspace: &'a mut Workspace<S>,
        (length, offset): (f64, f64),
    ) -> IslandStep<'a, S> {
        IslandStep {
            system,
            island,
            state,
            workspace,
            length,
            offset,
            elapsed: 0.0,
            crowded: false,
            keeps_energy: false,
            looks: Cell::new(0),
            unsolved: 0,
        }
    }

    /// Advances the island over the substep.
    #[inline]
    pub fn run(&mut self) {
        let settings = &self.system.settings;
        match settings.scheme {
            Scheme::Midpoint { .. } => self.apply(self.offset + 0.5 * self.length),
            Scheme::MoreauJean => self.apply(self.offset + settings.theta * self.length),
            Scheme::Multistep { rho } => return multistep::run(self, rho),
            Scheme::Hht { alpha } => return hht::run(self, alpha),
        }
        if settings.energy_balance {
            self.keeps_energy = balance::is_due(self);
        }
        if self.island.continuous.is_empty() {
            self.advance(S::from(self.length));
        } else {
            continuous::run(self);
        }
    }

    /// Takes accelerations and torques without contact, springs and joints as they are `at` after the start of the
    /// communication step.
    #[inline]
    fn apply(&mut self, at: f64) {
        if self.island.has_points_only && !self.state.inputs.are_told() {
            if self.island.linkage.is_some() && linked::begin_evenly(self) {
                return;
            }
            for &node in &self.island.nodes {
                self.workspace.acceleration[node] = self.state.parameters.gravity;
            }
            if self.island.linkage.is_some() {
                linked::begin(self);
            }
            return;
        }
        let parameters = &self.state.parameters;
        for &node in &self.island.nodes {
            let told = || {
                if self.state.inputs.are_told() {
                    self.state.inputs[node].at(at) / parameters.mass[node]
                } else {
                    Vector3::zeros()
                }
            };
            self.workspace.acceleration[node] = match self.system.nodes[node].coupling {
                None => parameters.gravity + told(),
                // What the master is known to apply acts at its end of the link.
                Some(coupling) if self.island.links.contains(&coupling) => parameters.gravity,
                Some(coupling) => self.state.couplings[coupling].acceleration.linear + told(),
            };
            if let Some(rotation) = self.system.nodes[node].rotation {
                self.workspace.torque[rotation] = self.state.torques[rotation].at(at);
            }
        }
        if self.island.linkage.is_some() {
            linked::begin(self);
        }
    }

    /// Advances the island by `dt` under constant accelerations and torques.
    #[inline]
    fn advance(&mut self, dt: S) {
        let settings = &self.system.settings;
        match settings.scheme {
            Scheme::Midpoint { sweeps } => midpoint::run(self, sweeps, dt),
            Scheme::MoreauJean if settings.time_of_impact && !self.island.iterates => {
                if self.island.pairs.len() > time_of_impact::MOST_PAIRS {
                    let captured = &mut self.workspace.captured_pairs;
                    *captured = (*captured).max(self.island.pairs.len());
                    moreau_jean::capture(self, dt, moreau_jean::Gaps::Rounded)
                } else {
                    time_of_impact::run(self, dt)
                }
            }
            Scheme::MoreauJean => moreau_jean::run(self, dt),
            Scheme::Multistep { .. } | Scheme::Hht { .. } => {
                unreachable!("these schemes have no continuous contacts")
            }
        }
    }

    /// Whether joints hold nodes of the island.
    #[inline]
    fn is_jointed(&self) -> bool {
        self.island.linkage.is_some_and(|linkage| self.system.linkages[linkage].has_joints())
    }

    /// Whether joints of the island rub.
    #[inline]
    fn rubs(&self) -> bool {
        self.island.linkage.is_some_and(|linkage| !self.system.linkages[linkage].rubbing.is_empty())
    }

    /// Looks at all contact pairs of the island and marks them open.
    #[inline]
    fn look(&mut self) {
        let mut seen = 0;
        for &contact in &self.island.contacts {
            if self.system.contacts[contact].by_features {
                seen = self.look_for_features(contact, seen);
                continue;
            }
            for point in 0..self.system.touching_points(contact) {
                if seen == self.workspace.touches.len() {
                    self.workspace.touches.push(Touch::blank());
                }
                self.workspace.touches[seen].look(self.system, self.state, contact, point);
                seen += usize::from(self.yields(&self.workspace.touches[seen]));
            }
            self.state.contacts[contact].open_up();
        }
        if !self.island.pairs.is_empty() {
            seen = self.look_at_pairs(seen);
        }
        self.workspace.touches.truncate(seen);
    }

    /// Looks at the pairs of groups, from the place `seen` on. Returns how many touching points are seen then.
    #[inline(never)]
    fn look_at_pairs(&mut self, mut seen: usize) -> usize {
        for pair in &self.island.pairs {
            let reach = self.reach(pair.sides);
            let Workspace { touches, memory, .. } = &mut *self.workspace;
            let (system, state) = (self.system, &mut *self.state);
            memory.open_up(state, pair.number);
            let first = seen;
            let mut look = |state: &State<S>, point: usize| {
                if seen == touches.len() {
                    touches.push(Touch::blank());
                }
                touches[seen].look_at(system, state, pair.contact, pair.sides, point);
                seen += 1;
            };
            match system.meeting(pair.sides) {
                Meeting::Points(points) => (0..points).for_each(|point| look(state, point)),
                // As in `look_for_features`.
                Meeting::Features(_) if !reach.is_finite() => state.step.dissipated = S::from(f64::NAN),
                Meeting::Features(_) => {
                    features_now(system, state, pair.sides, reach, &mut |feature| {
                        look(state, feature as usize);
                    });
                }
            }
            for touch in &mut touches[first..seen] {
                let place = memory.place(state, pair, touch.point);
                touch.held = state.points[place].held;
                touch.place = system.pair_points + place;
            }
        }
        seen
    }

    /// Looks at those features of a contact that may touch within the substep, from the place `seen` on. Returns how many
    /// are seen then.
    // Not inlined: steps without such contacts stay short.
    #[inline(never)]
    fn look_for_features(&mut self, contact: usize, mut seen: usize) -> usize {
        /// So many are not followed one by one where a body passes its own size within a substep.
        const MOST: usize = 512;
        let sides = self.system.contacts[contact].sides();
        let (size, _) = self.system.extents(sides);
        let reach = self.reach(sides);
        let first = seen;
        if reach.is_finite() {
            seen = self.list_features(contact, first, reach);
        } else {
            // What a body meets at such a speed cannot be told, and so the step is not made.
            self.state.step.dissipated = S::from(f64::NAN);
        }
        if seen - first > MOST && reach > size {
            let gaps = self.workspace.touches[first..seen].iter().map(|touch| touch.gap.value());
            let nearest = gaps.fold(f64::INFINITY, f64::min).max(0.0);
            seen = self.list_features(contact, first, nearest + NEAR * size);
        }
        self.state.contacts[contact].open_up();
        seen
    }

    /// Features of a contact nearer than `reach`, from the place `seen` on. Returns how many are seen then.
    fn list_features(&mut self, contact: usize, mut seen: usize, reach: f64) -> usize {
        let sides = self.system.contacts[contact].sides();
        let Workspace { touches, .. } = &mut *self.workspace;
        let (system, state) = (self.system, &*self.state);
        features_now(system, state, sides, reach, &mut |feature| {
            if seen == touches.len() {
                touches.push(Touch::blank());
            }
            touches[seen].look(system, state, contact, feature as usize);
            seen += 1;
        });
        seen
    }

    /// No point of a pair comes nearer to the other side within the substep.
    fn reach(&self, sides: Sides) -> f64 {
        let (node_extent, surface_extent) = self.system.extents(sides);
        let moved = |node: usize, extent: f64| {
            let state = &self.state.nodes[node];
            let spin = self.system.nodes[node]
                .rotation
                .map_or(0.0, |rotation| length(&self.state.rotations[rotation].angular_velocity).value());
            let acceleration = length(&self.workspace.acceleration[node]).value();
            self.length * (length(&state.velocity).value() + spin * extent + self.length * acceleration)
        };
        let mut reach = NEAR * node_extent + 2.0 * moved(sides.node, node_extent);
        if let Some(body) = self.system.surfaces[sides.surface].body {
            reach += 2.0 * moved(body, surface_extent);
        }
        reach
    }

    /// Whether impulses of a contact change any motion; not between two bodies whose motion is prescribed.
    #[inline]
    fn yields(&self, touch: &Touch<S>) -> bool {
        self.state.parameters.mass[touch.node].value().is_finite() || self.yields_otherwise(touch)
    }

    #[inline(never)]
    fn yields_otherwise(&self, touch: &Touch<S>) -> bool {
        let turns = |rotation: usize| self.turns_under_load(rotation);
        touch.rotation.is_some_and(turns)
            || touch.carrier.is_some_and(|carrier| {
                self.state.parameters.mass[carrier.node].value().is_finite()
                    || carrier.rotation.is_some_and(turns)
            })
    }

    /// Whether impulses turn a body.
    fn turns_under_load(&self, rotation: usize) -> bool {
        self.state.parameters.inertia[rotation].iter().any(|moment| moment.value().is_finite())
    }

    /// As [`propose`](Self::propose) with Newton's law. Friction can leave an impact with rebound without solution;
    /// then contacts do not rebound, for which there is one, and the residual tells.
    #[inline]
    fn propose_impact(&mut self, dt: S) {
        if !self.propose(dt, Rebound::Newton) && self.any_rebounds() {
            self.propose(dt, Rebound::None);
        }
    }

    /// Whether Newton's law makes a contact that acts rebound.
    #[inline(never)]
    fn any_rebounds(&self) -> bool {
        let touches = &self.workspace.touches;
        self.workspace.active.iter().any(|&index| self.shift(&touches[index], Rebound::Newton).value() != 0.0)
    }

    /// Velocities at the end of `dt` such that the active contacts obey their laws. Returns whether they were found.
    #[inline]
    fn propose(&mut self, dt: S, rebound: Rebound) -> bool {
        if self.system.settings.scheme.looks_back() {
            end_point::propose(self);
        } else {
            self.propose_free(dt);
        }
        match self.workspace.active[..] {
            [] if !self.rubs() => self.workspace.impulses.clear(),
            [only] if self.is_closed_form(only, dt) => self.propose_single(only, rebound),
            _ => {
                let found = frictionless::propose(self, dt, rebound)
                    || rest::propose(self, dt, rebound)
                    || self.propose_coupled(dt, rebound);
                self.unsolved += u32::from(!found);
                return found;
            }
        }
        true
    }

    /// Velocities at the end of `dt` without contact and friction.
    #[inline]
    fn propose_free(&mut self, dt: S) {
        if self.island.linkage.is_some() && linked::propose_plain(self, dt) {
            return;
        }
        for (place, &node) in self.island.nodes.iter().enumerate() {
            let acceleration = match self.island.linkage {
                None => self.workspace.acceleration[node],
                Some(linkage) => self.workspace.linkages[linkage].applied[place],
            };
            self.workspace.velocity[node] = self.state.nodes[node].velocity + acceleration * dt;
            self.workspace.mobility[node] = S::one() / self.state.parameters.mass[node];
            if let Some(rotation) = self.system.nodes[node].rotation {
                self.propose_turn(node, rotation, dt);
            }
        }
        if !self.island.links.is_empty() {
            self.propose_links(dt);
        }
        if self.island.linkage.is_some() {
            linked::propose(self, dt);
        }
    }

    /// Takes springs to the master's side into the proposal.
    #[inline(never)]
    fn propose_links(&mut self, dt: S) {
        for &index in &self.island.links {
            let coupling = &self.system.couplings[index];
            let CouplingMode::Compliant(link) = &coupling.mode else { continue };
            let (node, theta) = (coupling.node, self.system.settings.theta);
            let state = &self.state.nodes[node];
            let (velocity, mobility) = self.workspace.couplings[index].mirror.propose(
                link,
                theta,
                dt,
                (&state.position, &state.velocity),
                &self.state.parameters.gravity,
                self.state.parameters.mass[node],
            );
            self.workspace.velocity[node] = velocity;
            self.workspace.mobility[node] = mobility;
            if dt.value() > 0.0 {
                self.workspace.acceleration[node] = (velocity - state.velocity) / dt;
            }
        }
    }

    /// Moves the master's ends of springs along with the accepted proposal.
    #[inline(never)]
    fn accept_links(&mut self, dt: S) {
        for &index in &self.island.links {
            let coupling = &self.system.couplings[index];
            let Workspace { velocity, mobility, couplings, .. } = &mut *self.workspace;
            let theta = self.system.settings.theta;
            let node = coupling.node;
            couplings[index].mirror.accept(theta, dt, &velocity[node], mobility[node]);
        }
    }

    // Not inlined: steps of point masses stay short.
    #[inline(never)]
    fn propose_turn(&mut self, node: usize, rotation: usize, dt: S) {
        let free = self.free_rotation(node, rotation);
        let (mean, end) = free.over(dt);
        let acting = self.acting_orientation(node, &free.orientation, &mean, dt);
        self.workspace.turns[rotation] = Turn { mean, end, acting };
    }

    /// The orientation in which impulses act on a body that turns with the angular velocity `mean`.
    fn acting_orientation(
        &self,
        node: usize,
        start: &Orientation<S>,
        mean: &Vector3<S>,
        dt: S,
    ) -> Orientation<S> {
        let midway = || start.turned(&(mean * (dt * S::from(0.5))));
        match self.system.nodes[node].shape {
            NodeShape::Points { .. } | NodeShape::Surface => midway(),
            NodeShape::Box(_) | NodeShape::Capsule(_) | NodeShape::Cylinder(_) | NodeShape::Hull(_) => {
                midway()
            }
            _ if self.island.linkage.is_some() => midway(),
            NodeShape::Sphere { .. } | NodeShape::Disc { .. } => *start,
        }
    }

    #[inline(never)]
    fn accept_turn(&mut self, rotation: usize, dt: S) {
        let turn = self.workspace.turns[rotation];
        let state = &mut self.state.rotations[rotation];
        // What does not turn is not rounded either.
        if turn.mean != Vector3::zeros() {
            state.orientation = state.orientation.turned(&(turn.mean * dt));
        }
        state.angular_velocity = turn.end;
    }

    fn free_rotation(&self, node: usize, rotation: usize) -> FreeRotation<S> {
        let state = &self.state.rotations[rotation];
        FreeRotation {
            orientation: state.orientation,
            angular_velocity: state.angular_velocity,
            inertia: self.state.parameters.inertia[rotation],
            torque: self.workspace.torque[rotation],
            acceleration: self.system.nodes[node]
                .coupling
                .map(|coupling| self.state.couplings[coupling].acceleration.angular),
        }
    }

    /// Proposed velocity of the touching point relative to that of the surface.
    #[inline]
    fn proposed_velocity(&self, touch: &Touch<S>) -> Vector3<S> {
        let mut relative = self.workspace.velocity[touch.node];
        if let Some(rotation) = touch.rotation {
            relative += self.workspace.turns[rotation].end.cross(&touch.arm_after);
        }
        if let Some(carrier) = &touch.carrier {
            relative -= self.proposed_carrier_velocity(carrier);
        }
        relative
    }

    #[inline(never)]
    fn proposed_carrier_velocity(&self, carrier: &Carrier<S>) -> Vector3<S> {
        let Workspace { velocity, turns, .. } = &*self.workspace;
        match carrier.rotation {
            None => velocity[carrier.node],
            Some(rotation) => velocity[carrier.node] + turns[rotation].end.cross(&carrier.arm_after),
        }
    }

    /// Adds an impulse at a touching point, and its reaction, to the proposal.
    fn push(&mut self, place: usize, impulse: &Vector3<S>) {
        let Workspace { touches, velocity, mobility, .. } = &mut *self.workspace;
        let touch = &touches[place];
        velocity[touch.node] += impulse * mobility[touch.node];
        let turning = touch.rotation.map(|rotation| (rotation, touch.lever().cross(impulse)));
        let reaction = touch.carrier.and_then(|carrier| {
            velocity[carrier.node] -= impulse * mobility[carrier.node];
            carrier.rotation.map(|rotation| (rotation, -carrier.lever().cross(impulse)))
        });
        for (rotation, moment) in turning.into_iter().chain(reaction) {
            self.push_turn(rotation, &moment);
        }
    }

    /// Adds a change of angular momentum to the proposal.
    fn push_turn(&mut self, rotation: usize, moment: &Vector3<S>) {
        let weight = S::from(self.contact_weight());
        let turn = &mut self.workspace.turns[rotation];
        let change = spin(&turn.acting, &self.state.parameters.inertia[rotation], moment);
        turn.mean += change * weight;
        turn.end += change;
    }

    /// How much of a change of the velocity by contact there is in the mean.
    #[inline]
    fn contact_weight(&self) -> f64 {
        match self.system.settings.scheme {
            Scheme::MoreauJean => self.system.settings.theta,
            Scheme::Midpoint { .. } => 0.5,
            Scheme::Multistep { .. } | Scheme::Hht { .. } => end_point::JUMP_WEIGHT,
        }
    }

    /// How the proposed forces over `dt` change the motion.
    fn weights(&self, dt: S) -> Weights<S> {
        if self.system.settings.scheme.looks_back() {
            self.workspace.end_point.weights(dt)
        } else {
            let theta = S::from(self.contact_weight());
            Weights { force: dt, acting: theta, reach: theta, contact: theta }
        }
    }

    /// Velocity by which the position of a node moves in the proposal.
    #[inline]
    fn mean_velocity(&self, node: usize) -> Vector3<S> {
        let settings = &self.system.settings;
        let after = &self.workspace.velocity[node];
        if settings.scheme.looks_back() {
            self.workspace.end_point.mean(node, after)
        } else {
            let before = self.state.nodes[node].velocity;
            before + (after - before) * S::from(settings.theta)
        }
    }

    /// Where a body is after `dt` of the proposed motion.
    fn proposed_pose(&self, node: usize, dt: S) -> Pose<S> {
        let mut pose = pose(self.system, self.state, node);
        pose.position += self.mean_velocity(node) * dt;
        if let Some(rotation) = self.system.nodes[node].rotation {
            pose.orientation = pose.orientation.turned(&(self.workspace.turns[rotation].mean * dt));
        }
        pose
    }

    /// Finds where active contacts will touch at the end of the proposed motion, so that what they stop is the velocity
    /// there: a node that a turning surface carries stays in its place on it, and a body that tips over a corner stays
    /// on the corner.
    fn look_ahead(&mut self, dt: S) {
        if dt.value() == 0.0 || !self.island.turns_along {
            return;
        }
        for index in 0..self.workspace.active.len() {
            let place = self.workspace.active[index];
            let mut touch = self.workspace.touches[place];
            // Of a group some pairs do, and some do not.
            if !self.system.contacts[touch.contact].turns_along || !touch.turns_along(self.system) {
                continue;
            }
            let node = self.proposed_pose(touch.node, dt);
            let body = touch.carrier.map(|carrier| self.proposed_pose(carrier.node, dt));
            let end = near(self.system, &node, body.as_ref(), touch.sides(), touch.point);
            // The lowest point of a rim that is nearly flat runs around it: there is nothing to follow either.
            let ran = length(&(end.arm - touch.arm)).value() > RUNS_OFF * length(&touch.arm).value();
            touch.arm_after = if ran { touch.arm } else { end.arm };
            // Where bodies pass through one another without contact, there is nothing to follow.
            if end.normal.dot(&touch.normal).value() > FOLLOWED {
                touch.normal_after = end.normal;
            }
            if let (Some(carrier), Some(body)) = (&mut touch.carrier, &body) {
                carrier.arm_after = node.position + touch.arm_after - body.position;
            }
            self.workspace.touches[place] = touch;
        }
    }

    fn shift(&self, touch: &Touch<S>, rebound: Rebound) -> S {
        match rebound {
            Rebound::Newton => newton_impact::shift(self.restitution(touch), touch.normal_velocity),
            Rebound::None => S::zero(),
        }
    }

    /// Restitution of a contact, less what a coupling takes back from it.
    #[inline]
    fn restitution(&self, touch: &Touch<S>) -> S {
        let restitution = self.state.parameters.restitution[touch.contact];
        match self.system.nodes[touch.node].coupling {
            None => restitution,
            Some(index) => {
                let excess = coupling::excess(self.system, self.state, index);
                coupling::guarded_restitution(restitution, excess, self.impact_energy(touch))
            }
        }
    }

    /// Energy of the node's motion towards the surface.
    fn impact_energy(&self, touch: &Touch<S>) -> S {
        let speed = touch.normal_velocity;
        self.state.parameters.mass[touch.node] * speed * speed * S::from(0.5)
    }

    fn propose_single(&mut self, index: usize, rebound: Rebound) {
        let touch = &self.workspace.touches[index];
        let mobility = self.workspace.mobility[touch.node];
        let (normal, tangential, mode) = coulomb_cone::isotropic_impulse(
            mobility,
            self.state.parameters.mu[touch.contact],
            &touch.normal,
            &self.workspace.velocity[touch.node],
            self.shift(touch, rebound),
        );
        let impulse = Impulse { normal, tangential, mode };
        self.workspace.velocity[touch.node] += impulse.vector(&touch.normal) * mobility;
        self.workspace.impulses.clear();
        self.workspace.impulses.push(impulse);
        self.state.step.iterations = self.state.step.iterations.saturating_add(1);
    }

    /// Whether a lone contact is the cone of a point mass on a fixed surface.
    #[inline]
    fn is_closed_form(&self, index: usize, dt: S) -> bool {
        let touch = &self.workspace.touches[index];
        touch.rotation.is_none()
            && touch.carrier.is_none()
            && touch.flat
            && !linked::yields(self, Placing::Acting, dt)
            && self.system.contacts[touch.contact].is_plain_cone()
    }

    fn propose_coupled(&mut self, dt: S, rebound: Rebound) -> bool {
        self.look_ahead(dt);
        let solved = self.solve_coupled(dt, rebound);
        if solved {
            rest::stop(self, dt);
        }
        solved
    }

    /// The same with contacts where they have been foreseen.
    fn solve_coupled(&mut self, dt: S, rebound: Rebound) -> bool {
        friction::begin(self, dt);
        joint_friction::begin(self, dt);
        let is_linked = linked::yields(self, Placing::Acting, dt);
        let (mut pass, mut unsolved) = (0, 0);
        let mut is_held;
        let solved = loop {
            self.begin_problem(Placing::Acting, pass, dt);
            for index in 0..self.workspace.active.len() {
                let touch = &self.workspace.touches[self.workspace.active[index]];
                let frame = &self.workspace.columns[index].linear;
                let velocity = self.proposed_velocity(touch);
                let local = if touch.flat {
                    frame * velocity
                } else {
                    turned_to(frame, &touch.normal_after) * velocity
                };
                let shift = self.shift(touch, rebound);
                let mu = self.state.parameters.mu[touch.contact];
                let scale = self.workspace.scales[index];
                let problem = &mut self.workspace.problem.contacts;
                problem.q[3 * index] = (local[0] + shift) * scale;
                problem.q[3 * index + 1] = local[1] * scale;
                problem.q[3 * index + 2] = local[2] * scale;
                problem.mu[index] = mu;
            }
            friction::write(self, dt, |step, index| {
                let touch = &step.workspace.touches[step.workspace.active[index]];
                touch.velocity(step.state)
            });
            joint_friction::look(self);
            joint_friction::write(self);
            // Later passes start where the last one ended.
            if pass == 0 || !self.system.settings.warm_start {
                self.guess(dt);
            }
            is_held = pass == 0 && rest::is_held(self, dt);
            let solved = is_held || self.solve_problem();
            unsolved += u32::from(!solved);
            let mut again = friction::revise(self, pass, dt) && unsolved <= friction::MOST_UNSOLVED;
            if is_linked {
                self.read_impulses();
                again |= joint_friction::revise(self, pass, dt);
                again = linked::revise(self, pass, dt, again);
            }
            if !again {
                break solved;
            }
            pass += 1;
        };
        // There and back again would round.
        if !is_held {
            self.keep_guess(dt, solved);
        }
        if is_linked {
            linked::push(self, dt);
            return solved;
        }
        self.read_impulses();
        for index in 0..self.workspace.active.len() {
            let place = self.workspace.active[index];
            let impulse =
                self.workspace.impulses[index].vector(&self.workspace.touches[place].acting_normal());
            self.push(place, &impulse);
        }
        solved
    }

    /// The solution of the contact problem as impulses.
    fn read_impulses(&mut self) {
        let Workspace { touches, active, problem, unknowns, scales, columns, impulses, .. } =
            &mut *self.workspace;
        let still = STILL * problem.contacts.q.iter().fold(0.0_f64, |most, q| most.max(q.value().abs()));
        impulses.clear();
        for index in 0..active.len() {
            let r = Vector3::from_column_slice(&unknowns[3 * index..3 * index + 3]);
            let mode = match problem.friction[index] {
                // A bristle moves while it holds: its bounds tell.
                Friction::Bounded { direction, bound } => {
                    let own = turn([r[1], r[2]], direction).map(|component| component.value().abs());
                    let held = own[0].max(own[1]) < bound.value() * WITHIN_BOUNDS;
                    coulomb_cone::mode(
                        bound.value(),
                        r[0].value(),
                        if held { 0.0 } else { f64::INFINITY },
                        still,
                    )
                }
                _ => {
                    let u = problem.contacts.velocity(index, unknowns).map(S::value);
                    let mu = self.state.parameters.mu[touches[active[index]].contact].value();
                    coulomb_cone::mode(mu, r[0].value(), hypot(u[1], u[2]), still)
                }
            };
            let p = r * scales[index];
            let tangent = Vector3::new(S::zero(), p[1], p[2]);
            let tangential = columns[index].linear.transpose() * tangent;
            impulses.push(Impulse { normal: p[0], tangential, mode });
        }
    }

    /// Jacobians, scales and Delassus operator of the active contacts over `dt`, in pass `pass`.
    fn begin_problem(&mut self, placing: Placing, pass: u32, dt: S) {
        let Workspace { touches, active, columns, turns, .. } = &mut *self.workspace;
        let orientation = |rotation: usize| match placing {
            Placing::Acting => &turns[rotation].acting,
            Placing::Present => &self.state.rotations[rotation].orientation,
        };
        columns.clear();
        columns.extend(active.iter().map(|&index| {
            let touch = &touches[index];
            let normal = match placing {
                Placing::Acting => touch.acting_normal(),
                Placing::Present => touch.normal,
            };
            let rows = Jacobian::new(&normal, &touch.lever(), touch.rotation.map(orientation));
            match touch.carrier.and_then(|carrier| Some((carrier.lever(), carrier.rotation?))) {
                None => rows,
                Some((lever, rotation)) => rows.carried(&lever, orientation(rotation)),
            }
        }));
        if linked::yields(self, placing, dt) {
            linked::assemble(self, placing, pass, dt);
        } else {
            let Workspace { touches, active, columns, scales: d, problem, mobility, neighbours, .. } =
                &mut *self.workspace;
            let bodies = Bodies { mobility, inertia: &self.state.parameters.inertia };
            scales(touches, active, columns, bodies, d);
            assemble(touches, active, columns, columns, d, bodies, neighbours, &mut problem.contacts);
        }
        self.workspace.problem.reset_friction();
    }

    /// Lets the solver start from the forces of the last interval, acting over `dt`; from zero at an impact.
    fn guess(&mut self, dt: S) {
        let Workspace { touches, active, columns, scales, unknowns, .. } = &mut *self.workspace;
        unknowns.clear();
        unknowns.resize(3 * scales.len(), S::zero());
        if !self.system.settings.warm_start || dt.value() <= 0.0 {
            return;
        }
        for (index, &touch) in active.iter().enumerate() {
            let force = &self.state.guesses[touches[touch].place];
            let local = columns[index].linear.map(S::value) * force * (dt.value() / scales[index].value());
            for k in 0..3 {
                unknowns[3 * index + k] = S::from(local[k]);
            }
        }
        joint_friction::guess(self);
    }

    /// Keeps the solution over `dt` for the next guess; what was not solved is no help but to the sweeps of a pile, which
    /// go on from there.
    fn keep_guess(&mut self, dt: S, solved: bool) {
        if !self.system.settings.warm_start || dt.value() <= 0.0 {
            return;
        }
        for &contact in &self.island.contacts {
            let first = self.system.first_points[contact];
            let points = first..first + self.system.contacts[contact].places();
            self.state.guesses[points].fill(Vector3::zeros());
        }
        for pair in &self.island.pairs {
            self.workspace.memory.forget(self.system, self.state, pair.number);
        }
        if !solved && self.island.pairs.is_empty() {
            return;
        }
        let Workspace { touches, active, columns, scales, unknowns, .. } = &*self.workspace;
        for (index, &touch) in active.iter().enumerate() {
            let r = Vector3::from_fn(|k, _| unknowns[3 * index + k].value());
            let force = columns[index].linear.map(S::value).transpose() * r;
            self.state.guesses[touches[touch].place] = force * (scales[index].value() / dt.value());
        }
    }

    /// Solves the problem from the guess in the unknowns as well as it goes. Returns whether it was solved to
    /// tolerance.
    fn solve_problem(&mut self) -> bool {
        self.solve_problem_to(self.system.settings.solver.tolerance)
    }

    /// The same where a larger tolerance is enough; a residual up to it counts as none.
    fn solve_problem_to(&mut self, tolerance: f64) -> bool {
        let workspace = &mut *self.workspace;
        let settings = SolverSettings { tolerance, ..self.system.settings.solver };
        let report =
            S::solve_mixed(&workspace.problem, &mut workspace.unknowns, &settings, &mut workspace.solver);
        let is_solved = report.status == Status::Solved;
        if !is_solved {
            // An answer that is none may pull.
            let normals = workspace.unknowns.iter_mut().step_by(3);
            normals.filter(|normal| normal.value() < 0.0).for_each(|normal| *normal = S::zero());
        }
        let record = &mut self.state.step;
        record.iterations = record.iterations.saturating_add(report.iterations);
        if !is_solved || tolerance <= self.system.settings.solver.tolerance {
            record.residual = record.residual.max(report.residual);
        }
        is_solved
    }

    /// Makes the proposed velocities and impulses real, and moves the nodes over `dt`.
    #[inline]
    fn accept(&mut self, dt: S) {
        for place in 0..self.workspace.active.len() {
            let impulse = &self.workspace.impulses[place];
            let touch = &self.workspace.touches[self.workspace.active[place]];
            if impulse.normal.value() <= 0.0 && !self.rubs_unpressed(touch, impulse) {
                continue;
            }
            let mean_velocity = (touch.velocity(self.state) + self.proposed_velocity(touch)) * S::from(0.5);
            record_impulse(self.system, self.state, touch, impulse);
            if self.keeps_energy && dt.value() > 0.0 {
                self.book_contact(place, &mean_velocity);
                continue;
            }
            record_work(self.state, touch, impulse, &mean_velocity);
            if let Some(index) = self.system.nodes[touch.node].coupling
                && touch.normal_velocity.value() < 0.0
            {
                let restitution = self.state.parameters.restitution[touch.contact];
                let energy = self.impact_energy(touch);
                coupling::take_back(self.system, self.state, index, restitution, energy);
            }
        }
        if !self.state.memories.is_empty() && dt.value() > 0.0 {
            friction::remember(self, dt);
        }
        if !self.island.links.is_empty() {
            self.accept_links(dt);
        }
        if self.island.linkage.is_some() {
            linked::record(self, dt);
        }
        if self.island.has_points_only && !self.system.settings.scheme.looks_back() {
            let theta = S::from(self.system.settings.theta);
            for &index in &self.island.nodes {
                let node = &mut self.state.nodes[index];
                let (before, after) = (node.velocity, self.workspace.velocity[index]);
                node.position += (before + (after - before) * theta) * dt;
                node.velocity = after;
            }
        } else {
            self.accept_motion(dt);
        }
        if self.island.linkage.is_some() {
            self.elapsed += dt.value();
            linked::settle(self, dt);
        }
    }

    /// Whether bounds that look back make a contact rub that nothing presses any more.
    #[inline(never)]
    fn rubs_unpressed(&self, touch: &Touch<S>, impulse: &Impulse<S>) -> bool {
        !self.system.contacts[touch.contact].is_plain_cone() && impulse.tangential != Vector3::zeros()
    }

    #[inline(never)]
    fn book_contact(&mut self, place: usize, mean_velocity: &Vector3<S>) {
        let Workspace { touches, active, impulses, .. } = &*self.workspace;
        let (touch, impulse) = (&touches[active[place]], &impulses[place]);
        let unsure = balance::unsure_speed(self, touch);
        let normal = touch.acting_normal();
        let across = normal.dot(mean_velocity);
        balance::book(&mut self.state.step, impulse, (across, mean_velocity - normal * across), unsure);
    }

    /// Moves nodes of any kind.
    fn accept_motion(&mut self, dt: S) {
        for &index in &self.island.nodes {
            let mean = self.mean_velocity(index);
            let node = &mut self.state.nodes[index];
            node.position += mean * dt;
            node.velocity = self.workspace.velocity[index];
            if let Some(rotation) = self.system.nodes[index].rotation {
                self.accept_turn(rotation, dt);
            }
        }
    }

    /// Records stick or slip of the contacts that are pressed at the end of an interval.
    fn record_modes(&mut self) {
        if self.island.turns_along {
            for index in 0..self.workspace.active.len() {
                let place = self.workspace.active[index];
                self.workspace.touches[place].settle(self.system, self.state);
            }
        }
        for (&index, impulse) in self.workspace.active.iter().zip(&self.workspace.impulses) {
            let touch = &self.workspace.touches[index];
            let velocity = touch.velocity(self.state);
            let normal_velocity = touch.normal.dot(&velocity);
            let leaving = self.leaves_with(touch, normal_velocity.value());
            if impulse.mode != ContactMode::Open && !leaving {
                let slip = length(&(velocity - touch.normal * normal_velocity));
                record_mode_of(self.system, self.state, touch, impulse.mode, slip);
            }
        }
    }

    /// Acceleration of a node without contact, relative to the surface beside it.
    fn relative_acceleration(&self, touch: &Touch<S>) -> Vector3<S> {
        let acceleration = self.workspace.acceleration[touch.node];
        match &touch.carrier {
            None => acceleration,
            Some(carrier) => acceleration - self.carrier_acceleration(carrier),
        }
    }

    fn carrier_acceleration(&self, carrier: &Carrier<S>) -> Vector3<S> {
        let Some(rotation) = carrier.rotation else { return self.workspace.acceleration[carrier.node] };
        let spin = self.state.rotations[rotation].angular_velocity;
        let mut acceleration =
            self.workspace.acceleration[carrier.node] + spin.cross(&spin.cross(&carrier.arm));
        if let Some(coupling) = self.system.nodes[carrier.node].coupling {
            acceleration += self.state.couplings[coupling].acceleration.angular.cross(&carrier.arm);
        }
        acceleration
    }

    /// Speed of bounces that are too short to be resolved.
    // What concerns surfaces that move is not inlined: steps of point masses on fixed ones stay short.
    #[inline]
    fn unresolved_speed(&self, touch: &Touch<S>) -> f64 {
        match &touch.carrier {
            None => {
                let acceleration = &self.workspace.acceleration[touch.node];
                self.unresolved(touch, -touch.normal.dot(acceleration).value(), largest(acceleration), 0.0)
            }
            Some(carrier) => self.unresolved_on(touch, carrier),
        }
    }

    #[inline(never)]
    fn unresolved_on(&self, touch: &Touch<S>, carrier: &Carrier<S>) -> f64 {
        let acceleration = self.relative_acceleration(touch);
        let mut pressing = -touch.normal.dot(&acceleration).value();
        let mut whole = largest(&acceleration);
        // Bodies that fall together press each other as soon as something holds one of them up.
        if self.state.parameters.mass[carrier.node].value().is_finite() {
            for node in [touch.node, carrier.node] {
                let acceleration = &self.workspace.acceleration[node];
                pressing = pressing.max(touch.normal.dot(acceleration).value().abs());
                whole = whole.max(largest(acceleration));
            }
        }
        self.unresolved(touch, pressing, whole, largest(&carrier.velocity(self.state)))
    }

    #[inline(always)]
    fn unresolved(&self, touch: &Touch<S>, pressing: f64, acceleration: f64, surface_speed: f64) -> f64 {
        let speed = largest(&self.state.nodes[touch.node].velocity) + surface_speed;
        let restitution = self.state.parameters.restitution[touch.contact].value();
        let node = Bounce { pressing, acceleration, speed };
        newton_impact::resting_speed(restitution, node, self.length, self.crowded)
    }

    /// Whether a contact closes too fast to rest.
    #[inline]
    fn closes(&self, touch: &Touch<S>) -> bool {
        let speed = -touch.normal_velocity.value();
        speed > 0.0 && speed > self.resting_speed(touch)
    }

    /// Whether a contact opens too fast to rest.
    #[inline]
    fn leaves(&self, touch: &Touch<S>) -> bool {
        self.leaves_with(touch, touch.normal_velocity.value())
    }

    /// The same where its normal velocity is another one.
    // Most contacts rest with no speed at all, and need not know how much is little.
    #[inline]
    fn leaves_with(&self, touch: &Touch<S>, normal_velocity: f64) -> bool {
        normal_velocity > 0.0 && normal_velocity > self.resting_speed(touch)
    }

    /// Speed below which a contact counts as resting.
    #[inline]
    fn resting_speed(&self, touch: &Touch<S>) -> f64 {
        let mut speed = self.unresolved_speed(touch);
        if touch.rotation.is_some() || touch.carrier.is_some() {
            speed += self.turning_speed(touch);
        }
        if !touch.flat && touch.held {
            speed += self.bending_speed(touch);
        }
        if self.system.contacts[touch.contact].normal_stiffness.is_finite() {
            speed += self.yielding_speed(touch);
        }
        speed
    }

    /// Normal velocity that turning makes of none within a step.
    #[inline(never)]
    fn turning_speed(&self, touch: &Touch<S>) -> f64 {
        let spin_of = |rotation: usize| length(&self.state.rotations[rotation].angular_velocity).value();
        let arm = length(&touch.arm).value();
        let rolling = match (touch.rotation, &self.system.nodes[touch.node].shape) {
            // A point of a body has the velocity that was foreseen, but for what contact has changed on the way.
            (Some(rotation), shape) if shape.has_points() => {
                let spin = spin_of(rotation);
                let acceleration =
                    length(&self.workspace.acceleration[touch.node]).value() + spin * spin * arm;
                self.length * self.length * spin * acceleration
            }
            // A shape that rolls ends a step with the normal velocity that its turning arm has made.
            (Some(rotation), NodeShape::Disc { .. } | NodeShape::Cylinder(_)) => {
                self.length * spin_of(rotation).powi(2) * arm
            }
            _ => 0.0,
        };
        let tilting = match &touch.carrier {
            // So does a surface that turns, under what rests or slides on it.
            Some(carrier) if touch.held => {
                let spin = carrier.rotation.map_or(0.0, spin_of);
                let sliding = length(&touch.velocity(self.state)).value();
                self.length * spin * (spin * length(&carrier.arm).value() + 2.0 * sliding)
            }
            _ => 0.0,
        };
        rolling + tilting
    }

    /// Normal velocity that is left where a node follows a surface that is not flat.
    #[inline(never)]
    fn bending_speed(&self, touch: &Touch<S>) -> f64 {
        let along = length(&(touch.velocity(self.state) - touch.normal * touch.normal_velocity)).value();
        let bend = self.system.bend(touch.sides());
        self.length * self.length * bend * bend * along * along * along
    }

    /// Speed with which a compliant contact bends within one step under the load that it takes.
    #[inline(never)]
    fn yielding_speed(&self, touch: &Touch<S>) -> f64 {
        let mass = self.state.parameters.mass[touch.node].value();
        if !mass.is_finite() {
            return 0.0;
        }
        let load = touch.normal.dot(&self.relative_acceleration(touch)).value() * mass;
        let stiffness = self.system.contacts[touch.contact].normal_stiffness;
        (-load).max(0.0) / (stiffness * self.length)
    }

    /// Sliding speed that a node held on a turning surface has at the end of a substep: the surface has not turned
    /// quite as was foreseen.
    #[inline]
    fn held_speed(&self, touch: &Touch<S>) -> f64 {
        touch.carrier.map_or(0.0, |carrier| self.held_speed_on(touch, &carrier))
    }

    #[inline(never)]
    fn held_speed_on(&self, touch: &Touch<S>, carrier: &Carrier<S>) -> f64 {
        let Some(rotation) = carrier.rotation else { return 0.0 };
        let spin = length(&self.state.rotations[rotation].angular_velocity);
        let acceleration = self.relative_acceleration(touch);
        (length(&acceleration) * spin).value() * self.length * self.length
    }

    /// Distance below which shapes count as touching: round-off of the positions.
    #[inline]
    fn touching_distance(&self, touch: &Touch<S>) -> f64 {
        let mut size = largest(&self.state.nodes[touch.node].position);
        if let Some(carrier) = &touch.carrier {
            size += largest(&self.state.nodes[carrier.node].position) + largest(&carrier.arm);
        }
        1e-12 * (1.0 + size)
    }

    /// Distance that a body falls within a step: in a pile, what is nearer rests. Otherwise contacts would open and close
    /// in turn, by the error of the step.
    #[inline(never)]
    fn settling_distance(&self, touch: &Touch<S>) -> f64 {
        let carrier =
            touch.carrier.map_or(0.0, |carrier| largest(&self.workspace.acceleration[carrier.node]));
        self.length * self.length * largest(&self.workspace.acceleration[touch.node]).max(carrier)
    }

    /// Records how deep contacts are.
    fn record_penetration(&mut self) {
        for &contact in &self.island.contacts {
            let depth = -super::contact::gap(self.system, self.state, contact);
            if depth.value() > self.state.step.penetration.value() {
                self.state.step.penetration = depth;
            }
        }
        for pair in &self.island.pairs {
            let depth = -gap_of_pair(self.system, self.state, pair.sides);
            if depth.value() > self.state.step.penetration.value() {
                self.state.step.penetration = depth;
            }
        }
    }
}

/// Records what a pressed point does.
#[inline]
fn record_mode_of<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    touch: &Touch<S>,
    mode: ContactMode,
    slip: S,
) {
    match system.group_point(touch.place) {
        None => record_mode(&mut state.contacts[touch.contact], mode, slip),
        Some(point) => {
            let point = &mut state.points[point];
            (point.mode, point.slip) = (mode, slip);
        }
    }
}

/// Records what a pressed point does. Of several points of a pair, one that slips decides, and the fastest one.
#[inline]
pub fn record_mode<S: Scalar>(record: &mut ContactRecord<S>, mode: ContactMode, slip: S) {
    if record.mode != ContactMode::Slip {
        record.mode = mode;
    }
    if slip.value() >= record.slip.value() {
        record.slip = slip;
    }
}

/// Books an impulse.
#[inline]
fn record_impulse<S: Scalar>(system: &System, state: &mut State<S>, touch: &Touch<S>, impulse: &Impulse<S>) {
    let vector = impulse.vector(&touch.acting_normal());
    if let Some(point) = system.group_point(touch.place) {
        state.points[point].impulse += vector.map(S::value);
    }
    state.nodes[touch.node].contact_impulse += vector;
    if let Some(rotation) = touch.rotation {
        state.rotations[rotation].contact_impulse += touch.lever().cross(&vector);
    }
    if let Some(carrier) = &touch.carrier {
        state.nodes[carrier.node].contact_impulse -= vector;
        if let Some(rotation) = carrier.rotation {
            state.rotations[rotation].contact_impulse -= carrier.lever().cross(&vector);
        }
    }
    let record = &mut state.contacts[touch.contact];
    record.normal_impulse += impulse.normal;
    record.tangential_impulse += impulse.tangential;
}

/// Books the work of an impulse that acted while the touching point moved over the surface with `mean_velocity`.
#[inline]
fn record_work<S: Scalar>(
    state: &mut State<S>,
    touch: &Touch<S>,
    impulse: &Impulse<S>,
    mean_velocity: &Vector3<S>,
) {
    let vector = impulse.vector(&touch.acting_normal());
    state.step.dissipated -= vector.dot(mean_velocity);
    state.step.dissipated_by_friction -= impulse.tangential.dot(mean_velocity);
}

/// Largest component without sign.
#[inline]
fn largest<S: Scalar>(vector: &Vector3<S>) -> f64 {
    vector.iter().fold(0.0, |largest, component| component.value().abs().max(largest))
}
