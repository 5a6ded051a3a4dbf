//! Friction that can hold: a box between two guided pads, pressed by a little more than its weight needs.

use crate::support::{Csv, succeed};
use contact_fmu::engine::{Quality, Workspace, advance};
use contact_fmu::model::file;
use nalgebra::Vector3;

const WEIGHT: f64 = 9.81;

/// Pads of a mass `pad` on rails along x press on a box of 1 kg, whose weight they carry by friction `mu` alone.
fn gripper(pad: f64, mu: f64) -> String {
    let pads = [("left", -0.05), ("right", 0.05)].map(|(name, x)| {
        format!(
            "[[node]]\nname = \"{name}\"\ncoupling = \"owned\"\nmass = {pad:?}\ninertia = [1e-4, 1e-4, 1e-4]\n\
             shape.box.size = [0.02, 0.04, 0.04]\nposition = [{x:?}, 0, 0.5]\n\
             [[joint]]\nname = \"{name}_rail\"\nbetween = [\"ground\", \"{name}\"]\n\
             prismatic = {{ axis = [1, 0, 0], position = [{x:?}, 0, 0.5] }}\n\
             [[contact]]\nbetween = [\"box\", \"{name}\"]\nfriction.cone.mu = {mu:?}\n"
        )
    });
    format!(
        "[model]\nname = \"gripper\"\n[experiment]\nstop = 0.5\nstep = 1e-3\n\
         [[node]]\nname = \"box\"\ncoupling = \"owned\"\nmass = 1.0\ninertia = [1e-3, 1e-3, 1e-3]\n\
         shape.box.size = [0.08, 0.08, 0.08]\nposition = [0, 0, 0.5]\n{}",
        pads.concat()
    )
}

/// Height of the box over time in the built FMU, with so many newtons on each pad.
fn heights(pad: f64, mu: f64, force: f64) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("gripper.toml"), gripper(pad, mu)).expect("a file");
    let forces = [format!("left.f_ext[1]={force:?}"), format!("right.f_ext[1]={:?}", -force)];
    let table = Csv::parse(&succeed(
        folder.path(),
        &["simulate", "gripper.toml", "--set", &forces[0], "--set", &forces[1]],
    ));
    table.numbers("box.r[3]")
}

#[test]
fn a_box_is_held_where_friction_can() {
    for (pad, mu, share) in
        [(0.2, 0.5, 12.0 / WEIGHT), (0.2, 0.5, 1.001), (20.0, 0.5, 1.001), (0.02, 0.1, 1.001)]
    {
        let force = share * WEIGHT / (2.0 * mu);
        for height in heights(pad, mu, force) {
            assert!((height - 0.5).abs() < 1e-9, "pads of {pad} kg, mu {mu}, {share}: {height} m");
        }
    }
}

#[test]
fn a_box_slides_where_friction_cannot_hold_it() {
    // A tenth of the weight is left. For the first 0.2 s, while all of the pads touch the box.
    for (row, found) in heights(0.2, 0.5, 0.9 * WEIGHT).into_iter().take(201).enumerate() {
        let time = row as f64 * 1e-3;
        let expected = 0.5 - 0.5 * 0.1 * WEIGHT * time * time;
        assert!((found - expected).abs() < 1e-6, "{time} s: {found} m, {expected} m");
    }
}

/// Two boxes that slide, turn and tip on a table, one on the other, and the same in a mirror.
#[test]
fn mirror_images_move_as_mirror_images() {
    let scene = |sign: f64| {
        format!(
            "[model]\nname = \"stack\"\n[[surface]]\nname = \"table\"\nshape.plane.normal = [0, 0, 1]\n\
             [[node]]\nname = \"lower\"\ncoupling = \"owned\"\nmass = 1.0\ninertia = [2e-3, 2e-3, 2e-3]\n\
             shape.box.size = [0.1, 0.1, 0.1]\nposition = [0, 0, 0.05]\nvelocity = [0.4, {:?}, 0]\n\
             angular_velocity = [0, 0, {:?}]\n\
             [[node]]\nname = \"upper\"\ncoupling = \"owned\"\nmass = 0.5\ninertia = [1e-3, 1e-3, 1e-3]\n\
             shape.box.size = [0.08, 0.08, 0.08]\nposition = [0, {:?}, 0.14]\n\
             [[contact]]\nbetween = [\"*\", \"*\"]\nfriction.cone.mu = 0.3\n",
            0.3 * sign,
            2.0 * sign,
            0.01 * sign
        )
    };
    let runs = [1.0, -1.0].map(|sign| {
        let model = file::parse(&scene(sign), "stack.toml").unwrap_or_else(|error| panic!("{error}"));
        let (system, mut state) = model.assemble();
        let mut workspace = Workspace::new(&system);
        let mut positions: Vec<Vector3<f64>> = Vec::new();
        for step in 0..400 {
            let quality = advance(&system, &mut state, &mut workspace, 1e-3);
            assert_eq!(quality, Ok(Quality::Solved), "step {step}");
            positions.extend(state.nodes.iter().map(|node| node.position));
        }
        positions
    });
    let moved = (runs[0][runs[0].len() - 2] - runs[0][0]).norm();
    assert!(moved > 0.02, "the lower box slides by {moved} m");
    for (step, (one, other)) in runs[0].iter().zip(&runs[1]).enumerate() {
        let apart = (one - Vector3::new(other.x, -other.y, other.z)).norm();
        assert!(apart < 1e-9, "step {}: {apart:e} m", step / 2);
    }
}
