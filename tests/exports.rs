//! The commands `modelica` and `ssp` through the built executable: what is written, replaced and refused.
//! What the packages do is in `tests/validation`.

#![cfg(feature = "cli")]

use crate::support::{contact_fmu, fail, model_path, root, stderr, succeed};
use contact_fmu::package::runtime;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Contents of all files below a folder, by path.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = contents(&path).into_iter();
            found.extend(inner.map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

fn text<'a>(files: &'a BTreeMap<String, Vec<u8>>, path: &str) -> &'a str {
    std::str::from_utf8(&files[path]).unwrap()
}

fn ball() -> String {
    model_path("coupled_ball").to_str().unwrap().to_owned()
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_package_has_models_libraries_and_licenses() {
    let folder = TempDir::new().unwrap();
    assert_eq!(succeed(folder.path(), &["modelica", &ball()]), "coupled_ball\n");
    assert_eq!(entries(folder.path()), ["coupled_ball"], "no temporary folder is left");
    let files = contents(&folder.path().join("coupled_ball"));
    for runtime in runtime::select(&[]).unwrap() {
        let path = format!("Resources/Library/{}/contact_fmu.{}", runtime.platform, runtime.extension);
        assert_eq!(files[&path], runtime.library().unpack());
    }
    for path in [
        "package.mo",
        "package.order",
        "ContactNode.mo",
        "Examples/PendulumOnFloor.mo",
        "Internal/Engine.mo",
        "Resources/Include/ContactFmu.h",
        "Resources/Data/ContactNode/model.bin",
        "Resources/Data/PendulumTip/model.bin",
        "Resources/Licenses/license.txt",
    ] {
        assert!(!files[path].is_empty(), "{path}");
    }
    let source = fs::read(model_path("coupled_ball")).unwrap();
    assert_eq!(files["Resources/Data/ContactNode/model.toml"], source);
    let package = text(&files, "package.mo");
    assert!(package.starts_with("package coupled_ball "));
    assert!(package.contains("uses(Modelica(version = \"4.0.0\"))") && package.contains("Icon("));
    let listed: Vec<&str> = text(&files, "Resources/contact-fmu-files.txt").lines().collect();
    assert_eq!(listed, files.keys().collect::<Vec<_>>());
    let machine = root().to_str().unwrap().as_bytes();
    for (path, bytes) in &files {
        assert!(
            !bytes.windows(machine.len()).any(|window| window == machine),
            "{path}: path of this machine"
        );
    }
}

#[test]
fn two_runs_give_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let couplings = fs::read_to_string(root().join("tests/fixtures/couplings.toml")).unwrap();
    fs::write(folder.path().join("all.toml"), couplings.replace("iterative = true\n", "")).unwrap();
    fs::create_dir(folder.path().join("again")).unwrap();
    for name in ["All", "again/All"] {
        succeed(folder.path(), &["modelica", "all.toml", "-o", name]);
        succeed(folder.path(), &["ssp", "all.toml", "-o", &format!("{name}.ssp")]);
    }
    let [first, second] = ["All", "again/All"].map(|name| contents(&folder.path().join(name)));
    assert!(first.contains_key("ContactSystem.mo"));
    assert_eq!(first, second);
    let [first, second] =
        ["All.ssp", "again/All.ssp"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(first, second);
}

#[test]
fn a_package_is_replaced_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let drop = model_path("bouncing_ball").to_str().unwrap().to_owned();
    fs::create_dir(folder.path().join("Pack")).unwrap();
    succeed(folder.path(), &["modelica", &ball(), "-o", "Pack"]);
    assert!(folder.path().join("Pack/ContactNode.mo").exists(), "an empty folder is filled");
    assert_eq!(succeed(folder.path(), &["modelica", &drop, "-o", "Pack/"]), "Pack\n");
    assert!(folder.path().join("Pack/ContactSystem.mo").exists());
    assert!(!folder.path().join("Pack/ContactNode.mo").exists());
    let before = contents(folder.path());
    fs::write(folder.path().join("Pack/Internal/Mine.mo"), "precious").unwrap();
    assert_eq!(
        fail(folder.path(), &["modelica", &ball(), "-o", "Pack"]),
        "error: Pack is there already and holds Internal/Mine.mo, which contact-fmu has not written\n\
         hint: choose another folder, or remove it first\n"
    );
    fs::remove_file(folder.path().join("Pack/Internal/Mine.mo")).unwrap();
    assert_eq!(contents(folder.path()), before);
    fs::write(folder.path().join("File"), "precious").unwrap();
    let message = fail(folder.path(), &["modelica", &ball(), "-o", "File"]);
    assert!(message.starts_with("error: File is a file, not a folder\n"), "{message}");
    assert_eq!(fs::read_to_string(folder.path().join("File")).unwrap(), "precious");
    let message = fail(folder.path(), &["modelica", &ball(), "-o", "no/such/Pack"]);
    assert_eq!(message, "error: cannot write no/such/Pack: there is no folder no/such\n");
    assert_eq!(entries(folder.path()), ["File", "Pack"]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_folders_are_readable_to_others() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    symlink("elsewhere", folder.path().join("Pack")).unwrap();
    for _ in 0..2 {
        succeed(folder.path(), &["modelica", &ball(), "-o", "Pack"]);
        assert!(fs::symlink_metadata(folder.path().join("Pack")).unwrap().is_symlink());
        assert!(folder.path().join("elsewhere/package.mo").exists());
    }
    fs::create_dir(folder.path().join("usual")).unwrap();
    fs::write(folder.path().join("usual/file"), "").unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("Pack"), mode("usual"));
    assert_eq!(mode("Pack/package.mo"), mode("usual/file"));
    assert_eq!(entries(folder.path()), ["Pack", "elsewhere", "usual"]);
}

