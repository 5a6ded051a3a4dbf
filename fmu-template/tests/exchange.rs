//! Model exchange: the same numbers as co-simulation, events at the right times, forces that follow the inputs of the
//! instant, states that are saved with the time of the next event.

use crate::common::*;
use contact_fmu::model::{Between, Coupling, Latency, Model, Other, Surface, SurfaceShape};
use contact_fmu::variables::{Causality, Kind};
use std::ptr::null_mut;

const STEP: f64 = 1e-3;

fn outputs(fmu: &Fmu) -> Vec<u32> {
    (0..fmu.variables.len() as u32)
        .filter(|&reference| {
            let variable = &fmu.variables[reference as usize];
            variable.causality == Causality::Output && matches!(variable.kind, Kind::Real(_))
        })
        .collect()
}

fn values(slave: &Slave, references: &[u32]) -> Vec<u64> {
    let (status, values) = slave.get_references(references);
    assert_eq!(status, fmi2OK);
    values.into_iter().map(f64::to_bits).collect()
}

/// All couplings but the one for masters that repeat steps.
fn couplings() -> Model {
    let mut model = all_couplings();
    let again = model.nodes.iter().position(|node| node.coupling == Coupling::Iterative).unwrap();
    model.nodes.remove(again);
    model.contacts.retain_mut(|contact| {
        let Between::Pair { node, .. } = &mut contact.between else { return true };
        let stays = *node != again;
        *node -= usize::from(*node > again);
        stays
    });
    model
}

fn with_latency(latency: Latency) -> Model {
    let mut model = coupled_ball();
    model.nodes[0].coupling = Coupling::Kinetic(contact_fmu::model::Kinetic { latency, ..KINETIC });
    model
}

/// A free ball of 2 kg under the force of a slave, moved exactly.
#[derive(Clone, Copy)]
struct Ball {
    z: f64,
    v: f64,
}

impl Ball {
    const START: Ball = Ball { z: 1.001, v: 0.0 };

    fn give(&self, slave: &Slave) {
        assert_eq!(slave.set("ball.r[3]", self.z), fmi2OK);
        assert_eq!(slave.set("ball.v[3]", self.v), fmi2OK);
    }

    fn fly(&mut self, force: f64) {
        let a = force / 2.0 - 10.0;
        self.z += STEP * self.v + 0.5 * STEP * STEP * a;
        self.v += STEP * a;
    }
}

#[test]
fn owned_bodies_move_as_in_co_simulation() {
    let fmu = Fmu::new(&bouncing_ball());
    let (slave, block) = (Slave::started(&fmu), Slave::block_at_event(&fmu));
    let outputs = outputs(&fmu);
    for k in 0..2000 {
        let (time, force) = (f64::from(k) * STEP, (0.01 * f64::from(k)).sin());
        if k > 0 {
            assert_eq!(block.set_time(time), fmi2OK);
            assert_eq!(block.enter_event_mode(), fmi2OK);
        }
        assert_eq!(values(&block, &outputs), values(&slave, &outputs), "at {time}");
        for one in [&slave, &block] {
            assert_eq!(one.set("ball.f_ext[1]", force), fmi2OK);
        }
        assert_eq!(block.new_discrete_states().0, fmi2OK);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        assert_eq!(values(&block, &outputs), values(&slave, &outputs), "held from {time}");
        // What an integrator tries between events counts for nothing.
        assert_eq!(block.set_time(time + 0.7 * STEP), fmi2OK);
        assert_eq!(block.set("ball.f_ext[1]", 1e6), fmi2OK);
        assert_eq!(block.get("ball.f_ext[1]"), 1e6);
        assert_eq!(slave.step(time, STEP), fmi2OK);
    }
}

#[test]
fn forces_for_the_master_are_those_of_co_simulation_without_latency() {
    for latency in [Latency::Auto, Latency::Known(0), Latency::Known(1)] {
        let reference = Fmu::new(&with_latency(Latency::Known(0)));
        let fmu = Fmu::new(&with_latency(latency));
        let (slave, block) = (Slave::started(&reference), Slave::block_at_event(&fmu));
        let mut ball = Ball::START;
        for k in 0..1500 {
            let time = f64::from(k) * STEP;
            if k > 0 {
                assert_eq!(block.set_time(time), fmi2OK);
                assert_eq!(block.enter_event_mode(), fmi2OK);
            }
            [&slave, &block].into_iter().for_each(|one| ball.give(one));
            assert_eq!(slave.step(time, STEP), fmi2OK);
            assert_eq!(block.new_discrete_states().0, fmi2OK);
            assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
            let force = block.get("ball.f[3]");
            assert_eq!(force.to_bits(), slave.get("ball.f[3]").to_bits(), "{latency:?} at {time}");
            ball.fly(force);
        }
        assert!(ball.z < 0.9 && ball.z > 0.2, "it has bounced");
        let references = fmu.integers();
        let latency = references.iter().position(|&vr| vr == fmu.reference("ball.latency")).unwrap();
        let mut integers = vec![-7; references.len()];
        // SAFETY: arrays of the same length.
        unsafe {
            fmi2GetInteger(block.component, references.as_ptr(), references.len(), integers.as_mut_ptr())
        };
        assert_eq!(integers[latency], 0);
        assert!(block.log().is_empty());
    }
}

