//! When a master applies a force: in the window for which it was made, or one window later, because it exchanges
//! values only after all have stepped.
//!
//! Both are assumed side by side, each with an observer of its own; the one whose accelerations are foretold better is
//! true. To tell them apart before the first impact, three windows carry a force of about a millionth of the weight,
//! `+1 -2 +1`, which leaves neither velocity nor displacement. Where that drowns in the motion, the first impact tells:
//! a response comes at once or not at all.

use super::memory::{Memory, Window};
use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// What is known of the latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyMemory {
    /// Windows between a force and its effect, as far as known.
    pub windows: u8,
    /// Whether that is more than a guess.
    pub known: bool,
    /// Squared errors of what was foretold for either, fading.
    cost: [f64; 2],
}

/// Windows that have to be made before errors count: the first guess may be anything.
const WARM_UP: u32 = 4;
/// How fast old errors fade.
const FADING: f64 = 0.9;
/// Errors that differ by less do not tell.
const CLEAR: f64 = 100.0;
/// An impact makes so many times the acceleration that is expected without it.
const IMPACT: f64 = 20.0;
/// Part of the expected response above which there is one, whatever the mass.
const RESPONDS: f64 = 0.1;

/// First window with a probe, and the probes.
const PROBE_FROM: u32 = 2;
const PROBE: [f64; 3] = [1.0, -2.0, 1.0];
/// Size of the probe as a part of the acceleration, and of the change of velocity over a window.
const PROBE_SIZE: (f64, f64) = (1e-6, 1e-9);
/// Forces below this part of the probe are rounding.
const QUIET: f64 = 1e-3;

impl LatencyMemory {
    /// Given, or to be found out.
    pub fn new(given: Option<u8>) -> LatencyMemory {
        LatencyMemory { windows: given.unwrap_or(0), known: given.is_some(), cost: [0.0; 2] }
    }
}

/// Whether an acceleration is that of an impact.
pub fn is_impact<S: Scalar>(response: &Vector3<S>, expected: &Vector3<S>) -> bool {
    length(response).value() > IMPACT * length(expected).value() + 1e-9
}

/// Looks at the last window. Returns the latency once it is clear.
pub fn detect<S: Scalar>(memory: &mut Memory<S>, window: &Window<S>) -> Option<u8> {
    if memory.made >= WARM_UP {
        for (windows, cost) in memory.latency.cost.iter_mut().enumerate() {
            let expected = memory.observers[windows].expect(window.middle, true).linear;
            let error = window.besides(&memory.sent[windows]).linear - expected;
            *cost = FADING * *cost + error.dot(&error).value();
        }
        let rounding = 1e-14 * (1.0 + length(&window.after.velocity).value()) / window.length;
        let [at_once, late] = memory.latency.cost;
        if at_once.max(late) > CLEAR * (at_once.min(late) + rounding * rounding) {
            return Some(u8::from(late < at_once));
        }
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

/// Acceleration of the probe in a window over which the contact force makes `response`: none unless that is rounding.
pub fn probe<S: Scalar>(
    windows: u32,
    response: &Vector3<S>,
    expected: &Vector3<S>,
    velocity: &Vector3<S>,
    span: f64,
) -> Vector3<S> {
    let Some(&sign) = windows.checked_sub(PROBE_FROM).and_then(|index| PROBE.get(index as usize)) else {
        return Vector3::zeros();
    };
    let probe = (expected * S::from(PROBE_SIZE.0) + velocity * S::from(PROBE_SIZE.1 / span)) * S::from(sign);
    let is_quiet = length(response).value() <= QUIET * length(&probe).value();
    if is_quiet { probe } else { Vector3::zeros() }
}
