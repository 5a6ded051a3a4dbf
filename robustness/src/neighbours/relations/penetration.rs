//! Shapes stay outside of one another, by the net's own distance.
//!
//! With time of impact, hard contacts may be inside by 1e-4 of the smaller body at a communication point. Captured steps
//! see a contact once it would close within a part of the step: shapes may sink in by what they move in a step. Contacts
//! stop velocities at the end of a step; a body that turns by an angle `a` in it takes a touching point at a distance `r`
//! from its centre away by `r a^2` at most, and where positions are not corrected, all of that adds up. So they
//! may where a master moves one of them, whose force acts over two steps. Where a master repeats steps, all that may touch
//! what it moves is captured: its forces have to depend on its positions steadily.

use super::super::distance::{apart, extent, solid};
use super::super::run::Frame;
use super::super::scene::*;
use super::{Case, Verdict};

/// Part of the smaller body.
const DEPTH: f64 = 1e-4;

/// A node and a node or surface that may touch.
struct Pair<'a> {
    node: usize,
    other: Result<usize, usize>,
    law: &'a Law,
}

fn pairs(scene: &Scene) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    for (node, one) in scene.nodes.iter().enumerate() {
        for (surface, other) in scene.surfaces.iter().enumerate() {
            if let Some(law) = scene.law_of(&one.name, &other.name) {
                pairs.push(Pair { node, other: Err(surface), law });
            }
        }
        for (index, other) in scene.nodes.iter().enumerate().skip(node + 1) {
            let has_volume = one.shape.has_volume() || other.shape.has_volume();
            if let Some(law) = scene.law_of(&one.name, &other.name).filter(|_| has_volume) {
                pairs.push(Pair { node, other: Ok(index), law });
            }
        }
    }
    pairs
}

/// A heightfield ends, and what is beside it is not below it.
fn is_beside(shape: &Shape, frame: &Pose, body: &Pose, reach: f64) -> bool {
    let Shape::Heightfield { cell, .. } = shape else { return false };
    let local = frame.q.inverse() * (body.r - frame.r);
    [0, 1].iter().any(|&axis| local[axis].abs() > 2.5 * cell[axis] - reach)
}

/// No shape is inside another.
pub fn penetration(case: &Case) -> Verdict {
    let scene = &case.scene;
    let mut looked = false;
    for pair in pairs(scene) {
        if pair.law.continuous.is_some() || pair.law.normal_stiffness.is_some() {
            continue;
        }
        let node = &scene.nodes[pair.node];
        let (shape, is_owned) = match pair.other {
            Ok(other) => (&scene.nodes[other].shape, scene.nodes[other].coupling == Coupling::Owned),
            Err(surface) => {
                let surface = &scene.surfaces[surface];
                (&surface.shape, !matches!(surface.motion, Motion::Input { inertia: Some(_) }))
            }
        };
        let is_exact =
            scene.time_of_impact && !scene.is_iterated() && is_owned && node.coupling == Coupling::Owned;
        let own = extent(&node.shape);
        let other = extent(shape).min(scene.units.length);
        // A point, on either side, is as small as nothing: the other side counts.
        let size = [own, other].into_iter().filter(|&one| one > 0.0).fold(f64::INFINITY, f64::min);
        let place = |frame: &Frame| match pair.other {
            Ok(other) => frame.nodes[other],
            Err(surface) => frame.surfaces[surface],
        };
        // Without correction, what has sunk in stays there.
        let (mut fastest, mut drift) = (0.0_f64, 0.0);
        let corrects =
            scene.correction.unwrap_or(scene.time_of_impact || matches!(scene.scheme, Scheme::Midpoint(_)));
        for (step, frame) in case.base.frames.iter().enumerate() {
            let speed = |pose: &Pose, reach: f64| pose.v.norm() + pose.w.norm() * reach;
            let there = speed(&place(frame), extent(shape).min(scene.units.length * 4.0));
            fastest = fastest.max(speed(&frame.nodes[pair.node], own) + there);
            if !corrects {
                let turned =
                    |pose: &Pose, reach: f64| (pose.w.norm() * scene.internal_step()).powi(2) * reach;
                let apart = (frame.nodes[pair.node].r - place(frame).r).norm() + own;
                let away = turned(&frame.nodes[pair.node], own) + turned(&place(frame), apart);
                drift += away * f64::from(scene.substeps);
            }
            if frame.warned || step == 0 {
                continue;
            }
            let (one, there) = (frame.nodes[pair.node], place(frame));
            if extent(shape).is_finite() && (one.r - there.r).norm() > own + extent(shape) {
                continue;
            }
            if is_beside(shape, &there, &one, own) {
                continue;
            }
            looked = true;
            let mut allowed = DEPTH * size;
            if !is_exact {
                let time = if is_owned && node.coupling == Coupling::Owned {
                    scene.internal_step()
                } else {
                    2.0 * scene.step
                };
                allowed += 1.5 * time * (fastest + scene.gravity.norm() * time) + drift;
            }
            let found = apart(&solid(&node.shape, &one), &solid(shape, &there), allowed);
            if found.gap < -allowed {
                return Verdict::Broke(format!(
                    "step {step}: {} is {:.1e} of its size inside, {:.1e} allowed",
                    node.name,
                    -found.gap / size,
                    allowed / size
                ));
            }
        }
    }
    if looked { Verdict::Held } else { Verdict::Idle }
}

