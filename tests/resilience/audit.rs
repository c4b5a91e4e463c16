//! The audit: it reports no violation of a sound table, also under concurrent writes. It reports each planted
//! corruption under its rule, for a table and for an export. It repairs computed values and changes nothing else.

mod planted;

use domain::Timestamp;
use domain::audit::result::AuditOutcome;
use domain::catalog::metadata_policy::Version;
use dovetail_daemon::audit::{Settings, Source, run};
use flate2::{Compression, write::GzEncoder};
use planted::{Corruption, HISTORIES, POINTERS, USES, corruptions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Answer, ApiRequest, Running};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
/// Time of audits that must not report `AGE`: it is before every record.
const BEFORE_ALL: Timestamp = Timestamp::from_micros(0);
const PAGE: &str = include_str!("../../docs/explanation/audit.md");

fn submit(system: &Running, key: &str, headers: &[(&str, &str)], services: &Value, team: &str) -> Answer {
    // Each idempotency key changes the metadata, so the table also has replaced metadata (I19).
    let metadata = json!({"env": "dev", "round": headers.first().map(|(_, key)| key)});
    let body = json!({team: {"NewApp1": {"metadata": metadata, "services": services}}});
    let body = body.to_string().into_bytes();
    let answer = system.send(&ApiRequest { method: "POST", path: SUBMIT, key: Some(key), headers, body });
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}

/// Moves an item's change instance in this state, as the owner of VMs.
fn decide(system: &Running, item: &str, from: &str, body: &Value) {
    let list = "/v1/orcabase/serviceowner/change_instances/";
    let listed = system.get(&format!("{list}?state={from}"), "vm-owner-key");
    let rows = listed.at("/results").as_array().unwrap();
    let id = rows.iter().find(|row| row["service_item"]["name"] == item).unwrap()["id"].clone();
    let answer = system.call("PATCH", &format!("{list}{id}/"), "vm-owner-key", body);
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Starts a world with every type of record.
///
/// It has items in every state, dependent teams, references, deployed items, idempotency keys, charges and pending
/// work.
fn varied() -> Running {
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    for team in world["teams"].as_array_mut().unwrap() {
        team.as_object_mut().unwrap().remove("notify");
    }
    world["services"][0]["schema"]["metadata"] = json!({"cost_per_change": 0.5, "monthly_cost": 49.99});
    let system = Running::start(&world.to_string());
    let vms = |cpu: u64| {
        let vm = |n: u64| json!({"name": format!("CoreVM{n}"), "cpu": if n == 4 { cpu } else { 8 }});
        (1..=4).map(vm).collect::<Vec<_>>()
    };
    let balancer = json!([{"name": "CoreLB1", "related_vms": ["CoreVM1", "CoreVM4"], "algorithm": "a"}]);
    let hosts = verified_service(&system);
    let first = json!({"VM": vms(8), "LoadBalancer": balancer, "Host": hosts});
    submit(&system, "awesome-key", &[("idempotency-key", "first")], &first, "AwesomeConsumer");
    system.wait_idle();
    system.enable("generate", false);
    // The load balancer references a modified VM, so this submission has pending work.
    let second = json!({"VM": vms(16), "LoadBalancer": balancer, "Host": hosts});
    submit(&system, "awesome-key", &[("idempotency-key", "second")], &second, "AwesomeConsumer");
    decide(&system, "CoreVM1", "PENDING", &json!({"state": "APPROVED"}));
    let done = json!({"state": "COMPLETED", "log": "done", "deployed_item": {"ip": "10.0.0.1"}});
    decide(&system, "CoreVM1", "APPROVED", &done);
    decide(&system, "CoreVM2", "PENDING", &json!({"state": "REJECTED", "log": "no"}));
    decide(&system, "CoreVM3", "PENDING", &json!({"state": "APPROVED"}));
    decide(&system, "CoreVM3", "APPROVED", &json!({"state": "ERRORED", "log": "no"}));
    let claims = "/v1/orcabase/serviceowner/change_instances/claim/";
    let claim = json!({"worker": "w-1", "state": "PENDING", "limit": 1});
    assert_eq!(system.call("POST", claims, "vm-owner-key", &claim).at("/count"), 1);
    let complete = json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}});
    for host in ["Host1", "Host2"] {
        decide(&system, host, "PENDING", &json!({"state": "APPROVED"}));
        decide(&system, host, "APPROVED", &complete);
    }
    decide(&system, "Host1", "COMPLETED", &json!({"deployed_item": {"cpu": 4}}));
    let schema = json!({"type": "object"}).to_string();
    let created = BEFORE_ALL;
    let version = Version { number: 1, team: Some(schema), application: None, created };
    assert!(system.block_on(system.table.put_metadata_policy(&version)).unwrap().is_done());
    let message =
        json!({"description": "VMs rest on Sunday", "scopes": ["/v1/orcabase/serviceowner/services/1/"]});
    let response = system.call("POST", "/v1/orcaexternal/serviceowner/messages/", "vm-owner-key", &message);
    assert_eq!(response.status, 201, "{response:?}");
    system
}

