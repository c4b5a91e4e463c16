//! Rules for idle states: equal orders of commands have equal results (I22), and no work remains (I23).

use crate::state::{State, digest};
use crate::world::World;
use domain::model::item::Slot;
use domain::{Item, State as ChangeState};
use std::fmt::Write as _;
use std::sync::PoisonError;
use store::{Record, Table};

/// Returns the violations of an idle state.
pub(crate) fn violations(world: &World, state: &State) -> Vec<String> {
    let table = &*state.table;
    let mut all = Vec::new();
    if table.head(crate::given::consumer().id).is_none_or(|head| head.in_flight.is_some()) {
        all.push("I23: nothing is left to be done and the head is held".to_owned());
    }
    let belongs = |work: &domain::model::work::Work| {
        table.submission(work.id.submission).is_some_and(|submission| submission.staging == work.id.staging)
    };
    let is_left = |record: &Record| matches!(record, Record::Work(work) if belongs(work));
    if table.records().any(is_left) {
        all.push("I23: nothing is left to be done and work is owed".to_owned());
    }
    for item in table.items().filter(|item| is_forgotten(item)) {
        all.push(format!("I23: item {} is neither settled, nor open, nor a blocker", item.id));
    }
    if world.config.owners.budget == 0 && !ends_alike(world, table) {
        all.push("I22: the same commands in the same order ended otherwise".to_owned());
    }
    all
}

fn is_forgotten(item: &Item) -> bool {
    let is_completed = item.completed_target == Some(item.wanted());
    // A drifted item is counted by its application (I27).
    !is_completed && item.drift.is_none() && item.main().open().next().is_none() && item.blockers().count == 0
}

/// Returns whether this order of commands has its earlier result. The first result counts as correct.
fn ends_alike(world: &World, table: &Table) -> bool {
    let order: Vec<&String> = table.submissions().map(|submission| &submission.request).collect();
    let ending = summary(table);
    let mut endings = world.audited.endings.lock().unwrap_or_else(PoisonError::into_inner);
    *endings.entry(digest(&order)).or_insert(ending) == ending
}

/// Returns a digest of the result. Time, number of steps and reason of a closing are not part of it.
fn summary(table: &Table) -> u64 {
    let mut text = String::new();
    for item in table.items() {
        let Item {
            id,
            runtime_state,
            version,
            declared,
            completed_target: settled,
            drift,
            references,
            latest_change,
            ..
        } = item;
        let _infallible = write!(
            text,
            "{id} {runtime_state:?} {version:?} {declared} {settled:?} {drift:?} {references:?} {latest_change}"
        );
        for (owner, stack) in &item.stacks {
            let _infallible = write!(text, "{owner} {} {:?}", stack.sequence, stack.creation);
            for Slot { change, state, change_type, target, .. } in stack.open() {
                let _infallible = write!(text, "{change} {state} {change_type:?} {target:?}");
            }
        }
    }
    for change in table.changes() {
        let of_open = (change.state != ChangeState::Closed).then_some(change.change_type);
        let _infallible = write!(
            text,
            "{} {} {} {:?} {} {of_open:?} {:?}",
            change.id,
            change.item,
            change.owner.id,
            change.kind,
            change.state,
            change.target()
        );
    }
    if let Some(head) = table.head(crate::given::consumer().id) {
        let _infallible = write!(text, "{head:?}");
    }
    digest(&text)
}
