//! The position of one reader in the shards of a stream. A shard is read only after its parent.

use std::collections::{BTreeMap, BTreeSet};

use super::{Stream, shard::Shard};

/// The positions of one reader.
#[derive(Clone, Debug, Default)]
pub struct ShardCursor {
    /// The last sequence number that was read, by shard.
    positions: BTreeMap<String, Option<String>>,
    ended: BTreeSet<String>,
    rounds: usize,
}

impl ShardCursor {
    /// Returns the shards that may be read now, in a rotated order.
    pub async fn next_shards(&mut self, stream: &Stream) -> Vec<Shard> {
        let all = stream.shards().await;
        let is_there = |id: &str| all.iter().any(|shard| shard.id() == id);
        // A parent that has disappeared is either read or trimmed, so its children need not wait for it.
        let waits = |shard: &Shard| {
            shard.parent().is_some_and(|parent| is_there(parent) && !self.ended.contains(parent))
        };
        let may_be_read = |shard: &&Shard| !self.ended.contains(shard.id()) && !waits(shard);
        let mut open: Vec<Shard> = all.iter().filter(may_be_read).cloned().collect();
        // Each turn starts with another shard, because otherwise a busy first shard would starve the others.
        let first = self.rounds.checked_rem(open.len()).unwrap_or_default();
        open.rotate_left(first);
        self.rounds = self.rounds.wrapping_add(1);
        open
    }

    /// Returns the position in a shard, or `None` if it was never read.
    pub fn position(&self, shard: &Shard) -> Option<&Option<String>> {
        self.positions.get(shard.id())
    }

    /// Sets the position in a shard; `None` is the beginning.
    pub fn go_on(&mut self, shard: &Shard, position: Option<String>) {
        self.positions.insert(shard.id().to_owned(), position);
    }

    /// Marks a shard as read to its end.
    pub fn end(&mut self, shard: &Shard) {
        self.ended.insert(shard.id().to_owned());
    }
}
