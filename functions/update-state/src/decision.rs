//! A decision on a change instance, from its request to its outcome: load, decide and commit, and start over if another
//! request was faster.

use crate::body;
use crate::definition_check::DefinitionCheck;
use crate::newest::newest_done;
use crate::refusal::{not_ready, refusal};
use crate::request::{Decision, Deploy, Outcome, Request};
use domain::ChangeId;
use domain::base::id::DeployedId;
use domain::model::change::ClosedBy;
use domain::rules::decide;
use domain::rules::decide::{Decided, Reads, Refused, Update};
use domain::views::related::Related;
use dovetail_aws::{off_worker, retry};
use dovetail_http::{Code, Failure, view};
use dovetail_table::{Commit, Error, Table, Undecided, Wanted};
use std::ops::ControlFlow;

/// The name of the field with the number of a claim, as a body spells it.
const CLAIM: &[u8] = b"\"claim\"";

impl Request<'_> {
    /// Loads, decides and commits, and starts over if another request was faster.
    pub(crate) async fn decide(&self) -> Result<Outcome, Failure> {
        // Each attempt passes on the deployed version that it wrote, because its answer may be lost
        // (docs/explanation/concurrency.md, lost answers).
        let ended = retry::until_stored_from(retry::WRITE, None, |number, attempted| {
            // An attempt holds several records, so its place is the heap.
            Box::pin(self.attempt(number, attempted))
        });
        match ended.await? {
            ControlFlow::Break(outcome) => Ok(outcome),
            // The last attempt may be stored as well, although its answer was lost.
            ControlFlow::Continue(attempted) => {
                let read = self.load(self.id).await?;
                Ok(self.stored_outcome(&read, attempted).await?.ok_or(Code::Contended)?)
            }
        }
    }

    /// Makes one attempt, unless an earlier attempt is stored. Returns the deployed version of the attempt if the
    /// attempt failed.
    async fn attempt(
        &self,
        number: u32,
        attempted: Option<DeployedId>,
    ) -> Result<ControlFlow<Outcome, Option<DeployedId>>, Failure> {
        let read = self.load(self.id).await?;
        if number > 0
            && let Some(stored) = self.stored_outcome(&read, attempted).await?
        {
            return Ok(ControlFlow::Break(stored));
        }
        let attempt = Attempt::of(self, read).await?;
        let Some(decided) = attempt.decide().await? else { return Ok(ControlFlow::Continue(attempted)) };
        let attempted = decided.deployed.as_ref().map(|deployed| deployed.id);
        let outcome = attempt.commit(decided).await?;
        Ok(outcome.map_or(ControlFlow::Continue(attempted), ControlFlow::Break))
    }

    /// Returns a change instance with its item, and for a retry the head; 404 unless the caller's team is a party.
    async fn load(&self, id: ChangeId) -> Result<Undecided, Failure> {
        // The name anywhere in the body is reason enough for the read, because the body is parsed only after it.
        let may_name_claim = || self.call.body.windows(CLAIM.len()).any(|window| window == CLAIM);
        let wanted = Wanted {
            head: matches!(self.decision, Decision::Retry),
            claim: matches!(self.decision, Decision::InBody) && may_name_claim(),
        };
        let read = self.table.undecided(id, self.call.caller.team.id, wanted).await?;
        Ok(read.ok_or(Code::NotFound)?)
    }

    /// Returns the outcome of an earlier attempt with the same request id; for a retry, the new change instance.
    async fn stored_outcome(
        &self,
        Undecided { change, item, .. }: &Undecided,
        attempted: Option<DeployedId>,
    ) -> Result<Option<Outcome>, Failure> {
        let request = &self.call.request;
        let deployed = match attempted {
            Some(id) => self.table.deployed(id).await?,
            None => None,
        };
        // Another request may have stored its deployed item under the attempted number.
        let deployed = deployed.filter(|deployed| deployed.request == *request);
        if deployed.is_none() && !change.has_entry_of(request) {
            return Ok(None);
        }
        let retried = change.history.iter().find_map(|entry| match entry.closed_by {
            Some(ClosedBy::Retried(by)) if entry.request == *request => Some(by),
            _ => None,
        });
        let change = match retried {
            Some(by) => self.table.change(by).await?.ok_or(Code::Broken)?,
            None => change.clone(),
        };
        let decided = Decided { change, item: item.clone(), writes: Vec::new(), deployed };
        let related = self.related(&decided).await?;
        Ok(Some(Outcome { decided, related }))
    }

    /// Returns the update; none for a retry.
    fn update(&self) -> Result<Option<Update>, Failure> {
        match &self.decision {
            Decision::InBody => body::update(self.call.fields()?).map(Some),
            Decision::Deploy(Deploy { data, patch }) => Ok(Some(Update {
                deployed_item: Some(data.clone()),
                patch: patch.clone(),
                ..Update::default()
            })),
            Decision::Retry => Ok(None),
        }
    }

    /// Reads the other content of the reply. A deployed item by itself has no other content.
    async fn related(&self, decided: &Decided) -> Result<Related, Error> {
        match self.decision {
            Decision::InBody | Decision::Retry => self.table.related_to_decided(decided).await,
            Decision::Deploy(_) => Ok(Related::default()),
        }
    }

    /// Returns the newest completed change instance in place of an older one, for a deployed item by itself (R54).
    async fn follow_newest(&self, read: Undecided, update: &Update) -> Result<Undecided, Failure> {
        if !decide::may_be_overtaken(&read.change, &read.item, update) {
            return Ok(read);
        }
        let newest = newest_done(self.table, &read.item).await?;
        let Some(newest) = newest.filter(|newest| *newest != read.change.id) else { return Ok(read) };
        if let Decision::Deploy(_) = self.decision {
            return self.load(newest).await;
        }
        // The response is about the change instance in the path. A change instance in progress has a refusal of its
        // own.
        let is_in_progress = read.item.main().slot(newest).is_some();
        if is_in_progress {
            return Ok(read);
        }
        Err(refusal(self.call, &Refused::DeployedItemNotLatest, &read))
    }
}

