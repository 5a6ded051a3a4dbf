//! Smooth sides of a co-simulation and the loops by which masters couple them: chains of unit masses along z, joined
//! by springs, above a floor at height 0 that only the first mass can touch.

#![allow(dead_code, reason = "each user takes its own part")]

pub mod chain;
pub mod exact;
pub mod master;
