//! Counts the allocations of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread.
pub fn allocations_so_far() -> u32 {
    ALLOCATIONS.with(Cell::get)
}

/// Allocations of a first and of a second run of the same.
#[allow(dead_code, reason = "not all count twice")]
pub fn allocations_of_two(mut run: impl FnMut()) -> [u32; 2] {
    [(); 2].map(|()| {
        let before = allocations_so_far();
        run();
        allocations_so_far() - before
    })
}
