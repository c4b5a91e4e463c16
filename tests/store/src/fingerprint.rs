//! Fingerprints: 64 bits that tell records, and tables, apart.

use crate::record::Record;
use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

/// 64 bits that tell two things apart, but for one chance in 2^64; of many things, added up in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of a record, made of all that it shows and of what it hides from logs.
    pub fn of(record: &Record) -> Self {
        let mut hasher = DefaultHasher::new();
        match record {
            Record::Team(team) => (team.id, &team.name, &team.metadata).hash(&mut hasher),
            Record::Application(application) => {
                shown(&application.created, &mut hasher);
                shown(&application.modified, &mut hasher);
                (application.id, &application.name, application.digest, application.next_item)
                    .hash(&mut hasher);
                application.metadata.hash(&mut hasher);
            }
            Record::Deployed(deployed) => {
                shown(deployed, &mut hasher);
                (deployed.item, deployed.change, deployed.hash, &deployed.data, &deployed.request)
                    .hash(&mut hasher);
            }
            Record::Head(_)
            | Record::Item(_)
            | Record::Change(_)
            | Record::Charge(_)
            | Record::Submission(_)
            | Record::Remembered(..)
            | Record::Work(_)
            | Record::Staging(_)
            | Record::Share(_)
            | Record::Declaration(..)
            | Record::Service(..) => shown(record, &mut hasher),
        }
        Self(hasher.finish())
    }

    /// With one more thing.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// With one thing less.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

fn shown(value: &impl Debug, hasher: &mut DefaultHasher) {
    let _infallible = write!(Sink(hasher), "{value:?}");
}

/// Takes text in as it is formatted; no text is made of it.
struct Sink<'a>(&'a mut DefaultHasher);

impl Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
