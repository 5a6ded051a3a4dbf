//! Every step ends, with numbers, and says what it could not do.

use super::super::run::NOT_AGREED;
use super::{Case, Verdict};

/// Legal, ordinary scenes are run to their end: fmi2OK or fmi2Warning, finite outputs, no internal error.
pub fn runs(case: &Case) -> Verdict {
    match &case.base.fault {
        None => Verdict::Held,
        Some(fault) if fault.contains(NOT_AGREED) => Verdict::Broke(format!("{fault}, in 60 iterations")),
        Some(fault) => Verdict::Broke(fault.clone()),
    }
}

/// fmi2Warning comes with a line, and with every residual above the tolerance.
pub fn tells(case: &Case) -> Verdict {
    for (index, frame) in case.base.frames.iter().enumerate() {
        if frame.warned && frame.lines.is_empty() {
            return Verdict::Broke(format!("step {index}: fmi2Warning without a line"));
        }
        if frame.books.residual > case.scene.solver_tolerance() && !frame.warned {
            return Verdict::Broke(format!(
                "step {index}: residual {:.1e} without fmi2Warning",
                frame.books.residual
            ));
        }
    }
    Verdict::Held
}
