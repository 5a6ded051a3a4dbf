//! Log lines about bodies that the master moves: what the coupling has found out, and where it does not work well.
//!
//! What it has found out goes to logCoupling. Warnings go there too, or else to logStatusWarning; the step that they
//! come with is fmi2OK all the same. Nothing is allocated in a step that has nothing to tell.

use crate::abi::fmi2Status;
use crate::instance::Instance;
use crate::lifecycle::Interface;
use crate::logger::{Category, Logger};
use contact_fmu::engine::{Along, CouplingMode, Motion, State, System, along_contact};
use contact_fmu::model::Model;

/// A mass is told again when it has changed by this part.
pub const MASS_CHANGE: f64 = 0.05;
/// A response error above this is worth telling...
const RESPONSE_ERROR: f64 = 0.2;
/// ...when it lasts for so many steps.
const RESPONSE_STEPS: u32 = 10;
/// Forces that grow for so many steps will not stop.
const GROWING_STEPS: u32 = 3;
/// A velocity that does not change and is off by this part of the way made is not connected...
const STILL: f64 = 0.5;
/// ...unless the way is this part of the position and so may be rounding...
const ROUNDING: f64 = 1e-9;
/// ...when that lasts for so many steps.
const STILL_STEPS: u32 = 10;
/// A position that jumps within so many steps after the start was not told at the start...
const START_STEPS: u32 = 3;
/// ...if the way is so many times what velocities and gravity explain...
const JUMP: f64 = 10.0;
/// An energy excess above this part of the largest kinetic energy so far is worth a warning...
const ENERGY_EXCESS: f64 = 0.1;
/// ...or this part of it for links, which lend energy to and fro...
const ENERGY_EXCESS_OF_LINKS: f64 = 2.0;
/// ...where bodies at rest count as if they had fallen for so many steps.
const FALLING_STEPS: f64 = 10.0;

/// What was told of one coupling.
#[derive(Clone, Debug)]
pub struct CouplingLog {
    coupling: usize,
    node: usize,
    /// Name of the body.
    name: String,
    interface: Interface,
    /// The mass that was told last.
    mass: f64,
    /// Steps in a row with a large response error.
    steps_off: u32,
    /// Steps in a row in which the force was more than twice that of two steps before.
    steps_growing: u32,
    /// Motion that the master gave for the last step, and for how many in a row its velocity has not been that motion's.
    given: Motion<f64>,
    steps_still: u32,
    /// Steps since the start, and whether a jump was told.
    steps: u32,
    /// Whether it was told that a point of a mechanism touches before its response is learnt, that it is not learnt at all,
    /// and that the point can hardly move where it touches.
    told_early: bool,
    told_unlearnt: bool,
    told_blocked: bool,
    alarm: EnergyAlarm,
}

/// When energy that a coupling has added is worth a warning.
#[derive(Clone, Copy, Debug)]
pub struct EnergyAlarm {
    /// Largest kinetic energy so far.
    kinetic_energy: f64,
    /// Energy that the next warning is for.
    next: f64,
}

impl EnergyAlarm {
    /// Nothing added, nothing told.
    pub fn new() -> EnergyAlarm {
        EnergyAlarm { kinetic_energy: 0.0, next: 0.0 }
    }

    /// Whether energy `added` to a body is worth a warning now: it is a large `part` of the kinetic energy.
    pub fn rings(&mut self, added: f64, part: f64, mass: f64, speed: f64, state: &State<f64>) -> bool {
        let falling = FALLING_STEPS * state.step.duration * state.parameters.gravity.norm();
        let speed = speed.max(falling);
        // What the coupling has added itself is no measure of it.
        let kinetic_energy = 0.5 * mass * speed * speed - added.max(0.0);
        self.kinetic_energy = self.kinetic_energy.max(kinetic_energy);
        let rings = added > self.next.max(part * self.kinetic_energy);
        if rings {
            self.next = 2.0 * added;
        }
        rings
    }
}

