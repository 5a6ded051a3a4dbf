//! Complementarity problems as text: numbers separated by white space, nothing else.
//!
//! | kind | numbers |
//! |---|---|
//! | `lcp` (`.lcp.txt`, `.st8.txt`) | n, M (n x n, row-major), q |
//! | `boxed` (`.box.txt`) | n, M, q, lower bounds, upper bounds (`inf` and `-inf` allowed) |
//! | `cone` (`.fc.txt`) | contacts, W (3 rows a contact: normal and two tangents), q, mu |

use crate::engine::{BoxedProblem, ConeProblem};
use std::path::{Path, PathBuf};

/// Most rows that a file may announce; the matrix then has 100 million numbers.
pub const MAX_ROWS: usize = 10_000;

/// Kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Linear complementarity problem.
    Lcp,
    /// The same between bounds.
    Boxed,
    /// Contact with Coulomb cones.
    Cone,
}

impl ProblemKind {
    /// The kind that the ending of the file's name tells.
    pub fn of_file(path: &Path) -> Option<ProblemKind> {
        let name = path.file_name()?.to_str()?;
        let endings = [
            (".lcp.txt", ProblemKind::Lcp),
            (".st8.txt", ProblemKind::Lcp),
            (".box.txt", ProblemKind::Boxed),
            (".fc.txt", ProblemKind::Cone),
        ];
        endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| kind)
    }
}

/// A problem read from a file.
#[derive(Clone, Debug)]
pub enum Problem {
    /// Complementarity between bounds, which are zero and infinity of an LCP.
    Boxed(BoxedProblem),
    /// Contact with Coulomb cones.
    Cone(ConeProblem<f64>),
}

/// A problem file that cannot be used. Lines and columns count from one, indices from zero.
#[derive(Debug, thiserror::Error)]
pub enum ProblemFileError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// File.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The name does not tell the kind.
    #[error(
        "{}: the name does not end in .lcp.txt, .st8.txt, .box.txt or .fc.txt; give --kind lcp, boxed or cone",
        path.display()
    )]
    UnknownKind {
        /// File.
        path: PathBuf,
    },
    /// A number is wrong.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    WrongNumber {
        /// File.
        path: PathBuf,
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file ends too early.
    #[error("{}: the file ends after {found} of {expected} numbers; {missing} is missing", path.display())]
    Truncated {
        /// File.
        path: PathBuf,
        /// Numbers read.
        found: usize,
        /// Numbers needed.
        expected: usize,
        /// Name of the first missing number.
        missing: String,
    },
}

/// Reads a problem file; without `kind`, the ending of its name tells it.
pub fn read(path: &Path, kind: Option<ProblemKind>) -> Result<Problem, ProblemFileError> {
    let kind = kind
        .or_else(|| ProblemKind::of_file(path))
        .ok_or_else(|| ProblemFileError::UnknownKind { path: path.to_owned() })?;
    let bytes = std::fs::read(path)
        .map_err(|source| ProblemFileError::Unreadable { path: path.to_owned(), source })?;
    parse(&String::from_utf8_lossy(&bytes), kind, path)
}

/// Reads a problem from text; `path` only appears in errors.
pub fn parse(text: &str, kind: ProblemKind, path: &Path) -> Result<Problem, ProblemFileError> {
    let mut numbers =
        Numbers { path, tokens: Tokens { text, at: 0, line: 1, line_start: 0 }, found: 0, expected: 1 };
    let size_name = if kind == ProblemKind::Cone { "the number of contacts" } else { "the number of rows" };
    let rows_per_unit = if kind == ProblemKind::Cone { 3 } else { 1 };
    let size = numbers.size(size_name, rows_per_unit)?;
    let rows = size * rows_per_unit;
    let vectors = match kind {
        ProblemKind::Lcp => rows,
        ProblemKind::Boxed => 3 * rows,
        ProblemKind::Cone => rows + size,
    };
    numbers.expected = 1 + rows * rows + vectors;
    let matrix_name = if kind == ProblemKind::Cone { "W" } else { "M" };
    let matrix =
        numbers.finite(rows * rows, |index| format!("{matrix_name}[{}][{}]", index / rows, index % rows))?;
    let q = numbers.finite(rows, |index| format!("q[{index}]"))?;
    let problem = match kind {
        ProblemKind::Lcp => {
            let (lower, upper) = (vec![0.0; rows], vec![f64::INFINITY; rows]);
            Problem::Boxed(BoxedProblem { m: matrix, q, lower, upper })
        }
        ProblemKind::Boxed => {
            let (lower, upper) = numbers.bounds(rows)?;
            Problem::Boxed(BoxedProblem { m: matrix, q, lower, upper })
        }
        ProblemKind::Cone => {
            let mu = numbers.friction(size)?;
            Problem::Cone(ConeProblem::from_dense(&matrix, q, mu))
        }
    };
    numbers.end()?;
    Ok(problem)
}

