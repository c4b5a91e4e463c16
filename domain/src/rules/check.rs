//! The check of an owner's decision.
//!
//! The item must fit the form of the state that its change instance enters (R49). In a verified service, the item must
//! also fit its declaration (R51) and the owner's plan (R52).

mod prior;

pub use self::prior::{Prior, UpgradeChain, Upgrades};
use crate::base::json;
use crate::base::problem::{Problem, below};
use crate::base::state::{ChangeType, RuntimeState, State};
use crate::catalog::schema::{
    Budget, Carried, DecisionForms, Exceeded, ITEM_PROBLEMS_MAX, Part, Phase, UPGRADED_VERSIONS_MAX,
    UPGRADES_BYTES_MAX, Upgrade,
};
use crate::model::change::Change;
use crate::model::declaration::DECLARATION_BYTES_MAX;
use crate::model::deployed::{DEPLOYED_BYTES_MAX, Deployed, WHOLE_BYTES_MAX};
use crate::model::item::{Base, Creation, Item, LatestDeployed};
use crate::model::secrets::Secrets;
use crate::model::storable::{STORABLE_BYTES_MAX, StorableValue, Unstorable};
use crate::rules::verify;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The definition version and the stored texts that a decision is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    pub forms: &'a DecisionForms,
    /// The declaration of the change instance; none if the decision needs no texts, or for a removal.
    pub declared: Option<&'a str>,
    /// The secrets of the declaration (R58).
    pub secrets: Option<&'a Secrets>,
    /// The newest deployed version of the item, if the decision depends on it.
    pub newest: Option<&'a Deployed>,
    /// The version that an observation is compared with, if it is not the newest.
    pub base: Option<&'a Deployed>,
    /// The upgrades of the newest deployed version to this definition version, if an earlier version checked it (R56).
    pub upgrades: Option<&'a Upgrades>,
    /// The owner's newest plan of the change instance, if there is one.
    pub planned: Option<&'a str>,
}

/// A decision to check.
pub(crate) struct Case<'a> {
    /// The change instance before the decision.
    pub(crate) change: &'a Change,
    /// The state after the decision.
    pub(crate) state: State,
    pub(crate) before: &'a Item,
    pub(crate) after: &'a Item,
    /// The deployed item in the request.
    pub(crate) sent: Option<&'a StorableValue>,
    /// The members of the deployed item that the request changed in the newest version.
    pub(crate) members: Option<&'a StorableValue>,
    /// The plan in the request.
    pub(crate) sent_plan: Option<&'a StorableValue>,
}

/// The deployed item and the plan that a decision stores, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) report: Option<Report>,
    /// The new plan, if it differs from the earlier one.
    pub(crate) plan: Option<StorableValue>,
}

/// The deployed item that a decision stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) data: StorableValue,
    pub(crate) kind: Reported,
}

/// The kind of a deployed item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reported {
    /// The result of a change.
    Result,
    /// The result of a CREATE that adopts an existing object (R55).
    Adopted(Fit),
    /// An observation by the owner of a verified service, with its comparison unless an approved change is in progress
    /// (R54).
    Observation(Option<Fit>),
}

/// Whether an observed item holds the declaration of the last completed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Holds,
    Drifts {
        /// Whether a property differs whose change replaces the item (R60).
        replaces: bool,
    },
}

impl Fit {
    /// Returns the fit of an item with these differences from its declaration.
    fn of(paths: &Part, differences: &[Problem]) -> Self {
        let replaces =
            differences.iter().any(|problem| problem.path.first().is_some_and(|name| paths.replaces(name)));
        if differences.is_empty() { Self::Holds } else { Self::Drifts { replaces } }
    }
}

impl Report {
    /// Returns the report of a deployed item as the owner sent it.
    pub(crate) fn plain(data: &StorableValue) -> Self {
        Self { data: data.clone(), kind: Reported::Result }
    }
}

/// The reason why a decision does not pass.
pub(crate) enum Failed {
    /// The texts do not belong to the item, so the caller reads again.
    Torn,
    /// The whole item has more than this number of bytes.
    TooLarge(usize),
    Problems(Vec<Problem>),
}

