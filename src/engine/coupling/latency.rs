//! When a master applies a force: in the window for which it was made, or one window later, because it exchanges
//! values only after all have stepped.
//!
//! Both are assumed side by side, each with an observer of its own; the one whose accelerations are foretold better is
//! true. To tell them apart before the first impact, three windows carry a force of about a millionth of the weight,
//! `+1 -2 +1`, which leaves neither velocity nor displacement.
//!
//! Where the mass is wrong or other forces hide the answer, differences of order 8 are compared, `y = g x + rest`, y those
//! of the accelerations, x those of the forces sent at once or one window late, and g whatever fits best: smooth forces all
//! but vanish in them. Where that does not tell either, the first impact does: a response comes at once or not at all.

use super::memory::{Memory, Window};
use crate::engine::math::twist::Wrench;
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// What is known of the latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyMemory {
    /// Windows between a force and its effect, as far as known: none or one.
    #[serde(deserialize_with = "none_or_one")]
    pub windows: u8,
    /// Whether that is more than a guess.
    pub known: bool,
    /// Whether the model or the interface says so, so that there is nothing to find out.
    pub given: bool,
    /// Whether it was given, and the body responds as if it were the other.
    pub doubted: bool,
    /// Squared errors of what was foretold for either, fading.
    cost: [f64; 2],
    differences: Differences,
}

/// A saved state may come from anywhere.
fn none_or_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let windows = u8::deserialize(deserializer)?;
    if windows > 1 {
        return Err(D::Error::custom("a latency of more than one window"));
    }
    Ok(windows)
}

/// High differences of accelerations and of forces, and fading sums of their products.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Differences {
    /// Newest first.
    accelerations: [Vector3<f64>; ORDER + 1],
    forces: [Vector3<f64>; ORDER + 2],
    answer: f64,
    /// For forces that act at once and late: squares, the largest of them, products with the answers.
    squares: [f64; 2],
    largest: [f64; 2],
    products: [f64; 2],
}

/// Order of the differences, and their weights.
const ORDER: usize = 8;
const WEIGHTS: [f64; ORDER + 1] = [1.0, -8.0, 28.0, -56.0, 70.0, -56.0, 28.0, -8.0, 1.0];
/// By how much rounding is larger in them.
const DIFFERENCE_ROUNDING: f64 = 120.0;
/// Squares of forces have to be this much more than the largest one: a single one is fitted by anything.
const SEVERAL: f64 = 2.0;

/// Windows that have to be made before errors count: the first guess may be anything.
const WARM_UP: u32 = 4;
/// How fast old errors fade.
const FADING: f64 = 0.9;
/// Errors that differ by less do not tell.
const CLEAR: f64 = 100.0;
/// Changes of velocity below this part of it cast no doubt on a latency that was given.
const DOUBT: f64 = 1e-3;
/// An impact makes so many times the acceleration that is expected without it.
const IMPACT: f64 = 20.0;
/// Part of the expected response above which there is one, whatever the mass.
const RESPONDS: f64 = 0.1;

/// First windows with a probe: the second time if it is still needed, when there are differences to see it by.
const PROBE_FROM: [u32; 2] = [2, 12];
/// The probes.
const PROBE: [f64; 3] = [1.0, -2.0, 1.0];
/// Size of the probe as a part of the acceleration, and of the change of velocity over a window.
const PROBE_SIZE: (f64, f64) = (1e-6, 1e-9);
/// Forces below this part of the probe are rounding.
const QUIET: f64 = 1e-3;

impl LatencyMemory {
    /// Given, or to be found out.
    pub fn new(given: Option<u8>) -> LatencyMemory {
        let differences = Differences {
            accelerations: [Vector3::zeros(); ORDER + 1],
            forces: [Vector3::zeros(); ORDER + 2],
            answer: 0.0,
            squares: [0.0; 2],
            largest: [0.0; 2],
            products: [0.0; 2],
        };
        LatencyMemory {
            windows: given.unwrap_or(0),
            known: given.is_some(),
            given: given.is_some(),
            doubted: false,
            cost: [0.0; 2],
            differences,
        }
    }
}

/// Whether an acceleration is that of an impact.
pub fn is_impact<S: Scalar>(response: &Vector3<S>, expected: &Vector3<S>) -> bool {
    length(response).value() > IMPACT * length(expected).value() + 1e-9
}

/// Looks at the last window. Returns the latency once it is clear.
///
/// What a point of a `mechanism` does across the force tells nothing.
pub fn detect<S: Scalar>(memory: &mut Memory<S>, window: &Window<S>, mechanism: bool) -> Option<u8> {
    let rounding = 1e-14 * (1.0 + length(&window.after.velocity).value()) / window.length;
    let acceleration = window.besides(&Wrench::zero()).linear.map(|x| x.value());
    let force = memory.sent[0].force.map(|x| x.value()) / window.mobility.mass.value();
    let differences = &mut memory.latency.differences;
    let by_differences = differences.see(acceleration, force, memory.made, rounding, mechanism);
    if let Some(windows) = foretold_better(memory, window, rounding).or(by_differences) {
        return Some(windows);
    }
    let [newest, before] = memory.sent.map(|wrench| wrench.force);
    let change = (newest - before) / window.mobility.mass;
    let expected = memory.observers[0].expect(window.middle, true).linear;
    if !is_impact(&change, &expected) {
        return None;
    }
    let seen = window.besides(&memory.sent[1]).linear - expected;
    let part = seen.dot(&change).value() / change.dot(&change).value();
    Some(u8::from(part <= RESPONDS))
}

