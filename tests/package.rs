//! The FMU as an archive: reproducible, complete, readable by every importer.

#![cfg(feature = "cli")]

use crate::support::{contact_fmu, fail, model, model_path, root, stderr, succeed};
use contact_fmu::examples;
use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::model::packed;
use contact_fmu::package::{self, PackageError, guid, runtime};
use contact_fmu::variables::{Causality, Variable};
use std::collections::BTreeSet;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zip::{CompressionMethod, ZipArchive};

fn fmu(name: &str) -> Vec<u8> {
    package::build(&model(name), FmiVersion::Two, &[]).expect("an FMU")
}

fn fmu3(name: &str) -> Vec<u8> {
    package::build(&model(name), FmiVersion::Three, &[]).expect("an FMU")
}

fn contents(fmu: &[u8], name: &str) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(fmu)).expect("an archive");
    let mut bytes = Vec::new();
    archive.by_name(name).expect(name).read_to_end(&mut bytes).expect("contents");
    bytes
}

fn contains(bytes: &[u8], part: &Path) -> bool {
    let part = part.to_str().expect("UTF-8").as_bytes();
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    for name in examples::names() {
        assert_eq!(fmu(name), fmu(name), "{name}");
        assert_eq!(fmu3(name), fmu3(name), "{name}");
    }
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for folder in [&one, &two] {
        succeed(folder.path(), &["build", model_path("bouncing_ball").to_str().unwrap()]);
    }
    let bytes = |folder: &TempDir| std::fs::read(folder.path().join("bouncing_ball.fmu")).unwrap();
    assert_eq!(bytes(&one), bytes(&two));
    assert_eq!(bytes(&one), fmu("bouncing_ball"));
}

