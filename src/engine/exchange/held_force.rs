//! Whether an external force that a master holds over its steps follows the body like a spring, and so adds energy.
//!
//! A spring answers to an impact: displaced by d, its force changes by `-K d`, and its rate by `-K dv`, with the stiffness
//! K and the change of velocity dv. A force that is a function of time goes on as it did.
//!
//! Let the master's end of the spring be at q, the force be `K (q - r)` at the start of the step, held over it, and the
//! master hold the position that it is given after the step. Then body, spring and master gain
//!
//! `K dr (dr - dq) / 2 + K dq dr / 2 = K dr^2 / 2`
//!
//! in the step: the first part by holding the force, the second by holding the position. So the sum of `dr^2 / 2` since the
//! start is kept, and once K is known so is the energy added before. A master that holds the position before the step loses
//! in place of the second part; that cannot be seen from here, and `K dr^2 / 2` is what holding is worth either way. A force
//! that comes with its derivatives adds `(f_mean - (f + f+) / 2) dr`, with f+ the force of the next step.
//!
//! Between impacts a spring and a function of time look alike, unless the force [grows](super::growing_force) without end.

use super::growing_force::GrowingForce;
use crate::engine::inputs::MAX_INPUT_DERIVATIVE;
use crate::engine::state::State;
use nalgebra::Vector3;

/// What is known of the force on one body.
#[derive(Clone, Debug)]
pub struct HeldForce {
    node: usize,
    /// Whether the force was zero for so long that there is nothing to compare with.
    idle: bool,
    /// End of the last step.
    time: f64,
    /// Force at the start of the last step, and its mean over it.
    force: Vector3<f64>,
    mean: Vector3<f64>,
    /// The way of the body in it, its length, and whether the body touched something.
    moved: Vector3<f64>,
    duration: f64,
    touched: bool,
    /// Rate of the force over the step before.
    slope: Vector3<f64>,
    /// Largest change of that of late.
    bend: f64,
    growth: Growth,
    growing: GrowingForce,
    impact: Option<Impact>,
    /// Sum of `dr^2 / 2` over steps in which the force was held.
    way: f64,
    /// Energy that the force has added, if it follows the body, in those in which it came with derivatives.
    by_derivatives: f64,
    /// Largest speed of the body so far.
    speed: f64,
    /// Stiffness of the force once it is known to follow the body.
    stiffness: Option<f64>,
}

/// What a step has shown of the force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// Nothing.
    None,
    /// It follows the body.
    Follows {
        /// Its stiffness.
        stiffness: f64,
        /// Energy that holding it has added so far.
        added: f64,
        /// Largest speed of the body so far.
        speed: f64,
    },
    /// It grows without end.
    Grows,
}

/// An impact in the last step or the one before.
#[derive(Clone, Copy, Debug)]
struct Impact {
    /// Displacement and change of velocity at the end of its step.
    displacement: Vector3<f64>,
    velocity: Vector3<f64>,
    /// Rate of the force before it, and how much that used to change.
    slope: Vector3<f64>,
    bend: f64,
    /// Stiffness by the change of the rate in the first step after it, and in the second if it may be that of a spring.
    first: Option<f64>,
    second: Option<f64>,
}

/// Largest changes of the force in stretches of some steps.
#[derive(Clone, Copy, Debug)]
struct Growth {
    steps: u32,
    largest: f64,
    last: f64,
    /// Stretches in a row that were larger than the one before.
    count: u32,
}

/// An impact changes the velocity so many times more than all else does in a step.
const IMPACT: f64 = 3.0;
/// The answer to an impact is larger by this than what changed before it.
const CLEAR: f64 = 5.0;
/// Largest `(H omega)^2` of a spring that is still as it was when its rate is compared.
const SOFT: f64 = 0.1;
/// Part of a step that an impact has to be before its end to displace the body.
const EARLY: f64 = 0.2;
/// First parts of the answer, as parts of the whole.
const PARTS: std::ops::RangeInclusive<f64> = -0.1..=1.2;
/// Part of the answer that is left one step later, at least: a force that jumps does so once.
const LASTING: f64 = 0.3;
/// How fast changes are forgotten.
const FADING: f64 = 0.8;
/// Steps in a stretch, by how much stretches grow, and how many in a row are more than a force that sets in softly.
const STRETCH: u32 = 5;
const GROWTH: f64 = 2.0;
const ENDLESS: u32 = 4;

impl HeldForce {
    /// Nothing seen yet.
    pub fn on(node: usize) -> HeldForce {
        HeldForce {
            node,
            idle: true,
            time: f64::NAN,
            force: Vector3::zeros(),
            mean: Vector3::zeros(),
            moved: Vector3::zeros(),
            duration: 1.0,
            touched: false,
            slope: Vector3::zeros(),
            bend: 0.0,
            growth: Growth { steps: 0, largest: 0.0, last: 0.0, count: 0 },
            growing: GrowingForce::new(),
            impact: None,
            way: 0.0,
            by_derivatives: 0.0,
            speed: 0.0,
            stiffness: None,
        }
    }

    /// Index of the body.
    pub fn node(&self) -> usize {
        self.node
    }

    /// Whether there is nothing to follow while the force stays zero and nothing touches the body.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// Looks at a step.
    #[inline]
    pub fn see(&mut self, before: &State<f64>, after: &State<f64>) -> Finding {
        let is_next = before.time == self.time;
        self.time = after.time;
        let nothing = Vector3::zeros();
        let input = &before.inputs[self.node];
        if self.idle && input.value == nothing {
            let impulse = &after.nodes[self.node].contact_impulse;
            if *impulse == nothing {
                return Finding::None;
            }
            if input.derivatives == [nothing; MAX_INPUT_DERIVATIVE] && self.is_load(impulse, before, after) {
                return self.carry(after.step.duration);
            }
        }
        self.look(before, after, is_next)
    }