#[test]
fn all_couplings_but_the_forces_are_one_step_behind_them() {
    let fmu = Fmu::new(&couplings());
    let block = Slave::block_started(&fmu);
    let is_force = |vr: u32| fmu.variables[vr as usize].slot.is_force_for_master();
    let (forces, others): (Vec<u32>, Vec<u32>) = outputs(&fmu).into_iter().partition(|&vr| is_force(vr));
    assert_eq!(forces.len(), 3 + 6 + 3 + 6 + 6);
    let held = (values(&block, &forces), values(&block, &others));
    assert_eq!(block.set_time(0.5 * STEP), fmi2OK);
    assert_eq!(block.set("ball.v[3]", -900.0), fmi2OK);
    assert_eq!((values(&block, &forces), values(&block, &others)), held, "before the event");
    assert_eq!(block.set_time(STEP), fmi2OK);
    assert_eq!(block.enter_event_mode(), fmi2OK);
    assert_ne!(values(&block, &forces), held.0, "a function of the inputs");
    let at_event = values(&block, &others);
    assert_ne!(at_event, held.1, "the window has ended");
    assert_eq!(block.set("ball.v[3]", -700.0), fmi2OK);
    assert_eq!(block.new_discrete_states().0, fmi2OK);
    assert_eq!(values(&block, &others), at_event, "the window that begins is not over");
}

#[test]
fn a_body_at_rest_is_held_from_the_first_window_on() {
    let mut model = coupled_ball();
    model.nodes[0].position[2] = 0.2;
    let fmu = Fmu::new(&model);
    let block = Slave::block(&fmu);
    block.set_up(0.0);
    let expect_weight = |block: &Slave| assert!((block.get("ball.f[3]") - 20.0).abs() < 1e-9);
    expect_weight(&block);
    assert_eq!(block.exit_initialization(), fmi2OK);
    expect_weight(&block);
    assert_eq!(block.new_discrete_states().0, fmi2OK);
    expect_weight(&block);
}

#[test]
fn the_step_is_made_again_when_inputs_change_at_the_instant() {
    let fmu = Fmu::new(&coupled_ball());
    let plain = Slave::block_started(&fmu);
    let (asked, left) = (Slave::block_started(&fmu), Slave::block_started(&fmu));
    let mut ball = Ball { z: 0.2005, v: -4.0 };
    for k in 1..20 {
        let time = f64::from(k) * STEP;
        let wrong = Ball { v: ball.v - 1.0, ..ball };
        for one in [&plain, &asked, &left] {
            assert_eq!(one.set_time(time), fmi2OK);
            assert_eq!(one.enter_event_mode(), fmi2OK);
        }
        ball.give(&plain);
        assert_eq!(plain.new_discrete_states().0, fmi2OK);
        let force = plain.get("ball.f[3]").to_bits();

        // Get and set in turn, and ask for new discrete states several times.
        ball.give(&asked);
        assert_eq!(asked.get("ball.f[3]").to_bits(), force);
        wrong.give(&asked);
        assert_eq!(asked.new_discrete_states().0, fmi2OK);
        let other = asked.get("ball.f[3]");
        assert!(k > 1 || other > f64::from_bits(force) + 1000.0, "{other}");
        assert_eq!(asked.new_discrete_states().0, fmi2OK);
        assert_eq!(asked.get("ball.f[3]"), other);
        ball.give(&asked);
        assert_eq!(asked.new_discrete_states().0, fmi2OK);
        assert_eq!(asked.get("ball.f[3]").to_bits(), force);

        // Leave event mode after each evaluation and come back.
        wrong.give(&left);
        assert_eq!(left.new_discrete_states().0, fmi2OK);
        assert_eq!(left.enter_continuous_time_mode(), fmi2OK);
        assert_eq!(left.get("ball.f[3]"), other);
        ball.give(&left);
        assert_eq!(left.get("ball.f[3]"), other, "held in continuous time");
        assert_eq!(left.enter_event_mode(), fmi2OK);
        assert_eq!(left.new_discrete_states().0, fmi2OK);
        assert_eq!(left.get("ball.f[3]").to_bits(), force);

        for one in [&plain, &asked, &left] {
            assert_eq!(one.enter_continuous_time_mode(), fmi2OK);
            assert_eq!(one.saved_bytes(), plain.saved_bytes(), "at {time}");
        }
        ball.fly(f64::from_bits(force));
    }
    assert!(ball.v > 2.0, "it has bounced");
}

