//! The meaning of a submission: R17 to R21, R26, R29, R30.

use crate::world::{
    APP, CONSUMER, Declared, VM_OWNER, World, application, broken, document, item_of, lb, table, team, vm,
};
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::catalog::schema::REFERENCES_MAX;
use domain::model::declaration::APPLICATIONS_CHANGED_MAX;
use domain::model::submission::Scope;
use domain::model::work;
use domain::model::work::PlannedChange;
use domain::model::write::Write;
use domain::rules::plan;
use domain::rules::plan::Refused;
use domain::{Hash, State};
use serde_json::{Value, json};

const NAME: &str = "CoreVM1";

fn two(first: &[Declared], second: &[Declared]) -> Value {
    document(&[(APP, application(first)), ("NewApp2", application(second))])
}

#[test]
fn r17_a_name_is_unique_per_application_and_service() {
    let mut world = World::new();
    assert_eq!(world.refused(&[vm(NAME, 1), vm(NAME, 2)]), ["duplicate_name"]);
    let same = [vm("Same", 1), lb("Same", &[], "a")];
    let plan = world.submit(&two(&same, &same), Scope::Whole).unwrap();
    assert_eq!(plan.created.len(), 4);
    let ids: std::collections::BTreeSet<_> = plan.items.iter().map(|item| item.id).collect();
    assert_eq!(ids.len(), 4, "four items");
}

#[test]
fn r17_references_resolve_in_the_same_application_only() {
    let mut world = World::new();
    let across = two(&[vm(NAME, 1)], &[lb("CoreLB1", &[NAME], "a")]);
    assert_eq!(broken(world.submit(&across, Scope::Whole).unwrap_err()), ["dangling_reference"]);
    let within = two(&[vm(NAME, 1)], &[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    world.submit(&within, Scope::Whole).unwrap();
}

#[test]
fn r17_a_reference_is_to_the_service_that_the_schema_names() {
    let mut world = World::new();
    assert_eq!(
        world.refused(&[lb("Other", &[], "a"), lb("CoreLB1", &["Other"], "a")]),
        ["dangling_reference"]
    );
}

#[test]
fn r17_an_item_references_only_so_many_others() {
    let names: Vec<String> = (0..REFERENCES_MAX + 2).map(|n| format!("vm{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let with = |count: usize| {
        let all = names.iter().map(|name| vm(name, 1));
        all.chain([lb("CoreLB1", &names[..count], "a")]).collect::<Vec<_>>()
    };
    let mut world = World::new();
    for count in [REFERENCES_MAX + 1, REFERENCES_MAX + 2] {
        assert_eq!(world.refused(&with(count)), ["too_many_references"], "{count}");
    }
    world.declare(&with(REFERENCES_MAX));
}

#[test]
fn r17_an_item_does_not_reference_itself() {
    let mut world = World::new();
    world.redefine(
        "VM",
        &json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "next": {"type": "string", "format": "reference", "service_reference": "VM"}}}),
    );
    assert_eq!(world.refused(&[item_of("VM", json!({"name": "a", "next": "a"}))]), ["self_reference"]);
    world.declare(&[
        item_of("VM", json!({"name": "a", "next": "b"})),
        item_of("VM", json!({"name": "b", "next": "a"})),
    ]);
}

#[test]
fn r17_a_removed_item_keeps_its_name_and_does_not_count_as_declared() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    world.declare(&[lb("CoreLB1", &[], "a")]);
    assert_eq!(world.refused(&[lb("CoreLB1", &[NAME], "a")]), ["dangling_reference"]);
}

#[test]
fn r18_an_omitted_application_is_removed_by_a_whole_submission() {
    let mut world = World::new();
    world.submit(&two(&[vm(NAME, 1)], &[vm("CoreVM2", 1)]), Scope::Whole).unwrap();
    let plan =
        world.submit(&document(&[("NewApp2", application(&[vm("CoreVM2", 1)]))]), Scope::Whole).unwrap();
    assert_eq!(table(&plan.created), [(NAME, Delete, VM_OWNER)]);
    assert!(!world.item(NAME).declared);
    let plan = world.submit(&document(&[]), Scope::Whole).unwrap();
    assert_eq!(table(&plan.created), [("CoreVM2", Delete, VM_OWNER)]);
}

