//! Modes of an instance, which function is allowed in which of them, and the functions that change the mode.
//!
//! The tables are those of the standards, FMI 2.0, sections 3.2.3 and 4.2.4, and FMI 3.0, sections 2.3, 3.2 and 4.2, with
//! these readings of them:
//! a step that returned fmi2Discard leaves the instance as it was, so it stays in step mode (the standard's
//! *stepFailed* never lasts); a step is never pending, so *stepInProgress* and *stepCanceled* do not exist;
//! [`Mode::Failed`] is the standard's *error*, where status queries are allowed too; fmi2SetTime is taken before
//! initialization as well, because OpenModelica's importer calls it there.
//! Which variables may be set in which mode is in [`crate::access`].

use crate::abi::{fmi2Boolean, fmi2False, fmi2Real};
use crate::abi3::fmi3Boolean;
use crate::coupling_log::CouplingLog;
use crate::exchange::{self, Sampling};
use crate::guard::{Answer, OK, Refusal};
use crate::instance::{Instance, Run};
use crate::repeat_log::RepeatLog;
use contact_fmu::engine::{self, StartFault, State};
use contact_fmu::variables::Slot;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Mode of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// After fmi2Instantiate or fmi2Reset.
    Instantiated,
    /// Between fmi2EnterInitializationMode and fmi2ExitInitializationMode.
    Initialization,
    /// Between steps: the standard's *slaveInitialized*, *stepComplete*.
    Step,
    /// After fmi2Terminate.
    Terminated,
    /// After an internal error.
    Failed,
    /// Model exchange: between fmi2ExitInitializationMode or fmi2EnterEventMode and fmi2EnterContinuousTimeMode. Also
    /// co-simulation of FMI 3.0 with events, up to fmi3EnterStepMode.
    Event,
    /// Model exchange: after fmi2EnterContinuousTimeMode.
    ContinuousTime,
    /// FMI 3.0: while the importer is told of a part of a step.
    Intermediate,
}

/// What an instance was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Steps by fmi2DoStep.
    CoSimulation,
    /// Events at times that the FMU names.
    ModelExchange,
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interface::CoSimulation => "co-simulation",
            Interface::ModelExchange => "model exchange",
        })
    }
}

/// A set of modes.
pub type Modes = u8;

impl Mode {
    const ALL: [Mode; 8] = [
        Mode::Instantiated,
        Mode::Initialization,
        Mode::Step,
        Mode::Event,
        Mode::ContinuousTime,
        Mode::Intermediate,
        Mode::Terminated,
        Mode::Failed,
    ];

    /// Whether an instance can be in this mode.
    pub fn is_of(self, run: &Run) -> bool {
        let is_exchange = run.interface() == Interface::ModelExchange;
        match self {
            Mode::Step => !is_exchange,
            Mode::Event => is_exchange || run.events.is_some(),
            Mode::ContinuousTime => is_exchange,
            Mode::Intermediate => false,
            _ => true,
        }
    }

    /// The set of this mode alone.
    pub const fn bit(self) -> Modes {
        1 << self as u8
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Instantiated => "instantiated",
            Mode::Initialization => "in initialization mode",
            Mode::Step => "in step mode",
            Mode::Terminated => "terminated",
            Mode::Failed => "failed",
            Mode::Event => "in event mode",
            Mode::ContinuousTime => "in continuous-time mode",
            Mode::Intermediate => "in a step, of which it tells the importer",
        })
    }
}

/// Names of a set of modes, of those that an instance can be in.
pub fn mode_names(modes: Modes, run: &Run) -> String {
    let names: Vec<String> = Mode::ALL
        .iter()
        .filter(|mode| mode.bit() & modes != 0 && mode.is_of(run))
        .map(Mode::to_string)
        .collect();
    names.join(", ")
}

const I: Modes = Mode::Instantiated.bit();
const N: Modes = Mode::Initialization.bit();
const S: Modes = Mode::Step.bit();
const E: Modes = Mode::Event.bit();
const C: Modes = Mode::ContinuousTime.bit();
const T: Modes = Mode::Terminated.bit();
const F: Modes = Mode::Failed.bit();
const U: Modes = Mode::Intermediate.bit();
/// For functions that answer with an error of their own that says why.
const ALWAYS_REFUSED: Modes = I | N | S | E | C | T | F;

const BOTH: Option<Interface> = None;
const COSI: Option<Interface> = Some(Interface::CoSimulation);
const EXCH: Option<Interface> = Some(Interface::ModelExchange);

