//! Where a circle is nearest to a line and to another circle.
//!
//! Along the line, the circle looks as an ellipse and the line as a point: with the sine `s` and the cosine `c` of the
//! angle between line and axis, the half axes are `R |c|` and `R`, and the distance of the point `p` from the place at
//! the angle `u` is stationary where `s^2 cos u sin u + |c| p1 sin u - p2 cos u = 0` (lengths over `R`). Each half of
//! the ellipse, cut along its long axis, has at most one minimum: the two branches. [Eberly 2013]
//!
//! The distance of a point of the circle from another circle has a closed form; its minima over the angle are looked for
//! between samples. Tangents follow from one step of Newton's method with the derivative at the minimum.

use super::solids::{any_across, direction, oriented};
use crate::engine::scalar::elementary::{hypot, power};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Minima of the distance that are told apart.
pub(super) const BRANCHES: usize = 2;
/// Places where the distance of two circles is looked at first.
const SAMPLES: usize = 48;

/// A circle in space.
#[derive(Clone, Copy, Debug)]
pub struct Circle<S> {
    /// Its centre.
    pub center: Vector3<S>,
    /// Unit vector across; the normals of the rim are on its side.
    pub axis: Vector3<S>,
    /// Its radius.
    pub radius: f64,
}

impl<S: Scalar> Circle<S> {
    fn values(&self) -> Circle<f64> {
        Circle { center: self.center.map(S::value), axis: self.axis.map(S::value), radius: self.radius }
    }

    /// Unit vector from the centre to the place nearest to a line: on the given branch, if there is one, else the other.
    pub fn toward_line(&self, origin: &Vector3<S>, along: &Vector3<S>, branch: usize) -> Vector3<S> {
        let (circle, line) = (self.values(), (origin.map(S::value), along.map(S::value)));
        let found = circle.minimum(&line.0, &line.1, branch);
        let found = found.or_else(|| circle.minimum(&line.0, &line.1, 1 - branch));
        self.polished(found.unwrap_or_else(|| any_across(&circle.axis)), &|out, tangent| {
            let between = self.center + out * S::from(self.radius) - origin;
            let between = between - along * between.dot(along);
            let aslant = tangent.dot(along);
            (between, S::one() - aslant * aslant)
        })
    }

    /// Unit vector from the centre to the place nearest to another circle: on the given branch, if there is one, else
    /// on the other. Branches are the sides of the line between the centres.
    pub fn toward_circle(&self, other: &Circle<S>, branch: usize) -> Vector3<S> {
        let (one, two) = (self.values(), other.values());
        self.polished(one.nearest_on_branch(&two, branch), &|out, tangent| {
            let (between, to_other) = other.from(&(self.center + out * S::from(self.radius)));
            let height = tangent.dot(&other.axis);
            let across = tangent - other.axis * height;
            let radial = across.dot(&to_other.out);
            let turned = across.dot(&across) - radial * radial;
            let slope = height * height + radial * radial;
            let round = (to_other.distance - S::from(other.radius)) / to_other.distance;
            (between, if to_other.distance.value() > 0.0 { slope + turned * round } else { slope })
        })
    }

    /// One step of Newton's method: `parts` are the way from the other part to a place, and the square of how fast it
    /// changes with the length along the circle.
    fn polished(
        &self,
        out: Vector3<f64>,
        parts: &impl Fn(&Vector3<S>, &Vector3<S>) -> (Vector3<S>, S),
    ) -> Vector3<S> {
        let out = out.map(S::from);
        let (_, out) = direction(&(out - self.axis * out.dot(&self.axis)), 0.0, || any_across(&self.axis));
        let tangent = self.axis.cross(&out);
        let radius = S::from(self.radius);
        let (between, square) = parts(&out, &tangent);
        let curvature = radius * square - between.dot(&out);
        // All places are as near.
        if curvature.value().abs() <= TOLERANCES.half_of_digits * self.radius {
            return out;
        }
        let moved = out - tangent * (between.dot(&tangent) / curvature);
        moved / length(&moved)
    }

