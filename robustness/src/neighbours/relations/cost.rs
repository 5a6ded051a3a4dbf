//! No step costs more than its budget.
//!
//! A contact problem takes at most `max_iterations` of the first method and as many of its fallback; an internal step of a
//! few bodies has a handful of impacts a body. So twice as many iterations for each of up to 8 impacts a contact are more
//! than any ordinary step may take.

use super::super::scene::Coupling;
use super::{Case, Verdict};

/// Contact problems for each contact in an internal step, with what both methods take of one.
const BUDGET: f64 = 16.0;

/// Solver iterations of every step, and the number of internal steps.
pub fn cost(case: &Case) -> Verdict {
    let scene = &case.scene;
    let contacts = case.base.frames[0].contacts.len().max(scene.nodes.len()).max(1);
    let budget = BUDGET * f64::from(scene.most_iterations()) * contacts as f64 * f64::from(scene.substeps);
    // Links of compliant nodes are followed in steps of their own.
    let is_plain = scene.nodes.iter().all(|node| !matches!(node.coupling, Coupling::Compliant { .. }));
    for (index, frame) in case.base.frames.iter().enumerate().skip(1) {
        let [iterations, substeps] = frame.counts;
        if f64::from(iterations) > budget {
            return Verdict::Broke(format!("step {index}: {iterations} iterations"));
        }
        if is_plain && substeps as u32 != scene.substeps {
            return Verdict::Broke(format!(
                "step {index}: {substeps} internal steps instead of {}",
                scene.substeps
            ));
        }
    }
    Verdict::Held
}
