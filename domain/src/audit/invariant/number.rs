//! I5: no number is allotted twice, because each counter is above the numbers in use.

use super::retired::newest_of_number;
use super::{Audit, Subject};
use crate::base::id::{ApplicationId, CHANGE_STRIDE, ChangeId, ItemId, TeamId};
use crate::model::deployed::Deployed;
use crate::model::team::Head;
use crate::model::work::Work;

impl Audit<'_> {
    /// Checks the counters of all heads and applications.
    pub(super) fn numbers(&mut self) {
        let snapshot = self.snapshot;
        snapshot.heads.values().for_each(|head| self.stride_of_head(head));
        snapshot.changes.keys().for_each(|id| self.number_of_change(*id));
        snapshot.deployed.iter().for_each(|deployed| self.number_of_deployed(deployed));
        // A charge after a division has a computed number, not one of the counter.
        snapshot.charges.keys().filter(|id| !id.is_continued()).for_each(|id| {
            let allotted = self.is_below_head(id.team(), id.number());
            self.require(allotted, "I5", Subject::Charge(*id), "its number is not below the counter");
        });
        snapshot.applications.keys().for_each(|id| self.number_of_application(*id));
        snapshot.items.keys().for_each(|id| {
            let allotted = self.is_allotted_item(*id);
            self.require(allotted, "I5", Subject::Item(*id), "its number is not below the counter");
        });
        snapshot.works.iter().for_each(|work| self.numbers_of_work(work));
    }

    fn stride_of_head(&mut self, head: &Head) {
        let detail = "its next change instance number does not start a block";
        self.require(is_block(head.next_change), "I5", Subject::Head(head.team), detail);
    }

    fn number_of_change(&mut self, id: ChangeId) {
        let allotted = is_block(id.number()) && self.is_below_head(id.team(), id.number());
        self.require(allotted, "I5", Subject::Change(id), "its number is not below the counter");
    }

    /// Checks that a deployed item has a number within a block; the first one of a block is for a change instance.
    fn number_of_deployed(&mut self, deployed: &Deployed) {
        let id = deployed.id;
        let allotted = !is_block(id.number()) && self.is_below_head(id.team(), id.number());
        self.require(allotted, "I5", Subject::Deployed(id), "its number is not below the counter");
    }

    fn number_of_application(&mut self, id: ApplicationId) {
        let head = self.snapshot.heads.get(&id.team());
        let allotted = head.is_none_or(|head| id.number() < head.next_application);
        self.require(allotted, "I5", Subject::Application(id), "its number is not below the counter");
    }

    /// Checks the numbers in committed work; staged work may never become valid.
    fn numbers_of_work(&mut self, work: &Work) {
        if !self.is_claimed(work) {
            return;
        }
        let is_allotted = |id: ChangeId| is_block(id.number()) && self.is_below_head(id.team(), id.number());
        let allotted = work.entries.iter().all(|planned| {
            let spare = planned.spare.as_ref().map(|spare| spare.item);
            is_allotted(planned.id)
                && [planned.item].into_iter().chain(spare).all(|item| self.is_allotted_item(item))
        });
        self.require(allotted, "I5", Subject::Work(work.id), "its numbers are not below the counters");
    }

    fn is_below_head(&self, team: TeamId, number: u64) -> bool {
        // A missing head is a violation of I16 already, so it is not reported twice.
        self.snapshot.heads.get(&team).is_none_or(|head| number < head.next_change)
    }

    fn is_allotted_item(&self, id: ItemId) -> bool {
        let application = newest_of_number(self.snapshot, id);
        application.is_none_or(|application| id.number() < application.next_item)
    }
}

/// Returns whether a block begins with this number.
const fn is_block(number: u64) -> bool {
    number.is_multiple_of(CHANGE_STRIDE)
}
