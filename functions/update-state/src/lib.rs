//! Owners' decisions: a change instance moves, its log changes, a deployed item is recorded.

mod body;
mod charge;
mod deployed;

use domain::change::ClosedBy;
use domain::decide::{self, Decided, Refused, Update};
use domain::id::{ChangeId, DeployedId};
use domain::related::Related;
use domain::state::{self, State};
use dovetail_aws::pause;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Answering, Call, Code, Event, Failure, Function, Operation, Reply, answer};
use dovetail_table::{Commit, Error, Table, Undecided};
use serde_json::{Map, Value, json};

/// How often a decision is made anew because others moved what it was made on.
const ATTEMPTS_MAX: u32 = 12;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(table: &Table, event: Event) -> Answering<'_> {
    answer(event, Function::UpdateState, async move |call| match call.operation {
        Operation::UpdateChangeInstance => update(table, &call).await,
        Operation::RetryChangeInstance => retry(table, &call).await,
        Operation::CreateDeployedItem => deployed::create(table, &call).await,
        Operation::PatchDeployedItem => deployed::patch(table, &call).await,
        Operation::UpdateCharge | Operation::MarkCharge => charge::update(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let decided = decide(table, call, id, &Decision::AsAsked).await?;
    Ok(shown(call, 200, &decided))
}

async fn retry(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let decided = decide(table, call, id, &Decision::Retry).await?;
    Ok(shown(call, 201, &decided))
}

fn shown(call: &Call, status: u16, (decided, related): &(Decided, Related)) -> Reply {
    Reply::new(status, view::change_instance(&decided.change, related, &Viewpoint::of(call)))
}

/// What an owner asks for.
enum Decision {
    /// What the body says; it is read once the change instance is known to exist.
    AsAsked,
    /// A deployed item on its own.
    Deploy(Deploy),
    Retry,
}

/// A deployed item to record.
struct Deploy {
    /// Canonical JSON.
    data: String,
    /// The version that it was made from, if it was.
    onto: Option<DeployedId>,
}

/// Loads, decides, commits; again from the start when something moved meanwhile. What the reply shows beside the
/// change instance is read while that is written.
async fn decide(
    table: &Table,
    call: &Call,
    id: ChangeId,
    decision: &Decision,
) -> Result<(Decided, Related), Failure> {
    let mut attempted = None;
    for attempt in 0..ATTEMPTS_MAX {
        let read = load(table, call, id, decision).await?;
        // A first attempt may have been written although its answer was lost (docs/explanation/concurrency.md, lost answers).
        if attempt > 0
            && let Some(written) = written(table, call, &read, attempted).await?
        {
            return with_related(table, decision, written).await;
        }
        match decision.made_on(table, call, &read).await? {
            Ok(decided) => {
                attempted = decided.deployed.as_ref().map(|deployed| deployed.id);
                let (commit, related) =
                    tokio::join!(commit(table, &decided), related(table, decision, &decided));
                if commit? == Commit::Done {
                    return match related {
                        Ok(related) => Ok((decided, related)),
                        // It is decided: what failed beside is read again.
                        Err(_) => with_related(table, decision, decided).await,
                    };
                }
                pause(attempt).await;
            }
            Err(Refused::Torn) => pause(attempt).await,
            Err(refused) => return Err(refusal(call, &refused, &read)),
        }
    }
    let read = load(table, call, id, decision).await?;
    match written(table, call, &read, attempted).await? {
        Some(written) => with_related(table, decision, written).await,
        None => Err(Code::Contended.into()),
    }
}

/// The change instance with its item and, for a retry, its consumer's head; not found unless the caller is a party.
async fn load(table: &Table, call: &Call, id: ChangeId, decision: &Decision) -> Result<Undecided, Failure> {
    let read = table.undecided(id, call.caller.team.id, matches!(decision, Decision::Retry)).await?;
    read.ok_or_else(|| Code::NotFound.into())
}

impl Decision {
    /// What is decided on what was read; the head is read only by those that take numbers from it, the service only by
    /// those that go by its settings.
    async fn made_on(
        &self,
        table: &Table,
        call: &Call,
        Undecided { change, item, head }: &Undecided,
    ) -> Result<Result<Decided, Refused>, Failure> {
        let (caller, stamp) = (&call.caller.team, call.stamp());
        let update = match self {
            Self::AsAsked => body::update(&call.object()?)?,
            Self::Deploy(Deploy { data, onto }) => {
                Update { deployed_item: Some(data.clone()), onto: *onto, ..Update::default() }
            }
            Self::Retry => {
                let head = head.as_ref().ok_or(Code::Broken)?;
                return Ok(decide::retry(change, item, head, caller, &stamp));
            }
        };
        let head = if decide::takes_numbers(item, &update) {
            Some(table.head(change.consumer.id).await?.ok_or(Code::Broken)?)
        } else {
            None
        };
        let service = if decide::asks_service(change, &update, &stamp) {
            Some(table.service(&change.service.title).await?.ok_or(Code::Broken)?)
        } else {
            None
        };
        Ok(decide::update(change, item, head.as_ref(), service.as_ref(), &update, caller, &stamp))
    }
}

/// Writes what was decided; there may be nothing to write.
async fn commit(table: &Table, decided: &Decided) -> Result<Commit, Error> {
    if decided.writes.is_empty() { Ok(Commit::Done) } else { table.commit(&decided.writes).await }
}

/// What the reply shows beside the change instance; a deployed item on its own is shown alone.
async fn related(table: &Table, decision: &Decision, decided: &Decided) -> Result<Related, Error> {
    match decision {
        Decision::AsAsked | Decision::Retry => table.related_to_decided(decided).await,
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

/// The outcome of an attempt of this request, if it bears its mark; of a retry, the new change instance.
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
    let deployed = deployed.filter(|deployed| deployed.request == call.request);
    if deployed.is_none() && !change.bears(&call.request) {
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

/// The reply to a refused decision; it tells the state that stands against it.
fn refusal(call: &Call, refused: &Refused, read: &Undecided) -> Failure {
    let mut fields = Map::new();
    fields.insert("state".to_owned(), json!(read.change.state.name()));
    let (code, detail) = match refused {
        Refused::Torn => return Code::Contended.into(),
        Refused::NotOwner => return Code::NotOwner.into(),
        Refused::IllegalTransition { from, to } => return illegal(call, (*from, *to), read, fields),
        Refused::ManualApproval => (Code::ManualApproval, Code::ManualApproval.title().to_owned()),
        Refused::ManualCompletion => (Code::ManualCompletion, Code::ManualCompletion.title().to_owned()),
        Refused::NotRetryable(state) => (Code::NotRetryable, format!("state {state} cannot be retried")),
        Refused::Overtaken => (Code::Overtaken, Code::Overtaken.title().to_owned()),
        Refused::DeployedItemNotMain => {
            (Code::DeployedItemNotMain, Code::DeployedItemNotMain.title().to_owned())
        }
        Refused::DeployedItemTooEarly(State::Rejected) => (
            Code::DeployedItemTooEarly,
            "deployed_item must equal the newest deployed item in state REJECTED".to_owned(),
        ),
        Refused::DeployedItemTooEarly(state) => {
            (Code::DeployedItemTooEarly, format!("deployed_item must be absent in state {state}"))
        }
        Refused::DeployedItemNotLatest => {
            (Code::DeployedItemNotLatest, Code::DeployedItemNotLatest.title().to_owned())
        }
        Refused::DeployedItemTooLarge => {
            let detail =
                format!("a deployed item has at most {} bytes", domain::deployed::DEPLOYED_BYTES_MAX);
            (Code::DeployedItemTooLarge, detail)
        }
        Refused::LogTooLong => {
            (Code::LogTooLong, format!("a log text has at most {} bytes", decide::LOG_BYTES_MAX))
        }
        Refused::LogFull => (Code::LogFull, format!("a history takes {} log texts", decide::LOG_ENTRIES_MAX)),
        Refused::TooManyAttempts => {
            (Code::TooManyAttempts, format!("at most {} attempts are made", decide::ATTEMPTS_MAX))
        }
        Refused::OutOfNumbers => (Code::OutOfNumbers, Code::OutOfNumbers.title().to_owned()),
    };
    Reply::problem(code, &detail, fields).into()
}

/// Returns the reply to an illegal move, with the allowed ones and the URL of a retry where there is one.
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