/// White-space separated tokens with their places.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: usize,
    /// What is before it on its line, of which only an error needs to know how long it is.
    before: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            if bytes[self.at] == b'\n' {
                self.line += 1;
                self.line_start = self.at + 1;
            }
            self.at += 1;
        }
        let start = self.at;
        while bytes.get(self.at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        let before = &self.text[self.line_start..start];
        Some(Token { text: &self.text[start..self.at], line: self.line, before })
    }
}

/// The numbers of a file, in order.
struct Numbers<'a> {
    path: &'a Path,
    tokens: Tokens<'a>,
    found: usize,
    expected: usize,
}

impl<'a> Numbers<'a> {
    fn wrong(&self, token: Token<'_>, problem: String) -> ProblemFileError {
        ProblemFileError::WrongNumber {
            path: self.path.to_owned(),
            line: token.line,
            column: token.before.chars().count() + 1,
            problem,
        }
    }

    fn token(&mut self, name: impl FnOnce() -> String) -> Result<Token<'a>, ProblemFileError> {
        let token = self.tokens.next().ok_or_else(|| ProblemFileError::Truncated {
            path: self.path.to_owned(),
            found: self.found,
            expected: self.expected,
            missing: name(),
        })?;
        self.found += 1;
        Ok(token)
    }

    fn number(&mut self, name: impl Fn() -> String) -> Result<(f64, Token<'a>), ProblemFileError> {
        let token = self.token(&name)?;
        match token.text.parse() {
            Ok(value) => Ok((value, token)),
            Err(_) => {
                Err(self.wrong(token, format!("{} is `{}`, not a number", name(), shortened(token.text))))
            }
        }
    }

    fn size(&mut self, name: &str, rows_per_unit: usize) -> Result<usize, ProblemFileError> {
        let token = self.token(|| name.to_owned())?;
        let limit = MAX_ROWS / rows_per_unit;
        match token.text.parse::<usize>() {
            Ok(size) if (1..=limit).contains(&size) => Ok(size),
            Ok(size) => Err(self.wrong(token, format!("{name} is {size}; it must be between 1 and {limit}"))),
            Err(_) => {
                let found = shortened(token.text);
                Err(self
                    .wrong(token, format!("{name} is `{found}`; it must be a whole number up to {limit}")))
            }
        }
    }

    fn finite(&mut self, count: usize, name: impl Fn(usize) -> String) -> Result<Vec<f64>, ProblemFileError> {
        // A number and a space take two bytes: no memory for numbers that cannot be there.
        let mut values = Vec::with_capacity(count.min(self.tokens.text.len() / 2 + 1));
        for index in 0..count {
            let (value, token) = self.number(|| name(index))?;
            if !value.is_finite() {
                return Err(self.wrong(token, format!("{} is {value}; it must be finite", name(index))));
            }
            values.push(value);
        }
        Ok(values)
    }

    fn bounds(&mut self, rows: usize) -> Result<(Vec<f64>, Vec<f64>), ProblemFileError> {
        let mut read = |vector: &str, outside: f64| {
            let mut values = Vec::with_capacity(rows);
            let mut tokens = Vec::with_capacity(rows);
            for index in 0..rows {
                let (value, token) = self.number(|| format!("{vector}[{index}]"))?;
                if value.is_nan() || value == outside {
                    return Err(
                        self.wrong(token, format!("{vector}[{index}] is {value}, which bounds nothing"))
                    );
                }
                values.push(value);
                tokens.push(token);
            }
            Ok((values, tokens))
        };
        let (lower, _) = read("lower", f64::INFINITY)?;
        let (upper, tokens) = read("upper", f64::NEG_INFINITY)?;
        match (0..rows).find(|&row| lower[row] > upper[row]) {
            Some(row) => {
                let (low, high) = (lower[row], upper[row]);
                Err(self.wrong(tokens[row], format!("upper[{row}] is {high}, below lower[{row}] = {low}")))
            }
            None => Ok((lower, upper)),
        }
    }

    fn friction(&mut self, contacts: usize) -> Result<Vec<f64>, ProblemFileError> {
        let mut mu = Vec::with_capacity(contacts);
        for index in 0..contacts {
            let (value, token) = self.number(|| format!("mu[{index}]"))?;
            if !(value.is_finite() && value >= 0.0) {
                return Err(
                    self.wrong(token, format!("mu[{index}] is {value}; it must be finite and not negative"))
                );
            }
            mu.push(value);
        }
        Ok(mu)
    }

    fn end(&mut self) -> Result<(), ProblemFileError> {
        match self.tokens.next() {
            None => Ok(()),
            Some(token) => {
                let problem = format!(
                    "`{}` follows the last of the {} numbers; is the size on the first line right?",
                    shortened(token.text),
                    self.expected
                );
                Err(self.wrong(token, problem))
            }
        }
    }
}

