//! A steady step allocates nothing.

mod common;

use common::*;
use contact_fmu::model::{Between, Model, Other, Scheme, SurfaceShape};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The ball in a corner of three planes with friction: contacts that are solved together.
fn ball_in_a_corner() -> Model {
    let mut model = bouncing_ball();
    model.nodes[0].velocity = [-1.0, -0.7, 0.0];
    for (name, normal) in [("left", [1.0, 0.0, 0.0]), ("back", [0.0, 1.0, 0.0])] {
        let mut surface = model.surfaces[0].clone();
        surface.name = name.to_owned();
        surface.shape = SurfaceShape::Plane { normal };
        surface.position = [-1.0, -1.0, 0.0];
        let mut contact = model.contacts[0].clone();
        contact.name = format!("ball_{name}");
        contact.between = Between::Pair { node: 0, other: Other::Surface(model.surfaces.len()) };
        model.surfaces.push(surface);
        model.contacts.push(contact);
    }
    model
}

#[test]
fn set_step_get_allocate_nothing() {
    for model in [bouncing_ball(), ball_in_a_corner()] {
        steps_without_allocation(&model, "ball.f_ext[1]");
    }
}

#[test]
fn neither_do_bodies_that_the_master_moves() {
    for model in [coupled_ball(), all_couplings()] {
        steps_without_allocation(&model, "ball.v[1]");
    }
}

#[test]
fn neither_do_rigid_bodies() {
    let mut model = wheel();
    steps_without_allocation(&model, "wheel.t_ext[1]");
    model.engine.scheme = Scheme::MoreauJean;
    model.engine.time_of_impact = true;
    steps_without_allocation(&model, "wheel.t_ext[1]");
}

#[test]
fn neither_do_events_of_model_exchange() {
    for (model, input) in
        [(bouncing_ball(), "ball.f_ext[1]"), (coupled_ball(), "ball.v[1]"), (wheel(), "wheel.t_ext[1]")]
    {
        let fmu = Fmu::new(&model);
        let block = Slave::block_started(&fmu);
        for k in 1..10 {
            block.event(f64::from(k) * 1e-3);
        }
        let mut state = block.save();
        let (input, outputs) = (fmu.reference(input), fmu.reals());
        let mut values = vec![0.0; outputs.len()];
        let before = COUNT.get();
        for k in 10..2000 {
            block.event(f64::from(k) * 1e-3);
            // SAFETY: a live instance, arrays of the lengths given.
            let statuses = unsafe {
                [
                    fmi2SetReal(block.component, &input, 1, &(-1e-3 * f64::from(k))),
                    fmi2GetReal(block.component, outputs.as_ptr(), outputs.len(), values.as_mut_ptr()),
                    fmi2GetFMUstate(block.component, &mut state),
                ]
            };
            assert_eq!(statuses, [fmi2OK; 3]);
        }
        assert_eq!(COUNT.get() - before, 0);
        block.free_state(state);
    }
}

fn steps_without_allocation(model: &Model, input: &str) {
    let fmu = Fmu::new(model);
    let slave = Slave::started(&fmu);
    slave.steps(0..10, 1e-3);
    let mut state = slave.save();
    let (input, outputs) = (fmu.reference(input), fmu.reals());
    let mut values = vec![0.0; outputs.len()];
    let before = COUNT.get();
    for k in 10..5000 {
        let force = -1e-3 * f64::from(k);
        // SAFETY: a live instance, arrays of the lengths given.
        let statuses = unsafe {
            [
                fmi2SetReal(slave.component, &input, 1, &force),
                fmi2DoStep(slave.component, f64::from(k) * 1e-3, 1e-3, fmi2False),
                fmi2GetReal(slave.component, outputs.as_ptr(), outputs.len(), values.as_mut_ptr()),
                fmi2GetFMUstate(slave.component, &mut state),
            ]
        };
        assert_eq!(statuses, [fmi2OK; 4]);
    }
    assert_eq!(COUNT.get() - before, 0);
    slave.free_state(state);
    assert!(COUNT.get() > 0);
}