/// Looks whether a body responds as if the latency were not the one that was given.
pub fn doubt<S: Scalar>(memory: &mut Memory<S>, window: &Window<S>) {
    let rounding = DOUBT * (1.0 + length(&window.after.velocity).value()) / window.length;
    let better = foretold_better(memory, window, rounding);
    let latency = &mut memory.latency;
    latency.doubted |= better.is_some_and(|windows| windows != latency.windows);
}

/// The latency by which accelerations are foretold clearly better.
fn foretold_better<S: Scalar>(memory: &mut Memory<S>, window: &Window<S>, rounding: f64) -> Option<u8> {
    if memory.made < WARM_UP {
        return None;
    }
    for (windows, cost) in memory.latency.cost.iter_mut().enumerate() {
        let expected = memory.observers[windows].expect(window.middle, true).linear;
        let error = window.besides(&memory.sent[windows]).linear - expected;
        *cost = FADING * *cost + error.dot(&error).value();
    }
    cheaper(memory.latency.cost, rounding)
}

/// The latency of the lower cost, if it is clearly lower.
fn cheaper([at_once, late]: [f64; 2], rounding: f64) -> Option<u8> {
    let is_clear = at_once.max(late) > CLEAR * (at_once.min(late) + rounding * rounding);
    is_clear.then_some(u8::from(late < at_once))
}

impl Differences {
    /// Takes the acceleration of a window and that which the force sent for it makes. Returns the latency once clear.
    fn see(
        &mut self,
        acceleration: Vector3<f64>,
        force: Vector3<f64>,
        made: u32,
        rounding: f64,
        mechanism: bool,
    ) -> Option<u8> {
        self.accelerations.rotate_right(1);
        self.forces.rotate_right(1);
        (self.accelerations[0], self.forces[0]) = (acceleration, force);
        if (made as usize) < ORDER + 2 {
            return None;
        }
        let sent = [0, 1].map(|windows| difference(&self.forces[windows..]));
        let along = sent[usize::from(sent[1].norm_squared() > sent[0].norm_squared())];
        let mut answer = difference(&self.accelerations);
        if mechanism && along != Vector3::zeros() {
            answer = along * (answer.dot(&along) / along.norm_squared());
        }
        self.answer = FADING * self.answer + answer.norm_squared();
        let mut cost = [self.answer; 2];
        let mut tells = true;
        for (windows, cost) in cost.iter_mut().enumerate() {
            let sent = sent[windows];
            let square = sent.norm_squared();
            self.squares[windows] = FADING * self.squares[windows] + square;
            self.largest[windows] = (FADING * self.largest[windows]).max(square);
            self.products[windows] = FADING * self.products[windows] + sent.dot(&answer);
            tells &= self.squares[windows] > SEVERAL * self.largest[windows];
            if self.products[windows] > RESPONDS * self.squares[windows] {
                *cost -= self.products[windows] * self.products[windows] / self.squares[windows];
            }
        }
        if tells { cheaper(cost.map(|cost| cost.max(0.0)), DIFFERENCE_ROUNDING * rounding) } else { None }
    }
}

fn difference(values: &[Vector3<f64>]) -> Vector3<f64> {
    values.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum()
}

/// Acceleration by probes where the master holds bodies still, of which their response tells nothing.
pub fn most_probed<S: Scalar>(gravity: &Vector3<S>) -> f64 {
    PROBE_SIZE.0 * length(gravity).value() * PROBE.iter().map(|part| part.abs()).sum::<f64>()
}

/// Acceleration of the probe in a window over which the contact force makes `response`: none unless that is rounding.
pub fn probe<S: Scalar>(
    memory: &Memory<S>,
    response: &Vector3<S>,
    expected: &Vector3<S>,
    velocity: &Vector3<S>,
    gravity: &Vector3<S>,
    span: f64,
) -> Vector3<S> {
    let from = PROBE_FROM[usize::from(memory.made >= PROBE_FROM[1] && !memory.latency.known)];
    let Some(&sign) = memory.made.checked_sub(from).and_then(|index| PROBE.get(index as usize)) else {
        return Vector3::zeros();
    };
    let size = length(gravity);
    let is_held =
        (length(expected) + length(velocity) / S::from(span)).value() <= TOLERANCES.small * size.value();
    // What the master holds still is probed as if it fell, in all directions: it may be guided.
    let expected = if is_held { Vector3::repeat(size / S::from(3.0).sqrt()) } else { *expected };
    let probe = (expected * S::from(PROBE_SIZE.0) + velocity * S::from(PROBE_SIZE.1 / span)) * S::from(sign);
    let is_quiet = length(response).value() <= QUIET * length(&probe).value();
    if is_quiet { probe } else { Vector3::zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_of_more_than_one_window_is_not_read() {
        let mut bytes = postcard::to_stdvec(&LatencyMemory::new(Some(1))).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(LatencyMemory::new(Some(1))));
        bytes[0] = 2;
        assert!(postcard::from_bytes::<LatencyMemory>(&bytes).is_err());
    }
}
