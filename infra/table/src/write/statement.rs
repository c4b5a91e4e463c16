//! The actions of a transaction, made from writes: the record and its condition (docs/explanation/concurrency.md).
//!
//! All functions are pure, so tests can look at an action without sending it.

use super::condition::Condition;
use crate::client::Error;
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, Attributes, ChangeRecord, ChargeRecord, DeployedRecord, EntryRecord, HeadRecord,
    ItemRecord, Record, RememberedRecord, ShareRecord, StagingRecord, SubmissionRecord, TeamRecord,
    UseRecord, WorkRecord, closed_queue,
};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, Delete, Put, TransactWriteItem};
use domain::base::id::{ApplicationId, ChargeId, SubmissionId};
use domain::model::blockers::Blockers;
use domain::model::claim::Claim;
use domain::model::staging::{StagingId, StagingState};
use domain::model::submission::{IdempotencyRecord, Submission};
use domain::model::team::{Application, Head, Team};
use domain::model::write::{Closing, Use, Write};
use domain::{Change, Hash, ItemId, State, TeamId, Timestamp};
use std::collections::HashMap;

/// The condition of a new record: the key is free.
const NEW: &str = "attribute_not_exists(pk)";

/// The condition of a running charge: it exists and has no end. A processed charge has an end.
const RUNS: &str = "attribute_exists(pk) AND attribute_not_exists(#en)";

/// Returns the action of one write.
pub(crate) fn of(table: &str, write: &Write) -> Result<TransactWriteItem, Error> {
    match write {
        // The head carries the fences of a submission. DynamoDB compares the fences at the commit, so no rule depends
        // on an earlier check.
        Write::AdvanceHead { before, after } => head(before).put(table, record::write::<HeadRecord>(after)?),
        Write::AddBlockers { team, delta } => blockers(table, *team, *delta),
        Write::AddToApplication { application, drifted, uses } => {
            add_to_application(table, *application, *drifted, *uses)
        }
        Write::AddUses { item, user, begun, ended } => add_uses(table, *item, *user, (*begun, *ended)),
        Write::CheckNotInFlight { team } => check_not_in_flight(table, *team),
        Write::PutUse(item_use) => unconditional(table, record::write::<UseRecord>(item_use)?),
        Write::DeleteUse(Use { target, user }) => unconditional_delete(table, key::item_use(*target, *user)),
        Write::ReplaceTeam(team) => team_metadata(table, team),
        Write::PutApplication { before: None, after } => create::<ApplicationRecord>(table, after),
        Write::PutApplication { before: Some(before), after } => {
            application(before).put(table, record::write::<ApplicationRecord>(after)?)
        }
        Write::PutItem { before, after } => create_or_replace::<ItemRecord>(table, *before, after),
        Write::CreateChange(change) => create::<ChangeRecord>(table, change),
        Write::UpdateChange { before, from, after } => update_change(table, before.entries, *from, after),
        Write::CloseChange(closing) => close(table, closing),
        Write::CreateDeployed(deployed) => create::<DeployedRecord>(table, deployed),
        Write::CreateCharge(charge) => create::<ChargeRecord>(table, charge),
        Write::EndCharge { charge, end } => end_charge(table, *charge, *end),
        Write::ProcessCharge { end, after } => {
            processed(*end).put(table, record::write::<ChargeRecord>(after)?)
        }
        Write::RecordSubmission(submission) => create::<SubmissionRecord>(table, submission),
        Write::StoreIdempotencyKey { team, remembered, now } => remember(table, *team, remembered, *now),
        Write::CreateWork(work) => create::<WorkRecord>(table, work),
        Write::CheckClaim { item, owner, number } => check_claim(table, *item, *owner, *number),
        Write::CheckUnclaimed { item, owner } => Condition::new(NEW).check(table, key::claim(*item, *owner)),
        Write::ReleaseClaim { item, owner, number } => release_claim(table, *item, *owner, *number),
        Write::CreateShare(share) => create::<ShareRecord>(table, share),
        Write::DeleteShare { item, owner } => remove(table, key::share(*item, *owner)),
        Write::DeleteItem { item, revision } => at_revision(*revision).delete(table, key::item(*item)),
        Write::CheckItem { item, is_gone, revision } => {
            at_revision(*revision).check(table, key::item_at(*item, *is_gone))
        }
        Write::CheckGone { item } => Condition::new("attribute_exists(pk)").check(table, key::gone(*item)),
        Write::CheckService { title, revision } => at_revision(*revision).check(table, key::service(title)),
        Write::DeleteWork(id) => remove(table, key::work(*id)),
        Write::UpdateProgress { work_left, after } => progress(table, *work_left, after),
        Write::FreeHead(submission) => free_head(table, *submission),
        Write::StartStaging(staging) => create::<StagingRecord>(table, staging),
        Write::UpdateStaging { team, staging, from, to } => {
            update_staging(table, key::staging(*team, *staging), *from, *to)
        }
        Write::CheckStaging { team, staging, state } => check_staging(table, *team, *staging, *state),
        Write::DeleteStaging { team, staging } => remove(table, key::staging(*team, *staging)),
        Write::StoreDeclaration { team, hash, text } => store_declaration(table, *team, *hash, text),
    }
}

