//! The course of one reader through the shards of a stream: each from where it stopped, none before its parent is done.

use std::collections::{BTreeMap, BTreeSet};

use super::{Shard, Stream};

/// How far one reader is.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The last sequence number read of each shard that was begun.
    places: BTreeMap<String, Option<String>>,
    ended: BTreeSet<String>,
    turns: usize,
}

impl Course {
    /// The shards that may be read now, each time beginning with another one: none waits for ever behind a busy one.
    pub async fn turn(&mut self, stream: &Stream) -> Vec<Shard> {
        let all = stream.shards().await;
        let is_there = |id: &str| all.iter().any(|shard| shard.id() == id);
        // What a parent that is no longer there had is gone, or was read.
        let waits = |shard: &Shard| {
            shard.parent().is_some_and(|parent| is_there(parent) && !self.ended.contains(parent))
        };
        let may_be_read = |shard: &&Shard| !self.ended.contains(shard.id()) && !waits(shard);
        let mut open: Vec<Shard> = all.iter().filter(may_be_read).cloned().collect();
        let first = self.turns.checked_rem(open.len()).unwrap_or_default();
        open.rotate_left(first);
        self.turns = self.turns.wrapping_add(1);
        open
    }

    /// Where a shard was left; nothing if it was not begun.
    pub fn place(&self, shard: &Shard) -> Option<&Option<String>> {
        self.places.get(shard.id())
    }

    /// A shard is read up to a sequence number; none is its beginning.
    pub fn go_on(&mut self, shard: &Shard, place: Option<String>) {
        self.places.insert(shard.id().to_owned(), place);
    }

    /// All of a shard is read.
    pub fn end(&mut self, shard: &Shard) {
        self.ended.insert(shard.id().to_owned());
    }
}
