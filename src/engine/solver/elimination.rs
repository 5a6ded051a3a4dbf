//! Small problems by elimination: one pass over the rows in their order decides who is free, back substitution gives
//! the answer; then all rows that disagree are exchanged and the free ones solved again, while that gets fewer.
//!
//! The pass is principal pivoting with each row looked at once: a row whose `w` disagrees, given the rows before it,
//! is eliminated from the rows after it, or moved to the bound that it would pass. It takes a third of the work of
//! exchanges in a full table. Where it does not end in an answer it says so, and leaves the problem to a method that
//! does. [Murty 1974; Judice and Pires 1994]

use super::complementarity::{LcpSettings, Stop, clamp, judge, velocity};
use super::report::{Report, Status};
use crate::engine::problem::complementarity::Complementarity;

/// Largest problem solved here: who is free has a bit each.
pub const LIMIT: usize = 32;
/// Part of the largest `q` below which a disagreement is round-off; also the residual below which nobody disagrees.
const ROUND_OFF: f64 = 1e-13;
/// Part of the largest diagonal entry below which a pivot counts as zero.
const SINGULAR: f64 = 1e-11;
/// Numbers that are treated together.
const LANES: usize = 4;

/// Solves a problem of up to [`LIMIT`] rows; of the guess, only who is free counts. The guess is
/// left in `z` where the answer is not found.
pub fn solve<P: Complementarity>(problem: &P, z: &mut [f64], settings: &LcpSettings) -> Report {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { solve_wide(problem, z, settings) };
    }
    solve_on_stack(problem, z, settings)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn solve_wide<P: Complementarity>(problem: &P, z: &mut [f64], settings: &LcpSettings) -> Report {
    solve_on_stack(problem, z, settings)
}

#[inline(always)]
fn solve_on_stack<P: Complementarity>(problem: &P, z: &mut [f64], settings: &LcpSettings) -> Report {
    let size = problem.size().min(LIMIT);
    let (z, q) = (&mut z[..size], &problem.q()[..size]);
    let mut guess = [0.0; LIMIT];
    guess[..size].copy_from_slice(z);
    let largest = q.iter().fold(0.0, |largest, q| if q.abs() > largest { q.abs() } else { largest });
    let tolerance = ROUND_OFF * largest;
    let mut table = Table::new();
    let warm = z.iter().any(|&z| z != 0.0);
    let mut places = Places { free: 0, iterations: 0, limit: settings.max_iterations, regular: true };
    for (row, z) in z.iter_mut().enumerate() {
        let inside = warm && problem.lower(row) < *z && *z < problem.upper(row);
        places.free |= u32::from(inside) << row;
        *z = clamp(problem, row, if inside { 0.0 } else { *z });
    }
    let mut fewest = usize::MAX;
    let mut decided = warm;
    loop {
        table.fill(problem, size);
        table.eliminate(problem, z, if decided { None } else { Some(tolerance) }, &mut places);
        table.substitute(z, places.free, decided);
        let outside = (0..size).fold(0_u32, |outside, row| {
            outside | u32::from(z[row] < problem.lower(row) || z[row] > problem.upper(row)) << row
        });
        let stop = Stop { status: Status::Solved, iterations: places.iterations };
        if outside == 0 {
            let report = judge(problem, z, "elimination", stop, settings.tolerance);
            if report.status == Status::Solved && report.residual <= ROUND_OFF {
                return report;
            }
        }
        let disagreeing = (0..size).fold(outside, |disagreeing, row| {
            if places.free >> row & 1 == 1 {
                return disagreeing;
            }
            let w = velocity(problem, row, z);
            let disagrees = (w < -tolerance && z[row] < problem.upper(row))
                || (w > tolerance && z[row] > problem.lower(row));
            disagreeing | u32::from(disagrees) << row
        });
        let count = disagreeing.count_ones() as usize;
        if count == 0 {
            return judge(problem, z, "elimination", stop, settings.tolerance);
        }
        if count >= fewest || !places.regular || places.iterations >= places.limit {
            z.copy_from_slice(&guess[..size]);
            return Report {
                solver: "elimination",
                status: Status::Inaccurate,
                iterations: places.iterations,
                residual: f64::INFINITY,
            };
        }
        fewest = count;
        decided = true;
        places.free ^= disagreeing;
        for (row, z) in z.iter_mut().enumerate() {
            *z = clamp(problem, row, if places.free >> row & 1 == 1 { 0.0 } else { *z });
        }
    }
}

