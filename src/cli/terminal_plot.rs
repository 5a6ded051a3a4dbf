//! A curve drawn with the dots of braille characters, for a quick look.

use std::fmt::Write;

const COLUMNS: usize = 64;
const ROWS: usize = 10;
/// Dots of a character.
const WIDE: usize = 2;
const HIGH: usize = 4;
/// Bits of the dots of a braille character, by row and column.
const BITS: [[u32; WIDE]; HIGH] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
const BRAILLE: u32 = 0x2800;
/// Characters of the numbers at the left.
const MARGIN: usize = 12;

/// The curve of `values` over `times` under its name. Values that are no numbers leave a gap.
pub fn draw(name: &str, unit: &str, times: &[f64], values: &[f64]) -> String {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let title = if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") };
    if low > high {
        return format!("{title}: no numbers to draw\n");
    }
    // A constant is drawn in the middle.
    let (bottom, top) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
    let (first, last) = (times[0], times[times.len() - 1]);
    let span = if last > first { last - first } else { 1.0 };
    let dot = |part: f64, dots: usize| (part * (dots - 1) as f64).round() as i64;
    let mut canvas = Canvas::new();
    let mut before = None;
    for (time, value) in times.iter().zip(values) {
        let here = value.is_finite().then(|| {
            let up = (value - bottom) / (top - bottom);
            (dot((time - first) / span, COLUMNS * WIDE), dot(1.0 - up, ROWS * HIGH))
        });
        if let Some(here) = here {
            canvas.line(before.unwrap_or(here), here);
        }
        before = here;
    }
    canvas.framed(&title, [bottom, top], [first, last])
}

struct Canvas {
    cells: [[u32; COLUMNS]; ROWS],
}

impl Canvas {
    fn new() -> Canvas {
        Canvas { cells: [[0; COLUMNS]; ROWS] }
    }

    fn line(&mut self, from: (i64, i64), to: (i64, i64)) {
        let (wide, high) = (to.0 - from.0, to.1 - from.1);
        let steps = wide.abs().max(high.abs());
        for step in 0..=steps {
            let part = if steps > 0 { step as f64 / steps as f64 } else { 0.0 };
            let x = (from.0 as f64 + part * wide as f64).round() as usize;
            let y = (from.1 as f64 + part * high as f64).round() as usize;
            self.cells[y / HIGH][x / WIDE] |= BITS[y % HIGH][x % WIDE];
        }
    }

    fn framed(&self, title: &str, [bottom, top]: [f64; 2], [first, last]: [f64; 2]) -> String {
        let mut text = format!("{:MARGIN$}   {title}\n", "");
        for (row, cells) in self.cells.iter().enumerate() {
            let label = match row {
                0 => number(top),
                row if row == ROWS - 1 => number(bottom),
                _ => String::new(),
            };
            let dots: String = cells.iter().filter_map(|bits| char::from_u32(BRAILLE + bits)).collect();
            _ = writeln!(text, "{label:>MARGIN$} │{dots}");
        }
        let (first, last) = (number(first), format!("{} s", number(last)));
        let gap = COLUMNS - first.len() - last.len();
        _ = writeln!(text, "{:MARGIN$} └{}", "", "─".repeat(COLUMNS));
        _ = writeln!(text, "{:MARGIN$}  {first}{:gap$}{last}", "", "");
        text
    }
}

/// Five digits.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.4e}");
    }
    let decimals = if size < 1.0 { 5 } else { 4 - size.log10() as usize }.min(5);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[f64]) -> Vec<Vec<u32>> {
        let times: Vec<f64> = (0..values.len()).map(|k| k as f64).collect();
        let text = draw("x", "m", &times, values);
        let cells =
            |line: &str| line.split_once('│').unwrap().1.chars().map(|c| c as u32 - BRAILLE).collect();
        text.lines().filter(|line| line.contains('│')).map(cells).collect()
    }

    #[test]
    fn a_slope_goes_from_corner_to_corner() {
        let rows = rows(&(0..100).map(f64::from).collect::<Vec<_>>());
        assert_eq!((rows.len(), rows[0].len()), (ROWS, COLUMNS));
        assert_eq!((rows[0][0], rows[ROWS - 1][COLUMNS - 1]), (0, 0));
        assert_ne!(rows[0][COLUMNS - 1] & BITS[0][1], 0);
        assert_ne!(rows[ROWS - 1][0] & BITS[HIGH - 1][0], 0);
        // One dot at least in every column of characters.
        assert!((0..COLUMNS).all(|x| rows.iter().any(|row| row[x] != 0)));
    }

    #[test]
    fn one_spike_among_many_samples_is_seen() {
        let mut values = vec![0.0; 100_000];
        values[50_000] = 1.0;
        let rows = rows(&values);
        assert_eq!(rows[0].iter().filter(|cell| **cell != 0).count(), 1);
        assert!(rows[ROWS - 1].iter().all(|cell| *cell != 0));
    }

    #[test]
    fn constants_and_gaps_are_drawn() {
        assert!(rows(&[2.0; 5]).iter().flatten().any(|cell| *cell != 0));
        let gap = rows(&[0.0, 1.0, f64::NAN, f64::NAN, 1.0, 0.0]);
        assert!(gap.iter().all(|row| row[COLUMNS / 2] == 0));
        assert_eq!(draw("x", "", &[0.0], &[f64::NAN]), "x: no numbers to draw\n");
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.2, "0.2"),
            (123.456, "123.46"),
            (99999.0, "99999"),
            (-9.81, "-9.81"),
            (1e-7, "1.0000e-7"),
            (2.5e9, "2.5000e9"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
