//! The linear system of a linkage: filled from where the nodes are, factored when it has changed, solved.

use super::factor::{Factor, Matrix};
use super::plain::PlainMatrix;
use super::{Approach, Rubbing};
use crate::engine::contact::pose;
use crate::engine::geometry::Pose;
use crate::engine::math::rotation::{Orientation, cross_matrix, mean_of_turning};
use crate::engine::scalar::{Scalar, cross, times};
use crate::engine::state::{Parameters, State};
use crate::engine::system::linkage::{JointPlace, Linkage, Place, SpringPlace};
use crate::engine::system::pattern::Pattern;
use crate::engine::ties::joint::{Placed, Rows};
use crate::engine::ties::spring::{Pursuit, Rates, Stiffness, Stretch, rounding};
use crate::engine::ties::{Spring, Ties};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// Repetitions of a solution at most.
const REPETITIONS: usize = 8;
/// Inertia of a body whose motion is prescribed.
const UNMOVED: f64 = 1e150;

/// A node at some time of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<S> {
    /// Where it is.
    pub pose: Pose<S>,
    /// Velocity of its centre.
    pub velocity: Vector3<S>,
    /// Angular velocity, world components.
    pub angular_velocity: Vector3<S>,
}

impl<S: Scalar> Configuration<S> {
    /// A node at present.
    pub fn of(system: &crate::engine::system::System, state: &State<S>, node: usize) -> Configuration<S> {
        let rotation = system.nodes[node].rotation.map(|rotation| &state.rotations[rotation]);
        Configuration {
            pose: pose(system, state, node),
            velocity: state.nodes[node].velocity,
            angular_velocity: rotation.map_or(Vector3::zeros(), |rotation| rotation.angular_velocity),
        }
    }
}

/// Weights of damping and stiffness in the linear system, and the time over which springs pull.
#[derive(Clone, Copy, Debug)]
pub struct Stiffening<S> {
    /// Weight of the damping; in Moreau-Jean's scheme `dt theta`.
    pub damping: S,
    /// Weight of the stiffness; `dt^2 theta^2`.
    pub stiffness: S,
    /// Time.
    pub interval: S,
}

/// Springs of a linkage, with nodes as in `acting`.
#[derive(Clone, Copy)]
pub struct Springs<'a, S: Scalar> {
    /// The linkage.
    pub linkage: &'a Linkage,
    /// All springs.
    pub ties: &'a Ties,
    /// Their stiffness and damping.
    pub parameters: &'a Parameters<S>,
    /// Nodes in the order of the island's.
    pub acting: &'a [Configuration<S>],
    /// What they weigh in the system.
    pub stiffening: Stiffening<S>,
    /// Where they were at its start, where they are to keep their energy.
    pub before: Option<Before<'a, S>>,
}

/// Springs at the start of an interval.
#[derive(Clone, Copy)]
pub struct Before<'a, S: Scalar> {
    /// From their first ends to their second ones, in the order of the linkage's.
    pub apart: &'a [Vector3<S>],
    /// After which part of the interval they act.
    pub part: S,
    /// How nodes go on to its end, where that is known; in the order of the island's.
    pub courses: Option<&'a [Course<S>]>,
}

/// How a node goes through an interval.
#[derive(Clone, Copy, Debug)]
pub struct Course<S> {
    /// Where it is at the end.
    pub end: Pose<S>,
    /// By how much it turns.
    pub turn: Vector3<S>,
}

/// What a spring does over an interval.
#[derive(Clone, Copy, Debug)]
pub struct Strained<S> {
    /// On the first end; the opposite acts on the second.
    pub impulse: Vector3<S>,
    /// What it adds to the mass of its first end.
    pub stiff: Matrix3<S>,
    /// From the centres of its ends' nodes to the anchors.
    pub arms: [Vector3<S>; 2],
}

