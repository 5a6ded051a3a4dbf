//! The default for LCP and boxed problems: chosen by problem, with fallbacks in a fixed order.
//!
//! One row, or rows that do not depend on those before, have a closed form; LCPs of up to four rows are tried in one pass over the
//! rows, then by Cramer's rule, boxed ones of three rows by Cramer's rule at once. Larger problems are split into islands that share no entry of `M`. Each goes through:
//! elimination (some sizes), principal pivoting row by row (up to some size), block principal pivoting, Lemke, Newton
//! from several starts, projected Gauss-Seidel, enumeration. The first answer within tolerance is taken, otherwise the
//! best.

use super::complementarity::{LcpScratch, LcpSettings, LcpSolver, Stop, clamp, judge, solve_by_name};
use super::report::{Report, Status};
use super::{boxed_three, elimination, principal, tiny};
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::problem::complementarity::Complementarity;

/// Problems of up to this size are not searched for islands.
const ONE_ISLAND: usize = 32;
/// Pivoting is tried without a positive diagonal on problems of up to this size.
const WITHOUT_DIAGONAL: usize = 8;
/// Limit of block exchanges for a size, far above what solvable problems need.
fn pivoting_limit(size: usize) -> u32 {
    u32::try_from(50 + size).unwrap_or(u32::MAX)
}

/// Memory of the search for islands, and of the best answer.
#[derive(Debug, Default)]
pub struct Scratch {
    island: BoxedProblem,
    island_z: Vec<f64>,
    best: Vec<f64>,
    /// A row nearer to the one that stands for the island.
    parent: Vec<usize>,
    /// Rows ordered by island.
    rows: Vec<usize>,
    /// Where each island starts in `rows`, and the end.
    starts: Vec<usize>,
}

/// Solves the problem from the guess in `z`.
#[inline]
pub fn solve<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
) -> Report {
    match solve_one(problem, z, settings.tolerance) {
        Some(report) => report,
        None => solve_many(problem, z, settings, scratch),
    }
}

/// Name of the solver of single rows and of triangular problems.
const CLOSED_FORM: &str = "closed form";
const IN_ONE_PASS: Stop = Stop { status: Status::Solved, iterations: 1 };

/// Solves a problem of one row. None where there are more, or the answer is not within tolerance.
#[inline(always)]
fn solve_one<P: Complementarity>(problem: &P, z: &mut [f64], tolerance: f64) -> Option<Report> {
    let ([_], [q], [z]) = (problem.m(), problem.q(), z) else { return None };
    let answer = solve_alone(problem, 0, *q, *z);
    let residual = problem.natural_residual_of(&[answer]);
    (residual <= tolerance).then(|| {
        *z = answer;
        Report { solver: CLOSED_FORM, status: Status::Solved, iterations: 1, residual }
    })
}

fn solve_many<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
) -> Report {
    if P::ONE_SIDED {
        let report = match problem.size() {
            2 => Some(tiny::solve::<2, P>(problem, z, settings)),
            3 => Some(tiny::solve::<3, P>(problem, z, settings)),
            4 => Some(tiny::solve::<4, P>(problem, z, settings)),
            _ => None,
        };
        if let Some(report) = report
            && report.status == Status::Solved
        {
            return report;
        }
    } else if problem.size() == 3
        && let Some(report) = boxed_three::solve(problem, z, settings)
    {
        return report;
    }
    if problem.size() <= ONE_ISLAND {
        solve_connected(problem, z, settings, scratch)
    } else {
        solve_islands(problem, z, settings, scratch)
    }
}

fn solve_connected<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
) -> Report {
    let size = problem.size();
    let report = match size {
        9 if planar(problem) => tiny::solve_in_turn::<9, P>(problem, z, settings),
        // Fewer rows are exchanged faster in the table of principal pivoting.
        17..=elimination::LIMIT if !backwards(problem) => Some(elimination::solve(problem, z, settings)),
        _ => None,
    };
    let used = match report {
        Some(report) if report.status == Status::Solved => return report,
        Some(report) => report.iterations,
        None => 0,
    };
    let limit = settings.max_iterations - used;
    let mut solver = "principal";
    let stop = match size {
        2 => principal::run_exact::<2, 4, P>(problem, z, limit),
        3 => principal::run_exact::<3, 4, P>(problem, z, limit),
        4 => principal::run_exact::<4, 4, P>(problem, z, limit),
        5..=LARGEST_TRIANGLE if is_diagonal(problem) => {
            for (row, (z, &q)) in z.iter_mut().zip(problem.q()).enumerate() {
                *z = solve_alone(problem, row, q, *z);
            }
            solver = CLOSED_FORM;
            IN_ONE_PASS
        }
        5..=LARGEST_TRIANGLE if is_triangular(problem) => {
            substitute_back(problem, z);
            solver = CLOSED_FORM;
            IN_ONE_PASS
        }
        // Whole contacts have three rows, or ten with friction in eight directions.
        6 => principal::run_exact::<6, 8, P>(problem, z, limit),
        9 => principal::run_exact::<9, 12, P>(problem, z, limit),
        10 => principal::run_exact::<10, 12, P>(problem, z, limit),
        12 => principal::run_exact::<12, 12, P>(problem, z, limit),
        5..=8 => principal::run_within::<8, P>(problem, z, limit),
        11 => principal::run_within::<12, P>(problem, z, limit),
        13..=16 => principal::run_within::<16, P>(problem, z, limit),
        17..=32 => principal::run_within::<32, P>(problem, z, limit),
        33..=principal::LIMIT => principal::run_large(problem, z, limit, &mut scratch.principal),
        _ => Stop { status: Status::NotApplicable, iterations: 0 },
    };
    let stop = Stop { iterations: used + stop.iterations, ..stop };
    if stop.status != Status::NotApplicable {
        let report = judge(problem, z, solver, stop, settings.tolerance);
        if report.status == Status::Solved {
            return report;
        }
    }
    fall_back(problem, z, settings, scratch, stop.iterations)
}

