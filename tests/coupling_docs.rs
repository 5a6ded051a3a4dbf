//! The tables, figures and statements of `docs/coupling.md`, and the smooth sides and exact motions behind them.

use crate::common::path;
use crate::coupling_report;
use crate::coupling_report::ball::Ball;
use crate::coupling_report::chain::{LONG, MIDDLE, Mode, SHORT};
use crate::coupling_report::oscillator::{AtStep, Split, speed};
use crate::coupling_report::{Report, with_tables};
use crate::plot;
use crate::smooth_side::chain::{Chain, End};
use crate::smooth_side::exact::Exact;
use crate::smooth_side::master::{Exchange, Order, Sample};
use std::sync::OnceLock;

const COMMAND: &str = "cargo run --release --example coupling_figures";

fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(coupling_report::report)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(&format!("docs/{name}")))
        .unwrap_or_else(|error| panic!("{name}: {error}; `{COMMAND}` writes the figures"))
}

/// The same chain by its forces, in small steps of the classical Runge-Kutta rule.
fn integrate(end: End, stiffness: f64, gravity: f64, start: (&[f64], &[f64]), ramp: (f64, f64)) -> Vec<f64> {
    const STEPS: u32 = 2000;
    let n = start.0.len();
    let slope = |state: &[f64], time: f64| {
        let mut slope = state[n..].to_vec();
        for mass in 0..n {
            let mut force = -gravity;
            if mass > 0 {
                force += stiffness * (state[mass - 1] - state[mass]);
            } else {
                force += ramp.0 + ramp.1 * time;
                force -= if end == End::Wall { stiffness * state[0] } else { 0.0 };
            }
            if mass + 1 < n {
                force += stiffness * (state[mass + 1] - state[mass]);
            }
            slope.push(force);
        }
        slope
    };
    let along = |state: &[f64], slope: &[f64], h: f64| -> Vec<f64> {
        state.iter().zip(slope).map(|(value, slope)| value + h * slope).collect()
    };
    let mut state = [start.0, start.1].concat();
    let h = 0.1 / f64::from(STEPS);
    for step in 0..STEPS {
        let time = f64::from(step) * h;
        let k1 = slope(&state, time);
        let k2 = slope(&along(&state, &k1, h / 2.0), time + h / 2.0);
        let k3 = slope(&along(&state, &k2, h / 2.0), time + h / 2.0);
        let k4 = slope(&along(&state, &k3, h), time + h);
        for (index, value) in state.iter_mut().enumerate() {
            *value += h / 6.0 * (k1[index] + 2.0 * (k2[index] + k3[index]) + k4[index]);
        }
    }
    state
}

#[test]
fn chains_move_as_their_forces_say() {
    let (heights, velocities) = ([0.1, 0.15, 0.3, 0.2, 0.25], [1.0, -2.0, 0.5, 0.0, -1.0]);
    for end in [End::Free, End::Wall] {
        let mut chain = Chain::new(end, 1e3, 10.0, &heights, &velocities);
        chain.step_ramp(30.0, -200.0, 0.06);
        chain.step_ramp(30.0 - 200.0 * 0.06, -200.0, 0.04);
        let (found, speeds) = chain.motion();
        let expected = integrate(end, 1e3, 10.0, (&heights, &velocities), (30.0, -200.0));
        for (found, expected) in found.iter().chain(&speeds).zip(&expected) {
            assert!((found - expected).abs() < 1e-8, "{end:?}: {found} {expected}");
        }
        assert!((chain.height() - expected[0]).abs() < 1e-8 && (chain.velocity() - expected[5]).abs() < 1e-8);
        // What a force does to the first mass is what it adds to the energy.
        let before = chain.energy();
        chain.step(0.0, 0.3);
        assert!((chain.energy() - before).abs() < 1e-11, "{end:?}");
        chain.push(0.25);
        let middle = chain.velocity() - 0.125;
        assert!((chain.energy() - before - 0.25 * middle).abs() < 1e-11, "{end:?}");
    }
}

#[test]
fn exact_oscillators_hit_the_floor_when_another_program_says() {
    // Event-driven closed form, by another program.
    let impacts = [
        (1e3, [0.4002499219238, 0.4587190956982, 0.9693822745421, 1.0314332230604]),
        (1e4, [0.4002499219238, 0.4197075640777, 1.0058669104444, 1.0315327027472]),
    ];
    for (stiffness, impacts) in impacts {
        let mut motion = Exact::falling(2, stiffness, 10.0, 0.8, 0.801, 0.0);
        (0..10_330).for_each(|_| motion.step(1e-4));
        for (found, expected) in motion.impacts.iter().zip(impacts) {
            assert!((found - expected).abs() < 1e-10, "{stiffness}: {found} {expected}");
        }
    }
}

#[test]
fn the_exact_chain_leaves_the_floor_with_what_it_brought() {
    // Moreau-Jean at 1e-5 s, by another program.
    let (energy, impulse) = report().chain.exact_end();
    assert!((energy - 0.9850).abs() < 1e-4, "{energy}");
    assert!((impulse - 197.885).abs() < 2e-3, "{impulse}");
}

fn ball(order: Order, latency: &str) -> (&'static Ball, &'static [Sample]) {
    let ball = &report().ball;
    let run = ball.orders.iter().find(|run| run.order == order && run.latency == latency);
    (ball, &run.expect("one that was run").run)
}

