//! Solvers start from the contact forces of the last interval: fewer iterations, the same motion.

use contact_fmu::engine::derivative::differentiate;
use contact_fmu::engine::{ContactMode, Dual, Quality, State, System, Workspace, advance};
use contact_fmu::model::{Model, Solver, file};
use nalgebra::Vector3;
use std::fmt::Write;

const H: f64 = 1e-3;
const WEDGE: [[f64; 3]; 2] = [[1.0, 0.1, 1.0], [-0.6, -0.1, 1.0]];
const CORNER: [[f64; 3]; 3] = [[1.0, 0.1, 1.0], [-0.6, -0.1, 1.0], [-0.1, 0.9, 0.3]];

/// A point, or a ball with the given angular velocity, between planes that it touches at the start.
fn scene(normals: &[[f64; 3]], friction: &str, velocity: [f64; 3], node: &str) -> Model {
    let mut text = format!(
        "[model]\nname = \"scene\"\n[[node]]\nname = \"body\"\ncoupling = \"owned\"\nmass = 1.0\n\
         velocity = {velocity:?}\n{node}\n[[contact]]\nbetween = [\"body\", \"*\"]\nfriction.{friction}\n"
    );
    for (index, normal) in normals.iter().enumerate() {
        let position = if node.is_empty() { [0.0; 3] } else { touching(normal) };
        write!(
            text,
            "[[surface]]\nname = \"plane{index}\"\nposition = {position:?}\nshape.plane.normal = {normal:?}\n"
        )
        .unwrap();
    }
    file::parse(&text, "scene.toml").unwrap_or_else(|error| panic!("{error}"))
}

const BALL: &str =
    "inertia = [0.004, 0.004, 0.004]\nshape.sphere.radius = 0.1\nangular_velocity = [30.0, 1.0, 2.0]";

/// A point of the plane that touches the ball.
fn touching(normal: &[f64; 3]) -> [f64; 3] {
    (-Vector3::from(*normal).normalize() * 0.1).into()
}

/// A run whose every step is solved: the states, and the iterations of all steps.
struct Run {
    system: System,
    states: Vec<State<f64>>,
    iterations: u32,
}

fn run(model: &Model, warm_start: bool, steps: u32, force: impl Fn(f64) -> [f64; 3]) -> Run {
    let (mut system, mut state) = model.assemble();
    system.settings.warm_start = warm_start;
    let mut workspace = Workspace::new(&system);
    let mut iterations = 0;
    let mut states = Vec::new();
    for step in 0..steps {
        state.time = f64::from(step) * H;
        state.inputs[0].value = Vector3::from(force(state.time));
        assert_eq!(advance(&system, &mut state, &mut workspace, H), Ok(Quality::Solved), "step {step}");
        iterations += state.step.iterations;
        states.push(state.clone());
    }
    Run { system, states, iterations }
}

/// Largest distance between two runs.
fn distance(one: &Run, other: &Run) -> f64 {
    one.states.iter().zip(&other.states).fold(0.0, |most, (one, other)| {
        let (one, other) = (&one.nodes[0], &other.nodes[0]);
        most.max((one.position - other.position).norm() + H * (one.velocity - other.velocity).norm())
    })
}

fn no_force(_: f64) -> [f64; 3] {
    [0.0; 3]
}

#[test]
fn gauss_seidel_takes_a_fraction_of_the_sweeps() {
    let slide = [0.0, 3.0, 0.0];
    let scenes = [
        ("sliding", Solver::Nsgs, scene(&WEDGE, "cone.mu = 0.1", slide, ""), 5),
        ("a ball that comes to roll", Solver::Nsgs, scene(&WEDGE, "cone.mu = 0.4", slide, BALL), 4),
        ("at rest", Solver::Nsgs, scene(&CORNER, "cone.mu = 0.2", [0.0; 3], ""), 200),
        ("sliding in a box", Solver::Pgs, scene(&WEDGE, "box.mu = 0.1", slide, ""), 5),
    ];
    for (name, solver, mut model, factor) in scenes {
        model.engine.solver = solver;
        let (cold, warm) = (run(&model, false, 1000, no_force), run(&model, true, 1000, no_force));
        assert!(
            warm.iterations * factor <= cold.iterations,
            "{name}: {} sweeps against {} from zero",
            warm.iterations,
            cold.iterations
        );
        let apart = distance(&cold, &warm);
        assert!(apart < 1e-10, "{name}: {apart:e} m");
    }
}