/// One attempt of a decision: the records that were read, and the parsed request.
struct Attempt<'a> {
    request: &'a Request<'a>,
    read: Undecided,
    /// The update in the request; none for a retry.
    update: Option<Update>,
    /// The definition that checks the decision; none if the decision needs no check.
    check: Option<DefinitionCheck>,
}

impl<'a> Attempt<'a> {
    /// Reads the further records that the decision depends on.
    async fn of(request: &'a Request<'a>, read: Undecided) -> Result<Self, Failure> {
        // A deployed item by itself names no state that the caller has seen.
        let is_conditional = !matches!(request.decision, Decision::Deploy(_));
        if is_conditional && !request.call.matches(&view::change_tag(&read.change, Some(&read.item))) {
            return Err(Code::ChangedMeanwhile.into());
        }
        let Some(update) = request.update()? else {
            return Ok(Self { request, read, update: None, check: None });
        };
        let read = request.follow_newest(read, &update).await?;
        let check = DefinitionCheck::of(request, &read, &update).await?;
        Ok(Self { request, read, update: Some(update), check })
    }

    /// Decides on the records that were read. Returns `None` if change instance and item come from different moments.
    ///
    /// The head and the service are read only if the decision depends on them.
    async fn decide(&self) -> Result<Option<Decided>, Failure> {
        let Undecided { change, item, head, claim } = &self.read;
        let Request { table, call, .. } = self.request;
        let (caller, ctx) = (&call.caller.team, call.ctx());
        let Some(update) = &self.update else {
            let head = head.as_ref().ok_or(Code::Broken)?;
            return self.unless_torn(decide::retry(change, item, head, caller, &ctx));
        };
        // Most deployed items use the numbers next to their change instance (ADR 1), so they do not need the head.
        let forms = self.check.as_ref().map(DefinitionCheck::forms);
        let head = if decide::takes_numbers(change, item, update, forms) {
            Some(table.head(change.consumer.id).await?.ok_or(Code::Broken)?)
        } else {
            None
        };
        // Only approvals and completions of people depend on the settings (R32).
        let service = if decide::depends_on_service(change, update, &ctx) {
            Some(table.service(&change.service.title).await?.ok_or(Code::Broken)?)
        } else {
            None
        };
        let awaits = service.as_ref().is_some_and(|service| service.settings.require_ready)
            && decide::depends_on_waits(change, update);
        let awaited = if awaits { Some(table.awaited([change]).await?) } else { None };
        // Without a claim in the body, only a refusal shows it.
        let is_missing = claim.is_none() && decide::depends_on_claim(change, update, &ctx);
        let claim = if is_missing { Some(table.claim(change.item, caller.id).await?) } else { claim.clone() };
        let check = self.check.as_ref().map(|check| check.check(&self.read, update));
        let reads = Reads {
            head: head.as_ref(),
            service: service.as_ref(),
            check,
            claim: claim.as_ref(),
            awaited: awaited.as_ref(),
        };
        // The definition checks the decision, which takes milliseconds of CPU time.
        let decided = off_worker(|| decide::update(change, item, &reads, update, caller, &ctx));
        if let Err(Refused::NotReady(left)) = &decided {
            return Err(not_ready(call, change, left, &awaited.unwrap_or_default()));
        }
        self.unless_torn(decided)
    }

    /// Returns a decision, or the reply to a refused decision; none if the records do not match
    /// (docs/explanation/concurrency.md, torn reads).
    fn unless_torn(&self, decided: Result<Decided, Refused>) -> Result<Option<Decided>, Failure> {
        match decided {
            Ok(decided) => Ok(Some(decided)),
            Err(Refused::Torn) => Ok(None),
            Err(refused) => Err(refusal(self.request.call, &refused, &self.read)),
        }
    }

    /// Commits a decision; none if another request was faster.
    ///
    /// The other content of the reply is read concurrently with the write, unless the check has read it already.
    async fn commit(self, decided: Decided) -> Result<Option<Outcome>, Failure> {
        let known = self.check.and_then(|check| check.into_related(&decided));
        let (commit, related) = match known {
            Some(known) => (commit(self.request.table, &decided).await, Ok(known)),
            None => tokio::join!(commit(self.request.table, &decided), self.request.related(&decided)),
        };
        if commit? != Commit::Done {
            return Ok(None);
        }
        let related = match related {
            Ok(related) => related,
            // The decision is stored, so a failed read of the other content must not become an error.
            Err(_) => self.request.related(&decided).await?,
        };
        Ok(Some(Outcome { decided, related }))
    }
}

/// Commits a decision; a decision without writes needs no transaction.
async fn commit(table: &Table, decided: &Decided) -> Result<Commit, Error> {
    if decided.writes.is_empty() { Ok(Commit::Done) } else { table.commit(&decided.writes).await }
}
