//! Cases that fail today: `tests/known_failures.txt` lists them, and tells what a line is. A case of the list must fail, any
//! other must not.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs a case, which is named by its module and what tells it from others there.
pub fn judge(case: &str, run: impl FnOnce()) {
    let list = include_str!("../known_failures.txt");
    let is_listed = list.lines().any(|line| line.split(" | ").next() == Some(case));
    match (catch_unwind(AssertUnwindSafe(run)), is_listed) {
        (Ok(()), false) => {}
        (Ok(()), true) => panic!("{case} passes: delete its line in tests/known_failures.txt"),
        (Err(_), true) => println!("known failure: {case}"),
        (Err(failure), false) => {
            eprintln!("{case} fails");
            resume_unwind(failure)
        }
    }
}
