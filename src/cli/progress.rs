//! How much is done and how long it will still take, on one line of a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Begins a line of a terminal anew.
pub const CLEAR_LINE: &str = "\r\x1b[K";

/// Between two changes of the line.
const INTERVAL: Duration = Duration::from_millis(100);
const BAR: usize = 30;

/// The line; nothing is shown where stderr is no terminal.
pub struct Progress {
    terminal: bool,
    start: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Begins to count.
    pub fn new() -> Progress {
        Progress { terminal: io::stderr().is_terminal(), start: Instant::now(), shown: None }
    }

    /// Shows how much is done, 0 to 1.
    pub fn show(&mut self, fraction: f64) {
        if !self.terminal {
            return;
        }
        let now = Instant::now();
        if now - self.shown.unwrap_or(self.start) >= INTERVAL {
            let _ = write!(io::stderr().lock(), "\r{}\x1b[K", line(fraction, now - self.start));
            self.shown = Some(now);
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr().lock(), "{CLEAR_LINE}");
        }
    }
}

fn line(fraction: f64, elapsed: Duration) -> String {
    let done = (fraction * BAR as f64) as usize;
    let bar = format!("{}{}", "#".repeat(done), ".".repeat(BAR.saturating_sub(done)));
    let left =
        if fraction > 0.0 { elapsed.as_secs_f64() * (1.0 - fraction) / fraction } else { f64::INFINITY };
    format!("[{bar}] {:3.0} %  {}", (100.0 * fraction).floor(), time_left(left))
}

fn time_left(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{} s left", s.ceil()),
        s if s < 3600.0 => format!("{} min {:02.0} s left", (s / 60.0).floor(), (s % 60.0).floor()),
        s if s.is_finite() => {
            format!("{} h {:02.0} min left", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_from_what_is_done() {
        assert_eq!(
            line(0.25, Duration::from_secs(10)),
            format!("[{}{}]  25 %  30 s left", "#".repeat(7), ".".repeat(23))
        );
        assert_eq!(line(1.0, Duration::from_secs(3)), format!("[{}] 100 %  0 s left", "#".repeat(30)));
        assert!(line(0.0, Duration::from_secs(3)).ends_with("  0 %  "));
    }

    #[test]
    fn long_times_are_told_in_minutes_and_hours() {
        assert_eq!(time_left(125.9), "2 min 05 s left");
        assert_eq!(time_left(7265.0), "2 h 01 min left");
    }
}
