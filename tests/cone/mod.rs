//! Cone problems for the tests: files, random ones, and an answer found another way.

use crate::missing::skip;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SecondOrderConeT};
use contact_fmu::engine::{ConeProblem, SolverChoice, SolverSettings};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use std::path::{Path, PathBuf};

/// A problem as in a file: `w` row-major.
#[derive(Clone, Debug)]
pub struct DenseProblem {
    /// `3n x 3n`.
    pub w: Vec<f64>,
    /// `3n`.
    pub q: Vec<f64>,
    /// `n`.
    pub mu: Vec<f64>,
}

impl DenseProblem {
    fn new(w: &DMatrix<f64>, q: &DVector<f64>, mu: Vec<f64>) -> DenseProblem {
        DenseProblem { w: w.transpose().as_slice().to_vec(), q: q.as_slice().to_vec(), mu }
    }

    /// The problem as the solvers take it.
    pub fn blocks(&self) -> ConeProblem<f64> {
        ConeProblem::from_dense(&self.w, self.q.clone(), self.mu.clone())
    }
}

/// Solver settings.
pub fn settings(choice: SolverChoice, tolerance: f64, max_iterations: u32) -> SolverSettings {
    SolverSettings { choice, tolerance, max_iterations }
}

/// Every cone problem of the collection, with its name.
pub fn collection() -> Vec<(String, DenseProblem)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("tests/data/problems")];
    let siconos = std::env::var_os("CONTACT_FMU_SICONOS_TESTS")
        .map_or_else(|| root.join("../shared/data/siconos-tests"), PathBuf::from);
    if siconos.is_dir() {
        folders.push(siconos);
    } else {
        skip("the folder of Siconos problems (CONTACT_FMU_SICONOS_TESTS)");
    }
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".fc.txt"))
        .collect();
    files.sort();
    assert!(files.len() >= 9, "the problems of the repository are there");
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().replace(".fc.txt", "");
    files.iter().map(|path| (name(path), read(path))).collect()
}

fn read(path: &Path) -> DenseProblem {
    let text = std::fs::read_to_string(path).unwrap();
    let mut words = text.split_ascii_whitespace();
    let contacts: usize = words.next().unwrap().parse().unwrap();
    let mut numbers = words.map(|word| word.parse::<f64>().unwrap());
    let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<f64>>();
    let problem =
        DenseProblem { w: take(9 * contacts * contacts), q: take(3 * contacts), mu: take(contacts) };
    assert_eq!((problem.mu.len(), take(1).len()), (contacts, 0), "{}", path.display());
    problem
}

/// Natural residual relative to `q`, written once more from the definition.
pub fn residual(problem: &DenseProblem, r: &[f64]) -> f64 {
    let rows = r.len();
    let velocity = |row: usize| {
        problem.q[row] + (0..rows).map(|column| problem.w[row * rows + column] * r[column]).sum::<f64>()
    };
    let mut square = 0.0;
    for (contact, &mu) in problem.mu.iter().enumerate() {
        let at = 3 * contact;
        let u = Vector3::from_fn(|k, _| velocity(at + k));
        let r = Vector3::from_fn(|k, _| r[at + k]);
        let x = r - u - Vector3::new(mu * u[1].hypot(u[2]), 0.0, 0.0);
        square += (r - project(x, mu)).norm_squared();
    }
    let scale = problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    if scale > 0.0 { square.sqrt() / scale } else { square.sqrt() }
}

/// A stream of numbers that depends on its seed only (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Between zero and one.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between minus one and one.
    pub fn symmetric(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.symmetric())
    }

    fn direction(&mut self) -> Vector3<f64> {
        loop {
            let vector = self.vector();
            if (0.1..1.0).contains(&vector.norm()) {
                return vector.normalize();
            }
        }
    }
}

/// All contacts coupled by a well-conditioned `W`, any `q`.
pub fn regular(contacts: usize, mu: f64, random: &mut Random) -> DenseProblem {
    let rows = 3 * contacts;
    let a = DMatrix::from_fn(rows, rows, |_, _| random.symmetric() / (rows as f64).sqrt());
    let w = &a * a.transpose() + DMatrix::identity(rows, rows) * 0.5;
    let q = DVector::from_fn(rows, |row, _| random.symmetric() - if row % 3 == 0 { 0.4 } else { 0.0 });
    DenseProblem::new(&w, &q, vec![mu; contacts])
}

