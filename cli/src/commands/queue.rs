//! The command `queue`: the changes that wait for a service owner.

use crate::{
    api::{
        client::{Api, ORCABASE},
        filter,
        kinds::{CHANGES, CLAIMS},
    },
    base::failure::{Done, Failure},
    commands::watch::Watch,
    output::Output,
};
use clap::Args;

/// Lists the changes that wait for your team
#[derive(Args, Clone, Debug)]
pub(crate) struct Queue {
    /// A filter of the API, such as `service_name=VM`; may be repeated
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter::parse)]
    filters: Vec<(String, String)>,
    /// Only changes of which nothing is left that they wait for
    #[arg(long)]
    ready: bool,
    #[command(flatten)]
    claims: Claims,
    /// Maximum number of changes
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    watch: Watch,
}

/// What to list of claims.
#[derive(Args, Clone, Debug, Default)]
struct Claims {
    /// Show the newest claim of each change: its number, its worker and its end
    #[arg(long)]
    claims: bool,
    /// Only changes that a worker holds
    #[arg(long, conflicts_with_all = ["unclaimed", "claimed_by"])]
    claimed: bool,
    /// Only changes that no worker holds
    #[arg(long, conflicts_with = "claimed_by")]
    unclaimed: bool,
    /// Only changes that this worker holds
    #[arg(long, value_name = "WORKER")]
    claimed_by: Option<String>,
}

impl Claims {
    /// Returns the parameters of the list.
    fn filters(&self) -> impl Iterator<Item = (String, String)> {
        let flag = |is_set: bool, value: &str| is_set.then(|| value.to_owned());
        let filters = [
            ("claims", flag(self.claims, "true")),
            ("claimed", flag(self.claimed, "true")),
            ("claimed", flag(self.unclaimed, "false")),
            ("claimed_by", self.claimed_by.clone()),
        ];
        filters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
    }
}

/// Executes `queue`.
pub(crate) fn queue(api: &Api, command: &Queue, out: &mut Output) -> Result<Done, Failure> {
    let Queue { filters, ready, claims, limit, watch } = command;
    let mut filters = filters.clone();
    if !filters.iter().any(|(name, _)| name == "state") {
        filters.push(("state".to_owned(), "PENDING,APPROVED".to_owned()));
    }
    filters.extend(ready.then(|| ("is_ready".to_owned(), "true".to_owned())));
    filters.extend(claims.filters());
    let path = format!("{ORCABASE}/serviceowner/change_instances/{}", filter::query(&filters));
    if claims.claims {
        watch.list(api, &path, *limit, &CLAIMS, out)
    } else {
        watch.list(api, &path, *limit, &CHANGES, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_about_claims_are_filters_of_the_list() {
        let none = Claims::default;
        let by = |worker: &str| Some(worker.to_owned());
        for (claims, expected) in [
            (none(), ""),
            (Claims { claims: true, ..none() }, "?claims=true"),
            (Claims { claimed: true, ..none() }, "?claimed=true"),
            (Claims { unclaimed: true, ..none() }, "?claimed=false"),
            (Claims { claims: true, claimed_by: by("a@b"), ..none() }, "?claims=true&claimed_by=a%40b"),
        ] {
            assert_eq!(filter::query(&claims.filters().collect::<Vec<_>>()), expected);
        }
    }
}
