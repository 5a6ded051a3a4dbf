//! What the master applies besides contact: `a = (v - v0) / H - M^-1 f`, the mean acceleration of the last window
//! less that of the forces that are known. It supplies gravity, springs and whatever else the engine is not told of;
//! the trend of the last two windows carries it on.

use crate::engine::math::twist::Twist;
use crate::engine::scalar::Scalar;
use serde::{Deserialize, Serialize};

/// Mean accelerations of the last two windows that were taken for good.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observer<S: Scalar> {
    last: Twist<S>,
    before: Twist<S>,
    /// Middle of the windows; none before there is one.
    last_time: Option<f64>,
    before_time: Option<f64>,
}

impl<S: Scalar> Observer<S> {
    /// Knows nothing but a first guess.
    pub fn new(guess: Twist<S>) -> Observer<S> {
        Observer { last: guess, before: guess, last_time: None, before_time: None }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Observer<T> {
        Observer {
            last: self.last.map(convert),
            before: self.before.map(convert),
            last_time: self.last_time,
            before_time: self.before_time,
        }
    }

    /// Takes the mean acceleration of a window with the given middle.
    pub fn see(&mut self, acceleration: Twist<S>, middle: f64) {
        (self.before, self.before_time) = (self.last, self.last_time);
        (self.last, self.last_time) = (acceleration, Some(middle));
    }

    /// Keeps the last acceleration over a window that tells nothing, and no trend.
    pub fn skip(&mut self, middle: f64) {
        (self.before_time, self.last_time) = (None, Some(middle));
    }

    /// Acceleration to expect at `time`.
    pub fn expect(&self, time: f64, follow_trend: bool) -> Twist<S> {
        match (self.before_time, self.last_time) {
            (Some(before), Some(last)) if follow_trend && last > before => {
                let growth = (self.last - self.before) * S::from((time - last) / (last - before));
                self.last + growth
            }
            _ => self.last,
        }
    }
}
