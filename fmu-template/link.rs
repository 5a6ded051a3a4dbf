//! Options of the linker for the libraries in FMUs: what other systems than Linux would add to them.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=../link.rs");
    let version = env!("CARGO_PKG_NAME").trim_start_matches("fmu-");
    let options = match var("CARGO_CFG_TARGET_OS").as_deref() {
        // Neither debug information, which names paths, nor system libraries of which nothing is used.
        Ok("macos") => vec![
            format!("-Wl,-install_name,@rpath/contact_fmu_{version}.dylib"),
            "-Wl,-S".to_owned(),
            "-Wl,-dead_strip_dylibs".to_owned(),
        ],
        Ok("windows") if var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu") => {
            vec!["-Wl,--no-insert-timestamp".to_owned()]
        }
        _ => vec![],
    };
    for option in options {
        println!("cargo::rustc-link-arg-cdylib={option}");
    }
}
