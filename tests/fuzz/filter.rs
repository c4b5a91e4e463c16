//! Target `filter`: a query and the texts of declarations, with NULs between them.
//!
//! An invalid filter is rejected. A valid filter checks every text in order, page by page, within the work limit of a
//! page.

use crate::input::Input;
use domain::base::json::canonical;
use domain::views::related::Related;
use dovetail_http::{Code, Content, Failure, Query};
use dovetail_table::Listed;
use list::{Filter, WORK_MAX};
use serde_json::Value;
use std::sync::LazyLock;
use tokio::runtime::{Builder, Runtime};

/// Maximum number of texts in an input, and size of a repeated text in bytes.
const TEXTS_MAX: usize = 4;
const TEXT_BYTES_MAX: usize = 4 * 1_024;

/// A runtime with one thread, as in a function. Patterns are matched on another thread.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().build().unwrap());

pub(crate) fn checked(bytes: &[u8]) {
    let (query, texts) = Input::halves(bytes);
    let query = Query::parse(&String::from_utf8_lossy(query));
    let texts: Vec<String> = texts.split(|byte| *byte == 0).take(TEXTS_MAX).map(text).collect();
    let mut filter = Filter::<String>::new();
    match filter.texts_of(&query, String::as_str) {
        Ok(()) => {
            let expected = texts.iter().map(|text| (text.clone(), passes(&query, text)));
            for ((text, passes), (expected, wanted)) in pages(&filter, &query, &texts).iter().zip(expected) {
                assert_eq!(*text, expected, "in order, and each once");
                assert!(wanted.is_none_or(|wanted| wanted == *passes), "{text} {passes}");
            }
        }
        Err(failure) => refused(&query, failure),
    }
}

/// Returns the text, repeated if it starts with a digit, because work depends on the length.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let times =
        bytes.first().filter(|byte| byte.is_ascii_digit()).map_or(1, |_| TEXT_BYTES_MAX / bytes.len());
    text.repeat(times.max(1))
}

/// Checks every text, over as many pages as necessary.
fn pages(filter: &Filter<String>, query: &Query, texts: &[String]) -> Vec<(String, bool)> {
    let mut passed = Vec::new();
    while passed.len() < texts.len() {
        let rest = texts.iter().enumerate().skip(passed.len());
        let batch = rest.map(|(at, text)| Listed { position: at.to_string(), value: text.clone() }).collect();
        let mut left = WORK_MAX;
        let page = RUNTIME.block_on(filter.check(batch, Related::default(), &mut left)).unwrap();
        assert!(!page.is_empty(), "each page goes on");
        let bytes: usize = page.iter().map(|(row, _)| row.value.len()).sum();
        match query.get("declaration_regex") {
            Some(_) => assert!(WORK_MAX - left >= bytes, "each byte is work"),
            None => assert_eq!(left, WORK_MAX),
        }
        for (row, passes) in page {
            assert_eq!(row.position, passed.len().to_string());
            passed.push((row.value, passes));
        }
    }
    passed
}

/// Returns whether a text passes. `None` if the answer needs a compiled pattern.
fn passes(query: &Query, text: &str) -> Option<bool> {
    let declared = query.get("declaration").map(|wanted| {
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        serde_json::from_str(text).is_ok_and(|declared: Value| holds(&declared, &wanted))
    });
    let contained = query.get("declaration_contains").map(|part| text.contains(part));
    let pattern = query.get("declaration_regex");
    let is_plain = |pattern: &str| pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'"');
    let matched = pattern.map(|pattern| is_plain(pattern).then(|| text.contains(pattern)));
    let decided = [declared.map(Some), contained.map(Some), matched].into_iter().flatten();
    let decided: Vec<Option<bool>> = decided.collect();
    if decided.contains(&Some(false)) { Some(false) } else { (!decided.contains(&None)).then_some(true) }
}

/// Returns whether each leaf of `wanted` has the same value at the same path in `declared`.
fn holds(declared: &Value, wanted: &Value) -> bool {
    let mut open = vec![(Some(declared), wanted)];
    while let Some((declared, wanted)) = open.pop() {
        match (declared, wanted) {
            (Some(Value::Object(declared)), Value::Object(wanted)) => {
                open.extend(wanted.iter().map(|(key, wanted)| (declared.get(key), wanted)));
            }
            (Some(declared), wanted) if canonical(declared) == canonical(wanted) => {}
            (Some(_) | None, _) => return false,
        }
    }
    true
}

fn refused(query: &Query, failure: Failure) {
    let Failure::Refused(reply) = failure else { panic!("{failure:?}") };
    assert_eq!((reply.status, reply.code), (400, Some(Code::InvalidFilter)));
    let Content::Problem(problem) = &reply.body else { panic!("a refusal without a problem") };
    let names = ["declaration", "declaration_regex"];
    let text = serde_json::to_string(problem).unwrap();
    assert!(names.iter().any(|name| query.get(name).is_some() && text.contains(name)), "{text}");
    assert!(text.len() < 1_024, "{text}");
}
