//! Tests of the audit: it accepts everything that the domain writes, and reports every damage.

use crate::reluctant::{ALWAYS, Reluctant};
use crate::twin::{Twin, run, table_by};
use crate::world::{CONSUMER, NP_OWNER, VM_OWNER, World, application, document, lb, team, vm};
use domain::account::audit_log::{AuditEntry, Event};
use domain::audit::invariant::SET_ASIDE;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::{ApplicationId, WebhookId};
use domain::base::side::Side;
use domain::catalog::metadata_policy::Version;
use domain::model::submission::Scope;
use domain::outreach::healthcheck::crontab::Crontab;
use domain::outreach::healthcheck::run::CheckSchedule;
use domain::outreach::healthcheck::{
    CheckThrottle, Health, HealthReport, Healthcheck, Settings as HealthcheckSettings, Status,
};
use domain::outreach::message::{Content, Messages};
use domain::outreach::webhook::delivery::{Delivery, Ended, Replied};
use domain::outreach::webhook::reminder::Reminder;
use domain::outreach::webhook::start::Cooling;
use domain::outreach::webhook::{Scope as WebhookScope, Settings as WebhookSettings, Webhook};
use domain::{Hash, ItemId, State, Timestamp};
use dovetail_table::audit::{Audited, Rows, Seen};
use dovetail_table::{Due, Stored, Table};
use embedded::{Engine, Reply, Straight};
use expect_test::expect_file;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// Asserts that the audit finds nothing except work that is set aside.
pub(crate) async fn nothing_is_wrong(twin: &Twin) {
    let (audited, seen) = audit(&twin.table).await;
    let is_aside = |row: &&Value| row["gs3pk"]["S"] == "QUARANTINE";
    let aside = u64::try_from(twin.rows().iter().filter(is_aside).count()).unwrap();
    let only_aside = |audited: &Audited| {
        assert!(audited.violations.iter().all(|violation| violation.rule == SET_ASIDE), "{audited:?}");
        assert_eq!((u64::try_from(audited.violations.len()).unwrap(), audited.unsettled), (aside, 0));
    };
    only_aside(&audited);
    let rows = twin.rows();
    let mut read = audited.rows;
    for index in ["gs1pk", "gs2pk", "gs3pk"] {
        let entries = rows.iter().filter(|row| row.get(index).is_some()).count();
        read += u64::try_from(entries).unwrap();
        assert!(seen.contains(&Seen { rows: read, violations: aside }), "{index}: {seen:?}");
    }
    assert_eq!(audited.rows, u64::try_from(rows.len()).unwrap());
    assert_eq!(seen.last(), Some(&Seen { rows: read, violations: aside }));
    let mut exported = Rows::default();
    for row in &rows {
        exported.add_exported(&json!({"Item": row}).to_string()).unwrap();
    }
    let exported = exported.audit();
    only_aside(&exported);
    assert_eq!(exported.rows, audited.rows);
    only_aside(&team_by_team(&twin.table).await);
}

/// Returns the result of an audit that keeps no rows of consumers in memory.
async fn team_by_team(table: &Table) -> Audited {
    table.audit_within(0, None, &|_| ()).await.unwrap()
}

/// Returns the result of an audit of an export that keeps this number of rows in memory.
fn audit_of_export(rows: &[Value], rows_max: u64) -> Audited {
    let read = |mut read: Rows| {
        for row in rows {
            read.add_exported(&json!({"Item": row}).to_string()).unwrap();
        }
        read
    };
    let all = read(Rows::at_most(rows_max));
    let mut audited = all.audit();
    for teams in all.forgotten() {
        audited.add_teams(&read(Rows::of(teams, &all)));
    }
    audited
}

/// Returns the result of an audit and its progress reports, which must never go back.
async fn audit(table: &Table) -> (Audited, Vec<Seen>) {
    let seen = Mutex::new(Vec::new());
    let audited = table.audit(None, &|now| seen.lock().unwrap().push(now)).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.is_sorted_by(|one, next| one.rows <= next.rows && one.violations <= next.violations));
    assert_eq!(audited.unsettled, 0);
    let noticed = seen.last().is_some_and(|seen| seen.violations > 0);
    assert!(noticed || audited.violations.is_empty(), "{seen:?}: {audited:?}");
    (audited, seen)
}