    /// Distance and normal of two parts, from the other to the circle, whose way between is `between`. `product` is
    /// that of the tangents, `outward` a direction out of the other part.
    pub fn separation(
        &self,
        between: &Vector3<S>,
        out: &Vector3<S>,
        product: &Vector3<S>,
        outward: &Vector3<S>,
        size: f64,
    ) -> (S, Vector3<S>) {
        let outward = outward - out - self.axis;
        if length(product).value() > TOLERANCES.slight {
            let (_, normal) = oriented(product, 0.0, &outward);
            (normal.dot(between), normal)
        } else {
            oriented(between, size, &outward)
        }
    }

    /// The way from the nearest place of the circle to a point.
    pub fn from(&self, point: &Vector3<S>) -> (Vector3<S>, Toward<S>) {
        let from_center = point - self.center;
        let height = from_center.dot(&self.axis);
        let (distance, out) =
            direction(&(from_center - self.axis * height), self.radius, || any_across(&self.axis));
        let between = self.axis * height + out * (distance - S::from(self.radius));
        (between, Toward { out, distance })
    }
}

/// Direction and distance of a point from the axis of a circle.
#[derive(Clone, Copy, Debug)]
pub struct Toward<S> {
    /// Unit vector.
    pub out: Vector3<S>,
    /// Distance.
    pub distance: S,
}

impl Circle<f64> {
    /// Unit vector to the place on a branch that is nearest to a line, if there is one. A line nearly along the axis has one
    /// branch.
    pub fn minimum(
        &self,
        origin: &Vector3<f64>,
        along: &Vector3<f64>,
        branch: usize,
    ) -> Option<Vector3<f64>> {
        let cosine = self.axis.dot(along);
        let (sine, first) = direction(&(along - self.axis * cosine), 1.0, || any_across(&self.axis));
        let second = self.axis.cross(&first);
        let to_line = (origin - self.center) / self.radius;
        let place = [(first * cosine - self.axis * sine).dot(&to_line), second.dot(&to_line)];
        let toward = if cosine < 0.0 { -place[0] } else { place[0] };
        let sign = match (sine < TOLERANCES.coarse, branch) {
            (true, 0) => 1_f64.copysign(toward),
            (true, _) => return None,
            (false, 0) => 1.0,
            (false, _) => -1.0,
        };
        let [x, y] = ellipse_minimum(sine, cosine.abs(), [toward * sign, place[1].abs()])?;
        Some(first * (sign * x) + second * y.copysign(place[1]))
    }

    /// Twice the derivative of half the squared distance from another circle, by the angle over the radius.
    fn slope(&self, other: &Circle<f64>, out: &Vector3<f64>) -> f64 {
        let (between, _) = other.from(&(self.center + out * self.radius));
        between.dot(&self.axis.cross(out))
    }

    fn nearest_on_branch(&self, other: &Circle<f64>, branch: usize) -> Vector3<f64> {
        let mut best = [(f64::INFINITY, Vector3::zeros()); 2];
        self.minima(other, &mut |out, side| {
            let distance = other.from(&(self.center + out * self.radius)).0.norm();
            let is_on_branch = if branch == 0 { side >= 0.0 } else { side <= 0.0 };
            for (which, best) in best.iter_mut().enumerate() {
                if distance < best.0 && (which == 1 || is_on_branch) {
                    *best = (distance, out);
                }
            }
        });
        if best[0].0 < f64::INFINITY { best[0].1 } else { best[1].1 }
    }

