//! Healthchecks that somebody asks for: of one item at once, of all items of a service when the schedule comes by next.

use domain::healthcheck::answer::{self, Failed};
use domain::healthcheck::{Asked, COOLING_SECONDS, Health};
use domain::id::{ItemId, ServiceId};
use domain::item::{Item, RuntimeState};
use dovetail_http::view;
use dovetail_http::{Call, Code, Failure, Pov, Reply};
use dovetail_outbound::Outbound;
use dovetail_table::{Keyed, Table};

/// Asks how an item is, and waits for the answer.
pub(crate) async fn item(table: &Table, outbound: &Outbound, call: &Call) -> Result<Reply, Failure> {
    let id = call.id_of(ItemId::parse, ItemId::team)?;
    let item = table.item(id).await?.filter(|item| is_party(call, item)).ok_or(Code::NotFound)?;
    let (owner, service) = (item.service_owner.id, item.service.id);
    let healthcheck = table.healthcheck(owner, service).await?.ok_or(Code::NotFound)?;
    if item.runtime_state != RuntimeState::InService {
        return Err(Code::NotInService.into());
    }
    if table.ask(Asked { item: id, at: call.now }).await? == Keyed::Stale {
        return Err(Reply::error(Code::AskedJustNow).retry_after(COOLING_SECONDS).into());
    }
    let question = answer::question_about(&item);
    let answered = dovetail_outbound::ask(outbound, &healthcheck, &question).await;
    let told = answered.and_then(|answer| answer::about_one(&answer));
    let failed = told.as_ref().err().copied();
    let health = Health { item: id, told: told.unwrap_or_else(Failed::told), at: call.now };
    table.put_health(std::slice::from_ref(&health)).await?;
    Ok(Reply::new(200, view::health(&health, failed)))
}

/// Whether the caller owns the item's service, or has declared the item: a dependent team is neither.
fn is_party(call: &Call, item: &Item) -> bool {
    let team = call.caller.team.id;
    match call.pov {
        Pov::ServiceOwner => item.service_owner.id == team,
        Pov::Consumer => item.consumer.id == team,
    }
}

/// Has a run of a service's healthcheck be due now. Who asks while one is due asks for the same.
pub(crate) async fn service(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let service = call.id(ServiceId::new)?;
    if call.pov == Pov::Consumer {
        return Err(Code::NotFound.into());
    }
    let course = table.course(call.caller.team.id, service).await?.ok_or(Code::NotFound)?;
    let Some(asked) = course.asked(call.now) else {
        return Ok(Reply::new(200, view::healthcheck_asked(&course)));
    };
    match table.put_course(&course, &asked).await? {
        Keyed::Stored => Ok(Reply::new(200, view::healthcheck_asked(&asked))),
        Keyed::Stale => Err(Code::Contended.into()),
    }
}
