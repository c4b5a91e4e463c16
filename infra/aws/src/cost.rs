//! The cost of a request at the table: capacity units, and sequential round trips.

use serde_json::Value;
use std::fmt;

/// The decimals of a unit that are stored; DynamoDB reports halves at the finest.
const DIGITS: usize = 3;

/// Capacity units, stored in thousandths so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units(u64);

impl Units {
    /// Converts the units of a response. A value that is not a number of units counts as 0.
    pub fn of(units: f64) -> Self {
        // The text avoids a multiplication of floats, which would truncate 1.005 to 1.004.
        Self(format!("{units:.DIGITS$}").replace('.', "").parse().unwrap_or_default())
    }

    /// Returns the thousandths of a unit.
    pub const fn thousandths(self) -> u64 {
        self.0
    }

    const fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl fmt::Display for Units {
    // The text has no trailing zeros: `19`, `2.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = format!("{:0DIGITS$}", self.0 % 1_000);
        match rest.trim_end_matches('0') {
            "" => write!(f, "{}", self.0 / 1_000),
            rest => write!(f, "{}.{rest}", self.0 / 1_000),
        }
    }
}

/// The cost of several calls of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Write units, including those of the indexes.
    pub write_units: Units,
    pub read_units: Units,
    /// Calls that waited for one another; concurrent calls count once.
    pub round_trips: u64,
    pub calls: u64,
}

impl Cost {
    /// Returns the cost of one call without its capacity units.
    pub const fn of_call() -> Self {
        Self { write_units: Units(0), read_units: Units(0), round_trips: 1, calls: 1 }
    }

    /// Adds units.
    pub fn consume(&mut self, write_units: Units, read_units: Units) {
        self.write_units = self.write_units.plus(write_units);
        self.read_units = self.read_units.plus(read_units);
    }

    /// Adds a call that began after `before` round trips.
    ///
    /// A call can only have waited for calls that were finished at its start, so it extends the sequence of these
    /// calls.
    pub(crate) fn add(&mut self, before: u64, finished: Self) {
        self.consume(finished.write_units, finished.read_units);
        self.round_trips = self.round_trips.max(before.saturating_add(finished.round_trips));
        self.calls = self.calls.saturating_add(finished.calls);
    }

    /// Returns the values by metric name.
    pub(crate) fn figures(&self) -> [(&'static str, Value); 3] {
        // Parsing the text yields a JSON number, which stays an integer where the units are whole.
        let number = |units: Units| serde_json::from_str(&units.to_string()).unwrap_or_default();
        [
            ("WriteUnits", number(self.write_units)),
            ("ReadUnits", number(self.read_units)),
            ("RoundTrips", Value::from(self.round_trips)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_rounded_to_thousandths() {
        let table = [
            (0.0, 0, "0"),
            (0.5, 500, "0.5"),
            (2.5, 2_500, "2.5"),
            (19.0, 19_000, "19"),
            (100.25, 100_250, "100.25"),
            (1.005, 1_005, "1.005"),
            (-1.0, 0, "0"),
            (f64::NAN, 0, "0"),
            (f64::INFINITY, 0, "0"),
        ];
        for (value, thousandths, written) in table {
            let units = Units::of(value);
            assert_eq!((units.thousandths(), units.to_string().as_str()), (thousandths, written), "{value}");
        }
    }

    /// Plays a sequence of events: `a` begins a call, `A` ends it.
    fn round_trips(events: &str) -> (u64, u64) {
        let (mut cost, mut begun) = (Cost::default(), Vec::new());
        for event in events.chars() {
            if event.is_ascii_lowercase() {
                begun.push((event, cost.round_trips));
            } else {
                let (_, before) =
                    begun.iter().find(|(name, _)| name.eq_ignore_ascii_case(&event)).copied().unwrap();
                cost.add(before, Cost { read_units: Units::of(0.5), ..Cost::of_call() });
            }
        }
        assert_eq!(cost.read_units.thousandths(), cost.calls * 500);
        (cost.round_trips, cost.calls)
    }

    #[test]
    fn calls_side_by_side_are_one_round_trip() {
        let table = [
            ("", 0, 0, "nothing"),
            ("aA", 1, 1, "one call"),
            ("aAbB", 2, 2, "one after the other"),
            ("abAB", 1, 2, "side by side"),
            ("abBA", 1, 2, "side by side, one within the other"),
            ("abAcBC", 2, 3, "the third after the first, concurrent with the second"),
            ("abAcCBdD", 3, 4, "two during a long one, and one after all of them"),
            ("abBcCA", 2, 3, "a long one, concurrent with two"),
            ("aAbcdBCDeE", 3, 5, "one, three at once, one"),
            ("aAb", 1, 1, "what never ends is not counted"),
        ];
        for (events, expected, calls, case) in table {
            assert_eq!(round_trips(events), (expected, calls), "{case}: {events}");
        }
    }

    #[test]
    fn figures_are_numbers() {
        let cost = Cost { write_units: Units::of(3.0), read_units: Units::of(0.5), round_trips: 4, calls: 6 };
        let figures = format!("{:?}", cost.figures().map(|(name, value)| format!("{name} {value}")));
        assert_eq!(figures, r#"["WriteUnits 3", "ReadUnits 0.5", "RoundTrips 4"]"#);
    }
}
