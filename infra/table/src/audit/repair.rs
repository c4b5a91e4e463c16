//! Carries out repairs, each in one transaction with the fences of the records that it was computed from.

use super::findings::Audited;
use crate::client::{Error, Table};
use crate::write::Commit;
use domain::TeamId;
use domain::audit::invariant::Violation;
use domain::audit::repair::repairs;
use std::collections::BTreeSet;

impl Table {
    /// Repairs the violations of an audit as far as records can be recomputed, and returns the repaired ones.
    ///
    /// Teams with broken rows, and teams whose records keep moving, are left out.
    pub async fn repair(&self, audited: &Audited) -> Result<Vec<Violation>, Error> {
        let teams = audited.violations.iter().filter_map(|violation| violation.subject.team());
        let mut repaired = Vec::new();
        for team in teams.collect::<BTreeSet<TeamId>>() {
            // The fences protect the head alone, so the head must fit the sums of the items before a repair is
            // computed.
            let listing = self.standing(team).await?.filter(|listing| listing.rows.flaws.is_empty());
            let Some(listing) = listing else { continue };
            for repair in repairs(&listing.rows.snapshot, team) {
                if self.commit(&repair.writes).await? != Commit::Done {
                    break;
                }
                repaired.push(repair.violation);
            }
        }
        Ok(repaired)
    }
}
