//! Box friction: each tangential component on its own between `±mu lambda_N`, in a fixed basis. [Lacoursière 2006]

use super::bounded::BoundedRows;

/// Rows over a step `h`, bounded by the normal force `normal_force` of the last step or iteration.
pub fn rows(mu: f64, normal_force: f64, h: f64) -> BoundedRows {
    BoundedRows {
        direction: [1.0, 0.0],
        compliance: [0.0; 2],
        preload: [0.0; 2],
        bound: mu * normal_force.max(0.0) * h,
    }
}
