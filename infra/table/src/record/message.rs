//! Messages of service owners to their consumers: one record per team.

use super::codec::Record;
use super::conversion::mirrors;
use super::parts::{ServicePart, TeamPart};
use crate::key::{self, Key};
use domain::outreach::message::{Content, Message, Messages};
use serde::{Deserialize, Serialize};

/// All messages of a service owner.
#[derive(Serialize, Deserialize)]
pub(crate) struct MessagesRecord {
    /// Service owner.
    #[serde(rename = "so")]
    owner: TeamPart,
    /// Messages, oldest first.
    all: Vec<MessagePart>,
    /// Number of the next message.
    #[serde(rename = "nx")]
    next: u64,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
    /// Id of the last request that changed it.
    #[serde(rename = "op")]
    request: String,
}

mirrors! { MessagesRecord = Messages { owner, all, next, revision, request } }

/// One message.
#[derive(Serialize, Deserialize)]
struct MessagePart {
    /// Id of the message.
    id: u64,
    /// Text.
    #[serde(rename = "ds")]
    description: String,
    /// Time of expiry. Absent if it does not expire.
    #[serde(rename = "ex", skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    /// Services whose consumers see the message. Empty for all services of the owner.
    #[serde(rename = "sv")]
    services: Vec<ServicePart>,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
    /// Time of the last change.
    #[serde(rename = "mo")]
    modified: u64,
}

mirrors! {
    MessagePart = Message { id, created, modified, ..content: Content { description, expires, services } }
}

impl Record for MessagesRecord {
    const TYPE: &'static str = "MESSAGES";
    type Value = Messages;

    fn key(messages: &Messages) -> Key {
        key::messages(messages.owner.id)
    }

    /// Returns the index entry of a team with messages. A team without messages has none.
    fn indexes(messages: &Messages) -> Vec<(u8, String, String)> {
        let owner = format!("{:06}", messages.owner.id.get());
        if messages.all.is_empty() { Vec::new() } else { vec![(3, key::ALL_MESSAGES.to_owned(), owner)] }
    }
}
