//! Draws a scene from a seed: an ordinary one, of a few bodies that fly, hit, slide and rest, anywhere in the model
//! language.
//!
//! Lengths, masses and times are drawn first, and then numbers of order one in these. Bodies are put down one after the
//! other from above, by the net's own distance, until they are as far from all that they could touch as was drawn.

use super::distance::{apart, extent, solid};
use super::scene::*;
use crate::Entropy;

/// With so few digits that five steps are exactly five times as long.
fn short(step: f64) -> f64 {
    f64::from(step as f32)
}

/// A scene that the check accepts, or so it is meant.
pub fn draw(seed: u64) -> Scene {
    let mut entropy = Entropy::seeded(seed ^ 0x6e65_6967_6862_6f75);
    let mut painter = Painter { units: units(&mut entropy), entropy };
    painter.scene()
}

struct Drawn {
    units: Units,
    step: f64,
    /// In units of length over time squared.
    gravity: f64,
}

/// Half of the scenes are of this world: decimetres, kilograms, gravity; the others of any size.
fn units(entropy: &mut Entropy) -> Drawn {
    if entropy.one_in(2) {
        let length = entropy.decades(0.02, 0.5);
        let time = (length / 9.81).sqrt();
        let step = *entropy.pick(&[1e-3, 2e-3, 5e-3, 1e-2]);
        // So many steps that something happens in them.
        let step = short(if time / step > 40.0 { time / 40.0 } else { step });
        Drawn { units: Units { length, mass: entropy.decades(0.1, 10.0), time }, step, gravity: 1.0 }
    } else {
        let step = short(entropy.decades(1e-5, 1e-1));
        let time = step * entropy.decades(5.0, 40.0);
        let length = entropy.decades(1e-6, 1e3);
        let mass = entropy.decades(1e-6, 1e3);
        let gravity = if entropy.one_in(4) { 0.0 } else { entropy.decades(0.1, 10.0) };
        Drawn { units: Units { length, mass, time }, step, gravity }
    }
}

struct Painter {
    units: Drawn,
    entropy: Entropy,
}

impl Painter {
    fn chance(&mut self, percent: usize) -> bool {
        self.entropy.below(100) < percent
    }

    /// The right latency in so many per cent of the cases, otherwise none: the FMU finds it out.
    fn told_latency(&mut self, percent: usize, exchange: Exchange) -> Option<u32> {
        self.chance(percent).then_some(match exchange {
            Exchange::Sequential => 0,
            Exchange::Parallel => 1,
        })
    }

    /// A length of order one.
    fn length(&mut self, low: f64, high: f64) -> f64 {
        self.entropy.between(low, high) * self.units.units.length
    }

    fn direction(&mut self) -> Vector {
        loop {
            let vector = Vector::from_fn(|_, _| self.entropy.between(-1.0, 1.0));
            if (0.1..1.0).contains(&vector.norm()) {
                return vector.normalize();
            }
        }
    }

    fn turn(&mut self) -> Turn {
        if self.chance(25) {
            return Turn::identity();
        }
        let angle = self.entropy.between(0.0, 3.0);
        Turn::from_scaled_axis(self.direction() * angle)
    }

    fn scene(&mut self) -> Scene {
        let Units { length, time, .. } = self.units.units;
        let step = self.units.step;
        // As seen in most files, or any way round.
        let up = if self.chance(60) { Vector::z() } else { self.direction() };
        let gravity = match self.entropy.below(10) {
            0 => Vector::zeros(),
            1 | 2 => self.direction() * (self.units.gravity * length / (time * time)),
            _ => -up * (self.units.gravity * length / (time * time)),
        };
        let is_pile = self.entropy.one_in(12);
        let is_sliding = self.entropy.one_in(8);
        let mut scene = Scene {
            units: self.units.units,
            steps: 20 + self.entropy.below(30),
            step,
            substeps: if self.chance(75) { 1 } else { 2 + self.entropy.below(4) as u32 },
            gravity,
            scheme: self.scheme(),
            time_of_impact: false,
            correction: None,
            gamma: None,
            energy_balance: false,
            newton: false,
            solver: "auto",
            tolerance: None,
            max_iterations: None,
            lenient: false,
            exchange: if self.chance(50) { Exchange::Sequential } else { Exchange::Parallel },
            nodes: Vec::new(),
            surfaces: Vec::new(),
            contacts: Vec::new(),
            springs: Vec::new(),
            joints: Vec::new(),
        };
        if let Scheme::MoreauJean(theta) = scene.scheme {
            scene.time_of_impact = self.chance(75);
            scene.energy_balance = theta == 0.5 && self.chance(5);
        } else {
            scene.energy_balance = matches!(scene.scheme, Scheme::Midpoint(_)) && self.chance(5);
        }
        if self.chance(8) {
            scene.correction = Some(self.chance(50));
        }
        if self.chance(8) {
            scene.gamma = Some(self.entropy.unit());
        }
        let up = self.surfaces(&mut scene, up, is_pile);
        if is_pile {
            self.pile(&mut scene);
        } else {
            if is_sliding {
                scene.gravity = -up * scene.gravity.norm();
            }
            self.nodes(&mut scene, up, is_sliding);
            self.ties(&mut scene);
        }
        self.contacts(&mut scene, is_pile);
        self.solver(&mut scene);
        self.limits(&mut scene);
        self.details(&mut scene);
        scene
    }