/// Largest problem that is looked at for a triangle.
const LARGEST_TRIANGLE: usize = 12;

/// Whether no row depends on those before it.
#[inline]
fn is_triangular<P: Complementarity>(problem: &P) -> bool {
    (1..problem.size()).all(|row| all_zero(&problem.row(row)[..row]))
}

/// Solves a triangular problem, the last row first.
#[inline]
fn substitute_back<P: Complementarity>(problem: &P, z: &mut [f64]) {
    let size = problem.size().min(LARGEST_TRIANGLE);
    let mut w = [0.0; LARGEST_TRIANGLE];
    w[..size].copy_from_slice(&problem.q()[..size]);
    for row in (0..size).rev() {
        z[row] = solve_alone(problem, row, w[row], z[row]);
        if z[row] != 0.0 {
            for (before, w) in w[..row].iter_mut().enumerate() {
                *w += problem.m()[before * size + row] * z[row];
            }
        }
    }
}

/// What solves a row whose velocity without its own impulse is `w`; `guess` where any impulse would do.
#[inline(always)]
fn solve_alone<P: Complementarity>(problem: &P, row: usize, w: f64, guess: f64) -> f64 {
    let pivot = problem.m()[row * (problem.size() + 1)];
    clamp(problem, row, if pivot > 0.0 { -w / pivot } else { guess })
}

/// Whether no row is coupled to another.
#[inline]
fn is_diagonal<P: Complementarity>(problem: &P) -> bool {
    // Between two entries of the diagonal lie as many others as there are rows.
    let size = problem.size();
    problem.m()[1..].chunks_exact(size + 1).all(|chunk| all_zero(&chunk[..size]))
}

/// Whether every third row has nothing on the diagonal: contacts in the plane with three rows each, the last that of
/// the slip. They are decided one after the other.
#[inline]
fn planar<P: Complementarity>(problem: &P) -> bool {
    let (size, m) = (problem.size(), problem.m());
    P::ONE_SIDED && (0..size).all(|row| (m[row * (size + 1)] == 0.0) == (row % 3 == 2))
}

/// Whether the last row does not depend on the first, but the first on the last.
#[inline]
fn backwards<P: Complementarity>(problem: &P) -> bool {
    let (size, m) = (problem.size(), problem.m());
    m[size * (size - 1)] == 0.0 && m[size - 1] != 0.0
}

#[inline]
fn all_zero(entries: &[f64]) -> bool {
    // Doubling the bits drops the sign of zero.
    entries.iter().fold(0, |bits, entry| bits | (entry.to_bits() << 1)) == 0
}

/// Tries the solvers in order until one answers within tolerance, after `used` iterations.
fn fall_back<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
    mut used: u32,
) -> Report {
    let size = problem.size();
    let pivotable = size <= WITHOUT_DIAGONAL || (0..size).all(|row| problem.m()[row * size + row] > 0.0);
    let stages = [
        (LcpSolver::Pivoting, if pivotable { pivoting_limit(size) } else { 0 }),
        (LcpSolver::Lemke, u32::MAX),
        (LcpSolver::Newton, u32::MAX),
        (LcpSolver::Pgs, u32::MAX),
        (LcpSolver::Enumeration, u32::MAX),
    ];
    let mut best: Option<Report> = None;
    for (solver, stage_limit) in stages {
        let max_iterations = stage_limit.min(settings.max_iterations - used);
        if max_iterations == 0 {
            continue;
        }
        let stage = LcpSettings { solver, max_iterations, ..*settings };
        let report = solve_by_name(problem, z, &stage, scratch);
        used += report.iterations;
        if report.status == Status::Solved {
            return Report { iterations: used, ..report };
        }
        // Each solver starts where the best so far ended.
        if best.is_none_or(|best| report.residual < best.residual) {
            best = Some(report);
            scratch.auto.best.clear();
            scratch.auto.best.extend_from_slice(z);
        } else {
            z.copy_from_slice(&scratch.auto.best);
        }
    }
    let unsolved = Stop { status: Status::IterationLimit, iterations: used };
    best.map_or_else(
        || judge(problem, z, "auto", unsolved, settings.tolerance),
        |best| Report { iterations: used, ..best },
    )
}

