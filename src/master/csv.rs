//! CSV tables: results out, inputs in.

use crate::description::Value;
use std::io::{self, Write};
use thiserror::Error;

/// Writes `time` and one column a variable, reals in the shortest form that reads back to the same number.
pub struct Writer<W: Write> {
    out: W,
    /// Text to write next; at first the header, which goes out with the first row.
    pending: String,
}

impl<W: Write> Writer<W> {
    /// A table with columns for `names`.
    pub fn new<'a>(out: W, names: impl IntoIterator<Item = &'a str>) -> Writer<W> {
        let mut pending = String::from("time");
        for name in names {
            pending.push(',');
            push_field(&mut pending, name);
        }
        pending.push('\n');
        Writer { out, pending }
    }

    /// Writes one row.
    pub fn row(&mut self, time: f64, values: &[Value]) -> io::Result<()> {
        use std::fmt::Write as _;
        _ = write!(self.pending, "{time:?}");
        for value in values {
            self.pending.push(',');
            match value {
                Value::String(text) => push_field(&mut self.pending, text),
                value => _ = write!(self.pending, "{value}"),
            }
        }
        self.pending.push('\n');
        self.out.write_all(self.pending.as_bytes())?;
        self.pending.clear();
        Ok(())
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

fn push_field(line: &mut String, field: &str) {
    if field.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&field.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(field);
    }
}

/// What is wrong with a CSV file, and where.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("line {line}: {message}")]
pub struct CsvError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A table of text with a header.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Column names.
    pub header: Vec<String>,
    /// Rows as long as the header, each with its line in the file.
    pub rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// Reads comma-separated text: fields may be quoted, blank lines are passed over.
    pub fn parse(text: &str) -> Result<Table, CsvError> {
        let mut records = records(text)?.into_iter();
        let (line, header) =
            records.next().ok_or(CsvError { line: 1, message: "the file is empty".to_owned() })?;
        if header.len() == 1 && header[0].contains([';', '\t']) {
            return Err(CsvError { line, message: "columns are to be separated by commas".to_owned() });
        }
        let mut rows = Vec::new();
        for (line, fields) in records {
            if fields.len() != header.len() {
                let message = format!("{} values, but the header has {} columns", fields.len(), header.len());
                return Err(CsvError { line, message });
            }
            rows.push((line, fields));
        }
        Ok(Table { header, rows })
    }
}

/// The fields of each line that is not blank.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, CsvError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut records = Vec::new();
    let mut characters = text.chars().peekable();
    let mut line = 1;
    while characters.peek().is_some() {
        let first_line = line;
        let mut fields = Vec::new();
        loop {
            let (field, end) = field(&mut characters, &mut line)?;
            fields.push(field);
            if end == FieldEnd::Line {
                break;
            }
        }
        if fields.len() > 1 || !fields[0].is_empty() {
            records.push((first_line, fields));
        }
    }
    Ok(records)
}

#[derive(PartialEq)]
enum FieldEnd {
    Comma,
    Line,
}

fn field(
    characters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    line: &mut usize,
) -> Result<(String, FieldEnd), CsvError> {
    let mut field = String::new();
    while characters.next_if(|&c| c == ' ' || c == '\t').is_some() {}
    if characters.next_if_eq(&'"').is_some() {
        let opened = *line;
        loop {
            match characters.next() {
                Some('"') if characters.next_if_eq(&'"').is_some() => field.push('"'),
                Some('"') => break,
                Some(c) => {
                    *line += usize::from(c == '\n');
                    field.push(c);
                }
                None => {
                    return Err(CsvError { line: opened, message: "a quote is not closed".to_owned() });
                }
            }
        }
        let at = *line;
        let (rest, end) = plain_field(characters, line);
        if !rest.is_empty() {
            return Err(CsvError { line: at, message: format!("`{rest}` follows a quoted value") });
        }
        return Ok((field, end));
    }
    Ok(plain_field(characters, line))
}

fn plain_field(
    characters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    line: &mut usize,
) -> (String, FieldEnd) {
    let mut field = String::new();
    let end = loop {
        match characters.next() {
            Some(',') => break FieldEnd::Comma,
            Some('\n') => {
                *line += 1;
                break FieldEnd::Line;
            }
            None => break FieldEnd::Line,
            Some(c) => field.push(c),
        }
    };
    (field.trim_end().to_owned(), end)
}
