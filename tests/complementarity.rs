//! LCP and boxed problems: every solver on every problem file, and random problems against enumeration.

use crate::missing::skip;
use contact_fmu::engine::{
    BoxedProblem, LcpScratch, LcpSettings, LcpSolver, Report, Status, complementarity_solve,
};
use contact_fmu::problem_file::{self, Problem, ProblemKind};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const SOLVERS: [LcpSolver; 5] =
    [LcpSolver::Auto, LcpSolver::Pivoting, LcpSolver::Lemke, LcpSolver::Pgs, LcpSolver::Newton];

/// Files of our own LCP and boxed problems.
fn own_files() -> Vec<PathBuf> {
    linear_files(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/problems"))
}

/// Files from the tests of Siconos, where they are at hand.
fn siconos_files() -> Vec<PathBuf> {
    let folder = std::env::var_os("CONTACT_FMU_SICONOS_TESTS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/siconos-tests"),
        PathBuf::from,
    );
    let files = if folder.is_dir() { linear_files(folder) } else { Vec::new() };
    if files.is_empty() {
        skip("the folder of Siconos problems (CONTACT_FMU_SICONOS_TESTS)");
    }
    files
}

fn linear_files(folder: PathBuf) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| matches!(ProblemKind::of_file(path), Some(ProblemKind::Lcp | ProblemKind::Boxed)))
        .collect();
    files.sort();
    files
}

/// An LCP is a boxed problem, so that one type serves the tests.
fn boxed(problem: Problem) -> BoxedProblem {
    match problem {
        Problem::Boxed(problem) => problem,
        Problem::Cone(_) => panic!("not a linear problem"),
    }
}

/// `||z - clamp(z - (M z + q))|| / ||q||`, written once more, or the rounding of it where that is larger.
fn residual(problem: &BoxedProblem, z: &[f64]) -> f64 {
    let size = z.len();
    let m = DMatrix::from_row_slice(size, size, &problem.m);
    let (z, q) = (DVector::from_column_slice(z), DVector::from_column_slice(&problem.q));
    let w = &m * &z + &q;
    // Between the bounds it is `w`, without the rounding of a large `z`.
    let distance = w.map_with_location(|row, _, w| match z[row] - w {
        step if step < problem.lower[row] => z[row] - problem.lower[row],
        step if step > problem.upper[row] => z[row] - problem.upper[row],
        _ => w,
    });
    let scale = if q.norm() > 0.0 { q.norm() } else { 1.0 };
    let rounding = f64::EPSILON * (m.abs() * z.abs()).amax();
    let residual = distance.norm();
    (if rounding > 1e-12 * scale { residual.max(rounding) } else { residual }) / scale
}

fn solve_file(path: &Path, solver: LcpSolver, max_iterations: u32) -> (Report, Vec<f64>, BoxedProblem) {
    let settings = LcpSettings { solver, tolerance: 1e-10, max_iterations };
    let mut scratch = LcpScratch::default();
    let problem = boxed(problem_file::read(path, None).unwrap());
    let mut z = vec![0.0; problem.size()];
    let report = complementarity_solve(&problem, &mut z, &settings, &mut scratch);
    (report, z, problem)
}

#[test]
fn auto_solves_every_problem() {
    let own = own_files();
    assert!(own.len() >= 21, "only {} files", own.len());
    for path in own.iter().chain(&siconos_files()) {
        let (report, z, problem) = solve_file(path, LcpSolver::Auto, 10_000);
        assert_eq!(report.status, Status::Solved, "{}: {report:?}", path.display());
        assert!(residual(&problem, &z) <= 1e-10, "{}", path.display());
    }
}

#[test]
fn lemke_solves_facetted_hyperstatic_contact() {
    let degenerate = |path: &&PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("box4") || name.starts_with("red0")
    };
    let files = own_files();
    assert_eq!(files.iter().filter(degenerate).count(), 8);
    for path in files.iter().filter(degenerate) {
        let (report, z, problem) = solve_file(path, LcpSolver::Lemke, 10_000);
        assert_eq!(
            (report.status, report.solver),
            (Status::Solved, "lemke"),
            "{}: {report:?}",
            path.display()
        );
        assert!(residual(&problem, &z) <= 1e-10, "{}", path.display());
    }
}

#[test]
fn every_solver_solves_or_says_that_it_did_not() {
    for path in own_files().iter().chain(&siconos_files()) {
        for solver in SOLVERS {
            let limit = 300;
            let (report, z, problem) = solve_file(path, solver, limit);
            let residual = residual(&problem, &z);
            let name = path.display();
            assert!(report.iterations <= limit, "{name}: {solver:?} made {} iterations", report.iterations);
            assert!(z.iter().all(|z| z.is_finite()), "{name}: {solver:?}");
            assert!(
                (residual - report.residual).abs() <= 1e-12 + 1e-6 * residual,
                "{name}: {solver:?} reports {:e}, it is {residual:e}",
                report.residual
            );
            assert_eq!(report.status == Status::Solved, report.residual <= 1e-10, "{name}: {report:?}");
        }
    }
}

