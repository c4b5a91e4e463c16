//! The writes of a decision: one list is one transaction, under the fences that the variants describe.

use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId, ChargeId, ItemId, SubmissionId, TeamId};
use crate::base::state::State;
use crate::base::timestamp::Timestamp;
use crate::model::blockers::Blockers;
use crate::model::change::{ChainHead, Change, Entry};
use crate::model::charge::Charge;
use crate::model::deployed::Deployed;
use crate::model::item::Item;
use crate::model::staging::{Staging, StagingId, StagingState};
use crate::model::submission::{IdempotencyRecord, Submission};
use crate::model::team::{Application, Head, Team};
use crate::model::work::{Share, Work, WorkId};

/// The closing of an open change instance by the stack rules, without a read of the change instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    pub change: ChangeId,
    pub item: ItemId,
    pub owner: TeamId,
    /// Creation time; part of the key in the owner's queue.
    pub created: Timestamp,
    /// The state before the closing.
    pub from: State,
    /// The end of its history as the item knew it: the fence.
    pub chain_head: ChainHead,
    /// The new history entry.
    pub entry: Entry,
}

/// A declared item that refers to an item of another application or team (R71).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The referenced item.
    pub target: ItemId,
    /// The item with the reference.
    pub user: ItemId,
}

/// One record to write, with the condition that the storage checks at the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Advances the team's head; fails if another submission or an owner's decision has moved it.
    AdvanceHead {
        /// The head as it was read.
        before: Head,
        /// The new head.
        after: Head,
    },
    /// Adds to the blockers in the head, without a condition.
    AddBlockers {
        /// The consumer team.
        team: TeamId,
        /// The difference of the item's blockers.
        delta: Blockers,
    },
    /// Replaces the team's metadata, and no setting; the head in the same transaction is its fence.
    ReplaceTeam(Team),
    /// Creates an application or its retired record, or replaces one with the digest, the next number and the number
    /// of drifted items of `before`, and with its number of uses.
    PutApplication {
        /// The application as it was read, or the one whose number the new one takes (R45); none for a new record.
        before: Option<Application>,
        /// The new application.
        after: Application,
    },
    /// Adds to the numbers of an application, without a condition.
    AddToApplication {
        application: ApplicationId,
        /// 1 or -1 for each item that begins or ends to drift (R54).
        drifted: i64,
        /// The references to its items from other applications and teams that begin (R71).
        uses: u64,
    },
    /// Adds to the number of uses of a live item, and advances its revision (R71). If uses begin, the item must be
    /// declared, unless it belongs to the submitting team, whose head is the fence then.
    AddUses {
        item: ItemId,
        /// The submitting team.
        user: TeamId,
        begun: u64,
        ended: u64,
    },
    /// Checks that no submission of a team is in flight, and writes nothing (R71).
    CheckNotInFlight { team: TeamId },
    /// Records that an item uses another one; an existing record stays.
    PutUse(Use),
    /// Removes such a record, whether or not it exists.
    DeleteUse(Use),
    /// Creates an item, live or gone, or replaces one with the revision `before`.
    PutItem {
        /// The revision as it was read; none for a new item.
        before: Option<u64>,
        /// The new item.
        after: Item,
    },
    /// Removes the live record of an item that moves to the gone items; fails if its revision has changed.
    DeleteItem {
        item: ItemId,
        /// The revision as it was read.
        revision: u64,
    },
    /// Checks the item's revision and writes nothing.
    CheckItem {
        item: ItemId,
        /// Whether the item was read in the partition of gone items.
        is_gone: bool,
        /// The revision as it was read.
        revision: u64,
    },
    /// Checks that an item is in the partition of gone items, and writes nothing.
    CheckGone { item: ItemId },
    /// Checks the service's revision and writes nothing.
    CheckService {
        title: String,
        /// The revision as it was read.
        revision: u64,
    },
    /// Checks that the newest number of a claim is this one, and writes nothing (R64).
    CheckClaim {
        item: ItemId,
        owner: TeamId,
        /// The number in the request.
        number: u64,
    },
    /// Checks that work was never claimed, and writes nothing (R63).
    CheckUnclaimed { item: ItemId, owner: TeamId },
    /// Ends the lease of a claim whose newest number is this one.
    ReleaseClaim {
        item: ItemId,
        owner: TeamId,
        /// The number in the request.
        number: u64,
    },
    /// Creates a change instance; fails if its key exists.
    CreateChange(Change),
    /// Replaces a change instance whose history still ends at `before`.
    UpdateChange {
        /// The end of the history as it was read.
        before: ChainHead,
        /// The state as it was read.
        from: State,
        /// The new change instance.
        after: Change,
    },
    /// Closes an open change instance by the stack rules.
    CloseChange(Closing),
    /// Creates a deployed item version; fails if its key exists.
    CreateDeployed(Deployed),
    /// Creates a charge; fails if its key exists.
    CreateCharge(Charge),
    /// Ends a running charge.
    EndCharge {
        /// The running charge.
        charge: ChargeId,
        end: Timestamp,
    },
    /// Replaces an unprocessed charge by a processed one.
    ProcessCharge {
        /// The end as it was read; none for a running charge.
        end: Option<Timestamp>,
        /// The new charge.
        after: Charge,
    },
    /// Records a submission; fails if its key exists.
    RecordSubmission(Submission),
    /// Stores an idempotency key; fails if it is stored and not expired.
    StoreIdempotencyKey {
        /// The team of the key.
        team: TeamId,
        /// The key, the fingerprint of the request and the submission.
        remembered: IdempotencyRecord,
        /// The current time; keys that expired before it do not count.
        now: Timestamp,
    },
    /// Creates a work record: change instances that are still to be generated.
    CreateWork(Work),
    /// Removes a finished work record; fails if it is gone.
    DeleteWork(WorkId),
    /// Updates the progress of a submission; fails if its number of unfinished work records is not `work_left` any
    /// more.
    UpdateProgress {
        /// The number of work records as it was read.
        work_left: u64,
        /// The new submission record.
        after: Submission,
    },
    /// Frees the team's head after the last item of the submission is applied.
    FreeHead(SubmissionId),
    /// Starts a staging; fails if its key exists.
    StartStaging(Staging),
    /// Changes the state of a staging; fails if it is in another state.
    UpdateStaging {
        team: TeamId,
        staging: StagingId,
        /// The state as it was read.
        from: StagingState,
        /// The new state.
        to: StagingState,
    },
    /// Checks the state of a staging and writes nothing.
    CheckStaging {
        team: TeamId,
        staging: StagingId,
        /// The expected state.
        state: StagingState,
    },
    /// Removes an empty staging.
    DeleteStaging {
        /// The consumer team.
        team: TeamId,
        staging: StagingId,
    },
    /// Stores a declaration under its hash, whether or not it exists already.
    StoreDeclaration {
        team: TeamId,
        hash: Hash,
        /// The declaration as canonical JSON.
        text: String,
    },
    /// Records a dependent team's share in an item; fails if it exists.
    CreateShare(Share),
    /// Removes a share without an owner's stack on the item; fails if it is gone.
    DeleteShare {
        /// The service item.
        item: ItemId,
        owner: TeamId,
    },
}