/// Publishes a verified service; returns its two items. The first one drifts later.
fn verified_service(system: &Running) -> Value {
    let definition = json!({"title": "Host", "type": "object", "x-verified": true, "required": ["name", "ip"],
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}, "tier": {"type": "string"},
            "token": {"type": "string", "maxLength": 8, "writeOnly": true}, "ip": {"type": "string", "readOnly": true}}});
    let published = system.call("POST", "/v1/orcabase/serviceowner/services/", "vm-owner-key", &definition);
    assert_eq!(published.status, 201, "{published:?}");
    // The mask of a token is longer than the definition allows, so only its secret fits (I28).
    json!([{"name": "Host1", "cpu": 8, "token": "token1"}, {"name": "Host2", "cpu": 8, "token": "token2"}])
}

/// Starts a world with an item that refers to an item of another application.
fn with_uses() -> Running {
    let system = Running::demo();
    let vm = json!({"type": "object", "format": "reference", "service_reference": "VM", "x-reach": "team"});
    let definition = json!({"title": "Link", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "vm": vm}});
    let published = system.call("POST", "/v1/orcabase/serviceowner/services/", "vm-owner-key", &definition);
    assert_eq!(published.status, 201, "{published:?}");
    let link = json!({"name": "Link1", "vm": {"application": "NewApp1", "name": "CoreVM1"}});
    let applications = json!({
        "NewApp1": {"services": {"VM": [{"name": "CoreVM1", "cpu": 8}, {"name": "CoreVM2", "cpu": 8}]}},
        "NewApp2": {"services": {"Link": [link]}},
    });
    let answer = system.call("POST", SUBMIT, "awesome-key", &json!({"AwesomeConsumer": applications}));
    assert_eq!(answer.status, 201, "{answer:?}");
    system.wait_idle();
    system
}

/// Starts it with another team's staged submission in flight.
fn full() -> Running {
    let system = varied();
    let many: Vec<Value> = (1..=101).map(|n| json!({"name": format!("VM{n}"), "cpu": n})).collect();
    submit(&system, "awesome2-key", &[], &json!({"VM": many}), "AwesomeConsumer2");
    system
}

/// Runs an audit. Returns its output lines and its outcome.
fn audited(system: &Running, source: Source, repair: bool, now: Timestamp) -> (Vec<Value>, AuditOutcome) {
    let mut out = Vec::new();
    let settings = Settings { source, repair, record: false };
    let outcome = system.block_on(run(&settings, now, &mut out)).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), outcome)
}

/// Runs an audit of the table, before the age of any record.
fn audited_table(system: &Running, repair: bool) -> (Vec<Value>, AuditOutcome) {
    audited(system, live(system), repair, BEFORE_ALL)
}

