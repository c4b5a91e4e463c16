//! Decisions of owners: state, log and deployed item of a change instance.

mod body;
mod charge;
mod deployed;
mod judgement;

use domain::base::id::DeployedId;
use domain::base::state;
use domain::catalog::schema::Budget;
use domain::model::change::{ClosedBy, Entry};
use domain::model::storable::StorableValue;
use domain::rules::decide;
use domain::rules::decide::{Decided, Patch, Reads, Refused, Update};
use domain::views::related::Related;
use domain::{ChangeId, State};
use dovetail_aws::{off_worker, retry};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{
    Answering, Call, Code, Failure, Function, Operation, Reply, Request, answer, invalid_for_state,
};
use dovetail_table::{Commit, Error, Table, Undecided};
use judgement::Judgement;
use serde_json::{Map, Value, json};

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(table: &Table, request: Request) -> Answering<'_> {
    answer(request, Function::UpdateState, async move |call| match call.operation {
        Operation::UpdateChangeInstance => update(table, &call).await,
        Operation::RetryChangeInstance => retry_change(table, &call).await,
        Operation::CreateDeployedItem => deployed::create(table, &call).await,
        Operation::PatchDeployedItem => deployed::patch(table, &call).await,
        Operation::UpdateCharge | Operation::MarkCharge => charge::update(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let decided = decide(table, call, id, &Decision::InBody).await?;
    let warnings = completed_again(call, &decided.0)?;
    reply(table, call, 200, decided, warnings).await
}

/// Returns a warning for a completion of a change instance that was completed already.
fn completed_again(call: &Call, decided: &Decided) -> Result<Vec<String>, Failure> {
    let Update { state, deployed_item, .. } = body::update(call.fields()?)?;
    let mut entries = decided.change.history.iter();
    let is_completion = |entry: &&Entry| entry.to == State::Completed && entry.from != Some(State::Completed);
    let earlier = entries.find(is_completion).filter(|entry| entry.request != call.request);
    let Some(earlier) = earlier.filter(|_| state == Some(State::Completed)) else { return Ok(Vec::new()) };
    let stored = match &decided.deployed {
        Some(deployed) if deployed.is_observed => {
            format!("; the deployed item is stored as an observation, version {}", deployed.version)
        }
        Some(deployed) => format!("; the deployed item is stored as version {}", deployed.version),
        None if deployed_item.is_some() => "; the deployed item is the newest version already".to_owned(),
        None => String::new(),
    };
    let (by, at) = (earlier.by.changed_by(), earlier.at.to_wire());
    Ok(vec![format!("was already COMPLETED by {by} at {at}{stored}")])
}

async fn retry_change(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let decided = decide(table, call, id, &Decision::Retry).await?;
    reply(table, call, 201, decided, Vec::new()).await
}

async fn reply(
    table: &Table,
    call: &Call,
    status: u16,
    (decided, mut related): (Decided, Related),
    warnings: Vec<String>,
) -> Result<Reply, Failure> {
    table.add_definitions_of_changes(std::slice::from_ref(&decided.change), &mut related).await?;
    let (viewpoint, mut budget) = (Viewpoint::of(call), Budget::of_request());
    let view = || view::change_instance_with_proposal(&decided.change, &related, &viewpoint, &mut budget);
    let mut reply = Reply::new(status, off_worker(view))?;
    reply.warn(warnings)?;
    Ok(reply.with_tag(&view::change_tag(&decided.change, Some(&decided.item))))
}

/// The decision in a request.
enum Decision {
    /// State, log and deployed item in the body. The body comes after the change instance, so a missing one is 404.
    InBody,
    /// A deployed item by itself.
    Deploy(Deploy),
    Retry,
}

/// A new deployed item.
struct Deploy {
    data: StorableValue,
    /// The changed members, if they were merged into a version.
    patch: Option<Patch>,
}

/// Loads, decides and commits, and starts over if another request was faster.
///
/// The function reads the other content of the reply concurrently with the write, or before it if a definition judges
/// the decision (R49).
async fn decide(
    table: &Table,
    call: &Call,
    id: ChangeId,
    decision: &Decision,
) -> Result<(Decided, Related), Failure> {
    let mut attempted = None;
    let mut attempts = retry::WRITE.attempts();
    while let Some(attempt) = attempts.next().await {
        let read = load(table, call, id, decision).await?;
        // The earlier attempt may be stored, although its answer was lost (docs/explanation/concurrency.md, lost
        // answers).
        if attempt > 0
            && let Some(written) = written(table, call, &read, attempted).await?
        {
            return with_related(table, decision, written).await;
        }
        if !matches!(decision, Decision::Deploy(_))
            && !call.matches(&view::change_tag(&read.change, Some(&read.item)))
        {
            return Err(Code::ChangedMeanwhile.into());
        }
        let update = decision.update(call)?;
        let read = match &update {
            Some(update) => of_newest(table, call, read, decision, update).await?,
            None => read,
        };
        let judgement = match &update {
            Some(update) => Judgement::of(table, call, &read, decision, update).await?,
            None => None,
        };
        let decided = made_on(table, call, &read, update.as_ref(), judgement.as_ref()).await?;
        let Some(decided) = decided else { continue };
        attempted = decided.deployed.as_ref().map(|deployed| deployed.id);
        let known = judgement.and_then(|judgement| judgement.into_related(&decided));
        let (commit, related) = match known {
            Some(known) => (commit(table, &decided).await, Ok(known)),
            None => tokio::join!(commit(table, &decided), related(table, decision, &decided)),
        };
        if commit? == Commit::Done {
            return match related {
                Ok(related) => Ok((decided, related)),
                // The decision is stored, so a failed read of the other content must not become an error.
                Err(_) => with_related(table, decision, decided).await,
            };
        }
    }
    // The last attempt may be stored as well, although its answer was lost.
    let read = load(table, call, id, decision).await?;
    match written(table, call, &read, attempted).await? {
        Some(written) => with_related(table, decision, written).await,
        None => Err(Code::Contended.into()),
    }
}

/// Returns the change instance with its item, and for a retry the head; 404 unless the caller's team is a party.
async fn load(table: &Table, call: &Call, id: ChangeId, decision: &Decision) -> Result<Undecided, Failure> {
    let read = table.undecided(id, call.caller.team.id, matches!(decision, Decision::Retry)).await?;
    read.ok_or_else(|| Code::NotFound.into())
}

/// Returns the newest completed change instance in place of an older one, for a deployed item by itself (R54).
async fn of_newest(
    table: &Table,
    call: &Call,
    read: Undecided,
    decision: &Decision,
    update: &Update,
) -> Result<Undecided, Failure> {
    if !decide::may_be_overtaken(&read.change, &read.item, update) {
        return Ok(read);
    }
    let newest = deployed::newest_done(table, &read.item).await?;
    let Some(newest) = newest.filter(|newest| *newest != read.change.id) else { return Ok(read) };
    if let Decision::Deploy(_) = decision {
        return load(table, call, newest, decision).await;
    }
    // The response is about the change instance in the path. One in progress has a refusal of its own.
    let is_in_progress = read.item.main().slot(newest).is_some();
    if is_in_progress { Ok(read) } else { Err(refusal(call, &Refused::DeployedItemNotLatest, &read)) }
}

impl Decision {
    /// Returns the update; none for a retry.
    fn update(&self, call: &Call) -> Result<Option<Update>, Failure> {
        match self {
            Self::InBody => body::update(call.fields()?).map(Some),
            Self::Deploy(Deploy { data, patch }) => Ok(Some(Update {
                deployed_item: Some(data.clone()),
                patch: patch.clone(),
                ..Update::default()
            })),
            Self::Retry => Ok(None),
        }
    }
}

/// Decides on the read records; none if they do not match.
///
/// It reads the head and the service only if the decision depends on them.
async fn made_on(
    table: &Table,
    call: &Call,
    read: &Undecided,
    update: Option<&Update>,
    judgement: Option<&Judgement>,
) -> Result<Option<Decided>, Failure> {
    let Undecided { change, item, head } = read;
    let (caller, ctx) = (&call.caller.team, call.ctx());
    let Some(update) = update else {
        let head = head.as_ref().ok_or(Code::Broken)?;
        return unless_torn(call, read, decide::retry(change, item, head, caller, &ctx));
    };
    // Most deployed items use the numbers next to their change instance (ADR 1), so they do not need the head.
    let head = if decide::takes_numbers(change, item, update, judgement.map(Judgement::forms)) {
        Some(table.head(change.consumer.id).await?.ok_or(Code::Broken)?)
    } else {
        None
    };
    // Only approvals and completions of people depend on the settings (R32).
    let service = if decide::depends_on_service(change, update, &ctx) {
        Some(table.service(&change.service.title).await?.ok_or(Code::Broken)?)
    } else {
        None
    };
    let judge = judgement.map(|judgement| judgement.judge(read, update));
    let reads = Reads { head: head.as_ref(), service: service.as_ref(), judge };
    // The definition judges the decision, which takes milliseconds of CPU time.
    unless_torn(call, read, off_worker(|| decide::update(change, item, &reads, update, caller, &ctx)))
}

/// Returns a decision, or the reply to a rejected one; none if the records do not match.
fn unless_torn(
    call: &Call,
    read: &Undecided,
    decided: Result<Decided, Refused>,
) -> Result<Option<Decided>, Failure> {
    match decided {
        Ok(decided) => Ok(Some(decided)),
        // Change instance and item are from different moments (docs/explanation/concurrency.md, torn reads).
        Err(Refused::Torn) => Ok(None),
        Err(refused) => Err(refusal(call, &refused, read)),
    }
}

/// Commits a decision; one without writes needs no transaction.
async fn commit(table: &Table, decided: &Decided) -> Result<Commit, Error> {
    if decided.writes.is_empty() { Ok(Commit::Done) } else { table.commit(&decided.writes).await }
}

/// Reads the other content of the reply. A deployed item by itself has none.
async fn related(table: &Table, decision: &Decision, decided: &Decided) -> Result<Related, Error> {
    match decision {
        Decision::InBody | Decision::Retry => table.related_to_decided(decided).await,
        Decision::Deploy(_) => Ok(Related::default()),
    }
}

async fn with_related(
    table: &Table,
    decision: &Decision,
    decided: Decided,
) -> Result<(Decided, Related), Failure> {
    let related = related(table, decision, &decided).await?;
    Ok((decided, related))
}

/// Returns the outcome of an earlier attempt with the same request id; for a retry, the new change instance.
async fn written(
    table: &Table,
    call: &Call,
    Undecided { change, item, .. }: &Undecided,
    attempted: Option<DeployedId>,
) -> Result<Option<Decided>, Failure> {
    let deployed = match attempted {
        Some(id) => table.deployed(id).await?,
        None => None,
    };
    // Another request may have stored its deployed item under the attempted number.
    let deployed = deployed.filter(|deployed| deployed.request == call.request);
    if deployed.is_none() && !change.has_entry_of(&call.request) {
        return Ok(None);
    }
    let retried = change.history.iter().find_map(|entry| match entry.closed_by {
        Some(ClosedBy::Retried(by)) if entry.request == call.request => Some(by),
        _ => None,
    });
    let change = match retried {
        Some(by) => table.change(by).await?.ok_or(Code::Broken)?,
        None => change.clone(),
    };
    Ok(Some(Decided { change, item: item.clone(), writes: Vec::new(), deployed }))
}

/// Returns the reply to a rejected decision, with the present state.
fn refusal(call: &Call, refused: &Refused, read: &Undecided) -> Failure {
    let mut fields = Map::new();
    fields.insert("state".to_owned(), json!(read.change.state.name()));
    let (code, detail) = match refused {
        Refused::Torn => return Code::Contended.into(),
        Refused::NotOwner => return Code::NotOwner.into(),
        Refused::IllegalTransition { from, to } => return illegal(call, (*from, *to), read, fields),
        Refused::ManualApproval => (Code::ManualApproval, Code::ManualApproval.title().to_owned()),
        Refused::ManualCompletion => (Code::ManualCompletion, Code::ManualCompletion.title().to_owned()),
        Refused::NotRetryable(state) => {
            (Code::NotRetryable, format!("state must be REJECTED or ERRORED, not {state}"))
        }
        Refused::Overtaken => (Code::Overtaken, Code::Overtaken.title().to_owned()),
        Refused::DeployedItemNotMain => {
            (Code::DeployedItemNotMain, Code::DeployedItemNotMain.title().to_owned())
        }
        Refused::DeployedItemTooEarly(State::Rejected) => (
            Code::DeployedItemTooEarly,
            "deployed_item must equal the newest deployed item in state REJECTED".to_owned(),
        ),
        Refused::DeployedItemTooEarly(State::Completed) => (
            Code::DeployedItemTooEarly,
            "deployed_item must be absent: the item does not exist, or an approved change instance is not completed"
                .to_owned(),
        ),
        Refused::DeployedItemTooEarly(state) => {
            (Code::DeployedItemTooEarly, format!("deployed_item must be absent in state {state}"))
        }
        Refused::DeployedItemNotLatest => {
            (Code::DeployedItemNotLatest, Code::DeployedItemNotLatest.title().to_owned())
        }
        Refused::DeployedItemTooLarge => {
            let detail = format!(
                "deployed_item must be at most {} bytes",
                domain::model::deployed::DEPLOYED_BYTES_MAX
            );
            (Code::DeployedItemTooLarge, detail)
        }
        Refused::PlannedItemNotAccepted => {
            (Code::PlannedItemNotAccepted, Code::PlannedItemNotAccepted.title().to_owned())
        }
        Refused::PlannedItemTooLate(state) => {
            (Code::PlannedItemTooLate, format!("planned_item must be absent in state {state}"))
        }
        Refused::LogTooLong => {
            (Code::LogTooLong, format!("log must be at most {} bytes", decide::LOG_BYTES_MAX))
        }
        Refused::LogFull => (
            Code::LogFull,
            format!("log must be absent: the history has {} log texts, the maximum", decide::LOG_ENTRIES_MAX),
        ),
        Refused::InvalidForState(problems) => {
            return invalid_for_state(read.change.state, problems).into();
        }
        Refused::TooManyAttempts => (
            Code::TooManyAttempts,
            format!("a change instance has at most {} attempts", decide::ATTEMPTS_MAX),
        ),
        Refused::OutOfNumbers => (Code::OutOfNumbers, Code::OutOfNumbers.title().to_owned()),
    };
    Reply::problem(code, &detail, fields).into()
}

/// Returns the reply to an illegal transition, with the allowed ones and the URL of a possible retry.
fn illegal(
    call: &Call,
    (from, to): (State, State),
    Undecided { change, item, .. }: &Undecided,
    mut fields: Map<String, Value>,
) -> Failure {
    let allowed: Vec<&str> = state::moves_of_owner(from).map(State::name).collect();
    let moves = if allowed.is_empty() {
        format!("{from} is final")
    } else {
        format!("allowed: {}", allowed.join(", "))
    };
    let mut detail = format!("cannot switch from state {from} to {to} directly, {moves}");
    fields.insert("allowed".to_owned(), json!(allowed));
    if decide::check_retry(change, item).is_ok() {
        let url = format!("{}retry/", Viewpoint::of(call).url("change_instances", change.id.get()));
        detail.push_str(", or a new attempt by retry");
        fields.insert("retry".to_owned(), json!(url));
    }
    Reply::problem(Code::IllegalTransition, &detail, fields).into()
}
