//! How many rows a list has, as far as it is known.

use dovetail_http::Cursor;

/// How many rows a list has.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Nobody asks, and it would have to be counted.
    Unknown,
    /// So many.
    Exact(u64),
    /// At least so many: those that were found so far; and how many are before the page's end.
    AtLeast { found: u64, before: u64 },
}

impl Count {
    /// What the page before told.
    pub(crate) fn of(cursor: &Cursor) -> Self {
        match (cursor.count, cursor.before) {
            (None, _) => Self::Unknown,
            (Some(count), None) => Self::Exact(count),
            (Some(found), Some(before)) => Self::AtLeast { found, before },
        }
    }

    pub(crate) const fn told(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Exact(count) | Self::AtLeast { found: count, .. } => Some(count),
        }
    }

    pub(crate) const fn before(self) -> Option<u64> {
        match self {
            Self::Unknown | Self::Exact(_) => None,
            Self::AtLeast { before, .. } => Some(before),
        }
    }

    /// The same of a page that ends so many rows earlier.
    pub(crate) const fn without(self, rows: u64) -> Self {
        match self {
            Self::Unknown | Self::Exact(_) => self,
            Self::AtLeast { found, before } => Self::AtLeast { found, before: before.saturating_sub(rows) },
        }
    }
}
