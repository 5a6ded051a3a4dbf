//! `cargo run --release -p robustness -- TARGET COUNT`: what nothing may break, in any number of cases.

use clap::{Parser, Subcommand};
use robustness::neighbours::{self, batch, coverage, known::Known, shrink};
use robustness::{Entropy, TARGETS, long_runs, runner, scenes, stress, trajectories};
use std::collections::BTreeMap;
use std::path::Path;
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
    /// Cases of one kind: model-files, shape-files, archives, problems, states, calls, calls3, stress, or of all of these; or
    /// neighbours.
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
    /// How often neighbours draw each feature of the model language.
    Coverage {
        /// How many.
        count: u64,
    },
    /// Prints the list of neighbours that fail, with the causes that are listed: neighbours.txt.
    NeighboursList {
        /// How many.
        count: u64,
        /// Seed of the first one.
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    /// Prints lists of neighbours, of parts of the seeds, as one.
    NeighboursMerge {
        /// Files as `neighbours-list` prints them.
        lists: Vec<std::path::PathBuf>,
    },
    /// The model file of a neighbour.
    NeighboursModel {
        /// Which.
        seed: u64,
    },
    /// Makes a neighbour that fails small and prints it.
    NeighboursShrink {
        /// Which.
        seed: u64,
        /// What it breaks.
        relation: String,
    },
    /// Examines neighbours in this process, for the process that watches it.
    #[command(hide = true)]
    NeighboursBatch {
        /// Seed of the first one.
        first: u64,
        /// How many.
        count: u64,
    },
    /// Prints the table of hashes of the models' trajectories: trajectories.txt.
    Trajectories,
}

fn main() -> ExitCode {
    match CommandLine::parse().command {
        Command::Run { target, count, first, .. } if target == "neighbours" => run_neighbours(first, count),
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
        Command::Coverage { count } => {
            for (feature, times) in coverage::table(0, count) {
                println!("{times:8}  {feature}");
            }
            ExitCode::SUCCESS
        }
        Command::NeighboursList { count, first } => {
            let outcome = batch::run(&this_program(), first, count, &progress(count));
            print!("{}", Known::listed().write(&outcome.findings));
            ExitCode::SUCCESS
        }
        Command::NeighboursMerge { lists } => {
            let mut all = Known::default();
            for path in lists {
                match std::fs::read_to_string(&path) {
                    Ok(text) => all.take(Known::parse(&text)),
                    Err(error) => {
                        eprintln!("{}: {error}", path.display());
                        return ExitCode::from(2);
                    }
                }
            }
            print!("{}", all.text());
            ExitCode::SUCCESS
        }
        Command::NeighboursModel { seed } => {
            print!("{}", neighbours::text::write(&neighbours::draw::draw(seed)));
            ExitCode::SUCCESS
        }
        Command::NeighboursShrink { seed, relation } => match shrink::shrink(seed, &relation) {
            Some(small) => {
                print!("{}", shrink::print(seed, &relation, &small));
                ExitCode::SUCCESS
            }
            None => {
                eprintln!("seed {seed} does not break {relation}");
                ExitCode::FAILURE
            }
        },
        Command::NeighboursBatch { first, count } => {
            batch::child(first, count);
            ExitCode::SUCCESS
        }
        Command::Trajectories => {
            print!("{}", trajectories::table());
            ExitCode::SUCCESS
        }
    }
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("this program has a path")
}

/// Tells on stderr how far a long run is.
fn progress(count: u64) -> impl Fn(u64) + Sync {
    move |done| {
        if count >= 1000 && done % (count / 1000 * 100).max(64) < 64 {
            eprintln!("{done} of {count}");
        }
    }
}

/// Neighbours, each failure made small; the last line has the count.
fn run_neighbours(first: u64, count: u64) -> ExitCode {
    /// Failures that are made small.
    const SMALL: usize = 8;
    let program = this_program();
    let start = Instant::now();
    let outcome = batch::run(&program, first, count, &progress(count));
    let known = Known::listed();
    let (listed, unknown): (Vec<_>, Vec<_>) =
        outcome.findings.iter().partition(|finding| known.why(finding).is_some());
    for finding in &unknown {
        println!("seed {} {}: {}", finding.seed, finding.relation, finding.message);
    }
    for finding in unknown.iter().take(SMALL) {
        println!("\n{}", shrunk(&program, finding));
    }
    println!("relation              looked at    said something    known    unknown");
    for (relation, [looked, used]) in &outcome.looks {
        let of = |findings: &[&neighbours::Finding]| {
            findings.iter().filter(|finding| finding.relation == *relation).count()
        };
        println!("{relation:20} {looked:10} {used:17} {:8} {:10}", of(&listed), of(&unknown));
    }
    let mended = known.mended(&outcome.findings, first..first + count);
    for (seed, relation) in &mended {
        println!("listed, but holds: seed {seed} {relation}");
    }
    println!(
        "neighbours: {count} seeds, {} known failures, {} unknown failures, {} listed ones that hold, {:.1} s",
        listed.len(),
        unknown.len(),
        mended.len(),
        start.elapsed().as_secs_f64()
    );
    if unknown.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A failure made small by a child process, which may hang or die of it.
fn shrunk(program: &Path, finding: &neighbours::Finding) -> String {
    const LIMIT: Duration = Duration::from_secs(60);
    let whole = || neighbours::text::write(&neighbours::draw::draw(finding.seed));
    let child = std::process::Command::new(program)
        .args(["neighbours-shrink", &finding.seed.to_string(), &finding.relation])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return whole() };
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Ok(Some(_)) = child.try_wait() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().ok();
    match child.wait_with_output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => format!("# seed {}, {}: {}\n{}", finding.seed, finding.relation, finding.message, whole()),
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