fn at_revision(revision: u64) -> Condition {
    Condition::new("#rv = :rv").number("rv", revision)
}

/// Returns the fence of a claim: a worker that lost its claim to another one has an older number.
fn at_number(number: u64) -> Condition {
    Condition::new("#n = :n").number("n", number)
}

fn check_claim(table: &str, item: ItemId, owner: TeamId, number: u64) -> Result<TransactWriteItem, Error> {
    at_number(number).check(table, key::claim(item, owner))
}

/// Ends the lease. The number stays, because it never falls.
fn release_claim(table: &str, item: ItemId, owner: TeamId, number: u64) -> Result<TransactWriteItem, Error> {
    at_number(number).name("w").name("u").update(table, key::claim(item, owner), "REMOVE #w, #u")
}

/// Returns the fence of two claims: the newest lease is the one that was read.
pub(super) fn unchanged_claim(before: &Claim) -> Condition {
    match &before.lease {
        _ if before.number == 0 => Condition::new(NEW),
        Some(lease) => {
            Condition::new("#n = :n AND #u = :u").number("n", before.number).number("u", lease.until.micros())
        }
        None => Condition::new("#n = :n AND attribute_not_exists(#u)").number("n", before.number).name("u"),
    }
}

/// Returns the fence of two decisions on one change instance: the number of history entries, which grows with every
/// move.
fn decided(entries: u64, from: State) -> Condition {
    Condition::new("#n = :n AND #st = :st").number("n", entries).text("st", from.name())
}

fn update_change(table: &str, entries: u64, from: State, after: &Change) -> Result<TransactWriteItem, Error> {
    decided(entries, from).put(table, record::write::<ChangeRecord>(after)?)
}

fn application(before: &Application) -> Condition {
    // A reference from another team adds to the number, and a removal that was planned without it must fail.
    let fence = match (before.drifted, before.uses_ever) {
        (0, 0) => {
            "#dig = :dig AND #ni = :ni AND (attribute_not_exists(#dr) OR #dr = :dr) AND attribute_not_exists(#us)"
        }
        (_, 0) => "#dig = :dig AND #ni = :ni AND #dr = :dr AND attribute_not_exists(#us)",
        (0, _) => "#dig = :dig AND #ni = :ni AND (attribute_not_exists(#dr) OR #dr = :dr) AND #us = :us",
        (_, _) => "#dig = :dig AND #ni = :ni AND #dr = :dr AND #us = :us",
    };
    let condition = Condition::new(fence)
        .text("dig", &before.digest.to_string())
        .number("ni", before.next_item)
        .number("dr", before.drifted);
    if before.uses_ever == 0 { condition.name("us") } else { condition.number("us", before.uses_ever) }
}

