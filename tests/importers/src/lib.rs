//! Tests only: the FMUs in the crates `fmi`, `fmi-rs` and `fmi-sim`.