#[test]
fn inputs_set_last_count_even_if_nobody_asks() {
    let fmu = Fmu::new(&coupled_ball());
    let (asked, silent) = (Slave::block_at_event(&fmu), Slave::block_at_event(&fmu));
    let ball = Ball { z: 0.201, v: -4.0 };
    assert_eq!(silent.new_discrete_states().0, fmi2OK);
    for one in [&asked, &silent] {
        ball.give(one);
    }
    assert_eq!(asked.new_discrete_states().0, fmi2OK);
    for one in [&asked, &silent] {
        assert_eq!(one.enter_continuous_time_mode(), fmi2OK);
    }
    assert!(asked.get("ball.f[3]") > 1000.0);
    assert_eq!(silent.saved_bytes(), asked.saved_bytes());
}

#[test]
fn events_at_other_times_make_no_step() {
    let fmu = Fmu::new(&couplings());
    let block = Slave::block_started(&fmu);
    let next = block.event(STEP);
    assert_eq!(next, 2.0 * STEP);
    let held = values(&block, &outputs(&fmu));
    for part in [0.001, 0.3, 0.9] {
        assert_eq!(block.set_time(STEP * (1.0 + part)), fmi2OK);
        assert_eq!(block.enter_event_mode(), fmi2OK);
        assert_eq!(block.set("ball.r[3]", 0.2), fmi2OK);
        assert_eq!(block.set("ball.mass", 7.0), fmi2OK);
        let (status, info) = block.new_discrete_states();
        assert_eq!(status, fmi2OK);
        assert_eq!(info.nextEventTime, next);
        assert_eq!(values(&block, &outputs(&fmu)), held);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    }
    assert_eq!(block.event(next), 3.0 * STEP);
    assert_ne!(values(&block, &outputs(&fmu)), held);
}

#[test]
fn what_an_event_answers() {
    let fmu = Fmu::new(&bouncing_ball());
    let block = Slave::block_at_event(&fmu);
    let (status, info) = block.new_discrete_states();
    assert_eq!(status, fmi2OK);
    assert_eq!(
        (info.newDiscreteStatesNeeded, info.terminateSimulation, info.nominalsOfContinuousStatesChanged),
        (fmi2False, fmi2False, fmi2False)
    );
    assert_eq!((info.valuesOfContinuousStatesChanged, info.nextEventTimeDefined), (fmi2False, fmi2True));
    assert_eq!(info.nextEventTime, STEP);
}

#[test]
fn event_times_do_not_drift() {
    let fmu = Fmu::new(&drifting_ball());
    let (start, period) = (0.25, 1.0 / 60.0);
    let block = Slave::block(&fmu);
    assert_eq!(block.set("engine.sample", period), fmi2OK);
    block.set_up(start);
    assert_eq!(block.exit_initialization(), fmi2OK);
    assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    let mut added = start;
    for k in 1..50_000_u32 {
        added += period;
        // By our own count, and by importers that add up, round to nanoseconds or find times by bisection.
        let due = start + f64::from(k) * period;
        let time = match k % 4 {
            0 => due,
            1 => added,
            2 => (due * 1e9).round() / 1e9,
            _ => due + 1e-9,
        };
        assert_eq!(block.event(time), start + f64::from(k + 1) * period, "{k}");
        assert_eq!(block.get("time"), time);
    }
    assert!(block.log().is_empty());
}

#[test]
fn late_events_are_warned_of_and_missed_ones_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let block = Slave::block_started(&fmu);
    assert_eq!(block.set_time(1.3 * STEP), fmi2OK);
    assert_eq!(block.enter_event_mode(), fmi2Warning);
    block.expect_log(fmi2Warning, &["fmi2EnterEventMode", "0.001 s comes late"]);
    assert_eq!(block.new_discrete_states().1.nextEventTime, 2.0 * STEP);
    assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    assert_eq!(block.set_time(3.0 * STEP), fmi2OK, "integrators look ahead");
    let before = block.saved_bytes();
    assert_eq!(block.enter_event_mode(), fmi2Error);
    block.expect_log(fmi2Error, &["nextEventTime was 0.002", "every 0.001 s"]);
    assert_eq!(block.saved_bytes(), before);
    assert_eq!(block.event(2.0 * STEP), 3.0 * STEP, "and come back");
}

