//! Another look at the same scene: turned, moved, mirrored, from a train, in other units.
//!
//! A place `p` becomes `l R M p + s + u t`, with a factor of length `l`, a rotation `R`, the mirror `M` (x to -x, or
//! nothing), a shift `s` and the velocity `u` of a train. Frames of bodies are mirrored with them, so that shapes, which
//! are symmetric to x = 0, and moments of inertia stay as they are. Spins are axial: they are mirrored with the other sign.

use super::scene::*;

/// How a scene is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Rotation.
    pub turn: Turn,
    /// Mirrored first.
    pub mirror: bool,
    /// Moved by this afterwards.
    pub shift: Vector,
    /// Velocity of everything.
    pub boost: Vector,
    /// Factors of length, mass and time.
    pub units: Units,
}

impl Look {
    /// As it is.
    pub fn plain() -> Look {
        Look {
            turn: Turn::identity(),
            mirror: false,
            shift: Vector::zeros(),
            boost: Vector::zeros(),
            units: Units { length: 1.0, mass: 1.0, time: 1.0 },
        }
    }

    fn mirrored(&self, vector: &Vector) -> Vector {
        if self.mirror { Vector::new(-vector.x, vector.y, vector.z) } else { *vector }
    }

    fn direction(&self, vector: &Vector) -> Vector {
        self.turn * self.mirrored(vector)
    }

    fn axial(&self, vector: &Vector) -> Vector {
        let sign = if self.mirror { -1.0 } else { 1.0 };
        self.turn * (self.mirrored(vector) * sign)
    }

    fn place(&self, place: &Vector) -> Vector {
        self.direction(place) * self.units.length + self.shift
    }

    /// A place in the frame of a body.
    fn in_body(&self, place: &Vector) -> Vector {
        self.mirrored(place) * self.units.length
    }

    fn turned(&self, q: &Turn) -> Turn {
        let seen = if self.mirror {
            Turn::new_unchecked(nalgebra::Quaternion::new(q.w, q.i, -q.j, -q.k))
        } else {
            *q
        };
        if self.turn == Turn::identity() { seen } else { self.turn * seen }
    }

    fn pose(&self, pose: &Pose) -> Pose {
        Pose {
            r: self.place(&pose.r),
            v: self.direction(&pose.v) * self.units.speed() + self.boost,
            q: self.turned(&pose.q),
            w: self.axial(&pose.w) / self.units.time,
        }
    }

    /// Where the plain scene has what this look has at `pose` at a time of the plain scene.
    pub fn undone(&self, pose: &Pose, time: f64) -> Pose {
        let back = self.turn.inverse();
        let r = self.mirrored(&(back * (pose.r - self.shift - self.boost * (time * self.units.time))));
        let v = self.mirrored(&(back * (pose.v - self.boost)));
        let sign = if self.mirror { -1.0 } else { 1.0 };
        let q = back * pose.q;
        let q = if self.mirror {
            Turn::new_unchecked(nalgebra::Quaternion::new(q.w, q.i, -q.j, -q.k))
        } else {
            q
        };
        Pose {
            r: r / self.units.length,
            v: v / self.units.speed(),
            q,
            w: self.mirrored(&(back * pose.w)) * sign * self.units.time,
        }
    }

    fn shape(&self, shape: &Shape) -> Shape {
        let length = self.units.length;
        match shape {
            Shape::Point => Shape::Point,
            Shape::Sphere { radius } => Shape::Sphere { radius: radius * length },
            Shape::Disc { radius, axis } => {
                Shape::Disc { radius: radius * length, axis: self.mirrored(axis) }
            }
            Shape::Box { size } => Shape::Box { size: size.map(|edge| edge * length) },
            Shape::Capsule { radius, length: long, axis } => {
                Shape::Capsule { radius: radius * length, length: long * length, axis: self.mirrored(axis) }
            }
            Shape::Cylinder { radius, length: long, axis } => {
                Shape::Cylinder { radius: radius * length, length: long * length, axis: self.mirrored(axis) }
            }
            Shape::Points(points) => Shape::Points(points.iter().map(|point| self.in_body(point)).collect()),
            Shape::Hull { file, scale } => Shape::Hull { file, scale: scale * length },
            Shape::Plane { normal } => Shape::Plane { normal: self.mirrored(normal) },
            Shape::Mesh { file, scale, open } => Shape::Mesh { file, scale: scale * length, open: *open },
            Shape::Heightfield { file, cell, scale } => {
                Shape::Heightfield { file, cell: cell.map(|cell| cell * length), scale: scale * length }
            }
        }
    }

    fn law(&self, law: &Law) -> Law {
        let Units { length, mass, time } = self.units;
        let stiffness = mass / (time * time);
        let friction = match law.friction {
            Friction::Bristle { mu, stiffness: bristle, threshold, iterations } => Friction::Bristle {
                mu,
                stiffness: bristle.map(|value| value * stiffness),
                threshold: threshold * self.units.speed(),
                iterations,
            },
            other => other,
        };
        let continuous = law.continuous.map(|law| {
            let exponent = if law.kind.is_linear() { 1.0 } else { law.exponent };
            Continuous {
                stiffness: law.stiffness * stiffness * length.powf(1.0 - exponent),
                damping: law.damping * mass / time,
                tangential_stiffness: law.tangential_stiffness.map(|value| value * stiffness),
                ..law
            }
        });
        Law {
            restitution: law.restitution,
            friction,
            normal_stiffness: law.normal_stiffness.map(|value| value * stiffness),
            continuous,
        }
    }

    fn coupling(&self, coupling: &Coupling) -> Coupling {
        let Units { mass, time, .. } = self.units;
        match *coupling {
            Coupling::Compliant { stiffness, damping, master_mass } => Coupling::Compliant {
                stiffness: stiffness * mass / (time * time),
                damping: damping * mass / time,
                master_mass: master_mass * mass,
            },
            other => other,
        }
    }