#[test]
fn every_solver_and_law_gains_and_agrees() {
    let frictions =
        [("cone.mu = 0.1", 3), ("facets.mu = 0.1", 8), ("box.mu = 0.1", 20), ("bristle.mu = 0.1", 2)];
    for (friction, factor) in frictions {
        for solver in [Solver::Auto, Solver::Newton] {
            let mut model = scene(&WEDGE, friction, [0.0, 3.0, 0.0], "");
            model.engine.solver = solver;
            let (cold, warm) = (run(&model, false, 500, no_force), run(&model, true, 500, no_force));
            assert!(
                factor * warm.iterations <= cold.iterations,
                "{friction} {solver:?}: {} against {}",
                warm.iterations,
                cold.iterations
            );
            let apart = distance(&cold, &warm);
            assert!(apart < 1e-10, "{friction} {solver:?}: {apart:e} m");
        }
    }
}

/// A force that presses the body against one plane after another.
fn stirring(time: f64) -> [f64; 3] {
    let (sine, cosine) = (150.0 * time).sin_cos();
    [5.0 * cosine, 4.0 * sine, 3.0 * (235.0 * time).sin()]
}

#[test]
fn contacts_may_come_and_go() {
    // Gauss-Seidel without friction, where answers are unique.
    let cases = [(Solver::Auto, 0.15), (Solver::Newton, 0.15), (Solver::Nsgs, 0.0)];
    for (solver, mu) in cases {
        for time_of_impact in [true, false] {
            let mut model = scene(&CORNER, &format!("cone.mu = {mu:?}"), [0.0; 3], "");
            model.engine.solver = solver;
            model.engine.time_of_impact = time_of_impact;
            let (cold, warm) = (run(&model, false, 1000, stirring), run(&model, true, 1000, stirring));
            let pressed = |state: &State<f64>| -> Vec<bool> {
                state.contacts.iter().map(|contact| contact.mode != ContactMode::Open).collect()
            };
            let coupled = |state: &State<f64>| pressed(state).iter().filter(|&&pressed| pressed).count() > 1;
            let changes = warm
                .states
                .windows(2)
                .filter(|pair| pressed(&pair[0]) != pressed(&pair[1]) && coupled(&pair[1]))
                .count();
            let name = format!("{solver:?}, time of impact {time_of_impact}");
            assert!(changes >= 15, "{name}: {changes} changes");
            // Step by step, because whether a contact acts in a captured step can hang on the last digit of its gap.
            let mut workspace = Workspace::new(&warm.system);
            for pair in warm.states.windows(2) {
                let mut from_zero = pair[0].clone();
                from_zero.guesses.fill(Vector3::zeros());
                from_zero.inputs.clone_from(&pair[1].inputs);
                advance(&warm.system, &mut from_zero, &mut workspace, H).unwrap();
                let apart = (from_zero.nodes[0].velocity - pair[1].nodes[0].velocity).norm();
                assert!(apart < 1e-10, "{name}: {apart:e} m/s");
            }
            // A guess that is of no use costs little.
            let (more, usual) = (warm.iterations, cold.iterations);
            assert!(10 * more <= 11 * usual, "{name}: {more} against {usual}");
        }
    }
}