/// Returns the rows of a system. Fails unless the audits of the table and of its export report no violation.
#[track_caller]
fn assert_clean(system: &Running) -> Vec<Value> {
    let rows = system.rows();
    let clean = (vec![json!({"rows": rows.len(), "violations": 0})], AuditOutcome::Sound);
    assert_eq!(audited_table(system, false), clean, "the table is sound");
    assert_eq!(audited_export(system, &rows), clean, "the export is sound");
    rows
}

/// Returns the first row of a type.
fn row_of(system: &Running, ty: &str) -> Value {
    system.rows().into_iter().find(|row| row["ty"]["S"] == ty).unwrap()
}

/// Returns the table of a running system as a source.
fn live(system: &Running) -> Source {
    Source::Table { name: system.tables.table.clone(), endpoint: Some(system.engine.clone()) }
}

/// Writes rows in the format of a downloaded table export, in several files.
fn export(rows: &[Value], directory: &Path) {
    let export = directory.join("AWSDynamoDB/01715094384115-3b1f1a5c");
    fs::create_dir_all(export.join("data")).unwrap();
    for (number, rows) in rows.chunks(100).enumerate() {
        let file = fs::File::create(export.join(format!("data/{number}.json.gz"))).unwrap();
        let mut file = GzEncoder::new(file, Compression::fast());
        for row in rows {
            writeln!(file, "{}", json!({"Item": row})).unwrap();
        }
        file.finish().unwrap();
    }
    let summary = json!({"itemCount": rows.len()}).to_string();
    fs::write(export.join("manifest-summary.json"), summary).unwrap();
}

fn audited_export(system: &Running, rows: &[Value]) -> (Vec<Value>, AuditOutcome) {
    let directory = tempfile::tempdir().unwrap();
    export(rows, directory.path());
    audited(system, Source::Export(directory.path().to_owned()), false, BEFORE_ALL)
}

fn rules(lines: &[Value]) -> BTreeSet<&str> {
    lines.iter().filter_map(|line| line["rule"].as_str()).collect()
}

/// Plants a corruption. Returns the original row and the planted one, to undo it.
fn plant(system: &Running, rows: &[Value], planted: &Corruption) -> (Value, Option<Value>) {
    let row = rows.iter().find(|row| planted.is_of(row));
    let row = row.unwrap_or_else(|| panic!("{}: the world has such a row", planted.what)).clone();
    let corrupt = planted.corrupt(&row);
    match &corrupt {
        Some(corrupt) => system.put_row(corrupt),
        None => system.remove_row(&row),
    }
    (row, corrupt)
}

#[test]
fn a_world_with_something_of_everything_is_sound_and_so_is_its_export() {
    assert_clean(&full());
}

#[test]
fn the_audit_finds_every_corruption_of_histories() {
    assert_found(&varied(), HISTORIES);
}

#[test]
fn the_audit_finds_every_corruption_of_pointers() {
    assert_found(&varied(), POINTERS);
}

#[test]
fn the_audit_finds_every_corruption_of_references_between_applications() {
    assert_found(&with_uses(), USES);
}

/// Fails unless the audit finds each corruption of a file, in the table and in its export, and repairs derived values.
#[track_caller]
fn assert_found(system: &Running, file: &'static str) {
    let sound = assert_clean(system);
    for planted in &corruptions(file) {
        let context = format!("{}: {}", planted.rule, planted.what);
        let (row, corrupt) = plant(system, &sound, planted);
        let rows = system.rows();
        let (violations, outcome) = audited_table(system, false);
        assert!(rules(&violations).contains(planted.rule), "{context}: {violations:#?}");
        assert_eq!(outcome, AuditOutcome::Violated, "{context}");
        assert_eq!(violations.last().unwrap().get("unsettled"), None, "{context}: nothing moves");
        let (exported, _) = audited_export(system, &rows);
        assert!(rules(&exported).contains(planted.rule), "{context}, exported: {exported:#?}");
        let (repaired, outcome) = audited_table(system, true);
        if planted.is_repairable {
            assert_eq!(outcome, AuditOutcome::Sound, "{context}: {repaired:#?}");
            assert_eq!(repaired[0]["repaired"], planted.rule, "{context}: {repaired:#?}");
            assert_eq!(system.rows(), sound, "{context}: the repair restores the rows");
        } else {
            assert_eq!(outcome, AuditOutcome::Violated, "{context}");
            assert_eq!(system.rows(), rows, "{context}: the repair changes no row");
        }
        if let Some(row) = &corrupt {
            system.remove_row(row);
        }
        system.put_row(&row);
        assert_eq!(system.rows(), sound, "{context}: the corruption is undone");
    }
    assert_eq!(audited_table(system, false).1, AuditOutcome::Sound);
}

