//! Damage to text and bytes.

use crate::Entropy;

/// Longest result, so that repeated doubling stays small.
const MOST: usize = 1 << 16;

/// Flips, cuts, repeats and overwrites bytes, `times` times.
pub fn bytes(entropy: &mut Entropy, bytes: &mut Vec<u8>, times: usize) {
    for _ in 0..times {
        if bytes.is_empty() {
            bytes.push(entropy.below(256) as u8);
        }
        let at = entropy.below(bytes.len());
        let length = 1 + entropy.below(16).min(bytes.len() - at - 1);
        match entropy.below(8) {
            0..=2 => bytes[at] ^= 1 << entropy.below(8),
            3 => bytes[at] = entropy.below(256) as u8,
            4 => bytes.truncate(at),
            5 => drop(bytes.drain(at..at + length)),
            6 if bytes.len() + length < MOST => {
                let copy = bytes[at..at + length].to_vec();
                let to = entropy.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => {
                let word = match entropy.below(4) {
                    0 => 0_u64,
                    1 => u64::MAX,
                    2 => entropy.below(1 << 20) as u64,
                    _ => entropy.bits(),
                };
                let width = *entropy.pick(&[1, 2, 4, 8]);
                let end = (at + width).min(bytes.len());
                bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            }
        }
    }
}

/// Numbers as a file may spell them.
pub fn number(entropy: &mut Entropy) -> String {
    const SPELLINGS: [&str; 26] = [
        "0",
        "-0.0",
        "1",
        "-1",
        "1e308",
        "1e309",
        "-1e309",
        "5e-324",
        "1e-400",
        "inf",
        "-inf",
        "nan",
        "NaN",
        "+1",
        "1_000",
        "0x7f",
        "1e",
        ".5",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "1e-9",
        "1e9",
        "true",
        "\"1\"",
        "[1]",
    ];
    if entropy.one_in(3) {
        format!("{:?}", entropy.hostile_number())
    } else {
        (*entropy.pick(&SPELLINGS)).to_owned()
    }
}

/// Changes lines and words of a text, with lines of `others` and hostile numbers, `times` times.
pub fn text(entropy: &mut Entropy, text: &str, others: &[&str], times: usize) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..times {
        if lines.is_empty() || lines.iter().map(String::len).sum::<usize>() > MOST {
            break;
        }
        let at = entropy.below(lines.len());
        match entropy.below(10) {
            0 => drop(lines.remove(at)),
            1 => {
                let line = lines[at].clone();
                let to = entropy.below(lines.len() + 1);
                lines.insert(to, line);
            }
            2 => {
                let other = entropy.below(lines.len());
                lines.swap(at, other);
            }
            3 => {
                let donor: Vec<&str> = entropy.pick(others).lines().collect();
                if !donor.is_empty() {
                    lines.insert(at, (*entropy.pick(&donor)).to_owned());
                }
            }
            4 => {
                let mut bytes = lines[at].clone().into_bytes();
                self::bytes(entropy, &mut bytes, 1);
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => lines[at] = with_other_number(entropy, &lines[at]),
        }
    }
    lines.join("\n")
}

/// The line with one of its numbers replaced.
fn with_other_number(entropy: &mut Entropy, line: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e');
    let starts: Vec<usize> = line
        .char_indices()
        .filter(|&(at, c)| {
            c.is_ascii_digit()
                && !line[..at]
                    .ends_with(|before: char| is_part(before) || before.is_alphanumeric() || before == '_')
        })
        .map(|(at, _)| at)
        .collect();
    if starts.is_empty() {
        return line.to_owned();
    }
    let start = *entropy.pick(&starts);
    let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |length| start + length);
    format!("{}{}{}", &line[..start], number(entropy), &line[end..])
}
