//! What must not change a bit: another time, a body that touches nothing, substeps in place of steps, a state saved and
//! restored, the library in the FMU.

use super::super::run::{Trace, Way, run, run_model};
use super::super::scene::*;
use super::{Case, Verdict};

/// Whether two runs have the same bits.
fn same(case: &Case, other: &Trace) -> Verdict {
    if let Some(fault) = &other.fault {
        return Verdict::Broke(format!("the other run ends: {fault}"));
    }
    match case.base.bits.iter().zip(&other.bits).position(|(one, other)| one != other) {
        Some(step) => Verdict::Broke(format!("step {step} has other bits, {}", apart(case, other, step))),
        None => Verdict::Held,
    }
}

/// How far positions are apart at a step, in words.
fn apart(case: &Case, other: &Trace, step: usize) -> String {
    let pairs = case.base.frames[step].nodes.iter().zip(&other.frames[step].nodes);
    let off = pairs.map(|(one, other)| (one.r - other.r).norm()).fold(0.0, f64::max);
    format!("{:.1e} sizes apart", off / case.scene.units.length)
}

/// Started at another time. Communication points are multiples of the step in both.
pub fn time_shift(case: &Case) -> Verdict {
    if case.scene.knows_time() {
        return Verdict::Idle;
    }
    let start = case.scene.step * (64 * (1 + case.entropy("time-shift").below(100))) as f64;
    same(case, &run_model(&case.scene, &case.model, &Way { start, ..Way::default() }))
}

/// With a body that touches nothing, far away.
pub fn isolated_body(case: &Case) -> Verdict {
    let scene = &case.scene;
    if scene.has_patterns() || scene.nodes.iter().any(|node| node.coupling != Coupling::Owned) {
        return Verdict::Idle;
    }
    let mut other = scene.clone();
    let length = scene.units.length;
    other.nodes.push(Node {
        name: "alone".into(),
        coupling: Coupling::Owned,
        mass: scene.units.mass,
        inertia: None,
        shape: Shape::Sphere { radius: 0.5 * length },
        state: Pose::at(Vector::new(100.0, 70.0, 50.0) * length, Turn::identity()),
        push: Vector::zeros(),
        copies: None,
    });
    let trace = match run(&other, &Way::default()) {
        Ok(trace) => trace,
        Err(message) => return Verdict::Broke(message),
    };
    if let Some(fault) = &trace.fault {
        return Verdict::Broke(format!("the other run ends: {fault}"));
    }
    for (step, (one, other)) in case.base.frames.iter().zip(&trace.frames).enumerate() {
        if one.nodes.iter().zip(&other.nodes).any(|(one, other)| one != other) {
            return Verdict::Broke(format!("step {step} has other bits, {}", apart(case, &trace, step)));
        }
    }
    Verdict::Held
}

/// Five internal steps in a communication step, and five communication steps.
pub fn substeps(case: &Case) -> Verdict {
    const COUNT: usize = 5;
    let scene = &case.scene;
    if !scene.is_owned() || scene.substeps != 1 || scene.knows_time() {
        return Verdict::Idle;
    }
    let mut other = scene.clone();
    other.steps = scene.steps / COUNT;
    other.step = scene.step * COUNT as f64;
    other.substeps = COUNT as u32;
    let trace = match run(&other, &Way::default()) {
        Ok(trace) => trace,
        Err(message) => return Verdict::Broke(message),
    };
    if let Some(fault) = &trace.fault {
        return Verdict::Broke(format!("the other run ends: {fault}"));
    }
    for (step, other) in trace.frames.iter().enumerate().skip(1) {
        let one = &case.base.frames[step * COUNT];
        if other.counts[1] != COUNT as i32 {
            return Verdict::Broke(format!(
                "step {step}: {} internal steps instead of {COUNT}",
                other.counts[1]
            ));
        }
        if one.nodes != other.nodes {
            let off = one.nodes.iter().zip(&other.nodes).map(|(one, other)| (one.r - other.r).norm());
            let off = off.fold(0.0, f64::max) / scene.units.length;
            return Verdict::Broke(format!("step {step} of 5 has other bits, {off:.1e} sizes apart"));
        }
    }
    Verdict::Held
}

/// Saved anywhere, some steps made, restored; in the same instance or in a new one.
pub fn restore(case: &Case) -> Verdict {
    let mut entropy = case.entropy("restore");
    let restore_at = Some(entropy.below(case.scene.steps));
    for elsewhere in [false, true] {
        let way = Way { restore_at, elsewhere, ..Way::default() };
        if let Verdict::Broke(message) = same(case, &run_model(&case.scene, &case.model, &way)) {
            let place = if elsewhere { "a new instance" } else { "the same instance" };
            return Verdict::Broke(format!("restored before step {restore_at:?} in {place}: {message}"));
        }
    }
    Verdict::Held
}

/// Through a whole FMU: written, extracted, its packed library loaded.
pub fn packed(case: &Case) -> Verdict {
    same(case, &run_model(&case.scene, &case.model, &Way { packed: true, ..Way::default() }))
}
