//! A request as it was submitted: read, planned, recognised when it comes again.

use crate::load::{Loaded, LoadedTeam};
use crate::refused;
use crate::revert::Revert;
use domain::declaration::{self, Declaration};
use domain::id::SubmissionId;
use domain::json::{self, Hash};
use domain::plan::{self, Plan, Refused, Request};
use domain::problem::Problem;
use domain::submission::{COMMIT_ID_BYTES_MAX, Scope, Submission};
use dovetail_aws::off_worker;
use dovetail_http::{Call, Code, Failure, FieldError, invalid_declaration};
use dovetail_table::Table;
use serde_json::Value;
use std::collections::BTreeMap;

/// A request as it was submitted.
pub(crate) struct Submitted {
    pub(crate) declaration: Declaration,
    /// The problems of the parts of the document that could not be read.
    unread: Vec<Problem>,
    pub(crate) scope: Scope,
    /// The idempotency key and the fingerprint of the request, if the caller sent a key.
    pub(crate) idempotency: Option<(String, Hash)>,
    commit_id: Option<String>,
    /// What is reverted to, if the declaration is not one that was sent.
    revert: Option<Revert>,
}

/// It is to be planned anew; if it goes on like that, this is why.
pub(crate) struct Again(pub(crate) Code);

impl Submitted {
    /// Reads a request; it may also have these query parameters.
    pub(crate) fn parse(call: &Call, also: &[&str]) -> Result<Self, Failure> {
        let commit_id = commit_id(call, also)?;
        let key = call.idempotency_key()?.map(str::to_owned);
        let (declaration, unread) = match declaration::read(&call.body) {
            (Some(declaration), unread) => (declaration, unread),
            (None, problems) => return Err(unreadable(call, problems)),
        };
        let idempotency = key.map(|key| (key, fingerprint(call, commit_id.as_deref())));
        let scope = if call.method == "PATCH" { Scope::Partial } else { Scope::Whole };
        Ok(Self { declaration, unread, scope, idempotency, commit_id, revert: None })
    }

    /// Reads a request to revert to a submission.
    pub(crate) async fn revert(table: &Table, call: &Call, also: &[&str]) -> Result<Self, Failure> {
        let commit_id = commit_id(call, also)?;
        let key = call.idempotency_key()?.map(str::to_owned);
        let revert = Revert::parse(table, call).await?;
        let of = format!("{}\n{}", call.path.trim_end_matches('/'), commit_id.as_deref().unwrap_or_default());
        let idempotency = key.map(|key| (key, Hash::of(&of)));
        let team = call.caller.team.name.clone();
        let declaration = Declaration { team, metadata: None, applications: Vec::new() };
        let (unread, revert) = (Vec::new(), Some(revert));
        Ok(Self { declaration, unread, scope: Scope::Partial, idempotency, commit_id, revert })
    }

    /// What a revert declares follows from the team as it is stored.
    pub(crate) async fn follow(
        &mut self,
        table: &Table,
        team: &LoadedTeam,
    ) -> Result<Result<(), Again>, Failure> {
        let Some(revert) = &mut self.revert else { return Ok(Ok(())) };
        match revert.declaration(table, &team.stored).await? {
            Ok(Some(declaration)) => self.declaration = declaration,
            Ok(None) => {}
            Err(again) => return Ok(Err(again)),
        }
        Ok(Ok(()))
    }

