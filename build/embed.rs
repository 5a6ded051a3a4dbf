//! Provides the libraries that the builder packs into FMUs, and the list of example models.
//!
//! Builds the libraries of `fmu-template` for FMI 2.0 and 3.0 for the target by a nested cargo, or takes the libraries of the folder that
//! `FMU_RUNTIME_DIR` names (`linux64/`, `win64/`, ...), and writes `$OUT_DIR/runtimes.rs`, which embeds them. `$OUT_DIR/examples.rs` embeds
//! `models/*/model.toml` and the shapes beside them.

use super::packed;
use super::platforms::{self, Libraries, Platform, VERSIONS};
use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the library inside the FMU is made of.
const RUNTIME_SOURCES: [&str; 15] = [
    "build",
    "build.rs",
    "Cargo.toml",
    "Cargo.lock",
    "fmu-template/Cargo.toml",
    "fmu-template/fmi2",
    "fmu-template/fmi3",
    "fmu-template/src",
    "src/lib.rs",
    "src/engine",
    "src/fmi_version.rs",
    "src/log_categories.rs",
    "src/model",
    "src/saved_state.rs",
    "src/variables",
];

/// How the names of the packages and of their libraries begin; they end in the version.
const PACKAGE: &str = "fmu-";
const LIBRARY: &str = "contact_fmu_";

pub fn run() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=FMU_RUNTIME_DIR");
    let out = path_variable("OUT_DIR")?;
    let libraries = match env::var_os("FMU_RUNTIME_DIR") {
        Some(folder) => {
            println!("cargo::rerun-if-changed={}", Path::new(&folder).display());
            platforms::libraries_in(Path::new(&folder))
                .map_err(|error| format!("FMU_RUNTIME_DIR: {error}"))?
        }
        None => vec![build_libraries(&out)?],
    };
    embed(&libraries, &out)?;
    embed_examples(&out)
}

fn path_variable(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set: run through cargo").into())
}

/// Builds the libraries for the target of this build. What they have in common is compiled once.
fn build_libraries(out: &Path) -> Result<Libraries, Box<dyn Error>> {
    for source in RUNTIME_SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let root = path_variable("CARGO_MANIFEST_DIR")?;
    let target = env::var("TARGET")?;
    let platform = platforms::of_target(&target).ok_or_else(|| {
        format!(
            "FMI 2.0 has no platform name for {target}: set FMU_RUNTIME_DIR to a folder with ready libraries"
        )
    })?;
    // Not the folder of this build, which cargo keeps locked; shared by debug and release builds.
    let target_dir = out
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists())
        .map_or_else(|| out.join("fmu"), |folder| folder.join("fmu"));
    let mut cargo = Command::new(path_variable("CARGO")?);
    cargo.args(["build", "--locked", "--quiet", "--profile", "fmu"]);
    for version in VERSIONS {
        cargo.args(["--package", &format!("{PACKAGE}{version}")]);
    }
    cargo
        .args(["--target", &target, "--target-dir"])
        .arg(&target_dir)
        .current_dir(&root)
        // Standard output is what cargo reads instructions from.
        .stdout(Stdio::null());
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(changes_the_library) {
            cargo.env_remove(&name);
        }
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(&root, &target_dir)?.join("\u{1f}"));
    let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!(
            "the libraries packed into FMUs (fmu-template) did not build for {target}; the messages are above"
        )
        .into());
    }
    let prefix = if platform.extension == "dll" { "" } else { "lib" };
    let folder = target_dir.join(target).join("fmu");
    let library = |version| folder.join(format!("{prefix}{LIBRARY}{version}.{}", platform.extension));
    Ok((platform, VERSIONS.map(library)))
}

/// Variables of the outer build that would make the library depend on how the builder is built.
fn changes_the_library(name: &str) -> bool {
    ["CARGO_PROFILE_", "CARGO_BUILD_", "CARGO_FEATURE_", "CARGO_CFG_"]
        .iter()
        .any(|start| name.starts_with(start))
        || matches!(
            name,
            "RUSTFLAGS"
                | "CARGO_ENCODED_RUSTFLAGS"
                | "CARGO_TARGET_DIR"
                | "CARGO_INCREMENTAL"
                | "RUSTC_WRAPPER"
                | "RUSTC_WORKSPACE_WRAPPER"
        )
}

