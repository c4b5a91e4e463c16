//! The move of dead items that an older release left among the live ones (R44, decision record 30).

use super::Commit;
use crate::client::{Error, Table};
use crate::key;
use crate::read::{Direction, Source};
use crate::record;
use domain::rules::put_item::move_gone_item;
use domain::{Item, TeamId};
use std::time::Duration;

/// The pause before each move, so that the decisions of owners are not throttled: at most 100 moves per second.
const PAUSE: Duration = Duration::from_millis(10);

/// The moved items, and those that other requests changed at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedItems {
    pub moved: u64,
    /// The items that stay for the next run.
    pub skipped: u64,
}

impl Table {
    /// Returns the ids of all teams.
    pub async fn team_ids(&self) -> Result<impl Iterator<Item = TeamId> + use<>, Error> {
        let counters = self.attributes(key::counters()).await?;
        let last = counters.and_then(|row| record::integer(&row, "teams")).unwrap_or_default();
        Ok((1..=last).filter_map(TeamId::new))
    }

    /// Moves the dead items of a consumer team to its gone items.
    ///
    /// Each move is one transaction under the revision of the item, so the command can stop at any time and run again,
    /// also during decisions and submissions.
    pub async fn move_gone_items(&self, team: TeamId) -> Result<MovedItems, Error> {
        let mut counts = MovedItems::default();
        let mut rows = self.rows(&Source::<Item>::of_consumer(team).live(), Direction::Ascending, None);
        while let Some(batch) = rows.next().await? {
            for writes in batch.iter().filter_map(|row| move_gone_item(&row.value)) {
                tokio::time::sleep(PAUSE).await;
                match self.commit(&writes).await? {
                    Commit::Done => counts.moved += 1,
                    Commit::Stale | Commit::Busy | Commit::Unknown | Commit::TooLarge => counts.skipped += 1,
                }
            }
        }
        Ok(counts)
    }
}
