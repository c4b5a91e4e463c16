//! Change instances: one requested change of one service item for one owner, with its history.

use crate::base::actor::Actor;
use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId, DeployedId, ItemId, SubmissionId, TeamId};
use crate::base::money::Prices;
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::state::{ChangeType, Kind, RuntimeState, State};
use crate::base::timestamp::Timestamp;
use crate::model::wait::Wait;
use sha2::{Digest, Sha256};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The goal of a change: a declaration by its hash, or the removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Declared(Hash),
    Removed,
}

impl Target {
    /// Returns the goal for a declaration, or the removal for none.
    pub fn of(declared: Option<Hash>) -> Self {
        declared.map_or(Self::Removed, Self::Declared)
    }

    /// Returns the hash of the declaration; none for a removal.
    pub const fn hash(self) -> Option<Hash> {
        match self {
            Self::Declared(hash) => Some(hash),
            Self::Removed => None,
        }
    }
}

/// A version of an item's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The number of the declaration, from 1 per item.
    pub number: u64,
    /// The hash of the canonical form.
    pub hash: Hash,
}

/// The rule that closed a change instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// A newer change instance entered the stage (Examples 1 and 2).
    Displaced(ChangeId),
    /// The consumer answered the rejection or error with another declaration (Example 3).
    Answered(ChangeId),
    /// A later submission had changed the item before this change was generated (R25).
    Overtaken,
    /// An unanswered rejection or error blocked it (R24).
    Blocked,
    /// The owner retries with a new attempt (R13).
    Retried(ChangeId),
}

impl ClosedBy {
    /// Returns the sentence in the history.
    pub fn describe(self) -> String {
        match self {
            // The hash chain of a history covers these sentences, so they must never change (I3).
            Self::Displaced(by) => format!("displaced by change instance {by}"),
            Self::Answered(by) => format!("answered by change instance {by}"),
            Self::Overtaken => "overtaken by a later submission".to_owned(),
            Self::Blocked => "blocked by a rejection or error that is not answered".to_owned(),
            Self::Retried(by) => format!("retried as change instance {by}"),
        }
    }
}

/// The subject of a history entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Reason {
    /// A transition to another state.
    State,
    /// A new log text or plan in the same state.
    Log,
}

crate::named!(Reason);

/// The hash chain of a history: 16 bytes over all entries so far.
#[derive(Clone, Copy, derive_more::Debug, PartialEq, Eq, PartialOrd, Ord)]
#[debug("{:032x}", u128::from_be_bytes(self.0))]
pub struct Chain(pub [u8; 16]);

impl Chain {
    /// The value before the first entry.
    pub const START: Self = Self([0; 16]);
}

/// One entry in the history of a change instance; the history only grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The state before; none at the creation.
    pub from: Option<State>,
    /// The state after; equal to `from` for a log entry.
    pub to: State,
    /// The time of the write; never before that of the previous entry, whatever the clock says.
    pub at: Timestamp,
    pub by: Actor,
    /// The id of the request; a retry finds its own write by it.
    pub request: String,
    pub reason: Reason,
    /// The rule that closed the change instance, if a rule did.
    pub closed_by: Option<ClosedBy>,
    /// The new log text, if it changed.
    pub log: Option<String>,
    /// The hash of the owner's new plan, if it changed (R52).
    pub planned: Option<Hash>,
    /// The type after this entry; the Exception turns a MODIFY into a CREATE.
    pub change_type: ChangeType,
    /// The hash chain including this entry.
    pub chain: Chain,
}

/// The note of a change instance that was created in COMPLETED.
const NOTHING_TO_DO: &str = "nothing to do";

impl Entry {
    /// Returns the sentence about an entry that no owner has made.
    pub fn note(&self) -> Option<String> {
        let is_unneeded = (self.from, self.to) == (None, State::Completed);
        let unneeded = is_unneeded.then(|| NOTHING_TO_DO.to_owned());
        self.closed_by.map(ClosedBy::describe).or(unneeded)
    }

    /// Completes the entry with its link to all entries before.
    pub fn chained(mut self, previous: Chain) -> Self {
        self.chain = self.link(previous);
        self
    }

