//! Checks on request: of one item at once, or of all items of a service with the next sweep.

use domain::base::id::ServiceId;
use domain::base::state::RuntimeState;
use domain::outreach::healthcheck::answer::Failed;
use domain::outreach::healthcheck::{COOLING_SECONDS, CheckThrottle, Health, answer};
use domain::rules::visibility::Side;
use domain::{Item, ItemId};
use dovetail_http::view;
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_outbound::Outbound;
use dovetail_table::Table;

/// Checks one item, and waits for the result.
pub(crate) async fn item(table: &Table, outbound: &Outbound, call: &Call) -> Result<Reply, Failure> {
    let id = call.id_of(ItemId::parse, ItemId::team)?;
    let item = table.item(id).await?.filter(|item| is_party(call, item)).ok_or(Code::NotFound)?;
    let (owner, service) = (item.service_owner.id, item.service.id);
    let healthcheck = table.healthcheck(owner, service).await?.ok_or(Code::NotFound)?;
    if item.runtime_state != RuntimeState::InService {
        return Err(Code::NotInService.into());
    }
    // A conditional record throttles the requests, so callers cannot flood the owner's target (ADR 25).
    if !table.throttle_check(CheckThrottle { item: id, at: call.now }).await?.is_done() {
        return Err(Reply::error(Code::AskedJustNow).retry_after(COOLING_SECONDS).into());
    }
    let question = answer::question_about(&item);
    let answered = dovetail_outbound::send(outbound, &healthcheck, &question).await;
    let report = answered.and_then(|answer| answer::about_one(&answer));
    let failed = report.as_ref().err().copied();
    let health = Health { item: id, report: report.unwrap_or_else(Failed::to_report), at: call.now };
    table.put_health(std::slice::from_ref(&health)).await?;
    Reply::new(200, view::health(&health, failed))
}

/// Returns whether the caller owns the service or has declared the item. A dependent team may not check it.
fn is_party(call: &Call, item: &Item) -> bool {
    let team = call.caller.team.id;
    match call.side {
        Side::ServiceOwner => item.service_owner.id == team,
        Side::Consumer => item.consumer.id == team,
    }
}

/// Makes a run due now, unless one is due already.
pub(crate) async fn service(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let service = call.id(ServiceId::new)?;
    if call.side == Side::Consumer {
        return Err(Code::NotFound.into());
    }
    let schedule = table.check_schedule(call.caller.team.id, service).await?.ok_or(Code::NotFound)?;
    let Some(scheduled) = schedule.with_run_due(call.now) else {
        return Reply::new(200, view::check_requested(&schedule));
    };
    table.put_check_schedule(&schedule, &scheduled).await?.ok_or(Code::Contended)?;
    Reply::new(200, view::check_requested(&scheduled))
}
