//! Momentum, angular momentum, energy.
//!
//! Momentum is kept to round-off (1e-9 of what is exchanged, in up to some tens of events) by every scheme: forces are
//! means over the step. So is angular momentum, but for free rotation, which a scheme of order 2 follows to the third
//! power of the angle `a` of an internal step (with one sweep, `midpoint` is of order 1: to the second), and must
//! follow to a hundredth at any angle. `multistep` and `hht` integrate accelerations: of them the order alone is asked
//! for. What contact pushes turns a body through its inertia somewhere in the step, and is off by how much that inertia
//! turns: `|(R I R^T I^-1 - 1) T| <= a k |T|` with `k` the ratio of the moments less one, and `a` how far spins or
//! corrections of positions turn the body in the step. Schemes other than Moreau-Jean's work in components of the body: an
//! impulse that acts midway is seen where the body is at the end, with the spin that it has made on the way; to first order
//! in `a` both cancel, and `a^2 |T|` is left. Those of several steps have it in the next one too. A correction keeps the kinetic energy at its new orientation,
//! and so the angular momentum `L` to `a k |L|`. Impulses `p` are as precise as `1e-15 |p|`, which is all that there is
//! where a body is held between several; arms are differences of positions `r`, and moments of impulses as precise as
//! `1e-15 |r| |p|`, which is all that there is where a body is pushed at its centre. Energy of point masses is kept
//! to round-off. Where bodies turn, an arm or a moment of inertia that turns by an angle `a` in a step is off by `a^2`
//! in a scheme of order 2, and energy with it, by `a^2` of the kinetic energy and of what impulses push: that is the
//! slack of a step. Contact stops an arm at both ends of a step with one force, where its weight would need one that
//! changes by the part `a`: in between it strays by up to `a g h^2`, and is put back against the weight, which is
//! `a m (g h)^2`. Schemes that are not of order 2 in energy (theta other than 0.5, multistep, hht) are asked not to
//! gain any, but that multistep and hht are stable in norms of their own: a spring that turns the motion by `w h` in a
//! step leaves `(w h)^2` of the energy between these and that of the states. Captured steps may gain what `stress` derives. So may Newton's law of impact with friction where the
//! model asks for it as it stands.

use super::super::run::Frame;
use super::super::scene::*;
use super::{Case, Verdict};
use crate::neighbours::distance::extent;

const ROUND_OFF: f64 = 1e-9;

/// Precision of a position.
const LAST_DIGITS: f64 = 1e-15;

/// Part of its angular momentum that a body may lose in a step, however fast it turns.
const FREE_ROTATION: f64 = 1e-2;

fn angular(node: &Node, pose: &Pose) -> Vector {
    let inertia = Vector::from(node.inertia.unwrap_or_default());
    pose.q * inertia.component_mul(&(pose.q.inverse() * pose.w))
}

/// A free node of the FMU over a step.
struct FreeStep<'a> {
    node: &'a Node,
    was: &'a Pose,
    is: &'a Pose,
    /// Impulse and angular impulse of contact.
    pushed: [Vector; 2],
    /// Size of the angular impulses of the step before.
    pushed_before: f64,
    /// Round-off of the impulses of all contacts, which may cancel one another.
    rounded: f64,
}

/// Looks at every step of every node of the FMU that nothing is tied to: what is off, and what may be, in the same unit.
fn free_nodes(case: &Case, look: impl Fn(&FreeStep) -> Option<[f64; 2]>) -> Verdict {
    let scene = &case.scene;
    // A balance of energy is closed at the cost of momentum.
    if scene.energy_balance {
        return Verdict::Idle;
    }
    let tied = scene.tied();
    let mut verdict = Verdict::Idle;
    for (step, frames) in case.base.frames.windows(2).enumerate() {
        let forces = frames[1].contacts.iter().map(|touch| touch.f_n.abs() + touch.f_t.norm());
        let rounded = LAST_DIGITS * forces.sum::<f64>() * scene.step;
        for (index, node) in scene.nodes.iter().enumerate() {
            if node.coupling != Coupling::Owned || tied.contains(&node.name.as_str()) {
                continue;
            }
            let [before, pushed] =
                [0, 1].map(|which| frames[which].forces[index].map(|force| force * scene.step));
            let pushed_before = before[0].norm() * extent(&node.shape) + before[1].norm();
            let [was, is] = [0, 1].map(|which| &frames[which].nodes[index]);
            let Some([off, slack]) = look(&FreeStep { node, was, is, pushed, pushed_before, rounded }) else {
                continue;
            };
            verdict = Verdict::Held;
            if off > slack {
                let message =
                    format!("step {}: {} is off by {off:.1e}, {slack:.1e} allowed", step + 1, node.name);
                return Verdict::Broke(message);
            }
        }
    }
    verdict
}

