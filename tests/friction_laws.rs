//! Every friction law in the engine, on inclines and impacts with known answers.

use crate::common;
use crate::common::{ExactBounce, model, run};
use contact_fmu::engine::derivative::differentiate;
use contact_fmu::engine::{ContactMode, State, Workspace, advance};
use contact_fmu::model::{Between, Friction, Model, Other};

const ANGLES: [f64; 5] = [10.0, 16.0, 16.69, 16.71, 20.0];

fn laws() -> [(&'static str, Friction); 6] {
    let facets = |aligned, outer| Friction::Facets { facets: 16, aligned, outer };
    let bristle = |stiffness| Friction::Bristle { stiffness, threshold: 0.01, iterations: 2 };
    [
        ("aligned facets", facets(true, false)),
        ("aligned outer facets", facets(true, true)),
        ("fixed facets", facets(false, false)),
        ("box", Friction::Box { iterations: 2 }),
        ("bristle", bristle(1e10)),
        ("rigid bristle", bristle(f64::INFINITY)),
    ]
}

fn with_law(name: &str, law: Friction) -> Model {
    let mut model = model(name);
    for contact in &mut model.contacts {
        contact.friction = law;
    }
    model
}

fn travel(state: &State<f64>, node: usize, angle: f64) -> f64 {
    let r = state.nodes[node].position;
    r[0] * angle.cos() - r[2] * angle.sin()
}

#[test]
fn blocks_stick_below_and_slide_above_the_friction_angle() {
    for (name, law) in laws() {
        let run = run(&with_law("resting_block", law), 1e-3, 5.0);
        let last = run.states.last().unwrap();
        for (block, angle) in ANGLES.map(f64::to_radians).into_iter().enumerate() {
            let moved = travel(last, block, angle);
            if block < 3 {
                let deflection = if name == "bristle" { 9.81 * angle.sin() / 1e10 } else { 0.0 };
                assert!((moved - deflection).abs() < 1e-12, "{name}, block {block}: {moved:e}");
                assert_eq!(last.contacts[block].mode, ContactMode::Stick, "{name}, block {block}");
                let half = travel(&run.states[2500], block, angle);
                assert!((moved - half).abs() < 1e-15, "{name}, block {block} drifts");
            } else {
                // The slip runs along a tangent direction of the frame, where even fixed polygons are exact.
                let exact = 0.5 * 9.81 * (angle.sin() - 0.3 * angle.cos()) * 25.0;
                assert!(
                    (moved - exact).abs() < 1e-3 * exact,
                    "{name}, block {block}: {moved} against {exact}"
                );
                assert_eq!(last.contacts[block].mode, ContactMode::Slip, "{name}, block {block}");
            }
        }
    }
}

#[test]
fn impacts_with_friction_come_out_the_same() {
    let tilt = 0.05_f64;
    let exact = ExactBounce {
        height: tilt.cos() - 0.1,
        g: 9.81 * tilt.cos(),
        restitution: 0.8,
        along: 9.81 * tilt.sin(),
        mu: 0.02,
    };
    for (name, law) in laws() {
        let run = run(&with_law("tilted_plane_friction", law), 1e-3, 5.0);
        let moved = travel(run.states.last().unwrap(), 0, tilt) - travel(&run.states[0], 0, tilt);
        let (_, along) = exact.at(5.0);
        assert!((moved - along).abs() < 1e-6, "{name}: {moved} against {along}");
    }
}

#[test]
fn laws_mix_in_one_model() {
    let mut mixed = model("resting_block");
    for (contact, (_, law)) in mixed.contacts.iter_mut().zip(laws()) {
        contact.friction = law;
    }
    let run = run(&mixed, 1e-3, 1.0);
    let last = run.states.last().unwrap();
    for (block, law) in laws().iter().enumerate().take(5) {
        let alone = common::run(&with_law("resting_block", law.1), 1e-3, 1.0);
        assert_eq!(last.nodes[block], alone.states.last().unwrap().nodes[block], "{}", law.0);
    }
}

#[test]
fn a_ball_between_walls_of_different_laws_stands_still() {
    let mut model = model("double_impact");
    model.nodes[0].position[2] = 0.1 / 0.05_f64.cos() + 1e-9;
    for (contact, law) in model.contacts.iter_mut().zip([laws()[4].1, Friction::Cone]) {
        contact.friction = law;
        contact.mu = 0.5;
        contact.restitution = 0.0;
    }
    let run = run(&model, 1e-3, 2.0);
    let last = run.states.last().unwrap();
    assert!(last.nodes[0].velocity.norm() < 1e-9, "{:?}", last.nodes[0].velocity);
    let weight = last.nodes[0].contact_impulse[2] / last.step.duration;
    assert!((weight - 9.81).abs() < 1e-6);
}

#[test]
fn normal_compliance_shares_the_load() {
    // Two floors at the same height: hyperstatic, the compliance makes both carry half.
    let mut model = model("bouncing_ball");
    model.nodes[0].position[2] = 0.2;
    model.surfaces.push(model.surfaces[0].clone());
    let mut second = model.contacts[0].clone();
    second.name = "second".into();
    second.between = Between::Pair { node: 0, other: Other::Surface(1) };
    model.contacts.push(second);
    for contact in &mut model.contacts {
        contact.normal_stiffness = 1e8;
        contact.mu = 0.3;
    }
    let run = run(&model, 1e-3, 1.0);
    for contact in &run.states.last().unwrap().contacts {
        assert!((contact.normal_impulse / 1e-3 - 5.0).abs() < 1e-6, "{contact:?}");
    }
}

#[test]
fn derivatives_of_steps_agree_with_differences() {
    for (name, law) in laws() {
        let model = with_law("resting_block", law);
        let (system, initial) = model.assemble();
        let mut before = initial;
        let mut workspace = Workspace::new(&system);
        for _ in 0..20 {
            advance(&system, &mut before, &mut workspace, 1e-3).unwrap();
        }
        for node in [1, 4] {
            for axis in 0..3 {
                let seeded = differentiate(&system, &before, 1e-3, |state| {
                    state.inputs[node].value[axis].tangent = 1.0;
                })
                .unwrap();
                let shift = 1e-4;
                let mut moved = |sign: f64| {
                    let mut state = before.clone();
                    state.inputs[node].value[axis] += sign * shift;
                    advance(&system, &mut state, &mut workspace, 1e-3).unwrap();
                    state.nodes[node]
                };
                let (plus, minus) = (moved(1.0), moved(-1.0));
                for other in 0..3 {
                    let difference = (plus.velocity[other] - minus.velocity[other]) / (2.0 * shift);
                    let exact = seeded.nodes[node].velocity[other].tangent;
                    assert!(
                        (difference - exact).abs() < 1e-8,
                        "{name}, node {node}, d v{other} / d f{axis}: {exact:e} against {difference:e}"
                    );
                }
            }
        }
    }
}
