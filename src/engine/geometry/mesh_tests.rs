use super::super::convex;
use super::super::hulls::{HasParts, Hull, IsRound};
use super::super::poses::Motion;
use super::super::round::Round;
use super::super::round_mesh;
use super::super::solids::{Ball, Capsule, Cuboid, Cylinder, Disc};
use super::super::support::{Numbers, Solid, least_norm, place};
use super::*;
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::elementary::atan2;
use nalgebra::{Matrix3, Vector3};

/// Three corners of a mesh.
struct Flat([Vector3<f64>; 3]);

impl Flat {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let along = |corner: &&Vector3<f64>| corner.dot(direction);
        *self.0.iter().max_by(|one, other| along(one).total_cmp(&along(other))).unwrap()
    }
}

/// An L, extruded: one edge is not convex.
fn angle() -> Polyhedron {
    let outline = [[0.0, 0.0], [1.5, 0.0], [1.5, 0.5], [0.5, 0.5], [0.5, 1.5], [0.0, 1.5]];
    let level = |z: f64| outline.map(|[x, y]| Vector3::new(x - 0.5, y - 0.5, z));
    let corners: Vec<_> = level(-0.6).into_iter().chain(level(0.6)).collect();
    let mut triangles = Vec::new();
    for k in 0..6_u32 {
        let next = (k + 1) % 6;
        triangles.extend([[k, next, 6 + next], [k, 6 + next, 6 + k]]);
    }
    for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]] {
        triangles.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
    }
    Polyhedron::new(corners, &triangles).unwrap()
}

/// Hills as an open mesh.
fn hills(numbers: &mut Numbers) -> Polyhedron {
    const SIDE: u32 = 9;
    let corners = (0..SIDE * SIDE).map(|k| {
        let [x, y] = [k % SIDE, k / SIDE].map(|step| 0.5 * f64::from(step) - 2.0);
        Vector3::new(x, y, 0.25 * numbers.next())
    });
    let corners = corners.collect();
    let cells = (0..SIDE - 1).flat_map(|row| (0..SIDE - 1).map(move |column| row * SIDE + column));
    let triangles: Vec<_> =
        cells.flat_map(|k| [[k, k + 1, k + SIDE + 1], [k, k + SIDE + 1, k + SIDE]]).collect();
    Polyhedron::new(corners, &triangles).unwrap()
}

/// A solid over a mesh.
enum Body<'a> {
    Faceted(Faceted<'a>),
    Round(Round),
}

impl Body<'_> {
    fn center(&self) -> Vector3<f64> {
        match self {
            Body::Faceted(parts) => parts.center(),
            Body::Round(_) => Vector3::zeros(),
        }
    }

    fn gap(&self, pose: &Pose<f64>, mesh: &Polyhedron, mesh_pose: &Pose<f64>) -> f64 {
        match self {
            Body::Faceted(parts) => gap(parts, pose, mesh, mesh_pose),
            Body::Round(round) => round_mesh::gap(round, pose, mesh, mesh_pose),
        }
    }

    fn at(&self, feature: Feature, pose: &Pose<f64>, mesh: &Polyhedron, place: &Pose<f64>) -> Proximity<f64> {
        match self {
            Body::Faceted(parts) => at(feature, parts, pose, mesh, place),
            Body::Round(round) => round_mesh::at(feature, round, pose, mesh, place),
        }
    }

    fn features<S: Scalar>(
        &self,
        pose: &Pose<S>,
        mesh: &Polyhedron,
        mesh_pose: &Pose<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    ) {
        match self {
            Body::Faceted(parts) => features(parts, pose, mesh, mesh_pose, reach, found),
            Body::Round(round) => round_mesh::features(round, pose, mesh, mesh_pose, reach, found),
        }
    }
}

/// Distance of the core of a solid from the nearest triangle.
fn distance(solid: &impl Solid, pose: &Pose<f64>, mesh: &Polyhedron, mesh_pose: &Pose<f64>) -> f64 {
    let mut least = f64::INFINITY;
    for index in 0..mesh.triangles.len() {
        let corners =
            mesh.places(index).map(|corner| mesh_pose.position + mesh_pose.orientation.to_world(&corner));
        let flat = Flat(corners);
        // Any direction that separates them by more shows that it is another one.
        let away = (pose.position - corners[0]).normalize();
        if away.dot(&(place(solid, pose, &-away) - flat.farthest(&away))) < least {
            let between =
                least_norm(&mut |direction| place(solid, pose, direction) - flat.farthest(&-direction));
            least = least.min(between.norm());
        }
    }
    least
}

