//! A submitter's read and the plan on it. States with the same read share the plan, so it is computed once.

use crate::ablation::Missing;
use crate::config::{Command, Packing};
use crate::state::digest;
use crate::view::View;
use crate::world::World;
use domain::base::id::ApplicationId;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::model::blockers::Blockers;
use domain::model::digest;
use domain::model::staging::StagingId;
use domain::model::submission::Scope;
use domain::model::team::Head;
use domain::model::write::Write;
use domain::rules::plan;
use domain::rules::plan::{
    EarlierValues, Elsewhere, Items, Preview, Refused, Request, Staged, Stored, digest_of_stored,
};
use domain::{Item, SubmissionId};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;
use store::{Record, team_of};

/// A read for a plan.
#[derive(derive_more::Debug)]
#[debug("Read {{ command: {command:?}, .. }}")]
pub(crate) struct Read {
    pub(crate) command: usize,
    attempt: u8,
    team: View,
    to_read: BTreeSet<ApplicationId>,
    /// The applications whose number a new one may take, if they have no live item (R45).
    to_ask: Vec<ApplicationId>,
    pub(crate) items: View,
    planned: OnceLock<Planned>,
}

/// The result of a plan.
pub(crate) enum Planned {
    /// The read is torn, or a submission is in flight, so the submitter reads again.
    Retry,
    /// The declaration violates a rule.
    Refused,
    /// The plan can be written.
    Ready(Box<Ready>),
}

/// What a preview shows, as digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shown {
    pub(crate) token: domain::Hash,
    /// The declaration by names, and the change instances with the names of their items.
    pub(crate) effect: u64,
    /// The stored applications that the command names, with their items. A whole one names all.
    pub(crate) covered: u64,
}

/// The writes of a plan.
pub(crate) struct Ready {
    pub(crate) id: SubmissionId,
    pub(crate) shown: Shown,
    /// Writes of the only transaction. Empty if the submission is staged.
    pub(crate) at_once: Vec<Write>,
    pub(crate) staged: Option<Staged>,
}

impl PartialEq for Read {
    fn eq(&self, other: &Self) -> bool {
        (self.command, self.attempt, &self.team, &self.items)
            == (other.command, other.attempt, &other.team, &other.items)
    }
}

impl Hash for Read {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.team, &self.items).hash(state);
    }
}

impl Read {
    pub(crate) fn new(
        command: usize,
        attempt: u8,
        team: View,
        (to_read, to_ask): (BTreeSet<ApplicationId>, Vec<ApplicationId>),
        items: View,
    ) -> Self {
        Self { command, attempt, team, to_read, to_ask, items, planned: OnceLock::new() }
    }

    /// Returns the same read with other items.
    pub(crate) fn with(&self, items: View) -> Self {
        let applications = (self.to_read.clone(), self.to_ask.clone());
        Self::new(self.command, self.attempt, self.team.clone(), applications, items)
    }

    /// Returns the domain's plan on this read.
    pub(crate) fn planned(&self, world: &World) -> &Planned {
        self.planned.get_or_init(|| self.plan(world))
    }

    /// Returns the staging of a finished plan.
    pub(crate) fn laid_out(&self) -> Option<&Staged> {
        let Some(Planned::Ready(ready)) = self.planned.get() else { return None };
        ready.staged.as_ref()
    }

    fn plan(&self, world: &World) -> Planned {
        let Some(read) = team_of(self.team.records()) else { return Planned::Retry };
        let items = self.items();
        // Without the check for torn reads, the plan gets a read with matching digests.
        let as_planned = if world.has(Missing::CheckOfReads) { read.clone() } else { fitting(&read, &items) };
        let (command, prepared) = (world.command(self.command), world.prepared(self.command));
        let request = Request {
            declaration: &prepared.declaration,
            unread: &[],
            scope: command.scope,
            is_confirmed: true,
            commit_id: None,
            message: None,
            ctx: &prepared.ctx,
            idempotency: prepared.idempotency.clone(),
            metadata_policy: &MetadataPolicy::default(),
            earlier: &EarlierValues::new(),
            elsewhere: &Elsewhere::default(),
            vacant: &self.vacant(world),
            reuse_from: world.config.reuse_from,
        };
        let plan = match plan::plan(&as_planned, &items, &world.offers, &request) {
            Ok(plan) => plan,
            Err(Refused::Torn | Refused::InFlight(_)) => return Planned::Retry,
            Err(Refused::Invalid(_) | Refused::OutOfNumbers) => return Planned::Refused,
        };
        let id = StagingId::of(&prepared.request, u32::from(self.attempt));
        let mut staged = if command.packing == Packing::Staged { plan.staged(id) } else { None };
        let Ok(at_once) = plan.at_once(&prepared.ctx) else { return Planned::Retry };
        let mut at_once = if staged.is_some() { Vec::new() } else { at_once.writes };
        let id = plan.submission().id;
        let Ok(preview) = plan.preview(&items, &prepared.ctx) else { return Planned::Retry };
        let effect = digest(&effect(command, &preview));
        let shown = Shown { token: preview.plan, effect, covered: self.covered(command, &read) };
        // The conditions must still name the values of the real read.
        if !world.has(Missing::CheckOfReads) {
            let commit = staged.as_mut().map(|staged| &mut staged.commit);
            [Some(&mut at_once), commit]
                .into_iter()
                .flatten()
                .for_each(|writes| as_read(writes, &read, &as_planned));
        }
        Planned::Ready(Box::new(Ready { id, shown, at_once, staged }))
    }

