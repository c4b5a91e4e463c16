//! A submission request: parsed, and recognized as a repetition.

use crate::context::Context;
use crate::load::LoadedTeam;
use crate::planning::Planning;
use crate::revert::Revert;
use domain::base::json;
use domain::base::problem::Problem;
use domain::model::declaration;
use domain::model::declaration::Declaration;
use domain::model::submission::{COMMIT_ID_BYTES_MAX, Scope, Submission, message_problem};
use domain::rules::expand::{Expanded, expand};
use domain::rules::plan::Stored;
use domain::{Hash, SubmissionId};
use dovetail_http::{Call, Code, Failure, FieldError, invalid_declaration};
use dovetail_table::Table;
use serde_json::Value;
use std::collections::BTreeMap;

/// A submission request.
pub(crate) struct Submitted {
    /// The declaration as sent.
    pub(crate) declaration: Declaration,
    /// Problems of the unreadable parts of the document.
    pub(crate) unread: Vec<Problem>,
    pub(crate) scope: Scope,
    /// Idempotency key and fingerprint of the request, if the client sent a key.
    pub(crate) idempotency: Option<(String, Hash)>,
    pub(crate) commit_id: Option<String>,
    /// The consumer's message about the submission.
    pub(crate) message: Option<String>,
    /// Whether the caller confirms the removal of whole applications (R57).
    pub(crate) allows_removal: bool,
    /// Target of a revert; none for a declaration in the body.
    revert: Option<Revert>,
}

impl Submitted {
    /// Parses a request; `also` has the names of more query parameters.
    pub(crate) fn parse(call: &Call, also: &[&str]) -> Result<Self, Failure> {
        let (commit_id, message) = labels(call, &[also, &["allow_removal"]].concat())?;
        let allows_removal = call.query.truth("allow_removal")?;
        let allows_removal = allows_removal.unwrap_or(false);
        let key = call.idempotency_key()?.map(str::to_owned);
        let document = declaration::document(&call.body).map_err(invalid)?;
        let of = || fingerprint(call, commit_id.as_deref(), message.as_deref(), &document);
        let idempotency = key.map(|key| (key, of()));
        let lacks_team = lacks_team(&document, &call.caller.team.name);
        let (declaration, unread) = match declaration::read_document(document) {
            (Some(declaration), unread) => (declaration, unread),
            (None, mut problems) => {
                problems.extend(lacks_team);
                return Err(invalid(problems));
            }
        };
        let scope = if call.method == "PATCH" { Scope::Partial } else { Scope::Whole };
        let revert = None;
        Ok(Self { declaration, unread, scope, idempotency, commit_id, message, allows_removal, revert })
    }

    /// Parses a request for a revert.
    pub(crate) async fn revert(table: &Table, call: &Call, also: &[&str]) -> Result<Self, Failure> {
        let (commit_id, message) = labels(call, also)?;
        let key = call.idempotency_key()?.map(str::to_owned);
        let revert = Revert::parse(table, call).await?;
        // The path contains the target, so one key for two targets counts as a reuse.
        let of = format!("{}\n{}", call.path.trim_end_matches('/'), commit_id.as_deref().unwrap_or_default());
        let idempotency = key.map(|key| (key, Hash::of(&with_message(message.as_deref(), of))));
        let team = call.caller.team.name.clone();
        let declaration = Declaration { team, metadata: None, applications: Vec::new() };
        let (unread, revert) = (Vec::new(), Some(revert));
        let (scope, allows_removal) = (Scope::Partial, true);
        Ok(Self { declaration, unread, scope, idempotency, commit_id, message, allows_removal, revert })
    }

    /// Returns whether the request is a revert.
    pub(crate) const fn is_revert(&self) -> bool {
        self.revert.is_some()
    }

    /// Returns the idempotency key.
    pub(crate) fn key(&self) -> Option<&str> {
        self.idempotency.as_ref().map(|(key, _)| key.as_str())
    }

