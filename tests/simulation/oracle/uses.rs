//! The oracle of references between applications and teams (R69), and of items in use (R71).
//!
//! It knows the declarations as of each commit, and nothing of how the functions count uses. It checks three things:
//!
//! - An accepted submission has no problem at its commit.
//! - A refused one has only problems of a moment between its reads and its answer, and all problems of the whole time.
//! - The items and their counts at the end are those of the accepted submissions.

mod predict;

use self::predict::{Predicted, Problem};
use super::{Name, Oracle};
use crate::declared::ItemName;
use crate::references::{Attempt, CONFIRMED};
use domain::audit::invariant::Snapshot;
use domain::model::submission::{Scope, Submission};
use domain::{ItemId, TeamId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Counters of references and of refused submissions, each with a minimum of one in all runs.
pub const COUNTERS: [&str; 7] = [
    BEGUN,
    ENDED,
    REMOVED,
    "refused: in_use",
    "refused: unknown_item",
    "refused: dangling_reference",
    "refused: out_of_reach",
];

const BEGUN: &str = "reference elsewhere begun";
const ENDED: &str = "reference elsewhere ended";
const REMOVED: &str = "submission removes items in use";

/// The rules of the problems that this oracle predicts.
const RULES: [&str; 5] = ["in_use", "unknown_item", "dangling_reference", "out_of_reach", "wrong_service"];

/// The newest declaration of an item.
struct Declared {
    id: ItemId,
    /// Whether the consumer's newest submission contains the item.
    is_declared: bool,
    body: Value,
    /// The items elsewhere that the declaration names.
    uses: BTreeSet<ItemId>,
}

/// A submission, accepted or not.
struct Submitted {
    team: TeamId,
    is_whole: bool,
    is_confirmed: bool,
    /// The applications with their lists of granted teams.
    applications: BTreeMap<String, Value>,
    items: BTreeMap<ItemName, Value>,
    /// The ids of the items with a direct change instance. None of a refused submission.
    ids: BTreeMap<ItemName, ItemId>,
    /// The number of commits before the oldest grants that it can have read.
    since: usize,
}

impl Submitted {
    fn of(attempt: &Attempt, names: &BTreeMap<TeamId, String>) -> Self {
        let request = &attempt.request;
        let (team, _) = names.iter().find(|(_, name)| request.body.get(name.as_str()).is_some()).unwrap();
        Self {
            team: *team,
            is_whole: request.method == "POST",
            is_confirmed: request.path.ends_with(CONFIRMED) || request.if_match.is_some(),
            applications: attempt.body.granted(),
            items: attempt.body.items(&Value::Null),
            ids: BTreeMap::new(),
            since: attempt.from,
        }
    }

    fn affects(&self, application: &str) -> bool {
        self.is_whole || self.applications.contains_key(application)
    }

    /// Returns whether a declared item of the team stays declared.
    fn keeps(&self, name: &ItemName) -> bool {
        !self.affects(&name.application) || self.items.contains_key(name)
    }
}

/// A refused submission.
struct Refused {
    id: String,
    submitted: Submitted,
    /// The numbers of commits before the oldest read and before the answer.
    window: (usize, usize),
    reported: BTreeSet<Problem>,
    /// The problems of at least one moment.
    possible: BTreeSet<Problem>,
    /// The problems of every moment so far.
    certain: Option<BTreeSet<Problem>>,
}

impl Refused {
    /// Returns the refused submission of an attempt, if its answer lists problems.
    fn of(id: &str, attempt: &Attempt, names: &BTreeMap<TeamId, String>) -> Option<Self> {
        let (position, answer) = attempt.answered.as_ref()?;
        let problems = answer.body["problems"].as_array().filter(|_| answer.status == 400)?;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let reported = problems.iter().map(|problem| (text(&problem["rule"]), text(&problem["pointer"])));
        Some(Self {
            id: id.to_owned(),
            submitted: Submitted::of(attempt, names),
            window: (attempt.from, *position),
            reported: reported.filter(|(rule, _)| RULES.contains(&rule.as_str())).collect(),
            possible: BTreeSet::new(),
            certain: None,
        })
    }

    /// Adds the problems of one moment.
    fn add(&mut self, predicted: Predicted) {
        let Predicted { problems, unapplied, later, .. } = predicted;
        let certain: BTreeSet<Problem> = problems.difference(&later).cloned().collect();
        self.certain = Some(match self.certain.take() {
            Some(before) => before.intersection(&certain).cloned().collect(),
            None => certain,
        });
        self.possible.extend(problems);
        self.possible.extend(unapplied);
    }
}

/// The expected references of all items.
pub struct Uses {
    names: BTreeMap<TeamId, String>,
    items: BTreeMap<Name, Declared>,
    /// The granted teams of each application, each time with the number of commits before.
    grants: BTreeMap<(TeamId, String), Vec<(usize, Value)>>,
    attempts: BTreeMap<String, Attempt>,
    refused: Vec<Refused>,
    counts: BTreeMap<String, u64>,
}

impl Uses {
    /// Creates the oracle of a world without declarations.
    pub fn new(attempts: BTreeMap<String, Attempt>, snapshot: &Snapshot) -> Self {
        let names = snapshot.teams.iter().map(|(id, team)| (*id, team.name.clone()));
        let names: BTreeMap<TeamId, String> = names.collect();
        let refused = attempts.iter().filter_map(|(id, attempt)| Refused::of(id, attempt, &names)).collect();
        let (items, grants, counts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { names, items, grants, attempts, refused, counts }
    }

    /// Collects the problems that refused submissions can have found after this number of commits.
    pub fn check(&mut self, position: usize, oracle: &Oracle) {
        let mut refused = std::mem::take(&mut self.refused);
        for one in &mut refused {
            if (one.window.0..=one.window.1).contains(&position) {
                one.submitted.since = position;
                one.add(self.predicted(&one.submitted, oracle));
            }
        }
        self.refused = refused;
    }

    /// Applies an accepted submission. `ids` are those of the items with a direct change instance.
    pub fn accepted(
        &mut self,
        position: usize,
        submission: &Submission,
        ids: BTreeMap<ItemName, ItemId>,
        oracle: &Oracle,
    ) {
        let attempt = &self.attempts[&submission.request];
        let submitted = Submitted { ids, ..Submitted::of(attempt, &self.names) };
        let seen = (submitted.team, submitted.is_whole);
        assert_eq!(seen, (submission.team.id, submission.scope == Scope::Whole));
        let Predicted { problems, uses, removes_used, .. } = self.predicted(&submitted, oracle);
        assert_eq!(problems, BTreeSet::new(), "the accepted submission {} has no problem", submission.id);
        self.count(REMOVED, u64::from(removes_used));
        self.grant(position, &submitted);
        self.apply(submitted, uses);
    }

    fn grant(&mut self, position: usize, submitted: &Submitted) {
        let of_team = self.grants.iter_mut().filter(|((team, _), _)| *team == submitted.team);
        for ((_, application), granted) in of_team.filter(|_| submitted.is_whole) {
            if !submitted.applications.contains_key(application) {
                granted.push((position, Value::Null));
            }
        }
        for (application, teams) in &submitted.applications {
            let key = (submitted.team, application.clone());
            self.grants.entry(key).or_default().push((position, teams.clone()));
        }
    }

    fn apply(&mut self, submitted: Submitted, mut uses: BTreeMap<ItemName, BTreeSet<ItemId>>) {
        let before = self.pairs();
        for ((team, name), item) in &mut self.items {
            item.is_declared &= *team != submitted.team || submitted.keeps(name);
        }
        for (name, body) in submitted.items {
            let uses = uses.remove(&name).unwrap_or_default();
            let key = (submitted.team, name);
            let id = submitted.ids.get(&key.1).or(self.items.get(&key).map(|before| &before.id)).copied();
            let id = id.unwrap_or_else(|| panic!("{key:?} has an id"));
            self.items.insert(key, Declared { id, is_declared: true, body, uses });
        }
        let after = self.pairs();
        let count = |these: &BTreeSet<_>, those| u64::try_from(these.difference(those).count()).unwrap();
        self.count(BEGUN, count(&after, &before));
        self.count(ENDED, count(&before, &after));
    }

    /// Returns the pairs of a declared item and an item elsewhere that it names.
    fn pairs(&self) -> BTreeSet<(ItemId, ItemId)> {
        let declared = self.items.values().filter(|item| item.is_declared);
        declared.flat_map(|user| user.uses.iter().map(|target| (user.id, *target))).collect()
    }

    fn count(&mut self, what: &str, times: u64) {
        *self.counts.entry(what.to_owned()).or_default() += times;
    }

    /// Checks the problems of a refused submission.
    fn compare_refused(&mut self, refused: Refused) {
        let Refused { id, submitted, reported, possible, certain, .. } = refused;
        let (certain, body) = (certain.unwrap(), &submitted.items);
        let wrong: BTreeSet<_> = reported.difference(&possible).collect();
        assert!(wrong.is_empty(), "at no moment has submission {id} the problems {wrong:?}: {body:#?}");
        let missing: BTreeSet<_> = certain.difference(&reported).collect();
        assert!(missing.is_empty(), "submission {id} has the problems {missing:?}: {body:#?}");
        let rules: BTreeSet<&String> = reported.iter().map(|(rule, _)| rule).collect();
        for rule in rules {
            self.count(&format!("refused: {rule}"), 1);
        }
    }

    /// Checks the refused submissions and the stored items of the end. Returns the counts of the run.
    pub fn compare(mut self, snapshot: &Snapshot) -> BTreeMap<String, u64> {
        for refused in std::mem::take(&mut self.refused) {
            self.compare_refused(refused);
        }
        let pairs = self.pairs();
        for ((_, name), own) in &self.items {
            let item = &snapshot.items[&own.id];
            assert_eq!(item.declared, own.is_declared, "whether {name:?} is declared");
            let used: BTreeSet<ItemId> = item.used().iter().copied().collect();
            let uses = if own.is_declared { own.uses.clone() } else { BTreeSet::new() };
            assert_eq!(used, uses, "the items elsewhere that {name:?} names");
        }
        for item in snapshot.items.values().filter(|item| !item.gone) {
            let users = pairs.iter().filter(|(_, target)| *target == item.id).count();
            assert_eq!(item.used_by, u64::try_from(users).unwrap(), "the users of item {}", item.id);
        }
        self.counts
    }
}
