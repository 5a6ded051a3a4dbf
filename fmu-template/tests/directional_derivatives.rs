//! Directional derivatives against central differences taken through the interface.

use crate::common::*;
use contact_fmu::variables::{Causality, Kind, Variability};

fn real_outputs(fmu: &Fmu) -> Vec<u32> {
    with(fmu, |causality, _| causality == Causality::Output)
}

fn tunable(fmu: &Fmu) -> Vec<u32> {
    with(fmu, |causality, variability| {
        causality == Causality::Input
            || (causality == Causality::Parameter && variability == Variability::Tunable)
    })
}

fn with(fmu: &Fmu, wanted: impl Fn(Causality, Variability) -> bool) -> Vec<u32> {
    (0..fmu.variables.len() as u32)
        .filter(|&reference| {
            let variable = &fmu.variables[reference as usize];
            matches!(variable.kind, Kind::Real(_)) && wanted(variable.causality, variable.variability)
        })
        .collect()
}

/// Outputs after a step from `state`, with one input or parameter moved.
fn outputs_after(
    slave: &Slave,
    state: fmi2FMUstate,
    known: u32,
    change: f64,
    point: f64,
    step: f64,
) -> Vec<f64> {
    assert_eq!(slave.restore(state), fmi2OK);
    let value = slave.get_references(&[known]).1[0];
    assert_eq!(slave.set_references(&[known], &[value + change]), fmi2OK);
    assert_eq!(slave.step(point, step), fmi2OK);
    slave.get_references(&real_outputs(slave.fmu)).1
}

/// Compares the derivatives of all outputs of one step with respect to everything tunable.
fn compare(slave: &Slave, point: f64, step: f64) {
    const CHANGE: f64 = 1e-6;
    let outputs = real_outputs(slave.fmu);
    let state = slave.save();
    for known in tunable(slave.fmu) {
        let ahead = outputs_after(slave, state, known, CHANGE, point, step);
        let behind = outputs_after(slave, state, known, -CHANGE, point, step);
        assert_eq!(slave.restore(state), fmi2OK);
        assert_eq!(slave.step(point, step), fmi2OK);
        let (status, derivatives) = slave.directional(&outputs, &[known], &[1.0]);
        assert_eq!(status, fmi2OK);
        for (index, derivative) in derivatives.into_iter().enumerate() {
            let difference = (ahead[index] - behind[index]) / (2.0 * CHANGE);
            let name = |reference: u32| &slave.fmu.variables[reference as usize].name;
            assert!(
                (derivative - difference).abs() < 1e-5 * (1.0 + difference.abs()),
                "d {} / d {}: {derivative}, by differences {difference}",
                name(outputs[index]),
                name(known)
            );
        }
    }
    slave.free_state(state);
}

#[test]
fn in_flight() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::initializing(&fmu);
    assert_eq!(slave.set("ball.v[1]", 0.7), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.step(0.0, 0.1), fmi2OK);
    compare(&slave, 0.1, 0.1);
    let position = fmu.reference("ball.r[3]");
    let velocity = fmu.reference("ball.v[3]");
    let (status, exact) = slave.directional(&[position, velocity], &[fmu.reference("ball.f_ext[3]")], &[3.0]);
    assert_eq!(status, fmi2OK);
    assert!((exact[0] - 3.0 * 0.1 * 0.1 / 2.0 / 2.0).abs() < 1e-12);
    assert!((exact[1] - 3.0 * 0.1 / 2.0).abs() < 1e-12);
}

#[test]
fn sliding_on_the_floor() {
    let mut model = bouncing_ball();
    model.nodes[0].position[2] = 0.2;
    model.nodes[0].velocity = [1.0, -0.5, 0.0];
    let fmu = Fmu::new(&model);
    let slave = Slave::started(&fmu);
    slave.steps(0..5, 1e-3);
    compare(&slave, 5e-3, 1e-3);
    compare(&slave, 6e-3, 1e-2);
}

