//! What a decision wants written: one list is one transaction, all or nothing, under the fences named here.

use crate::attention::Attention;
use crate::change::{Change, Entry, Mark};
use crate::charge::Charge;
use crate::deployed::Deployed;
use crate::id::{ChangeId, ChargeId, ItemId, SubmissionId, TeamId};
use crate::item::Item;
use crate::json::Hash;
use crate::staging::{Staging, StagingId, StagingState};
use crate::state::State;
use crate::submission::{Remembered, Submission};
use crate::team::{Application, Head, Team};
use crate::timestamp::Timestamp;
use crate::work::{Share, Work, WorkId};

/// An open change instance that the stack rules close without having read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The change instance.
    pub change: ChangeId,
    /// The item it is open on.
    pub item: ItemId,
    /// The team that owns it.
    pub owner: TeamId,
    /// When it was born.
    pub created: Timestamp,
    /// The state it is closed from.
    pub from: State,
    /// The end of its history as the item knew it: the fence.
    pub mark: Mark,
    /// The entry that closes it.
    pub entry: Entry,
}

/// One record to write, with the condition that the storage checks at the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Advance the team's head; fails when another submission or an owner's decision has moved it.
    Head {
        /// The head that the decision was made on.
        before: Head,
        /// The head after.
        after: Head,
    },
    /// Add to the head's attention, whatever else moves it.
    Attention {
        /// The consumer team.
        team: TeamId,
        /// What more, or less, waits.
        delta: Attention,
    },
    /// Replace what is known of the team; the head in the same transaction is its fence.
    Team(Team),
    /// Create an application, or replace one whose digest and next number are still those of `before`.
    Application {
        /// The application that the decision was made on; none for a new one.
        before: Option<Application>,
        /// The application after.
        after: Application,
    },
    /// Create an item, or replace one whose revision is still `before`.
    Item {
        /// The revision that the decision was made on; none for a new item.
        before: Option<u64>,
        /// The item after.
        after: Item,
    },
    /// Write nothing; fails when the item's revision is no longer this.
    ItemStays {
        /// The item.
        item: ItemId,
        /// The revision that the decision was made on.
        revision: u64,
    },
    /// Write nothing; fails when the service's revision is no longer this.
    ServiceStays {
        /// The service's title.
        title: String,
        /// The revision that the decision was made on.
        revision: u64,
    },
    /// Create a change instance; fails when its key is taken.
    Born(Change),
    /// Replace a change instance whose history still ends at `before`.
    Moved {
        /// The end of the history that the decision was made on.
        before: Mark,
        /// The state that the decision was made on.
        from: State,
        /// The change instance after.
        after: Change,
    },
    /// Close an open change instance by the stack rules.
    Closed(Closing),
    /// Create a deployed item version; fails when its key is taken.
    Deployed(Deployed),
    /// Create a charge; fails when its key is taken.
    Charged(Charge),
    /// End a charge that runs.
    ChargeEnded {
        /// The charge.
        charge: ChargeId,
        /// Its end.
        end: Timestamp,
    },
    /// Replace a charge that is not processed by one that is.
    ChargeProcessed {
        /// The end that the decision was made on; none of one that ran.
        end: Option<Timestamp>,
        /// The charge after.
        after: Charge,
    },
    /// Record a submission; fails when its key is taken.
    Submission(Submission),
    /// Remember an idempotency key, unless it is remembered and not expired.
    Remember {
        /// The team that the key belongs to.
        team: TeamId,
        /// What is remembered.
        remembered: Remembered,
        /// Keys that expired before this time count as forgotten.
        now: Timestamp,
    },
    /// Leave work to generate from.
    Work(Work),
    /// Remove work that is carried out; fails when it is gone.
    WorkDone(WorkId),
    /// Tell how far a submission has come; fails when the count of its work records is no longer `work_left`.
    Progress {
        /// How many work records were left.
        work_left: u64,
        /// The submission after.
        after: Submission,
    },
    /// Free the team's head: all items of the submission that held it are what it declares.
    Landed(SubmissionId),
    /// Begin a staging; fails when its key is taken.
    Staging(Staging),
    /// Move a staging on; fails when it is in another state.
    StagingMoved {
        /// The team.
        team: TeamId,
        /// The staging.
        staging: StagingId,
        /// The state that it is moved from.
        from: StagingState,
        /// The state that it is moved to.
        to: StagingState,
    },
    /// Write nothing; fails when a staging is not in this state.
    StagingStays {
        /// The team.
        team: TeamId,
        /// The staging.
        staging: StagingId,
        /// The state that it is to be in.
        state: StagingState,
    },
    /// Remove a staging of which nothing is left.
    StagingDone {
        /// The team.
        team: TeamId,
        /// The staging.
        staging: StagingId,
    },
    /// Store a declaration under its hash, wherever it is stored already.
    Declaration {
        /// The team.
        team: TeamId,
        /// The hash.
        hash: Hash,
        /// Canonical JSON.
        text: String,
    },
    /// Note that a dependent team has a share in an item; fails when it is noted.
    Share(Share),
    /// Remove a share of which the item knows nothing; fails when it is gone.
    ShareGone {
        /// The item.
        item: ItemId,
        /// The dependent team.
        owner: TeamId,
    },
}