/// Returns a table with decided, pending and staged records.
async fn busy() -> Twin {
    let mut twin = Twin::of(World::new().priced().with_dependent("VM")).await;
    twin.world.idempotency = Some(("key".to_owned(), Hash::of("request")));
    let body = |cpu| document(&[("NewApp1", application(&[vm("a", cpu), vm("b", 1), lb("c", &["a"], "x")]))]);
    twin.world.submit(&body(1), Scope::Whole).unwrap();
    twin.world.idempotency = None;
    twin.world.generate();
    let id = twin.world.finish("a", VM_OWNER);
    twin.world.finish("a", NP_OWNER);
    twin.world.deploy(id, VM_OWNER, &json!({"ip": "1"})).unwrap();
    let running = twin.world.item("a").charges.running.unwrap();
    twin.world.mark_charge(running.charge, VM_OWNER, true).unwrap();
    twin.world.reject("b", VM_OWNER);
    twin.follow().await;
    twin.submit_staged(&body(2)).await;
    twin.follow().await;
    deliveries(&twin.table).await;
    reminders(&twin.table).await;
    messages(&twin.table).await;
    metadata_policies(&twin).await;
    healthchecks(&twin).await;
    twin
}

/// Stores a metadata policy, and a second version that withdraws a part of it.
async fn metadata_policies(twin: &Twin) {
    let table = &twin.table;
    let schema = Some(r#"{"type":"object"}"#.to_owned());
    let first = Version { number: 1, team: None, application: schema, created: Timestamp::from_micros(1) };
    assert_eq!(table.put_metadata_policy(&first).await.unwrap(), Stored::Done(()));
    let other = Version { team: first.application.clone(), ..first.clone() };
    assert_eq!(table.put_metadata_policy(&other).await.unwrap(), Stored::Stale, "another writer was faster");
    let cached_at = async |seconds: u64| {
        let now = Timestamp::from_micros(seconds * 1_000_000);
        table.cached_metadata_policy(now).await.unwrap().application.is_some()
    };
    assert!(cached_at(0).await);
    // Another process stores the policy, so this process must see it only after a minute.
    let second = Version { number: 2, application: None, ..first };
    let elsewhere = table_by(Straight(Arc::clone(&twin.engine))).await;
    assert_eq!(elsewhere.put_metadata_policy(&second).await.unwrap(), Stored::Done(()));
    assert!(cached_at(59).await);
    assert!(!cached_at(60).await);
}

/// Stores messages of an owner: for the consumers of a service, and for those of all its services.
async fn messages(table: &Table) {
    let owner = team(VM_OWNER);
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: Timestamp::from_micros(1) };
    let service = table.service("VM").await.unwrap().unwrap().to_ref();
    let content = |services| Content { description: "rest".to_owned(), expires: Some(ctx.now), services };
    let mut stored = Messages::none(owner.clone());
    for services in [vec![service], Vec::new()] {
        let after = stored.with(content(services), &ctx).unwrap();
        let last = after.all.last().unwrap();
        let audit_entry = AuditEntry::of_message(Event::MessageCreated, &owner, last, &ctx);
        let keep = async |after| table.put_messages(stored.revision, after, &audit_entry).await.unwrap();
        assert_eq!(keep(&after).await, Stored::Done(()));
        let other =
            stored.with(content(Vec::new()), &RequestContext { request: "s".to_owned(), ..ctx.clone() });
        assert_eq!(keep(&other.unwrap()).await, Stored::Stale, "another writer was faster");
        stored = after;
    }
    assert_eq!(table.message_owners().await.unwrap(), BTreeSet::from([owner.id]));
}

