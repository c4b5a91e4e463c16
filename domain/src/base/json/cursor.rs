//! A cursor that walks through the text of a JSON document from value to value, without building them.
//!
//! The caller has checked before that the text is JSON ([`super::sound`]). Only `dovetail plan` uses the cursor and
//! that check. `dovetail plan` parses only items with different texts, so it needs a fraction of the time of a parse
//! (`docs/reference/figures/performance.md`).

use std::borrow::Cow;

/// A position in a text that is valid JSON.
pub(crate) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Enters the next container, if it opens with this byte.
    pub(crate) fn enter(&mut self, open: u8) -> Option<()> {
        let is_next = self.peek() == Some(open);
        is_next.then(|| self.advance(1))
    }

    /// Returns whether the entered container has another entry, and leaves the container if it has none.
    pub(crate) fn has_next(&mut self) -> bool {
        if self.peek() == Some(b',') {
            self.advance(1);
        }
        let is_last = matches!(self.peek(), None | Some(b'}' | b']'));
        if is_last {
            self.advance(1);
        }
        !is_last
    }

    /// Returns the key of the next entry.
    pub(crate) fn key(&mut self) -> Option<Cow<'a, str>> {
        let key = string(self.value());
        if self.peek() == Some(b':') {
            self.advance(1);
        }
        key
    }

    /// Returns the text of the next value.
    pub(crate) fn value(&mut self) -> &'a str {
        self.peek();
        let from = self.rest;
        self.advance(length(from));
        self.since(from)
    }

    /// Returns the text from the next value to the end.
    pub(crate) fn here(&mut self) -> &'a str {
        self.peek();
        self.rest
    }

    /// Returns the text from an earlier position up to here.
    pub(crate) fn since(&self, from: &'a str) -> &'a str {
        from.len().checked_sub(self.rest.len()).and_then(|length| from.get(..length)).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.as_bytes().first().copied()
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }
}

/// Returns the string in a text, if it is one.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    let content = text.strip_prefix('"')?.strip_suffix('"')?;
    // Only escapes need a copy, and most strings have none.
    if content.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(content))
    }
}

/// Returns the length of the value at the start of a text.
fn length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate();
    let mut depth = 0_usize;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return at + scalar_length(text.get(at..).unwrap_or_default()),
            _ => {}
        }
        if depth == 0 {
            return text.len() - bytes.len();
        }
    }
    text.len()
}

fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

fn scalar_length(text: &str) -> usize {
    let is_end = |byte: u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
    text.bytes().position(is_end).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_where_the_next_begins() {
        let values = [
            "1",
            "-1.5e3",
            "true",
            "null",
            r#""a""#,
            r#""""#,
            r#""a\"]}\\""#,
            "[]",
            r#"[1,"]",[{"}":"\\"}]]"#,
            r#"{"a": {"b" : [ ] } }"#,
            r#""größe \ud83d\ude00""#,
        ];
        for gap in ["", " \n\t\r"] {
            let text = format!("{gap}[{gap}{}{gap}]{gap}", values.join(&format!("{gap},{gap}")));
            let mut cursor = Cursor::new(&text);
            assert_eq!(cursor.enter(b'{'), None);
            let from = cursor.here();
            cursor.enter(b'[').unwrap();
            for value in values {
                assert!(cursor.has_next());
                assert_eq!(cursor.value(), value);
            }
            assert!(!cursor.has_next());
            assert_eq!(cursor.since(from), text.trim());
            assert_eq!(cursor.here(), "");
        }
        for value in values {
            assert_eq!(Cursor::new(value).value(), value);
        }
    }

    #[test]
    fn keys_are_read_with_their_escapes() {
        let mut cursor = Cursor::new(r#"{"a":1,"\u0062\"" : {} ,"":""}"#);
        cursor.enter(b'{').unwrap();
        let mut keys = Vec::new();
        while cursor.has_next() {
            keys.push(cursor.key().unwrap());
            cursor.value();
        }
        assert_eq!(keys, ["a", "b\"", ""]);
        assert_eq!((string("7"), string("\"x")), (None, None));
    }
}
