//! `cargo run --release -p robustness -- TARGET COUNT`: what nothing may break, in any number of cases.

use clap::{Parser, Subcommand};
use robustness::{Entropy, TARGETS, runner, scenes, stress};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

/// Runs cases that are made to do harm.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Cases of one kind, or of all: model-files, shape-files, archives, problems, states, calls, stress.
    Run {
        /// Kind of cases.
        target: String,
        /// How many.
        count: u64,
        /// Seed of the first one.
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    /// Random physics: what energy and residuals came to, by kind of scene and scheme.
    Survey {
        /// How many scenes.
        count: u64,
        /// Seed of the first one.
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
}

fn main() -> ExitCode {
    match CommandLine::parse().command {
        Command::Run { target, count, first } => run(&target, count, first),
        Command::Survey { count, first } => survey(count, first),
    }
}

fn run(name: &str, count: u64, first: u64) -> ExitCode {
    let wanted = TARGETS.iter().filter(|target| name == "all" || target.name == name);
    let (mut found, mut good) = (false, true);
    for target in wanted {
        found = true;
        let start = Instant::now();
        let outcome = runner::run(target, first, count);
        let (slowest, seed) = outcome.slowest;
        println!(
            "{}: {} cases, {} failed, {:.1} s, slowest {:.3} s (seed {seed})",
            target.name,
            outcome.cases,
            outcome.failures.len(),
            start.elapsed().as_secs_f64(),
            slowest.as_secs_f64()
        );
        for (seed, message) in &outcome.failures {
            println!("  seed {seed}: {message}");
        }
        good &= outcome.failures.is_empty();
    }
    if !found {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("there is no {name}; there are: all, {}", names.join(", "));
        return ExitCode::from(2);
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn survey(count: u64, first: u64) -> ExitCode {
    #[derive(Default)]
    struct Row {
        cases: u64,
        inaccurate: usize,
        rise: (f64, u64),
        solved: (f64, u64),
        violation: f64,
        depth: f64,
    }
    let mut rows: BTreeMap<(scenes::Stepping, scenes::Kind), Row> = BTreeMap::new();
    for seed in first..first + count {
        let mut case = scenes::any(&mut Entropy::seeded(seed));
        let survey = stress::survey(&mut case);
        let row = rows.entry((case.stepping, case.kind)).or_default();
        row.cases += 1;
        row.inaccurate += survey.inaccurate;
        if survey.rise > row.rise.0 {
            row.rise = (survey.rise, seed);
        }
        if survey.rise_of_solved > row.solved.0 {
            row.solved = (survey.rise_of_solved, seed);
        }
        row.violation = row.violation.max(survey.violation);
        row.depth = row.depth.max(survey.depth);
    }
    println!(
        "{:14} {:18} {:>7} {:>10} {:>20} {:>20} {:>9} {:>9}",
        "stepping", "scene", "cases", "inaccurate", "rise (seed)", "of solved (seed)", "violation", "depth"
    );
    for ((stepping, kind), row) in rows {
        println!(
            "{:14} {:18} {:>7} {:>10} {:>9.1e} {:>10} {:>9.1e} {:>10} {:>9.1e} {:>9.1e}",
            format!("{stepping:?}"),
            format!("{kind:?}"),
            row.cases,
            row.inaccurate,
            row.rise.0,
            row.rise.1,
            row.solved.0,
            row.solved.1,
            row.violation,
            row.depth
        );
    }
    ExitCode::SUCCESS
}
