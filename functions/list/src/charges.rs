//! Charges: those of a role, one of them, and the costs of service items so far.

use crate::filter::Filter;
use crate::order::{Field, Orders, stored_order};
use crate::page::{List, ListRequest, only_knows};
use domain::base::id::ChargeId;
use domain::base::state::ChargeType;
use domain::model::charge::{Charge, Charges};
use domain::rules::visibility::Side;
use domain::views::charge_sums::{GroupBy, charge_sums};
use domain::{Item, ItemId};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{Source, Table};

/// Filters of charges and of their sums.
const FILTERS: [&str; 6] = [
    "application_id",
    "consumer_team_id",
    "service_id",
    "service_item_id",
    "service_name",
    "service_owner_team_id",
];

const GROUP_BY: &str = "group_by";

const FIELDS: &[Field<Charge>] = &[
    ("created", |charge| charge.start.to_wire()),
    ("id", |charge| format!("{:016}", charge.id.get())),
    ("charge_type", |charge| charge.id.charge_type().name().to_owned()),
];

const SUMMED_FIELDS: &[Field<Item>] =
    &[("created", |item| item.created.to_wire()), ("id", |item| format!("{:016}", item.id.get()))];

/// Lists the charges of the caller's services, or of its own items.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    only_knows(call, &[FILTERS.as_slice(), &["charge_type", "processed"]].concat())?;
    let mut filter = filter(call)?;
    let types = types(call)?;
    let processed = call.query.truth("processed")?;
    let processed = processed.map_or_else(|| vec![false, true], |processed| vec![processed]);
    let team = call.caller.team.id;
    let source = match call.side {
        // The index has a partition for each type, and for processed or not (ADR 24).
        Side::ServiceOwner => Source::<Charge>::owned_by(team, &types, &processed),
        Side::Consumer => {
            if types.len() < ChargeType::ALL.len() {
                filter.test(move |charge| types.contains(&charge.id.charge_type()));
            }
            if let [processed] = processed[..] {
                filter.test(move |charge| charge.processed.is_some() == processed);
            }
            Source::<Charge>::of_consumer(team)
        }
    };
    let orders = Orders::By { stored: stored_order(call.side, false), fields: FIELDS };
    let list = List { request, source, filter, orders };
    list.reply(|charge, viewpoint| view::charge(charge, call.now, viewpoint)).await
}

/// Lists the costs so far of the caller's services or own items, without items that cost nothing: by item, or by group.
pub(crate) async fn accumulated(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    let by = group_by(call)?;
    // The bounds of the reads end a page of sums, so it has no number and no order of rows.
    if by.is_some() {
        call.only_knows(&[FILTERS.as_slice(), &[GROUP_BY, "cursor"]].concat())?;
    } else {
        only_knows(call, &[FILTERS.as_slice(), &[GROUP_BY]].concat())?;
    }
    let mut filter = summed_filter(call)?;
    filter.test(|item| item.charges != Charges::NONE);
    let team = call.caller.team.id;
    let source = match call.side {
        Side::ServiceOwner => Source::<Item>::owned_by(team),
        Side::Consumer => Source::<Item>::of_consumer(team),
    };
    let orders = Orders::By { stored: stored_order(call.side, false), fields: SUMMED_FIELDS };
    let list = List { request, source, filter, orders };
    if let Some(by) = by {
        let page = list.bounded_page().await?;
        let sums = charge_sums(&page.rows, by, call.now);
        return Reply::list(
            sums.len(),
            page.next_url(),
            sums.iter().map(view::charge_sum).collect::<Vec<_>>(),
        );
    }
    list.reply(|item, viewpoint| view::accumulated(item, call.now, viewpoint)).await
}

/// Returns one charge.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let charge = table.charge(call.id_of(ChargeId::parse, ChargeId::team)?).await?;
    let charge = charge.filter(|charge| call.side.shows_charge(charge, call.caller.team.id));
    let charge = charge.ok_or(Code::NotFound)?;
    Reply::new(200, view::charge(&charge, call.now, &Viewpoint::of(call)))
}

/// Returns the requested groups; none for the costs by item.
fn group_by(call: &Call) -> Result<Option<GroupBy>, Failure> {
    let Some(name) = call.query.get(GROUP_BY) else { return Ok(None) };
    let names = GroupBy::ALL.map(GroupBy::name).join(", ");
    let unknown = || Call::bad_filter(&FieldError::new(GROUP_BY, format!("must be one of {names}")));
    GroupBy::parse(name).map(Some).ok_or_else(unknown)
}

fn filter(call: &Call) -> Result<Filter<Charge>, Failure> {
    let query = &call.query;
    let mut filter = Filter::new();
    filter.ids(query, "application_id", |charge: &Charge| charge.application_id().get())?;
    filter.ids(query, "consumer_team_id", |charge| charge.consumer.id.get())?;
    filter.ids(query, "service_id", |charge| charge.service.id.get())?;
    filter.ids(query, "service_item_id", |charge| charge.item.get())?;
    filter.ids(query, "service_owner_team_id", |charge| charge.service_owner.id.get())?;
    filter.texts(query, "service_name", |charge| &charge.service.title);
    Ok(filter)
}

fn summed_filter(call: &Call) -> Result<Filter<Item>, Failure> {
    let query = &call.query;
    let mut filter = Filter::new();
    filter.ids(query, "application_id", |item: &Item| item.application_id().get())?;
    filter.ids(query, "consumer_team_id", |item| item.consumer.id.get())?;
    filter.ids(query, "service_id", |item| item.service.id.get())?;
    filter.ids(query, "service_item_id", |item| ItemId::get(item.id))?;
    filter.ids(query, "service_owner_team_id", |item| item.service_owner.id.get())?;
    filter.texts(query, "service_name", |item| &item.service.title);
    Ok(filter)
}

/// Returns the charge types in the query; all by default.
fn types(call: &Call) -> Result<Vec<ChargeType>, Failure> {
    let Some(names) = call.query.list("charge_type") else { return Ok(ChargeType::ALL.to_vec()) };
    let types: Option<Vec<ChargeType>> = names.iter().map(|name| ChargeType::parse(name)).collect();
    let allowed_names = ChargeType::ALL.map(ChargeType::name).join(", ");
    let mut types = types.ok_or_else(|| {
        Call::bad_filter(&FieldError::new("charge_type", format!("must be one of {allowed_names}")))
    })?;
    // Each type has its own partition, so a repeated type would repeat its rows.
    types.sort_unstable();
    types.dedup();
    Ok(types)
}