/// Who is free, a bit each, and what it took to find out.
struct Places {
    free: u32,
    iterations: u32,
    limit: u32,
    /// Whether no pivot vanished or was beyond the limit.
    regular: bool,
}

/// `w` as the rows free so far have left it, over the changes of `z`.
#[repr(align(32))]
struct Table {
    lines: [[f64; LIMIT]; LIMIT],
    /// `w` where no `z` changes any more.
    w: [f64; LIMIT],
    /// By which rows at a bound were moved there.
    moved: [f64; LIMIT],
    /// Of the pivots.
    inverse: [f64; LIMIT],
    size: usize,
    /// Largest entry of the diagonal.
    diagonal: f64,
}

impl Table {
    /// Room for any problem.
    #[inline(always)]
    fn new() -> Table {
        let zero = [0.0; LIMIT];
        Table { lines: [zero; LIMIT], w: zero, moved: zero, inverse: zero, size: 0, diagonal: 0.0 }
    }

    #[inline(always)]
    fn fill<P: Complementarity>(&mut self, problem: &P, size: usize) {
        self.size = size;
        let mut diagonal = 0.0;
        let m = &problem.m()[..size * size];
        for (row, line) in self.lines[..size].iter_mut().enumerate() {
            let rest = &m[row * size..];
            // A copy of known length is much faster. What follows the row does not matter: no column acts on another.
            match rest.first_chunk() {
                Some(chunk) => *line = *chunk,
                None => {
                    let mut padded = [0.0; LIMIT];
                    padded[..rest.len()].copy_from_slice(rest);
                    *line = padded;
                }
            }
            let entry = rest[row].abs();
            diagonal = if entry > diagonal { entry } else { diagonal };
        }
        self.diagonal = diagonal;
    }

    /// Eliminates the free rows; with a tolerance, it decides row by row who is free.
    #[inline(always)]
    fn eliminate<P: Complementarity>(
        &mut self,
        problem: &P,
        z: &mut [f64],
        deciding: Option<f64>,
        places: &mut Places,
    ) {
        self.w[..self.size].copy_from_slice(&problem.q()[..self.size]);
        for (row, &z) in z.iter().enumerate() {
            if z != 0.0 {
                self.move_column(0, row, z);
            }
        }
        for (row, z) in z.iter_mut().enumerate() {
            let pivot = self.lines[row][row];
            let may_pivot = pivot > SINGULAR * self.diagonal && places.iterations < places.limit;
            if let Some(tolerance) = deciding {
                let (w, lower, upper) = (self.w[row], problem.lower(row), problem.upper(row));
                let disagrees = (w < -tolerance && *z < upper) || (w > tolerance && *z > lower);
                if !disagrees {
                    continue;
                }
                let goal = *z - w / pivot;
                if may_pivot && (goal < lower || goal > upper) {
                    places.iterations += 1;
                    let bound = clamp(problem, row, goal);
                    self.moved[row] = bound - *z;
                    self.move_column(row + 1, row, bound - *z);
                    *z = bound;
                    continue;
                }
                places.free |= 1 << row;
            }
            if places.free >> row & 1 == 0 {
                continue;
            }
            if !may_pivot {
                places.regular = false;
                places.free &= !(1 << row);
                continue;
            }
            places.iterations += 1;
            self.eliminate_row(row, 1.0 / pivot);
        }
    }