/// Solves island by island; the residual of the whole decides.
fn solve_islands<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
) -> Report {
    find_islands(problem, &mut scratch.auto);
    let islands = scratch.auto.starts.len() - 1;
    if islands == 1 {
        return solve_connected(problem, z, settings, scratch);
    }
    let mut island = std::mem::take(&mut scratch.auto.island);
    let mut island_z = std::mem::take(&mut scratch.auto.island_z);
    let scale = norm(problem.q());
    let mut solver = None;
    let mut worst = Status::Solved;
    let mut used = 0;
    for index in 0..islands {
        let rows = &scratch.auto.rows[scratch.auto.starts[index]..scratch.auto.starts[index + 1]];
        cut_out(problem, rows, &mut island);
        island_z.clear();
        island_z.extend(rows.iter().map(|&row| z[row]));
        // An island's share of the error allowed for the whole.
        let share = scale / (norm(&island.q) * (islands as f64).sqrt());
        let tolerance =
            if share > 1.0 && share.is_finite() { settings.tolerance * share } else { settings.tolerance };
        let max_iterations = settings.max_iterations - used;
        let report = solve_connected(
            &island,
            &mut island_z,
            &LcpSettings { tolerance, max_iterations, ..*settings },
            scratch,
        );
        used += report.iterations.min(max_iterations);
        worst = worst.max(report.status);
        solver = match solver {
            None => Some(report.solver),
            Some(name) if name == report.solver => solver,
            Some(_) => Some("auto"),
        };
        let rows = &scratch.auto.rows[scratch.auto.starts[index]..scratch.auto.starts[index + 1]];
        for (&row, &value) in rows.iter().zip(&island_z) {
            z[row] = value;
        }
    }
    scratch.auto.island = island;
    scratch.auto.island_z = island_z;
    let stop = Stop { status: worst, iterations: used };
    judge(problem, z, solver.unwrap_or("auto"), stop, settings.tolerance)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn cut_out<P: Complementarity>(problem: &P, rows: &[usize], island: &mut BoxedProblem) {
    island.m.clear();
    island.q.clear();
    island.lower.clear();
    island.upper.clear();
    for &row in rows {
        let source = problem.row(row);
        island.m.extend(rows.iter().map(|&column| source[column]));
        island.q.push(problem.q()[row]);
        island.lower.push(problem.lower(row));
        island.upper.push(problem.upper(row));
    }
}

/// Groups the rows that are linked by entries of `M`, each group in rising order.
fn find_islands<P: Complementarity>(problem: &P, scratch: &mut Scratch) {
    const BLOCK: usize = 8;
    let size = problem.size();
    let Scratch { parent, rows, starts, .. } = scratch;
    parent.clear();
    parent.extend(0..size);
    let mut islands = size;
    for row in 0..size {
        for (block, entries) in problem.row(row).chunks(BLOCK).enumerate() {
            if all_zero(entries) {
                continue;
            }
            for (offset, &entry) in entries.iter().enumerate() {
                if entry != 0.0 && parent[row] != parent[block * BLOCK + offset] {
                    islands -= usize::from(join(parent, row, block * BLOCK + offset));
                }
            }
        }
        if islands == 1 {
            break;
        }
    }
    // The smallest row of an island stands for it, so that a row comes after its island's first.
    starts.clear();
    starts.resize(size + 1, 0);
    let mut islands = 0;
    rows.clear();
    rows.resize(size, 0);
    // `rows` first numbers the islands by their first row.
    for row in 0..size {
        if parent[row] == row {
            rows[row] = islands;
            islands += 1;
        } else {
            rows[row] = rows[find(parent, row)];
        }
        starts[rows[row] + 1] += 1;
    }
    starts.truncate(islands + 1);
    for island in 0..islands {
        starts[island + 1] += starts[island];
    }
    parent.copy_from_slice(rows);
    for (row, &island) in parent.iter().enumerate() {
        rows[starts[island]] = row;
        starts[island] += 1;
    }
    for island in (0..islands).rev() {
        starts[island + 1] = starts[island];
    }
    starts[0] = 0;
}

fn find(parent: &mut [usize], mut row: usize) -> usize {
    while parent[row] != row {
        parent[row] = parent[parent[row]];
        row = parent[row];
    }
    row
}

/// Joins two islands; false where they are one already.
fn join(parent: &mut [usize], a: usize, b: usize) -> bool {
    let (a, b) = (find(parent, a), find(parent, b));
    parent[a.max(b)] = a.min(b);
    a != b
}
