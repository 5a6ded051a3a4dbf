//! Hostile calls and states under valgrind: no byte is read that was not written, none is used after it was freed, none is
//! lost.

#[path = "../../tests/missing/mod.rs"]
mod missing;

use std::process::Command;

fn is_clean(arguments: &[&str]) {
    let output = Command::new("valgrind")
        .args(["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"])
        .arg(env!("CARGO_BIN_EXE_robustness"))
        .args(arguments)
        .output();
    match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            missing::skip("valgrind");
        }
        output => {
            let output = output.expect("valgrind runs");
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

#[test]
fn calls_are_clean() {
    is_clean(&["run", "calls", "10", "--limit", "600"]);
}

#[test]
fn states_are_clean() {
    is_clean(&["run", "states", "10", "--limit", "600"]);
}
