//! Checks that every pair of solids must pass, against an independent computation on random poses.
//!
//! The independent side knows a solid by its support function only: a core and a margin around it. Cores that are
//! apart are measured by the algorithm of [Gilbert, Johnson, Keerthi 1988], with the point of least norm of a simplex
//! by trying all its faces. Where they overlap, the signed distance is the largest separation over all directions.

#![cfg(test)]

pub use super::solids::Feature;
use super::support::{Numbers, Solid, least_norm, mirror, place};
use super::{Pose, Proximity};
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::{Dual, Scalar};
use nalgebra::Vector3;

/// Two solids and their gap functions.
pub trait Pair: Sized {
    type First: Solid;
    type Second: Solid;
    fn new(first: Self::First, second: Self::Second) -> Self;
    fn first(&self) -> &Self::First;
    fn second(&self) -> &Self::Second;
    fn features<S: Scalar>(
        &self,
        first: &Pose<S>,
        second: &Pose<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    );
    fn at<S: Scalar>(&self, feature: Feature, first: &Pose<S>, second: &Pose<S>) -> Proximity<S>;
    fn gap<S: Scalar>(&self, first: &Pose<S>, second: &Pose<S>) -> S;
    /// The feature whose gap is the signed distance.
    fn nearest(&self, first: &Pose<f64>, second: &Pose<f64>) -> Feature;
}

/// Makes a type of any two solids of some kinds from what the functions of their pairs know them as, and those functions.
macro_rules! shape_pair {
    (
        $name:ident<$first:ident: $kind:path, $second:ident: $other:path>, $one:ident, $two:ident,
        $features:path, $at:path, $gap:path, $nearest:expr
    ) => {
        #[derive(Clone, Copy, Debug)]
        struct $name<$first, $second> {
            first: $first,
            second: $second,
        }
        impl<$first: $kind, $second: $other> poses::Pair for $name<$first, $second> {
            type First = $first;
            type Second = $second;
            fn new(first: $first, second: $second) -> Self {
                $name { first, second }
            }
            fn first(&self) -> &$first {
                &self.first
            }
            fn second(&self) -> &$second {
                &self.second
            }
            fn features<S: Scalar>(
                &self,
                first: &Pose<S>,
                second: &Pose<S>,
                reach: f64,
                found: &mut impl FnMut(poses::Feature, Proximity<S>),
            ) {
                $features(&self.first.$one(), first, &self.second.$two(), second, reach, found);
            }
            fn at<S: Scalar>(
                &self,
                feature: poses::Feature,
                first: &Pose<S>,
                second: &Pose<S>,
            ) -> Proximity<S> {
                $at(feature, &self.first.$one(), first, &self.second.$two(), second)
            }
            fn gap<S: Scalar>(&self, first: &Pose<S>, second: &Pose<S>) -> S {
                $gap(&self.first.$one(), first, &self.second.$two(), second)
            }
            fn nearest(&self, first: &Pose<f64>, second: &Pose<f64>) -> poses::Feature {
                $nearest(&self.first.$one(), first, &self.second.$two(), second)
            }
        }
    };
}
pub(super) use shape_pair;

/// The relations of every pair of one kind; features nearer to each other than `apart` need not be told from one another.
pub fn holds<P: Pair>(apart: f64) {
    signed_distance::<P>(10_000);
    rates::<P>(1000);
    consistency::<P>(500, apart);
    scales::<P>(200);
}

/// Half edges of two equal boxes, where the first is from the second so that parts coincide or just do not, and their gaps.
pub const EQUAL_BOXES: Vector3<f64> = Vector3::new(0.5, 0.75, 1.0);
pub const COINCIDING: [([f64; 3], f64); 10] = [
    ([0.0, 0.0, 0.0], -1.0),
    ([0.0, 0.0, 2.0], 0.0),
    ([1.0, 0.0, 0.0], 0.0),
    ([1.0, 1.5, 0.0], 0.0),
    ([1.0, 1.5, 1.0], 0.0),
    ([1.0, 1.5, 2.0], 0.0),
    ([-1.0, 1.5, -2.0], 0.0),
    ([0.5, 0.0, 0.0], -0.5),
    ([1.3, 1.9, 0.0], 0.5),
    ([1.3, 1.9, 3.2], 1.3),
];

fn random<P: Pair>(numbers: &mut Numbers) -> (P, Pose<f64>, Pose<f64>) {
    let pair = P::new(P::First::random(numbers), P::Second::random(numbers));
    (pair, numbers.pose(), numbers.pose())
}

