//! I3: histories of change instances.

use super::{Audit, Subject};
use crate::base::actor::Actor;
use crate::base::state::{By, ChangeType, Kind, State, TRANSITIONS, is_legal};
use crate::base::timestamp::Timestamp;
use crate::model::change::{Chain, Change, ClosedBy, Entry};

impl Audit<'_> {
    /// Checks that a history is a chain of legal transitions by permitted actors, and ends in the present state.
    pub(super) fn history(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let (mut chain, mut at) = (Chain::START, Timestamp::from_micros(0));
        let mut before: Option<&Entry> = None;
        for entry in &change.history {
            let state = before.map(|before| before.to);
            let is_move = TRANSITIONS.iter().any(|t| t.from == entry.from && t.to == entry.to);
            let has_text = entry.log.is_some() || entry.planned.is_some();
            let is_note = entry.from == Some(entry.to) && has_text;
            self.require(is_move || is_note, "I3", subject(), "an entry is not a legal transition");
            self.require(entry.from == state, "I3", subject(), "an entry does not continue the previous one");
            self.require(entry.at >= at, "I3", subject(), "an entry is older than the previous one");
            self.require(entry.link(chain) == entry.chain, "I3", subject(), "the hash chain is broken");
            self.require(may_act(change, entry), "I3", subject(), "the actor of an entry has no right to it");
            let becomes = before.is_none_or(|before| may_become(change, before.change_type, entry));
            self.require(becomes, "I3", subject(), "the type changes without an approval");
            (chain, at, before) = (entry.chain, entry.at, Some(entry));
        }
        let end = before.map(|last| (last.to, last.change_type));
        let ends = end == Some((change.state, change.change_type));
        self.require(ends, "I3", subject(), "the history ends in another state or type");
    }
}

/// Returns whether the actor had the permission: owners decide and retry, and the stack rules close.
///
/// The consumer creates direct change instances, the system creates shares and referenced ones.
fn may_act(change: &Change, entry: &Entry) -> bool {
    let is_by = |id| entry.by.team().is_some_and(|team| team.id == id);
    let by_owner = is_by(change.owner.id);
    let is_legal = |by| is_legal(entry.from, entry.to, by);
    match (entry.from, entry.closed_by) {
        (None, closed_by) => {
            let created_closed = matches!(closed_by, Some(ClosedBy::Overtaken | ClosedBy::Blocked));
            let by = match change.kind {
                Kind::Direct => is_by(change.consumer.id),
                Kind::Retry | Kind::Replacement => by_owner,
                Kind::Dependent | Kind::Referenced => entry.by == Actor::System,
            };
            by && is_legal(By::Creation) && created_closed == (entry.to == State::Closed)
        }
        (Some(_), Some(ClosedBy::Displaced(_) | ClosedBy::Answered(_))) => {
            entry.by == Actor::System && is_legal(By::StackRules)
        }
        (Some(from), Some(ClosedBy::Retried(_))) => by_owner && from.is_blocked() && is_legal(By::Owner),
        // OVERTAKEN and BLOCKED close a change instance at its creation only.
        (Some(_), Some(ClosedBy::Overtaken | ClosedBy::Blocked)) => false,
        (Some(from), None) => by_owner && (entry.to == from || is_legal(By::Owner)),
    }
}

/// Returns whether the next entry may have its type: at the approval, the Exception turns a MODIFY into a CREATE, and a
/// first half may become one as well.
fn may_become(change: &Change, before: ChangeType, entry: &Entry) -> bool {
    let is_approval = (entry.from, entry.to) == (Some(State::Pending), State::Approved);
    let was_open = before == ChangeType::Modify || before == ChangeType::Delete && change.new.is_some();
    before == entry.change_type || (is_approval && was_open && entry.change_type == ChangeType::Create)
}
