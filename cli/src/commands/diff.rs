//! The command `diff`: the differences between the declarations after two submissions.

use crate::{
    api::client::{Api, ORCABASE},
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    output::{Output, plan},
};
use clap::Args;
use serde_json::{Value, json};

/// Compares the declarations after two submissions
#[derive(Args, Clone, Debug)]
pub(crate) struct Diff {
    /// Id of the earlier submission
    #[arg(value_name = "FROM")]
    from: u64,
    /// Id of the later submission
    #[arg(value_name = "TO")]
    to: u64,
}

/// Executes `diff`.
pub(crate) fn diff(api: &Api, command: &Diff, out: &mut Output) -> Result<Done, Failure> {
    let difference = difference(api, command.from, command.to)?;
    if !out.json(&difference)? {
        out.text(&plan::difference(&difference))?;
    }
    Ok(Done::Success)
}

/// Returns all differences between the declarations after two submissions.
pub(crate) fn difference(api: &Api, from: u64, to: u64) -> Result<Value, Failure> {
    let (mut metadata, mut items) = (Vec::new(), Vec::new());
    api.pages(format!("{ORCABASE}/consumer/submissions/{from}/difference/?to={to}"), |page| {
        metadata.extend_from_slice(page.list_at("/metadata"));
        items.extend_from_slice(page.list_at("/service_items"));
    })?;
    Ok(json!({"from": from, "to": to, "metadata": metadata, "service_items": items}))
}
