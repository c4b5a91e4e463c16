//! The records between the reader and the lanes, and the position behind which all of them are processed.

use std::collections::{BTreeMap, VecDeque};

/// The unprocessed records of each shard, by the name of the position in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Window(BTreeMap<String, ShardWindow>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ShardWindow {
    records: VecDeque<Read>,
    /// The sequence number of the last record that was read. The filters may exclude it.
    read_to: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    sequence: String,
    lane: usize,
    is_done: bool,
}

impl Window {
    /// Returns the number of records since the oldest unprocessed one of each shard.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(|shard| shard.records.len()).sum()
    }

    /// Adds records of one shard, each with its lane.
    pub(super) fn add(
        &mut self,
        position: &str,
        records: impl IntoIterator<Item = (String, usize)>,
        read_to: Option<String>,
    ) {
        let shard = self.0.entry(position.to_owned()).or_default();
        shard.records.extend(records.into_iter().map(|(sequence, lane)| Read {
            sequence,
            lane,
            is_done: false,
        }));
        shard.read_to = read_to;
    }

    /// Marks the records of a lane up to a sequence number as processed.
    ///
    /// Returns the new position of the shard, or `None` while an older record of another lane is unprocessed.
    pub(super) fn finish(&mut self, position: &str, lane: usize, last: &str) -> Option<String> {
        let shard = self.0.get_mut(position)?;
        let at = shard.records.iter().position(|read| read.sequence == last)?;
        for read in shard.records.range_mut(..=at).filter(|read| read.lane == lane) {
            read.is_done = true;
        }
        let mut passed = None;
        while shard.records.front().is_some_and(|read| read.is_done) {
            passed = shard.records.pop_front().map(|read| read.sequence);
        }
        // Without the end of the read, a restart would read the excluded records again.
        if shard.records.is_empty() { shard.read_to.clone().or(passed) } else { passed }
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    /// Returns a window with records of alternating lanes, and an excluded record at the end.
    fn window() -> Window {
        let mut window = Window::default();
        let records = [("1", 0), ("2", 1), ("3", 0), ("4", 1)];
        let records = records.map(|(sequence, lane)| (sequence.to_owned(), lane));
        window.add("shard", records, Some("5".to_owned()));
        window
    }

    #[test]
    fn a_position_waits_for_the_oldest_record_of_all_lanes() {
        let mut window = window();
        assert_eq!(window.finish("shard", 1, "4"), None);
        assert_eq!(window.len(), 4);
        assert_eq!(window.finish("shard", 0, "1").as_deref(), Some("2"));
        assert_eq!(window.len(), 2);
        assert_eq!(window.finish("shard", 0, "3").as_deref(), Some("5"), "the end of the read");
        assert_eq!(window.len(), 0);
    }

    #[test]
    fn a_repeated_report_finishes_no_later_record() {
        let mut window = window();
        assert_eq!(window.finish("shard", 0, "1").as_deref(), Some("1"));
        assert_eq!(window.finish("shard", 0, "1"), None);
        assert_eq!(window.finish("other", 0, "3"), None);
        assert_eq!(window.len(), 3);
    }
}
