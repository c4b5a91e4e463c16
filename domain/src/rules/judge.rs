//! The judgement of an owner's decision: the item has to fit the form of the state that its change instance enters
//! (R49), and in a verified service also its declaration (R51).

use crate::base::json;
use crate::base::problem::Problem;
use crate::base::state::State;
use crate::catalog::schema::{DecisionForms, ITEM_PROBLEMS_MAX, Part, Phase};
use crate::model::change::Change;
use crate::model::deployed::{DEPLOYED_BYTES_MAX, Deployed, WHOLE_BYTES_MAX};
use crate::model::item::{Creation, Item, LatestDeployed};
use crate::rules::verify;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The definition and the texts that judge a decision.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    pub forms: &'a DecisionForms,
    /// The declaration of the change instance; none if the decision needs no texts, or for a removal.
    pub declared: Option<&'a str>,
    /// The newest deployed version of the item, if the decision depends on it.
    pub newest: Option<&'a Deployed>,
}

/// A decision to judge.
pub(crate) struct Case<'a> {
    /// The change instance before the decision.
    pub(crate) change: &'a Change,
    /// The state after it.
    pub(crate) state: State,
    pub(crate) before: &'a Item,
    pub(crate) after: &'a Item,
    /// The deployed item in the request.
    pub(crate) sent: Option<&'a str>,
}

/// The deployed item that a decision stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Canonical JSON.
    pub(crate) data: String,
    /// Whether it is what the owner found, and not the result of a change.
    pub(crate) is_observed: bool,
}

/// Why a decision does not pass.
pub(crate) enum Failed {
    /// The texts are not those of the item: read again.
    Torn,
    /// The whole item is too large.
    TooLarge,
    Problems(Vec<Problem>),
}

/// Returns the version of the definition that judges an update of the service owner; none if none does.
///
/// `sends` is whether it adds a deployed item.
pub(crate) fn version(change: &Change, state: State, sends: bool) -> Option<u64> {
    let enters = state != change.state && matches!(state, State::Approved | State::Completed);
    let is_judged = !change.is_dependant() && (sends || enters && change.new.is_some());
    change.schema_version.filter(|_| is_judged)
}

/// Returns whether the judgement depends on the declaration and the deployed item.
pub(crate) fn needs_texts(forms: &DecisionForms, state: State, sends: bool) -> bool {
    sends || state == State::Completed || forms.judges_approval
}

/// Returns the deployed version with the owner's values, before a decision.
///
/// In a verified service it counts once the CREATE is completed: a CREATE has nothing to continue.
pub(crate) fn prior(before: &Item, after: &Item, paths: &Part) -> Option<LatestDeployed> {
    let counts = !paths.is_verified || before.main().creation == Creation::Done;
    after.newest_of_life().filter(|_| counts)
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

impl Judge<'_> {
    /// Judges a decision; returns the deployed item to store, if any.
    pub(crate) fn judged(&self, case: &Case<'_>) -> Result<Option<Report>, Failed> {
        if !needs_texts(self.forms, case.state, case.sent.is_some()) {
            return Ok(None);
        }
        let declared = self.declared.and_then(value);
        if declared.is_none() && case.change.new.is_some() {
            return Err(Failed::Torn);
        }
        let (problems, report) = if self.forms.paths.is_verified {
            self.verified(case, declared.as_ref())?
        } else {
            self.plain(case, declared.as_ref())?
        };
        if !problems.is_empty() {
            return Err(Failed::Problems(problems.into_iter().take(ITEM_PROBLEMS_MAX).collect()));
        }
        if report.as_ref().is_some_and(|report| report.data.len() > self.bytes_max()) {
            return Err(Failed::TooLarge);
        }
        Ok(report)
    }

    const fn bytes_max(&self) -> usize {
        if self.forms.paths.is_verified { WHOLE_BYTES_MAX } else { DEPLOYED_BYTES_MAX }
    }

    /// Returns the data of the deployed version with the owner's values.
    fn prior(&self, case: &Case<'_>) -> Result<Option<Value>, Failed> {
        let Some(latest) = prior(case.before, case.after, &self.forms.paths) else { return Ok(None) };
        let read = self.newest.filter(|read| read.id == latest.id).ok_or(Failed::Torn)?;
        Ok(value(&read.data))
    }

    /// Judges an item of which the owner reports parts.
    fn plain(
        &self,
        case: &Case<'_>,
        declared: Option<&Value>,
    ) -> Result<(Vec<Problem>, Option<Report>), Failed> {
        let paths = &self.forms.paths;
        let sent = case.sent.and_then(value);
        let mut problems = sent.as_ref().map_or_else(Vec::new, |sent| verify::secrets(paths, sent));
        if let Some(declared) = declared {
            let of_owner = if sent.is_some() { sent } else { self.prior(case)? };
            let item = verify::proposed(paths, of_owner.as_ref(), declared);
            problems.extend(self.violations(case.state, &item, Some(declared)));
        }
        let report = case.sent.map(|data| Report { data: data.to_owned(), is_observed: false });
        Ok((problems, report))
    }

    /// Judges an item of which the owner reports the whole (R51).
    fn verified(
        &self,
        case: &Case<'_>,
        declared: Option<&Value>,
    ) -> Result<(Vec<Problem>, Option<Report>), Failed> {
        let paths = &self.forms.paths;
        let sent = case.sent.and_then(value).unwrap_or_else(|| json!({}));
        let prior = self.prior(case)?;
        let stored = |item: &Value, is_observed| Report { data: json::canonical(item), is_observed };
        match (case.state, declared) {
            // A part of the item may exist: what the owner found has no missing members.
            (State::Errored, _) => {
                let item = verify::filled(paths, &sent, prior.as_ref().unwrap_or(&json!({})));
                let mut problems = verify::secrets(paths, &sent);
                problems.extend(self.violations(case.state, &item, declared));
                Ok((problems, Some(stored(&item, true))))
            }
            (State::Completed, Some(declared)) => {
                let proposed = verify::proposed(paths, prior.as_ref(), declared);
                let item = verify::filled(paths, &sent, &proposed);
                let mut problems = self.violations(case.state, &item, Some(declared));
                // This reports `writeOnly` values as well.
                problems.extend(verify::holds(paths, prior.as_ref(), declared, &item));
                Ok((problems, Some(stored(&item, false))))
            }
            (_, Some(declared)) => {
                let proposed = verify::proposed(paths, prior.as_ref(), declared);
                Ok((self.violations(case.state, &proposed, Some(declared)), None))
            }
            // An empty object counts as no item.
            (_, None) if sent == json!({}) => Ok((Vec::new(), None)),
            (_, None) => Ok((vec![removed()], None)),
        }
    }

    /// Returns the violations of the form of a state; an absent owner path has a rule of its own.
    fn violations(&self, state: State, item: &Value, declared: Option<&Value>) -> Vec<Problem> {
        let phase = match state {
            State::Errored => Phase::Partial,
            State::Completed => Phase::Completed,
            State::Pending | State::Approved | State::Rejected | State::Closed => Phase::Approved,
        };
        let paths = &self.forms.paths;
        let whole = declared.map(|declared| verify::with_secrets(paths, item, declared));
        let mut violations = self.forms.violations(phase, whole.as_ref().unwrap_or(item));
        let unknown: BTreeSet<String> = verify::unknown(paths, item).into_iter().collect();
        for problem in violations.iter_mut().filter(|problem| unknown.contains(&problem.pointer)) {
            problem.rule = "unknown";
            "must be present: the service owner fills this property".clone_into(&mut problem.message);
        }
        violations
    }
}

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
