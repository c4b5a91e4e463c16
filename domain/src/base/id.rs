//! Ids: integers of at most 53 bits that contain the key of the record, so one read finds it (ADR 1).
//!
//! A team has a number of 18 bits. The id of a team's record has that number in the upper bits and a counter of the
//! team's own records below, so a new id costs no extra write.

use crate::base::hash::Hash;
use crate::base::state::ChargeType;
use std::fmt;

const TEAM_BITS: u32 = 18;
/// Maximum number of applications of a team at a time.
pub const APPLICATIONS_MAX: usize = (1 << APPLICATION_BITS) - 1;
/// The number of item numbers of one application number, all generations together.
pub const ITEM_NUMBERS: u64 = 1 << ITEM_BITS;
const APPLICATION_BITS: u32 = 12;
const ITEM_BITS: u32 = 23;
const NUMBER_BITS: u32 = 35;
const GENERATION_BITS: u32 = 23;
const SERVICE_BITS: u32 = 33;
const VERSION_BITS: u32 = 20;

/// The numbers of one change instance: its own, then those of its deployed items; charges use the same numbers.
pub const CHANGE_STRIDE: u64 = 16;
/// The number within its block of a charge after a division.
const CONTINUED: u64 = 2;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        ///
        /// The id is an integer of at most 53 bits, so every JSON reader has it exactly.
        pub struct $name(u64);

        impl $name {
            /// Returns the integer on the wire.
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A team: consumer, service owner or both.
    TeamId
);
id!(
    /// A service in the catalogue.
    ServiceId
);
id!(
    /// A service item: (team, application number, number).
    ItemId
);
id!(
    /// A change instance: (consumer team, number).
    ChangeId
);
id!(
    /// A deployed item version: (consumer team, number).
    DeployedId
);
id!(
    /// A submission: (team, number).
    SubmissionId
);
id!(
    /// An API key: (team, number).
    KeyId
);
id!(
    /// A member of a team: (team, number).
    MemberId
);
id!(
    /// A webhook of a team: (team, number).
    WebhookId
);
id!(
    /// A message of a team to the consumers of its services: (team, number).
    MessageId
);

id!(
    /// A charge: (consumer team, number).
    ChargeId
);
id!(
    /// A version of a service's config: (service, version).
    ConfigId
);

impl KeyId {
    /// Returns the id of a team's key from the hash of its secret.
    pub fn of(team: TeamId, hash: &str) -> Self {
        Self(of_text(team, hash))
    }
}

impl MemberId {
    /// Returns the id of a team's member from the issuer's subject.
    pub fn of(team: TeamId, subject: &str) -> Self {
        Self(of_text(team, subject))
    }
}

impl WebhookId {
    /// Returns the id of a team's webhook from the hash of its first secret.
    pub fn of(team: TeamId, hash: &str) -> Self {
        Self(of_text(team, hash))
    }
}

/// Computes a number from a text, so no counter is needed.
///
/// In one of three million teams, two of a hundred keys have the same number. The table then refuses the second key.
fn of_text(team: TeamId, text: &str) -> u64 {
    let beginning =
        Hash::of(text).as_bytes().iter().take(8).fold(0, |all, byte| (all << 8) | u64::from(*byte));
    // Odd, because the number 0 is invalid.
    (team.0 << NUMBER_BITS) | (beginning >> (u64::BITS - NUMBER_BITS)) | 1
}

/// Splits `raw` into the parts above and within the lowest `bits`; none if a part is zero or `raw` is too large.
const fn split(raw: u64, upper_bits: u32, bits: u32) -> Option<(u64, u64)> {
    let (upper, lower) = (raw >> bits, raw & ((1 << bits) - 1));
    if upper == 0 || lower == 0 || upper >> upper_bits != 0 { None } else { Some((upper, lower)) }
}

const fn join(upper: u64, bits: u32, lower: u64) -> Option<u64> {
    if lower == 0 || lower >> bits != 0 { None } else { Some((upper << bits) | lower) }
}

impl TeamId {
    /// Returns the team with this number; none beyond 18 bits.
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 || number >> TEAM_BITS != 0 { None } else { Some(Self(number)) }
    }
}

impl ServiceId {
    /// Returns the service with this number; none beyond 2^53.
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 || number >> 53 != 0 { None } else { Some(Self(number)) }
    }
}

impl ConfigId {
    /// Returns the version of the service's config; none when no numbers are left.
    pub fn new(service: ServiceId, version: u64) -> Option<Self> {
        let id = join(service.0, VERSION_BITS, version).map(Self);
        id.filter(|_| service.0 >> SERVICE_BITS == 0)
    }

    /// Parses an id from the wire.
    pub fn parse(raw: u64) -> Option<Self> {
        split(raw, SERVICE_BITS, VERSION_BITS).map(|_| Self(raw))
    }

