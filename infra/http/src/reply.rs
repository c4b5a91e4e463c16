//! Replies: a status, headers and a JSON body; errors in the shape of RFC 9457 with a stable code.

use crate::code::Code;
use crate::field::FieldError;
use dovetail_table::Error;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// A reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Headers beside the content type.
    pub headers: Vec<(&'static str, String)>,
    /// The content type.
    pub content_type: &'static str,
    /// What kind of error it is; none of a success.
    pub code: Option<Code>,
    /// The body.
    pub body: Content,
}

/// What a reply holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// JSON that was made for it.
    Json(Value),
    /// A text as it is.
    Text(&'static str),
    /// Nothing at all.
    Nothing,
}

/// How many bytes of objects one reply holds; a function's reply ends at 6 MB, and the objects are not all.
///
/// It is their length as text: a reply is packed only where that makes it shorter, base64 and all.
pub const OBJECTS_BYTES_MAX: usize = 5_000_000;

/// How many of these objects, from the first on, fit one reply; at least one.
pub fn fitting<'a>(objects: impl IntoIterator<Item = &'a Value>) -> usize {
    let mut text = Length(0);
    let fits =
        |object: &&Value| serde_json::to_writer(&mut text, object).is_ok() && text.0 <= OBJECTS_BYTES_MAX;
    objects.into_iter().take_while(fits).count().max(1)
}

/// How many bytes a text would have.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a call has no ordinary reply.
#[derive(Debug)]
pub enum Failure {
    /// An expected outcome that is told to the caller.
    Refused(Box<Reply>),
    /// Something is broken; the caller learns that, the log learns what.
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

impl From<Vec<FieldError>> for Failure {
    fn from(errors: Vec<FieldError>) -> Self {
        Reply::invalid_fields(Code::InvalidField, &errors).into()
    }
}

const JSON: &str = "application/json";
/// The header with the query parameter that may be meant.
const DID_YOU_MEAN: &str = "dovetail-did-you-mean";
const PROBLEM_JSON: &str = "application/problem+json";

impl Reply {
    /// A success.
    pub const fn new(status: u16, body: Value) -> Self {
        Self { status, headers: Vec::new(), content_type: JSON, code: None, body: Content::Json(body) }
    }

    /// A text that says the same to everyone.
    pub const fn page(content_type: &'static str, text: &'static str) -> Self {
        Self { status: 200, headers: Vec::new(), content_type, code: None, body: Content::Text(text) }
    }

    /// A success that there is nothing more to say of.
    pub const fn nothing() -> Self {
        Self { status: 204, headers: Vec::new(), content_type: JSON, code: None, body: Content::Nothing }
    }

    /// An error without more to say.
    pub fn error(code: Code) -> Self {
        Self::problem(code, code.title(), Map::new())
    }

    /// An error with its own sentence.
    pub fn refused(code: Code, detail: &str) -> Self {
        Self::problem(code, detail, Map::new())
    }

    /// An error with its own sentence and fields.
    pub fn problem(code: Code, detail: &str, fields: Map<String, Value>) -> Self {
        let mut body = Map::new();
        body.insert("type".to_owned(), json!(format!("/v1/errors/{}", code.name())));
        body.insert("title".to_owned(), json!(code.title()));
        body.insert("status".to_owned(), json!(code.status()));
        body.insert("code".to_owned(), json!(code.name()));
        body.insert("detail".to_owned(), json!(detail));
        body.extend(fields);
        let mut headers = Vec::new();
        if code.status() == 401 {
            headers.push(("www-authenticate", "Api-Key".to_owned()));
        }
        let (content_type, body) = (PROBLEM_JSON, Content::Json(Value::Object(body)));
        let reply = Self { status: code.status(), headers, content_type, code: Some(code), body };
        if code.status() == 503 { reply.retry_after(1) } else { reply }
    }

    /// Adds `Retry-After`: the seconds until the client may send the request again.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.push(("retry-after", seconds.to_string()));
        self
    }

    /// The same with a problem's type as a link: the page of its code, behind `base`.
    pub(crate) fn leading_to(mut self, base: &str) -> Self {
        if let Content::Json(Value::Object(body)) = &mut self.body
            && let Some(Value::String(page)) = body.get_mut("type")
        {
            page.insert_str(0, base);
        }
        self
    }

    /// An error about one field, told under the field's name as well (docs/reference/http.md).
    pub fn invalid_field(code: Code, error: &FieldError) -> Self {
        Self::invalid_fields(code, std::slice::from_ref(error))
    }

    /// An error about several fields, each told under its name; the pointer is that of the first.
    pub fn invalid_fields(code: Code, errors: &[FieldError]) -> Self {
        let mut fields = Map::new();
        if let Some(first) = errors.first() {
            fields.insert("pointer".to_owned(), json!(domain::problem::pointer([first.field.as_str()])));
        }
        for error in errors {
            // A field that is called like one of the problem's own must not replace it.
            if !matches!(error.field.as_str(), "type" | "title" | "status" | "code" | "detail" | "pointer") {
                fields.insert(error.field.clone(), json!([error.message]));
            }
        }
        let told: Vec<String> =
            errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
        Self::problem(code, &told.join("; "), fields)
    }

    /// Returns the reply to an unknown query parameter: the bare list that clients compare (docs/reference/http.md rule 11). The
    /// parameter that may be meant is in a header, where no client expects anything.
    pub(crate) fn unknown_filter(meant: Option<&str>) -> Self {
        let code = Code::UnknownFilter;
        let body = Content::Json(json!(["Filter param not found."]));
        let headers = meant.map(|meant| (DID_YOU_MEAN, meant.to_owned())).into_iter().collect();
        Self { status: code.status(), headers, content_type: JSON, code: Some(code), body }
    }
}

impl Failure {
    /// The reply, and what the log is to learn.
    pub(crate) fn into_reply(self) -> (Reply, Option<String>) {
        match self {
            Self::Refused(reply) => (*reply, None),
            Self::Broken(error) => {
                let code = match error {
                    Error::Unavailable(_) | Error::Denied(_) => Code::Unavailable,
                    Error::Full(_) => Code::StorageFull,
                    Error::NotTaken(_) | Error::Corrupt { .. } => Code::Broken,
                };
                (Reply::error(code), Some(error.to_string()))
            }
        }
    }
}