impl CouplingLog {
    /// One for each coupling that is diagnosed: of a body that responds, to a master that does not repeat steps.
    pub fn of_all(
        model: &Model,
        system: &System,
        state: &State<f64>,
        interface: Interface,
    ) -> Vec<CouplingLog> {
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
                interface,
                mass: 0.0,
                steps_off: 0,
                steps_growing: 0,
                given: state.couplings[index].given,
                steps_still: 0,
                steps: 0,
                told_early: false,
                told_unlearnt: false,
                told_blocked: false,
                alarm: EnergyAlarm::new(),
            })
            .collect()
    }

    /// Nothing was told yet.
    pub fn start(instance: &mut Instance) {
        for log in &mut instance.coupling_logs {
            log.mass = log.mass_of_model(&instance.system, &instance.run.state);
            log.given = instance.run.state.couplings[log.coupling].given;
            (log.steps_off, log.steps_still, log.steps, log.steps_growing) = (0, 0, 0, 0);
            (log.told_early, log.told_unlearnt, log.told_blocked) = (false, false, false);
            log.alarm = EnergyAlarm::new();
        }
    }

    /// Compares the next step with the state that was just restored, not with the last step of this instance.
    pub fn go_on_from_restored(instance: &mut Instance) {
        for log in &mut instance.coupling_logs {
            log.given = instance.run.state.couplings[log.coupling].given;
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
        self.look_for_jump(before, after, logger);
        self.look_for_velocity(before, after, logger);
        if system.mechanism.is_some() {
            self.look_for_early_touch(system, after, logger);
            self.look_for_no_answer(system, after, logger);
            self.look_for_blocked_push(system, after, logger);
            self.look_for_growth(system, before, after, logger);
        }
        let is_found = !system.couplings[self.coupling].mode.is_of_mechanism();
        if is_found && self.is_together(system, after) && !self.is_together(system, before) {
            self.tell(
                logger,
                after,
                format_args!("does not respond like a free mass, and counts from now on as a point of a mechanism: how it responds, and others with it, is learnt (mechanism = true in the model says so at once)"),
            );
        }
        let [was_doubted, is_doubted] =
            [before, after].map(|state| state.couplings[self.coupling].memory.latency.doubted);
        if is_doubted && !was_doubted {
            let given = after.couplings[self.coupling].memory.latency.windows;
            let truth = latency_text(1 - given);
            match self.interface {
                Interface::CoSimulation => self.warn(
                    logger,
                    after,
                    format_args!(
                        "the model says latency = {given}, but {truth}: leave latency out of the model, or set it to {}",
                        1 - given
                    ),
                ),
                Interface::ModelExchange => self.warn(
                    logger,
                    after,
                    format_args!(
                        "{truth}: connect {}.f to the body without a delay, in model exchange it is there when its window begins",
                        self.name
                    ),
                ),
            }
        }
        if was.shaping && !is.shaping {
            self.warn(
                logger,
                after,
                format_args!(
                    "the body does not respond as expected, so impulses are no longer shaped and the mass is no longer learnt: {}",
                    self.other_couplings()
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
                    "for {RESPONSE_STEPS} steps the response to the contact force has differed from the expected one, now by {:.0} percent: look for forces that {}.f_ext does not tell of, for {}",
                    100.0 * is.response_error,
                    self.name,
                    self.other_causes(system, after)
                ),
            );
        }
        let given = after.couplings[self.coupling].given.velocity.norm();
        if self.is_together(system, after) {
            return self.look_at_energy_of_mechanism(system, after, logger);
        }
        let (part, cures, speed) = match system.couplings[self.coupling].mode {
            CouplingMode::Compliant(_) => (ENERGY_EXCESS_OF_LINKS, self.other_steps(), given),
            // A wrong force may make the body faster for a while than contact makes it.
            _ => (ENERGY_EXCESS, self.other_couplings(), given.min(after.nodes[self.node].velocity.norm())),
        };
        if self.alarm.rings(is.energy_excess, part, is.mass, speed, after) {
            self.warn(
                logger,
                after,
                format_args!("the coupling has added {} J of energy: {cures}", is.energy_excess),
            );
        }
    }

    /// Warns if the position jumps in the first steps: masters start connections at zero, or with what they are told.
    fn look_for_jump(&mut self, before: &State<f64>, after: &State<f64>, logger: &Logger) {
        if self.steps >= START_STEPS {
            return;
        }
        self.steps += 1;
        let given = after.couplings[self.coupling].given;
        let jump = (given.position - self.given.position).norm();
        let length = before.step.duration.max(after.step.duration);
        let speed = given.velocity.norm().max(self.given.velocity.norm());
        let explained = length * (speed + length * after.parameters.gravity.norm());
        if jump > JUMP * explained + ROUNDING * (1.0 + given.position.norm()) {
            self.steps = START_STEPS;
            let name = &self.name;
            self.warn(
                logger,
                after,
                format_args!("{name}.r has jumped by {jump} m, which {name}.v does not explain: the master has started the connections of {name}.r elsewhere than the simulation starts; give {name}.r its start value there"),
            );
        }
    }

    /// Whether it is one of several bodies that respond to one another.
    fn is_together(&self, system: &System, state: &State<f64>) -> bool {
        let mechanism = system.mechanism.as_ref();
        state.operator.joined && mechanism.is_some_and(|mechanism| mechanism.members.contains(&self.coupling))
    }

    /// Warns if a point of a mechanism touches while its response is not learnt.
    fn look_for_early_touch(&mut self, system: &System, after: &State<f64>, logger: &Logger) {
        let coupling = &after.couplings[self.coupling];
        let is_early = system.couplings[self.coupling].mode.is_of_mechanism() && !after.operator.learnt;
        if self.told_early || !is_early || coupling.memory.load.is_zero() {
            return;
        }
        self.told_early = true;
        self.warn(
            logger,
            after,
            format_args!(
                "touches before the response of its mechanism is learnt, which starts from a free mass of {} kg: let the mechanism move for some {} steps before it touches, take smaller communication steps, or leave out mechanism = true and write iterative = true if the master repeats steps",
                coupling.diagnosis.mass,
                after.operator.first_windows(),
            ),
        );
    }

    /// Warns if the response of a mechanism is not learnt though there was time enough.
    fn look_for_no_answer(&mut self, system: &System, after: &State<f64>, logger: &Logger) {
        let is_said = system.couplings[self.coupling].mode.is_of_mechanism();
        let made = after.couplings[self.coupling].memory.made;
        let is_told = self.told_early || self.told_unlearnt;
        if is_told || !is_said || after.operator.learnt || made < after.operator.longest() {
            return;
        }
        self.told_unlearnt = true;
        self.warn(
            logger,
            after,
            format_args!(
                "its response is not learnt after {made} steps, because the master does not do what the small test forces in {name}.f say: hold {name}.f over the step, without filter, interpolation, delay or limit, tell other forces that jump in {name}.f_ext, or {}",
                self.cures_of_mechanisms(),
                name = self.name,
            ),
        );
    }

    /// Tells that a contact pushes a point of a mechanism where it can hardly move.
    fn look_for_blocked_push(&mut self, system: &System, after: &State<f64>, logger: &Logger) {
        if self.told_blocked
            || after.couplings[self.coupling].memory.load.is_zero()
            || !self.is_together(system, after)
        {
            return;
        }
        let Some(along) = along_contact(system, after, self.coupling).filter(Along::is_blocked) else {
            return;
        };
        self.told_blocked = true;
        self.tell(
            logger,
            after,
            format_args!(
                "contact pushes it where its mechanism is nearly blocked, as a leg is that stands straight: there it moves {:.0} times less easily than in another direction, like {:.4} kg, and the force may be off: {}",
                along.condition(),
                along.mass(),
                self.cures_of_mechanisms()
            ),
        );
    }

    /// Warns if forces on a point of a mechanism grow and grow.
    fn look_for_growth(&mut self, system: &System, before: &State<f64>, after: &State<f64>, logger: &Logger) {
        let [earlier, now] =
            [&before.couplings[self.coupling].memory.sent[1], &after.couplings[self.coupling].output]
                .map(|wrench| wrench.force.norm());
        let weight = after.couplings[self.coupling].diagnosis.mass * after.parameters.gravity.norm();
        let grows = earlier > weight && now > 2.0 * earlier && self.is_together(system, after);
        self.steps_growing = if grows { self.steps_growing.saturating_add(1) } else { 0 };
        if self.steps_growing == GROWING_STEPS {
            self.warn(
                logger,
                after,
                format_args!(
                    "the contact force has more than doubled every two steps, and is {now} N now: {}",
                    self.cures_of_mechanisms()
                ),
            );
        }
    }

    /// Warns of energy that contact has added to a mechanism. The first of its points tells for all.
    fn look_at_energy_of_mechanism(&mut self, system: &System, after: &State<f64>, logger: &Logger) {
        let members = system.mechanism.as_ref().map_or(&[][..], |mechanism| &mechanism.members);
        if members.first() != Some(&self.coupling) {
            return;
        }
        let speed = |&member: &usize| after.couplings[member].given.velocity.norm();
        // While an impact is delivered, velocities are no measure of the energy.
        let counted: &[usize] = if after.operator.delivers_impact() { &[] } else { members };
        let fastest = counted.iter().map(speed).fold(0.0, f64::max);
        // The mass that has the kinetic energy of all of them at the speed of the fastest.
        let share = |member: &usize| {
            let part = if fastest > 0.0 { speed(member) / fastest } else { 1.0 };
            after.couplings[*member].diagnosis.mass * part * part
        };
        let mass = members.iter().map(share).sum();
        let energy_excess = after.couplings[self.coupling].diagnosis.energy_excess;
        if self.alarm.rings(energy_excess, ENERGY_EXCESS, mass, fastest, after) {
            self.warn(
                logger,
                after,
                format_args!(
                    "contact has added {energy_excess} J of energy to its mechanism: {}",
                    self.cures_of_mechanisms()
                ),
            );
        }
    }

    /// Why it may respond otherwise than expected, besides other forces.
    fn other_causes(&self, system: &System, state: &State<f64>) -> &'static str {
        if system.couplings[self.coupling].mode.is_given() {
            "a W that is not that of the master, and for a force that is filtered or interpolated on its way"
        } else if self.is_together(system, state) {
            "a force that is filtered or interpolated on its way, and for a mechanism that changes too fast for the communication step"
        } else {
            "a wrong mass, for a force that is filtered or interpolated on its way, and for a mechanism (mechanism = true)"
        }
    }

    /// What to do about a mechanism whose contact does not work well.
    fn cures_of_mechanisms(&self) -> &'static str {
        match self.interface {
            Interface::CoSimulation => {
                "give a rigid body as one node with `inertia` in place of its points, take a smaller communication step, iterative = true if the master repeats steps, coupling = \"compliant\" where what touches is soft, or FMI 3.0 with events"
            }
            Interface::ModelExchange => {
                "give a rigid body as one node with `inertia` in place of its points, or set a smaller engine.sample"
            }
        }
    }

    /// Warns if the position moves and the velocity does not know of it.
    fn look_for_velocity(&mut self, before: &State<f64>, after: &State<f64>, logger: &Logger) {
        let given = after.couplings[self.coupling].given;
        let moved = given.position - self.given.position;
        let off = moved - given.velocity * before.step.duration;
        let is_still = given.velocity == self.given.velocity
            && moved.norm() > ROUNDING * (1.0 + given.position.norm())
            && off.norm() > STILL * moved.norm();
        self.steps_still = if is_still { self.steps_still.saturating_add(1) } else { 0 };
        self.given = given;
        if self.steps_still == STILL_STEPS {
            let name = &self.name;
            self.warn(
                logger,
                after,
                format_args!("{name}.r moves while {name}.v has stayed the same for {STILL_STEPS} steps: connect {name}.v"),
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
            _ if self.is_together(system, state) => self.tell(
                logger,
                state,
                format_args!("the response of its mechanism is learnt: that of {mass:.4} kg on the mean over all directions"),
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

    /// What helps a link that gains energy.
    fn other_steps(&self) -> &'static str {
        match self.interface {
            Interface::CoSimulation => {
                "take a smaller communication step, let the FMU step before the master applies its force (sequential order), or check master_mass in the model"
            }
            Interface::ModelExchange => "set a smaller engine.sample, or check master_mass in the model",
        }
    }

    /// What to do about a coupling that does not work well.
    fn other_couplings(&self) -> &'static str {
        match self.interface {
            Interface::CoSimulation => {
                "take a smaller communication step, or coupling = \"compliant\" or \"owned\" in the model, or mechanism = true if it is a point of an arm, a linkage or a table of the master"
            }
            Interface::ModelExchange => {
                "set a smaller engine.sample, or coupling = \"compliant\" or \"owned\" in the model, or mechanism = true if it is a point of an arm, a linkage or a table of the master"
            }
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
        tell(&self.name, logger, state, text);
    }

    fn warn(&self, logger: &Logger, state: &State<f64>, text: std::fmt::Arguments) {
        warn(&self.name, logger, state, text);
    }
}

/// Tells what the coupling of a body has found out.
#[cold]
pub fn tell(body: &str, logger: &Logger, state: &State<f64>, text: std::fmt::Arguments) {
    if logger.wants(Category::Coupling) {
        let message = format!("{body}: {text} (at {} s)", state.time);
        logger.log(fmi2Status::fmi2OK, Category::Coupling, &message);
    }
}

/// Warns of the coupling of a body.
#[cold]
pub fn warn(body: &str, logger: &Logger, state: &State<f64>, text: std::fmt::Arguments) {
    let category = if logger.wants(Category::Coupling) { Category::Coupling } else { Category::Warning };
    if logger.wants(category) {
        let message = format!("{body}: {text} (at {} s)", state.time);
        logger.log(fmi2Status::fmi2Warning, category, &message);
    }
}

fn latency_text(steps: u8) -> &'static str {
    match steps {
        0 => "the master applies forces in the communication step that they are computed for",
        _ => "the master applies forces one communication step after they are computed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::tests::{coupled, log_lines};
    use contact_fmu::model::{Coupling, Kinetic, Latency, Link, Membership};

    const KINETIC: Coupling = Coupling::Kinetic(Kinetic {
        latency: Latency::Auto,
        shaping: true,
        adapt: true,
        guard: true,
        mechanism: Membership::No,
    });

    /// Makes a step that only changes what `change` does, and returns the lines that it logs.
    fn step(instance: &mut Instance, change: impl FnOnce(&mut State<f64>)) -> Vec<String> {
        let run = &mut instance.run;
        State::clone_from(&mut run.before, &run.state);
        run.state.time += 0.25;
        change(&mut run.state);
        CouplingLog::report(instance);
        log_lines()
    }

    fn started(coupling: Coupling, debug: bool) -> Instance {
        let mut instance = coupled(coupling, debug);
        CouplingLog::start(&mut instance);
        instance
    }

    #[test]
    fn a_latency_is_told_when_it_becomes_known() {
        for (steps, text) in [
            (0, "the master applies forces in the communication step that they are computed for (latency 0)"),
            (1, "the master applies forces one communication step after they are computed (latency 1)"),
        ] {
            let mut instance = started(KINETIC, true);
            assert_eq!(step(&mut instance, |_| {}), [""; 0]);
            let known = |state: &mut State<f64>| state.couplings[0].diagnosis.latency = Some(steps);
            assert_eq!(step(&mut instance, known), [format!("0 ball: {text} (at 0.5 s)")]);
            assert_eq!(step(&mut instance, known), [""; 0]);
            let mut silent = started(KINETIC, false);
            assert_eq!(step(&mut silent, known), [""; 0], "no debug logging");
        }
    }

    #[test]
    fn shaping_that_is_switched_off_is_a_warning() {
        for debug in [true, false] {
            let mut instance = started(KINETIC, debug);
            let lines = step(&mut instance, |state| state.couplings[0].diagnosis.shaping = false);
            assert_eq!(lines.len(), 1);
            assert!(lines[0].starts_with("1 ball: the body does not respond as expected"), "{lines:?}");
            assert!(
                lines[0].contains("smaller communication step, or coupling = \"compliant\" or \"owned\"")
            );
            assert_eq!(step(&mut instance, |_| {}), [""; 0]);
            let lines = step(&mut instance, |state| state.couplings[0].diagnosis.shaping = true);
            assert_eq!(lines.len(), usize::from(debug), "{lines:?}");
        }
    }

    #[test]
    fn a_mass_is_told_when_it_changes_by_five_percent() {
        let mut instance = started(KINETIC, true);
        let learnt = |mass: f64| move |state: &mut State<f64>| state.couplings[0].diagnosis.mass = mass;
        assert_eq!(step(&mut instance, learnt(1.04)), [""; 0]);
        assert_eq!(
            step(&mut instance, learnt(0.5)),
            ["0 ball: responds like 0.5000 kg, the model says 1 kg: set ball.mass (at 0.5 s)"]
        );
        assert_eq!(step(&mut instance, learnt(0.52)), [""; 0]);
        assert_eq!(
            step(&mut instance, learnt(1.01)),
            ["0 ball: responds like 1.0100 kg, and the model says 1 kg (at 1 s)"]
        );
        let link = Link { latency: Latency::Auto, stiffness: 1.0, damping: 0.0, master_mass: 4.0 };
        let mut instance = started(Coupling::Compliant(link), true);
        assert_eq!(step(&mut instance, learnt(4.1)), [""; 0]);
        let lines = step(&mut instance, learnt(8.0));
        assert!(lines[0].contains("like 8.0000 kg, the model says 4 kg: set master_mass in the model"));
    }

    #[test]
    fn a_response_error_is_told_once_when_it_lasts() {
        let mut instance = started(KINETIC, true);
        let off =
            |error: f64| move |state: &mut State<f64>| state.couplings[0].diagnosis.response_error = error;
        for _ in 0..2 {
            for _ in 1..RESPONSE_STEPS {
                assert_eq!(step(&mut instance, off(0.3)), [""; 0]);
            }
            let lines = step(&mut instance, off(0.25));
            assert_eq!(lines.len(), 1);
            assert!(lines[0].starts_with("0 ball: for 10 steps"), "{lines:?}");
            assert!(lines[0].contains("now by 25 percent") && lines[0].contains("ball.f_ext"), "{lines:?}");
            assert_eq!(step(&mut instance, off(0.3)), [""; 0]);
            assert_eq!(step(&mut instance, off(0.1)), [""; 0]);
        }
    }

    #[test]
    fn a_large_energy_excess_is_a_warning() {
        let mut instance = started(KINETIC, false);
        let moving = |state: &mut State<f64>| {
            state.couplings[0].given.velocity[0] = 2.0;
            state.nodes[0].velocity[0] = 2.0;
        };
        let excess = |energy: f64| {
            move |state: &mut State<f64>| {
                state.couplings[0].given.velocity[0] = 0.0;
                state.couplings[0].diagnosis.energy_excess = energy;
            }
        };
        assert_eq!(step(&mut instance, moving), [""; 0]);
        assert_eq!(step(&mut instance, excess(0.19)), [""; 0], "the kinetic energy was 2 J");
        let lines = step(&mut instance, excess(0.25));
        assert!(lines[0].starts_with("1 ball: the coupling has added 0.25 J of energy"), "{lines:?}");
        assert_eq!(step(&mut instance, excess(0.45)), [""; 0], "told already");
        assert_eq!(step(&mut instance, excess(0.6)).len(), 1, "more than twice as much");
        let mut resting = started(KINETIC, false);
        resting.run.state.step.duration = 1e-2;
        assert_eq!(step(&mut resting, excess(0.04)), [""; 0], "0.1 s of free fall are 0.48 J");
        assert_eq!(step(&mut resting, excess(0.05)).len(), 1);
        let link = Link { latency: Latency::Auto, stiffness: 1.0, damping: 0.0, master_mass: 4.0 };
        let mut linked = started(Coupling::Compliant(link), false);
        let lines = step(&mut linked, excess(1e3));
        assert!(lines[0].contains("sequential order") && !lines[0].contains("compliant"), "{lines:?}");
    }

    #[test]
    fn iterative_nodes_are_not_diagnosed() {
        assert!(coupled(Coupling::Iterative, true).coupling_logs.is_empty());
        assert!(coupled(Coupling::Owned, true).coupling_logs.is_empty());
    }
}