/// Every owned node that nothing is tied to: `m (v' - v) = H (f + m g + f_ext)`, relative to these.
pub fn momentum(case: &Case) -> Verdict {
    let scene = &case.scene;
    free_nodes(case, |step| {
        let mass = step.node.mass;
        let applied = (scene.gravity * mass + step.node.push) * scene.step;
        let off = ((step.is.v - step.was.v) * mass - step.pushed[0] - applied).norm();
        let size = mass * (step.was.v.norm() + step.is.v.norm()) + step.pushed[0].norm() + applied.norm();
        Some([(off - step.rounded).max(0.0) / size.max(f64::MIN_POSITIVE), ROUND_OFF])
    })
}

/// Every owned body that nothing is tied to: `L' - L = H t`, relative to these.
pub fn angular_momentum(case: &Case) -> Verdict {
    let scene = &case.scene;
    free_nodes(case, |step| {
        let moments = step.node.inertia?;
        let [least, most] =
            [f64::min, f64::max].map(|choose| moments.into_iter().reduce(choose).expect("three"));
        let [was, is] = [step.was, step.is].map(|pose| angular(step.node, pose));
        let push = step.pushed[0].norm() * extent(&step.node.shape);
        let pushed = push + step.pushed[1].norm();
        let spins = step.was.w.norm().max(step.is.w.norm());
        let angle = (spins * scene.step).max(step.was.q.angle_to(&step.is.q));
        let size = (was.norm() + is.norm() + pushed).max(f64::MIN_POSITIVE);
        let uneven = most / least - 1.0;
        let internal = spins * scene.internal_step();
        let free = match scene.scheme {
            Scheme::Midpoint(1) => internal.powi(2).min(FREE_ROTATION),
            Scheme::MoreauJean(_) | Scheme::Midpoint(_) => internal.powi(3).min(FREE_ROTATION),
            Scheme::Multistep(_) | Scheme::Hht(_) => internal.powi(3),
        } * f64::from(scene.substeps);
        // Where impacts are found in time, and no master moves bodies on, what is left to correct is far less than what is
        // pushed.
        let is_found = scene.time_of_impact
            && scene.is_owned()
            && scene.surfaces.iter().all(|surface| surface.motion == Motion::Fixed);
        let part = if is_found { pushed / size } else { 1.0 };
        let moved = match scene.scheme {
            Scheme::MoreauJean(_) => 0.0,
            Scheme::Midpoint(_) => pushed,
            Scheme::Multistep(_) | Scheme::Hht(_) => pushed + step.pushed_before,
        };
        let turned = angle.min(1.0).powi(2) * (moved / size);
        let slack = ROUND_OFF + free + turned + part * (angle * uneven).min(1.0);
        let rounded = step.rounded * step.is.r.norm();
        Some([((is - was - step.pushed[1]).norm() - rounded).max(0.0) / size, slack])
    })
}

/// Forces on all nodes add up to what planes push: what contacts between nodes do, they do to both.
pub fn reaction(case: &Case) -> Verdict {
    let scene = &case.scene;
    let pairs = super::run::contact_pairs(&case.model);
    if !scene.nodes.iter().all(|node| node.coupling == Coupling::Owned) || scene.has_patterns() {
        return Verdict::Idle;
    }
    let mut looked = false;
    for (step, frames) in case.base.frames.windows(2).enumerate() {
        let frame = &frames[1];
        let mut expected = Some(Vector::zeros());
        let mut size = 0.0;
        for (touch, pair) in frame.contacts.iter().zip(&pairs) {
            let Some([_, other]) = pair else { return Verdict::Idle };
            size += touch.f_n.abs() + touch.f_t.norm();
            let Some(surface) = scene.surfaces.iter().find(|surface| surface.name == *other) else {
                continue;
            };
            if touch.f_n == 0.0 && touch.f_t == Vector::zeros() {
                continue;
            }
            expected = match (&surface.shape, surface.motion) {
                (Shape::Plane { normal }, Motion::Fixed) => {
                    expected.map(|sum| sum + surface.state.q * normal * touch.f_n + touch.f_t)
                }
                _ => None,
            };
        }
        let Some(expected) = expected else { continue };
        looked = true;
        let total: Vector = frame.forces.iter().map(|[force, _]| force).sum();
        let off = (total - expected).norm();
        if off > ROUND_OFF * size {
            return Verdict::Broke(format!("step {}: forces are off by {:.1e}", step + 1, off / size));
        }
    }
    if looked { Verdict::Held } else { Verdict::Idle }
}

