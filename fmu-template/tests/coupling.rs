//! Bodies that the master moves, through the C functions: variables, start, wrong motion, saved states.

use crate::common::*;
use contact_fmu::engine::derivative::Past;
use contact_fmu::engine::{Dual, Workspace, couple_initially, take_given_motion};
use contact_fmu::model::Model;
use contact_fmu::variables::{self, Causality, Kind, Slot, Variability};

const STEP: f64 = 1e-3;

/// Names of the variables of a body without their indices, each once, with causality, variability and unit.
fn variables_of(fmu: &Fmu, body: &str) -> Vec<(String, Causality, Variability, &'static str)> {
    let mut found: Vec<_> = fmu
        .variables
        .iter()
        .filter_map(|variable| {
            let (owner, name) = variable.name.split_once('.')?;
            let unit = match variable.kind {
                Kind::Real(unit) => unit.name(),
                Kind::Integer => "integer",
                Kind::Clock => "clock",
            };
            let name = name.split('[').next().unwrap_or_default().to_owned();
            (owner == body).then_some((name, variable.causality, variable.variability, unit))
        })
        .collect();
    found.dedup();
    found
}

fn expect_variables(
    fmu: &Fmu,
    body: &str,
    inputs: &[(&str, &str)],
    outputs: &[(&str, &str)],
    tunable: &[(&str, &str)],
) {
    let mut expected: Vec<_> = Vec::new();
    expected
        .extend(inputs.iter().map(|&(name, unit)| (name, Causality::Input, Variability::Continuous, unit)));
    expected.extend(outputs.iter().map(|&(name, unit)| {
        let is_continuous = name.starts_with("contact_");
        let variability = if is_continuous { Variability::Continuous } else { Variability::Discrete };
        (name, Causality::Output, variability, unit)
    }));
    expected
        .extend(tunable.iter().map(|&(name, unit)| (name, Causality::Parameter, Variability::Tunable, unit)));
    let found = variables_of(fmu, body);
    for (name, causality, variability, unit) in &expected {
        assert!(
            found.iter().any(|found| (found.0.as_str(), found.1, found.2, found.3)
                == (*name, *causality, *variability, *unit)),
            "{body}.{name} is not in {found:?}"
        );
    }
    assert_eq!(found.len(), expected.len(), "{body}: {found:?}");
}

const POINT: [(&str, &str); 2] = [("r", "m"), ("v", "m/s")];
const RIGID: [(&str, &str); 4] = [("r", "m"), ("v", "m/s"), ("q", "1"), ("w", "rad/s")];
const DIAGNOSIS: [(&str, &str); 5] = [
    ("latency", "integer"),
    ("adapted_mass", "kg"),
    ("energy_excess", "J"),
    ("response_error", "1"),
    ("shaping", "integer"),
];
const MASS: [(&str, &str); 1] = [("mass", "kg")];

#[test]
fn every_kind_of_body_has_its_variables() {
    let fmu = Fmu::new(&all_couplings());
    let (force, torque, external, turning) = (("f", "N"), ("t", "N.m"), ("f_ext", "N"), ("t_ext", "N.m"));
    let list = |lists: &[&[(&'static str, &'static str)]]| lists.concat();
    expect_variables(&fmu, "ball", &list(&[&POINT, &[external]]), &list(&[&[force], &DIAGNOSIS]), &MASS);
    expect_variables(
        &fmu,
        "top",
        &list(&[&RIGID, &[external, turning]]),
        &list(&[&[force, torque], &DIAGNOSIS]),
        &MASS,
    );
    expect_variables(
        &fmu,
        "again",
        &list(&[&RIGID, &[external, turning, ("f_applied", "N"), ("t_applied", "N.m")]]),
        &[force, torque],
        &MASS,
    );
    expect_variables(
        &fmu,
        "tip",
        &list(&[&POINT, &[external]]),
        &list(&[&[force], &DIAGNOSIS, &[("contact_r", "m"), ("contact_v", "m/s")]]),
        &MASS,
    );
    expect_variables(&fmu, "table", &RIGID, &list(&[&[force, torque], &DIAGNOSIS]), &MASS);
    expect_variables(&fmu, "wall", &RIGID, &[force, torque], &[]);
    assert!(variables_of(&fmu, "floor").is_empty(), "fixed");
    let start = |name: &str| fmu.variables[fmu.reference(name) as usize].start;
    assert_eq!(start("ball.r[3]"), Some(1.001));
    assert_eq!(start("top.q[3]"), Some(0.6));
    assert_eq!(start("top.w[2]"), Some(0.2));
    assert_eq!(start("table.r[3]"), Some(0.3));
    assert_eq!(start("table.v[3]"), Some(0.5));
    assert_eq!(start("table.mass"), Some(5.0));
    assert_eq!(start("again.f_applied[1]"), Some(0.0));
    assert_eq!(start("ball.f[1]"), None);
}

