//! Keys, types and ranges of a model file, checked against the schema of its types: every problem at once, each
//! with its place.

use super::diagnostics::{Problem, suggestion};
use serde_json::Value;
use std::ops::Range;
use toml::de::{DeArray, DeTable, DeValue};

/// Everything in the file that the schema does not allow.
pub(super) fn check(file: &DeTable, schema: &Value) -> Vec<Problem> {
    let mut checker = Checker { schema, problems: Vec::new() };
    checker.table(file, None, schema, &Place::default());
    checker.problems
}

/// Errors of the TOML syntax: one a line, because what follows on a line is often a consequence.
pub(super) fn syntax_problems(source: &str, errors: &[toml::de::Error]) -> Vec<Problem> {
    let mut errors: Vec<_> =
        errors.iter().map(|error| (error.span().unwrap_or_default(), error.message())).collect();
    errors.sort_by_key(|(span, _)| span.start);
    errors
        .dedup_by(|(span, _), (previous, _)| !source.as_bytes()[previous.start..span.start].contains(&b'\n'));
    errors.into_iter().map(|(span, message)| syntax_problem(source, span, message)).collect()
}

fn syntax_problem(source: &str, span: Range<usize>, message: &str) -> Problem {
    let text = source.get(span.clone()).unwrap_or_default();
    if text.contains(|character: char| character.is_control() && !character.is_whitespace()) {
        return Problem::at(span, "control characters are not allowed").hint("a model file is TOML text");
    }
    if message.starts_with("string values must be quoted") {
        return if text.is_empty() {
            Problem::at(span, "a value is missing after `=`")
        } else {
            Problem::at(span, "not a value").hint(format!("if it is text, put it in quotes: \"{text}\""))
        };
    }
    if message == "duplicate key" {
        return Problem::at(span, format!("`{text}` is written twice in the same table"));
    }
    let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
    let byte = |at: usize| source.as_bytes().get(at).copied();
    let decimal_comma = byte(span.start) == Some(b',')
        && is_digit(span.start.checked_sub(1).and_then(byte))
        && is_digit(byte(span.start + 1));
    let problem = Problem::at(span, message);
    if decimal_comma { problem.hint("decimals are written with a point: 1.5") } else { problem }
}

/// Where in the file: a section and the dotted key inside it.
#[derive(Clone, Default)]
struct Place {
    section: String,
    key: String,
}

impl Place {
    fn child(&self, key: &str, schema: &Value) -> Place {
        let section = &self.section;
        if section.is_empty() {
            let section = if schema["type"] == "array" { format!("[[{key}]]") } else { format!("[{key}]") };
            Place { section, key: String::new() }
        } else if self.key.is_empty() {
            Place { section: section.clone(), key: key.to_owned() }
        } else {
            Place { section: section.clone(), key: format!("{}.{key}", self.key) }
        }
    }

    fn item(&self, index: usize) -> Place {
        if self.key.is_empty() {
            self.clone()
        } else {
            Place { section: self.section.clone(), key: format!("{}[{}]", self.key, index + 1) }
        }
    }

    /// For messages.
    fn name(&self) -> String {
        match (self.section.as_str(), self.key.as_str()) {
            ("", _) => "the top level".to_owned(),
            (section, "") => section.to_owned(),
            (_, key) => format!("`{key}`"),
        }
    }
}