#[test]
fn held_by_friction() {
    let mut model = bouncing_ball();
    model.nodes[0].position[2] = 0.2;
    let fmu = Fmu::new(&model);
    let slave = Slave::initializing(&fmu);
    assert_eq!(slave.set("ball.f_ext[1]", 2.0), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    slave.steps(0..5, 1e-3);
    compare(&slave, 5e-3, 1e-3);
}

#[test]
fn of_bodies_that_the_master_moves() {
    for model in [coupled_ball(), all_couplings()] {
        let fmu = Fmu::new(&model);
        let slave = Slave::started(&fmu);
        compare(&slave, 0.0, 1e-3);
    }
}

#[test]
fn of_a_ball_that_the_master_lets_fall() {
    let fmu = Fmu::new(&coupled_ball());
    let slave = Slave::started(&fmu);
    let height = slave.get("ball.r[3]");
    for step in 0..6 {
        let time = 1e-3 * f64::from(step);
        assert_eq!(slave.set("ball.r[3]", height - 5.0 * time * time), fmi2OK);
        assert_eq!(slave.set("ball.v[3]", -10.0 * time), fmi2OK);
        compare(&slave, time, 1e-3);
    }
}

#[test]
fn of_a_ball_that_the_master_lets_fall_on_the_floor() {
    let fmu = Fmu::new(&coupled_ball());
    let slave = Slave::initializing(&fmu);
    assert_eq!(slave.set("ball.r[3]", 0.2 + 4e-3), fmi2OK);
    assert_eq!(slave.set("ball.v[3]", -4.0), fmi2OK);
    assert_eq!(slave.set("ball.v[1]", 3.0), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    compare(&slave, 0.0, 1e-3);
    assert_eq!(slave.set("ball.r[3]", 0.2 + 4e-4), fmi2OK);
    compare(&slave, 1e-3, 1e-3);
}

#[test]
fn several_directions_add_up() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    assert_eq!(slave.step(0.0, 0.1), fmi2OK);
    let outputs = real_outputs(&fmu);
    let [mass, force] = ["ball.mass", "ball.f_ext[3]"].map(|name| fmu.reference(name));
    let along_mass = slave.directional(&outputs, &[mass], &[1.0]).1;
    let along_force = slave.directional(&outputs, &[force], &[1.0]).1;
    let (status, both) = slave.directional(&outputs, &[force, mass, force], &[2.0, -3.0, 0.5]);
    assert_eq!(status, fmi2OK);
    for index in 0..outputs.len() {
        let sum = 2.5 * along_force[index] - 3.0 * along_mass[index];
        assert!((both[index] - sum).abs() < 1e-12 * (1.0 + sum.abs()));
    }
    assert_eq!(slave.directional(&outputs, &[], &[]), (fmi2OK, vec![0.0; outputs.len()]));
    assert_eq!(slave.directional(&[], &[mass], &[1.0]), (fmi2OK, vec![]));
}

#[test]
fn what_is_set_after_a_step_does_not_count() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    assert_eq!(slave.set("ball.f_ext[1]", 1.0), fmi2OK);
    assert_eq!(slave.step(0.0, 0.1), fmi2OK);
    let (outputs, knowns) = (real_outputs(&fmu), [fmu.reference("ball.mass")]);
    let derivatives = slave.directional(&outputs, &knowns, &[1.0]);
    assert_eq!(slave.set("ball.f_ext[1]", -5.0), fmi2OK);
    assert_eq!(slave.set("ball.mass", 7.0), fmi2OK);
    assert_eq!(slave.set_input_derivative("ball.f_ext[1]", 1, 9.0), fmi2OK);
    assert_eq!(slave.directional(&outputs, &knowns, &[1.0]), derivatives);
    let state = slave.save();
    assert_eq!(slave.step(0.1, 0.1), fmi2OK);
    assert_ne!(slave.directional(&outputs, &knowns, &[1.0]), derivatives);
    assert_eq!(slave.restore(state), fmi2OK);
    assert_eq!(slave.directional(&outputs, &knowns, &[1.0]), derivatives);
    slave.free_state(state);
    assert_eq!(slave.terminate(), fmi2OK);
    assert_eq!(slave.directional(&outputs, &knowns, &[1.0]), derivatives);
}

#[test]
fn start_values_are_known_in_initialization_mode_only() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::initializing(&fmu);
    let (gap, energy) = (fmu.reference("ball_floor.gap"), fmu.reference("engine.energy"));
    let (height, mass) = (fmu.reference("ball.r[3]"), fmu.reference("ball.mass"));
    let expect = |known, seed, exact: [f64; 2]| {
        let (status, derivatives) = slave.directional(&[gap, energy], &[known], &[seed]);
        assert_eq!(status, fmi2OK);
        for (derivative, exact) in derivatives.into_iter().zip(exact) {
            assert!((derivative - exact).abs() < 1e-12, "{derivative} {exact}");
        }
    };
    expect(height, 2.0, [2.0, 2.0 * 20.0]);
    expect(mass, 1.0, [0.0, 10.01]);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    expect(mass, 1.0, [0.0, 10.01]);
    assert_eq!(slave.directional(&[gap], &[height], &[1.0]).0, fmi2Error);
    slave.expect_log(fmi2Error, &["ball.r[3]", "is not an input or tunable parameter"]);
}

#[test]
fn wrong_variables_and_values_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    assert_eq!(slave.step(0.0, 1e-3), fmi2OK);
    for (unknown, known, seed, status, reason) in [
        ("ball.mass", "ball.f_ext[1]", 1.0, fmi2Error, "ball.mass"),
        ("time", "ball.f_ext[1]", 1.0, fmi2Error, "is not an output"),
        ("engine.substeps", "ball.f_ext[1]", 1.0, fmi2Error, "is Integer"),
        ("ball.r[1]", "engine.step", 1.0, fmi2Error, "engine.step"),
        ("ball.r[1]", "ball.v[1]", 1.0, fmi2Error, "ball.v[1]"),
        ("ball.r[1]", "ball.f_ext[1]", f64::NAN, fmi2Discard, "NaN"),
        ("ball.r[1]", "ball.f_ext[1]", f64::INFINITY, fmi2Discard, "inf"),
    ] {
        let answer = slave.directional(&[fmu.reference(unknown)], &[fmu.reference(known)], &[seed]).0;
        assert_eq!(answer, status, "d {unknown} / d {known}");
        slave.expect_log(status, &[reason]);
    }
    assert_eq!(slave.directional(&[9999], &[0], &[1.0]).0, fmi2Error);
    slave.expect_log(fmi2Error, &["value reference 9999"]);
}