#[test]
fn time_goes_back_to_the_last_event_at_most() {
    let fmu = Fmu::new(&bouncing_ball());
    let block = Slave::block_started(&fmu);
    block.event(STEP);
    for time in [1.9 * STEP, 1.1 * STEP, STEP] {
        assert_eq!(block.set_time(time), fmi2OK);
        assert_eq!(block.get("time"), time);
    }
    for (time, reason) in [
        (0.9 * STEP, "before the last time event at 0.001"),
        (f64::NAN, "finite"),
        (f64::INFINITY, "finite"),
        (f64::NEG_INFINITY, "finite"),
    ] {
        let before = block.saved_bytes();
        assert_eq!(block.set_time(time), fmi2Error);
        block.expect_log(fmi2Error, &[reason]);
        assert_eq!(block.saved_bytes(), before);
    }
}

/// For importers that never leave event mode because there is nothing to integrate.
#[test]
fn time_may_move_in_event_mode() {
    let mut ball = Ball { z: 0.213, v: -4.0 };
    let mut model = coupled_ball();
    (model.nodes[0].position[2], model.nodes[0].velocity[2]) = (ball.z, ball.v);
    let fmu = Fmu::new(&model);
    let (block, usual) = (Slave::block_at_event(&fmu), Slave::block_started(&fmu));
    ball.fly(block.get("ball.f[3]"));
    for k in 1..10 {
        let time = f64::from(k) * STEP;
        assert_eq!(block.set_time(time - 0.4 * STEP), fmi2OK);
        assert_eq!(block.set_time(time), fmi2OK);
        [&block, &usual].into_iter().for_each(|one| ball.give(one));
        assert_eq!(block.new_discrete_states().1.nextEventTime, usual.event(time));
        let force = block.get("ball.f[3]");
        assert_eq!(force.to_bits(), usual.get("ball.f[3]").to_bits());
        ball.fly(force);
    }
    assert!(ball.v > 2.0, "it has bounced");
    let before = block.saved_bytes();
    assert_eq!(block.set_time(12.0 * STEP), fmi2Error);
    block.expect_log(fmi2Error, &["fmi2SetTime", "nextEventTime was 0.01"]);
    assert_eq!(block.saved_bytes(), before);
}

/// As OpenModelica does: no fmi2NewDiscreteStates after initialization, while its integrator looks for the first event, which
/// it sees at once because no time of the next one is known yet.
#[test]
fn times_may_be_tried_before_the_first_event() {
    let fmu = Fmu::new(&couplings());
    for first in [1e-10, 0.4 * STEP, STEP, 1.2 * STEP] {
        let [block, usual] = [&fmu; 2].map(Slave::block_at_event);
        for one in [&block, &usual] {
            assert_eq!(one.set("ball.v[3]", -0.5), fmi2OK);
            one.get("ball.f[3]");
        }
        for time in [0.0, 1e-3 * STEP, 0.5 * STEP, STEP, 0.5 * STEP, 7.0 * STEP, 0.25 * STEP, 1e-10, first] {
            assert_eq!(block.set_time(time), fmi2OK, "{time}: {:?}", block.log());
            assert_eq!(block.get("time"), time);
        }
        assert_eq!(block.enter_event_mode(), fmi2OK);
        let expected = if first == 1.2 * STEP { fmi2Warning } else { fmi2OK };
        let (status, info) = block.new_discrete_states();
        assert_eq!(status, expected, "{:?}", block.log());
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        assert_eq!(usual.new_discrete_states().0, fmi2OK);
        assert_eq!(usual.enter_continuous_time_mode(), fmi2OK);
        let made = if first < STEP { 0 } else { 1 };
        assert_eq!(info.nextEventTime, f64::from(1 + made) * STEP);
        if made == 1 {
            usual.event(STEP);
        }
        for k in 1 + made..40 {
            let time = f64::from(k) * STEP;
            assert_eq!(block.event(time).to_bits(), usual.event(time).to_bits());
            assert_eq!(values(&block, &outputs(&fmu)), values(&usual, &outputs(&fmu)), "at {time}");
        }
    }
    let block = Slave::block_at_event(&fmu);
    assert_eq!(block.set_time(7.0 * STEP), fmi2OK);
    assert_eq!(block.new_discrete_states().0, fmi2Error);
    block.expect_log(fmi2Error, &["fmi2NewDiscreteStates", "nextEventTime was 0.001"]);
    assert_eq!(block.set_time(0.5 * STEP), fmi2OK, "and come back");
    assert_eq!(block.new_discrete_states().1.nextEventTime, STEP);
}