/// Kinetic energy, and energy of gravity and springs, from states alone.
fn energies(scene: &Scene, frame: &Frame) -> [f64; 2] {
    let (mut kinetic, mut potential) = (0.0, 0.0);
    for (node, pose) in scene.nodes.iter().zip(&frame.nodes) {
        kinetic += 0.5 * node.mass * pose.v.norm_squared();
        if node.inertia.is_some() {
            kinetic += 0.5 * pose.w.dot(&angular(node, pose));
        }
        potential -= node.mass * scene.gravity.dot(&pose.r);
    }
    for spring in &scene.springs {
        let end = |which: usize| match &spring.ends[which] {
            None => spring.anchors[which],
            Some(name) => {
                let index = scene.nodes.iter().position(|node| node.name == *name).expect("a node");
                frame.nodes[index].r + frame.nodes[index].q * spring.anchors[which]
            }
        };
        let stretch = (end(1) - end(0)).norm() - spring.length;
        potential += 0.5 * spring.stiffness * stretch * stretch;
    }
    [kinetic, potential]
}

/// Whether energy is known from states, and changed by nothing but contact and dampers.
fn is_closed(scene: &Scene) -> bool {
    scene.is_owned() && scene.is_hard() && scene.joints.iter().all(|joint| joint.drive.is_none())
}

/// What energies are about: those that there are, and the work of gravity and of what pushes from outside over a body.
fn size(scene: &Scene, frame: &Frame, energies: [f64; 2]) -> f64 {
    let places = scene.nodes.iter().zip(&frame.nodes);
    let weights = places.map(|(node, pose)| {
        (node.mass * scene.gravity.norm() + node.push.norm()) * (pose.r.norm() + scene.units.length)
    });
    energies[0] + energies[1].abs() + weights.sum::<f64>()
}

/// `engine.kinetic`, `engine.potential` and `engine.energy` are those of the states.
pub fn books(case: &Case) -> Verdict {
    let scene = &case.scene;
    if !is_closed(scene) {
        return Verdict::Idle;
    }
    let start = energies(scene, &case.base.frames[0])[1] - case.base.frames[0].books.potential;
    for (step, frame) in case.base.frames.iter().enumerate() {
        let own = energies(scene, frame);
        let books = &frame.books;
        let size = size(scene, frame, own);
        let offs = [
            ("kinetic", own[0] - books.kinetic),
            ("potential", own[1] - start - books.potential),
            ("sum", books.kinetic + books.potential - books.energy),
            ("dissipated", books.by_impact + books.by_friction + books.by_damping - books.dissipated),
        ];
        for (what, off) in offs {
            if off.abs() > ROUND_OFF * (size + books.dissipated.abs()) {
                return Verdict::Broke(format!("step {step}: {what} is off by {:.1e}", off / size));
            }
        }
    }
    Verdict::Held
}

