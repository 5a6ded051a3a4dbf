//! Null, foreign and freed instances.

use crate::common::*;
use std::ptr::{null_mut, without_provenance_mut};

#[test]
fn null_and_foreign_instances_are_errors() {
    let mut zeros = [0u64; 4096];
    for component in [null_mut(), without_provenance_mut(5), zeros.as_mut_ptr().cast()] {
        // SAFETY: null, refused before it is read, or readable memory.
        unsafe {
            assert_eq!(fmi2DoStep(component, 0.0, 1.0, 1), fmi2Error);
            assert_eq!(fmi2GetReal(component, &0, 1, &mut 0.0), fmi2Error);
            assert_eq!(fmi2Reset(component), fmi2Error);
            assert_eq!(fmi2SetTime(component, 0.0), fmi2Error);
            assert_eq!(fmi2EnterEventMode(component), fmi2Error);
            assert_eq!(fmi2NewDiscreteStates(component, null_mut()), fmi2Error);
            assert_eq!(fmi2EnterContinuousTimeMode(component), fmi2Error);
            assert_eq!(fmi2CompletedIntegratorStep(component, 1, &mut 0, &mut 0), fmi2Error);
            assert_eq!(fmi2GetDerivatives(component, null_mut(), 0), fmi2Error);
            assert_eq!(fmi2FreeFMUstate(component, &mut null_mut()), fmi2Error);
            fmi2FreeInstance(component);
        }
    }
    assert!(zeros.iter().all(|&word| word == 0));
}

#[test]
fn an_instance_can_be_freed_in_every_mode() {
    let fmu = Fmu::new(&bouncing_ball());
    drop(Slave::instantiated(&fmu));
    drop(Slave::initializing(&fmu));
    drop(Slave::started(&fmu));
    drop(Slave::block_at_event(&fmu));
    drop(Slave::block_started(&fmu));
    let slave = Slave::started(&fmu);
    assert_eq!(slave.terminate(), fmi2OK);
    drop(slave);
    let slave = Slave::started(&fmu);
    slave.fail();
    drop(slave);
}
