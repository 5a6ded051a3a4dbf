//! All tests of the C interface in one program, but for those that count allocations and those of threads, which a
//! sanitizer runs too.

mod common;

mod access;
mod coupling;
mod directional_derivatives;
mod do_step;
mod exchange;
mod fmi3;
mod fmu_state;
mod guard;
mod input_derivatives;
mod instantiate;
mod lifecycle;
mod logging;
mod rigid_body;
mod time;