/// Gaps of solids that are apart from a mesh, on its outside, against all triangles; features are consistent and move
/// with their touching points.
fn holds<A: Solid>(count: usize, body: impl Fn(&A) -> Body<'_>) {
    let mut numbers = Numbers::new();
    let (angle, hills) = (angle(), hills(&mut numbers));
    let (mut apart, mut checked) = (0, 0);
    for case in 0..count {
        let solid = A::random(&mut numbers);
        let mesh = if case % 2 == 0 { &angle } else { &hills };
        let (mut pose, mesh_pose) = (numbers.pose(), numbers.pose());
        if case % 2 == 1 {
            // Above the hills, not beside or behind.
            let offset = Vector3::new(0.5 * numbers.next(), 0.5 * numbers.next(), 1.6 + 0.8 * numbers.next());
            pose = mesh_pose.of(&Pose { position: offset, ..numbers.pose() });
        }
        let body = body(&solid);
        let found = body.gap(&pose, mesh, &mesh_pose);
        let apart_by = distance(&solid, &pose, mesh, &mesh_pose);
        let center = pose.position + pose.orientation.to_world(&body.center());
        let is_outside = is_outside(mesh, &mesh_pose, &center);
        if apart_by > 1e-6 && is_outside {
            apart += 1;
            let expected = apart_by - solid.margin();
            assert!((found - expected).abs() < 1e-9, "{case}: {found} {expected}");
        } else if apart_by <= 1e-6 {
            assert!(found <= 1e-9 || !is_outside, "{case}: {found}");
        }
        for reach in [0.3, 0.05, 0.0, found + 1e-9] {
            let mut least = f64::INFINITY;
            let mut names = Vec::new();
            body.features(&pose, mesh, &mesh_pose, reach, &mut |feature, near| {
                least = least.min(near.gap);
                assert!(near.gap < reach && (near.normal.norm() - 1.0).abs() < 1e-14);
                assert!(!names.contains(&feature));
                names.push(feature);
                let again = body.at(feature, &pose, mesh, &mesh_pose);
                assert_eq!((again.gap, again.normal, again.arm), (near.gap, near.normal, near.arm));
            });
            assert_eq!(found < reach, least < f64::INFINITY, "{case}: {found} {reach} {least}");
            assert!(least == f64::INFINITY || least <= found + TOLERANCES.sliver, "{case}: {least} {found}");
        }
        let motion = Motion::random(&mut numbers);
        let moving = [motion.dual(0, &pose), motion.dual(1, &mesh_pose)];
        body.features(&moving[0], mesh, &moving[1], 0.3, &mut |feature, near| {
            let near_now = body.at(feature, &pose, mesh, &mesh_pose);
            let expected = motion.parting(&near_now, &pose, &mesh_pose);
            assert!((near.gap.tangent - expected).abs() < 1e-11);
            if (near_now.gap + solid.margin()).abs() > 0.02 {
                let after = |time: f64| {
                    let (pose, place) = (motion.after(0, &pose, time), motion.after(1, &mesh_pose, time));
                    body.at(feature, &pose, mesh, &place).gap
                };
                let difference = (after(1e-6) - after(-1e-6)) / 2e-6;
                assert!((difference - expected).abs() < 1e-7, "{difference} {expected}");
            }
            checked += 1;
        });
    }
    assert!(apart > count / 10 && checked > count / 5, "{apart} {checked}");
}

/// Whether a point is outside of a closed mesh, or above an open one: by the solid angle under which it sees the
/// triangles. [van Oosterom and Strackee 1983]
fn is_outside(mesh: &Polyhedron, pose: &Pose<f64>, point: &Vector3<f64>) -> bool {
    let seen = pose.orientation.to_body(&(point - pose.position));
    let angles = (0..mesh.triangles.len()).map(|index| {
        let [a, b, c] = mesh.places(index).map(|corner| corner - seen);
        let (x, y, z) = (a.norm(), b.norm(), c.norm());
        let below = x * y * z + a.dot(&b) * z + a.dot(&c) * y + b.dot(&c) * x;
        2.0 * atan2(a.dot(&b.cross(&c)), below)
    });
    let sum: f64 = angles.sum();
    if mesh.is_closed() { sum < 2.0 * std::f64::consts::PI } else { sum < 0.0 }
}

