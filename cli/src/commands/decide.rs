//! The decisions of service owners: `approve`, `reject`, `complete`, `fail`, `close` and `retry`.

use crate::{
    api::{
        client::{Api, Call, ORCABASE},
        filter,
        kinds::ITEM,
        object, suggest,
    },
    base::{
        failure::{Done, Failure},
        json::{self, At as _},
        progress::Progress,
        text::{Column, joined},
    },
    document::{file, json as data},
    output::Output,
};
use clap::Args;
use domain::State;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Number of decisions that are sent concurrently.
const CONCURRENT: usize = 8;
/// Maximum number of change instances of one command.
const CHANGES_MAX: usize = 10_000;

/// The changes of a command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Chosen {
    /// Ids of changes, or names as APPLICATION/SERVICE/ITEM
    #[arg(value_name = "CHANGE", required_unless_present = "filters")]
    changes: Vec<String>,
    /// All changes with this value, such as `service_name=VM`; may be repeated
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter::parse, conflicts_with = "changes")]
    filters: Vec<(String, String)>,
}

/// A decision with its reason.
#[derive(Args, Clone, Debug)]
pub(crate) struct Decide {
    #[command(flatten)]
    chosen: Chosen,
    /// A text for the consumer and the history
    #[arg(long, value_name = "TEXT")]
    log: Option<String>,
}

/// A decision that ends the work on a change.
#[derive(Args, Clone, Debug)]
pub(crate) struct Finish {
    #[command(flatten)]
    decide: Decide,
    /// Number of your claim, which must be the newest of each change
    #[arg(long, value_name = "NUMBER")]
    claim: Option<u64>,
}

/// Completes approved changes
#[derive(Args, Clone, Debug)]
pub(crate) struct Complete {
    #[command(flatten)]
    finish: Finish,
    /// A JSON file with the deployed item; `-` is standard input
    #[arg(long, value_name = "FILE")]
    deployed: Option<PathBuf>,
}

/// What a decision says with the new state.
#[derive(Debug, Default)]
pub(crate) struct Details<'a> {
    pub(crate) log: Option<&'a str>,
    pub(crate) deployed: Option<Value>,
    pub(crate) claim: Option<u64>,
}

/// What a command does with each change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Approve,
    Reject,
    Complete,
    Fail,
    Close,
    Retry,
}

impl Action {
    /// Returns the states from which the action is possible.
    const fn from(self) -> &'static [State] {
        match self {
            Self::Approve | Self::Reject => &[State::Pending],
            Self::Complete | Self::Fail => &[State::Approved],
            Self::Close | Self::Retry => &[State::Rejected, State::Errored],
        }
    }

    /// Returns the state after the action; none for a new attempt.
    const fn to(self) -> Option<State> {
        match self {
            Self::Approve => Some(State::Approved),
            Self::Reject => Some(State::Rejected),
            Self::Complete => Some(State::Completed),
            Self::Fail => Some(State::Errored),
            Self::Close => Some(State::Closed),
            Self::Retry => None,
        }
    }

    /// Returns the names of the states from which the action is possible.
    fn start_names(self, separator: &str) -> String {
        self.from().iter().map(|state| state.name()).collect::<Vec<_>>().join(separator)
    }
}

/// Executes `approve`, `close` or `retry`.
pub(crate) fn decide(api: &Api, action: Action, command: &Decide, out: &mut Output) -> Result<Done, Failure> {
    let details = Details { log: command.log.as_deref(), ..Details::default() };
    update(api, action, &command.chosen, details, out)
}

/// Executes `reject` or `fail`.
pub(crate) fn finish(api: &Api, action: Action, command: &Finish, out: &mut Output) -> Result<Done, Failure> {
    update(api, action, &command.decide.chosen, command.details(), out)
}

/// Executes `complete`.
pub(crate) fn complete(api: &Api, command: &Complete, out: &mut Output) -> Result<Done, Failure> {
    let Complete { finish, deployed } = command;
    let deployed = deployed.as_deref().map(self::deployed).transpose()?;
    update(api, Action::Complete, &finish.decide.chosen, Details { deployed, ..finish.details() }, out)
}

impl Finish {
    fn details(&self) -> Details<'_> {
        Details { log: self.decide.log.as_deref(), deployed: None, claim: self.claim }
    }
}

/// Decides one change. Returns it.
pub(crate) fn one(api: &Api, action: Action, change: u64, details: Details<'_>) -> Result<Value, Failure> {
    send(api, action, change, &body(action, details))
}

/// Sends a decision.
fn send(api: &Api, action: Action, change: u64, body: &Value) -> Result<Value, Failure> {
    let (method, end) = if action.to().is_some() { ("PATCH", "") } else { ("POST", "retry/") };
    let path = format!("{ORCABASE}/serviceowner/change_instances/{change}/{end}");
    api.send(&Call { method, path: &path, headers: &[], body })
}

