//! Time steps of whole models, through fmi2DoStep of the packed library, beside Siconos in the same run, and how the cost
//! of a chain grows with its length. `benches/peers/siconos/models` compiles Siconos' side and runs this.

mod fmu;

use fmu::{Fmu, keep_fastest, mean};
use std::process::Command;

const STEP: f64 = 1e-3;
const ROUNDS: usize = 9;
/// Lengths of chains; Siconos, whose matrices are dense, is timed on the first.
const CHAINS: [usize; 4] = [100, 300, 1000, 10_000];
/// Steps of each of them, in which all stay on the wall: the wave from the far end of the shortest is back after 2 s.
const CHAIN_STEPS: usize = 1000;

fn main() {
    let siconos = std::env::var("SICONOS_MODELS").ok();
    if siconos.is_none() {
        println!("without Siconos: run benches/peers/siconos/models for the comparison\n");
    }
    println!("| model | steps | ours, ns | Siconos, ns | ratio |");
    println!("|---|---|---|---|---|");
    for (name, steps) in
        [("bouncing_ball", 5000), ("oscillator", 5000), ("double_impact", 5000), ("chain", 5000)]
    {
        // Siconos captures impacts: so do we here, and once as we are by default.
        let captured =
            Fmu::build_with(name, "[engine]", "[engine]\ntime_of_impact = false\ncorrection = false");
        let exact = Fmu::build(name);
        let (mut ours, mut in_time, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            keep_fastest(&mut ours, captured.time_parts(STEP, steps));
            keep_fastest(&mut in_time, exact.time_parts(STEP, steps));
            if let Some(program) = &siconos {
                keep_fastest(&mut theirs, time_siconos(program, name, steps));
            }
        }
        let [ours, in_time, theirs] = [ours, in_time, theirs].map(|parts| mean(&parts));
        println!("| {name} | {steps} | {ours:.0} | {theirs:.0} | {:.1} |", theirs / ours);
        println!(
            "| {name}, split at impacts | {steps} | {in_time:.0} | {theirs:.0} | {:.1} |",
            theirs / in_time
        );
    }
    println!("\n| masses of the chain | ns a step | ns a step and mass |");
    println!("|---|---|---|");
    let mut costs = Vec::new();
    for masses in CHAINS {
        let fmu = Fmu::of_text(&chain(masses));
        let mut fastest = Vec::new();
        for _ in 0..ROUNDS {
            keep_fastest(&mut fastest, fmu.time_parts(STEP, CHAIN_STEPS));
        }
        let fastest = mean(&fastest);
        println!("| {masses} | {fastest:.0} | {:.1} |", fastest / masses as f64);
        costs.push(fastest);
    }
    let [first, .., last] = CHAINS.map(|masses| masses as f64);
    let growth = (costs[CHAINS.len() - 1] / costs[0]).ln() / (last / first).ln();
    println!("\nThe cost of a step grows with the power {growth:.2} of the number of masses.");
}

/// Nanoseconds of one of Siconos' steps, part by part.
fn time_siconos(program: &str, model: &str, steps: usize) -> Vec<f64> {
    let output = Command::new(program).args([model, &STEP.to_string(), &steps.to_string()]).output();
    let text = String::from_utf8(output.expect("Siconos' side runs").stdout).unwrap();
    text.split_whitespace().map(|part| part.parse().expect("nanoseconds")).collect()
}

/// A chain of masses that starts on its wall.
fn chain(masses: usize) -> String {
    let mut text = String::from("[model]\nname = \"chain\"\n[engine]\ngravity = [0.0, 0.0, 0.0]\n");
    for mass in 0..masses {
        let shape = if mass == 0 { "shape.sphere.radius = 0.2\n" } else { "" };
        let place = mass as f64 + 0.2;
        text += &format!(
            "[[node]]\nname = \"m{mass}\"\ncoupling = \"owned\"\nmass = 1.0\nposition = [{place:?}, 0.0, 0.0]\nvelocity = [-1.0, 0.0, 0.0]\n{shape}"
        );
        if mass > 0 {
            let before = mass - 1;
            text += &format!(
                "[[spring]]\nname = \"k{mass}\"\nbetween = [\"m{before}\", \"m{mass}\"]\nstiffness = 1e4\nlength = 1.0\n"
            );
        }
    }
    text + "[[surface]]\nname = \"wall\"\nshape.plane.normal = [1.0, 0.0, 0.0]\n[[contact]]\nbetween = [\"m0\", \"wall\"]\nrestitution = 0.8\n"
}
