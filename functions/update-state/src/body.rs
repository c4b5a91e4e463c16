//! Bodies of updates and claims. An update has any of `state`, `log`, `deployed_item`
//! (docs/reference/http/README.md, convention 9).

use domain::State;
use domain::base::id::ServiceId;
use domain::model::deployed::DEPLOYED_BYTES_MAX;
use domain::rules::claim::{
    BATCH_DEFAULT, BATCH_MAX, ClaimRequest, LEASE_SECONDS, LEASE_SECONDS_DEFAULT, WORKER_BYTES_MAX,
};
use domain::rules::decide::Update;
use dovetail_http::{Call, Failure, Fields};

/// The error text of null as deployed data, which existing clients expect.
pub(crate) const NOT_NULL: &str = "This field may not be null.";

/// Parses an update.
pub(crate) fn update(mut fields: Fields) -> Result<Update, Failure> {
    // The Terraform provider always sends the field, and leaves it empty without a state.
    fields.ignore_empty("state");
    let update = Update {
        state: fields.one_of("state", State::ALL.map(State::name), State::parse).nullable(),
        log: fields.string("log").nullable(),
        deployed_item: fields.object("deployed_item").null(NOT_NULL).storable(DEPLOYED_BYTES_MAX).optional(),
        patch: None,
        planned_item: fields.object("planned_item").storable(DEPLOYED_BYTES_MAX).nullable(),
        claim: number(&mut fields, "claim"),
    };
    fields.finish(|| Some(update))
}

/// Parses the claim on one change instance.
pub(crate) fn claim(mut fields: Fields) -> Result<ClaimRequest, Failure> {
    let worker = worker(&mut fields);
    let (min, max) = LEASE_SECONDS.into_inner();
    let lease = fields.integer("lease_seconds", 0..=max, "an integer number of seconds");
    let is_length = |seconds: &u64| *seconds == 0 || *seconds >= min;
    let lease = lease.ensure(is_length, format!("must be 0 or {min} to {max}")).or(LEASE_SECONDS_DEFAULT);
    let number = number(&mut fields, "number");
    if lease == 0 && number.is_none() {
        fields.refuse("number", "must be present to release a claim");
    }
    fields.finish(|| Some(ClaimRequest { worker: worker?, lease_seconds: lease, number }))
}

/// The request of a worker for the oldest free work.
pub(crate) struct ClaimBatch {
    pub(crate) request: ClaimRequest,
    pub(crate) limit: usize,
    /// The state of the change instances.
    pub(crate) state: State,
    /// The service; none for all services of the owner.
    pub(crate) service: Option<ServiceId>,
}

/// Parses the claim of the oldest free work.
pub(crate) fn claims(call: &Call) -> Result<ClaimBatch, Failure> {
    let mut fields = call.fields()?;
    let worker = worker(&mut fields);
    let limit = fields.integer("limit", 1..=BATCH_MAX, "an integer").or(BATCH_DEFAULT);
    let lease = fields.integer("lease_seconds", LEASE_SECONDS, "an integer number of seconds");
    let lease_seconds = lease.or(LEASE_SECONDS_DEFAULT);
    let open = |name: &str| State::parse(name).filter(|state| STATES.contains(state));
    let state = fields.one_of("state", STATES.map(State::name), open).or(State::Approved);
    let service = |value| call.id_in(&value, "services").and_then(ServiceId::new);
    let service = fields.value("service", "must be an id or a URL of services", service).nullable();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    fields.finish(|| {
        let request = ClaimRequest { worker: worker?, lease_seconds, number: None };
        Some(ClaimBatch { request, limit, state, service })
    })
}

/// The states of change instances that are handed out.
const STATES: [State; 2] = [State::Pending, State::Approved];

fn worker(fields: &mut Fields) -> Option<String> {
    let worker = fields.string("worker").max(WORKER_BYTES_MAX);
    worker.ensure(|name| !name.is_empty(), "must not be empty").required()
}

/// Reads the number of a claim.
fn number(fields: &mut Fields, name: &'static str) -> Option<u64> {
    fields.value(name, "must be the number of a claim", |value| value.as_u64()).nullable()
}
