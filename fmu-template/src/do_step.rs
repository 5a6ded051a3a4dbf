//! fmi2DoStep.
//!
//! | status | when | instance afterwards |
//! |---|---|---|
//! | fmi2OK | the step was made | at `currentCommunicationPoint + communicationStepSize` |
//! | fmi2Warning | the step was made, but a contact problem was not solved to tolerance, or not all impacts were followed | as above |
//! | fmi2Discard | too many substeps, or a result that is not finite | as before the call, still in step mode |
//! | fmi2Error | step size zero, negative or not finite, or a communication point that is not the instance's time | as before the call, still in step mode |
//! | fmi2Error | a quaternion that the master gives is far from length 1 | as before the call, still in step mode |
//! | fmi2Error | not in step mode | as before the call |
//! | fmi2Error | internal error | failed |
//!
//! The master owns the time: its communication point is taken as it is when it agrees with ours up to rounding,
//! so no error adds up, whether the master multiplies or adds.
//!
//! Input derivatives are given "with respect to the beginning of a communication time step" (FMI 2.0, 4.2.1):
//! they count for the next step that succeeds and are zero after it. The input itself stays.

use crate::abi::{fmi2Boolean, fmi2Real, fmi2Status};
use crate::coupling_log::CouplingLog;
use crate::guard::{Answer, OK, Refusal};
use crate::held_force_log::HeldForceLogs;
use crate::instance::Instance;
use crate::lifecycle::Function;
use crate::logger::Category;
use crate::repeat_log::RepeatLog;
use contact_fmu::engine::{self, Quality, State, StepError, System, Workspace};
use contact_fmu::variables::{self, Slot};

/// Allowed difference between the master's time and ours, relative to the time.
const TIME_TOLERANCE: f64 = 1e-9;
/// The same relative to the step, for masters that count time in whole ticks.
const STEP_TOLERANCE: f64 = 1e-6;

/// fmi2DoStep.
#[inline]
pub fn do_step(
    instance: &mut Instance,
    point: fmi2Real,
    step: fmi2Real,
    _no_set_state_prior: fmi2Boolean,
) -> Answer {
    prepare(instance, point, step)?;
    match self::step(&instance.system, &mut instance.run.state, &mut instance.workspace, step) {
        Ok(quality) => conclude(instance, point, step, quality, Function::fmi2DoStep),
        Err(error) => Err(undo(instance, point, step, error)),
    }
}

/// Checks that a step can be made, and keeps the state before it.
#[inline]
pub fn prepare(instance: &mut Instance, point: f64, step: f64) -> Result<(), Refusal> {
    check_arguments(instance.run.state.time, point, step)?;
    if !instance.system.couplings.is_empty() {
        engine::check_given(&instance.system, &instance.run.state)
            .map_err(|fault| instance.wrong_given(fault))?;
    }
    State::clone_from(&mut instance.undo, &instance.run.state);
    Ok(())
}

/// Ends a step that came `reached` far.
#[inline]
pub fn conclude(
    instance: &mut Instance,
    point: f64,
    reached: f64,
    quality: Quality,
    function: Function,
) -> Answer {
    let run = &mut instance.run;
    run.state.time = point + reached;
    variables::clear_input_derivatives(&mut run.state);
    std::mem::swap(&mut run.before, &mut instance.undo);
    report(instance);
    RepeatLog::report(instance, point);
    match quality {
        Quality::Solved if instance.run.state.step.captured == 0 => OK,
        _ => Ok(warn_inaccurate(instance, function)),
    }
}

/// Goes back to the state before a step that could not be made.
pub fn undo(instance: &mut Instance, point: f64, step: f64, error: StepError) -> Refusal {
    std::mem::swap(&mut instance.run.state, &mut *instance.undo);
    Refusal::discard(format!("{error} (step of {step} s from {point} s; nothing was changed)"))
}

/// The step itself, from the inputs in `state`, which is not to be used after an error.
#[inline]
pub fn step(
    system: &System,
    state: &mut State<f64>,
    workspace: &mut Workspace<f64>,
    duration: f64,
) -> Result<Quality, StepError> {
    engine::scale_given(state);
    engine::advance(system, state, workspace, duration)
}

/// Tells what is worth telling of the last step.
#[inline]
pub fn report(instance: &mut Instance) {
    if !instance.coupling_logs.is_empty() {
        CouplingLog::report(instance);
    }
    HeldForceLogs::report(instance);
    if instance.system.pile.is_some() && !instance.told_capture {
        tell_capture(instance);
    }
    if instance.logger.wants(Category::Events) {
        log_events(instance);
    }
}

/// Tells once that a pile is too large for the times of its impacts.
#[cold]
fn tell_capture(instance: &mut Instance) {
    let pairs = instance.workspace.take_captured_pairs();
    if pairs == 0 {
        return;
    }
    instance.told_capture = true;
    let message = format!(
        "{pairs} pairs of groups hang together at {} s, too many to split steps at their impacts: these act at the ends of internal steps instead; a smaller engine.step makes them more exact, and engine.time_of_impact = false says that this is meant",
        instance.run.state.time
    );
    instance.logger.log(fmi2Status::fmi2Warning, Category::Warning, &message);
}

#[inline]
fn check_arguments(time: f64, point: f64, step: f64) -> Result<(), Refusal> {
    if !(step > 0.0 && step.is_finite()) {
        return Err(Refusal::error(format!(
            "communicationStepSize is {step}: it must be a finite number above zero"
        )));
    }
    let tolerance = TIME_TOLERANCE * time.abs().max(point.abs()) + STEP_TOLERANCE * step;
    let agrees = (point - time).abs() <= tolerance;
    if !(agrees && point.is_finite()) {
        return Err(Refusal::error(format!(
            "currentCommunicationPoint is {point} but this instance is at {time}: restore a saved state to repeat a step"
        )));
    }
    if point + step <= point {
        return Err(Refusal::error(format!(
            "communicationStepSize {step} is too small to change the time {point}"
        )));
    }
    Ok(())
}

/// Tells that the last step was made less exactly than asked.
#[cold]
pub fn warn_inaccurate(instance: &Instance, function: Function) -> fmi2Status {
    let (time, record) = (instance.run.state.time, &instance.run.state.step);
    let tolerance = instance.system.settings.solver.tolerance;
    let mut found = Vec::new();
    if record.residual.is_nan() || record.residual > tolerance {
        found.push(format!(
            "a contact problem of the step to {time} s was solved to a residual of {:e} only, the tolerance is {tolerance:e}",
            record.residual
        ));
    }
    if record.captured > 0 {
        found.push(format!(
            "{} of {} internal steps of the step to {time} s had more impacts than are followed one by one, and the rest of them acted at its end: a smaller engine.step makes them more exact (engine.captured counts them)",
            record.captured, record.substeps
        ));
    }
    let message = format!("{}: {}", function.name(), found.join("; "));
    instance.logger.log(fmi2Status::fmi2Warning, Category::Warning, &message);
    fmi2Status::fmi2Warning
}

#[cold]
fn log_events(instance: &Instance) {
    const STATES: [&str; 3] = ["open", "stick", "slip"];
    let run = &instance.run;
    for access in &instance.access {
        if let Slot::ContactState { .. } = access.slot {
            let [was, is] = [&run.before, &run.state]
                .map(|state| STATES[variables::get_integer(access.slot, state) as usize]);
            if was != is {
                let name = instance.name_of(access.slot);
                let message = format!("{name}: {was} -> {is} in the step to {} s", run.state.time);
                instance.logger.log(fmi2Status::fmi2OK, Category::Events, &message);
            }
        }
    }
}