#[test]
fn entries_come_in_their_order_with_fixed_dates_and_modes() {
    let fmu = fmu("tilted_plane");
    let mut archive = ZipArchive::new(Cursor::new(&fmu)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let mut expected = ["modelDescription.xml", "model.png", "terminalsAndIcons/terminalsAndIcons.xml"]
        .map(str::to_owned)
        .to_vec();
    for platform in runtime::platforms() {
        let extension = match platform {
            "win64" | "win32" => "dll",
            "darwin64" => "dylib",
            _ => "so",
        };
        expected.push(format!("binaries/{platform}/tilted_plane.{extension}"));
    }
    expected.extend(
        [
            "resources/model.bin",
            "resources/model.toml",
            "documentation/index.html",
            "documentation/licenses/license.txt",
            "documentation/licenses/LICENSE-APACHE",
            "documentation/licenses/LICENSE-MIT",
            "documentation/licenses/third-party.txt",
        ]
        .map(str::to_owned),
    );
    assert_eq!(names, expected);
    for index in 0..archive.len() {
        let entry = archive.by_index(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        let date = entry.last_modified().expect("a date");
        assert_eq!((date.datepart(), date.timepart()), (0x21, 0), "{name}: 1980-01-01 00:00");
        assert_eq!(entry.compression(), CompressionMethod::Deflated, "{name}");
        let mode = if name.starts_with("binaries/") { 0o100_755 } else { 0o100_644 };
        assert_eq!(entry.unix_mode(), Some(mode), "{name}");
        assert!(!name.contains('\\') && !name.starts_with('.'), "{name}");
    }
}

/// Read from the bytes, since a ZIP library would tell what it thinks is needed.
#[test]
fn no_entry_needs_more_than_zip_2_0() {
    let fmu = fmu("bouncing_ball");
    let word = |at: usize| u16::from_le_bytes([fmu[at], fmu[at + 1]]);
    let long = |at: usize| u32::from_le_bytes(fmu[at..at + 4].try_into().unwrap()) as usize;
    let end = fmu.len() - 22;
    assert_eq!(&fmu[end..end + 4], b"PK\x05\x06");
    let count = word(end + 10);
    assert!(count > 0);
    let mut at = long(end + 16);
    for _ in 0..count {
        assert_eq!(&fmu[at..at + 4], b"PK\x01\x02");
        assert!(word(at + 6) <= 20, "central directory");
        let local = long(at + 42);
        assert_eq!(&fmu[local..local + 4], b"PK\x03\x04");
        assert!(word(local + 4) <= 20, "local header");
        at += 46 + usize::from(word(at + 28)) + usize::from(word(at + 30)) + usize::from(word(at + 32));
    }
    assert_eq!(at, end);
}

#[test]
fn the_library_holds_no_path_of_this_machine() {
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| std::env::home_dir().expect("a home folder").join(".cargo"));
    for runtime in runtime::select(&[]).unwrap() {
        let files = [FmiVersion::Two, FmiVersion::Three].map(|version| runtime.files(version));
        for library in files.into_iter().flatten().map(|(_, file)| file.unpack()) {
            assert!(!contains(&library, root()), "{}: project folder", runtime.platform);
            assert!(!contains(&library, &cargo_home), "{}: cargo's home", runtime.platform);
        }
    }
}

#[test]
fn an_fmu_is_small() {
    for name in examples::names() {
        let size = fmu(name).len();
        assert!(size < 2_100_000 * runtime::platforms().len(), "{name}");
        assert!(3 * fmu3(name).len() < 4 * size, "{name}: FMI 3.0 takes less than a third more");
    }
}

#[test]
fn the_model_travels_with_its_source_and_guid() {
    for name in examples::names() {
        let source = model(name);
        let fmu = fmu(name);
        let (packed, packed_guid) = packed::read(&contents(&fmu, "resources/model.bin")).unwrap();
        assert_eq!(packed, source.model);
        assert_eq!(contents(&fmu, "resources/model.toml"), source.source.as_bytes());
        let xml = String::from_utf8(contents(&fmu, "modelDescription.xml")).unwrap();
        assert!(xml.contains(&format!("guid=\"{packed_guid}\"")), "{name}");
    }
}

#[test]
fn the_guid_follows_the_content() {
    let mut model = model("bouncing_ball").model;
    let first = guid::guid(&model);
    assert_eq!(first, guid::guid(&model));
    let groups: Vec<usize> = first.trim_matches(['{', '}']).split('-').map(str::len).collect();
    assert_eq!((first.len(), groups), (38, vec![8, 4, 4, 4, 12]));
    model.nodes[0].mass = 1.0 + f64::EPSILON;
    assert_ne!(first, guid::guid(&model));
}

#[test]
fn a_platform_that_is_not_there_is_refused_with_those_that_are() {
    let asked = ["amiga".to_owned()];
    let error = package::build(&model("bouncing_ball"), FmiVersion::Two, &asked).unwrap_err();
    let PackageError::UnknownPlatform { available, .. } = &error else { panic!("{error}") };
    assert_eq!(available, &runtime::platforms());
    let folder = TempDir::new().unwrap();
    let model = model_path("bouncing_ball");
    let text = fail(folder.path(), &["build", model.to_str().unwrap(), "--platform", "amiga"]);
    assert!(
        text.starts_with("error: no library for platform `amiga`: this contact-fmu can build for "),
        "{text}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn only_the_platforms_asked_for_are_packed() {
    let platform = runtime::platforms()[0];
    let fmu = package::build(&model("bouncing_ball"), FmiVersion::Two, &[platform.to_owned()]).unwrap();
    let archive = ZipArchive::new(Cursor::new(fmu)).unwrap();
    let names: Vec<_> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let libraries: Vec<_> = names.iter().filter(|name| name.starts_with("binaries/")).collect();
    assert_eq!(libraries.len(), 1);
    assert!(libraries[0].starts_with(&format!("binaries/{platform}/")));
}

#[test]
fn documentation_names_every_variable_and_escapes_text() {
    let mut source = model("double_impact");
    source.model.description = "<script>alert(\"1 & 2\")</script>".to_owned();
    let page = String::from_utf8(contents(
        &package::build(&source, FmiVersion::Two, &[]).unwrap(),
        "documentation/index.html",
    ))
    .unwrap();
    assert!(!page.contains("<script>") && !page.contains("{{"));
    assert!(page.contains("&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;"));
    assert!(!page.contains("http://") && !page.contains("https://"), "self-contained");
    let is_described = |variable: &Variable| variable.causality != Causality::Independent;
    for variable in contact_fmu::variables::table(&source.model).into_iter().filter(is_described) {
        assert!(page.contains(&format!("<code>{}</code>", variable.name)), "{}", variable.name);
    }
}

#[test]
fn the_license_list_names_every_package_in_the_library() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "fmu-template", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let tree = String::from_utf8(output.stdout).unwrap();
    let own = ["contact-fmu", "fmu-template"];
    // What a procedural macro needs runs in the compiler only.
    let compiler_only = ["proc-macro2", "quote", "serde_derive", "syn", "thiserror-impl", "unicode-ident"];
    let linked: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| !own.contains(name) && !compiler_only.contains(name))
        .collect();
    let list = include_str!("../fmu-template/skeleton/third-party.txt");
    let listed: BTreeSet<&str> =
        list.lines().filter(|line| !line.is_empty() && !line.contains(' ')).collect();
    assert_eq!(linked, listed);
}