/// Adds to the number of uses of a live item. Code of an earlier format would drop the number, so the record gets this
/// format.
fn add_uses(
    table: &str,
    item: ItemId,
    user: TeamId,
    (begun, ended): (u64, u64),
) -> Result<TransactWriteItem, Error> {
    // A removal of another team may land between the plan and this write. The head fences the removals of the own team.
    let condition = if begun > 0 && item.team() != user {
        Condition::new("#dc = :dc").value("dc", AttributeValue::Bool(true))
    } else {
        Condition::new("attribute_exists(pk)")
    };
    condition
        .number("v", record::FORMAT_USES)
        .number("us", i128::from(begun) - i128::from(ended))
        .number("rv", 1)
        .update(table, key::item(item), "SET #v = :v ADD #us :us, #rv :rv")
}

fn check_not_in_flight(table: &str, team: TeamId) -> Result<TransactWriteItem, Error> {
    Condition::new("attribute_not_exists(#inf)").name("inf").check(table, key::head(team))
}

/// Adds to the numbers of drifted items and of uses of an application.
fn add_to_application(
    table: &str,
    application: ApplicationId,
    drifted: i64,
    uses: u64,
) -> Result<TransactWriteItem, Error> {
    // `ADD` needs no fence: the item of the same transaction has one. Code of an earlier format would drop these numbers,
    // so the record gets the newest format of both.
    let condition = Condition::new("attribute_exists(pk)").number("v", record::FORMAT_USES);
    let key = key::application_at(application, false);
    match (drifted, uses) {
        (_, 0) => condition.number("dr", drifted).update(table, key, "SET #v = :v ADD #dr :dr"),
        (0, _) => condition.number("us", uses).update(table, key, "SET #v = :v ADD #us :us"),
        (_, _) => {
            let condition = condition.number("dr", drifted).number("us", uses);
            condition.update(table, key, "SET #v = :v ADD #dr :dr, #us :us")
        }
    }
}

fn end_charge(table: &str, charge: ChargeId, end: Timestamp) -> Result<TransactWriteItem, Error> {
    Condition::new(RUNS).number("en", end.micros()).update(table, key::charge(charge), "SET #en = :en")
}

fn free_head(table: &str, submission: SubmissionId) -> Result<TransactWriteItem, Error> {
    // `#inf` is only removed by the submission that set it. A late `generate` of an earlier submission must not free
    // the head for the next one.
    Condition::new("#inf = :inf").number("inf", submission).update(
        table,
        key::head(submission.team()),
        "REMOVE #inf",
    )
}

fn in_state(state: StagingState) -> Condition {
    Condition::new("#st = :st").text("st", state.name())
}

fn check_staging(
    table: &str,
    team: TeamId,
    staging: StagingId,
    state: StagingState,
) -> Result<TransactWriteItem, Error> {
    in_state(state).check(table, key::staging(team, staging))
}

fn update_staging(
    table: &str,
    staging: Key,
    from: StagingState,
    to: StagingState,
) -> Result<TransactWriteItem, Error> {
    // The commit of a submission and the sweep both move a staging from OPEN, under this condition. DynamoDB lets one
    // of them win (decision record 12).
    let condition = in_state(from).value("to", AttributeValue::S(to.name().to_owned()));
    condition.without_name("to").update(table, staging, "SET #st = :to")
}

/// Replaces the metadata of a team, but not its settings, because a request that changes settings does not fence the
/// head.
fn team_metadata(table: &str, team: &Team) -> Result<TransactWriteItem, Error> {
    let mut row = record::write::<TeamRecord>(team)?;
    let condition = Condition::new("attribute_exists(pk)").text("meta", &team.metadata);
    let key = key::team(team.id);
    match row.remove("si") {
        Some(since) => condition.value("si", since).update(table, key, "SET #meta = :meta, #si = :si"),
        None => condition.name("si").update(table, key, "SET #meta = :meta REMOVE #si"),
    }
}

