//! Where shapes touch and with which force, sample by sample: found again by the engine's own geometry from the poses
//! that were recorded, as an FMU has no outputs for it.
//!
//! The force of a contact between two sides is its normal force along the mean normal of the touching points plus its
//! friction force, both means over the communication step. Both are drawn at the middle of the points. Contacts of
//! groups are in the [`super::film`].

use super::packing::Chunks;
use super::recording::Recording;
use super::scene::Track;
use crate::engine::geometry::{Meeting, Pose, Proximity, features, gap_of_features, proximity};
use crate::engine::{Orientation, Sides, System};
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
    /// The force that nine tenths do not exceed.
    usual: f64,
}

/// What touches at one sample.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    /// Touching points.
    pub points: Vec<Vector3<f32>>,
    /// Forces of the contacts.
    pub forces: Vec<Force>,
}

/// What two sides do to one another at one sample.
#[derive(Clone, Debug)]
pub struct Force {
    /// Index of the contact.
    pub contact: usize,
    /// Who touches.
    pub sides: Sides,
    /// Where the force acts.
    pub origin: Vector3<f32>,
    /// The force on the node.
    pub force: Vector3<f32>,
    /// The part of it that is friction.
    pub friction: Vector3<f32>,
}

/// The middle of the touching points of two sides, and their mean normal.
pub struct Patch {
    middle: Vector3<f64>,
    /// From the surface to the node.
    pub normal: Vector3<f64>,
}

impl Touches {
    /// Adds the touching points of two sides. None where they do not touch.
    pub fn touch(
        &mut self,
        system: &System,
        sides: Sides,
        pose: impl Fn(usize) -> Pose<f64>,
    ) -> Option<Patch> {
        let near = touching_points(system, sides, pose);
        if near.is_empty() {
            return None;
        }
        self.points.extend(near.iter().map(|(point, _)| point.map(|x| x as f32)));
        Some(Patch {
            middle: near.iter().map(|(point, _)| point).sum::<Vector3<f64>>() / near.len() as f64,
            normal: near.iter().map(|(_, normal)| normal).sum::<Vector3<f64>>().normalize(),
        })
    }

    /// Adds the force at touching points.
    pub fn push(
        &mut self,
        (contact, sides): (usize, Sides),
        patch: &Patch,
        force: Vector3<f64>,
        friction: Vector3<f64>,
    ) {
        let [origin, force, friction] =
            [&patch.middle, &force, &friction].map(|vector| vector.map(|x| x as f32));
        self.forces.push(Force { contact, sides, origin, force, friction });
    }
}

/// Finds what touches at all samples, in contacts between two sides.
pub fn touching(
    system: &System,
    tracks: &[Track],
    columns: &HashMap<Slot, usize>,
    recording: &Recording,
) -> Vec<Touches> {
    let contacts: Vec<(usize, Sides, Outputs)> = (0..system.contacts.len())
        .filter(|&contact| system.contacts[contact].group().is_none())
        .map(|contact| (contact, system.contacts[contact].sides(), Outputs::new(contact, columns)))
        .collect();
    let at = |sample: usize| {
        let mut touches = Touches::default();
        for (contact, sides, outputs) in &contacts {
            let [normal, friction @ ..] = outputs.values(recording, sample);
            if normal > 0.0
                && let Some(patch) =
                    touches.touch(system, *sides, |body| tracks[body].pose(recording, sample))
            {
                let friction = Vector3::from(friction);
                touches.push((*contact, *sides), &patch, patch.normal * normal + friction, friction);
            }
        }
        touches
    };
    (0..recording.times.len()).map(at).collect()
}

/// Packs what touches, sample by sample; `number` tells the contact of a force.
pub fn pack<'a>(
    samples: impl Iterator<Item = &'a Touches> + Clone,
    mut number: impl FnMut(&Force) -> u32,
    chunks: &mut Chunks,
) -> Touching {
    let firsts = |count: fn(&Touches) -> usize| {
        let mut sum = 0;
        let sums = samples.clone().map(move |touches| {
            sum += count(touches) as u32;
            sum
        });
        std::iter::once(0).chain(sums)
    };
    let points = || samples.clone().flat_map(|touches| &touches.points);
    let forces = || samples.clone().flat_map(|touches| &touches.forces);
    let mut sizes: Vec<f64> = forces().map(|force| f64::from(force.force.norm())).collect();
    sizes.sort_by(f64::total_cmp);
    let axes = [0, 1, 2];
    Touching {
        first_point: chunks.push_u32(firsts(|touches| touches.points.len())),
        point: axes.map(|axis| chunks.push_f32(points().map(|point| point[axis]))),
        first_force: chunks.push_u32(firsts(|touches| touches.forces.len())),
        contact: chunks.push_u32(forces().map(&mut number)),
        origin: axes.map(|axis| chunks.push_f32(forces().map(|force| force.origin[axis]))),
        force: axes.map(|axis| chunks.push_f32(forces().map(|force| force.force[axis]))),
        friction: axes.map(|axis| chunks.push_f32(forces().map(|force| force.friction[axis]))),
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

/// The touching points of two sides between which there is a force, with their normals: the nearest one, and all that
/// overlap or are as near.
fn touching_points(
    system: &System,
    sides: Sides,
    pose: impl Fn(usize) -> Pose<f64>,
) -> Vec<(Vector3<f64>, Vector3<f64>)> {
    let Sides { node, surface } = sides;
    let carried = &system.surfaces[surface];
    let surface = carried.shape.place(carried.body.map(&pose).as_ref());
    let (shape, details, pose) = (&system.nodes[node].shape, &system.details, &pose(node));
    let margin = SAME_GAP * shape.extent(&details.points);
    let mut near: Vec<Proximity<f64>> = Vec::new();
    match system.meeting(sides) {
        Meeting::Features(_) => {
            let reach = gap_of_features(shape, details, pose, &surface).max(0.0) + margin;
            features(shape, details, pose, &surface, reach, &mut |_, proximity| near.push(proximity));
        }
        Meeting::Points(points) => {
            near.extend((0..points).map(|point| proximity(shape, details, point, pose, &surface)));
        }
    }
    let least = near.iter().map(|proximity| proximity.gap).fold(f64::INFINITY, f64::min);
    near.retain(|proximity| proximity.gap <= least.max(0.0) + margin);
    near.iter().map(|proximity| (pose.position + proximity.arm, proximity.normal)).collect()
}
