//! The list of what is known to fail: `neighbours.txt`.
//!
//! A line `[relation] why`, then lines with the seeds for which the relation does not hold for that reason. `#` starts a
//! comment. Where nobody knows why, seeds are grouped by what their scenes have.

use super::scene::{Coupling, Motion, Scene, Scheme};
use super::{Finding, draw};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The list as it is.
pub const LIST: &str = include_str!("../../neighbours.txt");
/// What is written where nobody knows why.
const UNKNOWN: &str = "cause not found";

/// The same, with what a scene has that fails of itself most often.
fn unknown(scene: &Scene) -> String {
    let scheme = match scene.scheme {
        Scheme::MoreauJean(_) if scene.time_of_impact => "times of impact",
        Scheme::MoreauJean(_) => "captured steps",
        Scheme::Midpoint(_) => "midpoint",
        Scheme::Multistep(_) | Scheme::Hht(_) => "multistep and hht",
    };
    let is_given = |motion: Motion| !matches!(motion, Motion::Fixed);
    let is_driven = scene.nodes.iter().any(|node| node.coupling != Coupling::Owned)
        || scene.surfaces.iter().any(|surface| is_given(surface.motion));
    let mut words = vec![scheme];
    for (has, word) in [
        (is_driven, "a master"),
        (!scene.joints.is_empty(), "joints"),
        (!scene.springs.is_empty(), "springs"),
        (scene.nodes.iter().any(|node| node.copies.is_some()), "piles"),
    ] {
        words.extend(has.then_some(word));
    }
    format!("{UNKNOWN}: {}", words.join(", "))
}

/// Why a relation does not hold for a seed.
#[derive(Default)]
pub struct Known {
    causes: BTreeMap<(u64, String), String>,
}

impl Known {
    /// Reads a list.
    pub fn parse(text: &str) -> Known {
        let mut known = Known::default();
        let mut heading = None;
        for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
            if let Some((relation, why)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                heading = Some((relation.to_owned(), why.trim().to_owned()));
                continue;
            }
            for word in line.split_whitespace() {
                let (relation, why) = heading.clone().expect("seeds come after a line [relation] why");
                let seed = word.parse().unwrap_or_else(|_| panic!("{word} is not a seed"));
                known.causes.insert((seed, relation), why);
            }
        }
        known
    }

    /// The list of this project.
    pub fn listed() -> Known {
        Known::parse(LIST)
    }

    /// Why a finding is known.
    pub fn why(&self, finding: &Finding) -> Option<&str> {
        self.causes.get(&(finding.seed, finding.relation.clone())).map(String::as_str)
    }

    /// Cases among the seeds that are listed and did not fail.
    pub fn mended(&self, findings: &[Finding], seeds: std::ops::Range<u64>) -> Vec<(u64, String)> {
        let failed: BTreeSet<(u64, &str)> =
            findings.iter().map(|finding| (finding.seed, finding.relation.as_str())).collect();
        let holds = |case: &&(u64, String)| !failed.contains(&(case.0, case.1.as_str()));
        self.causes.keys().filter(|case| seeds.contains(&case.0)).filter(holds).cloned().collect()
    }

    /// Takes what another list has.
    pub fn take(&mut self, other: Known) {
        self.causes.extend(other.causes);
    }

    /// The list as text.
    pub fn text(&self) -> String {
        let finding = |(seed, relation): &(u64, String)| Finding {
            seed: *seed,
            relation: relation.clone(),
            message: String::new(),
        };
        self.write(&self.causes.keys().map(finding).collect::<Vec<_>>())
    }

    /// A list of findings, with causes as far as they are known.
    pub fn write(&self, findings: &[Finding]) -> String {
        const LINE: usize = 110;
        let mut groups: BTreeMap<(&str, String), Vec<u64>> = BTreeMap::new();
        for finding in findings {
            let known = self.why(finding).filter(|why| !why.starts_with(UNKNOWN));
            let why = known.map_or_else(|| unknown(&draw::draw(finding.seed)), str::to_owned);
            groups.entry((&finding.relation, why)).or_default().push(finding.seed);
        }
        let mut text = String::new();
        for ((relation, why), seeds) in groups {
            writeln!(text, "[{relation}] {why}").expect("text can be written");
            let mut line = String::new();
            for seed in seeds {
                let word = seed.to_string();
                if line.len() + word.len() + 1 > LINE {
                    writeln!(text, "{line}").expect("text can be written");
                    line.clear();
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&word);
            }
            writeln!(text, "{line}").expect("text can be written");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let finding =
            |seed, relation: &str| Finding { seed, relation: relation.into(), message: String::new() };
        let list = Known::parse("# all\n[laws] pulls\n3 5\n[gap] a mesh\n5 # one\n");
        assert_eq!(list.why(&finding(5, "laws")), Some("pulls"));
        assert_eq!(list.why(&finding(5, "gap")), Some("a mesh"));
        assert_eq!(list.why(&finding(3, "gap")), None);
        let found = [finding(5, "laws"), finding(7, "laws")];
        assert_eq!(list.mended(&found, 0..5), [(3, "laws".to_owned())]);
        let again = Known::parse(&list.write(&found));
        assert_eq!(again.why(&finding(5, "laws")), Some("pulls"));
        assert!(again.why(&finding(7, "laws")).is_some_and(|why| why.starts_with(UNKNOWN)));
        let mut both = Known::parse("[laws] pulls\n3\n");
        both.take(again);
        assert_eq!(Known::parse(&both.text()).causes.len(), 3);
    }
}
