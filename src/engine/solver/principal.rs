//! Principal pivoting, row by row, for problems of up to a few dozen rows.
//!
//! `y = T x + c`, where `x` holds what is fixed of each row (`z` at a bound, or `w = 0`) and `y` the other of the two.
//! A row that disagrees is exchanged with its partner, the worst first; a `z` that would pass a bound on the way is
//! only moved there. After many exchanges the last disagreeing row is taken, which terminates for P-matrices. Where
//! `M` is singular but positive semidefinite, the rows that depend on others stay where they are, so that
//! hyperstatic contact needs nothing special. [Murty 1974; Keller 1973]

use super::complementarity::Stop;
use super::report::Status;
use crate::engine::problem::complementarity::Complementarity;

/// Largest problem solved here; the work grows with the cube of the size, and so does the round-off.
pub const LIMIT: usize = 96;
/// Part of the largest `q` below which a disagreement of `w` is round-off.
const ROUND_OFF: f64 = 1e-14;
/// Part of the largest diagonal entry below which a pivot counts as zero.
const SINGULAR: f64 = 1e-11;
/// Rows up to which the first pass takes the rows as they come, because looking for the worst costs more.
const SMALL: usize = 32;
/// The rows of the table start at multiples of this.
const LANES: usize = 4;

/// Memory of the larger problems.
#[derive(Debug, Default)]
pub struct Scratch {
    table: Vec<f64>,
    rows: [Vec<f64>; ROW_NUMBERS],
    basic: Vec<bool>,
}

/// Solves a problem of `SIZE` rows on the stack, in a table of `CAPACITY`; of the guess, only who is free counts.
pub fn run_exact<const SIZE: usize, const CAPACITY: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
) -> Stop {
    run_on_stack_dispatched::<CAPACITY, P>(problem, z, max_iterations, SIZE)
}

/// Solves a problem of up to `CAPACITY` rows on the stack; of the guess, only who is free counts.
pub fn run_within<const CAPACITY: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
) -> Stop {
    run_on_stack_dispatched::<CAPACITY, P>(problem, z, max_iterations, problem.size().min(CAPACITY))
}

#[inline(always)]
fn run_on_stack_dispatched<const CAPACITY: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    size: usize,
) -> Stop {
    #[cfg(target_arch = "x86_64")]
    if CAPACITY > 4 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { run_on_stack_wide::<CAPACITY, P>(problem, z, max_iterations, size) };
    }
    run_on_stack::<CAPACITY, P>(problem, z, max_iterations, size)
}

/// Solves a problem of any size; of the guess, only who is free counts.
pub fn run_large<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    scratch: &mut Scratch,
) -> Stop {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { run_on_heap_wide(problem, z, max_iterations, scratch) };
    }
    run_on_heap(problem, z, max_iterations, scratch)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn run_on_stack_wide<const CAPACITY: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    size: usize,
) -> Stop {
    run_on_stack::<CAPACITY, P>(problem, z, max_iterations, size)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_on_heap_wide<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    scratch: &mut Scratch,
) -> Stop {
    run_on_heap(problem, z, max_iterations, scratch)
}

#[inline(always)]
fn run_on_stack<const CAPACITY: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    size: usize,
) -> Stop {
    let mut lines = Stack([[0.0; CAPACITY]; CAPACITY]);
    let mut rows = [[0.0; CAPACITY]; ROW_NUMBERS];
    let mut basic = [false; CAPACITY];
    run(problem, z, max_iterations, size, &mut lines, rows.each_mut().map(|row| &mut row[..]), &mut basic)
}

#[inline(always)]
fn run_on_heap<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    scratch: &mut Scratch,
) -> Stop {
    let size = problem.size();
    let stride = size.next_multiple_of(LANES);
    let Scratch { table, rows, basic } = scratch;
    table.clear();
    table.resize(size * stride, 0.0);
    for row in rows.iter_mut() {
        row.clear();
        row.resize(stride, 0.0);
    }
    basic.clear();
    basic.resize(stride, false);
    let mut lines = Heap { table, stride };
    run(problem, z, max_iterations, size, &mut lines, rows.each_mut().map(|row| &mut row[..]), basic)
}

