//! Model files: refused with a message, or a model that can be described, packed, read back and stepped.

use crate::models::TEXTS;
use crate::{Entropy, TRACE, damage};
use contact_fmu::description::{read, write};
use contact_fmu::engine::{self, State, System, Workspace};
use contact_fmu::model::diagnostics::ModelFileError;
use contact_fmu::model::{Model, file, packed};
use contact_fmu::package::guid::guid;
use contact_fmu::variables::{self, Kind, Variable};
use std::sync::LazyLock;

/// Beside it are the files that example models name.
static ORIGIN: LazyLock<String> = LazyLock::new(|| {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../models/heightfield_rover/model.toml").to_owned()
});

/// One file.
pub fn run(entropy: &mut Entropy) {
    let text = text(entropy);
    if *TRACE {
        eprintln!("{text}");
    }
    match file::parse(&text, &ORIGIN) {
        Err(error) => check_message(&error),
        Ok(model) => check_model(entropy, &model),
    }
}

fn text(entropy: &mut Entropy) -> String {
    // Short ones more often: they take less time, and damage is more likely to hit what matters.
    let [one, other] = [*entropy.pick(&TEXTS), *entropy.pick(&TEXTS)];
    let known = if one.len() <= other.len() { one } else { other };
    match entropy.below(16) {
        0 => {
            let mut bytes = known.as_bytes().to_vec();
            let times = 1 + entropy.below(20);
            damage::bytes(entropy, &mut bytes, times);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1 => special(entropy, known),
        _ => {
            let times = 1 + entropy.below(6);
            damage::text(entropy, known, &TEXTS, times)
        }
    }
}

/// What is hard on parsers.
fn special(entropy: &mut Entropy, known: &str) -> String {
    let size = 1 + entropy.below(3000);
    match entropy.below(8) {
        0 => format!("{known}\nx = {}{}", "[".repeat(size), "]".repeat(size)),
        1 => format!("{known}\nx = {}", "{a=".repeat(size)),
        2 => format!("{}.x = 1\n{known}", vec!["a"; size].join(".")),
        3 => format!("[model]\nname = \"{}\"\n", "a".repeat(size)),
        4 => format!("[model]\nname = \"{}\"\n", "\u{202e}\u{1b}[31m\\u0000é".repeat(1 + size / 50)),
        5 => format!("{known}\n{}", "[[node]]\nname = \"n\"\nmass = 1\n".repeat(1 + size / 10)),
        6 => {
            let nodes: String = (0..1 + size / 40)
                .map(|k| format!("[[node]]\nname = \"n{k}\"\nmass = 1\ncoupling = \"owned\"\nshape.sphere.radius = 0.1\nposition = [{k}, 0, 0]\n"))
                .collect();
            format!("[model]\nname = \"many\"\n{nodes}[[contact]]\nbetween = [\"*\", \"*\"]\n")
        }
        _ => format!("\u{feff}{}\0{known}", "\r\n".repeat(size)),
    }
}

fn check_message(error: &ModelFileError) {
    let text = error.to_string();
    assert!(text.starts_with("error: "), "{text}");
    assert!(text.len() < 100_000, "a message of {} bytes", text.len());
    let strange = text.chars().find(|&c| c.is_control() && c != '\n');
    assert_eq!(strange, None, "in a message: {text}");
}

fn check_model(entropy: &mut Entropy, model: &Model) {
    let guid = guid(model);
    let (again, guid_again) =
        packed::read(&packed::write(model, &guid)).expect("what was packed can be read");
    assert_eq!(guid, guid_again);
    assert!(again == *model || model_has_nan(model), "packed and read back, the model is another");
    if entropy.one_in(8) && model.contacts.len() < 500 {
        let table = variables::table(model);
        let xml = write::write(model, &table, &guid);
        let description = read::read(xml.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{xml}"));
        // The independent variable is not described.
        assert_eq!(description.model_variables.len(), table.len() - 1);
        step(entropy, model, &table);
    }
}

fn model_has_nan(model: &Model) -> bool {
    // A number that is not one differs from itself.
    model.clone() != *model
}

/// Starts and makes steps of sizes that a master may take.
fn step(entropy: &mut Entropy, model: &Model, table: &[Variable]) {
    const MOST_SUBSTEPS: f64 = 50.0;
    const MOST_CONTACTS: usize = 100;
    const MOST_ITERATIONS: u32 = 1000;
    let step = model.experiment.step;
    if step / model.engine.step > MOST_SUBSTEPS
        || model.contacts.len() > MOST_CONTACTS
        || model.engine.max_iterations > MOST_ITERATIONS
    {
        return;
    }
    let (system, mut state) = model.assemble();
    if engine::check_start(&system, &mut state).is_err() {
        return;
    }
    engine::couple_initially(&system, &mut state, model.experiment.step);
    let mut workspace = Workspace::new(&system);
    for _ in 0..1 + entropy.below(4) {
        if engine::advance(&system, &mut state, &mut workspace, step).is_err() {
            return;
        }
        if let Some(name) = not_a_number(table, &system, &state) {
            assert!(is_huge(table, &system, &state), "{name} is not a number after a step that was made");
        }
    }
}

/// Whether numbers are so large that products of them may overflow; the library refuses to hand out what is no number then.
fn is_huge(table: &[Variable], system: &System, state: &State<f64>) -> bool {
    const HUGE: f64 = 1e100;
    let is_real = |variable: &&Variable| matches!(variable.kind, Kind::Real(_));
    table
        .iter()
        .filter(is_real)
        .any(|variable| variables::get_real(variable.slot, system, state).abs() > HUGE)
}

/// A variable that is not a number.
pub fn not_a_number<'a>(table: &'a [Variable], system: &System, state: &State<f64>) -> Option<&'a str> {
    let is_nan = |variable: &&Variable| {
        matches!(variable.kind, Kind::Real(_)) && variables::get_real(variable.slot, system, state).is_nan()
    };
    table.iter().find(is_nan).map(|variable| variable.name.as_str())
}
