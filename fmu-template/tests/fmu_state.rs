//! Saved states: bit-identical continuation, also in another process; every kind of wrong bytes.

use crate::common::*;
use std::ptr::{null_mut, without_provenance_mut};

const STEP: f64 = 1e-3;

#[test]
fn a_restored_run_continues_bit_by_bit() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    for at in [0, 1, 399, 400, 401, 402, 1500, 3500] {
        assert_eq!(slave.reset(), fmi2OK);
        slave.set_up(0.0);
        assert_eq!(slave.exit_initialization(), fmi2OK);
        slave.steps(0..at, STEP);
        assert_eq!(slave.set("ball.f_ext[1]", 0.3), fmi2OK);
        assert_eq!(slave.set_input_derivative("ball.f_ext[1]", 1, 5.0), fmi2OK);
        let state = slave.save();
        let bytes = slave.serialize(state);
        let saved = slave.bits();

        slave.steps(at..at + 200, STEP);
        let straight = slave.bits();
        assert_eq!(slave.set("ball.mass", 3.0), fmi2OK);
        slave.steps(at + 200..at + 250, STEP);

        assert_eq!(slave.restore(state), fmi2OK);
        assert_eq!(slave.bits(), saved);
        slave.steps(at..at + 200, STEP);
        assert_eq!(slave.bits(), straight, "restored at {at}");

        let other = Slave::instantiated(&fmu);
        other.restore_bytes(&bytes);
        assert_eq!(other.bits(), saved);
        other.steps(at..at + 200, STEP);
        assert_eq!(other.bits(), straight, "through bytes at {at}");
        slave.free_state(state);
    }
}

#[test]
fn the_mode_is_saved() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::initializing(&fmu);
    let initializing = slave.save();
    assert_eq!(slave.exit_initialization(), fmi2OK);
    let started = slave.save();
    assert_eq!(slave.terminate(), fmi2OK);
    assert_eq!(slave.restore(started), fmi2OK);
    assert_eq!(slave.step(0.0, STEP), fmi2OK);
    assert_eq!(slave.restore(initializing), fmi2OK);
    assert_eq!(slave.step(0.0, STEP), fmi2Error);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    slave.fail();
    assert_eq!(slave.step(0.0, STEP), fmi2Error);
    assert_eq!(slave.restore(started), fmi2OK);
    assert_eq!(slave.step(0.0, STEP), fmi2OK);
    slave.free_state(initializing);
    slave.free_state(started);
}

#[test]
fn a_given_state_is_overwritten() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let mut state = slave.save();
    let address = state;
    slave.steps(0..10, STEP);
    // SAFETY: a live instance and a saved state.
    assert_eq!(unsafe { fmi2GetFMUstate(slave.component, &mut state) }, fmi2OK);
    assert_eq!(state, address);
    let bits = slave.bits();
    slave.steps(10..20, STEP);
    assert_eq!(slave.restore(state), fmi2OK);
    assert_eq!(slave.bits(), bits);
    slave.free_state(state);
}

#[test]
fn wrong_pointers_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let c = slave.component;
    let mut zeros = [0u64; 512];
    let mut foreign: fmi2FMUstate = zeros.as_mut_ptr().cast();
    let mut misaligned: fmi2FMUstate = without_provenance_mut(3);
    let before = slave.saved_bytes();
    // SAFETY: null, or readable memory, or refused before it is read.
    unsafe {
        assert_eq!(fmi2SetFMUstate(c, null_mut()), fmi2Error);
        slave.expect_log(fmi2Error, &["FMUstate is NULL"]);
        assert_eq!(fmi2GetFMUstate(c, null_mut()), fmi2Error);
        slave.expect_log(fmi2Error, &["FMUstate is NULL"]);
        for state in [&mut foreign, &mut misaligned] {
            assert_eq!(fmi2SetFMUstate(c, *state), fmi2Error);
            slave.expect_log(fmi2Error, &["is not a saved state"]);
            assert_eq!(fmi2GetFMUstate(c, state), fmi2Error);
            slave.expect_log(fmi2Error, &["is not a saved state"]);
            assert_eq!(fmi2FreeFMUstate(c, state), fmi2Error);
            slave.expect_log(fmi2Error, &["is not a saved state"]);
            assert_eq!(fmi2SerializedFMUstateSize(c, *state, &mut 0), fmi2Error);
            slave.expect_log(fmi2Error, &["is not a saved state"]);
        }
        assert_eq!(fmi2FreeFMUstate(c, null_mut()), fmi2OK);
        assert_eq!(fmi2FreeFMUstate(c, &mut null_mut()), fmi2OK);
    }
    assert_eq!(slave.saved_bytes(), before);
}

