//! Filters of lists: from the command line, and as the query of a URL.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Reads a filter in the form `NAME=VALUE`.
pub(crate) fn parse(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns filters as the query of a URL.
pub(crate) fn query(filters: &[(String, String)]) -> String {
    let one =
        |(name, value): &(String, String)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
    let filters: Vec<String> = filters.iter().map(one).collect();
    if filters.is_empty() { String::new() } else { format!("?{}", filters.join("&")) }
}
