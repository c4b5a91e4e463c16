//! Strict JSON: unambiguous parsing, the canonical form (RFC 8785) and its hash.
//!
//! The meaning of a document is the concern of other modules.

pub(crate) mod cursor;
mod decimals;
pub(crate) mod sound;

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

use crate::base::problem::{Problem, pointer};

/// The largest magnitude that every JSON implementation reads exactly: 2^53 - 1.
pub const NUMBER_MAX: u64 = (1 << 53) - 1;

/// Maximum number of reported problems of a document.
pub const PROBLEMS_MAX: usize = 1_000;

/// Maximum size of the paths and messages of a document's problems, in bytes; further problems are dropped.
pub const PROBLEMS_BYTES_MAX: usize = 1024 * 1024;

/// Maximum length of a pointer in a problem, in bytes; a longer one is cut.
const POINTER_BYTES_MAX: usize = 2_048;
/// Maximum length of a name in a path, in bytes; a longer one is cut.
const TOKEN_BYTES_MAX: usize = 256;

const NUMBER_MAX_FLOAT: f64 = 9_007_199_254_740_991.0;
/// The canonical form rounds the largest integers of 64 bits to this number.
const BITS_64: f64 = 18_446_744_073_709_552_000.0;

/// Parses `bytes` as one JSON document with at most `depth_max` nested containers.
///
/// An empty body counts as `{}`, because some clients announce JSON and send nothing.
pub fn parse(bytes: &[u8], depth_max: usize) -> Result<Value, Vec<Problem>> {
    parse_with(bytes, depth_max, |_| false)
}

/// Parses the text of a JSON Schema, in which generators write the bounds of 64-bit integers.
///
/// No item has such a value, so readers that round a bound agree about every item.
pub(crate) fn parse_schema(bytes: &[u8], depth_max: usize) -> Result<Value, Vec<Problem>> {
    parse_with(bytes, depth_max, is_bound_or_example)
}

/// Returns whether a number at these tokens of a JSON Schema is only compared with the numbers of items, or shown.
fn is_bound_or_example(tokens: &[String]) -> bool {
    const BOUNDS: [&str; 4] = ["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"];
    const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
    tokens.last().is_some_and(|last| BOUNDS.contains(&last.as_str()))
        || tokens.iter().any(|token| VALUES.contains(&token.as_str()))
}

