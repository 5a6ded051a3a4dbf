//! Contact laws, evaluated again from states and forces, to a hundred times the tolerance of contact problems (room for a
//! few contacts and their scales), relative to the forces that stop a body in a step.

use super::super::run::{Frame, contact_pairs};
use super::super::scene::*;
use super::{Case, Verdict};
use crate::neighbours::distance::extent;

/// Room over the solver's tolerance.
const ROOM: f64 = 100.0;

/// The largest force that is about, over a step.
fn size(scene: &Scene, frames: &[Frame], index: usize) -> f64 {
    let [was, is] = [0, 1].map(|which| {
        let nodes = scene.nodes.iter().zip(&frames[which].nodes);
        nodes
            .map(|(node, pose)| node.mass * (pose.v.norm() + pose.w.norm() * extent(&node.shape)))
            .fold(0.0, f64::max)
    });
    (was + is) / scene.step + frames[1].contacts[index].f_n.abs()
}

/// The law of a contact of the model: its own, or that of its entry.
fn law<'a>(scene: &'a Scene, names: &Option<[String; 2]>) -> Option<&'a Law> {
    match names {
        Some([one, other]) => scene.law_of(one, other),
        None => scene.contacts.iter().find(|contact| contact.name.is_some()).map(|contact| &contact.law),
    }
}

/// Angle by which what sticks turns in an internal step. A body turns about the point that touches, a surface with what
/// lies on it, and what goes along another body or a joint turns with the line between them, also where it would go without
/// contact: the velocity that was stopped is not quite that at the end of the step.
fn turned(scene: &Scene, frame: &Frame) -> f64 {
    let poses = || frame.nodes.iter().chain(&frame.surfaces);
    let spin = poses().map(|pose| pose.w.norm()).fold(0.0, f64::max);
    let speed = poses().map(|pose| pose.v.norm()).fold(0.0, f64::max);
    let is_flat = |surface: &Surface| matches!(surface.shape, Shape::Plane { .. });
    let is_straight = scene.nodes.len() == 1 && scene.joints.is_empty() && scene.surfaces.iter().all(is_flat);
    let h = scene.internal_step();
    let fall = scene.gravity.norm() * h;
    let bend = if is_straight { 0.0 } else { (speed + fall) / scene.units.length };
    (spin + bend) * h
}

/// Contacts push; friction stays in its cone; what sticks does not slip; an impulse is a force over the step.
pub fn cone(case: &Case) -> Verdict {
    let scene = &case.scene;
    let pairs = contact_pairs(&case.model);
    let tolerance = ROOM * scene.solver_tolerance();
    for (step, frames) in case.base.frames.windows(2).enumerate() {
        let step = step + 1;
        if frames[1].warned {
            continue;
        }
        for (index, names) in pairs.iter().enumerate() {
            let Some(law) = law(scene, names) else { continue };
            let touch = &frames[1].contacts[index];
            let size = size(scene, frames, index);
            if touch.f_n < -tolerance * size {
                return Verdict::Broke(format!(
                    "step {step}: contact {index} pulls by {:.1e}",
                    touch.f_n / size
                ));
            }
            if (touch.impulse - touch.f_n * scene.step).abs() > tolerance * size * scene.step {
                return Verdict::Broke(format!(
                    "step {step}: contact {index} has another impulse than force"
                ));
            }
            let limit = match law.friction {
                Friction::None => Some(0.0),
                Friction::Cone { mu } => Some(mu),
                Friction::Facets { mu, outer: false, .. } => Some(mu),
                Friction::Facets { mu, facets, .. } => {
                    Some(mu / (std::f64::consts::PI / f64::from(facets)).cos())
                }
                // Bounds come from the step before.
                Friction::Box { .. } | Friction::Bristle { .. } => None,
            };
            if let Some(limit) = limit
                && touch.f_t.norm() > limit * touch.f_n * (1.0 + tolerance) + tolerance * size
            {
                return Verdict::Broke(format!(
                    "step {step}: friction of contact {index} is {:.6} of its limit",
                    touch.f_t.norm() / (limit * touch.f_n)
                ));
            }
            let is_rigid = !matches!(law.friction, Friction::Bristle { .. }) && law.continuous.is_none();
            let speed =
                size * scene.step / scene.nodes.iter().map(|node| node.mass).fold(f64::INFINITY, f64::min);
            let turned = 2.0 * turned(scene, &frames[0]).max(turned(scene, &frames[1]));
            if touch.state == 1 && is_rigid && touch.slip > (1e-6 + turned) * speed {
                return Verdict::Broke(format!(
                    "step {step}: contact {index} sticks and slips at {:.1e}",
                    touch.slip / speed
                ));
            }
        }
    }
    Verdict::Held
}