    fn scheme(&mut self) -> Scheme {
        match self.entropy.below(20) {
            0..=2 => Scheme::Midpoint(1 + self.entropy.below(6) as u32),
            3 | 4 => Scheme::Multistep(self.entropy.unit()),
            5 | 6 => Scheme::Hht(self.entropy.between(0.0, 1.0 / 3.0)),
            7 => Scheme::MoreauJean(1.0),
            8 => Scheme::MoreauJean(self.entropy.between(0.5, 1.0)),
            _ => Scheme::MoreauJean(0.5),
        }
    }

    /// Floor and perhaps a wall; the side from which bodies are put down on the floor.
    fn surfaces(&mut self, scene: &mut Scene, up: Vector, is_pile: bool) -> Vector {
        let length = scene.units.length;
        let upright = Turn::rotation_between(&Vector::z(), &up).unwrap_or(Turn::identity());
        let shape = match self.entropy.below(14) {
            _ if is_pile => Shape::Plane { normal: Vector::z() },
            0..=5 => Shape::Plane { normal: Vector::z() },
            6 | 7 => Shape::Sphere { radius: self.length(0.8, 4.0) },
            8 | 9 => {
                Shape::Box { size: [self.length(2.0, 6.0), self.length(2.0, 6.0), self.length(0.5, 3.0)] }
            }
            10 => Shape::Cylinder {
                radius: self.length(0.5, 3.0),
                length: self.length(1.0, 5.0),
                axis: Vector::z(),
            },
            11 => Shape::Capsule {
                radius: self.length(0.4, 2.0),
                length: self.length(1.0, 5.0),
                axis: self.direction(),
            },
            12 => Shape::Mesh { file: "stair.obj", scale: self.length(0.8, 2.0), open: self.chance(30) },
            _ => Shape::Heightfield {
                file: "hills.txt",
                cell: [self.length(0.6, 1.5), self.length(0.6, 1.5)],
                scale: length * self.entropy.between(0.2, 2.0),
            },
        };
        let spun = Turn::from_scaled_axis(Vector::z() * self.entropy.between(0.0, 3.0));
        let tilted = if self.chance(30) && !is_pile { self.turn() } else { Turn::identity() };
        let q = if is_pile { Turn::identity() } else { upright * tilted * spun };
        let place = if self.chance(50) { Vector::zeros() } else { self.direction() * self.length(0.0, 3.0) };
        let up = q * Vector::z();
        let mut floor = Surface {
            name: "floor".into(),
            shape,
            state: Pose::at(place, q),
            motion: Motion::Fixed,
            exchange: SurfaceExchange::default(),
        };
        self.moved(&mut floor, scene);
        scene.surfaces.push(floor);
        if self.chance(25) {
            let normal = self.direction();
            let normal = if normal.dot(&up) < 0.0 { -normal } else { normal };
            let state = Pose::at(place - normal * self.length(1.5, 4.0), Turn::identity());
            let mut wall = Surface {
                name: "wall".into(),
                shape: Shape::Plane { normal },
                state,
                motion: Motion::Fixed,
                exchange: SurfaceExchange::default(),
            };
            self.moved(&mut wall, scene);
            scene.surfaces.push(wall);
        }
        up
    }

