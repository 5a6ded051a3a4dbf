//! With the feature `cli`: provides what the builder embeds. Without it there is nothing to do: that is the nested build
//! of the libraries themselves.

#[cfg(feature = "cli")]
#[path = "build/embed.rs"]
mod embed;
#[cfg(feature = "cli")]
#[path = "src/package/options.rs"]
mod options;
#[cfg(feature = "cli")]
#[path = "build/packed.rs"]
mod packed;
#[cfg(feature = "cli")]
#[path = "build/platforms.rs"]
mod platforms;

#[cfg(feature = "cli")]
fn main() {
    if let Err(error) = embed::run() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

#[cfg(not(feature = "cli"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
