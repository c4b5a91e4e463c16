//! Cost figures: write units, read units and round trips.

use crate::request::Answer;
use dovetail_aws::Cost;

/// Cost of one operation. Units are in thousandths, round trips are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Write units of the table and its indexes.
    pub write: u64,
    /// Read units of the table and its indexes.
    pub read: u64,
    /// Sequential calls. Concurrent calls count as one.
    pub round_trips: u64,
}

impl Figures {
    /// Reads the figures of a response.
    #[track_caller]
    pub fn from_answer(answer: &Answer) -> Self {
        let header = answer.header("server-timing").unwrap_or_else(|| panic!("{answer:?}"));
        let figure = |name: &str| {
            let (_, rest) = header.split_once(&format!("{name};desc=\"")).unwrap();
            thousandths(rest.split_once('"').unwrap().0)
        };
        let round_trips = figure("round_trips") / 1_000;
        Self { write: figure("write_units"), read: figure("read_units"), round_trips }
    }

    /// Returns a tenth of the additional units: the cost of one of ten further items.
    pub(super) fn tenth_above(self, less: Self) -> Self {
        let tenth = |more: u64, less: u64| more.checked_sub(less).unwrap() / 10;
        Self { write: tenth(self.write, less.write), read: tenth(self.read, less.read), round_trips: 0 }
    }
}

impl From<Cost> for Figures {
    fn from(cost: Cost) -> Self {
        let Cost { write_units, read_units, round_trips, .. } = cost;
        Self { write: write_units.thousandths(), read: read_units.thousandths(), round_trips }
    }
}

/// Returns a decimal number in thousandths.
pub fn thousandths(number: &str) -> u64 {
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    format!("{whole}{rest:0<3}").parse().unwrap()
}

/// Returns a number with `digits` decimals, without zeros at the end after the first `kept` decimals.
pub fn decimal(number: u64, digits: usize, decimals_min: usize) -> String {
    let text = format!("{number:0width$}", width = digits + 1);
    let (whole, rest) = text.split_at(text.len() - digits);
    let (fixed, more) = rest.split_at(decimals_min);
    let rest = format!("{fixed}{}", more.trim_end_matches('0'));
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}
