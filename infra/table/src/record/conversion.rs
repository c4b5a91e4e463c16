//! The conversion between domain values and their stored parts: by type, and field by field.

use domain::account::audit_log::Event;
use domain::base::actor::Role;
use domain::base::id::{
    ApplicationId, ChargeId, ConfigId, DeployedId, KeyId, MemberId, MessageId, ServiceId, WebhookId,
};
use domain::base::money::{Amount, Prices};
use domain::base::side::Side;
use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::catalog::service::{ReferencesSee, ServiceState, UpdateStrategy};
use domain::model::charge::Charges;
use domain::model::item::Creation;
use domain::model::metadata::Since;
use domain::model::staging::{StagingId, StagingState};
use domain::model::strategy::Strategy;
use domain::model::submission::Scope;
use domain::outreach::healthcheck::Status;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::{ChangeId, Hash, ItemId, State, SubmissionId, TeamId, Timestamp};

/// The error of a stored part without a valid value, with the name of the part.
pub(crate) struct Bad(pub(crate) &'static str);

/// The stored part of a domain value.
pub(crate) trait Part<T>: Sized {
    /// Returns the stored part of a value.
    fn of(value: &T) -> Self;
    /// Returns the value of a stored part.
    fn value(self) -> Result<T, Bad>;
}

/// Implements `Part` for a struct whose fields have the names of the domain type.
///
/// `..group: Type { fields }` stands for a field of the domain type whose own fields are fields of the stored struct.
/// Fields after that are computed from the value, for conditions, filters and expiry, and are not read back.
macro_rules! mirrors {
    (
        $part:ident = $value:ident {
            $($field:ident),* $(, ..$group:ident: $inner:ident { $($nested:ident),* $(,)? })* $(,)?
        } $(, $computed:ident = |$of:ident| $computation:expr)*
    ) => {
        impl $crate::record::conversion::Part<$value> for $part {
            fn of(value: &$value) -> Self {
                Self {
                    $($field: $crate::record::conversion::Part::of(&value.$field),)*
                    $($($nested: $crate::record::conversion::Part::of(&value.$group.$nested),)*)*
                    $($computed: { let $of = value; $computation },)*
                }
            }

            fn value(self) -> Result<$value, $crate::record::conversion::Bad> {
                Ok($value {
                    $($field: $crate::record::conversion::Part::value(self.$field)?,)*
                    $($group: $inner { $($nested: $crate::record::conversion::Part::value(self.$nested)?,)* },)*
                })
            }
        }
    };
}

pub(crate) use mirrors;

impl<T, P: Part<T>> Part<Option<T>> for Option<P> {
    fn of(value: &Option<T>) -> Self {
        value.as_ref().map(P::of)
    }

    fn value(self) -> Result<Option<T>, Bad> {
        self.map(P::value).transpose()
    }
}

impl<T, P: Part<T>> Part<Vec<T>> for Vec<P> {
    fn of(value: &Vec<T>) -> Self {
        value.iter().map(P::of).collect()
    }

    fn value(self) -> Result<Vec<T>, Bad> {
        self.into_iter().map(P::value).collect()
    }
}

/// A type with a usual value. An optional part omits it.
pub(crate) trait Usual: PartialEq + Sized {
    const USUAL: Self;
}

impl<T: Usual, P: Part<T>> Part<T> for Option<P> {
    fn of(value: &T) -> Self {
        (*value != T::USUAL).then(|| P::of(value))
    }

    fn value(self) -> Result<T, Bad> {
        self.map_or(Ok(T::USUAL), P::value)
    }
}

macro_rules! usual {
    ($($value:ident: $usual:expr),+ $(,)?) => {
        $(impl Usual for $value {
            const USUAL: Self = $usual;
        })+
    };
}

usual! {
    Amount: Self::ZERO, Charges: Self::NONE, Kind: Self::Direct, Side: Self::ServiceOwner, Prices: Self::NONE,
    ReferencesSee: Self::State, Since: Self::EVER, Strategy: Self::Modify, UpdateStrategy: Self::Modify,
    bool: false, u64: 0, usize: 0,
}

macro_rules! same {
    ($($value:ident),+) => {
        $(impl Part<Self> for $value {
            fn of(value: &Self) -> Self {
                Self::clone(value)
            }

            fn value(self) -> Result<Self, Bad> {
                Ok(self)
            }
        })+
    };
}

same! { String, bool, i64, u16, u64, usize }

macro_rules! ids {
    ($($id:ident::$parse:ident $what:literal),+ $(,)?) => {
        $(impl Part<$id> for u64 {
            fn of(id: &$id) -> Self {
                id.get()
            }

            fn value(self) -> Result<$id, Bad> {
                $id::$parse(self).ok_or(Bad($what))
            }
        })+
    };
}

ids! {
    ApplicationId::parse "application",
    ChangeId::parse "change",
    ChargeId::parse "charge",
    ConfigId::parse "config",
    DeployedId::parse "deployed item",
    ItemId::parse "item",
    KeyId::parse "API key",
    MemberId::parse "member",
    MessageId::parse "message",
    ServiceId::new "service",
    StagingId::parse "staging",
    SubmissionId::parse "submission",
    TeamId::new "team",
    WebhookId::parse "webhook",
}

macro_rules! names {
    ($($named:ident $what:literal),+ $(,)?) => {
        $(impl Part<$named> for String {
            fn of(named: &$named) -> Self {
                named.name().to_owned()
            }

            fn value(self) -> Result<$named, Bad> {
                $named::parse(&self).ok_or(Bad($what))
            }
        })+
    };
}

names! {
    ChangeType "change type",
    Creation "creation",
    Event "event",
    Kind "kind",
    Side "role",
    Role "role",
    RuntimeState "runtime state",
    Scope "scope",
    ServiceState "service state",
    StagingState "state",
    State "state",
    Status "status",
    ReferencesSee "references see",
    UpdateStrategy "update strategy",
}

impl Part<Timestamp> for u64 {
    fn of(at: &Timestamp) -> Self {
        at.micros()
    }

    fn value(self) -> Result<Timestamp, Bad> {
        Ok(Timestamp::from_micros(self))
    }
}

impl Part<Hash> for String {
    fn of(hash: &Hash) -> Self {
        hash.to_string()
    }

    fn value(self) -> Result<Hash, Bad> {
        Hash::parse(&self).ok_or(Bad("hash"))
    }
}

impl Part<Crontab> for String {
    fn of(crontab: &Crontab) -> Self {
        crontab.text().to_owned()
    }

    fn value(self) -> Result<Crontab, Bad> {
        Crontab::parse(&self).map_err(|_| Bad("crontab"))
    }
}
