//! Solvers of the cone problem on the problem collection, on random problems against an independent solver, and on
//! problems without solution.

use crate::cone;
use crate::cone::{DenseProblem, Random, collection, residual, settings};
use crate::known_failures::judge;
use contact_fmu::engine::{
    ConeProblem, Dual, Friction, MixedProblem, Report, Solvable, SolverChoice, SolverScratch, Status,
    solve_cone,
};
use proptest::prelude::*;

const CHOICES: [SolverChoice; 3] = [SolverChoice::Auto, SolverChoice::Nsgs, SolverChoice::Newton];
const TOLERANCE: f64 = 1e-10;

fn solve(problem: &DenseProblem, choice: SolverChoice, max_iterations: u32) -> (Report, Vec<f64>) {
    let mut r = vec![0.0; problem.q.len()];
    let settings = settings(choice, TOLERANCE, max_iterations);
    let report = solve_cone(&problem.blocks(), &mut r, &settings, &mut SolverScratch::default());
    (report, r)
}

/// What must hold of every report, whatever the problem.
fn check_honesty(name: &str, problem: &DenseProblem, report: &Report, r: &[f64], max_iterations: u32) {
    let own = residual(problem, r);
    let who = format!("{name}: {report:?}, own residual {own:e}");
    assert!(report.iterations <= max_iterations, "{who}");
    assert!(r.iter().all(|r| r.is_finite()), "{who}");
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let round_off = 1e-14 * (1.0 + length(r) / length(&problem.q));
    assert!((own - report.residual).abs() <= 1e-6 * own + round_off, "{who}");
    assert_eq!(report.status == Status::Solved, report.residual <= TOLERANCE, "{who}");
}

#[test]
fn auto_solves_the_whole_collection() {
    for (name, problem) in collection() {
        let (report, r) = solve(&problem, SolverChoice::Auto, 1000);
        check_honesty(&name, &problem, &report, &r, 1000);
        assert_eq!(report.status, Status::Solved, "{name}: {report:?}");
    }
}

#[test]
fn every_solver_solves_or_says_that_it_did_not() {
    let mut solved = [0; CHOICES.len()];
    for (name, problem) in collection() {
        for (choice, solved) in CHOICES.into_iter().zip(&mut solved) {
            let (report, r) = solve(&problem, choice, 200);
            check_honesty(&name, &problem, &report, &r, 200);
            *solved += u32::from(report.status == Status::Solved);
        }
    }
    let [auto, nsgs, newton] = solved;
    assert!(nsgs >= 5 && newton >= 8 && auto >= newton, "{solved:?}");
}

#[test]
fn limits_hold() {
    for (name, problem) in collection() {
        for choice in CHOICES {
            for limit in [0, 1, 2, 5, 17] {
                let (report, r) = solve(&problem, choice, limit);
                // A contact on its own is solved in closed form, at the cost of one iteration.
                check_honesty(&name, &problem, &report, &r, limit.max(1));
            }
        }
    }
}

#[test]
fn the_iteration_limit_is_reported() {
    let problem = cone::wall(3, 3, 0.5, &mut Random(11));
    let (report, _) = solve(&problem, SolverChoice::Nsgs, 3);
    assert_eq!(report.status, Status::IterationLimit);
    assert_eq!(report.iterations, 3);
}

/// A solution as guess stays but for round-off, or is replaced by what a start from zero gives.
#[test]
fn solutions_are_kept_when_solved_again() {
    let mut kept = 0;
    for (name, problem) in collection() {
        let (first, before) = solve(&problem, SolverChoice::Auto, 1000);
        assert_eq!(first.status, Status::Solved);
        let settings = settings(SolverChoice::Auto, 10.0 * TOLERANCE, 1000);
        let [warm, cold] = [before.clone(), vec![0.0; before.len()]].map(|mut r| {
            let report = solve_cone(&problem.blocks(), &mut r, &settings, &mut SolverScratch::default());
            assert_eq!(report.status, Status::Solved, "{name}");
            r
        });
        let size = before.iter().fold(0.0_f64, |most, r| most.max(r.abs()));
        let moved = |from: &[f64]| {
            warm.iter().zip(from).fold(0.0_f64, |most, (r, from)| most.max((r - from).abs())) / size
        };
        // Impulses that do nothing have half of the digits.
        judge(&format!("cone_solvers::solutions_are_kept[{name}]"), || {
            assert!(moved(&before).min(moved(&cold)) <= 1e-7, "{name}: {:e}", moved(&before));
        });
        kept += u32::from(moved(&before) <= 1e-7);
    }
    assert!(kept >= 20, "{kept} kept");
}

