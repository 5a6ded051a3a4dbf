//! Tests that need what is not there say so, and the test command counts them at its end (`scripts/test`).

use std::io::Write;
use std::path::{Path, PathBuf};

/// Tells that the test that runs is skipped, for want of `what`.
pub fn skip(what: &str) {
    println!("skipped: {what} is missing");
    let folder = std::env::var_os("CONTACT_FMU_RECORD")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/record"), PathBuf::from);
    std::fs::create_dir_all(&folder).expect("a folder for what was skipped");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("skipped.txt"));
    writeln!(file.expect("a list of what was skipped"), "{what}").expect("a line of it");
}
