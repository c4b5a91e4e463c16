//! The newest deployed version, as a change instance of a verified service continues from it (R56).

use super::*;

/// What leads from a deployed version of an earlier version of the definition to this one (R56).
#[derive(Clone, Debug)]
pub struct Upgrades {
    /// The steps of each version, from the one after the earlier version to this one.
    pub steps: Vec<Arc<Upgrade>>,
    /// This version, which the result has to fit.
    pub forms: Arc<DecisionForms>,
}

/// The newest deployed version, as a change instance of a verified service continues from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// There is none.
    None,
    AsStored(Value),
    /// As an item of the present version of the definition (R56).
    Upgraded(Value),
    /// It does not fit the present version, so nothing is carried over.
    Unusable,
}

impl Prior {
    /// Returns the data of a deployed version after the upgrades, or as they are without.
    pub(crate) fn of(newest: &Deployed, upgrades: Option<&Upgrades>) -> Self {
        let Some(stored) = value(&newest.data) else { return Self::Unusable };
        let Some(upgrades) = upgrades else { return Self::AsStored(stored) };
        let upgraded = upgrades.steps.iter().try_fold(stored.clone(), |item, step| step.applied(item));
        match upgraded.filter(|item| upgrades.unfit(item, &mut Budget::of_request()).is_empty()) {
            None => Self::Unusable,
            Some(item) if item == stored => Self::AsStored(item),
            Some(item) => Self::Upgraded(item),
        }
    }

    /// Returns the data; none without usable ones.
    pub const fn data(&self) -> Option<&Value> {
        match self {
            Self::AsStored(data) | Self::Upgraded(data) => Some(data),
            Self::None | Self::Unusable => None,
        }
    }

    /// Returns the name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::AsStored(_) => "AS_STORED",
            Self::Upgraded(_) => "UPGRADED",
            Self::Unusable => "UNUSABLE",
        }
    }
}

impl Upgrades {
    /// Returns why an upgraded item does not fit this version.
    fn unfit(&self, item: &Value, budget: &mut Budget) -> Vec<Problem> {
        self.forms.violations_within(Phase::Partial, item, budget)
    }

    /// Returns why nothing of a deployed version could be carried over to an item of this version.
    pub fn problems(&self, newest: &Deployed, budget: &mut Budget) -> Vec<Problem> {
        let stored = value(&newest.data).unwrap_or_default();
        match self.steps.iter().try_fold(stored, |item, step| step.applied(item)) {
            Some(item) => self.unfit(&item, budget),
            None => vec![Problem {
                pointer: String::new(),
                path: Vec::new(),
                rule: "too_large",
                message: format!("must have at most {WHOLE_BYTES_MAX} bytes after the steps of `x-upgrade`"),
                change: None,
            }],
        }
    }
}