    /// Moved by the master, now and then.
    fn moved(&mut self, surface: &mut Surface, scene: &Scene) {
        if !self.chance(20) {
            return;
        }
        let speed = scene.units.speed();
        let only_owned = !matches!(scene.scheme, Scheme::MoreauJean(_));
        let inertia = if self.chance(30) && !only_owned {
            let mass = scene.units.mass * self.entropy.decades(1.0, 100.0);
            let moment = mass * scene.units.length * scene.units.length;
            Some((mass, [moment * self.entropy.between(1.0, 1.9), moment, moment]))
        } else {
            None
        };
        surface.motion = Motion::Input { inertia };
        if self.chance(70) {
            surface.state.v = self.direction() * (speed * self.entropy.between(0.0, 0.5));
        }
        if self.chance(40) {
            surface.state.w = self.direction() * (self.entropy.between(0.0, 0.5) / scene.units.time);
        }
    }

    fn node_shape(&mut self) -> Shape {
        let length = self.units.units.length;
        match self.entropy.below(16) {
            0 => Shape::Point,
            1..=5 => Shape::Sphere { radius: self.length(0.3, 0.7) },
            6..=8 => {
                Shape::Box { size: [self.length(0.5, 1.5), self.length(0.5, 1.5), self.length(0.5, 1.5)] }
            }
            9 => Shape::Disc { radius: self.length(0.3, 0.8), axis: self.direction() },
            10 => Shape::Capsule {
                radius: self.length(0.2, 0.5),
                length: self.length(0.4, 1.2),
                axis: self.direction(),
            },
            11 | 12 => Shape::Cylinder {
                radius: self.length(0.2, 0.6),
                length: self.length(0.4, 1.2),
                axis: Vector::z(),
            },
            13 => {
                let count = 1 + self.entropy.below(5);
                Shape::Points((0..count).map(|_| self.direction() * self.length(0.2, 0.8)).collect())
            }
            _ => Shape::Hull { file: "stone.obj", scale: length * self.entropy.between(0.5, 1.5) },
        }
    }

    /// Moments of a body about the size of its shape.
    fn inertia(&mut self, shape: &Shape, mass: f64) -> Option<[f64; 3]> {
        let needs = !matches!(shape, Shape::Point | Shape::Sphere { .. })
            && !matches!(shape, Shape::Points(points) if points.len() == 1);
        if !needs && self.chance(40) {
            return None;
        }
        let length = self.units.units.length;
        Some(match shape {
            Shape::Sphere { radius } => [0.4 * mass * radius * radius; 3],
            Shape::Box { size } => {
                let [x, y, z] = size.map(|edge| edge * edge * mass / 12.0);
                [y + z, z + x, x + y]
            }
            _ => {
                let moment = mass * length * length * 0.15;
                let [a, b] = [self.entropy.between(0.6, 1.0), self.entropy.between(0.6, 1.0)];
                [moment * a, moment * b, moment * self.entropy.between((a - b).abs() + 0.05, a + b - 0.05)]
            }
        })
    }

    fn coupling(&mut self, scene: &Scene, shape: &Shape) -> Coupling {
        if !matches!(scene.scheme, Scheme::MoreauJean(_)) || self.chance(72) {
            return Coupling::Owned;
        }
        let units = scene.units;
        match self.entropy.below(10) {
            0..=4 => Coupling::Kinetic {
                latency: self.told_latency(30, scene.exchange),
                shaping: self.chance(85),
                adapt: self.chance(85),
                guard: self.chance(85),
            },
            5..=7 => Coupling::Iterative,
            _ if matches!(shape, Shape::Point | Shape::Sphere { .. }) => {
                // The period of the link is about a time of the scene.
                let stiffness = units.mass * self.entropy.decades(1.0, 100.0) / (units.time * units.time);
                Coupling::Compliant {
                    stiffness,
                    damping: if self.chance(50) {
                        0.0
                    } else {
                        self.entropy.between(0.0, 1.0) * units.mass / units.time
                    },
                    master_mass: units.mass * self.entropy.decades(0.3, 3.0),
                }
            }
            _ => Coupling::Iterative,
        }
    }

