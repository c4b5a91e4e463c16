//! The records of the past: replaced metadata, and the last change of each application's declaration.

use super::{Audit, Subject};
use crate::base::id::TeamId;
use crate::model::item::Item;
use crate::model::metadata::{Of, Replaced, Since};
use crate::model::team::{Application, Team};
use crate::views::history::declared;
use std::collections::BTreeSet;

impl Audit<'_> {
    /// I19: all replaced metadata are stored, back to the first, and no others.
    pub(super) fn replaced(&mut self) {
        let snapshot = self.snapshot;
        let mut visited: BTreeSet<(Of, u64)> = BTreeSet::new();
        let of_teams = snapshot.teams.values().map(Team::replaced);
        let of_applications = snapshot.applications.values().map(Application::replaced);
        for now in of_teams.chain(of_applications) {
            self.chain(&now, &mut visited);
        }
        for (key, replaced) in &snapshot.replaced {
            let subject = subject(key.0);
            self.require(
                visited.contains(key),
                "I19",
                subject.clone(),
                "metadata are stored that it never had",
            );
            self.replaced_size(&subject, replaced);
        }
    }

    /// Follows the replaced metadata from the present ones back to the first.
    fn chain(&mut self, now: &Replaced, visited: &mut BTreeSet<(Of, u64)>) {
        let snapshot = self.snapshot;
        let newest = snapshot.heads.get(&now.of.team()).map_or(0, |head| head.submissions);
        let is_of_submission = now.since.submission <= newest;
        self.require(
            is_of_submission,
            "I19",
            subject(now.of),
            "the submission that declared its metadata does not exist",
        );
        // A submission that failed before its commit may have stored the present metadata already.
        let previous =
            snapshot.replaced.get(&(now.of, now.since.submission)).filter(|previous| *previous == now);
        visited.extend(previous.map(|previous| (previous.of, previous.since.submission)));
        if now.since == Since::EVER {
            // An older release may have replaced metadata without a record of it.
            let of_it = snapshot.replaced.keys().filter(|(of, _)| *of == now.of);
            return visited.extend(of_it);
        }
        let mut since = now.since;
        while let Some(before) = since.before {
            let previous = snapshot.replaced.get(&(now.of, before)).filter(|_| before < since.submission);
            let detail = "its replaced metadata are not stored";
            self.require(previous.is_some(), "I19", subject(now.of), detail);
            let Some(previous) = previous else { return };
            visited.insert((previous.of, before));
            since = previous.since;
        }
    }

    /// I8: the newest submission has the digest of the present declaration.
    pub(super) fn root_of_newest(&mut self, team: TeamId) {
        let Some(head) = self.snapshot.heads.get(&team) else { return };
        let newest = crate::base::id::SubmissionId::new(team, head.submissions);
        let newest_root =
            newest.and_then(|id| self.submissions.get(&id)).and_then(|submission| submission.root);
        let agrees = newest_root.is_none_or(|root| root == head.root);
        self.require(agrees, "I8", Subject::Head(team), "its root does not match its newest submission");
    }

    /// I8: no item of an application changed after the submission in the application's record.
    pub(super) fn changed(&mut self, application: &Application) {
        let (id, last) = (application.id, application.changed);
        if last == 0 || self.is_in_flight(id.team()) {
            return;
        }
        let newest = self.snapshot.heads.get(&id.team()).map_or(0, |head| head.submissions);
        let since = application.since.submission;
        let is_sound = since <= last && last <= newest;
        let detail = "the number of its last changing submission is out of range";
        self.require(is_sound, "I8", Subject::Application(id), detail);
        let items = self.items_of_application.get(&id).cloned().unwrap_or_default();
        let stand = items.iter().all(|item| self.stood(item, last));
        let detail = "an item changed after its last changing submission";
        self.require(stand, "I8", Subject::Application(id), detail);
    }

    /// Returns whether an item is declared as after this submission.
    fn stood(&self, item: &Item, submission: u64) -> bool {
        let changes = self.changes_of_item.get(&item.id).into_iter().flatten().copied();
        let then = declared(changes.filter(|change| change.submission.number() <= submission));
        // Other checks cover the change instances themselves.
        then == Some((item.version, item.declared))
    }
}

const fn subject(of: Of) -> Subject {
    match of {
        Of::Team(team) => Subject::Team(team),
        Of::Application(application) => Subject::Application(application),
    }
}
