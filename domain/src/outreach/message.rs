//! Messages: texts of a service owner for the consumers of its services, until they expire (R41).

use crate::base::context::RequestContext;
use crate::base::id::{MessageId, ServiceId, TeamId};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::state::RuntimeState;
use crate::base::timestamp::Timestamp;
use crate::model::item::Item;
use std::collections::BTreeMap;

/// Maximum number of messages of a team, including expired ones.
pub const MESSAGES_MAX: usize = 20;
/// Maximum length of a message, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 1_024;
/// Maximum number of named services in a message.
pub const SERVICES_MAX: usize = 20;

/// The content, audience and expiry of a message.
///
/// The text is for its audience only, so no log prints it.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Content {{ expires: {expires:?}, .. }}")]
pub struct Content {
    pub description: String,
    /// The first moment without the message; none for a message without expiry.
    pub expires: Option<Timestamp>,
    /// The services of the audience; empty for all services of the owner.
    pub services: Vec<ServiceRef>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub content: Content,
    pub created: Timestamp,
    pub modified: Timestamp,
}

/// The services of a consumer's active items, with their owners.
pub type Used = BTreeMap<ServiceId, TeamId>;

/// Returns the services of the active items: those that are not decommissioned.
pub fn used<'a>(items: impl IntoIterator<Item = &'a Item>) -> Used {
    let active = items.into_iter().filter(|item| item.runtime_state != RuntimeState::Decommissioned);
    active.map(|item| (item.service.id, item.service_owner.id)).collect()
}

impl Message {
    /// Returns whether the message has expired at `now`.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.content.expires.is_some_and(|expires| expires <= now)
    }

    /// Returns the message for a consumer of these services; none if the message is not for the consumer.
    ///
    /// The returned message names only services that the consumer uses, because other services may be private.
    pub fn visible_to(&self, used: &Used) -> Option<Self> {
        if self.content.services.is_empty() {
            return used.values().any(|owner| *owner == self.id.team()).then(|| self.clone());
        }
        let mut visible = self.clone();
        visible.content.services.retain(|service| used.contains_key(&service.id));
        (!visible.content.services.is_empty()).then_some(visible)
    }
}

/// All messages of a team in one record. Each write of the record limits their number, and one read gets all of them
/// (ADR 26).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    pub owner: TeamRef,
    /// The messages, oldest first.
    pub all: Vec<Message>,
    /// The number of the next message.
    pub next: u64,
    /// The number of writes of the record: the fence of every change.
    pub revision: u64,
    /// The id of the last writing request; a retry finds its own write by it.
    pub request: String,
}

/// The reason why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The team has [`MESSAGES_MAX`] messages.
    TooMany,
    /// The team has no numbers left.
    OutOfNumbers,
}

impl Messages {
    /// Returns the record of a team without messages.
    pub const fn none(owner: TeamRef) -> Self {
        Self { owner, all: Vec::new(), next: 1, revision: 0, request: String::new() }
    }

    /// Returns the message with this id.
    pub fn find(&self, id: MessageId) -> Option<&Message> {
        self.all.iter().find(|message| message.id == id)
    }

    /// Returns the record with another message at the end.
    pub fn with(&self, content: Content, ctx: &RequestContext) -> Result<Self, Refused> {
        // All messages are in one record, so their number bounds its size. Expired ones are stored, so they count.
        if self.all.len() >= MESSAGES_MAX {
            return Err(Refused::TooMany);
        }
        let id = MessageId::new(self.owner.id, self.next).ok_or(Refused::OutOfNumbers)?;
        let mut after = self.next_revision(ctx);
        after.next = self.next.saturating_add(1);
        after.all.push(Message { id, content, created: ctx.now, modified: ctx.now });
        Ok(after)
    }

    /// Returns the record with other content of a message; none if the content is the same.
    pub fn changed(&self, id: MessageId, content: Content, ctx: &RequestContext) -> Option<Self> {
        let mut after = self.next_revision(ctx);
        let message = after.all.iter_mut().find(|message| message.id == id && message.content != content)?;
        // The clocks of two functions may differ, but times in a record never go back.
        message.modified = ctx.now.not_before(message.modified);
        message.content = content;
        Some(after)
    }

    /// Returns the record without a message.
    pub fn without(&self, id: MessageId, ctx: &RequestContext) -> Self {
        let mut after = self.next_revision(ctx);
        after.all.retain(|message| message.id != id);
        after
    }

    fn next_revision(&self, ctx: &RequestContext) -> Self {
        let revision = self.revision.saturating_add(1);
        Self { revision, request: ctx.request.clone(), ..self.clone() }
    }
}