#[test]
fn r18_an_omitted_application_stays_with_a_partial_submission() {
    let mut world = World::new();
    world.submit(&two(&[vm(NAME, 1)], &[vm("CoreVM2", 1)]), Scope::Whole).unwrap();
    let before = world.application(APP).clone();
    let plan =
        world.submit(&document(&[("NewApp2", application(&[vm("CoreVM3", 1)]))]), Scope::Partial).unwrap();
    assert_eq!(table(&plan.created), [("CoreVM3", Create, VM_OWNER), ("CoreVM2", Delete, VM_OWNER)]);
    assert_eq!(world.application(APP), &before);
    assert!(world.item(NAME).declared);
    assert_eq!(plan.submission.scope, Scope::Partial);
}

#[test]
fn r18_a_removed_application_comes_back_as_the_same_one() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let id = world.application(APP).id;
    world.submit(&document(&[]), Scope::Whole).unwrap();
    world.declare(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    assert_eq!(world.application(APP).id, id);
    assert_eq!(world.head().next_application, 2);
}

#[test]
fn r18_the_document_is_that_of_the_callers_team() {
    let mut world = World::new();
    let foreign = json!({"SomebodyElse": {APP: application(&[vm(NAME, 1)])}});
    assert_eq!(broken(world.submit(&foreign, Scope::Whole).unwrap_err()), ["foreign_team"]);
    assert!(world.snapshot.items.is_empty());
}

#[test]
fn r18_an_unknown_service_is_reported_once() {
    let mut world = World::new();
    let disks = ["a", "b"].map(|name| item_of("Disk", json!({"name": name})));
    assert_eq!(world.refused(&disks), ["unknown_service"]);
}

#[test]
fn r18_a_submission_changes_only_so_many_applications() {
    let names: Vec<String> = (0..=APPLICATIONS_CHANGED_MAX).map(|n| format!("app{n}")).collect();
    let of = |count: usize| {
        let applications: Vec<_> =
            names[..count].iter().map(|name| (name.as_str(), application(&[]))).collect();
        document(&applications)
    };
    let mut world = World::new();
    let refused = world.submit(&of(APPLICATIONS_CHANGED_MAX + 1), Scope::Whole).unwrap_err();
    assert_eq!(broken(refused), ["too_many_applications"]);
    world.submit(&of(APPLICATIONS_CHANGED_MAX), Scope::Whole).unwrap();
    let plan = world.submit(&of(APPLICATIONS_CHANGED_MAX + 1), Scope::Whole).unwrap();
    assert!(plan.submission.changed, "those that stay as they are do not count");
}

#[test]
fn r18_an_application_that_is_read_for_an_answer_alone_is_neither_counted_nor_written() {
    let names: Vec<String> = (0..=APPLICATIONS_CHANGED_MAX).map(|n| format!("app{n}")).collect();
    let with = |cpu, count: usize| {
        let empty = names[..count].iter().map(|name| (name.as_str(), application(&[])));
        document(&empty.chain([(APP, application(&[vm(NAME, cpu)]))]).collect::<Vec<_>>())
    };
    let mut world = World::new();
    world.submit(&with(1, 1), Scope::Whole).unwrap();
    world.submit(&with(1, names.len()), Scope::Whole).unwrap();
    world.reject(NAME, VM_OWNER);
    let (before, now) = (world.application("app0").clone(), world.application(APP).modified);
    let written = world.written.len();
    world.submit(&with(2, names.len()), Scope::Whole).unwrap();
    let applications = world.written[written..].iter().flatten().filter_map(|write| {
        let Write::PutApplication { after, .. } = write else { return None };
        Some(after.name.as_str())
    });
    assert_eq!(applications.collect::<Vec<_>>(), [APP]);
    assert_eq!(*world.application("app0"), before);
    assert!(world.application(APP).modified > now, "it has the time of its modification");
}

#[test]
fn r19_creation_decides_whether_approval_is_required() {
    let mut world = World::new();
    let pending = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.settings("VM").approval_required = false;
    world.declare(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    assert_eq!(world.state(pending), State::Pending, "no retroactive effect");
    world.open("CoreVM2", VM_OWNER, State::Approved);
}

#[test]
fn r19_pending_changes_keep_the_setting_of_their_submission() {
    let mut world = World::new().with_dependent("VM");
    world.declare(&[vm(NAME, 1)]);
    world.settings("VM").approval_required = false;
    assert_eq!(world.generate()[0].state, State::Pending);
}

#[test]
fn r20_only_changed_items_are_checked_against_a_newer_schema() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.redefine(
        "VM",
        &json!({"title": "VM", "type": "object", "required": ["name", "zone"], "properties": {
            "name": {"type": "string"}, "zone": {"type": "string"}}}),
    );
    assert!(!world.declare(&[vm(NAME, 1)]).submission.changed);
    assert_eq!(world.refused(&[vm(NAME, 2)]).len(), 1);
    assert_eq!(world.refused(&[vm(NAME, 1), vm("CoreVM2", 1)]).len(), 1, "the new one only");
}

