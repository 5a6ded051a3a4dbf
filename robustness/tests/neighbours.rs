//! A fixed set of neighbours: what fails is what is listed in neighbours.txt, no less and no more.

use robustness::neighbours::known::Known;
use robustness::neighbours::{batch, draw, text};
use std::collections::BTreeSet;
use std::path::Path;

/// Seeds that are run here; any number is run by `robustness run neighbours`.
const SEEDS: u64 = 256;

#[test]
fn what_fails_is_listed_and_what_is_listed_fails() {
    let outcome = batch::run(Path::new(env!("CARGO_BIN_EXE_robustness")), 0, SEEDS, &|_| {});
    let known = Known::listed();
    let unknown: Vec<String> = outcome
        .findings
        .iter()
        .filter(|finding| known.why(finding).is_none())
        .map(|finding| format!("seed {} {}: {}", finding.seed, finding.relation, finding.message))
        .collect();
    let mended = known.mended(&outcome.findings, 0..SEEDS);
    let listed = outcome.findings.len() - unknown.len();
    println!(
        "{SEEDS} neighbours: {listed} known failures, {} unknown, {} listed that hold",
        unknown.len(),
        mended.len()
    );
    assert!(unknown.is_empty(), "not in robustness/neighbours.txt:\n{}", unknown.join("\n"));
    assert!(mended.is_empty(), "these hold now, take them out of robustness/neighbours.txt:\n{mended:?}");
}

/// Keys that no scene has: a text, what hides outputs that relations look at, and what is for points of mechanisms, whereas
/// masters of scenes move free bodies.
const NOT_DRAWN: [&str; 3] = ["description", "outputs", "mechanism"];

/// Names of all properties of a schema.
fn keys(schema: &serde_json::Value, found: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(entries) => {
            if let Some(serde_json::Value::Object(properties)) = entries.get("properties") {
                found.extend(properties.keys().cloned());
            }
            entries.values().for_each(|entry| keys(entry, found));
        }
        serde_json::Value::Array(entries) => entries.iter().for_each(|entry| keys(entry, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_model_language_is_drawn() {
    let mut missing = BTreeSet::new();
    keys(contact_fmu::model::file::schema().as_value(), &mut missing);
    assert!(missing.len() > 50, "keys of the schema: {missing:?}");
    for key in NOT_DRAWN {
        assert!(missing.remove(key), "there is no key {key}");
    }
    for seed in 0..4000 {
        let scene = text::write(&draw::draw(seed));
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        for word in scene.split(|character| !is_word(character)) {
            missing.remove(word);
        }
    }
    assert!(missing.is_empty(), "no scene has {missing:?}");
}
