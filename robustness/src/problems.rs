//! Problem files: refused, or solved with a residual that is honest.

use crate::{Entropy, damage};
use contact_fmu::engine::{
    BoxedProblem, ConeProblem, LcpScratch, LcpSettings, LcpSolver, Report, SolverChoice, SolverScratch,
    SolverSettings, Status, complementarity_solve, solve_cone,
};
use contact_fmu::problem_file::{self, Problem, ProblemKind};
use std::path::Path;

const TOLERANCE: f64 = 1e-8;
const MAX_ITERATIONS: u32 = 200;

/// One file.
pub fn run(entropy: &mut Entropy) {
    let kind = *entropy.pick(&[ProblemKind::Lcp, ProblemKind::Boxed, ProblemKind::Cone]);
    let mut text = text(entropy, kind);
    if entropy.one_in(3) {
        let mut bytes = text.into_bytes();
        let times = 1 + entropy.below(5);
        damage::bytes(entropy, &mut bytes, times);
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    match problem_file::parse(&text, kind, Path::new("p.txt")) {
        Err(error) => assert!(error.to_string().starts_with("p.txt"), "{error}"),
        Ok(Problem::Boxed(problem)) => linear(entropy, &problem),
        Ok(Problem::Cone(problem)) => cone(entropy, &problem),
    }
}

fn text(entropy: &mut Entropy, kind: ProblemKind) -> String {
    let units = 1 + entropy.below(4);
    let rows = if kind == ProblemKind::Cone { 3 * units } else { units };
    let wild = entropy.one_in(4);
    let mut numbers = vec![if entropy.one_in(20) { damage::number(entropy) } else { units.to_string() }];
    let masses: Vec<f64> = (0..rows).map(|_| entropy.decades(1e-4, 1e5)).collect();
    let basis: Vec<Vec<f64>> =
        (0..rows).map(|_| (0..rows).map(|_| entropy.between(-1.0, 1.0)).collect()).collect();
    let rank = 1 + entropy.below(rows);
    for i in 0..rows {
        for j in 0..rows {
            let value: f64 = (0..rank).map(|k| basis[i][k] * basis[j][k] / masses[k]).sum();
            numbers.push(if wild { damage::number(entropy) } else { format!("{value:e}") });
        }
    }
    for _ in 0..rows {
        numbers.push(if wild {
            damage::number(entropy)
        } else {
            format!("{:e}", entropy.between(-1.0, 1.0))
        });
    }
    match kind {
        ProblemKind::Lcp => {}
        ProblemKind::Boxed => {
            let pick = |entropy: &mut Entropy, open: &str, sign: f64| {
                if entropy.one_in(2) { open.to_owned() } else { format!("{:e}", sign * entropy.unit()) }
            };
            numbers.extend((0..rows).map(|_| pick(entropy, "-inf", -1.0)));
            numbers.extend((0..rows).map(|_| pick(entropy, "inf", 1.0)));
        }
        ProblemKind::Cone => numbers.extend((0..units).map(|_| {
            let mu = if entropy.one_in(8) { 0.0 } else { entropy.between(0.0, 5.0) };
            mu.to_string()
        })),
    }
    numbers.join(if entropy.one_in(2) { " " } else { "\n" })
}

/// `rounding` is what the sums of `again` may be off by.
fn check(report: &Report, answer: &[f64], again: f64, rounding: f64) {
    assert_eq!(report.status == Status::Solved, report.residual <= TOLERANCE, "{report:?}");
    assert!(!report.residual.is_nan());
    if report.status == Status::Solved {
        assert!(answer.iter().all(|z| z.is_finite()), "{report:?}: {answer:?}");
        assert!(again <= 4.0 * TOLERANCE + rounding, "{report:?}, and by other code {again:e}");
    }
}

fn linear(entropy: &mut Entropy, problem: &BoxedProblem) {
    const SOLVERS: [LcpSolver; 6] = [
        LcpSolver::Auto,
        LcpSolver::Auto,
        LcpSolver::Lemke,
        LcpSolver::Pivoting,
        LcpSolver::Pgs,
        LcpSolver::Newton,
    ];
    let solver = *entropy.pick(&SOLVERS);
    let settings = LcpSettings { solver, tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS };
    let mut z = vec![0.0; problem.size()];
    let report = complementarity_solve(problem, &mut z, &settings, &mut LcpScratch::default());
    check(&report, &z, linear_residual(problem, &z), 0.0);
}

/// `|z - clamp(z - (M z + q))| / |q|`.
fn linear_residual(problem: &BoxedProblem, z: &[f64]) -> f64 {
    let BoxedProblem { m, q, lower, upper } = problem;
    let rows = q.len();
    let distance = |row: usize| {
        let w = (0..rows).rev().fold(q[row], |sum, column| sum + m[row * rows + column] * z[column]);
        // Median of three, which does not lose `w` beside a large `z`.
        let mut parts = [z[row] - upper[row], w, z[row] - lower[row]];
        parts.sort_by(f64::total_cmp);
        parts[1]
    };
    norm((0..rows).map(distance)) / scale(q)
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    // With the largest taken out, squares do not overflow.
    let values: Vec<f64> = values.map(f64::abs).collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 && largest.is_finite() {
        largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
    } else {
        largest
    }
}

fn scale(q: &[f64]) -> f64 {
    let norm = norm(q.iter().copied());
    if norm > 0.0 { norm } else { 1.0 }
}

fn cone(entropy: &mut Entropy, problem: &ConeProblem<f64>) {
    let choice =
        *entropy.pick(&[SolverChoice::Auto, SolverChoice::Auto, SolverChoice::Nsgs, SolverChoice::Newton]);
    let settings = SolverSettings { choice, tolerance: TOLERANCE, max_iterations: MAX_ITERATIONS };
    let mut r = vec![0.0; problem.rows()];
    let report = solve_cone(problem, &mut r, &settings, &mut SolverScratch::default());
    let rounding = 16.0 * f64::EPSILON * norm(r.iter().copied()) / scale(&problem.q);
    check(&report, &r, cone_residual(problem, &r), rounding);
}

/// The distance of `r` from the projection of `r - (u + mu |u_t| n)` onto the cone, by the smallest distance to a point
/// of the cone's axis, generator or tip.
fn cone_residual(problem: &ConeProblem<f64>, r: &[f64]) -> f64 {
    let distances = (0..problem.contacts()).flat_map(|contact| {
        let mu = problem.mu[contact];
        let u = problem.velocity(contact, r);
        let mine = [r[3 * contact], r[3 * contact + 1], r[3 * contact + 2]];
        let slide = u[1].hypot(u[2]);
        let point = [mine[0] - u[0] - mu * slide, mine[1] - u[1], mine[2] - u[2]];
        let aside = point[1].hypot(point[2]);
        let nearest = if point[0] >= 0.0 && aside <= mu * point[0] {
            point
        } else {
            // Along the generator of unit length nearest to the point.
            let length = (1.0 + mu * mu).sqrt();
            let along = ((point[0] + mu * aside) / length).max(0.0);
            let [normal, side] = [along / length, along * mu / length];
            let direction = if aside > 0.0 { [point[1] / aside, point[2] / aside] } else { [0.0; 2] };
            [normal, side * direction[0], side * direction[1]]
        };
        [0, 1, 2].map(|k| mine[k] - nearest[k])
    });
    norm(distances) / scale(&problem.q)
}
