//! Staged submissions: planned like others, applied after the commit, with owners' decisions in between.

use crate::world::{
    APP, Declared, LB_OWNER, NP_OWNER, Plan, VM_OWNER, World, application, broken, document, lb, table, vm,
};
use domain::ItemId;
use domain::audit::invariant::violations;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::refs::ItemReference;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::Kind;
use domain::catalog::schema::REFERENCES_MAX;
use domain::model::change::ClosedBy;
use domain::model::declaration::NAME_BYTES_MAX;
use domain::model::staging::StagingState;
use domain::model::submission::{Progress, Scope};
use domain::model::work::{PlannedChange, divided};
use domain::model::write::Write;
use domain::outreach::event;
use domain::rules::generate::{Missing, generate};
use domain::rules::plan::Refused;
use serde_json::Value;
use std::collections::BTreeMap;

fn body(items: &[Declared]) -> Value {
    document(&[(APP, application(items))])
}

fn stage(world: &mut World, items: &[Declared]) -> Plan {
    world.submit_staged(&body(items), Scope::Whole).unwrap()
}

fn progress(world: &World) -> Progress {
    world.snapshot.submissions.last().unwrap().progress()
}

/// Returns a VM and a load balancer that references it, both in service, each with a dependent team.
fn in_service() -> World {
    let mut world = World::new().with_dependent("VM").with_dependent("LoadBalancer");
    world.declare_and_generate(&[vm("CoreVM1", 1), lb("CoreLB1", &["CoreVM1"], "a")]);
    for (name, owner) in [("CoreVM1", VM_OWNER), ("CoreLB1", LB_OWNER)] {
        world.finish(name, owner);
        world.finish(name, NP_OWNER);
    }
    world
}

#[test]
fn it_leads_to_the_same_as_one_that_is_written_at_once() {
    let mut at_once = in_service();
    let mut staged = at_once.clone();
    let next = [vm("CoreVM1", 2), vm("CoreVM2", 1), lb("CoreLB1", &["CoreVM1"], "a")];
    let (plan, mut generated) = at_once.declare_and_generate(&next);
    stage(&mut staged, &next);
    let mut opened = staged.generate_records();
    opened.sort_by_key(|change| change.id);
    generated.extend(plan.created);
    generated.sort_by_key(|change| change.id);
    let seen = |changes: &[domain::Change]| {
        let seen =
            changes.iter().map(|c| (c.id, c.kind, c.change_type, c.state, c.owner.clone(), c.new, c.old));
        seen.collect::<Vec<_>>()
    };
    assert_eq!(seen(&opened), seen(&generated));
    assert_eq!(staged.head(), at_once.head());
    assert_eq!(staged.snapshot.applications.len(), at_once.snapshot.applications.len());
    for (id, item) in &at_once.snapshot.items {
        let other = &staged.snapshot.items[id];
        assert_eq!(
            (other.version, other.declared, other.runtime_state),
            (item.version, item.declared, item.runtime_state)
        );
        assert_eq!(other.references, item.references);
    }
}

#[test]
fn references_count_for_the_size_of_a_work_record() {
    let mut world = World::new();
    stage(&mut world, &[vm("CoreVM1", 1)]);
    let work = &world.snapshot.works[0];
    assert_eq!(work.id.to_string(), format!("work-{}-1", work.id.submission));
    let (service, name) = ("s".repeat(NAME_BYTES_MAX), "n".repeat(NAME_BYTES_MAX));
    let reference = ItemReference { service, name, item: None };
    let mut planned = work.entries[0].clone();
    planned.declared.as_mut().unwrap().references = vec![reference; REFERENCES_MAX];
    let application = planned.item.application(0);
    let of = |number| PlannedChange { item: ItemId::new(application, number).unwrap(), ..planned.clone() };
    let sizes: Vec<usize> =
        divided((1..=7).map(of).collect(), &BTreeMap::new()).iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 3, 1], "about 71 kB each, and 250 kB a record");
}

#[test]
fn a_submission_reports_its_progress_step_by_step() {
    let mut world = in_service();
    stage(&mut world, &[vm("CoreVM1", 2), lb("CoreLB1", &["CoreVM1"], "a")]);
    let accepted = world.snapshot.submissions.last().unwrap().clone();
    assert_eq!(progress(&world), Progress::Committed);
    assert_eq!((accepted.planned(), accepted.opened), (4, 0), "both, and both dependent teams' shares");
    let direct = world.ready()[0];
    assert_eq!(world.generate_one(direct).kind, Kind::Direct);
    assert_eq!((progress(&world), world.is_in_flight()), (Progress::Applied, false));
    assert_eq!(world.snapshot.submissions.last().unwrap().opened, 2);
    world.generate();
    let completed = world.snapshot.submissions.last().unwrap().clone();
    assert_eq!((completed.progress(), completed.opened), (Progress::Settled, 4));
    assert_eq!(completed.as_accepted().progress(), Progress::Committed);
    assert!(completed.modified > accepted.modified, "when the last of it was carried out");
    assert_eq!((completed.opened > 0, completed.as_accepted().opened), (true, 0));
    let events = event::of_submission(None, &accepted)
        .into_iter()
        .chain(event::of_submission(Some(&accepted), &completed));
    let published: Vec<_> =
        events.map(|event| (event.sequence, event.detail["data"]["to"].clone())).collect();
    assert_eq!(published, [(1, "COMMITTED".into()), (2, "APPLIED".into()), (3, "SETTLED".into())]);
}

