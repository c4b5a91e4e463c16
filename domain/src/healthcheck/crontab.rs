//! Crontabs of five fields, in UTC: at which minutes something is due.

use crate::timestamp::Timestamp;
use std::ops::RangeInclusive;
use time::{Date, OffsetDateTime};

/// How long a crontab can be, in bytes.
pub const CRONTAB_BYTES_MAX: usize = 256;

const MINUTE: u64 = 60 * 1_000_000;
/// For how many days the next time is looked for: a 29th of February on a certain day of the week may be forty years away.
const DAYS_MAX: usize = 41 * 366;

const MINUTES: Field = Field { name: "minute", range: 0..=59 };
const HOURS: Field = Field { name: "hour", range: 0..=23 };
const DAYS: Field = Field { name: "day of the month", range: 1..=31 };
const MONTHS: Field = Field { name: "month", range: 1..=12 };
/// Both 0 and 7 are Sunday.
const WEEKDAYS: Field = Field { name: "day of the week", range: 0..=7 };

/// One of the five fields.
struct Field {
    name: &'static str,
    range: RangeInclusive<u32>,
}

/// A crontab: a text, and for each field the numbers that it means, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crontab {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether both kinds of days are named: then either will do.
    either_day: bool,
}

impl Crontab {
    /// Reads five fields: each `*`, a number, a range `1-5`, one of them by steps `*/15`, or several with commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > CRONTAB_BYTES_MAX {
            return Err(format!("has more than {CRONTAB_BYTES_MAX} bytes"));
        }
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(
                "has not five fields: minute, hour, day of the month, month, day of the week".to_owned()
            );
        };
        let weekdays = WEEKDAYS.read(weekday)?;
        let crontab = Self {
            text: fields.join(" "),
            minutes: MINUTES.read(minute)?,
            hours: HOURS.read(hour)?,
            days: DAYS.read(day)?,
            months: MONTHS.read(month)?,
            weekdays: (weekdays | (weekdays >> 7)) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        match crontab.next(Timestamp::from_micros(0)) {
            Some(_) => Ok(crontab),
            None => Err("names a day that never comes".to_owned()),
        }
    }

    /// The text, with one space between its fields.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first minute after a time that it means; none when time ends before.
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
    /// The numbers that a field means.
    fn read(&self, text: &str) -> Result<u64, String> {
        let all = text.split(',').map(|part| self.part(part));
        let all: Option<Vec<u64>> = all.collect();
        let set = all.map(|parts| parts.into_iter().fold(0, |set, part| set | part));
        let (name, from, to) = (self.name, self.range.start(), self.range.end());
        set.ok_or_else(|| {
            format!(
                "has no {name} that is read: numbers from {from} to {to}, *, ranges, steps and commas are"
            )
        })
    }

    /// The numbers that one part means, each a bit: `*`, `5`, `1-5`, `*/2`, `1-5/2`.
    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, number(step).filter(|step| *step > 0)?),
            None => (part, 1),
        };
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (*self.range.start(), *self.range.end()),
            (_, Some((from, to))) => (number(from)?, number(to)?),
            // Steps begin nowhere without a range.
            (one, None) if step == 1 && !part.contains('/') => (number(one)?, number(one)?),
            (_, None) => return None,
        };
        let is_within = self.range.contains(&from) && self.range.contains(&to) && from <= to;
        let numbers = (from..=to).step_by(usize::try_from(step).ok()?);
        is_within.then(|| numbers.fold(0, |set, number| set | 1 << number))
    }
}

/// A plain number of one or two digits.
fn number(text: &str) -> Option<u32> {
    let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
