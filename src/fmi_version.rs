//! The versions of FMI that FMUs are made for.

use serde::Serialize;
use std::fmt;

/// Version of FMI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum FmiVersion {
    /// 2.0
    #[default]
    #[serde(rename = "2.0")]
    Two,
    /// 3.0
    #[serde(rename = "3.0")]
    Three,
}

impl fmt::Display for FmiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FmiVersion::Two => "2.0",
            FmiVersion::Three => "3.0",
        })
    }
}