/// Updates the chosen changes, and reports the result of each.
fn update(
    api: &Api,
    action: Action,
    chosen: &Chosen,
    details: Details<'_>,
    out: &mut Output,
) -> Result<Done, Failure> {
    let body = body(action, details);
    let ids = ids(api, action, chosen)?;
    // New attempts take their numbers from one record per consumer, so concurrent ones would conflict.
    let threads = if action.to().is_some() { CONCURRENT } else { 1 };
    report(&ids, in_threads(threads, &ids, |id| send(api, action, *id, &body)), out)
}

/// Returns the body of an update: only what the command says.
fn body(action: Action, details: Details<'_>) -> Value {
    json::object([
        ("state", action.to().map(|state| state.name().into())),
        ("log", details.log.map(Value::from)),
        ("deployed_item", details.deployed),
        ("claim", details.claim.map(Value::from)),
    ])
}

fn deployed(path: &Path) -> Result<Value, Failure> {
    data::value(path, &file::read(path)?)
}

/// Returns the ids of the chosen changes, each once.
fn ids(api: &Api, action: Action, chosen: &Chosen) -> Result<Vec<u64>, Failure> {
    let is_id = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut open = Vec::new();
    if !chosen.changes.iter().all(is_id) || chosen.changes.is_empty() {
        let state = ("state".to_owned(), action.start_names(","));
        let filters: Vec<_> = chosen.filters.iter().cloned().chain([state]).collect();
        let path = format!("{ORCABASE}/serviceowner/change_instances/{}", filter::query(&filters));
        open = api.list(&path, CHANGES_MAX)?;
    }
    let mut ids = Vec::new();
    if chosen.changes.is_empty() {
        ids.extend(open.iter().filter_map(|change| change.at("/id").as_u64()));
    }
    for text in &chosen.changes {
        ids.push(if is_id(text) {
            text.parse().map_err(Failure::failed)?
        } else {
            named(&open, action, text)?
        });
    }
    let mut seen = std::collections::BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    Ok(ids)
}

/// Returns the id of the one change with this name.
fn named(open: &[Value], action: Action, name: &str) -> Result<u64, Failure> {
    let found = open.iter().filter(|change| joined(change, ITEM) == name);
    let ids: Vec<u64> = found.filter_map(|change| change.at("/id").as_u64()).collect();
    object::only_id("change", name, &ids)?
        .ok_or_else(|| Failure::Failed(format!("no change of `{name}` is {}", action.start_names(" or "))))
}

/// Calls a function for each id, several at a time; the results have the order of the ids.
fn in_threads(
    threads: usize,
    ids: &[u64],
    send: impl Fn(&u64) -> Result<Value, Failure> + Sync,
) -> Vec<Option<Result<Value, Failure>>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = ids.iter().map(|_| Mutex::new(None)).collect();
    let progress = Progress::steps(ids.len());
    thread::scope(|scope| {
        for _ in 0..threads.min(ids.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((id, result)) = ids.get(at).zip(results.get(at)) else { return };
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(send(id));
                    progress.step();
                }
            });
        }
    });
    results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The columns of the results.
const RESULTS: [Column; 4] =
    [("ID", &["/id"]), ("STATE", &["/state"]), ("ITEM", ITEM), ("ERROR", &["/error"])];

/// Prints a line for each change. Fails if one failed: first because of a rule, then because of a permission.
fn report(
    ids: &[u64],
    results: Vec<Option<Result<Value, Failure>>>,
    out: &mut Output,
) -> Result<Done, Failure> {
    let (mut values, mut failures) = (Vec::new(), Vec::new());
    for (id, result) in ids.iter().zip(results) {
        match result {
            Some(Ok(change)) => values.push(change),
            Some(Err(failure)) => {
                let failure = suggest::filter(failure);
                values.push(json!({"id": id, "error": failure.to_string()}));
                failures.push(failure);
            }
            None => {}
        }
    }
    out.list(&values, &RESULTS)?;
    let message = format!("{} of {} failed", failures.len(), ids.len());
    let has = |is: fn(&Failure) -> bool| failures.iter().any(is);
    if failures.is_empty() {
        Ok(Done::Success)
    } else if has(|failure| matches!(failure, Failure::Refused(_))) {
        Err(Failure::Problems(message))
    } else if has(|failure| matches!(failure, Failure::NotAllowed(_))) {
        Err(Failure::NotAllowed(message))
    } else {
        Err(Failure::Failed(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_has_only_what_the_command_says() {
        let complete =
            Details { deployed: Some(json!({"ip": "10.0.0.1"})), claim: Some(4), ..Details::default() };
        for (action, details, expected) in [
            (Action::Approve, Details::default(), json!({"state": "APPROVED"})),
            (
                Action::Complete,
                complete,
                json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}, "claim": 4}),
            ),
            (
                Action::Fail,
                Details { log: Some("full"), claim: Some(1), ..Details::default() },
                json!({"state": "ERRORED", "log": "full", "claim": 1}),
            ),
            (Action::Retry, Details::default(), json!({})),
        ] {
            assert_eq!(body(action, details), expected);
        }
    }
}
