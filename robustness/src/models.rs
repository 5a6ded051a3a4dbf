//! The models that cases start from.

use contact_fmu::examples::EXAMPLES;
use contact_fmu::model::{Model, file};
use contact_fmu::package::guid::guid;
use std::path::Path;
use std::sync::LazyLock;

/// A model with its file.
pub struct Known {
    /// Name.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
    /// What it means.
    pub model: Model,
    /// Its identity.
    pub guid: String,
}

/// Every coupling in one model.
const COUPLINGS: &str = include_str!("../../tests/fixtures/couplings.toml");

/// All examples and one model with every coupling.
pub static MODELS: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let examples =
        EXAMPLES.iter().map(|example| (example.name, example.text, format!("models/{}", example.name)));
    examples
        .chain([("couplings", COUPLINGS, "tests/fixtures".to_owned())])
        .map(|(name, text, folder)| {
            let origin = root.join(folder).join("model.toml");
            let model =
                file::parse(text, &origin.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"));
            let guid = guid(&model);
            Known { name, text, model, guid }
        })
        .collect()
});

/// Texts of all models.
pub static TEXTS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MODELS.iter().map(|known| known.text).collect());

/// Those that are made and step in microseconds.
pub static QUICK: LazyLock<Vec<&'static Known>> = LazyLock::new(|| {
    MODELS.iter().filter(|known| known.model.contacts.len() < 20 && known.model.nodes.len() < 20).collect()
});
