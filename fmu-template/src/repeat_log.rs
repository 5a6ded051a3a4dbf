//! Log lines about masters that make a step more than once.
//!
//! A master that iterates restores a saved state and makes the step again, each time with another position of the body: that
//! at the end of the step. Kinetic and compliant bodies take the one at its start, from a step that is made once, and
//! cannot know the force that led there; so the master is told what they need. What is seen here belongs to the master and
//! not to the simulation: a saved state does not hold it.
//!
//! For bodies with iterative = true the last trial of a step counts, and is looked at when the next step begins: whether
//! the force that was applied is the one that came out, and which mass the body has shown.

use crate::coupling_log::{MASS_CHANGE, tell, warn};
use crate::instance::Instance;
use crate::logger::Logger;
use contact_fmu::engine::{CouplingMode, Motion, State, System, Wrench};
use contact_fmu::model::Model;

/// So many trials from another position than the one before tell of a master that iterates...
const OTHER_TRIALS: u32 = 3;
/// ...if that differs by this part of the way of a step, and by this part of itself. Where a tool evaluates an instant
/// again, positions are the same.
const OTHER_POSITION: (f64, f64) = (0.01, 1e-9);
/// A step that was made so often does not converge; differences for a Jacobian are trials too.
const MANY_TRIALS: u32 = 100;
/// Applied and computed force differ if they do so by this part...
const APART: f64 = 0.1;
/// ...in so many steps in a row.
const APART_STEPS: u32 = 3;

/// What was seen of the master's steps.
#[derive(Clone, Debug)]
pub struct RepeatLog {
    bodies: Vec<Body>,
    /// Communication point of the last step, and how often it was made again.
    point: f64,
    again: u32,
    told_again: bool,
}

/// What was seen of one body.
#[derive(Clone, Debug)]
struct Body {
    coupling: usize,
    node: usize,
    name: String,
    mode: CouplingMode,
    is_surface: bool,
    /// Trials from another position than the one before.
    others: u32,
    /// The last trial: the motion that was given, the forces that were applied and computed.
    given: Motion<f64>,
    applied: Wrench<f64>,
    output: Wrench<f64>,
    steps_apart: u32,
    /// The mass that was told last.
    mass: f64,
}

/// What an accepted step of an iterating master tells.
enum Finding {
    /// Nothing was applied, though there is contact.
    NothingApplied,
    /// The part by which applied and computed force differ.
    Apart(f64),
}

impl RepeatLog {
    /// One for the bodies of a model that respond to the master's forces.
    pub fn new(model: &Model, system: &System, state: &State<f64>) -> RepeatLog {
        let names: Vec<&str> = model.body_names().collect();
        let couplings = system.couplings.iter().enumerate();
        let bodies = couplings.filter(|(_, coupling)| state.parameters.mass[coupling.node].is_finite()).map(
            |(index, coupling)| Body {
                coupling: index,
                node: coupling.node,
                name: names[coupling.node].to_owned(),
                mode: coupling.mode,
                is_surface: coupling.node >= model.nodes.len(),
                others: 0,
                given: state.couplings[index].given,
                applied: state.couplings[index].applied,
                output: state.couplings[index].output,
                steps_apart: 0,
                mass: 0.0,
            },
        );
        RepeatLog { bodies: bodies.collect(), point: f64::NEG_INFINITY, again: 0, told_again: false }
    }

    /// Nothing was seen yet.
    pub fn start(instance: &mut Instance) {
        let log = &mut instance.repeat_log;
        (log.point, log.again, log.told_again) = (f64::NEG_INFINITY, 0, false);
        for body in &mut log.bodies {
            body.see(&instance.run.state);
            (body.others, body.steps_apart) = (0, 0);
            body.mass = instance.run.state.parameters.mass[body.node];
        }
    }

    /// Looks at a step from `point` that was just made.
    #[inline]
    pub fn report(instance: &mut Instance, point: f64) {
        if !instance.repeat_log.bodies.is_empty() {
            instance.repeat_log.look(&instance.run.state, &instance.run.before, &instance.logger, point);
        }
    }