#[test]
fn the_start_time_may_come_by_set_time() {
    let fmu = Fmu::new(&bouncing_ball());
    let block = Slave::block(&fmu);
    assert_eq!(block.set_time(0.5), fmi2OK);
    // SAFETY: a live instance.
    assert_eq!(unsafe { fmi2EnterInitializationMode(block.component) }, fmi2OK);
    assert_eq!(block.get("time"), 0.5);
    assert_eq!(block.exit_initialization(), fmi2OK);
    assert_eq!(block.new_discrete_states().1.nextEventTime, 0.5 + STEP);
}

#[test]
fn a_saved_state_continues_bit_by_bit_with_its_next_event() {
    let fmu = Fmu::new(&couplings());
    let run = |block: &Slave, from: u32| {
        let mut all = Vec::new();
        for k in from..from + 30 {
            assert_eq!(block.event(f64::from(k) * STEP), f64::from(k + 1) * STEP);
            assert_eq!(block.set("ball.v[3]", 0.1 * f64::from(k)), fmi2OK);
            all.push(values(block, &outputs(&fmu)));
        }
        all
    };
    let block = Slave::block_started(&fmu);
    run(&block, 1);
    for in_event_mode in [false, true] {
        let from = if in_event_mode { 62 } else { 31 };
        assert_eq!(block.set_time((f64::from(from) - 0.5) * STEP), fmi2OK);
        if in_event_mode {
            assert_eq!(block.enter_event_mode(), fmi2OK);
        }
        let state = block.save();
        let bytes = block.serialize(state);
        let leave = |block: &Slave| {
            if in_event_mode {
                assert_eq!(block.new_discrete_states().1.nextEventTime, f64::from(from) * STEP);
                assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
            }
        };
        leave(&block);
        let straight = run(&block, from);
        assert_eq!(block.restore(state), fmi2OK);
        leave(&block);
        assert_eq!(run(&block, from), straight);
        let other = Slave::block(&fmu);
        other.restore_bytes(&bytes);
        leave(&other);
        assert_eq!(run(&other, from), straight);
        block.free_state(state);
        if !in_event_mode {
            assert_eq!(block.event(61.0 * STEP), 62.0 * STEP);
        }
    }
}

/// Also in the middle of an event whose step is yet to be made.
#[test]
fn a_state_saved_at_an_event_repeats_it() {
    let fmu = Fmu::new(&coupled_ball());
    let block = Slave::block_at_event(&fmu);
    let state = block.save();
    let forces = [0.201, 0.2015].map(|z| {
        assert_eq!(block.restore(state), fmi2OK);
        Ball { z, v: -4.0 }.give(&block);
        assert_eq!(block.new_discrete_states().0, fmi2OK);
        block.get("ball.f[3]")
    });
    assert!(forces[0] > 1.1 * forces[1], "{forces:?}");
    assert_eq!(block.restore(state), fmi2OK);
    Ball { z: 0.201, v: -4.0 }.give(&block);
    assert_eq!(block.get("ball.f[3]"), forces[0]);
    block.free_state(state);
}

#[test]
fn states_of_the_other_interface_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let (slave, block) = (Slave::started(&fmu), Slave::block_started(&fmu));
    for (one, other, texts) in [
        (&slave, &block, ["instance for model exchange", "this one is for co-simulation"]),
        (&block, &slave, ["instance for co-simulation", "this one is for model exchange"]),
    ] {
        let state = other.save();
        assert_eq!(one.restore(state), fmi2Error);
        one.expect_log(fmi2Error, &texts);
        assert_eq!(one.deserialize(&other.serialize(state)).0, fmi2Error);
        one.expect_log(fmi2Error, &texts);
        other.free_state(state);
    }
}

#[test]
fn reset_leaves_nothing_behind() {
    let fmu = Fmu::new(&couplings());
    let block = Slave::block(&fmu);
    let fresh = block.saved_bytes();
    let run = || {
        block.set_up(0.0);
        assert_eq!(block.exit_initialization(), fmi2OK);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        for k in 1..50 {
            block.event(f64::from(k) * STEP);
        }
        block.bits()
    };
    let first = run();
    assert_eq!(block.terminate(), fmi2OK);
    assert_eq!(block.bits(), first);
    assert_eq!(block.reset(), fmi2OK);
    assert_eq!(block.saved_bytes(), fresh);
    assert_eq!(block.set("engine.sample", 0.1), fmi2OK);
    assert_eq!(block.set_time(3.0), fmi2OK);
    assert_eq!(block.reset(), fmi2OK);
    assert_eq!(block.saved_bytes(), fresh);
    assert_eq!(run(), first);
}

