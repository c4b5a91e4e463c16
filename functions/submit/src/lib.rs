//! Submissions: a declaration is validated, or made the desired state in one transaction.

mod load;

use domain::declaration::{self, Declaration};
use domain::id::SubmissionId;
use domain::json::{self, Hash};
use domain::plan::{self, Plan, Refused, Request};
use domain::problem::{Problem, pointer};
use domain::submission::{COMMIT_ID_BYTES_MAX, Scope, Submission};
use dovetail_aws::pause;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{
    Call, Code, Event, EventReply, Failure, FieldError, Function, Operation, Reply, answer,
    invalid_declaration, too_many_changes,
};
use dovetail_table::{ACTIONS_MAX, Commit, Table};
use serde_json::{Value, json};

/// How often a submission is planned anew because others moved what it was planned on.
const ATTEMPTS_MAX: u32 = 12;

/// How many change instances one submission leaves to be generated; keeps the transaction far below 4 MB.
const OWED_MAX: usize = 5_000;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub async fn handle(table: &Table, event: Event) -> EventReply {
    answer(event, Function::Submit, async |call| match call.operation {
        Operation::ValidateSubmission => validate(table, &call).await,
        Operation::Submit => submit(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
    .await
}

/// Checks a declaration with the very planner that a submission uses, and stops before the commit.
async fn validate(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let submitted = Submitted::parse(call)?;
    for attempt in 0..ATTEMPTS_MAX {
        match submitted.plan(table, call).await? {
            Some(plan) => {
                fits(&plan)?;
                return Ok(Reply::new(200, valid()));
            }
            None => pause(attempt).await,
        }
    }
    Err(Code::Contended.into())
}

fn valid() -> Value {
    json!({"is_valid": true, "errors": {}, "warnings": [], "messages": []})
}

/// Takes a declaration: load, plan, commit; again from the start when something moved meanwhile.
async fn submit(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let submitted = Submitted::parse(call)?;
    let mut attempted = None;
    for attempt in 0..ATTEMPTS_MAX {
        if let Some(reply) = submitted.earlier(table, call, attempted).await? {
            return Ok(reply);
        }
        if let Some(plan) = submitted.plan(table, call).await? {
            fits(&plan)?;
            table.store_declarations(call.caller.team.id, &plan.declarations).await?;
            attempted = Some(plan.submission.id);
            if table.commit(&plan.writes).await? == Commit::Done {
                return accepted(table, call, &plan.submission).await;
            }
        }
        pause(attempt).await;
    }
    submitted.earlier(table, call, attempted).await?.ok_or_else(|| Code::Contended.into())
}

/// A request as it was submitted.
struct Submitted {
    declaration: Declaration,
    scope: Scope,
    commit_id: Option<String>,
    idempotency: Option<(String, Hash)>,
}

impl Submitted {
    fn parse(call: &Call) -> Result<Self, Failure> {
        call.only_knows(&["commit_id"])?;
        let commit_id = call.query.get("commit_id").map(str::to_owned);
        if commit_id.as_ref().is_some_and(|id| id.len() > COMMIT_ID_BYTES_MAX) {
            let message = format!("is longer than {COMMIT_ID_BYTES_MAX} bytes");
            return Err(Call::bad_filter(&FieldError::new("commit_id", message)));
        }
        let key = call.idempotency_key()?.map(str::to_owned);
        let declaration = declaration::parse(&call.body).map_err(|problems| unreadable(call, problems))?;
        let idempotency = key.map(|key| (key, fingerprint(call, commit_id.as_deref())));
        let scope = if call.method == "PATCH" { Scope::Partial } else { Scope::Whole };
        Ok(Self { declaration, scope, commit_id, idempotency })
    }

    /// One plan over what is stored now; none when the read was torn.
    async fn plan(&self, table: &Table, call: &Call) -> Result<Option<Plan>, Failure> {
        let team = call.caller.team.id;
        let loaded = load::everything(table, team, &self.declaration, self.scope).await?;
        let stamp = call.stamp();
        let request = Request {
            declaration: &self.declaration,
            scope: self.scope,
            commit_id: self.commit_id.clone(),
            stamp: &stamp,
            idempotency: self.idempotency.clone(),
        };
        match plan::plan(&loaded.stored, &loaded.items, &loaded.offers, &request) {
            Ok(plan) => Ok(Some(plan)),
            Err(Refused::Torn) => Ok(None),
            Err(Refused::Invalid(problems)) => Err(invalid_declaration(&problems).into()),
            Err(Refused::OutOfNumbers) => Err(Code::OutOfNumbers.into()),
        }
    }

    /// The reply to this request if it is recorded already: by its idempotency key, or by an attempt of ours
    /// whose answer was lost (docs/architecture.md, lost answers).
    async fn earlier(
        &self,
        table: &Table,
        call: &Call,
        attempted: Option<SubmissionId>,
    ) -> Result<Option<Reply>, Failure> {
        if let Some(id) = attempted
            && let Some(submission) = table.submission(id).await?
            && submission.request == call.request
        {
            return accepted(table, call, &submission).await.map(Some);
        }
        let Some((key, fingerprint)) = &self.idempotency else { return Ok(None) };
        let Some(remembered) = table.remembered(call.caller.team.id, key, call.now).await? else {
            return Ok(None);
        };
        if remembered.fingerprint != *fingerprint {
            return Err(Code::IdempotencyKeyReused.into());
        }
        let submission = table.submission(remembered.submission).await?;
        accepted(table, call, &submission.ok_or(Code::Broken)?).await.map(Some)
    }
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
        });
    }
    invalid_declaration(&problems).into()
}

/// What makes two requests with one idempotency key the same: the content, however it is written.
fn fingerprint(call: &Call, commit_id: Option<&str>) -> Hash {
    let body = json::parse(&call.body, declaration::DEPTH_MAX).unwrap_or_default();
    Hash::of(&format!("{}\n{}\n{}", call.method, commit_id.unwrap_or_default(), json::canonical(&body)))
}

/// A submission is one transaction.
fn fits(plan: &Plan) -> Result<(), Failure> {
    let (writes, owed) = (plan.writes.len(), plan.owed.len());
    if writes <= ACTIONS_MAX && owed <= OWED_MAX {
        return Ok(());
    }
    let items = plan.items.len();
    let message = if owed > OWED_MAX {
        format!("{owed} change instances would be generated at once; a submission causes {OWED_MAX} at most")
    } else {
        format!(
            "{items} items change at once, which takes {writes} writes; a submission holds {ACTIONS_MAX}: \
             change fewer items at once, in several submissions"
        )
    };
    let team = plan.submission.team.name.clone();
    let problem = Problem {
        pointer: pointer([team.as_str()]),
        path: vec![team, "submission".to_owned()],
        rule: "too_many_changes",
        message,
    };
    Err(too_many_changes(&problem).into())
}

/// The reply to a recorded submission: the same for the first request and for every repetition.
async fn accepted(table: &Table, call: &Call, submission: &Submission) -> Result<Reply, Failure> {
    let viewpoint = Viewpoint::of(call);
    let changes = table.changes_of(submission).await?;
    let related = table.related_to_changes(&changes).await?;
    let changes: Vec<Value> =
        changes.iter().map(|change| view::change_instance_as_born(change, &related, &viewpoint)).collect();
    let mut body = valid();
    if let (Value::Object(body), Value::Object(of)) = (
        &mut body,
        view::submission_with_changes(submission, submission.progress_at_birth(), changes, &viewpoint),
    ) {
        body.extend(of);
    }
    Ok(Reply::new(if submission.changed { 201 } else { 200 }, body))
}
