//! Natural residual of the mixed contact problem. No solver shares this code.

use super::mixed::{Friction, MixedProblem};
use crate::engine::law::facets::Polygon;
use crate::engine::scalar::elementary::{atan2, cos, hypot, sincos};

/// `||r - Proj(r - u)|| / ||q||`: normal impulses onto the positive half line, friction onto its set at the
/// present normal impulse. Infinite where a number is not finite.
pub fn natural_residual(problem: &MixedProblem<f64>, r: &[f64]) -> f64 {
    let mut square = 0.0;
    for (contact, friction) in problem.friction.iter().enumerate() {
        let u = problem.contacts.velocity(contact, r);
        let here = [r[3 * contact], r[3 * contact + 1], r[3 * contact + 2]];
        let target = [here[1] - u[1], here[2] - u[2]];
        let normal = (here[0] - u[0]).max(0.0);
        let pressed = here[0].max(0.0);
        let tangential = match friction {
            Friction::Cone => nearest_in_disc(target, problem.contacts.mu[contact] * pressed),
            Friction::Facets(facets, polygon) => {
                let size = facets.mu * pressed
                    / match polygon {
                        Polygon::Inner => 1.0,
                        Polygon::Outer => cos(std::f64::consts::PI / facets.count as f64),
                    };
                let half = if *polygon == Polygon::Inner { 0.0 } else { 0.5 };
                let start = atan2(facets.direction[1], facets.direction[0]);
                let step = std::f64::consts::TAU / facets.count as f64;
                nearest_in_polygon(target, facets.count, |k| {
                    let (sine, cosine) = sincos(start + step * (k as f64 + half));
                    [size * cosine, size * sine]
                })
            }
            Friction::Bounded { direction: [cosine, sine], bound } => nearest_in_polygon(target, 4, |k| {
                let (x, y) = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)][k];
                [bound * (x * cosine - y * sine), bound * (x * sine + y * cosine)]
            }),
        };
        square += (here[0] - normal).powi(2)
            + (here[1] - tangential[0]).powi(2)
            + (here[2] - tangential[1]).powi(2);
    }
    let residual = square.sqrt();
    let scale = problem.contacts.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    match (residual.is_finite(), scale > 0.0) {
        (false, _) => f64::INFINITY,
        (true, true) => residual / scale,
        (true, false) => residual,
    }
}

fn nearest_in_disc(point: [f64; 2], radius: f64) -> [f64; 2] {
    let length = hypot(point[0], point[1]);
    if length <= radius { point } else { point.map(|component| component * radius / length) }
}

/// The point of a convex polygon (vertices counter-clockwise) nearest to `point`.
fn nearest_in_polygon(point: [f64; 2], count: usize, vertex: impl Fn(usize) -> [f64; 2]) -> [f64; 2] {
    let mut inside = true;
    let mut nearest = (f64::INFINITY, point);
    for k in 0..count {
        let [start, end] = [vertex(k), vertex((k + 1) % count)];
        let side = [end[0] - start[0], end[1] - start[1]];
        let to = [point[0] - start[0], point[1] - start[1]];
        inside &= side[0] * to[1] - side[1] * to[0] >= 0.0;
        let square = side[0] * side[0] + side[1] * side[1];
        let part =
            if square > 0.0 { ((to[0] * side[0] + to[1] * side[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
        let foot = [start[0] + part * side[0], start[1] + part * side[1]];
        let distance = hypot(point[0] - foot[0], point[1] - foot[1]);
        if distance < nearest.0 {
            nearest = (distance, foot);
        }
    }
    // A polygon of size zero contains no other point than its centre, whatever the signs say.
    if inside && nearest.0.is_finite() && vertex(0) != vertex(1) { point } else { nearest.1 }
}