#[test]
fn instances_do_not_influence_one_another() {
    let fmu = Fmu::new(&bouncing_ball());
    let event = |block: &Slave, number: u32, k: u32| {
        assert_eq!(block.set("ball.f_ext[1]", f64::from(number * k) * 1e-3), fmi2OK);
        block.event(f64::from(k) * STEP);
    };
    let alone = |number| {
        let block = Slave::block_started(&fmu);
        (1..600).for_each(|k| event(&block, number, k));
        block.bits()
    };
    let (one, two, slave) = (Slave::block_started(&fmu), Slave::block_started(&fmu), Slave::started(&fmu));
    for k in 1..600 {
        event(&one, 1, k);
        event(&two, 2, k);
        assert_eq!(slave.step(f64::from(k - 1) * STEP, STEP), fmi2OK);
    }
    assert_eq!(one.bits(), alone(1));
    assert_eq!(two.bits(), alone(2));
    assert_ne!(one.bits(), two.bits());
}

/// Against central differences at an event, in flight and on the floor.
#[test]
fn derivatives_are_those_of_the_outputs_at_the_event() {
    const CHANGE: f64 = 1e-6;
    let fmu = Fmu::new(&coupled_ball());
    let outputs = outputs(&fmu);
    let knowns =
        ["ball.r[3]", "ball.v[1]", "ball.v[3]", "ball.f_ext[3]", "ball.mass", "ball_floor.mu", "gravity[3]"];
    for (z, v, touches) in [(1.0, -1.0, false), (0.2004, -4.0, true)] {
        let block = Slave::block_at_event(&fmu);
        Ball { z, v }.give(&block);
        assert_eq!(block.set("ball.v[1]", 3.0), fmi2OK);
        assert_eq!(block.new_discrete_states().0, fmi2OK);
        for name in knowns {
            let value = block.get(name);
            let at = |change: f64| {
                assert_eq!(block.set(name, value + change), fmi2OK);
                assert_eq!(block.new_discrete_states().0, fmi2OK);
                block.get_references(&outputs).1
            };
            let (ahead, behind) = (at(CHANGE), at(-CHANGE));
            assert_eq!(block.set(name, value), fmi2OK);
            let (status, derivatives) = block.directional(&outputs, &[fmu.reference(name)], &[1.0]);
            assert_eq!(status, fmi2OK);
            for (index, derivative) in derivatives.iter().enumerate() {
                let difference = (ahead[index] - behind[index]) / (2.0 * CHANGE);
                assert!(
                    (derivative - difference).abs() < 1e-4 * (1.0 + difference.abs()),
                    "d {} / d {name}: {derivative}, by differences {difference}",
                    fmu.variables[outputs[index] as usize].name
                );
            }
        }
        let (force, speed) = (fmu.reference("ball.f[3]"), fmu.reference("ball.v[3]"));
        let derivative = || block.directional(&[force], &[speed], &[1.0]).1[0];
        assert_eq!(derivative() < -100.0, touches, "{}", derivative());
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        assert_eq!(derivative(), 0.0, "held");
        assert_eq!(block.set_time(0.5 * STEP), fmi2OK);
        assert_eq!(block.enter_event_mode(), fmi2OK);
        assert_eq!(derivative(), 0.0, "not an event of this block");
    }
}

#[test]
fn derivatives_at_the_start() {
    let mut model = coupled_ball();
    model.nodes[0].position[2] = 0.2;
    let fmu = Fmu::new(&model);
    let block = Slave::block(&fmu);
    block.set_up(0.0);
    let (force, push) = (fmu.reference("ball.f[3]"), fmu.reference("ball.f_ext[3]"));
    let (status, derivative) = block.directional(&[force], &[push], &[1.0]);
    assert_eq!(status, fmi2OK);
    assert!((derivative[0] + 1.0).abs() < 1e-9, "{derivative:?}");
}

