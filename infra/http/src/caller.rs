//! The caller of a request, from the context of the authorizer, and the team for which they act.

use crate::code::Code;
use crate::reply::{Failure, Reply};
use crate::request;
use crate::route::Access;
use domain::base::actor::{Caller, Identity, Role};
use domain::{TeamId, TeamRef, Timestamp};
use http::HeaderValue;
use lambda_http::Request;
use serde_json::Value;
use std::collections::HashMap;

/// Header with the id of the team for which a person acts.
pub(crate) const TEAM_HEADER: &str = "dovetail-team";

/// The caller for one of their teams.
pub(crate) struct Chosen {
    pub(crate) caller: Caller,
    /// The caller in each of their teams.
    memberships: Vec<Caller>,
    /// Whether a person with several teams has yet to choose one.
    is_open: bool,
}

/// Returns the caller for the chosen team; for the first team without a choice.
///
/// API Gateway caches the context, so the key or the token may have expired since.
pub(crate) fn chosen(request: &Request, now: Timestamp) -> Result<Chosen, Failure> {
    let fields = request::authorizer(request).ok_or(Code::Unauthenticated)?;
    let (subject, callers) = callers(fields, now).ok_or(Code::Unauthenticated)?;
    let header = request.headers().get(TEAM_HEADER);
    let is_named =
        |caller: &&Caller, team: &HeaderValue| caller.team.id.to_string().as_bytes() == team.as_bytes();
    let chosen = match header {
        Some(team) => callers.iter().find(|caller| is_named(caller, team)),
        None => callers.first(),
    };
    let caller = chosen.cloned().ok_or_else(|| not_a_member(subject))?;
    let is_open = header.is_none() && callers.len() > 1;
    Ok(Chosen { caller, memberships: callers, is_open })
}

impl Chosen {
    /// Returns the caller for the chosen team and for each team, if the caller has this access.
    pub(crate) fn permitted(self, access: Access) -> Result<(Caller, Vec<Caller>), Failure> {
        // The list of teams needs no choice: a person reads the ids for the header from it.
        if self.is_open && access != Access::Authenticated {
            return Err(Code::ChooseTeam.into());
        }
        if !access.is_open_to(self.caller.role) {
            return Err(access.refusal(self.caller.role).into());
        }
        Ok((self.caller, self.memberships))
    }
}

/// The context of a key, or one membership in the context of a person.
type Fields = HashMap<String, Value>;

/// Returns the rejection of a caller without the team. An ADMIN needs the subject to add the person.
fn not_a_member(subject: Option<&str>) -> Failure {
    let Some(subject) = subject else { return Code::NotAMember.into() };
    let detail = format!("an ADMIN of the team can add you as a member with your subject: {subject}");
    Reply::refused(Code::NotAMember, &detail).into()
}

/// Returns the subject of a person, and a caller for each of their teams.
///
/// Returns `None` for an expired or malformed context, so anything missing is a rejection (ADR 4).
fn callers(context: &Fields, now: Timestamp) -> Option<(Option<&str>, Vec<Caller>)> {
    // API Gateway caches the context by the header alone, for one minute by default and also beyond the expiry.
    if let Some(expires) = text(context, "expires")
        && now.micros() >= expires.parse().ok()?
    {
        return None;
    }
    let Some(memberships) = text(context, "memberships") else {
        return Some((None, vec![one(context, "key", Identity::Key)?]));
    };
    let memberships: Vec<Fields> = serde_json::from_str(memberships).ok()?;
    let callers = memberships.iter().map(|of| one(of, "person", Identity::Person)).collect::<Option<_>>()?;
    Some((text(context, "subject"), callers))
}

fn one(context: &Fields, name: &str, identity: fn(String) -> Identity) -> Option<Caller> {
    let id = TeamId::new(text(context, "team")?.parse().ok()?)?;
    Some(Caller {
        team: TeamRef { id, name: text(context, "teamName")?.to_owned() },
        role: Role::parse(text(context, "role")?)?,
        identity: identity(text(context, name)?.to_owned()),
    })
}

fn text<'a>(context: &'a Fields, name: &str) -> Option<&'a str> {
    context.get(name)?.as_str()
}