    fn look(&mut self, state: &State<f64>, before: &State<f64>, logger: &Logger, point: f64) {
        if point == self.point {
            self.again = self.again.saturating_add(1);
            for body in &mut self.bodies {
                if body.has_moved(state) {
                    body.others = body.others.saturating_add(1);
                    if body.others == OTHER_TRIALS && body.mode != CouplingMode::Iterative {
                        body.warn_iteration(logger, before);
                    }
                }
            }
            if self.again == MANY_TRIALS && !self.told_again {
                self.told_again = true;
                let moved = self.bodies.iter().filter(|body| body.others >= OTHER_TRIALS);
                moved.for_each(|body| body.warn_many_trials(logger, before));
            }
        } else {
            if point > self.point && self.point.is_finite() {
                self.accept(before, logger);
            }
            (self.point, self.again) = (point, 0);
        }
        self.bodies.iter_mut().for_each(|body| body.see(state));
    }

    /// The last trial of the step before was the one that counts.
    fn accept(&mut self, state: &State<f64>, logger: &Logger) {
        for body in self.bodies.iter_mut().filter(|body| body.mode == CouplingMode::Iterative) {
            if let Some(finding) = body.accept() {
                body.warn_of(&finding, logger, state);
            }
            let mass = state.couplings[body.coupling].diagnosis.mass;
            if (mass - body.mass).abs() > MASS_CHANGE * body.mass {
                body.mass = mass;
                body.tell_mass(logger, state);
            }
        }
    }
}

impl Body {
    fn see(&mut self, state: &State<f64>) {
        let seen = &state.couplings[self.coupling];
        (self.given, self.applied, self.output) = (seen.given, seen.applied, seen.output);
    }

    /// Whether the position that is given now is another than that of the last trial.
    fn has_moved(&self, state: &State<f64>) -> bool {
        let given = &state.couplings[self.coupling].given;
        let way = state.step.duration * given.velocity.norm().max(self.given.velocity.norm());
        let (of_way, of_position) = OTHER_POSITION;
        let limit = of_way * way + of_position * (1.0 + given.position.norm());
        (given.position - self.given.position).norm() > limit
    }

    fn accept(&mut self) -> Option<Finding> {
        let (applied, output) = (self.applied.force, self.output.force);
        let size = applied.norm().max(output.norm());
        let part = if size == 0.0 { 0.0 } else { (output - applied).norm() / size };
        self.steps_apart = if part > APART { self.steps_apart.saturating_add(1) } else { 0 };
        let nothing_applied = applied.norm() == 0.0;
        (self.steps_apart == APART_STEPS).then_some(if nothing_applied {
            Finding::NothingApplied
        } else {
            Finding::Apart(part)
        })
    }

    #[cold]
    fn tell_mass(&self, logger: &Logger, state: &State<f64>) {
        let (name, mass, expected) = (&self.name, self.mass, state.parameters.mass[self.node]);
        tell(
            name,
            logger,
            state,
            format_args!("responds like {mass:.4} kg, the model says {expected} kg: set {name}.mass"),
        );
    }

    #[cold]
    fn warn_of(&self, finding: &Finding, logger: &Logger, state: &State<f64>) {
        let name = &self.name;
        match finding {
            Finding::NothingApplied => warn(
                name,
                logger,
                state,
                format_args!(
                    "{name}.f has not been zero for {APART_STEPS} steps, and {name}.f_applied has: connect it to the contact force that the master has applied"
                ),
            ),
            Finding::Apart(part) => warn(
                name,
                logger,
                state,
                format_args!(
                    "for {APART_STEPS} steps {name}.f and the force {name}.f_applied that led to the last state have not agreed, now by {:.0} percent: let the master iterate further",
                    100.0 * part
                ),
            ),
        }
    }

    #[cold]
    fn warn_many_trials(&self, logger: &Logger, state: &State<f64>) {
        let name = &self.name;
        let cure = match self.mode {
            CouplingMode::Iterative => "set its mass to the one that a force at the body has to move: an iteration that keeps its Jacobian does not converge where it is off by a factor of 2".to_owned(),
            _ => self.cure(),
        };
        warn(name, logger, state, format_args!("the master has made this step {MANY_TRIALS} times: {cure}"));
    }

    #[cold]
    fn warn_iteration(&self, logger: &Logger, state: &State<f64>) {
        warn(
            &self.name,
            logger,
            state,
            format_args!(
                "the master makes steps again with another position of the body, but the model is for one that makes each step once: {}",
                self.cure()
            ),
        );
    }

    /// What a master that iterates can do about a body that is not made for it.
    fn cure(&self) -> String {
        let once = "let the master make each step once";
        let key = match self.mode {
            CouplingMode::Compliant(_) => "coupling = \"kinetic\" and iterative = true",
            _ => "iterative = true",
        };
        match self.is_surface {
            true => once.to_owned(),
            false => format!("set {key} in the model and connect {}.f_applied, or {once}", self.name),
        }
    }
}