/// How far a direction separates the cores: the lowest point of the first over the highest of the second.
fn separation<P: Pair>(pair: &P, first: &Pose<f64>, second: &Pose<f64>, normal: &Vector3<f64>) -> f64 {
    normal.dot(&(place(pair.first(), first, &-normal) - place(pair.second(), second, normal)))
}

/// Signed distance and normal by the gap functions, against the independent computation.
fn signed_distance<P: Pair>(count: usize) {
    let mut numbers = Numbers::new();
    let (mut apart, mut deep) = (0, 0);
    for _ in 0..count {
        let (pair, first, second) = random::<P>(&mut numbers);
        let gap = pair.gap(&first, &second);
        let near = pair.at(pair.nearest(&first, &second), &first, &second);
        assert_eq!(near.gap, gap);
        assert!((near.normal.norm() - 1.0).abs() < 1e-14);
        let margin = pair.first().margin() + pair.second().margin();
        let attained = separation(&pair, &first, &second, &near.normal) - margin;
        assert!((attained - gap).abs() < 1e-9, "along the normal {attained}, gap {gap}");
        let between = least_norm(&mut |direction| {
            place(pair.first(), &first, direction) - place(pair.second(), &second, &-direction)
        });
        let distance = between.norm();
        if distance > 1e-6 {
            apart += 1;
            assert!(
                (gap - (distance - margin)).abs() < 1e-9,
                "gap {gap}, distance {distance} - {margin} {near:?}"
            );
            if distance > 1e-2 {
                assert!((near.normal - between / distance).norm() < 1e-6);
            }
            // Both touching points belong to their solids.
            let point = first.position + near.arm + near.normal * pair.first().margin();
            let other = first.position + near.arm - near.normal * (gap + pair.second().margin());
            let off = least_norm(&mut |direction| place(pair.first(), &first, direction) - point).norm();
            assert!(off < 1e-7, "{off} off the first");
            let off = least_norm(&mut |direction| place(pair.second(), &second, direction) - other).norm();
            assert!(off < 1e-7, "{off} off the second");
        } else if deep < 500 {
            deep += 1;
            let best = largest_separation(&mut numbers, |normal| separation(&pair, &first, &second, normal));
            assert!(best - margin < gap + 1e-12, "{} is more than {gap}", best - margin);
        }
    }
    assert!(apart > count / 20, "{apart} apart");
}

/// Looks around, then climbs from the best directions.
fn largest_separation(numbers: &mut Numbers, separation: impl Fn(&Vector3<f64>) -> f64) -> f64 {
    let mut seen: Vec<_> = (0..100).map(|_| numbers.direction()).map(|n| (separation(&n), n)).collect();
    seen.sort_by(|one, other| other.0.total_cmp(&one.0));
    seen.truncate(3);
    for (best, normal) in &mut seen {
        let mut step = 0.3;
        while step > 1e-4 {
            let tries = (0..6).map(|_| (*normal + numbers.vector() * step).normalize());
            let (value, next) = tries
                .map(|n| (separation(&n), n))
                .max_by(|one, other| one.0.total_cmp(&other.0))
                .expect("there are tries");
            if value > *best {
                (*best, *normal) = (value, next);
            } else {
                step *= 0.6;
            }
        }
    }
    seen.iter().map(|(value, _)| *value).fold(f64::NEG_INFINITY, f64::max)
}

/// How two bodies move.
pub struct Motion {
    velocity: [Vector3<f64>; 2],
    spin: [Vector3<f64>; 2],
}

impl Motion {
    pub fn random(numbers: &mut Numbers) -> Motion {
        Motion { velocity: [numbers.vector(), numbers.vector()], spin: [numbers.vector(), numbers.vector()] }
    }

    pub fn after(&self, body: usize, pose: &Pose<f64>, time: f64) -> Pose<f64> {
        Pose {
            position: pose.position + self.velocity[body] * time,
            orientation: pose.orientation.turned(&(self.spin[body] * time)),
        }
    }

    pub fn dual(&self, body: usize, pose: &Pose<f64>) -> Pose<Dual> {
        let dual = |vector: Vector3<f64>, rate: Vector3<f64>| {
            Vector3::from_fn(|row, _| Dual { value: vector[row], tangent: rate[row] })
        };
        Pose {
            position: dual(pose.position, self.velocity[body]),
            orientation: pose.orientation.map(Dual::from).turned(&dual(Vector3::zeros(), self.spin[body])),
        }
    }