/// Replaces the settings of a team, unless they have changed since the read.
pub(crate) fn team_settings(table: &str, before: &Team, after: &Team) -> Result<TransactWriteItem, Error> {
    let condition =
        if before.confirm_removals { "attribute_exists(#cf)" } else { "attribute_not_exists(#cf)" };
    let condition = Condition::new(condition).name("cf").number("v", TeamRecord::format(after));
    let key = key::team(after.id);
    if after.confirm_removals {
        condition.value("cf", AttributeValue::Bool(true)).update(table, key, "SET #v = :v, #cf = :cf")
    } else {
        condition.update(table, key, "SET #v = :v REMOVE #cf")
    }
}

/// Returns the fence of marking a charge as processed: it has no mark, and its end is the one that was read.
fn processed(end: Option<Timestamp>) -> Condition {
    match end {
        None => Condition::new(RUNS).name("en"),
        Some(end) => {
            Condition::new("attribute_not_exists(#pd) AND #en = :en").name("pd").number("en", end.micros())
        }
    }
}

fn store_declaration(table: &str, team: TeamId, hash: Hash, text: &str) -> Result<TransactWriteItem, Error> {
    unconditional(table, declaration(key::declaration(team, hash), text))
}

/// Puts a record without a condition. The key has the whole content or its hash, so an existing record is the same.
fn unconditional(table: &str, attributes: Attributes) -> Result<TransactWriteItem, Error> {
    let put = Put::builder().table_name(table).set_item(Some(attributes)).build();
    let put = put.map_err(|error| Error::corrupt("put", error))?;
    Ok(TransactWriteItem::builder().put(put).build())
}

/// Deletes a record, whether or not it exists.
fn unconditional_delete(table: &str, key: Key) -> Result<TransactWriteItem, Error> {
    let delete = Delete::builder().table_name(table).set_key(Some(key.into())).build();
    let delete = delete.map_err(|error| Error::corrupt("delete", error))?;
    Ok(TransactWriteItem::builder().delete(delete).build())
}

fn progress(table: &str, work_left: u64, after: &Submission) -> Result<TransactWriteItem, Error> {
    // `work_left` fences the count: two runs of `generate` on one work record must not count it down twice.
    Condition::new("#wl = :before")
        .value("before", AttributeValue::N(work_left.to_string()))
        .without_name("before")
        .number("wl", after.work_left)
        .number("dl", after.direct_left)
        .number("ln", after.opened)
        .text("st", after.progress().name())
        .number("mo", after.modified.micros())
        .update(table, key::submission(after.id), "SET #wl = :wl, #dl = :dl, #ln = :ln, #st = :st, #mo = :mo")
}

/// Returns the fence of a submission: the head is as the plan read it.
///
/// - The count of submissions fences other submissions.
/// - The blockers' count and sum fence rejections and failures by owners (R11, decision record 2).
/// - The next number of a change instance fences other writers that allot numbers.
/// - The submission in flight fences its own end.
fn head(before: &Head) -> Condition {
    let fence = match before.in_flight {
        None => "#sub = :sub AND #attn = :attn AND #att = :att AND #nc = :nc AND attribute_not_exists(#inf)",
        Some(_) => "#sub = :sub AND #attn = :attn AND #att = :att AND #nc = :nc AND #inf = :inf",
    };
    let condition = Condition::new(fence)
        .number("sub", before.submissions)
        .number("attn", before.blockers.count)
        .number("att", before.blockers.sum)
        .number("nc", before.next_change);
    match before.in_flight {
        None => condition.name("inf"),
        Some(submission) => condition.number("inf", submission),
    }
}

