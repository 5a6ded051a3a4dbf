//! Tests only: the FMUs in `fmi-rs`.