    /// Rate at which the touching points part.
    pub fn parting(&self, near: &Proximity<f64>, first: &Pose<f64>, second: &Pose<f64>) -> f64 {
        let point = first.position + near.arm;
        let one = self.velocity[0] + self.spin[0].cross(&near.arm);
        let other = self.velocity[1] + self.spin[1].cross(&(point - second.position));
        near.normal.dot(&(one - other))
    }
}

/// Rates of the gaps against the velocity of the touching points and against central differences.
fn rates<P: Pair>(count: usize) {
    let mut numbers = Numbers::new();
    let mut checked = 0;
    for _ in 0..count {
        let (pair, first, second) = random::<P>(&mut numbers);
        checked += rates_at(&pair, &first, &second, &mut numbers);
    }
    assert!(checked > count / 2);
}

/// The same for one pair of poses. Returns how many gaps it has looked at.
pub fn rates_at<P: Pair>(pair: &P, first: &Pose<f64>, second: &Pose<f64>, numbers: &mut Numbers) -> usize {
    let motion = Motion::random(numbers);
    let moving = [motion.dual(0, first), motion.dual(1, second)];
    let margin = pair.first().margin() + pair.second().margin();
    let mut checked = 0;
    let mut check = |exact: &Proximity<Dual>, gap: &dyn Fn(&Pose<f64>, &Pose<f64>) -> f64| {
        checked += 1;
        let near = without_tangents(exact);
        let (rate, expected) = (exact.gap.tangent, motion.parting(&near, first, second));
        assert!((near.gap - gap(first, second)).abs() < 1e-12);
        assert!((rate - expected).abs() < 1e-11, "{rate} {expected}");
        // Where two points or axes meet, the normal turns too fast for differences.
        if (near.gap + margin).abs() > 0.02 {
            let after = |time: f64| gap(&motion.after(0, first, time), &motion.after(1, second, time));
            let difference = (after(1e-6) - after(-1e-6)) / 2e-6;
            assert!((difference - expected).abs() < 1e-7, "{difference} {expected}");
        }
    };
    pair.features(first, second, 0.5, &mut |feature, _| {
        let exact = pair.at(feature, &moving[0], &moving[1]);
        check(&exact, &|first, second| pair.at(feature, first, second).gap);
    });
    let exact = pair.at(pair.nearest(first, second), &moving[0], &moving[1]);
    assert_eq!(exact.gap, pair.gap(&moving[0], &moving[1]));
    check(&exact, &|first, second| pair.gap(first, second));
    checked
}

/// The features within reach.
pub fn found<P: Pair, S: Scalar>(
    pair: &P,
    first: &Pose<S>,
    second: &Pose<S>,
    reach: f64,
) -> Vec<(Feature, Proximity<S>)> {
    let mut list = Vec::new();
    pair.features(first, second, reach, &mut |feature, near| list.push((feature, near)));
    list
}

/// Features within several reaches: at least one where the solids are that near, the deepest among them up to
/// `slack`, each as `at` finds it again, the same with dual numbers and in the mirror. Gaps never change by more than
/// the motion.
fn consistency<P: Pair>(count: usize, slack: f64) {
    let mut numbers = Numbers::new();
    for _ in 0..count {
        let (pair, first, second) = random::<P>(&mut numbers);
        consistency_at(&pair, &first, &second, slack, &mut numbers);
    }
}

/// The same for one pair of poses.
pub fn consistency_at<P: Pair>(
    pair: &P,
    first: &Pose<f64>,
    second: &Pose<f64>,
    slack: f64,
    numbers: &mut Numbers,
) {
    let gap = pair.gap(first, second);
    for reach in [f64::INFINITY, 0.3, 0.0, -0.1, gap + 1e-9, gap - 1e-9 - slack] {
        let list = found(pair, first, second, reach);
        assert_eq!(gap < reach, !list.is_empty(), "gap {gap}, reach {reach}: {list:?}");
        for (index, (feature, near)) in list.iter().enumerate() {
            assert!(near.gap < reach);
            assert!((near.normal.norm() - 1.0).abs() < 1e-14);
            assert!(list[..index].iter().all(|(other, _)| other != feature));
            let again = pair.at(*feature, first, second);
            assert_eq!((again.gap, again.normal, again.arm), (near.gap, near.normal, near.arm));
        }
        let deepest = list.iter().map(|(_, near)| near.gap).fold(f64::INFINITY, f64::min);
        assert!(list.is_empty() || deepest <= gap + slack, "deepest {deepest}, gap {gap}");
        let motion = Motion::random(numbers);
        let dual = found(pair, &motion.dual(0, first), &motion.dual(1, second), reach);
        assert!(dual.iter().map(|(feature, _)| feature).eq(list.iter().map(|(feature, _)| feature)));

        let mirrored = P::new(pair.first().mirrored(), pair.second().mirrored());
        let image = |pose: &Pose<f64>| {
            let [w, x, y, z] = pose.orientation.wxyz;
            Pose { position: mirror(&pose.position), orientation: Orientation { wxyz: [w, x, -y, -z] } }
        };
        let mut images = found(&mirrored, &image(first), &image(second), reach);
        assert_eq!(images.len(), list.len());
        for (_, near) in &list {
            let same = images.iter().position(|(_, other)| {
                let (normal, arm) = (mirror(&other.normal), mirror(&other.arm));
                (other.gap - near.gap).abs() < 1e-11
                    && (normal - near.normal).norm() < 1e-9
                    && (arm - near.arm).norm() < 1e-9
            });
            images.swap_remove(same.expect("the mirror has the same feature"));
        }
    }
    let shift = numbers.vector() * 10_f64.powf(-2.0 + 2.0 * numbers.next());
    let shifted = Pose { position: first.position + shift, ..*first };
    let change = pair.gap(&shifted, second) - gap;
    assert!(change.abs() < shift.norm() + 1e-12, "{change} by {}", shift.norm());
}