fn blockers(table: &str, team: TeamId, delta: Blockers) -> Result<TransactWriteItem, Error> {
    // `ADD` needs neither a read nor a fence: owners who decide on different items of one consumer do not wait for
    // each other. Every submission compares the sum.
    Condition::new("attribute_exists(pk)").number("attn", delta.count).number("att", delta.sum).update(
        table,
        key::head(team),
        "ADD #attn :attn, #att :att",
    )
}

/// Closes a change instance without reading it: its slot on the item holds the end of its history.
fn close(table: &str, closing: &Closing) -> Result<TransactWriteItem, Error> {
    // Closing never changes the type. The entry's type is thus the current one, and the record leaves it out.
    let record = EntryRecord::of(&closing.entry, None, closing.entry.change_type);
    let entry: Attributes =
        serde_dynamo::to_item(record).map_err(|error| Error::corrupt("history entry", error))?;
    let link = AttributeValue::B(Blob::new(closing.entry.chain.0));
    // The entry is appended in place. The chain link was computed from the slot, and the condition proves that the slot
    // still names the last entry.
    Condition::new("#n = :n AND #st = :st")
        .number("n", closing.chain_head.entries)
        .text("st", closing.from.name())
        .value("hi", AttributeValue::L(vec![AttributeValue::M(entry)]))
        .value("hh", link)
        .text("gs1pk", &closed_queue(closing.owner))
        .value("one", AttributeValue::N("1".to_owned()))
        .value("closed", AttributeValue::S(closing.entry.to.name().to_owned()))
        .without_name("one")
        .without_name("closed")
        .update(
            table,
            key::change(closing.change),
            "SET #st = :closed, #n = #n + :one, #hi = list_append(#hi, :hi), #hh = :hh, #gs1pk = :gs1pk",
        )
}

fn remember(
    table: &str,
    team: TeamId,
    remembered: &IdempotencyRecord,
    now: Timestamp,
) -> Result<TransactWriteItem, Error> {
    let value = (team, remembered.clone());
    // DynamoDB deletes expired records up to a few days late. The condition reuses an expired key at once.
    Condition::new("attribute_not_exists(pk) OR #xp <= :xp")
        .number("xp", now.micros() / 1_000_000)
        .put(table, record::write::<RememberedRecord>(&value)?)
}

/// Returns the record of a declaration, stored under its hash.
pub(crate) fn declaration(key: Key, text: &str) -> Attributes {
    let mut attributes = HashMap::new();
    attributes.insert("pk".to_owned(), AttributeValue::S(key.pk));
    attributes.insert("sk".to_owned(), AttributeValue::S(key.sk));
    attributes.insert("ty".to_owned(), AttributeValue::S("DECLARATION".to_owned()));
    attributes.insert("v".to_owned(), AttributeValue::N(record::FORMAT_BASE.to_string()));
    attributes.insert("json".to_owned(), AttributeValue::S(text.to_owned()));
    attributes
}

/// Creates a record of any type; the action fails if the key exists.
pub(crate) fn create<R: Record>(table: &str, value: &R::Value) -> Result<TransactWriteItem, Error> {
    put_new(table, record::write::<R>(value)?)
}

/// Puts a row if its key does not exist.
pub(crate) fn put_new(table: &str, row: Attributes) -> Result<TransactWriteItem, Error> {
    Condition::new(NEW).put(table, row)
}

/// Puts a row if its key exists.
pub(crate) fn put_over(table: &str, row: Attributes) -> Result<TransactWriteItem, Error> {
    Condition::new("attribute_exists(pk)").put(table, row)
}

/// Replaces a record if its revision is still `before`.
pub(crate) fn replace<R: Record>(
    table: &str,
    before: u64,
    value: &R::Value,
) -> Result<TransactWriteItem, Error> {
    at_revision(before).put(table, record::write::<R>(value)?)
}

/// Creates a record, or replaces the one with the revision `before`.
pub(crate) fn create_or_replace<R: Record>(
    table: &str,
    before: Option<u64>,
    value: &R::Value,
) -> Result<TransactWriteItem, Error> {
    match before {
        None => create::<R>(table, value),
        Some(before) => replace::<R>(table, before, value),
    }
}