struct Checker<'a> {
    schema: &'a Value,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn value(&mut self, value: &DeValue, span: Range<usize>, schema: &Value, place: &Place) {
        let choices = choices(schema);
        if let Some(allowed) = schema["enum"].as_array() {
            return self.one_of(value, span, allowed, schema, place);
        }
        if let Some(options) = schema["anyOf"].as_array() {
            return self.any_of(value, span, options, schema, place);
        }
        match (schema["type"].as_str(), value) {
            _ if !choices.is_empty() => match value {
                DeValue::String(text) => self.choice(text, span, &choices, place),
                _ => self.wrong_type(value, span, schema, place),
            },
            (None, DeValue::Table(table)) => self.variant(table, span, schema, place),
            (Some("object"), DeValue::Table(table)) => self.table(table, Some(span), schema, place),
            (Some("array"), DeValue::Array(array)) => self.array(array, span, schema, place),
            (Some("number"), DeValue::Float(number)) => {
                let value = number.as_str().parse().ok();
                self.number(value, number.as_str(), span, schema, place);
            }
            (Some("number" | "integer"), DeValue::Integer(number)) => {
                let value = i64::from_str_radix(number.as_str(), number.radix()).ok();
                self.number(value.map(|value| value as f64), &number.to_string(), span, schema, place);
            }
            (Some("boolean"), DeValue::Boolean(_)) | (Some("string"), DeValue::String(_)) => {}
            _ => self.wrong_type(value, span, schema, place),
        }
    }

    fn table(&mut self, table: &DeTable, span: Option<Range<usize>>, schema: &Value, place: &Place) {
        let known = property_names(schema);
        for (key, value) in table.iter() {
            match schema["properties"].get(key.get_ref().as_ref()) {
                Some(schema) => {
                    self.value(value.get_ref(), value.span(), schema, &place.child(key.get_ref(), schema));
                }
                None => self.unknown_key(key.get_ref(), key.span(), &known, place),
            }
        }
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !table.iter().any(|(written, _)| written.get_ref() == key) {
                self.missing_key(key, span.clone(), &schema["properties"][key], place);
            }
        }
        let exclusive: Vec<&str> = alternatives(schema);
        let written: Vec<Range<usize>> = table
            .keys()
            .filter(|key| exclusive.contains(&key.get_ref().as_ref()))
            .map(|key| key.span())
            .collect();
        if let (false, Some(whole)) = (exclusive.is_empty() || written.len() == 1, span) {
            let message =
                format!("{} must have exactly one of these keys, found {}", place.name(), written.len());
            let span = written.into_iter().max_by_key(|span| span.start).unwrap_or(whole);
            self.problems.push(Problem::at(span, message).hint(suggestion("", &exclusive, "`", "they are")));
        }
    }

    /// A string, a number or a table, as the options say.
    fn any_of(
        &mut self,
        value: &DeValue,
        span: Range<usize>,
        options: &[Value],
        schema: &Value,
        place: &Place,
    ) {
        let words: Vec<&str> = options.iter().filter_map(|option| option["const"].as_str()).collect();
        let option = options.iter().find(|option| match value {
            DeValue::Integer(_) | DeValue::Float(_) => option["type"] == "number",
            DeValue::Table(_) => option["oneOf"].is_array(),
            _ => false,
        });
        match (value, option) {
            (DeValue::String(text), _) => self.choice(text, span, &words, place),
            (_, Some(option)) => self.value(value, span, option, place),
            (_, None) => {
                let message = format!("{} cannot be {}", place.name(), found(value));
                self.report(span, message, schema);
            }
        }
    }

    /// A table with one key that says which variant it is.
    fn variant(&mut self, table: &DeTable, span: Range<usize>, schema: &Value, place: &Place) {
        let variants = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        let known: Vec<&str> = variants.iter().flat_map(property_names).collect();
        let all_known = table.keys().all(|key| known.contains(&key.get_ref().as_ref()));
        if all_known && table.len() != 1 {
            let message = format!("{} must have exactly one key, found {}", place.name(), table.len());
            self.problems.push(Problem::at(span, message).hint(suggestion("", &known, "`", "known keys")));
        }
        for (key, value) in table.iter() {
            let name = key.get_ref().as_ref();
            match variants.iter().find_map(|variant| variant["properties"].get(name)) {
                Some(schema) => self.value(value.get_ref(), value.span(), schema, &place.child(name, schema)),
                None => self.unknown_key(name, key.span(), &known, place),
            }
        }
    }

    fn array(&mut self, array: &DeArray, span: Range<usize>, schema: &Value, place: &Place) {
        if schema["minItems"].as_u64().is_some_and(|length| length != array.len() as u64) {
            let message =
                format!("{} must be {}, found an array of {}", place.name(), expected(schema), array.len());
            self.report(span, message, schema);
        }
        for (index, item) in array.iter().enumerate() {
            self.value(item.get_ref(), item.span(), &schema["items"], &place.item(index));
        }
    }

    /// `number` is none when it is a whole number that no integer type holds.
    fn number(
        &mut self,
        number: Option<f64>,
        written: &str,
        span: Range<usize>,
        schema: &Value,
        place: &Place,
    ) {
        let bound = |name: &str| schema[name].as_f64();
        let Some(number) = number else {
            let message = format!("{} has more digits than a whole number may have", place.name());
            self.problems
                .push(Problem::at(span, message).hint("write it with a decimal point or an exponent"));
            return;
        };
        if !number.is_finite() {
            self.report(span, format!("{} must be a finite number, found {written}", place.name()), schema);
            return;
        }
        let allowed = bound("minimum").is_none_or(|min| number >= min)
            && bound("exclusiveMinimum").is_none_or(|min| number > min)
            && bound("maximum").is_none_or(|max| number <= max)
            && bound("exclusiveMaximum").is_none_or(|max| number < max);
        if !allowed {
            let message = format!("{} must be {}, found {written}", place.name(), range(schema));
            self.report(span, message, schema);
        }
    }

    fn choice(&mut self, text: &str, span: Range<usize>, choices: &[&str], place: &Place) {
        if choices.contains(&text) {
            return;
        }
        self.problems.push(
            Problem::at(span, format!("{} cannot be \"{text}\"", place.name())).hint(suggestion(
                text,
                choices,
                "\"",
                "known values",
            )),
        );
    }

    /// One of several strings, whole numbers and truth values.
    fn one_of(
        &mut self,
        value: &DeValue,
        span: Range<usize>,
        allowed: &[Value],
        schema: &Value,
        place: &Place,
    ) {
        let is = |allowed: &Value| match value {
            DeValue::String(text) => allowed.as_str() == Some(text.as_ref()),
            DeValue::Integer(number) => {
                let written = i64::from_str_radix(number.as_str(), number.radix()).ok();
                written.is_some() && written == allowed.as_i64()
            }
            DeValue::Boolean(said) => allowed.as_bool() == Some(*said),
            _ => false,
        };
        if allowed.iter().any(is) {
            return;
        }
        let written = match value {
            DeValue::String(text) => format!("\"{text}\""),
            _ => found(value),
        };
        let names: Vec<String> = allowed.iter().map(Value::to_string).collect();
        let (last, others) = names.split_last().expect("a list of values");
        let message = format!("{} must be {} or {last}, found {written}", place.name(), others.join(", "));
        self.report(span, message, schema);
    }

    fn unknown_key(&mut self, key: &str, span: Range<usize>, known: &[&str], place: &Place) {
        let hint = match self.sections_with(key).as_slice() {
            [section] => format!("`{key}` belongs in {section}"),
            _ => suggestion(key, known, "`", "known keys"),
        };
        let message = format!("unknown key `{key}` in {}", place.name());
        self.problems.push(Problem::at(span, message).hint(hint));
    }

    fn missing_key(&mut self, key: &str, span: Option<Range<usize>>, schema: &Value, place: &Place) {
        let message = format!("{} needs the key `{key}`", place.name());
        let problem = match span {
            Some(span) => Problem::at(span, message),
            None => Problem::of_file(message),
        };
        self.problems.push(problem.hint(description(schema)));
    }

    fn wrong_type(&mut self, value: &DeValue, span: Range<usize>, schema: &Value, place: &Place) {
        let (name, section) = (place.name(), &place.section);
        let inside = section.trim_matches(['[', ']']);
        if place.key.is_empty() && matches!(value, DeValue::Table(_) | DeValue::Array(_)) {
            let kind = if schema["type"] == "array" { "may occur several times" } else { "occurs once" };
            let message = format!("`{inside}` {kind}: it is written {section}");
            self.problems.push(Problem::at(span, message));
            return;
        }
        let message = format!("{name} must be {}, found {}", expected(schema), found(value));
        let is_quoted_number = matches!(value, DeValue::String(text) if text.trim().parse::<f64>().is_ok());
        if is_quoted_number && matches!(schema["type"].as_str(), Some("number" | "integer")) {
            self.problems.push(Problem::at(span, message).hint("write the number without quotes"));
        } else {
            self.report(span, message, schema);
        }
    }

    fn report(&mut self, span: Range<usize>, message: String, schema: &Value) {
        let problem = Problem::at(span, message);
        let hint = description(schema);
        self.problems.push(if hint.is_empty() { problem } else { problem.hint(hint) });
    }

    /// Sections that know `key`.
    fn sections_with(&self, key: &str) -> Vec<String> {
        let sections = self.schema["properties"].as_object().into_iter().flatten();
        let holds = |schema: &Value| {
            property_names(schema).contains(&key) || property_names(&schema["items"]).contains(&key)
        };
        sections
            .filter(|(_, schema)| holds(schema))
            .map(|(name, schema)| Place::default().child(name, schema).section)
            .collect()
    }
}

