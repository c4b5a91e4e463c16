//! I35: what has answered a rejection or an error.

use super::{Audit, Subject};
use crate::change::{Change, Kind};
use crate::id::ChangeId;

impl Audit<'_> {
    /// I35: the change instance that has answered another one exists on the same item, or is owed by the submission in
    /// flight: closings may come ahead of what they are for.
    pub(super) fn answer(&mut self, change: &Change) {
        let Some(by) = change.answered_by() else { return };
        let answer = self.snapshot.changes.get(&by);
        let exists = answer.is_some_and(|answer| answer.item == change.item && answer.kind == Kind::Direct);
        let detail = format!("change instance {by} has answered it, and is neither on its item nor owed");
        self.require(exists || self.is_owed(by, change), "I35", Subject::Change(change.id), detail);
    }

    /// Whether the submission in flight owes this change instance to the item of `change`.
    fn is_owed(&self, id: ChangeId, change: &Change) -> bool {
        let head = self.snapshot.heads.get(&change.id.team());
        let Some(in_flight) = head.and_then(|head| head.in_flight) else { return false };
        let works = self.snapshot.works.iter().filter(|work| work.id.submission == in_flight);
        let mut owed = works.filter(|work| self.is_claimed(work)).flat_map(|work| &work.entries);
        owed.any(|owed| (owed.id, owed.item, owed.kind) == (id, change.item, Kind::Direct))
    }
}