/// A ball, or a point, over a plane that stands still.
struct BallOnPlane {
    contact: usize,
    node: usize,
    radius: f64,
    normal: Vector,
    place: Vector,
}

/// All balls of the FMU on planes that nothing is tied to.
fn balls_on_planes(case: &Case) -> Vec<BallOnPlane> {
    let scene = &case.scene;
    let tied = scene.tied();
    let mut balls = Vec::new();
    for (contact, names) in contact_pairs(&case.model).iter().enumerate() {
        let Some([one, other]) = names else { continue };
        let Some(node) = scene.nodes.iter().position(|node| node.name == *one) else { continue };
        let radius = match scene.nodes[node].shape {
            Shape::Point => 0.0,
            Shape::Sphere { radius } => radius,
            _ => continue,
        };
        let Some(surface) = scene.surfaces.iter().find(|surface| surface.name == *other) else { continue };
        let Shape::Plane { normal } = surface.shape else { continue };
        let is_free = scene.nodes[node].coupling == Coupling::Owned && !tied.contains(&one.as_str());
        if is_free && surface.motion == Motion::Fixed {
            let normal = (surface.state.q * normal).normalize();
            balls.push(BallOnPlane { contact, node, radius, normal, place: surface.state.r });
        }
    }
    balls
}

impl BallOnPlane {
    /// Whether nothing else touches the ball in a step.
    fn is_alone(&self, case: &Case, frame: &Frame) -> bool {
        let name = &case.scene.nodes[self.node].name;
        contact_pairs(&case.model).iter().enumerate().all(|(index, names)| match names {
            None => false,
            Some(names) => index == self.contact || !names.contains(name) || frame.contacts[index].f_n == 0.0,
        })
    }

    /// Height over the plane, and its rate.
    fn height(&self, frame: &Frame) -> (f64, f64) {
        let pose = &frame.nodes[self.node];
        (self.normal.dot(&(pose.r - self.place)) - self.radius, self.normal.dot(&pose.v))
    }

    /// Velocity of the point that touches, along the plane.
    fn slip(&self, frame: &Frame) -> Vector {
        let pose = &frame.nodes[self.node];
        let speed = pose.v - pose.w.cross(&(self.normal * self.radius));
        speed - self.normal * self.normal.dot(&speed)
    }
}

/// Time until a height `z` that changes by `v` is none, on `z + v t + c t^2`.
fn first_touch(z: f64, v: f64, c: f64) -> Option<f64> {
    let root = (v * v - 4.0 * c * z).sqrt();
    let falls = root.is_finite() && root > v;
    falls.then(|| 2.0 * z / (root - v))
}

