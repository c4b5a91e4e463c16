//! Change instances: their origin and their references.

use super::{Audit, Subject};
use crate::base::id::CHANGE_STRIDE;
use crate::base::state::Kind;
use crate::model::change::Change;
use crate::model::item::{FORMER_NAMES_MAX, Item};
use crate::model::submission::Submission;

impl Audit<'_> {
    /// Checks a change instance, except for its slot on the item.
    pub(super) fn change(&mut self, change: &Change) {
        self.history(change);
        self.identity(change);
        self.plan(change);
        self.cause(change);
        self.causes(change);
        self.answer(change);
        self.is_charged(change);
        self.change_size(change);
    }

    /// I5 and I16: keys, ids and names agree along every reference.
    fn identity(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let Some(item) = self.snapshot.items.get(&change.item) else {
            self.require(false, "I16", subject(), "its item does not exist");
            return;
        };
        let same = has_name(item, change)
            && item.service == change.service
            && item.service_owner == change.service_owner
            && item.consumer == change.consumer
            && item.application == change.application
            && item.generation == change.generation;
        self.require(same, "I16", subject(), "names or teams differ from those of its item");
        let ids = [change.id.team(), change.item.team(), change.submission.team(), change.consumer.id];
        self.require(
            ids.iter().all(|id| *id == item.consumer.id),
            "I5",
            subject(),
            "its ids belong to several teams",
        );
        for version in change.new.iter().chain(&change.old) {
            let stored = self.snapshot.declarations.contains_key(&(item.consumer.id, version.hash));
            self.require(stored, "I19", subject(), format!("declaration {} is not stored", version.hash));
        }
        for planned in change.history.iter().filter_map(|entry| entry.planned) {
            let stored = self.snapshot.declarations.contains_key(&(item.consumer.id, planned));
            self.require(stored, "I19", subject(), format!("plan {planned} is not stored"));
        }
        let may_plan = change.schema_version.is_some() && change.result().is_some() && !change.is_dependant();
        let is_sound = may_plan || change.planned().is_none();
        self.require(is_sound, "I29", subject(), "it has a plan and must not have one");
    }

    /// I10: the submission planned the change instance, or it is a retry or a second half.
    fn plan(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let Some(submission) = self.submissions.get(&change.submission) else {
            self.require(false, "I10", subject(), "its submission does not exist");
            return;
        };
        let position = position(submission, change);
        let planned = match change.kind {
            Kind::Direct => position.is_some_and(|position| position < submission.direct),
            Kind::Dependent | Kind::Referenced => {
                position.is_some_and(|position| (submission.direct..submission.planned()).contains(&position))
            }
            Kind::Retry | Kind::Replacement => {
                position.is_none_or(|position| position >= submission.planned())
            }
        };
        self.require(
            planned,
            "I10",
            subject(),
            format!("its submission planned no {} change instance with this number", change.kind.name()),
        );
    }

    /// I10 and I16: the cause exists, on the same item and from the same submission.
    fn cause(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let cause = change.cause.and_then(|id| self.snapshot.changes.get(&id));
        let cause = cause.filter(|cause| (cause.item, cause.submission) == (change.item, change.submission));
        let follows = match change.kind {
            Kind::Direct | Kind::Referenced => change.attempt == 1 && change.cause.is_none(),
            Kind::Dependent => change.attempt == 1 && cause.is_some_and(|cause| !cause.is_dependant()),
            Kind::Retry | Kind::Replacement => cause.is_some_and(|cause| {
                cause.owner.id == change.owner.id && cause.attempt + 1 == change.attempt
            }),
        };
        let detail = format!("its attempt or cause does not match its kind {}", change.kind.name());
        self.require(follows, "I10", subject(), detail);
        let is_next = matches!(change.kind, Kind::Retry | Kind::Replacement);
        let fits = is_next || (change.kind == Kind::Dependent) == change.is_dependant();
        let detail = format!("its owner does not match its kind {}", change.kind.name());
        self.require(fits, "I16", subject(), detail);
    }

    /// I10: a referenced change instance follows direct ones of other items, of the same submission and application.
    fn causes(&mut self, change: &Change) {
        // Only some direct change instances of a submission in flight exist.
        if change.causes.is_empty() || self.is_in_flight(change.id.team()) {
            return;
        }
        let is_direct = |cause: &Change| {
            cause.kind == Kind::Direct
                && cause.item != change.item
                && (cause.submission, cause.application_id()) == (change.submission, change.application_id())
        };
        let exists = |id| self.snapshot.changes.get(id).is_some_and(is_direct);
        let follows =
            !matches!(change.kind, Kind::Direct | Kind::Dependent) && change.causes.iter().all(exists);
        let detail = "a cause is not a direct change instance of another item of its submission";
        self.require(follows, "I10", Subject::Change(change.id), detail.to_owned());
    }
}

/// Returns the position among the change instances of the submission, from 0; none for another number.
const fn position(submission: &Submission, change: &Change) -> Option<u64> {
    match change.id.number().checked_sub(submission.first_change) {
        Some(above) if above.is_multiple_of(CHANGE_STRIDE) => above.checked_div(CHANGE_STRIDE),
        Some(_) | None => None,
    }
}

/// Returns whether a change instance has the name of its item, or a former one for an earlier declaration (R75).
fn has_name(item: &Item, change: &Change) -> bool {
    // The declaration contains the name, so an item has the same one as long as its declaration stays.
    let is_of_present = change.new.or(change.old).is_some_and(|version| version.hash == item.version.hash);
    // Only the newest former names are stored.
    let is_former =
        item.former_names.contains(&change.item_name) || item.former_names.len() == FORMER_NAMES_MAX;
    item.name == change.item_name || !is_of_present && is_former
}