/// Features of solids `scale` times as large, far and near, are the same at that scale: no length is built in.
fn scales<P: Pair>(count: usize) {
    let mut numbers = Numbers::new();
    for _ in 0..count {
        let (pair, first, second) = random::<P>(&mut numbers);
        let list = found(&pair, &first, &second, 0.3);
        // Powers of two scale without rounding.
        for scale in [2_f64.powi(-20), 2_f64.powi(20)] {
            let at_scale = |pose: &Pose<f64>| Pose { position: pose.position * scale, ..*pose };
            let scaled = P::new(pair.first().scaled(scale), pair.second().scaled(scale));
            let other = found(&scaled, &at_scale(&first), &at_scale(&second), 0.3 * scale);
            assert_eq!(other.len(), list.len());
            for ((feature, near), (other_feature, other)) in list.iter().zip(&other) {
                assert_eq!(feature, other_feature);
                assert!((other.gap / scale - near.gap).abs() < 1e-13);
                assert!((other.normal - near.normal).norm() < 1e-12);
                assert!((other.arm / scale - near.arm).norm() < 1e-12);
            }
        }
    }
}

/// Features of solids along the same axes, with the first at the given places from the second, then both turned and
/// shifted: all are finite, with unit normals. Returns the nearest in the frame of the second.
pub fn degenerate<P: Pair>(pair: &P, places: &[Vector3<f64>]) -> Vec<Proximity<f64>> {
    let at_origin = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let mut numbers = Numbers::new();
    places
        .iter()
        .map(|place| {
            let first = Pose { position: *place, ..at_origin };
            let gap = pair.gap(&first, &at_origin);
            for _ in 0..20 {
                let frame = numbers.pose();
                let turned = Pose { position: frame.position + frame.orientation.to_world(place), ..frame };
                let same = pair.gap(&turned, &frame);
                assert!((same - gap).abs() < 1e-12, "{place:?}: {same} {gap}");
                finite(pair, &turned, &frame, &mut numbers);
            }
            finite(pair, &first, &at_origin, &mut numbers);
            pair.at(pair.nearest(&first, &at_origin), &first, &at_origin)
        })
        .collect()
}

fn finite<P: Pair>(pair: &P, first: &Pose<f64>, second: &Pose<f64>, numbers: &mut Numbers) {
    let motion = Motion::random(numbers);
    let (first, second) = (motion.dual(0, first), motion.dual(1, second));
    let list = found(pair, &first, &second, f64::INFINITY);
    assert!(!list.is_empty());
    for (feature, near) in list {
        let mut all = near.normal.iter().chain(near.arm.iter()).chain([&near.gap]);
        assert!(all.all(|x| x.value.is_finite() && x.tangent.is_finite()), "{feature}: {near:?}");
        assert!((near.normal.map(|x| x.value).norm() - 1.0).abs() < 1e-14);
    }
    let gap = pair.gap(&first, &second);
    assert!(gap.value.is_finite() && gap.tangent.is_finite());
}

pub fn without_tangents(near: &Proximity<Dual>) -> Proximity<f64> {
    let value = |vector: &Vector3<Dual>| vector.map(|x| x.value);
    Proximity { gap: near.gap.value, normal: value(&near.normal), arm: value(&near.arm) }
}
