//! The numbers that a submission takes: of change instances, and of applications.
//!
//! A team has 4,095 numbers of applications at a time. A new application takes the next free number, or the number of
//! an application without declarations and live items, which then retires (R45, ADR 31).

use super::{Refused, Request, Stored};
use crate::base::id::{ApplicationId, CHANGE_STRIDE, ChangeId, ITEM_NUMBERS, TeamId};
use crate::base::problem::{Problem, pointer};
use crate::model::declaration::{APPLICATIONS_CHANGED_MAX, Declaration, ITEMS_MAX};
use crate::model::digest;
use crate::model::metadata::NO_METADATA;
use crate::model::team::{Application, Head};
use std::collections::{BTreeSet, VecDeque};

/// The number of applications of a team from which numbers are used again.
///
/// Below this number, each application keeps its name and id for ever.
pub const REUSE_FROM: usize = 256;

/// The number of candidates beyond the needed ones, because some candidates have live items.
const SPARE_CANDIDATES: usize = 8;

/// The id of a new application.
#[derive(Clone, Copy)]
pub(super) struct Reserved<'a> {
    pub(super) id: ApplicationId,
    /// The application that has had its number.
    pub(super) retired: Option<&'a Application>,
}

/// The next numbers of a team.
///
/// The numbers become valid with the commit, under the condition on the head.
pub(super) struct Numbers<'a> {
    /// The ids of the new applications, in the order of the declaration.
    applications: VecDeque<Reserved<'a>>,
    pub(super) next_application: u64,
    pub(super) next_change: u64,
}

impl<'a> Numbers<'a> {
    /// Returns the numbers after those of the head and of the new applications.
    pub(super) fn new(head: &Head, applications: VecDeque<Reserved<'a>>) -> Self {
        let fresh = applications.iter().filter(|reserved| reserved.retired.is_none());
        let next_application = fresh.fold(head.next_application, |next, _| next + 1);
        Self { applications, next_application, next_change: head.next_change }
    }

    /// Takes the id of the next new application.
    pub(super) fn application(&mut self) -> Result<Reserved<'a>, Refused> {
        self.applications.pop_front().ok_or(Refused::OutOfNumbers)
    }

    /// Takes the id of the next change instance.
    pub(super) fn change(&mut self, team: TeamId) -> Result<ChangeId, Refused> {
        let id = ChangeId::new(team, self.next_change).ok_or(Refused::OutOfNumbers)?;
        // The numbers between are for the deployed items of the change instance (ADR 1).
        self.next_change += CHANGE_STRIDE;
        Ok(id)
    }
}

/// Returns the applications whose numbers the new ones of a declaration may take, if they have no live item.
///
/// The caller asks the table for each of them, and passes those without a live item to the plan. Only a submission
/// creates items, so the condition on the head keeps the answer true until the commit.
pub fn to_ask(stored: &Stored, declaration: &Declaration, reuse_from: usize) -> Vec<ApplicationId> {
    let names: BTreeSet<&str> = declaration.applications.iter().map(|one| one.name.as_str()).collect();
    let known = stored.applications.iter().filter(|application| names.contains(application.name.as_str()));
    let after = stored.applications.len() + names.len() - known.count();
    let wanted = after.saturating_sub(reuse_from).min(names.len());
    if wanted == 0 {
        return Vec::new();
    }
    let empty = digest::application(NO_METADATA, []);
    let may_retire = |application: &&Application| {
        application.digest == empty
            && !names.contains(application.name.as_str())
            && application.id.next_generation().is_some()
            // Without this condition, its first submission could fail for want of item numbers.
            && application.next_item + count(ITEMS_MAX) <= ITEM_NUMBERS
    };
    let mut candidates: Vec<&Application> = stored.applications.iter().filter(may_retire).collect();
    candidates.sort_by_key(|application| (application.changed, application.id));
    candidates.iter().take(wanted + SPARE_CANDIDATES).map(|application| application.id).collect()
}

/// Reserves an id for each new application. Returns the ids, with a problem for each application without an id.
///
/// `changed` is the number of applications that the commit writes without a reuse.
pub(super) fn reserve<'a, 'r>(
    stored: &'a Stored,
    new: impl Iterator<Item = &'r str>,
    changed: usize,
    request: &Request<'_>,
) -> (VecDeque<Reserved<'a>>, Vec<Problem>) {
    let mut reserving = Reserving {
        stored,
        vacant: request.vacant.iter().copied().collect(),
        // A reuse is two writes of the commit.
        left: APPLICATIONS_CHANGED_MAX.saturating_sub(changed),
        next: stored.head.next_application,
        count: stored.applications.len(),
        reuse_from: request.reuse_from,
    };
    let (mut all, mut problems) = (VecDeque::new(), Vec::new());
    for name in new {
        match reserving.next() {
            Some(reserved) => all.push_back(reserved),
            None => problems.push(reserving.problem(&request.declaration.team, name)),
        }
    }
    (all, problems)
}

/// The state of a reservation.
struct Reserving<'a> {
    stored: &'a Stored,
    /// The applications that may retire.
    vacant: VecDeque<ApplicationId>,
    /// The number of further writes of applications that the commit takes.
    left: usize,
    /// The next free number.
    next: u64,
    /// The number of applications so far.
    count: usize,
    reuse_from: usize,
}

impl<'a> Reserving<'a> {
    /// Returns the id of the next new application; none if no number is left.
    fn next(&mut self) -> Option<Reserved<'a>> {
        let reused = if self.count >= self.reuse_from { self.reuse() } else { None };
        reused.or_else(|| self.free())
    }

    fn free(&mut self) -> Option<Reserved<'a>> {
        let id = ApplicationId::new(self.stored.team.id, self.next)?;
        self.next += 1;
        self.count += 1;
        Some(Reserved { id, retired: None })
    }

    fn reuse(&mut self) -> Option<Reserved<'a>> {
        self.left.checked_sub(1)?;
        let id = self.vacant.pop_front()?;
        let retired = self.stored.applications.iter().find(|application| application.id == id)?;
        self.left -= 1;
        Some(Reserved { id: id.next_generation()?, retired: Some(retired) })
    }

    /// Returns the problem of an application without a number.
    fn problem(&self, team: &str, name: &str) -> Problem {
        let (rule, message) = if self.vacant.is_empty() {
            let count = self.count;
            let message = format!("needs a number: the team has {count} applications, and none is empty");
            ("applications_full", message)
        } else {
            let message = "needs another submission: this one changes too many applications";
            ("too_many_applications", message.to_owned())
        };
        Problem {
            pointer: pointer([team, name]),
            path: vec![team.to_owned(), name.to_owned()],
            rule,
            message,
            change: None,
        }
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
