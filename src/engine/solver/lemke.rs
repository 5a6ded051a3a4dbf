//! Lemke's method with the lexicographic ratio test, which cannot cycle.
//!
//! `w = q + M y + d y0` is kept as a dictionary of the basic variables over the others. `y0` enters first; then the
//! complement of whatever left enters, until `y0` leaves (an answer) or nothing blocks (a ray). Ties are broken as
//! if `q` were perturbed by ever smaller numbers, whose coefficients are columns of the dictionary itself.
//! Bounds are brought to `y >= 0`: lower bounds shift, lone upper bounds mirror, a second bound adds a row for its
//! slack, and rows without bounds are eliminated first. [Lemke 1965; Cottle, Pang, Stone 1992, 4.4]

use super::complementarity::{LcpSettings, Stop, clamp};
use super::report::Status;
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::tolerances::TOLERANCES;

/// Memory of the solver.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Row-major; a row holds the coefficients of the columns, then the constant.
    entries: Vec<f64>,
    pivot_row: Vec<f64>,
    /// Variable of each row.
    basic: Vec<usize>,
    /// Variable of each column.
    nonbasic: Vec<usize>,
    /// Row or column of each variable.
    place: Vec<Place>,
    /// Whether the `y` of each row is without bounds.
    free: Vec<bool>,
    /// Rows of the problem that have two bounds; each adds a row to the dictionary.
    two_bounds: Vec<usize>,
    tied: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Row(usize),
    Column(usize),
}

/// How `y >= 0` gives `z = base + sign y`.
struct Substitution {
    base: f64,
    sign: f64,
}

#[inline]
fn substitution(problem: &BoxedProblem, row: usize) -> Substitution {
    let (lower, upper) = (problem.lower[row], problem.upper[row]);
    if lower.is_finite() {
        Substitution { base: lower, sign: 1.0 }
    } else if upper.is_finite() {
        Substitution { base: upper, sign: -1.0 }
    } else {
        Substitution { base: 0.0, sign: 1.0 }
    }
}

/// Solves the problem; the guess is not used.
pub fn run(problem: &BoxedProblem, z: &mut [f64], settings: &LcpSettings, scratch: &mut Scratch) -> Stop {
    let mut dictionary = Dictionary::new(problem, scratch);
    let (status, iterations) = dictionary.run(settings.max_iterations);
    dictionary.read_answer(problem, z);
    Stop { status, iterations }
}

/// Variables: `w` are `0..rows`, `y` are `rows..2 rows`, `y0` is the last.
struct Dictionary<'a> {
    rows: usize,
    stride: usize,
    /// Largest constant at the start.
    scale: f64,
    memory: &'a mut Scratch,
}

