//! Distance of shapes, by other code than the engine's.
//!
//! Every shape is a union of convex parts with support functions `h(n) = max n.x`. Two convex parts A and B are apart by
//! `s(n) = -h_A(n) - h_B(-n)` along a direction `n`; their signed distance is the largest `s` over all unit vectors
//! [Cameron and Culley 1986]. Where they are apart, the direction comes from their nearest points [Gilbert, Johnson and
//! Keerthi 1988]; balls and capsules are points and lines with a margin, and are exact beyond that. Where they overlap,
//! any direction is a proof that they do by at most so much, and the best one is looked for by a pattern search from many
//! starts: what it misses makes a depth too large, never too small. It stalls where directions are sharp; of two hulls of
//! points the best one is normal to a face of one of them or to an edge of each, and all of these are tried last.

use super::scene::{Pose, Shape, Vector};
use crate::Entropy;
use std::sync::LazyLock;

/// Folder of the shape files.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shapes");

/// A convex set and all within `margin` of it, in the world.
#[derive(Clone, Debug)]
pub struct Convex {
    core: Core,
    margin: f64,
    middle: Vector,
}

#[derive(Clone, Debug)]
enum Core {
    /// The hull of points.
    Points(Vec<Vector>),
    /// A cylinder around the middle; a disc where its half axis is zero.
    Cylinder { axis: Vector, half_length: f64, radius: f64 },
}

impl Convex {
    fn hull(points: Vec<Vector>, margin: f64) -> Convex {
        let middle = points.iter().sum::<Vector>() / points.len() as f64;
        Convex { core: Core::Points(points), margin, middle }
    }

    fn support(&self, n: &Vector) -> f64 {
        self.margin + n.dot(&self.farthest(n))
    }

    /// The point of the core that is farthest along a direction.
    fn farthest(&self, n: &Vector) -> Vector {
        match &self.core {
            Core::Points(points) => {
                let mut best = (f64::NEG_INFINITY, self.middle);
                for point in points {
                    let along = n.dot(point);
                    if along > best.0 {
                        best = (along, *point);
                    }
                }
                best.1
            }
            Core::Cylinder { axis, half_length, radius } => {
                let along = n.dot(axis);
                let across = n - axis * along;
                let length = across.norm();
                // Across the axis all of the rim is as far, and what is left of the direction is round-off.
                let rim = if length > 1e-8 * n.norm() { across * (radius / length) } else { Vector::zeros() };
                self.middle + axis * (half_length * along.signum()) + rim
            }
        }
    }
}

/// What can be touched, in the world.
#[derive(Clone, Debug)]
pub enum Solid {
    /// Below the plane `n.x = at`.
    HalfSpace {
        /// Normal.
        normal: Vector,
        /// Distance from the origin.
        at: f64,
    },
    /// Convex parts.
    Parts(Vec<Convex>),
}

/// Parts of a shape in its own frame, as corners, for shapes from files.
fn pieces(file: &str) -> &'static [Vec<Vector>] {
    static STONE: LazyLock<Vec<Vec<Vector>>> = LazyLock::new(|| {
        let text = include_str!("../../shapes/stone.obj");
        let corners = text.lines().filter_map(|line| line.strip_prefix("v "));
        vec![corners.map(|line| Vector::from_iterator(numbers(line))).collect()]
    });
    static STAIR: LazyLock<Vec<Vec<Vector>>> = LazyLock::new(|| {
        vec![
            corners(Vector::new(-2.0, -2.0, -1.0), Vector::new(2.0, 2.0, 0.0)),
            corners(Vector::new(-2.0, 0.5, -1.0), Vector::new(2.0, 2.0, 0.5)),
        ]
    });
    match file {
        "stone.obj" => &STONE,
        "stair.obj" => &STAIR,
        other => unreachable!("no shape file {other}"),
    }
}

fn numbers(line: &str) -> impl Iterator<Item = f64> {
    line.split_whitespace().map(|word| word.parse().expect("a number"))
}

