//! Where shapes touch and with which force, sample by sample: found again by the engine's own geometry from the poses
//! that were recorded, as an FMU has no outputs for it.
//!
//! The force of a pair is its normal force along the mean normal of the touching points plus its friction force, both
//! means over the communication step. Both are drawn at the middle of the points.

use super::packing::Chunks;
use super::recording::Recording;
use super::scene::Track;
use crate::engine::geometry::{Pose, Proximity, features, gap_of_features, proximity};
use crate::engine::{Orientation, System};
use crate::variables::Slot;
use nalgebra::Vector3;
use serde::Serialize;
use std::collections::HashMap;

/// Points this part of the size of a body farther away than the nearest one count as touching too.
const SAME_GAP: f64 = 1e-4;

/// Touching points and forces of all samples, by chunk.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Touching {
    /// Place of the first point of each sample, and their number at the end.
    first_point: usize,
    /// Coordinates of the points, one chunk an axis.
    point: [usize; 3],
    /// Place of the first force of each sample, and their number at the end.
    first_force: usize,
    /// Contact of each force.
    contact: usize,
    /// Where it acts.
    origin: [usize; 3],
    /// The force on the node.
    force: [usize; 3],
    /// The part of it that is friction.
    friction: [usize; 3],
    /// Largest force.
    largest: f64,
    /// The force that nine tenths do not exceed.
    usual: f64,
}

/// What one contact does at one sample.
struct Force {
    contact: u32,
    origin: Vector3<f64>,
    force: Vector3<f64>,
    friction: Vector3<f64>,
}

/// Finds all touching points and forces.
pub fn touching(
    system: &System,
    tracks: &[Track],
    columns: &HashMap<Slot, usize>,
    recording: &Recording,
    chunks: &mut Chunks,
) -> Touching {
    let (mut first_point, mut first_force) = (vec![0], vec![0]);
    let (mut points, mut forces) = (Vec::new(), Vec::new());
    let contacts: Vec<Outputs> =
        (0..system.contacts.len()).map(|contact| Outputs::new(contact, columns)).collect();
    // Outputs of a group are sums over all of its pairs, which are nowhere to be drawn.
    let is_pair = |contact: usize| system.contacts[contact].group().is_none();
    let mut poses = Vec::new();
    for sample in 0..recording.times.len() {
        let pressed = contacts.iter().enumerate().filter_map(|(contact, outputs)| {
            let [normal, friction @ ..] = outputs.values(recording, sample);
            (normal > 0.0 && is_pair(contact)).then_some((contact, normal, Vector3::from(friction)))
        });
        poses.clear();
        for (contact, normal_force, friction) in pressed {
            if poses.is_empty() {
                poses.extend(tracks.iter().map(|track| track.pose(recording, sample)));
            }
            let near = touching_points(system, contact, &poses);
            let count = near.len() as f64;
            if near.is_empty() {
                continue;
            }
            let normal: Vector3<f64> =
                near.iter().map(|(_, normal)| normal).sum::<Vector3<f64>>().normalize();
            forces.push(Force {
                contact: contact as u32,
                origin: near.iter().map(|(point, _)| point).sum::<Vector3<f64>>() / count,
                force: normal * normal_force + friction,
                friction,
            });
            points.extend(near.into_iter().map(|(point, _)| point));
        }
        first_point.push(points.len() as u32);
        first_force.push(forces.len() as u32);
    }
    let mut sizes: Vec<f64> = forces.iter().map(|force| force.force.norm()).collect();
    sizes.sort_by(f64::total_cmp);
    let axes = [0, 1, 2];
    Touching {
        first_point: chunks.push_u32(first_point.into_iter()),
        point: axes.map(|axis| chunks.push_f32(points.iter().map(|point| point[axis] as f32))),
        first_force: chunks.push_u32(first_force.into_iter()),
        contact: chunks.push_u32(forces.iter().map(|force| force.contact)),
        origin: axes.map(|axis| chunks.push_f32(forces.iter().map(|force| force.origin[axis] as f32))),
        force: axes.map(|axis| chunks.push_f32(forces.iter().map(|force| force.force[axis] as f32))),
        friction: axes.map(|axis| chunks.push_f32(forces.iter().map(|force| force.friction[axis] as f32))),
        largest: sizes.last().copied().unwrap_or(0.0),
        usual: sizes.get(sizes.len() * 9 / 10).copied().unwrap_or(0.0),
    }
}

/// Columns of a contact: normal force and friction.
struct Outputs([Option<usize>; 4]);

impl Outputs {
    fn new(contact: usize, columns: &HashMap<Slot, usize>) -> Outputs {
        let friction = |axis| Slot::ContactTangentialForce { contact, axis };
        let slots = [Slot::ContactNormalForce { contact }, friction(0), friction(1), friction(2)];
        Outputs(slots.map(|slot| columns.get(&slot).copied()))
    }

    fn values(&self, recording: &Recording, sample: usize) -> [f64; 4] {
        self.0.map(|column| column.map_or(0.0, |column| recording.columns[column].values[sample]))
    }
}

impl Track {
    /// Where the body was.
    fn pose(&self, recording: &Recording, sample: usize) -> Pose<f64> {
        let at = |column: Option<usize>, otherwise: f64| {
            column.map_or(otherwise, |column| recording.columns[column].values[sample])
        };
        Pose {
            position: Vector3::from_fn(|axis, _| at(self.r[axis], self.position[axis])),
            orientation: Orientation {
                wxyz: std::array::from_fn(|part| at(self.q[part], self.orientation[part])),
            },
        }
    }
}

/// The touching points of a contact that carries a force, with their normals: the nearest one, and all that overlap or
/// are as near.
fn touching_points(
    system: &System,
    contact: usize,
    poses: &[Pose<f64>],
) -> Vec<(Vector3<f64>, Vector3<f64>)> {
    let pair = &system.contacts[contact];
    let sides = pair.sides();
    let (node, carried) = (sides.node, &system.surfaces[sides.surface]);
    let surface = carried.shape.place(carried.body.map(|body| &poses[body]));
    let (shape, details, pose) = (&system.nodes[node].shape, &system.details, &poses[node]);
    let margin = SAME_GAP * shape.extent(&details.points);
    let mut near: Vec<Proximity<f64>> = Vec::new();
    if pair.by_features {
        let reach = gap_of_features(shape, details, pose, &surface).max(0.0) + margin;
        features(shape, details, pose, &surface, reach, &mut |_, proximity| near.push(proximity));
    } else {
        near.extend((0..pair.points).map(|point| proximity(shape, details, point, pose, &surface)));
    }
    let least = near.iter().map(|proximity| proximity.gap).fold(f64::INFINITY, f64::min);
    near.retain(|proximity| proximity.gap <= least.max(0.0) + margin);
    near.iter().map(|proximity| (pose.position + proximity.arm, proximity.normal)).collect()
}
