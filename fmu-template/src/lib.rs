//! What the libraries packed into FMUs are made of: the C interfaces of FMI 2.0 and 3.0 for co-simulation and model exchange
//! over the contact engine.
//!
//! Every function is one line in [`fmi2`] or [`fmi3`]; the libraries `fmi2` and `fmi3` export those of one version each.
//! Those that work on an instance go through `guard`, which turns wrong pointers, wrong modes and panics into fmi2Error;
//! the table of modes is in `lifecycle`.
//! Nothing here knows physics: values are read and written through the variable table.
//!
//! Statuses: fmi2Error for a call that is wrong (its arguments, its time), fmi2Discard for a right call whose
//! values cannot be used, fmi2Warning for a step that was made less exactly than asked. Each comes with a log
//! line. After fmi2Error and fmi2Discard the instance is as before the call, except after an internal error
//! (a panic): then it is failed and can only be read, reset, restored or freed. fmi2DoStep has its own
//! table in `do_step`; what model exchange means here is in `exchange`, what events are in `events`.
//! Statuses of FMI 3.0 have the same numbers and meanings.

pub mod abi;
pub mod abi3;
mod access;
mod access3;
mod arguments;
mod coupling_log;
mod derivatives;
mod derivatives3;
mod do_step;
mod do_step3;
mod events;
mod exchange;
pub mod fmi2;
pub mod fmi3;
mod fmu_state;
mod guard;
mod held_force_log;
mod instance;
mod lifecycle;
mod logger;
pub mod memory;
mod repeat_log;
mod resources;
mod status;

pub use fmi2::*;
pub use fmi3::*;