    /// Returns the link of this entry after the link `previous`.
    pub fn link(&self, previous: Chain) -> Chain {
        let mut hash = Sha256::new();
        hash.update(previous.0);
        // The chain hashes these texts, so their wording is a stored format: another wording would break existing
        // chains (I3).
        let by = self.by.changed_by();
        let team = self.by.team().map(|team| team.id.to_string());
        let closed = self.closed_by.map(ClosedBy::describe);
        let at = self.at.micros().to_string();
        let fields = [
            Some(self.from.map_or("", State::name)),
            Some(self.to.name()),
            Some(at.as_str()),
            Some(by.as_str()),
            team.as_deref(),
            Some(self.request.as_str()),
            Some(self.reason.name()),
            closed.as_deref(),
            self.log.as_deref(),
            Some(self.change_type.name()),
        ];
        // Each field carries its length, and an absent field has none, so no two entries hash the same bytes.
        for field in fields {
            match field {
                Some(text) => {
                    hash.update([1]);
                    hash.update(text.len().to_be_bytes());
                    hash.update(text);
                }
                None => hash.update([0]),
            }
        }
        // Entries without a plan keep the links from before this field.
        if let Some(planned) = self.planned {
            hash.update([2]);
            hash.update(planned.to_string());
        }
        let mut chain = [0; 16];
        chain.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        Chain(chain)
    }
}

/// The end of a history: the base of the next entry, and the condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainHead {
    /// The number of entries.
    pub entries: u64,
    /// The time of the last entry.
    pub at: Timestamp,
    /// The link of the last entry.
    pub chain: Chain,
}

/// A change instance.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
pub struct Change {
    pub id: ChangeId,
    pub item: ItemId,
    pub item_name: String,
    pub application: String,
    /// The generation of the application with this number (R45).
    pub generation: u64,
    pub service: ServiceRef,
    /// The team that decides on it and carries it out.
    pub owner: TeamRef,
    /// The team of the service.
    pub service_owner: TeamRef,
    /// The team of the declaration.
    pub consumer: TeamRef,
    pub kind: Kind,
    /// The change instance of which this one is a share or a retry.
    pub cause: Option<ChangeId>,
    /// The change instances of the modified items that a REFERENCED one and its retries follow, by id (R73).
    pub causes: Vec<ChangeId>,
    /// The first attempt, or the first half before it; itself if there is none.
    pub origin: ChangeId,
    /// What has to happen before, as known at the submission (R74).
    pub waits: Vec<Wait>,
    /// The number of items of its submission that wait for it, at most 100 (R74).
    pub unblocks: usize,
    pub change_type: ChangeType,
    pub state: State,
    /// The submission that caused it; the submission's number orders all changes of the consumer.
    pub submission: SubmissionId,
    /// The commit named by the consumer in the submission.
    pub commit_id: Option<String>,
    /// The consumer's message about the submission, copied for the history.
    #[debug("[hidden]")]
    pub message: Option<String>,
    /// Number of the owner's attempt, from 1.
    pub attempt: u64,
    /// The declaration after the change; none for a removal.
    pub new: Option<Version>,
    /// The declaration before the change as created; none for a first declaration.
    pub old: Option<Version>,
    /// The version of the definition that checks decisions on the change instance; none if its words have no meaning
    /// (R49).
    pub schema_version: Option<u64>,
    /// The open change instances that it displaced; their owner may have started them already.
    pub supersedes: Vec<ChangeId>,
    /// The number of displaced change instances at the creation.
    pub superseded_at_creation: usize,
    /// Whether it is a DELETE of an item of which no owner has anything in place (R5).
    pub never_in_service: bool,
    /// Whether it asked at its creation for what its owner had in place (R63).
    pub unneeded: bool,
    /// Whether an API key needs a claim to end the work, by the service's setting at the submission (R64).
    pub claim_required: bool,
    /// The runtime state of the item after the creation of this change instance.
    pub runtime_state: RuntimeState,
    /// The newest deployed version of the item at the creation.
    pub deployed_before: Option<DeployedId>,
    /// The owner's message on the current state.
    pub log: String,
    /// The fees in the service definition at the submission: for this change, and per month for the item (R38,
    /// R39).
    pub prices: Prices,
    /// Creation time (R30).
    pub created: Timestamp,
    /// All entries, oldest first.
    pub history: Vec<Entry>,
}

impl ChainHead {
    /// The end of an empty history.
    pub const START: Self = Self { entries: 0, at: Timestamp::from_micros(0), chain: Chain::START };
}

impl Change {
    /// Returns the application of the item.
    pub const fn application_id(&self) -> ApplicationId {
        self.item.application(self.generation)
    }

    /// Returns the change instance that caused this one: that of the share, the attempt before, or the first one of the
    /// modified items.
    pub fn first_cause(&self) -> Option<ChangeId> {
        self.cause.or_else(|| self.causes.first().copied())
    }

