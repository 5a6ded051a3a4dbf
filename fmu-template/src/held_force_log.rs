//! Warnings about external forces on bodies that the FMU moves itself: forces of springs in the master that are held over
//! steps too long for them. They go where those of other [couplings](crate::coupling_log) go.

use crate::coupling_log::{EnergyAlarm, warn};
use crate::instance::Instance;
use crate::lifecycle::Interface;
use crate::logger::Logger;
use contact_fmu::engine::{Finding, HeldForce, State, System};
use contact_fmu::model::Model;
use std::collections::BTreeSet;

/// What was told of the forces on all bodies that the FMU moves.
#[derive(Clone, Debug)]
pub struct HeldForceLogs {
    /// Bodies that may touch something come first.
    logs: Vec<HeldForceLog>,
    /// How many these are.
    touching: usize,
    /// Whether there is nothing to follow at the others while no force is told.
    others_idle: bool,
}

/// What was told of the force on one body.
#[derive(Clone, Debug)]
struct HeldForceLog {
    force: HeldForce,
    /// Name of the body.
    name: String,
    /// What to do about it.
    cures: &'static str,
    alarm: EnergyAlarm,
    /// Whether growth was told.
    told_growth: bool,
}

/// Energy added above this part of the body's largest kinetic energy is worth a warning.
const ENERGY_ADDED: f64 = 0.01;

fn cures(interface: Interface) -> &'static str {
    match interface {
        Interface::CoSimulation => {
            "give it with its derivative, take a smaller communication step, or move the spring into the FMU by coupling = \"compliant\" in the model"
        }
        Interface::ModelExchange => {
            "set a smaller engine.sample, or move the spring into the FMU by coupling = \"compliant\" in the model"
        }
    }
}

impl HeldForceLogs {
    /// One for each body that the FMU moves.
    pub fn new(model: &Model, system: &System, interface: Interface) -> HeldForceLogs {
        let pairs = system.contacts.iter().filter(|contact| contact.group().is_none());
        let in_pairs = pairs.flat_map(|contact| {
            let sides = contact.sides();
            system.surfaces[sides.surface].body.into_iter().chain([sides.node])
        });
        let in_groups = system.pile.iter().flat_map(|pile| pile.bodies(&system.surfaces));
        let touching: BTreeSet<usize> = in_pairs.chain(in_groups).collect();
        let bodies = system.nodes.iter().zip(model.body_names()).enumerate();
        let mut logs: Vec<HeldForceLog> = bodies
            .filter(|(_, (node, _))| node.coupling.is_none())
            .map(|(index, (_, name))| HeldForceLog {
                force: HeldForce::on(index),
                name: name.to_owned(),
                cures: cures(interface),
                alarm: EnergyAlarm::new(),
                told_growth: false,
            })
            .collect();
        let touches = |log: &HeldForceLog| touching.contains(&log.force.node());
        logs.sort_by_key(|log| !touches(log));
        let touching = logs.iter().take_while(|log| touches(log)).count();
        HeldForceLogs { logs, touching, others_idle: true }
    }

    /// Nothing was told yet.
    pub fn start(&mut self) {
        for log in &mut self.logs {
            (log.force, log.alarm) = (HeldForce::on(log.force.node()), EnergyAlarm::new());
            log.told_growth = false;
        }
        self.others_idle = true;
    }

    /// Tells what the last step has shown.
    #[inline]
    pub fn report(instance: &mut Instance) {
        let (before, after) = (&instance.run.before, &instance.run.state);
        let HeldForceLogs { logs, touching, others_idle } = &mut instance.held_force_logs;
        let (touching, others) = logs.split_at_mut(*touching);
        for log in touching {
            log.see(before, after, &instance.logger);
        }
        if before.inputs.are_given() || !*others_idle {
            *others_idle = true;
            for log in others {
                log.see(before, after, &instance.logger);
                *others_idle &= log.force.is_idle();
            }
        }
    }
}

impl HeldForceLog {
    #[inline]
    fn see(&mut self, before: &State<f64>, after: &State<f64>, logger: &Logger) {
        match self.force.see(before, after) {
            Finding::None => {}
            found => self.tell(found, after, logger),
        }
    }

    #[cold]
    fn tell(&mut self, found: Finding, state: &State<f64>, logger: &Logger) {
        let (name, cures, node) = (&self.name, self.cures, self.force.node());
        match found {
            Finding::Follows { stiffness, added, speed } => {
                let mass = state.parameters.mass[node];
                if self.alarm.rings(added, ENERGY_ADDED, mass, speed, state) {
                    let text = format_args!(
                        "{name}.f_ext follows the body like a spring of {stiffness:.3e} N/m, and held over steps it has added up to {added:.3e} J of energy: {cures}"
                    );
                    warn(name, logger, state, text);
                }
            }
            Finding::Grows if !self.told_growth => {
                self.told_growth = true;
                let text = format_args!(
                    "{name}.f_ext grows without end, like the force of a spring that is held over steps too long for it; if it is one, {cures}"
                );
                warn(name, logger, state, text);
            }
            Finding::Grows | Finding::None => {}
        }
    }
}
