//! Owned by the FMU, or moved by a master: in sequential or parallel order, or with repeated steps.
//!
//! A master's force is held over a step, so an impact is delivered over two or three steps and everything after it comes
//! up to that late: positions differ by what bodies move in three steps, and contact lets that grow. How much it grows
//! tells a copy whose bodies start three steps further along their velocities.

use super::super::run::{Way, run};
use super::super::scene::*;
use super::{Case, Verdict, compare};
use crate::neighbours::distance::extent;

/// Steps by which a motion may be late.
const LATE: f64 = 3.0;
/// Of what the copy that is late is off.
const FACTOR: f64 = 4.0;
/// In lengths; beyond this nothing is said.
const CHAOS: f64 = 0.3;

/// Another coupling of all nodes.
pub fn couplings(case: &Case) -> Verdict {
    let scene = &case.scene;
    let is_plain = scene.is_owned() && scene.is_hard() && scene.springs.is_empty() && scene.joints.is_empty();
    let is_whole = scene.contacts.iter().all(|contact| contact.law.normal_stiffness.is_none());
    let suits = matches!(scene.scheme, Scheme::MoreauJean(0.5)) && scene.time_of_impact;
    if !is_plain || !is_whole || !suits || scene.energy_balance || scene.solver != "auto" {
        return Verdict::Idle;
    }
    let kinetic = Coupling::Kinetic { latency: None, shaping: true, adapt: true, guard: true };
    let mut late = scene.clone();
    late.lenient = true;
    for node in &mut late.nodes {
        node.state.r += node.state.v * (LATE * scene.step);
        if node.inertia.is_some() {
            node.state.q = Turn::from_scaled_axis(node.state.w * (LATE * scene.step)) * node.state.q;
        }
    }
    let Ok(late) = run(&late, &Way::default()) else { return Verdict::Idle };
    let which = case.entropy("couplings").below(3);
    let (coupling, exchange, name) = [
        (kinetic, Exchange::Sequential, "sequential"),
        (kinetic, Exchange::Parallel, "parallel"),
        (Coupling::Iterative, Exchange::Sequential, "iterative"),
    ][which];
    let mut other = scene.clone();
    other.exchange = exchange;
    for node in &mut other.nodes {
        node.coupling = coupling;
    }
    let other = match run(&other, &Way::default()) {
        Ok(other) => other,
        Err(message) => return Verdict::Broke(format!("{name}: {message}")),
    };
    let mut worst = 0.0_f64;
    for (step, frame) in case.base.frames.iter().enumerate() {
        let Some(shifted) = late.frames.get(step) else { return Verdict::Held };
        let speeds = scene.nodes.iter().zip(&frame.nodes);
        let speed = speeds
            .map(|(node, pose)| pose.v.norm() + pose.w.norm() * extent(&node.shape))
            .fold(0.0, f64::max);
        let moved = LATE * scene.step * (speed + scene.gravity.norm() * scene.step) / scene.units.length;
        worst = worst.max(moved).max(compare::off(scene, frame, shifted, &compare::same));
        if worst > CHAOS {
            return Verdict::Held;
        }
        let Some(seen) = other.frames.get(step) else {
            return Verdict::Broke(format!("{name}: {}", other.fault.as_deref().unwrap_or("no more frames")));
        };
        let off = compare::off(scene, frame, seen, &compare::same);
        if off > FACTOR * worst {
            return Verdict::Broke(format!(
                "{name}, step {step}: {off:.1e} sizes apart, {:.1e} allowed",
                FACTOR * worst
            ));
        }
    }
    Verdict::Held
}
