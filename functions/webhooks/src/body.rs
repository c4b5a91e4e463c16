//! Bodies about webhooks. Absent fields keep their values, or get their defaults.

use domain::State;
use domain::base::id::ServiceId;
use domain::base::refs::ServiceRef;
use domain::base::side::Side;
use domain::model::declaration::name_problem;
use domain::outreach::webhook::reminder::{REMIND_SECONDS_MAX, REMIND_SECONDS_MIN};
use domain::outreach::webhook::{
    AUTHORIZATION_BYTES_MAX, DESCRIPTION_BYTES_MAX, HELD_SECONDS_MAX, Scope, Settings, TIMEOUT_SECONDS,
    TIMEOUT_SECONDS_MAX, URL_BYTES_MAX,
};
use dovetail_http::{Call, Failure, Fields, view};
use dovetail_outbound::{Target, Targets, is_same_origin};
use dovetail_table::Table;
use serde_json::Value;

const AUTHORIZATION: &str = "authorization";
const REMIND_AFTER: &str = "remind_after";
const SERVICE: &str = "must be the id or the URL of a service";
const SECONDS: &str = "an integer number of seconds";

/// Reads the settings of a new webhook; `name` is the default for its name.
pub(crate) fn new_settings(fields: &mut Fields, name: String, targets: Targets) -> Settings {
    let defaults = Settings {
        name,
        description: String::new(),
        target_url: String::new(),
        authorization: None,
        state: None,
        active: true,
        timeout_seconds: TIMEOUT_SECONDS,
        wait_seconds: 0,
        cooling_seconds: 0,
        remind_after_seconds: None,
    };
    settings(fields, defaults, true, targets)
}

/// Reads the settings of a webhook that has the settings `before`.
pub(crate) fn changed_settings(fields: &mut Fields, before: &Settings, targets: Targets) -> Settings {
    settings(fields, before.clone(), false, targets)
}

fn settings(fields: &mut Fields, before: Settings, is_new: bool, targets: Targets) -> Settings {
    let name = fields.string("name").check(name_problem).or(before.name);
    let description = fields.string("description").max(DESCRIPTION_BYTES_MAX).or(before.description);
    let target_url = target_url(fields, targets, is_new);
    let sent = authorization(fields, is_new);
    let is_unchanged = sent.as_deref().is_none_or(|text| text == view::MASK);
    let has_stored = is_unchanged && before.authorization.is_some();
    let changed = Settings {
        name,
        description,
        authorization: if is_unchanged { before.authorization } else { sent.filter(|text| !text.is_empty()) },
        state: fields
            .one_of("change_instance_state", State::ALL.map(State::name), State::parse)
            .or_null()
            .or(before.state),
        active: fields.boolean("active").or(before.active),
        timeout_seconds: fields
            .integer("timeout", 1..=TIMEOUT_SECONDS_MAX, SECONDS)
            .or(before.timeout_seconds),
        wait_seconds: delay(fields, "trigger_wait_time", before.wait_seconds),
        cooling_seconds: delay(fields, "trigger_cooling_time", before.cooling_seconds),
        remind_after_seconds: fields
            .integer(REMIND_AFTER, REMIND_SECONDS_MIN..=REMIND_SECONDS_MAX, SECONDS)
            .or_null()
            .or(before.remind_after_seconds),
        target_url: target_url.clone().unwrap_or_else(|| before.target_url.clone()),
    };
    if let Some(url) = target_url.filter(|_| has_stored) {
        check_origin(fields, &before.target_url, &url);
    }
    let verify = "must be true: Dovetail always verifies the certificate of the receiver";
    // Without verification, the credentials would go to any server that answers (ADR 20).
    fields.boolean("verify").ensure(|verify| *verify, verify).optional();
    fields.boolean("trust_env").ensure(|trust| !trust, "must be false: Dovetail uses no proxy").optional();
    changed
}

fn delay(fields: &mut Fields, name: &'static str, before: u64) -> u64 {
    fields.integer(name, 0..=HELD_SECONDS_MAX, SECONDS).or(before)
}

