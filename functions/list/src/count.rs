//! The count of a list, as far as the reads have shown it.

use dovetail_http::Cursor;

/// The number of rows in a list.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Not requested, because it would need more reads.
    Unknown,
    /// Counted to the end of the list.
    Exact(u64),
    /// The matches so far, and those before the end of the page.
    AtLeast { matches: u64, before: u64 },
}

impl Count {
    /// Returns the count of the page before.
    pub(crate) fn of(cursor: &Cursor) -> Self {
        match (cursor.count, cursor.before) {
            (None, _) => Self::Unknown,
            (Some(count), None) => Self::Exact(count),
            (Some(matches), Some(before)) => Self::AtLeast { matches, before },
        }
    }

    pub(crate) const fn value(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Exact(count) | Self::AtLeast { matches: count, .. } => Some(count),
        }
    }

    pub(crate) const fn before(self) -> Option<u64> {
        match self {
            Self::Unknown | Self::Exact(_) => None,
            Self::AtLeast { before, .. } => Some(before),
        }
    }

    /// Returns the count of a page that ends this number of rows earlier.
    pub(crate) const fn without(self, rows: u64) -> Self {
        match self {
            Self::Unknown | Self::Exact(_) => self,
            Self::AtLeast { matches, before } => {
                Self::AtLeast { matches, before: before.saturating_sub(rows) }
            }
        }
    }
}
