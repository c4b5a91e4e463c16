//! Messages of service owners to their consumers: one record per team.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{ServicePart, TeamPart, at};
use crate::key::{self, Key};
use domain::Timestamp;
use domain::base::id::MessageId;
use domain::outreach::message::{Content, Message, Messages};
use serde::{Deserialize, Serialize};

/// All messages of a service owner.
#[derive(Serialize, Deserialize)]
pub(crate) struct MessagesRecord {
    /// Service owner.
    so: TeamPart,
    /// Messages, oldest first.
    all: Vec<MessagePart>,
    /// Number of the next message.
    nx: u64,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
    /// Id of the last request that changed it.
    op: String,
}

/// One message.
#[derive(Serialize, Deserialize)]
struct MessagePart {
    /// Id of the message.
    id: u64,
    /// Text.
    ds: String,
    /// Time of expiry. Absent if it does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    ex: Option<u64>,
    /// Services whose consumers see it. Empty for all services of the owner.
    sv: Vec<ServicePart>,
    /// Time of creation.
    cr: u64,
    /// Time of the last change.
    mo: u64,
}

impl MessagePart {
    fn of(message: &Message) -> Self {
        let content = &message.content;
        Self {
            id: message.id.get(),
            ds: content.description.clone(),
            ex: content.expires.map(Timestamp::micros),
            sv: content.services.iter().map(ServicePart::of).collect(),
            cr: message.created.micros(),
            mo: message.modified.micros(),
        }
    }

    fn value(self) -> Result<Message, Bad> {
        let services = self.sv.into_iter().map(ServicePart::value).collect::<Result<_, _>>()?;
        Ok(Message {
            id: MessageId::parse(self.id).ok_or(Bad("message"))?,
            content: Content { description: self.ds, expires: self.ex.map(at), services },
            created: at(self.cr),
            modified: at(self.mo),
        })
    }
}

impl Record for MessagesRecord {
    const TYPE: &'static str = "MESSAGES";
    type Value = Messages;

    fn of(messages: &Messages) -> Self {
        Self {
            so: TeamPart::of(&messages.owner),
            all: messages.all.iter().map(MessagePart::of).collect(),
            nx: messages.next,
            rv: messages.revision,
            op: messages.request.clone(),
        }
    }

    fn value(self) -> Result<Messages, Bad> {
        Ok(Messages {
            owner: self.so.value()?,
            all: self.all.into_iter().map(MessagePart::value).collect::<Result<_, _>>()?,
            next: self.nx,
            revision: self.rv,
            request: self.op,
        })
    }

    fn key(messages: &Messages) -> Key {
        key::messages(messages.owner.id)
    }

    /// Returns the index entry of a team with messages. A team without messages has none.
    fn indexes(messages: &Messages) -> Vec<(u8, String, String)> {
        let owner = format!("{:06}", messages.owner.id.get());
        if messages.all.is_empty() { Vec::new() } else { vec![(3, key::ALL_MESSAGES.to_owned(), owner)] }
    }
}