    /// Computes the declaration of a revert from the stored team.
    pub(crate) async fn follow(&mut self, table: &Table, team: &LoadedTeam) -> Result<Planning<()>, Failure> {
        let Some(revert) = &mut self.revert else { return Ok(Planning::Ready(())) };
        match revert.declaration(table, &team.stored).await? {
            Planning::Ready(declaration) => {
                if let Some(declaration) = declaration {
                    self.declaration = declaration;
                }
                Ok(Planning::Ready(()))
            }
            Planning::Replan(why) => Ok(Planning::Replan(why)),
        }
    }

    /// Returns the declaration with the additions of metadata, if there are any (R66).
    pub(crate) fn expanded(&self, stored: &Stored) -> Result<Option<Expanded>, Failure> {
        // The stored declarations of a revert have their additions already. Those of a foreign team would be the
        // caller's.
        if self.is_revert() || self.declaration.team != stored.team.name {
            return Ok(None);
        }
        expand(&self.declaration, stored, self.scope)
            .map_err(|problems| invalid(self.unread.iter().cloned().chain(problems).collect()))
    }

    /// Returns the stored submission of this request, if there is one.
    ///
    /// The stored submission is under the idempotency key, or under the number of an attempt with a lost answer
    /// (docs/explanation/concurrency.md, lost answers).
    pub(crate) async fn earlier(
        &self,
        context: &Context<'_>,
        team: &LoadedTeam,
        attempted: Option<SubmissionId>,
    ) -> Result<Option<Submission>, Failure> {
        let Context { table, call, .. } = context;
        // Another request may have taken the attempted number, so the request id has to match.
        if let Some(id) = attempted
            && let Some(submission) = table.submission(id).await?
            && submission.request == call.request
        {
            return Ok(Some(submission));
        }
        let (Some((_, fingerprint)), Some(remembered)) = (&self.idempotency, &team.remembered) else {
            return Ok(None);
        };
        // The stored response would hide that the new content is not submitted (ADR 7).
        if remembered.fingerprint != *fingerprint {
            return Err(Code::IdempotencyKeyReused.into());
        }
        let submission = table.submission(remembered.submission).await?;
        Ok(Some(submission.ok_or(Code::Broken)?))
    }
}

/// Returns `commit_id` and `message` from the query. Only these parameters and those in `also` are known.
fn labels(call: &Call, also: &[&str]) -> Result<(Option<String>, Option<String>), Failure> {
    call.only_knows(&[&["commit_id", "message"], also].concat())?;
    let checked = |name: &str, problem: fn(&str) -> Option<String>| {
        let value = call.query.get(name);
        match value.and_then(problem) {
            Some(message) => Err(Call::bad_filter(&FieldError::new(name, message))),
            None => Ok(value.map(str::to_owned)),
        }
    };
    Ok((checked("commit_id", commit_id_problem)?, checked("message", message_problem)?))
}

fn commit_id_problem(id: &str) -> Option<String> {
    (id.len() > COMMIT_ID_BYTES_MAX).then(|| format!("must be at most {COMMIT_ID_BYTES_MAX} bytes"))
}

/// Returns the error of an unreadable declaration.
fn invalid(problems: Vec<Problem>) -> Failure {
    invalid_declaration(&problems, &BTreeMap::new()).into()
}

/// Returns the problem of a document without the team's name around it, because clients often forget the name.
fn lacks_team(document: &Value, team: &str) -> Option<Problem> {
    let lacks_it = document.as_object().is_some_and(|of| !of.is_empty() && !of.contains_key(team));
    lacks_it.then(|| Problem {
        pointer: String::new(),
        path: vec!["declaration".to_owned(), "team".to_owned()],
        rule: "foreign_team",
        message: format!("must have exactly one key, '{team}', the team of the caller"),
        change: None,
    })
}

/// Returns the fingerprint of a request: method, commit id, message and canonical content, in any notation.
fn fingerprint(call: &Call, commit_id: Option<&str>, message: Option<&str>, document: &Value) -> Hash {
    let content = json::canonical(document);
    let of = format!("{}\n{}\n{content}", call.method, commit_id.unwrap_or_default());
    Hash::of(&with_message(message, of))
}

/// Adds a message to the content of a fingerprint. Without a message, the fingerprint is that of earlier releases.
fn with_message(message: Option<&str>, of: String) -> String {
    // No message has a line break, so the first line is the message or the beginning of the content.
    match message {
        Some(message) => format!("message {message}\n{of}"),
        None => of,
    }
}