#[test]
fn build_prints_the_path_and_replaces_an_old_file() {
    let folder = TempDir::new().unwrap();
    let model = model_path("bouncing_ball");
    let model = model.to_str().unwrap();
    assert_eq!(succeed(folder.path(), &["build", model]), "bouncing_ball.fmu\n");
    std::fs::write(folder.path().join("other.fmu"), "old").unwrap();
    assert_eq!(succeed(folder.path(), &["build", model, "-o", "other.fmu"]), "other.fmu\n");
    assert_eq!(std::fs::read(folder.path().join("other.fmu")).unwrap(), fmu("bouncing_ball"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    let text = fail(folder.path(), &["build", model, "-o", "no/such/folder/x.fmu"]);
    assert_eq!(text, "error: cannot write no/such/folder/x.fmu: there is no folder no/such/folder\n");
}

#[cfg(unix)]
#[test]
fn build_leaves_devices_in_place_and_files_readable_to_others() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = TempDir::new().unwrap();
    let model = model_path("bouncing_ball");
    succeed(folder.path(), &["build", model.to_str().unwrap(), "-o", "/dev/null"]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    succeed(folder.path(), &["build", model.to_str().unwrap()]);
    std::fs::write(folder.path().join("usual"), "").unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("bouncing_ball.fmu"), mode("usual"));
}

#[test]
fn inspect_and_the_documentation_tell_of_both_interfaces() {
    let folder = TempDir::new().unwrap();
    succeed(folder.path(), &["build", model_path("bouncing_ball").to_str().unwrap()]);
    let text = succeed(folder.path(), &["inspect", "bouncing_ball.fmu"]);
    for part in
        ["co-simulation bouncing_ball", "exchange      bouncing_ball", "completedIntegratorStepNotNeeded"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = String::from_utf8(contents(&fmu("bouncing_ball"), "documentation/index.html")).unwrap();
    assert!(
        page.contains("<h2>Model exchange</h2>")
            && page.contains("a time event every <code>engine.sample</code>")
    );
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let folder = TempDir::new().unwrap();
    for arguments in
        [&["build"][..], &["build", "x.toml", "--no-such-option"], &["simulate"], &["frobnicate"], &[]]
    {
        assert_eq!(contact_fmu(folder.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
    for command in ["build", "simulate", "inspect"] {
        let help = succeed(folder.path(), &[command, "--help"]);
        assert!(help.contains("Example"), "{command}");
    }
}