/// The rows of `T`, on the stack with their length known to the compiler, or on the heap.
trait Lines {
    fn line(&mut self, row: usize) -> &mut [f64];
    /// Takes a row from the start of `rest`. What stands behind its `size` entries does not matter: no column acts on
    /// another.
    fn fill(&mut self, row: usize, rest: &[f64], size: usize);
}

/// Aligned, so that no vector lies across two lines of the cache.
#[repr(align(32))]
struct Stack<const CAPACITY: usize>([[f64; CAPACITY]; CAPACITY]);

impl<const CAPACITY: usize> Lines for Stack<CAPACITY> {
    #[inline(always)]
    fn line(&mut self, row: usize) -> &mut [f64] {
        &mut self.0[row]
    }

    #[inline(always)]
    fn fill(&mut self, row: usize, rest: &[f64], size: usize) {
        // A copy of known length is much faster.
        match rest.first_chunk() {
            Some(chunk) => self.0[row] = *chunk,
            None => {
                let mut line = [0.0; CAPACITY];
                line[..size].copy_from_slice(&rest[..size]);
                self.0[row] = line;
            }
        }
    }
}

struct Heap<'a> {
    table: &'a mut [f64],
    stride: usize,
}

impl Lines for Heap<'_> {
    #[inline(always)]
    fn line(&mut self, row: usize) -> &mut [f64] {
        &mut self.table[row * self.stride..(row + 1) * self.stride]
    }

    #[inline(always)]
    fn fill(&mut self, row: usize, rest: &[f64], size: usize) {
        self.line(row)[..size].copy_from_slice(&rest[..size]);
    }
}

/// Numbers a row needs beside its entries of `T`.
const ROW_NUMBERS: usize = 6;

/// The table and the numbers of its rows.
struct Table<'a, L> {
    size: usize,
    lines: &'a mut L,
    pivot_row: &'a mut [f64],
    x: &'a mut [f64],
    y: &'a mut [f64],
    /// Where `y` has to be.
    least: &'a mut [f64],
    most: &'a mut [f64],
    /// Makes disagreements of `z` comparable with those of `w`.
    weight: &'a mut [f64],
    /// Whether `y` is `z`.
    basic: &'a mut [bool],
    /// What counts as zero in `w`.
    tolerance: f64,
    /// Largest entry of the diagonal.
    diagonal: f64,
    /// Whether the diagonal is positive.
    positive: bool,
}

#[inline(always)]
fn run<P: Complementarity, L: Lines>(
    problem: &P,
    z: &mut [f64],
    max_iterations: u32,
    size: usize,
    lines: &mut L,
    rows: [&mut [f64]; ROW_NUMBERS],
    basic: &mut [bool],
) -> Stop {
    let mut table = Table::new(problem, size, lines, rows, basic);
    let greedy = 3 * size as u32;
    let limit = max_iterations.min(2 * greedy);
    let mut iterations = 0;
    let warm = z.iter().any(|&z| z != 0.0);
    if warm {
        iterations += table.take_places(problem, z, limit);
    }
    let inside = !warm && table.starts_inside(problem);
    if table.positive && (size <= SMALL || inside) {
        for count in 0..size {
            let row = if inside { count } else { size - 1 - count };
            if table.disagrees(row) && iterations < limit {
                iterations += 1;
                // A vanishing pivot may recover once other rows are in place.
                table.correct(problem, row, true);
            }
        }
    }
    let status = loop {
        let Some(row) = table.disagreeing(iterations < greedy) else { break Status::Solved };
        if iterations >= limit {
            break Status::IterationLimit;
        }
        iterations += 1;
        if !table.correct(problem, row, iterations <= greedy) {
            break Status::NumericalError;
        }
    };
    for (row, z) in z.iter_mut().enumerate() {
        let value = if table.basic[row] { table.y[row] } else { table.x[row] };
        *z = clamp(value, problem.lower(row), problem.upper(row));
    }
    Stop { status, iterations }
}

