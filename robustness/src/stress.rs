//! Physics under stress: every step of a random scene ends, is honest about its residual, adds no energy and no NaN.

use crate::Entropy;
use crate::scenes::{self, Case, Kind, Stepping};
use contact_fmu::engine::{
    ContactMode, Quality, State, StepError, Workspace, advance, gap, kinetic_energy, mechanical_energy,
};
use nalgebra::Vector3;

const STEPS: usize = 20;

/// What a case came to.
#[derive(Clone, Copy, Debug)]
pub struct Survey {
    /// Largest rise of the mechanical energy in a step, relative to what it may add.
    pub rise: f64,
    /// Most energy that contact has added in a step, by its own account, relative to the same.
    pub gain: f64,
    /// The same over steps whose contact problems were all solved.
    pub gain_of_solved: f64,
    /// Steps whose contact problems were not all solved.
    pub inaccurate: usize,
    /// Largest violation of the contact laws in a step that was called solved, by code of its own.
    pub violation: f64,
    /// Deepest penetration, relative to what moves in a step.
    pub depth: f64,
}

/// One scene.
pub fn run(entropy: &mut Entropy) {
    let mut case = scenes::any(entropy);
    let survey = survey(&mut case);
    let [restitution, mu] = case.law;
    let name = format!(
        "{:?}, {:?}, step {:e}, restitution {restitution}, mu {mu}: {survey:?}",
        case.kind, case.stepping, case.step
    );
    assert!(!keeps_energy(&case) || survey.gain.max(survey.rise) <= 1.0, "energy rises: {name}");
    assert!(survey.violation <= 1e-6, "a residual that is not honest: {name}");
}

/// Whether no step may add energy beyond its [`allowance`]. Contacts that are captured are lifted out of what they sank
/// in, which may add more: in the schemes without times of impact, and in stacks, whose crowded steps are captured too.
/// Newton's law with friction may do so at bodies that turn. [Kane and Levinson 1985]
fn keeps_energy(case: &Case) -> bool {
    let [restitution, mu] = case.law;
    let is_newton_with_friction =
        restitution > 0.0 && mu > 0.0 && !case.simulation.state.rotations.is_empty();
    case.stepping == Stepping::TimeOfImpact
        && case.kind != Kind::BoxesOnOneAnother
        && !is_newton_with_friction
}