#[test]
fn one_scratch_serves_problems_of_all_sizes_and_does_not_change_answers() {
    let mut scratch = LcpScratch::default();
    let settings = LcpSettings::default();
    let problems: Vec<BoxedProblem> =
        own_files().iter().map(|path| boxed(problem_file::read(path, None).unwrap())).collect();
    let solve = |problem: &BoxedProblem, scratch: &mut LcpScratch| {
        let mut z = vec![0.0; problem.size()];
        complementarity_solve(problem, &mut z, &settings, scratch);
        z
    };
    for problem in problems.iter().chain(problems.iter().rev()) {
        assert_eq!(solve(problem, &mut scratch), solve(problem, &mut LcpScratch::default()));
    }
}

#[test]
fn a_warm_start_at_the_answer_stays_there() {
    for path in own_files() {
        let (cold, z, problem) = solve_file(&path, LcpSolver::Auto, 10_000);
        for solver in [LcpSolver::Auto, LcpSolver::Pivoting, LcpSolver::Pgs] {
            let mut warm = z.clone();
            let settings = LcpSettings { solver, tolerance: 1e-8, max_iterations: 1000 };
            let report = complementarity_solve(&problem, &mut warm, &settings, &mut LcpScratch::default());
            let name = path.display();
            // Without a positive diagonal block pivoting promises nothing.
            if solver != LcpSolver::Pivoting {
                assert_eq!(report.status, Status::Solved, "{name}: {report:?}");
            }
            match solver {
                LcpSolver::Pgs => assert!(report.iterations <= 2, "{name}: {report:?}"),
                LcpSolver::Auto if report.solver == cold.solver => {
                    assert!(report.iterations <= cold.iterations, "{name}: {report:?}");
                }
                _ => {}
            }
            if solver == LcpSolver::Auto && report.solver == "pivoting" {
                let change = z.iter().zip(&warm).fold(0.0_f64, |change, (a, b)| change.max((a - b).abs()));
                assert!(change <= 1e-9, "{name}: moved by {change:e}");
            }
        }
    }
}

/// All answers that some combination of free rows and bounds gives, by elimination of the whole matrix.
fn enumerate(problem: &BoxedProblem) -> Vec<Vec<f64>> {
    let size = problem.size();
    let m = DMatrix::from_row_slice(size, size, &problem.m);
    let mut answers = Vec::new();
    for combination in 0..3_usize.pow(u32::try_from(size).unwrap()) {
        let place = |row: usize| combination / 3_usize.pow(u32::try_from(row).unwrap()) % 3;
        let mut matrix = m.clone();
        let mut right = -DVector::from_column_slice(&problem.q);
        let mut possible = true;
        for row in 0..size {
            let bound = match place(row) {
                0 => continue,
                1 => problem.lower[row],
                _ => problem.upper[row],
            };
            possible &= bound.is_finite();
            matrix.row_mut(row).fill(0.0);
            matrix[(row, row)] = 1.0;
            right[row] = bound;
        }
        if !possible {
            continue;
        }
        let Some(z) = matrix.lu().solve(&right) else { continue };
        let z = z.as_slice().to_vec();
        if z.iter().all(|z| z.is_finite()) && residual(problem, &z) <= 1e-9 {
            answers.push(z);
        }
    }
    answers
}

fn solved_by(problem: &BoxedProblem, solver: LcpSolver) -> (Report, Vec<f64>) {
    let mut z = vec![0.0; problem.size()];
    let settings = LcpSettings { solver, ..LcpSettings::default() };
    let report = complementarity_solve(problem, &mut z, &settings, &mut LcpScratch::default());
    (report, z)
}

fn numbers(count: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-2.0..2.0, count)
}

/// `A A^T`, with `A` of the given width, plus `shift` on the diagonal and a skew part.
fn matrix(size: usize, width: usize, shift: f64, skew: f64) -> impl Strategy<Value = Vec<f64>> {
    (numbers(size * width), numbers(size * size)).prop_map(move |(a, s)| {
        let a = DMatrix::from_row_slice(size, width, &a);
        let s = DMatrix::from_row_slice(size, size, &s);
        let m = &a * a.transpose() + DMatrix::identity(size, size) * shift + (&s - s.transpose()) * skew;
        m.transpose().as_slice().to_vec()
    })
}

