//! Steps whose forces act at their end: what [`super::multistep`] and [`super::hht`] share.
//!
//! `v+ = V + b a+ + w`, `q+ = Q + c a+ + h/2 w` with `M a+ = f(q+, v+) + A^T l`, `A+ v+ = u`, and the jump
//! `M w = J^T p` that contact makes; `V`, `Q`, `b` and `c` are the scheme's, from the motion so far. Springs answer to
//! a jump within the step. Rotation is in body components, where the inertia is constant, and a way is a turn on
//! SO(3). Impacts are captured as in [`super::moreau_jean`]. [Chen, Acary, Virlez and Bruels 2013; Fancello 2012, 5.3]

use super::moreau_jean::Gaps;
use super::{IslandStep, Weights, correction, linked, moreau_jean};
use crate::engine::contact::pose;
use crate::engine::geometry::Pose;
use crate::engine::linkage::{Approach, Change, Configuration};
use crate::engine::math::rotation::{cross_matrix, solve};
use crate::engine::math::twist::Twist;
use crate::engine::scalar::{Scalar, length};
use crate::engine::scheme::workspace::{Turn, Workspace};
use crate::engine::solver::Solvable;
use crate::engine::state::Past;
use nalgebra::{Matrix3, Vector3};

/// Newton steps for Euler's equations of a body.
const NEWTON_STEPS: usize = 3;

/// Part of a step after which, on average, a jump of the velocity happens.
pub const JUMP_WEIGHT: f64 = 0.5;

/// A formula of this family, over one step.
pub trait Formula<S: Scalar> {
    /// `b`: velocity for a unit of the acceleration at the end.
    fn velocity_weight(&self) -> S;
    /// `c`: displacement for a unit of it.
    fn position_weight(&self) -> S;
    /// What is known before the acceleration at the end is.
    fn base(&self, start: &Start<S>, past: &Past<S>) -> Base<S>;
    /// What the next step looks back at.
    fn keep(&self, start: &Start<S>, end: &End<S>) -> Past<S>;
}

/// A node at the start of a step. Angular parts are in body components, here and below.
#[derive(Clone, Copy, Debug)]
pub struct Start<S: Scalar> {
    /// Velocity.
    pub velocity: Twist<S>,
    /// Acceleration by all but contact.
    pub acceleration: Twist<S>,
}

/// `V` and `Q - q`.
#[derive(Clone, Copy, Debug)]
pub struct Base<S: Scalar> {
    /// `V`.
    pub velocity: Twist<S>,
    /// `Q - q`.
    pub way: Twist<S>,
}

/// A node at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct End<S: Scalar> {
    /// Displacement over the step.
    pub way: Twist<S>,
    /// Change of the velocity by contact.
    pub jump: Twist<S>,
    /// Acceleration by all but contact.
    pub acceleration: Twist<S>,
    /// Length of the step.
    pub length: f64,
}

/// What is kept within a step.
#[derive(Debug)]
pub struct EndPointScratch<S: Scalar> {
    nodes: Vec<NodeMotion<S>>,
    velocity_weight: S,
    position_weight: S,
}

#[derive(Clone, Copy, Debug)]
struct NodeMotion<S: Scalar> {
    start: Start<S>,
    base: Base<S>,
    /// Acceleration at the end without contact, as found so far.
    acceleration: Twist<S>,
    /// Motion without contact.
    free: Smooth<S>,
    /// The same with what springs answer to contact.
    smooth: Smooth<S>,
}

/// Motion of a node but for the jump of its velocity; world components.
#[derive(Clone, Copy, Debug)]
struct Smooth<S> {
    velocity: Vector3<S>,
    /// Velocity by which the position moves.
    mean: Vector3<S>,
    turn: Turn<S>,
}

