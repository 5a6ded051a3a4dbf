//! Rules of joints: which keys go together, what they may join, and from where they can start.

use super::spring::NO_DIRECTION;
use super::tie::{Ends, ROUND_OFF, anchor_at, anchors, in_world, orientation, rotated, same_place};
use super::{Validator, rounded};
use crate::engine::{self, System, joint_motion};
use crate::model::diagnostics::Problem;
use crate::model::file::{
    AxisEntry, DistanceEntry, DriveEntry, FixedEntry, JointEntry, LimitsEntry, ModelFile, PlaceEntry,
    ProfileEntry, ProfileShapeEntry,
};
use crate::model::{
    Anchor, Drive, Joint, JointEnd, JointFriction, JointKind, Limits, Model, Motor, Node, Profile,
};
use nalgebra::{Quaternion, Vector3};
use std::ops::Range;
use toml::Spanned;

/// Part of the velocities around by which ends of a joint may move against it at the start.
const START_VELOCITY_TOLERANCE: f64 = 1e-6;

/// What a joint is written as.
enum Written<'a> {
    /// Revolute, cylindrical or prismatic.
    Axis(JointKind, &'a AxisEntry),
    Spherical(&'a PlaceEntry),
    Fixed(&'a FixedEntry),
    Distance(&'a DistanceEntry),
}

impl Written<'_> {
    fn of(entry: &JointEntry) -> Option<(Written<'_>, Range<usize>)> {
        fn at<'a, T>(
            entry: &'a Option<Spanned<T>>,
            written: impl Fn(&'a T) -> Written<'a>,
        ) -> Option<(Written<'a>, Range<usize>)> {
            entry.as_ref().map(|entry| (written(entry.get_ref()), entry.span()))
        }
        at(&entry.revolute, |axis| Written::Axis(JointKind::Revolute, axis))
            .or_else(|| at(&entry.cylindrical, |axis| Written::Axis(JointKind::Cylindrical, axis)))
            .or_else(|| at(&entry.prismatic, |axis| Written::Axis(JointKind::Prismatic, axis)))
            .or_else(|| at(&entry.spherical, Written::Spherical))
            .or_else(|| at(&entry.fixed, Written::Fixed))
            .or_else(|| at(&entry.distance, Written::Distance))
    }

    fn name(&self) -> &'static str {
        match self {
            Written::Axis(JointKind::Revolute, _) => "revolute",
            Written::Axis(JointKind::Cylindrical, _) => "cylindrical",
            Written::Axis(..) => "prismatic",
            Written::Spherical(_) => "spherical",
            Written::Fixed(_) => "fixed",
            Written::Distance(_) => "distance",
        }
    }
}

impl Validator<'_> {
    /// The joints of all entries.
    pub(super) fn joints(&mut self, file: &ModelFile, nodes: &[Node]) -> Vec<Joint> {
        let mut inputs = 0;
        file.joint.iter().filter_map(|entry| self.joint(entry, nodes, &mut inputs)).collect()
    }

    /// One joint; `inputs` counts those that a master drives.
    fn joint(&mut self, entry: &JointEntry, nodes: &[Node], inputs: &mut usize) -> Option<Joint> {
        let name = self.tie_name(&entry.name, "joint");
        let ends = self.ends(&entry.between, "joint", nodes)?;
        let (written, span) = Written::of(entry)?;
        self.holds_its_ends(&written, span, ends, nodes);
        let (kind, frame, place) = match &written {
            Written::Axis(kind, entry) => {
                let example = "a hinge that lies along y has axis = [0.0, 1.0, 0.0]";
                let axis = self.direction(&entry.axis, "axis", example);
                (*kind, frame_along(axis), *entry.position.get_ref())
            }
            Written::Spherical(entry) => {
                (JointKind::Spherical, Quaternion::identity(), *entry.position.get_ref())
            }
            Written::Fixed(entry) => {
                let centre = ends[1].or(ends[0]).map_or([0.0; 3], |node| nodes[node].position);
                (JointKind::Fixed, Quaternion::identity(), entry.position.unwrap_or(centre))
            }
            Written::Distance(distance) => return self.distance(entry, name, distance, ends, nodes),
        };
        let friction = self.joint_friction(entry, &written);
        let motor = self.motor(entry, &written, inputs);
        let limits = self.limits(entry, &written);
        let angle_limits = self.angle_limits(entry, &written);
        let ends = ends.map(|node| JointEnd {
            anchor: anchor_at(place, node, nodes),
            frame: in_node(frame, node, nodes),
        });
        Some(Joint { name, kind, ends, motor, friction, limits, angle_limits })
    }

    fn distance(
        &mut self,
        entry: &JointEntry,
        name: String,
        distance: &DistanceEntry,
        ends: Ends,
        nodes: &[Node],
    ) -> Option<Joint> {
        let written = Written::Distance(distance);
        self.joint_friction(entry, &written);
        self.motor(entry, &written, &mut 0);
        self.limits(entry, &written);
        self.angle_limits(entry, &written);
        let ends = anchors(ends, distance.anchors.as_ref().map(|anchors| *anchors.get_ref()));
        let apart = (in_world(&ends[1], nodes) - in_world(&ends[0], nodes)).norm();
        let same = same_place(&ends, nodes);
        if apart <= same {
            let span = distance.anchors.as_ref().map_or(entry.between.span(), Spanned::span);
            self.problems.push(
                Problem::at(
                    span,
                    format!(
                        "the ends of joint `{name}` are at the same place at the start: it has no direction"
                    ),
                )
                .hint(NO_DIRECTION),
            );
        }
        let length = distance.length.as_ref().map_or(apart, |length| *length.get_ref());
        if let Some(written) = &distance.length
            && (length - apart).abs() > same
        {
            let message =
                format!("the ends of joint `{name}` are {apart:?} m apart at the start, not {length:?} m");
            self.problems.push(
                Problem::at(written.span(), message).hint(
                    "leave `length` out to keep the distance at the start, or move a node or an anchor",
                ),
            );
        }
        let ends = ends
            .map(|anchor| JointEnd { anchor, frame: in_node(Quaternion::identity(), anchor.node, nodes) });
        let kind = JointKind::Distance { length };
        Some(Joint { name, kind, ends, motor: None, friction: None, limits: None, angle_limits: None })
    }

    /// A joint that holds rotation needs what can turn, and a point mass cannot be held at a distance.
    fn holds_its_ends(&mut self, written: &Written, span: Range<usize>, ends: Ends, nodes: &[Node]) {
        let mut points = ends.into_iter().flatten().filter(|&node| nodes[node].rotation.is_none());
        let is_grounded = ends.contains(&None);
        let other = match written {
            Written::Distance(_) => return,
            Written::Spherical(place) => {
                for node in points.map(|node| &nodes[node]) {
                    self.is_at_centre(place, node);
                }
                return;
            }
            Written::Axis(JointKind::Prismatic, _) | Written::Fixed(_) if is_grounded => return,
            Written::Axis(JointKind::Revolute, _) => "a spherical joint",
            Written::Axis(..) if is_grounded => "a prismatic joint",
            Written::Axis(..) | Written::Fixed(_) => "a spherical or a distance joint",
        };
        if let Some(node) = points.next().map(|node| &nodes[node].name) {
            let message = format!(
                "`{node}` is a point mass: it has no orientation that a {} joint could hold",
                written.name()
            );
            self.problems
                .push(Problem::at(span, message).hint(format!("give `{node}` an `inertia`, or use {other}")));
        }
    }

    fn is_at_centre(&mut self, place: &PlaceEntry, node: &Node) {
        let [place_at, centre] = [*place.position.get_ref(), node.position].map(Vector3::from);
        let off = (place_at - centre).norm();
        if off > ROUND_OFF * (place_at.norm() + centre.norm()) {
            let name = &node.name;
            let message = format!(
                "`{name}` is a point mass {} m away from the joint: it cannot turn about it",
                rounded(off)
            );
            self.problems.push(Problem::at(place.position.span(), message).hint(format!(
                "use a distance joint, give `{name}` an `inertia`, or put the joint at its centre {:?}",
                node.position
            )));
        }
    }

    fn joint_friction(&mut self, entry: &JointEntry, written: &Written) -> Option<JointFriction> {
        let given = entry.friction.as_ref()?;
        let mut refuse = |message: String, hint: &str| {
            self.problems.push(Problem::at(given.span(), message).hint(hint));
            None
        };
        let friction = given.get_ref();
        let radius = match (written, friction.radius) {
            (Written::Spherical(_) | Written::Fixed(_) | Written::Distance(_), _) => {
                return refuse(
                    format!("`friction` has no meaning in a {} joint", written.name()),
                    "leave it out: friction is for revolute, cylindrical and prismatic joints",
                );
            }
            (Written::Axis(JointKind::Revolute | JointKind::Cylindrical, _), None) => {
                return refuse(
                    format!("`friction` of a {} joint needs the key `radius`", written.name()),
                    "it is the radius of the pin, in m",
                );
            }
            (_, radius) => radius.unwrap_or(0.0),
        };
        if friction.mu_kinetic > friction.mu_static {
            return refuse(
                format!(
                    "`mu_kinetic` must not be above `mu_static`, found {:?} and {:?}",
                    friction.mu_kinetic, friction.mu_static
                ),
                "what slides is not held better than what sticks",
            );
        }
        Some(JointFriction {
            mu_static: friction.mu_static,
            mu_kinetic: friction.mu_kinetic,
            radius,
            half_length: friction.half_length,
            threshold: friction.threshold,
        })
    }

    fn motor(&mut self, entry: &JointEntry, written: &Written, inputs: &mut usize) -> Option<Motor> {
        let given = entry.drive.as_ref()?;
        let mut refuse = |message: String, hint: &str| {
            self.problems.push(Problem::at(given.span(), message).hint(hint));
            None
        };
        if !matches!(written, Written::Axis(JointKind::Revolute | JointKind::Prismatic, _)) {
            return refuse(
                format!("`drive` has no meaning in a {} joint", written.name()),
                "leave it out: motors drive revolute and prismatic joints",
            );
        }
        let (drive, profile) = match given.get_ref() {
            DriveEntry::Rate(profile) => (Drive::Rate, profile),
            DriveEntry::Position(profile) => (Drive::Position, profile),
        };
        let profile = match profile {
            ProfileEntry::Word(_) => {
                *inputs += 1;
                Profile::Input(*inputs - 1)
            }
            ProfileEntry::Constant(value) => Profile::Constant(*value),
            ProfileEntry::Shape(ProfileShapeEntry::Sine { amplitude, frequency, phase, offset }) => {
                Profile::Sine { amplitude: *amplitude, frequency: *frequency, phase: *phase, offset: *offset }
            }
            ProfileEntry::Shape(ProfileShapeEntry::Ramp { from, to, start, duration }) => {
                Profile::Ramp { from: *from, to: *to, start: *start, duration: *duration }
            }
            ProfileEntry::Shape(ProfileShapeEntry::Table(points)) => {
                if points.is_empty() || !points.is_sorted_by(|one, next| one[0] < next[0]) {
                    return refuse(
                        "`table` needs points whose times rise".to_owned(),
                        "write table = [[0.0, 0.0], [1.0, 2.0]]: time in s, then the value",
                    );
                }
                Profile::Table(points.clone())
            }
        };
        let (start, _) = profile.at(0.0);
        if drive == Drive::Position && start.abs() > ROUND_OFF {
            return refuse(
                format!("the motor starts at {}, and its joint at 0", rounded(start)),
                "angles and distances of joints are counted from the start: begin with 0, for example by a ramp",
            );
        }
        Some(Motor { drive, profile })
    }

    fn limits(&mut self, entry: &JointEntry, written: &Written) -> Option<Limits> {
        let given = entry.limits.as_ref()?;
        let refused = match written {
            Written::Axis(..) if entry.drive.is_some() => Some((
                "`limits` have no meaning in a joint with a `drive`".to_owned(),
                "leave one of them out: a motor takes the joint where it is told to, whatever is in the way",
            )),
            Written::Axis(..) => None,
            _ => Some((
                format!("`limits` have no meaning in a {} joint", written.name()),
                "leave them out: limits are for revolute, prismatic and cylindrical joints",
            )),
        };
        if let Some((message, hint)) = refused {
            self.problems.push(Problem::at(given.span(), message).hint(hint));
            return None;
        }
        self.stops(given, "limits")
    }

    fn angle_limits(&mut self, entry: &JointEntry, written: &Written) -> Option<Limits> {
        let given = entry.angle_limits.as_ref()?;
        if !matches!(written, Written::Axis(JointKind::Cylindrical, _)) {
            let hint = match written {
                Written::Axis(JointKind::Revolute, _) => {
                    "call them `limits`: the angle is all that a revolute joint leaves"
                }
                _ => "leave them out: only a cylindrical joint both turns and slides",
            };
            let message = format!("`angle_limits` have no meaning in a {} joint", written.name());
            self.problems.push(Problem::at(given.span(), message).hint(hint));
            return None;
        }
        self.stops(given, "angle_limits")
    }

    fn stops(&mut self, given: &Spanned<LimitsEntry>, key: &str) -> Option<Limits> {
        let LimitsEntry { lower, upper, restitution } = *given.get_ref();
        let least = lower.unwrap_or(f64::NEG_INFINITY);
        let most = upper.unwrap_or(f64::INFINITY);
        let refused = if lower.is_none() && upper.is_none() {
            Some((
                format!("`{key}` need `lower`, `upper` or both"),
                "leave them out where nothing stops the joint",
            ))
        } else if least > 0.0 || most < 0.0 {
            Some((
                format!(
                    "the joint starts at 0, beyond its limit {:?}",
                    if least > 0.0 { least } else { most }
                ),
                "angles and distances of joints are counted from the start: 0 has to be within the limits",
            ))
        } else if least >= most {
            Some((
                format!("`lower` must be below `upper`, found {least:?} and {most:?}"),
                "use a fixed joint for what cannot move",
            ))
        } else {
            None
        };
        match refused {
            None => Some(Limits { lower, upper, restitution }),
            Some((message, hint)) => {
                self.problems.push(Problem::at(given.span(), message).hint(hint));
                None
            }
        }
    }

    /// The nodes may start with the velocities that they have, and no motor works against another joint.
    pub(super) fn joints_can_start(&mut self, file: &ModelFile, model: &Model) {
        if model.joints.is_empty() {
            return;
        }
        let (system, state) = model.assemble();
        let name_of = |joint: &Joint| {
            let entry = file.joint.iter().find(|entry| *entry.name.get_ref() == joint.name);
            entry.map_or(0..0, |entry| entry.name.span())
        };
        for (index, joint) in model.joints.iter().enumerate() {
            let motion = joint_motion(&system, &state, index);
            if let Some(fault) = velocity_fault(joint, &system.ties.joints[index], &motion, &model.nodes) {
                let message =
                    format!("joint `{}` does not allow the initial velocities: {fault}", joint.name);
                self.problems.push(Problem::at(name_of(joint), message).hint(
                    "a body that turns with w about a place p has velocity = w x (position - p) and angular_velocity = w",
                ));
            }
            let contradicts = |&other: &usize| {
                works_against(model, &system, other, index) || works_against(model, &system, index, other)
            };
            if let Some(other) = (0..index).find(contradicts).map(|other| &model.joints[other]) {
                let message = format!(
                    "joints `{}` and `{}` contradict each other: the motor of one drives what the other holds",
                    other.name, joint.name
                );
                self.problems
                    .push(Problem::at(name_of(joint), message).hint("remove one of them, or the motor"));
            }
        }
    }
}