    /// Takes a row out of those after it.
    #[inline(always)]
    fn eliminate_row(&mut self, row: usize, inverse: f64) {
        self.inverse[row] = inverse;
        let (w, start) = (self.w[row], row / LANES);
        let (done, below) = self.lines.split_at_mut(row + 1);
        let pivot_line = &done[row].as_chunks::<LANES>().0[start..];
        for (line, other) in below[..self.size - row - 1].iter_mut().zip(&mut self.w[row + 1..]) {
            let factor = line[row] * inverse;
            if factor == 0.0 {
                continue;
            }
            *other -= factor * w;
            for (entries, pivots) in line.as_chunks_mut::<LANES>().0[start..].iter_mut().zip(pivot_line) {
                for (entry, pivot) in entries.iter_mut().zip(pivots) {
                    *entry -= factor * pivot;
                }
            }
        }
    }

    /// Adds `step` times a column to `w`, from a row on.
    #[inline(always)]
    fn move_column(&mut self, from: usize, column: usize, step: f64) {
        for (line, w) in self.lines[from..self.size].iter().zip(&mut self.w[from..]) {
            *w += line[column] * step;
        }
    }

    /// Solves for the free rows, the last first.
    #[inline(always)]
    fn substitute(&mut self, z: &mut [f64], free: u32, decided: bool) {
        for row in (0..self.size).rev() {
            let change = if free >> row & 1 == 1 {
                let change = -self.w[row] * self.inverse[row];
                z[row] += change;
                change
            } else if decided {
                continue;
            } else {
                self.moved[row]
            };
            for (line, w) in self.lines[..row].iter().zip(&mut self.w) {
                *w += line[row] * change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::boxed::BoxedProblem;
    use crate::engine::problem::lcp::LcpProblem;

    #[test]
    fn one_pass_and_an_exchange_are_exact() {
        // Row 2 makes row 0 disagree, which was free after the pass.
        let m = vec![2.0, 0.0, 1.5, 0.0, 2.0, 0.0, 1.5, 0.0, 2.0];
        let problem = LcpProblem::new(m, vec![-1.0, -4.0, -3.0]).unwrap();
        let mut z = [0.0; 3];
        let report = solve(&problem, &mut z, &LcpSettings::default());
        assert_eq!((report.status, report.iterations), (Status::Solved, 5));
        assert_eq!(z, [0.0, 2.0, 1.5]);
    }

    #[test]
    fn bounds_on_both_sides_and_equations() {
        let infinity = f64::INFINITY;
        let problem = BoxedProblem::new(
            vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0],
            vec![-9.0, 2.0, 7.0],
            vec![-1.0, -infinity, -1.5],
            vec![1.0, infinity, -0.25],
        )
        .unwrap();
        for start in [[0.0; 3], [1.0, 0.5, -1.5], [0.5, 0.5, -0.25]] {
            let mut z = start;
            let report = solve(&problem, &mut z, &LcpSettings::default());
            assert_eq!(report.status, Status::Solved, "{start:?}");
            assert_eq!((z[0], z[2]), (1.0, -1.5));
        }
    }

    #[test]
    fn the_guess_stays_where_there_is_no_answer() {
        let problem = LcpProblem::new(vec![0.0, 0.0, 0.0, 1.0], vec![-1.0, -1.0]).unwrap();
        for guess in [[0.0; 2], [3.0, 2.0]] {
            let mut z = guess;
            assert_ne!(solve(&problem, &mut z, &LcpSettings::default()).status, Status::Solved);
            assert_eq!(z, guess);
        }
    }

    #[test]
    fn the_limit_of_exchanges_holds() {
        let problem = LcpProblem::new(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
        let settings = LcpSettings { max_iterations: 1, ..LcpSettings::default() };
        assert!(solve(&problem, &mut [0.0; 2], &settings).iterations <= 1);
    }
}