/// Compiler flags that keep the paths of this machine out of the library.
fn remapped_paths(root: &Path, target_dir: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let rustc = path_variable("RUSTC")?;
    let sysroot = Command::new(&rustc).args(["--print", "sysroot"]).output()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout)?.trim_end());
    let cargo_home =
        env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let mut folders =
        vec![(sysroot, "/rust"), (root.to_owned(), "/contact-fmu"), (target_dir.to_owned(), "/target")];
    folders.extend(cargo_home.map(|folder| (folder, "/cargo")));
    folders
        .into_iter()
        .map(|(folder, name)| {
            let folder = folder.to_str().ok_or_else(|| format!("{} is not UTF-8", folder.display()))?;
            Ok(format!("--remap-path-prefix={folder}={name}"))
        })
        .collect()
}

/// Packs the libraries into `out` and writes the source file that embeds them.
fn embed(libraries: &[Libraries], out: &Path) -> Result<(), Box<dyn Error>> {
    let mut source = String::from("pub(super) static RUNTIMES: &[Runtime] = &[\n");
    for (platform, libraries) in libraries {
        let mut embedded = String::new();
        for (library, version) in libraries.iter().zip(VERSIONS) {
            let contents = fs::read(library).map_err(|error| format!("{}: {error}", library.display()))?;
            let files = platforms::files(platform, version, &contents)
                .map_err(|error| format!("{} {error}", library.display()))?;
            embedded.push_str("&[");
            for (folder, contents) in files {
                let file = format!("{folder}-{version}.zip");
                fs::write(out.join(&file), packed::write(contents)?)?;
                write!(
                    embedded,
                    "({folder:?}, Packed(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")))), "
                )?;
            }
            embedded.push_str("], ");
        }
        let Platform { name, extension } = platform;
        writeln!(
            source,
            "    Runtime {{ platform: {name:?}, extension: {extension:?}, files: [{embedded}] }},"
        )?;
    }
    source.push_str("];\n");
    fs::write(out.join("runtimes.rs"), source)?;
    Ok(())
}

/// Writes the source file that embeds every model below `models`, in the order of their names.
fn embed_examples(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=models");
    let mut models = Vec::new();
    for entry in fs::read_dir(path_variable("CARGO_MANIFEST_DIR")?.join("models"))? {
        let entry = entry?;
        let model = entry.path().join("model.toml");
        if model.exists() {
            let name = entry.file_name().into_string().map_err(|name| format!("{name:?} is not UTF-8"))?;
            models.push((name, model));
        }
    }
    models.sort();
    let mut source = String::from("/// Every example, in the order of their names.\n");
    source.push_str("pub static EXAMPLES: &[Example] = &[\n");
    for (name, model) in models {
        let mut files = String::new();
        for (file, path) in shapes_beside(&model)? {
            write!(files, "({file:?}, include_bytes!({path:?})), ")?;
        }
        writeln!(
            source,
            "    Example {{ name: {name:?}, text: include_str!({model:?}), files: &[{}] }},",
            files.trim_end_matches(", ")
        )?;
    }
    source.push_str("];\n");
    fs::write(out.join("examples.rs"), source)?;
    Ok(())
}

/// Shapes in the folder of a model, by name.
fn shapes_beside(model: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let folder = model.parent().ok_or("a model is in a folder")?;
    let mut shapes = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_shape = path
            .extension()
            .is_some_and(|extension| ["stl", "obj", "txt"].iter().any(|known| extension == *known));
        if let (true, Some(name)) = (is_shape, path.file_name().and_then(|name| name.to_str())) {
            shapes.push((name.to_owned(), path.clone()));
        }
    }
    shapes.sort();
    Ok(shapes)
}
