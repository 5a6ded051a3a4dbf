//! Directional derivatives of a step against central differences, in every regime of contact.

use crate::common;
use crate::common::model;
use contact_fmu::engine::derivative::differentiate;
use contact_fmu::engine::law::continuous::kelvin_voigt::KelvinVoigt;
use contact_fmu::engine::law::continuous::spring::PowerSpring;
use contact_fmu::engine::law::continuous::{Compliance, ContinuousLaw};
use contact_fmu::engine::{ContactMode, Dual, State, System, Workspace, advance};
use contact_fmu::model::{Between, Contact, Model, Motion, Other, Scheme, Surface, SurfaceShape};
use contact_fmu::variables::{Causality, Kind, Slot, Variability, Variable, get_real, set_real, table};

const DURATION: f64 = 2e-3;

/// State of `model` after `steps` communication steps.
fn after(system: &System, mut state: State<f64>, steps: usize) -> State<f64> {
    let mut workspace = Workspace::new(system);
    for _ in 0..steps {
        advance(system, &mut state, &mut workspace, DURATION).unwrap();
    }
    state
}

fn is_known(variable: &Variable) -> bool {
    variable.causality == Causality::Input
        || (variable.causality == Causality::Parameter && variable.variability == Variability::Tunable)
}

/// Compares every derivative of every real output with respect to every input and tunable parameter, and checks
/// that the step ends in `modes`.
fn compare(model: &Model, steps: usize, prepare: impl Fn(&mut State<f64>), modes: &[ContactMode]) {
    let (system, initial) = model.assemble();
    let mut before = after(&system, initial, steps);
    prepare(&mut before);
    let end = after(&system, before.clone(), 1);
    let found: Vec<ContactMode> = end.contacts.iter().map(|contact| contact.mode).collect();
    assert_eq!(found, modes);

    let variables = table(model);
    let outputs: Vec<Slot> = variables
        .iter()
        .filter(|variable| variable.causality == Causality::Output && variable.kind != Kind::Integer)
        .filter(|variable| !matches!(variable.slot, Slot::Residual | Slot::Penetration))
        .map(|variable| variable.slot)
        .collect();
    let mut not_zero = 0;
    for known in variables.iter().filter(|variable| is_known(variable)) {
        let value = get_real(known.slot, &system, &before);
        let seeded = differentiate(&system, &before, DURATION, |state: &mut State<Dual>| {
            set_real(known.slot, state, Dual { value, tangent: 1.0 });
        })
        .unwrap();
        let shift = 1e-5 * value.abs().max(1.0);
        let shifted = |sign: f64| {
            let mut state = before.clone();
            set_real(known.slot, &mut state, value + sign * shift);
            after(&system, state, 1)
        };
        let (plus, minus) = (shifted(1.0), shifted(-1.0));
        for &slot in &outputs {
            let exact = get_real(slot, &system, &seeded).tangent;
            let difference =
                (get_real(slot, &system, &plus) - get_real(slot, &system, &minus)) / (2.0 * shift);
            let scale = 1.0_f64.max(difference.abs());
            assert!(
                (exact - difference).abs() < 1e-6 * scale,
                "d {slot:?} / d {}: {exact} against {difference}",
                known.name
            );
            not_zero += usize::from(exact.abs() > 1e-9);
        }
        assert_eq!(
            get_real(Slot::NodePosition { node: 0, axis: 2 }, &system, &seeded).value,
            get_real(Slot::NodePosition { node: 0, axis: 2 }, &system, &end),
            "the derivative runs the same step"
        );
    }
    assert!(not_zero > 10, "a comparison of zeros shows nothing");
}

#[test]
fn open() {
    compare(&model("tilted_plane_friction"), 50, |_| {}, &[ContactMode::Open]);
}

#[test]
fn impact_within_the_step() {
    // The first impact is at 0.42832 s, inside the step from 0.428 to 0.430.
    compare(&model("tilted_plane_friction"), 214, |_| {}, &[ContactMode::Open]);
}

