//! What several tests need: running the command line, archives, the FMU of another tool.

#![allow(dead_code, reason = "no test uses all of it")]

use contact_fmu::model::file::{self, SourceModel};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn model_path(name: &str) -> PathBuf {
    root().join("models").join(name).join("model.toml")
}

pub fn model(name: &str) -> SourceModel {
    file::read(&model_path(name)).expect("a good model")
}

/// Runs `contact-fmu` in `folder`.
pub fn contact_fmu(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_contact-fmu"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("contact-fmu starts")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Standard output of a run that must succeed.
pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = contact_fmu(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// Standard error of a run that must fail with exit code 1.
pub fn fail(folder: &Path, arguments: &[&str]) -> String {
    let output = contact_fmu(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stderr(&output));
    stderr(&output)
}

pub fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in entries {
        archive.start_file(*name, SimpleFileOptions::default()).expect("an entry");
        archive.write_all(contents).expect("contents");
    }
    archive.finish().expect("an archive").into_inner()
}

pub const OTHER_TOOL_DESCRIPTION: &str = include_str!("../fixtures/other_tool/modelDescription.xml");

/// The library of `fixtures/other_tool`, made by the C compiler.
pub static OTHER_TOOL_LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a folder");
    let library = folder.path().join("lag.so");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&library)
        .arg(root().join("tests/fixtures/other_tool/lag.c"))
        .arg("-lm")
        .status()
        .expect("this test needs a C compiler called cc");
    assert!(status.success(), "lag.c compiles");
    std::fs::read(library).expect("the library")
});

/// Path of the library in an FMU for this machine.
pub fn library_entry(identifier: &str) -> String {
    let platform = contact_fmu::master::extract::THIS_PLATFORM;
    format!("binaries/{platform}/{identifier}{}", std::env::consts::DLL_SUFFIX)
}

/// A folder with `lag.fmu` of another tool.
pub fn other_tool() -> TempDir {
    let folder = TempDir::with_prefix("other tool ").expect("a folder");
    let fmu = archive(&[
        ("modelDescription.xml", OTHER_TOOL_DESCRIPTION.as_bytes()),
        (&library_entry("lag"), &OTHER_TOOL_LIBRARY),
    ]);
    std::fs::write(folder.path().join("lag.fmu"), fmu).expect("lag.fmu");
    folder
}

/// A table of results.
pub struct Csv {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Csv {
    pub fn parse(text: &str) -> Csv {
        let table = contact_fmu::master::csv::Table::parse(text).expect("a table");
        Csv { header: table.header, rows: table.rows.into_iter().map(|(_, row)| row).collect() }
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        let column = self.header.iter().position(|header| header == name).expect("the column");
        self.rows.iter().map(|row| row[column].as_str()).collect()
    }

    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.texts(name).into_iter().map(|text| text.parse().expect("a number")).collect()
    }
}
