//! The decimals of a text that have more digits than a 64-bit float distinguishes.

use std::collections::BTreeSet;

/// Maximum number of digits of a decimal, without zeros at its ends: 17 digits distinguish all 64-bit floats.
pub(super) const DIGITS_MAX: usize = 17;

/// Returns the indexes, among all numbers of a JSON text, of the decimals with more digits.
///
/// The text may be invalid. Integers have a range of their own.
pub(super) fn rounded(text: &str) -> BTreeSet<usize> {
    let mut rounded = BTreeSet::new();
    let (mut numbers, mut rest) = (0, text);
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '-') || c.is_ascii_digit()) {
        let (_, found) = rest.split_at(at);
        if let Some(string) = found.strip_prefix('"') {
            rest = after_string(string);
            continue;
        }
        let end = found.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (number, after) = found.split_at(end.unwrap_or(found.len()));
        if digits(number) > DIGITS_MAX {
            rounded.insert(numbers);
        }
        numbers += 1;
        rest = after;
    }
    rounded
}

/// Returns the text after the end of a string.
fn after_string(string: &str) -> &str {
    let mut is_escaped = false;
    let end = string.find(|c: char| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|end| string.get(end + 1..)).unwrap_or_default()
}

/// Returns the number of digits of a decimal, without zeros at its ends; 0 for an integer.
fn digits(number: &str) -> usize {
    if !number.contains(['.', 'e', 'E']) {
        return 0;
    }
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_count_without_zeros_at_the_ends() {
        for (number, expected) in [
            ("0.5", 1),
            ("1.50", 2),
            ("0.00012345", 5),
            ("1e300", 1),
            ("-12.5e-30", 3),
            ("12345678901234567890", 0),
            ("0.12345678901234567", 17),
            ("1.234567890123456789", 19),
        ] {
            assert_eq!(digits(number), expected, "{number}");
        }
    }

    #[test]
    fn only_numbers_count() {
        let long = "0.123456789012345678";
        for (text, expected) in [
            (format!("[1, {long}, {long}]"), vec![1, 2]),
            (format!(r#"{{"{long}": "\"{long}", "b": {long}}}"#), vec![0]),
            (format!(r#"["\\", {long}]"#), vec![0]),
            (format!(r#"["{long}"#), vec![]),
            (long.to_owned(), vec![0]),
            (String::new(), vec![]),
        ] {
            assert_eq!(rounded(&text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
