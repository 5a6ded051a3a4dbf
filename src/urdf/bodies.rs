//! Links as bodies where they are at the start: those that are fixed to one another are one.

use super::Options;
use super::mass::Mass;
use super::robot::{Joint, JointKind, Robot};
use crate::model::diagnostics::Problem;
use nalgebra::{Isometry3, Vector3};

/// The bodies of a robot at the start.
#[derive(Debug)]
pub struct Bodies {
    /// Bodies, the root first.
    pub bodies: Vec<Body>,
    /// Joints that leave some motion, and no more than a model's joint can.
    pub joints: Vec<Hinge>,
    /// Where links are, by link.
    pub frames: Vec<Isometry3<f64>>,
}

/// Links that are fixed to one another.
#[derive(Debug)]
pub struct Body {
    /// The links, by place; the first one carries the others.
    pub links: Vec<usize>,
    /// Their mass.
    pub mass: Mass,
    /// Whether it is the ground.
    pub is_ground: bool,
}

/// A joint between two bodies.
#[derive(Debug)]
pub struct Hinge {
    /// The joint, by place.
    pub joint: usize,
    /// Bodies that it joins.
    pub between: [usize; 2],
    /// Axis at the start, in world components.
    pub axis: Vector3<f64>,
    /// Where it is at the start.
    pub position: Vector3<f64>,
    /// URDF's coordinate at the start, from which the model counts.
    pub start: f64,
}

/// Puts the links together.
pub fn bodies(robot: &Robot, options: &Options, notes: &mut Vec<String>) -> Result<Bodies, Problem> {
    let order = order(robot)?;
    let starts = starts(robot, notes);
    let mut frames = vec![Isometry3::identity(); robot.links.len()];
    let mut body_of = vec![0; robot.links.len()];
    let (root, order) = order;
    let mut bodies = vec![Body { links: vec![root], mass: Mass::none(), is_ground: false }];
    let mut hinges = Vec::new();
    for place in order {
        let joint = &robot.joints[place];
        frames[joint.child] = frames[joint.parent] * joint.at(starts[place]);
        let parent = body_of[joint.parent];
        if joint.kind == JointKind::Fixed || is_locked(joint) {
            if is_locked(joint) {
                notes.push(format!("joint {} is fixed: its lower limit is its upper one", joint.name));
            }
            body_of[joint.child] = parent;
            bodies[parent].links.push(joint.child);
            continue;
        }
        body_of[joint.child] = bodies.len();
        if joint.kind != JointKind::Floating {
            let frame = &frames[joint.child];
            hinges.push(Hinge {
                joint: place,
                between: [parent, bodies.len()],
                axis: frame.rotation * joint.axis,
                position: frame.translation.vector,
                start: starts[place],
            });
        }
        bodies.push(Body { links: vec![joint.child], mass: Mass::none(), is_ground: false });
    }
    for body in &mut bodies {
        for &link in &body.links {
            if let Some(inertial) = &robot.links[link].inertial {
                let at = frames[link] * inertial.origin;
                body.mass = body.mass.with(&Mass::placed(inertial.mass, &inertial.tensor, &at));
            }
        }
    }
    let is_world = robot.links[root].name == "world";
    bodies[0].is_ground = options.fixed_base || is_world || bodies[0].mass.mass == 0.0;
    if bodies[0].is_ground && !options.fixed_base && !is_world {
        notes.push(format!("link {} has no mass: it is the ground", robot.links[root].name));
    }
    for body in bodies.iter().filter(|body| !body.is_ground) {
        has_inertia(robot, body)?;
    }
    Ok(Bodies { bodies, joints: hinges, frames })
}

fn is_locked(joint: &Joint) -> bool {
    joint.limits.is_some_and(|[lower, upper]| lower == upper)
}

fn has_inertia(robot: &Robot, body: &Body) -> Result<(), Problem> {
    let link = &robot.links[body.links[0]];
    if body.mass.mass == 0.0 {
        let message = format!("link `{}` moves and has no mass", link.name);
        let hint = "give it an <inertial> with mass and inertia, or fix it to a link that has one";
        return Err(Problem::at(link.span.clone(), message).hint(hint));
    }
    if body.mass.is_possible() {
        return Ok(());
    }
    let inertial = body.links.iter().find_map(|&link| robot.links[link].inertial.as_ref());
    let span = inertial.map_or(link.span.clone(), |inertial| inertial.span.clone());
    let (_, moments) = body.mass.principal();
    let message = format!(
        "no body has the moments of inertia of link `{}`: {:?}, {:?} and {:?} kg.m2 along its principal axes",
        link.name, moments[0], moments[1], moments[2]
    );
    Err(Problem::at(span, message)
        .hint("moments are above 0, and none is larger than the other two together"))
}

/// The root link, and the joints such that parents come before their children.
fn order(robot: &Robot) -> Result<(usize, Vec<usize>), Problem> {
    let mut carrier: Vec<Option<usize>> = vec![None; robot.links.len()];
    for (place, joint) in robot.joints.iter().enumerate() {
        if carrier[joint.child].replace(place).is_some() {
            let name = &robot.links[joint.child].name;
            let message = format!("link `{name}` is the child of two joints");
            return Err(Problem::at(joint.span.clone(), message).hint(
                "URDF has trees only: close the loop in the model file, with a [[joint]] of your own",
            ));
        }
    }
    let roots: Vec<usize> = (0..robot.links.len()).filter(|&link| carrier[link].is_none()).collect();
    let root = match roots[..] {
        [root] => root,
        [] => {
            let link = &robot.links[0];
            let message = "every link is the child of a joint: there is no root";
            return Err(Problem::at(link.span.clone(), message).hint("links make a tree"));
        }
        [_, second, ..] => {
            let link = &robot.links[second];
            let message = format!("link `{}` belongs to no other: there is more than one root", link.name);
            return Err(Problem::at(link.span.clone(), message).hint("join it to the others by a <joint>"));
        }
    };
    let mut reached = vec![root];
    let mut order = Vec::with_capacity(robot.joints.len());
    let mut next = 0;
    while let Some(&link) = reached.get(next) {
        next += 1;
        for (place, joint) in robot.joints.iter().enumerate().filter(|(_, joint)| joint.parent == link) {
            order.push(place);
            reached.push(joint.child);
        }
    }
    if let Some(link) = (0..robot.links.len()).find(|link| !reached.contains(link)) {
        let link = &robot.links[link];
        let message = format!("link `{}` is in a loop of joints", link.name);
        return Err(Problem::at(link.span.clone(), message).hint("links make a tree"));
    }
    Ok((root, order))
}

/// Coordinates at the start, by joint: 0, or the nearest that limits allow; of a mimic joint as it follows.
fn starts(robot: &Robot, notes: &mut Vec<String>) -> Vec<f64> {
    let within =
        |joint: &Joint, value: f64| joint.limits.map_or(value, |[lower, upper]| value.clamp(lower, upper));
    let own: Vec<f64> = robot.joints.iter().map(|joint| within(joint, 0.0)).collect();
    let starts = robot.joints.iter().zip(&own).map(|(joint, &start)| match joint.mimic {
        Some((leader, factor, offset)) => within(joint, factor * own[leader] + offset),
        None => start,
    });
    let starts: Vec<f64> = starts.collect();
    for (joint, start) in robot.joints.iter().zip(&starts).filter(|(_, start)| **start != 0.0) {
        if !matches!(joint.kind, JointKind::Fixed | JointKind::Floating) && !is_locked(joint) {
            notes.push(format!("joint {} starts at {start:?}, from which the model counts", joint.name));
        }
    }
    starts
}
