//! Box friction: each tangential component on its own between `±mu lambda_N`, in a fixed basis. [Lacoursière 2006]

use super::bounded::BoundedRows;
use crate::engine::scalar::Scalar;

/// Rows whose bound is `mu` times the normal impulse `normal` of the last step or iteration.
pub fn rows<S: Scalar>(mu: S, normal: S) -> BoundedRows<S> {
    let zero = S::zero();
    BoundedRows {
        direction: [S::one(), zero],
        compliance: [zero; 2],
        preload: [zero; 2],
        bound: if normal.value() > 0.0 { mu * normal } else { zero },
    }
}
