//! How much of the table one request reads, at most, where what it looks for may be far apart.

use crate::meter::metered;

/// What reading ends at: whichever comes first. What is read at once is read whole.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Rows of the list.
    pub rows: u64,
    /// Read units, of the rows and what is beside them.
    pub units: u64,
}

/// What a request has read so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Read {
    rows: u64,
    unit_thousandths: u64,
}

impl Read {
    /// Reads, and counts what it costs.
    pub async fn by<T>(&mut self, reading: impl Future<Output = T>) -> T {
        let (output, cost) = metered(reading).await;
        self.unit_thousandths = self.unit_thousandths.saturating_add(cost.read_units.thousandths());
        output
    }

    /// Counts rows.
    pub fn rows(&mut self, rows: usize) {
        self.rows = self.rows.saturating_add(u64::try_from(rows).unwrap_or(u64::MAX));
    }

    /// Whether that is all that it may read.
    pub const fn reaches(&self, bound: &Bound) -> bool {
        self.rows >= bound.rows || self.unit_thousandths >= bound.units.saturating_mul(1_000)
    }
}
