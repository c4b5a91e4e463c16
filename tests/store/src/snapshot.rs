//! A table as the audit looks at it, and back.

use crate::record::Record;
use crate::table::Table;
use domain::invariant::Snapshot;
use domain::work::Share;

impl Table {
    /// The records as the audit looks at them; idempotency keys are none of its business.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot::default();
        for record in self.records() {
            match record {
                Record::Team(team) => drop(all.teams.insert(team.id, team.clone())),
                Record::Head(head) => drop(all.heads.insert(head.team, *head)),
                Record::Application(application) => {
                    all.applications.insert(application.id, application.clone());
                }
                Record::Item(item) => drop(all.items.insert(item.id, item.clone())),
                Record::Change(change) => drop(all.changes.insert(change.id, change.clone())),
                Record::Deployed(deployed) => all.deployed.push(deployed.clone()),
                Record::Submission(submission) => all.submissions.push(submission.clone()),
                Record::Work(work) => all.works.push(work.clone()),
                Record::Staging(staging) => all.stagings.push(*staging),
                Record::Share(Share { item, owner, .. }) => drop(all.shares.insert((*item, *owner))),
                Record::Declaration(team, hash, stored) => {
                    all.declarations.insert((*team, *hash), *stored);
                }
                Record::Remembered(..) => {}
            }
        }
        all
    }
}
