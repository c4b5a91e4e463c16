//! Members of a team: creation, changes, removal and limits.

use crate::api::demo::RECORDS;
use crate::security::people::{CONSUMER, MEMBERS, OWNER, added, by, system};
use domain::Timestamp;
use domain::account::audit_log::{AuditEntry, Event};
use domain::account::member::{MEMBERS_MAX, Member, TEAMS_MAX};
use domain::base::actor::{Actor, Role};
use domain::base::context::RequestContext;
use dovetail_aws::observed;
use dovetail_table::Stored;
use serde_json::{Value, json};
use support::Running;

#[test]
fn members_are_added_changed_and_removed_and_the_audit_log_has_it() {
    let (system, issuer) = system();
    let jane = added(&system, CONSUMER, "u-1", "Jane", Role::ReadOnly);
    let path = jane.at("/url").as_str().unwrap();
    let repeated = json!({"subject": "u-1", "name": "J", "role": "ADMIN"});
    assert_eq!(system.call("POST", MEMBERS, CONSUMER, &repeated).code(), (400, "already_member"));
    let listed = system.get(MEMBERS, CONSUMER);
    listed.assert_is(200, &json!({"/count": 1, "/results/0": jane.body}));
    assert_eq!(system.get(path, CONSUMER).body, jane.body);
    // Another team does not see the member.
    assert_eq!(system.get(path, OWNER).code(), (404, "not_found"));
    assert_eq!(system.get(MEMBERS, OWNER).at("/count"), &json!(0));

    let changed = system.call("PATCH", path, CONSUMER, &json!({"role": "ADMIN"}));
    changed.assert_is(200, &json!({"/role": "ADMIN", "/name": "Jane"}));
    let same = system.call("PATCH", path, CONSUMER, &json!({"role": "ADMIN", "name": "Jane"}));
    assert_eq!((same.status, &same.body), (200, &changed.body));
    // A member with the role ADMIN may add members, under her own name.
    let token = issuer.token("u-1");
    let john = json!({"subject": "auth0|5", "name": "John", "role": "GENERAL"});
    assert_eq!(by(&system, &token, None, "POST", MEMBERS, &john).status, 201);
    let gone = system.call("DELETE", path, CONSUMER, &Value::Null);
    assert_eq!((gone.status, &gone.body), (204, &Value::Null));
    for (method, path) in [("DELETE", path), ("GET", &*format!("{MEMBERS}7/")), ("PATCH", path)] {
        let answer = system.call(method, path, CONSUMER, &Value::Null);
        assert_eq!(answer.code(), (404, "not_found"), "{method}: {answer:?}");
    }

    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let describe = |one: &Value| {
        let (name, role) = (text(&one["member"]["name"]), text(&one["member"]["role"]));
        format!("{} {name} {role} by {}", text(&one["event"]), text(&one["changed_by"]))
    };
    let records = system.get(RECORDS, CONSUMER);
    let entries: Vec<String> = records.rows()[..4].iter().map(describe).collect();
    let expected = [
        "MEMBER_REMOVED Jane ADMIN by AwesomeConsumer-1 (Api Key)",
        "MEMBER_ADDED John GENERAL by Jane",
        "MEMBER_CHANGED Jane ADMIN by AwesomeConsumer-1 (Api Key)",
        "MEMBER_ADDED Jane READ_ONLY by AwesomeConsumer-1 (Api Key)",
    ];
    assert_eq!(entries, expected);
}

