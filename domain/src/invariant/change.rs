//! Change instances: their histories, and what they point to.

use super::{Audit, Subject};
use crate::change::{Chain, Change};
use crate::state::TRANSITIONS;
use crate::timestamp::Timestamp;

impl Audit<'_> {
    /// All that concerns a change instance, but for its place on its item.
    pub(super) fn change(&mut self, change: &Change) {
        self.history(change);
        self.identity(change);
        self.change_size(change);
    }

    /// I3: the history is a chain of legal moves that ends in the state.
    fn history(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let (mut chain, mut state, mut at) = (Chain::START, None, Timestamp::from_micros(0));
        for entry in &change.history {
            let is_move = TRANSITIONS.iter().any(|t| t.from == entry.from && t.to == entry.to);
            let is_note = entry.from == Some(entry.to) && entry.log.is_some();
            self.require(is_move || is_note, "I3", subject(), "an entry is no legal move");
            self.require(entry.from == state, "I3", subject(), "an entry does not follow the one before");
            self.require(entry.at >= at, "I3", subject(), "time runs backwards");
            self.require(entry.link(chain) == entry.chain, "I3", subject(), "the hash chain is broken");
            (chain, state, at) = (entry.chain, Some(entry.to), entry.at);
        }
        self.require(state == Some(change.state), "I3", subject(), "the history ends in another state");
    }

    /// I5 and I16: keys, ids and names agree along every pointer.
    fn identity(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let Some(item) = self.snapshot.items.get(&change.item) else {
            self.require(false, "I16", subject(), "its item does not exist");
            return;
        };
        let same = item.name == change.item_name
            && item.service == change.service
            && item.service_owner == change.service_owner
            && item.consumer == change.consumer
            && item.application == change.application;
        self.require(same, "I16", subject(), "names or teams differ from its item's");
        let ids = [change.id.team(), change.item.team(), change.submission.team(), change.consumer.id];
        self.require(ids.iter().all(|id| *id == item.consumer.id), "I5", subject(), "ids of several teams");
        for version in change.new.iter().chain(&change.old) {
            let stored = self.snapshot.declarations.contains_key(&(item.consumer.id, version.hash));
            self.require(stored, "I19", subject(), format!("declaration {} is not stored", version.hash));
        }
    }
}