/// Steps the scene.
pub fn survey(case: &mut Case) -> Survey {
    let mut survey =
        Survey { rise: 0.0, gain: 0.0, gain_of_solved: 0.0, inaccurate: 0, violation: 0.0, depth: 0.0 };
    let system = &case.simulation.system;
    let mut workspace = Workspace::new(system);
    let mut state = case.simulation.state.clone();
    for _ in 0..STEPS {
        let before = state.clone();
        let quality = match advance(system, &mut state, &mut workspace, case.step) {
            Ok(quality) => quality,
            Err(error @ StepError::NotFinite) => panic!("{:?}, {:?}: {error}", case.kind, case.stepping),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(quality == Quality::Solved, state.step.residual <= system.settings.solver.tolerance);
        check_numbers(&state);
        let scale = allowance(&before, &state, case.step);
        let [old, new] = [&before, &state].map(|state| mechanical_energy(system, state));
        survey.rise = survey.rise.max((new - old) / scale);
        let gain = (before.step.dissipated - state.step.dissipated) / scale;
        survey.gain = survey.gain.max(gain);
        if quality == Quality::Solved {
            survey.gain_of_solved = survey.gain_of_solved.max(gain);
            if case.is_plain && case.stepping == Stepping::Capturing && !system.settings.correction {
                survey.violation = survey.violation.max(violation(case, &before, &state));
            }
        } else {
            survey.inaccurate += 1;
        }
        for contact in 0..system.contacts.len() {
            survey.depth = survey.depth.max(-gap(system, &state, contact));
        }
        state.time += case.step;
    }
    survey
}

fn check_numbers(state: &State<f64>) {
    assert!(state.is_finite());
    assert!(state.step.residual.is_finite() && state.step.dissipated.is_finite());
    for contact in &state.contacts {
        assert!(
            contact.normal_impulse >= 0.0 || contact.normal_impulse.abs() < 1e-9,
            "a contact pulls: {contact:?}"
        );
        assert!(contact.normal_impulse.is_finite() && contact.slip.is_finite());
        assert!(contact.tangential_impulse.iter().all(|part| part.is_finite()));
        assert!(contact.mode != ContactMode::Open || contact.slip == 0.0);
    }
}

/// Energy that a step may add.
///
/// - what solvers leave: a millionth of the energy of motion;
/// - what a step cannot tell from rest: the energy of a fall from rest over its length, for a contact closes at one of its
///   ends and is lifted out of what it sank in;
/// - what the order of a scheme leaves where bodies turn by an angle in it.
fn allowance(before: &State<f64>, after: &State<f64>, step: f64) -> f64 {
    let fall = before.parameters.gravity.norm() * step;
    let mass: f64 = before.parameters.mass.iter().sum();
    let spins =
        before.rotations.iter().chain(&after.rotations).map(|rotation| rotation.angular_velocity.norm());
    let angle = spins.fold(0.0, f64::max) * step;
    let motion = kinetic_energy(before).max(kinetic_energy(after));
    1e-6 * motion + mass * fall * fall + motion * (angle * angle).min(1.0)
}

/// How far a step of balls on planes is from momentum, Newton's law and Coulomb's, in the equations themselves; relative
/// to the speeds that there are.
fn violation(case: &Case, before: &State<f64>, after: &State<f64>) -> f64 {
    let planes = case.normals.len();
    let step = case.step;
    let gravity = before.parameters.gravity;
    let mut worst = 0.0_f64;
    for (ball, &radius) in case.radii.iter().enumerate() {
        let mass = before.parameters.mass[ball];
        let rotation = case.simulation.system.nodes[ball].rotation;
        let speed_at = |state: &State<f64>, normal: &Vector3<f64>| -> Vector3<f64> {
            let spin =
                rotation.map_or(Vector3::zeros(), |rotation| state.rotations[rotation].angular_velocity);
            state.nodes[ball].velocity + spin.cross(&(-normal * radius))
        };
        let spins = [before, after].map(|state| {
            rotation.map_or(0.0, |rotation| state.rotations[rotation].angular_velocity.norm() * radius)
        });
        let scale = before.nodes[ball].velocity.norm()
            + after.nodes[ball].velocity.norm()
            + spins[0]
            + spins[1]
            + gravity.norm() * step;
        let mut total = Vector3::zeros();
        for (plane, normal) in case.normals.iter().enumerate() {
            let contact = &after.contacts[ball * planes + plane];
            let (pressed, rubbed) = (contact.normal_impulse / mass, contact.tangential_impulse / mass);
            total += normal * pressed + rubbed;
            let [was, is] = [before, after].map(|state| speed_at(state, normal));
            let restitution = before.parameters.restitution[ball * planes + plane];
            let mu = before.parameters.mu[ball * planes + plane];
            let rebound = normal.dot(&is) + restitution * normal.dot(&was);
            let distance = normal.dot(&before.nodes[ball].position) - radius;
            let is_active = distance + case.simulation.system.settings.gamma * step * normal.dot(&was) <= 0.0;
            if !is_active {
                worst = worst.max(pressed.abs() / scale);
                continue;
            }
            let slide = is - normal * normal.dot(&is);
            worst = worst.max(-rebound / scale).max(-pressed / scale);
            worst = worst.max(pressed.min(rebound).abs() / scale);
            worst = worst.max((rubbed.norm() - mu * pressed) / scale);
            // Against the slip, at its limit: the angle between friction and slip is worth the smaller of the two.
            let opposing = (rubbed * slide.norm() + slide * (mu * pressed)).norm()
                / (rubbed.norm() + slide.norm() + mu * pressed).max(1e-300);
            worst = worst.max(opposing / scale);
        }
        let momentum = after.nodes[ball].velocity - before.nodes[ball].velocity - gravity * step - total;
        worst = worst.max(momentum.norm() / scale);
    }
    worst
}