#[test]
fn balls() {
    holds(10_000, |solid: &Ball| Body::Faceted(solid.parts()));
}

#[test]
fn capsules() {
    holds(10_000, |solid: &Capsule| Body::Faceted(solid.parts()));
}

#[test]
fn boxes() {
    holds(10_000, |solid: &Cuboid| Body::Faceted(solid.parts()));
}

#[test]
fn hulls() {
    holds(10_000, |solid: &Hull| Body::Faceted(solid.parts()));
}

#[test]
fn cylinders() {
    holds(10_000, |solid: &Cylinder| Body::Round(solid.round()));
}

#[test]
fn discs() {
    holds(10_000, |solid: &Disc| Body::Round(solid.round()));
}

/// Over a convex mesh, a ball has the signed distance that it has from the hull, however deep.
#[test]
fn a_ball_on_a_convex_mesh_is_on_its_hull() {
    let mut numbers = Numbers::new();
    for _ in 0..5000 {
        let (hull, ball) = (Hull::random(&mut numbers), Ball::random(&mut numbers));
        let (pose, place) = (numbers.pose(), numbers.pose());
        let found = gap(&ball.parts(), &pose, &hull.polyhedron, &place);
        let expected = convex::gap(&ball.parts(), &pose, &hull.parts(), &place);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        let points = [Vector3::zeros()];
        let found = gap(&Faceted::Points(&points), &pose, &hull.polyhedron, &place);
        assert!((found - expected - ball.radius).abs() < 1e-9, "{found} {expected}");
    }
}

/// A floor of many triangles.
fn floor() -> Polyhedron {
    let corners = (0..36).map(|k| Vector3::new(f64::from(k % 6) - 2.5, f64::from(k / 6) - 2.5, 0.0));
    let cells = (0..5).flat_map(|row| (0..5).map(move |column| 6 * row + column));
    let triangles: Vec<_> = cells.flat_map(|k| [[k, k + 1, k + 7], [k, k + 7, k + 6]]).collect();
    Polyhedron::new(corners.collect(), &triangles).unwrap()
}

/// Wherever a ball, a box and points are over a floor of triangles, they touch it as a plane: with the same points, with
/// the same gaps, and with names that do not change on the way.
#[test]
fn triangles_in_one_plane_are_as_a_plane() {
    let (mesh, still) = (floor(), Pose { position: Vector3::zeros(), orientation: Orientation::identity() });
    assert_eq!(mesh.faces.len(), 1);
    let cuboid = Cuboid { half: Vector3::new(0.7, 0.4, 0.2) };
    let points: Vec<_> = (0..4).map(|k| corner_of(&cuboid, k)).collect();
    let ball = Ball { radius: 0.2 };
    let cylinder = Round { axis: Vector3::z(), half: 0.2, radius: 0.3 };
    let lying = Round { axis: Vector3::y(), half: 0.3, radius: 0.2 };
    let solids = [
        (Body::Faceted(ball.parts()), 1),
        (Body::Faceted(cuboid.parts()), 4),
        (Body::Faceted(Faceted::Points(&points)), 4),
        (Body::Round(cylinder), 4),
        (Body::Round(lying), 2),
    ];
    for (solid, count) in solids {
        let mut names = None;
        for step in 0..400 {
            let along = -1.0 + 0.005 * f64::from(step);
            for height in [0.2, 0.2 - 1e-13, 0.2 + 1e-9, 0.2 - 1e-5] {
                let orientation = Orientation::from_turn(&Vector3::new(0.0, 0.0, 0.01 * f64::from(step)));
                let pose = Pose { position: Vector3::new(along, 0.5 * along, height), orientation };
                let mut list = Vec::new();
                solid.features(&pose, &mesh, &still, 1e-3, &mut |feature, near| {
                    assert!((near.gap - (height - 0.2)).abs() < 1e-15, "{}", near.gap);
                    assert_eq!(near.normal, Vector3::z());
                    list.push(feature);
                });
                assert_eq!(list.len(), count, "{step} {height} {list:?}");
                list.sort_unstable();
                assert_eq!(*names.get_or_insert_with(|| list.clone()), list);
            }
        }
    }
}

