//! Problems for the tests of the solvers.

use super::complementarity::{LcpSettings, LcpSolver};
use super::component::Component;
use super::split::Parts;
use super::{Effort, Scratch};
use crate::engine::problem::block_matrix::Block;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::problem::residual::natural_residual;
use nalgebra::Vector3;

/// A unit box of unit mass on its four lower corners, with the velocity and angular velocity `twist` before impulses.
/// Six degrees of freedom for twelve rows.
pub fn box_on_corners(twist: [f64; 6], mu: f64) -> ConeProblem<f64> {
    const INVERSE_INERTIA: f64 = 6.0;
    let axes = [Vector3::z(), Vector3::x(), Vector3::y()];
    let corners = [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]].map(|[x, y]| Vector3::new(x, y, -0.5));
    let block = |i: usize, j: usize| -> Block<f64> {
        std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                let turning = corners[j].cross(&axes[column]) * INVERSE_INERTIA;
                axes[row].dot(&(axes[column] + turning.cross(&corners[i])))
            })
        })
    };
    let [vx, vy, vz, wx, wy, wz] = twist;
    let mut problem = ConeProblem::default();
    problem.reset(corners.len());
    for i in 0..corners.len() {
        problem.w.begin_row(block(i, i));
        for j in (0..corners.len()).filter(|&j| j != i) {
            problem.w.push(j, block(i, j));
        }
        let velocity = Vector3::new(vx, vy, vz) + Vector3::new(wx, wy, wz).cross(&corners[i]);
        for (k, axis) in axes.iter().enumerate() {
            problem.q[3 * i + k] = axis.dot(&velocity);
        }
        problem.mu[i] = mu;
    }
    problem
}

/// Velocities of a box that sticks, slides, tips over an edge and lifts off.
pub const TWISTS: [[f64; 6]; 4] = [
    [0.1, 0.05, -1.0, 0.0, 0.1, 0.05],
    [3.0, -1.0, -1.0, 0.2, 0.0, 0.5],
    [1.0, 0.0, -0.3, 0.1, 2.0, 0.0],
    [0.3, 0.2, 1.0, 0.1, 0.1, 0.1],
];

/// The only part of a connected problem, at zero.
pub fn part_of(problem: &ConeProblem<f64>, tolerance: f64) -> Component {
    let mut parts = Parts::default();
    parts.find(problem);
    assert_eq!(parts.count(), 1);
    let mut part = Component::default();
    let goal = tolerance * problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    part.gather(problem, &vec![0.0; problem.rows()], parts.members(0), parts.position(), goal);
    part
}

/// The impulses of a part in the units of its problem.
pub fn impulses(part: &Component) -> Vec<f64> {
    let mut r = vec![0.0; 3 * part.contacts()];
    part.scatter(&mut r);
    r
}

/// The default settings, with a solver.
pub fn settings(solver: LcpSolver) -> LcpSettings {
    LcpSettings { solver, ..LcpSettings::default() }
}

/// A solver solves boxes on their corners within 2000 iterations.
pub fn assert_solves_boxes(solve: impl Fn(&mut Component, u32, &mut Scratch) -> Effort) {
    for twist in TWISTS {
        let problem = box_on_corners(twist, 0.4);
        let mut part = part_of(&problem, 1e-10);
        let effort = solve(&mut part, 2000, &mut Scratch::default());
        assert!(effort.solved && effort.iterations < 2000, "{twist:?}: {effort:?}");
        assert!(natural_residual(&problem, &impulses(&part)) <= 1e-10);
    }
}

/// A solver stops at its limit. Returns the residual of the point that it leaves of a box on its corners.
pub fn residual_at_limit(limit: u32, solve: impl Fn(&mut Component, u32, &mut Scratch) -> Effort) -> f64 {
    let problem = box_on_corners(TWISTS[1], 0.4);
    let mut part = part_of(&problem, 0.0);
    let effort = solve(&mut part, limit, &mut Scratch::default());
    assert_eq!((effort.iterations, effort.solved), (limit, false));
    natural_residual(&problem, &impulses(&part))
}
