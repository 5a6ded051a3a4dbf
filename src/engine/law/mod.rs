//! Contact laws, one file each.

pub mod coulomb_cone;
pub mod newton_impact;
