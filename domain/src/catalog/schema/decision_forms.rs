//! The forms of a definition that check the decisions of the service owner (R49).

use super::*;
use std::sync::OnceLock;

/// A definition with words, for the checks of decisions. Each form is compiled at its first use.
#[derive(Debug)]
pub struct DecisionForms {
    /// The paths with their words.
    pub paths: Part,
    /// Whether the definition checks an approval without an item.
    pub checks_approval: bool,
    /// The memory of the definition in bytes, with all forms; the estimate is never too low.
    pub bytes: usize,
    definition: Value,
    draft: Draft,
    /// The compiled forms, in the order of [`Phase::ALL`].
    compiled: [OnceLock<Compiled>; Phase::ALL.len()],
}

impl DecisionForms {
    /// Reads a definition that was checked at its publication, in a version whose words have a meaning.
    pub fn load(text: &str) -> Result<Self, Vec<Problem>> {
        let definition = json::parse_schema(text.as_bytes(), SCHEMA_DEPTH_MAX)?;
        let root = definition.as_object();
        let draft =
            root.and_then(draft).ok_or_else(|| vec![problem("", "invalid_schema", "must be a draft")])?;
        let paths = Part::of(&definition, draft);
        let checking = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Request);
        let bytes = checking.map(|phase| {
            let form = form(&definition, draft, &paths, phase);
            weight(&form, &Model::of(&form), Some(&paths))
        });
        Ok(Self {
            checks_approval: forms::checks_approval(&definition),
            bytes: bytes.fold(0, usize::saturating_add),
            paths,
            definition,
            draft,
            compiled: Default::default(),
        })
    }

    /// Compiles all forms.
    pub(super) fn compile(&self) -> Result<(), Vec<Problem>> {
        Phase::ALL.into_iter().try_for_each(|phase| self.compile_form(phase).map(drop))
    }

    fn compile_form(&self, phase: Phase) -> Result<Compiled, Vec<Problem>> {
        let checked = form(&self.definition, self.draft, &self.paths, phase);
        Compiled::of(&checked, self.draft, Some(&self.paths))
    }

    /// Returns the violations of a form by an item.
    pub fn violations(&self, phase: Phase, item: &Value) -> Vec<Problem> {
        self.violations_within(phase, item, &mut Budget::of_request())
    }

    /// Returns the violations of a form by an item, within the rest of a budget.
    pub(crate) fn violations_within(&self, phase: Phase, item: &Value, budget: &mut Budget) -> Vec<Problem> {
        self.compiled(phase)
            .map_or_else(Vec::new, |compiled| compiled.violations(Some(&self.paths), item, budget))
    }

    fn compiled(&self, phase: Phase) -> Option<&Compiled> {
        let compiled = Phase::ALL.into_iter().zip(&self.compiled).find(|(of, _)| *of == phase);
        compiled.map(|(_, compiled)| {
            // The publication has compiled each form, so this succeeds.
            compiled.get_or_init(|| self.compile_form(phase).unwrap_or_else(|_| Compiled::unusable(0)))
        })
    }
}
