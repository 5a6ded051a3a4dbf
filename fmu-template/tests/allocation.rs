//! A steady step allocates nothing.

mod common;

use common::*;
use contact_fmu::model::Scheme;
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

#[test]
fn set_step_get_allocate_nothing() {
    assert_no_allocation(&Fmu::new(&bouncing_ball()), "ball.f_ext[1]");
}

#[test]
fn neither_do_rigid_bodies() {
    let mut model = wheel();
    assert_no_allocation(&Fmu::new(&model), "wheel.t_ext[1]");
    model.engine.scheme = Scheme::MoreauJean;
    model.engine.time_of_impact = true;
    assert_no_allocation(&Fmu::new(&model), "wheel.t_ext[1]");
}

fn assert_no_allocation(fmu: &Fmu, input: &str) {
    let slave = Slave::started(fmu);
    slave.steps(0..10, 1e-3);
    let mut state = slave.save();
    let (input, outputs) = (fmu.reference(input), fmu.reals());
    let mut values = vec![0.0; outputs.len()];
    let before = COUNT.get();
    for k in 10..5000 {
        let force = 1e-3 * f64::from(k);
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
