//! The numbers that were chosen in the engine only become fewer.
//!
//! Counted are the fields of `src/engine/tolerances.rs` and, elsewhere in `src/engine`, constants of a number type, or of an
//! array of one, whose value is written in digits. Not counted are values that are derived from other constants or from the
//! format of numbers, what tests use, and [`NOT_CHOSEN`].

use std::fs;
use std::path::{Path, PathBuf};

/// At most so many. Lower it whenever a number goes; the goal is 60, all of them in `tolerances.rs`.
const MOST: usize = 150;

/// Numbers that follow from what they count: parts of shapes and how they are numbered, what a state consists of,
/// coefficients of series and differences.
const NOT_CHOSEN: [&str; 18] = [
    "geometry/box_parts.rs CORNERS",
    "geometry/box_parts.rs EDGES",
    "geometry/box_parts.rs FACES",
    "geometry/rim.rs BRANCHES",
    "geometry/round.rs ENDS",
    "geometry/round.rs LOWEST",
    "geometry/round.rs POINTS",
    "coupling/latency.rs PROBE",
    "coupling/latency.rs WEIGHTS",
    "coupling/position_rule.rs WEIGHTS",
    "law/continuous/hertz.rs DAMPING",
    "math/rotation.rs COS",
    "math/rotation.rs SERIES",
    "math/rotation.rs SINC",
    "scheme/repeat.rs CONTACT",
    "scheme/repeat.rs NODE",
    "scheme/repeat.rs POINT",
    "tape.rs CONSTANT",
];

#[test]
fn chosen_numbers_become_fewer() {
    let engine = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine"));
    let mut files = Vec::new();
    sources(engine, &mut files);
    let mut chosen = Vec::new();
    let mut exempt = Vec::new();
    for file in files {
        let name = file.strip_prefix(engine).unwrap().to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        if name == "tolerances.rs" {
            let fields = code.lines().filter(|line| line.starts_with("    pub "));
            chosen.extend(fields.map(|line| format!("{name} {}", line.trim())));
        } else if !name.ends_with("_tests.rs") && !name.ends_with("fixtures.rs") {
            for constant in code.lines().filter_map(constant) {
                let constant = format!("{name} {constant}");
                let list = if NOT_CHOSEN.contains(&constant.as_str()) { &mut exempt } else { &mut chosen };
                list.push(constant);
            }
        }
    }
    assert_eq!(exempt.len(), NOT_CHOSEN.len(), "every exemption is in use: {exempt:?}");
    let count = chosen.len();
    assert!(
        count <= MOST,
        "{count} chosen numbers, at most {MOST}; the last of them are\n{}",
        chosen.join("\n")
    );
}

/// The name of a constant with a value in digits.
fn constant(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (_, rest) =
        line.split_once("const ").filter(|(before, _)| before.is_empty() || before.starts_with("pub"))?;
    let (name, rest) = rest.split_once(": ")?;
    let (kind, value) = rest.split_once(" =")?;
    let kind = kind.trim_start_matches('[').split(';').next()?;
    let is_number = ["f64", "u8", "u16", "u32", "u64", "usize", "i32", "i64"].contains(&kind);
    // Other constants, and those of the format of numbers, are in capitals.
    let is_derived = value
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word.len() > 1 && word.starts_with(|c: char| c.is_ascii_uppercase()));
    (is_number && !is_derived).then_some(name)
}

#[test]
fn constants_are_read() {
    assert_eq!(constant("    const SHORT: f64 = 0.5;"), Some("SHORT"));
    assert_eq!(constant("pub(super) const PAIR: [u32; 2] = [2, 12];"), Some("PAIR"));
    assert_eq!(constant("const ROUND_OFF: f64 = 4.0 * f64::EPSILON;"), None);
    assert_eq!(constant("const SAMPLES: usize = ORDER + 1;"), None);
    assert_eq!(constant("const fn name() -> f64 {"), None);
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            sources(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}