impl<S: Scalar> Strained<S> {
    /// Velocity of the second end over the first one, of the velocities by block.
    pub fn seen(&self, place: &SpringPlace, velocities: &[Vector3<S>]) -> Vector3<S> {
        let of = |block: Option<usize>| block.map_or(Vector3::zeros(), |block| velocities[block]);
        let at =
            |end: usize| of(place.blocks[2 * end]) + cross(&of(place.blocks[2 * end + 1]), &self.arms[end]);
        at(1) - at(0)
    }
}

impl<S: Scalar> Springs<'_, S> {
    /// The spring at a place of the linkage; `mobility` is by node of the island.
    #[inline]
    pub fn strained(&self, spring: usize, mobility: &[S]) -> Strained<S> {
        let (index, place) = (self.linkage.springs[spring], &self.linkage.spring_places[spring]);
        let entry = &self.ties.springs[index];
        let parameters = self.parameters;
        let rates = Rates { stiffness: parameters.stiffness[index], damping: parameters.damping[index] };
        let [first, second] = ends_of(entry, place, self.acting);
        let mut apart = second.at - first.at;
        let mut arms = [first.arm, second.arm];
        if let Some(Before { apart: before, part, courses: Some(courses) }) = self.before {
            // Between where the ends are and will be, with arms by which forces do work along that way.
            let [one, other] = [0, 1].map(|end| match place.ends[end] {
                None => entry.ends[end].place.map(S::from),
                Some(node) => {
                    arms[end] = mean_of_turning(&arms[end], &courses[node].turn);
                    let Pose { position, orientation } = &courses[node].end;
                    position + orientation.to_world(&entry.ends[end].place.map(S::from))
                }
            });
            apart = before[spring] * (S::one() - part) + (other - one) * part;
        }
        let stretch = match self.before {
            None => Stretch::new(entry.length, rates.stiffness, apart),
            Some(before) => {
                Stretch::between(entry.length, rates.stiffness, apart, &before.apart[spring], before.part)
            }
        };
        let mut force = stretch.force(S::zero());
        let square = apart.dot(&apart);
        if !rates.damping.is_zero() && square.value() > 0.0 {
            let rate = apart.dot(&(second.velocity - first.velocity));
            force += apart * (rates.damping * rate / square);
        }
        let Stiffening { stiffness, damping, interval } = self.stiffening;
        let mobility = place.ends.iter().flatten().fold(S::zero(), |sum, &node| sum + mobility[node]);
        Strained {
            impulse: force * interval,
            stiff: Stiffness::new(&stretch, rates, Rates { stiffness, damping }, mobility).matrix(),
            arms,
        }
    }
}

impl<S: Scalar> Springs<'_, S> {
    /// Velocity of the second end of a spring over the first one, and how much of its impulse may be round-off.
    pub fn rate(&self, spring: usize) -> (Vector3<S>, f64) {
        let (index, place) = (self.linkage.springs[spring], &self.linkage.spring_places[spring]);
        let [first, second] = ends_of(&self.ties.springs[index], place, self.acting);
        let stiffness = self.parameters.stiffness[index].value();
        let distances = largest(&first.at) + largest(&second.at);
        let rounding = rounding(stiffness, self.stiffening.interval.value(), distances);
        (second.velocity - first.velocity, rounding)
    }
}

/// Matrix, factors and sides of a linear system.
#[derive(Clone, Debug)]
pub struct System<S: Scalar> {
    matrix: Matrix<S>,
    factor: Factor,
    /// Whether the factors are those of the matrix.
    is_factored: bool,
    /// What changes of solutions are found by, where they were asked for.
    answering: Option<Arc<Answering>>,
    /// Inverse masses of the nodes that the matrix was made of.
    mobility: Vec<S>,
    /// Compliances of the rows of joints, by block. They decide between redundant joints; their effect on the motion is taken
    /// out again by repeating the solution.
    compliance: Vec<f64>,
    /// Size of the velocities that a solution is added to.
    pub speed: f64,
    /// Right side.
    pub right: Vec<Vector3<S>>,
    /// Solution: velocities by node, then impulses of the joints.
    pub solution: Vec<Vector3<S>>,
    /// Its values, and what they leave of the right side.
    values: Vec<Vector3<f64>>,
    residual: Vec<Vector3<f64>>,
}

