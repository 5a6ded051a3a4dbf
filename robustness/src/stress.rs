//! Physics under stress: every step of a random scene ends, is honest about its residual, adds no energy and no NaN.

use crate::scenes::{self, Case, Stepping};
use crate::{Entropy, TRACE};
use contact_fmu::engine::{
    Contact, ContactMode, ContactRecord, Quality, State, StepError, Workspace, advance, gap, kinetic_energy,
    mechanical_energy,
};
use nalgebra::Vector3;

const STEPS: usize = 20;
/// Depth of contacts that are not sunk.
const OUTSIDE: f64 = 1e-11;

/// What a case came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Survey {
    /// Most energy that was added in a step whose contact problems were all solved, as found and by contact's own account,
    /// relative to what may be.
    pub rise: f64,
    /// By contact's own account in any step, relative to the same.
    pub gain: f64,
    /// Most energy in such a step that nobody accounts for, relative to what there may be.
    pub unbalanced: f64,
    /// Steps whose contact problems were not all solved.
    pub inaccurate: usize,
    /// Largest violation of the contact laws in a step that was called solved, by code of its own.
    pub violation: f64,
    /// Deepest penetration after a step whose contact problems were all solved, relative to what there
    /// may be.
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
    assert!(survey.rise <= 1.0, "energy rises: {name}");
    let has_exact_balance = matches!(case.stepping, Stepping::TimeOfImpact | Stepping::Capturing);
    assert!(!has_exact_balance || survey.unbalanced <= 1.0, "energy from nowhere: {name}");
    assert!(survey.violation <= 1e-6, "a residual that is not honest: {name}");
    assert!(survey.depth <= 1.0, "bodies sink in: {name}");
}