/// Stores results of deliveries to a webhook.
async fn deliveries(table: &Table) {
    let (webhook, now) = (WebhookId::of(team(VM_OWNER).id, "hash"), Timestamp::from_micros(1));
    let event = json!({"metadata": {"id": "1:1"}, "data": {"id": 137_438_953_488_u64, "to": "PENDING"}});
    let delivery = Delivery::new(webhook, event);
    table.put_replied(&Replied::after(None, &delivery, Ended::TimedOut, now, now)).await.unwrap();
    table.give_up(&delivery.given_up(Ended::Answered(500), now)).await.unwrap();
    let cooling = Cooling { webhook, until: now, waiting: Some("1:1".to_owned()), revision: 1 };
    assert_eq!(table.put_cooling(None, &cooling).await.unwrap(), Stored::Done(()));
    assert_eq!(table.put_cooling(None, &cooling).await.unwrap(), Stored::Stale, "another writer was faster");
    let next = Cooling { waiting: None, revision: 2, ..cooling };
    assert_eq!(table.put_cooling(Some(2), &next).await.unwrap(), Stored::Stale);
    assert_eq!(table.put_cooling(Some(1), &next).await.unwrap(), Stored::Done(()));
    // A result of an earlier time must not replace a later one.
    let first = Timestamp::from_micros(0);
    let earlier = Replied::after(None, &delivery, Ended::Answered(200), first, first);
    table.put_replied(&earlier).await.unwrap();
    assert_eq!(table.replied(webhook).await.unwrap().unwrap().ended, Some(Ended::TimedOut));
}

/// Stores a webhook with its next reminder, removes it, and stores it again.
async fn reminders(table: &Table) {
    let at = Timestamp::from_micros;
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: at(1) };
    let settings = WebhookSettings {
        name: "VM".to_owned(),
        description: String::new(),
        target_url: "https://example.com/".to_owned(),
        authorization: None,
        state: Some(State::Approved),
        active: true,
        timeout_seconds: 10,
        wait_seconds: 0,
        cooling_seconds: 0,
        remind_after_seconds: Some(300),
    };
    let service = table.service("VM").await.unwrap().unwrap().to_ref();
    let scope = WebhookScope { side: Side::ServiceOwner, service: Some(service) };
    let made = Webhook::new(settings, scope, team(VM_OWNER), "secret".to_owned(), "other", &ctx);
    let entry = |event, request: &str| {
        AuditEntry::of_webhook(event, &made, &RequestContext { request: request.to_owned(), ..ctx.clone() })
    };
    let created = |request| entry(Event::WebhookCreated, request);
    let first = Reminder::of(&made, None, at(1)).unwrap();
    let stored = table.create_webhook(&made, Some(&first), &created("r1")).await.unwrap();
    assert_eq!(stored, Stored::Done(()));
    assert_eq!(table.due(at(300_000_000), 10).await.unwrap(), Due::default());
    let due = Due { reminders: vec![first.clone()], ..Due::default() };
    assert_eq!(table.due(at(300_000_001), 10).await.unwrap(), due);
    let sent = first.sent(at(300_000_001));
    assert_eq!(table.put_reminder(&first, &sent).await.unwrap(), Stored::Done(()));
    assert_eq!(table.put_reminder(&first, &sent).await.unwrap(), Stored::Stale, "another sweep was faster");
    assert_eq!(table.due(at(300_000_001), 10).await.unwrap(), Due::default());
    // A change that read the reminder before the sweep must read it again.
    let inactive = WebhookSettings { active: false, ..made.settings.clone() };
    let inactive = made.changed(inactive, at(2)).unwrap();
    let changed = entry(Event::WebhookChanged, "r2");
    let late = (Some(&first), Some(&Reminder { revision: 9, ..first.clone() }));
    assert_eq!(table.change_webhook(1, &inactive, late, &changed).await.unwrap(), Stored::Stale);
    let silenced = table.change_webhook(1, &inactive, (Some(&sent), None), &changed).await.unwrap();
    assert_eq!(silenced, Stored::Done(()));
    assert_eq!(table.reminder(made.id).await.unwrap(), None, "an inactive webhook has no reminder");
    let active = inactive.changed(made.settings.clone(), at(3)).unwrap();
    let again = Reminder::of(&active, None, at(3)).unwrap();
    let changed = entry(Event::WebhookChanged, "r3");
    let woken = table.change_webhook(2, &active, (None, Some(&again)), &changed).await.unwrap();
    assert_eq!(woken, Stored::Done(()));
    let removed = |request| entry(Event::WebhookRemoved, request);
    assert_eq!(table.remove_webhook(&inactive, &removed("r4")).await.unwrap(), Stored::Stale, "it is active");
    assert_eq!(table.remove_webhook(&active, &removed("r5")).await.unwrap(), Stored::Done(()));
    assert_eq!(table.reminder(made.id).await.unwrap(), None);
    let stored = table.create_webhook(&made, Some(&first), &created("r6")).await.unwrap();
    assert_eq!(stored, Stored::Done(()));
}