/// A matrix and its factors, as they were when something was solved.
#[derive(Debug)]
struct Answering {
    pattern: Arc<Pattern>,
    factor: Factor,
    /// The matrix without the compliance of joints; none where there are no joints.
    rigid: Option<Matrix<f64>>,
}

impl Answering {
    /// Solves for one right side, in place. Once more where there are joints, to take their compliance out.
    fn solve(&self, x: &mut [f64]) {
        let vectors = x.chunks_exact(3).map(Vector3::from_column_slice);
        let right: Vec<Vector3<f64>> = vectors.collect();
        let mut solution = right.clone();
        self.factor.solve(&self.pattern, 0, &mut solution);
        if let Some(rigid) = &self.rigid {
            let mut residual = right.clone();
            rigid.residual(&self.pattern, &right, &solution, &mut residual);
            self.factor.solve(&self.pattern, 0, &mut residual);
            for (solution, correction) in solution.iter_mut().zip(&residual) {
                *solution += correction;
            }
        }
        for (x, solution) in x.chunks_exact_mut(3).zip(&solution) {
            x.copy_from_slice(solution.as_slice());
        }
    }
}

/// Scratch memory of a linkage.
#[derive(Clone, Debug)]
pub struct Scratch<S: Scalar> {
    /// Velocities over an interval.
    pub motion: System<S>,
    /// Jumps of the velocities, to which springs do not answer; for schemes that tell them apart.
    pub jump: System<S>,
    /// Displacements at an instant.
    pub placement: System<S>,
    /// Nodes in the order of the island's: where springs and joints act.
    pub acting: Vec<Configuration<S>>,
    /// The same at the end of the interval.
    pub ends: Vec<Configuration<S>>,
    /// Rows of the joints where these act.
    pub rows: Vec<[Rows<S>; 2]>,
    /// Acceleration without springs, joints and contact, by node of the island.
    pub applied: Vec<Vector3<S>>,
    /// Velocities that joints hold their rows to, by block.
    pub held: Vec<Vector3<S>>,
    /// What is done to the nodes besides joints and contact, by block: the right side that springs make.
    pub loads: Vec<Vector3<S>>,
    /// Change of the velocities from free motion that the ends were moved by.
    pub change: Vec<Vector3<S>>,
    /// The part of it by which bodies spin faster or slower because they have turned further.
    pub gyration: Vec<Vector3<S>>,
    /// The interval for which `free` holds.
    pub free_over: Option<S>,
    /// What springs and joints do over it without contact.
    pub free: Vec<Vector3<S>>,
    /// The same with contact: what the proposal holds.
    pub proposed: Vec<Vector3<S>>,
    /// How contacts yield to one another: block by block, contact by contact.
    pub yielding: Vec<Matrix3<S>>,
    /// What was added to how a contact yields along its normal, by contact.
    pub softness: Vec<f64>,
    /// What contacts push, three directions each, and where each begins.
    pub sides: Vec<Matrix3<f64>>,
    pub side_starts: Vec<(usize, usize)>,
    /// Joints that rub.
    pub rubbing: Vec<Rubbing<S>>,
    /// From the first ends of springs to the second at the start of the interval.
    pub before: Vec<Vector3<S>>,
    /// What the springs do over it, and nodes where a solution has them when they act and at its end.
    pub strained: Vec<Strained<S>>,
    pub bent: Vec<Configuration<S>>,
    pub courses: Vec<Course<S>>,
    /// How far springs were pursued in the last solution without contact.
    pub pursuit: Pursuit,
    /// How passes of a contact problem move the ends.
    pub approach: Approach,
    /// What the matrix of `motion` was made of, where there are springs between point masses only.
    pub plain: PlainMatrix<S>,
}