macro_rules! functions {
    ($($name:ident: $interface:ident, $modes:expr;)*) => {
        /// A function of the interface that works on an instance.
        #[allow(
            non_camel_case_types,
            missing_docs,
            clippy::enum_variant_names,
            reason = "the names are those of the C functions"
        )]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function { $($name,)* }

        impl Function {
            /// Name of the C function.
            pub const fn name(self) -> &'static str {
                match self { $(Function::$name => stringify!($name),)* }
            }

            /// Modes in which it may be called.
            pub const fn allowed(self) -> Modes {
                match self { $(Function::$name => $modes,)* }
            }

            /// The interface that it belongs to; none stands for both.
            pub const fn interface(self) -> Option<Interface> {
                match self { $(Function::$name => $interface,)* }
            }
        }
    };
}

functions! {
    fmi2SetDebugLogging:               BOTH, I | N | S | E | C | T | F;
    fmi2FreeInstance:                  BOTH, I | N | S | E | C | T | F;
    fmi2SetupExperiment:               BOTH, I;
    fmi2EnterInitializationMode:       BOTH, I;
    fmi2ExitInitializationMode:        BOTH,     N;
    fmi2Terminate:                     BOTH,         S | E | C;
    fmi2Reset:                         BOTH, I | N | S | E | C | T | F;
    fmi2GetReal:                       BOTH,     N | S | E | C | T | F;
    fmi2GetInteger:                    BOTH,     N | S | E | C | T | F;
    fmi2GetBoolean:                    BOTH,     N | S | E | C | T | F;
    fmi2GetString:                     BOTH,     N | S | E | C | T | F;
    fmi2SetReal:                       BOTH, I | N | S | E | C;
    fmi2SetInteger:                    BOTH, I | N | S | E;
    fmi2SetBoolean:                    BOTH, I | N | S | E;
    fmi2SetString:                     BOTH, I | N | S | E;
    fmi2GetFMUstate:                   BOTH, I | N | S | E | C | T | F;
    fmi2SetFMUstate:                   BOTH, I | N | S | E | C | T | F;
    fmi2FreeFMUstate:                  BOTH, I | N | S | E | C | T | F;
    fmi2SerializedFMUstateSize:        BOTH, I | N | S | E | C | T | F;
    fmi2SerializeFMUstate:             BOTH, I | N | S | E | C | T | F;
    fmi2DeSerializeFMUstate:           BOTH, I | N | S | E | C | T | F;
    fmi2GetDirectionalDerivative:      BOTH,     N | S | E | C | T | F;
    fmi2SetRealInputDerivatives:       COSI, I | N | S;
    fmi2GetRealOutputDerivatives:      COSI, ALWAYS_REFUSED;
    fmi2DoStep:                        COSI,         S;
    fmi2CancelStep:                    COSI, ALWAYS_REFUSED;
    fmi2GetStatus:                     COSI,         S         | T | F;
    fmi2GetRealStatus:                 COSI,         S         | T | F;
    fmi2GetIntegerStatus:              COSI,         S         | T | F;
    fmi2GetBooleanStatus:              COSI,         S         | T | F;
    fmi2GetStringStatus:               COSI,         S         | T | F;
    fmi2EnterEventMode:                EXCH,             E | C;
    fmi2NewDiscreteStates:             EXCH,             E;
    fmi2EnterContinuousTimeMode:       EXCH,             E;
    fmi2CompletedIntegratorStep:       EXCH,                 C;
    fmi2SetTime:                       EXCH, I         | E | C;
    fmi2SetContinuousStates:           EXCH,                 C;
    fmi2GetDerivatives:                EXCH,             E | C | T | F;
    fmi2GetEventIndicators:            EXCH,     N     | E | C | T | F;
    fmi2GetContinuousStates:           EXCH,     N     | E | C | T | F;
    fmi2GetNominalsOfContinuousStates: EXCH, I         | E | C | T | F;

    fmi3SetDebugLogging:               BOTH, I | N | S | E | C | T | F;
    fmi3FreeInstance:                  BOTH, I | N | S | E | C | T | F;
    fmi3EnterInitializationMode:       BOTH, I;
    fmi3ExitInitializationMode:        BOTH,     N;
    fmi3EnterEventMode:                BOTH,         S     | C;
    fmi3Terminate:                     BOTH,         S | E | C;
    fmi3Reset:                         BOTH, I | N | S | E | C | T | F;
    fmi3GetFloat32:                    BOTH,     N | S | E | C | T | F | U;
    fmi3GetFloat64:                    BOTH,     N | S | E | C | T | F | U;
    fmi3GetInt8:                       BOTH,     N | S | E | C | T | F | U;
    fmi3GetUInt8:                      BOTH,     N | S | E | C | T | F | U;
    fmi3GetInt16:                      BOTH,     N | S | E | C | T | F | U;
    fmi3GetUInt16:                     BOTH,     N | S | E | C | T | F | U;
    fmi3GetInt32:                      BOTH,     N | S | E | C | T | F | U;
    fmi3GetUInt32:                     BOTH,     N | S | E | C | T | F | U;
    fmi3GetInt64:                      BOTH,     N | S | E | C | T | F | U;
    fmi3GetUInt64:                     BOTH,     N | S | E | C | T | F | U;
    fmi3GetBoolean:                    BOTH,     N | S | E | C | T | F | U;
    fmi3GetString:                     BOTH,     N | S | E | C | T | F | U;
    fmi3GetBinary:                     BOTH,     N | S | E | C | T | F | U;
    fmi3GetClock:                      BOTH,     N     | E;
    fmi3SetFloat32:                    BOTH, I | N | S | E | C;
    fmi3SetFloat64:                    BOTH, I | N | S | E | C;
    fmi3SetInt8:                       BOTH, I | N | S | E;
    fmi3SetUInt8:                      BOTH, I | N | S | E;
    fmi3SetInt16:                      BOTH, I | N | S | E;
    fmi3SetUInt16:                     BOTH, I | N | S | E;
    fmi3SetInt32:                      BOTH, I | N | S | E;
    fmi3SetUInt32:                     BOTH, I | N | S | E;
    fmi3SetInt64:                      BOTH, I | N | S | E;
    fmi3SetUInt64:                     BOTH, I | N | S | E;
    fmi3SetBoolean:                    BOTH, I | N | S | E;
    fmi3SetString:                     BOTH, I | N | S | E;
    fmi3SetBinary:                     BOTH, I | N | S | E;
    fmi3SetClock:                      BOTH,             E;
    fmi3GetNumberOfVariableDependencies:BOTH, ALWAYS_REFUSED;
    fmi3GetVariableDependencies:       BOTH, ALWAYS_REFUSED;
    fmi3GetFMUState:                   BOTH, I | N | S | E | C | T | F;
    fmi3SetFMUState:                   BOTH, I | N | S | E | C | T | F;
    fmi3FreeFMUState:                  BOTH, I | N | S | E | C | T | F;
    fmi3SerializedFMUStateSize:        BOTH, I | N | S | E | C | T | F;
    fmi3SerializeFMUState:             BOTH, I | N | S | E | C | T | F;
    fmi3DeserializeFMUState:           BOTH, I | N | S | E | C | T | F;
    fmi3GetDirectionalDerivative:      BOTH,     N | S | E | C | T | F;
    fmi3GetAdjointDerivative:          BOTH,     N | S | E | C | T | F;
    fmi3EnterConfigurationMode:        BOTH, ALWAYS_REFUSED;
    fmi3ExitConfigurationMode:         BOTH, ALWAYS_REFUSED;
    fmi3GetIntervalDecimal:            BOTH, ALWAYS_REFUSED;
    fmi3GetIntervalFraction:           BOTH, ALWAYS_REFUSED;
    fmi3GetShiftDecimal:               BOTH, ALWAYS_REFUSED;
    fmi3GetShiftFraction:              BOTH, ALWAYS_REFUSED;
    fmi3SetIntervalDecimal:            BOTH, ALWAYS_REFUSED;
    fmi3SetIntervalFraction:           BOTH, ALWAYS_REFUSED;
    fmi3SetShiftDecimal:               BOTH, ALWAYS_REFUSED;
    fmi3SetShiftFraction:              BOTH, ALWAYS_REFUSED;
    fmi3EvaluateDiscreteStates:        BOTH, ALWAYS_REFUSED;
    fmi3UpdateDiscreteStates:          BOTH,             E;
    fmi3EnterContinuousTimeMode:       EXCH,             E;
    fmi3CompletedIntegratorStep:       EXCH,                 C;
    fmi3SetTime:                       EXCH,             E | C;
    fmi3SetContinuousStates:           EXCH,                 C;
    fmi3GetContinuousStateDerivatives: EXCH,     N     | E | C | T | F;
    fmi3GetEventIndicators:            EXCH,     N     | E | C | T | F;
    fmi3GetContinuousStates:           EXCH,     N     | E | C | T | F;
    fmi3GetNominalsOfContinuousStates: EXCH,     N     | E | C | T | F;
    fmi3GetNumberOfEventIndicators:    EXCH, I | N     | E | C | T | F;
    fmi3GetNumberOfContinuousStates:   EXCH, I | N     | E | C | T | F;
    fmi3EnterStepMode:                 COSI,             E;
    fmi3GetOutputDerivatives:          COSI, ALWAYS_REFUSED;
    fmi3DoStep:                        COSI,         S;
    fmi3ActivateModelPartition:        BOTH, ALWAYS_REFUSED;
}

