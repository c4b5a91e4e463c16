//! Going through the text of a JSON document from value to value, without building them.
//!
//! Not here: whether the text is JSON; that is known before ([`super::sound`]).

use std::borrow::Cow;

/// A place in a text that is known to be JSON.
pub(crate) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Enters the container that comes next, if it is one that opens so.
    pub(crate) fn enter(&mut self, open: u8) -> Option<()> {
        let found = self.peek() == Some(open);
        found.then(|| self.advance(1))
    }

    /// Whether the container that was entered last has another entry; it is left when it has none.
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

    /// The key of the entry that comes next.
    pub(crate) fn key(&mut self) -> Option<Cow<'a, str>> {
        let key = string(self.value());
        if self.peek() == Some(b':') {
            self.advance(1);
        }
        key
    }

    /// The text of the value that comes next.
    pub(crate) fn value(&mut self) -> &'a str {
        self.peek();
        let from = self.rest;
        self.advance(length(from));
        self.since(from)
    }

    /// What comes next and after it, up to the end of the text.
    pub(crate) fn here(&mut self) -> &'a str {
        self.peek();
        self.rest
    }

    /// The text from an earlier place up to here.
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

/// The string that a text is, if it is one.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    let content = text.strip_prefix('"')?.strip_suffix('"')?;
    if content.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(content))
    }
}

/// How long the value is that a text begins with.
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