/// A solution well inside open, stick and slip, and its velocities.
fn solution(mu: &[f64], random: &mut Random) -> (DVector<f64>, DVector<f64>) {
    let (mut r, mut u) = (DVector::zeros(3 * mu.len()), DVector::zeros(3 * mu.len()));
    for (contact, mu) in mu.iter().enumerate() {
        let at = 3 * contact;
        let angle = std::f64::consts::TAU * random.unit();
        let direction = [angle.cos(), angle.sin()];
        let (normal, part, speed) = (0.2 + random.unit(), 0.8 * random.unit(), 0.2 + random.unit());
        match (3.0 * random.unit()) as u32 {
            0 => {
                u[at] = normal;
                u[at + 1] = random.symmetric();
                u[at + 2] = random.symmetric();
            }
            1 => {
                r[at] = normal;
                for k in 0..2 {
                    r[at + 1 + k] = part * mu * normal * direction[k];
                }
            }
            _ => {
                r[at] = normal;
                for k in 0..2 {
                    r[at + 1 + k] = -mu * normal * direction[k];
                    u[at + 1 + k] = speed * direction[k];
                }
            }
        }
    }
    (r, u)
}

/// A regular problem with little friction, hence with one solution, and that solution.
pub fn from_solution(contacts: usize, random: &mut Random) -> (DenseProblem, Vec<f64>) {
    let mut problem = regular(contacts, 0.2, random);
    let (r, u) = solution(&problem.mu, random);
    let rows = 3 * contacts;
    let w = DMatrix::from_row_slice(rows, rows, &problem.w);
    problem.q = (u - w * &r).as_slice().to_vec();
    (problem, r.as_slice().to_vec())
}

/// A contact of body `above` with another body or the ground.
struct Touch {
    above: usize,
    below: Option<usize>,
    point: Vector3<f64>,
    normal: Vector3<f64>,
}

/// `J` of rigid bodies: normal, tangent 1, tangent 2 of each contact over velocity and angular velocity of each body.
fn jacobian(touches: &[Touch], centres: &[Vector3<f64>]) -> DMatrix<f64> {
    let mut j = DMatrix::zeros(3 * touches.len(), 6 * centres.len());
    for (contact, touch) in touches.iter().enumerate() {
        let aside = if touch.normal.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
        let first = touch.normal.cross(&aside).normalize();
        let second = touch.normal.cross(&first);
        let frame = Matrix3::from_rows(&[touch.normal.transpose(), first.transpose(), second.transpose()]);
        for (body, sign) in std::iter::once((touch.above, 1.0)).chain(touch.below.map(|body| (body, -1.0))) {
            let turning = -(touch.point - centres[body]).cross_matrix();
            j.view_mut((3 * contact, 6 * body), (3, 3)).copy_from(&(frame * sign));
            j.view_mut((3 * contact, 6 * body + 3), (3, 3)).copy_from(&(frame * turning * sign));
        }
    }
    j
}

/// `J M^-1 J^T` for unit mass and a moment of inertia of `1 / inverse_inertia`.
fn delassus(j: &DMatrix<f64>, inverse_inertia: f64) -> DMatrix<f64> {
    let scaled = DMatrix::from_fn(j.nrows(), j.ncols(), |row, column| {
        j[(row, column)] * if column % 6 < 3 { 1.0 } else { inverse_inertia }
    });
    scaled * j.transpose()
}

/// Bodies with contacts at random places, more than they have degrees of freedom, solved by a known `r`.
pub fn hyperstatic(bodies: usize, contacts: usize, mu: f64, random: &mut Random) -> DenseProblem {
    let centres: Vec<Vector3<f64>> = (0..bodies).map(|_| 3.0 * random.vector()).collect();
    let touches: Vec<Touch> = (0..contacts)
        .map(|contact| {
            let above = contact % bodies;
            let below = (bodies > 1 && random.unit() < 0.5).then_some((above + 1) % bodies);
            Touch { above, below, point: centres[above] + random.vector(), normal: random.direction() }
        })
        .collect();
    let w = delassus(&jacobian(&touches, &centres), 3.0);
    let mu = vec![mu; contacts];
    let (r, u) = solution(&mu, random);
    let q = u - &w * r;
    DenseProblem::new(&w, &q, mu)
}

