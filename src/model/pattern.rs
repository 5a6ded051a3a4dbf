//! Names with `*`.

/// Whether a pattern, in which `*` stands for any characters, fits a whole text.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts: Vec<&str> = pattern.split('*').collect();
    let Some(last) = parts.pop() else { return false };
    let Some((first, between)) = parts.split_first() else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_characters() {
        let fitting = [
            ("*", ""),
            ("*", "a"),
            ("a*", "a"),
            ("a*b*c", "axxbyyc"),
            ("*_*", "ball_1"),
            ("a", "a"),
            ("a*a", "aa"),
        ];
        for (pattern, text) in fitting {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a", "ab"), ("ab", "a"), ("a*a", "a"), ("*b", "bc"), ("a*b*c", "acb"), ("", "a")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