impl Dictionary<'_> {
    fn new<'a>(problem: &BoxedProblem, memory: &'a mut Scratch) -> Dictionary<'a> {
        let size = problem.size();
        memory.two_bounds.clear();
        memory.two_bounds.extend(
            (0..size).filter(|&row| problem.lower[row].is_finite() && problem.upper[row].is_finite()),
        );
        let rows = size + memory.two_bounds.len();
        let stride = rows + 2;
        memory.entries.clear();
        memory.entries.resize(rows * stride, 0.0);
        memory.pivot_row.clear();
        memory.pivot_row.resize(stride, 0.0);
        memory.basic.clear();
        memory.basic.extend(0..rows);
        memory.nonbasic.clear();
        memory.nonbasic.extend(rows..=2 * rows);
        memory.place.clear();
        memory.place.extend((0..rows).map(Place::Row));
        memory.place.extend((0..=rows).map(Place::Column));
        memory.free.clear();
        memory.free.extend(
            (0..size).map(|row| problem.lower[row].is_infinite() && problem.upper[row].is_infinite()),
        );
        memory.free.resize(rows, false);
        for (row, entries) in memory.entries.chunks_exact_mut(stride).take(size).enumerate() {
            let sign = substitution(problem, row).sign;
            let mut constant = problem.q[row];
            for (column, (entry, m)) in entries.iter_mut().zip(problem.row(row)).enumerate() {
                let there = substitution(problem, column);
                constant += m * there.base;
                *entry = sign * m * there.sign;
            }
            entries[rows] = if memory.free[row] { 0.0 } else { 1.0 };
            entries[rows + 1] = sign * constant;
        }
        for (index, &row) in memory.two_bounds.iter().enumerate() {
            let slack = size + index;
            memory.entries[row * stride + slack] = 1.0;
            let entries = &mut memory.entries[slack * stride..(slack + 1) * stride];
            entries[row] = -1.0;
            entries[rows] = 1.0;
            entries[rows + 1] = problem.upper[row] - problem.lower[row];
        }
        let scale =
            (0..rows).fold(0.0_f64, |scale, row| scale.max(memory.entries[(row + 1) * stride - 1].abs()));
        Dictionary { rows, stride, scale, memory }
    }

    fn run(&mut self, limit: u32) -> (Status, u32) {
        if !self.eliminate_free() {
            return (Status::NumericalError, 0);
        }
        let artificial = 2 * self.rows;
        let Some(first) = self.most_negative_row() else { return (Status::Solved, 0) };
        let mut leaving = self.memory.basic[first];
        self.pivot(first, self.rows);
        for iterations in 1..limit {
            let entering = if leaving < self.rows { leaving + self.rows } else { leaving - self.rows };
            let Place::Column(column) = self.memory.place[entering] else {
                return (Status::NumericalError, iterations);
            };
            let Some(row) = self.blocking_row(column) else { return (Status::Ray, iterations) };
            leaving = self.memory.basic[row];
            self.pivot(row, column);
            if leaving == artificial {
                return (Status::Solved, iterations + 1);
            }
        }
        (Status::IterationLimit, limit)
    }

    /// Makes the variables without bounds basic. False where their block is singular.
    fn eliminate_free(&mut self) -> bool {
        for column in 0..self.rows {
            if !self.memory.free[column] {
                continue;
            }
            let mut best = None;
            let (mut largest_free, mut largest) = (0.0, 0.0_f64);
            for row in 0..self.rows {
                let size = self.entry(row, column).abs();
                largest = largest.max(size);
                let variable = self.memory.basic[row];
                if variable < self.rows && self.memory.free[variable] && size > largest_free {
                    largest_free = size;
                    best = Some(row);
                }
            }
            match best {
                Some(row) if largest_free > TOLERANCES.negligible * largest => self.pivot(row, column),
                _ => return false,
            }
        }
        true
    }

    #[inline]
    fn entry(&self, row: usize, column: usize) -> f64 {
        self.memory.entries[row * self.stride + column]
    }

    #[inline]
    fn constant(&self, row: usize) -> f64 {
        self.entry(row, self.stride - 1)
    }

    /// Whether the basic variable of the row has to stay non-negative.
    #[inline]
    fn blocks(&self, row: usize) -> bool {
        let variable = self.memory.basic[row];
        variable < self.rows || variable == 2 * self.rows || !self.memory.free[variable - self.rows]
    }

    /// Where `y0` enters; none where the dictionary is an answer already.
    fn most_negative_row(&self) -> Option<usize> {
        let mut best = None;
        let mut lowest = 0.0;
        for row in 0..self.rows {
            // The last of equals is the lexicographic minimum.
            let constant = self.constant(row);
            if constant < 0.0 && constant <= lowest && self.blocks(row) {
                lowest = constant;
                best = Some(row);
            }
        }
        best
    }

    /// The row that first reaches zero as the variable of the column grows, by the lexicographic ratio test.
    fn blocking_row(&mut self, column: usize) -> Option<usize> {
        let mut largest = 0.0_f64;
        for row in 0..self.rows {
            largest = largest.max(-self.entry(row, column));
        }
        let threshold = -TOLERANCES.rounding * largest;
        let mut lowest = f64::INFINITY;
        for row in 0..self.rows {
            let slope = self.entry(row, column);
            if slope < threshold && self.blocks(row) {
                lowest = lowest.min(self.constant(row).max(0.0) / -slope);
            }
        }
        if lowest == f64::INFINITY {
            return None;
        }
        let artificial = 2 * self.rows;
        let mut tied = std::mem::take(&mut self.memory.tied);
        tied.clear();
        for row in 0..self.rows {
            let slope = self.entry(row, column);
            if slope < threshold
                && self.blocks(row)
                && self.constant(row) <= lowest * -slope + TOLERANCES.rounding * self.scale
            {
                tied.push(row);
            }
        }
        if let Some(&row) = tied.iter().find(|&&row| self.memory.basic[row] == artificial) {
            tied.clear();
            tied.push(row);
        }
        for perturbed in 0..self.rows {
            if tied.len() == 1 {
                break;
            }
            self.keep_smallest(&mut tied, perturbed, column);
        }
        let row = tied.first().copied();
        self.memory.tied = tied;
        row
    }

    /// Keeps the rows in which the perturbation of one `w` gives the smallest ratio.
    fn keep_smallest(&self, tied: &mut Vec<usize>, perturbed: usize, column: usize) {
        let ratio = |row: usize| {
            let coefficient = match self.memory.place[perturbed] {
                Place::Column(at) => -self.entry(row, at),
                Place::Row(at) => f64::from(u8::from(at == row)),
            };
            coefficient / -self.entry(row, column)
        };
        let (mut smallest, mut size) = (f64::INFINITY, 0.0_f64);
        for &row in tied.iter() {
            let ratio = ratio(row);
            smallest = smallest.min(ratio);
            size = size.max(ratio.abs());
        }
        tied.retain(|&row| ratio(row) <= smallest + TOLERANCES.rounding * size);
    }

    /// Exchanges the variables of a row and a column.
    fn pivot(&mut self, row: usize, column: usize) {
        let Scratch { entries, pivot_row, basic, nonbasic, place, .. } = &mut *self.memory;
        exchange(entries, pivot_row, row, column);
        std::mem::swap(&mut basic[row], &mut nonbasic[column]);
        place[basic[row]] = Place::Row(row);
        place[nonbasic[column]] = Place::Column(column);
    }

    fn read_answer(&self, problem: &BoxedProblem, z: &mut [f64]) {
        for (row, z) in z.iter_mut().enumerate() {
            let Substitution { base, sign } = substitution(problem, row);
            *z = match self.memory.place[self.rows + row] {
                Place::Row(at) => clamp(problem, row, base + sign * self.constant(at)),
                Place::Column(_) => base,
            };
        }
    }
}

