//! How slow is at rest, and how near is touching: what an interval cannot resolve.

use super::IslandStep;
use crate::engine::contact::{Carrier, Touch};
use crate::engine::geometry::NodeShape;
use crate::engine::law::newton_impact;
use crate::engine::law::newton_impact::Bounce;
use crate::engine::scalar::{largest, length};
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Part of the motion of a mechanism within a step that what is learnt of it leaves unsure.
const LEARNT: f64 = TOLERANCES.coarse;

impl<S: Solvable> IslandStep<'_, S> {
    /// Acceleration of a node without contact, relative to the surface beside it.
    pub(super) fn relative_acceleration(&self, touch: &Touch<S>) -> Vector3<S> {
        let acceleration = self.workspace.acceleration[touch.node];
        match &touch.carrier {
            None => acceleration,
            Some(carrier) => acceleration - self.carrier_acceleration(carrier),
        }
    }

    fn carrier_acceleration(&self, carrier: &Carrier<S>) -> Vector3<S> {
        let Some(rotation) = carrier.rotation else { return self.workspace.acceleration[carrier.node] };
        let spin = self.state.rotations[rotation].angular_velocity;
        let mut acceleration =
            self.workspace.acceleration[carrier.node] + spin.cross(&spin.cross(&carrier.arm));
        if let Some(coupling) = self.system.nodes[carrier.node].coupling {
            acceleration += self.state.couplings[coupling].acceleration.angular.cross(&carrier.arm);
        }
        acceleration
    }

    /// Speed of bounces that are too short to be resolved.
    // What concerns surfaces that move is not inlined: steps of point masses on fixed ones stay short.
    #[inline]
    pub(super) fn unresolved_speed(&self, touch: &Touch<S>) -> f64 {
        match &touch.carrier {
            _ if self.system.stop(touch.sides()).is_some() => self.unresolved_at_stop(touch),
            None => {
                let acceleration = &self.workspace.acceleration[touch.node];
                self.unresolved(
                    touch,
                    -touch.normal.dot(acceleration).value(),
                    length(acceleration).value(),
                    0.0,
                )
            }
            Some(carrier) => self.unresolved_on(touch, carrier),
        }
    }

    /// At the stop of a joint what presses is the acceleration of the touching point: that of the node's centre is none
    /// where a body is held there.
    #[inline(never)]
    fn unresolved_at_stop(&self, touch: &Touch<S>) -> f64 {
        let relative = self.relative_acceleration_at(touch);
        let surface_speed = touch.carrier.map_or(0.0, |carrier| largest(&carrier.velocity(self.state)));
        self.unresolved(touch, -touch.normal.dot(&relative).value(), length(&relative).value(), surface_speed)
    }

    /// Acceleration of the touching point without contact, relative to the surface beside it, in an island with joints.
    fn relative_acceleration_at(&self, touch: &Touch<S>) -> Vector3<S> {
        let at = |node: usize, rotation: Option<usize>, arm: &Vector3<S>| {
            let turning = rotation.map_or(Vector3::zeros(), |rotation| {
                let spin = &self.state.rotations[rotation].angular_velocity;
                let faster = &self.workspace.angular_acceleration[rotation];
                faster.cross(arm) + spin.cross(&spin.cross(arm))
            });
            self.workspace.acceleration[node] + turning
        };
        let mut relative = at(touch.node, touch.rotation, &touch.arm);
        if let Some(carrier) = &touch.carrier {
            relative -= at(carrier.node, carrier.rotation, &carrier.arm);
        }
        relative
    }

    #[inline(never)]
    fn unresolved_on(&self, touch: &Touch<S>, carrier: &Carrier<S>) -> f64 {
        let acceleration = self.relative_acceleration(touch);
        let mut pressing = -touch.normal.dot(&acceleration).value();
        let mut whole = length(&acceleration).value();
        // Bodies that fall together press each other as soon as something holds one of them up.
        if self.state.parameters.mass[carrier.node].value().is_finite() {
            for node in [touch.node, carrier.node] {
                let acceleration = &self.workspace.acceleration[node];
                pressing = pressing.max(touch.normal.dot(acceleration).value().abs());
                whole = whole.max(length(acceleration).value());
            }
        }
        self.unresolved(touch, pressing, whole, largest(&carrier.velocity(self.state)))
    }

    #[inline(always)]
    fn unresolved(&self, touch: &Touch<S>, pressing: f64, acceleration: f64, surface_speed: f64) -> f64 {
        let speed = largest(&self.state.nodes[touch.node].velocity) + surface_speed;
        let restitution = self.state.parameters.restitution[touch.contact].value();
        let node = Bounce { pressing, acceleration, speed };
        newton_impact::resting_speed(restitution, node, self.length, self.crowded)
    }

    /// Whether a contact closes too fast to rest.
    #[inline]
    pub(super) fn closes(&self, touch: &Touch<S>) -> bool {
        let speed = -touch.normal_velocity.value();
        speed > 0.0 && speed > self.resting_speed(touch)
    }

    /// Whether a contact opens too fast to rest.
    #[inline]
    pub(super) fn leaves(&self, touch: &Touch<S>) -> bool {
        self.leaves_with(touch, touch.normal_velocity.value())
    }

    /// The same where its normal velocity is another one.
    // Most contacts rest with no speed at all, and need not know how much is little.
    #[inline]
    pub(super) fn leaves_with(&self, touch: &Touch<S>, normal_velocity: f64) -> bool {
        normal_velocity > 0.0 && normal_velocity > self.resting_speed(touch)
    }

    /// Speed below which a contact counts as resting.
    #[inline]
    pub(super) fn resting_speed(&self, touch: &Touch<S>) -> f64 {
        let mut speed = self.unresolved_speed(touch);
        if touch.rotation.is_some() || touch.carrier.is_some() {
            speed += self.turning_speed(touch);
        }
        if !touch.flat && touch.held {
            speed += self.bending_speed(touch);
        }
        if self.system.contacts[touch.contact].normal_stiffness.is_finite() {
            speed += self.yielding_speed(touch);
        }
        if self.is_of_many(touch) {
            speed += self.unsure_speed(touch);
        }
        speed
    }

    /// Normal velocity that turning makes of none within a step.
    #[inline(never)]
    pub(super) fn turning_speed(&self, touch: &Touch<S>) -> f64 {
        // A stop stays where it is on the body.
        if self.system.stop(touch.sides()).is_some() {
            return 0.0;
        }
        let mut speed = self.rolling_speed(touch.node, &touch.arm);
        if let Some(carrier) = &touch.carrier {
            speed += self.rolling_speed(carrier.node, &carrier.arm);
            // A surface of the master may turn otherwise than was foreseen, under what rests or slides on it.
            if let (true, Some(rotation), Some(_)) =
                (touch.held, carrier.rotation, self.system.nodes[carrier.node].coupling)
            {
                let spin = length(&self.state.rotations[rotation].angular_velocity).value();
                let sliding = length(&touch.velocity(self.state)).value();
                speed += self.length * spin * (spin * length(&carrier.arm).value() + 2.0 * sliding);
            }
        }
        speed
    }

    /// Normal velocity that a body makes at a contact as it turns within a step.
    fn rolling_speed(&self, node: usize, arm: &Vector3<S>) -> f64 {
        let Some(rotation) = self.system.nodes[node].rotation else { return 0.0 };
        let spin = length(&self.state.rotations[rotation].angular_velocity).value();
        let arm = length(arm).value();
        match &self.system.nodes[node].shape {
            // The lowest point of a rim may run around it, and then has not the velocity that was foreseen.
            NodeShape::Disc { .. } | NodeShape::Cylinder(_) => self.followed(spin) * spin.powi(2) * arm,
            // Another touching point has it, but for what contact has changed on the way.
            shape if shape.has_edges() => {
                let acceleration = length(&self.workspace.acceleration[node]).value() + spin * spin * arm;
                self.followed(spin).powi(2) * spin * acceleration
            }
            _ => 0.0,
        }
    }

    /// Distance of a contact point from the nearest centre of a body that impulses move.
    pub(super) fn least_arm(&self, touch: &Touch<S>) -> f64 {
        let of = |node: usize, arm: &Vector3<S>| {
            if self.system.yields(self.state, node) { length(arm).value() } else { f64::INFINITY }
        };
        let carried = touch.carrier.map_or(f64::INFINITY, |carrier| of(carrier.node, &carrier.arm));
        of(touch.node, &touch.arm).min(carried)
    }

    /// How long a contact is followed at most on a body that turns: intervals in which it acts are cut there.
    fn followed(&self, spin: f64) -> f64 {
        self.length.min(TOLERANCES.followed_part / spin)
    }

    /// Normal velocity that is left where a node follows a surface that is not flat.
    #[inline(never)]
    pub(super) fn bending_speed(&self, touch: &Touch<S>) -> f64 {
        let along = length(&(touch.velocity(self.state) - touch.normal * touch.normal_velocity)).value();
        let bend = self.system.bend(touch.sides());
        self.length * self.length * bend * bend * along * along * along
    }

    /// Speed with which a compliant contact bends within one step under the load that it takes.
    #[inline(never)]
    fn yielding_speed(&self, touch: &Touch<S>) -> f64 {
        let mass = self.state.parameters.mass[touch.node].value();
        if !mass.is_finite() {
            return 0.0;
        }
        let load = touch.normal.dot(&self.relative_acceleration(touch)).value() * mass;
        let stiffness = self.system.contacts[touch.contact].normal_stiffness;
        (-load).max(0.0) / (stiffness * self.length)
    }

    /// Sliding speed that a node held on a turning surface has at the end of a substep: the surface has not turned
    /// quite as was foreseen.
    #[inline]
    pub(super) fn held_speed(&self, touch: &Touch<S>) -> f64 {
        let on_carrier = touch.carrier.map_or(0.0, |carrier| self.held_speed_on(touch, &carrier));
        if self.is_of_many(touch) { on_carrier + self.unsure_speed(touch) } else { on_carrier }
    }

    #[inline(never)]
    fn held_speed_on(&self, touch: &Touch<S>, carrier: &Carrier<S>) -> f64 {
        let Some(rotation) = carrier.rotation else { return 0.0 };
        let spin = length(&self.state.rotations[rotation].angular_velocity);
        let acceleration = self.relative_acceleration(touch);
        (length(&acceleration) * spin).value() * self.length * self.length
    }

    /// Distance below which shapes count as touching: round-off of the positions and of the ways that led there, and what
    /// the tolerance of solvers leaves of the way that a body falls within a step.
    #[inline]
    pub(super) fn touching_distance(&self, touch: &Touch<S>) -> f64 {
        /// Part of the way that a body falls within a step.
        const UNRESOLVED: f64 = 1e-7;
        let of_node = |node: usize| {
            let state = &self.state.nodes[node];
            let fallen = length(&self.workspace.acceleration[node]).value() * self.length * self.length;
            largest(&state.position)
                + largest(&state.velocity) * self.length
                + fallen * (UNRESOLVED / TOLERANCES.rounding)
        };
        let mut size = of_node(touch.node) + largest(&touch.arm);
        if self.is_of_many(touch) {
            let fallen = length(&self.workspace.acceleration[touch.node]).value() * self.length * self.length;
            size += fallen * (LEARNT / TOLERANCES.rounding);
        }
        if let Some(carrier) = &touch.carrier {
            size += of_node(carrier.node) + largest(&carrier.arm);
        }
        TOLERANCES.rounding * size
    }

    /// Speed that what is learnt of a mechanism leaves unsure.
    #[inline(never)]
    fn unsure_speed(&self, touch: &Touch<S>) -> f64 {
        LEARNT * length(&self.workspace.acceleration[touch.node]).value() * self.length
    }

    /// Whether the node is one of several points of a mechanism, which may carry more contacts than it can move in: these
    /// would open and close in turn, by the error of what is learnt of it.
    #[inline]
    fn is_of_many(&self, touch: &Touch<S>) -> bool {
        let together = &self.workspace.together;
        together.nodes().len() > 1 && together.place(touch.node).is_some()
    }

    /// Whether two bodies that impulses move are nearer than they fall within the step.
    pub(super) fn is_pile(&self) -> bool {
        let are_near = |touch: &Touch<S>| {
            touch.carrier.is_some_and(|carrier| self.system.yields(self.state, carrier.node))
                && self.system.yields(self.state, touch.node)
                && touch.gap.value() <= self.settling_distance(touch)
        };
        self.workspace.touches.iter().any(are_near)
    }

    /// Distance that a body falls within a step: in a pile, what is nearer rests. Otherwise contacts would open and close
    /// in turn, by the error of the step.
    #[inline(never)]
    pub(super) fn settling_distance(&self, touch: &Touch<S>) -> f64 {
        let carrier =
            touch.carrier.map_or(0.0, |carrier| length(&self.workspace.acceleration[carrier.node]).value());
        self.length * self.length * length(&self.workspace.acceleration[touch.node]).value().max(carrier)
    }
}