/// Stores a healthcheck, its schedule and its results.
async fn healthchecks(twin: &Twin) {
    let at = Timestamp::from_micros;
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: at(1) };
    let settings = HealthcheckSettings {
        target_url: "https://example.com/".to_owned(),
        authorization: None,
        schedule_enabled: true,
        crontab: Crontab::parse("* * * * *").ok(),
    };
    let (table, item) = (&twin.table, twin.world.item("a").clone());
    let made = Healthcheck::new(settings, item.service.clone(), item.service_owner.clone(), &ctx);
    let schedule = CheckSchedule::of(&made, None, at(1));
    let audit_entry = AuditEntry::of_healthcheck(Event::HealthcheckCreated, &made, &ctx);
    let set = (made.clone(), schedule.clone());
    assert_eq!(table.put_healthcheck(None, &set, &audit_entry).await.unwrap(), Stored::Done(()));
    let other = Healthcheck { revision: 9, ..made.clone() };
    let late = (other, CheckSchedule { revision: 9, ..schedule.clone() });
    assert_eq!(table.put_healthcheck(Some(&late), &late, &audit_entry).await.unwrap(), Stored::Stale);
    assert_eq!(table.due(at(59_999_999), 10).await.unwrap(), Due::default());
    let due = Due { checks: vec![schedule.clone()], ..Due::default() };
    assert_eq!(table.due(at(60_000_000), 10).await.unwrap(), due);
    let (begun, run) = schedule.begun(at(60_000_000)).unwrap();
    assert_eq!(table.put_check_schedule(&schedule, &begun).await.unwrap(), Stored::Done(()));
    assert_eq!(
        table.put_check_schedule(&schedule, &begun).await.unwrap(),
        Stored::Stale,
        "another writer was faster"
    );
    assert_eq!(table.due(at(60_000_000), 10).await.unwrap(), Due::default());
    let ended = begun.ended(&run, at(61_000_000)).unwrap();
    assert_eq!(table.put_check_schedule(&begun, &ended).await.unwrap(), Stored::Done(()));
    let health = |status, time| {
        let report = HealthReport { status, reason: Some("why".to_owned()) };
        Health { item: item.id, report, at: at(time) }
    };
    // The answer of an earlier check arrives last and must not replace the later one.
    for (status, time) in [(Status::Unhealthy, 7), (Status::Healthy, 6)] {
        table.put_health(&[health(status, time)]).await.unwrap();
    }
    let related = table.related_to_item(&item).await.unwrap();
    assert_eq!(related.health(&item), Some(&health(Status::Unhealthy, 7)));
    for (time, expected) in
        [(20_000_000, Stored::Done(())), (29_999_999, Stored::Stale), (30_000_000, Stored::Done(()))]
    {
        assert_eq!(
            table.throttle_check(CheckThrottle { item: item.id, at: at(time) }).await.unwrap(),
            expected,
            "{time}"
        );
    }
}

/// Returns a table with a pending submission, and a number of abandoned stagings before it.
async fn unfinished(abandoned: u64) -> Twin {
    let mut twin = Twin::of(World::new()).await;
    let body = |cpu| document(&[("NewApp1", application(&[vm("a", cpu)]))]);
    for cpu in 1..=abandoned {
        assert!(twin.lay_out(&body(cpu)).await.is_some());
    }
    twin.submit_staged(&body(0)).await;
    twin
}

