//! Instances do not influence one another.

mod common;

use common::*;
use std::sync::Barrier;

const STEP: f64 = 1e-3;

/// What instance `number` does in step `k`.
fn advance(slave: &Slave, number: u32, k: u32) {
    let force = f64::from(number) * (0.1 + 1e-4 * f64::from(k));
    assert_eq!(slave.set("ball.f_ext[1]", force), fmi2OK);
    assert_eq!(slave.step(f64::from(k) * STEP, STEP), fmi2OK);
}

fn alone(fmu: &Fmu, number: u32, steps: u32) -> Vec<u64> {
    let slave = Slave::started(fmu);
    (0..steps).for_each(|k| advance(&slave, number, k));
    slave.bits()
}

#[test]
fn two_interleaved_instances_are_as_each_alone() {
    let fmu = Fmu::new(&bouncing_ball());
    let (one, two) = (Slave::started(&fmu), Slave::started(&fmu));
    for k in 0..1000 {
        advance(&one, 1, k);
        advance(&two, 2, k);
    }
    assert_eq!(one.bits(), alone(&fmu, 1, 1000));
    assert_eq!(two.bits(), alone(&fmu, 2, 1000));
    assert_ne!(one.bits(), two.bits());
}

#[test]
fn eight_threads_are_as_each_alone() {
    let fmu = Fmu::new(&bouncing_ball());
    let together: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let fmu = &fmu;
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || alone(fmu, number, 2000))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, bits) in together.into_iter().enumerate() {
        assert_eq!(bits, alone(&fmu, number as u32, 2000), "thread {number}");
    }
}

#[test]
fn calls_at_the_same_time_on_one_instance_do_not_mix() {
    let fmu = Fmu::new(&bouncing_ball());
    let slave = Slave::started(&fmu);
    let address = slave.component.expose_provenance();
    let force = fmu.reference("ball.f_ext[1]");
    let together = &Barrier::new(2);
    let refused: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = [true, false]
            .map(|writes| {
                scope.spawn(move || {
                    let component = std::ptr::with_exposed_provenance_mut(address);
                    let mut value = 0.0;
                    together.wait();
                    (0..200_000)
                        // SAFETY: a live instance, arrays of one entry.
                        .map(|_| unsafe {
                            if writes {
                                fmi2SetReal(component, &force, 1, &value)
                            } else {
                                fmi2GetReal(component, &force, 1, &mut value)
                            }
                        })
                        .filter(|&status| status != fmi2OK)
                        .inspect(|&status| assert_eq!(status, fmi2Error))
                        .count()
                })
            })
            .into_iter()
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(slave.log().len() <= refused);
    assert_eq!(slave.step(0.0, STEP), fmi2OK);
}
