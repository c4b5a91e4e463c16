//! Problems of a document: each has its position and its rule, and a response lists all of them.

use crate::base::id::ChangeId;

/// A problem of a submitted document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The JSON pointer (RFC 6901) into the document as sent.
    pub pointer: String,
    /// The position by names: team, application, service, item, field; the source of the nested `errors`.
    pub path: Vec<String>,
    /// The stable name of the broken rule.
    pub rule: &'static str,
    /// The explanation for people.
    pub message: String,
    /// The change instance that blocks the submission; only with the rule `blocked`.
    pub change: Option<ChangeId>,
}

/// Appends an escaped reference token to a JSON pointer.
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

/// Returns the JSON pointer of a value directly below `pointer`.
pub(crate) fn below(pointer: &str, token: &str) -> String {
    let mut below = pointer.to_owned();
    push_token(&mut below, token);
    below
}

/// Returns the unescaped reference tokens of a JSON pointer.
pub(crate) fn tokens(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

/// Returns the JSON pointer of these reference tokens.
pub fn pointer<'a>(tokens: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    for token in tokens {
        push_token(&mut pointer, token);
    }
    pointer
}
