//! Tests of the actions of each write and of stored records, by golden files that also document the table.

mod examples;
mod fences;
mod healthchecks;
mod json;

use self::examples::{
    application, at, awaiting_item, blocked_item, change, change_id, change_of_generation, charges,
    checked_work, claim, consumer, deployed, drifted_item, entry, first_half, generations, gone_item, head,
    item, item_id, item_use, offered, owner, redeclaring_work, remembered, renaming_work, replaced_item,
    replacing_service, replacing_work, service, share, slot, staged_work, staging, submission, using_item,
    using_work, waiting_item, work,
};
use self::fences::condition;
use self::json::{attributes_of, dynamodb_json};
use super::*;
use crate::audit::ITEM_BYTES_MAX;
use crate::record::{
    ApiKeyRecord, AuditEntryRecord, AuditResultRecord, ClaimRecord, ConfigRecord, CoolingRecord, DocsRecord,
    GivenUpRecord, MemberRecord, MessagesRecord, MetadataPolicyRecord, ReminderRecord, ReplacedRecord,
    RepliedRecord, SecretsRecord, WebhookRecord,
};
use domain::account::api_key::{ApiKey, Made};
use domain::account::audit_log::{AuditEntry, Event as AuditEvent};
use domain::account::member::Member;
use domain::audit::result::AuditResult;
use domain::base::actor::{Actor, Role};
use domain::base::context::RequestContext;
use domain::base::money::Prices;
use domain::base::refs::ItemReference;
use domain::base::side::Side;
use domain::base::state::ChangeType;
use domain::catalog::docs::Docs;
use domain::catalog::metadata_policy::Version as PolicyVersion;
use domain::catalog::schema::REFERENCES_MAX;
use domain::catalog::service::{DEPENDENT_TEAMS_EVER_MAX, Service};
use domain::model::change::{Chain, ClosedBy, Entry, Reason, Target, Version};
use domain::model::declaration::NAME_BYTES_MAX;
use domain::model::deployed::Deployed;
use domain::model::item::{Creation, Slot, Stack};
use domain::model::metadata::{Replaced, Since};
use domain::model::place::Place;
use domain::model::secrets::{SecretOwner, Secrets, StoredSecrets};
use domain::model::work::Work;
use domain::outreach::message::{Content, Messages};
use domain::outreach::webhook::delivery::{Delivery, Ended, Replied};
use domain::outreach::webhook::reminder::Reminder;
use domain::outreach::webhook::start::Cooling;
use domain::outreach::webhook::{Scope, Settings as HookSettings, Webhook};
use domain::{Item, TeamRef};
use expect_test::expect_file;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Asserts that a record is stored as its golden file, and that the file decodes to the value. Golden files of a
/// format never change.
fn golden<R: Record>(file: &str, value: &R::Value)
where
    R::Value: PartialEq + Debug,
{
    let written = record::write::<R>(value).unwrap();
    let format = record::integer(&written, "v").unwrap();
    let path = format!("{}/golden/record/{file}.v{format}.json", env!("CARGO_MANIFEST_DIR"));
    let pretty = serde_json::to_string_pretty(&dynamodb_json(&written)).unwrap();
    expect_file![path.as_str()].assert_eq(&(pretty + "\n"));
    let stored = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(record::read::<R>(attributes_of(&stored)).unwrap(), *value, "{file}");
}

