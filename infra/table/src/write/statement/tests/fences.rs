//! Tests of the condition of each write: exactly what its fence needs.

use super::super::of as statement_of;
use super::examples::{
    application, at, change, change_id, charges, consumer, deployed, entry, generations, gone_item, head,
    item, item_id, item_use, owner, remembered, service, share, slot, staging, submission, target, work,
};
use super::json::value_json;
use crate::record::Attributes;
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::model::blockers::Blockers;
use domain::model::metadata::Since;
use domain::model::staging::StagingState::{Committed, Open};
use domain::model::team::{Application, Head, Team};
use domain::model::write::{Closing, Write};
use domain::{Hash, State};
use expect_test::expect_file;
use serde_json::Map;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use store::Condition;

/// Returns the condition of an action with its names and values filled in.
pub(super) fn condition(action: &TransactWriteItem) -> String {
    let (verb, expression, names, values) = match (action.put(), action.update()) {
        (Some(put), _) => (
            "put".to_owned(),
            put.condition_expression(),
            put.expression_attribute_names(),
            put.expression_attribute_values(),
        ),
        (_, Some(update)) => (
            format!("update {}", update.update_expression()),
            update.condition_expression(),
            update.expression_attribute_names(),
            update.expression_attribute_values(),
        ),
        _ => {
            return match (action.delete(), action.condition_check()) {
                (Some(delete), _) => {
                    let (names, values) =
                        (delete.expression_attribute_names(), delete.expression_attribute_values());
                    line("delete".to_owned(), delete.condition_expression(), names, values)
                }
                (_, Some(check)) => {
                    let (names, values) =
                        (check.expression_attribute_names(), check.expression_attribute_values());
                    line("check".to_owned(), Some(check.condition_expression()), names, values)
                }
                _ => panic!("an action of no known kind"),
            };
        }
    };
    line(verb, expression, names, values)
}

fn line(
    verb: String,
    expression: Option<&str>,
    names: Option<&HashMap<String, String>>,
    values: Option<&Attributes>,
) -> String {
    let values: Map<String, Value> = values
        .into_iter()
        .flatten()
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .map(|(name, value)| (name.clone(), value_json(value)))
        .collect();
    let names = names.into_iter().flatten();
    let mut line = format!("{verb} if {}", expression.unwrap_or_default());
    for (alias, name) in names.collect::<BTreeMap<_, _>>().into_iter().rev() {
        line = line.replace(alias, name);
    }
    format!("{line} {}", Value::Object(values))
}

/// Returns the condition that the in-memory storage of the tests checks, in the words of the table.
fn in_memory_condition(write: &Write) -> String {
    let words = |condition: Condition| match condition {
        Condition::New => "attribute_not_exists(pk)",
        Condition::Exists | Condition::WorkExists => "attribute_exists(pk)",
        Condition::Submissions(_) => "sub = :sub",
        Condition::Blockers(_) => "attn = :attn AND att = :att",
        Condition::NextChange(_) => "nc = :nc",
        Condition::InFlight(None) => "attribute_not_exists(inf)",
        Condition::InFlight(Some(_)) => "inf = :inf",
        Condition::Application(..) => "dig = :dig AND ni = :ni",
        Condition::Drifted(0) => "(attribute_not_exists(dr) OR dr = :dr)",
        Condition::Drifted(_) => "dr = :dr",
        Condition::UsesEver(0) => "attribute_not_exists(us)",
        Condition::UsesEver(_) => "us = :us",
        Condition::Declared => "dc = :dc",
        Condition::NotInFlight => "attribute_not_exists(inf)",
        Condition::Revision(_) => "rv = :rv",
        Condition::History(..) => "n = :n AND st = :st",
        Condition::Runs => "attribute_exists(pk) AND attribute_not_exists(en)",
        Condition::Unprocessed(_) => "attribute_not_exists(pd) AND en = :en",
        Condition::ClaimNumber(_) => "n = :n",
        Condition::WorkLeft(_) => "wl = :before",
        Condition::StagingState(_) => "st = :st",
        Condition::Forgotten(_) => "attribute_not_exists(pk) OR xp <= :xp",
    };
    Condition::of(write).into_iter().map(words).collect::<Vec<_>>().join(" AND ")
}

