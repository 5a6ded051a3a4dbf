//! Rotations, twists and wrenches, disjoint sets.

pub mod rotation;
pub mod twist;
pub mod union_find;