#[test]
fn every_rule_of_the_table_of_invariants_has_a_corruption() {
    let (_, table) = PAGE.split_once("## Invariants of the data").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let documented = table.lines().filter_map(|line| line.strip_prefix("| I")?.split_once(" |"));
    let documented =
        documented.flat_map(|(numbers, _)| numbers.split(", ").map(|number| number.trim_start_matches('I')));
    let documented: BTreeSet<u32> = documented.map(|number| number.parse().unwrap()).collect();
    let planted = [HISTORIES, POINTERS, USES].into_iter().flat_map(corruptions);
    let planted: BTreeSet<u32> =
        planted.map(|planted| planted.rule.trim_start_matches('I').parse().unwrap()).collect();
    assert_eq!(documented, planted);
    // One look at a table cannot show these. Other tests check them (docs/explanation/audit.md).
    let others = BTreeSet::from([4, 14, 21, 22, 23]);
    assert_eq!(
        documented.union(&others).copied().collect::<BTreeSet<_>>(),
        (1..=29).chain([31]).chain(33..=38).collect()
    );
}

#[test]
fn a_missing_staging_is_a_violation() {
    let system = full();
    let staging = row_of(&system, "STAGING");
    system.remove_row(&staging);
    let (lines, outcome) = audited_table(&system, false);
    assert_eq!((rules(&lines), outcome), (BTreeSet::from(["I11"]), AuditOutcome::Violated), "{lines:#?}");
    system.put_row(&staging);
    assert_eq!(audited_table(&system, false).1, AuditOutcome::Sound);
}

#[test]
fn a_repair_computes_nothing_from_damage_or_pending_work() {
    let system = full();
    let rows = system.rows();
    let find = |ty: &str, pk: &str| rows.iter().find(|r| r["ty"]["S"] == ty && r["pk"]["S"] == pk).unwrap();
    let corrupt = |row: &Value, name: &str, value: Value| {
        let mut corrupt = row.clone();
        corrupt[name] = value;
        system.put_row(&corrupt);
    };
    // One item of team 4 does not decode, so its blockers cannot be computed.
    corrupt(find("HEAD", "TEAM#4"), "attn", json!({"N": "7"}));
    corrupt(find("ITEM", "ITEM#4"), "rs", json!({"S": "GONE"}));
    // Team 5 has a submission in flight, so the repair must skip it.
    corrupt(find("HEAD", "TEAM#5"), "attn", json!({"N": "7"}));
    let before = system.rows();
    let (lines, outcome) = audited_table(&system, true);
    assert_eq!(outcome, AuditOutcome::Violated);
    assert_eq!(lines.last().unwrap()["repaired"], 0, "{lines:#?}");
    let wrong = |subject: &str| lines.iter().any(|l| l["rule"] == "I9" && l["subject"] == subject);
    assert!(wrong("head of team 4") && wrong("head of team 5"), "{lines:#?}");
    assert_eq!(system.rows(), before);
}

