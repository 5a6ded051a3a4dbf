//! Motors: the free coordinate of a revolute or prismatic joint, or its rate, as a function of time.

use crate::engine::inputs::{Input, MAX_INPUT_DERIVATIVE};
use crate::engine::scalar::Scalar;
use crate::engine::scalar::elementary::{cos, sin, sincos};
use crate::engine::tolerances::TOLERANCES;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// What drives the free coordinate of a revolute or prismatic joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// What is prescribed.
    pub drive: Drive,
    /// As which function of time.
    pub profile: Profile,
}

/// What a motor prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drive {
    /// The rate of the joint's coordinate.
    Rate,
    /// The coordinate itself.
    Position,
}

/// A function of time that a motor follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Profile {
    /// What the master gives, by place in [`crate::engine::State::drives`].
    Input(usize),
    /// A constant.
    Constant(f64),
    /// `offset + amplitude sin(2 pi frequency t + phase)`.
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// Frequency in Hz.
        frequency: f64,
        /// Phase in rad.
        phase: f64,
        /// Mean.
        offset: f64,
    },
    /// From one value to another along half a cosine.
    Ramp {
        /// Value before.
        from: f64,
        /// Value after.
        to: f64,
        /// When it begins.
        start: f64,
        /// How long it takes.
        duration: f64,
    },
    /// Straight lines between points of time and value, in the order of time; the first and the last value beyond.
    Table(Vec<[f64; 2]>),
}

/// A moment within a communication step.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Start of the communication step.
    pub start: f64,
    /// Time since.
    pub elapsed: f64,
    /// Time left of it.
    pub left: f64,
}

/// What a motor asks of the coordinate of its joint.
#[derive(Clone, Copy, Debug)]
pub struct Demand<S> {
    /// Rate.
    pub rate: S,
    /// Coordinate, if it is prescribed.
    pub position: Option<S>,
}

impl Motor {
    /// What it asks at a moment, with the joint's coordinate before. A position that a master gives without its rate
    /// is reached at the end of the communication step, evenly.
    pub fn demand<S: Scalar>(&self, inputs: &[Input<S, 1>], moment: &Moment, before: S) -> Demand<S> {
        if let Profile::Input(place) = self.profile {
            return given(self.drive, &inputs[place], moment, before);
        }
        let (value, slope) = self.profile.at(moment.start + moment.elapsed);
        match self.drive {
            Drive::Rate => Demand { rate: S::from(value), position: None },
            Drive::Position => Demand { rate: S::from(slope), position: Some(S::from(value)) },
        }
    }
}

impl Profile {
    /// Value and slope at a time; zero for what a master gives.
    pub fn at(&self, time: f64) -> (f64, f64) {
        match self {
            Profile::Input(_) => (0.0, 0.0),
            Profile::Constant(value) => (*value, 0.0),
            Profile::Sine { amplitude, frequency, phase, offset } => {
                let angle = TAU * frequency * time + phase;
                let (sine, cosine) = sincos(angle);
                (offset + amplitude * sine, TAU * frequency * amplitude * cosine)
            }
            Profile::Ramp { from, to, start, duration } => {
                let part = ((time - start) / duration).clamp(0.0, 1.0);
                let height = to - from;
                let value = from + height * 0.5 * (1.0 - cos(PI * part));
                (value, height * 0.5 * PI / duration * sin(PI * part))
            }
            Profile::Table(points) => on_table(points, time),
        }
    }
}

fn given<S: Scalar>(drive: Drive, input: &Input<S, 1>, moment: &Moment, before: S) -> Demand<S> {
    let value = input.at(moment.elapsed)[0];
    match drive {
        Drive::Rate => Demand { rate: value, position: None },
        Drive::Position if input.derivatives.iter().any(|derivative| derivative[0].value() != 0.0) => {
            let mut slope = Input::zero();
            slope.value = input.derivatives[0];
            slope.derivatives[..MAX_INPUT_DERIVATIVE - 1].copy_from_slice(&input.derivatives[1..]);
            Demand { rate: slope.at(moment.elapsed)[0], position: Some(value) }
        }
        Drive::Position if moment.left > TOLERANCES.negligible * moment.elapsed => {
            Demand { rate: (value - before) / S::from(moment.left), position: None }
        }
        Drive::Position => Demand { rate: S::zero(), position: Some(value) },
    }
}

/// Value and slope of straight lines between points.
fn on_table(points: &[[f64; 2]], time: f64) -> (f64, f64) {
    let after = points.partition_point(|point| point[0] <= time);
    match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
        (Some([t0, x0]), Some([t1, x1])) => {
            let slope = (x1 - x0) / (t1 - t0);
            (x0 + slope * (time - t0), slope)
        }
        (Some(end), None) => (end[1], 0.0),
        (None, Some(first)) => (first[1], 0.0),
        (None, None) => (0.0, 0.0),
    }
}
