//! Half the step, and half of that: where nothing jumps, the results converge with the order of the scheme.
//!
//! With an error `C h^p`, differences of runs with `h, h/2, h/4` have the ratio `2^p`: 4 for order 2, 2 for order 1. It is
//! asked for 2.5 and 1.25, where the differences are small enough to be in the asymptotic range and far above round-off.

use super::super::run::{Trace, Way, run};
use super::super::scene::*;
use super::{Case, Verdict, compare};

/// Largest difference that is asymptotic, smallest that is not round-off; in lengths.
const RANGE: [f64; 2] = [1e-7, 1e-2];

/// Whether nothing happened: all contacts open, or closed in the same way all the time and without an impact.
fn is_smooth(trace: &Trace) -> bool {
    let Some(first) = trace.frames.get(1) else { return false };
    let states =
        |frame: &super::super::run::Frame| frame.contacts.iter().map(|touch| touch.state).collect::<Vec<_>>();
    let is_open = trace.frames.iter().all(|frame| frame.contacts.iter().all(|touch| touch.f_n == 0.0));
    let keeps = trace.frames.iter().skip(1).all(|frame| {
        states(frame) == states(first)
            && frame.books.by_impact.abs() <= 1e-12 * frame.books.kinetic.max(1e-300)
    });
    is_open || keeps
}

/// Three lengths of the internal step.
pub fn halving(case: &Case) -> Verdict {
    let scene = &case.scene;
    if !scene.is_owned() || !scene.is_hard() || !is_smooth(&case.base) || scene.knows_time() {
        return Verdict::Idle;
    }
    let is_open = case.base.frames.iter().all(|frame| frame.contacts.iter().all(|touch| touch.f_n == 0.0));
    let order_2 = match scene.scheme {
        Scheme::MoreauJean(theta) => theta == 0.5 && is_open,
        Scheme::Midpoint(sweeps) => sweeps >= 2,
        Scheme::Multistep(_) | Scheme::Hht(_) => true,
    } && scene.joints.iter().all(|joint| joint.friction.is_none());
    let mut traces = Vec::new();
    for factor in [2, 4] {
        let other = Scene { substeps: scene.substeps * factor, ..scene.clone() };
        let Ok(trace) = run(&other, &Way::default()) else { return Verdict::Idle };
        if trace.fault.is_some() || !is_smooth(&trace) {
            return Verdict::Idle;
        }
        traces.push(trace);
    }
    let last = case.base.frames.len() - 1;
    let ends = [&case.base.frames[last], &traces[0].frames[last], &traces[1].frames[last]];
    let coarse = compare::off(scene, ends[0], ends[1], &compare::same);
    let fine = compare::off(scene, ends[1], ends[2], &compare::same);
    if !(RANGE[0]..=RANGE[1]).contains(&coarse) {
        return Verdict::Idle;
    }
    let least = if order_2 { 2.5 } else { 1.25 };
    if coarse < least * fine {
        return Verdict::Broke(format!(
            "differences {coarse:.1e} and {fine:.1e}: ratio {:.2}, {least} asked for",
            coarse / fine
        ));
    }
    Verdict::Held
}
