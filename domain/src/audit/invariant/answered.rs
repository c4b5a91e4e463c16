//! I35: the answers to rejections and errors.

use super::{Audit, Subject};
use crate::base::id::ChangeId;
use crate::base::state::Kind;
use crate::model::change::Change;

impl Audit<'_> {
    /// I35: an answering change instance exists on an item of the same name, or the submission in flight has planned it.
    ///
    /// A closed excess ends change instances before the one that answers them exists (ADR 28).
    pub(super) fn answer(&mut self, change: &Change) {
        let Some(by) = change.answered_by() else { return };
        let answer = self.snapshot.changes.get(&by);
        // The answer of a closing ahead may be on the new item of the same name (R44).
        let same_name = |answer: &Change| {
            (answer.application_id(), &answer.service, &answer.item_name)
                == (change.application_id(), &change.service, &change.item_name)
        };
        let exists = answer.is_some_and(|answer| same_name(answer) && answer.kind == Kind::Direct);
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