#[test]
fn what_is_given_reads_back_in_every_mode() {
    let fmu = Fmu::new(&all_couplings());
    let slave = Slave::instantiated(&fmu);
    let inputs: Vec<u32> = (0..fmu.variables.len() as u32)
        .filter(|&reference| {
            let slot = fmu.variables[reference as usize].slot;
            let is_pose = matches!(slot, Slot::GivenPosition { .. } | Slot::GivenOrientation { .. });
            fmu.variables[reference as usize].causality == Causality::Input && !is_pose
        })
        .collect();
    let values =
        |shift: f64| -> Vec<f64> { inputs.iter().map(|&input| shift + 1e-3 * f64::from(input)).collect() };
    assert_eq!(slave.set_references(&inputs, &values(0.0)), fmi2OK);
    slave.set_up(0.0);
    assert_eq!(slave.get_references(&inputs), (fmi2OK, values(0.0)));
    assert_eq!(slave.set_references(&inputs, &values(0.5)), fmi2OK);
    assert_eq!(slave.get_references(&inputs), (fmi2OK, values(0.5)));
    assert_eq!(slave.exit_initialization(), fmi2OK);
    assert_eq!(slave.get_references(&inputs), (fmi2OK, values(0.5)));
    assert_eq!(slave.set_references(&inputs, &values(0.1)), fmi2OK);
    assert_eq!(slave.step(0.0, STEP), fmi2OK);
    assert_eq!(slave.get_references(&inputs), (fmi2OK, values(0.1)));
    assert_eq!(slave.reset(), fmi2OK);
    slave.set_up(0.0);
    assert_eq!((slave.get("ball.v[3]"), slave.get("table.v[3]")), (0.0, 0.5));
}