    fn joint(&self, nodes: &[Node], joint: &Joint) -> Joint {
        let Units { length, time, .. } = self.units;
        let kind = match &joint.kind {
            JointKind::Revolute { axis, position } => {
                JointKind::Revolute { axis: self.axial(axis), position: self.place(position) }
            }
            JointKind::Cylindrical { axis, position } => {
                JointKind::Cylindrical { axis: self.direction(axis), position: self.place(position) }
            }
            JointKind::Prismatic { axis, position } => {
                JointKind::Prismatic { axis: self.direction(axis), position: self.place(position) }
            }
            JointKind::Spherical { position } => JointKind::Spherical { position: self.place(position) },
            JointKind::Fixed { position } => JointKind::Fixed { position: self.place(position) },
            JointKind::Distance { anchors } => {
                JointKind::Distance { anchors: self.anchors(nodes, anchors, &joint.ends) }
            }
        };
        let is_turn = matches!(joint.kind, JointKind::Revolute { .. });
        let drive = joint.drive.as_ref().map(|drive| {
            let rate = if drive.is_position { 1.0 } else { 1.0 / time };
            let factor = rate * if is_turn { 1.0 } else { length };
            let profile = match &drive.profile {
                Profile::Constant(value) => Profile::Constant(value * factor),
                Profile::Sine { amplitude, frequency, phase, offset } => Profile::Sine {
                    amplitude: amplitude * factor,
                    frequency: frequency / time,
                    phase: *phase,
                    offset: offset * factor,
                },
                Profile::Ramp { from, to, start, duration } => Profile::Ramp {
                    from: from * factor,
                    to: to * factor,
                    start: start * time,
                    duration: duration * time,
                },
                Profile::Table(points) => {
                    Profile::Table(points.iter().map(|[at, value]| [at * time, value * factor]).collect())
                }
                Profile::Input(value) => {
                    Profile::Input(value * factor * if drive.is_position { 1.0 / time } else { 1.0 })
                }
            };
            Drive { is_position: drive.is_position, profile }
        });
        let friction = joint.friction.map(|friction| JointFriction {
            radius: friction.radius * length,
            half_length: friction.half_length * length,
            threshold: friction.threshold * self.units.speed(),
            ..friction
        });
        // The axis of a cylindrical joint goes along as a direction, about which a mirror turns the other way.
        let turns = if self.mirror { -1.0 } else { 1.0 };
        Joint {
            name: joint.name.clone(),
            ends: joint.ends.clone(),
            kind,
            friction,
            drive,
            limits: joint.limits.map(|limits| limits.scaled(if is_turn { 1.0 } else { length })),
            angle_limits: joint.angle_limits.map(|limits| limits.scaled(turns)),
            length: joint.length.map(|apart| apart * length),
        }
    }

    /// Anchors: on the ground in the world, else in the frames of bodies; a point mass keeps to the axes of the world.
    fn anchors(&self, nodes: &[Node], anchors: &[Vector; 2], ends: &[Option<String>; 2]) -> [Vector; 2] {
        let turns = |name: &str| nodes.iter().any(|node| node.name == name && node.inertia.is_some());
        [0, 1].map(|end| match &ends[end] {
            None => self.place(&anchors[end]),
            Some(name) if turns(name) => self.in_body(&anchors[end]),
            Some(_) => self.turn * self.in_body(&anchors[end]),
        })
    }

    /// The scene, looked at so.
    pub fn of(&self, scene: &Scene) -> Scene {
        let Units { length, mass, time } = self.units;
        let mut seen = scene.clone();
        seen.units = Units {
            length: scene.units.length * length,
            mass: scene.units.mass * mass,
            time: scene.units.time * time,
        };
        seen.step = scene.step * time;
        seen.gravity = self.direction(&scene.gravity) * (length / (time * time));
        for node in &mut seen.nodes {
            assert!(node.copies.is_none(), "copies lie on a grid along the axes");
            node.coupling = self.coupling(&node.coupling);
            node.mass *= mass;
            node.inertia = node.inertia.map(|inertia| inertia.map(|moment| moment * mass * length * length));
            node.shape = self.shape(&node.shape);
            node.state = self.pose(&node.state);
            node.push = self.direction(&node.push) * (mass * length / (time * time));
            if node.inertia.is_none() {
                self.point_mass(node);
            }
        }
        for surface in &mut seen.surfaces {
            surface.shape = self.shape(&surface.shape);
            surface.state = self.pose(&surface.state);
            if self.boost != Vector::zeros() && surface.motion == Motion::Fixed {
                surface.motion = Motion::Input { inertia: None };
            }
            if let Motion::Input { inertia: Some((heavy, moments)) } = &mut surface.motion {
                *heavy *= mass;
                *moments = moments.map(|moment| moment * mass * length * length);
            }
        }
        for contact in &mut seen.contacts {
            contact.law = self.law(&contact.law);
        }
        for spring in &mut seen.springs {
            spring.stiffness *= mass / (time * time);
            spring.damping *= mass / time;
            spring.length *= length;
            spring.anchors = self.anchors(&scene.nodes, &spring.anchors, &spring.ends);
        }
        seen.joints = scene.joints.iter().map(|joint| self.joint(&scene.nodes, joint)).collect();
        seen
    }

    /// A point mass keeps to the axes of the world: what it is made of turns with the scene all the same.
    fn point_mass(&self, node: &mut Node) {
        if let Shape::Points(points) = &mut node.shape {
            for point in points {
                *point = self.turn * *point;
            }
        }
        node.state.q = Turn::identity();
        node.state.w = Vector::zeros();
    }
}
