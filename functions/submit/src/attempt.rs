//! One attempt of a submission or a preview: the loaded records, and the plan on them.

use crate::context::Context;
use crate::load::{self, Loaded, LoadedTeam};
use crate::messages;
use crate::planning::Planning;
use crate::refused;
use crate::submitted::Submitted;
use domain::base::problem::Problem;
use domain::model::declaration::Declaration;
use domain::model::team::Head;
use domain::rules::expand;
use domain::rules::expand::{Expanded, Previewed};
use domain::rules::plan;
use domain::rules::plan::{ItemRemoval, Plan, Refused, Removal, Request};
use dovetail_aws::off_worker;
use dovetail_http::{Code, Failure, Reply};
use dovetail_table::Table;

/// One attempt. Each attempt reads everything again, because any record of the last plan may have changed.
pub(crate) struct Attempt<'a> {
    submitted: &'a Submitted,
    /// The declaration with the additions of metadata, if there are any (R66).
    expanded: Option<Expanded>,
    pub(crate) loaded: Loaded,
}

impl<'a> Attempt<'a> {
    /// Loads items and services. A revert first computes its declaration.
    pub(crate) async fn load(
        context: &Context<'_>,
        submitted: &'a mut Submitted,
        team: LoadedTeam,
    ) -> Result<Planning<Self>, Failure> {
        if let Planning::Replan(why) = submitted.follow(context.table, &team).await? {
            return Ok(Planning::Replan(why));
        }
        // Conditions may take a good part of a second of CPU time.
        let expanded = off_worker(|| submitted.expanded(&team.stored))?;
        let declaration = expanded.as_ref().map_or(&submitted.declaration, |expanded| &expanded.declaration);
        let loaded = load::items(context, team, declaration, submitted.scope).await?;
        Ok(Planning::Ready(Self { submitted, expanded, loaded }))
    }

    /// Returns the declaration with the additions of metadata, with masks in place of secrets, with the stored texts of
    /// alike items, and with the old names of renamed items.
    fn declaration(&self) -> &Declaration {
        let expanded = self.expanded.as_ref();
        let declaration = expanded.map_or(&self.submitted.declaration, |expanded| &expanded.declaration);
        self.loaded.compared.as_ref().unwrap_or(declaration)
    }

    /// Returns the problems from before the plan: of the document, of the additions of metadata, and of secrets.
    fn unread(&self) -> Vec<Problem> {
        let Self { submitted, expanded, loaded } = self;
        let read = (&loaded.team.stored, &loaded.items);
        let exposed =
            expanded.iter().flat_map(|expanded| expanded.exposed(self.declaration(), read, &loaded.offers));
        let additions = expanded.iter().flat_map(|expanded| expanded.problems.iter().cloned()).chain(exposed);
        submitted.unread.iter().cloned().chain(additions).chain(loaded.unmasked.iter().cloned()).collect()
    }

