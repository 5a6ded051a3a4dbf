//! What a communication step costs with points of a mechanism: state in, step, forces out. One point and four, as free masses
//! and as points of a mechanism, on a body that the master moves without turning it. `cargo bench --bench mechanisms`

mod fmu;

use fmu::{Fmu, PART, keep_fastest, mean};
use std::ffi::{c_int, c_void};
use std::time::Instant;

type SetReal = unsafe extern "C" fn(*mut c_void, *const u32, usize, *const f64) -> c_int;
type GetReal = unsafe extern "C" fn(*mut c_void, *const u32, usize, *mut f64) -> c_int;

const STEP: f64 = 1e-3;
const STEPS: usize = 4_000;
const ROUNDS: usize = 25;
/// Mass of the body, and where it starts over the floor: it falls, bounces and rests.
const MASS: f64 = 4.0;
const HEIGHT: f64 = 0.3;

fn main() {
    let cases = [(1, false), (1, true), (4, false), (4, true)];
    let fmus = cases.map(|(nodes, mechanism)| Fmu::of_text(&model(nodes, mechanism)));
    let mut fastest = cases.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (((nodes, mechanism), fmu), fastest) in cases.iter().zip(&fmus).zip(&mut fastest) {
            // Four free masses carry a quarter of the body each.
            let body = if *mechanism { MASS } else { MASS / f64::from(*nodes) };
            keep_fastest(fastest, time_parts(fmu, *nodes as usize, body));
        }
    }
    println!("| step of 1e-3 s with set, get and the master's body | us |\n|---|---|");
    let means = fastest.map(|parts| mean(&parts) * 1e-3);
    for ((nodes, mechanism), mean) in cases.iter().zip(&means) {
        let kind = if *mechanism { "points of a mechanism" } else { "free masses" };
        println!("| {nodes} node(s), {kind} | {mean:.2} |");
    }
    println!(
        "\nmore per step: one node {:.2} us, four nodes {:.2} us",
        means[1] - means[0],
        means[3] - means[2]
    );
}

fn model(nodes: u32, mechanism: bool) -> String {
    let node = |k: u32| {
        format!(
            "[[node]]\nname = \"n{k}\"\nmass = 1.0\nmechanism = {mechanism}\nposition = [{}.0, 0.0, {HEIGHT}]\n[[contact]]\nbetween = [\"n{k}\", \"floor\"]\nrestitution = 0.5\nfriction.cone.mu = 0.3\n",
            k
        )
    };
    let nodes: String = (0..nodes).map(node).collect();
    format!(
        "[model]\nname = \"points\"\n[[surface]]\nname = \"floor\"\nshape.plane.normal = [0.0, 0.0, 1.0]\n{nodes}"
    )
}

/// Nanoseconds per step, part by part, of a fresh run.
fn time_parts(fmu: &Fmu, nodes: usize, mass: f64) -> Vec<f64> {
    let (component, do_step) = fmu.ready();
    let reference = |name: String| fmu.variables.iter().position(|other| *other == name).unwrap() as u32;
    let of = |letter: &str| -> Vec<u32> {
        (0..nodes)
            .flat_map(|k| (1..4).map(move |axis| (k, axis)))
            .map(|(k, axis)| reference(format!("n{k}.{letter}[{axis}]")))
            .collect()
    };
    let (inputs, outputs) = ([of("r"), of("v")].concat(), of("f"));
    // SAFETY: the signatures of FMI 2.0 on a live component.
    let (set, get) = unsafe {
        let set = *fmu.library.get::<SetReal>(b"fmi2SetReal\0").unwrap();
        (set, *fmu.library.get::<GetReal>(b"fmi2GetReal\0").unwrap())
    };
    let (mut place, mut velocity) = ([0.0, 0.0, HEIGHT], [0.3, 0.0, 0.0]);
    let mut given = vec![0.0; 6 * nodes];
    let mut forces = vec![0.0; 3 * nodes];
    let mut parts = Vec::with_capacity(STEPS / PART);
    for part in 0..STEPS / PART {
        let start = Instant::now();
        for k in part * PART..(part + 1) * PART {
            for node in 0..nodes {
                for axis in 0..3 {
                    let apart = if axis == 0 { node as f64 } else { 0.0 };
                    given[3 * node + axis] = place[axis] + apart;
                    given[3 * nodes + 3 * node + axis] = velocity[axis];
                }
            }
            // SAFETY: as many values as references.
            let statuses = unsafe {
                [
                    set(component, inputs.as_ptr(), inputs.len(), given.as_ptr()),
                    do_step(component, k as f64 * STEP, STEP, 1),
                    get(component, outputs.as_ptr(), outputs.len(), forces.as_mut_ptr()),
                ]
            };
            assert_eq!(statuses, [0; 3]);
            for axis in 0..3 {
                // Free masses are alike, and each has its own force.
                let count = if mass < MASS { 1 } else { nodes };
                let force: f64 = (0..count).map(|node| forces[3 * node + axis]).sum();
                let acceleration = force / mass - if axis == 2 { 9.81 } else { 0.0 };
                place[axis] += STEP * (velocity[axis] + 0.5 * STEP * acceleration);
                velocity[axis] += STEP * acceleration;
            }
        }
        parts.push(start.elapsed().as_secs_f64() * 1e9 / PART as f64);
    }
    assert!(place[2].abs() < 1e-3, "it rests on the floor: {place:?}");
    fmu.free(component);
    parts
}
