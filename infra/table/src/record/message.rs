//! What a team tells the consumers of its services: all of its messages in one record.

use super::Record;
use super::parts::{Bad, ServicePart, TeamPart, at};
use crate::key::{self, Key};
use domain::id::MessageId;
use domain::message::{Content, Message, Messages};
use domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct MessagesRecord {
    so: TeamPart,
    all: Vec<MessagePart>,
    /// The number that the next one gets.
    nx: u64,
    rv: u64,
    op: String,
}

#[derive(Serialize, Deserialize)]
struct MessagePart {
    id: u64,
    ds: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ex: Option<u64>,
    /// The services that it is for; none are all of the team's.
    sv: Vec<ServicePart>,
    cr: u64,
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

    /// A team is found by its messages while it has any.
    fn indexes(messages: &Messages) -> Vec<(u8, String, String)> {
        let owner = format!("{:06}", messages.owner.id.get());
        if messages.all.is_empty() { Vec::new() } else { vec![(3, key::ALL_MESSAGES.to_owned(), owner)] }
    }
}
