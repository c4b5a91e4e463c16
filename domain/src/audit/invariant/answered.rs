//! I35: the answers to rejections and errors.

use super::{Audit, Subject};
use crate::base::id::ChangeId;
use crate::base::state::Kind;
use crate::model::change::Change;

impl Audit<'_> {
    /// I35: an answering change instance exists on the item or on its successor, or the submission in flight has planned
    /// it.
    ///
    /// A closed excess ends change instances before the one that answers them exists (ADR 28).
    pub(super) fn answer(&mut self, change: &Change) {
        let Some(by) = change.answered_by() else { return };
        let answer = self.snapshot.changes.get(&by);
        // The answer of a closing ahead may be on the new item in its place (R44), also under another name (R75).
        let has_gone = || self.snapshot.items.get(&change.item).is_some_and(|item| item.gone);
        let is_on_item = |answer: &Change| {
            let is_first = answer.new.is_some_and(|version| version.number == 1);
            (answer.application_id(), &answer.service) == (change.application_id(), &change.service)
                && (answer.item == change.item || is_first && has_gone())
        };
        let exists = answer.is_some_and(|answer| is_on_item(answer) && answer.kind == Kind::Direct);
        let detail = format!("its answer, change instance {by}, is neither on its item nor pending");
        self.require(exists || self.is_planned(by, change), "I35", Subject::Change(change.id), detail);
    }

    /// Returns whether the submission in flight has planned this change instance for the item of `change`.
    fn is_planned(&self, id: ChangeId, change: &Change) -> bool {
        let head = self.snapshot.heads.get(&change.id.team());
        let Some(in_flight) = head.and_then(|head| head.in_flight) else { return false };
        let works = self.snapshot.works.iter().filter(|work| work.id.submission == in_flight);
        let mut planned = works.filter(|work| self.is_claimed(work)).flat_map(|work| &work.entries);
        planned.any(|planned| (planned.id, planned.item, planned.kind) == (id, change.item, Kind::Direct))
    }
}
