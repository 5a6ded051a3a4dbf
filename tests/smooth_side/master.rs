//! Masters that move a chain and hold the contact force on its first mass.

use super::chain::{Chain, End};
use contact_fmu::engine::{self, Diagnosis, Quality, State, System, Workspace, advance};
use contact_fmu::model::Model;
use nalgebra::Vector3;

/// When the force of a step acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The FMU steps first, its force acts in the same step.
    Sequential,
    /// Both step at once, the force acts in the next step.
    Parallel,
    /// As `Sequential`, but the force is not held: it runs from the last value to the new one.
    Interpolating,
}

/// What there is after each step.
#[derive(Clone, Debug)]
pub struct Sample {
    pub time: f64,
    /// Of the mass that touches.
    pub height: f64,
    /// Of everything that moves.
    pub energy: f64,
    /// Of the contact, mean over the step; none at the start.
    pub force: f64,
    /// What a coupled FMU tells of itself.
    pub diagnosis: Option<Diagnosis<f64>>,
}

/// An FMU with one node that touches a floor.
struct Slave {
    system: System,
    state: State<f64>,
    workspace: Workspace<f64>,
}

impl Slave {
    fn new(model: &Model) -> Slave {
        let (system, state) = model.assemble();
        let workspace = Workspace::new(&system);
        Slave { system, state, workspace }
    }

    fn give(&mut self, side: &Chain) {
        let given = &mut self.state.couplings[0].given;
        given.position = Vector3::z() * side.height();
        given.velocity = Vector3::z() * side.velocity();
    }

    /// Returns the force to apply first.
    fn start(&mut self, step: f64) -> f64 {
        engine::take_given_motion(&self.system, &mut self.state);
        engine::couple_initially(&self.system, &mut self.state, step);
        self.force()
    }

    fn step(&mut self, step: f64) {
        let done = advance(&self.system, &mut self.state, &mut self.workspace, step);
        assert_eq!(done, Ok(Quality::Solved), "at {}", self.state.time);
        self.state.time += step;
    }

    fn force(&self) -> f64 {
        self.state.couplings[0].output.force[2]
    }

    fn contact_force(&self, step: f64) -> f64 {
        self.state.contacts[0].normal_impulse / step
    }

    fn height(&self) -> f64 {
        self.state.nodes[0].position[2]
    }

    /// Energy of the mass inside the FMU.
    fn energy(&self) -> f64 {
        let velocity = self.state.nodes[0].velocity[2];
        0.5 * velocity * velocity - self.state.parameters.gravity[2] * self.height()
    }
}

/// How long a master steps.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub step: f64,
    pub stop: f64,
    /// Height at which it gives up.
    pub far: f64,
}

fn run(
    model: &Model,
    mut side: Chain,
    order: Order,
    span: Span,
    sample: impl Fn(&Chain, &Slave, f64) -> Sample,
) -> Vec<Sample> {
    let Span { step, stop, far } = span;
    let mut slave = Slave::new(model);
    slave.give(&side);
    let mut held = slave.start(step);
    let mut samples = vec![sample(&side, &slave, 0.0)];
    for k in 1..=(stop / step).round() as u32 {
        slave.give(&side);
        slave.step(step);
        let new = slave.force();
        let acted = match order {
            Order::Sequential => new,
            Order::Parallel => held,
            Order::Interpolating => 0.5 * (held + new),
        };
        if order == Order::Interpolating {
            side.step_ramp(held, (new - held) / step, step);
        } else {
            side.step(acted, step);
        }
        held = new;
        let now = Sample {
            time: f64::from(k) * step,
            diagnosis: Some(slave.state.couplings[0].diagnosis),
            ..sample(&side, &slave, acted)
        };
        let is_far = now.height.abs() > far;
        samples.push(now);
        if is_far {
            break;
        }
    }
    samples
}

/// A kinetic node: the master moves the whole chain.
pub fn kinetic(model: &Model, side: Chain, order: Order, span: Span) -> Vec<Sample> {
    run(model, side, order, span, |side, _, force| Sample {
        time: 0.0,
        height: side.height(),
        energy: side.energy(),
        force,
        diagnosis: None,
    })
}

/// A compliant node: the FMU moves the mass that touches and the spring, of the given stiffness, by which the master's
/// chain hangs on it.
pub fn compliant(model: &Model, stiffness: f64, side: Chain, order: Order, span: Span) -> Vec<Sample> {
    run(model, side, order, span, |side, slave, _| {
        let stretch = side.height() - slave.height();
        Sample {
            time: 0.0,
            height: slave.height(),
            energy: side.energy() + slave.energy() + 0.5 * stiffness * stretch * stretch,
            force: slave.contact_force(span.step),
            diagnosis: None,
        }
    })
}

/// What passes between an owned node and its master besides values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exchange {
    /// Nothing: both hold what they get.
    Held,
    /// The FMU gets the force with its derivative, the master interpolates the position.
    Linear,
}

/// An owned node: the FMU moves the mass that touches, the master the others and the spring between. The FMU steps
/// first, with the force of the spring at the start of the step; the master follows, with the new position.
pub fn owned(
    model: &Model,
    stiffness: f64,
    (heights, velocities): (&[f64], &[f64]),
    exchange: Exchange,
    step: f64,
    stop: f64,
) -> Vec<Sample> {
    let mut slave = Slave::new(model);
    let gravity = -slave.state.parameters.gravity[2];
    let mut side = Chain::new(End::Wall, stiffness, gravity, heights, velocities);
    let sample = |side: &Chain, slave: &Slave, time: f64, force: f64| {
        // The wall is at the mass that touches; the chain counts its spring from height 0.
        let height = slave.height();
        let moved = stiffness * height * (0.5 * height - side.height());
        Sample { time, height, energy: side.energy() + slave.energy() + moved, force, diagnosis: None }
    };
    let mut samples = vec![sample(&side, &slave, 0.0, 0.0)];
    for k in 1..=(stop / step).round() as u32 {
        let before = slave.height();
        let input = &mut slave.state.inputs[0];
        input.value[2] = stiffness * (side.height() - before);
        if exchange == Exchange::Linear {
            input.derivatives[0][2] = stiffness * (side.velocity() - slave.state.nodes[0].velocity[2]);
        }
        slave.step(step);
        let after = slave.height();
        match exchange {
            Exchange::Held => side.step(stiffness * after, step),
            Exchange::Linear => side.step_ramp(stiffness * before, stiffness * (after - before) / step, step),
        }
        let force = slave.contact_force(step);
        samples.push(sample(&side, &slave, f64::from(k) * step, force));
    }
    samples
}
