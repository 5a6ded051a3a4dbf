//! Contact problems that mix friction laws: each law against its own solver, all together against the residual,
//! and the derivative of the answer against differences.

use crate::linear_friction::{bounded, facets};
use contact_fmu::engine::law::bounded::BoundedRows;
use contact_fmu::engine::law::facets::{Facets, Polygon};
use contact_fmu::engine::{
    BoxedProblem, ConeProblem, Dual, Friction, LcpScratch, LcpSettings, MixedProblem, Scalar, Solvable,
    SolverChoice, SolverScratch, SolverSettings, Status, complementarity_solve,
};
use proptest::prelude::*;

const SETTINGS: SolverSettings =
    SolverSettings { choice: SolverChoice::Auto, tolerance: 1e-10, max_iterations: 20_000 };

/// A symmetric positive definite operator of `contacts` contacts and velocities that press most of them.
fn systems(contacts: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let rows = 3 * contacts;
    (proptest::collection::vec(-1.0..1.0, rows * rows), proptest::collection::vec(-1.0..1.0, rows)).prop_map(
        move |(factor, mut q)| {
            let mut w = vec![0.0; rows * rows];
            for i in 0..rows {
                for j in 0..rows {
                    w[i * rows + j] =
                        (0..rows).map(|k| factor[i * rows + k] * factor[j * rows + k]).sum::<f64>()
                            / rows as f64;
                }
                w[i * rows + i] += 0.5;
            }
            for contact in 0..contacts {
                q[3 * contact] -= 0.7;
            }
            (w, q)
        },
    )
}

fn mixed<S: Scalar>(w: &[S], q: &[S], mu: S, friction: Vec<Friction<S>>) -> MixedProblem<S> {
    let contacts = friction.len();
    MixedProblem { contacts: ConeProblem::from_dense(w, q.to_vec(), vec![mu; contacts]), friction }
}

fn solve(problem: &MixedProblem<f64>) -> Vec<f64> {
    let mut r = vec![0.0; problem.contacts.rows()];
    let report = f64::solve_mixed(problem, &mut r, &SETTINGS, &mut SolverScratch::default());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    r
}

fn solve_boxed(problem: &BoxedProblem) -> Vec<f64> {
    let mut z = vec![0.0; problem.q.len()];
    let settings = LcpSettings { tolerance: 1e-12, ..LcpSettings::default() };
    let report = complementarity_solve(problem, &mut z, &settings, &mut LcpScratch::default());
    assert_eq!(report.status, Status::Solved, "{report:?}");
    z
}

fn assert_close(one: &[f64], other: &[f64]) {
    let scale = one.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (one, other) in one.iter().zip(other) {
        assert!((one - other).abs() < 1e-7 * scale, "{one} against {other}");
    }
}