/// `CONTACT.gap` is the distance of the shapes where they are apart, to 1e-6 of a body; a few of the frames.
pub fn gap(case: &Case) -> Verdict {
    const TOLERANCE: f64 = 1e-6;
    let scene = &case.scene;
    let names = super::run::contact_pairs(&case.model);
    let mut looked = false;
    let every = (case.base.frames.len() / 4).max(1);
    for (contact, names) in names.iter().enumerate() {
        let Some(names) = names else { continue };
        let find = |name: &str| scene.nodes.iter().position(|node| node.name == name);
        let Some(node) = find(&names[0]).filter(|&node| scene.nodes[node].coupling == Coupling::Owned) else {
            continue;
        };
        let other = find(&names[1]);
        if other.is_some_and(|other| scene.nodes[other].coupling != Coupling::Owned) {
            continue;
        }
        let surface = scene.surfaces.iter().position(|surface| surface.name == names[1]);
        // The FMU has a surface with mass where contact puts it at once; the master's follows.
        let responds =
            |surface: usize| matches!(scene.surfaces[surface].motion, Motion::Input { inertia: Some(_) });
        if surface.is_some_and(responds) {
            continue;
        }
        for frame in case.base.frames.iter().step_by(every) {
            let (shape, pose) = match (other, surface) {
                (Some(other), _) => (&scene.nodes[other].shape, frame.nodes[other]),
                (None, Some(surface)) => (&scene.surfaces[surface].shape, frame.surfaces[surface]),
                (None, None) => continue,
            };
            if is_beside(shape, &pose, &frame.nodes[node], 2.0 * scene.units.length) {
                continue;
            }
            // How far they overlap does not matter here.
            let [one, other] = [solid(&scene.nodes[node].shape, &frame.nodes[node]), solid(shape, &pose)];
            let found = apart(&one, &other, f64::INFINITY).gap;
            if found <= 0.0 || found > 3.0 * scene.units.length {
                continue;
            }
            looked = true;
            // A proof of distance may be short of it by what the search left.
            let off = frame.contacts[contact].gap - found;
            let allowed = TOLERANCE * (scene.units.length + found);
            if off < -allowed || off > 1e3 * allowed {
                return Verdict::Broke(format!(
                    "{} and {} are {:.6e} sizes apart, the gap says {:.6e}",
                    names[0],
                    names[1],
                    found / scene.units.length,
                    frame.contacts[contact].gap / scene.units.length
                ));
            }
        }
    }
    if looked { Verdict::Held } else { Verdict::Idle }
}
