//! Log lines about bodies that the master moves: what the coupling has found out, and where it does not work well.
//!
//! What it has found out goes to logCoupling. Warnings go there too, or else to logStatusWarning; the step that they
//! come with is fmi2OK all the same. Nothing is allocated in a step that has nothing to tell.

use crate::abi::fmi2Status;
use crate::instance::Instance;
use crate::logger::{Category, Logger};
use contact_fmu::engine::{CouplingMode, State, System};
use contact_fmu::model::Model;

/// A mass is told again when it has changed by this part.
const MASS_CHANGE: f64 = 0.05;
/// A response error above this is worth telling...
const RESPONSE_ERROR: f64 = 0.2;
/// ...when it lasts for so many steps.
const RESPONSE_STEPS: u32 = 10;
/// An energy excess above this part of the largest kinetic energy so far is worth a warning.
const ENERGY_EXCESS: f64 = 0.1;

const OTHER_COUPLINGS: &str =
    "take a smaller communication step, or coupling = \"compliant\" or \"owned\" in the model";

/// What was told of one coupling.
#[derive(Clone, Debug)]
pub struct CouplingLog {
    coupling: usize,
    node: usize,
    /// Name of the body.
    name: String,
    /// The mass that was told last.
    mass: f64,
    /// Steps in a row with a large response error.
    steps_off: u32,
    /// Largest kinetic energy so far.
    kinetic_energy: f64,
    /// Energy excess that the next warning is for.
    excess: f64,
}

impl CouplingLog {
    /// One for each coupling that is diagnosed: of a body that responds, to a master that does not repeat steps.
    pub fn of_all(model: &Model, system: &System, state: &State<f64>) -> Vec<CouplingLog> {
        let names: Vec<&str> = model.body_names().collect();
        let couplings = system.couplings.iter().enumerate();
        couplings
            .filter(|(_, coupling)| {
                coupling.mode != CouplingMode::Iterative && state.parameters.mass[coupling.node].is_finite()
            })
            .map(|(index, coupling)| CouplingLog {
                coupling: index,
                node: coupling.node,
                name: names[coupling.node].to_owned(),
                mass: 0.0,
                steps_off: 0,
                kinetic_energy: 0.0,
                excess: 0.0,
            })
            .collect()
    }

    /// Nothing was told yet.
    pub fn start(instance: &mut Instance) {
        for log in &mut instance.coupling_logs {
            log.mass = log.mass_of_model(&instance.system, &instance.run.state);
            (log.steps_off, log.kinetic_energy, log.excess) = (0, 0.0, 0.0);
        }
    }

    /// Tells what the last step has changed.
    pub fn report(instance: &mut Instance) {
        let run = &instance.run;
        for log in &mut instance.coupling_logs {
            log.compare(&instance.system, &run.before, &run.state, &instance.logger);
        }
    }

    fn compare(&mut self, system: &System, before: &State<f64>, after: &State<f64>, logger: &Logger) {
        let [was, is] = [before, after].map(|state| &state.couplings[self.coupling].diagnosis);
        if was.latency != is.latency
            && let Some(steps) = is.latency
        {
            self.tell(logger, after, format_args!("{} (latency {steps})", latency_text(steps)));
        }
        if was.shaping && !is.shaping {
            self.warn(
                logger,
                after,
                format_args!(
                    "the body does not respond as expected, so impulses are no longer shaped and the mass is no longer learnt: {OTHER_COUPLINGS}"
                ),
            );
        } else if is.shaping && !was.shaping {
            self.tell(logger, after, format_args!("impulses are shaped and the mass is learnt again"));
        }
        if (is.mass - self.mass).abs() > MASS_CHANGE * self.mass {
            self.mass = is.mass;
            self.tell_mass(system, logger, after);
        }
        self.steps_off =
            if is.response_error > RESPONSE_ERROR { self.steps_off.saturating_add(1) } else { 0 };
        if self.steps_off == RESPONSE_STEPS {
            self.tell(
                logger,
                after,
                format_args!(
                    "for {RESPONSE_STEPS} steps the response to the contact force has differed from the expected one, now by {:.0} percent: look for forces that {}.f_ext does not tell of, and for a wrong mass",
                    100.0 * is.response_error,
                    self.name
                ),
            );
        }
        let velocity = after.couplings[self.coupling].given.velocity;
        let kinetic_energy = 0.5 * is.mass * velocity.norm_squared();
        self.kinetic_energy = self.kinetic_energy.max(kinetic_energy);
        if is.energy_excess > self.excess.max(ENERGY_EXCESS * self.kinetic_energy) {
            self.excess = 2.0 * is.energy_excess;
            self.warn(
                logger,
                after,
                format_args!("the coupling has added {} J of energy: {OTHER_COUPLINGS}", is.energy_excess),
            );
        }
    }

    #[cold]
    fn tell_mass(&self, system: &System, logger: &Logger, state: &State<f64>) {
        let expected = self.mass_of_model(system, state);
        let agrees = (self.mass - expected).abs() <= MASS_CHANGE * expected;
        let (mass, name) = (self.mass, &self.name);
        match system.couplings[self.coupling].mode {
            _ if agrees => self.tell(
                logger,
                state,
                format_args!("responds like {mass:.4} kg, and the model says {expected} kg"),
            ),
            CouplingMode::Compliant(_) => self.tell(
                logger,
                state,
                format_args!(
                    "responds like {mass:.4} kg, the model says {expected} kg: set master_mass in the model"
                ),
            ),
            _ => self.tell(
                logger,
                state,
                format_args!("responds like {mass:.4} kg, the model says {expected} kg: set {name}.mass"),
            ),
        }
    }

    /// The mass that the master is said to move.
    fn mass_of_model(&self, system: &System, state: &State<f64>) -> f64 {
        match system.couplings[self.coupling].mode {
            CouplingMode::Compliant(link) => link.master_mass,
            _ => state.parameters.mass[self.node],
        }
    }

    #[cold]
    fn tell(&self, logger: &Logger, state: &State<f64>, text: std::fmt::Arguments) {
        if logger.wants(Category::Coupling) {
            let message = format!("{}: {text} (at {} s)", self.name, state.time);
            logger.log(fmi2Status::fmi2OK, Category::Coupling, &message);
        }
    }

    #[cold]
    fn warn(&self, logger: &Logger, state: &State<f64>, text: std::fmt::Arguments) {
        let category = if logger.wants(Category::Coupling) { Category::Coupling } else { Category::Warning };
        if logger.wants(category) {
            let message = format!("{}: {text} (at {} s)", self.name, state.time);
            logger.log(fmi2Status::fmi2Warning, category, &message);
        }
    }
}

fn latency_text(steps: u8) -> &'static str {
    match steps {
        0 => "the master applies forces in the communication step that they are computed for",
        _ => "the master applies forces one communication step after they are computed",
    }
}