    /// Returns the service.
    pub const fn service(self) -> ServiceId {
        ServiceId(self.0 >> VERSION_BITS)
    }

    /// Returns the version, from 1 per service.
    pub const fn version(self) -> u64 {
        self.0 & ((1 << VERSION_BITS) - 1)
    }
}

/// An application of a team: (team, number, generation).
///
/// A number of an empty application can get a new application, with the next generation (R45, ADR 31). On the wire the
/// id is an integer of at most 53 bits. The first generation is written without its number: `team << 12 | number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationId {
    team: TeamId,
    number: u64,
    generation: u64,
}

impl ApplicationId {
    /// Returns the team's first application with this number; none beyond 12 bits.
    pub fn new(team: TeamId, number: u64) -> Option<Self> {
        join(team.0, APPLICATION_BITS, number).map(|_| Self { team, number, generation: 0 })
    }

    /// Returns the next application with the same number; none when no generations are left.
    pub fn next_generation(self) -> Option<Self> {
        let generation = self.generation + 1;
        (generation >> GENERATION_BITS == 0).then_some(Self { generation, ..self })
    }

    /// Parses an id from the wire.
    pub fn parse(raw: u64) -> Option<Self> {
        if raw >> (TEAM_BITS + APPLICATION_BITS) == 0 {
            let (team, number) = split(raw, TEAM_BITS, APPLICATION_BITS)?;
            return Some(Self { team: TeamId(team), number, generation: 0 });
        }
        let (team, lower) = split(raw, TEAM_BITS, NUMBER_BITS)?;
        let (generation, number) = split(lower, GENERATION_BITS, APPLICATION_BITS)?;
        Some(Self { team: TeamId(team), number, generation })
    }

    /// Returns the integer on the wire.
    pub const fn get(self) -> u64 {
        if self.generation == 0 {
            return self.team.0 << APPLICATION_BITS | self.number;
        }
        self.team.0 << NUMBER_BITS | self.generation << APPLICATION_BITS | self.number
    }

    /// Returns the team of the application.
    pub const fn team(self) -> TeamId {
        self.team
    }

    /// Returns the number within the team, up to 4,095.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Returns the number of earlier applications with the same number.
    pub const fn generation(self) -> u64 {
        self.generation
    }
}

impl fmt::Display for ApplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl ItemId {
    /// Returns the item with this number among those of the application's number; none when no numbers are left.
    pub fn new(application: ApplicationId, number: u64) -> Option<Self> {
        join(application.team.0 << APPLICATION_BITS | application.number, ITEM_BITS, number).map(Self)
    }

    /// Parses an id from the wire.
    pub fn parse(raw: u64) -> Option<Self> {
        let (upper, _) = split(raw, TEAM_BITS + APPLICATION_BITS, ITEM_BITS)?;
        split(upper, TEAM_BITS, APPLICATION_BITS).map(|_| Self(raw))
    }

    /// Returns the application of the item, given its generation.
    pub const fn application(self, generation: u64) -> ApplicationId {
        ApplicationId { team: self.team(), number: self.application_number(), generation }
    }

    /// Returns the number of the application within the team.
    pub const fn application_number(self) -> u64 {
        (self.0 >> ITEM_BITS) & ((1 << APPLICATION_BITS) - 1)
    }

    /// Returns the team of the item.
    pub const fn team(self) -> TeamId {
        TeamId(self.0 >> (ITEM_BITS + APPLICATION_BITS))
    }

    /// Returns the number among the items of all applications with the same number.
    pub const fn number(self) -> u64 {
        self.0 & ((1 << ITEM_BITS) - 1)
    }
}

macro_rules! team_number {
    ($($name:ident),*) => {$(
        impl $name {
            /// Returns the team's record with this number; none when no numbers are left.
            pub fn new(team: TeamId, number: u64) -> Option<Self> {
                join(team.0, NUMBER_BITS, number).map(Self)
            }

            /// Parses an id from the wire.
            pub fn parse(raw: u64) -> Option<Self> {
                split(raw, TEAM_BITS, NUMBER_BITS).map(|_| Self(raw))
            }

            /// Returns the team that allotted the number.
            pub const fn team(self) -> TeamId {
                TeamId(self.0 >> NUMBER_BITS)
            }

            /// Returns the number within the team.
            pub const fn number(self) -> u64 {
                self.0 & ((1 << NUMBER_BITS) - 1)
            }
        }
    )*};
}

team_number!(ChangeId, DeployedId, SubmissionId, KeyId, MemberId, WebhookId, MessageId, ChargeId);

impl ChargeId {
    /// Returns the id of the fee for a change instance: the same number.
    pub const fn of_change(change: ChangeId) -> Self {
        Self(change.0)
    }