    fn nodes(&mut self, scene: &mut Scene, up: Vector, is_sliding: bool) {
        let units = scene.units;
        let count = *self.entropy.pick(&[1, 1, 1, 2, 2, 2, 3, 3, 4]);
        let all_alike = self.chance(70);
        let names = ["a", "b", "c", "d"];
        for name in &names[..count] {
            let shape = self.node_shape();
            let mass = units.mass
                * if self.chance(70) {
                    self.entropy.between(0.5, 2.0)
                } else {
                    self.entropy.decades(0.01, 100.0)
                };
            let coupling = match scene.nodes.first() {
                Some(first) if all_alike && !matches!(first.coupling, Coupling::Compliant { .. }) => {
                    first.coupling
                }
                _ => self.coupling(scene, &shape),
            };
            let inertia = match coupling {
                Coupling::Compliant { .. } => None,
                _ => self.inertia(&shape, mass),
            };
            let shape = if inertia.is_none()
                && matches!(coupling, Coupling::Compliant { .. })
                && shape.has_volume()
            {
                Shape::Sphere { radius: self.length(0.3, 0.7) }
            } else {
                shape
            };
            let q = if inertia.is_some() { self.turn() } else { Turn::identity() };
            let mut state = Pose::at(Vector::zeros(), q);
            let speed = units.speed();
            state.v = match self.entropy.below(5) {
                _ if is_sliding => {
                    let across = self.direction();
                    (across - up * up.dot(&across)) * (speed * self.entropy.between(0.2, 2.0))
                }
                0 => Vector::zeros(),
                1 => -up * (speed * self.entropy.between(0.0, 3.0)),
                2 => self.direction() * (speed * self.entropy.decades(1.0, 30.0)),
                _ => self.direction() * (speed * self.entropy.between(0.0, 2.0)) - up * speed,
            };
            if inertia.is_some() && self.chance(60) {
                let most = if self.chance(6) { 12.0 / scene.step } else { 4.0 / units.time };
                state.w = self.direction() * self.entropy.between(0.0, most);
            }
            let push = if self.chance(8) {
                self.direction() * (mass * speed / units.time * self.entropy.between(0.0, 1.0))
            } else {
                Vector::zeros()
            };
            let mut node =
                Node { name: (*name).into(), coupling, mass, inertia, shape, state, push, copies: None };
            self.put_down(scene, &mut node, up, is_sliding);
            scene.nodes.push(node);
        }
    }

    /// Lowers a body from above the floor until its gap to what is there already is as drawn.
    fn put_down(&mut self, scene: &Scene, node: &mut Node, up: Vector, is_sliding: bool) {
        let length = scene.units.length;
        let gap = match self.entropy.below(4) {
            _ if is_sliding => length * 1e-6,
            0 => length * 1e-6,
            1 => length * self.entropy.decades(1e-4, 1e-1),
            _ => length * self.entropy.between(0.05, 0.6),
        };
        let floor = &scene.surfaces[0];
        let side = if up.x.abs() < 0.6 { Vector::x() } else { Vector::y() };
        let across = up.cross(&side).normalize();
        let foot =
            floor.state.r + across * self.length(-0.6, 0.6) + up.cross(&across) * self.length(-0.6, 0.6);
        let others: Vec<_> = scene
            .surfaces
            .iter()
            .map(|surface| solid(&surface.shape, &surface.state))
            .chain(scene.nodes.iter().map(|other| solid(&other.shape, &other.state)))
            .collect();
        let clear = |height: f64| {
            let pose = Pose { r: foot + up * height, ..node.state };
            let own = solid(&node.shape, &pose);
            others.iter().all(|other| apart(&own, other, 0.0).gap >= gap)
        };
        let mut high = 30.0 * length;
        let mut low = -8.0 * length;
        // Down from what is clear to the first height that is not, then in between.
        let mut height = high;
        while height > low && clear(height) {
            high = height;
            height -= 0.25 * length + 0.05 * (height - low);
        }
        low = height;
        for _ in 0..45 {
            let middle = 0.5 * (low + high);
            if clear(middle) { high = middle } else { low = middle }
        }
        node.state.r = foot + up * high;
    }

    /// A grid of copies over the floor.
    fn pile(&mut self, scene: &mut Scene) {
        let units = scene.units;
        let shape = if self.chance(70) {
            Shape::Sphere { radius: self.length(0.3, 0.6) }
        } else {
            Shape::Box { size: [self.length(0.5, 1.0), self.length(0.5, 1.0), self.length(0.5, 1.0)] }
        };
        let reach = 2.0 * extent(&shape);
        let spacing =
            [reach * self.entropy.between(1.02, 1.3), reach * self.entropy.between(1.02, 1.3), reach * 1.1];
        let count = [
            1 + self.entropy.below(3) as u32,
            1 + self.entropy.below(2) as u32,
            1 + self.entropy.below(2) as u32,
        ];
        let mass = units.mass * self.entropy.between(0.5, 2.0);
        let inertia = self.inertia(&shape, mass);
        let spread = spacing[0].min(spacing[1]).min(spacing[2]) - reach;
        let scatter = if self.chance(50) { 0.0 } else { 0.4 * spread };
        let floor = scene.surfaces[0].state.r;
        // Above every wall: they lean outwards from below.
        let place = floor + Vector::z() * (extent(&shape) + scatter + self.length(0.01, 0.5));
        let mut state = Pose::at(place, Turn::identity());
        state.v =
            self.direction() * (units.speed() * self.entropy.between(0.0, 1.0)) - Vector::z() * units.speed();
        scene.surfaces.truncate(1);
        scene.nodes.push(Node {
            name: "ball".into(),
            coupling: Coupling::Owned,
            mass,
            inertia,
            shape,
            state,
            push: Vector::zeros(),
            copies: Some(Copies { count, spacing, scatter }),
        });
    }

