//! Memory: how much an instance takes, and what happens where there is none.

#![cfg(target_os = "linux")]

use contact_fmu::model::packed;
use contact_fmu_runtime::abi::fmi2Status;
use contact_fmu_runtime::memory::of_instance;
use contact_fmu_runtime::*;
use robustness::client::{Client, Prepared};
use robustness::long_runs::model;
use robustness::models::MODELS;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::process::Command;

thread_local! {
    /// Bytes in use, and the most so far.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    /// Whether single allocations as large as a question for memory count.
    static LARGEST_COUNTED: Cell<usize> = const { Cell::new(usize::MAX) };
}

struct Counting;

fn count(bytes: isize, size: usize) {
    if size < LARGEST_COUNTED.get() {
        IN_USE.set(IN_USE.get() + bytes);
        MOST.set(MOST.get().max(IN_USE.get()));
    }
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize), layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn an_instance_takes_no_more_than_is_asked_for() {
    for known in MODELS.iter() {
        let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(known)));
        let length = packed::write(&known.model, &known.guid).len();
        let asked = of_instance(length);
        // The question itself does not count.
        LARGEST_COUNTED.set(asked);
        let most_of = |work: &mut dyn FnMut()| {
            let before = IN_USE.get();
            MOST.set(before);
            work();
            (MOST.get() - before) as usize
        };
        let mut client = None;
        let made = most_of(&mut || client = Client::started(prepared, true));
        let client = client.expect("an instance");
        let saved = most_of(&mut || drop(client.bytes()));
        let step = known.model.experiment.step;
        // SAFETY: a live instance.
        unsafe { fmi2DoStep(client.component, 0.0, step, 1) };
        let (unknown, seeds, mut place) = (prepared.reals[1], [1.0], [0.0]);
        let known_reference = prepared.reference("gravity[3]");
        let derived = most_of(&mut || {
            // SAFETY: a live instance, one reference, one value each.
            unsafe {
                let place = place.as_mut_ptr();
                fmi2GetDirectionalDerivative(
                    client.component,
                    &unknown,
                    1,
                    &known_reference,
                    1,
                    seeds.as_ptr(),
                    place,
                )
            };
        });
        LARGEST_COUNTED.set(usize::MAX);
        println!(
            "{}: {length} packed bytes, asked {asked}, made {made}, saved {saved}, derived {derived}",
            known.name
        );
        assert!(
            made.max(saved).max(derived) < asked,
            "{}: {made}, {saved}, {derived} of {asked}",
            known.name
        );
        drop(client);
    }
}

const CHILD: &str = "ROBUSTNESS_MEMORY_CHILD";

/// In another process, because the limit is the whole process's.
#[test]
fn without_memory_there_is_no_instance_and_no_crash() {
    for name in ["bouncing_ball", "box_stack"] {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "run_out_of_memory", "--ignored", "--nocapture", "--test-threads", "1"])
            .env(CHILD, name)
            .output()
            .expect("a child");
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(
            child.status.success(),
            "{name}: {:?}\n{text}{}",
            child.status,
            String::from_utf8_lossy(&child.stderr)
        );
        assert!(text.contains("ran out of memory after "), "{text}");
    }
}

#[test]
#[ignore = "run by without_memory_there_is_no_instance_and_no_crash"]
fn run_out_of_memory() {
    let name = std::env::var(CHILD).expect("a model");
    let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(model(&name))));
    let first = Client::started(prepared, true).expect("there is memory");
    let statm = std::fs::read_to_string("/proc/self/statm").expect("sizes");
    let pages: u64 = statm.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a size");
    let bytes = pages * 4096 + (48 << 20);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: a valid limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    let mut all: Vec<Client> = Vec::with_capacity(1_000_000);
    let mut states = Vec::with_capacity(100_000);
    while let Some(client) = Client::new(prepared, true) {
        all.push(client);
    }
    println!("ran out of memory after {} instances", all.len());
    assert!(!all.is_empty());
    // Those that there are go on. A saved state is smaller than an instance: some may still find room.
    for client in [&first, &all[0]] {
        loop {
            let mut state = std::ptr::null_mut();
            // SAFETY: live instances, a place for a pointer.
            let status = unsafe { fmi2GetFMUstate(client.component, &mut state) };
            if state.is_null() {
                assert_eq!(status, fmi2Status::fmi2Error);
                break;
            }
            assert_eq!(status, fmi2Status::fmi2OK);
            states.push((client.component, state));
        }
    }
    for (component, mut state) in states {
        // SAFETY: states of live instances.
        assert_eq!(unsafe { fmi2FreeFMUstate(component, &mut state) }, fmi2Status::fmi2OK);
    }
    // SAFETY: a live instance.
    assert_eq!(unsafe { fmi2DoStep(first.component, 0.0, 1e-3, 1) }, fmi2Status::fmi2OK);
    drop(all);
    assert!(Client::new(prepared, true).is_some(), "memory came back");
}

#[test]
fn a_resources_folder_may_go_away_once_the_instance_is_made() {
    let prepared = Prepared::new(model("bouncing_ball"));
    let prepared: &'static mut Prepared = Box::leak(Box::new(prepared));
    let client = Client::started(prepared, true).expect("an instance");
    let folder = prepared.folder().to_owned();
    std::fs::remove_dir_all(folder).expect("the folder goes away");
    // SAFETY: a live instance.
    unsafe {
        assert_eq!(fmi2DoStep(client.component, 0.0, 1e-3, 1), fmi2Status::fmi2OK);
        assert_eq!(fmi2Reset(client.component), fmi2Status::fmi2OK);
        assert_eq!(fmi2SetupExperiment(client.component, 0, 0.0, 0.0, 0, 0.0), fmi2Status::fmi2OK);
        assert_eq!(fmi2EnterInitializationMode(client.component), fmi2Status::fmi2OK);
        assert_eq!(fmi2ExitInitializationMode(client.component), fmi2Status::fmi2OK);
        assert_eq!(fmi2DoStep(client.component, 0.0, 1e-3, 1), fmi2Status::fmi2OK);
    }
    client.bytes();
    assert!(Client::new(prepared, true).is_none(), "a new instance needs it");
}