impl<S: Scalar> System<S> {
    fn new(linkage: &Linkage) -> System<S> {
        let blocks = vec![Vector3::zeros(); linkage.pattern.size()];
        let values = vec![Vector3::zeros(); linkage.pattern.size()];
        System {
            matrix: Matrix::zero(&linkage.pattern),
            factor: Factor::new(&linkage.pattern),
            is_factored: false,
            answering: None,
            mobility: vec![S::zero(); linkage.places.len()],
            compliance: vec![0.0; linkage.pattern.size()],
            speed: 0.0,
            right: blocks.clone(),
            solution: blocks,
            values: values.clone(),
            residual: values,
        }
    }

    /// Starts anew.
    pub fn clear(&mut self) {
        self.matrix.clear();
        self.is_factored = false;
        self.clear_right();
    }

    /// Makes the right side zero.
    pub fn clear_right(&mut self) {
        self.right.fill(Vector3::zeros());
    }

    /// Writes the inertia of a node, at its place in the island, of which `mobility` is the inverse mass.
    #[inline]
    pub fn set_body(
        &mut self,
        local: usize,
        place: &Place,
        mobility: S,
        turning: Option<(&Orientation<S>, &Vector3<S>)>,
    ) {
        self.mobility[local] = mobility;
        let mass = if mobility.value() > 0.0 { S::one() / mobility } else { S::from(UNMOVED) };
        self.matrix.diagonal[place.linear] = Matrix3::from_diagonal_element(mass);
        if let (Some(block), Some((orientation, inertia))) = (place.angular, turning) {
            let inertia =
                inertia.map(|moment| if moment.value().is_finite() { moment } else { S::from(UNMOVED) });
            self.matrix.diagonal[block] = if inertia[0] == inertia[1] && inertia[1] == inertia[2] {
                Matrix3::from_diagonal_element(inertia[0])
            } else {
                let axes = rotation_matrix(orientation);
                axes * Matrix3::from_diagonal(&inertia) * axes.transpose()
            };
        }
    }

    /// Writes the matrix of springs between point masses, and factors it.
    #[inline(never)]
    pub fn write_plain(&mut self, linkage: &Linkage, plain: &PlainMatrix<S>) {
        self.matrix.clear();
        for (local, (place, &mass)) in linkage.places.iter().zip(plain.masses()).enumerate() {
            self.set_body(local, place, S::one() / mass, None);
        }
        for (place, stiff) in linkage.spring_places.iter().zip(plain.stiffnesses()) {
            self.stiffen(place, &[Vector3::zeros(); 2], &stiff);
        }
        self.is_factored = false;
        self.factor(linkage);
    }

    /// Solves in place for a right side in `solution` that is zero in blocks eliminated before `first`, without joints.
    pub fn solve_in_place(&mut self, linkage: &Linkage, first: usize) {
        match S::plain(&mut self.solution) {
            Some(solution) => self.factor.solve(&linkage.pattern, first, solution),
            None => self.solve_with_changes(linkage, first),
        }
    }

    /// The same for all of the right side, where the solution is wanted block by block only.
    #[inline]
    pub fn solve_for_each(&mut self, linkage: &Linkage, mut give: impl FnMut(usize, &Vector3<S>)) {
        if let Some(solution) = S::plain(&mut self.solution) {
            let give = |block: usize, value: &Vector3<f64>| give(block, &value.map(S::from));
            return self.factor.solve_for_each(&linkage.pattern, solution, give);
        }
        self.solve_with_changes(linkage, 0);
        for (block, value) in self.solution.iter().enumerate() {
            give(block, value);
        }
    }

    fn solve_with_changes(&mut self, linkage: &Linkage, first: usize) {
        self.take_values();
        self.factor.solve(&linkage.pattern, first, &mut self.values);
        self.complete(linkage);
    }

    /// The values of the right side that is in `solution`.
    fn take_values(&mut self) {
        for (value, right) in self.values.iter_mut().zip(&self.solution) {
            *value = right.map(S::value);
        }
    }