    /// Springs and joints between nodes of the FMU, or to the ground.
    fn ties(&mut self, scene: &mut Scene) {
        let owned: Vec<usize> =
            (0..scene.nodes.len()).filter(|&node| scene.nodes[node].coupling == Coupling::Owned).collect();
        if owned.is_empty() || !self.chance(40) {
            return;
        }
        if self.chance(50) {
            self.spring(scene, &owned);
        }
        if self.chance(65) {
            self.joint(scene, &owned);
        }
    }

    /// Two ends: a node, and another or the ground.
    fn ends(&mut self, owned: &[usize]) -> (usize, Option<usize>) {
        let first = self.entropy.below(owned.len());
        let second = (owned.len() > 1 && self.chance(60)).then(|| (first + 1) % owned.len());
        (owned[first], second.map(|second| owned[second]))
    }

    fn spring(&mut self, scene: &mut Scene, owned: &[usize]) {
        let units = scene.units;
        let (one, other) = self.ends(owned);
        let anchor = |painter: &mut Painter, node: &Node| {
            if node.inertia.is_some() && painter.chance(50) {
                painter.direction() * painter.length(0.0, 0.4)
            } else {
                Vector::zeros()
            }
        };
        let on_node = anchor(self, &scene.nodes[one]);
        let from = scene.nodes[one].state;
        let (end, to, anchor_there) = match other {
            Some(other) => {
                let there = anchor(self, &scene.nodes[other]);
                let state = scene.nodes[other].state;
                (Some(scene.nodes[other].name.clone()), state.r + state.q * there, there)
            }
            None => {
                let place = from.r + self.direction() * self.length(0.3, 2.0);
                (None, place, place)
            }
        };
        let apart = (to - (from.r + from.q * on_node)).norm();
        let length = if self.chance(30) { 0.0 } else { apart * self.entropy.between(0.5, 1.5) };
        // From slow ones to some that are far too stiff for the step.
        let rate = self.entropy.decades(1.0, 100.0) / units.time;
        let mass = scene.nodes[one].mass;
        scene.springs.push(Spring {
            name: "spring".into(),
            ends: [Some(scene.nodes[one].name.clone()), end],
            stiffness: mass * rate * rate,
            damping: if self.chance(50) { 0.0 } else { mass * rate * self.entropy.between(0.0, 0.5) },
            length,
            anchors: [on_node, anchor_there],
        });
    }