/// Stores a result of the time `at`, unless a later one is stored.
pub(crate) fn newest<R: Record>(
    table: &str,
    at: Timestamp,
    value: &R::Value,
) -> Result<TransactWriteItem, Error> {
    Condition::new("attribute_not_exists(pk) OR #at <= :at")
        .number("at", at.micros())
        .put(table, record::write::<R>(value)?)
}

/// Stores the time of an action, unless its last time is after `last`.
pub(crate) fn not_since<R: Record>(
    table: &str,
    last: Timestamp,
    value: &R::Value,
) -> Result<TransactWriteItem, Error> {
    Condition::new("attribute_not_exists(pk) OR #at <= :at")
        .number("at", last.micros())
        .put(table, record::write::<R>(value)?)
}

/// Creates a record that only refers to another one: from `key` to the attribute `to`.
pub(crate) fn pointer(
    table: &str,
    key: Key,
    ty: &str,
    to: AttributeValue,
) -> Result<TransactWriteItem, Error> {
    let mut attributes = HashMap::new();
    attributes.insert("pk".to_owned(), AttributeValue::S(key.pk));
    attributes.insert("sk".to_owned(), AttributeValue::S(key.sk));
    attributes.insert("ty".to_owned(), AttributeValue::S(ty.to_owned()));
    attributes.insert("v".to_owned(), AttributeValue::N(record::FORMAT_BASE.to_string()));
    attributes.insert("to".to_owned(), to);
    put_new(table, attributes)
}

/// Advances a counter from `before` to `next`; `None` is its first use.
pub(crate) fn count(
    table: &str,
    counter: &str,
    before: Option<u64>,
    next: u64,
) -> Result<TransactWriteItem, Error> {
    let expression = if before.is_some() { "#c = :before" } else { "attribute_not_exists(#c)" };
    let condition = Condition::new(expression).alias("c", counter).number("next", next).without_name("next");
    let condition = match before {
        Some(before) => condition.number("before", before).without_name("before"),
        None => condition,
    };
    condition.update(table, key::counters(), "SET #c = :next")
}

/// Removes a record if it exists.
pub(crate) fn remove(table: &str, key: Key) -> Result<TransactWriteItem, Error> {
    Condition::new("attribute_exists(pk)").delete(table, key)
}

/// Removes a record if its revision is still `before`.
pub(crate) fn remove_at(table: &str, key: Key, before: u64) -> Result<TransactWriteItem, Error> {
    at_revision(before).delete(table, key)
}

/// Replaces the row of an existing API key that has no successor.
pub(crate) fn succeed(keys: &str, row: Attributes) -> Result<TransactWriteItem, Error> {
    Condition::new("attribute_exists(pk) AND attribute_not_exists(#sc)").name("sc").put(keys, row)
}

/// Increments a count if it is below `max`.
pub(crate) fn one_more(keys: &str, count: Key, max: u64) -> Result<TransactWriteItem, Error> {
    let condition = Condition::new("attribute_not_exists(#c) OR #c < :max").number("max", max);
    add(keys, count, condition.without_name("max"), "1")
}

/// Decrements a count that exists.
pub(crate) fn one_less(keys: &str, count: Key) -> Result<TransactWriteItem, Error> {
    add(keys, count, Condition::new("attribute_exists(#c)"), "-1")
}

fn add(keys: &str, count: Key, condition: Condition, d: &str) -> Result<TransactWriteItem, Error> {
    let condition = condition.name("c").value("d", AttributeValue::N(d.to_owned()));
    condition.without_name("d").update(keys, count, "ADD #c :d")
}

/// Replaces the row of a member if its revision is still `before`.
pub(crate) fn replace_member(keys: &str, before: u64, row: Attributes) -> Result<TransactWriteItem, Error> {
    at_revision(before).put(keys, row)
}

#[cfg(test)]
mod tests;