/// Returns a table with work that is set aside.
async fn set_aside() -> Twin {
    let mut twin = Twin::of(World::new().with_dependent("VM")).await;
    twin.world.submit(&document(&[("NewApp1", application(&[vm("a", 1)]))]), Scope::Whole).unwrap();
    twin.follow().await;
    let id = twin.world.snapshot.works[0].id;
    while !twin.table.count_failure(id).await.unwrap() {}
    twin
}

#[test]
fn a_damaged_row_is_a_violation() {
    run(|| async {
        let findings = [
            findings_when_damaged(&busy().await, |_| true).await,
            findings_when_damaged(&unfinished(0).await, |name| ["STAGING", "WORK"].contains(&name)).await,
            findings_when_damaged(&unfinished(2).await, |name| name == "SUBMISSION").await,
            findings_when_damaged(&set_aside().await, |name| name == "WORK").await,
        ];
        expect_file!["../../golden/damaged.txt"].assert_eq(&findings.join("\n"));
    });
}

/// Returns the findings of the audit for each attribute of each type of row, once damaged.
async fn findings_when_damaged(twin: &Twin, is_wanted: impl Fn(&str) -> bool) -> String {
    nothing_is_wrong(twin).await;
    let mut of_types = BTreeMap::new();
    for row in consumers_first(twin) {
        let name = row["ty"]["S"].as_str().unwrap_or("COUNTERS").to_owned();
        of_types.entry(name).or_insert(row);
    }
    let mut findings = String::new();
    for (name, row) in of_types.iter().filter(|(name, _)| is_wanted(name)) {
        let attributes = row.as_object().unwrap().keys();
        for attribute in attributes.filter(|attribute| !["pk", "sk"].contains(&attribute.as_str())) {
            let mut without = row.clone();
            without.as_object_mut().unwrap().remove(attribute);
            let mut other = row.clone();
            other[attribute] = of_another_type(attribute, &row[attribute]);
            let rules = [rules(twin, row, &without).await, rules(twin, row, &other).await];
            write!(findings, "{name} {attribute}: without {}; of another type {}", rules[0], rules[1])
                .unwrap();
            if let Some(number) = row[attribute]["N"].as_str() {
                let number: u64 = number.parse().unwrap();
                other[attribute] = json!({"N": (number + 1).to_string()});
                write!(findings, "; one more {}", self::rules(twin, row, &other).await).unwrap();
            }
            findings.push('\n');
        }
    }
    nothing_is_wrong(twin).await;
    findings
}

#[test]
fn a_deployed_item_of_several_teams_is_a_violation() {
    run(|| async {
        let twin = busy().await;
        let row = of_type(&twin, "DEPLOYED");
        let mut consumers = row.clone();
        consumers["cs"]["M"]["id"]["N"] = json!(team(VM_OWNER).id.to_string());
        let item = ItemId::parse(row["it"]["N"].as_str().unwrap().parse().unwrap()).unwrap();
        let application = ApplicationId::new(team(VM_OWNER).id, item.application_number()).unwrap();
        let mut items = row.clone();
        items["it"]["N"] = json!(ItemId::new(application, item.number()).unwrap().to_string());
        for damaged in [consumers, items] {
            let reported = rules(&twin, &row, &damaged).await;
            assert!(reported.split(' ').any(|rule| rule == "I5"), "{reported}");
        }
    });
}

#[test]
fn derived_values_are_repaired() {
    run(|| async {
        let twin = busy().await;
        let hash = json!({"S": Hash::of("another").to_string()});
        for (name, attribute, value, rule, read) in [
            ("HEAD", "att", json!({"N": "1"}), "I9", "6 read again in 1"),
            ("HEAD", "root", hash.clone(), "I8", "4 read again in 1"),
            ("APP", "dig", hash, "I8", "7 read again in 1"),
        ] {
            let row = of_type(&twin, name);
            let mut damaged = row.clone();
            damaged[attribute] = value;
            assert_eq!(rules(&twin, &row, &damaged).await, format!("{rule} ({read})"), "{attribute}");
            twin.plant(&damaged);
            let (audited, _) = audit(&twin.table).await;
            let repaired = twin.table.repair(&audited).await.unwrap();
            let repaired: Vec<&str> = repaired.iter().map(|violation| violation.rule).collect();
            assert_eq!(repaired, [rule], "{attribute}");
            nothing_is_wrong(&twin).await;
        }
    });
}