/// Takes the start time. The tolerance is for variable-step integrators and so does not apply; the stop time
/// is checked but does not limit steps, because masters overshoot it by rounding.
pub fn setup_experiment(
    instance: &mut Instance,
    _tolerance_defined: fmi2Boolean,
    _tolerance: fmi2Real,
    start: fmi2Real,
    stop_defined: fmi2Boolean,
    stop: fmi2Real,
) -> Answer {
    if !start.is_finite() {
        return Err(Refusal::error(format!("startTime is {start}: give a finite number")));
    }
    if stop_defined != fmi2False && (stop.is_nan() || stop < start) {
        return Err(Refusal::error(format!("stopTime {stop} is before startTime {start}")));
    }
    instance.run.state.time = start;
    if let Some(sampling) = &mut instance.run.sampling {
        sampling.begin_at(start);
    }
    OK
}

/// fmi3EnterInitializationMode: takes the start time and enters initialization mode.
pub fn begin_initialization(
    instance: &mut Instance,
    _tolerance_defined: fmi3Boolean,
    _tolerance: f64,
    start: f64,
    stop_defined: fmi3Boolean,
    stop: f64,
) -> Answer {
    setup_experiment(instance, fmi2False, 0.0, start, stop_defined.into(), stop)?;
    enter_initialization(instance)
}