/// Returns the messages of several teams for a consumer of these services, newest first.
pub fn visible<'a>(all: &'a [Messages], used: &Used, now: Timestamp) -> Vec<(&'a TeamRef, Message)> {
    let mut visible: Vec<(&TeamRef, Message)> = Vec::new();
    for messages in all {
        let live = messages.all.iter().filter(|message| !message.has_expired(now));
        let for_them = live.filter_map(|message| message.visible_to(used));
        visible.extend(for_them.map(|message| (&messages.owner, message)));
    }
    visible.sort_by_key(|(_, message)| std::cmp::Reverse((message.created, message.id)));
    visible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::actor::Actor;

    const fn at(micros: u64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn ctx(now: u64) -> RequestContext {
        RequestContext { by: Actor::System, request: format!("r{now}"), now: at(now) }
    }

    fn owner(number: u64) -> TeamRef {
        TeamRef { id: TeamId::new(number).unwrap(), name: format!("Owner{number}") }
    }

    fn service(number: u64) -> ServiceRef {
        ServiceRef { id: ServiceId::new(number).unwrap(), title: format!("S{number}") }
    }

    fn content(text: &str, services: &[u64], expires: Option<u64>) -> Content {
        let services = services.iter().copied().map(service).collect();
        Content { description: text.to_owned(), expires: expires.map(at), services }
    }

    /// Returns the services with the numbers of their owners.
    fn used(services: &[(u64, u64)]) -> Used {
        services.iter().map(|(one, by)| (service(*one).id, owner(*by).id)).collect()
    }

    #[test]
    fn as_many_are_written_as_may_be_and_no_number_twice() {
        let mut all = Messages::none(owner(1));
        for number in 1..=20 {
            all = all.with(content("x", &[], None), &ctx(number)).unwrap();
        }
        assert_eq!(all.with(content("x", &[], None), &ctx(21)), Err(Refused::TooMany));
        let last = all.all.last().unwrap().id;
        let fewer = all.without(last, &ctx(22));
        assert_eq!((fewer.all.len(), fewer.revision, fewer.request.as_str()), (19, 21, "r22"));
        let more = fewer.with(content("y", &[], None), &ctx(23)).unwrap();
        assert_eq!(more.all.last().unwrap().id.number(), 21, "a number is not given again");
        let full = Messages { next: 1 << 35, ..Messages::none(owner(1)) };
        assert_eq!(full.with(content("x", &[], None), &ctx(1)), Err(Refused::OutOfNumbers));
    }

    #[test]
    fn what_is_as_it_was_is_not_changed_and_the_clock_does_not_go_back() {
        let all = Messages::none(owner(1)).with(content("x", &[1], None), &ctx(5)).unwrap();
        let id = all.all[0].id;
        assert_eq!(all.changed(id, content("x", &[1], None), &ctx(6)), None);
        let missing = MessageId::new(owner(1).id, 9).unwrap();
        assert_eq!(all.changed(missing, content("y", &[1], None), &ctx(6)), None);
        let changed = all.changed(id, content("y", &[], Some(9)), &ctx(3)).unwrap();
        let message = changed.find(id).unwrap();
        assert_eq!((message.created, message.modified), (at(5), at(5)));
        assert_eq!((message.content.clone(), changed.next), (content("y", &[], Some(9)), 2));
    }

    #[test]
    fn a_message_is_for_those_who_use_its_services_until_it_expires() {
        let board = Messages::none(owner(1))
            .with(content("all", &[], None), &ctx(1))
            .and_then(|all| all.with(content("one", &[1, 2], Some(10)), &ctx(2)))
            .unwrap();
        let other = Messages::none(owner(2)).with(content("other", &[3], None), &ctx(3)).unwrap();
        let all = [board, other];
        let visible_messages = |services: &[(u64, u64)], now| -> Vec<(String, Vec<u64>)> {
            let visible = visible(&all, &used(services), at(now)).into_iter();
            let summary = |(_, Message { content, .. }): (_, Message)| {
                let services = content.services.iter().map(|service| service.id.get()).collect();
                (content.description, services)
            };
            visible.map(summary).collect()
        };
        let of = |text: &str, services: &[u64]| (text.to_owned(), services.to_vec());
        for (services, now, expected) in [
            (&[][..], 5, vec![]),
            // The message names only the services that the consumer uses.
            (&[(1, 1)], 5, vec![of("one", &[1]), of("all", &[])]),
            (&[(1, 1), (2, 1)], 9, vec![of("one", &[1, 2]), of("all", &[])]),
            (&[(1, 1)], 10, vec![of("all", &[])]),
            (&[(4, 1)], 5, vec![of("all", &[])]),
            (&[(4, 2)], 5, vec![]),
            (&[(3, 2), (1, 1)], 5, vec![of("other", &[3]), of("one", &[1]), of("all", &[])]),
        ] {
            assert_eq!(visible_messages(services, now), expected, "{services:?} at {now}");
        }
    }

    #[test]
    fn a_text_is_not_in_a_log() {
        let all = Messages::none(owner(1)).with(content("for their eyes", &[], None), &ctx(1)).unwrap();
        assert!(!format!("{all:?}").contains("eyes"));
    }
}
