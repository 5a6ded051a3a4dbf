//! What goes wrong around the command line: full disks, read-only folders, a kill in the middle, libraries that must not
//! be run. No half of a file is left, and the message says what happened.

#![cfg(all(feature = "cli", target_os = "linux"))]

use crate::missing::skip;
use crate::support;
use crate::support::{OTHER_TOOL_DESCRIPTION, archive, library_entry, model_path, stderr, succeed};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_contact-fmu");

fn shell(folder: &Path, script: &str) -> Output {
    Command::new("sh")
        .args(["-c", script])
        .env("PROGRAM", PROGRAM)
        .env("MODEL", model_path("bouncing_ball"))
        .current_dir(folder)
        .output()
        .expect("a shell")
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Fails with exit code 1 and a message with all of the parts.
fn assert_refused(output: &Output, parts: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("error: ") && parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn a_file_that_grows_too_large_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("old.fmu"), "old").unwrap();
    // Without the trap the system ends the program.
    let limited = "trap '' XFSZ; ulimit -f 100; exec";
    for (script, name) in [("build $MODEL -o new.fmu", "new.fmu"), ("build $MODEL -o old.fmu", "old.fmu")] {
        let output = shell(folder.path(), &format!("{limited} $PROGRAM {script}"));
        assert_refused(&output, &["cannot write", name]);
    }
    assert_eq!(files(folder.path()), ["old.fmu"]);
    assert_eq!(fs::read(folder.path().join("old.fmu")).unwrap(), b"old");

    succeed(folder.path(), &["build", model_path("bouncing_ball").to_str().unwrap(), "-o", "ball.fmu"]);
    // What is extracted is as large as the library.
    let scratch = TempDir::new().unwrap();
    let script =
        format!("{limited} env TMPDIR={} $PROGRAM simulate ball.fmu -o ball.csv", scratch.path().display());
    assert_refused(&shell(folder.path(), &script), &["cannot extract", "bouncing_ball.so"]);
    assert_eq!(files(folder.path()), ["ball.fmu", "old.fmu"]);
    assert_eq!(files(scratch.path()), [""; 0]);
}

#[test]
fn a_device_that_is_full_is_told() {
    let folder = TempDir::new().unwrap();
    for script in [
        "$PROGRAM build $MODEL -o /dev/full",
        "$PROGRAM simulate $MODEL -o /dev/full",
        "$PROGRAM simulate $MODEL > /dev/full",
        "$PROGRAM schema > /dev/full",
    ] {
        assert_refused(&shell(folder.path(), script), &["No space left on device"]);
    }
}

/// Runs a script with a file system of its own on `disk`; none where this user may not mount.
fn with_disk(folder: &Path, options: &str, script: &str) -> Option<Output> {
    fs::create_dir_all(folder.join("disk")).unwrap();
    let mount = format!("mount -t tmpfs -o {options} tmpfs disk || exit 77; {script}");
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", &mount])
        .env("PROGRAM", PROGRAM)
        .env("MODEL", model_path("bouncing_ball"))
        .current_dir(folder)
        .output();
    let Ok(output) = output else {
        skip("unshare");
        return None;
    };
    if output.status.code() == Some(77) || stderr(&output).contains("unshare") {
        skip("the right to mount a file system");
        return None;
    }
    Some(output)
}

