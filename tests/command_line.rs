//! The commands `new`, `check` and `schema` through the built executable.

#![cfg(feature = "cli")]

use contact_fmu::examples;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn contact_fmu(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_contact-fmu")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn new_writes_a_file_that_check_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let output = contact_fmu(folder.path(), &["new", "my_ball"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "my_ball.toml\n");
    assert_eq!(text(&output.stderr), "");
    let output = contact_fmu(folder.path(), &["check", "my_ball.toml"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(text(&output.stderr), "ok: my_ball: 1 node, 1 surface, 1 contact\n");
    let written = fs::read_to_string(folder.path().join("my_ball.toml")).unwrap();
    assert!(written.starts_with("#:schema ./contact-fmu.schema.json\n"));
    let schema = fs::read_to_string(folder.path().join("contact-fmu.schema.json")).unwrap();
    assert_eq!(schema, text(&contact_fmu(folder.path(), &["schema"]).stdout));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn new_leaves_a_schema_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("contact-fmu.schema.json"), "precious").unwrap();
    assert_eq!(contact_fmu(folder.path(), &["new", "mine"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(folder.path().join("contact-fmu.schema.json")).unwrap(), "precious");
}

#[test]
fn new_takes_a_path() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let output = contact_fmu(folder.path(), &["new", "sub/drop.toml"]);
    assert_eq!(text(&output.stdout), "sub/drop.toml\n");
    let output = contact_fmu(folder.path(), &["check", "sub/drop.toml"]);
    assert!(text(&output.stderr).starts_with("ok: drop: "));
    let output = contact_fmu(folder.path(), &["new", "nowhere/drop.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "error: cannot write nowhere/drop.toml: there is no folder nowhere\n");
}

#[test]
fn new_takes_a_name_that_editors_recognise() {
    let folder = tempfile::tempdir().unwrap();
    let output = contact_fmu(folder.path(), &["new", "drop.contact.toml"]);
    assert_eq!(text(&output.stdout), "drop.contact.toml\n");
    let written = fs::read_to_string(folder.path().join("drop.contact.toml")).unwrap();
    assert!(written.contains("contact-fmu check drop.contact.toml\n"));
    assert!(written.contains("name = \"drop\" "));
    let output = contact_fmu(folder.path(), &["build", "drop.contact.toml"]);
    assert_eq!(text(&output.stdout), "drop.fmu\n");
    let output = contact_fmu(folder.path(), &["new", "other.contact"]);
    assert_eq!(text(&output.stdout), "other.contact.toml\n");
}

#[cfg(unix)]
#[test]
fn new_files_have_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    contact_fmu(folder.path(), &["new", "mine"]);
    fs::write(folder.path().join("usual"), "").unwrap();
    let mode = |name| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("mine.toml"), mode("usual"));
}

#[test]
fn new_like_copies_every_example() {
    let folder = tempfile::tempdir().unwrap();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut there: Vec<String> = fs::read_dir(&models)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("model.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(examples::names().collect::<Vec<_>>(), there);
    for example in examples::names() {
        let name = format!("copy_of_{example}");
        let output = contact_fmu(folder.path(), &["new", &name, "--like", example]);
        assert_eq!(output.status.code(), Some(0), "{example}");
        let original = fs::read_to_string(models.join(example).join("model.toml")).unwrap();
        let copy = fs::read_to_string(folder.path().join(format!("{name}.toml"))).unwrap();
        assert_eq!(copy, original.replacen(&format!("\"{example}\""), &format!("\"{name}\""), 1));
        let output = contact_fmu(folder.path(), &["check", &format!("{name}.toml")]);
        assert!(text(&output.stderr).starts_with(&format!("ok: {name}: ")));
    }
}

#[test]
fn new_refuses_an_unknown_example() {
    let folder = tempfile::tempdir().unwrap();
    let output = contact_fmu(folder.path(), &["new", "x", "--like", "tiled_plane"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.starts_with("error: invalid value 'tiled_plane' for '--like <EXAMPLE>'\n"), "{message}");
    assert!(message.contains("tip: a similar value exists: 'tilted_plane'"), "{message}");
    assert!(examples::names().all(|example| message.contains(example)), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn new_does_not_overwrite() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "precious").unwrap();
    let output = contact_fmu(folder.path(), &["new", "mine"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(
        text(&output.stderr),
        "error: mine.toml already exists\nhint: choose another name, or remove the file first\n"
    );
    assert_eq!(fs::read_to_string(folder.path().join("mine.toml")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn new_refuses_names_that_are_no_c_identifier() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["my-model", "2balls", "int", ".toml", "a.b"] {
        let output = contact_fmu(folder.path(), &["new", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains(": the model name `"), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn check_points_at_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let source = "[model]\nname = \"ball\"\n[[node]]\nname = \"ball\"\ncoupling = \"owned\"\nmass = -1\n";
    fs::write(folder.path().join("bad.toml"), source).unwrap();
    let output = contact_fmu(folder.path(), &["check", "bad.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(
        text(&output.stderr),
        "error: `mass` must be above 0, found -1\n  --> bad.toml:6:8\n  |\n6 | mass = -1\n  |        ^^\n\
         hint: Number above 0 in kg, required: mass.\n"
    );
}

#[test]
fn check_without_a_file_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(contact_fmu(folder.path(), &["check"]).status.code(), Some(2));
    assert_eq!(contact_fmu(folder.path(), &["check", "missing.toml"]).status.code(), Some(1));
}

#[test]
fn schema_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let output = contact_fmu(folder.path(), &["schema"]);
    assert_eq!(output.status.code(), Some(0));
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(&schema, contact_fmu::model::file::schema().as_value());
}

#[test]
fn closed_output_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_contact-fmu"))
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn help_shows_an_example() {
    for command in ["new", "check", "schema"] {
        let output = contact_fmu(Path::new("."), &[command, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains(&format!("\n  contact-fmu {command}")), "{command}");
    }
}
