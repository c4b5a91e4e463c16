//! I24: every record is within the limits of its writers.
//!
//! The table's crate checks the stored size in bytes.

use super::{Audit, Subject};
use crate::base::id::TeamId;
use crate::base::json;
use crate::base::state::State;
use crate::catalog::schema::REFERENCES_MAX;
use crate::catalog::service::{DEPENDENT_TEAMS_EVER_MAX, DEPENDENT_TEAMS_MAX, Service};
use crate::model::change::Change;
use crate::model::declaration::expansion::{KEYS_BYTES_MAX, keys_bytes, may_have_keys};
use crate::model::declaration::{DEPTH_MAX, METADATA_BYTES_MAX, NAME_BYTES_MAX};
use crate::model::deployed::{DEPLOYED_BYTES_MAX, Deployed, WHOLE_BYTES_MAX};
use crate::model::item::Item;
use crate::model::metadata::Replaced;
use crate::model::submission::{
    COMMIT_ID_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX, IdempotencyRecord, MESSAGE_CHARACTERS_MAX, Submission,
};
use crate::model::team::{Application, Team};
use crate::model::work::{ENTRIES_MAX, ITEMS_MAX, Work};
use crate::rules::decide::{ATTEMPTS_MAX, LOG_BYTES_MAX, LOG_ENTRIES_MAX};
use std::collections::BTreeSet;

impl Audit<'_> {
    fn within(&mut self, size: usize, limit: usize, subject: Subject, what: &str) {
        self.require(size <= limit, "I24", subject, format!("{what}: {size}, must be at most {limit}"));
    }

    pub(super) fn item_size(&mut self, item: &Item) {
        self.within(item.name.len(), NAME_BYTES_MAX, Subject::Item(item.id), "bytes of its name");
        self.within(item.references.len(), REFERENCES_MAX, Subject::Item(item.id), "references");
        self.within(item.uses.len(), REFERENCES_MAX, Subject::Item(item.id), "references to items elsewhere");
        let are_sorted = item.uses.is_sorted_by(|one, next| one < next);
        self.require(
            are_sorted,
            "I24",
            Subject::Item(item.id),
            "its references to items elsewhere are not sorted",
        );
    }

    pub(super) fn service_size(&mut self, service: &Service) {
        let subject = || Subject::Service(service.title.clone());
        let now = service.settings.dependent_teams.len();
        self.within(now, DEPENDENT_TEAMS_MAX, subject(), "dependent teams");
        let ever = now + service.former_dependents.len();
        self.within(ever, DEPENDENT_TEAMS_EVER_MAX, subject(), "dependent teams, former ones included");
    }

    pub(super) fn change_size(&mut self, change: &Change) {
        let subject = || Subject::Change(change.id);
        let notes = change.history.iter().filter(|entry| entry.from == Some(entry.to)).count();
        self.within(notes, LOG_ENTRIES_MAX, subject(), "log entries");
        // No state occurs twice in a history.
        self.within(change.history.len() - notes, State::ALL.len(), subject(), "transitions");
        let log = change.history.iter().filter_map(|entry| entry.log.as_ref()).map(String::len).max();
        self.within(log.unwrap_or_default(), LOG_BYTES_MAX, subject(), "bytes of a log text");
        let detail = format!("attempts: {}, must be at most {}", change.attempt, ATTEMPTS_MAX);
        self.require(change.attempt <= ATTEMPTS_MAX, "I24", subject(), detail);
    }

    pub(super) fn deployed_size(&mut self, deployed: &Deployed) {
        let size = deployed.data.len();
        // A version that a definition has checked may be a whole item.
        let max = if deployed.schema_version.is_some() { WHOLE_BYTES_MAX } else { DEPLOYED_BYTES_MAX };
        self.within(size, max, Subject::Deployed(deployed.id), "bytes of its data");
        let is_storable = json::sound::is_sound(&deployed.data, DEPTH_MAX);
        let detail =
            format!("its data: must be JSON with at most {DEPTH_MAX} levels and with numbers up to 2^53 - 1");
        self.require(is_storable, "I24", Subject::Deployed(deployed.id), detail);
    }

    pub(super) fn team_size(&mut self, team: &Team) {
        self.metadata_size(&team.metadata, &Subject::Team(team.id), "metadata");
    }

    pub(super) fn application_size(&mut self, application: &Application) {
        let subject = || Subject::Application(application.id);
        self.within(application.name.len(), NAME_BYTES_MAX, subject(), "bytes of its name");
        self.metadata_size(&application.metadata, &subject(), "metadata");
    }

    pub(super) fn replaced_size(&mut self, subject: &Subject, replaced: &Replaced) {
        self.metadata_size(&replaced.metadata, subject, "replaced metadata");
    }

    fn metadata_size(&mut self, text: &str, subject: &Subject, what: &str) {
        let keys = may_have_keys(text).then(|| serde_json::from_str(text).ok()).flatten();
        let keys = keys.as_ref().map_or(0, keys_bytes);
        let others = text.len().saturating_sub(keys);
        self.within(
            keys,
            KEYS_BYTES_MAX,
            subject.clone(),
            &format!("bytes of keys that add items in {what}"),
        );
        self.within(others, METADATA_BYTES_MAX, subject.clone(), &format!("bytes of {what}"));
    }

    pub(super) fn submission_size(&mut self, submission: &Submission) {
        let size = submission.commit_id.as_ref().map_or(0, String::len);
        let subject = || Subject::Submission(submission.id);
        self.within(size, COMMIT_ID_BYTES_MAX, subject(), "bytes of its commit id");
        let size = submission.message.as_ref().map_or(0, |message| message.chars().count());
        self.within(size, MESSAGE_CHARACTERS_MAX, subject(), "characters of its message");
    }

    pub(super) fn work_size(&mut self, work: &Work) {
        let items: BTreeSet<_> = work.entries.iter().map(|planned| planned.item).collect();
        self.within(work.entries.len(), ENTRIES_MAX, Subject::Work(work.id), "entries");
        self.within(items.len(), ITEMS_MAX, Subject::Work(work.id), "items");
    }

    pub(super) fn remembered_size(&mut self, team: TeamId, remembered: &IdempotencyRecord) {
        let subject = Subject::IdempotencyRecord(team, remembered.submission);
        self.within(remembered.key.len(), IDEMPOTENCY_KEY_BYTES_MAX, subject, "bytes of the key");
    }
}
