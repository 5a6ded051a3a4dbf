//! What the page shows first: which curves, the energy balance, how the solver did.

use super::recording::{Column, Recording};
use crate::model::{Coupling, Model, Motion};
use crate::variables::Slot;
use serde::Serialize;
use std::collections::HashMap;

/// Curves of one chart that are chosen without being asked for.
const MOST_CURVES: usize = 6;

/// Part of the widest range of values below which a curve looks like a constant.
const VISIBLE: f64 = 1e-3;

/// Columns and numbers of the energy balance.
#[derive(Serialize)]
pub struct Energy {
    /// Columns of the parts, which add up to the sum.
    parts: Vec<usize>,
    /// Whether nothing but gravity, springs and contacts acts, so that the sum stays.
    closed: bool,
    /// The sum of all parts at the start.
    start: f64,
    /// Largest deviation from it.
    deviation: f64,
    /// Energy taken until the end.
    dissipated: f64,
}

/// Columns and numbers of the solver.
#[derive(Serialize)]
pub struct Solver {
    /// Columns.
    columns: Vec<usize>,
    /// What they say: name, text.
    facts: Vec<(&'static str, String)>,
    /// Residual that counts as solved.
    tolerance: f64,
    /// Column of the residual.
    residual: Option<usize>,
}

/// Columns to draw first: positions, normal forces, angles of joints; of an unknown FMU the first outputs.
pub fn first_choice(columns: &HashMap<Slot, usize>, recording: &Recording) -> Vec<usize> {
    let of = |wanted: fn(&Slot) -> bool| {
        let places = columns.iter().filter(|(slot, _)| wanted(slot)).map(|(_, place)| *place);
        first_moving(places, recording)
    };
    if columns.is_empty() {
        let outputs = (0..recording.columns.len()).filter(|place| !recording.columns[*place].is_input);
        return first_moving(outputs, recording);
    }
    [
        of(|slot| matches!(slot, Slot::NodePosition { .. } | Slot::GivenPosition { .. })),
        of(|slot| matches!(slot, Slot::ContactNormalForce { .. })),
        of(|slot| matches!(slot, Slot::JointAngle { .. })),
    ]
    .concat()
}

/// The first columns that change visibly beside the others, in order.
fn first_moving(places: impl Iterator<Item = usize>, recording: &Recording) -> Vec<usize> {
    let span = |place: &usize| {
        let (low, high) = recording.columns[*place].range();
        high - low
    };
    let mut moving: Vec<usize> = places.collect();
    let widest = moving.iter().map(span).fold(0.0, f64::max);
    moving.retain(|place| span(place) > VISIBLE * widest);
    moving.sort_unstable();
    moving.truncate(MOST_CURVES);
    moving
}

/// The energy balance, if all its parts are recorded.
pub fn energy(model: &Model, columns: &HashMap<Slot, usize>, recording: &Recording) -> Option<Energy> {
    let slots = [
        Slot::KineticEnergy,
        Slot::PotentialEnergy,
        Slot::DissipatedByImpact,
        Slot::DissipatedByFriction,
        Slot::DissipatedByDamping,
    ];
    let parts: Vec<usize> = slots.iter().map(|slot| columns.get(slot).copied()).collect::<Option<_>>()?;
    let sum = |sample: usize| parts.iter().map(|part| recording.columns[*part].values[sample]).sum::<f64>();
    let samples = recording.times.len();
    let start = if samples > 0 { sum(0) } else { 0.0 };
    let deviation = (0..samples).map(|sample| (sum(sample) - start).abs()).fold(0.0, f64::max);
    let last = |slot| columns.get(&slot).and_then(|place| recording.columns[*place].values.last());
    let pushed = |slot: &Slot| {
        let external = matches!(slot, Slot::ExternalForce { .. } | Slot::ExternalTorque { .. });
        external && recording.columns[columns[slot]].range() != (0.0, 0.0)
    };
    let closed = model.nodes.iter().all(|node| node.coupling == Coupling::Owned)
        && model.surfaces.iter().all(|surface| surface.motion == Motion::Fixed)
        && model.joints.iter().all(|joint| joint.motor.is_none())
        && !columns.keys().any(pushed);
    let dissipated = last(Slot::Dissipated).copied().unwrap_or(0.0);
    Some(Energy { parts, closed, start, deviation, dissipated })
}

/// How the solver did, if its outputs are recorded.
pub fn solver(model: &Model, columns: &HashMap<Slot, usize>, recording: &Recording) -> Option<Solver> {
    let column = |slot| columns.get(&slot).map(|place| &recording.columns[*place]);
    let iterations = column(Slot::Iterations)?;
    let residual = column(Slot::Residual)?;
    let penetration = column(Slot::Penetration)?;
    let substeps = column(Slot::Substeps)?;
    let total = |column: &Column| column.values.iter().sum::<f64>();
    // The first sample is before the first step.
    let steps = recording.times.len().saturating_sub(1);
    let worst = |column: &Column, unit: &str| match place_of_largest(column) {
        Some(sample) if column.values[sample] > 0.0 => {
            format!("{:.2e}{unit} at t = {:.6} s", column.values[sample], recording.times[sample])
        }
        _ => format!("0{unit}"),
    };
    let tolerance = model.engine.tolerance;
    let unsolved = residual.values.iter().filter(|value| **value > tolerance).count();
    let facts = vec![
        ("Communication steps", steps.to_string()),
        ("Internal steps", total(substeps).to_string()),
        ("Solver iterations", total(iterations).to_string()),
        ("Most iterations in a step", iterations.range().1.max(0.0).to_string()),
        ("Largest residual", worst(residual, "")),
        ("Steps above the tolerance", format!("{unsolved} (tolerance {tolerance:e})")),
        ("Deepest penetration", worst(penetration, " m")),
    ];
    let slots = [Slot::Iterations, Slot::Residual, Slot::Substeps, Slot::Penetration];
    Some(Solver {
        columns: slots.iter().filter_map(|slot| columns.get(slot).copied()).collect(),
        facts,
        tolerance,
        residual: columns.get(&Slot::Residual).copied(),
    })
}

fn place_of_largest(column: &Column) -> Option<usize> {
    let values = column.values.iter().enumerate().filter(|(_, value)| !value.is_nan());
    values.max_by(|a, b| a.1.total_cmp(b.1)).map(|(place, _)| place)
}
