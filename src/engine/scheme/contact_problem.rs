//! The contact problem of an interval: its assembly, its first guess, its solution as impulses.

use super::{
    IslandStep, Placing, Rebound, STILL, WITHIN_BOUNDS, friction, joint_friction, linked, rest, turning,
};
use crate::engine::contact::{Impulse, Jacobian, Touch, turned_to};
use crate::engine::coupling::guard;
use crate::engine::exchange;
use crate::engine::law::bounded::turn;
use crate::engine::law::{coulomb_cone, newton_impact};
use crate::engine::problem::delassus::{Bodies, assemble, scales};
use crate::engine::problem::mixed::Friction;
use crate::engine::scalar::elementary::hypot;
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::SolverSettings;
use crate::engine::solver::{Solvable, Status};
use nalgebra::Vector3;

impl<S: Solvable> IslandStep<'_, S> {
    pub(super) fn shift(&self, touch: &Touch<S>, rebound: Rebound<S>) -> S {
        if rebound.0.is_zero() {
            return S::zero();
        }
        let shift = newton_impact::shift(self.restitution(touch), touch.normal_velocity);
        // Where bounces are resolved, one too short to be is none: it would lift what rests.
        if self.island.finds_impacts(&self.system.settings)
            && shift.value().abs() <= self.unresolved_speed(touch)
        {
            return S::zero();
        }
        shift * rebound.0
    }

    /// Restitution of a contact, less what a coupling takes back from it.
    #[inline]
    pub(super) fn restitution(&self, touch: &Touch<S>) -> S {
        let restitution = self.state.parameters.restitution[touch.contact];
        match self.system.nodes[touch.node].coupling {
            None => restitution,
            Some(index) => {
                let excess = exchange::excess(self.system, self.state, index);
                guard::restitution(restitution, excess, self.impact_energy(touch))
            }
        }
    }

    /// Energy of the node's motion towards the surface.
    pub(super) fn impact_energy(&self, touch: &Touch<S>) -> S {
        let speed = touch.normal_velocity;
        self.state.parameters.mass[touch.node] * speed * speed * S::from(0.5)
    }

    pub(super) fn propose_single(&mut self, index: usize, rebound: Rebound<S>) {
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
    pub(super) fn is_closed_form(&self, index: usize, dt: S) -> bool {
        let touch = &self.workspace.touches[index];
        touch.rotation.is_none()
            && touch.carrier.is_none()
            && touch.flat
            && self.workspace.together.is_empty()
            && !linked::yields(self, Placing::Acting, dt)
            && self.system.contacts[touch.contact].is_plain_cone()
    }

    pub(super) fn propose_coupled(&mut self, dt: S, rebound: Rebound<S>) -> bool {
        self.look_ahead(dt);
        let solved = self.solve_coupled(dt, rebound);
        if solved {
            rest::stop(self, dt);
        }
        solved
    }

    /// The same with contacts where they have been foreseen.
    pub(super) fn solve_coupled(&mut self, dt: S, rebound: Rebound<S>) -> bool {
        friction::begin(self, dt);
        joint_friction::begin(self, dt);
        let is_linked = linked::yields(self, Placing::Acting, dt);
        // Captured steps close what bends away by their correction of positions. Impulses and velocities have one normal
        // there: impulses do no work on what they hold, and contacts that carry one another do not contradict.
        let is_captured = !self.island.finds_impacts(&self.system.settings);
        let (mut pass, mut unsolved) = (0, 0);
        let mut is_held;
        let mut has_moved = false;
        self.workspace.pushed.clear();
        self.workspace.pushed.resize(self.workspace.active.len(), Vector3::zeros());
        let solved = loop {
            self.begin_problem(Placing::Acting, pass, dt);
            for index in 0..self.workspace.active.len() {
                let touch = &self.workspace.touches[self.workspace.active[index]];
                let frame = &self.workspace.columns[index].linear;
                let velocity = self.proposed_velocity(touch);
                let local = if touch.flat || is_captured {
                    frame * velocity
                } else {
                    let (after, pushed) =
                        (turned_to(frame, &touch.normal_after), &self.workspace.pushed[index]);
                    after * (velocity + pushed) - frame * pushed
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
            // Later passes start where the last one ended; a problem that has moved is solved as exactly as the first one.
            if pass == 0 || has_moved || !self.system.settings.warm_start {
                self.guess(dt);
            }
            is_held = pass == 0 && rest::is_held(self, dt);
            let solved = is_held || self.solve_problem();
            unsolved += u32::from(!solved);
            let mut again = friction::revise(self, pass, dt) && unsolved <= friction::MOST_UNSOLVED;
            if is_linked {
                self.read_impulses();
                again |= joint_friction::revise(self, pass, dt) && unsolved <= friction::MOST_UNSOLVED;
                again = linked::revise(self, pass, dt, again);
            } else {
                self.read_impulses();
                let moves = turning::revise(self, pass, dt);
                has_moved |= moves;
                again |= moves;
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
        if has_moved {
            turning::close(self, dt);
        }
        solved
    }

    /// The solution of the contact problem as impulses.
    pub(super) fn read_impulses(&mut self) {
        let Workspace { touches, active, problem, unknowns, scales, columns, impulses, .. } =
            &mut *self.workspace;
        let still = STILL * problem.contacts.q.iter().fold(0.0_f64, |most, q| most.max(q.value().abs()));
        impulses.clear();
        for index in 0..active.len() {
            let mut r = Vector3::from_column_slice(&unknowns[3 * index..3 * index + 3]);
            // Nothing rubs in a cone that is not pressed; in an answer that was not found it may.
            if r[0].value() <= 0.0 && !matches!(problem.friction[index], Friction::Bounded { .. }) {
                r.fill(S::zero());
            }
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
                    let u = problem.contacts.velocity_value(index, unknowns);
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
    pub(super) fn begin_problem(&mut self, placing: Placing, pass: u32, dt: S) {
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
            let Workspace {
                touches,
                active,
                columns,
                scales: d,
                problem,
                mobility,
                together,
                neighbours,
                ..
            } = &mut *self.workspace;
            let bodies = Bodies { mobility, inertia: &self.state.parameters.inertia, together };
            scales(touches, active, columns, bodies, d);
            assemble(touches, active, columns, columns, d, bodies, neighbours, &mut problem.contacts);
        }
        self.workspace.problem.reset_friction();
    }

    /// Lets the solver start from the forces of the last interval, acting over `dt`; from zero at an impact.
    pub(super) fn guess(&mut self, dt: S) {
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
    pub(super) fn keep_guess(&mut self, dt: S, solved: bool) {
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
        if !solved && !self.is_pile() {
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
    pub(super) fn solve_problem(&mut self) -> bool {
        self.solve_problem_to(self.system.settings.solver.tolerance)
    }

    /// The same where a larger tolerance is enough; a residual up to it counts as none.
    pub(super) fn solve_problem_to(&mut self, tolerance: f64) -> bool {
        let workspace = &mut *self.workspace;
        let settings = SolverSettings { tolerance, ..self.system.settings.solver };
        let report =
            S::solve_mixed(&workspace.problem, &mut workspace.unknowns, &settings, &mut workspace.solver);
        let is_solved = report.status == Status::Solved;
        if !is_solved {
            // One that is no number is no impulse; the residual tells.
            if workspace.unknowns.iter().any(|unknown| !unknown.value().is_finite()) {
                workspace.unknowns.fill(S::zero());
            }
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
}
