//! What is wrong with a model file, shown with the place in the text and a hint.

use std::fmt::{self, Write};
use std::ops::Range;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const MAX_SHOWN: usize = 20;
const TAB: &str = "    ";
const REPLACEMENT: char = '\u{fffd}';

/// One thing wrong with a model file.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    message: String,
    span: Option<Range<usize>>,
    hint: Option<String>,
}

impl Problem {
    /// A problem with the bytes `span` of the text.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), span: Some(span), hint: None }
    }

    /// A problem with the file as a whole.
    pub fn of_file(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), span: None, hint: None }
    }

    /// Adds what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Problem {
        Problem { hint: Some(hint.into()), ..self }
    }
}

/// Everything wrong with a model file, in file order. Displayed, it is the full text for the user.
#[derive(Clone, Debug)]
pub struct ModelFileError {
    origin: String,
    source: String,
    problems: Vec<Problem>,
}

/// One thing wrong with a model file, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Line and column, both from 1, the column in characters; none where the file as a whole is wrong.
    pub place: Option<(usize, usize)>,
    /// All of it with the line it is about, as the user of a terminal sees it.
    pub text: String,
}

impl std::error::Error for ModelFileError {}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl ModelFileError {
    /// Problems with the text `source` of the file named `origin`.
    pub fn new(origin: &str, source: &str, mut problems: Vec<Problem>) -> ModelFileError {
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        ModelFileError { origin: origin.to_owned(), source: source.to_owned(), problems }
    }

    /// Name of the file.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Everything wrong, in file order.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let diagnostic = |problem: &Problem| {
            let place = problem.span.as_ref().map(|span| Excerpt::new(&self.source, span));
            Diagnostic {
                message: problem.message.clone(),
                hint: problem.hint.clone(),
                place: place.map(|place| (place.line, place.column)),
                text: self.render_problem(problem, &Style { colour: false }),
            }
        };
        self.problems.iter().map(diagnostic).collect()
    }

    /// The text for the user, with terminal colours if wanted; no newline at the end.
    pub fn render(&self, colour: bool) -> String {
        let style = Style { colour };
        let mut blocks: Vec<String> = self
            .problems
            .iter()
            .take(MAX_SHOWN)
            .map(|problem| self.render_problem(problem, &style))
            .collect();
        if self.problems.len() > MAX_SHOWN {
            blocks.push(format!(
                "{} {} more not shown",
                style.error("error:"),
                self.problems.len() - MAX_SHOWN
            ));
        }
        blocks.join("\n\n")
    }

    fn render_problem(&self, problem: &Problem, style: &Style) -> String {
        let mut text = format!("{} {}\n", style.error("error:"), style.strong(&printable(&problem.message)));
        let origin = printable(&self.origin);
        match &problem.span {
            None => _ = write!(text, "  {} {origin}", style.frame("-->")),
            Some(span) => {
                let place = Excerpt::new(&self.source, span);
                let number = place.line.to_string();
                let indent = " ".repeat(number.len());
                let bar = style.frame("|");
                _ = writeln!(
                    text,
                    "{indent} {} {origin}:{number}:{}\n{indent} {bar}\n{} {bar} {}",
                    style.frame("-->"),
                    place.column,
                    style.frame(&number),
                    place.text
                );
                let carets = "^".repeat(place.marked.len());
                let padding = " ".repeat(place.marked.start);
                _ = write!(text, "{indent} {bar} {padding}{}", style.error(&carets));
            }
        }
        if let Some(hint) = &problem.hint {
            _ = write!(text, "\n{} {}", style.hint("hint:"), printable(hint));
        }
        text
    }
}

struct Style {
    colour: bool,
}

impl Style {
    fn error(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn strong(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn frame(&self, text: &str) -> String {
        self.paint("1;34", text)
    }

    fn hint(&self, text: &str) -> String {
        self.paint("1;36", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The line of a span, ready to print.
struct Excerpt {
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    text: String,
    /// Columns of `text` to mark.
    marked: Range<usize>,
}

impl Excerpt {
    /// Characters shown of a long line before the marked ones, and in all.
    const LEAD: usize = 60;
    const LENGTH: usize = 160;

    fn new(source: &str, span: &Range<usize>) -> Excerpt {
        let start = char_boundary(source, span.start);
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |length| start + length);
        let content = source[line_start..line_end].trim_end_matches('\r');
        // A byte order mark takes no column.
        let content_start = if content.starts_with('\u{feff}') { line_start + 3 } else { line_start };
        let content = content.trim_start_matches('\u{feff}');

        let mark_start = start.saturating_sub(content_start).min(content.len());
        let mark_end = char_boundary(content, span.end.saturating_sub(content_start)).max(mark_start);
        let column = content[..mark_start].chars().count();

        let hidden = if column > Self::LENGTH / 2 { column - Self::LEAD } else { 0 };
        let before: String = content[..mark_start].chars().skip(hidden).collect();
        let room = Self::LENGTH - before.chars().count();
        let marked: String = content[mark_start..mark_end].chars().take(room).collect();
        let room = room - marked.chars().count();
        let after: String = content[mark_end..].chars().take(room).collect();
        let cut = content[mark_start..].chars().count() > marked.chars().count() + after.chars().count();

        let before = format!("{}{}", if hidden > 0 { "..." } else { "" }, printable(&before));
        let marked = printable(&marked);
        let first = before.width();
        Excerpt {
            line: source[..line_start].matches('\n').count() + 1,
            column: column + 1,
            text: format!("{before}{marked}{}{}", printable(&after), if cut { "..." } else { "" })
                .trim_end()
                .to_owned(),
            marked: first..first + marked.width().max(1),
        }
    }
}

/// One line for the terminal: tabs as spaces; other control characters could confuse it.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => shown.push_str(TAB),
            character if character.width().is_none() => shown.push(REPLACEMENT),
            character => shown.push(character),
        }
    }
    shown
}

/// The candidate that `name` is most likely a misspelling of.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let most = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `did you mean ...?` when a known name is near, then all known names; `quote` goes around each.
pub fn suggestion(name: &str, known: &[&str], quote: &str, what: &str) -> String {
    let quoted = |name: &str| format!("{quote}{name}{quote}");
    let all = known.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {}? {what}: {all}", quoted(near)),
        None => format!("{what}: {all}"),
    }
}