#[test]
fn a_step_that_cannot_be_made_is_discarded() {
    let fmu = Fmu::new(&coupled_ball());
    let block = Slave::block(&fmu);
    assert_eq!(block.set("engine.step", 1e-12), fmi2OK);
    block.set_up(0.0);
    assert_eq!(block.exit_initialization(), fmi2OK);
    let before = block.saved_bytes();
    assert_eq!(block.new_discrete_states().0, fmi2Discard);
    block.expect_log(fmi2Discard, &["fmi2NewDiscreteStates", "substeps", "window of 0.001 s from 0 s"]);
    assert_eq!(block.get_references(&[fmu.reference("ball.f[3]")]).0, fmi2Discard);
    block.expect_log(fmi2Discard, &["fmi2GetReal", "substeps"]);
    assert_eq!(block.directional(&[fmu.reference("ball.f[3]")], &[], &[]).0, fmi2Discard);
    block.expect_log(fmi2Discard, &["fmi2GetDirectionalDerivative", "substeps"]);
    assert_eq!(block.enter_continuous_time_mode(), fmi2Discard);
    block.expect_log(fmi2Discard, &["fmi2EnterContinuousTimeMode", "substeps"]);
    assert_eq!(block.saved_bytes(), before);
}

#[test]
fn wrong_motion_and_wrong_values_are_refused() {
    let fmu = Fmu::new(&couplings());
    let block = Slave::block_at_event(&fmu);
    assert_eq!(block.set("top.q[1]", 5.0), fmi2OK);
    let before = block.saved_bytes();
    assert_eq!(block.new_discrete_states().0, fmi2Error);
    block.expect_log(fmi2Error, &["fmi2NewDiscreteStates", "top.q[1]", "length"]);
    assert_eq!(block.saved_bytes(), before);
    assert_eq!(block.set("ball.r[1]", f64::NAN), fmi2Discard);
    block.expect_log(fmi2Discard, &["ball.r[1]", "NaN"]);
    assert_eq!(block.set("top.q[1]", 0.8), fmi2OK);
    assert_eq!(block.new_discrete_states().0, fmi2OK);
    assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    assert_eq!(block.set("ball.mass", 3.0), fmi2Error);
    block.expect_log(fmi2Error, &["ball.mass", "in continuous-time mode, only while it is", "in event mode"]);
    let block = Slave::block(&fmu);
    for sample in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(block.set("engine.sample", sample), fmi2Discard);
        block.expect_log(fmi2Discard, &["engine.sample"]);
    }
    assert_eq!(block.set("engine.sample", 1e-9), fmi2OK);
    block.set_up(1e12);
    assert_eq!(block.exit_initialization(), fmi2OK);
    assert_eq!(block.new_discrete_states().0, fmi2Error);
    block.expect_log(fmi2Error, &["engine.sample", "too small to change the time"]);
}

#[test]
fn wrong_pointers_and_counts_are_refused() {
    let fmu = Fmu::new(&bouncing_ball());
    let block = Slave::block_at_event(&fmu);
    let c = block.component;
    let before = block.saved_bytes();
    // SAFETY: null, or arrays of the lengths given.
    unsafe {
        assert_eq!(fmi2NewDiscreteStates(c, null_mut()), fmi2Error);
        block.expect_log(fmi2Error, &["eventInfo is NULL"]);
        assert_eq!(block.saved_bytes(), before);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        let mut answer = 7;
        assert_eq!(fmi2CompletedIntegratorStep(c, fmi2True, null_mut(), &mut answer), fmi2Error);
        block.expect_log(fmi2Error, &["enterEventMode is NULL"]);
        assert_eq!(fmi2CompletedIntegratorStep(c, fmi2True, &mut answer, null_mut()), fmi2Error);
        block.expect_log(fmi2Error, &["terminateSimulation is NULL"]);
        assert_eq!(answer, 7);
        let mut end = 7;
        assert_eq!(fmi2CompletedIntegratorStep(c, fmi2True, &mut answer, &mut end), fmi2OK);
        assert_eq!((answer, end), (fmi2False, fmi2False));
        let mut room = [7.0];
        let place = room.as_mut_ptr();
        let calls: [(&str, &dyn Fn() -> fmi2Status); 5] = [
            ("nx is 1, but this FMU has no continuous states", &|| fmi2SetContinuousStates(c, place, 1)),
            ("nx is 1, but this FMU has no continuous states", &|| fmi2GetContinuousStates(c, place, 1)),
            ("nx is 1, but this FMU has no continuous states", &|| fmi2GetDerivatives(c, place, 1)),
            ("nx is 1, but this FMU has no continuous states", &|| {
                fmi2GetNominalsOfContinuousStates(c, place, 1)
            }),
            ("ni is 1, but this FMU has no event indicators", &|| fmi2GetEventIndicators(c, place, 1)),
        ];
        for (text, call) in calls {
            assert_eq!(call(), fmi2Error);
            block.expect_log(fmi2Error, &[text]);
        }
        assert_eq!(room, [7.0]);
        assert_eq!(fmi2GetDerivatives(c, null_mut(), 0), fmi2OK);
    }
}