#[test]
fn a_useless_guess_does_no_harm() {
    for (name, problem) in collection() {
        for guess in [f64::NAN, f64::INFINITY, 1e12, 1e250] {
            let mut r = vec![guess; problem.q.len()];
            let settings = settings(SolverChoice::Auto, 1e-8, 1000);
            let report = solve_cone(&problem.blocks(), &mut r, &settings, &mut SolverScratch::default());
            assert_eq!(report.status, Status::Solved, "{name} from {guess:e}: {report:?}");
        }
    }
}

#[test]
fn scratch_memory_carries_nothing_over() {
    let problems = collection();
    let mut shared = SolverScratch::with_capacity(4, 16);
    for (name, problem) in problems.iter().chain(problems.iter().rev()) {
        let settings = settings(SolverChoice::Auto, TOLERANCE, 1000);
        let (mut one, mut other) = (vec![0.0; problem.q.len()], vec![0.0; problem.q.len()]);
        solve_cone(&problem.blocks(), &mut one, &settings, &mut shared);
        solve_cone(&problem.blocks(), &mut other, &settings, &mut SolverScratch::default());
        assert_eq!(one, other, "{name}");
    }
}

/// Impulses scale with `q`; changing the unit of mass scales `W` and the impulses inversely.
#[test]
fn units_do_not_matter() {
    let problem = cone::wall(3, 2, 0.5, &mut Random(5));
    for factor in [1e-6, 1e6] {
        let mut light = problem.clone();
        light.w.iter_mut().for_each(|w| *w *= factor);
        light.q.iter_mut().for_each(|q| *q *= factor);
        let (report, r) = solve(&light, SolverChoice::Auto, 1000);
        check_honesty("scaled", &light, &report, &r, 1000);
        assert_eq!(report.status, Status::Solved, "{factor:e}: {report:?}");
    }
}

#[test]
fn hundreds_of_coupled_contacts_are_solved() {
    for (columns, rows, mu, seed) in [(8, 5, 0.5, 1), (8, 5, 0.2, 2), (10, 2, 0.7, 3)] {
        let problem = cone::wall(columns, rows, mu, &mut Random(seed));
        let (report, r) = solve(&problem, SolverChoice::Auto, 1000);
        check_honesty("wall", &problem, &report, &r, 1000);
        assert_eq!(report.status, Status::Solved, "{} contacts: {report:?}", problem.mu.len());
    }
}

#[test]
fn hyperstatic_problems_are_solved() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let bodies = 1 + seed as usize % 2;
        let mu = 0.1 + 0.8 * random.unit();
        let problem = cone::hyperstatic(bodies, 4 * bodies, mu, &mut random);
        let (report, r) = solve(&problem, SolverChoice::Auto, 1000);
        check_honesty("hyperstatic", &problem, &report, &r, 1000);
        assert_eq!(report.status, Status::Solved, "seed {seed}: {report:?}");
    }
}