#[test]
fn a_ball_in_either_order_is_exact_once_an_impulse_is_delivered() {
    for (order, latency, error) in [
        (Order::Sequential, "0", 1e-12),
        (Order::Sequential, "\"auto\"", 1e-9),
        (Order::Parallel, "1", 1e-12),
        (Order::Parallel, "\"auto\"", 1e-9),
    ] {
        let (ball, run) = ball(order, latency);
        let found = ball.error(run);
        assert!(found < error, "{order:?} {latency}: {found:e}");
        // In between it is off by less than what it moves in a step.
        let largest = ball.error_in_impacts(run);
        assert!(largest < 4.0 * coupling_report::ball::STEP, "{order:?} {latency}: {largest:e}");
    }
}

#[test]
fn a_wrong_latency_and_interpolated_forces_add_energy_and_say_so() {
    for (order, latency) in [(Order::Parallel, "0"), (Order::Sequential, "1"), (Order::Interpolating, "0")] {
        let (_, run) = ball(order, latency);
        let largest = run.iter().map(|sample| sample.energy).fold(0.0, f64::max);
        assert!(largest > 10.0 * run[0].energy, "{order:?} {latency}: {largest}");
    }
    let (_, run) = ball(Order::Parallel, "0");
    let diagnosis = run.last().unwrap().diagnosis.unwrap();
    assert!(diagnosis.response_error > 0.9 && diagnosis.energy_excess > 100.0, "{diagnosis:?}");
}

#[test]
fn a_wrong_mass_is_learnt_at_the_first_impact() {
    for run in &report().ball.masses {
        let rebound = run.rebound();
        if run.adapt {
            assert!((rebound - 0.8).abs() < 1e-3, "{} kg: {rebound}", run.mass);
            assert!((run.adapted() - 1.0).abs() < 1e-3);
        } else {
            assert!((rebound - 0.8).abs() > 0.3, "{} kg: {rebound}", run.mass);
            assert_eq!(run.adapted(), run.mass);
        }
    }
}

fn at(step: f64) -> &'static AtStep {
    report().oscillator.at(step)
}

#[test]
fn an_oscillator_is_followed_as_far_as_the_page_says() {
    for (step, kinetic, compliant) in
        [(1e-4, 5e-4, 1e-4), (1e-3, 1e-2, 1e-3), (2e-3, 0.3, 5e-3), (5e-3, 1.5, 3e-2)]
    {
        for order in [Order::Sequential, Order::Parallel] {
            for (split, accepted) in [(Split::Kinetic(order), kinetic), (Split::Compliant(order), compliant)]
            {
                let error = at(step).error(split);
                assert!(error < accepted, "{step} {split:?}: {error:e}");
            }
        }
    }
    for (step, accepted) in [(1e-4, 1e-4), (1e-3, 1e-2), (2e-3, 3e-2)] {
        let error = at(step).error(Split::Owned(Exchange::Linear));
        assert!(error < accepted, "{step}: {error:e}");
        assert!(at(step).error(Split::Owned(Exchange::Held)) > 50.0 * error);
    }
}

#[test]
fn shaping_gives_up_between_a_tenth_and_a_fifth() {
    for at in &report().oscillator.steps {
        for order in [Order::Sequential, Order::Parallel] {
            let last = at.samples(Split::Kinetic(order)).last().unwrap();
            assert_eq!(last.diagnosis.unwrap().shaping, speed(at.step) < 0.15, "{} {order:?}", at.step);
        }
    }
}

#[test]
fn a_chain_is_followed_as_far_as_the_page_says() {
    let chain = &report().chain;
    let (energy, impulse) = chain.exact_end();
    for order in [Order::Sequential, Order::Parallel] {
        for mode in [Mode::Kinetic, Mode::Compliant] {
            let run = chain.find(mode, order, SHORT);
            assert!((run.energy() - energy).abs() < 1e-3, "{mode:?} {order:?}: {}", run.energy());
            assert!((run.impulse() - impulse).abs() < 0.05, "{mode:?} {order:?}: {}", run.impulse());
            assert!(run.error(chain) < 1e-3, "{mode:?} {order:?}: {:e}", run.error(chain));
        }
    }
    let sequential = chain.find(Mode::Compliant, Order::Sequential, LONG);
    assert!(sequential.error(chain) < 2e-3 && sequential.energy() < energy);
}

#[test]
fn a_chain_that_grows_says_so() {
    let run = report().chain.find(Mode::Compliant, Order::Parallel, LONG);
    assert!(run.grows());
    let is_off = |sample: &&Sample| sample.diagnosis.unwrap().response_error > 0.2;
    assert!(2 * run.run[1..].iter().filter(is_off).count() > run.run.len());
    let calm = report().chain.find(Mode::Compliant, Order::Parallel, MIDDLE);
    assert!(!calm.grows() && calm.energy() < 1.0);
    assert!(calm.run[1..].windows(10).all(|steps| steps.iter().any(|sample| !is_off(&sample))));
}

#[test]
fn the_page_shows_the_tables_of_this_run() {
    let page = read("coupling.md");
    assert!(page.contains(COMMAND));
    assert_eq!(with_tables(&page, &report().tables()), page, "`{COMMAND}` writes the tables");
}

#[test]
fn the_figures_are_those_of_this_run() {
    let page = read("coupling.md");
    for (name, drawn) in report().figures() {
        assert!(page.contains(&format!("](figures/{name})")), "the page shows {name}");
        assert!(drawn.len() < 150_000, "{name}: {} bytes", drawn.len());
        let kept = read(&format!("figures/{name}"));
        plot::assert_same_drawing(&kept, &drawn, &format!("`{COMMAND}` draws {name} anew"));
    }
}