impl<S: Scalar> EndPointScratch<S> {
    /// Room for steps of so many nodes.
    pub fn with_capacity(nodes: usize) -> EndPointScratch<S> {
        let zero = Twist::zero();
        let smooth = Smooth { velocity: Vector3::zeros(), mean: Vector3::zeros(), turn: Turn::none() };
        let node = NodeMotion {
            start: Start { velocity: zero, acceleration: zero },
            base: Base { velocity: zero, way: zero },
            acceleration: zero,
            free: smooth,
            smooth,
        };
        EndPointScratch { nodes: vec![node; nodes], velocity_weight: S::zero(), position_weight: S::zero() }
    }

    /// Weights of a step of length `dt`.
    pub fn weights(&self, dt: S) -> Weights<S> {
        Weights {
            force: self.velocity_weight,
            acting: S::one(),
            reach: self.position_weight / (self.velocity_weight * dt),
            contact: S::from(JUMP_WEIGHT),
        }
    }

    /// Velocity by which the position of a node moves when its velocity at the end is `velocity`.
    pub fn mean(&self, node: usize, velocity: &Vector3<S>) -> Vector3<S> {
        let smooth = &self.nodes[node].smooth;
        smooth.mean + (velocity - smooth.velocity) * S::from(JUMP_WEIGHT)
    }

    /// Adds to the smooth motion what springs answer to contact. `reach` is how far velocity gets in the mean.
    pub fn answer(&mut self, node: usize, linear: &Vector3<S>, angular: Option<&Vector3<S>>, reach: S) {
        let smooth = &mut self.nodes[node].smooth;
        smooth.velocity += linear;
        smooth.mean += linear * reach;
        if let Some(angular) = angular {
            smooth.turn.end += angular;
            smooth.turn.mean += angular * reach;
        }
    }
}

/// Advances the island over the substep by the formula for the length of the last step and of this one. What turns further
/// than Newton steps can follow is advanced in halves.
// Not inlined: steps of the other schemes stay short.
#[inline(never)]
pub fn run<S: Solvable, F: Formula<S>>(step: &mut IslandStep<'_, S>, formula: impl Fn(f64, f64) -> F + Copy) {
    run_parts(step, formula, step.length);
}

fn run_parts<S: Solvable, F: Formula<S>>(
    step: &mut IslandStep<'_, S>,
    formula: impl Fn(f64, f64) -> F + Copy,
    whole: f64,
) {
    let (length, offset) = (step.length, step.offset);
    let chosen = formula(last_length(step), length);
    if approach(step, &chosen) && step.may_be_cut(length, whole) {
        step.length = 0.5 * length;
        for part in [0.0, 0.5] {
            step.offset = offset + part * length;
            run_parts(step, formula, whole);
        }
        (step.length, step.offset) = (length, offset);
        return;
    }
    let h = S::from(length);
    finish(step, h);
    step.look();
    moreau_jean::activate(step, h, Gaps::Rounded);
    step.propose_impact(h);
    keep(step, &chosen, h);
    step.accept(h);
    step.record_modes();
    step.record_penetration();
    if step.system.settings.correction {
        correction::lift_out(step);
    }
}

/// Finds accelerations at the end without contact. Returns whether the step is too long for that.
fn approach<S: Solvable>(step: &mut IslandStep<'_, S>, formula: &impl Formula<S>) -> bool {
    let h = S::from(step.length);
    step.workspace.end_point.velocity_weight = formula.velocity_weight();
    step.workspace.end_point.position_weight = formula.position_weight();
    step.apply(step.offset);
    begin(step);
    step.apply(step.offset + step.length);
    for &node in &step.island.nodes {
        set_base(step, node, formula, h);
    }
    match step.island.linkage {
        None => move_freely(step),
        Some(_) => linked::move_to_end(step, h).is_lost(),
    }
}

/// Length of the last step that all nodes of an island look back at; zero where one of them does not: it has had an impact
/// in another island.
pub fn last_length<S: Solvable>(step: &IslandStep<'_, S>) -> f64 {
    let own = step.island.nodes.iter().filter(|&&node| step.system.nodes[node].coupling.is_none());
    let mut lengths = own.map(|&node| step.state.pasts[node].length);
    let first = lengths.next().unwrap_or(0.0);
    if lengths.all(|length| length == first) { first } else { 0.0 }
}

