//! Peiret's wheel in the paper's own coordinates and scheme: the engine's laws and solvers on a foreign `M, f, J`.
//!
//! q = (x, y, z, psi, theta, phi), v = dq/dt; everything at (q, v), positions with the old velocity (eq. 7), the
//! contact always active. [Peiret et al. 2016, Table 1 and Figs. 4, 5]

mod wheel_equations;

use contact_fmu::engine::law::{bounded, box_friction, bristle, facets};
use contact_fmu::engine::{
    BoxedProblem, ConeProblem, LcpScratch, LcpSettings, LcpSolver, Solvable, SolverChoice, SolverScratch,
    SolverSettings, Status, complementarity_solve,
};
use nalgebra::{Matrix3, Vector3};
use wheel_equations::{MU, WEIGHT, force, jacobian, mass_matrix, start};

type Memory = bristle::Memory<f64>;

const STOP: f64 = 5.0;

/// A friction law of the engine, applied to one contact.
trait Law {
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

struct Bounded<F: Fn(&Memory, [f64; 2], f64) -> bounded::BoundedRows<f64>>(F);

impl<F: Fn(&Memory, [f64; 2], f64) -> bounded::BoundedRows<f64>> Law for Bounded<F> {
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
        let polygon = [facets::Facets { mu: MU, count: self.0, direction: [1.0, 0.0] }];
        let mut problem = BoxedProblem::default();
        facets::assemble(facets::Polygon::Inner, &dense(w), q.as_slice(), &polygon, &mut problem);
        let z = solve_boxed(&problem, LcpSolver::Lemke);
        let mut impulses = Vector3::zeros();
        facets::impulses(facets::Polygon::Inner, &polygon, &z, impulses.as_mut_slice());
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
        let report = f64::solve(&problem, &mut r, &settings, &mut self.0);
        assert!(report.residual < 1e-10, "{report:?}");
        Vector3::from(r)
    }
}

/// What is compared: one row a step.
struct Sample {
    force: Vector3<f64>,
    slip: [f64; 2],
}

fn simulate(law: &mut dyn Law, h: f64) -> Vec<Sample> {
    let (mut q, mut v) = start();
    let mut last = Memory { normal: WEIGHT * h, tangential: [0.0; 2] };
    let steps = (STOP / h).round() as usize;
    let mut samples = Vec::with_capacity(steps);
    for _ in 0..steps {
        let inverse = mass_matrix(&q).try_inverse().expect("a mass matrix");
        let j = jacobian(&q);
        let free = v + inverse * force(&q, &v) * h;
        let slip = j * v;
        let w = j * inverse * j.transpose();
        let p = law.impulses(&w, &(j * free), [slip[1], slip[2]], &last, h);
        let after = free + inverse * j.transpose() * p;
        let contact = p / h;
        last = Memory { normal: p[0], tangential: [p[1], p[2]] };
        let slip = j * after;
        q += v * h;
        v = after;
        samples.push(Sample { force: contact, slip: [slip[1], slip[2]] });
    }
    samples
}

/// `|f_T| / (mu f_N)`, the value of Fig. 4.
fn normalised(sample: &Sample) -> f64 {
    sample.force[1].hypot(sample.force[2]) / (MU * sample.force[0])
}

/// Angle between friction and slip in degrees, the value of Fig. 5c.
fn misalignment(sample: &Sample) -> f64 {
    let angle = (-sample.force[2]).atan2(-sample.force[1]) - sample.slip[1].atan2(sample.slip[0]);
    angle.sin().atan2(angle.cos()).to_degrees()
}

fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value * value, count + 1));
    (sum / f64::from(count)).sqrt()
}

/// Deviations from the ideal law, in percent and degrees.
fn deviations(samples: &[Sample], ideal: &[Sample]) -> (f64, f64) {
    let ratio = ideal.len() / samples.len();
    let force = root_mean_square(
        samples
            .iter()
            .enumerate()
            .map(|(k, sample)| normalised(sample) - normalised(&ideal[ratio * (k + 1) - 1])),
    );
    let sliding = samples.iter().filter(|sample| sample.slip[0].hypot(sample.slip[1]) > 1e-3);
    (100.0 * force, root_mean_square(sliding.map(misalignment)))
}

struct Case {
    name: &'static str,
    law: Box<dyn Law>,
    /// Accepted deviation of the force, in percent.
    force: std::ops::Range<f64>,
    /// Accepted misalignment, in degrees.
    angle: std::ops::Range<f64>,
}

#[test]
fn laws_deviate_from_coulomb_as_the_paper_says() {
    let ideal = simulate(&mut Cone(SolverScratch::default()), 1e-4);
    let law = bristle::Bristle { stiffness: 1e10, threshold: 0.01 };
    let cases = [
        Case {
            name: "bristle",
            law: Box::new(Bounded(move |last: &Memory, slip, h| bristle::rows(&law, MU, last, slip, h))),
            force: 1.4..2.1,
            angle: 0.5..0.8,
        },
        Case { name: "facets", law: Box::new(Polyhedral(4)), force: 3.6..4.1, angle: 12.0..13.5 },
        Case {
            name: "box",
            law: Box::new(Bounded(|last: &Memory, _, _| box_friction::rows(MU, last.normal))),
            force: 9.5..10.0,
            angle: 13.5..14.5,
        },
    ];
    for Case { name, mut law, force: force_range, angle: angle_range } in cases {
        let samples = simulate(law.as_mut(), 1e-3);
        let (force, angle) = deviations(&samples, &ideal);
        println!("{name}: force {force:.2} %, misalignment {angle:.2} deg");
        assert!(force_range.contains(&force), "{name}: {force}");
        assert!(angle_range.contains(&angle), "{name}: {angle}");
    }
}
