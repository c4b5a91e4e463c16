//! Owners' decisions: a change instance moves, its log changes, a deployed item is recorded.

mod body;
mod deployed;

use domain::change::{Change, ClosedBy};
use domain::decide::{self, Decided, Refused, Update};
use domain::id::{ChangeId, DeployedId};
use domain::item::Item;
use domain::team::Head;
use dovetail_aws::pause;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Event, EventReply, Failure, Function, Operation, Pov, Reply, answer};
use dovetail_table::{Commit, Error, Table};
use serde_json::{Map, json};

/// How often a decision is made anew because others moved what it was made on.
const ATTEMPTS_MAX: u32 = 12;

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub async fn handle(table: &Table, event: Event) -> EventReply {
    answer(event, Function::UpdateState, async |call| match call.operation {
        Operation::UpdateChangeInstance => update(table, &call).await,
        Operation::RetryChangeInstance => retry(table, &call).await,
        Operation::CreateDeployedItem => deployed::create(table, &call).await,
        Operation::PatchDeployedItem => deployed::patch(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
    .await
}

async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let decided = decide(table, call, id, &Decision::AsAsked).await?;
    shown(table, call, 200, &decided.change).await
}

async fn retry(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let decided = decide(table, call, id, &Decision::Retry).await?;
    shown(table, call, 201, &decided.change).await
}

async fn shown(table: &Table, call: &Call, status: u16, change: &Change) -> Result<Reply, Failure> {
    let related = table.related_to_changes(std::slice::from_ref(change)).await?;
    Ok(Reply::new(status, view::change_instance(change, &related, &Viewpoint::of(call))))
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

/// Loads, decides, commits; again from the start when something moved meanwhile.
async fn decide(table: &Table, call: &Call, id: ChangeId, decision: &Decision) -> Result<Decided, Failure> {
    let mut attempted = None;
    for attempt in 0..ATTEMPTS_MAX {
        let (change, item, head) = load(table, call, id).await?;
        // A first attempt may have been written although its answer was lost (docs/architecture.md, lost answers).
        if attempt > 0
            && let Some(written) = written(table, call, &change, &item, attempted).await?
        {
            return Ok(written);
        }
        let (caller, stamp) = (&call.caller.team, call.stamp());
        let decided = match decision {
            Decision::AsAsked => {
                let update = body::update(&call.object()?)?;
                decide::update(&change, &item, &head, &update, caller, &stamp)
            }
            Decision::Deploy(Deploy { data, onto }) => {
                let update = Update { deployed_item: Some(data.clone()), onto: *onto, ..Update::default() };
                decide::update(&change, &item, &head, &update, caller, &stamp)
            }
            Decision::Retry => decide::retry(&change, &item, &head, caller, &stamp),
        };
        match decided {
            Ok(decided) if decided.writes.is_empty() => return Ok(decided),
            Ok(decided) => {
                attempted = decided.deployed.as_ref().map(|deployed| deployed.id);
                if table.commit(&decided.writes).await? == Commit::Done {
                    return Ok(decided);
                }
                pause(attempt).await;
            }
            Err(Refused::Torn) => pause(attempt).await,
            Err(refused) => return Err(refusal(&refused, &change)),
        }
    }
    let (change, item, _) = load(table, call, id).await?;
    written(table, call, &change, &item, attempted).await?.ok_or_else(|| Code::Contended.into())
}

/// The change instance with its item and its consumer's head; not found unless the caller is a party.
async fn load(table: &Table, call: &Call, id: ChangeId) -> Result<(Change, Item, Head), Failure> {
    let team = call.caller.team.id;
    let change = table.change(id).await?;
    let change = change.filter(|change| Pov::ALL.iter().any(|pov| pov.shows_change(change, team)));
    let change = change.ok_or(Code::NotFound)?;
    let (item, head) = tokio::try_join!(table.item(change.item), table.head(change.consumer.id))?;
    let corrupt =
        || Error::Corrupt { key: format!("change instance {id}"), reason: "stands alone".to_owned() };
    Ok((change, item.ok_or_else(corrupt)?, head.ok_or_else(corrupt)?))
}

/// The outcome of an attempt of this request, if it bears its mark; of a retry, the new change instance.
async fn written(
    table: &Table,
    call: &Call,
    change: &Change,
    item: &Item,
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
fn refusal(refused: &Refused, change: &Change) -> Failure {
    let mut fields = Map::new();
    fields.insert("state".to_owned(), json!(change.state.name()));
    let (code, detail) = match refused {
        Refused::Torn => return Code::Contended.into(),
        Refused::NotOwner => return Code::NotOwner.into(),
        Refused::IllegalTransition { from, to } => {
            (Code::IllegalTransition, format!("cannot switch from state {from} to {to} directly"))
        }
        Refused::NotRetryable(state) => (Code::NotRetryable, format!("state {state} cannot be retried")),
        Refused::Overtaken => (Code::Overtaken, Code::Overtaken.title().to_owned()),
        Refused::DeployedItemNotMain => {
            (Code::DeployedItemNotMain, Code::DeployedItemNotMain.title().to_owned())
        }
        Refused::DeployedItemTooEarly(state) => {
            (Code::DeployedItemTooEarly, format!("no deployed item goes with state {state}"))
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