#[test]
fn problems_without_solution_are_not_solved() {
    let nothing_moves = DenseProblem { w: vec![0.0; 9], q: vec![-1.0, 0.0, 0.0], mu: vec![0.5] };
    let mut two =
        DenseProblem { w: vec![0.0; 36], q: vec![-1.0, 0.2, 0.0, -1.0, 0.1, 0.0], mu: vec![0.5; 2] };
    // A body between two walls that both come nearer.
    let squeezed = {
        let mut squeezed = two.clone();
        for (row, column, value) in [(0, 0, 1.0), (0, 3, -1.0), (3, 0, -1.0), (3, 3, 1.0)] {
            squeezed.w[row * 6 + column] = value;
        }
        for k in [1, 2] {
            for (row, column) in [(k, k), (k, k + 3), (k + 3, k), (k + 3, k + 3)] {
                squeezed.w[row * 6 + column] = 1.0;
            }
        }
        squeezed
    };
    two.w[35] = 1.0;
    for (name, problem) in [("fixed", nothing_moves), ("two fixed", two), ("squeezed", squeezed)] {
        for choice in CHOICES {
            let (report, r) = solve(&problem, choice, 300);
            check_honesty(name, &problem, &report, &r, 300);
            assert_ne!(report.status, Status::Solved, "{name}: {report:?}");
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_no_solution() {
    let problem = cone::wall(2, 2, 0.5, &mut Random(3));
    for place in [0, 7, 20] {
        for bad in [f64::NAN, f64::INFINITY] {
            for choice in CHOICES {
                let mut broken = problem.clone();
                broken.q[place] = bad;
                let (report, _) = solve(&broken, choice, 50);
                assert_eq!(report.status, Status::NumericalError, "{report:?}");
                let mut broken = problem.clone();
                broken.w[place] = bad;
                let (report, _) = solve(&broken, choice, 50);
                assert_ne!(report.status, Status::Solved, "{report:?}");
            }
        }
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(60))]

    /// Friction small enough for a unique solution: it is the one that the convex solver finds.
    #[test]
    fn answers_are_those_of_a_convex_solver(seed in 0..u64::MAX, contacts in 1_usize..=4, mu in 0.01..0.4_f64) {
        let problem = cone::regular(contacts, mu, &mut Random(seed));
        let expected = cone::by_fixed_point(&problem);
        for choice in CHOICES {
            let (report, r) = solve(&problem, choice, 2000);
            prop_assert_eq!(report.status, Status::Solved, "{:?}", report);
            let size = 1.0 + expected.iter().fold(0.0_f64, |most, r| most.max(r.abs()));
            for (r, expected) in r.iter().zip(&expected) {
                prop_assert!((r - expected).abs() < 1e-7 * size, "{:?}: {} {}", choice, r, expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// Any friction, regular `W`: there is a solution, and it is found.
    #[test]
    fn regular_problems_are_solved(seed in 0..u64::MAX, contacts in 1_usize..=8, mu in 0.0..1.2_f64) {
        let problem = cone::regular(contacts, mu, &mut Random(seed));
        let (report, r) = solve(&problem, SolverChoice::Auto, 1000);
        check_honesty("regular", &problem, &report, &r, 1000);
        prop_assert_eq!(report.status, Status::Solved, "{:?}", report);
    }

    /// Bodies with more contacts than they need, contacts pressed by data that contradict each other but for the
    /// solution that they were made from: whatever the solvers find, they say so.
    #[test]
    fn hyperstatic_problems_are_judged_honestly(seed in 0..u64::MAX, bodies in 1_usize..=3, mu in 0.1..0.9_f64) {
        let problem = cone::hyperstatic(bodies, 5 * bodies, mu, &mut Random(seed));
        for choice in CHOICES {
            let (report, r) = solve(&problem, choice, 100);
            check_honesty("hyperstatic", &problem, &report, &r, 100);
        }
    }

    #[test]
    fn pyramids_of_boxes_are_solved(seed in 0..u64::MAX, columns in 1_usize..=3, mu in 0.2..0.8_f64) {
        let problem = cone::wall(columns, columns, mu, &mut Random(seed));
        let (report, r) = solve(&problem, SolverChoice::Auto, 1000);
        check_honesty("pyramid", &problem, &report, &r, 1000);
        prop_assert_eq!(report.status, Status::Solved, "{:?}", report);
    }

    /// The tangent of the solution is the limit of differences, for all data at once. Contacts stay what they are:
    /// the problem is made from a solution well inside its modes.
    #[test]
    fn tangents_agree_with_differences(seed in 0..u64::MAX, contacts in 1_usize..=4) {
        let mut random = Random(seed);
        let (problem, _) = cone::from_solution(contacts, &mut random);
        let mut direction = problem.clone();
        for value in direction.w.iter_mut().chain(&mut direction.q).chain(&mut direction.mu) {
            *value = random.symmetric();
        }
        let moved = |step: f64| {
            let along = |values: &[f64], by: &[f64]| -> Vec<f64> {
                values.iter().zip(by).map(|(value, by)| value + step * by).collect()
            };
            let moved = DenseProblem {
                w: along(&problem.w, &direction.w),
                q: along(&problem.q, &direction.q),
                mu: along(&problem.mu, &direction.mu),
            };
            let mut r = vec![0.0; moved.q.len()];
            let settings = settings(SolverChoice::Auto, 1e-13, 1000);
            solve_cone(&moved.blocks(), &mut r, &settings, &mut SolverScratch::default());
            r
        };
        let dual = |values: &[f64], tangents: &[f64]| -> Vec<Dual> {
            values.iter().zip(tangents).map(|(&value, &tangent)| Dual { value, tangent }).collect()
        };
        let dual_problem = ConeProblem::from_dense(
            &dual(&problem.w, &direction.w),
            dual(&problem.q, &direction.q),
            dual(&problem.mu, &direction.mu),
        );
        let mut r = vec![Dual::from(0.0); problem.q.len()];
        let settings = settings(SolverChoice::Auto, 1e-13, 1000);
        let friction = vec![Friction::Cone; contacts];
        let dual_problem = MixedProblem { contacts: dual_problem, friction };
        let report = Dual::solve_mixed(&dual_problem, &mut r, &settings, &mut SolverScratch::default());
        prop_assert!(report.residual < 1e-10);
        let step = 1e-5;
        let (before, after) = (moved(-step), moved(step));
        let size = 1.0 + r.iter().fold(0.0_f64, |most, r| most.max(r.tangent.abs()));
        for (k, r) in r.iter().enumerate() {
            let difference = (after[k] - before[k]) / (2.0 * step);
            prop_assert!((r.tangent - difference).abs() < 1e-6 * size, "{}: {} {}", k, r.tangent, difference);
        }
    }
}
