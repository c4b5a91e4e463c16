//! Messages of owners in the reply: those for whom the services concern that the submission tells of (R41).
//!
//! Where nobody has messages nothing is read for it; otherwise one batch, once the reply is made. A message never decides
//! what becomes of a submission.

use crate::load::{Loaded, LoadedTeam};
use crate::submitted::Submitted;
use domain::id::TeamId;
use domain::message::{self, Used};
use domain::plan;
use dovetail_aws::log;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Content, Failure, Reply};
use dovetail_table::{Error, Table};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many messages one reply shows, the newest; the list has all of them.
const SHOWN_MAX: usize = 50;

/// The services that a submission tells of, as far as their owners may have messages.
#[derive(Default)]
pub(crate) struct Concerned {
    /// The teams that have messages.
    owners: Arc<BTreeSet<TeamId>>,
    /// The services of active items that were read.
    used: Used,
    /// The services of items that are declared as they are stored: those are active and were not read.
    unchanged: BTreeSet<String>,
    /// The services of all that is declared: they count once it is taken.
    declared: BTreeSet<String>,
}

impl Concerned {
    /// Notes who has messages, and what is declared.
    pub(crate) fn declared(&mut self, team: &LoadedTeam, submitted: &Submitted) {
        self.owners = Arc::clone(&team.message_owners);
        if !self.owners.is_empty() {
            let items = submitted.declaration.applications.iter().flat_map(|declared| &declared.items);
            self.declared = items.map(|item| item.service.clone()).collect();
        }
    }

    /// Notes what was read.
    pub(crate) fn loaded(&mut self, loaded: &Loaded, submitted: &Submitted) {
        if self.owners.is_empty() || loaded.stored.head.in_flight.is_some() {
            return;
        }
        self.used = message::used(loaded.items.values().flatten());
        let read = plan::to_read(&loaded.stored, &submitted.declaration, submitted.scope);
        let unread = loaded.stored.applications.iter().filter(|known| !read.contains(&known.id));
        let unread: BTreeSet<&str> = unread.map(|known| known.name.as_str()).collect();
        let declared = submitted.declaration.applications.iter();
        let unchanged = declared.filter(|declared| unread.contains(declared.name.as_str()));
        self.unchanged =
            unchanged.flat_map(|declared| &declared.items).map(|item| item.service.clone()).collect();
    }

    /// The reply with the messages in it, whether the declaration was taken or refused.
    pub(crate) async fn told(
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
        if let Content::Json(Value::Object(body)) = &mut reply.body
            && let Some(place) = body.get_mut("messages")
        {
            match self.shown(table, call, is_taken).await {
                Ok(messages) => *place = messages.into(),
                // What has become of the submission is told all the same.
                Err(error) => log("messages", &error.to_string()),
            }
        }
        outcome
    }

    async fn shown(self, table: &Table, call: &Call, is_taken: bool) -> Result<Vec<Value>, Error> {
        let mut used = self.used;
        used.extend(table.owned_services(if is_taken { &self.declared } else { &self.unchanged }).await?);
        used.retain(|_, owner| self.owners.contains(owner));
        if used.is_empty() {
            return Ok(Vec::new());
        }
        let owners: BTreeSet<TeamId> = used.values().copied().collect();
        let all = table.messages_of(owners.into_iter()).await?;
        let shown = message::shown(&all, &used, call.now).into_iter().take(SHOWN_MAX);
        let viewpoint = Viewpoint::of(call);
        Ok(shown.map(|(owner, message)| view::message(owner, &message, call.now, &viewpoint)).collect())
    }
}
