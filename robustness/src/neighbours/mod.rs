//! Neighbours of the examples: random legal models, judged by what must hold of any model.
//!
//! A seed draws a scene ([`draw`]) anywhere in the model language. It is written as a model file, checked, packed as
//! packaging does it and run through the C functions of the library, with a small master for what the FMU does not move
//! ([`run`]). Relations ([`relations`]) look at that run and at runs of scenes that must move alike. Seeds are run in child
//! processes ([`batch`]); what fails is compared with the list of what is known to fail ([`known`]) and made small
//! ([`shrink`]).

pub mod batch;
pub mod body;
pub mod coverage;
pub mod distance;
pub mod draw;
pub mod known;
pub mod motion;
pub mod port;
pub mod relations;
pub mod run;
pub mod scene;
pub mod shrink;
pub mod text;

use relations::{Case, Verdict};

/// A relation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Which scene.
    pub seed: u64,
    /// Which relation: one of [`relations::RELATIONS`], or [`LEGAL`], [`HANGS`], [`DIES`].
    pub relation: String,
    /// How.
    pub message: String,
}

/// The check refuses what was drawn: a fault of the generator.
pub const LEGAL: &str = "legal";
/// A run that does not end.
pub const HANGS: &str = "ends";
/// A run that ends the process.
pub const DIES: &str = "survives";

/// Looks at one seed.
pub fn examine(seed: u64, looked: &mut dyn FnMut(&'static str, bool)) -> Vec<Finding> {
    let scene = draw::draw(seed);
    let finding = |relation: &str, message: String| Finding { seed, relation: relation.to_owned(), message };
    let case = match Case::new(seed, scene) {
        Ok(case) => case,
        Err(message) => return vec![finding(LEGAL, message)],
    };
    let mut findings = Vec::new();
    for relation in relations::RELATIONS.iter().filter(|relation| case.is_due(relation)) {
        let verdict = case.look(relation);
        looked(relation.name, verdict != Verdict::Idle);
        if let Verdict::Broke(message) = verdict {
            findings.push(finding(relation.name, message));
        }
    }
    findings
}
