//! The definition version and the declarations that a decision is checked against (R49).

use crate::request::{Decision, Request};
use domain::base::id::DeployedId;
use domain::catalog::schema::DecisionForms;
use domain::model::secrets::StoredSecrets;
use domain::rules::check::{Check, Upgrades};
use domain::rules::decide;
use domain::rules::decide::{Decided, Update};
use domain::views::related::Related;
use dovetail_http::Failure;
use dovetail_table::{RelatedKey, Undecided};
use std::sync::Arc;

/// The definition that checks a decision.
pub(crate) struct DefinitionCheck {
    forms: Arc<DecisionForms>,
    /// The upgrades of the newest deployed version to this definition version.
    upgrades: Option<Upgrades>,
    /// The secrets of the declaration, if the definition has some (R58).
    secrets: Option<StoredSecrets>,
    /// The texts, with the other content of the reply; none if the decision does not depend on them.
    related: Option<Related>,
    /// Whether `related` has all other content of the reply.
    is_complete: bool,
}

impl DefinitionCheck {
    /// Reads the definition and the texts that check an update; none if the update needs no check.
    ///
    /// Most of the texts are in the reply as well, so this read takes the place of a later one.
    pub(crate) async fn of(
        request: &Request<'_>,
        Undecided { change, item, .. }: &Undecided,
        update: &Update,
    ) -> Result<Option<Self>, Failure> {
        let Request { table, call, decision, .. } = request;
        let Some(version) = decide::checking_version(change, update, &call.caller.team) else {
            return Ok(None);
        };
        let forms = table.decision_forms(&change.service.title, version).await?;
        if !decide::depends_on_texts(&forms, change, update) {
            return Ok(Some(Self {
                forms,
                upgrades: None,
                secrets: None,
                related: None,
                is_complete: false,
            }));
        }
        let newest = decide::newest_to_read(item, update, &forms);
        let deployed = newest.into_iter().chain(decide::base_to_read(change, item, update));
        let is_complete = !matches!(decision, Decision::Deploy(_));
        let related = if is_complete {
            table.related_to_decision(change, item, deployed).await?
        } else {
            let hashes = change.new.map(|new| new.hash).into_iter().chain(change.planned());
            let texts = hashes.map(|hash| RelatedKey::Declaration(change.consumer.id, hash));
            table.related(texts.chain(deployed.map(RelatedKey::Deployed))).await?
        };
        let latest = item.deployed.filter(|latest| newest == Some(latest.id));
        let upgrades = match latest.filter(|_| forms.paths.is_verified) {
            Some(latest) => table.upgrades(&change.service.title, latest.schema_version, version).await?,
            None => None,
        };
        let declared = change.new.filter(|_| forms.paths.has_secrets());
        let declared = declared.map(|new| (change.consumer.id, new.hash));
        let secrets = table.secrets(declared).await?.into_values().next();
        Ok(Some(Self { forms, upgrades, secrets, related: Some(related), is_complete }))
    }

    /// Returns the definition.
    pub(crate) fn forms(&self) -> &DecisionForms {
        &self.forms
    }

    /// Returns the check of an update.
    pub(crate) fn check(&self, Undecided { change, item, .. }: &Undecided, update: &Update) -> Check<'_> {
        let related = self.related.as_ref();
        let text = |hash| related?.declarations.get(&(change.consumer.id, hash)).map(String::as_str);
        let deployed = |id: Option<DeployedId>| related?.deployed.get(&id?);
        Check {
            forms: &self.forms,
            declared: change.new.and_then(|new| text(new.hash)),
            secrets: self.secrets.as_ref().map(|stored| &stored.secrets),
            planned: change.planned().and_then(text),
            newest: deployed(decide::newest_to_read(item, update, &self.forms)),
            base: deployed(decide::base_to_read(change, item, update)),
            upgrades: self.upgrades.as_ref(),
        }
    }

    /// Returns the other content of the reply to a decision, if it is read.
    pub(crate) fn into_related(self, decided: &Decided) -> Option<Related> {
        let mut related = self.related.filter(|_| self.is_complete)?;
        related.add_decided(decided);
        Some(related)
    }
}
