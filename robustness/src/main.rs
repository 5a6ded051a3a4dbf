//! `cargo run --release -p robustness -- TARGET COUNT`: what nothing may break, in any number of cases.

use clap::{Parser, Subcommand};
use robustness::{Entropy, TARGETS, long_runs, runner, scenes, stress, trajectories};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

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
        /// Seconds that a case may take.
        #[arg(long, default_value_t = 60)]
        limit: u64,
    },
    /// Random physics: what energy and residuals came to, by kind of scene and scheme.
    Survey {
        /// How many scenes.
        count: u64,
        /// Seed of the first one.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Tell of each scene.
        #[arg(long)]
        each: bool,
    },
    /// Steps of the bouncing ball through the packed library, elastic and until it rests.
    LongRun {
        /// How many.
        steps: u64,
    },
    /// Instances made and freed, a thousand at once.
    Instances {
        /// How many.
        count: usize,
    },
    /// Saved, serialized and restored states.
    Restores {
        /// How many.
        count: usize,
    },
    /// Prints the table of hashes of the models' trajectories: trajectories.txt.
    Trajectories,
}

fn main() -> ExitCode {
    match CommandLine::parse().command {
        Command::Run { target, count, first, limit } => {
            run(&target, count, first, Duration::from_secs(limit))
        }
        Command::Survey { count, first, each } => survey(count, first, each),
        Command::LongRun { steps } => {
            for elastic in [true, false] {
                let start = Instant::now();
                let run = long_runs::ball(elastic, steps);
                println!("elastic {elastic}, {steps} steps, {:.1} s: {run:?}", start.elapsed().as_secs_f64());
            }
            ExitCode::SUCCESS
        }
        Command::Instances { count } => {
            println!("{count} instances: memory grows by {} bytes", long_runs::instances(count, 1000));
            ExitCode::SUCCESS
        }
        Command::Restores { count } => {
            println!("{count} restored states: memory grows by {} bytes", long_runs::restores(count));
            ExitCode::SUCCESS
        }
        Command::Trajectories => {
            print!("{}", trajectories::table());
            ExitCode::SUCCESS
        }
    }
}

fn run(name: &str, count: u64, first: u64, limit: Duration) -> ExitCode {
    let wanted = TARGETS.iter().filter(|target| name == "all" || target.name == name);
    let (mut found, mut good) = (false, true);
    for target in wanted {
        found = true;
        let start = Instant::now();
        let outcome = runner::run(target, first, count, limit);
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

fn survey(count: u64, first: u64, each: bool) -> ExitCode {
    #[derive(Default)]
    struct Row {
        cases: u64,
        inaccurate: usize,
        rise: (f64, u64),
        gain: (f64, u64),
        unbalanced: (f64, u64),
        violation: f64,
        depth: f64,
    }
    let mut rows: BTreeMap<(scenes::Stepping, scenes::Kind, [bool; 2]), Row> = BTreeMap::new();
    for seed in first..first + count {
        let mut case = scenes::any(&mut Entropy::seeded(seed));
        let survey = stress::survey(&mut case);
        if each {
            let [restitution, mu] = case.law;
            println!(
                "{seed} {:?} {:?} step {:.1e} e {restitution:.2} mu {mu:.2} {survey:?}",
                case.stepping, case.kind, case.step
            );
        }
        let row = rows.entry((case.stepping, case.kind, case.law.map(|value| value > 0.0))).or_default();
        row.cases += 1;
        row.inaccurate += survey.inaccurate;
        if survey.gain > row.gain.0 {
            row.gain = (survey.gain, seed);
        }
        if survey.rise > row.rise.0 {
            row.rise = (survey.rise, seed);
        }
        if survey.unbalanced > row.unbalanced.0 {
            row.unbalanced = (survey.unbalanced, seed);
        }
        row.violation = row.violation.max(survey.violation);
        row.depth = row.depth.max(survey.depth);
    }
    println!(
        "scheme, scene: cases, inaccurate steps; seed of, and: rise of solved, gain, unbalanced; violation; depth"
    );
    for ((stepping, kind, [rebound, rub]), row) in rows {
        let worst = |(value, seed): (f64, u64)| format!("{value:.1e} ({seed})");
        println!(
            "{stepping:?}, {kind:?}, rebound {rebound}, friction {rub}: {}, {}; {}, {}, {}; {:.1e}; {:.1e}",
            row.cases,
            row.inaccurate,
            worst(row.rise),
            worst(row.gain),
            worst(row.unbalanced),
            row.violation,
            row.depth
        );
    }
    ExitCode::SUCCESS
}