/// What a step may add for round-off, for what turns, and for how impacts are found.
fn slack(case: &Case, frames: &[Frame]) -> f64 {
    let scene = &case.scene;
    let [was, is] = [&frames[0], &frames[1]];
    let kinetic = was.books.kinetic.max(is.books.kinetic);
    let mut angle = 0.0_f64;
    let mut push = 0.0;
    let mut fall = 0.0;
    let h = scene.internal_step();
    for (index, node) in scene.nodes.iter().enumerate() {
        let speed = |frame: &Frame| {
            let pose = &frame.nodes[index];
            pose.v.norm() + pose.w.norm() * extent(&node.shape)
        };
        angle = angle.max(was.nodes[index].w.norm().max(is.nodes[index].w.norm()) * h);
        push += is.forces[index][0].norm()
            * scene.step
            * (speed(was).max(speed(is)) + scene.gravity.norm() * scene.step);
        fall += node.mass * (scene.gravity.norm() * h).powi(2);
    }
    // Springs that turn, and lines between bodies that roll on one another.
    let apart = scene.nodes.iter().enumerate().map(|(index, _)| {
        let [was, is] = [was, is].map(|frame| frame.nodes[index].v.norm());
        was.max(is) * h / scene.units.length
    });
    let curved = !scene.springs.is_empty()
        || !scene.joints.is_empty()
        || scene.nodes.len() > 1
        || scene
            .surfaces
            .iter()
            .any(|surface| !matches!(surface.shape, Shape::Plane { .. } | Shape::Box { .. }));
    if curved {
        angle = angle.max(apart.fold(0.0, f64::max));
    }
    if matches!(scene.scheme, Scheme::Multistep(_) | Scheme::Hht(_)) {
        let lightest = scene.nodes.iter().map(|node| node.mass).fold(f64::INFINITY, f64::min);
        let stiffest = scene.springs.iter().map(|spring| spring.stiffness).fold(0.0, f64::max);
        angle = angle.max((stiffest / lightest).sqrt() * h);
    }
    let is_captured = !scene.time_of_impact;
    let rebound = scene.contacts.iter().map(|contact| contact.law.restitution).fold(0.0, f64::max);
    let captured =
        if is_captured { fall + (2.0 * fall * kinetic).sqrt() * f64::from(scene.substeps) } else { 0.0 };
    let rebounds = if is_captured || scene.newton { rebound * push } else { 0.0 };
    let steps = f64::from(scene.substeps);
    // What springs hold, and what passes through them.
    let springs = is.books.potential.abs() + was.books.potential.abs() + dissipated(frames).abs();
    ROUND_OFF * (kinetic + springs + push + size(scene, is, energies(scene, is)))
        + (kinetic + push + if scene.springs.is_empty() { 0.0 } else { springs })
            * angle.min(1.0).powi(2)
            * steps
        + fall * angle.min(1.0) * steps
        + captured
        + rebounds
}

/// Work of what pushes from outside.
fn work(scene: &Scene, frames: &[Frame]) -> f64 {
    let nodes = scene.nodes.iter().enumerate();
    nodes.map(|(index, node)| node.push.dot(&(frames[1].nodes[index].r - frames[0].nodes[index].r))).sum()
}

/// Looks at how much every solved step is off, against its slack.
fn each_step(case: &Case, what: &str, off: impl Fn(&[Frame]) -> f64) -> Verdict {
    if !is_closed(&case.scene) {
        return Verdict::Idle;
    }
    for (step, frames) in case.base.frames.windows(2).enumerate() {
        let (off, slack) = (off(frames), slack(case, frames));
        if !frames[1].warned && off > slack {
            let kinetic = frames[0].books.kinetic.max(frames[1].books.kinetic);
            return Verdict::Broke(format!(
                "step {}: {what} by {:.1e} of the kinetic energy, {:.1e} allowed",
                step + 1,
                off / kinetic,
                slack / kinetic
            ));
        }
    }
    Verdict::Held
}

/// By how much the energy of the states grows beyond the work from outside.
fn gain(scene: &Scene, frames: &[Frame]) -> f64 {
    let [was, is] = [0, 1].map(|which| energies(scene, &frames[which]).iter().sum::<f64>());
    is - was - work(scene, frames)
}

/// What a step dissipates, by the books.
fn dissipated(frames: &[Frame]) -> f64 {
    frames[1].books.dissipated - frames[0].books.dissipated
}

/// Contact, dampers and schemes add no energy.
pub fn rise(case: &Case) -> Verdict {
    each_step(case, "energy rises", |frames| gain(&case.scene, frames))
}

/// What was dissipated never comes back.
pub fn dissipation(case: &Case) -> Verdict {
    each_step(case, "dissipated falls", |frames| -dissipated(frames))
}

/// Energy and what was dissipated add up to the energy of the start and the work from outside, step by step, where the
/// scheme keeps energy.
pub fn balance(case: &Case) -> Verdict {
    if !matches!(case.scene.scheme, Scheme::MoreauJean(0.5) | Scheme::Midpoint(3..)) {
        return Verdict::Idle;
    }
    each_step(case, "energy is off", |frames| (gain(&case.scene, frames) + dissipated(frames)).abs())
}
