//! Points in time in microseconds; they are arguments, and no rule depends on them for correctness (R30).

use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

const WIRE: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// Microseconds since 1970 in UTC, up to the end of the year 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    const LATEST_MICROS: u64 = 253_402_300_799_999_999;

    /// Returns the time `micros` after the start of 1970, at most the last instant of 9999.
    pub const fn from_micros(micros: u64) -> Self {
        // The form on the wire has four digits for the year.
        if micros < Self::LATEST_MICROS { Self(micros) } else { Self(Self::LATEST_MICROS) }
    }

    /// Returns the microseconds since the start of 1970.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns this time, or `earlier` if a clock has gone backwards.
    pub fn not_before(self, earlier: Self) -> Self {
        self.max(earlier)
    }

    /// Returns the form on the wire: six fraction digits and `Z`.
    pub fn to_wire(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .ok()
            .and_then(|at| at.format(WIRE).ok())
            .unwrap_or_default()
    }

    /// Parses an RFC 3339 date-time, or a date as its first instant; a time before 1970 becomes its start.
    pub fn parse(text: &str) -> Option<Self> {
        let whole = if text.contains('T') { text.to_owned() } else { format!("{text}T00:00:00Z") };
        let at = OffsetDateTime::parse(&whole, &time::format_description::well_known::Rfc3339).ok()?;
        Some(Self::from_micros(u64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_has_six_digits_and_reads_back() {
        let at = Timestamp::from_micros(1_740_748_711_651_446);
        assert_eq!(at.to_wire(), "2025-02-28T13:18:31.651446Z");
        assert_eq!(Timestamp::parse(&at.to_wire()), Some(at));
        assert_eq!(Timestamp::from_micros(0).to_wire(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp::from_micros(u64::MAX).to_wire(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp::parse("2025-02-28").unwrap().to_wire(), "2025-02-28T00:00:00.000000Z");
        assert_eq!(Timestamp::parse("1969-07-20"), Some(Timestamp::from_micros(0)));
        assert_eq!(Timestamp::parse("yesterday"), None);
    }
}
