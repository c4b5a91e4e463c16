//! I34: the applications that had the same number one after the other (R45).

use super::{Audit, Snapshot, Subject};
use crate::base::id::{ApplicationId, ItemId};
use crate::model::digest;
use crate::model::metadata::NO_METADATA;
use crate::model::team::Application;

impl Audit<'_> {
    /// I34: generations and item numbers have no gaps and no overlaps, and a retired application is empty.
    pub(super) fn generations(&mut self) {
        let snapshot = self.snapshot;
        let all: Vec<&Application> = snapshot.applications.values().collect();
        let of_one_number =
            |a: &&Application, b: &&Application| (a.id.team(), a.id.number()) == (b.id.team(), b.id.number());
        for of_number in all.chunk_by(of_one_number) {
            self.of_number(of_number);
        }
    }

    /// Checks the applications with one number, oldest first.
    fn of_number(&mut self, applications: &[&Application]) {
        let mut before: Option<&Application> = None;
        for application in applications {
            let (generation, items) = before
                .map_or((0, 0), |before| (before.id.generation() + 1, before.next_item.saturating_sub(1)));
            let follows = application.id.generation() == generation && application.items_before == items;
            let detail = "its generation or its first item does not follow the application before it";
            self.require(follows, "I34", Subject::Application(application.id), detail);
            let end = before.and_then(|before| before.retired);
            let is_later = end.is_none_or(|end| end <= application.since.submission);
            let detail = "it is older than the end of the application before it";
            self.require(is_later, "I34", Subject::Application(application.id), detail);
            before = Some(application);
        }
        let Some((newest, older)) = applications.split_last() else { return };
        let detail = "the newest application of its number has retired";
        self.require(newest.retired.is_none(), "I34", Subject::Application(newest.id), detail);
        for application in older {
            self.retired(application);
        }
        for application in applications {
            self.numbers_of_items(application);
        }
    }

    /// Checks an application whose number another one has.
    fn retired(&mut self, application: &Application) {
        let subject = || Subject::Application(application.id);
        let newest = self.snapshot.heads.get(&application.id.team()).map_or(0, |head| head.submissions);
        let by = application.retired;
        let is_sound = by.is_some_and(|by| application.changed < by && by <= newest);
        self.require(
            is_sound,
            "I34",
            subject(),
            "its number has another application, but it has not retired",
        );
        let is_empty = application.digest == digest::application(NO_METADATA, []);
        self.require(is_empty, "I34", subject(), "it has retired, but declares something");
        let mut items = self.items_of_application.get(&application.id).into_iter().flatten();
        let are_gone = items.all(|item| item.is_dead());
        self.require(are_gone, "I34", subject(), "it has retired, but has a live item");
    }

    fn numbers_of_items(&mut self, application: &Application) {
        let items = self.items_of_application.get(&application.id).cloned().unwrap_or_default();
        for item in items {
            let detail = "its number belongs to another application";
            // A number above the counter breaks I5.
            let is_own = application.has_number(item.id)
                || item.id.number() >= application.next_item && application.retired.is_none();
            self.require(is_own, "I34", Subject::Item(item.id), detail);
        }
    }
}

/// Returns the newest application with the number in the id of an item.
pub(super) fn newest_of_number(snapshot: &Snapshot, item: ItemId) -> Option<&Application> {
    let first = item.application(0);
    let of_number = |id: &ApplicationId| (id.team(), id.number()) == (first.team(), first.number());
    snapshot.applications.range(first..).take_while(|(id, _)| of_number(id)).map(|(_, one)| one).last()
}
