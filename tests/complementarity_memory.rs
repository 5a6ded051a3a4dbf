//! Problems of up to twelve rows need no allocation once the scratch memory is there.

mod counting_allocator;

use contact_fmu::engine::{BoxedProblem, LcpScratch, LcpSettings, LcpSolver, Status, complementarity_solve};
use counting_allocator::allocations_so_far;

fn chain(size: usize) -> BoxedProblem {
    let mut problem = BoxedProblem::lcp(vec![0.0; size * size], vec![0.0; size]).unwrap();
    for row in 0..size {
        problem.m[row * size + row] = 2.0;
        if row + 1 < size {
            problem.m[row * size + row + 1] = -0.9;
            problem.m[(row + 1) * size + row] = -0.8;
        }
        problem.q[row] = if row % 3 == 1 { 0.7 } else { -1.0 };
    }
    problem
}

fn boxed_chain(size: usize) -> BoxedProblem {
    let BoxedProblem { m, q, .. } = chain(size);
    let lower = (0..size).map(|row| if row % 3 == 0 { 0.0 } else { -0.4 }).collect();
    let upper = (0..size).map(|row| if row % 3 == 0 { f64::INFINITY } else { 0.4 }).collect();
    BoxedProblem::new(m, q, lower, upper).unwrap()
}

fn allocations(problem: &BoxedProblem, solver: LcpSolver) -> u32 {
    let mut scratch = LcpScratch::default();
    let mut z = vec![0.0; problem.size()];
    let settings = LcpSettings { solver, ..LcpSettings::default() };
    let mut solve = || {
        z.fill(0.0);
        complementarity_solve(problem, &mut z, &settings, &mut scratch)
    };
    let report = solve();
    assert_eq!(report.status, Status::Solved, "{report:?}");
    let before = allocations_so_far();
    solve();
    allocations_so_far() - before
}

#[test]
fn small_problems_do_not_allocate() {
    for size in 1..=12 {
        for solver in
            [LcpSolver::Auto, LcpSolver::Pivoting, LcpSolver::Lemke, LcpSolver::Pgs, LcpSolver::Newton]
        {
            assert_eq!(allocations(&chain(size), solver), 0, "LCP of {size} rows, {solver:?}");
            assert_eq!(allocations(&boxed_chain(size), solver), 0, "boxed, {size} rows, {solver:?}");
        }
    }
}
