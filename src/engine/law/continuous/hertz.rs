//! Hertz: `F = K d^n`, elastic; `n = 3/2` and `K = 4 sqrt(R) / (3 (s1 + s2))`, `s = (1 - nu^2) / E`, for a sphere of
//! radius `R` on a plane. [Hertz 1882; Fancello 2012, eq. 2.1]

/// There is no damper.
pub const DAMPING: f64 = 0.0;