/// Instantiated to initialization mode.
pub fn enter_initialization(instance: &mut Instance) -> Answer {
    instance.has_start_outputs = false;
    instance.run.mode = Mode::Initialization;
    OK
}

/// Initialization to step mode or the first event, unless a node starts inside a surface or with an impossible orientation.
pub fn exit_initialization(instance: &mut Instance) -> Answer {
    instance.has_start_outputs = false;
    State::clone_from(&mut instance.undo, &instance.run.state);
    engine::check_start(&instance.system, &mut instance.undo)
        .map_err(|fault| wrong_start(instance, fault))?;
    State::clone_from(&mut instance.run.before, &instance.undo);
    let first_step = instance.undo.parameters.sample;
    engine::couple_initially(&instance.system, &mut instance.undo, first_step);
    std::mem::swap(&mut instance.run.state, &mut *instance.undo);
    CouplingLog::start(instance);
    RepeatLog::start(instance);
    instance.held_force_logs.start();
    instance.told_capture = false;
    match instance.run.interface() {
        Interface::CoSimulation if instance.run.events.is_some() => instance.run.mode = Mode::Event,
        Interface::CoSimulation => instance.run.mode = Mode::Step,
        Interface::ModelExchange => exchange::start(instance),
    }
    OK
}

#[cold]
fn wrong_start(instance: &Instance, fault: StartFault) -> Refusal {
    match fault {
        StartFault::Given(fault) => instance.wrong_given(fault),
        StartFault::Orientation { node, rotation, length } => Refusal::error(format!(
            "the quaternion that starts with {} has length {length}: set its four components so that it is 1",
            instance.name_of(Slot::NodeOrientation { node, rotation, component: 0 })
        )),
        StartFault::Joint { joint, error } => Refusal::error(format!(
            "the joint of {} starts open by {error} m or rad: set start positions and orientations of its nodes so that it is closed",
            instance.name_of(Slot::JointForce { joint, axis: 0 })
        )),
        StartFault::Stop { joint, coordinate, bound } => Refusal::error(format!(
            "the joint of {} starts at {coordinate} m or rad, beyond its limit {bound}: set start positions and orientations of its nodes within its limits, or allow_initial_penetration = true in the engine section of the model",
            instance.name_of(Slot::JointForce { joint, axis: 0 })
        )),
        StartFault::Penetration { contact, depth } => Refusal::error(format!(
            "{} is {}: the simulation would start {depth} m inside a surface; set start positions outside of it, or allow_initial_penetration = true in the engine section of the model",
            instance.name_of(Slot::ContactGap { contact }),
            -depth
        )),
    }
}

/// Step, event or continuous-time mode to terminated.
pub fn terminate(instance: &mut Instance) -> Answer {
    instance.run.mode = Mode::Terminated;
    OK
}

/// Any mode to instantiated, with everything as after fmi2Instantiate except the logging settings.
pub fn reset(instance: &mut Instance) -> Answer {
    instance.run.state.clone_from(&instance.initial);
    State::clone_from(&mut instance.run.before, &instance.initial);
    instance.run.sampling = instance.run.sampling.map(|_| Sampling::new());
    if let Some(events) = &mut instance.run.events {
        events.clear();
    }
    instance.run.mode = Mode::Instantiated;
    OK
}
