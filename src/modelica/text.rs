//! Modelica text: templates, identifiers, strings, numbers.

use std::collections::BTreeSet;

/// Words that are no identifiers in Modelica 3.5.
const KEYWORDS: &str = "algorithm and annotation block break class connect connector constant constrainedby der \
    discrete each else elseif elsewhen encapsulated end enumeration equation expandable extends external false \
    final flow for function if import impure in initial inner input loop model not operator or outer output package \
    parameter partial protected public pure record redeclare replaceable return stream then true type when while \
    within";

/// What is wrong with a name for a package, if anything.
pub fn package_name_fault(name: &str) -> Option<&'static str> {
    let is_identifier = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if !is_identifier {
        Some("is not a Modelica identifier: use letters, digits and _, and start with a letter or _")
    } else if KEYWORDS.split_whitespace().any(|keyword| keyword == name) {
        Some("is a keyword of Modelica: choose another name")
    } else if name == "Modelica" {
        Some("is that of the Modelica Standard Library: choose another name")
    } else {
        None
    }
}

/// Replaces `{{name}}` by its value. Arrays of arrays stay, and so does what stands in values.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let name = after.split_once("}}").map(|(name, _)| name).filter(|name| is_placeholder(name));
        match name {
            None => {
                text.push_str("{{");
                rest = after;
            }
            Some(name) => {
                let value = values.iter().find(|(known, _)| *known == name);
                text.push_str(value.unwrap_or_else(|| panic!("no value for {{{{{name}}}}}")).1);
                rest = &after[name.len() + 2..];
            }
        }
    }
    text + rest
}

fn is_placeholder(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_lowercase() || character == '_')
}

/// What stands between the quotes of a string.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Text in the HTML of a documentation string.
pub fn html(text: &str) -> String {
    escaped(&text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

/// The shortest form that reads back to the same number.
pub fn real(value: f64) -> String {
    format!("{value:?}")
}

/// `{1, 2, 3}`, or an empty array of integers, which has no literal.
pub fn integers(values: &[usize]) -> String {
    if values.is_empty() {
        return "fill(0, 0)".to_owned();
    }
    let values: Vec<String> = values.iter().map(usize::to_string).collect();
    format!("{{{}}}", values.join(", "))
}

/// Names of one class, each given out once.
#[derive(Default)]
pub struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// With names that are used already.
    pub fn new(taken: &[&str]) -> Names {
        Names { taken: taken.iter().map(|&name| name.to_owned()).collect() }
    }

    /// `wish`, with underscores behind it if it is taken.
    pub fn take(&mut self, wish: &str) -> String {
        let mut name = wish.to_owned();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_placeholders_are_filled_and_only_once() {
        let values = [("a", "{{b}}"), ("b", "2")];
        assert_eq!(fill("x{{a}}y{{b}}, {{-1, 2}, {3, 4}}", &values), "x{{b}}y2, {{-1, 2}, {3, 4}}");
    }

    #[test]
    fn names_are_given_out_once() {
        let mut names = Names::new(&["x"]);
        assert_eq!([names.take("x"), names.take("x"), names.take("y")], ["x_", "x__", "y"]);
    }

    #[test]
    fn package_names_are_identifiers() {
        for good in ["coupled_ball", "_x", "Ball2", "modelica"] {
            assert_eq!(package_name_fault(good), None, "{good}");
        }
        for bad in ["", "2balls", "my-ball", "a.b", "model", "when", "Modelica", "bäll"] {
            assert!(package_name_fault(bad).is_some(), "{bad}");
        }
    }
}