#[test]
fn an_inexact_contact_solution_is_a_warning() {
    let mut model = bouncing_ball();
    let slope = 0.5_f64.sqrt();
    let floor = model.surfaces[0].clone();
    model.surfaces = [-slope, slope]
        .map(|x| Surface { shape: SurfaceShape::Plane { normal: [x, 0.0, slope] }, ..floor.clone() })
        .to_vec();
    model.contacts.push(model.contacts[0].clone());
    model.contacts[1].between = Between::Pair { node: 0, other: Other::Surface(1) };
    model.nodes[0].position = [0.0, 0.0, 0.2 / slope];
    model.nodes[0].velocity = [0.3, 0.2, -1.0];
    (model.engine.max_iterations, model.engine.tolerance) = (1, 1e-300);
    let fmu = Fmu::new(&model);
    let block = Slave::block_at_event(&fmu);
    let (status, info) = block.new_discrete_states();
    assert_eq!((status, info.nextEventTime), (fmi2Warning, STEP));
    block.expect_log(fmi2Warning, &["fmi2NewDiscreteStates", "the step to 0.001 s", "1e-300"]);
    assert_eq!(block.enter_continuous_time_mode(), fmi2OK, "told already");
    let block = Slave::block_at_event(&fmu);
    assert_eq!(block.enter_continuous_time_mode(), fmi2Warning);
    block.expect_log(fmi2Warning, &["fmi2EnterContinuousTimeMode", "1e-300"]);
}

/// The spring of an importer on a node that the FMU owns, held over windows that are too long for it.
#[test]
fn a_held_spring_is_warned_of_with_what_helps_here() {
    let fmu = Fmu::new(&drifting_ball());
    let block = Slave::block(&fmu);
    assert_eq!(block.set("engine.sample", 0.01), fmi2OK);
    block.set_up(0.0);
    assert_eq!(block.exit_initialization(), fmi2OK);
    assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    let mut time = 0.01;
    for _ in 0..40 {
        assert_eq!(block.set("ball.f_ext[3]", 1e4 * (1.1 - block.get("ball.r[3]"))), fmi2OK);
        time = block.event(time);
    }
    let lines = block.log();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].message.contains("ball.f_ext grows without end"), "{lines:?}");
    assert!(lines[0].message.contains("set a smaller engine.sample"), "{lines:?}");
}

/// Contacts that change are logged once for each window, however often its step is made.
#[test]
fn a_bounce_is_logged_once() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::with_logging(&fmu, GUID, true);
    slave.set_up(0.0);
    assert_eq!(slave.exit_initialization(), fmi2OK);
    slave.steps(0..4000, STEP);
    let block = Slave::of_kind(&fmu, fmi2ModelExchange, GUID, true);
    block.set_up(0.0);
    assert_eq!(block.exit_initialization(), fmi2OK);
    assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    for k in 1..=4000 {
        block.event(f64::from(k) * STEP);
        assert_eq!(block.enter_event_mode(), fmi2OK);
        assert_eq!(block.set("ball.f_ext[1]", 0.0), fmi2OK);
        assert_eq!(block.new_discrete_states().0, fmi2OK);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
    }
    let texts = |slave: &Slave| -> Vec<String> {
        let of = |text: &str| text.split(" in the step").next().unwrap().to_owned();
        slave.log().iter().map(|line| of(&line.message)).collect()
    };
    let expected = texts(&slave);
    assert!(!expected.is_empty());
    assert_eq!(texts(&block), expected);
}

#[test]
fn an_importer_that_delays_forces_is_told() {
    let fmu = Fmu::new(&coupled_ball());
    let block = Slave::block_at_event(&fmu);
    let (mut ball, mut late) = (Ball { z: 0.3, v: -2.0 }, 0.0);
    for k in 0..80 {
        if k > 0 {
            assert_eq!(block.set_time(f64::from(k) * STEP), fmi2OK);
            assert_eq!(block.enter_event_mode(), fmi2OK);
        }
        ball.give(&block);
        assert_eq!(block.new_discrete_states().0, fmi2OK);
        assert_eq!(block.enter_continuous_time_mode(), fmi2OK);
        ball.fly(late);
        late = block.get("ball.f[3]");
    }
    let lines = block.log();
    let told =
        lines.iter().filter(|line| line.message.contains("connect ball.f to the body without a delay"));
    assert_eq!(told.count(), 1, "{lines:?}");
}