    /// Returns the goal of the change, for the stack rules.
    pub fn target(&self) -> Target {
        Target::of(self.new.map(|version| version.hash))
    }

    /// Returns what exists after the change: the removal after every DELETE, also after one that replaces the item.
    pub fn leaves(&self) -> Target {
        Target::of(self.result().map(|version| version.hash))
    }

    /// Returns the declaration that exists after the change; none after a DELETE.
    pub fn result(&self) -> Option<Version> {
        self.new.filter(|_| self.change_type != ChangeType::Delete)
    }

    /// Returns whether it removes an item in order to create it again (R60).
    pub fn is_first_half(&self) -> bool {
        self.change_type == ChangeType::Delete && self.new.is_some()
    }

    /// Returns the declaration before the change; none for a first declaration, and for a first half that became a
    /// CREATE.
    pub fn former(&self) -> Option<Version> {
        let was_delete = self.history.first().is_some_and(|first| first.change_type == ChangeType::Delete);
        self.old.filter(|_| !was_delete || self.change_type == ChangeType::Delete)
    }

    /// Returns whether it is a dependent team's share.
    pub fn is_dependant(&self) -> bool {
        self.owner.id != self.service_owner.id
    }

    /// Returns the change instance that answered this one's rejection or error, if one did (Example 3).
    pub fn answered_by(&self) -> Option<ChangeId> {
        let answered = |entry: &Entry| {
            if let Some(ClosedBy::Answered(by)) = entry.closed_by { Some(by) } else { None }
        };
        self.history.iter().find_map(answered)
    }

    /// Returns the teams with access to the change instance; all others get 404.
    pub const fn parties(&self) -> [TeamId; 3] {
        [self.owner.id, self.service_owner.id, self.consumer.id]
    }

    /// Returns the hash of the owner's newest plan (R52).
    pub fn planned(&self) -> Option<Hash> {
        self.history.iter().rev().find_map(|entry| entry.planned)
    }

    /// Returns the end of the history.
    pub fn chain_head(&self) -> ChainHead {
        let last = self.history.last();
        ChainHead {
            entries: self.history.iter().fold(0, |count, _| count + 1),
            at: last.map_or(self.created, |entry| entry.at),
            chain: last.map_or(Chain::START, |entry| entry.chain),
        }
    }

    /// Returns the time of the last entry (R30).
    pub fn modified(&self) -> Timestamp {
        self.chain_head().at
    }

    /// Returns the time at which it entered its state. A log text leaves the state unchanged.
    pub fn entered(&self) -> Timestamp {
        let entry = self.history.iter().rev().find(|entry| entry.from != Some(entry.to));
        entry.map_or(self.created, |entry| entry.at)
    }

    /// Returns whether `request` has written an entry (docs/explanation/concurrency.md, lost answers).
    pub fn has_entry_of(&self, request: &str) -> bool {
        self.history.iter().any(|entry| entry.request == request)
    }

    /// Returns the change instance as created: every response to the submission shows this form.
    pub fn as_created(&self) -> Self {
        let mut created = self.clone();
        created.history.truncate(1);
        created.supersedes.truncate(self.superseded_at_creation);
        created.log = String::new();
        if let Some(first) = self.history.first() {
            created.state = first.to;
            created.change_type = first.change_type;
        }
        created
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(log: Option<&str>) -> Entry {
        Entry {
            from: None,
            to: State::Pending,
            at: Timestamp::from_micros(7),
            by: Actor::System,
            request: "r1".to_owned(),
            reason: Reason::State,
            closed_by: None,
            log: log.map(str::to_owned),
            planned: None,
            change_type: ChangeType::Create,
            chain: Chain::START,
        }
    }

    #[test]
    fn a_link_depends_on_every_entry_before_and_on_each_field() {
        let first = entry(None).chained(Chain::START);
        assert_eq!(first.chain, first.link(Chain::START));
        assert_ne!(first.chain, entry(Some("")).link(Chain::START), "an empty log is not an absent one");
        assert_ne!(first.chain, entry(None).link(first.chain));
        let mut moved = entry(None);
        moved.at = Timestamp::from_micros(8);
        assert_ne!(first.chain, moved.link(Chain::START));
        let planned = |text| Entry { planned: Some(Hash::of(text)), ..entry(None) }.link(Chain::START);
        assert!(planned("{}") != first.chain && planned("{}") != planned("1"));
    }
}
