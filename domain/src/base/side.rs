//! The role in which a team makes a request, or has a webhook.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// The role of a team: owner of services, or consumer with declared items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Side {
    ServiceOwner,
    Consumer,
}

crate::named!(Side);
