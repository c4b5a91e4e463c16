//! The replies to refused decisions: a code for each reason, and the present state.

use crate::claim::not_claimed;
use domain::base::state;
use domain::model::wait::Wait;
use domain::rules::decide;
use domain::rules::decide::Refused;
use domain::{Change, Item, ItemId, State};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply, invalid_for_state};
use dovetail_table::Undecided;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Returns the reply to a refused decision.
pub(crate) fn refusal(call: &Call, refused: &Refused, read: &Undecided) -> Failure {
    if let Refused::IllegalTransition { from, to } = refused {
        return illegal(call, (*from, *to), read);
    }
    if let Refused::InvalidForState(problems) = refused {
        return invalid_for_state(read.change.state, problems).into();
    }
    if let Refused::NotClaimed(claim) = refused {
        return not_claimed(&refused.detail().unwrap_or_default(), read.change.state, claim);
    }
    let code = code(refused);
    // A team without the right learns nothing about the state, and a torn read shows no state.
    if matches!(refused, Refused::Torn | Refused::NotOwner) {
        return code.into();
    }
    let detail = refused.detail().unwrap_or_else(|| code.title().to_owned());
    Reply::problem(code, &detail, with_state(read)).into()
}

const fn code(refused: &Refused) -> Code {
    match refused {
        Refused::Torn => Code::Contended,
        Refused::NotOwner => Code::NotOwner,
        Refused::IllegalTransition { .. } => Code::IllegalTransition,
        Refused::NotClaimed(_) => Code::NotClaimed,
        Refused::ManualApproval => Code::ManualApproval,
        Refused::ManualCompletion => Code::ManualCompletion,
        Refused::NotReady(_) => Code::NotReady,
        Refused::NotRetryable(_) => Code::NotRetryable,
        Refused::Overtaken => Code::Overtaken,
        Refused::DeployedItemNotMain => Code::DeployedItemNotMain,
        Refused::DeployedItemTooEarly(_) => Code::DeployedItemTooEarly,
        Refused::DeployedItemNotLatest => Code::DeployedItemNotLatest,
        Refused::DeployedItemTooLarge | Refused::ItemTooLarge(_) => Code::DeployedItemTooLarge,
        Refused::PlannedItemNotAccepted => Code::PlannedItemNotAccepted,
        Refused::PlannedItemTooLate(_) => Code::PlannedItemTooLate,
        Refused::LogTooLong => Code::LogTooLong,
        Refused::LogFull => Code::LogFull,
        Refused::InvalidForState(_) => Code::InvalidForState,
        Refused::TooManyAttempts => Code::TooManyAttempts,
        Refused::OutOfNumbers => Code::OutOfNumbers,
    }
}

/// Returns the reply to a completion of a change instance that waits, with the waits of which something is left (R74).
pub(crate) fn not_ready(
    call: &Call,
    change: &Change,
    left: &[Wait],
    items: &BTreeMap<ItemId, Item>,
) -> Failure {
    let viewpoint = Viewpoint::of(call);
    let waits = left.iter().map(|wait| view::wait_view(wait, items, &viewpoint)).collect();
    let fields = Map::from_iter([
        ("state".to_owned(), json!(change.state.name())),
        ("waits_for".to_owned(), Value::Array(waits)),
    ]);
    Reply::problem(Code::NotReady, Code::NotReady.title(), fields).into()
}

/// Returns the members that a refusal adds: the present state.
fn with_state(read: &Undecided) -> Map<String, Value> {
    Map::from_iter([("state".to_owned(), json!(read.change.state.name()))])
}

/// Returns the reply to an illegal transition, with the allowed ones and the URL of a possible retry.
fn illegal(
    call: &Call,
    (from, to): (State, State),
    read @ Undecided { change, item, .. }: &Undecided,
) -> Failure {
    let mut fields = with_state(read);
    let allowed: Vec<&str> = state::moves_of_owner(from).map(State::name).collect();
    let moves = if allowed.is_empty() {
        format!("{from} is final")
    } else {
        format!("allowed: {}", allowed.join(", "))
    };
    let mut detail = format!("cannot switch from state {from} to {to} directly, {moves}");
    fields.insert("allowed".to_owned(), json!(allowed));
    if decide::check_retry(change, item).is_ok() {
        let url = format!("{}retry/", Viewpoint::of(call).url("change_instances", change.id.get()));
        detail.push_str(", or a new attempt by retry");
        fields.insert("retry".to_owned(), json!(url));
    }
    Reply::problem(Code::IllegalTransition, &detail, fields).into()
}
