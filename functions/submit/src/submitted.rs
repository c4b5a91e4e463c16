//! A submission request: parsed, planned, and recognized as a repetition.

use crate::load::{Loaded, LoadedTeam};
use crate::refused;
use crate::revert::Revert;
use domain::base::json;
use domain::base::problem::Problem;
use domain::model::declaration;
use domain::model::declaration::Declaration;
use domain::model::submission::{COMMIT_ID_BYTES_MAX, Scope, Submission};
use domain::rules::plan;
use domain::rules::plan::{Plan, Refused, Request};
use domain::{Hash, SubmissionId};
use dovetail_aws::off_worker;
use dovetail_http::{Call, Code, Failure, FieldError, invalid_declaration};
use dovetail_table::Table;
use serde_json::Value;
use std::collections::BTreeMap;

/// A submission request.
pub(crate) struct Submitted {
    pub(crate) declaration: Declaration,
    /// Problems of the unreadable parts of the document.
    unread: Vec<Problem>,
    pub(crate) scope: Scope,
    /// Idempotency key and fingerprint of the request, if the client sent a key.
    pub(crate) idempotency: Option<(String, Hash)>,
    commit_id: Option<String>,
    /// Target of a revert; none for a declaration in the body.
    revert: Option<Revert>,
}

/// A reason for another plan; after the last attempt, the error of the reply.
pub(crate) struct Again(pub(crate) Code);

impl Submitted {
    /// Parses a request; `also` has the names of more query parameters.
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

    /// Parses a request for a revert.
    pub(crate) async fn revert(table: &Table, call: &Call, also: &[&str]) -> Result<Self, Failure> {
        let commit_id = commit_id(call, also)?;
        let key = call.idempotency_key()?.map(str::to_owned);
        let revert = Revert::parse(table, call).await?;
        // The path contains the target, so one key for two targets counts as a reuse.
        let of = format!("{}\n{}", call.path.trim_end_matches('/'), commit_id.as_deref().unwrap_or_default());
        let idempotency = key.map(|key| (key, Hash::of(&of)));
        let team = call.caller.team.name.clone();
        let declaration = Declaration { team, metadata: None, applications: Vec::new() };
        let (unread, revert) = (Vec::new(), Some(revert));
        Ok(Self { declaration, unread, scope: Scope::Partial, idempotency, commit_id, revert })
    }

    /// Computes the declaration of a revert from the stored team.
    pub(crate) async fn follow(
        &mut self,
        table: &Table,
        team: &LoadedTeam,
    ) -> Result<Result<(), Again>, Failure> {
        let Some(revert) = &mut self.revert else { return Ok(Ok(())) };
        match revert.declaration(table, &team.stored).await? {
            Ok(Some(declaration)) => self.declaration = declaration,
            Ok(None) => {}
            Err(second) => return Ok(Err(second)),
        }
        Ok(Ok(()))
    }

    /// Plans the submission on the loaded records.
    pub(crate) async fn plan<'a>(
        &'a self,
        table: &Table,
        call: &Call,
        loaded: &'a Loaded,
    ) -> Result<Result<Plan<'a>, Again>, Failure> {
        let ctx = &call.ctx();
        let request = Request {
            declaration: &self.declaration,
            unread: &self.unread,
            scope: self.scope,
            commit_id: self.commit_id.clone(),
            ctx,
            idempotency: self.idempotency.clone(),
            metadata_policy: &loaded.metadata_policy,
        };
        // The check of items against their schemas may take a good part of a second of CPU time.
        match off_worker(|| plan::plan(&loaded.stored, &loaded.items, &loaded.offers, &request)) {
            Ok(plan) => Ok(Ok(plan)),
            Err(Refused::Torn) => Ok(Err(Again(Code::Contended))),
            Err(Refused::InFlight(_)) => Ok(Err(Again(Code::SubmissionInFlight))),
            Err(Refused::Invalid(problems)) => Err(refused::invalid(table, call, problems).await),
            Err(Refused::OutOfNumbers) => Err(Code::OutOfNumbers.into()),
        }
    }

    /// Plans the submission, and rejects a plan that differs from the previewed one (R34).
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
        // Pending work creates change instances that the submission may close, so the token is unreliable until then
        // (ADR 23).
        if loaded.has_pending_work {
            return Ok(Err(Again(Code::SubmissionInFlight)));
        }
        match plan.preview(&loaded.items, &call.ctx()) {
            Ok(preview) if call.matches(&preview.plan.to_string()) => Ok(Ok(plan)),
            Ok(_) => Err(Code::PlanChanged.into()),
            // A consistent plan always has effects. If it has none, the next attempt reads the records again.
            Err(_) => Ok(Err(Again(Code::Contended))),
        }
    }

    /// Returns the stored submission of this request, if there is one.
    ///
    /// It is under the idempotency key, or under the number of an attempt with a lost answer
    /// (docs/explanation/concurrency.md, lost answers).
    pub(crate) async fn earlier(
        &self,
        table: &Table,
        call: &Call,
        team: &LoadedTeam,
        attempted: Option<SubmissionId>,
    ) -> Result<Option<Submission>, Failure> {
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

/// Returns `commit_id` from the query. Only this parameter and those in `also` are known.
fn commit_id(call: &Call, also: &[&str]) -> Result<Option<String>, Failure> {
    call.only_knows(&[&["commit_id"], also].concat())?;
    let commit_id = call.query.get("commit_id").map(str::to_owned);
    if commit_id.as_ref().is_some_and(|id| id.len() > COMMIT_ID_BYTES_MAX) {
        let message = format!("must be at most {COMMIT_ID_BYTES_MAX} bytes");
        return Err(Call::bad_filter(&FieldError::new("commit_id", message)));
    }
    Ok(commit_id)
}

/// Returns the error of an unreadable declaration. Clients often forget the team's name around it.
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
            message: format!("must have exactly one key, '{team}', the team of the caller"),
            change: None,
        });
    }
    invalid_declaration(&problems, &BTreeMap::new()).into()
}

/// Returns the fingerprint of a request: method, commit id and canonical content, in any notation.
fn fingerprint(call: &Call, commit_id: Option<&str>) -> Hash {
    let body = json::parse(&call.body, declaration::DEPTH_MAX).unwrap_or_default();
    Hash::of(&format!("{}\n{}\n{}", call.method, commit_id.unwrap_or_default(), json::canonical(&body)))
}