#[test]
fn outputs_follow_the_given_motion_in_initialization_mode() {
    let fmu = Fmu::new(&all_couplings());
    let slave = Slave::initializing(&fmu);
    let expect = |name: &str, value: f64| {
        assert!((slave.get(name) - value).abs() < 1e-14, "{name} is {}", slave.get(name));
    };
    expect("ball_floor.gap", 0.801);
    expect("ball_table.gap", 0.501);
    assert_eq!(slave.set("ball.r[3]", 2.0), fmi2OK);
    expect("ball_floor.gap", 1.8);
    assert_eq!(slave.set("table.r[3]", 1.0), fmi2OK);
    expect("ball_table.gap", 0.8);
    // The table turns by 60 degrees about y: its normal is (sin 60, 0, cos 60).
    let (sin, cos) = 30.0_f64.to_radians().sin_cos();
    assert_eq!(slave.set("table.q[1]", 1.05 * cos), fmi2OK);
    assert_eq!(slave.set("table.q[3]", 1.05 * sin), fmi2OK);
    expect("ball_table.gap", 0.5 - 0.2);
    assert_eq!(slave.set("wall.r[1]", -3.0), fmi2OK);
    expect("tip_wall.gap", 2.8);
    assert_eq!(slave.set("tip.r[1]", 0.5), fmi2OK);
    expect("tip.contact_r[1]", 0.5);
    expect("tip_wall.gap", 3.3);
    assert_eq!(slave.set("top.r[3]", 3.0), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    expect("ball_table.gap", 0.5 - 0.2);
    expect("tip_wall.gap", 3.3);
}

#[test]
fn the_first_forces_are_those_of_the_engine() {
    let mut model = all_couplings();
    model.experiment.step = 2e-3;
    let (system, mut state) = model.assemble();
    state.couplings[0].given.position[2] = 0.6;
    state.couplings[0].given.velocity[2] = -60.0;
    take_given_motion(&system, &mut state);
    couple_initially(&system, &mut state, 2e-3);
    let fmu = Fmu::new(&model);
    let slave = Slave::initializing(&fmu);
    assert_eq!(slave.set("ball.r[3]", 0.6), fmi2OK);
    assert_eq!(slave.set("ball.v[3]", -60.0), fmi2OK);
    let expect = |state| {
        for (reference, variable) in fmu.variables.iter().enumerate() {
            if let Slot::CouplingForce { .. } | Slot::CouplingTorque { .. } = variable.slot {
                let value = slave.get_references(&[reference as u32]).1[0];
                assert_eq!(value, variables::get_real(variable.slot, &system, state), "{}", variable.name);
            }
        }
    };
    expect(&state);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    expect(&state);
}

#[test]
fn quaternions_are_scaled_by_the_step() {
    let fmu = Fmu::new(&all_couplings());
    let values_after = |scale: f64| {
        let slave = Slave::started(&fmu);
        assert_eq!(slave.set("top.q[1]", 0.8 * scale), fmi2OK);
        assert_eq!(slave.set("top.q[3]", 0.6 * scale), fmi2OK);
        assert_eq!(slave.get("top.q[1]"), 0.8 * scale);
        assert_eq!(slave.step(0.0, STEP), fmi2OK);
        assert!((slave.get("top.q[1]") - 0.8).abs() < 1e-15);
        slave.get_references(&fmu.reals()).1
    };
    let straight = values_after(1.0);
    for scale in [1.09, 0.91, 1.0 + 1e-12] {
        for (value, straight) in values_after(scale).into_iter().zip(&straight) {
            assert!((value - straight).abs() < 1e-9 * (1.0 + straight.abs()), "{value} {straight}");
        }
    }
}

#[test]
fn quaternions_that_are_no_rotation_are_refused_by_name() {
    let fmu = Fmu::new(&all_couplings());
    for (body, [w, y], length) in [
        ("top", [0.0, 0.0], "length 0:"),
        ("table", [0.7, 0.0], "length 0.7:"),
        ("wall", [3.0, 4.0], "length 5:"),
    ] {
        let given = format!("({w}, 0, {y}, 0)");
        let name = format!("{body}.q[1]");
        let set = |slave: &Slave| {
            assert_eq!(slave.set(&name, w), fmi2OK);
            assert_eq!(slave.set(&format!("{body}.q[3]"), y), fmi2OK);
        };
        let slave = Slave::initializing(&fmu);
        set(&slave);
        let before = slave.saved_bytes();
        let (status, _) = slave.get_references(&[fmu.reference("ball.f[1]")]);
        assert_eq!(status, fmi2Error);
        slave.expect_log(fmi2Error, &["fmi2GetReal", &name, &given, length]);
        assert_eq!(slave.get(&name), w, "inputs can be read");
        assert_eq!(
            slave.directional(&[fmu.reference("ball.f[1]")], &[fmu.reference(&name)], &[1.0]).0,
            fmi2Error
        );
        slave.expect_log(fmi2Error, &["fmi2GetDirectionalDerivative", &name]);
        assert_eq!(slave.exit_initialization(), fmi2Error);
        slave.expect_log(fmi2Error, &["fmi2ExitInitializationMode", &name, &given, length]);
        assert_eq!(slave.saved_bytes(), before);
        let slave = Slave::started(&fmu);
        assert_eq!(slave.step(0.0, STEP), fmi2OK);
        let saved = slave.save();
        assert_eq!(slave.step(STEP, STEP), fmi2OK);
        let straight = slave.bits();
        assert_eq!(slave.restore(saved), fmi2OK);
        let right = ["q[1]", "q[3]"].map(|q| (format!("{body}.{q}"), slave.get(&format!("{body}.{q}"))));
        set(&slave);
        let before = slave.saved_bytes();
        assert_eq!(slave.step(STEP, STEP), fmi2Error);
        slave.expect_log(fmi2Error, &["fmi2DoStep", &name, &given, length]);
        assert_eq!(slave.saved_bytes(), before);
        for (name, value) in right {
            assert_eq!(slave.set(&name, value), fmi2OK);
        }
        assert_eq!(slave.step(STEP, STEP), fmi2OK);
        assert_eq!(slave.bits(), straight);
        slave.free_state(saved);
    }
}

#[test]
fn values_that_are_not_finite_are_discarded() {
    let fmu = Fmu::new(&all_couplings());
    let slave = Slave::started(&fmu);
    for name in ["ball.r[1]", "top.q[2]", "table.w[3]", "again.f_applied[1]"] {
        let before = slave.get(name);
        assert_eq!(slave.set(name, f64::NAN), fmi2Discard);
        slave.expect_log(fmi2Discard, &[name, "NaN"]);
        assert_eq!(slave.get(name), before);
    }
}

#[test]
fn a_start_inside_a_surface_is_refused_unless_allowed() {
    let mut model = coupled_ball();
    for allowed in [false, true] {
        model.engine.allow_initial_penetration = allowed;
        let fmu = Fmu::new(&model);
        let slave = Slave::initializing(&fmu);
        assert_eq!(slave.set("ball.r[3]", 0.15), fmi2OK);
        assert!((slave.get("ball_floor.gap") + 0.05).abs() < 1e-15);
        if allowed {
            assert_eq!(slave.exit_initialization(), fmi2OK);
        } else {
            assert_eq!(slave.exit_initialization(), fmi2Error);
            slave.expect_log(fmi2Error, &["ball_floor.gap", "0.05", "inside a surface"]);
            assert_eq!(slave.set("ball.r[3]", 0.2), fmi2OK);
            assert_eq!(slave.exit_initialization(), fmi2OK);
        }
        assert_eq!(slave.step(0.0, STEP), fmi2OK);
    }
}

/// A master that lets the bodies fly as the model says, with the forces that the FMU gives.
struct Master {
    height: f64,
    speed: f64,
}

impl Master {
    fn new() -> Master {
        Master { height: 0.21, speed: -3.0 }
    }

    fn step(&mut self, slave: &Slave, k: u32) {
        assert_eq!(slave.set("ball.r[3]", self.height), fmi2OK);
        assert_eq!(slave.set("ball.v[3]", self.speed), fmi2OK);
        // Bounces may pile up, which is told.
        let status = slave.step(f64::from(k) * STEP, STEP);
        assert!(matches!(status, fmi2OK | fmi2Warning), "{status:?} {:?}", slave.log());
        let acceleration = slave.get("ball.f[3]") / 2.0 - 10.0;
        self.height += STEP * (self.speed + 0.5 * STEP * acceleration);
        self.speed += STEP * acceleration;
    }
}

fn started(fmu: &Fmu) -> Slave<'_> {
    let slave = Slave::initializing(fmu);
    assert_eq!(slave.set("ball.r[3]", 0.21), fmi2OK);
    assert_eq!(slave.set("ball.v[3]", -3.0), fmi2OK);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    slave
}