fn corners(low: Vector, high: Vector) -> Vec<Vector> {
    (0..8)
        .map(|corner| Vector::from_fn(|axis, _| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] }))
        .collect()
}

/// Heights of `hills.txt`, by row.
static HILLS: LazyLock<Vec<Vec<f64>>> = LazyLock::new(|| {
    let text = include_str!("../../shapes/hills.txt");
    text.lines().filter(|line| !line.starts_with('#')).map(|line| numbers(line).collect()).collect()
});

/// Cells of the heightfield as prisms that reach down.
fn prisms(cell: &[f64; 2], scale: f64) -> Vec<Vec<Vector>> {
    let (rows, columns) = (HILLS.len(), HILLS[0].len());
    let depth = 4.0 * (cell[0] + cell[1]);
    let corner = |row: usize, column: usize| {
        Vector::new(
            (column as f64 - 0.5 * (columns - 1) as f64) * cell[0],
            (row as f64 - 0.5 * (rows - 1) as f64) * cell[1],
            HILLS[row][column] * scale,
        )
    };
    let mut prisms = Vec::new();
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let top = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(up, right)| corner(row + up, column + right));
            prisms.push(top.into_iter().flat_map(|top| [top, top - Vector::z() * depth]).collect());
        }
    }
    prisms
}

/// A shape at a pose.
pub fn solid(shape: &Shape, pose: &Pose) -> Solid {
    let to_world = |point: &Vector| pose.r + pose.q * point;
    let one = |points: &[Vector], margin: f64| {
        Solid::Parts(vec![Convex::hull(points.iter().map(to_world).collect(), margin)])
    };
    let round = |axis: &Vector, half_length: f64, radius: f64| {
        let axis = (pose.q * axis).normalize();
        let core = Core::Cylinder { axis, half_length, radius };
        Solid::Parts(vec![Convex { core, margin: 0.0, middle: pose.r }])
    };
    let many = |parts: Vec<Vec<Vector>>| {
        let hull = |part: Vec<Vector>| Convex::hull(part.iter().map(to_world).collect(), 0.0);
        Solid::Parts(parts.into_iter().map(hull).collect())
    };
    let scaled = |file: &str, scale: f64| -> Vec<Vec<Vector>> {
        pieces(file).iter().map(|part| part.iter().map(|corner| corner * scale).collect()).collect()
    };
    match shape {
        Shape::Point => one(&[Vector::zeros()], 0.0),
        Shape::Sphere { radius } => one(&[Vector::zeros()], *radius),
        Shape::Disc { radius, axis } => round(axis, 0.0, *radius),
        Shape::Box { size } => {
            let half = Vector::from(*size) * 0.5;
            one(&corners(-half, half), 0.0)
        }
        Shape::Capsule { radius, length, axis } => {
            let end = axis.normalize() * (0.5 * length);
            one(&[end, -end], *radius)
        }
        Shape::Cylinder { radius, length, axis } => round(axis, 0.5 * length, *radius),
        Shape::Points(points) => many(points.iter().map(|point| vec![*point]).collect()),
        Shape::Hull { file, scale } | Shape::Mesh { file, scale, .. } => many(scaled(file, *scale)),
        Shape::Heightfield { cell, scale, .. } => many(prisms(cell, *scale)),
        Shape::Plane { normal } => {
            let normal = (pose.q * normal).normalize();
            Solid::HalfSpace { normal, at: normal.dot(&pose.r) }
        }
    }
}

