//! Limits on the reads of one request for a page.

use dovetail_table::Bound;

/// The bound of a filtered page; `next` continues after it (ADR 22).
pub(crate) const FILTERED: Bound = Bound { rows: 1_000, units: 2_000 };

/// The bound of a page without a filter, its offset included, and of a list to sort.
pub(crate) const WHOLE: Bound = Bound { rows: 10_000, units: 20_000 };

/// Number of rows up to which the first page of a list without a filter has an exact count.
///
/// A count reads every row that it counts, so a larger count would cost more than the page.
pub(crate) const COUNT_MAX: u64 = 1_000;

/// The bound of the counts of items on a page of applications; `next` continues after it.
pub(crate) const TALLIED: Bound = Bound { rows: u64::MAX, units: 500 };
