//! How a body answers to a change of force, against what its mass makes expect.
//!
//! - An answer that is off by the same factor again and again is a wrong mass, and the mass is corrected.
//! - After an impact a spring pulls back: `a` follows the displacement, `d2a = -omega^2 d2q` in second differences, in
//!   which the motion of its other end drops out. Where `H omega` is too large for the force of one window to be shaped
//!   by what was seen in the last, shaping and adaptation give up.

use super::memory::Window;
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// What is known of the response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response<S: Scalar> {
    /// By how much the body responds as if it were heavier than the model says.
    pub mass_factor: S,
    /// The same for its inertia.
    pub inertia_factor: S,
    /// Whether a spring at the body is too stiff for the communication step, or answers contradict each other.
    pub stiff: bool,
    spring: bool,
    /// Windows since the mass was corrected, and by what.
    since: u32,
    ratio: f64,
    /// Acceleration besides contact, position and acceleration by contact in the last two windows, newest first.
    trail: [Sample<S>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Sample<S: Scalar> {
    besides: Vector3<S>,
    position: Vector3<S>,
    contact: Vector3<S>,
}

/// Changes of force that make less than this times the expected acceleration do not tell.
const TELLING: f64 = 3.0;
/// Nor do those of less than this part of the force.
const TELLING_PART: f64 = 0.3;
/// Those that make more are impacts.
const IMPACT: f64 = 20.0;
/// Ratios within this of 1 are left alone.
const DEAD_BAND: f64 = 0.05;
/// A body that responds with less than this part does not respond.
const LEAST: f64 = 0.1;
/// Bounds of one correction.
const CORRECTION: (f64, f64) = (0.25, 4.0);
/// Windows within which two corrections belong to the same impact.
const SAME_IMPACT: u32 = 3;
/// Largest `(H omega)^2` for which shaping helps.
const STIFF: f64 = 0.03;

impl<S: Scalar> Response<S> {
    /// As the model says.
    pub fn new() -> Response<S> {
        let nothing =
            Sample { besides: Vector3::zeros(), position: Vector3::zeros(), contact: Vector3::zeros() };
        Response {
            mass_factor: S::one(),
            inertia_factor: S::one(),
            stiff: false,
            spring: false,
            since: u32::MAX,
            ratio: 1.0,
            trail: [nothing; 2],
        }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Response<T> {
        Response {
            mass_factor: convert(self.mass_factor),
            inertia_factor: convert(self.inertia_factor),
            stiff: self.stiff,
            spring: self.spring,
            since: self.since,
            ratio: self.ratio,
            trail: self.trail.each_ref().map(|sample| Sample {
                besides: sample.besides.map(convert),
                position: sample.position.map(convert),
                contact: sample.contact.map(convert),
            }),
        }
    }

    /// Looks at the last window: the acceleration `surprise` that came besides the one expected, the one that the
    /// contact force makes, and its change; accelerations up to the `least` one tell nothing. Returns whether the mass was corrected, and the error of the response.
    pub fn see(
        &mut self,
        surprise: &Vector3<S>,
        contact: &Vector3<S>,
        change: &Vector3<S>,
        (expected, least): (&Vector3<S>, f64),
        adapt: bool,
        latency: u8,
    ) -> (bool, Option<S>) {
        self.since = self.since.saturating_add(1);
        let mut corrected = false;
        let (size, usual) = (length(change).value(), length(expected).value().max(least));
        if self.stiff || size <= TELLING * usual || size <= TELLING_PART * length(contact).value() {
            return (false, None);
        }
        let ratio = S::one() + surprise.dot(change) / change.dot(change);
        let off = ratio.value() - 1.0;
        let error = length(surprise) / length(change);
        if adapt && off.abs() > DEAD_BAND {
            let again = self.since <= SAME_IMPACT + u32::from(latency);
            if again && off * (self.ratio - 1.0) < 0.0 {
                self.give_up();
            } else if ratio.value() > LEAST {
                self.mass_factor /= clamp(ratio);
                (self.since, self.ratio) = (0, ratio.value());
                corrected = true;
            }
        }
        (corrected, Some(error))
    }

    /// The same for turning, without a look at springs.
    pub fn see_turning(
        &mut self,
        surprise: &Vector3<S>,
        contact: &Vector3<S>,
        change: &Vector3<S>,
        (expected, least): (&Vector3<S>, f64),
    ) -> bool {
        let (size, usual) = (length(change).value(), length(expected).value().max(least));
        if self.stiff || size <= IMPACT * usual || size <= TELLING_PART * length(contact).value() {
            return false;
        }
        let ratio = S::one() + surprise.dot(change) / change.dot(change);
        let corrected = (ratio.value() - 1.0).abs() > DEAD_BAND && ratio.value() > LEAST;
        if corrected {
            self.inertia_factor /= clamp(ratio);
        }
        corrected
    }

    /// Looks at the mass at the end of a link: `surprise` is the change of its acceleration besides the `change` by the
    /// link. Corrects the mass when two windows in a row are off by the same factor, as those of a free mass are and those
    /// of one that is held are not. Returns whether it did.
    pub fn see_link(&mut self, surprise: &Vector3<S>, change: &Vector3<S>) -> bool {
        let size = length(change).value();
        if size == 0.0 {
            self.ratio = 1.0;
            return false;
        }
        let ratio = S::one() + surprise.dot(change) / change.dot(change);
        let last = std::mem::replace(&mut self.ratio, ratio.value());
        let off = ratio.value() - 1.0;
        let corrected = off.abs() > DEAD_BAND
            && ratio.value() > LEAST
            && (ratio.value() - last).abs() < TOLERANCES.small * last;
        if corrected {
            self.mass_factor /= clamp(ratio);
            self.ratio = 1.0;
        }
        corrected
    }

    /// Looks for a stiff spring: `besides` contact and `by contact` are the mean accelerations of the window.
    pub fn see_spring(
        &mut self,
        window: &Window<S>,
        besides: Vector3<S>,
        contact: Vector3<S>,
        expected: &Vector3<S>,
        error: Option<S>,
        latency: u8,
    ) {
        let position = (window.before.position + window.after.position) * S::from(0.5);
        let newest = Sample { besides, position, contact };
        let [last, first] = self.trail;
        self.trail = [newest, last];
        let settled = self.since > SAME_IMPACT + u32::from(latency);
        if self.stiff || !settled || error.is_some_and(|error| error.value() > DEAD_BAND) {
            return;
        }
        let bend = |of: fn(&Sample<S>) -> Vector3<S>| of(&newest) - of(&last) * S::from(2.0) + of(&first);
        let (acceleration, displacement) = (bend(|sample| sample.besides), bend(|sample| sample.position));
        let jump = length(&(newest.contact - last.contact))
            .value()
            .max(length(&(last.contact - first.contact)).value());
        let h = window.length;
        let moved = length(&displacement).value();
        // Only an impact bends the path enough.
        let rounding = TOLERANCES.rounding * window.position_scale(expected);
        if jump <= IMPACT * length(expected).value() || moved <= (0.25 * h * h * jump).max(rounding) {
            return;
        }
        if -acceleration.dot(&displacement).value() / (moved * moved) * h * h > STIFF {
            self.give_up();
            self.spring = true;
        }
    }

    /// Whether it has given up because of a stiff spring. Otherwise it may be no mass that answers.
    pub fn is_on_stiff_spring(&self) -> bool {
        self.stiff && self.spring
    }

    fn give_up(&mut self) {
        self.stiff = true;
        (self.mass_factor, self.inertia_factor) = (S::one(), S::one());
    }
}

fn clamp<S: Scalar>(ratio: S) -> S {
    let (least, most) = CORRECTION;
    if (least..=most).contains(&ratio.value()) { ratio } else { S::from(ratio.value().clamp(least, most)) }
}