#[test]
fn wrong_sizes_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let state = slave.save();
    let size = slave.serialize(state).len();
    let mut bytes = vec![0u8; size + 1];
    for wrong in [0, size - 1, size + 1] {
        // SAFETY: room for one byte more than a state takes.
        let status =
            unsafe { fmi2SerializeFMUstate(slave.component, state, bytes.as_mut_ptr().cast(), wrong) };
        assert_eq!(status, fmi2Error);
        slave.expect_log(fmi2Error, &[&format!("size is {wrong}"), &size.to_string()]);
    }
    // SAFETY: null is refused.
    let status = unsafe { fmi2SerializeFMUstate(slave.component, state, null_mut(), size) };
    assert_eq!(status, fmi2Error);
    slave.expect_log(fmi2Error, &["serializedState is NULL"]);
    slave.free_state(state);
}

#[test]
fn every_damaged_byte_and_every_truncation_is_noticed() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..450, STEP);
    let bytes = slave.saved_bytes();
    let refused = |bytes: &[u8], what: &str| {
        let (status, state) = slave.deserialize(bytes);
        assert_eq!(status, fmi2Error, "{what}");
        assert!(state.is_null());
        slave.expect_log(fmi2Error, &["fmi2DeSerializeFMUstate"]);
    };
    for index in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[index] ^= 0x10;
        refused(&damaged, &format!("byte {index} is damaged"));
        refused(&bytes[..index], &format!("cut to {index} bytes"));
    }
    refused(&[&bytes[..], &[0]].concat(), "one byte more");
    assert_eq!(slave.saved_bytes(), bytes);
    slave.restore_bytes(&bytes);
}

#[test]
fn the_state_of_another_model_is_refused() {
    const OTHER: &str = "{ffffffff-89ab-cdef-0123-456789abcdef}";
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let mut twin = bouncing_ball();
    twin.nodes.push(twin.nodes[0].clone());
    twin.nodes[1].name = "twin".to_owned();
    let other_fmu = Fmu::with_guid(&twin, OTHER);
    let other = Slave::with_logging(&other_fmu, OTHER, false);
    let state = other.save();
    assert_eq!(slave.restore(state), fmi2Error);
    slave.expect_log(fmi2Error, &[OTHER, GUID]);
    assert_eq!(slave.deserialize(&other.serialize(state)).0, fmi2Error);
    slave.expect_log(fmi2Error, &[OTHER, GUID]);
    other.free_state(state);
    assert_eq!(slave.step(0.0, STEP), fmi2OK);
}

#[test]
fn another_format_version_is_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let mut bytes = slave.saved_bytes();
    bytes[8] = 99;
    assert_eq!(slave.deserialize(&bytes).0, fmi2Error);
    slave.expect_log(fmi2Error, &["version 99"]);
}

const STATE_FILE: &str = "CONTACT_FMU_TEST_STATE";

#[test]
fn bytes_are_valid_in_another_process() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    slave.steps(0..450, STEP);
    let file = fmu.folder.path().join("state.bin");
    std::fs::write(&file, slave.saved_bytes()).unwrap();
    slave.steps(450..900, STEP);
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fmu_state::continue_from_file", "--ignored"])
        .env(STATE_FILE, &file)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert_eq!(std::fs::read(file).unwrap(), slave.saved_bytes());
}

/// The other process: continues the state in a file and writes it back.
#[test]
#[ignore = "run by bytes_are_valid_in_another_process"]
fn continue_from_file() {
    let file = std::env::var_os(STATE_FILE).unwrap();
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::instantiated(&fmu);
    slave.restore_bytes(&std::fs::read(&file).unwrap());
    slave.steps(450..900, STEP);
    std::fs::write(file, slave.saved_bytes()).unwrap();
}
