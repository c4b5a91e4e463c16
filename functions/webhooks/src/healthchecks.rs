//! Healthchecks: at most one for each service, created and replaced by its owner.

use crate::body;
use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::base::id::ServiceId;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::outreach::healthcheck::run::CheckSchedule;
use domain::outreach::healthcheck::{Healthcheck, Settings};
use domain::rules::visibility::Side;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, CursorKey, Failure, Fields, Reply};
use dovetail_outbound::Targets;
use dovetail_table::Table;
use serde_json::Value;

/// Lists the caller's healthchecks by service; a consumer has none.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["limit", "cursor"])?;
    let limit = call.query.limit()?;
    let list = call.path.trim_end_matches('/');
    let after = call.position(key, list)?.map(|cursor| service(&cursor.after).ok_or(Code::InvalidCursor));
    let after = after.transpose()?;
    let team = call.caller.team.id;
    let (mut results, mut next): (Vec<Value>, _) = (Vec::new(), None);
    if call.side == Side::ServiceOwner {
        let healthchecks = table.healthchecks(team, after, limit).await?;
        let services: Vec<ServiceId> = healthchecks.iter().map(|one| one.service.id).collect();
        let schedules = table.check_schedules(team, &services).await?;
        let of = |id: ServiceId| schedules.iter().find(|schedule| schedule.service.id == id);
        let viewpoint = Viewpoint::of(call);
        results.extend(healthchecks.iter().map(|one| view::healthcheck(one, of(one.service.id), &viewpoint)));
        let last = services.last().filter(|_| services.len() == limit);
        next = last.map(|last| call.page_after(key, list, &last.to_string()));
    }
    // Only a list of a single page has a count, because this request reads no other page.
    let count = (after.is_none() && next.is_none()).then_some(results.len());
    Reply::list(count, next, results)
}

/// Parses the position of a page: the service of the last healthcheck before it.
fn service(after: &str) -> Option<ServiceId> {
    after.parse().ok().and_then(ServiceId::new)
}

/// Returns one healthcheck.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = own(call)?;
    let healthcheck = table.healthcheck(call.caller.team.id, id).await?.ok_or(Code::NotFound)?;
    let schedule = table.check_schedule(call.caller.team.id, id).await?;
    Reply::new(200, view::healthcheck(&healthcheck, schedule.as_ref(), &Viewpoint::of(call)))
}

/// Creates or replaces the healthcheck of a service.
pub(crate) async fn put(table: &Table, targets: Targets, call: &Call) -> Result<Reply, Failure> {
    if call.side == Side::Consumer {
        return Err(Code::NotFound.into());
    }
    let (mut fields, team) = (call.fields()?, &call.caller.team);
    let service = body::service(table, call, &mut fields).await?;
    let before = match &service {
        Some(service) => stored(table, call, service.id).await?,
        None => None,
    };
    let stored = before.as_ref().map(|(healthcheck, _)| &healthcheck.settings);
    let settings = settings(&mut fields, stored, targets);
    let (settings, service) = fields.finish(|| Some((settings?, service?)))?;
    let ctx = call.ctx();
    let (event, after) = match &before {
        None => (AuditEvent::HealthcheckCreated, Healthcheck::new(settings, service, team.clone(), &ctx)),
        Some((healthcheck, schedule)) => match healthcheck.changed(settings, call.now) {
            Some(after) => (AuditEvent::HealthcheckChanged, after),
            None => return reply(call, 200, healthcheck, schedule),
        },
    };
    let schedule = CheckSchedule::of(&after, before.as_ref().map(|(_, schedule)| schedule), call.now);
    let audit_entry = AuditEntry::of_healthcheck(event, &after, &ctx);
    let set = (after, schedule);
    table.put_healthcheck(before.as_ref(), &set, &audit_entry).await?.ok_or(Code::Contended)?;
    reply(call, if before.is_none() { 201 } else { 200 }, &set.0, &set.1)
}

/// Removes a healthcheck.
pub(crate) async fn remove(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let healthcheck = table.healthcheck(call.caller.team.id, own(call)?).await?.ok_or(Code::NotFound)?;
    let audit_entry = AuditEntry::of_healthcheck(AuditEvent::HealthcheckRemoved, &healthcheck, &call.ctx());
    table.remove_healthcheck(&healthcheck, &audit_entry).await?.ok_or(Code::Contended)?;
    Ok(Reply::nothing())
}

/// Returns the service in the path. The lookup is among the caller's own healthchecks, and a consumer has none.
fn own(call: &Call) -> Result<ServiceId, Failure> {
    let id = call.id(ServiceId::new)?;
    if call.side == Side::Consumer { Err(Code::NotFound.into()) } else { Ok(id) }
}

async fn stored(
    table: &Table,
    call: &Call,
    service: ServiceId,
) -> Result<Option<(Healthcheck, CheckSchedule)>, Failure> {
    let team = call.caller.team.id;
    let Some(healthcheck) = table.healthcheck(team, service).await? else { return Ok(None) };
    // Another request has removed it between the two reads. A retry finds neither record.
    let schedule = table.check_schedule(team, service).await?.ok_or(Code::Contended)?;
    Ok(Some((healthcheck, schedule)))
}

fn reply(
    call: &Call,
    status: u16,
    healthcheck: &Healthcheck,
    schedule: &CheckSchedule,
) -> Result<Reply, Failure> {
    Reply::new(status, view::healthcheck(healthcheck, Some(schedule), &Viewpoint::of(call)))
}

/// Reads the settings; none only after an error. A body replaces the healthcheck, so absent fields get their defaults.
fn settings(fields: &mut Fields, stored: Option<&Settings>, targets: Targets) -> Option<Settings> {
    let stored = stored.and_then(|stored| Some((&stored.target_url, stored.authorization.as_ref()?)));
    let target_url = body::target_url(fields, targets, true);
    let sent = body::authorization(fields, stored.is_none());
    // The mask stands for the stored credentials; a body without `authorization` removes them.
    let unchanged = stored.filter(|_| sent.as_deref() == Some(view::MASK));
    let schedule_enabled = fields.boolean("schedule_enabled").or(false);
    let crontab = fields.string(CRONTAB).parse(|text| Crontab::parse(&text)).nullable();
    if let (Some((before, _)), Some(after)) = (unchanged, &target_url) {
        body::check_origin(fields, before, after);
    }
    if schedule_enabled && crontab.is_none() {
        fields.refuse(CRONTAB, "must be present, because schedule_enabled is true");
    }
    let authorization = unchanged.map(|(_, stored)| stored.clone()).or(sent).filter(|text| !text.is_empty());
    Some(Settings { target_url: target_url?, authorization, schedule_enabled, crontab })
}

const CRONTAB: &str = "schedule_crontab";
