//! The Delassus operator `W = R M^-1 C^T` of the active contacts, equilibrated: impulses act through the columns
//! `C`, velocities are seen through the rows `R`. For most schemes both are the Jacobian `J`.
//!
//! Contact `i` is scaled by `d_i = 1 / sqrt(w_i)`, where `w_i` is the mean of the diagonal of its own block:
//! impulses are `p_i = d_i r_i`, velocities `d_i u_i`. Cones are kept, and the residual no longer depends on units
//! or masses.

use super::block_matrix::Block;
use super::cone::ConeProblem;
use crate::engine::contact::{Carrier, InverseMass, Jacobian, Touch};
use crate::engine::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};

/// How easily bodies are moved: inverse masses by node, and inertias by rotation.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a, S> {
    /// Velocity of the centre for a unit impulse, by node.
    pub mobility: &'a [S],
    /// Principal moments of inertia, by rotation.
    pub inertia: &'a [Vector3<S>],
    /// Those that respond to one another, for which the inverse mass is a matrix.
    pub together: &'a InverseMass<S>,
}

impl<S: Scalar> Bodies<'_, S> {
    /// Velocity of a centre for a unit impulse, as the mean over all directions.
    fn moving_on_average(&self, node: usize) -> S {
        self.together.place(node).map_or(self.mobility[node], |place| self.together.mean(place))
    }

    /// Whether an impulse changes the motion of the body that carries a surface.
    fn yields(&self, carrier: &Carrier<S>) -> bool {
        self.mobility[carrier.node].value() > 0.0
            || carrier.rotation.is_some_and(|rotation| {
                self.inertia[rotation].iter().any(|moment| moment.value().is_finite())
            })
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
        let mut moving = bodies.moving_on_average(touch.node);
        let mut turning = S::zero();
        if let Some(rotation) = touch.rotation {
            turning += mobility(&bodies.inertia[rotation], &column.angular, &column.angular).trace();
        }
        if let Some(carrier) = &touch.carrier {
            moving += bodies.moving_on_average(carrier.node);
            if let Some(rotation) = carrier.rotation {
                turning += mobility(&bodies.inertia[rotation], &column.carrier, &column.carrier).trace();
            }
        }
        (S::one() / (moving + turning / S::from(3.0))).sqrt()
    }));
}

/// Which contacts push a body, by body: lists that are made anew for every problem.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// First entry of a body's list, by node; one past the last contact for none.
    heads: Vec<usize>,
    /// Contact and next entry, by entry: two for each contact.
    entries: Vec<(usize, usize)>,
    /// Contacts beside the one at hand.
    found: Vec<usize>,
}

/// No entry.
const END: usize = usize::MAX;

impl Neighbours {
    /// Room for problems of so many contacts between so many nodes.
    pub fn with_capacity(nodes: usize, contacts: usize) -> Neighbours {
        Neighbours {
            heads: vec![END; nodes],
            entries: Vec::with_capacity(2 * contacts),
            found: Vec::with_capacity(contacts),
        }
    }

    /// Lists the active `touches` by the bodies that they push.
    fn list<S: Scalar>(&mut self, touches: &[Touch<S>], active: &[usize], bodies: Bodies<'_, S>) {
        self.entries.clear();
        for &index in active {
            for node in pushed(&touches[index], bodies) {
                self.heads[node] = END;
            }
        }
        // From the last to the first, so that lists ascend.
        for (contact, &index) in active.iter().enumerate().rev() {
            for node in pushed(&touches[index], bodies) {
                self.entries.push((contact, self.heads[node]));
                self.heads[node] = self.entries.len() - 1;
            }
        }
    }

    /// Contacts that push a body which `touch` pushes too, in ascending order, `touch` itself among them.
    fn of<S: Scalar>(&mut self, touch: &Touch<S>, bodies: Bodies<'_, S>) -> &[usize] {
        self.found.clear();
        for node in pushed(touch, bodies) {
            let mut entry = self.heads[node];
            while entry != END {
                let (contact, next) = self.entries[entry];
                self.found.push(contact);
                entry = next;
            }
        }
        if touch.carrier.is_some() {
            self.found.sort_unstable();
            self.found.dedup();
        }
        &self.found
    }
}

/// The bodies that impulses of a contact move.
fn pushed<S: Scalar>(touch: &Touch<S>, bodies: Bodies<'_, S>) -> impl Iterator<Item = usize> {
    let carrier = touch.carrier.filter(|carrier| bodies.yields(carrier)).map(|carrier| carrier.node);
    // Bodies that respond to one another are one.
    std::iter::once(touch.node).chain(carrier).map(move |node| bodies.together.leader(node))
}

/// Writes `W` of the active `touches`. Leaves `q` and `mu` to the caller.
#[allow(clippy::too_many_arguments, reason = "the parts of one product")]
pub fn assemble<S: Scalar>(
    touches: &[Touch<S>],
    active: &[usize],
    rows: &[Jacobian<S>],
    columns: &[Jacobian<S>],
    scales: &[S],
    bodies: Bodies<'_, S>,
    neighbours: &mut Neighbours,
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
        let is_alone = bodies.together.place(one.node).is_none();
        if one.rotation.is_none() && one.carrier.is_none() && other.carrier.is_none() && is_alone {
            return linear;
        }
        let mut moving = S::zero();
        let mut turning = Matrix3::zeros();
        for (node, rotation, seen) in sides(one, row) {
            for (same, _, pushes) in sides(other, column) {
                let sign = S::from(seen.sign * pushes.sign);
                if let (Some(place), Some(pushed)) =
                    (bodies.together.place(node), bodies.together.place(same))
                {
                    let block = bodies.together.block(place, pushed);
                    turning += row.linear * block * column.linear.transpose() * sign;
                    continue;
                }
                if node != same {
                    continue;
                }
                moving += bodies.mobility[node] * sign;
                if let Some(rotation) = rotation {
                    turning += mobility(&bodies.inertia[rotation], seen.angular, pushes.angular);
                }
            }
        }
        (linear * moving + turning) * (scales[i] * scales[j])
    };
    problem.reset(active.len());
    neighbours.list(touches, active, bodies);
    for (i, &one) in active.iter().enumerate() {
        problem.w.begin_row(rows_of(&block(i, i)));
        for &j in neighbours.of(&touches[one], bodies) {
            if j != i {
                problem.w.push(j, rows_of(&block(i, j)));
            }
        }
    }
}

/// How one side of a contact sees its body.
struct SideRows<'a, S> {
    /// Of the velocity.
    sign: f64,
    /// Of the angular velocity, sign included.
    angular: &'a Matrix3<S>,
}

/// Body, rotation and rows of the sides of a contact.
fn sides<'a, S: Scalar>(
    touch: &Touch<S>,
    rows: &'a Jacobian<S>,
) -> impl Iterator<Item = (usize, Option<usize>, SideRows<'a, S>)> + use<'a, S> {
    let node = (touch.node, touch.rotation, SideRows { sign: 1.0, angular: &rows.angular });
    let carrier = touch
        .carrier
        .map(|carrier| (carrier.node, carrier.rotation, SideRows { sign: -1.0, angular: &rows.carrier }));
    std::iter::once(node).chain(carrier)
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
