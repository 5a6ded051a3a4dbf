//! Tests only: the FMUs in the `fmi` crate.
