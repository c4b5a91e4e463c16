//! Repairs: derived values, computed from the other records under the fences of all writers.
//!
//! The derived values are blockers, digests and shares. A repair changes no change instance, no history and no
//! declaration.

use crate::audit::invariant::{
    Snapshot, Subject, Violation, applications, blockers, noted, root, violations,
};
use crate::base::id::{ItemId, TeamId};
use crate::base::timestamp::Timestamp;
use crate::model::item::Item;
use crate::model::team::{Application, Head};
use crate::model::work::Share;
use crate::model::write::Write;
use crate::rules::plan::digest_of_stored;
use std::collections::BTreeSet;

/// One transaction that repairs one violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The repaired violation.
    pub violation: Violation,
    /// The transaction.
    pub writes: Vec<Write>,
}

/// Returns the repairs of a team's records, in this order.
///
/// The list is empty during a submission in flight, or if the team has any other violation, because values computed
/// from broken records would be wrong.
pub fn repairs(snapshot: &Snapshot, team: TeamId) -> Vec<Repair> {
    let Some(head) = snapshot.heads.get(&team).filter(|head| head.in_flight.is_none()) else {
        return Vec::new();
    };
    let violations = violations(snapshot);
    let mut of_team = violations.iter().filter(|violation| violation.subject.team() == Some(team));
    if !of_team.all(is_computed) {
        return Vec::new();
    }
    let mut repair = TeamRepair { snapshot: snapshot.clone(), head: *head, repairs: Vec::new() };
    repair.blockers();
    for application in applications(snapshot, team) {
        repair.application(application);
    }
    repair.root();
    for item in snapshot.items.values().filter(|item| item.id.team() == team) {
        repair.shares(item);
    }
    repair.repairs
}

/// Returns whether other records determine the correct value.
fn is_computed(violation: &Violation) -> bool {
    matches!(
        (&violation.subject, violation.rule),
        (Subject::Head(_), "I8" | "I9") | (Subject::Application(_), "I8") | (Subject::Item(_), "I18")
    )
}

/// A team's records after the repairs so far.
struct TeamRepair {
    snapshot: Snapshot,
    head: Head,
    repairs: Vec<Repair>,
}

impl TeamRepair {
    fn push(&mut self, rule: &'static str, subject: Subject, detail: &str, writes: Vec<Write>) {
        let violation = Violation { rule, subject, detail: detail.to_owned() };
        self.repairs.push(Repair { violation, writes });
    }

    /// Returns the write that advances the head to `after`.
    ///
    /// Each repair continues from the head of the one before, so they commit one after another.
    fn head(&mut self, after: Head) -> Write {
        let before = std::mem::replace(&mut self.head, after);
        Write::AdvanceHead { before, after }
    }

    fn blockers(&mut self) {
        let blockers = blockers(&self.snapshot, self.head.team);
        if blockers != self.head.blockers {
            let write = self.head(Head { blockers, ..self.head });
            let subject = Subject::Head(self.head.team);
            self.push("I9", subject, "recompute its blockers from its items", vec![write]);
        }
    }

    /// Repairs the digest of an application, together with the head, which is its fence.
    fn application(&mut self, before: &Application) {
        let id = before.id;
        let items = self.snapshot.items.values().filter(|item| item.application_id() == id);
        let digest = digest_of_stored(&before.metadata, items);
        if digest == before.digest {
            return;
        }
        let after = Application { digest, ..before.clone() };
        self.snapshot.applications.insert(id, after.clone());
        let root = root(&self.snapshot, self.head.team);
        let head = self.head(Head { root, ..self.head });
        let application = Write::PutApplication { before: Some(before.clone()), after };
        let detail = "recompute its digest from its items";
        self.push("I8", Subject::Application(id), detail, vec![head, application]);
    }

    fn root(&mut self) {
        let root = root(&self.snapshot, self.head.team);
        if root != self.head.root {
            let write = self.head(Head { root, ..self.head });
            let subject = Subject::Head(self.head.team);
            self.push("I8", subject, "recompute its root from its applications", vec![write]);
        }
    }

    /// Repairs the shares of an item, under its revision.
    fn shares(&mut self, item: &Item) {
        let involved: BTreeSet<TeamId> = item.dependents().collect();
        let noted = noted(&self.snapshot.shares, item.id);
        let stays = Write::CheckItem { item: item.id, is_gone: item.gone, revision: item.revision };
        for owner in involved.difference(&noted) {
            let created = self.since(item.id, *owner).unwrap_or(item.created);
            let share = Write::CreateShare(Share { item: item.id, owner: *owner, created });
            let detail = format!("add the share of team {owner}");
            self.push("I18", Subject::Item(item.id), &detail, vec![share, stays.clone()]);
        }
        for owner in noted.difference(&involved) {
            let gone = Write::DeleteShare { item: item.id, owner: *owner };
            let detail = format!("remove the share of team {owner}");
            self.push("I18", Subject::Item(item.id), &detail, vec![gone, stays.clone()]);
        }
    }

    /// Returns the time of a team's first change instance on an item, when its share began.
    fn since(&self, item: ItemId, owner: TeamId) -> Option<Timestamp> {
        let changes = self.snapshot.changes.values();
        let of_it = changes.filter(|change| change.item == item && change.owner.id == owner);
        of_it.map(|change| change.created).min()
    }
}
