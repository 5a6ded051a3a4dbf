//! What the 3D view shows: bodies with shapes and where their motion is recorded, fixed surfaces, springs and joints.

use super::packing::Chunks;
use super::recording::Recording;
use crate::engine::System;
use crate::model::{Anchor, Model, Motion, NodeShape, SurfaceShape};
use crate::variables::{Slot, Variable};
use serde::Serialize;
use std::collections::HashMap;

/// The scene, as the page reads it.
#[derive(Serialize)]
pub struct Scene<'a> {
    gravity: [f64; 3],
    bodies: Vec<Body<'a>>,
    fixed: Vec<Fixed<'a>>,
    ties: Vec<Tie<'a>>,
    meshes: Vec<Mesh>,
}

/// Something that moves.
#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    shape: Shape<'a>,
    motion: Track,
}

/// Which columns hold position and orientation; what is neither recorded nor filmed stays as it starts.
#[derive(Clone, Serialize)]
pub struct Track {
    /// Position at the start.
    pub position: [f64; 3],
    /// Orientation at the start, `w x y z`.
    pub orientation: [f64; 4],
    /// Columns of the position.
    pub r: [Option<usize>; 3],
    /// Columns of the orientation.
    pub q: [Option<usize>; 4],
    /// Place among the filmed bodies, for what is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub film: Option<usize>,
}

#[derive(Serialize)]
struct Fixed<'a> {
    name: &'a str,
    shape: Shape<'a>,
    position: [f64; 3],
    orientation: [f64; 4],
}

#[derive(Serialize)]
struct Tie<'a> {
    name: &'a str,
    kind: &'static str,
    ends: [End; 2],
}

#[derive(Serialize)]
struct End {
    body: Option<usize>,
    place: [f64; 3],
}

/// Corners and triangles, by chunk.
#[derive(Serialize)]
struct Mesh {
    corners: usize,
    triangles: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
enum Shape<'a> {
    Point,
    Sphere { radius: f64 },
    Disc { radius: f64, axis: [f64; 3] },
    Box { size: [f64; 3] },
    Capsule { radius: f64, half: [f64; 3] },
    Cylinder { radius: f64, half: [f64; 3] },
    Points { points: &'a [[f64; 3]] },
    Mesh { mesh: usize },
    Plane { normal: [f64; 3] },
}

/// The scene of a model.
pub fn scene<'a>(model: &'a Model, tracks: &[Track], chunks: &mut Chunks) -> Scene<'a> {
    let nodes = model.nodes.iter().map(|node| (node.name.as_str(), node_shape(&node.shape)));
    let frames = model.frames().map(|(surface, _)| (surface.name.as_str(), surface_shape(surface.shape)));
    let bodies = nodes
        .chain(frames)
        .zip(tracks)
        .map(|((name, shape), track)| Body { name, shape, motion: track.clone() })
        .collect();
    let fixed = model
        .surfaces
        .iter()
        .filter(|surface| surface.motion == Motion::Fixed)
        .map(|surface| Fixed {
            name: &surface.name,
            shape: surface_shape(surface.shape),
            position: surface.position,
            orientation: surface.orientation,
        })
        .collect();
    let springs = model.springs.iter().map(|spring| Tie {
        name: &spring.name,
        kind: "spring",
        ends: spring.ends.map(end),
    });
    let joints = model.joints.iter().map(|joint| Tie {
        name: &joint.name,
        kind: "joint",
        ends: joint.ends.map(|side| end(side.anchor)),
    });
    let meshes = model
        .meshes
        .iter()
        .map(|mesh| Mesh {
            corners: chunks.push_f32(mesh.corners.iter().flatten().map(|&x| x as f32)),
            triangles: chunks.push_u32(mesh.triangles.iter().flatten().copied()),
        })
        .collect();
    Scene { gravity: model.engine.gravity, bodies, fixed, ties: springs.chain(joints).collect(), meshes }
}

/// Where the motion of the bodies is recorded, in the order of the engine's nodes.
pub fn tracks(
    model: &Model,
    system: &System,
    variables: &[Variable],
    columns: &HashMap<Slot, usize>,
) -> Vec<Track> {
    let nodes = model.nodes.iter().map(|node| (node.position, node.rotation));
    let frames = model.frames().map(|(surface, frame)| (surface.position, Some(frame.rotation)));
    let mut tracks: Vec<Track> = nodes
        .chain(frames)
        .map(|(position, rotation)| Track {
            position,
            orientation: rotation.map_or([1.0, 0.0, 0.0, 0.0], |rotation| rotation.orientation),
            r: [None; 3],
            q: [None; 4],
            film: None,
        })
        .collect();
    // What the engine computes comes before what the master gives: of a compliant node it is the mass that touches.
    let given = |slot: &Slot| matches!(slot, Slot::GivenPosition { .. } | Slot::GivenOrientation { .. });
    let (later, sooner): (Vec<Slot>, Vec<Slot>) =
        variables.iter().map(|variable| variable.slot).partition(given);
    for slot in sooner.iter().chain(&later) {
        let place = match *slot {
            Slot::NodePosition { node, axis } => &mut tracks[node].r[axis],
            Slot::NodeOrientation { node, component, .. } => &mut tracks[node].q[component],
            Slot::GivenPosition { coupling, axis } => &mut tracks[system.couplings[coupling].node].r[axis],
            Slot::GivenOrientation { coupling, component } => {
                &mut tracks[system.couplings[coupling].node].q[component]
            }
            _ => continue,
        };
        *place = place.or(columns.get(slot).copied());
    }
    tracks
}

/// Columns by what they stand for in the engine. The FMU's value references are places in the table of variables.
pub fn columns_by_slot(variables: &[Variable], recording: &Recording) -> HashMap<Slot, usize> {
    let columns = recording.columns.iter().enumerate();
    columns
        .filter_map(|(place, column)| {
            let variable = variables.get(column.reference as usize)?;
            (variable.name == column.name).then_some((variable.slot, place))
        })
        .collect()
}

fn end(anchor: Anchor) -> End {
    End { body: anchor.node, place: anchor.place }
}

fn node_shape(shape: &NodeShape) -> Shape<'_> {
    match shape {
        NodeShape::Point => Shape::Point,
        NodeShape::Sphere { radius } => Shape::Sphere { radius: *radius },
        NodeShape::Disc { radius, axis } => Shape::Disc { radius: *radius, axis: *axis },
        NodeShape::Box { size } => Shape::Box { size: *size },
        NodeShape::Capsule { radius, half_axis } => Shape::Capsule { radius: *radius, half: *half_axis },
        NodeShape::Cylinder { radius, half_axis } => Shape::Cylinder { radius: *radius, half: *half_axis },
        NodeShape::Points { points } => Shape::Points { points },
        NodeShape::Hull { mesh } => Shape::Mesh { mesh: *mesh },
    }
}

fn surface_shape(shape: SurfaceShape) -> Shape<'static> {
    match shape {
        SurfaceShape::Plane { normal } => Shape::Plane { normal },
        SurfaceShape::Sphere { radius } => Shape::Sphere { radius },
        SurfaceShape::Box { size } => Shape::Box { size },
        SurfaceShape::Capsule { radius, half_axis } => Shape::Capsule { radius, half: half_axis },
        SurfaceShape::Cylinder { radius, half_axis } => Shape::Cylinder { radius, half: half_axis },
        SurfaceShape::Mesh { mesh } => Shape::Mesh { mesh },
    }
}
