//! Coordinates of joints stay within their limits, by angles and distances that are found from the poses of the ends.
//!
//! Poses tell an angle `a` but for whole turns, of which a joint that is bounded on one side may make any number, and more
//! than one in a step: those are the ones that the joint has counted in its own angle `c`, `a + 2 pi round((c - a) / 2 pi)`.
//!
//! Tolerances are those of `penetration`: with time of impact 1e-4 of a radian or of a body, else what the coordinate goes
//! in an internal step besides.

use super::super::run::Frame;
use super::super::scene::*;
use super::{Case, Verdict};
use std::f64::consts::TAU;

/// In radians, or in lengths of the scene.
const BEYOND: f64 = 1e-4;

fn end(scene: &Scene, frame: &Frame, name: &Option<String>) -> Pose {
    let index = name.as_ref().and_then(|name| scene.nodes.iter().position(|node| node.name == *name));
    index.map_or(Pose::at(Vector::zeros(), Turn::identity()), |index| frame.nodes[index])
}

/// Angle about the axis, where the joint has counted so much, and distance along it, since the start.
fn coordinates(
    scene: &Scene,
    joint: &Joint,
    (axis, place): (&Vector, &Vector),
    frames: [&Frame; 2],
    counted: f64,
) -> [f64; 2] {
    let [start, now] = frames.map(|frame| [0, 1].map(|which| end(scene, frame, &joint.ends[which])));
    let axis = start[0].q.inverse() * axis.normalize();
    let anchors = start.map(|pose| pose.q.inverse() * (place - pose.r));
    let between = |ends: &[Pose; 2]| ends[0].q.inverse() * ends[1].q;
    let turned = between(&now) * between(&start).inverse();
    let angle = 2.0 * turned.imag().dot(&axis).atan2(turned.w);
    let angle = angle + TAU * ((counted - angle) / TAU).round();
    let [one, other] = [0, 1].map(|which| now[which].r + now[which].q * anchors[which]);
    [angle, (now[0].q * axis).dot(&(other - one))]
}

/// No coordinate is beyond a limit.
pub fn limits(case: &Case) -> Verdict {
    let scene = &case.scene;
    let mut verdict = Verdict::Idle;
    for (index, joint) in scene.joints.iter().enumerate() {
        let (JointKind::Revolute { axis, position }
        | JointKind::Prismatic { axis, position }
        | JointKind::Cylindrical { axis, position }) = &joint.kind
        else {
            continue;
        };
        let is_turn = matches!(joint.kind, JointKind::Revolute { .. });
        let bounded = [(joint.limits, usize::from(!is_turn)), (joint.angle_limits, 0)];
        for (limits, which) in bounded {
            let Some(limits) = limits else { continue };
            verdict = Verdict::Held;
            let size = if which == 0 { 1.0 } else { scene.units.length };
            let (mut last, mut fastest) = (0.0, 0.0_f64);
            for (step, frame) in case.base.frames.iter().enumerate() {
                let frames = [&case.base.frames[0], frame];
                let value = coordinates(scene, joint, (axis, position), frames, frame.angles[index])[which];
                fastest = fastest.max(f64::abs(value - last));
                last = value;
                let moved =
                    if scene.time_of_impact { 0.0 } else { 1.5 * fastest / f64::from(scene.substeps) };
                let allowed = BEYOND * size + moved;
                let beyond = limits.lower.map_or(0.0, |lower| lower - value);
                let beyond = limits.upper.map_or(beyond, |upper| beyond.max(value - upper));
                if !frame.warned && beyond > allowed {
                    return Verdict::Broke(format!(
                        "step {step}: {} is {beyond:.1e} beyond its limit, {allowed:.1e} allowed",
                        joint.name
                    ));
                }
            }
        }
    }
    verdict
}