    /// Replaces the right side in `solution` by the solution, whose values are known.
    fn complete(&mut self, linkage: &Linkage) {
        if let Some(solution) = S::plain(&mut self.solution) {
            solution.copy_from_slice(&self.values);
            return;
        }
        for right in &mut self.solution {
            *right = right.map(S::change);
        }
        self.matrix.take_changes(&linkage.pattern, &self.values, &mut self.solution);
        let answering = Arc::clone(self.answering.get_or_insert_with(|| {
            let rigid = linkage.has_joints().then(|| {
                let mut rigid = self.matrix.values();
                for (diagonal, &compliance) in rigid.diagonal.iter_mut().zip(&self.compliance) {
                    for row in 0..3 {
                        if diagonal[(row, row)] == -compliance {
                            diagonal[(row, row)] = 0.0;
                        }
                    }
                }
                rigid
            });
            let pattern = Arc::clone(&linkage.pattern);
            Arc::new(Answering { pattern, factor: self.factor.clone(), rigid })
        }));
        let mut changes: Vec<S> =
            self.solution.iter().flat_map(|change| [change.x, change.y, change.z]).collect();
        S::map_changes(&mut changes, move |changes| answering.solve(changes));
        for ((solution, value), change) in
            self.solution.iter_mut().zip(&self.values).zip(changes.chunks_exact(3))
        {
            *solution = value.map(S::from) + Vector3::from_column_slice(change);
        }
    }

    /// Takes the matrix of another system.
    pub fn copy_matrix(&mut self, other: &System<S>) {
        self.matrix.diagonal.copy_from_slice(&other.matrix.diagonal);
        self.matrix.below.copy_from_slice(&other.matrix.below);
        self.compliance.copy_from_slice(&other.compliance);
        self.mobility.copy_from_slice(&other.mobility);
        self.is_factored = false;
    }

    /// Adds to the right side what springs answer to velocities.
    pub fn answer(&mut self, springs: &Springs<'_, S>, velocities: &[Vector3<S>]) {
        for (spring, place) in springs.linkage.spring_places.iter().enumerate() {
            let strained = springs.strained(spring, &self.mobility);
            self.push(place.blocks, &strained.arms, &(strained.stiff * strained.seen(place, velocities)));
        }
    }

    /// Adds the springs; the nodes must be there already.
    pub fn add_springs(&mut self, springs: &Springs<'_, S>) {
        for (spring, place) in springs.linkage.spring_places.iter().enumerate() {
            self.add_spring(place, &springs.strained(spring, &self.mobility));
        }
    }

    /// The same of springs that were found before.
    pub fn add_strained(&mut self, linkage: &Linkage, strained: &[Strained<S>]) {
        for (place, strained) in linkage.spring_places.iter().zip(strained) {
            self.add_spring(place, strained);
        }
    }

    #[inline]
    fn add_spring(&mut self, place: &SpringPlace, strained: &Strained<S>) {
        self.push(place.blocks, &strained.arms, &strained.impulse);
        self.stiffen(place, &strained.arms, &strained.stiff);
    }

    /// Takes the inverse masses of the nodes, by node.
    pub fn weigh(&mut self, linkage: &Linkage, mobility: &[S]) {
        for (known, place) in self.mobility.iter_mut().zip(&linkage.places) {
            *known = mobility[place.node];
        }
    }

    /// Inverse masses of the nodes, in the order of the island's.
    pub fn mobility(&self) -> &[S] {
        &self.mobility
    }

    /// Adds an impulse on the first end of a tie, and its opposite on the second, to the right side.
    fn push(
        &mut self,
        blocks: crate::engine::system::linkage::Blocks,
        arms: &[Vector3<S>; 2],
        impulse: &Vector3<S>,
    ) {
        if let Some(block) = blocks[0] {
            self.right[block] += impulse;
        }
        if let Some(block) = blocks[1] {
            self.right[block] += cross(&arms[0], impulse);
        }
        if let Some(block) = blocks[2] {
            self.right[block] -= impulse;
        }
        if let Some(block) = blocks[3] {
            self.right[block] -= cross(&arms[1], impulse);
        }
    }