    /// Returns the id of the first charge for time after a change instance: the next number.
    pub const fn of_time(change: ChangeId) -> Self {
        Self(change.0 | 1)
    }

    /// Returns the id of the charge that continues a charge for time after its division at this revision of the
    /// item.
    ///
    /// The number is a hash, because all divisions of a team would compete for a counter. No other charge has a number
    /// of this form. Two divisions compute the same number once in two billion pairs. Then the table refuses the second
    /// division, and its next `attempt` computes another number.
    pub fn continued(item: ItemId, revision: u64, attempt: u32) -> Self {
        let computed = of_text(item.team(), &format!("{item} {revision} {attempt}"));
        Self(computed / CHANGE_STRIDE * CHANGE_STRIDE + CONTINUED)
    }

    /// Returns whether the number has the form of [`continued`](Self::continued).
    pub const fn is_continued(self) -> bool {
        self.0 % CHANGE_STRIDE == CONTINUED
    }

    /// Returns the type of the charge.
    pub const fn charge_type(self) -> ChargeType {
        if self.0.is_multiple_of(CHANGE_STRIDE) { ChargeType::CostPerChange } else { ChargeType::MonthlyCost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_carry_their_parts_and_fit_the_wire() {
        let team = TeamId::new((1 << 18) - 1).unwrap();
        let application = ApplicationId::new(team, 4095).unwrap();
        let item = ItemId::new(application, (1 << 23) - 1).unwrap();
        assert_eq!(item.get(), (1 << 53) - 1);
        assert_eq!(ItemId::parse(item.get()), Some(item));
        assert_eq!((item.application(0), item.team(), item.number()), (application, team, (1 << 23) - 1));
        let change = ChangeId::new(team, 16).unwrap();
        assert_eq!(ChangeId::parse(change.get()), Some(change));
        assert_eq!((change.team(), change.number()), (team, 16));
        assert_eq!((application.team(), application.number()), (team, 4095));
    }

    #[test]
    fn a_later_generation_has_an_id_of_its_own() {
        let first = ApplicationId::new(TeamId::new(1).unwrap(), 1).unwrap();
        let second = first.next_generation().unwrap();
        assert_eq!((first.get(), second.get()), (4097, 34_359_742_465));
        assert_eq!([4097, 34_359_742_465].map(ApplicationId::parse), [Some(first), Some(second)]);
        assert_eq!(ItemId::new(first, 7), ItemId::new(second, 7), "both share the numbers of items");
        assert_eq!(ItemId::new(second, 7).map(|item| item.application(1)), Some(second));
        let largest = ApplicationId::new(TeamId::new((1 << 18) - 1).unwrap(), 4095).unwrap();
        let last = largest.team.0 << 35 | ((1 << 23) - 1) << 12 | 4095;
        assert_eq!(last, (1 << 53) - 1);
        assert_eq!(ApplicationId::parse(last).map(ApplicationId::get), Some(last));
        assert_eq!(ApplicationId::parse(last).and_then(ApplicationId::next_generation), None);
        // A later form needs a generation.
        assert_eq!(ApplicationId::parse(1 << 35 | 1), None);
    }

    #[test]
    fn numbers_out_of_range_are_no_ids() {
        let team = TeamId::new(1).unwrap();
        assert_eq!(TeamId::new(0), None);
        assert_eq!(TeamId::new(1 << 18), None);
        assert_eq!(ApplicationId::new(team, 4096), None);
        for raw in [0, 1, 4095, 1 << 40, u64::MAX, 1 << 53] {
            assert_eq!(ItemId::parse(raw), None, "{raw}");
            assert_eq!(ChangeId::parse(raw), None, "{raw}");
        }
        // Team 32 has no application 0, so item 1 cannot belong to it.
        assert_eq!((ItemId::parse((1 << 40) | 1), ApplicationId::parse(32 << 12)), (None, None));
        let service = ServiceId::new((1 << 33) - 1).unwrap();
        let config = ConfigId::new(service, (1 << 20) - 1).unwrap();
        assert_eq!(config.get(), (1 << 53) - 1);
        assert_eq!(ConfigId::parse(config.get()), Some(config));
        assert_eq!((config.service(), config.version()), (service, (1 << 20) - 1));
        assert_eq!(ConfigId::new(service, 1 << 20), None);
        assert_eq!(ConfigId::new(ServiceId::new(1 << 33).unwrap(), 1), None);
        assert_eq!([0, 1, 1 << 20, 1 << 53].map(ConfigId::parse), [None; 4]);
        assert_eq!((ServiceId::new(0), ServiceId::new(1 << 53)), (None, None));
        assert_eq!(ServiceId::new((1 << 53) - 1).map(ServiceId::get), Some((1 << 53) - 1));
    }
}
