//! Crontabs with five fields, in UTC: the minutes at which a check is due.

use crate::base::timestamp::Timestamp;
use std::ops::RangeInclusive;
use time::{Date, OffsetDateTime};

/// Maximum length of a crontab, in bytes.
pub const CRONTAB_BYTES_MAX: usize = 256;

const MINUTE: u64 = 60 * 1_000_000;
/// Maximum number of days to search: a 29 February on a certain weekday may be forty years away.
const DAYS_MAX: usize = 41 * 366;

const MINUTES: Field = Field { name: "minute", range: 0..=59 };
const HOURS: Field = Field { name: "hour", range: 0..=23 };
const DAYS: Field = Field { name: "day of the month", range: 1..=31 };
const MONTHS: Field = Field { name: "month", range: 1..=12 };
/// The days of the week; both 0 and 7 are Sunday.
const WEEKDAYS: Field = Field { name: "day of the week", range: 0..=7 };

/// The name and range of a field.
struct Field {
    name: &'static str,
    range: RangeInclusive<u32>,
}

/// A crontab: its text, and the numbers of each field as a bit set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crontab {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether both day fields are restricted, so that a match of either field is enough, as in cron.
    either_day: bool,
}

impl Crontab {
    /// Parses five fields, each `*`, a number, a range `1-5`, steps `*/15`, or a comma-separated list.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > CRONTAB_BYTES_MAX {
            return Err(format!("must be at most {CRONTAB_BYTES_MAX} bytes"));
        }
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(
                "must have five fields: minute, hour, day of the month, month, day of the week".to_owned()
            );
        };
        let weekdays = WEEKDAYS.read(weekday)?;
        let crontab = Self {
            text: fields.join(" "),
            minutes: MINUTES.read(minute)?,
            hours: HOURS.read(hour)?,
            days: DAYS.read(day)?,
            months: MONTHS.read(month)?,
            // Both 7 and 0 are Sunday, so 7 moves to 0.
            weekdays: (weekdays | (weekdays >> 7)) & 0x7f,
            // A step such as `*/2` does not restrict a field here, as in cron.
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        // A date like 30 February would never run, and each search for it would scan forty years.
        match crontab.next(Timestamp::from_micros(0)) {
            Some(_) => Ok(crontab),
            None => Err("must include a date that exists".to_owned()),
        }
    }

    /// Returns the text with single spaces.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the first matching minute after a time; none at the end of the calendar.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let first = after.micros() / MINUTE + 1;
        let seconds = i64::try_from(first * 60).ok()?;
        let mut date = OffsetDateTime::from_unix_timestamp(seconds).ok()?.date();
        let mut from = u32::try_from(first % (24 * 60)).ok()?;
        for _ in 0..=DAYS_MAX {
            if self.means_day(date)
                && let Some(minute) = (from..24 * 60).find(|minute| self.means_minute(*minute))
            {
                return at(date, minute);
            }
            (date, from) = (date.next_day()?, 0);
        }
        None
    }

    fn means_minute(&self, minute: u32) -> bool {
        has(self.hours, minute / 60) && has(self.minutes, minute % 60)
    }

    fn means_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day().into());
        let weekday = has(self.weekdays, date.weekday().number_days_from_sunday().into());
        let means = if self.either_day { day || weekday } else { day && weekday };
        means && has(self.months, u8::from(date.month()).into())
    }
}

const fn has(set: u64, number: u32) -> bool {
    set >> number & 1 == 1
}

fn at(date: Date, minute: u32) -> Option<Timestamp> {
    let days = date.to_julian_day() - OffsetDateTime::UNIX_EPOCH.date().to_julian_day();
    let minutes = u64::try_from(days).ok()? * 24 * 60 + u64::from(minute);
    Some(Timestamp::from_micros(minutes * MINUTE))
}

impl Field {
    /// Parses a field into a bit set.
    fn read(&self, text: &str) -> Result<u64, String> {
        let all = text.split(',').map(|part| self.part(part));
        let all: Option<Vec<u64>> = all.collect();
        let set = all.map(|parts| parts.into_iter().fold(0, |set, part| set | part));
        let (name, from, to) = (self.name, self.range.start(), self.range.end());
        set.ok_or_else(|| {
            format!("must have a valid {name}: numbers from {from} to {to}, *, ranges, steps and commas")
        })
    }

    /// Parses one part of a field into a bit set: `*`, `5`, `1-5`, `*/2`, `1-5/2`.
    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, number(step).filter(|step| *step > 0)?),
            None => (part, 1),
        };
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (*self.range.start(), *self.range.end()),
            (_, Some((from, to))) => (number(from)?, number(to)?),
            // A step needs a range to start from; cron variants disagree about `5/15`.
            (one, None) if step == 1 && !part.contains('/') => (number(one)?, number(one)?),
            (_, None) => return None,
        };
        let is_within = self.range.contains(&from) && self.range.contains(&to) && from <= to;
        let numbers = (from..=to).step_by(usize::try_from(step).ok()?);
        is_within.then(|| numbers.fold(0, |set, number| set | 1 << number))
    }
}

/// Reads a plain number of one or two digits.
fn number(text: &str) -> Option<u32> {
    let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
