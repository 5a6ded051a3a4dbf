//! Many seeds, in child processes on all cores: a seed that hangs or ends its process is a finding like any other.

use super::{DIES, Finding, HANGS, examine};
use crate::runner::processor_time;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Seeds of a child process.
const CHUNK: u64 = 64;
/// Processor time that a seed may take, in seconds; some hundredths are usual.
const LIMIT: f64 = 20.0;
/// Where the system does not tell processor times, and in any case.
const WALL: Duration = Duration::from_secs(600);

/// How often a relation was looked at, and how often it said something.
pub type Looks = BTreeMap<String, [u64; 2]>;

/// What came of many seeds.
#[derive(Default)]
pub struct Outcome {
    /// What broke, by seed.
    pub findings: Vec<Finding>,
    /// How often relations were looked at.
    pub looks: Looks,
}

/// The child: examines seeds and says what it found.
pub fn child(first: u64, count: u64) {
    // A panic in the library is an internal error of its status, and told there.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout();
    for seed in first..first + count {
        writeln!(out, "seed {seed}").expect("someone listens");
        let mut looks = Vec::new();
        let findings = examine(seed, &mut |relation, used| looks.push((relation, used)));
        for (relation, used) in looks {
            writeln!(out, "looks {relation} {}", u8::from(used)).expect("someone listens");
        }
        for finding in findings {
            let message = finding.message.replace('\n', "\\n");
            writeln!(out, "broke {} {message}", finding.relation).expect("someone listens");
        }
    }
    writeln!(out, "end").expect("someone listens");
}

/// Examines seeds with a program that knows the command `neighbours-batch`.
pub fn run(program: &Path, first: u64, count: u64, progress: &(dyn Fn(u64) + Sync)) -> Outcome {
    let next = Mutex::new(first);
    let outcome = Mutex::new(Outcome::default());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let chunk = {
                        let mut next = next.lock().expect("no worker panics");
                        let chunk = *next..(*next + CHUNK).min(first + count);
                        *next = chunk.end;
                        chunk
                    };
                    if chunk.is_empty() {
                        break;
                    }
                    let end = chunk.end;
                    let found = all_of(program, chunk);
                    let mut outcome = outcome.lock().expect("no worker panics");
                    outcome.findings.extend(found.findings);
                    for (relation, [looked, used]) in found.looks {
                        let row = outcome.looks.entry(relation).or_default();
                        row[0] += looked;
                        row[1] += used;
                    }
                    progress(end - first);
                }
            });
        }
    });
    let mut outcome = outcome.into_inner().expect("no worker panics");
    outcome.findings.sort();
    outcome
}

/// Examines seeds in as many children as it takes.
fn all_of(program: &Path, mut seeds: std::ops::Range<u64>) -> Outcome {
    let mut outcome = Outcome::default();
    while !seeds.is_empty() {
        let ended = one_child(program, &seeds, &mut outcome);
        match ended {
            None => break,
            Some((seed, relation, message)) => {
                outcome.findings.push(Finding { seed, relation: relation.to_owned(), message });
                seeds.start = seed + 1;
            }
        }
    }
    outcome
}

/// One child; the seed that it did not survive, if there is one.
fn one_child(
    program: &Path,
    seeds: &std::ops::Range<u64>,
    outcome: &mut Outcome,
) -> Option<(u64, &'static str, String)> {
    let mut child = Command::new(program)
        .args(["neighbours-batch", &seeds.start.to_string(), &(seeds.end - seeds.start).to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program can be started");
    let output = child.stdout.take().expect("a pipe");
    let (sender, lines) = channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut seed = seeds.start;
    let mut begun = (0.0, Instant::now());
    let fault = loop {
        match lines.recv_timeout(Duration::from_millis(500)) {
            Ok(line) if line == "end" => break None,
            Ok(line) => {
                let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                match word {
                    "seed" => {
                        seed = rest.parse().unwrap_or(seed);
                        begun = (processor_time(child.id()).unwrap_or(0.0), Instant::now());
                    }
                    "broke" => {
                        let (relation, message) = rest.split_once(' ').unwrap_or((rest, ""));
                        let message = message.replace("\\n", "\n");
                        outcome.findings.push(Finding { seed, relation: relation.to_owned(), message });
                    }
                    "looks" => {
                        let (relation, used) = rest.split_once(' ').unwrap_or((rest, ""));
                        let row = outcome.looks.entry(relation.to_owned()).or_default();
                        row[0] += 1;
                        row[1] += u64::from(used == "1");
                    }
                    _ => {}
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let spent = processor_time(child.id()).map_or(0.0, |now| now - begun.0);
                if spent > LIMIT || begun.1.elapsed() > WALL {
                    child.kill().ok();
                    break Some((seed, HANGS, format!("has not ended after {LIMIT} s")));
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                break Some((seed, DIES, format!("the process ended: {status}")));
            }
        }
    };
    child.wait().ok();
    reader.join().ok();
    fault
}