/// The token, or its start where it is long.
fn shortened(text: &str) -> String {
    const LENGTH: usize = 40;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str, kind: ProblemKind) -> String {
        parse(text, kind, Path::new("p.txt")).unwrap_err().to_string()
    }

    #[test]
    fn the_three_kinds_are_read() {
        let path = Path::new("p.txt");
        let Problem::Boxed(lcp) = parse("2\n1 2 3 4\n-1 -2\n", ProblemKind::Lcp, path).unwrap() else {
            panic!("not an LCP");
        };
        assert_eq!((lcp.m, lcp.q), (vec![1.0, 2.0, 3.0, 4.0], vec![-1.0, -2.0]));
        assert_eq!((lcp.lower, lcp.upper), (vec![0.0; 2], vec![f64::INFINITY; 2]));
        let Problem::Boxed(boxed) = parse("1 2 3 -inf inf", ProblemKind::Boxed, path).unwrap() else {
            panic!("not boxed");
        };
        assert_eq!((boxed.lower, boxed.upper), (vec![f64::NEG_INFINITY], vec![f64::INFINITY]));
        let text = "1  1 0 0  0 1 0  0 0 1  -1 0 0  0.5";
        let Problem::Cone(cone) = parse(text, ProblemKind::Cone, path).unwrap() else { panic!("not a cone") };
        assert_eq!((cone.contacts(), cone.q, cone.mu), (1, vec![-1.0, 0.0, 0.0], vec![0.5]));
    }

    #[test]
    fn the_ending_tells_the_kind() {
        let kind = |name: &str| ProblemKind::of_file(Path::new(name));
        assert_eq!(kind("a/b.lcp.txt"), Some(ProblemKind::Lcp));
        assert_eq!(kind("b.st8.txt"), Some(ProblemKind::Lcp));
        assert_eq!(kind("b.box.txt"), Some(ProblemKind::Boxed));
        assert_eq!(kind("b.fc.txt"), Some(ProblemKind::Cone));
        assert_eq!(kind("b.txt"), None);
    }

    #[test]
    fn errors_name_the_place() {
        use ProblemKind::{Boxed, Cone, Lcp};
        assert_eq!(error("2\n1 2\n3 x4\n1 1", Lcp), "p.txt:3:3: M[1][1] is `x4`, not a number");
        assert_eq!(error("2\n1 2\n3 nan\n1 1", Lcp), "p.txt:3:3: M[1][1] is NaN; it must be finite");
        assert_eq!(error("1 1 inf", Lcp), "p.txt:1:5: q[0] is inf; it must be finite");
        assert_eq!(
            error("2\n1 2\n3 4\n1", Lcp),
            "p.txt: the file ends after 6 of 7 numbers; q[1] is missing"
        );
        assert_eq!(
            error("1 1 1\n7", Lcp),
            "p.txt:2:1: `7` follows the last of the 3 numbers; is the size on the first line right?"
        );
        assert_eq!(
            error("", Lcp),
            "p.txt: the file ends after 0 of 1 numbers; the number of rows is missing"
        );
        assert_eq!(
            error("2.5", Lcp),
            "p.txt:1:1: the number of rows is `2.5`; it must be a whole number up to 10000"
        );
        assert_eq!(
            error("123456789", Lcp),
            "p.txt:1:1: the number of rows is 123456789; it must be between 1 and 10000"
        );
        assert_eq!(error("0", Cone), "p.txt:1:1: the number of contacts is 0; it must be between 1 and 3333");
        assert_eq!(error("1 1 1 2\n1", Boxed), "p.txt:2:1: upper[0] is 1, below lower[0] = 2");
        assert_eq!(error("1 1 1 inf inf", Boxed), "p.txt:1:7: lower[0] is inf, which bounds nothing");
        assert_eq!(
            error("1  1 0 0  0 1 0  0 0 1  -1 0 0  -0.5", Cone),
            "p.txt:1:33: mu[0] is -0.5; it must be finite and not negative"
        );
    }
}