#[test]
fn captured_impact() {
    compare(&common::capturing("tilted_plane_friction"), 214, |_| {}, &[ContactMode::Open]);
}

#[test]
fn slip() {
    let push = |state: &mut State<f64>| state.inputs[0].value[1] = 0.05;
    compare(&model("tilted_plane_friction"), 2200, push, &[ContactMode::Slip]);
}

#[test]
fn stick_and_slip_side_by_side() {
    use ContactMode::{Slip, Stick};
    let push = |state: &mut State<f64>| state.inputs[0].value = nalgebra::Vector3::new(0.2, 0.1, -0.3);
    compare(&model("resting_block"), 10, push, &[Stick, Stick, Stick, Slip, Slip]);
}

/// The ball of the tilted plane under a continuous law, soft enough for differences of 1e-5.
fn soft_ball(law: ContinuousLaw, scheme: Scheme) -> Model {
    let mut model = model("tilted_plane_friction");
    model.engine.scheme = scheme;
    model.engine.time_of_impact = scheme == Scheme::MoreauJean;
    model.contacts[0].compliance = Some(Compliance { law, tangential_stiffness: Some(5e3) });
    model
}

#[test]
fn continuous_contacts_in_touch() {
    let spring = PowerSpring { stiffness: 1e4, exponent: 1.5 };
    for law in [
        ContinuousLaw::KelvinVoigt(KelvinVoigt { stiffness: 500.0, damping: 4.0 }),
        ContinuousLaw::Hertz(spring),
        ContinuousLaw::HuntCrossley(spring),
        ContinuousLaw::LankaraniNikravesh(spring),
        ContinuousLaw::Flores(spring),
        ContinuousLaw::Schmucker { stiffness: 500.0 },
    ] {
        for scheme in [Scheme::MoreauJean, MIDPOINT] {
            let mut model = soft_ball(law, scheme);
            compare(&model, 220, |_| {}, &[ContactMode::Slip]);
            // Friction that holds.
            model.contacts[0].mu = 5.0;
            compare(&model, 220, |_| {}, &[ContactMode::Stick]);
            // First touch within the step from 0.428 to 0.430.
            model.contacts[0].mu = 0.02;
            compare(&model, 214, |_| {}, &[ContactMode::Slip]);
        }
    }
}

/// A ball resting in a corner of a floor and a wall, with friction on both.
fn corner(mu: [f64; 2]) -> Model {
    let mut model = model("bouncing_ball");
    model.nodes[0].position[2] = 0.2;
    model.nodes[0].position[0] = 0.2;
    model.surfaces.push(Surface {
        name: "wall".into(),
        shape: SurfaceShape::Plane { normal: [0.8, 0.0, 0.6] },
        position: [0.2 - 0.2 * 0.8, 0.0, 0.2 - 0.2 * 0.6],
        orientation: [1.0, 0.0, 0.0, 0.0],
        motion: Motion::Fixed,
    });
    let name = "ball_wall".into();
    model.contacts.push(Contact {
        name,
        between: Between::Pair { node: 0, other: Other::Surface(1) },
        restitution: 0.5,
        ..model.contacts[0].clone()
    });
    for (contact, mu) in model.contacts.iter_mut().zip(mu) {
        contact.mu = mu;
    }
    model
}

#[test]
fn stuck_in_a_corner() {
    // Two contacts that hold a point mass are hyperstatic: only their sum is unique, and it balances the applied force.
    let model = corner([0.5, 0.5]);
    let (system, mut before) = model.assemble();
    before.inputs[0].value = nalgebra::Vector3::new(-30.0, 1.0, 0.0);
    let end = after(&system, before.clone(), 1);
    assert!(end.contacts.iter().all(|contact| contact.mode == ContactMode::Stick));
    assert!(end.nodes[0].velocity.norm() < 1e-12);
    for axis in 0..3 {
        let seeded = differentiate(&system, &before, DURATION, |state| {
            state.inputs[0].value[axis].tangent = 1.0;
        })
        .unwrap();
        for other in 0..3 {
            let node = &seeded.nodes[0];
            let expected = if other == axis { -DURATION } else { 0.0 };
            assert!((node.contact_impulse[other].tangent - expected).abs() < 1e-12);
            assert!(node.velocity[other].tangent.abs() < 1e-12);
            assert!(node.position[other].tangent.abs() < 1e-12);
        }
    }
}