/// How the velocities go against a joint, if they do. A motor may take hold with a jump.
fn velocity_fault(
    joint: &Joint,
    held: &engine::Joint,
    motion: &engine::JointMotion<f64>,
    nodes: &[Node],
) -> Option<String> {
    let [mut moves, mut turns] = held.held();
    if joint.motor.is_some() {
        let driven = if joint.kind == JointKind::Revolute { &mut turns } else { &mut moves };
        driven[2] = false;
    }
    let part = |vector: Vector3<f64>, held: [bool; 3]| {
        Vector3::from_fn(|row, _| if held[row] { vector[row] } else { 0.0 }).norm()
    };
    let apart = match joint.kind {
        JointKind::Distance { .. } => motion.apart.normalize().dot(&motion.velocity).abs(),
        _ => part(motion.velocity, moves),
    };
    let (mut speed, mut spin) = (0.0, 0.0);
    for end in &joint.ends {
        let Some(node) = end.anchor.node.map(|node| &nodes[node]) else { continue };
        let turning = node.rotation.map_or(0.0, |rotation| Vector3::from(rotation.angular_velocity).norm());
        speed += Vector3::from(node.velocity).norm() + turning * Vector3::from(end.anchor.place).norm();
        spin += turning;
    }
    if apart > START_VELOCITY_TOLERANCE * speed {
        return Some(format!("its ends would move apart at {} m/s", rounded(apart)));
    }
    let twisted = part(motion.spin, turns);
    (twisted > START_VELOCITY_TOLERANCE * spin)
        .then(|| format!("its ends would turn against it at {} rad/s", rounded(twisted)))
}

