//! The models below `models/`, embedded.

/// A model file to start from.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Name of the model and of its folder.
    pub name: &'static str,
    /// The model file.
    pub text: &'static str,
    /// Names and contents of the files that it names.
    pub files: &'static [(&'static str, &'static [u8])],
}

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// Names of all examples.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().map(|example| example.name)
}
