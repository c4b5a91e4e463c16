//! A call: an authenticated request, as far as HTTP is concerned understood.

use crate::code::Code;
use crate::field::FieldError;
use crate::query::Query;
use crate::reply::{Failure, Reply};
use crate::route::Operation;
use crate::unknown::Unknown;
use domain::actor::{Caller, TeamRef};
use domain::change::Change;
use domain::charge::Charge;
use domain::declaration::BODY_BYTES_MAX;
use domain::deployed::Deployed;
use domain::id::TeamId;
use domain::item::Item;
use domain::land::Stamp;
use domain::service::{Service, ServiceState};
use domain::submission::IDEMPOTENCY_KEY_BYTES_MAX;
use domain::suggest::nearest;
use domain::timestamp::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// Whose objects a path speaks of: those that the team owns services of, or those that it declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pov {
    /// The caller as a service owner.
    ServiceOwner,
    /// The caller as a consumer.
    Consumer,
}

impl Pov {
    /// Both points of view.
    pub const ALL: [Self; 2] = [Self::ServiceOwner, Self::Consumer];

    /// The word in paths.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ServiceOwner => "serviceowner",
            Self::Consumer => "consumer",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pov| pov.name() == name)
    }

    /// Whether a team may see anything of a consumer in this role: a consumer sees its own alone, and ids tell whose
    /// they are, so what is another consumer's need not be read to be refused.
    pub fn may_show(self, consumer: TeamId, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => true,
            Self::Consumer => consumer == team,
        }
    }

    /// Whether a team sees a change instance in this role; a service owner sees its dependents' too.
    pub fn shows_change(self, change: &Change, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => change.owner.id == team || change.service_owner.id == team,
            Self::Consumer => change.consumer.id == team,
        }
    }

    /// Whether a team sees an item in this role; dependents see what they have a share in.
    pub fn shows_item(self, item: &Item, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => item.service_owner.id == team || item.stacks.contains_key(&team),
            Self::Consumer => item.consumer.id == team,
        }
    }

    /// Whether a team sees a charge in this role.
    pub fn shows_charge(self, charge: &Charge, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => charge.service_owner.id == team,
            Self::Consumer => charge.consumer.id == team,
        }
    }

    /// Whether a team sees every version that is deployed in this role.
    pub fn shows_deployed(self, deployed: &Deployed, team: TeamId) -> bool {
        match self {
            Self::ServiceOwner => deployed.service_owner.id == team,
            Self::Consumer => deployed.consumer.id == team,
        }
    }

    /// Whether a team sees this version as the newest of `item`: so dependents see it, and no other.
    pub fn shows_newest(self, deployed: &Deployed, item: &Item, team: TeamId) -> bool {
        item.deployed.is_some_and(|latest| latest.id == deployed.id) && self.shows_item(item, team)
    }

    /// Whether a team sees a service in this role: its own, and those that it depends on or may use (R21, R31).
    pub fn shows_service(self, service: &Service, team: TeamId) -> bool {
        let is_owner = service.owner.id == team;
        match self {
            Self::ServiceOwner => is_owner || service.settings.has_dependent(team),
            Self::Consumer => {
                let is_offered = service.settings.state != ServiceState::Decommissioned;
                is_owner || (is_offered && service.settings.allows(team))
            }
        }
    }
}

/// A call of an operation.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub operation: Operation,
    /// The HTTP method, where it makes a difference.
    pub method: String,
    /// The point of view in the path.
    pub pov: Pov,
    /// The id in the path.
    pub id: Option<u64>,
    /// The query parameters.
    pub query: Query,
    /// What the body is said to be.
    pub content_type: String,
    /// The body, unpacked.
    pub body: Vec<u8>,
    /// Who calls.
    pub caller: Caller,
    /// Every team that they may act for.
    pub teams: Vec<TeamRef>,
    /// The request's id: the own mark of everything that it writes.
    pub request: String,
    /// Scheme, host and stage prefix, as the caller sees them.
    pub base: String,
    /// The path behind the base.
    pub path: String,
    /// When the request came in.
    pub now: Timestamp,
    /// The idempotency key, if one was sent.
    pub idempotency_key: Option<String>,
    /// The header `If-Match`, if one was sent.
    pub if_match: Option<String>,
    /// The unknown keys of the body, once it is read as an object.
    pub(crate) unknown: Arc<OnceLock<Unknown>>,
}

impl Call {
    /// The id in the path, as the id type of the operation; not found when there can be no such object.
    pub fn id<T>(&self, parse: impl Fn(u64) -> Option<T>) -> Result<T, Failure> {
        self.id.and_then(parse).ok_or_else(|| Code::NotFound.into())
    }

