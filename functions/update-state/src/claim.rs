//! Claims of workers on the work of an owner (R64): of one change instance, or of the oldest free ones.

mod batch;

pub(crate) use batch::batch;

use crate::body;
use domain::model::claim::Claim;
use domain::rules::claim;
use domain::rules::claim::{ClaimRequest, Refused};
use domain::{Change, ChangeId, State};
use dovetail_aws::retry;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::Table;
use serde_json::{Map, Value, json};

/// Takes, extends or releases the claim on the work of a change instance.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ChangeId::parse)?;
    let claimed = retry::until_stored(retry::WRITE, |_| Box::pin(attempt(table, call, id)));
    let (change, claim) = claimed.await?.ok_or(Code::Contended)?;
    let view = view::light_change_instance(&change, &Viewpoint::of(call));
    Reply::new(200, view.with_claim(Some(&claim)))
}

/// Makes one attempt: loads, decides and stores. Returns `None` if another worker was faster.
async fn attempt(table: &Table, call: &Call, id: ChangeId) -> Result<Option<(Change, Claim)>, Failure> {
    let change = load(table, call, id).await?;
    // The body comes after the visibility check, so a foreign change instance is 404 whatever the body contains.
    let request = body::claim(call.fields()?)?;
    let before = table.claim(change.item, change.owner.id).await?;
    let decided = claim::claim(&change, &before, &request, &call.caller.team, call.now);
    let after = decided.map_err(|refused| refusal(call, &refused, &change, &before, &request))?;
    if !table.put_claim(before, after.clone()).await?.is_done() {
        return Ok(None);
    }
    if request.number.is_some() {
        return Ok(Some((change, after)));
    }
    // Another worker may have ended the work between the two reads, and released its claim with it.
    let change = load(table, call, id).await?;
    if !claim::has_work(&change) {
        release(table, &after).await?;
        return Err(resolved(change.state));
    }
    Ok(Some((change, after)))
}

/// Returns a change instance; 404 unless the caller's team is a party.
async fn load(table: &Table, call: &Call, id: ChangeId) -> Result<Change, Failure> {
    let change = table.change(id).await?;
    let change = change.filter(|change| change.parties().contains(&call.caller.team.id));
    change.ok_or_else(|| Code::NotFound.into())
}

/// Releases a claim that found no work. If its worker has changed it since, the newer claim stays.
async fn release(table: &Table, claim: &Claim) -> Result<(), Failure> {
    let _is_stored = table.put_claim(claim.clone(), claim::released(claim)).await?.is_done();
    Ok(())
}

fn refusal(
    call: &Call,
    refused: &Refused,
    change: &Change,
    claim: &Claim,
    request: &ClaimRequest,
) -> Failure {
    match refused {
        Refused::NotOwner => Code::NotOwner.into(),
        Refused::Resolved(state) => resolved(*state),
        Refused::NotClaimed => {
            let detail = match (request.number, claim.live(call.now)) {
                (None, Some(_)) => "another worker has the work".to_owned(),
                (Some(_), _) if claim.number == 0 => {
                    "number must be absent: nothing is claimed yet".to_owned()
                }
                _ => format!("number must be {}, the newest number", claim.number),
            };
            not_claimed(&detail, change.state, claim)
        }
    }
}

fn resolved(state: State) -> Failure {
    let fields =
        Map::from_iter([("state".to_owned(), json!(state.name())), ("allowed".to_owned(), json!([]))]);
    let detail = format!("a claim requires an open change instance, and this one is {state}");
    Reply::problem(Code::IllegalTransition, &detail, fields).into()
}

/// Returns the reply to a request without the current claim.
pub(crate) fn not_claimed(detail: &str, state: State, claim: &Claim) -> Failure {
    let fields: Map<String, Value> = Map::from_iter([
        ("claim".to_owned(), view::claim_view(Some(claim))),
        ("state".to_owned(), json!(state.name())),
    ]);
    Reply::problem(Code::NotClaimed, detail, fields).into()
}