#[test]
fn a_restored_run_continues_bit_by_bit() {
    for model in [coupled_ball(), on_the_floor(all_couplings())] {
        let fmu = Fmu::new(&model);
        for at in [0, 1, 3, 20] {
            let slave = started(&fmu);
            let mut master = Master::new();
            for k in 0..at {
                master.step(&slave, k);
            }
            assert_eq!(slave.set("ball.r[1]", 0.125), fmi2OK);
            let (state, bytes, saved) = (slave.save(), slave.saved_bytes(), slave.bits());
            let (height, speed) = (master.height, master.speed);
            let run = |slave: &Slave| {
                let mut master = Master { height, speed };
                for k in at..at + 30 {
                    master.step(slave, k);
                }
                slave.bits()
            };
            let straight = run(&slave);
            assert_ne!(straight, saved);
            assert_eq!(slave.restore(state), fmi2OK);
            assert_eq!(slave.bits(), saved);
            assert_eq!(run(&slave), straight, "restored at {at}");
            let other = Slave::instantiated(&fmu);
            other.restore_bytes(&bytes);
            assert_eq!(other.bits(), saved);
            assert_eq!(run(&other), straight, "through bytes at {at}");
            slave.free_state(state);
        }
    }
}

/// The table is out of the way of the ball.
fn on_the_floor(mut model: Model) -> Model {
    model.surfaces[1].position[2] = -1.0;
    model
}

#[test]
fn states_of_models_with_other_couplings_are_refused() {
    let fmu = Fmu::new(&coupled_ball());
    let bytes = Slave::started(&fmu).saved_bytes();
    let other = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&other);
    assert_eq!(slave.deserialize(&bytes).0, fmi2Error);
}

