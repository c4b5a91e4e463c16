//! Query parameters: as clients send them, some encoded, some not (docs/reference/http.md rule 11).

use crate::field::FieldError;
use domain::json::NUMBER_MAX;
use percent_encoding::percent_decode_str;

/// How many rows a page has when nothing is said (docs/reference/http.md).
const LIMIT_DEFAULT: usize = 20;
/// How many rows a page has at most.
const LIMIT_MAX: usize = 100;

/// The query parameters of a request, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a raw query string; what does not decode to UTF-8 is read with replacement characters.
    pub fn parse(raw: &str) -> Self {
        let pairs = raw.split('&').filter(|pair| !pair.is_empty());
        Self(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(decode_pair).collect())
    }

    /// The last value of a parameter; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        found.filter(|value| !value.is_empty())
    }

    /// The names that occur.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The parameters in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The values that a parameter lists: `A,B` or `[4, 5]`; several mean OR.
    pub fn list(&self, name: &str) -> Option<Vec<String>> {
        let text = self.get(name)?.trim();
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let values = inner.split(',').map(|value| value.trim().trim_matches(['\'', '"']).to_owned());
        Some(values.filter(|value| !value.is_empty()).collect())
    }

    /// The integers that a parameter lists.
    pub fn integers(&self, name: &str) -> Result<Option<Vec<u64>>, FieldError> {
        let Some(values) = self.list(name) else { return Ok(None) };
        let parsed: Option<Vec<u64>> = values.iter().map(|value| integer(value)).collect();
        parsed.map(Some).ok_or_else(|| FieldError::new(name, "is no list of integers"))
    }

    /// One integer.
    pub fn integer(&self, name: &str) -> Result<Option<u64>, FieldError> {
        let parsed = self.get(name).map(|value| integer(value).ok_or(value)).transpose();
        parsed.map_err(|_| FieldError::new(name, "is no integer"))
    }

    /// How many rows a page has: `limit`, or what is usual (docs/reference/http.md).
    pub fn limit(&self) -> Result<usize, FieldError> {
        let limit = self.integer("limit")?.and_then(|limit| usize::try_from(limit).ok());
        Ok(limit.filter(|limit| *limit > 0).unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX))
    }

    /// A truth value, as people and Python write it.
    pub fn truth(&self, name: &str) -> Result<Option<bool>, FieldError> {
        match self.get(name) {
            None => Ok(None),
            Some("true" | "True" | "1") => Ok(Some(true)),
            Some("false" | "False" | "0") => Ok(Some(false)),
            Some(_) => Err(FieldError::new(name, "is neither true nor false")),
        }
    }
}

/// An integer that a client can have read somewhere (docs/reference/http.md, limits).
fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= NUMBER_MAX)
}

fn decode_pair((name, value): (&str, &str)) -> (String, String) {
    (decode(name), decode(value))
}

fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
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
        assert_eq!(query.get("g"), None);
        assert!(query.integers("c").is_err());
        assert!(query.truth("c").is_err());
        let query = Query::parse("a=9007199254740991&b=9007199254740992");
        assert_eq!(query.integer("a").unwrap(), Some(9_007_199_254_740_991));
        assert!(query.integer("b").is_err() && query.integers("b").is_err());
    }
}
