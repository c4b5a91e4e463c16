//! What is wrong with a document: each problem names its place and its rule, and all are told at once.

use crate::id::ChangeId;

/// One problem with a submitted document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: the JSON pointer (RFC 6901) into the document as it was sent.
    pub pointer: String,
    /// Where, by names: team, application, service, item, field; what the nested `errors` are built from.
    pub path: Vec<String>,
    /// The rule that is broken, a stable name.
    pub rule: &'static str,
    /// What is wrong, for a person.
    pub message: String,
    /// The change instance that blocks the submission, of the rule `blocked`.
    pub change: Option<ChangeId>,
}

/// Appends one reference token to a JSON pointer, escaped.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// The JSON pointer of these reference tokens.
pub fn pointer<'a>(tokens: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    for token in tokens {
        push_token(&mut pointer, token);
    }
    pointer
}
