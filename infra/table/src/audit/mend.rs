//! Carrying out repairs, one transaction each, under the fences of what they were computed from.

use super::Audited;
use crate::{Commit, Error, Table};
use domain::id::TeamId;
use domain::invariant::Violation;
use domain::repair::repairs;
use std::collections::BTreeSet;

impl Table {
    /// Mends what an audit found as far as it can be computed again, and tells what was mended.
    ///
    /// A team with rows that are wrong by themselves stays as it is, and so does what moves meanwhile.
    pub async fn repair(&self, audited: &Audited) -> Result<Vec<Violation>, Error> {
        let found = audited.violations.iter().filter_map(|violation| violation.subject.team());
        let mut mended = Vec::new();
        for team in found.collect::<BTreeSet<TeamId>>() {
            // What the fences hold is the head alone: it has to fit the items that are summed up.
            let listing = self.standing(team).await?.filter(|listing| listing.rows.flaws.is_empty());
            let Some(listing) = listing else { continue };
            for repair in repairs(&listing.rows.snapshot, team) {
                if self.commit(&repair.writes).await? != Commit::Done {
                    break;
                }
                mended.push(repair.violation);
            }
        }
        Ok(mended)
    }
}