/// Steps the scene.
pub fn survey(case: &mut Case) -> Survey {
    let mut survey = Survey::default();
    let system = &case.simulation.system;
    let mut workspace = Workspace::new(system);
    let mut state = case.simulation.state.clone();
    let (mut sunk, mut way) = (0.0, 0.0);
    for _ in 0..STEPS {
        let before = state.clone();
        let quality = match advance(system, &mut state, &mut workspace, case.step) {
            Ok(quality) => quality,
            Err(error @ StepError::NotFinite) => panic!("{:?}, {:?}: {error}", case.kind, case.stepping),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(quality == Quality::Solved, state.step.residual <= system.settings.solver.tolerance);
        check_numbers(&state);
        let sizes = Sizes::of(case, &before, &state);
        let [old, new] = [&before, &state].map(|state| mechanical_energy(system, state));
        let (rise, gain) = (new - old, before.step.dissipated - state.step.dissipated);
        sunk += sizes.lift();
        let allowance = sizes.allowance() + sunk;
        if *TRACE {
            eprintln!(
                "{old} to {new} J: rises by {rise:e}, {gain:e} by account, {:e} by nobody's of {:e}; residual {:e}",
                rise - gain,
                sizes.slack(),
                state.step.residual
            );
        }
        survey.gain = survey.gain.max(gain / allowance);
        if quality == Quality::Solved {
            survey.unbalanced = survey.unbalanced.max((rise - gain) / sizes.slack());
            survey.rise = survey.rise.max(rise.max(gain) / allowance);
            if case.is_plain && case.stepping == Stepping::Capturing && !system.settings.correction {
                survey.violation = survey.violation.max(violation(case, &before, &state));
            }
        } else {
            survey.inaccurate += 1;
        }
        let gaps = (0..system.contacts.len()).map(|contact| gap(system, &state, contact));
        let depth = -gaps.fold(0.0, f64::min);
        way = if system.settings.correction { sizes.way } else { way + sizes.way };
        if quality == Quality::Solved {
            survey.depth = survey.depth.max(depth / sizes.depth(case, way));
        }
        if depth < OUTSIDE {
            sunk = 0.0;
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

/// What the energies of a step are measured by.
struct Sizes {
    /// Energy of motion.
    motion: f64,
    /// Energy of the weights at their places.
    place: f64,
    /// Twice the energy of a fall from rest over the step.
    fall: f64,
    /// Angle by which bodies and the lines between them turn, at most one.
    angle: f64,
    /// Normal impulses times the speeds of what they act on.
    push: f64,
    /// Restitution, where there is friction too or not all contacts rebound.
    rebound: f64,
    /// Energy that contact accounts for.
    booked: f64,
    /// How far any point of a body goes.
    way: f64,
    /// The smallest body.
    extent: f64,
}

impl Sizes {
    fn of(case: &Case, before: &State<f64>, after: &State<f64>) -> Sizes {
        let system = &case.simulation.system;
        let parameters = &before.parameters;
        let gravity = parameters.gravity.norm();
        let places = parameters.mass.iter().zip(&after.nodes).map(|(mass, node)| mass * node.position.norm());
        let spin = |state: &State<f64>, node: usize| {
            system.nodes[node].rotation.map_or(0.0, |turn| state.rotations[turn].angular_velocity.norm())
        };
        let speed = |node: usize| {
            let extent = system.nodes[node].shape.extent(&system.details.points);
            let [was, is] =
                [before, after].map(|state| state.nodes[node].velocity.norm() + spin(state, node) * extent);
            was.max(is) + gravity * case.step
        };
        let push = |(pair, record): (&Contact, &ContactRecord<f64>)| {
            let carrier = system.surfaces[pair.sides().surface].body;
            record.normal_impulse * (speed(pair.sides().node) + carrier.map_or(0.0, speed))
        };
        let spins = (0..system.nodes.len()).map(|node| spin(before, node).max(spin(after, node)));
        let turns = before.rotations.iter().zip(&after.rotations);
        let turns = turns.map(|(was, is)| is.orientation.turn_from(&was.orientation).norm());
        let lines = system.contacts.iter().filter_map(|contact| {
            let sides = contact.sides();
            let carrier = system.surfaces[sides.surface].body?;
            let line = |state: &State<f64>| state.nodes[sides.node].position - state.nodes[carrier].position;
            Some(line(before).angle(&line(after)))
        });
        let [restitution, mu] = case.law;
        Sizes {
            motion: kinetic_energy(before).max(kinetic_energy(after)),
            place: gravity * places.sum::<f64>(),
            fall: parameters.mass.iter().sum::<f64>() * (gravity * case.step).powi(2),
            angle: (spins.fold(0.0, f64::max) * case.step
                + turns.fold(0.0, f64::max)
                + lines.fold(0.0, f64::max))
            .min(1.0),
            push: system.contacts.iter().zip(&after.contacts).map(push).sum(),
            rebound: if mu > 0.0 || case.stepping == Stepping::Midpoint { restitution } else { 0.0 },
            booked: (before.step.dissipated - after.step.dissipated).abs(),
            way: case.step * (0..system.nodes.len()).map(speed).fold(0.0, f64::max),
            extent: system
                .nodes
                .iter()
                .map(|node| node.shape.extent(&system.details.points))
                .fold(f64::INFINITY, f64::min),
        }
    }

    /// How deep bodies may be in: with times of impact 1e-4 of the smallest, in captured steps the way of a step too, or
    /// that of all steps where nothing is corrected.
    fn depth(&self, case: &Case, way: f64) -> f64 {
        1e-4 * self.extent + if case.stepping == Stepping::TimeOfImpact { 0.0 } else { way }
    }

    /// Energy that a step may add without anybody's account: round-off, and what the order of a scheme leaves where
    /// bodies turn.
    fn slack(&self) -> f64 {
        1e-9 * (self.motion + self.fall + self.booked)
            + 1e-13 * (self.place + self.push)
            + (self.motion + self.push) * self.angle
    }

    /// Energy that a step may add but for [`lift`](Self::lift).
    ///
    /// With `W p = u+ - u - h a` impulses work `p . (u + u+) / 2 = p . u+ - p . W p / 2 - h p . a / 2`. Without rebound
    /// `p . u+ <= 0`, and the rest is at most `m (g h)^2 / 8`; so it is with one restitution without friction. Newton's law
    /// with friction may add `p . u+ <= e p_n |u_n|` [Kane and Levinson 1985], and so it may where contacts that open do not
    /// rebound, as with the midpoint rule.
    fn allowance(&self) -> f64 {
        1e-6 * self.motion + self.fall + self.rebound * self.push + self.slack()
    }

    /// Energy that bodies may gain that are lifted out of what they sank in, by the shortest way there is, which is not
    /// longer than the way that they have come since they were outside: `g h sqrt(2 m T)` for each step of it.
    fn lift(&self) -> f64 {
        (2.0 * self.fall * self.motion).sqrt()
    }
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
