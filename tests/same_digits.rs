//! Results have the same bits on every platform: what rounds differently between systems is not used.
//!
//! `scripts/all-platforms --check` compares runs on several platforms.

#![cfg(feature = "cli")]

use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::package::runtime;
use std::fs;
use std::path::{Path, PathBuf};

/// Methods of `f64` that are not exact, or not specified.
const METHODS: [&str; 27] = [
    "sin", "cos", "tan", "sin_cos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "powi", "cbrt",
    "hypot", "mul_add",
];

/// Functions of the C library behind them.
const FUNCTIONS: [&str; 27] = [
    "sin", "cos", "tan", "sincos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "pow", "cbrt", "hypot", "tgamma",
    "lgamma", "fma",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Uses of functions that are not exact, outside of tests and comments.
fn uses(source: &str) -> Vec<String> {
    let own = source.split("#[cfg(test)]").next().unwrap_or_default();
    let own = own.split("#![cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for line in own.lines() {
        let code = line.split("//").next().unwrap_or_default();
        // A square is one multiplication in whatever way it is compiled.
        let code = code.replace(".powi(2)", "");
        for name in METHODS {
            if code.contains(&format!(".{name}(")) || code.contains(&format!("f64::{name}")) {
                found.push(line.trim().to_owned());
            }
        }
    }
    found
}

#[test]
fn what_runs_in_the_fmu_uses_its_own_elementary_functions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src/engine", "src/model", "src/variables", "fmu-template/src"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    for file in files {
        let found = uses(&fs::read_to_string(&file).expect("text"));
        // A message goes to the logger.
        let found: Vec<_> = found.iter().filter(|line| !line.contains("logger.log(")).collect();
        assert!(
            found.is_empty(),
            "{} does not take these from engine::elementary:\n{found:#?}",
            file.strip_prefix(root).unwrap().display()
        );
    }
}

#[test]
fn uses_are_found() {
    assert_eq!(uses("let a = b.powi(2) + hypot(c, d); // e.sin()"), [""; 0]);
    assert_eq!(uses("let a = b.powi(3);\n    .sin()\n"), ["let a = b.powi(3);", ".sin()"]);
    assert_eq!(uses("x.map(f64::exp)\n#[cfg(test)]\ny.cos()"), ["x.map(f64::exp)"]);
}

/// Which functions a library names: names end with a zero, and Mach-O puts a line before them.
fn named(library: &[u8], functions: &[&'static str]) -> Vec<&'static str> {
    let is_part_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut found = Vec::new();
    for text in library.split(|byte| *byte == 0) {
        let start = text.iter().rposition(|byte| !is_part_of_name(byte)).map_or(0, |before| before + 1);
        let name = &text[start..];
        let name = name.strip_prefix(b"_").unwrap_or(name);
        found.extend(functions.iter().filter(|function| function.as_bytes() == name));
    }
    found
}

#[test]
fn no_embedded_library_asks_its_system_for_elementary_functions() {
    assert_eq!(named(b"\0_hypot\0fmi2sin\0sinf\0\x04\x05cos\0", &FUNCTIONS), ["hypot", "cos"]);
    for runtime in runtime::select(&[]).unwrap() {
        let files = [FmiVersion::Two, FmiVersion::Three].map(|version| runtime.files(version));
        for library in files.into_iter().flatten().map(|(_, file)| file.unpack()) {
            assert!(!named(&library, &["memcpy"]).is_empty(), "{}: names can be read", runtime.platform);
            assert_eq!(named(&library, &FUNCTIONS), [""; 0], "{}", runtime.platform);
        }
    }
}