/// Velocities and accelerations at the start.
fn begin<S: Solvable>(step: &mut IslandStep<'_, S>) {
    for &node in &step.island.nodes {
        step.workspace.mobility[node] = S::one() / step.state.parameters.mass[node];
        let mut velocity = Twist { linear: step.state.nodes[node].velocity, angular: Vector3::zeros() };
        let mut acceleration = Twist { linear: step.workspace.acceleration[node], angular: Vector3::zeros() };
        if let Some(rotation) = step.system.nodes[node].rotation {
            let state = &step.state.rotations[rotation];
            velocity.angular = state.orientation.to_body(&state.angular_velocity);
            acceleration.angular =
                Euler::new(step, node, rotation, &state_pose(step, node)).acceleration(&velocity.angular);
        }
        step.workspace.end_point.nodes[node].start = Start { velocity, acceleration };
    }
    if step.island.linkage.is_some() {
        linked::accelerate(step);
    }
}

fn state_pose<S: Solvable>(step: &IslandStep<'_, S>, node: usize) -> Pose<S> {
    pose(step.system, step.state, node)
}

/// Acceleration of a node at the start; angular in world components.
pub fn start_acceleration<S: Solvable>(step: &IslandStep<'_, S>, node: usize) -> Twist<S> {
    let acceleration = &step.workspace.end_point.nodes[node].start.acceleration;
    let orientation = state_pose(step, node).orientation;
    Twist { linear: acceleration.linear, angular: orientation.to_world(&acceleration.angular) }
}

/// Adds to the acceleration of a node at the start; world components.
pub fn add_start_acceleration<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    node: usize,
    linear: &Vector3<S>,
    angular: Option<&Vector3<S>>,
) {
    let orientation = state_pose(step, node).orientation;
    let acceleration = &mut step.workspace.end_point.nodes[node].start.acceleration;
    acceleration.linear += linear;
    if let Some(angular) = angular {
        acceleration.angular += orientation.to_body(angular);
    }
}

/// What is known of the end, and the acceleration there that would leave the velocity as it is: to start from it
/// keeps what is stiff near where it is.
fn set_base<S: Solvable>(step: &mut IslandStep<'_, S>, node: usize, formula: &impl Formula<S>, h: S) {
    let b = formula.velocity_weight();
    let motion = &mut step.workspace.end_point.nodes[node];
    let Start { velocity, acceleration } = motion.start;
    // A body that a master moves has no past here: it accelerates evenly.
    if step.system.nodes[node].coupling.is_some() {
        let rest = h * h * S::from(0.5) - formula.position_weight();
        motion.base =
            Base { velocity: velocity + acceleration * (h - b), way: velocity * h + acceleration * rest };
        motion.acceleration = acceleration;
    } else {
        motion.base = formula.base(&motion.start, &step.state.pasts[node]);
        motion.acceleration = (velocity - motion.base.velocity) * (S::one() / b);
    }
}

/// Accelerations at the end of nodes that are on their own. Returns whether the step is too long for one of them.
fn move_freely<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let mut is_lost = false;
    for &node in &step.island.nodes {
        step.workspace.end_point.nodes[node].acceleration.linear = step.workspace.acceleration[node];
        let Some(rotation) = step.system.nodes[node].rotation else { continue };
        let mut approach = Approach::default();
        for _ in 0..NEWTON_STEPS {
            let b = step.workspace.end_point.velocity_weight;
            let motion = &step.workspace.end_point.nodes[node];
            let (found, spin) =
                (motion.acceleration.angular, motion.base.velocity.angular + motion.acceleration.angular * b);
            let euler = Euler::new(step, node, rotation, &end_pose(step, node));
            let acceleration = match euler.moment {
                None => euler.given,
                Some(_) => {
                    let change = euler.newton_step(&spin, &found, b);
                    let energy = euler.inertia.component_mul(&change).dot(&change).value();
                    let turn = (length(&change) * step.workspace.end_point.position_weight).value();
                    approach.follow(Change { energy, turn });
                    found + change
                }
            };
            step.workspace.end_point.nodes[node].acceleration.angular = acceleration;
        }
        is_lost |= approach.is_lost();
    }
    is_lost
}

