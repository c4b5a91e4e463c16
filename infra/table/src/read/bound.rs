//! A limit on the rows and read units of one request, for searches whose matches may be far apart.

use dovetail_aws::observed;

/// The limits of a filtered list page; reading stops at the first one that it reaches.
///
/// The caller checks the limits between batches, so one batch may exceed them.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Rows of the list, whether they pass the filter or not.
    pub rows: u64,
    /// Read units of the rows and of the records that the filter needs.
    pub units: u64,
}

/// The rows and read units of a request so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Read {
    rows: u64,
    unit_thousandths: u64,
}

impl Read {
    /// Runs `reading` and adds its read units.
    pub async fn by<T>(&mut self, reading: impl Future<Output = T>) -> T {
        let (output, observed) = observed(reading).await;
        self.unit_thousandths = self.unit_thousandths.saturating_add(observed.cost.read_units.thousandths());
        output
    }

    /// Adds `rows` to the count of rows.
    pub fn rows(&mut self, rows: usize) {
        self.rows = self.rows.saturating_add(u64::try_from(rows).unwrap_or(u64::MAX));
    }

    /// Returns whether the request has used up one of the limits.
    pub const fn reaches(&self, bound: &Bound) -> bool {
        self.rows >= bound.rows || self.unit_thousandths >= bound.units.saturating_mul(1_000)
    }
}