    fn stiffen(&mut self, place: &SpringPlace, arms: &[Vector3<S>; 2], stiff: &Matrix3<S>) {
        let turns = place.blocks[1].is_some() || place.blocks[3].is_some();
        if !turns {
            for block in [place.blocks[0], place.blocks[2]].into_iter().flatten() {
                self.matrix.diagonal[block] += stiff;
            }
            if let Some(entry) = place.entries[2][0] {
                self.matrix.add(entry, &-stiff);
            }
            return;
        }
        let one = Matrix3::identity();
        let parts = [-one, cross_matrix(&arms[0]), one, -cross_matrix(&arms[1])];
        for row in 0..4 {
            let Some(block) = place.blocks[row] else { continue };
            let left = parts[row].transpose() * stiff;
            self.matrix.diagonal[block] += left * parts[row];
            for (entry, part) in place.entries[row].iter().zip(&parts).take(row) {
                if let Some(entry) = entry {
                    self.matrix.add(*entry, &(left * part));
                }
            }
        }
    }

    /// Writes the rows of a joint. The inertia of its ends must be there already.
    pub fn set_rows(&mut self, place: &JointPlace, rows: &Rows<S>, held: [bool; 3]) {
        for (part, entry) in rows.parts.iter().zip(place.entries) {
            if let Some(entry) = entry {
                self.matrix.add(entry, part);
            }
        }
        let compliance = self.yielding_alone(place, rows) * TOLERANCES.negligible;
        self.compliance[place.block] = compliance;
        for (row, is_held) in held.into_iter().enumerate() {
            self.matrix.diagonal[place.block][(row, row)] = S::from(if is_held { -compliance } else { -1.0 });
        }
    }

    /// About how far rows give way to a unit impulse along each of them, with nothing else that holds their ends.
    pub fn yielding_alone(&self, place: &JointPlace, rows: &Rows<S>) -> f64 {
        let mut yielding = 0.0;
        for (part, block) in rows.parts.iter().zip(place.blocks) {
            if let Some(block) = block {
                let part = part.map(S::value);
                yielding += part.dot(&part) / self.matrix.diagonal[block].map(S::value).trace();
            }
        }
        yielding
    }

    /// Factors the matrix, unless its factors are there.
    pub fn factor(&mut self, linkage: &Linkage) {
        if !self.is_factored {
            self.factor.factor(&linkage.pattern, &self.matrix);
            self.is_factored = true;
            self.answering = None;
        }
    }

    /// Solves for the right side. Returns what is left, as a part of it.
    pub fn solve(&mut self, linkage: &Linkage) -> f64 {
        self.solve_from(linkage, 0)
    }

    /// The same for a right side that is zero in blocks eliminated before `first`.
    pub fn solve_from(&mut self, linkage: &Linkage, first: usize) -> f64 {
        self.solution.copy_from_slice(&self.right);
        self.take_values();
        let left = self.solve_values(linkage, first);
        self.complete(linkage);
        left
    }

    fn solve_values(&mut self, linkage: &Linkage, first: usize) -> f64 {
        self.factor.solve(&linkage.pattern, first, &mut self.values);
        if !linkage.has_joints() {
            return 0.0;
        }
        let mut last = f64::INFINITY;
        for _ in 0..REPETITIONS {
            self.matrix.residual(&linkage.pattern, &self.right, &self.values, &mut self.residual);
            for place in linkage.joint_places.iter().flatten().flatten() {
                // Without the compliance, which is on the diagonal.
                let block = place.block;
                for row in 0..3 {
                    if self.matrix.diagonal[block][(row, row)].value() == -self.compliance[block] {
                        self.residual[block][row] -= self.compliance[block] * self.values[block][row];
                    }
                }
            }
            let left = self.left_over(linkage);
            if left >= 0.5 * last || left <= TOLERANCES.last_bits {
                return left.min(last);
            }
            last = left;
            self.factor.solve(&linkage.pattern, 0, &mut self.residual);
            for (value, correction) in self.values.iter_mut().zip(&self.residual) {
                *value += correction;
            }
        }
        last
    }