fn parse_with(
    bytes: &[u8],
    depth_max: usize,
    allows_64_bits: fn(&[String]) -> bool,
) -> Result<Value, Vec<Problem>> {
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let text = str::from_utf8(bytes).map_err(|broken| {
        vec![invalid(format!("must be UTF-8, but byte {} is not", broken.valid_up_to()))]
    })?;
    let mut reader = Reader {
        tokens: Vec::new(),
        problems: Problems::default(),
        depth_max,
        allows_64_bits,
        numbers: 0,
        rounded: decimals::rounded(text),
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    let mut problems = reader.problems.into_vec();
    match read {
        Ok(value) if problems.is_empty() => Ok(value),
        Ok(_) => Err(problems),
        Err(error) => {
            problems.push(syntax(&error));
            Err(problems)
        }
    }
}

/// The beginning of the keys that `serde_json` interprets.
pub(crate) const RESERVED: &str = "$serde_json::private::";

/// Returns whether `serde_json` would interpret a key as an instruction and not as a name.
pub(crate) fn is_reserved(key: &str) -> bool {
    key.starts_with(RESERVED)
}

/// Returns the number of nested containers of a value, without recursion: 0 for a value that is not a container.
pub fn depth(value: &Value) -> usize {
    let (mut deepest, mut open) = (0, vec![(value, 1)]);
    while let Some((value, level)) = open.pop() {
        match value {
            Value::Object(members) => open.extend(members.values().map(|value| (value, level + 1))),
            Value::Array(elements) => open.extend(elements.iter().map(|value| (value, level + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => continue,
        }
        deepest = deepest.max(level);
    }
    deepest
}

/// Returns whether every JSON implementation reads a number exactly, because larger numbers are rounded.
pub(crate) fn is_exact(number: &Number) -> bool {
    number.as_f64().is_some_and(|number| number.abs() <= NUMBER_MAX_FLOAT)
}

/// Returns the canonical form (RFC 8785): equal documents give equal text.
pub fn canonical(value: &Value) -> String {
    // The library refuses only numbers that are not finite and keys that are not text, and a `Value` holds neither. The
    // fallback avoids an error that no caller could handle.
    serde_json_canonicalizer::to_string(value).unwrap_or_else(|_| value.to_string())
}

/// Maximum length of a value in a message, in characters.
pub(crate) const VALUE_CHARS_MAX: usize = 64;

/// Returns the canonical form of a value for a message, or only its length if the form is too long.
pub(crate) fn excerpt(value: &Value) -> String {
    let text = canonical(value);
    let chars = text.chars().count();
    if chars > VALUE_CHARS_MAX { format!("a value of {chars} characters") } else { text }
}

/// The problems so far, bounded: a hostile document must not make the response larger than itself.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    problems: Vec<Problem>,
    bytes: usize,
}

impl Problems {
    /// Adds a problem, and builds it only while there is room.
    pub(crate) fn push(&mut self, problem: impl FnOnce() -> Problem) {
        if self.is_full() {
            return;
        }
        let mut problem = problem();
        cut(&mut problem.pointer, POINTER_BYTES_MAX);
        problem.path.iter_mut().for_each(|token| cut(token, TOKEN_BYTES_MAX));
        let path: usize = problem.path.iter().map(String::len).sum();
        self.bytes += problem.pointer.len() + problem.message.len() + path;
        self.problems.push(problem);
    }

    /// Returns whether further problems are dropped.
    pub(crate) const fn is_full(&self) -> bool {
        self.problems.len() >= PROBLEMS_MAX || self.bytes > PROBLEMS_BYTES_MAX
    }

    /// Returns whether a problem of this rule at this pointer is present.
    pub(crate) fn has(&self, rule: &str, pointer: &str) -> bool {
        self.problems.iter().any(|problem| problem.rule == rule && problem.pointer == pointer)
    }

    /// Returns whether a problem of this rule at this pointer or below it is present.
    pub(crate) fn has_below(&self, rule: &str, pointer: &str) -> bool {
        let is_below = |problem: &Problem| {
            let rest = problem.pointer.strip_prefix(pointer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.problems.iter().any(|problem| problem.rule == rule && is_below(problem))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.problems
    }
}

/// Cuts a long text and marks the cut with an ellipsis.
fn cut(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push('…');
    }
}

fn invalid(message: String) -> Problem {
    Problem { pointer: String::new(), path: Vec::new(), rule: "invalid_json", message, change: None }
}

fn syntax(error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let what = match error.classify() {
        Category::Eof => "unexpected end of the document",
        // The parser's syntax messages are constants, so they contain no content of the document.
        Category::Syntax => text.split(" at line ").next().unwrap_or_default(),
        Category::Data | Category::Io => "unexpected data",
    };
    invalid(format!("must be valid JSON: {what} at line {}, column {}", error.line(), error.column()))
}

/// Builds the value and notes problems that serde accepts.
struct Reader {
    tokens: Vec<String>,
    problems: Problems,
    depth_max: usize,
    /// Returns whether a number may have 64 bits at these tokens.
    allows_64_bits: fn(&[String]) -> bool,
    /// The number of numbers read so far.
    numbers: usize,
    /// The indexes of the numbers that have too many digits.
    rounded: BTreeSet<usize>,
}

impl Reader {
    fn note(&mut self, rule: &'static str, message: &str) {
        let tokens = &self.tokens;
        self.problems.push(|| Problem {
            pointer: pointer(tokens.iter().map(String::as_str)),
            path: tokens.clone(),
            rule,
            message: message.to_owned(),
            change: None,
        });
    }

    fn number(&mut self, in_range: bool, number: Number) -> Value {
        if self.rounded.contains(&self.numbers) {
            let message = format!("must be a number of at most {} digits", decimals::DIGITS_MAX);
            self.note("number_out_of_range", &message);
        }
        self.numbers += 1;
        // Larger numbers are rounded by JavaScript and others, so two readers would see different values.
        let has_64_bits = number.as_f64().is_some_and(|number| number.abs() <= BITS_64);
        let is_allowed = in_range || has_64_bits && (self.allows_64_bits)(&self.tokens);
        if !is_allowed {
            self.note("number_out_of_range", "must be a number from -(2^53 - 1) to 2^53 - 1");
        }
        Value::Number(number)
    }

    /// Returns whether another container fits; deeper content is skipped, not built.
    fn fits(&mut self) -> bool {
        let fits = self.tokens.len() < self.depth_max;
        if !fits {
            // The skipped content may have numbers.
            self.rounded.clear();
            self.note("too_deep", &format!("must be nested at most {} levels deep", self.depth_max));
        }
        fits
    }
}

impl<'de> DeserializeSeed<'de> for &mut Reader {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(self.number(value <= NUMBER_MAX, value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(self.number(value.unsigned_abs() <= NUMBER_MAX, value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(self.number(value.abs() <= NUMBER_MAX_FLOAT, number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        if !self.fits() {
            // Skipped entry by entry, so that the rest of the document is still checked for problems.
            while entries.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut array = Vec::new();
        loop {
            self.tokens.push(array.len().to_string());
            let entry = entries.next_element_seed(&mut *self)?;
            self.tokens.pop();
            match entry {
                Some(entry) => array.push(entry),
                None => return Ok(Value::Array(array)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        if !self.fits() {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let mut token = key.clone();
            cut(&mut token, TOKEN_BYTES_MAX);
            self.tokens.push(token);
            // Readers disagree about which of two equal keys counts.
            if object.contains_key(&key) {
                self.note("duplicate_key", "key must be unique in its object");
            }
            // `serde_json` would misread the stored text later, and fail or change the value.
            if is_reserved(&key) {
                self.note("reserved_key", &format!("key must not begin with {RESERVED}"));
            }
            let value = entries.next_value_seed(&mut *self)?;
            self.tokens.pop();
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DEPTH_MAX: usize = 32;

    fn first_problems(text: &str) -> Vec<(&'static str, String)> {
        let problems = parse(text.as_bytes(), DEPTH_MAX).err().unwrap_or_default();
        problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
    }

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn problems_are_listed_once_up_to_limits_of_number_and_size() {
        let problem = |pointer: &str, tokens: usize, bytes: usize| Problem {
            pointer: pointer.to_owned(),
            path: vec!["p".repeat(TOKEN_BYTES_MAX); tokens],
            rule: "rule",
            message: "m".repeat(bytes - pointer.len() - tokens * TOKEN_BYTES_MAX),
            change: None,
        };
        let limited = |problem: &dyn Fn() -> Problem| {
            let mut problems = Problems::default();
            (0..2 * PROBLEMS_MAX).for_each(|_| problems.push(problem));
            problems.into_vec().len()
        };
        assert_eq!(limited(&|| problem("/a", 0, 2)), 1_000);
        // Each problem takes a quarter of the limit, half of it as path. The problem that exceeds the limit is the last
        // one.
        assert_eq!(limited(&|| problem("/a", 512, 262_144)), 5);
        let mut problems = Problems::default();
        problems.push(|| problem("/a", 0, 2));
        let cases = [("rule", "/a"), ("rule", "/b"), ("another", "/a")];
        assert_eq!(cases.map(|(rule, pointer)| problems.has(rule, pointer)), [true, false, false]);
    }

    #[test]
    fn a_text_that_is_cut_shows_it() {
        for (text, expected) in [("abcd", "abcd"), ("abcde", "abcd…"), ("abcé", "abc…")] {
            let mut text = text.to_owned();
            cut(&mut text, 4);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_document_reads_as_it_is() {
        let text = r#"{"a":[1,-2,0.5,true,false,null,"x\u00e9\ud83d\ude00"],"b":{}}"#;
        let value = parse(text.as_bytes(), DEPTH_MAX).unwrap();
        assert_eq!(value, json!({"a": [1, -2, 0.5, true, false, null, "xé😀"], "b": {}}));
    }

    #[test]
    fn an_empty_body_is_an_empty_object_but_white_space_is_not() {
        assert_eq!(parse(b"", DEPTH_MAX), Ok(json!({})));
        assert_eq!(first_problems("  "), [("invalid_json", String::new())]);
    }

    #[test]
    fn what_is_not_json_is_one_problem() {
        let attacks = [
            "{",
            "[1,]",
            "{\"a\":1,}",
            "NaN",
            "Infinity",
            "-",
            "01",
            "1e400",
            "-1e400",
            "{} {}",
            "{}x",
            "'a'",
            "\u{feff}{}",
            r#""\ud800""#,
            r#""\udc00\ud800""#,
            r#"{"\ud800":1}"#,
            "\"\u{0}\"",
            "{a:1}",
        ];
        for attack in attacks {
            assert_eq!(first_problems(attack), [("invalid_json", String::new())], "{attack}");
        }
    }

    #[test]
    fn broken_utf_8_is_no_json() {
        for attack in [&b"\"\xff\""[..], b"\"\xc0\xaf\"", b"\"\xed\xa0\x80\"", b"{\"\xe2\x82\":1}"] {
            assert_eq!(parse(attack, DEPTH_MAX).unwrap_err()[0].rule, "invalid_json");
        }
    }

    #[test]
    fn a_syntax_error_has_its_position_and_no_content() {
        let problems = parse(b"{\n \"secret\": hunter2}", DEPTH_MAX).unwrap_err();
        assert_eq!(problems[0].message, "must be valid JSON: expected value at line 2, column 12");
        let problems = parse(b"{\"secret\": ", DEPTH_MAX).unwrap_err();
        assert!(problems[0].message.contains("unexpected end of the document"));
    }

    #[test]
    fn keys_that_are_no_names_to_the_library_are_refused() {
        for key in ["$serde_json::private::RawValue", "$serde_json::private::Number"] {
            let body = format!("{{\"a\":{{\"{key}\":\"{{}}\"}}}}");
            let problems = parse(body.as_bytes(), 8).unwrap_err();
            let reported: Vec<_> =
                problems.iter().map(|problem| (problem.rule, problem.pointer.clone())).collect();
            assert_eq!(reported, [("reserved_key", format!("/a/{key}"))]);
            assert!(!sound::is_sound(&body, 8));
        }
    }

    #[test]
    fn all_duplicate_keys_are_listed() {
        let text = r#"{"a":{"b":1,"b":2},"c/d":[{"e":1,"\u0065":2}],"a":3,"a":4}"#;
        let duplicate = |pointer: &str| ("duplicate_key", pointer.to_owned());
        let expected = [duplicate("/a/b"), duplicate("/c~1d/0/e"), duplicate("/a"), duplicate("/a")];
        assert_eq!(first_problems(text), expected);
        let problems = parse(text.as_bytes(), DEPTH_MAX).unwrap_err();
        assert_eq!(problems[1].path, ["c/d", "0", "e"]);
    }

    #[test]
    fn numbers_keep_to_what_every_reader_reads_exactly() {
        for number in
            ["9007199254740991", "-9007199254740991", "0", "-0", "1e15", "1e-400", "9007199254740991.0"]
        {
            assert_eq!(first_problems(number), [], "{number}");
        }
        let too_large = [
            "9007199254740992",
            "-9007199254740992",
            "18446744073709551616",
            "1e300",
            "-1e16",
            "9007199254740992.0",
        ];
        for number in too_large {
            assert_eq!(
                first_problems(&format!("[{number}]")),
                [("number_out_of_range", "/0".to_owned())],
                "{number}"
            );
        }
    }

    #[test]
    fn a_decimal_that_a_reader_would_round_is_refused() {
        let text = r#"{"a": [1, 0.1, "0.12345678901234567890", 0.12345678901234567890], "b": -1.234567890123456789e3}"#;
        let refused = |pointer: &str| ("number_out_of_range", pointer.to_owned());
        assert_eq!(first_problems(text), [refused("/a/3"), refused("/b")]);
        let message = "must be a number of at most 17 digits";
        assert_eq!(parse(text.as_bytes(), DEPTH_MAX).unwrap_err()[0].message, message);
        let deep = format!("[{}, 0.12345678901234567890]", nested(DEPTH_MAX));
        assert_eq!(first_problems(&deep), [("too_deep", "/0".repeat(DEPTH_MAX))]);
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        assert_eq!(first_problems(&nested(DEPTH_MAX)), []);
        assert_eq!(first_problems(&nested(DEPTH_MAX + 1)), [("too_deep", "/0".repeat(DEPTH_MAX))]);
        assert_eq!(first_problems(&format!("[{},1e300]", nested(DEPTH_MAX)))[1].0, "number_out_of_range");
    }

    #[test]
    fn nesting_without_end_does_not_exhaust_the_stack() {
        let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
        for attack in [nested(100_000), objects] {
            assert_eq!(first_problems(&attack)[0].0, "too_deep");
        }
        assert_eq!(first_problems(&"[".repeat(100_000))[1].0, "invalid_json");
        // Even without a limit here, the library's own recursion limit holds.
        assert_eq!(parse(nested(100_000).as_bytes(), usize::MAX).unwrap_err()[0].rule, "invalid_json");
    }

    #[test]
    fn the_reply_stays_small_with_any_number_of_problems() {
        let duplicates = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(100_000));
        assert_eq!(first_problems(&duplicates).len(), PROBLEMS_MAX);
        let long = format!("{{\"{}\":[{}1e300]}}", "k".repeat(PROBLEMS_BYTES_MAX), "1e300,".repeat(1_000));
        let problems = parse(long.as_bytes(), DEPTH_MAX).unwrap_err();
        assert_eq!(problems.len(), PROBLEMS_MAX);
        assert!(problems.iter().all(|problem| problem.pointer.len() < POINTER_BYTES_MAX));
    }

    #[test]
    fn the_canonical_form_is_that_of_rfc_8785() {
        let cases = [
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1E2", "100"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("333333333.33333329", "333333333.3333333"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            (r#"{"b":1,"a":{"d":2,"c":3}}"#, r#"{"a":{"c":3,"d":2},"b":1}"#),
            (" [ 1 , 2 ] ", "[1,2]"),
            (r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#, r#""€$\u000f\nA'B\"\\\\\"/""#),
            (r#""\u007f\u2028""#, "\"\u{7f}\u{2028}\""),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(&parse(text.as_bytes(), DEPTH_MAX).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn keys_are_in_the_order_of_their_utf_16_units() {
        // U+1F600 is above U+FB33 by code point and below it by its surrogates.
        let value = json!({"\u{fb33}": 5, "\u{1f600}": 4, "€": 3, "\r": 0, "1": 1, "ö": 2});
        assert_eq!(canonical(&value), "{\"\\r\":0,\"1\":1,\"ö\":2,\"€\":3,\"😀\":4,\"\u{fb33}\":5}");
    }
}