#[test]
fn r20_an_orphan_is_requested_with_its_checked_declaration() {
    // `tags` was a plain array at the check of the item, and names items now. As references they would dangle,
    // although the item itself has not changed.
    let mut world = World::new();
    let tagged = item_of("VM", json!({"name": NAME, "tags": ["blue"]}));
    let id = world.declare(std::slice::from_ref(&tagged)).created[0].id;
    world.decide(id, State::Rejected);
    world.decide(id, State::Closed);
    world.redefine(
        "VM",
        &json!({"title": "VM", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
            "tags": {"type": "array", "format": "reference_list", "service_reference": "LoadBalancer"}}}),
    );
    let plan = world.declare(std::slice::from_ref(&tagged));
    assert_eq!(table(&plan.created), [(NAME, Create, VM_OWNER)]);
    assert!(world.item(NAME).references.is_empty());
}

#[test]
fn r20_a_schema_problem_says_where_in_the_document() {
    let mut world = World::new();
    let body =
        document(&[(APP, application(&[vm("ok", 1), item_of("VM", json!({"name": NAME, "cpu": "many"}))]))]);
    let Err(Refused::Invalid(problems)) = world.submit(&body, Scope::Whole) else { panic!("refused") };
    let [problem] = &problems[..] else { panic!("one: {problems:?}") };
    assert_eq!(problem.pointer, "/AwesomeConsumer/NewApp1/services/VM/1/cpu");
    assert_eq!(problem.path, [CONSUMER, APP, "VM", NAME, "cpu"]);
}

#[test]
fn r21_a_private_service_limits_new_items_only() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.settings("VM").allowed_teams = vec![team(VM_OWNER).id];
    assert_eq!(table(&world.declare(&[vm(NAME, 2)]).created), [(NAME, Create, VM_OWNER)]);
    assert_eq!(world.refused(&[vm(NAME, 2), vm("CoreVM2", 1)]), ["private_service"]);
    assert_eq!(table(&world.declare(&[]).created), [(NAME, Delete, VM_OWNER)]);
    world.approve(NAME, VM_OWNER);
    assert_eq!(world.refused(&[vm(NAME, 2)]), ["private_service"], "a removed item is new");
    world.settings("VM").allowed_teams.push(team(CONSUMER).id);
    world.declare(&[vm(NAME, 2), vm("CoreVM2", 1)]);
}

#[test]
fn r26_the_order_in_an_array_is_significant_and_that_of_keys_and_items_is_not() {
    let mut world = World::new();
    let tagged = |tags: Value| item_of("VM", json!({"name": NAME, "tags": tags}));
    world.declare(&[tagged(json!(["a", "b"])), vm("CoreVM2", 1)]);
    world.finish(NAME, VM_OWNER);
    assert!(!world.declare(&[vm("CoreVM2", 1), tagged(json!(["a", "b"]))]).submission.changed);
    let plan = world.declare(&[tagged(json!(["b", "a"])), vm("CoreVM2", 1)]);
    assert_eq!(table(&plan.created), [(NAME, Modify, VM_OWNER)]);
}

#[test]
fn r26_numbers_are_compared_by_value() {
    let mut world = World::new();
    world.declare(&[item_of("VM", json!({"name": NAME, "cpu": 8}))]);
    assert!(!world.declare(&[item_of("VM", json!({"name": NAME, "cpu": 8.0}))]).submission.changed);
}