#[test]
fn a_bad_member_is_refused_with_its_field() {
    let (system, _issuer) = system();
    let jane = added(&system, CONSUMER, "u-1", "Jane", Role::ReadOnly);
    let url = jane.at("/url").as_str().unwrap();
    for (method, path, body, pointer) in [
        ("POST", MEMBERS, json!({"name": "J", "role": "ADMIN"}), "/subject"),
        ("POST", MEMBERS, json!({"subject": 5, "name": "J", "role": "ADMIN"}), "/subject"),
        ("POST", MEMBERS, json!({"subject": "", "name": "J", "role": "ADMIN"}), "/subject"),
        ("POST", MEMBERS, json!({"subject": "x".repeat(256), "name": "J", "role": "ADMIN"}), "/subject"),
        ("POST", MEMBERS, json!({"subject": "\u{e9}", "name": "J", "role": "ADMIN"}), "/subject"),
        ("POST", MEMBERS, json!({"subject": "u", "role": "ADMIN"}), "/name"),
        ("POST", MEMBERS, json!({"subject": "u", "name": "", "role": "ADMIN"}), "/name"),
        ("POST", MEMBERS, json!({"subject": "u", "name": "SYSTEM", "role": "ADMIN"}), "/name"),
        ("POST", MEMBERS, json!({"subject": "u", "name": "pipeline (Api Key)", "role": "ADMIN"}), "/name"),
        ("POST", MEMBERS, json!({"subject": "u", "name": "J"}), "/role"),
        ("POST", MEMBERS, json!({"subject": "u", "name": "J", "role": "OWNER"}), "/role"),
        ("PATCH", url, json!({"role": null}), "/role"),
        ("PATCH", url, json!({"name": 7}), "/name"),
    ] {
        let answer = system.expect(400, method, path, CONSUMER, &body);
        assert_eq!(answer.at("/pointer"), pointer, "{body}: {answer:?}");
    }
}

#[test]
fn a_team_has_so_many_members_and_a_person_so_many_teams() {
    let teams: Vec<Value> = (0..=TEAMS_MAX)
        .map(|n| json!({"name": format!("Team{n}"), "api_keys": [format!("key-{n}")]}))
        .collect();
    let system = Running::start(&json!({"teams": teams, "services": []}).to_string());
    let body = |subject: &str| json!({"subject": subject, "name": "J", "role": "GENERAL"});
    for n in 0..TEAMS_MAX {
        system.expect(201, "POST", MEMBERS, &format!("key-{n}"), &body("u"));
    }
    let last = format!("key-{TEAMS_MAX}");
    assert_eq!(system.call("POST", MEMBERS, &last, &body("u")).code(), (400, "too_many_members"));

    let team = system.block_on(system.table.team_by_name("Team0")).unwrap().unwrap().to_ref();
    let add = |n: u64| {
        let (by, request) = (Actor::System, format!("r{n}"));
        let ctx = RequestContext { by, request, now: Timestamp::from_micros(n + 1) };
        let member = Member::new(format!("u-{n}"), "J".to_owned(), Role::General, team.clone(), &ctx);
        let audit_entry = AuditEntry::of_member(Event::MemberAdded, &member, &ctx);
        system.block_on(system.table.add_member(&member, &audit_entry)).unwrap()
    };
    for n in 1..MEMBERS_MAX {
        assert_eq!(add(n), Stored::Done(()), "{n}");
    }
    assert_eq!(system.call("POST", MEMBERS, "key-0", &body("u-0")).code(), (400, "too_many_members"));
    let listed = system.get(MEMBERS, "key-0");
    assert_eq!(listed.at("/count"), &json!(MEMBERS_MAX));
    // A removal makes room for another member.
    let one = listed.at("/results/0/url").as_str().unwrap();
    system.expect(204, "DELETE", one, "key-0", &Value::Null);
    system.expect(201, "POST", MEMBERS, "key-0", &body("u-0"));
}

#[test]
fn of_two_concurrent_changes_of_a_member_one_must_retry() {
    let (system, _issuer) = system();
    let jane = added(&system, CONSUMER, "u-1", "Jane", Role::ReadOnly);
    let id = domain::base::id::MemberId::parse(jane.at("/id").as_u64().unwrap()).unwrap();
    let before = system.block_on(system.table.member(id)).unwrap().unwrap();
    let change = |name: &str, at: u64| {
        let ctx =
            RequestContext { by: Actor::System, request: name.to_owned(), now: Timestamp::from_micros(at) };
        let after = before.changed(Some(name.to_owned()), None).unwrap();
        let audit_entry = AuditEntry::of_member(Event::MemberChanged, &after, &ctx);
        let changing = observed(system.table.change_member(&before, &after, &audit_entry));
        let (changed, observed) = system.block_on(changing);
        (changed.unwrap(), observed.timings.conflicts)
    };
    // The second change counts as a conflict in the metrics.
    assert_eq!((change("first", 1), change("second", 2)), ((Stored::Done(()), 0), (Stored::Stale, 1)));
    assert_eq!(system.get(jane.at("/url").as_str().unwrap(), CONSUMER).at("/name"), &json!("first"));
}