#[test]
fn two_contacts_that_slip() {
    let push = |state: &mut State<f64>| state.inputs[0].value = nalgebra::Vector3::new(-6.0, 9.0, 0.0);
    compare(&corner([0.2, 0.1]), 0, push, &[ContactMode::Slip; 2]);
}

#[test]
fn double_impact_within_the_step() {
    // Both contacts close at once only at exactly symmetric inputs: differences in x would split the impact.
    let model = model("double_impact");
    let (system, initial) = model.assemble();
    let before = after(&system, initial, 214);
    let seeded = differentiate(&system, &before, DURATION, |state| {
        state.parameters.restitution.iter_mut().for_each(|restitution| restitution.tangent = 1.0);
    })
    .unwrap();
    let shift = 1e-6;
    let shifted = |sign: f64| {
        let mut state = before.clone();
        state.parameters.restitution.iter_mut().for_each(|restitution| *restitution += sign * shift);
        after(&system, state, 1).nodes[0].velocity[2]
    };
    let difference = (shifted(1.0) - shifted(-1.0)) / (2.0 * shift);
    assert!(difference > 4.0);
    assert!((seeded.nodes[0].velocity[2].tangent - difference).abs() < 1e-6);
}

/// The wheel, at any time of its motion.
fn wheel(scheme: Scheme) -> Model {
    let mut model = model("wheel");
    model.engine.scheme = scheme;
    model.engine.time_of_impact = scheme == Scheme::MoreauJean;
    model
}

const MIDPOINT: Scheme = Scheme::Midpoint { sweeps: 3 };
const SCHEMES: [Scheme; 4] =
    [Scheme::MoreauJean, MIDPOINT, Scheme::Multistep { rho: 0.6 }, Scheme::Hht { alpha: 0.1 }];

fn push_wheel(state: &mut State<f64>) {
    state.inputs[0].value = nalgebra::Vector3::new(0.2, -0.1, 0.3);
    state.torques[0].value = nalgebra::Vector3::new(-0.1, 0.2, 0.05);
}

#[test]
fn wheel_that_slides() {
    for scheme in SCHEMES {
        compare(&wheel(scheme), 250, push_wheel, &[ContactMode::Slip]);
    }
}

#[test]
fn wheel_that_rolls() {
    for scheme in SCHEMES {
        compare(&wheel(scheme), 1200, push_wheel, &[ContactMode::Stick]);
    }
}

#[test]
fn wheel_in_the_air() {
    for scheme in SCHEMES {
        let mut model = wheel(scheme);
        model.nodes[0].position[2] += 10.0;
        compare(&model, 20, push_wheel, &[ContactMode::Open]);
    }
}

/// The wheel thrown up a little, bouncing.
fn thrown_wheel(scheme: Scheme) -> Model {
    let mut model = wheel(scheme);
    model.nodes[0].position[2] += 0.2;
    model.contacts[0].restitution = 0.4;
    model
}

#[test]
fn wheel_that_hits_the_floor_within_the_step() {
    let model = thrown_wheel(Scheme::MoreauJean);
    let (system, initial) = model.assemble();
    let falls = (0..)
        .find(|&steps| after(&system, initial.clone(), steps + 1).contacts[0].normal_impulse > 0.0)
        .unwrap();
    compare(&model, falls, push_wheel, &[ContactMode::Open]);
}

#[test]
fn wheel_with_a_captured_impact() {
    for scheme in &SCHEMES[1..] {
        let model = thrown_wheel(*scheme);
        let (system, initial) = model.assemble();
        let falls = (0..)
            .find(|&steps| after(&system, initial.clone(), steps + 1).contacts[0].normal_impulse > 0.0)
            .unwrap();
        compare(&model, falls, push_wheel, &[ContactMode::Open]);
    }
}