const BRISTLE: BoundedRows<f64> =
    BoundedRows { direction: [0.6, 0.8], compliance: [0.1, 0.3], preload: [-0.05, 0.02], bound: 0.3 };

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bounded_rows_agree_with_pivoting((w, q) in systems(3)) {
        let mut problem = mixed(&w, &q, 0.0, vec![Friction::Cone; 3]);
        for contact in 0..3 {
            problem.set_bounded(contact, &BRISTLE);
            problem.add_normal_compliance(contact, 0.2, 0.1);
        }
        let mut boxed = BoxedProblem::default();
        bounded::assemble(&w, &q, &[0.2; 3], &[0.1; 3], &[BRISTLE; 3], &mut boxed);
        let mut z = solve_boxed(&boxed);
        bounded::impulses(&mut z, &[BRISTLE; 3]);
        assert_close(&solve(&problem), &z);
    }

    #[test]
    fn facets_agree_with_their_complementarity_problem(
        (w, q) in systems(2),
        count in 3_usize..9,
        outer in any::<bool>(),
        angle in 0.0..std::f64::consts::TAU,
    ) {
        // A small coefficient, for which the answer is unique.
        let facets = Facets { mu: 0.1, count, direction: [angle.cos(), angle.sin()] };
        let polygon = if outer { Polygon::Outer } else { Polygon::Inner };
        let problem = mixed(&w, &q, 0.0, vec![Friction::Facets(facets, polygon); 2]);
        let mut boxed = BoxedProblem::default();
        facets::assemble(polygon, &w, &q, &[facets; 2], &mut boxed);
        let z = solve_boxed(&boxed);
        let mut impulses = [0.0; 6];
        facets::impulses(polygon, &[facets; 2], &z, &mut impulses);
        assert_close(&solve(&problem), &impulses);
    }

    #[test]
    fn all_laws_together_are_solved((w, q) in systems(4), mu in 0.0..0.6) {
        solve(&laws_together(&w, &q, mu));
    }

    #[test]
    fn derivatives_of_answers_agree_with_differences((w, q) in systems(4), direction in systems(4)) {
        let mu = 0.3;
        let moved = |part: f64| -> Vec<f64> {
            let q: Vec<f64> = q.iter().zip(&direction.1).map(|(q, d)| q + part * d).collect();
            solve(&laws_together(&w, &q, mu))
        };
        let lifted: Vec<Dual> =
            q.iter().zip(&direction.1).map(|(&value, &tangent)| Dual { value, tangent }).collect();
        let w: Vec<Dual> = w.iter().map(|&w| Dual::from(w)).collect();
        let problem = laws_together(&w, &lifted, Dual::from(mu));
        let mut r = vec![Dual::from(0.0); 12];
        let report = Dual::solve_mixed(&problem, &mut r, &SETTINGS, &mut SolverScratch::default());
        prop_assert_eq!(report.status, Status::Solved);
        let step = 1e-6;
        let [plus, minus] = [moved(step), moved(-step)];
        let here = moved(0.0);
        for k in 0..12 {
            let difference = (plus[k] - minus[k]) / (2.0 * step);
            let [forward, backward] = [plus[k] - here[k], here[k] - minus[k]].map(|change| change / step);
            // Where a law changes its branch there is no derivative.
            if (forward - backward).abs() < 1e-3 {
                prop_assert!((difference - r[k].tangent).abs() < 1e-4, "{} against {}", difference, r[k].tangent);
            }
        }
    }
}

/// A cone, an aligned octagon, a bristle and a box.
fn laws_together<S: Scalar>(w: &[S], q: &[S], mu: S) -> MixedProblem<S> {
    let facets = Facets { mu, count: 8, direction: Facets::aligned([q[4], q[5]]) };
    let friction =
        vec![Friction::Cone, Friction::Facets(facets, Polygon::Inner), Friction::Cone, Friction::Cone];
    let mut problem = mixed(w, q, mu, friction);
    let rows = BoundedRows {
        direction: BRISTLE.direction.map(S::from),
        compliance: BRISTLE.compliance.map(S::from),
        preload: BRISTLE.preload.map(S::from),
        bound: mu * S::from(0.4),
    };
    problem.set_bounded(2, &rows);
    problem.set_bounded(3, &contact_fmu::engine::law::box_friction::rows(mu, S::from(0.5)));
    problem
}

/// Impulses of one contact press the other in, more than its own push it out: there is no answer, and sweeps grow without
/// bound. No impulse at all is a better one than they are.
#[test]
fn without_an_answer_impulses_are_numbers() {
    let mut w = [0.0; 36];
    for row in 0..6 {
        w[7 * row] = 1.0;
    }
    w[3] = -1e6;
    w[3 * 6] = -1e6;
    let bounded = Friction::Bounded { direction: [1.0, 0.0], bound: 1.0 };
    let q = [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
    let contacts = ConeProblem::from_dense(&w, q.to_vec(), vec![0.5; 2]);
    let problem = MixedProblem { contacts, friction: vec![bounded; 2] };
    for choice in [SolverChoice::Auto, SolverChoice::Newton, SolverChoice::Nsgs] {
        let mut r = [0.0; 6];
        let settings = SolverSettings { choice, ..SETTINGS };
        let report = f64::solve_mixed(&problem, &mut r, &settings, &mut SolverScratch::default());
        assert!(r.iter().all(|r| r.is_finite()), "{choice:?}: {r:?}");
        assert!(report.residual <= 1.0 && report.status != Status::Solved, "{choice:?}: {report:?}");
    }
}
