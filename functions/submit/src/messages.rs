//! Messages of service owners in the reply to a submission (R41).
//!
//! If no team has messages, nothing is read. Otherwise one batch follows the decision. Messages never change the
//! outcome (ADR 26).

use crate::load::{Loaded, LoadedTeam};
use crate::submitted::Submitted;
use domain::TeamId;
use domain::outreach::message;
use domain::outreach::message::Used;
use domain::rules::plan;
use dovetail_aws::log;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Failure, Reply};
use dovetail_table::{Error, Table};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of messages in a reply, the newest; the list has all of them.
const MESSAGES_MAX: usize = 50;

/// The services of a submission, as far as their owners may have messages.
#[derive(Default)]
pub(crate) struct Audience {
    /// Teams with messages.
    owners: Arc<BTreeSet<TeamId>>,
    /// Services of the active items that were read.
    used: Used,
    /// Services of items with an unchanged declaration. These items are active, and were not read.
    unchanged: BTreeSet<String>,
    /// Services of all declared items; they count once the declaration is accepted.
    declared: BTreeSet<String>,
}

impl Audience {
    /// Notes the teams with messages, and the declared services.
    pub(crate) fn declared(&mut self, team: &LoadedTeam, submitted: &Submitted) {
        self.owners = Arc::clone(&team.message_owners);
        if !self.owners.is_empty() {
            let items = submitted.declaration.applications.iter().flat_map(|declared| &declared.items);
            self.declared = items.map(|item| item.service.clone()).collect();
        }
    }

    /// Notes the services of the loaded items.
    pub(crate) fn loaded(&mut self, loaded: &Loaded, submitted: &Submitted) {
        if self.owners.is_empty() || loaded.stored.head.in_flight.is_some() {
            return;
        }
        self.used = message::used(loaded.items.values().flatten());
        let read = plan::to_read(&loaded.stored, &submitted.declaration, submitted.scope);
        let unread = loaded.stored.applications.iter().filter(|stored| !read.contains(&stored.id));
        let unread: BTreeSet<&str> = unread.map(|stored| stored.name.as_str()).collect();
        let declared = submitted.declaration.applications.iter();
        let unchanged = declared.filter(|declared| unread.contains(declared.name.as_str()));
        self.unchanged =
            unchanged.flat_map(|declared| &declared.items).map(|item| item.service.clone()).collect();
    }

    /// Adds the messages to the reply, whether the declaration was accepted or rejected.
    pub(crate) async fn add_messages(
        self,
        table: &Table,
        call: &Call,
        mut outcome: Result<Reply, Failure>,
    ) -> Result<Reply, Failure> {
        if self.owners.is_empty() {
            return outcome;
        }
        let (reply, is_taken) = match &mut outcome {
            Ok(reply) => (reply, true),
            Err(Failure::Refused(reply)) => (&mut **reply, false),
            Err(Failure::Broken(_)) => return outcome,
        };
        if reply.has("messages") {
            match self.visible(table, call, is_taken).await {
                Ok(messages) if messages.is_empty() => {}
                Ok(messages) => reply.insert("messages", messages.into())?,
                // The outcome is decided, so a failed read of messages must not replace it.
                Err(error) => log("messages", &error.to_string()),
            }
        }
        outcome
    }

    async fn visible(self, table: &Table, call: &Call, is_taken: bool) -> Result<Vec<Value>, Error> {
        let mut used = self.used;
        // A rejected declaration does not count. A caller could name a private service in it to read the messages
        // (ADR 26).
        used.extend(table.owned_services(if is_taken { &self.declared } else { &self.unchanged }).await?);
        used.retain(|_, owner| self.owners.contains(owner));
        if used.is_empty() {
            return Ok(Vec::new());
        }
        let owners: BTreeSet<TeamId> = used.values().copied().collect();
        let all = table.messages_of(owners.into_iter()).await?;
        let visible = message::visible(&all, &used, call.now).into_iter().take(MESSAGES_MAX);
        let viewpoint = Viewpoint::of(call);
        Ok(visible.map(|(owner, message)| view::message(owner, &message, call.now, &viewpoint)).collect())
    }
}
