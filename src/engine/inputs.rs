//! What a master applies: forces, torques, drives of motors, with their time derivatives.

use super::scalar::Scalar;
use nalgebra::SVector;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Highest order of input derivatives that a node's external force and torque take.
pub const MAX_INPUT_DERIVATIVE: usize = 3;

/// What a master gives: value and time derivatives at the start of the communication step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input<S: Scalar, const N: usize = 3> {
    /// Force, torque or drive.
    pub value: SVector<S, N>,
    /// Its derivatives of order 1, 2, ...
    pub derivatives: [SVector<S, N>; MAX_INPUT_DERIVATIVE],
}

/// Forces by node. Most masters apply none: then none is read or copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inputs<S: Scalar> {
    values: Vec<Input<S>>,
    /// Whether some of them may differ from zero.
    given: bool,
}

impl<S: Scalar> Inputs<S> {
    /// Zero for so many nodes.
    pub fn none(nodes: usize) -> Inputs<S> {
        Inputs { values: vec![Input::zero(); nodes], given: false }
    }

    /// Whether some of them may differ from zero.
    #[inline]
    pub fn are_given(&self) -> bool {
        self.given
    }

    /// Number of nodes.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks for it")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// One node more.
    pub fn push(&mut self, input: Input<S>) {
        self.given |= input != Input::zero();
        self.values.push(input);
    }

    /// Each, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Input<S>> {
        self.given = true;
        self.values.iter_mut()
    }

    /// Sets the derivatives to zero and keeps the values.
    pub fn clear_derivatives(&mut self) {
        if self.given {
            for input in &mut self.values {
                input.derivatives = Input::zero().derivatives;
            }
        }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Inputs<T> {
        Inputs { values: self.values.iter().map(|input| input.map(convert)).collect(), given: self.given }
    }

    /// Becomes a copy of others, without allocating where there are as many.
    #[inline]
    pub fn copy_from(&mut self, other: &Inputs<S>) {
        let differ = self.given || other.given || self.values.len() != other.values.len();
        if differ {
            self.values.clear();
            self.values.extend_from_slice(&other.values);
        }
        self.given = other.given;
    }
}

impl<S: Scalar> Index<usize> for Inputs<S> {
    type Output = Input<S>;

    #[inline]
    fn index(&self, node: usize) -> &Input<S> {
        &self.values[node]
    }
}

impl<S: Scalar> IndexMut<usize> for Inputs<S> {
    #[inline]
    fn index_mut(&mut self, node: usize) -> &mut Input<S> {
        self.given = true;
        &mut self.values[node]
    }
}

impl<S: Scalar, const N: usize> Input<S, N> {
    /// Nothing.
    pub fn zero() -> Input<S, N> {
        Input { value: SVector::zeros(), derivatives: [SVector::zeros(); MAX_INPUT_DERIVATIVE] }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Input<T, N> {
        Input {
            value: self.value.map(convert),
            derivatives: self.derivatives.each_ref().map(|derivative| derivative.map(convert)),
        }
    }

    /// Value at `elapsed` after the start of the communication step (Taylor polynomial).
    #[inline]
    pub fn at(&self, elapsed: f64) -> SVector<S, N> {
        let mut tail = SVector::zeros();
        for (index, derivative) in self.derivatives.iter().enumerate().rev() {
            tail = (tail + derivative) * S::from(elapsed / (index + 1) as f64);
        }
        self.value + tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_copied_and_forgotten() {
        let none = Inputs::<f64>::none(2);
        let mut given = none.clone();
        given[1].value[2] = 3.0;
        given[1].derivatives[0][0] = 4.0;
        assert!(given.are_given() && !none.are_given());
        let mut copy = none.clone();
        copy.copy_from(&given);
        assert_eq!(copy, given);
        copy.copy_from(&none);
        assert_eq!(copy, none);
        given.clear_derivatives();
        assert_eq!((given[1].value[2], given[1].derivatives[0][0]), (3.0, 0.0));
    }
}
