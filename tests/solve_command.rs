//! `contact-fmu solve`: answers, exit codes, and what it says about wrong files.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn solve(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_contact-fmu")).arg("solve").args(arguments).output().unwrap()
}

fn problem(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/problems").join(name);
    path.to_str().unwrap().to_owned()
}

fn written(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn the_three_kinds_are_solved() {
    for (name, rows) in [("box4.lcp.txt", 4), ("box4.st8.txt", 40), ("box4.box.txt", 12), ("box4.fc.txt", 12)]
    {
        let output = solve(&[&problem(name), "--json", "--repeat", "3"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        let answer = json(&output);
        assert_eq!(answer["status"], "solved", "{name}");
        assert_eq!(answer["solution"].as_array().unwrap().len(), rows, "{name}");
        assert!(answer["residual"].as_f64().unwrap() <= 1e-10, "{name}");
        assert!(answer["iterations"].as_u64().unwrap() > 0, "{name}");
        assert!(answer["seconds_per_solve"].as_f64().unwrap() > 0.0, "{name}");
        assert!(!answer["solver"].as_str().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn the_plain_output_ends_with_the_solution() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "example.lcp.txt", "2\n2 1\n1 2\n-5 -6\n");
    let output = solve(&[path.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("status      solved\n"), "{text}");
    let numbers: Vec<f64> =
        text.split_once("solution\n").unwrap().1.lines().map(|line| line.parse().unwrap()).collect();
    assert!((numbers[0] - 4.0 / 3.0).abs() < 1e-14 && (numbers[1] - 7.0 / 3.0).abs() < 1e-14);
}

#[test]
fn the_kind_can_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "example.txt", "1 2 -4");
    let path = path.to_str().unwrap();
    let output = solve(&[path, "--kind", "lcp", "--json"]);
    assert_eq!(json(&output)["solution"][0], 2.0);
    let output = solve(&[path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--kind"), "{output:?}");
}

#[test]
fn what_is_not_solved_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "none.lcp.txt", "1 0 -1");
    let output = solve(&[path.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_ne!(json(&output)["status"], "solved");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not solved to tolerance"), "{output:?}");
    let limited =
        solve(&[&problem("full_n64_s0.box.txt"), "--solver", "pgs", "--max-iterations", "3", "--json"]);
    assert_eq!(limited.status.code(), Some(1));
    assert_eq!(
        (&json(&limited)["status"], &json(&limited)["iterations"]),
        (&"iteration limit".into(), &3.into())
    );
}

#[test]
fn wrong_files_are_named_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("not_square.lcp.txt", "2\n1 2 3\n4 5 6\n1 1\n", "not_square.lcp.txt:4:1: `1` follows the last"),
        ("infinite.lcp.txt", "1\n inf\n 1\n", "infinite.lcp.txt:2:2: M[0][0] is inf; it must be finite"),
        ("crossed.box.txt", "1\n1\n1\n2\n1\n", "crossed.box.txt:5:1: upper[0] is 1, below lower[0] = 2"),
        ("negative.fc.txt", "1\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n-0.1\n", "negative.fc.txt:6:1: mu[0] is -0.1"),
        (
            "truncated.lcp.txt",
            "2\n1 2\n3",
            "truncated.lcp.txt: the file ends after 4 of 7 numbers; M[1][1] is missing",
        ),
        ("word.lcp.txt", "2\n1 two 3 4\n0 0\n", "word.lcp.txt:2:3: M[0][1] is `two`, not a number"),
        ("huge.lcp.txt", "4000000000\n", "huge.lcp.txt:1:1: the number of rows is 4000000000"),
    ];
    for (name, text, message) in cases {
        let path = written(&folder, name, text);
        let output = solve(&[path.to_str().unwrap()]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        assert!(stderr.contains(message), "{name}: {stderr}");
        assert!(output.stdout.is_empty(), "{name}");
    }
}

#[test]
fn wrong_usage_is_told_apart() {
    assert_eq!(solve(&[]).status.code(), Some(2));
    assert_eq!(solve(&[&problem("box4.lcp.txt"), "--solver", "magic"]).status.code(), Some(2));
    assert_eq!(solve(&[&problem("box4.lcp.txt"), "--tolerance", "0"]).status.code(), Some(2));
    let mixed = solve(&[&problem("box4.lcp.txt"), "--solver", "nsgs"]);
    assert_eq!(mixed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&mixed.stderr).contains("nsgs solves cone problems"));
}
