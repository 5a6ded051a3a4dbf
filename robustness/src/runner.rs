//! Runs many cases of a target, each from its own seed, and tells which failed or did not end.

use crate::{Entropy, Target};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest that a case of a test may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Failures that are not known after which there is no use to go on.
const ENOUGH: usize = 20;
/// Cases that fail today, a line each: `target[seed] | reached | wanted | why`.
const KNOWN_FAILURES: &str = include_str!("../../tests/known_failures.txt");

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Cases that were run.
    pub cases: u64,
    /// Seeds of those that failed, and how.
    pub failures: Vec<(u64, String)>,
    /// The slowest case.
    pub slowest: (Duration, u64),
}

thread_local! {
    /// Messages of panics within a case; none outside of one.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the cases of the seeds `first..first + count`.
///
/// Ends the process where a case does not end, because nothing else can end it.
pub fn run(target: &Target, first: u64, count: u64, limit: Duration) -> Outcome {
    keep_panics();
    let known = known_failures(target.name);
    let now = AtomicU64::new(first);
    let done = AtomicBool::new(false);
    let mut outcome = Outcome { cases: 0, failures: Vec::new(), slowest: (Duration::ZERO, first) };
    std::thread::scope(|scope| {
        scope.spawn(|| watch(target, &now, &done, limit));
        for seed in first..first + count {
            now.store(seed, Ordering::Relaxed);
            LAST_PANIC.set(Some(String::new()));
            let start = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| (target.run)(&mut Entropy::seeded(seed))));
            let message = LAST_PANIC.take().unwrap_or_default();
            outcome.cases += 1;
            outcome.slowest = outcome.slowest.max((start.elapsed(), seed));
            if result.is_err() {
                outcome.failures.push((seed, message));
                if outcome.failures.iter().filter(|failure| !known.contains(&failure.0)).count() == ENOUGH {
                    break;
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    outcome
}

/// Looks whether cases go on. On a busy machine one that is not at fault may take long, but little processor time.
fn watch(target: &Target, now: &AtomicU64, done: &AtomicBool, limit: Duration) {
    let spent = || processor_time(std::process::id());
    let mut last = (now.load(Ordering::Relaxed), Instant::now(), spent());
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        let seed = now.load(Ordering::Relaxed);
        if seed != last.0 {
            last = (seed, Instant::now(), spent());
        } else if last.1.elapsed() > limit {
            let worked = spent().zip(last.2).map(|(now, then)| now - then);
            if worked.is_none_or(|worked| worked > limit.as_secs_f64()) {
                eprintln!("{}: seed {seed} has not ended after {limit:?}", target.name);
                std::process::exit(3);
            }
        }
    }
}

/// Seconds of processor time of a process; none where the system does not tell.
pub fn processor_time(process: u32) -> Option<f64> {
    /// Ticks a second in this table, on every Linux.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may have blanks.
    let (_, rest) = text.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    let user: f64 = words.next()?.parse().ok()?;
    let system: f64 = words.next()?.parse().ok()?;
    Some((user + system) / TICKS)
}

/// Keeps messages of panics within cases instead of printing them.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |information| {
            let is_case = LAST_PANIC.with_borrow_mut(|messages| match messages {
                None => false,
                Some(messages) => {
                    // One within a call comes first, the check of the call's answer after it.
                    if !messages.is_empty() {
                        messages.push_str("\n  then: ");
                    }
                    messages.push_str(&information.to_string());
                    true
                }
            });
            if !is_case {
                usual(information);
            }
        }));
    });
}

/// Seeds of a target that fail today.
pub fn known_failures(name: &str) -> Vec<u64> {
    let cases = KNOWN_FAILURES.lines().filter_map(|line| line.split(" | ").next());
    let seeds = cases.filter_map(|case| case.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']'));
    seeds.map(|seed| seed.parse().expect("a seed in tests/known_failures.txt")).collect()
}

/// Runs a small count in a test: what fails is what is known to fail.
pub fn assert_holds(name: &str, count: u64) {
    let target = crate::TARGETS.iter().find(|target| target.name == name).expect("a target");
    let outcome = run(target, 0, count, LIMIT);
    let known = known_failures(name);
    let unknown: Vec<_> = outcome.failures.iter().filter(|failure| !known.contains(&failure.0)).collect();
    assert!(unknown.is_empty() && outcome.cases == count, "{unknown:#?}");
    let has_failed = |seed: &u64| outcome.failures.iter().any(|failure| failure.0 == *seed);
    let mended: Vec<_> = known.iter().filter(|seed| **seed < count && !has_failed(seed)).collect();
    assert!(mended.is_empty(), "{name} {mended:?} pass: delete their lines in tests/known_failures.txt");
}

/// Runs cases by their seeds in a test.
pub fn assert_hold_at(name: &str, seeds: &[u64]) {
    let target = crate::TARGETS.iter().find(|target| target.name == name).expect("a target");
    let known = known_failures(name);
    for &seed in seeds {
        let outcome = run(target, seed, 1, LIMIT);
        assert_eq!(known.contains(&seed), !outcome.failures.is_empty(), "{seed}: {:?}", outcome.failures);
    }
}