    /// Whether a contact impulse on a body without external force is clearly none of an impact, as
    /// [`find_impact`](Self::find_impact) has it.
    #[inline]
    fn is_load(&self, impulse: &Vector3<f64>, before: &State<f64>, after: &State<f64>) -> bool {
        /// Below the limit, so that rounding does not decide.
        const CLEARLY: f64 = 0.5;
        let limit = IMPACT * before.parameters.mass[self.node] * after.step.duration;
        impulse.norm_squared() < CLEARLY * limit * limit * before.parameters.gravity.norm_squared()
    }

    /// What [`look`](Self::look) makes of such a step.
    #[inline]
    fn carry(&mut self, duration: f64) -> Finding {
        self.bend *= FADING;
        self.duration = duration;
        if self.growth.see(0.0) { Finding::Grows } else { Finding::None }
    }

    #[inline(never)]
    fn look(&mut self, before: &State<f64>, after: &State<f64>, is_next: bool) -> Finding {
        if !is_next && !self.idle {
            *self = HeldForce { time: self.time, ..HeldForce::on(self.node) };
        }
        let input = &before.inputs[self.node];
        let mass = before.parameters.mass[self.node];
        let change = input.value - self.force;
        let slope = change / self.duration;
        match self.impact.take() {
            Some(impact) => self.compare(impact, &slope, mass),
            None => self.bend = (FADING * self.bend).max((slope - self.slope).norm()),
        }
        if self.mean == self.force {
            self.way += 0.5 * self.moved.norm_squared();
        } else {
            self.by_derivatives += (self.mean - (self.force + input.value) * 0.5).dot(&self.moved);
        }
        let duration = after.step.duration;
        let grows = self.growth.see(change.norm()) | self.growing.see(&input.value, duration, self.touched);
        self.moved = after.nodes[self.node].position - before.nodes[self.node].position;
        self.touched = after.nodes[self.node].contact_impulse != Vector3::zeros();
        self.speed = self.speed.max(after.nodes[self.node].velocity.norm());
        self.mean = input.at(0.5 * duration);
        (self.force, self.slope, self.duration) = (input.value, slope, duration);
        if self.impact.is_none() {
            self.impact = self.find_impact(before, after, mass);
        }
        self.idle = self.is_quiet();
        match self.stiffness {
            _ if grows => Finding::Grows,
            Some(stiffness) => {
                let added = stiffness * self.way + self.by_derivatives;
                Finding::Follows { stiffness, added, speed: self.speed }
            }
            None => Finding::None,
        }
    }

    /// Whether a force that stays zero has nothing more to tell.
    fn is_quiet(&self) -> bool {
        let is_zero = |vectors: [Vector3<f64>; 3]| vectors.iter().all(|vector| *vector == Vector3::zeros());
        self.impact.is_none() && self.stiffness.is_none() && is_zero([self.force, self.slope, self.mean])
    }

    /// The impact in the last step, if there was one.
    fn find_impact(&self, before: &State<f64>, after: &State<f64>, mass: f64) -> Option<Impact> {
        let velocity = after.nodes[self.node].contact_impulse / mass;
        let besides = before.parameters.gravity + self.mean / mass;
        let usual = before.parameters.gravity.norm() + self.mean.norm() / mass;
        let h = self.duration;
        (velocity.norm() > IMPACT * usual * h).then(|| Impact {
            displacement: self.moved - (before.nodes[self.node].velocity + besides * (0.5 * h)) * h,
            velocity,
            slope: self.slope,
            bend: self.bend,
            first: None,
            second: None,
        })
    }

    /// Compares the force after an impact with the one before: at once where a spring is stiff, otherwise when the whole
    /// change of its rate has shown and lasts.
    fn compare(&mut self, impact: Impact, slope: &Vector3<f64>, mass: f64) {
        let Impact { displacement, velocity, slope: before, bend, first, second } = impact;
        let h = self.duration;
        let turned = slope - before;
        let stiffness = -turned.dot(&velocity) / velocity.norm_squared();
        let found = match (first, second) {
            (None, _) => {
                self.impact = Some(Impact { first: Some(stiffness), ..impact });
                let by_displacement = -turned.dot(&displacement) * h / displacement.norm_squared();
                let is_stiff = displacement.norm() > EARLY * h * velocity.norm()
                    && by_displacement * h * h > SOFT * mass
                    && turned.norm() > CLEAR * bend;
                is_stiff.then_some(by_displacement)
            }
            (Some(first), None) => {
                let may_follow = stiffness > 0.0
                    && PARTS.contains(&(first / stiffness))
                    && stiffness * velocity.norm() > CLEAR * bend;
                if may_follow {
                    self.impact = Some(Impact { second: Some(stiffness), ..impact });
                }
                None
            }
            (Some(_), Some(second)) => (stiffness > LASTING * second).then_some(stiffness.max(second)),
        };
        self.stiffness = self.stiffness.or(found);
    }
}

impl Growth {
    /// Takes the newest change. Returns whether changes grow without end.
    #[inline]
    fn see(&mut self, change: f64) -> bool {
        self.largest = self.largest.max(change);
        self.steps += 1;
        if self.steps == STRETCH {
            let grows = self.last > 0.0 && self.largest > GROWTH * self.last;
            self.count = if grows { self.count.saturating_add(1) } else { 0 };
            (self.steps, self.last, self.largest) = (0, self.largest, 0.0);
        }
        self.count >= ENDLESS
    }
}