impl From<Unstorable> for Failed {
    fn from(reason: Unstorable) -> Self {
        if reason == Unstorable::Bytes {
            return Self::TooLarge(STORABLE_BYTES_MAX);
        }
        Self::Problems(vec![reason.problem(WHOLE_BYTES_MAX, "as a whole")])
    }
}

/// Returns the version of the definition that checks an update of the service owner; none if the update needs no check.
///
/// `brings` is whether the update adds a deployed item or a plan.
pub(crate) fn version(change: &Change, state: State, brings: bool) -> Option<u64> {
    let enters = state != change.state && matches!(state, State::Approved | State::Completed);
    let is_checked = !change.is_dependant() && (brings || enters && change.new.is_some());
    change.schema_version.filter(|_| is_checked)
}

/// Returns whether the check depends on the declaration and the deployed item.
pub(crate) fn needs_texts(forms: &DecisionForms, change: &Change, state: State, brings: bool) -> bool {
    brings || state == State::Completed || forms.checks_approval || change.planned().is_some()
}

/// Returns the deployed version with the owner's values, before a decision.
///
/// In a verified service, this version counts only after the CREATE is completed, because a CREATE has nothing to
/// continue.
pub(crate) fn prior(before: &Item, after: &Item, paths: &Part) -> Option<LatestDeployed> {
    let is_completed = before.newest_completed().is_some();
    after.newest_of_life().filter(|_| !paths.is_verified || is_completed)
}

/// Returns the item that a change instance asks for: the owner's plan over the proposed item.
pub(crate) fn promised(
    paths: &Part,
    proposed: &StorableValue,
    plan: Option<&Value>,
) -> Result<StorableValue, Unstorable> {
    plan.map_or_else(|| Ok(proposed.clone()), |plan| verify::filled(paths, plan, proposed))
}

/// Returns the name and the declared value of the property that adopts an existing object, until the CREATE is
/// completed (R55).
pub(crate) fn import_id<'a>(
    paths: &'a Part,
    change: &Change,
    item: &Item,
    declared: &'a Value,
) -> Option<(&'a str, &'a Value)> {
    let is_new = change.change_type == ChangeType::Create || item.main().creation != Creation::Done;
    let name = paths.import().filter(|_| is_new)?;
    Some((name, declared.get(name)?))
}

impl Case<'_> {
    fn is_approval(&self) -> bool {
        self.state == State::Approved && self.change.state != State::Approved
    }

    /// Returns whether the owner approves a first half, which removes the item.
    fn approves_removal(&self) -> bool {
        self.change.is_first_half() && self.after.runtime_state == RuntimeState::Decommissioned
    }
}