    /// Plans the submission. With `is_confirmed`, the submission may remove whole applications (R57).
    pub(crate) async fn plan(
        &self,
        context: &Context<'_>,
        is_confirmed: bool,
    ) -> Result<Planning<Plan<'_>>, Failure> {
        let Self { submitted, loaded, .. } = self;
        let Context { table, call, .. } = context;
        let ctx = &call.ctx();
        let unread = self.unread();
        let request = Request {
            declaration: self.declaration(),
            unread: &unread,
            scope: submitted.scope,
            is_confirmed,
            commit_id: submitted.commit_id.clone(),
            message: submitted.message.clone(),
            ctx,
            idempotency: submitted.idempotency.clone(),
            metadata_policy: &loaded.team.metadata_policy,
            earlier: &loaded.earlier,
            elsewhere: &loaded.elsewhere,
            vacant: &loaded.vacant,
            reuse_from: table.reuse_from(),
        };
        // The check of items against their schemas may take a good part of a second of CPU time.
        match off_worker(|| plan::plan(&loaded.team.stored, &loaded.items, &loaded.offers, &request)) {
            Ok(plan) => Ok(Planning::Ready(plan)),
            Err(Refused::Torn) => Ok(Planning::Replan(Code::Contended)),
            Err(Refused::InFlight(_)) => Ok(Planning::Replan(Code::SubmissionInFlight)),
            Err(Refused::Invalid(problems)) if self.is_overtaken(table, &problems).await? => {
                Ok(Planning::Replan(Code::Contended))
            }
            Err(Refused::Invalid(problems)) => {
                let removals = if is_confirmed { Vec::new() } else { self.unconfirmed() };
                let failure = refused::invalid(table, call, problems, &removals).await;
                let declared = (self.declaration(), submitted.scope);
                Err(messages::add_to_rejected(context, loaded, declared, failure).await)
            }
            Err(Refused::OutOfNumbers) => Err(Code::OutOfNumbers.into()),
        }
    }

    /// Returns whether an item may look in use because its users are older than itself (R71).
    ///
    /// A submission of the team may have committed between the reads of both. Their digests do not cover the number of
    /// uses, so the plan does not notice. Only such a rejection needs the further read.
    async fn is_overtaken(&self, table: &Table, problems: &[Problem]) -> Result<bool, Failure> {
        if !problems.iter().any(|problem| problem.rule == plan::IN_USE) {
            return Ok(false);
        }
        let before = &self.loaded.team.stored.head;
        let head = table.head(before.team).await?;
        let state = |head: &Head| (head.submissions, head.in_flight);
        Ok(head.is_none_or(|head| state(&head) != state(before)))
    }

    /// Plans the submission, and rejects a plan that differs from the previewed one (R34).
    pub(crate) async fn plan_as_previewed(
        &self,
        context: &Context<'_>,
    ) -> Result<Planning<Plan<'_>>, Failure> {
        let call = context.call;
        // The token names every effect, so it confirms the removals too.
        let is_confirmed = self.submitted.allows_removal || call.if_match.is_some();
        let planned = self.plan(context, is_confirmed).await?;
        let Planning::Ready(plan) = planned else { return Ok(planned) };
        if call.if_match.is_none() {
            return Ok(Planning::Ready(plan));
        }
        // Pending work creates change instances that the submission may close, so the token is unreliable until then
        // (ADR 36).
        if self.loaded.team.has_pending_work {
            return Ok(Planning::Replan(Code::SubmissionInFlight));
        }
        match plan.preview(&self.loaded.items, &call.ctx()) {
            Ok(preview) if call.matches(&preview.plan.to_string()) => Ok(Planning::Ready(plan)),
            Ok(_) => Err(Code::PlanChanged.into()),
            // A consistent plan always has effects. If a plan has none, the next attempt reads the records again.
            Err(_) => Ok(Planning::Replan(Code::Contended)),
        }
    }

    /// Returns the removals for which `submit` requires a confirmation (R57).
    pub(crate) fn unconfirmed(&self) -> Vec<Removal> {
        let Self { submitted, loaded, .. } = self;
        if submitted.allows_removal {
            return Vec::new();
        }
        plan::unconfirmed(&loaded.team.stored, &loaded.items, self.declaration(), submitted.scope)
    }

    /// Returns the items whose removal or replacement `submit` requires to be confirmed (R62).
    pub(crate) fn unconfirmed_items<'p>(&self, plan: &'p Plan<'_>) -> &'p [ItemRemoval] {
        if self.allows_removal() { &[] } else { &plan.removed_items }
    }

    /// Returns whether the request itself confirms all removals.
    pub(crate) const fn allows_removal(&self) -> bool {
        self.submitted.allows_removal
    }

    /// Returns whether the request reverts to an earlier submission.
    pub(crate) const fn is_revert(&self) -> bool {
        self.submitted.is_revert()
    }

    /// Adds the messages of service owners to the reply of the accepted declaration.
    pub(crate) async fn with_messages(&self, context: &Context<'_>, reply: Reply) -> Result<Reply, Failure> {
        let Loaded { team, items, .. } = &self.loaded;
        messages::add_to_accepted(context, team, (Some(items), self.declaration()), reply).await
    }

    /// Returns the warnings about the additions of metadata (R66).
    pub(crate) fn warnings_of_metadata(&self) -> Vec<String> {
        let Self { submitted, expanded, loaded } = self;
        // A revert declares the stored texts and needs no additions.
        if submitted.is_revert() {
            return Vec::new();
        }
        expand::warnings(Previewed {
            written: &submitted.declaration,
            expanded: expanded.as_ref(),
            scope: submitted.scope,
            stored: &loaded.team.stored,
            items: &loaded.items,
        })
    }
}
