//! Teams, their heads and applications: the sums over other records.

use super::{Audit, Snapshot, Subject};
use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ItemId, SubmissionId, TeamId};
use crate::model::blockers::Blockers;
use crate::model::digest;
use crate::model::item::Item;
use crate::model::team::{Application, Head, Team};
use crate::rules::plan::digest_of_stored;
use std::collections::BTreeSet;

impl Audit<'_> {
    /// I8, I9, I11 and I20: the sums in the head are correct, and the submission in flight exists.
    pub(super) fn head(&mut self, head: &Head) {
        let subject = || Subject::Head(head.team);
        let root = root(self.snapshot, head.team);
        self.require(root == head.root, "I8", subject(), "its root does not match its applications");
        let blockers = blockers(self.snapshot, head.team);
        self.require(blockers == head.blockers, "I9", subject(), "its blockers do not match its items");
        let first = SubmissionId::new(head.team, 1);
        let submissions = first.into_iter().flat_map(|first| self.submissions.range(first..));
        let numbers = submissions.map(|(id, _)| *id).take_while(|id| id.team() == head.team);
        let dense = numbers.map(SubmissionId::number).eq(1..=head.submissions);
        self.require(dense, "I20", subject(), "the submission numbers have gaps");
        self.root_of_newest(head.team);
        let held = head.in_flight.is_none_or(|id| self.submissions.contains_key(&id));
        self.require(held, "I11", subject(), "the submission that holds it does not exist");
        let exists = self.snapshot.teams.contains_key(&head.team);
        self.require(exists, "I16", subject(), "its team does not exist");
    }

    /// I16: a team has a head, and unique names of applications.
    pub(super) fn team(&mut self, team: &Team) {
        let has_head = self.snapshot.heads.contains_key(&team.id);
        self.require(has_head, "I16", Subject::Team(team.id), "the team has no head");
        let mut names = BTreeSet::new();
        for application in applications(self.snapshot, team.id) {
            let is_new = names.insert(&application.name);
            self.require(
                is_new,
                "I16",
                Subject::Application(application.id),
                "another application has the same name",
            );
        }
        self.team_size(team);
    }

    /// I8, I27 and I37: the digest of an application is that of its items, except during a submission in flight.
    pub(super) fn application(&mut self, application: &Application) {
        let digest = self.items_of_application.get(&application.id);
        let digest = digest_of_stored(&application.metadata, digest.into_iter().flatten().copied());
        self.require(
            digest == application.digest || self.is_in_flight(application.id.team()),
            "I8",
            Subject::Application(application.id),
            "its digest does not match its items",
        );
        let has_team = self.snapshot.teams.contains_key(&application.id.team());
        self.require(has_team, "I16", Subject::Application(application.id), "its team does not exist");
        self.drifted(application);
        self.uses_ever(application);
        self.changed(application);
        self.application_size(application);
    }
}

/// Returns the applications of a team without the retired ones.
pub(crate) fn applications(snapshot: &Snapshot, team: TeamId) -> impl Iterator<Item = &Application> {
    let first = ApplicationId::new(team, 1);
    let following = first.into_iter().flat_map(|first| snapshot.applications.range(first..));
    let of_team = following.map(|(_, one)| one).take_while(move |application| application.id.team() == team);
    of_team.filter(|application| application.retired.is_none())
}

/// Returns the items of a team.
pub(crate) fn items(snapshot: &Snapshot, team: TeamId) -> impl Iterator<Item = &Item> {
    let first = ApplicationId::new(team, 1).and_then(|application| ItemId::new(application, 1));
    let following = first.into_iter().flat_map(|first| snapshot.items.range(first..));
    following.map(|(_, item)| item).take_while(move |item| item.id.team() == team)
}

/// Computes the digest of a team for its head.
pub(crate) fn root(snapshot: &Snapshot, team: TeamId) -> Hash {
    let metadata = snapshot.teams.get(&team).map_or("", |team| team.metadata.as_str());
    digest::root(metadata, applications(snapshot, team).map(Application::id_and_digest))
}

/// Computes the blockers of a team for its head.
pub(crate) fn blockers(snapshot: &Snapshot, team: TeamId) -> Blockers {
    items(snapshot, team).map(Item::blockers).sum()
}