/// Reads `target_url`; none if it is absent or invalid.
pub(crate) fn target_url(fields: &mut Fields, targets: Targets, is_required: bool) -> Option<String> {
    let problem = |url: &str| Target::parse(url, targets).err().map(|problem| problem.message());
    let url = fields.string("target_url").max(URL_BYTES_MAX).check(problem);
    if is_required { url.present() } else { url.optional() }
}

/// Reads `authorization`; none if it is absent or invalid. An empty value removes the stored one.
///
/// Replies show the stored value as the mask, so the mask keeps it.
pub(crate) fn authorization(fields: &mut Fields, is_new: bool) -> Option<String> {
    let sent = fields
        .string(AUTHORIZATION)
        .max(AUTHORIZATION_BYTES_MAX)
        .ensure(|text| !is_new || text != view::MASK, "must be a value, not the mask of a stored one")
        // A line break in the value could start another header.
        .ensure(
            |text| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()),
            "must contain only printable ASCII characters",
        )
        .or_null()
        .message("must be a string");
    sent.optional().map(Option::unwrap_or_default)
}

/// Rejects a new origin for stored credentials; the body must contain them again.
///
/// Otherwise each caller with access to the URL could read them.
pub(crate) fn check_origin(fields: &mut Fields, before: &str, after: &str) {
    if !is_same_origin(before, after) {
        fields.refuse(AUTHORIZATION, "must be sent again: target_url has another scheme, host or port");
    }
}

/// Returns the scope of a new webhook; none only after an error. A consumer may leave out the service.
pub(crate) async fn scope(table: &Table, call: &Call, fields: &mut Fields) -> Result<Option<Scope>, Failure> {
    let field = fields.value("service", SERVICE, |value| service_id(call, &value));
    let id = match call.side {
        Side::ServiceOwner => field.required().map(Some),
        Side::Consumer => Some(field.or_null().or(None)),
    };
    let Some(id) = id else { return Ok(None) };
    let all = Scope { side: call.side, service: None };
    let Some(id) = id else { return Ok(Some(all)) };
    // An invisible service is a missing one, so the reply does not reveal it.
    let service = table.service_by_id(id).await?;
    let service = service.filter(|service| call.side.shows_service(service, call.caller.team.id));
    if service.is_none() {
        fields.refuse(
            "service",
            match call.side {
                Side::ServiceOwner => {
                    "must be a service of the team, or one with the team as a dependent team"
                }
                Side::Consumer => "must be a service in the catalogue of the team",
            },
        );
    }
    Ok(service.map(|service| Scope { service: Some(service.to_ref()), ..all }))
}

/// Returns the service in the body, if it belongs to the caller's team; none only after an error.
pub(crate) async fn service(
    table: &Table,
    call: &Call,
    fields: &mut Fields,
) -> Result<Option<ServiceRef>, Failure> {
    let id = fields.value("service", SERVICE, |value| service_id(call, &value)).required();
    let Some(id) = id else { return Ok(None) };
    let service = table.service_by_id(id).await?.filter(|service| service.owner.id == call.caller.team.id);
    if service.is_none() {
        fields.refuse("service", "must be a service of the team");
    }
    Ok(service.map(|service| service.to_ref()))
}

/// Rejects reminders that a webhook with these settings cannot send.
pub(crate) fn check_reminders(fields: &mut Fields, call: &Call, settings: &Settings) {
    if let Some(problem) = settings.reminder_problem(call.side) {
        fields.refuse(REMIND_AFTER, problem);
    }
}

/// Rejects a body with another service than that of the webhook.
pub(crate) fn check_service(fields: &mut Fields, call: &Call, scope: &Scope) {
    let expected = "must be unchanged: the service of a webhook is fixed";
    let stored = scope.service.as_ref().map(|service| service.id);
    let same = |value| service_id(call, &value).filter(|id| Some(*id) == stored);
    let field = fields.value("service", expected, same);
    // A client sends back the object as read, with null for all services.
    if stored.is_some() {
        field.optional();
    } else {
        field.or_null().message(expected).optional();
    }
}

fn service_id(call: &Call, value: &Value) -> Option<ServiceId> {
    let id = call.id_in(value, "services").or_else(|| value.get("id")?.as_u64());
    id.and_then(ServiceId::new)
}