impl<'a, L: Lines> Table<'a, L> {
    #[inline(always)]
    fn new<P: Complementarity>(
        problem: &P,
        size: usize,
        lines: &'a mut L,
        rows: [&'a mut [f64]; ROW_NUMBERS],
        basic: &'a mut [bool],
    ) -> Table<'a, L> {
        let [pivot_row, x, y, least, most, weight] = rows;
        let (mut largest_q, mut diagonal) = (0.0, 0.0);
        let (mut shifted, mut positive) = (false, true);
        let q = &problem.q()[..size];
        for row in 0..size {
            lines.fill(row, &problem.m()[row * size..], size);
            let line = lines.line(row);
            diagonal = greater(diagonal, line[row].abs());
            positive &= line[row] > 0.0;
            x[row] = clamp(0.0, problem.lower(row), problem.upper(row));
            shifted |= x[row] != 0.0;
            y[row] = q[row];
            largest_q = greater(largest_q, q[row].abs());
        }
        let tolerance = ROUND_OFF * largest_q;
        let mut table =
            Table { size, lines, pivot_row, x, y, least, most, weight, basic, tolerance, diagonal, positive };
        for row in 0..size {
            table.hold(problem, row);
            if shifted {
                table.move_column(row, table.x[row]);
            }
        }
        table
    }

    #[inline(always)]
    fn starts_inside<P: Complementarity>(&self, problem: &P) -> bool {
        (0..self.size).any(|row| problem.lower(row) < self.x[row] && self.x[row] < problem.upper(row))
    }

    /// Puts the rows where the guess has them; returns the exchanges made.
    fn take_places<P: Complementarity>(&mut self, problem: &P, guess: &[f64], limit: u32) -> u32 {
        let mut exchanges = 0;
        for (row, &guess) in guess.iter().enumerate().take(self.size) {
            let (lower, upper) = (problem.lower(row), problem.upper(row));
            let pivot = self.lines.line(row)[row];
            if guess <= lower || guess >= upper {
                let bound = clamp(guess, lower, upper);
                self.move_column(row, bound - self.x[row]);
                self.x[row] = bound;
                self.hold(problem, row);
            } else if pivot > SINGULAR * self.diagonal && exchanges < limit {
                exchanges += 1;
                self.exchange(row, 1.0 / pivot, 0.0);
                (self.least[row], self.most[row], self.weight[row]) = (lower, upper, self.diagonal);
            }
        }
        exchanges
    }

    /// `y` is `w`: at a lower bound `w >= 0`, at an upper `w <= 0`, at both anything, inside `w = 0`.
    #[inline(always)]
    fn hold<P: Complementarity>(&mut self, problem: &P, row: usize) {
        let x = self.x[row];
        self.least[row] = if x < problem.upper(row) { -self.tolerance } else { f64::NEG_INFINITY };
        self.most[row] = if x > problem.lower(row) { self.tolerance } else { f64::INFINITY };
        self.weight[row] = 1.0;
    }

    #[inline(always)]
    fn disagrees(&self, row: usize) -> bool {
        self.y[row] < self.least[row] || self.y[row] > self.most[row]
    }

    /// The row that disagrees most, or the last that does.
    #[inline(always)]
    fn disagreeing(&self, most: bool) -> Option<usize> {
        let outside = |row: usize| {
            greater(self.least[row] - self.y[row], self.y[row] - self.most[row]) * self.weight[row]
        };
        if !most {
            return (0..self.size).rev().find(|&row| outside(row) > 0.0);
        }
        // Side by side; the rows are padded with zeros, which agree.
        let mut worst = [0.0; LANES];
        for start in (0..self.size).step_by(LANES) {
            for (lane, worst) in worst.iter_mut().enumerate() {
                *worst = greater(outside(start + lane), *worst);
            }
        }
        let worst = greater(greater(worst[0], worst[1]), greater(worst[2], worst[3]));
        if worst > 0.0 { (0..self.size).find(|&row| outside(row) == worst) } else { None }
    }