/// Whether the motor of a joint drives what another joint between the same nodes holds.
fn works_against(model: &Model, system: &System, driven: usize, other: usize) -> bool {
    let [moves, turns] = system.ties.joints[other].held();
    let (driven, other, nodes) = (&model.joints[driven], &model.joints[other], &model.nodes);
    let pair = |joint: &Joint| {
        let mut ends = joint.ends.map(|end| end.anchor.node);
        ends.sort_unstable();
        ends
    };
    let stands_still = |motor: &Motor| motor.profile == Profile::Constant(0.0);
    if pair(driven) != pair(other) || driven.motor.as_ref().is_none_or(stands_still) {
        return false;
    }
    let axis = in_world_frame(&driven.ends[0], nodes, Vector3::z());
    let from = |anchor: &Anchor| in_world(anchor, nodes) - in_world(&driven.ends[0].anchor, nodes);
    let (velocity, spin, reach) = match driven.kind {
        JointKind::Revolute => {
            let places = [driven.ends[0].anchor, other.ends[1].anchor];
            (axis.cross(&from(&other.ends[1].anchor)), axis, same_place(&places, nodes))
        }
        _ => (axis, Vector3::zeros(), ROUND_OFF),
    };
    if let JointKind::Distance { length } = other.kind {
        let apart = from(&other.ends[1].anchor) - from(&other.ends[0].anchor);
        return apart.dot(&velocity).abs() > ROUND_OFF * length * velocity.norm();
    }
    let row = |index: usize| in_world_frame(&other.ends[0], nodes, Vector3::ith(index, 1.0));
    (0..3).any(|index| {
        let seen = [(moves[index], velocity, reach), (turns[index], spin, ROUND_OFF)];
        seen.into_iter().any(|(held, motion, least)| held && row(index).dot(&motion).abs() > least)
    })
}