/// Where a node is at the end, as found so far.
fn end_pose<S: Solvable>(step: &IslandStep<'_, S>, node: usize) -> Pose<S> {
    let start = state_pose(step, node);
    let scratch = &step.workspace.end_point;
    let motion = &scratch.nodes[node];
    let way = motion.base.way + motion.acceleration * scratch.position_weight;
    Pose {
        position: start.position + way.linear,
        orientation: start.orientation.turned_in_body(&way.angular),
    }
}

/// A node at the end, as found so far.
pub fn configuration<S: Solvable>(step: &IslandStep<'_, S>, node: usize) -> Configuration<S> {
    let pose = end_pose(step, node);
    let scratch = &step.workspace.end_point;
    let motion = &scratch.nodes[node];
    let velocity = motion.base.velocity + motion.acceleration * scratch.velocity_weight;
    Configuration {
        pose,
        velocity: velocity.linear,
        angular_velocity: pose.orientation.to_world(&velocity.angular),
    }
}

/// Force and torque that are missing at the end for the acceleration found so far, springs and joints apart.
pub fn missing<S: Solvable>(
    step: &IslandStep<'_, S>,
    node: usize,
    at: &Configuration<S>,
) -> (Vector3<S>, Vector3<S>) {
    let found = &step.workspace.end_point.nodes[node].acceleration;
    let mobility = step.workspace.mobility[node];
    let force = if mobility.value() > 0.0 {
        (step.workspace.acceleration[node] - found.linear) / mobility
    } else {
        Vector3::zeros()
    };
    let torque = step.system.nodes[node].rotation.map_or(Vector3::zeros(), |rotation| {
        let spin = at.pose.orientation.to_body(&at.angular_velocity);
        let torque = Euler::new(step, node, rotation, &at.pose).missing(&spin, &found.angular);
        at.pose.orientation.to_world(&torque)
    });
    (force, torque)
}

/// Takes a change of the velocity at the end into what was found so far.
pub fn change<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    node: usize,
    at: &Configuration<S>,
    linear: &Vector3<S>,
    angular: Option<&Vector3<S>>,
) {
    let scratch = &mut step.workspace.end_point;
    let acceleration = &mut scratch.nodes[node].acceleration;
    acceleration.linear += linear / scratch.velocity_weight;
    if let Some(angular) = angular {
        acceleration.angular += at.pose.orientation.to_body(angular) / scratch.velocity_weight;
    }
}

/// The motion without contact.
fn finish<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    for &node in &step.island.nodes {
        let start = state_pose(step, node);
        let at = configuration(step, node);
        let mut turn = Turn::none();
        if step.system.nodes[node].rotation.is_some() {
            let scratch = &step.workspace.end_point;
            let motion = &scratch.nodes[node];
            let way = motion.base.way.angular + motion.acceleration.angular * scratch.position_weight;
            let mean = start.orientation.to_world(&way) / h;
            turn = Turn {
                mean,
                end: at.angular_velocity,
                acting: start.orientation.turned(&(mean * (h * S::from(0.5)))),
                gyration: Vector3::zeros(),
            };
        }
        let mean = (at.pose.position - start.position) / h;
        let motion = &mut step.workspace.end_point.nodes[node];
        motion.free = Smooth { velocity: at.velocity, mean, turn };
        step.workspace.acceleration[node] = motion.acceleration.linear;
        let angular = motion.acceleration.angular;
        if let Some(rotation) = step.system.nodes[node].rotation {
            step.workspace.angular_acceleration[rotation] = at.pose.orientation.to_world(&angular);
        }
    }
}

/// Proposes the motion without contact.
pub fn propose<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Workspace { end_point, velocity, turns, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        let motion = &mut end_point.nodes[node];
        motion.smooth = motion.free;
        velocity[node] = motion.free.velocity;
        if let Some(rotation) = step.system.nodes[node].rotation {
            turns[rotation] = motion.free.turn;
        }
    }
    if step.island.linkage.is_some() {
        linked::propose_again(step);
    }
}