#[test]
fn hyperstatic_answers_do_not_depend_on_the_past() {
    // Held by friction on both sides, the forces that press the walls apart are not determined.
    let mut model = scene(&WEDGE, "cone.mu = 1.5", [0.0; 3], "");
    let fading = |time: f64| [0.0, 0.0, -2e3 * (-time / 0.02).exp()];
    for solver in [Solver::Auto, Solver::Newton] {
        model.engine.solver = solver;
        let (cold, warm) = (run(&model, false, 400, fading), run(&model, true, 400, fading));
        for (cold, warm) in cold.states.iter().zip(&warm.states) {
            for (cold, warm) in cold.contacts.iter().zip(&warm.contacts) {
                let size = cold.normal_impulse.abs().max(1e-3 * 9.81 * H);
                assert!((cold.normal_impulse - warm.normal_impulse).abs() < 1e-6 * size, "{cold:?} {warm:?}");
            }
        }
    }
}

#[test]
fn a_useless_guess_does_no_harm() {
    let model = scene(&CORNER, "cone.mu = 0.3", [0.3, 0.2, -0.1], "");
    let sane = run(&model, true, 50, stirring);
    for guess in [1e-9, -30.0, 1e6, 1e300, f64::NAN, f64::INFINITY] {
        for steps in [1, 20, 49] {
            let mut state = sane.states[steps].clone();
            let mut expected = state.clone();
            state.guesses.fill(Vector3::new(guess, -guess, 0.3 * guess));
            expected.guesses.fill(Vector3::zeros());
            for state in [&mut state, &mut expected] {
                let mut workspace = Workspace::new(&sane.system);
                assert_eq!(advance(&sane.system, state, &mut workspace, H), Ok(Quality::Solved), "{guess:e}");
            }
            let apart = (state.nodes[0].velocity - expected.nodes[0].velocity).norm();
            assert!(apart < 1e-11, "{guess:e}: {apart:e} m/s");
        }
    }
}

#[test]
fn saved_states_go_on_bit_by_bit() {
    for solver in [Solver::Auto, Solver::Nsgs] {
        let mut model = scene(&CORNER, "cone.mu = 0.15", [0.0; 3], "");
        model.engine.solver = solver;
        model.engine.max_iterations = 100_000;
        let whole = run(&model, true, 200, stirring);
        let bytes = postcard::to_stdvec(&whole.states[99]).unwrap();
        let mut state: State<f64> = postcard::from_bytes(&bytes).unwrap();
        assert!(state.guesses.iter().any(|force| force.norm() > 0.0));
        // Fresh memory: nothing but the state carries the guess.
        let mut workspace = Workspace::new(&whole.system);
        for expected in &whole.states[100..] {
            state.time = expected.time;
            state.inputs[0].value = Vector3::from(stirring(state.time));
            advance(&whole.system, &mut state, &mut workspace, H).unwrap();
            assert_eq!(&state, expected);
        }
    }
}

#[test]
fn derivatives_are_of_the_solution() {
    for friction in ["cone.mu = 0.1", "facets.mu = 0.1", "box.mu = 0.1", "bristle.mu = 0.1"] {
        let model = scene(&WEDGE, friction, [0.0, 3.0, 0.0], "");
        let warm = run(&model, true, 30, no_force);
        let start = &warm.states[29];
        let push = |state: &mut State<Dual>| state.inputs[0].value[0].tangent = 1.0;
        let derivative = |state: &State<f64>| {
            let end = differentiate(&warm.system, state, H, push).unwrap();
            end.nodes[0].velocity.map(|v| v.tangent)
        };
        let mut cold = start.clone();
        cold.guesses.fill(Vector3::zeros());
        let (from_guess, from_zero) = (derivative(start), derivative(&cold));
        let size = from_zero.norm();
        assert!(size > 1e-5 && (from_guess - from_zero).norm() < 1e-7 * size, "{friction}");
        let after = |force: f64| {
            let mut state = start.clone();
            state.inputs[0].value[0] += force;
            advance(&warm.system, &mut state, &mut Workspace::new(&warm.system), H).unwrap();
            state.nodes[0].velocity
        };
        let difference = (after(1e-2) - after(-1e-2)) / 2e-2;
        assert!((from_guess - difference).norm() < 1e-5 * size, "{friction}: {from_guess} {difference}");
    }
}
