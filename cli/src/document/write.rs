//! Writes JSON as YAML that every reader of YAML 1.1 or 1.2 takes for the same values.
//!
//! A text is plain only if no reader can take it for another type. Numbers have the forms that both versions accept.

use serde_json::{Map, Number, Value};

/// The longest key of the form `key: value`, in bytes. YAML allows 1,024 characters; longer keys need the sign `?`.
const KEY_BYTES_MAX: usize = 1_000;
/// Spaces of one level.
const INDENT: usize = 2;
/// Words with another meaning than a text, for some reader, in any case.
const WORDS: [&str; 12] =
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// Returns a value as a document of several lines. The member `name` of an object comes first.
pub(crate) fn document(value: &Value) -> String {
    let mut out = String::new();
    if !collection(&mut out, value, 0) {
        out.extend([&inline(value), "\n"]);
    }
    out
}

/// Returns a value in one line.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(value) => text(value),
        Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                // Within braces, too, a long key needs its sign.
                let sign = if is_long(&text(name)) { "? " } else { "" };
                format!("{sign}{}: {}", text(name), inline(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a text as YAML: plain where every reader takes it for a text, else in double quotes.
pub(crate) fn text(value: &str) -> String {
    if is_plain(value) { value.to_owned() } else { quoted(value) }
}

fn mapping(out: &mut String, members: &Map<String, Value>, indent: usize) {
    let (first, rest): (Vec<_>, Vec<_>) = members.iter().partition(|(name, _)| *name == "name");
    for (at, (name, value)) in first.into_iter().chain(rest).enumerate() {
        // The first line of a mapping within a sequence follows its dash.
        if at > 0 || out.is_empty() || out.ends_with('\n') {
            out.push_str(&" ".repeat(indent));
        }
        let key = text(name);
        if is_long(&key) {
            out.extend(["? ", &key, "\n", &" ".repeat(indent), ":"]);
        } else {
            out.extend([&key, ":"]);
        }
        let end = out.len();
        out.push('\n');
        if !collection(out, value, indent + INDENT) {
            out.truncate(end);
            scalar(out, value, indent + INDENT);
        }
    }
}

fn sequence(out: &mut String, values: &[Value], indent: usize) {
    for (at, value) in values.iter().enumerate() {
        if at > 0 || out.is_empty() || out.ends_with('\n') {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str("- ");
        if !collection(out, value, indent + INDENT) {
            out.pop();
            scalar(out, value, indent + INDENT);
        }
    }
}

/// Writes a list or an object that is not empty; returns whether the value is one.
fn collection(out: &mut String, value: &Value, indent: usize) -> bool {
    if let Value::Object(members) = value
        && !members.is_empty()
    {
        mapping(out, members, indent);
    } else if let Value::Array(values) = value
        && !values.is_empty()
    {
        sequence(out, values, indent);
    } else {
        return false;
    }
    true
}

/// Writes a value without lines of its own behind a key or a dash.
fn scalar(out: &mut String, value: &Value, indent: usize) {
    match value.as_str().filter(|text| is_block(text)) {
        Some(lines) => block(out, lines, indent),
        None => out.extend([" ", &inline(value), "\n"]),
    }
}

/// Writes a text of several lines as a literal block.
fn block(out: &mut String, lines: &str, indent: usize) {
    // `|-` is a text without a line end at its end.
    out.push_str(if lines.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in lines.lines() {
        if !line.is_empty() {
            out.extend([&" ".repeat(indent), line]);
        }
        out.push('\n');
    }
}

/// Returns whether a text has several lines that a literal block keeps exactly.
fn is_block(value: &str) -> bool {
    let is_exact = |line: &str| line == line.trim_end() && line.chars().all(is_printable);
    let starts_with_text = value.starts_with(|first: char| !first.is_whitespace());
    value.contains('\n') && !value.ends_with("\n\n") && starts_with_text && value.split('\n').all(is_exact)
}

fn is_long(key: &str) -> bool {
    key.len() > KEY_BYTES_MAX
}

/// Returns whether every reader takes a text without quotes for this text.
fn is_plain(value: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./ ".contains(&byte);
    value.starts_with(|first: char| first.is_ascii_alphabetic())
        && !value.ends_with(' ')
        && value.bytes().all(is_safe)
        && !WORDS.contains(&value.to_lowercase().as_str())
}

/// Returns a text in double quotes, with the escapes that JSON and YAML have in common.
fn quoted(value: &str) -> String {
    let mut out = String::new();
    for c in Value::from(value).to_string().chars() {
        if is_printable(c) {
            out.push(c);
        } else {
            // All of them are in the first plane, so four digits suffice.
            out.extend(["\\u", &format!("{:04x}", u32::from(c))]);
        }
    }
    out
}

/// Returns whether a character stands for itself: no control, no line end of YAML 1.1, no invisible direction.
const fn is_printable(c: char) -> bool {
    !matches!(
        c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}'..='\u{ffff}'
    )
}

/// Returns a number in a form of YAML 1.1 and 1.2: an exponent needs a point before it, and a sign.
fn number(value: &Number) -> String {
    let json = value.to_string();
    let Some((digits, exponent)) = json.split_once('e') else { return json };
    let point = if digits.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{digits}{point}e{sign}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::json;
    use serde_json::json;
    use std::path::Path;

    fn read(text: &str) -> Value {
        json::value(Path::new("a.yaml"), text).unwrap()
    }

    #[test]
    fn a_declaration_has_the_form_of_one_written_by_hand() {
        let value = json!({"Shop": {
            "metadata": {"env": "dev", "empty": {}, "note": "a: b"},
            "services": {"VM": [
                {"cpu": 8, "name": "web1", "tags": ["a", "no", ["x"], []], "user_data": "#!/bin/sh\n\necho  hi\n  exit"},
                {"name": "web2", "disks": [{"size": 1, "name": "data"}, {}]}]}}});
        let expected = "\
Shop:
  metadata:
    empty: {}
    env: dev
    note: \"a: b\"
  services:
    VM:
      - name: web1
        cpu: 8
        tags:
          - a
          - \"no\"
          - - x
          - []
        user_data: |-
          #!/bin/sh

          echo  hi
            exit
      - name: web2
        disks:
          - name: data
            size: 1
          - {}
";
        assert_eq!(document(&value), expected);
        assert_eq!(read(expected), value);
    }

    #[test]
    fn a_text_with_another_meaning_for_some_reader_has_quotes() {
        for word in [
            "",
            " a",
            "a ",
            "on",
            "No",
            "y",
            "NULL",
            "~",
            "12",
            "1.0",
            "1e3",
            "0x1F",
            "0o17",
            "017",
            "1_000",
            "1:30",
            "2024-01-01",
            "12345678901234567890123",
            "-",
            "- a",
            "<<",
            "=",
            "*a",
            "&a",
            "!t",
            "a: b",
            "a #b",
            "#",
            "%",
            "@a",
            "`",
            "[a",
            "{a",
            "a,b",
            "---",
            "...",
            "a\tb",
            "a\u{85}b",
            "a\u{2028}b",
            ".inf",
            ".5",
            "+1",
            "ä",
        ] {
            assert!(text(word).starts_with('"'), "{word}");
            assert_eq!(read(&document(&json!([word, {word: word}]))), json!([word, {word: word}]));
        }
        for word in ["a", "web-1", "Shop/VM/web1", "A virtual machine.", "v1.0", "on call"] {
            assert_eq!(text(word), word);
        }
    }

    #[test]
    fn numbers_have_a_form_of_both_versions() {
        let numbers = json!([1, -2, 1.0, 0.5, 1e30, 1.5e-7, 1e300, 18_446_744_073_709_551_615_u64]);
        assert_eq!(inline(&numbers), "[1, -2, 1.0, 0.5, 1.0e+30, 1.5e-7, 1.0e+300, 18446744073709551615]");
        assert_eq!(read(&inline(&numbers)), numbers);
    }

    #[test]
    fn long_keys_have_their_sign() {
        let value = json!({"k".repeat(1_025): {"v".repeat(1_025): [1]}, "l": 1});
        assert!(document(&value).starts_with("? kk"));
        assert_eq!(read(&document(&value)), value);
        assert_eq!(read(&inline(&value)), value);
    }

    /// Characters that some reader of YAML takes for more than themselves, and others.
    const SIGNS: &str =
        "anoyN019 :#-?,[]{}&*!|>'\"%@`~=<._+eExX/\\\t\n\r\u{0}\u{85}\u{a0}\u{2028}\u{feff}\u{fffe}äß語🚀";

    fn any_text(random: &mut fastrand::Rng) -> String {
        let signs: Vec<char> = SIGNS.chars().collect();
        match random.u8(..4) {
            0 => random
                .choice(["on", "No", "null", "<<", "2024-01-01", "1e3", "0o7", "1:30", "a\n\nb\n"])
                .unwrap()
                .to_owned(),
            1 => random.i64(..).to_string(),
            _ => (0..random.usize(..8)).filter_map(|_| random.choice(signs.iter())).collect(),
        }
    }

    fn any_value(random: &mut fastrand::Rng, depth: usize) -> Value {
        match random.u8(..if depth == 0 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => random.bool().into(),
            2 => random.i64(..).into(),
            3 => f64::from_bits(random.u64(..)).into(),
            4 | 5 => any_text(random).into(),
            6 | 7 => (0..random.usize(..4)).map(|_| any_value(random, depth - 1)).collect(),
            _ => {
                let members =
                    (0..random.usize(..4)).map(|_| (any_text(random), any_value(random, depth - 1)));
                Value::Object(members.collect())
            }
        }
    }

    #[test]
    fn every_value_is_read_as_it_was() {
        let mut random = fastrand::Rng::with_seed(37);
        for _ in 0..20_000 {
            let value = any_value(&mut random, 4);
            assert_eq!(read(&document(&value)), value, "{}", document(&value));
            assert_eq!(read(&inline(&value)), value, "{}", inline(&value));
        }
    }
}