/// Fails unless a record of an earlier release reads as this value.
fn reads_older<R: Record>(file: &str, value: &R::Value)
where
    R::Value: PartialEq + Debug,
{
    let path = format!("{}/golden/record/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let stored = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(record::read::<R>(attributes_of(&stored)).unwrap(), *value, "{file}");
}

#[test]
fn staged_work_of_an_earlier_release_has_its_declarations_elsewhere() {
    let without = |work: Work| Work { declarations: BTreeMap::new(), ..work };
    reads_older::<WorkRecord>("staged_work.v2", &without(staged_work()));
    reads_older::<WorkRecord>("redeclaring_work.v3", &without(redeclaring_work()));
}

#[test]
fn records_are_stored_as_the_golden_files_say_and_read_back() {
    let team = Team {
        id: consumer().id,
        name: consumer().name,
        metadata: "{}".to_owned(),
        since: Since::EVER,
        confirm_removals: false,
    };
    golden::<TeamRecord>("team", &team);
    golden::<TeamRecord>("confirming_team", &Team { confirm_removals: true, ..team });
    golden::<HeadRecord>("head", &head());
    golden::<ApplicationRecord>("application", &application());
    golden::<ReplacedRecord>("replaced", &replaced());
    golden::<SecretsRecord>("secrets", &secrets());
    golden::<ItemRecord>("item", &item());
    golden::<ItemRecord>("item_of_later_life", &Item { earlier_life: 1, ..item() });
    golden::<ItemRecord>("drifted_item", &drifted_item());
    golden::<ItemRecord>("replaced_item", &replaced_item());
    golden::<ItemRecord>("blocked_item", &blocked_item());
    golden::<ApplicationRecord>("drifted_application", &Application { drifted: 1, ..application() });
    golden::<ApplicationRecord>("used_application", &Application { uses_ever: 3, ..application() });
    golden::<ItemRecord>("using_item", &using_item());
    golden::<UseRecord>("use", &item_use());
    golden::<ItemRecord>("waiting_item", &waiting_item());
    golden::<ItemRecord>("gone_item", &gone_item());
    let [retired, next] = generations();
    golden::<ApplicationRecord>("retired_application", &retired);
    golden::<ApplicationRecord>("application_of_generation", &next);
    golden::<ChangeRecord>("change_of_generation", &change_of_generation());
    golden::<ChangeRecord>("change", &change());
    golden::<ChangeRecord>("first_half", &first_half());
    let planned = Entry { planned: Some(Hash::of("{}")), ..entry(None, State::Pending, 0) };
    let history = vec![planned.chained(Chain::START)];
    golden::<ChangeRecord>("checked_change", &Change { schema_version: Some(2), history, ..change() });
    let plain = Change {
        cause: None,
        causes: Vec::new(),
        origin: change().id,
        waits: Vec::new(),
        unblocks: 0,
        commit_id: None,
        old: None,
        supersedes: Vec::new(),
        superseded_at_creation: 0,
        deployed_before: None,
        log: String::new(),
        prices: Prices::NONE,
        history: vec![Entry { log: None, ..entry(None, State::Pending, 0) }.chained(Chain::START)],
        ..change()
    };
    golden::<ChangeRecord>("plain_change", &plain);
    let [charge, running_charge] = charges();
    golden::<ChargeRecord>("charge", &charge);
    golden::<ChargeRecord>("running_charge", &running_charge);
    golden::<DeployedRecord>("deployed", &deployed());
    golden::<DeployedRecord>(
        "checked_deployed",
        &Deployed { schema_version: Some(2), is_observed: true, is_drifted: true, ..deployed() },
    );
    golden::<SubmissionRecord>("submission", &submission());
    let message = Some("Move to the new rack".to_owned());
    golden::<SubmissionRecord>(
        "submission_with_message",
        &Submission { message: message.clone(), ..submission() },
    );
    golden::<ChangeRecord>("change_with_message", &Change { message, ..change() });
    golden::<RememberedRecord>("remembered", &(consumer().id, remembered()));
    golden::<WorkRecord>("work", &work());
    golden::<WorkRecord>("checked_work", &checked_work());
    golden::<WorkRecord>("replacing_work", &replacing_work());
    golden::<WorkRecord>("using_work", &using_work());
    golden::<WorkRecord>("renaming_work", &renaming_work());
    golden::<WorkRecord>("staged_work", &staged_work());
    golden::<WorkRecord>("redeclaring_work", &redeclaring_work());
    golden::<StagingRecord>("staging", &staging());
    golden::<ShareRecord>("share", &share());
    golden::<ItemRecord>("awaiting_item", &awaiting_item());
    golden::<ClaimRecord>("claim", &claim());
    golden::<ClaimRecord>("released_claim", &Claim { lease: None, ..claim() });
    golden::<ChangeRecord>("claimed_change", &Change { claim_required: true, ..change() });
    golden::<crate::record::ServiceRecord>("service", &offered());
    golden::<crate::record::ServiceRecord>("replacing_service", &replacing_service());
    let with_words = Service { first_with_words: Some(2), ..offered() };
    golden::<crate::record::ServiceRecord>("service_with_words", &with_words);
    let docs = Docs {
        service: service(),
        text: "# VM\n".to_owned(),
        request: "request-1".to_owned(),
        modified: at(1),
    };
    golden::<DocsRecord>("docs", &docs);
    let ctx = RequestContext { by: Actor::System, request: "request-1".to_owned(), now: at(1) };
    let config = domain::catalog::config::next(&offered(), Some(1), "{\"ip\":\"10.0.0.1\"}".to_owned(), &ctx);
    golden::<ConfigRecord>("config", &config.unwrap().config);
    let (key, member, audit_entry) = account();
    golden::<ApiKeyRecord>("api_key", &key);
    golden::<MemberRecord>("member", &member);
    golden::<AuditEntryRecord>("recorded", &audit_entry);
    let audit_result = AuditResult { started: at(1), finished: at(2), rows: 30, violations: 2, unsettled: 1 };
    golden::<AuditResultRecord>("audit_result", &audit_result);
    golden::<WebhookRecord>("webhook", &webhook());
    let of_consumer = Webhook { scope: Scope { side: Side::Consumer, service: None }, ..webhook() };
    golden::<WebhookRecord>("webhook_of_consumer", &of_consumer);
    let reminding = reminding_webhook();
    golden::<WebhookRecord>("reminding_webhook", &reminding);
    golden::<ReminderRecord>("reminder", &Reminder::of(&reminding, None, at(0)).unwrap());
    let delivery = Delivery::new(
        webhook().id,
        json!({"metadata": {"id": "137438953488:2"}, "data": {"to": "APPROVED"}}),
    );
    let replied = Replied::after(None, &delivery, Ended::Answered(503), at(0), at(0));
    golden::<RepliedRecord>("replied", &replied);
    golden::<RepliedRecord>("first_in_flight", &Replied::during(None, &delivery, at(0)));
    let slow = Replied::after(Some(&replied), &delivery, Ended::Answered(200), at(0), at(2_000_000));
    golden::<RepliedRecord>("slow_in_flight", &Replied::during(Some(&slow), &delivery, at(3_000_000)));
    let noted = Replied::after(None, &delivery, Ended::Answered(200), at(0), at(0));
    let noted = noted.noting_delivery(&reminding, &delivery);
    golden::<RepliedRecord>("noted_delivery", &noted);
    golden::<GivenUpRecord>("given_up", &delivery.given_up(Ended::TimedOut, at(0)));
    let cooling = Cooling {
        webhook: webhook().id,
        until: at(0),
        waiting: Some("137438953488:2".to_owned()),
        revision: 2,
    };
    golden::<CoolingRecord>("cooling", &cooling);
    let ctx = RequestContext { by: Actor::System, request: "request-1".to_owned(), now: at(0) };
    let audit_entry = AuditEntry::of_webhook(AuditEvent::WebhookCreated, &webhook(), &ctx);
    golden::<AuditEntryRecord>("recorded_webhook", &audit_entry);
    let audit_entry = AuditEntry::of_webhook(AuditEvent::WebhookCreated, &of_consumer, &ctx);
    golden::<AuditEntryRecord>("recorded_webhook_of_consumer", &audit_entry);
    let content = Content {
        description: "VMs rest on Sunday".to_owned(),
        expires: Some(at(9)),
        services: vec![service()],
    };
    let messages = Messages::none(owner()).with(content, &ctx).unwrap();
    golden::<MessagesRecord>("messages", &messages);
    let audit_entry =
        AuditEntry::of_message(AuditEvent::MessageCreated, &messages.owner, &messages.all[0], &ctx);
    golden::<AuditEntryRecord>("recorded_message", &audit_entry);
    golden::<AuditEntryRecord>("recorded_secrets", &AuditEntry::of_secrets(&change(), &ctx));
    let schema = r#"{"required":["owner"],"type":"object"}"#.to_owned();
    let version = PolicyVersion { number: 2, team: None, application: Some(schema), created: at(0) };
    golden::<MetadataPolicyRecord>("mandatory", &version);
}

/// Returns metadata that replaced others and were replaced themselves.
fn secrets() -> StoredSecrets {
    let [application, service, item] = ["App", "Vault", "v"].map(str::to_owned);
    let owner = SecretOwner { team: consumer().id, application, service, item };
    let secrets = Secrets::parse(r#"{"secret:AAAAAAAAAAAAAAAAAAAAAA":"value"}"#).unwrap();
    StoredSecrets { owner, hash: Hash::of("{}"), secrets }
}

fn replaced() -> Replaced {
    let since = Since { submission: 3, at: at(1), before: Some(1) };
    Replaced { since, metadata: "{\"env\":\"dev\"}".to_owned(), ..application().replaced() }
}

#[test]
fn what_was_stored_before_the_past_was_noted_reads_as_not_noted() {
    let mut stored = record::write::<ApplicationRecord>(&application()).unwrap();
    for name in ["si", "lc"] {
        assert!(stored.remove(name).is_some());
    }
    let read = record::read::<ApplicationRecord>(stored).unwrap();
    assert_eq!(read, Application { since: Since::EVER, changed: 0, ..application() });
    let mut stored = record::write::<SubmissionRecord>(&submission()).unwrap();
    assert!(stored.remove("root").is_some());
    assert_eq!(record::read::<SubmissionRecord>(stored).unwrap(), Submission { root: None, ..submission() });
}

/// Returns a key, a member that it added, and the audit log entry of that.
fn account() -> (ApiKey, Member, AuditEntry) {
    let by = Actor::Key { name: "VMOwnerTeam-1".to_owned(), team: owner() };
    let ctx =
        RequestContext { by, request: "r-1".to_owned(), now: Timestamp::from_micros(1_700_000_000_000_000) };
    let expires = Some(Timestamp::from_micros(1_800_000_000_000_000));
    let made = Made { hash: "5e88".to_owned(), name: "pipeline".to_owned(), role: Role::General, expires };
    let member = Member::new("auth0|5".to_owned(), "Jane".to_owned(), Role::Admin, owner(), &ctx);
    let audit_entry = AuditEntry::of_member(AuditEvent::MemberAdded, &member, &ctx);
    (ApiKey::new(made, owner(), &ctx), member, audit_entry)
}

fn webhook() -> Webhook {
    let settings = HookSettings {
        name: "ansible".to_owned(),
        description: "starts the playbook".to_owned(),
        target_url: "https://automation.example.com/hook".to_owned(),
        authorization: Some("Bearer of.their.own".to_owned()),
        state: Some(State::Approved),
        active: true,
        timeout_seconds: 10,
        wait_seconds: 5,
        cooling_seconds: 60,
        remind_after_seconds: None,
    };
    let ctx = RequestContext { by: Actor::System, request: "request-1".to_owned(), now: at(0) };
    let scope = Scope { side: Side::ServiceOwner, service: Some(service()) };
    Webhook::new(settings, scope, owner(), "dvt_secret".to_owned(), "hash", &ctx)
}

/// Returns a webhook that reminds of waiting work.
fn reminding_webhook() -> Webhook {
    let settings = HookSettings { remind_after_seconds: Some(300), ..webhook().settings };
    Webhook { settings, ..webhook() }
}

#[test]
fn settings_of_a_team_replace_only_the_settings_that_were_read() {
    let (name, metadata, since) = (consumer().name, "{}".to_owned(), Since::EVER);
    let off = Team { id: consumer().id, name, metadata, since, confirm_removals: false };
    let on = Team { confirm_removals: true, ..off.clone() };
    let conditions = [(&off, &on), (&on, &off)]
        .map(|(before, after)| condition(&team_settings("table", before, after).unwrap()));
    assert_eq!(
        conditions,
        [
            r#"update SET v = :v, cf = :cf if attribute_not_exists(cf) {":cf":{"BOOL":true},":v":{"N":"7"}}"#,
            r#"update SET v = :v REMOVE cf if attribute_exists(cf) {":v":{"N":"2"}}"#,
        ]
    );
}

#[test]
fn a_later_delivery_state_wins() {
    let delivery = Delivery::new(webhook().id, json!({"metadata": {"id": "137438953488:2"}}));
    let replied = Replied::after(None, &delivery, Ended::Answered(200), at(7), at(7));
    let action = newest::<RepliedRecord>("table", replied.at, &replied).unwrap();
    let expected = r#"put if attribute_not_exists(pk) OR at <= :at {":at":{"N":"1740748711000007"}}"#;
    assert_eq!(condition(&action), expected);
}

#[test]
fn a_place_leads_to_what_it_stands_for() {
    let (work, share) = (key::work(work().id), key::share(item_id(), owner().id));
    assert_eq!(key::work_at(&work.pk, &work.sk), Some(super::tests::work().id));
    let (staged, staging) = (key::work(staged_work().id), key::staging(consumer().id, staging().id));
    assert_eq!(key::work_at(&staged.pk, &staged.sk), Some(staged_work().id));
    assert_eq!(key::staging_at(&staging.pk, &staging.sk), Some((consumer().id, super::tests::staging().id)));
    assert_eq!(key::shared_item(&share), Some(key::item(item_id())));
    assert_eq!(key::team(owner().id).to_string(), format!("TEAM#{} / TEAM", owner().id));
    for (pk, sk) in
        [("WORK#4", "1"), ("WORK#", "1#1"), ("ITEM#4", "1#1"), ("WORK#4", "x#1"), ("WORK#4", "0#1")]
    {
        assert_eq!(key::work_at(pk, sk), None, "{pk} / {sk}");
    }
}

#[test]
fn a_record_of_another_format_or_type_is_refused() {
    for (format, message) in [(1, "older"), (record::FORMAT + 1, "newer")] {
        let mut record = record::write::<HeadRecord>(&head()).unwrap();
        record.insert("v".to_owned(), AttributeValue::N(format.to_string()));
        assert!(record::read::<HeadRecord>(record).unwrap_err().to_string().contains(message));
    }
    let other = record::write::<ItemRecord>(&item()).unwrap();
    assert!(record::read::<HeadRecord>(other).unwrap_err().to_string().contains("is not a HEAD"));
    let mut broken = record::write::<ItemRecord>(&item()).unwrap();
    broken.insert("rs".to_owned(), AttributeValue::S("secret".to_owned()));
    let error = record::read::<ItemRecord>(broken).unwrap_err().to_string();
    assert!(error.contains("runtime state") && !error.contains("secret"), "{error}");
}

#[test]
fn every_way_to_close_and_every_role_reads_back() {
    let by = change_id(32);
    let closings = [
        ClosedBy::Displaced(by),
        ClosedBy::Answered(by),
        ClosedBy::Overtaken,
        ClosedBy::Blocked,
        ClosedBy::Retried(by),
    ];
    for closed_by in closings {
        let mut change = change();
        change.history[0].closed_by = Some(closed_by);
        change.history[0].by = Actor::System;
        let written = record::write::<ChangeRecord>(&change).unwrap();
        assert_eq!(record::read::<ChangeRecord>(written).unwrap(), change);
    }
    assert!(Role::ALL.iter().all(|role| Role::parse(role.name()) == Some(*role)));
}

#[test]
fn what_a_history_leaves_out_reads_back() {
    let mut change = change();
    let other = TeamRef { id: TeamId::new(9).unwrap(), name: "Others".to_owned() };
    change.history = Vec::new();
    for (from, to, team, log, ty) in [
        (None, State::Pending, Some(consumer()), None, ChangeType::Modify),
        (Some(State::Pending), State::Pending, Some(owner()), Some("seen"), ChangeType::Modify),
        (Some(State::Pending), State::Approved, Some(other), Some("done"), ChangeType::Create),
        (Some(State::Approved), State::Closed, None, None, ChangeType::Create),
    ] {
        let entry = Entry {
            by: match (team, log) {
                (None, _) => Actor::System,
                (Some(team), None) => Actor::Key { name: "key".to_owned(), team },
                (Some(team), Some(_)) => Actor::Person { name: "Jane".to_owned(), team },
            },
            reason: if from == Some(to) { Reason::Log } else { Reason::State },
            log: log.map(str::to_owned),
            change_type: ty,
            ..entry(from, to, 0)
        };
        let link = change.chain_head().chain;
        change.history.push(entry.chained(link));
    }
    change.owner = TeamRef { id: TeamId::new(5).unwrap(), name: "NPOwnerTeam".to_owned() };
    let written = record::write::<ChangeRecord>(&change).unwrap();
    assert_eq!(record::read::<ChangeRecord>(written).unwrap(), change);
    // The last link covers all entries, so a change of any of them must break it.
    change.history[0].request = "another".to_owned();
    let written = record::write::<ChangeRecord>(&change).unwrap();
    let altered = record::read::<ChangeRecord>(written).unwrap();
    let (last, before) = (&altered.history[3], &altered.history[2]);
    assert_ne!(last.link(before.chain), last.chain);
}

#[test]
fn the_row_of_the_largest_item_is_within_half_of_its_bound() {
    let name = "n".repeat(NAME_BYTES_MAX);
    let target = Target::Declared(Hash::of("another"));
    let slot = Slot { change_type: ChangeType::Create, state: State::Rejected, target, ..slot() };
    let stack = Stack {
        sequence: u64::from(u32::MAX),
        attempt: 1_000,
        blocked_sequence: u64::from(u32::MAX),
        creation: Creation::Outstanding,
        place: Place::Declared {
            version: Version { number: 3, hash: Hash::of("3") },
            schema_version: Some(2),
            is_certain: false,
        },
        pre_validated: Some(slot),
        validated: Some(Slot { state: State::Approved, ..slot }),
    };
    // The service owner has a stack, hence the additional team.
    let teams = (1_000..).take(1 + DEPENDENT_TEAMS_EVER_MAX).filter_map(TeamId::new);
    let reference = ItemReference { service: name.clone(), name: name.clone(), item: None };
    let item = Item {
        name: name.clone(),
        application: name.clone(),
        references: vec![reference; REFERENCES_MAX],
        uses: vec![item_id(); REFERENCES_MAX],
        stacks: teams.map(|team| (team, stack.clone())).collect(),
        ..item()
    };
    let bytes = crate::record::size::of_record(&crate::record::write::<ItemRecord>(&item).unwrap());
    assert!((50_000..ITEM_BYTES_MAX / 2).contains(&bytes), "{bytes}");
}