#[test]
fn derivatives_of_given_motion_have_no_effect() {
    let fmu = Fmu::new(&all_couplings());
    let inputs =
        ["ball.r[3]", "ball.v[1]", "top.q[2]", "table.w[1]", "again.f_applied[2]", "again.t_applied[3]"];
    let [plain, shaped] = [false, true].map(|given| {
        let slave = Slave::started(&fmu);
        for k in 0..5 {
            for name in inputs.into_iter().filter(|_| given) {
                for order in 1..=3 {
                    assert_eq!(slave.set_input_derivative(name, order, 1e3), fmi2OK);
                }
            }
            assert_eq!(slave.step(f64::from(k) * STEP, STEP), fmi2OK);
        }
        slave.bits()
    });
    assert_eq!(plain, shaped);
    let slave = Slave::started(&fmu);
    assert_eq!(slave.set_input_derivative("ball.r[3]", 4, 1.0), fmi2Error);
    slave.expect_log(fmi2Error, &["ball.r[3]", "order 4"]);
    assert_eq!(slave.set_input_derivative("ball.r[3]", 1, f64::INFINITY), fmi2Discard);
    slave.expect_log(fmi2Discard, &["ball.r[3]", "inf"]);
}

#[test]
fn derivatives_at_the_start_are_those_of_the_engine() {
    let model = all_couplings();
    let (system, state) = model.assemble();
    let fmu = Fmu::new(&model);
    let slave = Slave::initializing(&fmu);
    let outputs: Vec<u32> = (0..fmu.variables.len() as u32)
        .filter(|&reference| {
            let variable = &fmu.variables[reference as usize];
            matches!(variable.kind, Kind::Real(_)) && variable.causality == Causality::Output
        })
        .collect();
    let names = ["ball.r[3]", "top.q[1]", "table.q[2]", "table.v[3]", "ball.mass", "gravity[3]"];
    let expect = || {
        for name in names {
            let known = fmu.reference(name);
            let slot = fmu.variables[known as usize].slot;
            let mut exact = state.map(Dual::from);
            let mut value = variables::get_real(slot, &system, &exact);
            value.tangent = 1.0;
            assert!(variables::set_real(slot, &mut exact, value));
            let start = Past::Start(model.experiment.step);
            start.run(&system, &mut exact, &mut Workspace::new(&system)).unwrap();
            let (status, found) = slave.directional(&outputs, &[known], &[1.0]);
            assert_eq!(status, fmi2OK);
            for (&output, found) in outputs.iter().zip(found) {
                let variable = &fmu.variables[output as usize];
                let exact = variables::get_real(variable.slot, &system, &exact).tangent;
                assert_eq!(found, exact, "d {} / d {name}", variable.name);
            }
        }
        let along = |unknown: &str, known: &str| {
            slave.directional(&[fmu.reference(unknown)], &[fmu.reference(known)], &[1.0]).1[0]
        };
        assert_eq!(along("ball_floor.gap", "ball.r[3]"), 1.0);
        assert_eq!(along("ball_table.gap", "table.r[3]"), -1.0);
        assert_eq!(along("tip_wall.gap", "wall.r[1]"), -1.0);
        // Turning the table about y by the angle a lifts it by -x sin a: nothing at x = 0, and 2 q_y = a.
        assert_eq!(along("ball_table.gap", "table.q[1]"), 0.0, "a longer quaternion is the same rotation");
    };
    expect();
    assert_eq!(slave.exit_initialization(), fmi2OK);
    expect();
}

/// The first force is made for a step of the length that the parameter says: the same impulse in each.
#[test]
fn the_first_force_is_for_the_step_that_is_expected() {
    let fmu = Fmu::new(&coupled_ball());
    let impulses = [1e-3, 2e-3, 5e-3].map(|step| {
        let slave = Slave::initializing(&fmu);
        for (name, value) in [("engine.sample", step), ("ball.r[3]", 0.2005), ("ball.v[3]", -4.0)] {
            assert_eq!(slave.set(name, value), fmi2OK);
        }
        slave.get("ball.f[3]") * step
    });
    let exact = 2.0 * 1.8 * (16.0 + 2.0 * 10.0 * 5e-4_f64).sqrt();
    for impulse in impulses {
        assert!((impulse - exact).abs() < 1e-9, "{impulses:?} {exact}");
    }
}
