//! The Delassus operator `W = R M^-1 C^T` of the active contacts, equilibrated: impulses act through the columns
//! `C`, velocities are seen through the rows `R`. For most schemes both are the Jacobian `J`.
//!
//! Contact `i` is scaled by `d_i = 1 / sqrt(w_i)`, where `w_i` is the mean of the diagonal of its own block:
//! impulses are `p_i = d_i r_i`, velocities `d_i u_i`. Cones are kept, and the residual no longer depends on units
//! or masses.

use super::{Carrier, Jacobian, Touch};
use crate::engine::problem::block_matrix::Block;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};

/// How easily bodies are moved: inverse masses by node, and inertias by rotation.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a, S> {
    /// Velocity of the centre for a unit impulse, by node.
    pub mobility: &'a [S],
    /// Principal moments of inertia, by rotation.
    pub inertia: &'a [Vector3<S>],
}

impl<S: Scalar> Bodies<'_, S> {
    /// Whether an impulse changes the motion of the body that carries a surface.
    fn yields(&self, carrier: &Carrier<S>) -> bool {
        self.mobility[carrier.node].value() > 0.0
            || self.inertia[carrier.rotation].iter().any(|moment| moment.value().is_finite())
    }
}

/// Scales `d` of the active `touches`. For a point mass on a fixed surface it is the square root of the mass.
pub fn scales<S: Scalar>(
    touches: &[Touch<S>],
    active: &[usize],
    columns: &[Jacobian<S>],
    bodies: Bodies<'_, S>,
    scales: &mut Vec<S>,
) {
    scales.clear();
    scales.extend(active.iter().zip(columns).map(|(&index, column)| {
        let touch = &touches[index];
        let mut moving = bodies.mobility[touch.node];
        let mut turning = S::zero();
        if let Some(rotation) = touch.rotation {
            turning += mobility(&bodies.inertia[rotation], &column.angular, &column.angular).trace();
        }
        if let Some(carrier) = &touch.carrier {
            moving += bodies.mobility[carrier.node];
            turning += mobility(&bodies.inertia[carrier.rotation], &column.carrier, &column.carrier).trace();
        }
        (S::one() / (moving + turning / S::from(3.0))).sqrt()
    }));
}

/// Writes `W` of the active `touches`. Leaves `q` and `mu` to the caller.
pub fn assemble<S: Scalar>(
    touches: &[Touch<S>],
    active: &[usize],
    rows: &[Jacobian<S>],
    columns: &[Jacobian<S>],
    scales: &[S],
    bodies: Bodies<'_, S>,
    problem: &mut ConeProblem<S>,
) {
    let block = |i: usize, j: usize| {
        let (one, other) = (&touches[active[i]], &touches[active[j]]);
        let (row, column) = (&rows[i], &columns[j]);
        // The identity is written as such: round-off would break the symmetry of symmetric problems.
        let linear = if row.linear == column.linear {
            Matrix3::identity()
        } else {
            row.linear * column.linear.transpose()
        };
        // The scales of a point mass on fixed surfaces are the square root of the mass and cancel.
        if one.rotation.is_none() && one.carrier.is_none() && other.carrier.is_none() {
            return linear;
        }
        let mut moving = S::zero();
        let mut turning = Matrix3::zeros();
        if one.node == other.node {
            moving += bodies.mobility[one.node];
            if let Some(rotation) = one.rotation {
                turning += mobility(&bodies.inertia[rotation], &row.angular, &column.angular);
            }
        }
        if let (Some(carrier), Some(same)) = (&one.carrier, &other.carrier)
            && carrier.node == same.node
        {
            moving += bodies.mobility[carrier.node];
            turning += mobility(&bodies.inertia[carrier.rotation], &row.carrier, &column.carrier);
        }
        (linear * moving + turning) * (scales[i] * scales[j])
    };
    problem.reset(active.len());
    for (i, &one) in active.iter().enumerate() {
        problem.w.begin_row(rows_of(&block(i, i)));
        for (j, &other) in active.iter().enumerate() {
            if j != i && are_coupled(&touches[one], &touches[other], bodies) {
                problem.w.push(j, rows_of(&block(i, j)));
            }
        }
    }
}

/// Whether an impulse of one contact is felt by the other.
fn are_coupled<S: Scalar>(one: &Touch<S>, other: &Touch<S>, bodies: Bodies<'_, S>) -> bool {
    one.node == other.node
        || match (&one.carrier, &other.carrier) {
            (Some(carrier), Some(same)) => carrier.node == same.node && bodies.yields(carrier),
            _ => false,
        }
}

/// nalgebra stores columns, the problem rows.
fn rows_of<S: Scalar>(block: &Matrix3<S>) -> Block<S> {
    block.transpose().into()
}

/// Velocity in the rows that unit impulses in the columns make by turning a body.
fn mobility<S: Scalar>(inertia: &Vector3<S>, row: &Matrix3<S>, column: &Matrix3<S>) -> Matrix3<S> {
    let mut turned = column.transpose();
    for (mut axis, &moment) in turned.row_iter_mut().zip(inertia.iter()) {
        axis /= moment;
    }
    row * turned
}
