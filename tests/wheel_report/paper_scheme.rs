//! Peiret's wheel in the paper's own coordinates and scheme: the engine's laws and solvers on a foreign `M, f, J`.
//!
//! q = (x, y, z, psi, theta, phi), v = dq/dt; everything at (q, v), positions with the old velocity (eq. 7), the
//! contact always active. [Peiret et al. 2016, Table 1]

use crate::linear_friction::{bounded, facets};
use crate::wheel_equations::deviation::{Deviation, distance_part};
use crate::wheel_equations::{
    MU, WEIGHT, energy, force, friction_used, jacobian, mass_matrix, position, start,
};
use contact_fmu::engine::law::bounded::BoundedRows;
use contact_fmu::engine::law::facets::{Facets, Polygon};
use contact_fmu::engine::law::{box_friction, bristle};
use contact_fmu::engine::{
    BoxedProblem, ConeProblem, LcpScratch, LcpSettings, LcpSolver, SolverChoice, SolverScratch,
    SolverSettings, Status, complementarity_solve, solve_cone,
};
use nalgebra::{Matrix3, Vector3};

type Memory = bristle::Memory<f64>;

const STOP: f64 = 5.0;

/// A friction law of the engine, applied to one contact.
pub trait Law {
    /// Impulses (normal, x, y) for `W`, `q`, the slip velocity and the impulses of the last step.
    fn impulses(
        &mut self,
        w: &Matrix3<f64>,
        q: &Vector3<f64>,
        slip: [f64; 2],
        last: &Memory,
        h: f64,
    ) -> Vector3<f64>;
}

fn dense(w: &Matrix3<f64>) -> Vec<f64> {
    w.transpose().as_slice().to_vec()
}

fn solve_boxed(problem: &BoxedProblem, solver: LcpSolver) -> Vec<f64> {
    let mut z = vec![0.0; problem.q.len()];
    let settings = LcpSettings { solver, ..LcpSettings::default() };
    let report = complementarity_solve(problem, &mut z, &settings, &mut LcpScratch::default());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    z
}

struct Bounded<F: Fn(&Memory, [f64; 2], f64) -> BoundedRows<f64>>(F);

impl<F: Fn(&Memory, [f64; 2], f64) -> BoundedRows<f64>> Law for Bounded<F> {
    fn impulses(
        &mut self,
        w: &Matrix3<f64>,
        q: &Vector3<f64>,
        slip: [f64; 2],
        last: &Memory,
        h: f64,
    ) -> Vector3<f64> {
        let rows = [(self.0)(last, slip, h)];
        let mut problem = BoxedProblem::default();
        bounded::assemble(&dense(w), q.as_slice(), &[0.0], &[0.0], &rows, &mut problem);
        let mut z = solve_boxed(&problem, LcpSolver::Pivoting);
        bounded::impulses(&mut z, &rows);
        Vector3::from_column_slice(&z)
    }
}

struct Polyhedral(usize);

impl Law for Polyhedral {
    fn impulses(
        &mut self,
        w: &Matrix3<f64>,
        q: &Vector3<f64>,
        _: [f64; 2],
        _: &Memory,
        _: f64,
    ) -> Vector3<f64> {
        let polygon = [Facets { mu: MU, count: self.0, direction: [1.0, 0.0] }];
        let mut problem = BoxedProblem::default();
        facets::assemble(Polygon::Inner, &dense(w), q.as_slice(), &polygon, &mut problem);
        let z = solve_boxed(&problem, LcpSolver::Lemke);
        let mut impulses = Vector3::zeros();
        facets::impulses(Polygon::Inner, &polygon, &z, impulses.as_mut_slice());
        impulses
    }
}

struct Cone(SolverScratch);

impl Law for Cone {
    fn impulses(
        &mut self,
        w: &Matrix3<f64>,
        q: &Vector3<f64>,
        _: [f64; 2],
        _: &Memory,
        _: f64,
    ) -> Vector3<f64> {
        let problem = ConeProblem::from_dense(&dense(w), q.as_slice().to_vec(), vec![MU]);
        let mut r = [0.0; 3];
        let settings = SolverSettings { choice: SolverChoice::Auto, tolerance: 1e-10, max_iterations: 1000 };
        let report = solve_cone(&problem, &mut r, &settings, &mut self.0);
        assert!(report.residual < 1e-10, "{report:?}");
        Vector3::from(r)
    }
}

/// The regularized law of the paper.
pub fn bristles() -> Box<dyn Law> {
    let law = bristle::Bristle { stiffness: 1e10, threshold: 0.01 };
    Box::new(Bounded(move |last: &Memory, slip, h| bristle::rows(&law, MU, last, slip, h)))
}

/// A polygon of `count` fixed directions inside the friction cone.
pub fn polygon(count: usize) -> Box<dyn Law> {
    Box::new(Polyhedral(count))
}

/// Bounds from the normal force of the last step along two fixed directions.
pub fn fixed_box() -> Box<dyn Law> {
    Box::new(Bounded(|last: &Memory, _, _| box_friction::rows(MU, last.normal)))
}

/// Coulomb's law itself.
pub fn cone() -> Box<dyn Law> {
    Box::new(Cone(SolverScratch::default()))
}

/// The end of a step.
pub struct Sample {
    pub time: f64,
    /// Contact force along z, x, y.
    pub force: Vector3<f64>,
    slip: [f64; 2],
    position: Vector3<f64>,
    energy: f64,
}

pub fn simulate(mut law: Box<dyn Law>, h: f64) -> Vec<Sample> {
    let (mut q, mut v) = start();
    let mut last = Memory { normal: WEIGHT * h, tangential: [0.0; 2] };
    let steps = (STOP / h).round() as usize;
    let mut samples = Vec::with_capacity(steps);
    for step in 1..=steps {
        let inverse = mass_matrix(&q).try_inverse().expect("a mass matrix");
        let j = jacobian(&q);
        let free = v + inverse * force(&q, &v) * h;
        let slip = j * v;
        let w = j * inverse * j.transpose();
        let p = law.impulses(&w, &(j * free), [slip[1], slip[2]], &last, h);
        let after = free + inverse * j.transpose() * p;
        last = Memory { normal: p[0], tangential: [p[1], p[2]] };
        let slip = j * after;
        q += v * h;
        v = after;
        samples.push(Sample {
            time: step as f64 * h,
            force: p / h,
            slip: [slip[1], slip[2]],
            position: position(&q),
            energy: energy(&q, &v),
        });
    }
    samples
}

/// Angle between friction and slip in degrees, while the wheel slides.
fn misalignment(sample: &Sample) -> Option<f64> {
    let Sample { force, slip, .. } = sample;
    let angle = (-force[2]).atan2(-force[1]) - slip[1].atan2(slip[0]);
    (slip[0].hypot(slip[1]) > 1e-3).then(|| angle.sin().atan2(angle.cos()).to_degrees())
}

/// `samples` beside those of the ideal law, whose steps are a whole part of theirs.
pub fn deviations(samples: &[Sample], ideal: &[Sample]) -> Vec<Deviation> {
    let ratio = ideal.len() / samples.len();
    let beginning = position(&start().0);
    let pairs = samples.iter().zip(ideal.iter().skip(ratio - 1).step_by(ratio));
    pairs
        .map(|(ours, ideal)| {
            let used = friction_used(&ours.force);
            Deviation {
                time: ours.time,
                friction_used: used,
                force: used - friction_used(&ideal.force),
                position: distance_part(&ours.position, &ideal.position, &beginning),
                energy: ours.energy - ideal.energy,
                misalignment: misalignment(ours),
            }
        })
        .collect()
}