    /// Visits the unit vectors to all places where the distance from another circle is least, with a number that
    /// has the sign of the side of the line between the centres; a place on it is on both.
    pub fn minima(&self, other: &Circle<f64>, visitor: &mut impl FnMut(Vector3<f64>, f64)) {
        let (angle_cos, angle_sin) = STEP;
        let to_other = other.center - self.center;
        let size = self.radius + other.radius;
        let (_, first) =
            direction(&(to_other - self.axis * to_other.dot(&self.axis)), size, || any_across(&self.axis));
        let second = self.axis.cross(&first);
        let at = |[x, y]: [f64; 2]| first * x + second * y;
        let mut place = [1.0, 0.0];
        let start = self.slope(other, &first);
        let (mut slope, mut found) = (start, false);
        let mut lowest = (f64::INFINITY, place);
        for step in 0..SAMPLES {
            let next =
                [place[0] * angle_cos - place[1] * angle_sin, place[0] * angle_sin + place[1] * angle_cos];
            let next_slope = if step + 1 == SAMPLES { start } else { self.slope(other, &at(next)) };
            if slope <= 0.0 && next_slope > 0.0 {
                let [x, y] = self.refined(other, [place, next], &at);
                found = true;
                visitor(at([x, y]), y);
            }
            let distance = other.from(&(self.center + at(place) * self.radius)).0.norm();
            if distance < lowest.0 {
                lowest = (distance, place);
            }
            (place, slope) = (next, next_slope);
        }
        // Circles around one axis are as far everywhere.
        if !found {
            visitor(at(lowest.1), lowest.1[1]);
        }
    }

    /// The root of the slope between two places, by false position. [Dowell and Jarratt 1971]
    fn refined(
        &self,
        other: &Circle<f64>,
        [mut low, mut high]: [[f64; 2]; 2],
        at: &impl Fn([f64; 2]) -> Vector3<f64>,
    ) -> [f64; 2] {
        let [mut below, mut above] = [low, high].map(|place| self.slope(other, &at(place)));
        let (mut last, mut was_below) = (low, None);
        for _ in 0..60 {
            let share = below / (below - above);
            let [x, y] = [0, 1].map(|k| low[k] + (high[k] - low[k]) * share);
            let length = hypot(x, y);
            let middle = [x / length, y / length];
            let slope = self.slope(other, &at(middle));
            let change = (middle[0] - last[0]).abs() + (middle[1] - last[1]).abs();
            last = middle;
            if slope == 0.0 || change < TOLERANCES.rounding {
                break;
            }
            let is_below = slope < 0.0;
            if is_below {
                if was_below == Some(true) {
                    above *= below / (below + slope);
                }
                (low, below) = (middle, slope);
            } else {
                if was_below == Some(false) {
                    below *= above / (above + slope);
                }
                (high, above) = (middle, slope);
            }
            was_below = Some(is_below);
        }
        last
    }
}

/// Cosine and sine of the angle between samples.
const STEP: (f64, f64) = (0.991_444_861_373_810_4, 0.130_526_192_220_051_57);

/// Cosine and sine of the angle in the first quarter at which an ellipse with the half axes `cosine` and 1 is nearest to
/// a point that is above its first axis; none where no place of that half is a minimum.
fn ellipse_minimum(sine: f64, cosine: f64, [x0, y0]: [f64; 2]) -> Option<[f64; 2]> {
    let (square, p, q) = (sine * sine, cosine * x0, y0);
    if q == 0.0 {
        return (square + p >= 0.0).then_some([1.0, 0.0]);
    }
    if p == 0.0 {
        let y = if q < square { q / square } else { 1.0 };
        return Some([((1.0 - y) * (1.0 + y)).sqrt(), y]);
    }
    // By the tangent of half the angle.
    let place = |t: f64| [(1.0 - t) * (1.0 + t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)];
    let (mut low, mut high) = (0.0, 1.0);
    if p < 0.0 {
        let tangent = power(q / -p, 1.0 / 3.0);
        let x = 1.0 / hypot(1.0, tangent);
        let y = tangent * x;
        if x == 0.0 || y == 0.0 || square + p / x - q / y <= 0.0 {
            return None;
        }
        high = y / (1.0 + x);
    }
    let mut t = 0.5 * (low + high);
    for _ in 0..100 {
        let [x, y] = place(t);
        let slope = square * x * y + p * y - q * x;
        let rate = (square * (x - y) * (x + y) + p * x + q * y) * 2.0 / (1.0 + t * t);
        if slope < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t - slope / rate;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() < 1e-16 || slope == 0.0 {
            break;
        }
        t = next;
    }
    Some(place(t))
}