fn property_names(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().into_iter().flat_map(|names| names.keys().map(String::as_str)).collect()
}

/// The keys of which a table must have exactly one; empty where there is no such rule.
fn alternatives(schema: &Value) -> Vec<&str> {
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    alternatives.filter_map(|alternative| alternative["required"][0].as_str()).collect()
}

/// The strings that a schema allows; empty when it is not a choice between strings.
fn choices(schema: &Value) -> Vec<&str> {
    schema["oneOf"].as_array().into_iter().flatten().filter_map(|choice| choice["const"].as_str()).collect()
}

fn description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

fn expected(schema: &Value) -> String {
    match schema["type"].as_str() {
        Some("number") => "a number".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "a string".to_owned(),
        Some("array") => {
            let inner = &schema["items"];
            let items = match (inner["type"].as_str(), inner["minItems"].as_u64()) {
                (Some("string"), _) => "strings".to_owned(),
                (Some("array"), Some(length)) => format!("arrays of {length} numbers"),
                _ => "numbers".to_owned(),
            };
            match schema["minItems"].as_u64() {
                Some(length) => format!("an array of {length} {items}"),
                None => format!("an array of {items}"),
            }
        }
        _ if !choices(schema).is_empty() => "a string".to_owned(),
        _ => "a table".to_owned(),
    }
}

fn found(value: &DeValue) -> String {
    match value {
        DeValue::String(_) => "a string".to_owned(),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn range(schema: &Value) -> String {
    let bound = |name: &str| schema[name].as_f64();
    let min = bound("minimum").map(|min| format!("at least {min}"));
    let above = bound("exclusiveMinimum").map(|min| format!("above {min}"));
    let max = bound("maximum").map(|max| format!("at most {max}"));
    let below = bound("exclusiveMaximum").map(|max| format!("below {max}"));
    if let (Some(min), Some(max)) = (bound("minimum"), bound("maximum")) {
        return format!("from {min} to {max}");
    }
    [min, above, max, below].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
