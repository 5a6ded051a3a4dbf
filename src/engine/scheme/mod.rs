//! Time stepping of one island. A scheme decides which contacts act over which interval; the interval itself
//! is always the same: propose velocities that satisfy the contact problem, accept them, move.
//!
//! `M (v+ - v) = h f + J^T p`, `q+ = q + h (theta v+ + (1 - theta) v)`. [Moreau 1988; Jean 1999; Fancello 2012, 3.1]

pub mod correction;
pub mod moreau_jean;
pub mod slip_end;
pub mod time_of_impact;

use super::contact::{Impulse, Touch, assemble, local_frame};
use super::law::newton_impact::Bounce;
use super::law::{coulomb_cone, newton_impact};
use super::scalar::Scalar;
use super::solver::Solvable;
use super::state::{ContactMode, State};
use super::step::Workspace;
use super::system::{Island, System};
use nalgebra::Vector3;

/// Sliding speeds up to this part of the largest velocity in a contact problem are round-off.
const STILL: f64 = 1e-10;

/// Whether contacts rebound in a contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebound {
    /// Newton's law.
    Newton,
    /// Closed contacts stay closed.
    None,
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
    /// Whether the substep has had so many impacts that short bounces are not followed any more.
    pub crowded: bool,
}

impl<S: Solvable> IslandStep<'_, S> {
    /// Advances the island over the substep.
    #[inline]
    pub fn run(&mut self) {
        let at = self.offset + self.system.settings.theta * self.length;
        let parameters = &self.state.parameters;
        for &node in &self.island.nodes {
            self.workspace.acceleration[node] =
                parameters.gravity + self.state.inputs[node].at(at) / parameters.mass[node];
        }
        if self.system.settings.time_of_impact {
            time_of_impact::run(self);
        } else {
            moreau_jean::run(self, S::from(self.length));
        }
    }

    /// Looks at all contact pairs of the island and marks them open.
    #[inline]
    fn look(&mut self) {
        self.workspace.touches.clear();
        for &contact in &self.island.contacts {
            self.workspace.touches.push(Touch::look(self.system, self.state, contact));
            let record = &mut self.state.contacts[contact];
            record.mode = ContactMode::Open;
            record.slip = S::zero();
        }
    }

    /// As [`propose`](Self::propose) with Newton's law. Friction can leave an impact with rebound without solution;
    /// then contacts do not rebound, for which there is one, and the residual tells.
    #[inline]
    fn propose_impact(&mut self, dt: S) {
        if !self.propose(dt, Rebound::Newton) {
            self.propose(dt, Rebound::None);
        }
    }

    /// Velocities at the end of `dt` such that the active contacts obey their laws. Returns whether they were found.
    #[inline]
    fn propose(&mut self, dt: S, rebound: Rebound) -> bool {
        for &node in &self.island.nodes {
            self.workspace.velocity[node] =
                self.state.nodes[node].velocity + self.workspace.acceleration[node] * dt;
        }
        match self.workspace.active[..] {
            [] => self.workspace.impulses.clear(),
            [only] => self.propose_single(only, rebound),
            _ => return self.propose_coupled(rebound),
        }
        true
    }

    fn shift(&self, touch: &Touch<S>, rebound: Rebound) -> S {
        match rebound {
            Rebound::Newton => {
                newton_impact::shift(self.state.parameters.restitution[touch.contact], touch.normal_velocity)
            }
            Rebound::None => S::zero(),
        }
    }

    fn propose_single(&mut self, index: usize, rebound: Rebound) {
        let touch = self.workspace.touches[index];
        let mass = self.state.parameters.mass[touch.node];
        let (normal, tangential, mode) = coulomb_cone::isotropic_impulse(
            mass,
            self.state.parameters.mu[touch.contact],
            &touch.normal,
            &self.workspace.velocity[touch.node],
            self.shift(&touch, rebound),
        );
        let impulse = Impulse { normal, tangential, mode };
        self.workspace.velocity[touch.node] += impulse.vector(&touch.normal) / mass;
        self.workspace.impulses.clear();
        self.workspace.impulses.push(impulse);
        self.state.step.iterations = self.state.step.iterations.saturating_add(1);
    }

    fn propose_coupled(&mut self, rebound: Rebound) -> bool {
        self.begin_problem();
        for index in 0..self.workspace.active.len() {
            let touch = self.workspace.touches[self.workspace.active[index]];
            let local = self.workspace.frames[index] * self.workspace.velocity[touch.node];
            let shift = self.shift(&touch, rebound);
            let scale = self.scale(&touch);
            let problem = &mut self.workspace.problem;
            problem.q[3 * index] = (local[0] + shift) * scale;
            problem.q[3 * index + 1] = local[1] * scale;
            problem.q[3 * index + 2] = local[2] * scale;
            problem.mu[index] = self.state.parameters.mu[touch.contact];
        }
        let solved = self.solve_problem();
        let still =
            STILL * self.workspace.problem.q.iter().fold(0.0_f64, |most, q| most.max(q.value().abs()));
        self.workspace.impulses.clear();
        for index in 0..self.workspace.active.len() {
            let touch = self.workspace.touches[self.workspace.active[index]];
            let r = Vector3::from_column_slice(&self.workspace.unknowns[3 * index..3 * index + 3]);
            let sliding = {
                let u = |k| self.workspace.problem.velocity(3 * index + k, &self.workspace.unknowns).value();
                u(1).hypot(u(2))
            };
            let mu = self.workspace.problem.mu[index].value();
            let mode = coulomb_cone::mode(mu, r[0].value(), sliding, still);
            let p = r * self.scale(&touch);
            let tangent = Vector3::new(S::zero(), p[1], p[2]);
            let impulse = Impulse {
                normal: p[0],
                tangential: self.workspace.frames[index].transpose() * tangent,
                mode,
            };
            self.workspace.velocity[touch.node] +=
                impulse.vector(&touch.normal) / self.state.parameters.mass[touch.node];
            self.workspace.impulses.push(impulse);
        }
        solved
    }

    /// Frames and Delassus operator of the active contacts.
    fn begin_problem(&mut self) {
        let workspace = &mut *self.workspace;
        workspace.frames.clear();
        workspace
            .frames
            .extend(workspace.active.iter().map(|&index| local_frame(&workspace.touches[index].normal)));
        assemble(&workspace.touches, &workspace.active, &workspace.frames, &mut workspace.problem);
    }

    /// How a contact is scaled in the problem: impulses are this times the unknowns.
    fn scale(&self, touch: &Touch<S>) -> S {
        self.state.parameters.mass[touch.node].sqrt()
    }

    /// Solves the problem as well as it goes. Returns whether it was solved to tolerance.
    fn solve_problem(&mut self) -> bool {
        let workspace = &mut *self.workspace;
        workspace.unknowns.clear();
        workspace.unknowns.resize(workspace.problem.rows(), S::zero());
        let solution = S::solve(
            &workspace.problem,
            &mut workspace.unknowns,
            &self.system.settings.solver,
            &mut workspace.solver,
        );
        let record = &mut self.state.step;
        record.iterations = record.iterations.saturating_add(solution.iterations);
        record.residual = record.residual.max(solution.residual);
        solution.residual <= self.system.settings.solver.tolerance
    }

    /// Makes the proposed velocities and impulses real, and moves the nodes over `dt`.
    #[inline]
    fn accept(&mut self, dt: S) {
        for (&index, impulse) in self.workspace.active.iter().zip(&self.workspace.impulses) {
            if impulse.normal.value() <= 0.0 {
                continue;
            }
            let touch = &self.workspace.touches[index];
            let node = &mut self.state.nodes[touch.node];
            let vector = impulse.vector(&touch.normal);
            node.contact_impulse += vector;
            let record = &mut self.state.contacts[touch.contact];
            record.normal_impulse += impulse.normal;
            record.tangential_impulse += impulse.tangential;
            let mean_velocity = (node.velocity + self.workspace.velocity[touch.node]) * S::from(0.5);
            self.state.step.dissipated -= vector.dot(&mean_velocity);
        }
        let theta = S::from(self.system.settings.theta);
        for &index in &self.island.nodes {
            let node = &mut self.state.nodes[index];
            let after = self.workspace.velocity[index];
            node.position += (node.velocity + (after - node.velocity) * theta) * dt;
            node.velocity = after;
        }
    }

    /// Records stick or slip of the contacts that are pressed at the end of an interval.
    fn record_modes(&mut self) {
        for (&index, impulse) in self.workspace.active.iter().zip(&self.workspace.impulses) {
            let touch = &self.workspace.touches[index];
            let velocity = self.state.nodes[touch.node].velocity;
            let normal_velocity = touch.normal.dot(&velocity);
            let leaving = normal_velocity.value() > self.resting_speed(touch);
            let record = &mut self.state.contacts[touch.contact];
            if impulse.mode != ContactMode::Open && !leaving {
                record.mode = impulse.mode;
                record.slip = super::scalar::length(&(velocity - touch.normal * normal_velocity));
            }
        }
    }

    /// Speed below which a contact counts as resting.
    #[inline]
    fn resting_speed(&self, touch: &Touch<S>) -> f64 {
        let acceleration = &self.workspace.acceleration[touch.node];
        let node = Bounce {
            pressing: -touch.normal.dot(acceleration).value(),
            acceleration: largest(acceleration),
            speed: largest(&self.state.nodes[touch.node].velocity),
        };
        let restitution = self.state.parameters.restitution[touch.contact].value();
        newton_impact::resting_speed(restitution, node, self.length, self.crowded)
    }

    /// Distance below which shapes count as touching: round-off of the positions.
    #[inline]
    fn touching_distance(&self, touch: &Touch<S>) -> f64 {
        1e-12 * (1.0 + largest(&self.state.nodes[touch.node].position))
    }

    /// Records how deep contacts are.
    fn record_penetration(&mut self) {
        for &contact in &self.island.contacts {
            let gap = super::contact::gap(self.system, self.state, contact).value();
            self.state.step.penetration = self.state.step.penetration.max(-gap);
        }
    }
}

/// Largest component without sign.
#[inline]
fn largest<S: Scalar>(vector: &Vector3<S>) -> f64 {
    vector.iter().fold(0.0, |largest, component| component.value().abs().max(largest))
}
