//! Compares two runs that must be alike.
//!
//! Round-off and the solver's tolerance (1e-10 of the speeds, if the model says nothing) disturb a run, and contact lets
//! disturbances grow, without bound where which corner touches first is a matter of chance. So two copies of the scene are
//! run that are disturbed by `DISTURBANCE` times that tolerance at the start, in position, velocity and rotation: two runs
//! must agree to `FACTOR` of what these have moved apart, and nothing is said beyond the time at which that reaches `CHAOS`
//! of a body.
//! The solver's tolerance is about the largest speeds and impulses of a contact problem: a body that is lighter than
//! another by a factor may be off by that factor more, over the way that the bodies go.
//! Compared are places and orientations, which are continuous in time; speeds are not, at an impact.

use super::super::run::{Frame, Trace, Way, run};
use super::super::scene::*;
use super::{Case, Verdict};
use crate::neighbours::distance::extent;

/// What solvers leave at best, and thresholds of the engine cut off.
const ROUND_OFF: f64 = 1e-10;
/// Relative disturbance of the copies, in tolerances of the solver.
const DISTURBANCE: f64 = 10.0;
/// By how much two runs may differ, against disturbed copies.
const FACTOR: f64 = 30.0;
/// What is allowed in any case.
const FLOOR: f64 = 1e-8;
/// Beyond this nothing is said.
const CHAOS: f64 = 1e-3;

/// What may be between two runs, by frame; ends where nothing is said any more.
pub struct Yardstick {
    allowed: Vec<f64>,
}

/// How far a frame is from another, in lengths of the scene. `see` takes a pose of the second to where the first has it.
pub fn off(scene: &Scene, one: &Frame, other: &Frame, see: &dyn Fn(usize, &Frame) -> Pose) -> f64 {
    scene
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let (is, seen) = (&one.nodes[index], see(index, other));
            let turned =
                if node.inertia.is_some() { is.q.angle_to(&seen.q) * extent(&node.shape) } else { 0.0 };
            ((is.r - seen.r).norm() + turned) / scene.units.length
        })
        .fold(0.0, f64::max)
}

/// The pose of the same node.
pub fn same(index: usize, frame: &Frame) -> Pose {
    frame.nodes[index]
}

/// The scene with every node moved a little, in its own direction.
pub fn disturbed(case: &Case, scene: &Scene, size: f64, which: u64) -> Scene {
    let mut entropy = case.entropy(if which == 0 { "disturbed" } else { "disturbed again" });
    let mut copy = scene.clone();
    copy.lenient = true;
    let Units { length, time, .. } = scene.units;
    for node in &mut copy.nodes {
        let mut any = || Vector::from_fn(|_, _| entropy.between(-1.0, 1.0)) * size;
        node.state.r += any() * length;
        node.state.v += any() * (length / time);
        if node.inertia.is_some() {
            node.state.q = Turn::from_scaled_axis(any()) * node.state.q;
            node.state.w += any() / time;
        }
    }
    copy
}

impl Case {
    /// What may be between two runs of this scene; none where its disturbed copies do not run.
    pub fn yardstick(&self) -> Option<&Yardstick> {
        let make = || {
            let size = DISTURBANCE * self.scene.solver_tolerance().max(ROUND_OFF);
            let copies: Option<Vec<Trace>> = [0, 1]
                .map(|which| run(&disturbed(self, &self.scene, size, which), &Way::default()).ok())
                .into_iter()
                .collect();
            let copies = copies?;
            let mut worst = 0.0_f64;
            let mut allowed = Vec::new();
            let masses = || self.scene.nodes.iter().map(|node| node.mass);
            let ratio = masses().fold(0.0, f64::max) / masses().fold(f64::INFINITY, f64::min);
            let solver = self.scene.solver_tolerance();
            let mut way = 0.0;
            for (index, frame) in self.base.frames.iter().enumerate() {
                for copy in &copies {
                    let Some(other) = copy.frames.get(index) else { return Some(Yardstick { allowed }) };
                    worst = worst.max(off(&self.scene, frame, other, &same));
                }
                if worst > CHAOS {
                    break;
                }
                let speeds = self.scene.nodes.iter().zip(&frame.nodes);
                let speed = speeds
                    .map(|(node, pose)| pose.v.norm() + pose.w.norm() * extent(&node.shape))
                    .fold(0.0, f64::max);
                way += speed * self.scene.step / self.scene.units.length;
                allowed.push(FACTOR * (worst + solver * ratio * way) + FLOOR);
            }
            Some(Yardstick { allowed })
        };
        self.yardstick.get_or_init(make).as_ref()
    }

    /// Whether another scene moves like this one, as seen by `see`.
    pub fn moves_like(&self, other: &Scene, see: &dyn Fn(usize, &Frame) -> Pose) -> Verdict {
        let trace = match run(other, &Way::default()) {
            Ok(trace) => trace,
            Err(message) => return Verdict::Broke(format!("the other model is refused: {message}")),
        };
        self.agrees(&trace, see)
    }

    /// Whether another run is like this one.
    pub fn agrees(&self, other: &Trace, see: &dyn Fn(usize, &Frame) -> Pose) -> Verdict {
        let Some(yardstick) = self.yardstick() else { return Verdict::Idle };
        for (index, (frame, allowed)) in self.base.frames.iter().zip(&yardstick.allowed).enumerate() {
            let Some(seen) = other.frames.get(index) else {
                let fault = other.fault.as_deref().unwrap_or("no more frames");
                return Verdict::Broke(format!("the other run ends: {fault}"));
            };
            let off = off(&self.scene, frame, seen, see);
            if off.is_nan() || off > *allowed {
                return Verdict::Broke(format!("step {index}: {off:.1e} sizes apart, {allowed:.1e} allowed"));
            }
        }
        Verdict::Held
    }
}