#[test]
fn r29_a_submission_without_changes_is_stored_and_changes_nothing_else() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let before = world.clone();
    let plan = world.declare(&[vm(NAME, 1)]);
    assert!(!plan.submission.changed && plan.created.is_empty() && plan.planned.is_empty());
    assert_eq!(world.snapshot.submissions.len(), 2);
    let (head, old) = (world.head(), before.head());
    assert_eq!(head.submissions, old.submissions + 1);
    assert_eq!((head.root, head.next_change, head.blockers), (old.root, old.next_change, old.blockers));
    assert_eq!(world.snapshot.items, before.snapshot.items);
    assert_eq!(world.snapshot.changes, before.snapshot.changes);
    assert_eq!(world.snapshot.applications, before.snapshot.applications);
    assert!(matches!(plan.writes[..], [Write::AdvanceHead { .. }, Write::RecordSubmission(_)]));
}

#[test]
fn r29_an_unchanged_application_costs_no_reads_of_its_items() {
    let mut world = World::new();
    let body = two(&[vm(NAME, 1)], &[vm("CoreVM2", 1)]);
    world.submit(&body, Scope::Whole).unwrap();
    assert!(world.read(&body, Scope::Whole).1.is_empty());
    let second = two(&[vm(NAME, 1)], &[vm("CoreVM2", 2)]);
    let read: Vec<_> = world.read(&second, Scope::Whole).1.into_keys().collect();
    assert_eq!(read, [world.application("NewApp2").id]);
    world.reject(NAME, VM_OWNER);
    assert_eq!(world.read(&body, Scope::Whole).1.len(), 2, "what waits may be anywhere");
}