const fn reported(data: StorableValue, kind: Reported) -> Checked {
    Checked { report: Some(Report { data, kind }), plan: None }
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

impl Check<'_> {
    /// Checks a decision, and returns the deployed item and the plan to store.
    pub(crate) fn checked(&self, case: &Case<'_>) -> Result<Checked, Failed> {
        let brings = case.sent.is_some() || case.sent_plan.is_some();
        if !needs_texts(self.forms, case.change, case.state, brings) {
            return Ok(Checked::default());
        }
        let declared = self.declared.and_then(value);
        if declared.is_none() && case.change.new.is_some() {
            return Err(Failed::Torn);
        }
        // A first half asks for its declaration only at its approval: what cannot be created is not removed.
        let declared = declared.filter(|_| case.is_approval() || case.change.result().is_some());
        let (mut problems, checked) = if self.forms.paths.is_verified {
            self.verified(case, declared.as_ref())?
        } else {
            self.plain(case, declared.as_ref())?
        };
        let sent = case.members.or(case.sent).into_iter().chain(case.sent_plan);
        problems.extend(sent.flat_map(|sent| verify::derived(&self.forms.paths, sent)));
        if !problems.is_empty() {
            return Err(Failed::Problems(problems.into_iter().take(ITEM_PROBLEMS_MAX).collect()));
        }
        let mut stored = checked.report.as_ref().map(|report| &report.data).into_iter().chain(&checked.plan);
        if stored.any(|stored| stored.text().len() > self.bytes_max()) {
            return Err(Failed::TooLarge(self.bytes_max()));
        }
        Ok(checked)
    }

    const fn bytes_max(&self) -> usize {
        if self.forms.paths.is_verified { WHOLE_BYTES_MAX } else { DEPLOYED_BYTES_MAX }
    }

    /// Returns the data of the deployed version with the owner's values.
    fn prior(&self, case: &Case<'_>) -> Result<Option<StorableValue>, Failed> {
        // A replacement creates another object, so it continues nothing.
        let latest = prior(case.before, case.after, &self.forms.paths).filter(|_| !case.approves_removal());
        let Some(latest) = latest else { return Ok(None) };
        let read = self.newest.filter(|read| read.id == latest.id).ok_or(Failed::Torn)?;
        Ok(Prior::of(read, self.upgrades, &mut Budget::of_request()).into_data())
    }

    /// Checks an item of a service whose owner reports parts of items.
    fn plain(&self, case: &Case<'_>, declared: Option<&Value>) -> Result<(Vec<Problem>, Checked), Failed> {
        let paths = &self.forms.paths;
        let mut problems = case.sent.map_or_else(Vec::new, |sent| verify::secrets(paths, sent));
        if let Some(declared) = declared {
            let prior = if case.sent.is_some() { None } else { self.prior(case)? };
            let of_owner = case.sent.or(prior.as_ref()).map(|of_owner| &**of_owner);
            let item = verify::proposed(paths, of_owner, declared)?;
            let phase = match case.state {
                State::Errored => Phase::Partial,
                State::Completed => Phase::Completed,
                State::Pending | State::Approved | State::Rejected | State::Closed => Phase::Approved,
            };
            let violations = self.violations(phase, &item, Some(declared))?;
            // The second half waits for the owner's values.
            let is_forgiven = case.approves_removal();
            problems.extend(violations.into_iter().filter(|one| !is_forgiven || one.rule != UNKNOWN));
        }
        Ok((problems, Checked { report: case.sent.map(Report::plain), plan: None }))
    }

    /// Checks an item of a verified service, whose owner reports whole items (R51).
    fn verified(&self, case: &Case<'_>, declared: Option<&Value>) -> Result<(Vec<Problem>, Checked), Failed> {
        let nothing = json!({});
        let sent = case.members.or(case.sent).map_or(&nothing, |sent| sent);
        let prior = self.prior(case)?;
        let prior = prior.as_deref();
        match (case.state, declared) {
            (State::Errored, _) => self.observed(case, sent, prior, declared),
            (State::Completed, Some(_)) if case.change.state == State::Completed => {
                self.observed(case, sent, prior, declared)
            }
            (State::Completed, Some(declared)) => match self.import_id(case.change, case.before, declared) {
                Some(id) => self.adopted(sent, declared, id),
                None => self.completed(case, sent, prior, declared),
            },
            (_, Some(declared)) => self.planned(case, prior, declared),
            // An empty object means that the owner sent no item.
            (_, None) if *sent == nothing => Ok((Vec::new(), Checked::default())),
            (_, None) => Ok((vec![removed()], Checked::default())),
        }
    }

    /// Checks an observation of the owner, after a failure or after the completion (R54). Only a part of the item may
    /// exist, so no member is required.
    fn observed(
        &self,
        case: &Case<'_>,
        sent: &Value,
        prior: Option<&Value>,
        declared: Option<&Value>,
    ) -> Result<(Vec<Problem>, Checked), Failed> {
        let paths = &self.forms.paths;
        let item = verify::filled(paths, sent, prior.unwrap_or(&json!({})))?;
        let mut problems = verify::secrets(paths, sent);
        problems.extend(self.violations(Phase::Partial, &item, declared)?);
        let fit = match declared {
            Some(declared) => self.fit(case, prior, declared, &item)?,
            None => None,
        };
        Ok((problems, reported(item, Reported::Observation(fit))))
    }

    /// Checks a completion: the sent members, laid over the item that the change instance asks for.
    fn completed(
        &self,
        case: &Case<'_>,
        sent: &Value,
        prior: Option<&Value>,
        declared: &Value,
    ) -> Result<(Vec<Problem>, Checked), Failed> {
        let paths = &self.forms.paths;
        let plan = self.plan(case)?;
        let promised = promised(paths, &verify::proposed(paths, prior, declared)?, plan.as_deref())?;
        let item = verify::filled(paths, sent, &promised)?;
        let mut problems = self.violations(Phase::Completed, &item, Some(declared))?;
        // Both comparisons report `writeOnly` values as well.
        problems.extend(match &plan {
            Some(plan) => verify::agrees(paths, plan, &item),
            None => verify::holds(paths, prior, declared, &item),
        });
        Ok((problems, reported(item, Reported::Result)))
    }

    /// Checks the completion of an adoption: the sent object alone, of which only the id must be as declared (R55).
    fn adopted(
        &self,
        sent: &Value,
        declared: &Value,
        (name, id): (&str, &Value),
    ) -> Result<(Vec<Problem>, Checked), Failed> {
        let paths = &self.forms.paths;
        let item = verify::filled(paths, sent, &json!({}))?;
        let mut problems = verify::secrets(paths, sent);
        problems.extend(self.violations(Phase::Partial, &item, Some(declared))?);
        let at_id = |rule, message| Problem {
            pointer: below("", name),
            path: vec![name.to_owned()],
            rule,
            message,
            change: None,
        };
        match item.get(name) {
            Some(found) if found == id => {}
            Some(found) => {
                let (id, found) = (json::excerpt(id), json::excerpt(found));
                problems.push(at_id("declared", format!("must be {id} as declared, not {found}")));
            }
            None => problems.push(at_id(UNKNOWN, OF_OWNER.to_owned())),
        }
        let fit = Fit::of(paths, &verify::holds(paths, None, declared, &item));
        Ok((problems, reported(item, Reported::Adopted(fit))))
    }

    /// Returns the name and the value of the declared property that adopts an existing object, if the change instance
    /// does so.
    fn import_id<'b>(
        &'b self,
        change: &Change,
        item: &Item,
        declared: &'b Value,
    ) -> Option<(&'b str, &'b Value)> {
        import_id(&self.forms.paths, change, item, declared)
    }

    /// Returns whether a change instance adopts an existing object.
    pub(crate) fn adopts(&self, change: &Change, item: &Item) -> bool {
        let declared = self.declared.and_then(value);
        declared.is_some_and(|declared| self.import_id(change, item, &declared).is_some())
    }

    /// Returns whether an observed item holds the completed declaration; none while an approved change is not completed
    /// (R54).
    fn fit(
        &self,
        case: &Case<'_>,
        newest: Option<&Value>,
        declared: &Value,
        item: &Value,
    ) -> Result<Option<Fit>, Failed> {
        let Some(reached) = case.before.reached_target() else { return Ok(None) };
        // The texts belong to another completed change.
        if reached != case.change.leaves() {
            return Err(Failed::Torn);
        }
        let earlier;
        let base = match case.before.base {
            Base::Newest => newest,
            Base::None => None,
            Base::Earlier(id) => {
                let read = self.base.filter(|read| read.id == id).ok_or(Failed::Torn)?;
                earlier = value(&read.data);
                earlier.as_ref()
            }
        };
        let paths = &self.forms.paths;
        Ok(Some(Fit::of(paths, &verify::holds(paths, base, declared, item))))
    }

    /// Checks an approval, or a plan (R52).
    fn planned(
        &self,
        case: &Case<'_>,
        prior: Option<&Value>,
        declared: &Value,
    ) -> Result<(Vec<Problem>, Checked), Failed> {
        let paths = &self.forms.paths;
        let adopts = self.import_id(case.change, case.before, declared).is_some();
        // The owner adopts the item and does not create it, so a plan has no meaning, and the owner's values are known
        // only at the completion.
        let earlier = if adopts { None } else { self.plan(case)? };
        let (mut problems, mut plan) = (Vec::new(), earlier.clone());
        if let Some(sent) = case.sent_plan {
            // A plan promises declared values and values that the owner sent, but no value that only the earlier
            // version has.
            let base = match &earlier {
                Some(earlier) => earlier.clone(),
                None => verify::proposed(paths, None, declared)?,
            };
            let new = verify::filled(paths, sent, &base)?;
            problems.extend(verify::holds(paths, prior, declared, &new));
            problems.extend(earlier.iter().flat_map(|earlier| verify::agrees(paths, earlier, &new)));
            plan = Some(new);
        }
        // Only the approval itself needs all values.
        let phase = if case.is_approval() { Phase::Approved } else { Phase::Partial };
        let promised = promised(paths, &verify::proposed(paths, prior, declared)?, plan.as_deref())?;
        let violations = self.violations(phase, &promised, Some(declared))?;
        let is_forgiven = adopts || case.approves_removal();
        problems.extend(violations.into_iter().filter(|one| !is_forgiven || one.rule != UNKNOWN));
        let plan = plan.filter(|plan| earlier.as_ref() != Some(plan));
        Ok((problems, Checked { report: None, plan }))
    }

    /// Returns whether the declaration of a first half has all that the approval of its second half requires.
    pub(crate) fn fits_alone(&self, change: &Change) -> Result<bool, Failed> {
        let declared = self.declared.and_then(value).ok_or(Failed::Torn)?;
        let paths = &self.forms.paths;
        let adopts = paths.import().is_some_and(|name| declared.get(name).is_some());
        let item = verify::proposed(paths, None, &declared)?;
        let is_checked = !change.is_dependant() && self.forms.checks_approval;
        let problems =
            if is_checked { self.violations(Phase::Approved, &item, Some(&declared))? } else { Vec::new() };
        Ok(problems.iter().all(|problem| adopts && problem.rule == UNKNOWN))
    }

    /// Returns the owner's newest plan.
    fn plan(&self, case: &Case<'_>) -> Result<Option<StorableValue>, Failed> {
        match (case.change.planned(), self.planned) {
            (None, _) => Ok(None),
            (Some(_), Some(text)) => Ok(Some(StorableValue::read(text)?)),
            (Some(_), None) => Err(Failed::Torn),
        }
    }

    /// Returns the violations of a form; an absent owner path has a rule of its own.
    fn violations(
        &self,
        phase: Phase,
        item: &Value,
        declared: Option<&Value>,
    ) -> Result<Vec<Problem>, Failed> {
        let paths = &self.forms.paths;
        let revealed = declared.zip(self.secrets).map(|(declared, secrets)| secrets.revealed(declared));
        let revealed = revealed.transpose().map_err(|reason| {
            Failed::Problems(vec![reason.problem(DECLARATION_BYTES_MAX, "with its declared secrets")])
        })?;
        let declared = revealed.as_deref().or(declared);
        let whole = declared.map(|declared| verify::with_secrets(paths, item, declared));
        let mut violations = self.forms.violations(phase, whole.as_ref().unwrap_or(item));
        let unknown: BTreeSet<String> = verify::unknown(paths, item).into_iter().collect();
        for problem in violations.iter_mut().filter(|problem| unknown.contains(&problem.pointer)) {
            problem.rule = UNKNOWN;
            OF_OWNER.clone_into(&mut problem.message);
        }
        Ok(violations)
    }
}

/// The rule of an absent value that the service owner fills.
const UNKNOWN: &str = "unknown";
const OF_OWNER: &str = "must be present: the service owner fills this property";

/// Returns the problem of an item that was sent with the completion of a removal.
fn removed() -> Problem {
    Problem {
        pointer: String::new(),
        path: Vec::new(),
        rule: "not_declared",
        message: "must be absent: the change instance removes the item".to_owned(),
        change: None,
    }
}