/// From the position of a shape to its farthest point; infinite for a plane.
pub fn extent(shape: &Shape) -> f64 {
    let farthest =
        |parts: &[Vec<Vector>]| parts.iter().flatten().map(|corner| corner.norm()).fold(0.0, f64::max);
    match shape {
        Shape::Point => 0.0,
        Shape::Sphere { radius } | Shape::Disc { radius, .. } => *radius,
        Shape::Box { size } => 0.5 * Vector::from(*size).norm(),
        Shape::Capsule { radius, length, .. } => 0.5 * length + radius,
        Shape::Cylinder { radius, length, .. } => (0.5 * length).hypot(*radius),
        Shape::Points(points) => points.iter().map(|point| point.norm()).fold(0.0, f64::max),
        Shape::Hull { file, scale } | Shape::Mesh { file, scale, .. } => farthest(pieces(file)) * scale,
        Shape::Heightfield { cell, scale, .. } => {
            let top = prisms(cell, *scale);
            top.iter().flatten().map(|corner| corner.xy().norm()).fold(0.0, f64::max)
        }
        Shape::Plane { .. } => f64::INFINITY,
    }
}

/// A direction and how far two parts are apart along it.
#[derive(Clone, Copy, Debug)]
pub struct Apart {
    /// Signed distance.
    pub gap: f64,
    /// Unit vector from the first to the second.
    pub normal: Vector,
}

fn along(first: &Convex, second: &Convex, normal: Vector) -> Apart {
    Apart { gap: -first.support(&normal) - second.support(&-normal), normal }
}

/// The point of the hull of up to four points that is nearest to the origin, and the points that it is between.
fn nearest(simplex: &[Vector]) -> (Vector, Vec<Vector>) {
    let mut best: Option<(f64, Vector, Vec<Vector>)> = None;
    for subset in 1_usize..1 << simplex.len() {
        let points: Vec<Vector> =
            (0..simplex.len()).filter(|index| subset >> index & 1 == 1).map(|index| simplex[index]).collect();
        let Some(point) = projection(&points) else { continue };
        let length = point.norm_squared();
        if best.as_ref().is_none_or(|(least, _, _)| length < *least) {
            best = Some((length, point, points));
        }
    }
    best.map_or((simplex[0], vec![simplex[0]]), |(_, point, points)| (point, points))
}

/// The origin, projected onto the flat through points; none where it falls outside of their hull.
fn projection(points: &[Vector]) -> Option<Vector> {
    let first = points[0];
    let edges: Vec<Vector> = points[1..].iter().map(|point| point - first).collect();
    let weights = match edges.as_slice() {
        [] => return Some(first),
        [one] => vec![-one.dot(&first) / one.norm_squared()],
        [one, two] => {
            let gram =
                nalgebra::Matrix2::new(one.norm_squared(), one.dot(two), one.dot(two), two.norm_squared());
            let solved = gram.try_inverse()? * nalgebra::Vector2::new(-one.dot(&first), -two.dot(&first));
            solved.iter().copied().collect()
        }
        [one, two, three] => {
            let inverse = nalgebra::Matrix3::from_columns(&[*one, *two, *three]).try_inverse()?;
            (inverse * -first).iter().copied().collect()
        }
        _ => return None,
    };
    let inside = weights.iter().all(|weight| *weight >= 0.0) && weights.iter().sum::<f64>() <= 1.0;
    let sum = edges.iter().zip(&weights).fold(first, |sum, (edge, weight)| sum + edge * *weight);
    // Points that are nearly on a line give weights that are none.
    let is_right = edges.iter().all(|edge| edge.dot(&sum).abs() <= 1e-9 * edge.norm() * first.norm());
    (inside && is_right).then_some(sum)
}

/// How far two cores are apart, and along which direction; none where they overlap.
fn cores_apart(first: &Convex, second: &Convex) -> Option<(f64, Vector)> {
    const MOST: usize = 200;
    const EXACT: f64 = 1e-13;
    let difference = |n: &Vector| second.farthest(&-n) - first.farthest(n);
    let mut simplex = vec![difference(&direction(second.middle - first.middle))];
    let mut point = simplex[0];
    let mut largest = 0.0_f64;
    for _ in 0..MOST {
        largest = simplex.iter().map(|corner| corner.norm()).fold(largest, f64::max);
        let length = point.norm();
        if length <= 1e-12 * largest {
            return None;
        }
        let next = difference(&(point / length));
        // What is left is at most by how much the next point is nearer along the direction.
        if length - point.dot(&next) / length <= EXACT * (length + largest * 1e-2) || simplex.contains(&next)
        {
            break;
        }
        simplex.push(next);
        let found = nearest(&simplex);
        if found.1.len() == 4 {
            return None;
        }
        if found.0.norm() >= length {
            break;
        }
        (point, simplex) = found;
    }
    let length = point.norm();
    Some((length, point / length))
}

