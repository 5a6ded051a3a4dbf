//! Velocities at the end of an interval: free motion, links, and what impulses change.

use super::{IslandStep, Rebound, Weights, end_point, frictionless, linked, rest};
use crate::engine::contact::{Carrier, Touch, near, pose};
use crate::engine::coupling::CouplingMode;
use crate::engine::geometry::{NodeShape, Pose};
use crate::engine::math::rotation::{FreeRotation, spin};
use crate::engine::scalar::{cross, length};
use crate::engine::scheme::workspace::{Turn, Workspace};
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

impl<S: Solvable> IslandStep<'_, S> {
    /// Velocities at the end of `dt` such that the active contacts obey their laws. Returns whether they were found.
    #[inline]
    pub(super) fn propose(&mut self, dt: S, rebound: Rebound<S>) -> bool {
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
    pub(super) fn propose_free(&mut self, dt: S) {
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
    pub(super) fn accept_links(&mut self, dt: S) {
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
        let acting = free.orientation.turned(&(mean * (dt * S::from(0.5))));
        self.workspace.turns[rotation] = Turn { mean, end, acting, gyration: Vector3::zeros() };
    }

    #[inline(never)]
    pub(super) fn accept_turn(&mut self, rotation: usize, dt: S) {
        let turn = self.workspace.turns[rotation];
        let state = &mut self.state.rotations[rotation];
        // What does not turn is not rounded either.
        if turn.mean != Vector3::zeros() {
            state.orientation = state.orientation.turned(&(turn.mean * dt));
        }
        state.angular_velocity = turn.end;
    }

    pub(super) fn free_rotation(&self, node: usize, rotation: usize) -> FreeRotation<S> {
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
    pub(super) fn proposed_velocity(&self, touch: &Touch<S>) -> Vector3<S> {
        let mut relative = self.workspace.velocity[touch.node];
        if let Some(rotation) = touch.rotation {
            relative += cross(&self.workspace.turns[rotation].end, &touch.arm_after);
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
            Some(rotation) => velocity[carrier.node] + cross(&turns[rotation].end, &carrier.arm_after),
        }
    }

    /// Adds an impulse at a touching point, and its reaction, to the proposal.
    pub(super) fn push(&mut self, place: usize, impulse: &Vector3<S>) {
        let Workspace { touches, velocity, mobility, together, .. } = &mut *self.workspace;
        let touch = &touches[place];
        match together.place(touch.node) {
            None => velocity[touch.node] += impulse * mobility[touch.node],
            Some(place) => together.push(velocity, place, impulse),
        }
        let turning = touch.rotation.map(|rotation| (rotation, cross(&touch.lever(), impulse)));
        let reaction = touch.carrier.and_then(|carrier| {
            velocity[carrier.node] -= impulse * mobility[carrier.node];
            carrier.rotation.map(|rotation| (rotation, -cross(&carrier.lever(), impulse)))
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
    pub(super) fn contact_weight(&self) -> f64 {
        match self.system.settings.scheme {
            Scheme::MoreauJean => self.system.settings.theta,
            Scheme::Midpoint { .. } => 0.5,
            Scheme::Multistep { .. } | Scheme::Hht { .. } => end_point::JUMP_WEIGHT,
        }
    }

    /// How the proposed forces over `dt` change the motion.
    pub(super) fn weights(&self, dt: S) -> Weights<S> {
        if self.system.settings.scheme.looks_back() {
            self.workspace.end_point.weights(dt)
        } else {
            let theta = S::from(self.contact_weight());
            Weights { force: dt, acting: theta, reach: theta, contact: theta }
        }
    }

    /// Velocity by which the position of a node moves in the proposal.
    #[inline]
    pub(super) fn mean_velocity(&self, node: usize) -> Vector3<S> {
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
    pub(super) fn proposed_pose(&self, node: usize, dt: S) -> Pose<S> {
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
    pub(super) fn look_ahead(&mut self, dt: S) {
        if dt.value() == 0.0 || !self.island.turns_along {
            return;
        }
        for index in 0..self.workspace.active.len() {
            self.look_ahead_at(self.workspace.active[index], dt);
        }
    }

    /// The same for one contact.
    pub(super) fn look_ahead_at(&mut self, place: usize, dt: S) {
        let mut touch = self.workspace.touches[place];
        // Of a group some pairs do, and some do not. Where forces act at the end of a step, rims are not followed: what
        // is left of their normal velocity would open them.
        let is_rim =
            matches!(self.system.nodes[touch.node].shape, NodeShape::Disc { .. } | NodeShape::Cylinder(_));
        if !self.system.contacts[touch.contact].turns_along
            || !touch.turns_along(self.system)
            || (is_rim && touch.flat && self.system.settings.scheme.looks_back())
        {
            return;
        }
        let node = self.proposed_pose(touch.node, dt);
        let body = touch.carrier.map(|carrier| self.proposed_pose(carrier.node, dt));
        let end = near(self.system, &node, body.as_ref(), touch.sides(), touch.point);
        let carrier_arm = body.map(|body| node.position + end.arm - body.position);
        // The lowest point of a rim that is nearly flat runs around it, on either body: there is nothing to follow. What no
        // impulse turns has no rim: its touching point is where the other body is.
        let turns = |rotation: usize| self.turns_under_load(rotation);
        let ran = runs_off(&touch.arm, &end.arm)
            || touch.carrier.zip(carrier_arm).is_some_and(|(carrier, arm)| {
                carrier.rotation.is_some_and(turns) && runs_off(&carrier.arm, &arm)
            });
        if !ran {
            touch.arm_after = end.arm;
            if let (Some(carrier), Some(arm)) = (&mut touch.carrier, carrier_arm) {
                carrier.arm_after = arm;
            }
        }
        // Where bodies pass through one another without contact, there is nothing to follow.
        if end.normal.dot(&touch.normal).value() > TOLERANCES.aligned {
            touch.normal_after = end.normal;
        }
        self.workspace.touches[place] = touch;
    }
}

/// Whether a touching point moves further than it is followed.
fn runs_off<S: Solvable>(from: &Vector3<S>, to: &Vector3<S>) -> bool {
    length(&(to - from)).value() > TOLERANCES.followed_part * length(from).value()
}
