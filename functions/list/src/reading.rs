//! The reading of one page in stored order: which rows are on the page, and where the page ends.

use dovetail_table::Listed;

/// The step of the loop over the rows after a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The page has room for more rows.
    Go,
    /// The page has all its rows. Later rows matter only for the count.
    PageFull,
    /// The page has all its rows, and no later row matters.
    Done,
}

/// The rows of a page and the counts that the loop has collected so far.
pub(crate) struct Reading<T> {
    /// Maximum number of rows on the page.
    limit: usize,
    /// Number of matches before the page.
    skip: u64,
    /// Whether matches behind the page count.
    pub(crate) counts_on: bool,
    pub(crate) rows: Vec<T>,
    /// Position of each row.
    pub(crate) positions: Vec<String>,
    /// Number of matches up to the end of the page.
    pub(crate) passed: u64,
    /// Number of matches found behind the page.
    pub(crate) ahead: u64,
    /// Whether the loop has read the list to its end.
    pub(crate) is_whole: bool,
    /// Position of the last row up to the end of the page.
    last: Option<String>,
    has_next: bool,
}

impl<T> Reading<T> {
    pub(crate) const fn new(limit: usize, skip: u64, counts_on: bool) -> Self {
        Self {
            limit,
            skip,
            counts_on,
            rows: Vec::new(),
            positions: Vec::new(),
            passed: 0,
            ahead: 0,
            is_whole: true,
            last: None,
            has_next: false,
        }
    }

    /// Takes the rows of a batch in their order, until no later row matters.
    pub(crate) fn take_all(&mut self, rows: Vec<(Listed<T>, bool)>) -> Flow {
        for (row, passes) in rows {
            if self.take(row, passes) == Flow::Done {
                return Flow::Done;
            }
        }
        if self.has_next { Flow::PageFull } else { Flow::Go }
    }

    /// Takes one row, which passes the filter or not.
    fn take(&mut self, Listed { position, value }: Listed<T>, passes: bool) -> Flow {
        // One more match proves that there is a next page.
        self.has_next |= passes && self.passed >= self.skip && self.rows.len() >= self.limit;
        if self.has_next && !self.counts_on {
            self.is_whole = false;
            return Flow::Done;
        }
        if self.has_next {
            self.ahead += u64::from(passes);
            return Flow::PageFull;
        }
        self.passed += u64::from(passes);
        if passes && self.passed > self.skip {
            self.rows.push(value);
            self.positions.push(position.clone());
        }
        // A row without a match also moves the position, so the next page does not read it again.
        self.last = Some(position);
        Flow::Go
    }

    /// Ends the page before the end of the list.
    pub(crate) const fn end_early(&mut self) {
        (self.has_next, self.is_whole) = (true, false);
    }

    /// Returns the position of the next page, if there is one.
    pub(crate) fn next(&self) -> Option<String> {
        self.last.clone().filter(|_| self.has_next)
    }
}
