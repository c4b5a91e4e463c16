//! Uses of items by items of other applications and teams.

use super::codec::{FORMAT_USES, Record};
use super::conversion::mirrors;
use crate::key::{self, Key};
use domain::model::write::Use;
use serde::{Deserialize, Serialize};

/// The use of an item by another one.
#[derive(Serialize, Deserialize)]
pub(crate) struct UseRecord {
    /// Id of the referenced item.
    #[serde(rename = "it")]
    target: u64,
    /// Id of the item with the reference.
    #[serde(rename = "by")]
    user: u64,
}

mirrors! { UseRecord = Use { target, user } }

impl Record for UseRecord {
    const TYPE: &'static str = "USE";
    type Value = Use;

    fn key(item_use: &Use) -> Key {
        key::item_use(item_use.target, item_use.user)
    }

    fn format(_item_use: &Use) -> u64 {
        FORMAT_USES
    }
}
