//! The storage of the world: it takes transactions, each whole or, where a condition fails, not at all.

use super::*;

impl World {
    /// Carries out one transaction; panics where a storage would cancel it.
    pub(crate) fn apply(&mut self, writes: &[Write]) {
        let mut keys = BTreeSet::new();
        for write in writes {
            // A transaction may touch a record only once.
            let key = key(write);
            assert!(keys.insert(key.clone()), "{key} is written twice");
            self.write(write);
        }
    }

    fn write(&mut self, write: &Write) {
        let snapshot = &mut self.snapshot;
        match write {
            Write::Head { before, after } => {
                let stored = snapshot.heads.insert(after.team, *after);
                assert_eq!(stored.as_ref(), Some(before), "the head has moved");
            }
            Write::Attention { team, delta } => {
                let head = snapshot.heads.get_mut(team).unwrap();
                head.attention = head.attention + *delta;
            }
            Write::Team(after) => assert!(snapshot.teams.insert(after.id, after.clone()).is_some()),
            Write::Application { before, after } => {
                let stored = snapshot.applications.insert(after.id, after.clone());
                assert_eq!(stored, *before, "the application has moved");
            }
            Write::Item { before, after } => {
                let stored = snapshot.items.insert(after.id, after.clone());
                assert_eq!(stored.map(|stored| stored.revision), *before, "the item has moved");
                assert_eq!(after.revision, before.unwrap_or(0) + 1, "each write counts once");
            }
            Write::Born(born) => {
                assert_eq!(born.history.len(), 1);
                assert!(snapshot.changes.insert(born.id, born.clone()).is_none(), "the key is taken");
            }
            Write::Moved { before, from, after } => {
                let stored = snapshot.changes.insert(after.id, after.clone()).unwrap();
                assert_eq!((stored.mark(), stored.state), (*before, *from), "the change instance has moved");
                assert!(after.history.starts_with(&stored.history), "history is only appended to");
                // I4.
                assert!(
                    stored.state.stage() != Stage::Resolved || after.state == stored.state,
                    "it was resolved"
                );
            }
            Write::Closed(closing) => close(snapshot, closing),
            Write::Deployed(deployed) => {
                let taken = snapshot.deployed.iter().any(|known| known.id == deployed.id);
                assert!(
                    !taken && !deployed.id.number().is_multiple_of(domain::id::CHANGE_STRIDE),
                    "the key is taken"
                );
                snapshot.deployed.push(deployed.clone());
            }
            Write::Submission(submission) => {
                assert!(
                    snapshot.submissions.iter().all(|known| known.id != submission.id),
                    "the key is taken"
                );
                snapshot.submissions.push(submission.clone());
            }
            Write::Remember { remembered, now, .. } => {
                let known = self.remembered.insert(remembered.key.clone(), remembered.clone());
                assert!(known.is_none_or(|known| known.expires < *now), "the key is remembered");
            }
            Write::Work(work) => {
                assert!(snapshot.works.iter().all(|known| known.id != work.id), "the key is taken");
                snapshot.works.push(work.clone());
            }
            Write::ItemStays { item, revision } => {
                assert_eq!(snapshot.items[item].revision, *revision, "the item has moved");
            }
            Write::WorkDone(id) => {
                let known = snapshot.works.iter().position(|work| work.id == *id);
                snapshot.works.remove(known.expect("the work is gone"));
            }
            Write::Progress { work_left, after } => {
                let known = snapshot.submissions.iter_mut();
                let recorded = known.into_iter().find(|known| known.id == after.id).unwrap();
                assert_eq!(recorded.work_left, *work_left, "the submission has come further");
                *recorded = after.clone();
            }
            Write::Landed(submission) => {
                let head = snapshot.heads.get_mut(&submission.team()).unwrap();
                assert_eq!(head.in_flight, Some(*submission), "another one holds the head");
                head.in_flight = None;
            }
            Write::Staging(staging) => {
                assert!(staging_of(snapshot, staging.id).is_none(), "the key is taken");
                snapshot.stagings.push(*staging);
            }
            Write::StagingMoved { staging, from, to, .. } => {
                let known = staging_of(snapshot, *staging).expect("the staging is gone");
                assert_eq!(known.state, *from, "the staging has moved");
                known.state = *to;
            }
            Write::StagingDone { staging, .. } => {
                assert!(staging_of(snapshot, *staging).is_some(), "the staging is gone");
                snapshot.stagings.retain(|known| known.id != *staging);
            }
            Write::Declaration { team, hash, text } => {
                snapshot.declarations.insert((*team, *hash), Hash::of(text));
            }
            Write::Share(share) => {
                assert!(snapshot.shares.insert((share.item, share.owner)), "the share is noted");
            }
            Write::ShareGone { item, owner } => {
                assert!(snapshot.shares.remove(&(*item, *owner)), "the share is gone");
            }
        }
    }
}

fn staging_of(snapshot: &mut Snapshot, id: StagingId) -> Option<&mut Staging> {
    snapshot.stagings.iter_mut().find(|known| known.id == id)
}

fn close(snapshot: &mut Snapshot, closing: &Closing) {
    let change = snapshot.changes.get_mut(&closing.change).unwrap();
    let known = (closing.item, closing.owner, closing.created, closing.from, closing.mark);
    let stored = (change.item, change.owner.id, change.created, change.state, change.mark());
    assert_eq!(known, stored, "the change instance has moved");
    assert!(change.state.stage() != Stage::Resolved, "it was resolved");
    change.state = closing.entry.to;
    change.history.push(closing.entry.clone());
}

fn key(write: &Write) -> String {
    match write {
        Write::Head { after, .. } => format!("head {}", after.team),
        Write::Attention { team, .. } => format!("head {team}"),
        Write::Team(after) => format!("team {}", after.id),
        Write::Application { after, .. } => format!("application {}", after.id),
        Write::Item { after, .. } => format!("item {}", after.id),
        Write::Born(born) => format!("change {}", born.id),
        Write::Moved { after, .. } => format!("change {}", after.id),
        Write::Closed(closing) => format!("change {}", closing.change),
        Write::Deployed(deployed) => format!("deployed {}", deployed.id),
        Write::Submission(submission) => format!("submission {}", submission.id),
        Write::Remember { remembered, .. } => format!("key {}", remembered.key),
        Write::Work(work) => work.id.to_string(),
        Write::WorkDone(id) => id.to_string(),
        Write::Progress { after, .. } => format!("submission {}", after.id),
        Write::Landed(submission) => format!("head {}", submission.team()),
        Write::Staging(staging) => format!("staging {}", staging.id),
        Write::StagingMoved { staging, .. } | Write::StagingDone { staging, .. } => {
            format!("staging {staging}")
        }
        Write::Declaration { hash, .. } => format!("declaration {hash}"),
        Write::ItemStays { item, .. } => format!("item {item}"),
        Write::Share(share) => format!("share {} {}", share.item, share.owner),
        Write::ShareGone { item, owner } => format!("share {item} {owner}"),
    }
}