/// A ball that hits a plane once in a step, with time of impact: `u'_n = -e u_n` at the moment of the impact. Over an
/// internal step `t`, or a part of it, the scheme makes `z + v t + theta a t^2` of a height and `v + a t` of its rate: that
/// is followed from the start to the plane, and the rate back from the end by the time that is left. What a master that
/// repeats steps moves, and what may touch it, is captured.
pub fn restitution(case: &Case) -> Verdict {
    let scene = &case.scene;
    let Scheme::MoreauJean(theta) = scene.scheme else { return Verdict::Idle };
    if !scene.time_of_impact || scene.energy_balance || scene.is_iterated() {
        return Verdict::Idle;
    }
    let mut looked = false;
    for ball in balls_on_planes(case) {
        let Some(law) = law(scene, &contact_pairs(&case.model)[ball.contact]) else { continue };
        if law.continuous.is_some() || law.normal_stiffness.is_some() {
            continue;
        }
        let node = &scene.nodes[ball.node];
        let acceleration = ball.normal.dot(&(scene.gravity + node.push / node.mass));
        for (step, frames) in case.base.frames.windows(2).enumerate() {
            let step = step + 1;
            let [was, is] = [0, 1].map(|which| ball.height(&frames[which]));
            let far = 1e-6 * scene.units.length;
            let has_hit = frames[1].contacts[ball.contact].f_n > 0.0 && ball.is_alone(case, &frames[1]);
            // An impact of others cuts the way of all, which makes it another one unless theta is 0.5.
            let others = frames[1].contacts.iter().enumerate().filter(|(index, _)| *index != ball.contact);
            let is_whole = theta == 0.5 || others.map(|(_, touch)| touch.f_n).all(|force| force == 0.0);
            if was.0 < far || is.0 < far || !has_hit || !is_whole {
                continue;
            }
            let h = scene.internal_step();
            let (mut height, mut rate) = was;
            let hit = (0..scene.substeps).find_map(|passed| {
                let start = (height, rate);
                height += (rate + theta * acceleration * h) * h;
                rate += acceleration * h;
                let touch = first_touch(start.0, start.1, theta * acceleration).filter(|&time| time <= h)?;
                let left = scene.step - f64::from(passed) * h - touch;
                Some((-(start.1 + acceleration * touch), is.1 - acceleration * left, left))
            });
            let Some((before, after, left)) = hit else { continue };
            // Once only: it does not come back within the step, in `2 e u / g` after it has left with `e u`.
            if is.1 < 0.0 || -2.0 * law.restitution * before > acceleration * left {
                continue;
            }
            looked = true;
            let off = (after - law.restitution * before).abs();
            let speed = before + after + acceleration.abs() * scene.step;
            if off > 1e-7 * speed {
                return Verdict::Broke(format!(
                    "step {step}: {} rebounds with {:.9} instead of {:.9}",
                    node.name,
                    after / before,
                    law.restitution
                ));
            }
        }
    }
    if looked { Verdict::Held } else { Verdict::Idle }
}

/// A ball that slides on a plane all through a step: friction is `mu f_n` against the slip, within the angle by which the
/// slip turns in the step.
pub fn slip(case: &Case) -> Verdict {
    let scene = &case.scene;
    if scene.energy_balance {
        return Verdict::Idle;
    }
    let mut looked = false;
    for ball in balls_on_planes(case) {
        let Some(law) = law(scene, &contact_pairs(&case.model)[ball.contact]) else { continue };
        let Friction::Cone { mu } = law.friction else { continue };
        if law.continuous.is_some() {
            continue;
        }
        for (step, frames) in case.base.frames.windows(2).enumerate() {
            let step = step + 1;
            let [was, is] = [0, 1].map(|which| &frames[which].contacts[ball.contact]);
            let slides = [was, is].iter().all(|touch| touch.state == 2 && touch.f_n > 0.0);
            let [first, last] = [0, 1].map(|which| ball.slip(&frames[which]));
            if !slides || frames[1].warned || first.norm() == 0.0 || last.norm() == 0.0 {
                continue;
            }
            let turned = first.angle(&last);
            if turned > 0.5 {
                continue;
            }
            looked = true;
            let part = is.f_t.norm() / (mu * is.f_n);
            if (part - 1.0).abs() > 1e-6 + turned * turned {
                return Verdict::Broke(format!("step {step}: slides with friction {part:.9} of mu f_n"));
            }
            let against = is.f_t.angle(&-last).min(is.f_t.angle(&-first));
            if against > turned + 1e-6 {
                return Verdict::Broke(format!("step {step}: friction is {against:.1e} rad off the slip"));
            }
            let slip = (is.slip - last.norm()).abs();
            if slip > 1e-6 * (last.norm() + first.norm()) {
                return Verdict::Broke(format!("step {step}: slip is {:.6}, of {:.6}", is.slip, last.norm()));
            }
        }
    }
    if looked { Verdict::Held } else { Verdict::Idle }
}