/// The best direction near one. Ends early where they are known to overlap, by less than `enough`.
fn climbed(first: &Convex, second: &Convex, start: Vector, enough: f64, entropy: &mut Entropy) -> Apart {
    const SMALLEST: f64 = 1e-10;
    const MOST: usize = 200;
    let mut best = along(first, second, start.normalize());
    let mut step = 0.5;
    for _ in 0..MOST {
        let side = if best.normal.x.abs() < 0.6 { Vector::x() } else { Vector::y() };
        let tangent = best.normal.cross(&side).normalize();
        let other = best.normal.cross(&tangent);
        let phase = entropy.between(0.0, std::f64::consts::TAU);
        let mut improved = false;
        for spoke in 0..7 {
            let (sin, cos) = (phase + f64::from(spoke) * (std::f64::consts::TAU / 7.0)).sin_cos();
            let candidate = best.normal + (tangent * cos + other * sin) * step;
            let tried = along(first, second, candidate.normalize());
            if tried.gap > best.gap {
                best = tried;
                improved = true;
                break;
            }
        }
        step *= if improved { 1.4 } else { 0.6 };
        if step < SMALLEST || (best.gap <= 0.0 && best.gap > -enough) {
            break;
        }
    }
    best
}

/// How two convex parts are apart. Ends early where they are known to overlap by less than `enough`; where that is none, it
/// does not matter by how much.
fn parts_apart(first: &Convex, second: &Convex, starts: usize, enough: f64, entropy: &mut Entropy) -> Apart {
    /// Part of the distance of nearest points that a direction has to prove: nearer than round-off they tell none.
    const PROVEN: f64 = 0.999;
    let mut start = direction(second.middle - first.middle);
    if let Some((distance, normal)) = cores_apart(first, second) {
        let found = along(first, second, normal);
        if found.gap + first.margin + second.margin >= PROVEN * distance {
            return found;
        }
        start = normal;
    }
    let mut best = climbed(first, second, start, enough, entropy);
    for _ in 0..starts {
        if best.gap > -enough {
            break;
        }
        let random = Vector::from_fn(|_, _| entropy.between(-1.0, 1.0));
        if random.norm() < 1e-3 {
            continue;
        }
        let tried = climbed(first, second, random, enough, entropy);
        if tried.gap > best.gap {
            best = tried;
        }
    }
    if best.gap > -enough || enough == 0.0 {
        return best;
    }
    match (&first.core, &second.core) {
        (Core::Points(one), Core::Points(other)) => {
            let [one, other] = [one, other].map(|points| lines(points));
            let faces = [&one, &other].into_iter().flat_map(|lines| crosses(lines, lines));
            for normal in faces.chain(crosses(&one, &other)) {
                for normal in [normal, -normal] {
                    let tried = along(first, second, normal);
                    if tried.gap > best.gap {
                        best = tried;
                    }
                }
            }
            best
        }
        _ => best,
    }
}

/// Lines through two points each: edges and diagonals.
fn lines(points: &[Vector]) -> Vec<Vector> {
    let pairs = points
        .iter()
        .enumerate()
        .flat_map(|(index, one)| points[..index].iter().map(move |other| one - other));
    pairs.filter(|line| line.norm() > 0.0).map(|line| line.normalize()).collect()
}

/// Directions normal to one line of each of two lists.
fn crosses<'a>(one: &'a [Vector], other: &'a [Vector]) -> impl Iterator<Item = Vector> + 'a {
    const PARALLEL: f64 = 1e-9;
    let normals = one.iter().flat_map(move |line| other.iter().map(move |second| line.cross(second)));
    normals.filter(|normal| normal.norm() > PARALLEL).map(|normal| normal.normalize())
}