#[test]
fn r29_metadata_alone_is_a_change_without_change_instances() {
    let mut world = World::new();
    let with = |team_metadata: Value, app_metadata: Value| {
        let mut content = application(&[vm(NAME, 1)]);
        content["metadata"] = app_metadata;
        json!({CONSUMER: {"metadata": team_metadata, APP: content}})
    };
    world.submit(&with(json!({"a": 1}), json!({"b": 1})), Scope::Whole).unwrap();
    for body in [with(json!({"a": 2}), json!({"b": 1})), with(json!({"a": 2}), json!({"b": 2}))] {
        let plan = world.submit(&body, Scope::Whole).unwrap();
        assert!(plan.submission.changed && plan.created.is_empty());
        assert!(!world.submit(&body, Scope::Whole).unwrap().submission.changed);
    }
    assert_eq!(world.application(APP).metadata, r#"{"b":2}"#);
    assert_eq!(world.stored().team.metadata, r#"{"a":2}"#);
}

#[test]
fn r29_the_same_request_under_an_idempotency_key_is_remembered() {
    let mut world = World::new();
    world.idempotency = Some(("key-1".to_owned(), Hash::of("request")));
    let plan = world.declare(&[vm(NAME, 1)]);
    let [(_, remembered)] = &world.snapshot.remembered[..] else { panic!("one key") };
    assert_eq!(remembered.key, "key-1");
    assert_eq!((remembered.submission, remembered.fingerprint), (plan.submission.id, Hash::of("request")));
    let day = 24 * 60 * 60 * 1_000_000;
    assert_eq!(remembered.expires.micros(), plan.submission.created.micros() + day);
}

#[test]
fn r30_created_is_the_time_of_opening_and_modified_that_of_the_last_entry() {
    let mut world = World::new();
    world.clock = 5_000;
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    let created = world.change(id).clone();
    assert_eq!((created.created, created.modified()), (created.history[0].at, created.created));
    assert_eq!(created.created.micros(), 5_001);
    world.clock = 9_000;
    world.decide(id, State::Approved);
    let approved = world.change(id);
    assert_eq!((approved.created, approved.modified().micros()), (created.created, 9_001));
    assert_eq!((world.item(NAME).created.micros(), world.item(NAME).modified.micros()), (5_001, 9_001));
}

#[test]
fn r30_a_clock_that_goes_backwards_changes_no_outcome() {
    let life = |mut tick: Box<dyn FnMut(&mut World)>| {
        let mut world = World::new();
        for items in [vec![vm(NAME, 1)], vec![vm(NAME, 2)], vec![], vec![vm(NAME, 3)], vec![]] {
            tick(&mut world);
            world.declare(&items);
            tick(&mut world);
            world.approve(NAME, VM_OWNER);
        }
        tick(&mut world);
        world.complete(NAME, VM_OWNER);
        assert!(world.is_complete(world.item(NAME)));
        let changes = world.snapshot.changes.values();
        changes.map(|change| (change.id, change.state, change.change_type)).collect::<Vec<_>>()
    };
    let forwards = life(Box::new(|world| world.clock += 100));
    let backwards = life(Box::new(|world| world.clock -= 50));
    assert_eq!(forwards, backwards);
}

#[test]
fn a_plan_is_the_same_every_time_it_is_made() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    let body = two(&[vm(NAME, 2), lb("CoreLB1", &[NAME], "a")], &[vm("CoreVM2", 1)]);
    let read = world.read(&body, Scope::Whole);
    let plans =
        [world.clone(), world.clone()].map(|mut world| world.plan(&read, &body, Scope::Whole).unwrap());
    assert_eq!(plans[0], plans[1]);
}

#[test]
fn pending_work_is_cut_into_records_of_bounded_size() {
    let mut world = World::new().with_dependent("VM");
    let items: Vec<_> = (0..=work::ITEMS_MAX).map(|n| vm(&format!("vm{n}"), 1)).collect();
    let plan = world.declare(&items);
    let sizes: Vec<_> =
        world.snapshot.works.iter().map(|work| (work.id.number, work.entries.len())).collect();
    assert_eq!(sizes, [(1, work::ITEMS_MAX), (2, 1)]);
    assert_eq!(plan.planned.len(), items.len());
    world.generate();
    let [completed] = &world.snapshot.submissions[..] else { panic!("one submission") };
    assert_eq!(
        (completed.opened, completed.as_accepted().opened),
        (plan.submission.planned(), plan.submission.direct)
    );
    // A share does not repeat the content of its cause.
    let takes_none = |share: &PlannedChange| share.version.is_none() && share.declared.is_none();
    assert!(plan.planned.iter().all(takes_none));
    let mut world = World::new().with_dependent("LoadBalancer");
    world.declare_and_generate(&[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    let plan = world.declare(&[vm(NAME, 2), lb("CoreLB1", &[NAME], "a")]);
    let [referenced, share] = &plan.planned[..] else { panic!("one and its share") };
    assert_eq!((referenced.version.is_some(), takes_none(share)), (true, true));
}

#[test]
fn a_rejection_lists_all_errors() {
    let mut world = World::new();
    world.declare(&[vm("blocked", 1)]);
    world.reject("blocked", VM_OWNER);
    world.settings("LoadBalancer").allowed_teams = vec![team(VM_OWNER).id];
    let mut rules = world.refused(&[
        vm("blocked", 1),
        item_of("VM", json!({"name": "bad", "cpu": "many"})),
        lb("CoreLB1", &["missing"], "a"),
        item_of("Disk", json!({"name": "d"})),
    ]);
    rules.sort_unstable();
    let expected = ["blocked", "dangling_reference", "private_service", "unknown_service"];
    assert!(expected.iter().all(|rule| rules.contains(rule)) && rules.len() == 5, "{rules:?}");
}

#[test]
fn numbers_that_have_run_out_refuse_the_submission() {
    let mut world = World::new();
    let id = team(CONSUMER).id;
    world.snapshot.heads.get_mut(&id).unwrap().next_change = 1 << 35;
    let body = document(&[(APP, application(&[vm(NAME, 1)]))]);
    assert_eq!(world.submit(&body, Scope::Whole), Err(plan::Refused::OutOfNumbers));
    world.snapshot.heads.get_mut(&id).unwrap().next_application = 1 << 12;
    let empty = document(&[(APP, application(&[]))]);
    assert_eq!(broken(world.submit(&empty, Scope::Whole).unwrap_err()), ["applications_full"]);
}

#[test]
fn the_items_of_a_request_share_its_steps() {
    let mut world = World::new();
    // One step for each of about 220 states and each byte: a text of 60,000 bytes takes two fifths of a request's
    // budget.
    world.redefine(
        "VM",
        &json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "text": {"type": "string", "pattern": "[ab]*a[ab]{200}"}}}),
    );
    let long = |name: &str| item_of("VM", json!({"name": name, "text": "ab".repeat(30_000)}));
    let short = |name: &str| item_of("VM", json!({"name": name, "text": "b"}));
    // The response names the item that exceeds the budget; later items are not checked.
    assert_eq!(world.refused(&[long("a"), long("b"), long("c"), short("d"), long("e")]), ["too_complex"]);
    assert_eq!(world.refused(&[long("a"), short("b"), long("c")]), ["schema"]);
    world.declare(&[long("a"), long("b")]);
    // An unchanged declaration needs no check.
    world.declare(&[long("a"), long("b"), long("c")]);
}
