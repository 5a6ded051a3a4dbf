//! Roots in brackets.

use crate::engine::tolerances::{BISECTIONS, TOLERANCES};

/// The place between `open`, where a function is not negative, and `closed`, where it is, at which its sign changes, from
/// the side where it is not negative: the Illinois variant of regula falsi, with bisections against stalling.
/// [Dowell and Jarratt 1971]
pub fn sign_change(mut function: impl FnMut(f64) -> f64, mut open: f64, mut closed: f64) -> f64 {
    let (mut above, mut below) = (function(open), function(closed));
    let mut last = 0.0_f64;
    // Where the function is negative by round-off from `open` on, the bracket would shrink down to the smallest number.
    let narrow = TOLERANCES.last_bits * (closed - open);
    for look in 0..BISECTIONS {
        let width = closed - open;
        let secant = open + width * (above / (above - below));
        let bisect = look % 4 == 3 || !(secant > open && secant < closed);
        let middle = if bisect { open + 0.5 * width } else { secant };
        if width <= narrow || middle <= open || middle >= closed {
            break;
        }
        let here = function(middle);
        if here == 0.0 {
            return middle;
        }
        if here > 0.0 {
            (open, above) = (middle, here);
            below *= if last > 0.0 { 0.5 } else { 1.0 };
        } else {
            (closed, below) = (middle, here);
            above *= if last < 0.0 { 0.5 } else { 1.0 };
        }
        last = here;
    }
    open
}