/// The start of the character at byte `index`, or the end of the text.
fn char_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|&index| text.is_char_boundary(index)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str, span: Range<usize>) -> String {
        ModelFileError::new("m.toml", source, vec![Problem::at(span, "wrong").hint("do this")]).to_string()
    }

    #[test]
    fn marks_the_span_below_its_line() {
        let text = rendered("a = 1\nmass = -1.0\n", 13..17);
        assert_eq!(
            text,
            "error: wrong\n  --> m.toml:2:8\n  |\n2 | mass = -1.0\n  |        ^^^^\nhint: do this"
        );
    }

    #[test]
    fn tabs_take_one_column_and_four_cells() {
        assert_eq!(
            rendered("\tx = 1", 5..6),
            "error: wrong\n  --> m.toml:1:6\n  |\n1 |     x = 1\n  |         ^\nhint: do this"
        );
    }

    #[test]
    fn wide_characters_take_one_column_and_two_cells() {
        let source = "n = \"球é\" x";
        let at = source.find('x').unwrap();
        assert_eq!(
            rendered(source, at..at + 1),
            "error: wrong\n  --> m.toml:1:10\n  |\n1 | n = \"球é\" x\n  |           ^\nhint: do this"
        );
    }

    #[test]
    fn carriage_returns_are_not_shown() {
        assert_eq!(
            rendered("a = 1\r\nb = 2\r\n", 11..12),
            "error: wrong\n  --> m.toml:2:5\n  |\n2 | b = 2\n  |     ^\nhint: do this"
        );
    }

    #[test]
    fn byte_order_mark_takes_no_column() {
        assert_eq!(
            rendered("\u{feff}b = 2", 7..8),
            "error: wrong\n  --> m.toml:1:5\n  |\n1 | b = 2\n  |     ^\nhint: do this"
        );
    }

    #[test]
    fn end_of_file_gets_one_caret() {
        for (source, place, line) in
            [("", "1:1", "1 |"), ("a =", "1:4", "1 | a ="), ("a\n", "2:1", "2 |"), ("a\r\n", "2:1", "2 |")]
        {
            let end = source.len();
            let text = rendered(source, end..end);
            assert!(text.contains(&format!("m.toml:{place}\n")), "{text}");
            assert!(text.contains(&format!("\n{line}")), "{text}");
            assert_eq!(text.matches('^').count(), 1, "{text}");
        }
    }

    #[test]
    fn span_over_lines_is_marked_on_its_first() {
        assert_eq!(
            rendered("x = [1,\n2]\n", 4..10),
            "error: wrong\n  --> m.toml:1:5\n  |\n1 | x = [1,\n  |     ^^^\nhint: do this"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let source = format!("x = [{}9{}]", "1, ".repeat(300), ", 1".repeat(300));
        let at = source.find('9').unwrap();
        let text = rendered(&source, at..at + 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "  --> m.toml:1:906");
        assert!(
            lines[3].len() < 180 && lines[3].starts_with("1 | ...") && lines[3].ends_with("..."),
            "{text}"
        );
        assert_eq!(lines[3].find('9'), lines[4].find('^'));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let text = rendered("a = \x1b[31m1", 4..5);
        assert!(!text.contains('\x1b'), "{text:?}");
    }

    #[test]
    fn colours_only_when_asked() {
        let error = ModelFileError::new("m.toml", "a", vec![Problem::at(0..1, "wrong")]);
        assert!(error.render(true).starts_with("\x1b[1;31merror:\x1b[0m"));
        assert!(!error.render(false).contains('\x1b'));
    }

    #[test]
    fn problems_are_in_file_order_and_limited() {
        let source = "x".repeat(30);
        let problems = (0..25).rev().map(|at| Problem::at(at..at + 1, format!("p{at}"))).collect();
        let text = ModelFileError::new("m.toml", &source, problems).to_string();
        assert!(text.find("error: p0\n").unwrap() < text.find("error: p1\n").unwrap());
        assert!(text.contains("p19") && !text.contains("p20"));
        assert!(text.ends_with("error: 5 more not shown"), "{text}");
    }

    #[test]
    fn nearest_name_is_near() {
        assert_eq!(nearest("restituton", ["restitution", "friction"]), Some("restitution"));
        assert_eq!(nearest("Ball", ["ball", "floor"]), Some("ball"));
        assert_eq!(nearest("flor", ["ball", "floor"]), Some("floor"));
        assert_eq!(nearest("xyz", ["ball", "floor"]), None);
    }
}