/// A pyramid of unit boxes, four contacts between every two and on the ground, falling and pushed at random.
pub fn wall(columns: usize, rows: usize, mu: f64, random: &mut Random) -> DenseProblem {
    let mut centres: Vec<Vector3<f64>> = Vec::new();
    let mut touches = Vec::new();
    let mut row_below = 0;
    for row in 0..rows.min(columns) {
        let row_start = centres.len();
        for column in 0..columns - row {
            let centre = Vector3::new(column as f64 + 0.5 * row as f64, 0.0, 0.5 + row as f64);
            let above = centres.len();
            centres.push(centre);
            let supports = if row == 0 {
                vec![(None, [-0.5, 0.5])]
            } else {
                let left = row_below + column;
                vec![(Some(left), [-0.5, 0.0]), (Some(left + 1), [0.0, 0.5])]
            };
            for (below, along) in supports {
                for x in along {
                    for y in [-0.5, 0.5] {
                        let point = centre + Vector3::new(x, y, -0.5);
                        touches.push(Touch { above, below, point, normal: Vector3::z() });
                    }
                }
            }
        }
        row_below = row_start;
    }
    let j = jacobian(&touches, &centres);
    let velocity = DVector::from_fn(j.ncols(), |column, _| {
        0.05 * random.symmetric() - if column % 6 == 2 { 0.05 } else { 0.0 }
    });
    let q = &j * velocity;
    DenseProblem::new(&delassus(&j, 6.0), &q, vec![mu; touches.len()])
}

/// Solves by a sequence of convex problems: for fixed `s = mu |u_T|`, `r` minimises `r W r / 2 + (q + s n) r` over the
/// cones. [Cadoux 2009]
pub fn by_fixed_point(problem: &DenseProblem) -> Vec<f64> {
    let contacts = problem.mu.len();
    let rows = 3 * contacts;
    let w = DMatrix::from_row_slice(rows, rows, &problem.w);
    let q = DVector::from_column_slice(&problem.q);
    let upper: Vec<Vec<f64>> =
        (0..rows).map(|i| (0..rows).map(|j| if j < i { 0.0 } else { w[(i, j)] }).collect()).collect();
    let cone: Vec<Vec<f64>> = (0..rows)
        .map(|i| {
            let weight = if i % 3 == 0 { -problem.mu[i / 3] } else { -1.0 };
            (0..rows).map(|j| if i == j { weight } else { 0.0 }).collect()
        })
        .collect();
    let (p, a) = (CscMatrix::from(&upper), CscMatrix::from(&cone));
    let zeros = vec![0.0; rows];
    let cones = vec![SecondOrderConeT(3); contacts];
    let mut shift = vec![0.0; contacts];
    for _ in 0..200 {
        let linear: Vec<f64> =
            (0..rows).map(|i| q[i] + if i % 3 == 0 { shift[i / 3] } else { 0.0 }).collect();
        let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
        let mut solver = DefaultSolver::new(&p, &linear, &a, &zeros, &cones, settings).unwrap();
        solver.solve();
        let r = DVector::from_column_slice(&solver.solution.x);
        let u = &w * &r + &q;
        let next: Vec<f64> =
            (0..contacts).map(|c| problem.mu[c] * u[3 * c + 1].hypot(u[3 * c + 2])).collect();
        let change = next.iter().zip(&shift).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        shift = next;
        if change < 1e-7 {
            return improved(problem, r.as_slice());
        }
    }
    panic!("the fixed point is not reached");
}

/// An interior point method stops some way inside the cones; the last digits are found by projecting,
/// `r <- Proj_K(r - rho (u + mu |u_T| n))`, which converges for well-conditioned problems. [De Saxce and Feng 1998]
fn improved(problem: &DenseProblem, r: &[f64]) -> Vec<f64> {
    const RHO: f64 = 0.3;
    let rows = r.len();
    let w = DMatrix::from_row_slice(rows, rows, &problem.w);
    let q = DVector::from_column_slice(&problem.q);
    let mut r = DVector::from_column_slice(r);
    for _ in 0..2000 {
        let u = &w * &r + &q;
        for (contact, &mu) in problem.mu.iter().enumerate() {
            let at = 3 * contact;
            let r_here = Vector3::from_fn(|k, _| r[at + k]);
            let u_here = Vector3::new(u[at] + mu * u[at + 1].hypot(u[at + 2]), u[at + 1], u[at + 2]);
            r.rows_mut(at, 3).copy_from(&project(r_here - u_here * RHO, mu));
        }
    }
    r.as_slice().to_vec()
}

/// Projection onto the cone `|x_T| <= mu x_N`, by the edge nearest to `x`.
fn project(x: Vector3<f64>, mu: f64) -> Vector3<f64> {
    let side = x[1].hypot(x[2]);
    if side <= mu * x[0] {
        x
    } else if side == 0.0 {
        Vector3::zeros()
    } else {
        let edge = Vector3::new(1.0, mu * x[1] / side, mu * x[2] / side) / (1.0 + mu * mu).sqrt();
        edge * edge.dot(&x).max(0.0)
    }
}
