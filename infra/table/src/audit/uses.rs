//! The second look at references between applications and teams (I17, I37, I38).
//!
//! A look reads the referenced item with the items, uses and staged work of all teams that may have a user. A user that
//! begins or ends changes the referenced item in the same transaction. So the look is complete if the item, its users
//! and their work have not moved.

use super::second_look::Listing;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::write::FOR_EVER;
use domain::audit::invariant::{Snapshot, Subject, Violation, users, uses};
use domain::{ItemId, TeamId};
use dovetail_aws::retry;
use std::collections::BTreeSet;

impl Table {
    /// Returns the violations of references between applications and teams that hold, and the number of unsettled ones.
    pub(super) async fn recheck_uses(
        &self,
        snapshot: &Snapshot,
        suspected: &[Violation],
    ) -> Result<(Vec<Violation>, u64), Error> {
        let target = |violation: &Violation| {
            if let Subject::Item(target) = violation.subject { Some(target) } else { None }
        };
        let (mut stands, mut unsettled) = (Vec::new(), 0);
        for target in suspected.iter().filter_map(target).collect::<BTreeSet<ItemId>>() {
            let teams = users(snapshot, target).into_iter().map(ItemId::team).collect();
            match self.recheck_uses_of(target, teams).await? {
                Some(mut violations) => stands.append(&mut violations),
                None => unsettled += 1,
            }
        }
        Ok((stands, unsettled))
    }

    /// Returns the violations that two consecutive looks show, or `None` if the records always moved.
    ///
    /// An index names the teams with a submission in flight. The pause between the looks lets it catch up.
    async fn recheck_uses_of(
        &self,
        target: ItemId,
        known: BTreeSet<TeamId>,
    ) -> Result<Option<Vec<Violation>>, Error> {
        let mut before = None;
        let mut looks = retry::AUDIT.attempts();
        while looks.next().await.is_some() {
            let listing = self.listing_of_uses(target, &known).await?;
            let snapshot = &listing.rows.snapshot;
            let mut violations = uses(snapshot);
            violations.retain(|violation| violation.subject == Subject::Item(target));
            if violations.is_empty() {
                return Ok(Some(violations));
            }
            let has_moved = !self.moved(&listing, dependencies(snapshot, target)).await?.is_empty();
            let look = Some((listing.hash(&key::item(target)), violations));
            if has_moved {
                before = None;
            } else if look == before {
                return Ok(look.map(|(_, violations)| violations));
            } else {
                before = look;
            }
        }
        Ok(None)
    }

    /// Lists the items, uses and staged work of the teams that may have a user of an item.
    async fn listing_of_uses(&self, target: ItemId, known: &BTreeSet<TeamId>) -> Result<Listing, Error> {
        let stagings = self.stagings(FOR_EVER, i32::MAX).await?;
        let mut listing = Listing::default();
        self.list(&mut listing, key::partitions_of_uses(target.team())).await?;
        let users = users(&listing.rows.snapshot, target).into_iter().map(ItemId::team);
        let teams = users.chain(stagings.into_iter().map(|(team, _)| team)).chain(known.iter().copied());
        let others: BTreeSet<TeamId> = teams.filter(|team| *team != target.team()).collect();
        for team in others {
            self.list(&mut listing, key::partitions_of_uses(team)).await?;
        }
        Ok(listing)
    }
}

/// Returns the keys of an item, of its users, and of the staged work on them.
fn dependencies(snapshot: &Snapshot, target: ItemId) -> BTreeSet<Key> {
    let users = users(snapshot, target);
    let mut keys: BTreeSet<Key> = users.iter().map(|user| key::item_use(target, *user)).collect();
    keys.extend(users.iter().chain([&target]).flat_map(|item| [key::item(*item), key::gone(*item)]));
    let works = snapshot.works.iter().filter(|work| {
        work.entries.iter().any(|planned| planned.item == target || users.contains(&planned.item))
    });
    for work in works {
        let staging = work.id.staging.map(|staging| key::staging(work.id.submission.team(), staging));
        keys.extend(staging.into_iter().chain([key::work(work.id)]));
    }
    keys
}