    /// Moves a row that disagrees; false where the pivot vanishes.
    #[inline(always)]
    fn correct<P: Complementarity>(&mut self, problem: &P, row: usize, may_stop_at_bound: bool) -> bool {
        let (lower, upper) = (problem.lower(row), problem.upper(row));
        let pivot = self.lines.line(row)[row];
        if self.basic[row] {
            let regular = pivot * self.diagonal > SINGULAR;
            if !regular {
                return false;
            }
            let bound = if self.y[row] < self.least[row] { lower } else { upper };
            self.exchange(row, 1.0 / pivot, bound);
            self.hold(problem, row);
            return true;
        }
        let regular = pivot > SINGULAR * self.diagonal;
        if !regular {
            return false;
        }
        let inverse = 1.0 / pivot;
        let goal = self.x[row] - self.y[row] * inverse;
        if may_stop_at_bound && (goal < lower || goal > upper) {
            let bound = clamp(goal, lower, upper);
            self.move_column(row, bound - self.x[row]);
            self.x[row] = bound;
            self.hold(problem, row);
        } else {
            self.exchange(row, inverse, 0.0);
            (self.least[row], self.most[row], self.weight[row]) = (lower, upper, self.diagonal);
        }
        true
    }

    /// Adds `step` times a column to `y`.
    #[inline(always)]
    fn move_column(&mut self, column: usize, step: f64) {
        for row in 0..self.size {
            self.y[row] += self.lines.line(row)[column] * step;
        }
    }

    /// Exchanges `x` and `y` of a row, after moving `y` to its goal.
    #[inline(always)]
    fn exchange(&mut self, row: usize, inverse: f64, goal: f64) {
        let step = (goal - self.y[row]) * inverse;
        self.pivot_row.copy_from_slice(self.lines.line(row));
        for other in 0..self.size {
            let line = self.lines.line(other);
            let column = line[row];
            if column == 0.0 || other == row {
                continue;
            }
            self.y[other] += column * step;
            let factor = column * inverse;
            for (entry, pivot) in line.iter_mut().zip(&*self.pivot_row) {
                *entry -= factor * pivot;
            }
            line[row] = factor;
        }
        let line = self.lines.line(row);
        for (entry, pivot) in line.iter_mut().zip(&*self.pivot_row) {
            *entry = -inverse * pivot;
        }
        line[row] = inverse;
        self.y[row] = self.x[row] + step;
        self.x[row] = goal;
        self.basic[row] = !self.basic[row];
    }
}

#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn clamp(value: f64, lower: f64, upper: f64) -> f64 {
    if value < lower {
        lower
    } else if value > upper {
        upper
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::boxed::BoxedProblem;
    use crate::engine::problem::lcp::LcpProblem;

    #[test]
    fn answers_are_exact_on_stack_and_heap() {
        let problem = LcpProblem::new(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
        let mut z = [0.0; 2];
        assert_eq!(run_within::<4, _>(&problem, &mut z, 100).status, Status::Solved);
        assert!(problem.natural_residual(&z) < 1e-15);
        let mut large = [0.0; 2];
        assert_eq!(run_large(&problem, &mut large, 100, &mut Scratch::default()).status, Status::Solved);
        assert_eq!(z, large);
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
        let mut z = [0.0; 3];
        assert_eq!(run_within::<4, _>(&problem, &mut z, 100).status, Status::Solved);
        assert!(problem.natural_residual(&z) < 1e-15, "{z:?}");
        assert_eq!((z[0], z[2]), (1.0, -1.5));
    }

    #[test]
    fn a_hyperstatic_problem_is_solved() {
        // A rigid plate of unit weight on four legs, of which three would do.
        let legs = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let mut m = Vec::new();
        for a in legs {
            m.extend(legs.map(|b| 1.0 + 0.5 * (a[0] * b[0] + a[1] * b[1])));
        }
        let problem = LcpProblem::new(m, vec![-1.0; 4]).unwrap();
        let mut z = [0.0; 4];
        assert_eq!(run_within::<4, _>(&problem, &mut z, 100).status, Status::Solved);
        assert!(problem.natural_residual(&z) < 1e-14, "{z:?}");
    }

    #[test]
    fn a_vanishing_pivot_is_reported() {
        let problem = LcpProblem::new(vec![0.0, 1.0, -1.0, 0.0], vec![-1.0, 1.0]).unwrap();
        assert_eq!(run_exact::<2, 4, _>(&problem, &mut [0.0; 2], 100).status, Status::NumericalError);
    }
}
