//! The outcome of a request.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};

/// The reason of an action that did not cancel its transaction.
const NO_REASON: &str = "None";

/// The parts of an answer that show the outcome.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Answer {
    #[serde(rename = "__type")]
    error: Option<String>,
    cancellation_reasons: Vec<Reason>,
    item: Option<IgnoredAny>,
    attributes: Option<IgnoredAny>,
    items: Option<Vec<IgnoredAny>>,
    records: Option<Vec<IgnoredAny>>,
    last_evaluated_key: Option<IgnoredAny>,
    unprocessed_keys: BTreeMap<String, IgnoredAny>,
    unprocessed_items: BTreeMap<String, IgnoredAny>,
}

/// The reason of one action of a cancelled transaction.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Reason {
    code: String,
    item: Option<IgnoredAny>,
}

impl Answer {
    /// Reads an answer. One without JSON has no parts.
    pub(super) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// Returns the outcome of the whole request, without the rows of a page unless they count.
    pub(super) fn outcome(&self, rows_count: bool) -> String {
        if let Some(error) = &self.error {
            let reasons: BTreeSet<&str> =
                self.cancellation_reasons.iter().map(|reason| reason.code.as_str()).collect();
            let names = std::iter::once(error.rsplit('#').next().unwrap_or_default()).chain(reasons);
            return names.collect::<Vec<_>>().join(" ");
        }
        let found = |rows: &Option<Vec<IgnoredAny>>| rows.as_ref().map(|rows| !rows.is_empty());
        let parts = [
            ("done", true),
            ("item", self.item.is_some()),
            ("attributes", self.attributes.is_some()),
            ("rows", rows_count && found(&self.items) == Some(true)),
            ("records", found(&self.records) == Some(true)),
            ("more", rows_count && self.last_evaluated_key.is_some()),
            ("unprocessed", !self.unprocessed_keys.is_empty() || !self.unprocessed_items.is_empty()),
        ];
        parts.iter().filter_map(|(name, is_so)| is_so.then_some(*name)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the outcome of an action of the transaction. `None` if the action did not cancel it.
    pub(super) fn outcome_of(&self, action: usize) -> Option<String> {
        if self.error.is_none() {
            return Some("done".to_owned());
        }
        let reason = self.cancellation_reasons.get(action)?;
        let item = if reason.item.is_some() { " item" } else { "" };
        (reason.code != NO_REASON).then(|| format!("{}{item}", reason.code))
    }
}
