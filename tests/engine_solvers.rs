//! The solvers that a model can name, in the engine: each on the friction laws that it solves, against the default.

mod counting_allocator;

use contact_fmu::engine::derivative::differentiate;
use contact_fmu::engine::{Dual, Quality, State, System, Workspace, advance};
use contact_fmu::model::{Model, Solver, file};
use counting_allocator::allocations_so_far;
use nalgebra::Vector3;
use std::fmt::Write;

const H: f64 = 1e-3;

/// A point that slides between two planes, or with a third in the way.
fn scene(friction: &str, planes: usize) -> Model {
    let normals = [[1.0, 0.1, 1.0], [-0.6, -0.1, 1.0], [-0.1, -0.9, 0.3]];
    let mut text = format!(
        "[model]\nname = \"scene\"\n[[node]]\nname = \"body\"\ncoupling = \"owned\"\nmass = 2.0\n\
         velocity = [0.0, 0.5, 0.0]\n[[contact]]\nbetween = [\"body\", \"*\"]\nrestitution = 0.4\n{friction}\n"
    );
    for (index, normal) in normals.iter().take(planes).enumerate() {
        let y = if index == 2 { 0.05 } else { 0.0 };
        write!(
            text,
            "[[surface]]\nname = \"plane{index}\"\nposition = [0, {y:?}, 0]\nshape.plane.normal = {normal:?}\n"
        )
        .unwrap();
    }
    file::parse(&text, "scene.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn run(model: &Model, steps: u32) -> (System, Vec<State<f64>>) {
    let (system, mut state) = model.assemble();
    let mut workspace = Workspace::new(&system);
    let states = (0..steps)
        .map(|step| {
            let quality = advance(&system, &mut state, &mut workspace, H);
            assert_eq!(
                quality,
                Ok(Quality::Solved),
                "{:?} step {step}: {:?}",
                model.engine.solver,
                state.step
            );
            state.clone()
        })
        .collect();
    (system, states)
}

const BOUNDED: [Solver; 5] = [Solver::Lemke, Solver::Pivoting, Solver::Pgs, Solver::Nsgs, Solver::Newton];

/// Friction laws and who solves them, besides the default.
fn laws() -> [(&'static str, &'static [Solver]); 5] {
    [
        ("", &BOUNDED),
        ("friction.box = { mu = 0.2, iterations = 2 }", &BOUNDED),
        ("friction.bristle = { mu = 0.2, stiffness = 1e6 }", &BOUNDED),
        ("friction.facets = { mu = 0.2, facets = 8 }", &[Solver::Lemke, Solver::Nsgs, Solver::Newton]),
        (
            "friction.facets = { mu = 0.2, facets = 6, outer = true, aligned = false }",
            &[Solver::Lemke, Solver::Nsgs, Solver::Newton],
        ),
    ]
}

#[test]
fn every_solver_finds_the_motion_of_the_default() {
    for (law, solvers) in laws() {
        for planes in [2, 3] {
            let mut model = scene(law, planes);
            model.engine.max_iterations = 20_000;
            // Before friction stops the body: what then holds it is not unique.
            let (_, expected) = run(&model, 150);
            for &solver in solvers {
                model.engine.solver = solver;
                let (_, states) = run(&model, 150);
                for (state, expected) in states.iter().zip(&expected) {
                    let apart = (state.nodes[0].position - expected.nodes[0].position).norm();
                    assert!(apart < 1e-8, "{solver:?} with {law:?}, {planes} planes: {apart:e} m");
                }
            }
        }
    }
}

#[test]
fn the_chosen_solver_is_not_replaced() {
    // One sweep is not enough, and no other solver helps out.
    for solver in [Solver::Pgs, Solver::Nsgs] {
        for law in ["", "friction.box.mu = 0.2"] {
            let mut model = scene(law, 2);
            model.engine.solver = solver;
            model.engine.max_iterations = 1;
            model.nodes[0].velocity = [0.0; 3];
            let (system, mut state) = model.assemble();
            let mut workspace = Workspace::new(&system);
            let told = (0..5).any(|_| {
                let quality = advance(&system, &mut state, &mut workspace, H).unwrap();
                assert_eq!(quality == Quality::Inaccurate, state.step.residual > model.engine.tolerance);
                quality == Quality::Inaccurate
            });
            assert!(told, "{solver:?} with {law:?}");
        }
    }
}

#[test]
fn friction_that_a_master_sets_beyond_the_solver_is_told() {
    let mut model = scene("", 2);
    model.engine.solver = Solver::Lemke;
    let (system, mut state) = model.assemble();
    state.parameters.mu.fill(0.3);
    let quality = advance(&system, &mut state, &mut Workspace::new(&system), H);
    assert_eq!(quality, Ok(Quality::Inaccurate));
    assert!(state.nodes[0].velocity.iter().all(|v| v.is_finite()));
}

#[test]
fn derivatives_agree_with_differences() {
    for (law, solvers) in laws() {
        let mut model = scene(law, 2);
        model.engine.max_iterations = 20_000;
        for &solver in solvers.iter().filter(|&&solver| !matches!(solver, Solver::Pgs | Solver::Nsgs)) {
            model.engine.solver = solver;
            model.engine.tolerance = 1e-12;
            let (system, states) = run(&model, 20);
            let start = &states[19];
            let push = |state: &mut State<Dual>| state.inputs[0].value[1].tangent = 1.0;
            let end = differentiate(&system, start, H, push).unwrap();
            let exact = end.nodes[0].velocity.map(|v| v.tangent);
            let after = |force: f64| {
                let mut state = start.clone();
                state.inputs[0].value[1] += force;
                advance(&system, &mut state, &mut Workspace::new(&system), H).unwrap();
                state.nodes[0].velocity
            };
            let difference: Vector3<f64> = (after(1e-2) - after(-1e-2)) / 2e-2;
            let error = (exact - difference).norm() / difference.norm();
            assert!(error < 1e-5, "{solver:?} with {law:?}: {error:e}");
        }
    }
}

#[test]
fn steady_steps_do_not_allocate() {
    for (law, solvers) in laws() {
        for &solver in solvers {
            let mut model = scene(law, 2);
            model.engine.solver = solver;
            model.engine.max_iterations = 20_000;
            let (system, mut state) = model.assemble();
            let mut workspace = Workspace::new(&system);
            for _ in 0..100 {
                advance(&system, &mut state, &mut workspace, H).unwrap();
            }
            let before = allocations_so_far();
            for _ in 0..20 {
                advance(&system, &mut state, &mut workspace, H).unwrap();
            }
            assert_eq!(allocations_so_far() - before, 0, "{solver:?} with {law:?}");
        }
    }
}
