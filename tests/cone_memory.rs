//! Problems of up to four contacts need no allocation once the scratch memory is there.

mod counting_allocator;

use contact_fmu::engine::{ConeProblem, SolverChoice, SolverScratch, SolverSettings, Status, solve_cone};
use counting_allocator::allocations_so_far;

/// Contacts in a row, each coupled to the next.
fn chain(contacts: usize) -> ConeProblem<f64> {
    let rows = 3 * contacts;
    let mut w = vec![0.0; rows * rows];
    for row in 0..rows {
        w[row * rows + row] = 2.0;
        if row + 3 < rows {
            w[row * rows + row + 3] = -0.9;
            w[(row + 3) * rows + row] = -0.9;
        }
    }
    let q = (0..rows).map(|row| if row % 3 == 0 { -1.0 } else { 0.3 * (row % 5) as f64 }).collect();
    ConeProblem::from_dense(&w, q, vec![0.3; contacts])
}

#[test]
fn small_problems_do_not_allocate() {
    for choice in [SolverChoice::Auto, SolverChoice::Nsgs, SolverChoice::Newton] {
        for contacts in 1..=4 {
            let problem = chain(contacts);
            let settings = SolverSettings { choice, tolerance: 1e-10, max_iterations: 1000 };
            let mut scratch = SolverScratch::with_capacity(4, 16);
            let mut r = vec![0.0; problem.rows()];
            let before = allocations_so_far();
            let report = solve_cone(&problem, &mut r, &settings, &mut scratch);
            let allocated = allocations_so_far() - before;
            assert_eq!(report.status, Status::Solved);
            assert_eq!(allocated, 0, "{contacts} contacts by {}", report.solver);
        }
    }
}
