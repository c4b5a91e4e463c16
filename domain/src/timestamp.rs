//! Points in time, in microseconds; they come in as arguments and are never used for correctness (R30).

use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

const WIRE: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// Microseconds since 1970 in UTC, between the years 1970 and 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    const LATEST_MICROS: u64 = 253_402_300_799_999_999;

    /// The point `micros` after the start of 1970; later than the year 9999 is the last instant of it.
    pub const fn from_micros(micros: u64) -> Self {
        if micros < Self::LATEST_MICROS { Self(micros) } else { Self(Self::LATEST_MICROS) }
    }

    /// Microseconds since the start of 1970.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// This time, or `earlier` when the clock has gone backwards.
    pub fn not_before(self, earlier: Self) -> Self {
        self.max(earlier)
    }

    /// The form on the wire: six fraction digits and `Z`.
    pub fn to_wire(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .ok()
            .and_then(|at| at.format(WIRE).ok())
            .unwrap_or_default()
    }

    /// Reads an RFC 3339 date-time, or a date that stands for its first instant; what is before 1970 is the beginning of it.
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
