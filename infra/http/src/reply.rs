//! Replies: a status, headers and a body. Errors have the form of RFC 9457 and a stable code.

use crate::code::Code;
use crate::field::FieldError;
use dovetail_aws::off_worker;
use dovetail_table::Error;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The range of `Retry-After` of a temporary error, in seconds.
const RETRY_SECONDS: RangeInclusive<u64> = 1..=5;

/// A reply of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub status: u16,
    /// Headers other than the content type.
    pub headers: Vec<(&'static str, String)>,
    pub content_type: &'static str,
    /// Error code; none for a success.
    pub code: Option<Code>,
    pub body: Content,
}

/// The body of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The members of an error.
    Problem(Map<String, Value>),
    /// Finished text: JSON, plain text or HTML.
    Text(Cow<'static, str>),
    /// A file of the program.
    File(&'static PackedFile),
    Nothing,
}

/// A file of the program, also compressed at build time: smaller than a compression during a request could make it, and
/// without its time.
#[derive(Debug, PartialEq, Eq)]
pub struct PackedFile {
    pub text: &'static str,
    /// The text as gzip.
    pub packed: &'static [u8],
}

/// Maximum size of the objects in one reply, in bytes of JSON text.
///
/// The response of a function ends at 6 MB, and contains more than the objects. Compression never makes it longer.
pub const OBJECTS_BYTES_MAX: usize = 5_000_000;

/// Serializes objects, each once, as far as they fit one reply; at least one, so that a list makes progress.
///
/// The function neither builds nor keeps the objects after them, and does not block the other tasks of this worker.
pub fn objects(values: impl IntoIterator<Item = impl Serialize>) -> Result<Vec<Box<RawValue>>, Failure> {
    off_worker(|| {
        let (mut objects, mut bytes) = (Vec::new(), 0_usize);
        for value in values {
            let object = to_raw_value(&value).map_err(corrupt)?;
            bytes = bytes.saturating_add(object.get().len());
            if bytes > OBJECTS_BYTES_MAX && !objects.is_empty() {
                break;
            }
            objects.push(object);
        }
        Ok(objects)
    })
}

/// Returns the failure to serialize; a corrupt stored text is its only cause.
fn corrupt(error: serde_json::Error) -> Failure {
    Failure::Broken(Error::Corrupt { key: "of the reply".to_owned(), reason: error.to_string() })
}

/// Returns the number of these objects that fit one reply, from the first on; at least one.
pub fn fitting(objects: impl IntoIterator<Item = impl Serialize>) -> usize {
    let mut bytes: usize = 0;
    let mut fits = |object: &_| {
        bytes = bytes.saturating_add(serde_json::to_string(object).map_or(usize::MAX, |text| text.len()));
        bytes <= OBJECTS_BYTES_MAX
    };
    // At least one object fits, so that a list makes progress with each page.
    objects.into_iter().take_while(|object| fits(object)).count().max(1)
}

/// The outcome of a call without success.
#[derive(Debug)]
pub enum Failure {
    /// An expected outcome, with its reply.
    Refused(Box<Reply>),
    /// A defect or an unavailable table. Only the log gets the details.
    Broken(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl From<Reply> for Failure {
    fn from(reply: Reply) -> Self {
        Self::Refused(Box::new(reply))
    }
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Reply::error(code).into()
    }
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Reply::invalid_field(Code::InvalidField, &error).into()
    }
}

const JSON: &str = "application/json";
/// Header with the most similar query parameter.
const DID_YOU_MEAN: &str = "dovetail-did-you-mean";
const PROBLEM_JSON: &str = "application/problem+json";

impl Reply {
    /// Creates a success with a JSON body.
    pub fn new(status: u16, body: impl Serialize) -> Result<Self, Failure> {
        let body = Content::Text(serde_json::to_string(&body).map_err(corrupt)?.into());
        Ok(Self { status, headers: Vec::new(), content_type: JSON, code: None, body })
    }

    /// Creates a success with a page of a list, and the URL of the next page.
    pub fn list(count: impl Serialize, next: Option<String>, rows: impl Serialize) -> Result<Self, Failure> {
        #[derive(Serialize)]
        struct Page<C, R> {
            count: C,
            next: Option<String>,
            previous: (),
            results: R,
        }
        Self::new(200, Page { count, next, previous: (), results: rows })
    }

    /// Adds the tag of the object (RFC 9110, `ETag`).
    pub fn with_tag(mut self, tag: &str) -> Self {
        self.headers.push(("etag", format!("\"{tag}\"")));
        self
    }

    /// Creates a success with a text.
    pub fn page(content_type: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self { status: 200, headers: Vec::new(), content_type, code: None, body: Content::Text(text.into()) }
    }

    /// Creates a success without a body (204).
    pub const fn nothing() -> Self {
        Self { status: 204, headers: Vec::new(), content_type: JSON, code: None, body: Content::Nothing }
    }

    /// Creates an error with the title of its code as `detail`.
    pub fn error(code: Code) -> Self {
        Self::problem(code, code.title(), Map::new())
    }

    /// Creates an error with a `detail`.
    pub fn refused(code: Code, detail: &str) -> Self {
        Self::problem(code, detail, Map::new())
    }

    /// Creates an error with a `detail` and more members.
    pub fn problem(code: Code, detail: &str, fields: Map<String, Value>) -> Self {
        let mut body = Map::new();
        body.insert("type".to_owned(), json!(format!("/v1/errors/{}", code.name())));
        body.insert("title".to_owned(), json!(code.title()));
        body.insert("status".to_owned(), json!(code.status()));
        body.insert("code".to_owned(), json!(code.name()));
        body.insert("detail".to_owned(), json!(detail));
        body.extend(fields);
        let mut headers = Vec::new();
        // RFC 9110 requires this header with a 401.
        if code.status() == 401 {
            headers.push(("www-authenticate", "Api-Key".to_owned()));
        }
        let (content_type, body) = (PROBLEM_JSON, Content::Problem(body));
        let reply = Self { status: code.status(), headers, content_type, code: Some(code), body };
        // Every 503 is temporary, and has `Retry-After` (ADR 7).
        // Clients that failed at the same moment must not all return at the same moment.
        if code.status() == 503 { reply.retry_after(fastrand::u64(RETRY_SECONDS)) } else { reply }
    }

    /// Adds `Retry-After`, in seconds.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.push(("retry-after", seconds.to_string()));
        self
    }

    /// Turns the `type` of a problem into an absolute URL that starts with `base`.
    pub(crate) fn leading_to(mut self, base: &str) -> Self {
        if let Content::Problem(body) = &mut self.body
            && let Some(Value::String(page)) = body.get_mut("type")
        {
            page.insert_str(0, base);
        }
        self
    }

    /// Returns the members of a finished object as text; none for another body.
    fn members(&self) -> Option<BTreeMap<String, &RawValue>> {
        if let Content::Text(text) = &self.body { serde_json::from_str(text).ok() } else { None }
    }

    /// Returns whether the body is an object with this member.
    pub fn has(&self, name: &str) -> bool {
        if let Content::Problem(members) = &self.body {
            return members.contains_key(name);
        }
        self.members().is_some_and(|members| members.contains_key(name))
    }

    /// Adds or replaces a member of an object, whose other members stay text.
    pub fn insert(&mut self, name: &str, value: Value) -> Result<(), Failure> {
        if let Content::Problem(members) = &mut self.body {
            members.insert(name.to_owned(), value);
        } else if let Some(mut members) = self.members() {
            let value = to_raw_value(&value).map_err(corrupt)?;
            members.insert(name.to_owned(), &value);
            self.body = Self::new(self.status, members)?.body;
        }
        Ok(())
    }

    /// Adds warnings to those of the body.
    pub fn warn(&mut self, more: Vec<String>) -> Result<(), Failure> {
        if more.is_empty() {
            return Ok(());
        }
        let stored =
            self.members().and_then(|members| members.get("warnings").map(|value| value.get().to_owned()));
        let mut warnings: Vec<String> =
            stored.and_then(|warnings| serde_json::from_str(&warnings).ok()).unwrap_or_default();
        warnings.extend(more);
        self.insert("warnings", json!(warnings))
    }

    /// Creates an error of one field, with a member of that name as well.
    pub(crate) fn invalid_field(code: Code, error: &FieldError) -> Self {
        Self::invalid_fields(code, std::slice::from_ref(error))
    }

    /// Creates an error of several fields, each with a member of its name. `pointer` names the first one.
    pub(crate) fn invalid_fields(code: Code, errors: &[FieldError]) -> Self {
        let mut fields = Map::new();
        if let Some(first) = errors.first() {
            fields
                .insert("pointer".to_owned(), json!(domain::base::problem::pointer([first.field.as_str()])));
        }
        for error in errors {
            // A field with the name of a standard member must not replace that member.
            if !matches!(error.field.as_str(), "type" | "title" | "status" | "code" | "detail" | "pointer") {
                fields.insert(error.field.clone(), json!([error.message]));
            }
        }
        let messages: Vec<String> =
            errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
        Self::problem(code, &messages.join("; "), fields)
    }

    /// Creates the reply to an unknown query parameter: the bare list that clients compare
    /// (docs/reference/http/README.md, convention 11).
    ///
    /// The most similar parameter is in a header, because clients compare the whole body.
    pub(crate) fn unknown_filter(meant: Option<&str>) -> Self {
        let code = Code::UnknownFilter;
        let body = Content::Text(r#"["Filter param not found."]"#.into());
        let headers = meant.map(|meant| (DID_YOU_MEAN, meant.to_owned())).into_iter().collect();
        Self { status: code.status(), headers, content_type: JSON, code: Some(code), body }
    }
}

impl Failure {
    /// Returns the reply, and the text for the log.
    pub(crate) fn into_reply(self) -> (Reply, Option<String>) {
        match self {
            Self::Refused(reply) => (*reply, None),
            Self::Broken(error) => {
                let code = match error {
                    // An operator can repair missing permissions without a new release, so the caller may retry as
                    // after an outage.
                    Error::Unavailable(_) | Error::Denied(_) => Code::Unavailable,
                    Error::Full(_) => Code::StorageFull,
                    Error::NotTaken(_) | Error::Corrupt { .. } => Code::Broken,
                };
                (Reply::error(code), Some(error.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn temporary_errors_spread_the_retries_of_clients() {
        fastrand::seed(1);
        let after = |reply: Reply| {
            let header = reply.headers.into_iter().find(|(name, _)| *name == "retry-after");
            header.map(|(_, seconds)| seconds.parse().unwrap())
        };
        let seconds: BTreeSet<Option<u64>> = (0..100).map(|_| after(Reply::error(Code::Contended))).collect();
        assert_eq!(seconds, RETRY_SECONDS.map(Some).collect());
        assert_eq!(after(Reply::error(Code::NotFound)), None);
    }
}