#[test]
fn a_full_disk_keeps_what_was_there() {
    let folder = TempDir::new().unwrap();
    let script = "echo old > disk/ball.fmu; $PROGRAM build $MODEL -o disk/ball.fmu; code=$?; ls -A disk; cat disk/ball.fmu; exit $code";
    if let Some(output) = with_disk(folder.path(), "size=64k", script) {
        assert_refused(&output, &["cannot write disk/ball.fmu", "No space left on device"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ball.fmu\nold\n");
    }
    // The FMU of a model file is made in a temporary folder.
    let script = "TMPDIR=$PWD/disk $PROGRAM simulate $MODEL -o ball.csv; code=$?; ls -A disk; exit $code";
    if let Some(output) = with_disk(folder.path(), "size=64k", script) {
        assert_refused(&output, &["No space left on device"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    }
    assert_eq!(files(folder.path()), ["disk"]);
}

#[test]
fn a_read_only_folder_is_told() {
    let folder = TempDir::new().unwrap();
    for command in
        ["build $MODEL -o disk/ball.fmu", "simulate $MODEL -o disk/ball.csv", "modelica $MODEL -o disk/Ball"]
    {
        if let Some(output) = with_disk(folder.path(), "ro", &format!("$PROGRAM {command}")) {
            assert_refused(&output, &["cannot write disk/", "read-only"]);
        }
    }
}

#[test]
fn a_kill_in_the_middle_leaves_the_old_file_or_the_new_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ball.fmu");
    let model = model_path("bouncing_ball");
    succeed(folder.path(), &["build", model.to_str().unwrap(), "-o", "ball.fmu"]);
    let new = fs::read(&path).unwrap();
    let mut seen = [0; 2];
    for round in 0..40_u64 {
        fs::write(&path, "old").unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["build", model.to_str().unwrap(), "-o", "ball.fmu"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(5 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(&path).unwrap();
        seen[usize::from(found == new)] += 1;
        assert!(found == new || found == b"old", "round {round}: {} bytes", found.len());
    }
    assert!(seen[0] > 0, "no kill came early enough");
}

#[test]
fn the_next_build_removes_what_a_killed_one_left() {
    let folder = TempDir::new().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let left = |name: &str| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(long_ago).unwrap();
        file
    };
    drop(left(".contact-fmu-dead"));
    drop(left("dead"));
    let alive = left(".contact-fmu-alive");
    alive.lock().unwrap();
    fs::write(folder.path().join(".contact-fmu-young"), "").unwrap();
    succeed(folder.path(), &["build", model_path("bouncing_ball").to_str().unwrap(), "-o", "ball.fmu"]);
    assert_eq!(files(folder.path()), [".contact-fmu-alive", ".contact-fmu-young", "ball.fmu", "dead"]);
}

/// A library that leaves a file where it is loaded.
fn telltale(mark: &Path) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let source = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void mark(void)\n{{\n    FILE *f = fopen(\"{}\", \"w\");\n    if (f) fclose(f);\n}}\n",
        mark.display()
    );
    fs::write(folder.path().join("telltale.c"), source).unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "telltale.so", "telltale.c"])
        .current_dir(folder.path())
        .status()
        .expect("this test needs a C compiler called cc");
    assert!(status.success());
    fs::read(folder.path().join("telltale.so")).unwrap()
}

#[test]
fn inspect_runs_nothing_of_an_fmu() {
    let folder = TempDir::new().unwrap();
    let mark = folder.path().join("mark");
    let fmu = archive(&[
        ("modelDescription.xml", OTHER_TOOL_DESCRIPTION.as_bytes()),
        (&library_entry("lag"), &telltale(&mark)),
    ]);
    fs::write(folder.path().join("lag.fmu"), fmu).unwrap();
    for arguments in
        [&["inspect", "lag.fmu"][..], &["inspect", "lag.fmu", "--json"], &["ssp", "lag.fmu", "-o", "x.ssp"]]
    {
        support::contact_fmu(folder.path(), arguments);
        assert!(!mark.exists(), "{arguments:?}");
    }
    // And it would be seen: a simulation does load it.
    support::fail(folder.path(), &["simulate", "lag.fmu"]);
    assert!(mark.exists());
}

/// The description of the other tool's FMU with one text replaced, alone in an archive.
fn described(folder: &Path, from: &str, to: &str) {
    assert!(OTHER_TOOL_DESCRIPTION.contains(from));
    let text = OTHER_TOOL_DESCRIPTION.replacen(from, to, 1);
    let fmu = archive(&[("modelDescription.xml", text.as_bytes()), (&library_entry("lag"), b"no library")]);
    fs::write(folder.join("x.fmu"), fmu).unwrap();
}

#[test]
fn a_library_outside_of_the_fmu_is_not_loaded() {
    let folder = TempDir::new().unwrap();
    let mark = folder.path().join("mark");
    fs::write(folder.path().join("telltale.so"), telltale(&mark)).unwrap();
    let outside = folder.path().join("telltale");
    for identifier in [outside.to_str().unwrap(), "../../../x", "..\\x", ""] {
        described(folder.path(), "modelIdentifier=\"lag\"", &format!("modelIdentifier=\"{identifier}\""));
        let text = support::fail(folder.path(), &["simulate", "x.fmu"]);
        assert!(text.contains("is not the name of a file"), "{text}");
    }
    assert!(!mark.exists());
}

#[test]
fn descriptions_that_were_made_to_take_long_or_to_confuse_are_refused() {
    let folder = TempDir::new().unwrap();
    let refused = |from: &str, to: &str, part: &str| {
        described(folder.path(), from, to);
        for command in ["inspect", "simulate"] {
            let text = support::fail(folder.path(), &[command, "x.fmu"]);
            assert!(text.contains(part), "{text}");
        }
    };
    let deep = format!("<VendorAnnotations>{}", "<a>".repeat(1_000_000));
    refused("<ModelVariables>", &deep, "more than 100 elements are within one another");
    let wide: String = (0..200_000).map(|k| format!(" a{k}=\"\"")).collect();
    refused("<ModelVariables>", &format!("<ModelVariables{wide}>"), "more than 100 attributes");
    refused("modelName=\"", "modelName=\"\0", "control character");
    refused("modelName=\"", "modelName=\"\u{1b}[2J", "control character");
    refused("modelName=\"", "modelName=\"&#27;[2J", "control character");
    described(folder.path(), "stopTime=\"1\"", "stopTime=\"1\" startTime=\"nan\"");
    let text = support::fail(folder.path(), &["simulate", "x.fmu"]);
    assert!(text.contains("start time NaN s is not a finite number"), "{text}");
}

#[test]
fn names_in_archives_do_not_reach_the_terminal_raw() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x.fmu"), archive(&[("../\u{1b}[2J\u{9b}31m", b"")])).unwrap();
    let text = support::fail(folder.path(), &["inspect", "x.fmu"]);
    assert!(text.contains("points outside") && !text.contains(['\u{1b}', '\u{9b}']), "{text:?}");
    // C1 control characters are allowed in XML.
    described(folder.path(), "modelName=\"", "modelName=\"\u{9b}31m");
    let text = succeed(folder.path(), &["inspect", "x.fmu"]);
    assert!(!text.contains('\u{9b}'), "{text:?}");
}

#[test]
fn archives_that_tools_read_differently_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.fmu");
    let refused = |bytes: &[u8], part: &str| {
        fs::write(&path, bytes).unwrap();
        let text = support::fail(folder.path(), &["inspect", "x.fmu"]);
        assert!(text.contains(part), "{text}");
    };
    let description = ("modelDescription.xml", OTHER_TOOL_DESCRIPTION.as_bytes());
    let mut twice = archive(&[description, ("modelDescriptiox.xml", b"<other/>")]);
    let other = b"modelDescriptiox.xml";
    let places: Vec<usize> =
        (0..twice.len() - other.len()).filter(|&at| twice[at..].starts_with(other)).collect();
    assert_eq!(places.len(), 2, "in the file's own header and in the directory");
    for at in places {
        twice[at..at + other.len()].copy_from_slice(b"modelDescription.xml");
    }
    refused(&twice, "have the same name");
    refused(&archive(&[description, ("./modelDescription.xml", b"")]), "have the same name");
    refused(&archive(&[description, (&"a/".repeat(2000), b"")]), "more than 1000 bytes");
}

#[test]
fn a_bomb_is_refused_before_anything_is_extracted() {
    let folder = TempDir::new().unwrap();
    let mut fmu = archive(&[
        ("modelDescription.xml", OTHER_TOOL_DESCRIPTION.as_bytes()),
        ("resources/bomb", &[0; 100_000]),
    ]);
    // The directory says that it is 4 GiB less a byte.
    let name = b"resources/bomb";
    let at = (0..fmu.len()).rev().find(|&at| fmu[at..].starts_with(name)).unwrap() - 46;
    assert!(fmu[at..].starts_with(b"PK\x01\x02"));
    fmu[at + 24..at + 28].copy_from_slice(&u32::to_le_bytes(u32::MAX - 1));
    fs::write(folder.path().join("x.fmu"), fmu).unwrap();
    let text = support::fail(folder.path(), &["inspect", "x.fmu"]);
    assert!(text.contains("holds more than 4000 MB"), "{text}");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    assert!(shell(folder.path(), "mkfifo pipe.fmu pipe.stl").status.success());
    assert_refused(&shell(folder.path(), "timeout 5 $PROGRAM inspect pipe.fmu"), &["a device or a pipe"]);
    let model = "[model]\nname = \"m\"\n[[node]]\nname = \"a\"\ncoupling = \"owned\"\nmass = 1\ninertia = [1, 1, 1]\nshape.hull.file = \"pipe.stl\"\n";
    fs::write(folder.path().join("m.toml"), model).unwrap();
    assert_refused(&shell(folder.path(), "timeout 5 $PROGRAM check m.toml"), &["not a file"]);
}

#[test]
fn a_problem_on_one_line_takes_no_longer() {
    let folder = TempDir::new().unwrap();
    const SIZE: usize = 700;
    let mut numbers = vec![SIZE.to_string()];
    for row in 0..SIZE {
        numbers.extend((0..SIZE).map(|column| if row == column { "2".to_owned() } else { "0".to_owned() }));
    }
    numbers.extend((0..SIZE).map(|_| "-1".to_owned()));
    fs::write(folder.path().join("line.lcp.txt"), numbers.join(" ")).unwrap();
    let output = shell(folder.path(), "timeout 20 $PROGRAM solve line.lcp.txt --json");
    assert!(output.status.success(), "{}", stderr(&output));
}
