//! How much one request reads for a page, at most.

use dovetail_table::{Bound, COUNT_MAX};

/// Where a filter leaves rows out: the page ends there, and `next` goes on behind it.
pub(crate) const FILTERED: Bound = Bound { rows: 1_000, units: 2_000 };

/// Where the rows are the page, or were skipped because somebody said so; and where all of them are sorted.
pub(crate) const WHOLE: Bound = Bound { rows: COUNT_MAX, units: 20_000 };

/// Where the items of a page's applications are counted: the page ends there.
pub(crate) const TALLIED: Bound = Bound { rows: u64::MAX, units: 500 };