#[test]
fn each_write_has_the_condition_that_its_fence_needs() {
    let team = Team {
        id: consumer().id,
        name: consumer().name,
        metadata: "{}".to_owned(),
        since: Since::EVER,
        confirm_removals: false,
    };
    let closing = Closing {
        change: change_id(16),
        item: item_id(),
        owner: owner().id,
        created: at(0),
        from: State::Pending,
        chain_head: slot().chain_head,
        entry: entry(Some(State::Pending), State::Closed, 2),
    };
    let in_flight = Head { in_flight: Some(submission().id), ..head() };
    let named = team.clone();
    let team = team.id;
    let [of_change, running] = charges();
    let writes = [
        ("head", Write::AdvanceHead { before: head(), after: head() }),
        ("attention", Write::AddBlockers { team: consumer().id, delta: Blockers::one("change/16") }),
        ("drifted", Write::AddToApplication { application: application().id, drifted: -1, uses: 0 }),
        ("team", Write::ReplaceTeam(named)),
        ("application, new", Write::PutApplication { before: None, after: application() }),
        ("application", Write::PutApplication { before: Some(application()), after: application() }),
        ("application, drifted", {
            let before = Application { drifted: 1, ..application() };
            Write::PutApplication { before: Some(before.clone()), after: before }
        }),
        ("application, in use", {
            let before = Application { uses_ever: 3, ..application() };
            Write::PutApplication { before: Some(before.clone()), after: before }
        }),
        ("application, drifted and in use", {
            let before = Application { drifted: 1, uses_ever: 3, ..application() };
            Write::PutApplication { before: Some(before.clone()), after: before }
        }),
        ("uses begin", Write::AddUses { item: target(), user: consumer().id, begun: 2, ended: 2 }),
        ("uses end", Write::AddUses { item: target(), user: consumer().id, begun: 0, ended: 1 }),
        ("uses begin, own team", Write::AddUses { item: item_id(), user: consumer().id, begun: 2, ended: 0 }),
        ("uses counted", Write::AddToApplication { application: application().id, drifted: 1, uses: 2 }),
        ("other team idle", Write::CheckNotInFlight { team: owner().id }),
        ("use", Write::PutUse(item_use())),
        ("use ended", Write::DeleteUse(item_use())),
        ("item, new", Write::PutItem { before: None, after: item() }),
        ("item", Write::PutItem { before: Some(2), after: item() }),
        ("born", Write::CreateChange(change())),
        ("moved", Write::UpdateChange { before: slot().chain_head, from: State::Pending, after: change() }),
        ("closed", Write::CloseChange(closing)),
        ("deployed", Write::CreateDeployed(deployed())),
        ("charged", Write::CreateCharge(running.clone())),
        ("charge ended", Write::EndCharge { charge: running.id, end: at(5) }),
        ("charge processed", Write::ProcessCharge { end: of_change.end, after: of_change }),
        ("charge processed, running", Write::ProcessCharge { end: None, after: running }),
        ("submission", Write::RecordSubmission(submission())),
        (
            "remember",
            Write::StoreIdempotencyKey { team: consumer().id, remembered: remembered(), now: at(0) },
        ),
        ("work", Write::CreateWork(work())),
        ("work done", Write::DeleteWork(work().id)),
        ("progress", Write::UpdateProgress { work_left: 2, after: submission() }),
        ("head, in flight", Write::AdvanceHead { before: in_flight, after: head() }),
        ("landed", Write::FreeHead(submission().id)),
        ("staging", Write::StartStaging(staging())),
        ("staging moved", Write::UpdateStaging { team, staging: staging().id, from: Open, to: Committed }),
        ("staging stays", Write::CheckStaging { team, staging: staging().id, state: Open }),
        ("staging done", Write::DeleteStaging { team, staging: staging().id }),
        ("declaration", Write::StoreDeclaration { team, hash: Hash::of("{}"), text: "{}".to_owned() }),
        ("share", Write::CreateShare(share())),
        ("share gone", Write::DeleteShare { item: item_id(), owner: consumer().id }),
        ("item moves", Write::DeleteItem { item: item_id(), revision: 2 }),
        ("application, retired", Write::PutApplication { before: None, after: generations()[0].clone() }),
        ("application, of its number", {
            let [before, after] = generations();
            Write::PutApplication { before: Some(before), after }
        }),
        ("item gone, new", Write::PutItem { before: None, after: gone_item() }),
        ("item gone, again", Write::PutItem { before: Some(3), after: gone_item() }),
        ("claim stays", Write::CheckClaim { item: item_id(), owner: owner().id, number: 4 }),
        ("claim absent", Write::CheckUnclaimed { item: item_id(), owner: owner().id }),
        ("claim released", Write::ReleaseClaim { item: item_id(), owner: owner().id, number: 4 }),
        ("item gone", Write::CheckGone { item: item_id() }),
        ("item stays", Write::CheckItem { item: item_id(), is_gone: false, revision: 3 }),
        ("service stays", Write::CheckService { title: service().title, revision: 5 }),
    ];
    let mut lines = String::new();
    for (name, write) in &writes {
        let condition = condition(&statement_of("table", write).unwrap());
        let expected = format!("if {} {{", in_memory_condition(write));
        assert!(format!("{condition} {{").contains(&expected), "{name}: in memory {expected}");
        let _infallible = writeln!(lines, "{name}: {condition}");
    }
    expect_file!["../../../../golden/conditions.txt"].assert_eq(&lines);
}
