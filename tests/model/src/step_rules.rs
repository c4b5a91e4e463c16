//! Rules about a single step, invisible in one table: I4, I14, and append-only histories.

use crate::world::World;
use domain::base::state::Stage;
use domain::model::change::Target;
use domain::model::deployed::Deployed;
use domain::model::submission::{Scope, Submission};
use domain::model::write::Write;
use domain::rules::verify;
use domain::{Change, ChangeId, Hash, Item};
use serde_json::Value;
use store::Table;

/// Returns the rule that a transaction violates, if any.
pub(crate) fn broken(world: &World, before: &Table, after: &Table, writes: &[Write]) -> Option<&'static str> {
    writes.iter().find_map(|write| match write {
        Write::CreateChange(Change { id, .. }) | Write::UpdateChange { after: Change { id, .. }, .. } => {
            moved(*id, before, after).or_else(|| broken_promise(world, *id, before, after))
        }
        Write::CreateDeployed(deployed) => broken_completion(world, deployed, after),
        Write::CloseChange(closing) => moved(closing.change, before, after),
        Write::RecordSubmission(submission) => unanswered(world, before, submission),
        _ => None,
    })
}

fn moved(id: ChangeId, before: &Table, after: &Table) -> Option<&'static str> {
    let (before, after) = (before.change(id)?, after.change(id)?);
    if before.state.stage() == Stage::Resolved && after.state != before.state {
        return Some("I4: what was resolved has moved");
    }
    (!after.history.starts_with(&before.history)).then_some("I3: a history was not only appended to")
}

/// Checks I29: a plan agrees with the one before.
fn broken_promise(world: &World, id: ChangeId, before: &Table, after: &Table) -> Option<&'static str> {
    let earlier = before.change(id)?.planned()?;
    let later = after.change(id)?.planned()?;
    let agrees = earlier == later || agrees(world, earlier, &world.text(later)?)?;
    (!agrees).then_some("I29: a plan takes back a promise")
}

/// Checks I29: a completed item agrees with the newest plan.
fn broken_completion(world: &World, deployed: &Deployed, after: &Table) -> Option<&'static str> {
    let planned = after.change(deployed.change)?.planned()?;
    (!agrees(world, planned, &deployed.data)?).then_some("I29: a completion breaks a promise")
}

fn agrees(world: &World, planned: Hash, later: &str) -> Option<bool> {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (planned, later) = (value(&world.text(planned)?)?, value(later)?);
    Some(verify::agrees(&world.forms.as_ref()?.paths, &planned, &later).is_empty())
}

/// Checks I14: a submission must not repeat a REJECTED or ERRORED declaration of its applications (R10). It may
/// repeat a removal (R28).
fn unanswered(world: &World, before: &Table, submission: &Submission) -> Option<&'static str> {
    let declaration = &world.prepared(world.command_of(&submission.request)?).declaration;
    let is_passed_over = |item: &&Item| {
        let application = declaration.applications.iter().find(|declared| declared.name == item.application);
        if application.is_none() && submission.scope == Scope::Partial {
            return false;
        }
        let same = application.iter().flat_map(|application| &application.items);
        let same = same.into_iter().find(|one| one.service == item.service.title && one.name == item.name);
        let Some(target) = same.map(|same| Target::Declared(same.hash)) else { return false };
        item.blocked().any(|(_, slot)| slot.target == target)
    };
    before.items().any(|item| is_passed_over(&item)).then_some("I14: a rejection was passed over")
}