/// Keeps what the next step looks back at; nothing after an impact.
fn keep<S: Solvable>(step: &mut IslandStep<'_, S>, formula: &impl Formula<S>, h: S) {
    let impact = step.workspace.active.iter().zip(&step.workspace.impulses).any(|(&index, impulse)| {
        let touch = &step.workspace.touches[index];
        impulse.normal.value() > 0.0 && step.closes(touch)
    });
    for &node in &step.island.nodes {
        step.state.pasts[node] = if impact { Past::none() } else { kept(step, formula, node, h) };
    }
}

fn kept<S: Solvable>(step: &IslandStep<'_, S>, formula: &impl Formula<S>, node: usize, h: S) -> Past<S> {
    let Workspace { end_point, velocity, turns, .. } = &*step.workspace;
    let motion = &end_point.nodes[node];
    let mut way = Twist { linear: end_point.mean(node, &velocity[node]) * h, angular: Vector3::zeros() };
    let mut jump = Twist { linear: velocity[node] - motion.smooth.velocity, angular: Vector3::zeros() };
    let mut smooth = Twist { linear: motion.smooth.velocity, angular: Vector3::zeros() };
    if let Some(rotation) = step.system.nodes[node].rotation {
        let start = state_pose(step, node).orientation;
        let turn = &turns[rotation];
        // Each spin in the orientation that it leads to: the turn by the jump is no acceleration.
        let of = |turn: &Turn<S>| start.turned(&(turn.mean * h)).to_body(&turn.end);
        way.angular = start.to_body(&(turn.mean * h));
        smooth.angular = of(&motion.smooth.turn);
        jump.angular = of(turn) - smooth.angular;
    }
    let acceleration = (smooth - motion.base.velocity) * (S::one() / formula.velocity_weight());
    formula.keep(&motion.start, &End { way, jump, acceleration, length: step.length })
}

/// Euler's equations of a body in its own frame.
struct Euler<S> {
    inertia: Vector3<S>,
    /// External torque; none where the motion is prescribed.
    moment: Option<Vector3<S>>,
    /// Angular acceleration besides.
    given: Vector3<S>,
}

impl<S: Solvable> Euler<S> {
    fn new(step: &IslandStep<'_, S>, node: usize, rotation: usize, pose: &Pose<S>) -> Euler<S> {
        let inertia = step.state.parameters.inertia[rotation];
        let coupling = step.system.nodes[node].coupling;
        let given = coupling.map_or(Vector3::zeros(), |coupling| {
            pose.orientation.to_body(&step.state.couplings[coupling].acceleration.angular)
        });
        let yields = inertia.iter().all(|moment| moment.value().is_finite());
        let moment = yields.then(|| pose.orientation.to_body(&step.workspace.torque[rotation]));
        Euler { inertia, moment, given }
    }

    /// Torque that is missing for an acceleration.
    fn missing(&self, spin: &Vector3<S>, acceleration: &Vector3<S>) -> Vector3<S> {
        self.moment.map_or(Vector3::zeros(), |moment| {
            moment
                - spin.cross(&self.inertia.component_mul(spin))
                - self.inertia.component_mul(&(acceleration - self.given))
        })
    }

    fn acceleration(&self, spin: &Vector3<S>) -> Vector3<S> {
        match self.moment {
            None => self.given,
            Some(_) => self.missing(spin, &Vector3::zeros()).component_div(&self.inertia),
        }
    }

    /// Change of the acceleration towards the one for which nothing is missing, where a change of it by `1` changes
    /// `spin` by `b`.
    fn newton_step(&self, spin: &Vector3<S>, acceleration: &Vector3<S>, b: S) -> Vector3<S> {
        let inertia = Matrix3::from_diagonal(&self.inertia);
        let momentum = self.inertia.component_mul(spin);
        let tangent = inertia + (cross_matrix(spin) * inertia - cross_matrix(&momentum)) * b;
        solve(&tangent, &self.missing(spin, acceleration))
    }
}
