//! Query parameters, percent-encoded or not, as existing clients send them (docs/reference/http/README.md, convention
//! 11).

use crate::code::Code;
use crate::field::FieldError;
use crate::reply::{Failure, Reply};
use domain::base::json::NUMBER_MAX;
use percent_encoding::percent_decode_str;
use std::collections::BTreeSet;

/// Default number of rows on a page (docs/reference/http/lists.md).
const LIMIT_DEFAULT: usize = 20;
/// Maximum number of rows on a page. A larger `limit` means this one.
const LIMIT_MAX: usize = 100;
/// Default and maximum number of service items on a page of a document.
const DOCUMENT_LIMIT_MAX: usize = 1_000;

/// The query parameters of a request, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a raw query string. Invalid UTF-8 becomes replacement characters.
    pub fn parse(raw: &str) -> Self {
        let pairs = raw.split('&').filter(|pair| !pair.is_empty());
        Self(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(decode_pair).collect())
    }

    /// Returns the last value of a parameter; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        value.filter(|value| !value.is_empty())
    }

    /// Returns the names of the parameters, repetitions included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the parameters in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the values of a list parameter, `A,B` or `[4, 5]`. Several values mean OR; `\,` is a comma in a value.
    pub fn list(&self, name: &str) -> Option<Vec<String>> {
        let text = self.get(name)?.trim();
        // Python clients format a list in the notation of Python: brackets, quotes and spaces.
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let values = split(inner).into_iter().map(|value| value.trim().trim_matches(['\'', '"']).to_owned());
        Some(values.filter(|value| !value.is_empty()).collect())
    }

    /// Returns the integers of a list parameter.
    pub fn integers(&self, name: &str) -> Result<Option<Vec<u64>>, Failure> {
        let Some(values) = self.list(name) else { return Ok(None) };
        let parsed: Option<Vec<u64>> = values.iter().map(|value| integer(value)).collect();
        parsed.map(Some).ok_or_else(|| invalid(name, "must be a list of integers"))
    }

    /// Returns the integer of a parameter.
    pub fn integer(&self, name: &str) -> Result<Option<u64>, Failure> {
        let parsed = self.get(name).map(|value| integer(value).ok_or(value)).transpose();
        parsed.map_err(|_| invalid(name, "must be an integer"))
    }

    /// Returns the rows of a page: `limit` up to 100, or 20 if it is absent or 0 (docs/reference/http/lists.md).
    pub fn limit(&self) -> Result<usize, Failure> {
        Ok(self.positive_limit()?.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX))
    }

    /// Returns the service items of a page of a document: `limit` up to 1,000, or 1,000 if it is absent or 0.
    pub fn document_limit(&self) -> Result<usize, Failure> {
        Ok(self.positive_limit()?.unwrap_or(DOCUMENT_LIMIT_MAX).min(DOCUMENT_LIMIT_MAX))
    }

    fn positive_limit(&self) -> Result<Option<usize>, Failure> {
        let limit = self.integer("limit")?.and_then(|limit| usize::try_from(limit).ok());
        Ok(limit.filter(|limit| *limit > 0))
    }

    /// Returns a boolean: `true` or `false` in any case, because Python clients write `True`.
    pub fn truth(&self, name: &str) -> Result<Option<bool>, Failure> {
        match self.get(name) {
            None => Ok(None),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(_) => Err(invalid(name, "must be true or false")),
        }
    }

    /// Returns a parameter with two values.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let mut seen = BTreeSet::new();
        self.names().find(|name| !seen.insert(*name))
    }
}

/// Splits a list at its commas, except at those after a backslash.
fn split(list: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        let is_escape = character == '\\' && characters.peek() == Some(&',');
        match (if is_escape { characters.next() } else { Some(character) }, values.last_mut()) {
            (Some(','), _) if !is_escape => values.push(String::new()),
            (Some(character), Some(value)) => value.push(character),
            _ => {}
        }
    }
    values
}

/// Parses an integer up to [`NUMBER_MAX`], because every id and number of a response fits in it.
fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= NUMBER_MAX)
}

fn decode_pair((name, value): (&str, &str)) -> (String, String) {
    (decode(name), decode(value))
}

fn decode(text: &str) -> String {
    // Forms encode a space as `+`.
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Returns the error of an invalid query parameter.
fn invalid(name: &str, message: &str) -> Failure {
    Reply::invalid_field(Code::InvalidFilter, &FieldError::new(name, message)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_encoded_or_not_and_lists_in_two_spellings() {
        let query = Query::parse("a=x%20y&b=[4, 5]&c=A,B&d=&e=True&f=q%2Cr&g");
        assert_eq!(query.get("a"), Some("x y"));
        assert_eq!(query.integers("b").unwrap(), Some(vec![4, 5]));
        assert_eq!(query.list("c").unwrap(), ["A", "B"]);
        assert_eq!(query.get("d"), None);
        assert_eq!(query.truth("e").unwrap(), Some(true));
        assert_eq!(query.list("f").unwrap(), ["q", "r"]);
        let list = |value: &str| Query::parse(&format!("a={value}")).list("a").unwrap();
        assert_eq!(list(r"x\,y,z"), ["x,y", "z"]);
        assert_eq!(list("x%5C%2Cy"), ["x,y"]);
        assert_eq!(list(r"['x\,y', 'z']"), ["x,y", "z"]);
        assert_eq!(list(r"x\y,\"), [r"x\y", r"\"]);
        assert_eq!(query.get("g"), None);
        assert!(query.integers("c").is_err());
        assert!(query.truth("c").is_err());
        assert_eq!(Query::parse("a=TRUE").truth("a").unwrap(), Some(true));
        assert!(Query::parse("a=1").truth("a").is_err(), "a number is not a boolean");
        assert_eq!(query.repeated(), None);
        assert_eq!(Query::parse("a=1&b=2&a=3").repeated(), Some("a"));
        let query = Query::parse("a=9007199254740991&b=9007199254740992");
        assert_eq!(query.integer("a").unwrap(), Some(9_007_199_254_740_991));
        assert!(query.integer("b").is_err() && query.integers("b").is_err());
    }
}