    /// A plan over what was loaded.
    pub(crate) async fn plan<'a>(
        &'a self,
        table: &Table,
        call: &Call,
        loaded: &'a Loaded,
    ) -> Result<Result<Plan<'a>, Again>, Failure> {
        let stamp = &call.stamp();
        let request = Request {
            declaration: &self.declaration,
            unread: &self.unread,
            scope: self.scope,
            commit_id: self.commit_id.clone(),
            stamp,
            idempotency: self.idempotency.clone(),
            mandatory: &loaded.mandatory,
        };
        // Judging items by their schemas may take a good part of a second.
        match off_worker(|| plan::plan(&loaded.stored, &loaded.items, &loaded.offers, &request)) {
            Ok(plan) => Ok(Ok(plan)),
            Err(Refused::Torn) => Ok(Err(Again(Code::Contended))),
            Err(Refused::InFlight(_)) => Ok(Err(Again(Code::SubmissionInFlight))),
            Err(Refused::Invalid(problems)) => Err(refused::invalid(table, call, problems).await),
            Err(Refused::OutOfNumbers) => Err(Code::OutOfNumbers.into()),
        }
    }

    /// The same, unless it is no longer the one that was previewed (R34).
    pub(crate) async fn plan_as_previewed<'a>(
        &'a self,
        table: &Table,
        call: &Call,
        loaded: &'a Loaded,
    ) -> Result<Result<Plan<'a>, Again>, Failure> {
        let plan = match self.plan(table, call, loaded).await? {
            Ok(plan) if call.if_match.is_some() => plan,
            unconditional => return Ok(unconditional),
        };
        if loaded.owes {
            return Ok(Err(Again(Code::SubmissionInFlight)));
        }
        match plan.preview(&loaded.items, &call.stamp()) {
            Ok(preview) if call.matches(&preview.plan.to_string()) => Ok(Ok(plan)),
            Ok(_) => Err(Code::PlanChanged.into()),
            // What is planned holds together; if it did not, it would have to be read again.
            Err(_) => Ok(Err(Again(Code::Contended))),
        }
    }

    /// The submission that this request is recorded as already: by its idempotency key, or by an attempt of ours
    /// whose answer was lost (docs/explanation/concurrency.md, lost answers).
    pub(crate) async fn earlier(
        &self,
        table: &Table,
        call: &Call,
        team: &LoadedTeam,
        attempted: Option<SubmissionId>,
    ) -> Result<Option<Submission>, Failure> {
        if let Some(id) = attempted
            && let Some(submission) = table.submission(id).await?
            && submission.request == call.request
        {
            return Ok(Some(submission));
        }
        let (Some((_, fingerprint)), Some(remembered)) = (&self.idempotency, &team.remembered) else {
            return Ok(None);
        };
        if remembered.fingerprint != *fingerprint {
            return Err(Code::IdempotencyKeyReused.into());
        }
        let submission = table.submission(remembered.submission).await?;
        Ok(Some(submission.ok_or(Code::Broken)?))
    }
}

/// The commit that the caller names; no other query parameters but these are known.
fn commit_id(call: &Call, also: &[&str]) -> Result<Option<String>, Failure> {
    call.only_knows(&[&["commit_id"], also].concat())?;
    let commit_id = call.query.get("commit_id").map(str::to_owned);
    if commit_id.as_ref().is_some_and(|id| id.len() > COMMIT_ID_BYTES_MAX) {
        let message = format!("is longer than {COMMIT_ID_BYTES_MAX} bytes");
        return Err(Call::bad_filter(&FieldError::new("commit_id", message)));
    }
    Ok(commit_id)
}

/// The refusal of a body that is no declaration; most often the team's name is forgotten around it.
fn unreadable(call: &Call, mut problems: Vec<Problem>) -> Failure {
    let team = &call.caller.team.name;
    if let Ok(Value::Object(document)) = json::parse(&call.body, declaration::DEPTH_MAX)
        && !document.is_empty()
        && !document.contains_key(team)
    {
        problems.push(Problem {
            pointer: String::new(),
            path: vec!["declaration".to_owned(), "team".to_owned()],
            rule: "foreign_team",
            message: format!("the one key is the name of the key's team, '{team}'"),
            change: None,
        });
    }
    invalid_declaration(&problems, &BTreeMap::new()).into()
}

/// What makes two requests with one idempotency key the same: the content, however it is written.
fn fingerprint(call: &Call, commit_id: Option<&str>) -> Hash {
    let body = json::parse(&call.body, declaration::DEPTH_MAX).unwrap_or_default();
    Hash::of(&format!("{}\n{}\n{}", call.method, commit_id.unwrap_or_default(), json::canonical(&body)))
}
