//! The plan token: a digest of everything that a submission covers and does (R34, ADR 36).
//!
//! The token has names in place of ids, because an id that is not assigned yet may go to another submission. A partial
//! submission covers only the applications that it names, so submissions of other applications leave its token valid.

use super::{Draft, Plan, Request, Stored};
use crate::base::hash::Hash;
use crate::model::change::{Change, Version};
use crate::model::digest;
use crate::model::metadata::NO_METADATA;
use crate::model::submission::Scope;
use crate::model::team::Application;
use crate::model::write::Closing;
use crate::rules::charging;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The parts of the declaration that a submission covers, each with its digests before and after.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    /// The metadata of the team; none for a partial submission that keeps them.
    team: Option<[Hash; 2]>,
    /// The applications by name. An absent application has the digest of an empty one.
    applications: BTreeMap<String, [Hash; 2]>,
}

impl Covered {
    /// Returns the parts of the declaration that a submission covers.
    pub(super) fn by(draft: &Draft<'_>, stored: &Stored, request: &Request<'_>) -> Self {
        let is_whole = request.scope == Scope::Whole;
        let metadata = || [&stored.team.metadata, &draft.metadata].map(|metadata| Hash::of(metadata));
        let absent = digest::application(NO_METADATA, []);
        let mut applications = BTreeMap::new();
        let named = request.declaration.applications.iter().map(|declared| declared.name.as_str());
        applications.extend(named.map(|name| (name.to_owned(), [absent; 2])));
        let is_named = |application: &&Application| {
            is_whole
                || request.declaration.applications.iter().any(|declared| declared.name == application.name)
        };
        for before in stored.applications.iter().filter(is_named) {
            applications.insert(before.name.clone(), [before.digest; 2]);
        }
        for after in draft.applications.iter().map(|diff| &diff.after) {
            if let Some([_, digest]) = applications.get_mut(&after.name) {
                *digest = after.digest;
            }
        }
        let is_sent = request.declaration.metadata.is_some();
        Self { team: (is_whole || is_sent).then(metadata), applications }
    }

    fn content(&self) -> Value {
        let texts = |digests: &[Hash; 2]| digests.map(|digest| digest.to_string());
        let applications = self.applications.iter().map(|(name, digests)| json!([name, texts(digests)]));
        json!([self.team.as_ref().map(texts), applications.collect::<Vec<_>>()])
    }
}

impl Plan<'_> {
    /// Returns the plan token.
    ///
    /// The token leaves out the number of the submission, so a submission without changes leaves plans valid.
    pub(super) fn token(&self, created: &[Change], closed: &[Closing]) -> Hash {
        let (before, _) = &self.head;
        let scope = self.submission.scope == Scope::Whole;
        let mut created: Vec<String> = created.iter().map(|change| effect(change).to_string()).collect();
        // The ids determine the order of the change instances, and they are not assigned yet.
        created.sort_unstable();
        let closed = closed.iter().map(|closing| json!([closing.change.get(), closing.from.name()]));
        let content =
            json!([before.team.get(), scope, self.covered.content(), created, closed.collect::<Vec<_>>()]);
        Hash::of(&content.to_string())
    }
}

/// Returns the effect of a change instance: its request to the owner, and the open change instances that it closes.
fn effect(change: &Change) -> Value {
    let prices = charging::prices_of(change);
    let version = |version: Option<Version>| version.map(|of| json!([of.number, of.hash.to_string()]));
    json!([
        change.application,
        change.service.title,
        change.item_name,
        change.owner.id.get(),
        change.kind.name(),
        change.change_type.name(),
        change.state.name(),
        version(change.new),
        version(change.old),
        change.never_in_service,
        change.supersedes.iter().map(|id| id.get()).collect::<Vec<_>>(),
        prices.per_change.to_string(),
        prices.monthly.to_string(),
    ])
}
