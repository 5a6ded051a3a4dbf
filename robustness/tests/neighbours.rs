//! A fixed set of neighbours: what fails is what is listed in neighbours.txt, no less and no more.

use robustness::neighbours::batch;
use robustness::neighbours::known::Known;
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
