//! The judgement of an owner's decision: the item has to fit the form of the state that its change instance enters
//! (R49).

use crate::base::problem::Problem;
use crate::base::state::State;
use crate::catalog::schema::{DecisionForms, ITEM_PROBLEMS_MAX, Phase};
use crate::model::change::Change;
use crate::model::deployed::Deployed;
use crate::rules::verify;
use serde_json::Value;
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

impl Judge<'_> {
    /// Returns the problems of the item after a decision, with pointers into the item.
    ///
    /// The owner's values come from the item in the request (`sent`), or else from the newest version of this life.
    pub(crate) fn problems(
        &self,
        state: State,
        sent: Option<&Value>,
        newest: Option<&Value>,
    ) -> Vec<Problem> {
        let Self { forms, .. } = self;
        let mut problems = sent.map_or_else(Vec::new, |sent| verify::secrets(&forms.paths, sent));
        if let Some(declared) = self.declared.and_then(|text| serde_json::from_str(text).ok()) {
            let item = verify::expected(&forms.paths, sent.or(newest), &declared);
            let phase = match state {
                State::Errored => Phase::Partial,
                State::Completed => Phase::Completed,
                State::Pending | State::Approved | State::Rejected | State::Closed => Phase::Approved,
            };
            problems.extend(self.violations(phase, &item));
        }
        problems.truncate(ITEM_PROBLEMS_MAX);
        problems
    }

    /// Returns the violations of a form; an absent owner path has a rule of its own.
    fn violations(&self, phase: Phase, item: &Value) -> Vec<Problem> {
        let mut violations = self.forms.violations(phase, item);
        let unknown: BTreeSet<String> = verify::unknown(&self.forms.paths, item).into_iter().collect();
        for problem in violations.iter_mut().filter(|problem| unknown.contains(&problem.pointer)) {
            problem.rule = "unknown";
            "must be present: the service owner fills this property".clone_into(&mut problem.message);
        }
        violations
    }
}
