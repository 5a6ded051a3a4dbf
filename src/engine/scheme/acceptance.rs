//! Proposed velocities become those of the state; impulses, work, modes and penetration are booked.

use super::{IslandStep, balance, friction, linked};
use crate::engine::contact::gap_of_pair;
use crate::engine::contact::{Impulse, Touch};
use crate::engine::exchange;
use crate::engine::law::ContactMode;
use crate::engine::scalar::{Scalar, cross, dot, length};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::solver::Solvable;
use crate::engine::state::{ContactRecord, State};
use crate::engine::system::System;
use nalgebra::Vector3;

impl<S: Solvable> IslandStep<'_, S> {
    /// Makes the proposed velocities and impulses real, and moves the nodes over `dt`.
    #[inline]
    pub(super) fn accept(&mut self, dt: S) {
        let theta = S::from(self.system.settings.theta);
        self.reach_on(dt * (S::one() - theta));
        if !self.workspace.active.is_empty() && self.is_jointed() {
            linked::judge(self);
        }
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
                exchange::take_back(self.system, self.state, index, restitution, energy);
            }
        }
        self.reach_on(dt * theta);
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

    /// Lets the impulses so far on bodies that respond to one another move them over `dt`.
    #[inline]
    fn reach_on(&mut self, dt: S) {
        if !self.workspace.together.is_empty() {
            self.reach_together(dt);
        }
    }

    #[inline(never)]
    fn reach_together(&mut self, dt: S) {
        for &node in &self.island.nodes {
            if let Some(place) = self.workspace.together.place(node) {
                self.workspace.together.reach[place] += self.state.nodes[node].contact_impulse * dt;
            }
        }
    }

    /// Whether bounds that look back make a contact rub that nothing presses any more.
    #[inline(never)]
    pub(super) fn rubs_unpressed(&self, touch: &Touch<S>, impulse: &Impulse<S>) -> bool {
        !self.system.contacts[touch.contact].is_plain_cone() && impulse.tangential != Vector3::zeros()
    }

    #[inline(never)]
    pub(super) fn book_contact(&mut self, place: usize, mean_velocity: &Vector3<S>) {
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
    pub(super) fn record_modes(&mut self) {
        if self.island.turns_along {
            for index in 0..self.workspace.active.len() {
                let place = self.workspace.active[index];
                self.workspace.touches[place].settle(self.system, self.state);
            }
        }
        for (&index, impulse) in self.workspace.active.iter().zip(&self.workspace.impulses) {
            let touch = &self.workspace.touches[index];
            let velocity = touch.velocity(self.state);
            let normal_velocity = dot(&touch.normal, &velocity);
            let leaving = self.leaves_with(touch, normal_velocity.value());
            if impulse.mode != ContactMode::Open && !leaving {
                let slip = length(&(velocity - touch.normal * normal_velocity));
                record_mode_of(self.system, self.state, touch, impulse.mode, slip);
            }
        }
    }

    /// Records how deep contacts are.
    pub(super) fn record_penetration(&mut self) {
        for (_, sides) in self.island.all_pairs(self.system) {
            let depth = -gap_of_pair(self.system, self.state, sides);
            if depth.value() > self.state.step.penetration.value() {
                self.state.step.penetration = depth;
            }
        }
    }
}

/// Records what a pressed point does.
#[inline]
pub(super) fn record_mode_of<S: Scalar>(
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
pub(super) fn record_impulse<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    touch: &Touch<S>,
    impulse: &Impulse<S>,
) {
    let record = &mut state.contacts[touch.contact];
    record.normal_impulse += impulse.normal;
    record.tangential_impulse += impulse.tangential;
    // What a stop does is a part of what its joint does.
    if system.stop(touch.sides()).is_some() {
        return;
    }
    let vector = impulse.vector(&touch.acting_normal());
    if let Some(point) = system.group_point(touch.place) {
        state.points[point].impulse += vector.map(S::value);
    }
    state.nodes[touch.node].contact_impulse += vector;
    if let Some(rotation) = touch.rotation {
        state.rotations[rotation].contact_impulse += cross(&touch.lever(), &vector);
    }
    if let Some(carrier) = &touch.carrier {
        state.nodes[carrier.node].contact_impulse -= vector;
        if let Some(rotation) = carrier.rotation {
            state.rotations[rotation].contact_impulse -= cross(&carrier.lever(), &vector);
        }
    }
}

/// Books the work of an impulse that acted while the touching point moved over the surface with `mean_velocity`.
#[inline]
pub(super) fn record_work<S: Scalar>(
    state: &mut State<S>,
    touch: &Touch<S>,
    impulse: &Impulse<S>,
    mean_velocity: &Vector3<S>,
) {
    let vector = impulse.vector(&touch.acting_normal());
    state.step.dissipated -= dot(&vector, mean_velocity);
    state.step.dissipated_by_friction -= dot(&impulse.tangential, mean_velocity);
}
