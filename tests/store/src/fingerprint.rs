//! Fingerprints of records and tables.

use crate::record::Record;
use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A fingerprint of 64 bits. Two different values share one with a chance of 1 in 2^64.
///
/// Fingerprints of several values add up in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Returns the fingerprint of a record. It includes the content that the debug output hides.
    pub fn of(record: &Record) -> Self {
        let mut hasher = DefaultHasher::new();
        match record {
            Record::Team(team) => (team.id, &team.name, &team.metadata).hash(&mut hasher),
            Record::Application(application) => {
                hash_debug(&application.created, &mut hasher);
                hash_debug(&application.modified, &mut hasher);
                (application.id, &application.name, application.digest, application.next_item)
                    .hash(&mut hasher);
                (application.items_before, application.drifted, application.uses_ever, application.retired)
                    .hash(&mut hasher);
                application.metadata.hash(&mut hasher);
            }
            Record::Deployed(deployed) => {
                hash_debug(deployed, &mut hasher);
                (deployed.item, deployed.change, deployed.hash, &deployed.data, &deployed.request)
                    .hash(&mut hasher);
                (deployed.schema_version, deployed.is_observed, deployed.is_drifted).hash(&mut hasher);
            }
            Record::Head(_)
            | Record::Item(_)
            | Record::Change(_)
            | Record::Charge(_)
            | Record::Submission(_)
            | Record::IdempotencyRecord(..)
            | Record::Work(_)
            | Record::Staging(_)
            | Record::Share(_)
            | Record::Claim(_)
            | Record::Use(_)
            | Record::Declaration(..)
            | Record::Service(..) => hash_debug(record, &mut hasher),
        }
        Self(hasher.finish())
    }

    /// Returns the fingerprint with one more value.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Returns the fingerprint with one value less.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

fn hash_debug(value: &impl Debug, hasher: &mut DefaultHasher) {
    let _infallible = write!(Sink(hasher), "{value:?}");
}

/// Hashes formatted text without an intermediate string.
struct Sink<'a>(&'a mut DefaultHasher);

impl Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