    fn joint(&mut self, scene: &mut Scene, owned: &[usize]) {
        let units = scene.units;
        let (one, other) = self.ends(owned);
        let names = [other.map(|other| scene.nodes[other].name.clone()), Some(scene.nodes[one].name.clone())];
        let is_body = scene.nodes[one].inertia.is_some();
        let both_bodies = is_body && other.is_none_or(|other| scene.nodes[other].inertia.is_some());
        let base = match other {
            Some(other) => {
                scene.nodes[other].state.w = Vector::zeros();
                scene.nodes[other].state.v
            }
            None => Vector::zeros(),
        };
        let centre = scene.nodes[one].state.r;
        let axis = self.direction();
        let place = match other {
            Some(other) => (centre + scene.nodes[other].state.r) * 0.5,
            None => centre + self.direction() * self.length(0.2, 1.0),
        };
        let rate = self.entropy.between(-2.0, 2.0) / units.time;
        let slide = self.entropy.between(-1.0, 1.0) * units.speed();
        let (mut v, mut w) = (base, Vector::zeros());
        let kind = match self.entropy.below(6) {
            0 if both_bodies => {
                w = axis * rate;
                v += w.cross(&(centre - place));
                JointKind::Revolute { axis, position: place }
            }
            1 if both_bodies => {
                w = axis * rate;
                v += w.cross(&(centre - place)) + axis * slide;
                JointKind::Cylindrical { axis, position: place }
            }
            2 if both_bodies || (other.is_none() && is_body) => {
                v += axis * slide;
                JointKind::Prismatic { axis, position: place }
            }
            3 if both_bodies => {
                w = self.direction() * rate;
                v += w.cross(&(centre - place));
                JointKind::Spherical { position: place }
            }
            4 if both_bodies => JointKind::Fixed { position: place },
            _ => {
                let anchor = match other {
                    Some(_) => Vector::zeros(),
                    None => place,
                };
                let line = centre - other.map_or(place, |other| scene.nodes[other].state.r);
                v += axis.cross(&line) * rate;
                JointKind::Distance { anchors: [anchor, Vector::zeros()] }
            }
        };
        let has_friction = matches!(
            kind,
            JointKind::Revolute { .. } | JointKind::Cylindrical { .. } | JointKind::Prismatic { .. }
        );
        let friction = (has_friction && self.chance(40)).then(|| {
            let mu_static = self.entropy.between(0.0, 0.6);
            JointFriction {
                mu_static,
                mu_kinetic: mu_static * self.entropy.unit(),
                radius: self.length(0.02, 0.2),
                half_length: self.length(0.05, 0.4),
                threshold: units.speed() * self.entropy.decades(1e-3, 1e-1),
            }
        });
        let is_turn = matches!(kind, JointKind::Revolute { .. });
        let can_drive = is_turn || matches!(kind, JointKind::Prismatic { .. });
        let drive = (can_drive && self.chance(40)).then(|| self.drive(is_turn));
        let node = &mut scene.nodes[one];
        node.state.v = v;
        node.state.w = w;
        scene.joints.push(Joint {
            name: "joint".into(),
            ends: names,
            kind,
            friction,
            drive,
            limits: None,
            angle_limits: None,
            length: None,
        });
    }

    /// Hard stops of the joints that have a coordinate and no motor.
    fn limits(&mut self, scene: &mut Scene) {
        let length = scene.units.length;
        for joint in &mut scene.joints {
            let size = match joint.kind {
                JointKind::Revolute { .. } => 1.0,
                JointKind::Prismatic { .. } | JointKind::Cylindrical { .. } => length,
                JointKind::Spherical { .. } | JointKind::Fixed { .. } | JointKind::Distance { .. } => {
                    continue;
                }
            };
            if joint.drive.is_some() {
                continue;
            }
            if self.chance(50) {
                joint.limits = Some(self.stops().scaled(size));
            }
            if matches!(joint.kind, JointKind::Cylindrical { .. }) && self.chance(50) {
                joint.angle_limits = Some(self.stops());
            }
        }
    }

    /// Near enough to be met, with the start between them or at one of them.
    fn stops(&mut self) -> Limits {
        let [mut lower, upper] = [-1.0, 1.0].map(|sign: f64| sign * self.entropy.between(0.02, 1.0));
        if self.chance(10) {
            lower = 0.0;
        }
        let (lower, upper) = match self.entropy.below(4) {
            0 => (Some(lower), None),
            1 => (None, Some(upper)),
            _ => (Some(lower), Some(upper)),
        };
        let restitution = if self.chance(50) { 0.0 } else { self.entropy.unit() };
        Limits { lower, upper, restitution }
    }

    /// Settings that say what is so by default, or about so.
    fn details(&mut self, scene: &mut Scene) {
        if self.chance(4) {
            scene.tolerance = Some(*self.entropy.pick(&[1e-9, 1e-11, 1e-12]));
        }
        if self.chance(4) {
            scene.max_iterations = Some(*self.entropy.pick(&[200, 500, 3000]));
        }
        scene.lenient = self.chance(4);
        scene.newton = self.chance(8);
        for surface in &mut scene.surfaces {
            if matches!(surface.motion, Motion::Input { inertia: Some(_) }) && self.chance(50) {
                surface.exchange = SurfaceExchange {
                    latency: self.told_latency(50, scene.exchange),
                    shaping: self.chance(75),
                    adapt: self.chance(75),
                    guard: self.chance(75),
                };
            }
        }
        for index in 0..scene.joints.len() {
            let JointKind::Distance { anchors } = scene.joints[index].kind else { continue };
            if self.chance(30) {
                let [one, other] = [0, 1].map(|end| match &scene.joints[index].ends[end] {
                    None => anchors[end],
                    Some(name) => {
                        let node = scene.nodes.iter().find(|node| node.name == *name).expect("a node");
                        node.state.r + node.state.q * anchors[end]
                    }
                });
                scene.joints[index].length = Some((other - one).norm());
            }
        }
    }