    /// Replaces three right sides by what [`product`](Self::product) takes.
    pub fn forward(&self, linkage: &Linkage, first: usize, sides: &mut [Matrix3<f64>]) {
        self.factor.forward(&linkage.pattern, first, sides);
    }

    /// How three rows see what three right sides do, each from its first block on.
    pub fn product(
        &self,
        linkage: &Linkage,
        rows: (usize, &[Matrix3<f64>]),
        sides: (usize, &[Matrix3<f64>]),
    ) -> Matrix3<f64> {
        self.factor.product(&linkage.pattern, rows, sides)
    }

    /// Largest part of a joint's rows that is not met, in units of the velocities around.
    fn left_over(&self, linkage: &Linkage) -> f64 {
        let mut left = 0.0_f64;
        let mut all = self.speed;
        for place in linkage.joint_places.iter().flatten().flatten() {
            left = left.max(largest(&self.residual[place.block]));
            let ends = place.blocks.iter().flatten().map(|&block| largest(&self.values[block]));
            all = ends.fold(all.max(largest(&self.right[place.block])), f64::max);
        }
        if all > 0.0 { left / all } else { 0.0 }
    }
}

impl<S: Scalar> Configuration<S> {
    /// Where the node is after `time` at its velocity.
    pub fn ahead(&self, time: S) -> Pose<S> {
        Pose {
            position: self.pose.position + self.velocity * time,
            orientation: self.pose.orientation.turned(&(self.angular_velocity * time)),
        }
    }
}

impl<S: Scalar> Scratch<S> {
    /// Solves for the jumps that the right side of `motion` makes, and in `motion` for what springs answer.
    pub fn jump_and_answer(
        &mut self,
        linkage: &Linkage,
        ties: &Ties,
        parameters: &Parameters<S>,
        stiffening: Stiffening<S>,
    ) {
        let Scratch { motion, jump, acting, .. } = self;
        jump.right.copy_from_slice(&motion.right);
        jump.factor(linkage);
        jump.solve(linkage);
        motion.clear_right();
        motion
            .answer(&Springs { linkage, ties, parameters, acting, stiffening, before: None }, &jump.solution);
        motion.solve(linkage);
    }

    /// Scratch memory for a linkage.
    pub fn new(linkage: &Linkage) -> Scratch<S> {
        let still = Configuration {
            pose: Pose { position: Vector3::zeros(), orientation: Orientation::identity() },
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
        };
        let unstrained =
            Strained { impulse: Vector3::zeros(), stiff: Matrix3::zeros(), arms: [Vector3::zeros(); 2] };
        let nodes = linkage.places.len();
        Scratch {
            motion: System::new(linkage),
            jump: System::new(linkage),
            placement: System::new(linkage),
            acting: vec![still; nodes],
            ends: vec![still; nodes],
            rows: vec![[Rows::none(); 2]; linkage.joints.len()],
            applied: vec![Vector3::zeros(); nodes],
            held: vec![Vector3::zeros(); linkage.pattern.size()],
            loads: vec![Vector3::zeros(); linkage.pattern.size()],
            change: vec![Vector3::zeros(); linkage.pattern.size()],
            gyration: vec![Vector3::zeros(); linkage.pattern.size()],
            free_over: None,
            free: vec![Vector3::zeros(); linkage.pattern.size()],
            proposed: vec![Vector3::zeros(); linkage.pattern.size()],
            yielding: Vec::new(),
            softness: Vec::new(),
            sides: Vec::new(),
            side_starts: Vec::new(),
            rubbing: Vec::with_capacity(linkage.rubbing.len()),
            before: vec![Vector3::zeros(); linkage.springs.len()],
            strained: vec![unstrained; linkage.springs.len()],
            bent: vec![still; nodes],
            courses: vec![Course { end: still.pose, turn: Vector3::zeros() }; nodes],
            pursuit: Pursuit::Caught,
            approach: Approach::default(),
            plain: PlainMatrix::new(linkage),
        }
    }
}