    /// The same of what belongs to a consumer; not found when another consumer asks, before anything is read.
    pub fn id_of<T: Copy>(
        &self,
        parse: impl Fn(u64) -> Option<T>,
        consumer: impl Fn(T) -> TeamId,
    ) -> Result<T, Failure> {
        let id = self.id(parse)?;
        let may_be_shown = self.pov.may_show(consumer(id), self.caller.team.id);
        if may_be_shown { Ok(id) } else { Err(Code::NotFound.into()) }
    }

    /// Who does it, when, and in which request.
    pub fn stamp(&self) -> Stamp {
        Stamp { by: (&self.caller).into(), request: self.request.clone(), now: self.now }
    }

    /// Returns the body as a JSON object; an empty one is `{}` (docs/reference/http.md rule 8). A body that sets fields must have a
    /// known one; the reply names its unknown keys in `warnings` (rule 9).
    pub fn object(&self) -> Result<Map<String, Value>, Failure> {
        let object = self.any_object()?;
        if let Some(fields) = self.operation.fields() {
            let unknown = Unknown::of(&object, fields)?;
            // The body may be read several times: it has the same keys each time.
            self.unknown.get_or_init(|| unknown);
        }
        Ok(object)
    }

    fn any_object(&self) -> Result<Map<String, Value>, Failure> {
        if self.body.len() > BODY_BYTES_MAX {
            let detail = format!("the body has more than {BODY_BYTES_MAX} bytes");
            return Err(Reply::refused(Code::InvalidBody, &detail).into());
        }
        match domain::json::parse(&self.body, domain::declaration::DEPTH_MAX) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Reply::refused(Code::InvalidBody, "the body is no JSON object").into()),
            Err(problems) => {
                let told = problems.first().map(|problem| match problem.pointer.as_str() {
                    "" => problem.message.clone(),
                    pointer => format!("{pointer}: {}", problem.message),
                });
                Err(Reply::refused(Code::InvalidBody, &told.unwrap_or_default()).into())
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
        let digits = id.bytes().all(|byte| byte.is_ascii_digit());
        if digits && before.rsplit('/').next() == Some(collection) { id.parse().ok() } else { None }
    }

    /// The idempotency key, if one was sent and is fit to be remembered.
    pub fn idempotency_key(&self) -> Result<Option<&str>, Failure> {
        match self.idempotency_key.as_deref() {
            Some(key) if key.is_empty() || key.len() > IDEMPOTENCY_KEY_BYTES_MAX => {
                let detail = format!("an idempotency key has 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes");
                Err(Reply::refused(Code::InvalidIdempotencyKey, &detail).into())
            }
            key => Ok(key),
        }
    }

    /// Whether what has this tag may be acted on: nothing else was asked for (RFC 9110, `If-Match`), quotes or not.
    pub fn matches(&self, tag: &str) -> bool {
        let Some(wanted) = &self.if_match else { return true };
        wanted.split(',').map(str::trim).any(|one| one == "*" || one.trim_matches('"') == tag)
    }

    /// The URL of the same with another position: with every other parameter, so with every filter and limit
    /// (docs/reference/http.md rule 2).
    pub(crate) fn at_position(&self, position: &str) -> String {
        self.from("cursor", position)
    }

    /// The same of a list that is counted out.
    pub fn from_offset(&self, offset: usize) -> String {
        self.from("offset", &offset.to_string())
    }

    fn from(&self, parameter: &str, value: &str) -> String {
        let kept = self.query.pairs().filter(|(name, _)| *name != "cursor" && *name != "offset");
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut url = format!("{}{}?", self.base, self.path);
        for (name, value) in kept {
            url.push_str(&format_args!("{}={}&", encode(name), encode(value)).to_string());
        }
        url.push_str(parameter);
        url.push('=');
        url.push_str(&encode(value));
        url
    }

    /// Refuses query parameters that the operation does not know (docs/reference/http.md rule 11).
    pub fn only_knows(&self, names: &[&str]) -> Result<(), Failure> {
        match self.query.names().find(|name| !names.contains(name)) {
            None => Ok(()),
            Some(unknown) => Err(Reply::unknown_filter(nearest(unknown, names.iter().copied())).into()),
        }
    }

    /// The refusal of a query parameter's value.
    pub fn bad_filter(error: &FieldError) -> Failure {
        Reply::invalid_field(Code::InvalidFilter, error).into()
    }
}

impl std::fmt::Debug for Call {
    // The body is a declaration or what an owner reports: never in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