    /// Returns a digest of the stored applications that a command covers, and of their items.
    fn covered(&self, command: &Command, read: &Stored) -> u64 {
        let is_named = |name: &str| {
            command.scope == Scope::Whole || command.declares.iter().any(|(declared, _)| *declared == name)
        };
        let applications = read.applications.iter().filter(|stored| is_named(&stored.name));
        let applications: Vec<String> = applications.map(|stored| format!("{stored:?}")).collect();
        let items = self
            .items
            .records()
            .filter(|record| matches!(record, Record::Item(item) if is_named(&item.application)));
        let items: Vec<String> = items.map(|item| format!("{item:?}")).collect();
        digest(&(applications, items))
    }

    /// Returns the applications without a live item; all of those in question if the plan does not ask.
    fn vacant(&self, world: &World) -> Vec<ApplicationId> {
        let has_item = |id: &&ApplicationId| {
            let is_its =
                |record: &Record| matches!(record, Record::Item(item) if item.application_id() == **id);
            self.items.records().any(is_its)
        };
        self.to_ask.iter().filter(|id| !world.has(Missing::Vacancy) || !has_item(id)).copied().collect()
    }

    fn items(&self) -> Items {
        let mut items: Items = self.to_read.iter().map(|id| (*id, Vec::new())).collect();
        for record in self.items.records() {
            // A dead item does not exist for a plan (R44).
            if let Record::Item(item) = record
                && !item.is_dead()
                && let Some(items) = items.get_mut(&item.application_id())
            {
                items.push(item.clone());
            }
        }
        items
    }
}

/// Returns the effect of a command as the consumer reads it: without any id that is not assigned yet.
fn effect(command: &Command, preview: &Preview) -> (String, BTreeSet<String>, BTreeSet<String>) {
    let declared = format!("{:?} {:?}", command.scope, command.declares);
    let created = preview.created.iter().map(|change| {
        format!(
            "{} {} {} {} {:?} {:?} {} {:?} {:?}",
            change.application,
            change.service.title,
            change.item_name,
            change.owner.name,
            change.kind,
            change.change_type,
            change.state,
            change.old,
            change.new
        )
    });
    let closed = preview.closed.iter().map(|closing| format!("{} {}", closing.change, closing.from));
    (declared, created.collect(), closed.collect())
}

/// Computes digests and blockers of a read from its items, so that it passes the check for torn reads.
fn fitting(read: &Stored, items: &Items) -> Stored {
    let mut fitting = read.clone();
    for application in &mut fitting.applications {
        if let Some(items) = items.get(&application.id) {
            application.digest = digest_of_stored(&application.metadata, items);
        }
    }
    let root = digest::root(
        &fitting.team.metadata,
        fitting.applications.iter().map(|application| application.id_and_digest()),
    );
    let read_all = fitting.applications.iter().all(|application| items.contains_key(&application.id));
    let sum: Blockers = items.values().flatten().map(Item::blockers).sum();
    let blockers = if read_all { sum } else { fitting.head.blockers };
    fitting.head = Head { root, blockers, ..fitting.head };
    fitting
}

/// Puts the values of the real read into the conditions of a plan on a fitting read.
fn as_read(writes: &mut [Write], read: &Stored, fitting: &Stored) {
    for write in writes {
        match write {
            Write::AdvanceHead { before, after } => {
                after.blockers = after.blockers - fitting.head.blockers + read.head.blockers;
                *before = read.head;
            }
            Write::PutApplication { before: Some(before), .. } => {
                let stored = read.applications.iter().find(|stored| stored.id == before.id);
                if let Some(stored) = stored {
                    *before = stored.clone();
                }
            }
            _ => {}
        }
    }
}