/// Signed distance of two solids. Where it is below `-enough`, that much is sure after many starts.
pub fn apart(first: &Solid, second: &Solid, enough: f64) -> Apart {
    const STARTS: usize = 60;
    let mut entropy = Entropy::seeded(0);
    match (first, second) {
        (Solid::Parts(parts), Solid::HalfSpace { normal, at }) => {
            let lowest = parts.iter().map(|part| -part.support(&-normal)).fold(f64::INFINITY, f64::min);
            Apart { gap: lowest - at, normal: -normal }
        }
        (Solid::HalfSpace { .. }, Solid::Parts(_)) => {
            let other = apart(second, first, enough);
            Apart { gap: other.gap, normal: -other.normal }
        }
        (Solid::Parts(first), Solid::Parts(second)) => {
            let mut nearest = Apart { gap: f64::INFINITY, normal: Vector::z() };
            for one in first {
                for other in second {
                    // A part that is farther than the nearest along one direction needs no better one.
                    let quick = along(one, other, direction(other.middle - one.middle));
                    if quick.gap > nearest.gap {
                        continue;
                    }
                    let found = parts_apart(one, other, STARTS, enough, &mut entropy);
                    if found.gap < nearest.gap {
                        nearest = found;
                    }
                }
            }
            nearest
        }
        (Solid::HalfSpace { .. }, Solid::HalfSpace { .. }) => {
            Apart { gap: f64::INFINITY, normal: Vector::z() }
        }
    }
}

fn direction(line: Vector) -> Vector {
    if line.norm() > 0.0 { line.normalize() } else { Vector::z() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::scene::Turn;

    fn at(shape: Shape, r: Vector, q: Turn) -> Solid {
        solid(&shape, &Pose::at(r, q))
    }

    /// Distances that are known in closed form: apart, touching and overlapping.
    #[test]
    fn known_distances_are_found() {
        let still = Turn::identity();
        let ball = |x: f64| at(Shape::Sphere { radius: 0.5 }, Vector::new(x, 0.0, 0.0), still);
        let cube = |x: f64, q: Turn| at(Shape::Box { size: [1.0; 3] }, Vector::new(x, 0.0, 0.0), q);
        let turned = Turn::from_euler_angles(0.0, 0.0, std::f64::consts::FRAC_PI_4);
        let half_diagonal = 0.5_f64.sqrt();
        let rod = |x: f64| {
            at(
                Shape::Cylinder { radius: 0.5, length: 1.0, axis: Vector::z() },
                Vector::new(x, 0.0, 0.2),
                still,
            )
        };
        let disc = at(Shape::Disc { radius: 1.0, axis: Vector::z() }, Vector::zeros(), still);
        let leaning = Vector::new(0.9759, 0.0419, 0.2137).normalize();
        let cases = [
            (ball(0.0), ball(1.2), 0.2),
            (ball(0.0), ball(0.7), -0.3),
            (cube(0.0, still), cube(1.3, still), 0.3),
            (cube(0.0, still), cube(0.9, still), -0.1),
            (cube(0.0, still), cube(1.0 + half_diagonal, turned), 0.5),
            (cube(0.0, still), cube(0.4 + half_diagonal, turned), -0.1),
            (rod(0.0), ball(1.3), 0.3),
            (rod(0.0), rod(0.9), -0.1),
            (disc.clone(), at(Shape::Point, Vector::new(0.3, 0.2, 0.4), still), 0.4),
            (at(Shape::Sphere { radius: 0.5 }, Vector::new(0.3, 0.2, 0.7), still), disc, 0.2),
            (
                ball(0.7),
                at(Shape::Disc { radius: 0.5, axis: leaning }, Vector::zeros(), still),
                0.7 * leaning.x - 0.5,
            ),
        ];
        for (first, second, expected) in cases {
            let found = apart(&first, &second, 0.0).gap;
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
