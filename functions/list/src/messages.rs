//! Messages: a service owner sees its own messages, and a consumer the messages for it (R41).

use crate::bound::WHOLE;
use domain::base::id::MessageId;
use domain::outreach::message;
use domain::outreach::message::{Message, Messages, Used};
use domain::rules::visibility::Side;
use domain::{Item, TeamId, TeamRef};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Direction, Read, Source, Table};
use serde_json::Value;
use std::collections::BTreeSet;

/// Number of a consumer's items in one read.
const ITEMS_AT_ONCE: usize = 1_000;

/// Lists the messages, newest first.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["limit", "offset", "count"])?;
    let limit = call.query.limit()?;
    let offset = call.query.integer("offset")?.unwrap_or_default();
    let all = match call.side {
        Side::ServiceOwner => of_owner(table, call.caller.team.id).await?,
        Side::Consumer => for_consumer(table, call).await?,
    };
    let (skip, viewpoint) = (usize::try_from(offset).unwrap_or(usize::MAX), Viewpoint::of(call));
    let page = all.iter().skip(skip).take(limit);
    let results: Vec<Value> =
        page.map(|(owner, message)| view::message(owner, message, call.now, &viewpoint)).collect();
    let end = skip.saturating_add(results.len());
    let next = (end < all.len()).then(|| call.from_offset(end));
    Reply::list(all.len(), next, results)
}

/// Returns one message.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(MessageId::parse)?;
    let message = match call.side {
        Side::ServiceOwner if id.team() == call.caller.team.id => {
            let messages = table.messages(id.team()).await?.ok_or(Code::NotFound)?;
            messages.find(id).map(|message| owned((&messages, message.clone())))
        }
        Side::ServiceOwner => None,
        Side::Consumer => {
            // A consumer without active items of the owner sees none of its messages, so their record needs no read.
            let used = used(table, call.caller.team.id, &BTreeSet::from([id.team()])).await?;
            let messages = if used.is_empty() { None } else { table.messages(id.team()).await? };
            let message = messages.as_ref().and_then(|messages| messages.find(id));
            let live = message.filter(|message| !message.has_expired(call.now));
            messages.as_ref().zip(live.and_then(|message| message.visible_to(&used))).map(owned)
        }
    };
    let (owner, message) = message.ok_or(Code::NotFound)?;
    Reply::new(200, view::message(&owner, &message, call.now, &Viewpoint::of(call)))
}

fn owned((messages, message): (&Messages, Message)) -> (TeamRef, Message) {
    (messages.owner.clone(), message)
}

async fn of_owner(table: &Table, team: TeamId) -> Result<Vec<(TeamRef, Message)>, Failure> {
    let Some(messages) = table.messages(team).await? else { return Ok(Vec::new()) };
    Ok(messages.all.iter().rev().map(|message| owned((&messages, message.clone()))).collect())
}

/// Returns the messages for the caller, from the owners of its items.
async fn for_consumer(table: &Table, call: &Call) -> Result<Vec<(TeamRef, Message)>, Failure> {
    let owners = table.message_owners().await?;
    let used = used(table, call.caller.team.id, &owners).await?;
    let owners: BTreeSet<TeamId> = used.values().copied().collect();
    let all = table.messages_of(owners.into_iter()).await?;
    let visible = message::visible(&all, &used, call.now).into_iter();
    Ok(visible.map(|(owner, message)| (owner.clone(), message)).collect())
}

/// Returns the services of these owners in use by a consumer, from its first 10,000 items.
async fn used(table: &Table, consumer: TeamId, owners: &BTreeSet<TeamId>) -> Result<Used, Failure> {
    let (mut used, mut read) = (Used::new(), Read::default());
    if owners.is_empty() {
        return Ok(used);
    }
    let source = Source::<Item>::of_consumer(consumer).live();
    let mut rows = table.rows(&source, Direction::Ascending, None).at_once(ITEMS_AT_ONCE);
    while let Some(batch) = read.by(rows.next()).await? {
        read.rows(batch.len());
        used.extend(message::used(batch.iter().map(|row| &row.value)));
        if read.reaches(&WHOLE) {
            break;
        }
    }
    used.retain(|_, owner| owners.contains(owner));
    Ok(used)
}