#[test]
fn the_folder_names_the_package() {
    let folder = TempDir::new().unwrap();
    succeed(folder.path(), &["modelica", &ball(), "-o", "MyContact"]);
    let files = contents(&folder.path().join("MyContact"));
    assert!(text(&files, "Internal/step.mo").starts_with("within MyContact.Internal;\n"));
    assert!(text(&files, "ContactNode.mo").contains("modelica://MyContact/Resources/Library"));
    for (name, reason) in [
        ("my-contact", "not a Modelica identifier"),
        ("when", "a keyword of Modelica"),
        ("Modelica", "that of the Modelica Standard Library"),
        (".", "not a Modelica identifier"),
    ] {
        let output = contact_fmu(folder.path(), &["modelica", &ball(), "-o", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(reason), "{name}: {}", stderr(&output));
    }
    let model = fs::read_to_string(model_path("coupled_ball")).unwrap();
    let model = model.replace("name = \"coupled_ball\"", "name = \"model\"");
    fs::write(folder.path().join("model.toml"), model).unwrap();
    let message = fail(folder.path(), &["modelica", "model.toml"]);
    assert!(message.contains("`model` is a keyword of Modelica"), "{message}");
    assert_eq!(entries(folder.path()), ["MyContact", "model.toml"]);
}

#[test]
fn text_of_the_user_is_escaped() {
    let folder = TempDir::new().unwrap();
    let description = r#"description = 'a "ball" \ <b> & {{guid}}'"#;
    let model = fs::read_to_string(model_path("coupled_ball")).unwrap();
    let line = model.lines().find(|line| line.starts_with("description")).unwrap();
    fs::write(folder.path().join("quoted.toml"), model.replace(line, description)).unwrap();
    succeed(folder.path(), &["modelica", "quoted.toml", "-o", "Quoted"]);
    let files = contents(&folder.path().join("Quoted"));
    let class = text(&files, "ContactNode.mo");
    assert!(class.contains(r#"model ContactNode "a \"ball\" \\ <b> & {{guid}}""#));
    assert!(class.contains(r#"<p>a \"ball\" \\ &lt;b&gt; &amp; {{guid}}</p>"#));
    assert!(text(&files, "package.mo").contains(r#"package Quoted "a \"ball\" \\ <b> & {{guid}}""#));
}

#[test]
fn names_that_meet_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let model = r#"
        [model]
        name = "meet"
        [[node]]
        name = "x"
        mass = 1.0
        [[node]]
        name = "x_f"
        coupling = "owned"
        mass = 1.0
        inertia = [1.0, 1.0, 1.0]
        [[surface]]
        name = "floor"
        shape.plane.normal = [0.0, 0.0, 1.0]
        [[contact]]
        name = "x_"
        between = ["x", "floor"]
        [[contact]]
        name = "x_f_"
        between = ["x_f", "floor"]
    "#;
    fs::write(folder.path().join("meet.toml"), model).unwrap();
    succeed(folder.path(), &["modelica", "meet.toml", "-o", "Meet"]);
    let files = contents(&folder.path().join("Meet"));
    let class = text(&files, "ContactNode.mo");
    let mut names: Vec<&str> = class
        .lines()
        .filter(|line| {
            line.starts_with("  SI.") || line.starts_with("  Real ") || line.starts_with("  Integer ")
        })
        .map(|line| line.split_whitespace().nth(1).unwrap().split(['[', '(']).next().unwrap())
        .collect();
    assert!(names.contains(&"x__f_t") && names.contains(&"x_f_t"), "{names:?}");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = TempDir::new().unwrap();
    let couplings = root().join("tests/fixtures/couplings.toml");
    let message = fail(folder.path(), &["modelica", couplings.to_str().unwrap(), "-o", "Pack"]);
    assert_eq!(
        message,
        "error: node `again` has iterative = true, but a Modelica simulation does not repeat its periods: leave it out\n"
    );
    let message = fail(folder.path(), &["modelica", &ball(), "-o", "Pack", "--platform", "amiga"]);
    assert!(message.starts_with("error: no library for platform `amiga`"), "{message}");
    fs::write(folder.path().join("bad.fmu"), "not an archive").unwrap();
    let message = fail(folder.path(), &["ssp", &ball(), "--with", "bad.fmu", "-o", "x.ssp"]);
    assert!(message.starts_with("error: bad.fmu is not an FMU"), "{message}");
    for (wish, reason) in [
        ("nothing", "`nothing` is not of the form COMPONENT.OUTPUT=COMPONENT.INPUT"),
        (
            "coupled_ball.ball.f[4]=coupled_ball.ball.r[3]",
            "there is no output `coupled_ball.ball.f[4]`, the nearest is `coupled_ball.ball.f[1]`",
        ),
        (
            "coupled_ball.ball.f[3]=coupled_ball.ball.r[3]",
            "`coupled_ball.ball.f[3]` and `coupled_ball.ball.r[3]` cannot be connected: one is in N, the other in m",
        ),
        (
            "coupled_ball.ball.latency=coupled_ball.ball.r[3]",
            "`coupled_ball.ball.latency` and `coupled_ball.ball.r[3]` cannot be connected: one is Integer, the other Real",
        ),
    ] {
        let message = fail(folder.path(), &["ssp", &ball(), "--connect", wish, "-o", "x.ssp"]);
        assert_eq!(message, format!("error: {reason}\n"));
    }
    let twice = "coupled_ball.ball.f[3]=coupled_ball.ball.f_ext[3]";
    let message =
        fail(folder.path(), &["ssp", &ball(), "--connect", twice, "--connect", twice, "-o", "x.ssp"]);
    assert_eq!(message, "error: `coupled_ball.ball.f_ext[3]` would be connected twice\n");
    let message = fail(folder.path(), &["ssp", &ball(), "-o", "no/such/x.ssp"]);
    assert_eq!(message, "error: cannot write no/such/x.ssp: there is no folder no/such\n");
    assert_eq!(entries(folder.path()), ["bad.fmu"]);
}

#[test]
fn help_shows_examples_and_wrong_usage_is_exit_code_2() {
    let folder = TempDir::new().unwrap();
    for command in ["modelica", "ssp"] {
        assert!(succeed(folder.path(), &[command, "--help"]).contains("Examples:"), "{command}");
        for arguments in [&[command][..], &[command, "x.toml", "--no-such-option"]] {
            assert_eq!(contact_fmu(folder.path(), arguments).status.code(), Some(2), "{arguments:?}");
        }
    }
    assert_eq!(succeed(folder.path(), &["ssp", &ball()]), "coupled_ball.ssp\n");
    assert_eq!(entries(folder.path()), ["coupled_ball.ssp"]);
}