#[test]
fn no_submission_is_planned_before_the_items_of_the_last_one_are_applied() {
    let mut world = World::new();
    let plan = stage(&mut world, &[vm("CoreVM1", 1)]);
    let next = body(&[vm("CoreVM1", 2)]);
    assert_eq!(world.submit(&next, Scope::Whole).unwrap_err(), Refused::InFlight(plan.submission.id));
    world.generate();
    assert!(world.submit(&next, Scope::Whole).is_ok());
}

#[test]
fn an_owners_decision_before_the_work_changes_the_created_change() {
    // Planned while the CREATE was PENDING, applied after its completion: a MODIFY.
    let mut world = World::new();
    world.declare(&[vm("CoreVM1", 1)]);
    let plan = stage(&mut world, &[vm("CoreVM1", 2)]);
    assert_eq!(table(&plan.created), [("CoreVM1", Create, VM_OWNER)], "as it looked");
    world.finish("CoreVM1", VM_OWNER);
    assert_eq!(table(&world.generate()), [("CoreVM1", Modify, VM_OWNER)]);

    // The applied declaration answers a rejection in between.
    let mut world = World::new();
    let rejected = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    stage(&mut world, &[vm("CoreVM1", 2)]);
    world.reject("CoreVM1", VM_OWNER);
    assert_eq!(world.head().blockers.count, 1);
    let created = world.generate().remove(0);
    assert_eq!(
        world.change(rejected).history.last().unwrap().closed_by,
        Some(ClosedBy::Answered(created.id))
    );
    assert_eq!(world.head().blockers.count, 0);
}

#[test]
fn a_rejection_before_the_commit_is_caught_by_the_head() {
    let mut world = World::new();
    world.declare(&[vm("CoreVM1", 1), vm("CoreVM2", 1)]);
    let next = body(&[vm("CoreVM1", 1), vm("CoreVM2", 2)]);
    let read = world.read(&next, Scope::Whole);
    let plan = world.plan(&read, &next, Scope::Whole).unwrap();
    world.stage(&plan);
    world.reject("CoreVM1", VM_OWNER);
    let commit = plan.staged.unwrap().commit;
    let Some(Write::AdvanceHead { before, .. }) = commit.first() else { panic!("a head") };
    assert_ne!(*before, world.head());
    assert_eq!(broken(world.submit(&next, Scope::Whole).unwrap_err()), ["blocked"]);
}

#[test]
fn a_staging_is_committed_or_aborted_by_moving_one_record() {
    let mut world = World::new();
    let next = body(&[vm("CoreVM1", 1)]);
    let read = world.read(&next, Scope::Whole);
    let plan = world.plan(&read, &next, Scope::Whole).unwrap();
    world.stage(&plan);
    let staged = plan.staged.unwrap();
    let moves = |write: &&Write| matches!(write, Write::UpdateStaging { from: StagingState::Open, .. });
    assert_eq!(staged.commit.iter().filter(moves).count(), 1);
    let (team, staging) = (staged.staging.team(), staged.staging.id);
    world.apply(&[Write::UpdateStaging {
        team,
        staging,
        from: StagingState::Open,
        to: StagingState::Aborted,
    }]);
    world.audit();
    // Uncommitted work is not a violation, but its submission would be.
    world.snapshot.submissions.push(staged.submission);
    assert!(violations(&world.snapshot).iter().any(|violation| violation.rule == "I11"));
}

#[test]
fn a_torn_read_does_not_apply_a_planned_change_twice() {
    let mut world = World::new();
    let plan = stage(&mut world, &[vm("CoreVM1", 1)]);
    let work = world.snapshot.works[0].clone();
    world.generate();
    // A torn read: the item after the transaction, and the change instance before it.
    let item = world.item("CoreVM1").clone();
    let planned = &work.entries[..1];
    let none = BTreeMap::new();
    let ctx = RequestContext { by: Actor::System, request: "again".to_owned(), now: plan.submission.created };
    let result = generate(planned, &plan.submission, Some(&item), &none, &ctx);
    assert_eq!(result.unwrap_err(), Missing::Change(planned[0].id));
}

#[test]
fn a_removal_becomes_a_delete_and_unchanged_items_are_not_staged() {
    let mut world = in_service();
    stage(&mut world, &[lb("CoreLB1", &[], "a")]);
    let opened = world.generate();
    let mut created = table(opened.iter().filter(|change| change.kind == Kind::Direct));
    created.sort_unstable();
    assert_eq!(created, [("CoreLB1", Modify, LB_OWNER), ("CoreVM1", Delete, VM_OWNER)]);
    let same = body(&[lb("CoreLB1", &[], "a")]);
    let read = world.read(&same, Scope::Whole);
    assert_eq!(world.plan(&read, &same, Scope::Whole).unwrap().staged, None);
}
