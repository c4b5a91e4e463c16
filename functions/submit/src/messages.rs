//! Messages of service owners in the reply to a submission (R41).
//!
//! If no team has messages, nothing is read. Otherwise one batch follows the decision. Messages never change the
//! outcome (ADR 26).

use crate::context::Context;
use crate::load::{Loaded, LoadedTeam};
use domain::TeamId;
use domain::model::declaration::{Declaration, DeclaredApplication};
use domain::model::submission::Scope;
use domain::outreach::message;
use domain::outreach::message::Used;
use domain::rules::plan;
use domain::rules::plan::Items;
use dovetail_aws::log;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Failure, Reply};
use dovetail_table::Error;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of messages in a reply, the newest; the list has all of them.
const MESSAGES_MAX: usize = 50;

/// Adds the messages to the reply of an accepted declaration, from its services and those of the loaded items.
pub(crate) async fn add_to_accepted(
    context: &Context<'_>,
    team: &LoadedTeam,
    (items, declaration): (Option<&Items>, &Declaration),
    mut reply: Reply,
) -> Result<Reply, Failure> {
    if !team.message_owners.is_empty() {
        let used = message::used(items.into_iter().flat_map(Items::values).flatten());
        let declared = titles(&declaration.applications);
        add(context, &team.message_owners, (used, declared), &mut reply).await?;
    }
    Ok(reply)
}

/// Adds the messages to the reply of a rejected declaration, from the services of the active items.
///
/// The declaration does not count, because a caller could name a private service in it to read the messages (ADR 26).
pub(crate) async fn add_to_rejected(
    context: &Context<'_>,
    Loaded { team, items, .. }: &Loaded,
    (declaration, scope): (&Declaration, Scope),
    mut failure: Failure,
) -> Failure {
    if let Failure::Refused(reply) = &mut failure
        && !team.message_owners.is_empty()
        && team.stored.head.in_flight.is_none()
    {
        let used = message::used(items.values().flatten());
        // Items with an unchanged declaration are active, and were not read.
        let read = plan::to_read(&team.stored, declaration, scope);
        let unread = team.stored.applications.iter().filter(|stored| !read.contains(&stored.id));
        let unread: BTreeSet<&str> = unread.map(|stored| stored.name.as_str()).collect();
        let declared = declaration.applications.iter();
        let unchanged = titles(declared.filter(|declared| unread.contains(declared.name.as_str())));
        if let Err(broken) = add(context, &team.message_owners, (used, unchanged), reply).await {
            return broken;
        }
    }
    failure
}

/// Returns the titles of the services of declared items.
fn titles<'a>(declared: impl IntoIterator<Item = &'a DeclaredApplication>) -> BTreeSet<String> {
    declared.into_iter().flat_map(|declared| &declared.items).map(|item| item.service.clone()).collect()
}

/// Adds the messages of these owners about services of read items, and about the services with these titles.
async fn add(
    context: &Context<'_>,
    owners: &BTreeSet<TeamId>,
    (used, titles): (Used, BTreeSet<String>),
    reply: &mut Reply,
) -> Result<(), Failure> {
    if !reply.has("messages") {
        return Ok(());
    }
    match visible(context, owners, used, &titles).await {
        Ok(messages) if messages.is_empty() => Ok(()),
        Ok(messages) => reply.insert("messages", messages.into()),
        // The outcome is decided, so a failed read of messages must not replace it.
        Err(error) => {
            log("messages", &error.to_string());
            Ok(())
        }
    }
}

async fn visible(
    context: &Context<'_>,
    owners: &BTreeSet<TeamId>,
    mut used: Used,
    titles: &BTreeSet<String>,
) -> Result<Vec<Value>, Error> {
    let Context { table, call, .. } = context;
    used.extend(table.owned_services(titles).await?);
    used.retain(|_, owner| owners.contains(owner));
    if used.is_empty() {
        return Ok(Vec::new());
    }
    let owners: BTreeSet<TeamId> = used.values().copied().collect();
    let all = table.messages_of(owners.into_iter()).await?;
    let visible = message::visible(&all, &used, call.now).into_iter().take(MESSAGES_MAX);
    let viewpoint = Viewpoint::of(call);
    Ok(visible.map(|(owner, message)| view::message(owner, &message, call.now, &viewpoint)).collect())
}