/// Bounds of every kind: one, two, none, or a single point.
fn bounds(size: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let infinity = f64::INFINITY;
    let one = prop_oneof![
        4 => Just((0.0, infinity)),
        1 => Just((-infinity, infinity)),
        3 => (-1.0..0.5, 0.0..1.5).prop_map(|(lower, width)| (lower, lower + width)),
        1 => (-1.0..1.0).prop_map(move |upper| (-infinity, upper)),
        1 => (-1.0..1.0).prop_map(|point| (point, point)),
    ];
    prop::collection::vec(one, size).prop_map(|bounds| bounds.into_iter().unzip())
}

fn lcp_problem(shift: f64, skew: f64, full_rank: bool) -> impl Strategy<Value = BoxedProblem> {
    (1..=6_usize)
        .prop_flat_map(move |size| {
            let width = if full_rank { size } else { size.div_ceil(2) };
            (matrix(size, width, shift, skew), numbers(size))
        })
        .prop_map(|(m, q)| BoxedProblem::lcp(m, q).unwrap())
}

fn boxed_problem(shift: f64, skew: f64, full_rank: bool) -> impl Strategy<Value = BoxedProblem> {
    (1..=6_usize)
        .prop_flat_map(move |size| {
            let width = if full_rank { size } else { size.div_ceil(2) };
            (matrix(size, width, shift, skew), numbers(size), bounds(size))
        })
        .prop_map(|(m, q, (lower, upper))| BoxedProblem::new(m, q, lower, upper).unwrap())
}

fn agrees(answers: &[Vec<f64>], z: &[f64]) -> bool {
    answers.iter().any(|answer| answer.iter().zip(z).all(|(a, z)| (a - z).abs() <= 1e-7 * (1.0 + a.abs())))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lcps_with_one_answer_agree_with_enumeration(problem in lcp_problem(0.1, 0.5, true)) {
        let answers = enumerate(&problem);
        prop_assert!(!answers.is_empty());
        for solver in [LcpSolver::Auto, LcpSolver::Pivoting, LcpSolver::Lemke] {
            let (report, z) = solved_by(&problem, solver);
            prop_assert_eq!(report.status, Status::Solved, "{:?}", report);
            prop_assert!(agrees(&answers, &z), "{:?}", report);
        }
    }

    #[test]
    fn boxed_problems_with_one_answer_agree_with_enumeration(problem in boxed_problem(0.1, 0.5, true)) {
        let answers = enumerate(&problem);
        prop_assert!(!answers.is_empty());
        for solver in [LcpSolver::Auto, LcpSolver::Pivoting, LcpSolver::Lemke] {
            let (report, z) = solved_by(&problem, solver);
            prop_assert_eq!(report.status, Status::Solved, "{:?}", report);
            prop_assert!(agrees(&answers, &z), "{:?}", report);
        }
    }

    #[test]
    fn gauss_seidel_and_newton_agree_with_enumeration(problem in boxed_problem(0.5, 0.0, true)) {
        let answers = enumerate(&problem);
        for solver in [LcpSolver::Pgs, LcpSolver::Newton] {
            let (report, z) = solved_by(&problem, solver);
            if report.status == Status::Solved {
                prop_assert!(agrees(&answers, &z), "{:?}", report);
            }
        }
        prop_assert_eq!(solved_by(&problem, LcpSolver::Pgs).0.status, Status::Solved);
    }

    #[test]
    fn singular_problems_are_solved_where_there_is_an_answer(problem in boxed_problem(0.0, 0.0, false)) {
        // Not by a hair: an answer must not depend on the last digits of a vanishing pivot.
        let solvable = enumerate(&problem).iter().any(|z| z.iter().all(|z| z.abs() < 1e4));
        for solver in SOLVERS {
            let (report, z) = solved_by(&problem, solver);
            prop_assert_eq!(report.status == Status::Solved, residual(&problem, &z) <= 1e-10, "{:?}", report);
            if solver == LcpSolver::Auto && solvable {
                prop_assert_eq!(report.status, Status::Solved, "{:?}", report);
            }
        }
    }

    /// `M` is positive semidefinite with `M v = 0` and `q . v < 0` for `v = (1, ..., 1)`: `w . v = q . v` forbids `w >= 0`.
    #[test]
    fn problems_without_answer_are_never_solved(size in 2..=6_usize, a in numbers(36), mut q in numbers(6)) {
        let mut a = DMatrix::from_row_slice(6, size, &a[..6 * size]);
        for mut row in a.row_iter_mut() {
            let mean = row.mean();
            row.add_scalar_mut(-mean);
        }
        q.truncate(size);
        let sum: f64 = q.iter().sum();
        q[0] -= sum + 1.0;
        let m = a.transpose() * a;
        let problem = BoxedProblem::lcp(m.as_slice().to_vec(), q).unwrap();
        for solver in SOLVERS {
            let (report, _) = solved_by(&problem, solver);
            prop_assert_ne!(report.status, Status::Solved, "{:?}", report);
        }
    }
}