fn conflict(_: &Engine, _: &Value) -> Reply {
    let mut reply = Reply::error(400, "TransactionCanceledException");
    reply.body["CancellationReasons"] = json!([{"Code": "TransactionConflict"}]);
    reply
}

#[test]
fn what_stands_still_later_counts() {
    run(|| async {
        let twin = busy().await;
        let mut damaged = of_type(&twin, "HEAD");
        damaged["att"] = json!({"N": "1"});
        twin.plant(&damaged);
        let violations = audit(&twin.table).await.0.violations;
        // A read is attempted 13 times; after that, the look starts again.
        for times in [1, 12, 13, 30] {
            let table = Reluctant::new(&twin, "TransactGetItems", times, conflict).table().await;
            assert_eq!(audit(&table).await.0.violations, violations, "{times}");
        }
    });
}

#[test]
fn one_transaction_rereads_as_many_rows_as_it_takes() {
    run(|| async {
        // The team, its head and its application add three records to the items.
        for (items, padding, transactions) in [(97, 0, 1), (98, 0, 2), (10, 295_000, 1), (11, 295_000, 2)] {
            let mut twin = Twin::of(World::new()).await;
            let items: Vec<_> = (0..items).map(|number| vm(&format!("vm{number}"), 1)).collect();
            for count in (0..items.len()).step_by(30).chain([items.len()]) {
                let body = document(&[("NewApp1", application(&items[..count]))]);
                twin.world.submit(&body, Scope::Whole).unwrap();
            }
            twin.follow().await;
            for mut row in twin.rows().into_iter().filter(|row| row["ty"]["S"] == "ITEM") {
                row["padding"] = json!({"S": "x".repeat(padding)});
                twin.plant(&row);
            }
            let mut damaged = of_type(&twin, "HEAD");
            damaged["att"] = json!({"N": "1"});
            twin.plant(&damaged);
            let connector = Reluctant::new(&twin, "TransactGetItems", 0, conflict);
            let violations = audit(&connector.table().await).await.0.violations;
            let rules: Vec<&str> = violations.iter().map(|violation| violation.rule).collect();
            assert_eq!(
                (rules, connector.requests()),
                (vec!["I9"], transactions),
                "{} of {padding}",
                items.len()
            );
        }
    });
}

/// Returns a reply of the engine that leaves out one row, if the request reads the given index or the table.
fn without(index: Option<&str>, key: &Value, operation: &str) -> impl Fn(&Engine, &Value) -> Reply + use<> {
    let (index, key, operation) = (json!(index), key.clone(), operation.to_owned());
    move |engine, request| {
        let mut reply = engine.call(&operation, request);
        let here = |row: &Value| row["pk"] == key["pk"] && row["sk"] == key["sk"];
        if request["IndexName"] == index {
            if let Some(rows) = reply.body["Items"].as_array_mut() {
                rows.retain(|row| !here(row));
            }
            if here(&reply.body["Item"]) {
                reply.body = json!({});
            }
        }
        reply
    }
}

#[test]
fn a_late_index_does_not_count_and_a_wrong_one_does() {
    run(|| async {
        let twin = busy().await;
        let change = of_type(&twin, "CHANGE");
        let reported = async |connector: Reluctant| {
            let (audited, seen) = audit(&connector.table().await).await;
            let lines =
                audited.violations.iter().map(|one| format!("{} {}: {}", one.rule, one.subject, one.detail));
            (seen.last().unwrap().violations, Vec::from_iter(lines))
        };
        let key =
            format!("{} / {}", change["pk"]["S"].as_str().unwrap(), change["sk"]["S"].as_str().unwrap());
        let of_index = || Reluctant::new(&twin, "Scan", ALWAYS, without(Some("gs1"), &change, "Scan"));
        assert_eq!(reported(of_index()).await, (1, vec![]));
        let wrong = of_index().and("Query", without(Some("gs1"), &change, "Query"));
        assert_eq!(
            reported(wrong).await,
            (1, vec![format!("I18 record {key}: gs1 lacks the row, but the table has it")])
        );
        let of_table = || Reluctant::new(&twin, "Scan", ALWAYS, without(None, &change, "Scan"));
        assert_eq!(reported(of_table()).await.1, [""; 0]);
        let wrong = of_table().and("GetItem", without(None, &change, "GetItem"));
        let lacks = |index| format!("I18 record {key}: {index} has the row, but the table lacks it");
        assert_eq!(reported(wrong).await.1, [lacks("gs1"), lacks("gs3")]);
    });
}