/// Solves the row for the variable of the column and puts it into the other rows.
fn exchange(entries: &mut [f64], pivot_row: &mut [f64], row: usize, column: usize) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { exchange_wide(entries, pivot_row, row, column) };
    }
    exchange_rows(entries, pivot_row, row, column);
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn exchange_wide(entries: &mut [f64], pivot_row: &mut [f64], row: usize, column: usize) {
    exchange_rows(entries, pivot_row, row, column);
}

#[inline(always)]
fn exchange_rows(entries: &mut [f64], pivot_row: &mut [f64], row: usize, column: usize) {
    let stride = pivot_row.len();
    let here = row * stride..(row + 1) * stride;
    let inverse = 1.0 / entries[here.start + column];
    for (target, entry) in pivot_row.iter_mut().zip(&entries[here.clone()]) {
        *target = -inverse * entry;
    }
    pivot_row[column] = inverse;
    for (index, line) in entries.chunks_exact_mut(stride).enumerate() {
        let factor = line[column];
        if factor != 0.0 && index != row {
            line[column] = 0.0;
            for (entry, pivot) in line.iter_mut().zip(&*pivot_row) {
                *entry += factor * pivot;
            }
        }
    }
    entries[here].copy_from_slice(pivot_row);
}

#[cfg(test)]
mod tests {
    use super::super::complementarity::{LcpScratch, LcpSolver, solve};
    use super::super::fixtures::settings;
    use super::super::report::Report;
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn lemke(problem: &BoxedProblem) -> (Report, Vec<f64>) {
        let mut z = vec![0.0; problem.size()];
        let report = solve(problem, &mut z, &settings(LcpSolver::Lemke), &mut LcpScratch::default());
        (report, z)
    }

    #[test]
    fn answers_are_exact() {
        let problem = BoxedProblem::lcp(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
        let (report, z) = lemke(&problem);
        assert_eq!(report.status, Status::Solved);
        assert!((z[0] - 4.0 / 3.0).abs() < 1e-15 && (z[1] - 7.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_problem_without_answer_ends_on_a_ray() {
        let problem = BoxedProblem::lcp(vec![0.0, 0.0, 0.0, 1.0], vec![-1.0, -1.0]).unwrap();
        assert_eq!(lemke(&problem).0.status, Status::Ray);
    }

    #[test]
    fn every_kind_of_bound_is_converted() {
        let m = vec![
            4.0, 1.0, 0.5, 0.0, //
            1.0, 3.0, 0.0, 0.2, //
            0.5, 0.0, 2.0, 0.3, //
            0.0, 0.2, 0.3, 5.0,
        ];
        let lower = vec![-1.0, -INF, -INF, 0.5];
        let upper = vec![1.0, INF, -0.25, INF];
        let problem = BoxedProblem::new(m, vec![-9.0, 2.0, 1.0, 3.0], lower, upper).unwrap();
        let (report, z) = lemke(&problem);
        assert_eq!(report.status, Status::Solved, "{report:?} {z:?}");
        assert_eq!((z[0], z[3]), (1.0, 0.5));
    }

    #[test]
    fn degenerate_ties_do_not_cycle() {
        // Every row tied with every other at every step.
        let size = 12;
        let mut m = vec![1.0; size * size];
        for i in 0..size {
            m[i * size + i] = 2.0;
        }
        let problem = BoxedProblem::lcp(m, vec![-1.0; size]).unwrap();
        let (report, _) = lemke(&problem);
        assert_eq!(report.status, Status::Solved);
        assert!(report.iterations <= 2 * size as u32, "{report:?}");
    }
}
