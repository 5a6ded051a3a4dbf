//! Models of this repository and FMUs of them, for all importers.
//!
//! `CONTACT_FMU` names the builder's executable.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Part of a number by which it may differ between versions of FMI.
pub const SAME: f64 = 1e-12;

/// Does `run` with each model, one on each processor at a time.
pub fn for_each_model(run: impl Fn(&str) + Sync) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let models: Vec<String> = entries.filter(|path| path.is_dir()).map(name).collect();
    assert!(models.len() >= 20);
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run(model);
                }
            });
        }
    });
}

/// Runs `contact-fmu`.
pub fn builder<'a>(arguments: impl IntoIterator<Item = &'a str>) {
    let executable = std::env::var("CONTACT_FMU").expect("CONTACT_FMU names the contact-fmu executable");
    let mut command = Command::new(executable);
    let status = command.args(arguments).status().expect("the builder starts");
    assert!(status.success(), "{command:?}");
}

/// An FMU that was just built, for one test alone: a library that another one has loaded must not be written.
pub fn built(model: &str, version: &str, test: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(model).join("model.toml");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let fmu = folder.join(format!("{model}{version}.fmu"));
    builder(["build", "--fmi", version, "-o", fmu.to_str().unwrap(), source.to_str().unwrap()]);
    fmu
}

/// Numbers of two versions, or two importers, are the same.
pub fn assert_same(one: f64, other: f64, what: impl FnOnce() -> String) {
    let error = (one - other).abs();
    assert!(error <= SAME * one.abs().max(1.0), "{}: {one}, {other}", what());
}