#[test]
fn what_never_stands_still_does_not_count() {
    run(|| async {
        let twin = busy().await;
        for (name, attribute, value) in [
            ("HEAD", "att", json!({"N": "1"})),
            ("TEAM", "nm", json!({"N": "1"})),
            ("SERVICE", "ti", json!({"N": "1"})),
        ] {
            let row = of_type(&twin, name);
            let mut damaged = row.clone();
            damaged[attribute] = value;
            twin.plant(&damaged);
            let violations = audit(&twin.table).await.0.violations;
            assert!(!violations.is_empty(), "{name}");
            let table = Reluctant::new(&twin, "TransactGetItems", ALWAYS, conflict).table().await;
            let audited = table.audit(None, &|_| ()).await.unwrap();
            assert_eq!(audited.violations, [], "{name}");
            assert_eq!(audited.unsettled, u64::try_from(violations.len()).unwrap(), "{name}");
            assert_eq!(table.repair(&Audited { violations, ..audited }).await.unwrap(), []);
            twin.plant(&row);
        }
    });
}

/// Returns a row of a type; of several teams, the consumer's.
fn of_type(twin: &Twin, name: &str) -> Value {
    consumers_first(twin).into_iter().find(|row| row["ty"]["S"] == *name).unwrap()
}

fn consumers_first(twin: &Twin) -> Vec<Value> {
    let consumers = format!("TEAM#{}", team(CONSUMER).id);
    let mut rows = twin.rows();
    rows.sort_by_key(|row| row["pk"]["S"] != *consumers);
    rows
}

fn of_another_type(attribute: &str, value: &Value) -> Value {
    match value.get("S") {
        // The key of an index must be a string; the engine rejects other types.
        Some(_) if attribute.starts_with("gs") => json!({"S": "elsewhere"}),
        Some(_) => json!({"N": "7"}),
        None => json!({"S": "seven"}),
    }
}

/// Asserts that an audit in parts, as of a large table, has found everything that an audit of all rows together finds.
///
/// An audit in parts may find more: a row in the partition of one team that names another team is wrong in both places.
fn assert_same(whole: &Audited, in_parts: &Audited) {
    let missing = whole.violations.iter().find(|violation| !in_parts.violations.contains(violation));
    assert_eq!(missing, None, "{in_parts:?}");
    assert_eq!(in_parts.violations.is_empty(), whole.violations.is_empty(), "{in_parts:?}");
}

/// Returns the rules that the audit reports for a damaged row, and its reads of the second look.
async fn rules(twin: &Twin, row: &Value, damaged: &Value) -> String {
    twin.plant(damaged);
    let reread = Arc::new(Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&reread);
    let connector = Reluctant::new(twin, "TransactGetItems", ALWAYS, move |engine, request| {
        let gets = request["TransactItems"].as_array().unwrap().iter();
        noted.lock().unwrap().extend(gets.map(|get| get["Get"]["Key"].to_string()));
        engine.call("TransactGetItems", request)
    });
    let (audited, _) = audit(&connector.table().await).await;
    assert_same(&audited, &team_by_team(&twin.table).await);
    let exported = twin.rows();
    for rows_max in [0, exported.len() / 2] {
        let in_parts = audit_of_export(&exported, rows_max.try_into().unwrap());
        assert_same(&audit_of_export(&exported, u64::MAX), &in_parts);
    }
    twin.plant(row);
    let rules: BTreeSet<&str> = audited.violations.iter().map(|violation| violation.rule).collect();
    let rules = if rules.is_empty() { "nothing".to_owned() } else { Vec::from_iter(rules).join(" ") };
    format!("{rules} ({} read again in {})", reread.lock().unwrap().len(), connector.requests())
}