    fn drive(&mut self, is_turn: bool) -> Drive {
        let Units { length, time, .. } = self.units.units;
        let is_position = self.chance(50);
        let size = if is_turn { 1.0 } else { 0.5 * length } * if is_position { 1.0 } else { 1.0 / time };
        let value = self.entropy.between(-1.0, 1.0) * size;
        let profile = match self.entropy.below(5) {
            0 if !is_position => Profile::Constant(value),
            0 | 1 => Profile::Sine {
                amplitude: value,
                frequency: self.entropy.between(0.05, 0.5) / time,
                phase: if is_position { 0.0 } else { self.entropy.between(0.0, 6.0) },
                offset: if is_position { 0.0 } else { 0.5 * value },
            },
            2 => Profile::Ramp {
                from: 0.0,
                to: value,
                start: self.entropy.between(0.0, 0.3) * time,
                duration: self.entropy.between(0.3, 2.0) * time,
            },
            3 => Profile::Table(vec![[0.0, 0.0], [0.5 * time, value], [1.5 * time, 0.5 * value]]),
            _ => Profile::Input(if is_position { value / time } else { value }),
        };
        Drive { is_position, profile }
    }

    fn contacts(&mut self, scene: &mut Scene, is_pile: bool) {
        let any = |painter: &mut Painter| if painter.chance(50) { ["*", "*"] } else { ["*", "floor"] };
        match self.entropy.below(10) {
            0..=2 => {
                let between = any(self).map(str::to_owned);
                let law = self.law(scene, &between, true);
                scene.contacts.push(Contact { name: Some("touching".into()), between, law });
            }
            3..=5 => {
                let between = any(self).map(str::to_owned);
                let law = self.law(scene, &between, false);
                scene.contacts.push(Contact { name: None, between, law });
            }
            _ if is_pile => {
                let between = ["*", "*"].map(str::to_owned);
                let law = self.law(scene, &between, false);
                scene.contacts.push(Contact { name: None, between, law });
            }
            _ => {
                let one_law = self.chance(30);
                let pairs = scene.pairs();
                for (index, between) in pairs.into_iter().enumerate() {
                    if index > 0 && self.chance(10) {
                        continue;
                    }
                    let law = match scene.contacts.first() {
                        Some(first) if one_law && first.law.continuous.is_none() => first.law.clone(),
                        _ => self.law(scene, &between, false),
                    };
                    scene.contacts.push(Contact { name: None, between, law });
                }
            }
        }
    }

    fn law(&mut self, scene: &Scene, between: &[String; 2], is_group: bool) -> Law {
        let units = scene.units;
        let restitution = match self.entropy.below(10) {
            0..=3 => 0.0,
            4 => 1.0,
            _ => self.entropy.unit(),
        };
        let mu = self.entropy.between(0.05, 1.2);
        let kind = self.entropy.below(20);
        let friction = match kind {
            0..=3 => Friction::None,
            4..=11 => Friction::Cone { mu },
            12..=14 => Friction::Facets {
                mu,
                facets: 4 + self.entropy.below(14) as u32,
                aligned: self.chance(60),
                outer: self.chance(30),
            },
            _ if is_group => Friction::Cone { mu },
            15 | 16 => Friction::Box { mu, iterations: self.entropy.below(4) as u32 },
            _ => self.bristle(scene, mu),
        };
        let mut law = Law { restitution, friction, normal_stiffness: None, continuous: None };
        if is_group {
            return law;
        }
        if self.chance(6) {
            law.normal_stiffness =
                Some(units.mass * self.entropy.decades(1e3, 1e6) / (units.time * units.time));
        } else if self.chance(18) && may_yield(scene, between) {
            law = self.continuous(scene, mu);
        }
        law
    }

    /// Stiff enough that it does not start and stop sliding under the weight of any node.
    fn bristle(&mut self, scene: &Scene, mu: f64) -> Friction {
        let threshold = scene.units.speed() * self.entropy.decades(0.01, 0.1);
        let g = scene.gravity.norm();
        let heaviest = scene.nodes.iter().map(|node| node.mass).fold(0.0, f64::max);
        let least = heaviest * (mu * g / threshold).powi(2);
        let stiffness = (self.chance(60)).then(|| {
            let mass = scene.units.mass;
            least.max(mass / (scene.units.time * scene.units.time)) * self.entropy.decades(2.0, 1e3)
        });
        Friction::Bristle { mu, stiffness, threshold, iterations: self.entropy.below(4) as u32 }
    }