fn corner_of(cuboid: &Cuboid, index: usize) -> Vector3<f64> {
    super::super::box_parts::corner(&cuboid.half, index)
}

/// Seen from a box that overhangs its edge, a table pushes up only, also where the box has sunk in a little.
#[test]
fn the_side_of_a_table_does_not_push_what_stands_on_it() {
    let table = Hull::cube(Vector3::new(1.0, 1.0, 0.5)).polyhedron;
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let cuboid = Cuboid { half: Vector3::new(0.3, 0.2, 0.1) };
    for depth in [0.0, 1e-12, -1e-12, 1e-7, 1e-5] {
        for overhang in [1e-4, 1e-3, 0.1, 0.299, 0.301, 0.5, 0.599] {
            let position = Vector3::new(0.7 + overhang, 0.1, 0.6 - depth);
            let mut count = 0;
            features(&cuboid.parts(), &Pose { position, ..still }, &table, &still, 1e-3, &mut |_, near| {
                assert!((near.normal - Vector3::z()).norm() < 1e-12, "{depth} {overhang} {near:?}");
                assert!((near.gap + depth).abs() < 1e-14);
                count += 1;
            });
            assert_eq!(count, 4, "{depth} {overhang}");
        }
    }
}

/// Edges that are not convex, and corners in them, never touch; what fits into them touches both faces.
#[test]
fn a_ball_in_a_corner_touches_both_faces() {
    let mesh = angle();
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let ball = Ball { radius: 0.1 };
    let position = Vector3::new(0.1, 0.1, 0.0);
    let mut normals = Vec::new();
    features(&ball.parts(), &Pose { position, ..still }, &mesh, &still, 1e-3, &mut |_, near| {
        assert!(near.gap.abs() < 1e-15);
        normals.push(near.normal);
    });
    normals.sort_by(|one, other| one[0].total_cmp(&other[0]));
    assert_eq!(normals, [Vector3::y(), Vector3::x()]);
}

/// What is exactly on, in or over parts of the mesh has finite unit normals.
#[test]
fn parts_that_coincide() {
    let mut numbers = Numbers::new();
    let hull = Hull::cube(Vector3::new(0.5, 0.75, 1.0)).image(&Matrix3::identity(), &Vector3::zeros());
    let mesh = &hull.polyhedron;
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let points = [Vector3::zeros()];
    let cuboid = Cuboid { half: Vector3::new(0.5, 0.75, 1.0) };
    let capsule = Capsule { half_axis: Vector3::new(0.5, 0.0, 0.0), radius: 0.25 };
    let ball = Ball { radius: 0.25 };
    let faceted = [ball.parts(), Faceted::Points(&points), capsule.parts(), cuboid.parts(), hull.parts()];
    let rounds = [(1.0, 0.5), (0.0, 0.5), (1.0, 0.75)].map(|(half, radius)| Round {
        axis: Vector3::z(),
        half,
        radius,
    });
    let solids = faceted.map(Body::Faceted).into_iter().chain(rounds.map(Body::Round));
    for solid in solids {
        for place in [
            [0.0, 0.0, 0.0],
            [0.5, 0.0, 0.0],
            [0.5, 0.75, 0.0],
            [0.5, 0.75, 1.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.5, 0.0],
            [1.0, 1.5, 2.0],
            [0.0, 0.0, 2.0],
            [0.75, 0.0, 0.0],
        ] {
            let motion = Motion::random(&mut numbers);
            let pose = Pose { position: Vector3::from(place), ..still };
            let (one, other) = (motion.dual(0, &pose), motion.dual(1, &still));
            assert!(solid.gap(&pose, mesh, &still).is_finite());
            solid.features(&one, mesh, &other, 10.0, &mut |_, near| {
                let mut all = near.normal.iter().chain(near.arm.iter()).chain([&near.gap]);
                assert!(all.all(|x| x.value.is_finite() && x.tangent.is_finite()), "{near:?}");
                assert!((near.normal.map(|x| x.value).norm() - 1.0).abs() < 1e-14);
            });
        }
    }
}