impl Linkage {
    /// Power that the dampers take, with nodes as in `acting`.
    pub fn damping_power<S: Scalar>(
        &self,
        ties: &Ties,
        parameters: &Parameters<S>,
        acting: &[Configuration<S>],
    ) -> S {
        let mut power = S::zero();
        for (&index, place) in self.springs.iter().zip(&self.spring_places) {
            let damping = parameters.damping[index];
            if !damping.is_zero() {
                let [first, second] = ends_of(&ties.springs[index], place, acting);
                let apart = second.at - first.at;
                let square = apart.dot(&apart);
                let rate = apart.dot(&(second.velocity - first.velocity));
                if square.value() > 0.0 {
                    power += damping * rate * rate / square;
                }
            }
        }
        power
    }

    /// Both sides of a joint, with nodes as in `nodes`.
    pub fn place_joint<S: Scalar>(
        &self,
        ties: &Ties,
        joint: usize,
        nodes: &[Configuration<S>],
    ) -> Option<Placed<S>> {
        let place = self.joint_places[joint].iter().flatten().next()?;
        Some(ties.joints[self.joints[joint]].placed(place.ends.map(|end| end.map(|node| &nodes[node].pose))))
    }
}

impl<S: Scalar> Rows<S> {
    /// Velocity that the rows see.
    pub fn velocity(&self, place: &JointPlace, nodes: &[Configuration<S>]) -> Vector3<S> {
        self.velocity_of(place, |node| (nodes[node].velocity, nodes[node].angular_velocity))
    }

    /// The same with velocity and angular velocity of the nodes.
    pub fn velocity_of(
        &self,
        place: &JointPlace,
        motion: impl Fn(usize) -> (Vector3<S>, Vector3<S>),
    ) -> Vector3<S> {
        let mut seen = Vector3::zeros();
        for (end, node) in place.ends.iter().enumerate() {
            if let Some((velocity, angular_velocity)) = node.map(&motion) {
                seen += times(&self.parts[2 * end], &velocity)
                    + times(&self.parts[2 * end + 1], &angular_velocity);
            }
        }
        seen
    }
}

/// An anchor in the world.
pub struct AnchorInWorld<S> {
    /// Where it is.
    pub at: Vector3<S>,
    /// From the centre of its node; zero on the ground.
    pub arm: Vector3<S>,
    /// Velocity.
    pub velocity: Vector3<S>,
}

fn ends_of<S: Scalar>(
    spring: &Spring,
    place: &SpringPlace,
    nodes: &[Configuration<S>],
) -> [AnchorInWorld<S>; 2] {
    [0, 1].map(|end| anchor(&spring.ends[end].place, place.ends[end].map(|node| &nodes[node])))
}

/// Where an anchor at a place of a node is, and how it moves; of the ground without a node.
pub fn anchor<S: Scalar>(place: &Vector3<f64>, node: Option<&Configuration<S>>) -> AnchorInWorld<S> {
    let place = place.map(S::from);
    match node {
        None => AnchorInWorld { at: place, arm: Vector3::zeros(), velocity: Vector3::zeros() },
        Some(node) if place == Vector3::zeros() => {
            AnchorInWorld { at: node.pose.position, arm: Vector3::zeros(), velocity: node.velocity }
        }
        Some(node) => {
            let arm = node.pose.orientation.to_world(&place);
            let velocity = node.velocity + cross(&node.angular_velocity, &arm);
            AnchorInWorld { at: node.pose.position + arm, arm, velocity }
        }
    }
}

fn rotation_matrix<S: Scalar>(orientation: &Orientation<S>) -> Matrix3<S> {
    Matrix3::from_columns(&[0, 1, 2].map(|index| crate::engine::ties::joint::axis(orientation, index)))
}

fn largest<S: Scalar>(vector: &Vector3<S>) -> f64 {
    vector.iter().fold(0.0, |most, component| component.value().abs().max(most))
}