    /// A law that is stiff against the time of the scene, and is followed in some tens of intervals.
    fn continuous(&mut self, scene: &Scene, mu: f64) -> Law {
        let units = scene.units;
        let kind = *self.entropy.pick(&ContinuousKind::ALL);
        let exponent = if kind.is_linear() { 1.0 } else { *self.entropy.pick(&[1.0, 1.5, 1.5, 2.0]) };
        let rate = self.entropy.decades(10.0, 100.0) / units.time;
        let mass = scene.nodes.iter().map(|node| node.mass).fold(f64::INFINITY, f64::min);
        let stiffness = mass * rate * rate * units.length.powf(1.0 - exponent);
        let friction = if self.chance(50) { Friction::Cone { mu } } else { Friction::None };
        let tangential_stiffness =
            (self.chance(20)).then(|| mass * rate * rate * self.entropy.between(0.2, 1.0));
        Law {
            restitution: 0.0,
            friction,
            normal_stiffness: None,
            continuous: Some(Continuous {
                kind,
                stiffness,
                exponent,
                restitution: self.entropy.between(0.2, 1.0),
                damping: if self.chance(50) { 0.0 } else { mass * rate * self.entropy.between(0.0, 0.5) },
                tangential_stiffness,
            }),
        }
    }

    /// A named solver now and then, where it can solve every law.
    fn solver(&mut self, scene: &mut Scene) {
        if !self.chance(14) {
            return;
        }
        let rubs = |fits: fn(&Friction) -> bool| {
            scene.contacts.iter().all(|contact| {
                contact.law.continuous.is_some()
                    || contact.law.friction.mu() == 0.0
                    || fits(&contact.law.friction)
            })
        };
        let is_bounded =
            |friction: &Friction| matches!(friction, Friction::Box { .. } | Friction::Bristle { .. });
        let mut choices = vec!["nsgs", "newton"];
        if rubs(is_bounded) {
            choices.extend(["pivoting", "pgs", "lemke"]);
        } else if rubs(|friction| !matches!(friction, Friction::Cone { .. })) {
            choices.push("lemke");
        }
        scene.solver = *self.entropy.pick(&choices);
    }
}

/// Whether every pair of an entry touches with fixed points, as continuous laws need, and the FMU moves its nodes.
fn may_yield(scene: &Scene, between: &[String; 2]) -> bool {
    if matches!(scene.scheme, Scheme::Multistep(_) | Scheme::Hht(_)) {
        return false;
    }
    let shape = |name: &str| {
        let node = scene.nodes.iter().find(|node| node.name == name).map(|node| &node.shape);
        node.or_else(|| {
            scene.surfaces.iter().find(|surface| surface.name == name).map(|surface| &surface.shape)
        })
    };
    let is_dot = |shape: &Shape| matches!(shape, Shape::Point | Shape::Points(_) | Shape::Sphere { .. });
    let is_file = |shape: &Shape| matches!(shape, Shape::Mesh { .. } | Shape::Heightfield { .. });
    // Copies touch one another.
    if scene.nodes.iter().any(|node| node.copies.is_some() && !is_dot(&node.shape)) {
        return false;
    }
    let is_fixed = |one: &Shape, other: &Shape| {
        if is_file(one) || is_file(other) {
            return false;
        }
        match (one, other) {
            (other, Shape::Plane { .. }) | (Shape::Plane { .. }, other) => {
                !matches!(other, Shape::Cylinder { .. })
            }
            (one, other) => is_dot(one) || is_dot(other),
        }
    };
    let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
    let [first, second] = between;
    let is_owned = |name: &str| {
        scene.nodes.iter().find(|node| node.name == name).is_none_or(|node| node.coupling == Coupling::Owned)
    };
    scene
        .pairs()
        .iter()
        .filter(|[one, other]| {
            (fits(first, one) && fits(second, other)) || (fits(first, other) && fits(second, one))
        })
        .all(|[one, other]| {
            is_owned(one)
                && is_owned(other)
                && shape(one).zip(shape(other)).is_some_and(|(one, other)| is_fixed(one, other))
        })
}