#[test]
fn only_the_audit_of_a_live_table_reports_late_work() {
    let system = full();
    let planned_since =
        system.rows().iter().filter(|row| row["ty"]["S"] == "WORK").map(created).max().unwrap();
    let after = |seconds: u64| Timestamp::from_micros(planned_since + seconds * 1_000_000);
    let ages = |seconds: u64| {
        let (lines, _) = audited(&system, live(&system), false, after(seconds));
        let subjects = lines.iter().filter(|line| line["rule"] == "AGE").map(|line| line["subject"].clone());
        subjects.map(|subject| subject.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ages(60), Vec::<String>::new());
    assert_eq!(ages(200), ["head of team 5"]);
    assert_eq!(ages(600).len(), 3, "also the work of two submissions");
    let mut open = row_of(&system, "STAGING");
    (open["id"], open["st"]) = (json!({"N": "7"}), json!({"S": "OPEN"}));
    (open["sk"], open["sub"]) = (json!({"S": "0000000000007"}), json!({"N": "171798691847"}));
    open["gs3sk"] = json!({"S": format!("{:016}#{:016}", created(&open), 171_798_691_847_u64)});
    system.put_row(&open);
    assert_eq!(ages(600).len(), 3);
    assert_eq!(ages(2 * 60 * 60).len(), 4, "also the staging that nobody committed");
    open["st"] = json!({"S": "ABORTED"});
    system.put_row(&open);
    assert_eq!(ages(2 * 60 * 60).len(), 4, "also the staging that nobody cleared away");
    assert_eq!(audited_export(&system, &system.rows()).1, AuditOutcome::Sound);
}

fn created(row: &Value) -> u64 {
    row["cr"]["N"].as_str().unwrap().parse().unwrap()
}

#[test]
fn the_audit_under_traffic_reports_no_violation() {
    let system = full();
    system.enable("generate", true);
    assert_sound_during(&system, || {
        for round in 0..30_u64 {
            let vms: Vec<Value> =
                (1..=4).map(|n| json!({"name": format!("VM{n}"), "cpu": round + n})).collect();
            let balancer = json!([{"name": "LB", "related_vms": ["VM1"], "algorithm": round.to_string()}]);
            let services = json!({"VM": vms, "LoadBalancer": balancer});
            let body = json!({"AwesomeConsumer2": {"App": {"services": services}}});
            let answer = system.call("PATCH", SUBMIT, "awesome2-key", &body);
            assert!([201, 409, 503].contains(&answer.status), "{answer:?}");
        }
    });
}

#[test]
fn the_audit_of_references_under_traffic_reports_no_violation() {
    let system = with_uses();
    assert_sound_during(&system, || {
        for round in 0..16_u64 {
            // Each fourth submission is staged.
            let count = if round % 4 == 0 { 101 } else { 5 };
            let vm = json!({"application": "NewApp1", "name": format!("CoreVM{}", 1 + round % 2)});
            let link = |n: u64| match (n + round) % 3 {
                0 => json!({"name": format!("Link{n}")}),
                _ => json!({"name": format!("Link{n}"), "vm": vm}),
            };
            let links: Vec<Value> = (1..=count).map(link).collect();
            let body = json!({"AwesomeConsumer": {"NewApp2": {"services": {"Link": links}}}});
            let answer = system.call("PATCH", SUBMIT, "awesome-key", &body);
            assert!([201, 202, 409, 503].contains(&answer.status), "{answer:?}");
        }
    });
}

/// Fails unless every audit during these requests finds a sound table.
fn assert_sound_during(system: &Running, requests: impl FnOnce() + Send) {
    let done = AtomicBool::new(false);
    let audits = std::thread::scope(|scope| {
        scope.spawn(|| {
            requests();
            done.store(true, Ordering::SeqCst);
        });
        let mut audits = 0;
        while !done.load(Ordering::SeqCst) {
            let audited = system.block_on(system.table.audit(None, &|_| ())).unwrap();
            assert_eq!(audited.violations, [], "after {audits} audits");
            audits += 1;
        }
        audits
    });
    // A single audit could miss the concurrent submissions.
    assert!(audits > 1, "{audits}");
    system.assert_sound();
}

#[test]
fn a_row_that_cannot_be_read_is_not_left_out_of_a_snapshot() {
    let system = Running::demo();
    assert!(system.block_on(system.table.snapshot()).is_ok());
    let mut head = row_of(&system, "HEAD");
    head.as_object_mut().unwrap().remove("root");
    system.put_row(&head);
    let error = system.block_on(system.table.snapshot()).unwrap_err().to_string();
    let key = format!("{} / HEAD", head["pk"]["S"].as_str().unwrap());
    assert_eq!(error, format!("record {key} is corrupt: its attributes do not decode"));
}

#[test]
fn an_export_that_is_not_whole_is_not_audited() {
    let system = Running::demo();
    let directory = tempfile::tempdir().unwrap();
    let rows = system.rows();
    export(&rows, directory.path());
    let error_of = |path: &Path| {
        let settings = Settings { source: Source::Export(path.to_owned()), repair: false, record: false };
        let error = system.block_on(run(&settings, BEFORE_ALL, &mut Vec::new())).unwrap_err();
        error.to_string()
    };
    let export = directory.path().join("AWSDynamoDB/01715094384115-3b1f1a5c");
    let file = export.join("data/0.json.gz");
    let content = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(error_of(directory.path()).ends_with("data: must contain a file of rows (*.json.gz)"));
    let write = |name: &str, lines: &str| {
        let mut file = GzEncoder::new(fs::File::create(export.join(name)).unwrap(), Compression::fast());
        file.write_all(lines.as_bytes()).unwrap();
        file.finish().unwrap();
    };
    write("data/0.json.gz", "");
    let expected = format!("must contain {} rows, as in its manifest, not 0", rows.len());
    assert!(error_of(directory.path()).ends_with(&expected));
    write("data/0.json.gz", "{\"Item\": {}}\n{\"Item\": 1}\n");
    let no_row =
        "data/0.json.gz, line 2: record of an export is corrupt: the line is not a row in DynamoDB JSON";
    assert!(error_of(directory.path()).ends_with(no_row));
    fs::write(&file, content.get(..content.len() / 2).unwrap()).unwrap();
    assert!(error_of(directory.path()).contains("0.json.gz"));
    fs::write(&file, content).unwrap();
    fs::write(export.join("manifest-summary.json"), "{}").unwrap();
    assert!(error_of(directory.path()).ends_with("must contain the number of rows (itemCount)"));
    assert!(error_of(&export.join("data")).ends_with("must contain exactly one export, not 0"));
    fs::create_dir_all(directory.path().join("AWSDynamoDB/another/data")).unwrap();
    assert!(error_of(directory.path()).ends_with("must contain exactly one export, not 2"));
    let missing = Settings { source: Source::Data(export), repair: false, record: false };
    let error = system.block_on(run(&missing, BEFORE_ALL, &mut Vec::new())).unwrap_err();
    assert!(error.to_string().ends_with("the directory has no database"), "{error}");
}

#[test]
fn an_audit_stores_its_result_only_on_request() {
    let system = Running::demo();
    let stored = || system.block_on(system.table.audit_result()).unwrap();
    let audit = |repair, record| {
        let settings = Settings { source: live(&system), repair, record };
        system.wait_idle();
        system.block_on(run(&settings, BEFORE_ALL, &mut Vec::new())).unwrap()
    };
    assert_eq!((audit(false, false), stored()), (AuditOutcome::Sound, None));
    assert_eq!(audit(false, true), AuditOutcome::Sound);
    let first = stored().unwrap();
    assert_eq!((first.outcome(), first.violations), (AuditOutcome::Sound, 0));
    assert!(first.rows > 10 && first.started < first.finished, "{first:?}");
    // With a repair, the stored result is the one after it.
    let mut head = row_of(&system, "HEAD");
    head["attn"]["N"] = json!("3");
    system.put_row(&head);
    assert_eq!((audit(false, true), stored().unwrap().violations), (AuditOutcome::Violated, 1));
    assert_eq!((audit(true, true), stored().unwrap().violations), (AuditOutcome::Sound, 0));
    // The result of an earlier audit never replaces a later one.
    let last = stored().unwrap();
    system.block_on(system.table.put_audit_result(&first)).unwrap();
    assert_eq!(stored(), Some(last));
}
