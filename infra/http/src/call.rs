//! A call: an authenticated request, parsed as far as HTTP goes.

use crate::code::Code;
use crate::field::FieldError;
use crate::operation::Operation;
use crate::query::Query;
use crate::reply::{Failure, Reply};
use crate::unknown::Unknown;
use domain::base::actor::Caller;
use domain::base::context::RequestContext;
use domain::base::suggest::nearest;
use domain::model::declaration::BODY_BYTES_MAX;
use domain::model::submission::IDEMPOTENCY_KEY_BYTES_MAX;
use domain::rules::visibility::Side;
use domain::{TeamId, Timestamp};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// An authenticated call of an operation.
///
/// The body is a declaration or an owner's data, and neither may reach a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Call {{ operation: {operation:?}, id: {id:?}, .. }}")]
pub struct Call {
    pub operation: Operation,
    /// HTTP method. For a submission, `PATCH` means partial; for a message, `PUT` replaces all fields.
    pub method: String,
    /// Role in the path; `ServiceOwner` for a path without a role.
    pub side: Side,
    /// Id in the path, if the route has one.
    pub id: Option<u64>,
    pub query: Query,
    /// Value of `Content-Type`; empty if absent.
    pub content_type: String,
    /// Body after decompression.
    pub body: Vec<u8>,
    pub caller: Caller,
    /// The caller in each of their teams; one caller for a key.
    pub memberships: Vec<Caller>,
    /// Request id from the gateway. All writes of the call carry it, so a retry finds them.
    pub request: String,
    /// Scheme, host and stage prefix of the client's URL, for links.
    pub base: String,
    /// Path after `base`.
    pub path: String,
    /// Time of the request by the clock of the function.
    pub now: Timestamp,
    /// Header `Idempotency-Key`, before any check.
    pub idempotency_key: Option<String>,
    /// Header `If-Match`.
    pub if_match: Option<String>,
    /// Unknown keys of the body, from the first [`Call::object`].
    pub(crate) unknown: Arc<OnceLock<Unknown>>,
}

impl Call {
    /// Parses the id in the path. An impossible id is 404, like a missing object.
    pub fn id<T>(&self, parse: impl Fn(u64) -> Option<T>) -> Result<T, Failure> {
        self.id.and_then(parse).ok_or_else(|| Code::NotFound.into())
    }

    /// Parses the id of a consumer's object. An id of another consumer is 404, before any read.
    pub fn id_of<T: Copy>(
        &self,
        parse: impl Fn(u64) -> Option<T>,
        consumer: impl Fn(T) -> TeamId,
    ) -> Result<T, Failure> {
        let id = self.id(parse)?;
        let is_visible = self.side.may_show(consumer(id), self.caller.team.id);
        if is_visible { Ok(id) } else { Err(Code::NotFound.into()) }
    }

    /// Parses the id of an object of the caller's team. An id of another team is 404, before any read.
    pub fn own_id<T: Copy>(
        &self,
        parse: impl Fn(u64) -> Option<T>,
        team: impl Fn(T) -> TeamId,
    ) -> Result<T, Failure> {
        let id = self.id(parse)?;
        if team(id) == self.caller.team.id { Ok(id) } else { Err(Code::NotFound.into()) }
    }

    /// Returns actor, time and request id for the writes of this call.
    pub fn ctx(&self) -> RequestContext {
        RequestContext { by: (&self.caller).into(), request: self.request.clone(), now: self.now }
    }

    /// Returns the body as a JSON object; an empty body is `{}` (docs/reference/http/README.md, convention 8).
    ///
    /// A body with fields must have a known one. The reply lists its unknown keys in `warnings` (convention 9).
    pub fn object(&self) -> Result<Map<String, Value>, Failure> {
        let object = self.any_object()?;
        if let Some(fields) = self.operation.fields() {
            let unknown = Unknown::of(&object, fields)?;
            // A retry reads the same body and finds the same keys, so the first result stays.
            self.unknown.get_or_init(|| unknown);
        }
        Ok(object)
    }