/// A frame whose third axis is the unit vector `axis`.
fn frame_along(axis: [f64; 3]) -> Quaternion<f64> {
    let axis = Vector3::from(axis);
    // The shortest turn, from the third axis or, upside down, from its opposite.
    let (upright, start) = if axis.z >= 0.0 {
        (Quaternion::identity(), Vector3::z())
    } else {
        (Quaternion::new(0.0, 1.0, 0.0, 0.0), -Vector3::z())
    };
    Quaternion::from_parts(1.0 + start.dot(&axis), start.cross(&axis)).normalize() * upright
}

/// A frame of the world at the start, in that of a node.
fn in_node(frame: Quaternion<f64>, node: Option<usize>, nodes: &[Node]) -> [f64; 4] {
    let frame = match node {
        None => frame,
        Some(node) => orientation(&nodes[node]).conjugate() * frame,
    };
    [frame.w, frame.i, frame.j, frame.k]
}

/// World components of a vector given in the frame of a joint's end, at the start.
fn in_world_frame(end: &JointEnd, nodes: &[Node], vector: Vector3<f64>) -> Vector3<f64> {
    let [w, x, y, z] = end.frame;
    let in_node = rotated(Quaternion::new(w, x, y, z), vector);
    match end.anchor.node {
        None => in_node,
        Some(node) => rotated(orientation(&nodes[node]), in_node),
    }
}