    fn any_object(&self) -> Result<Map<String, Value>, Failure> {
        // Decompression stops one byte above the limit, so this check also covers compressed bodies.
        if self.body.len() > BODY_BYTES_MAX {
            let detail = format!("the body must be at most {BODY_BYTES_MAX} bytes");
            return Err(Reply::refused(Code::InvalidBody, &detail).into());
        }
        match domain::base::json::parse(&self.body, domain::model::declaration::DEPTH_MAX) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Reply::refused(Code::InvalidBody, "the body must be a JSON object").into()),
            Err(problems) => {
                let message = problems.first().map(|problem| match problem.pointer.as_str() {
                    "" => problem.message.clone(),
                    pointer => format!("{pointer}: {}", problem.message),
                });
                Err(Reply::refused(Code::InvalidBody, &message.unwrap_or_default()).into())
            }
        }
    }

    /// Reads the id of an object of `collection`: an integer, the object's URL at this host, or the path of that URL.
    ///
    /// The scheme may be `http` or `https`, because a proxy may end TLS between the client and this system.
    pub fn id_in(&self, value: &Value, collection: &str) -> Option<u64> {
        if let Some(id) = value.as_u64() {
            return Some(id);
        }
        let url = value.as_str()?;
        let without_scheme =
            |url| ["https://", "http://"].iter().find_map(|scheme| str::strip_prefix(url, *scheme));
        let path = match without_scheme(url) {
            Some(rest) => rest.strip_prefix(without_scheme(&self.base)?)?,
            None => url,
        };
        let (before, id) = path.strip_prefix("/v1/")?.trim_end_matches('/').rsplit_once('/')?;
        // `parse` alone would accept `+5`.
        let digits = id.bytes().all(|byte| byte.is_ascii_digit());
        if digits && before.rsplit('/').next() == Some(collection) { id.parse().ok() } else { None }
    }

    /// Returns the header `Idempotency-Key`, or an error for an invalid one.
    pub fn idempotency_key(&self) -> Result<Option<&str>, Failure> {
        match self.idempotency_key.as_deref() {
            Some(key) if key.is_empty() || key.len() > IDEMPOTENCY_KEY_BYTES_MAX => {
                let detail = format!("Idempotency-Key must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes");
                Err(Reply::refused(Code::InvalidIdempotencyKey, &detail).into())
            }
            key => Ok(key),
        }
    }

    /// Returns whether `If-Match` allows an action on the object with this tag (RFC 9110).
    ///
    /// Without the header, every action is allowed. Quotes are optional: a preview shows the tag without them.
    pub fn matches(&self, tag: &str) -> bool {
        let Some(wanted) = &self.if_match else { return true };
        wanted.split(',').map(str::trim).any(|one| one == "*" || one.trim_matches('"') == tag)
    }

    /// Returns the URL of the same list at another cursor, with all other parameters (docs/reference/http/README.md,
    /// convention 2).
    pub(crate) fn at_position(&self, position: &str) -> String {
        self.from("cursor", position)
    }

    /// Returns the URL of the same list at another offset.
    pub fn from_offset(&self, offset: usize) -> String {
        self.from("offset", &offset.to_string())
    }

    fn from(&self, parameter: &str, value: &str) -> String {
        // A cursor contains the rest of its offset, so a link has only one of the two.
        let pairs = self.query.pairs().filter(|(name, _)| *name != "cursor" && *name != "offset");
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut url = format!("{}{}?", self.base, self.path);
        for (name, value) in pairs {
            url.push_str(&format_args!("{}={}&", encode(name), encode(value)).to_string());
        }
        url.push_str(parameter);
        url.push('=');
        url.push_str(&encode(value));
        url
    }

    /// Rejects unknown and repeated query parameters (docs/reference/http/README.md, convention 11), and a `count`
    /// other than `true` and `false`. Short lists ignore the value of `count`.
    pub fn only_knows(&self, names: &[&str]) -> Result<(), Failure> {
        if let Some(unknown) = self.query.names().find(|name| !names.contains(name)) {
            return Err(Reply::unknown_filter(nearest(unknown, names.iter().copied())).into());
        }
        if let Some(name) = self.query.repeated() {
            return Err(Self::bad_filter(&FieldError::new(name, "must be present once")));
        }
        self.query.truth("count").map(drop)
    }

    /// Returns the error of an invalid query parameter.
    pub fn bad_filter(error: &FieldError) -> Failure {
        Reply::invalid_field(Code::InvalidFilter, error).into()
    }
}
