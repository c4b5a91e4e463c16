//! A change instance: one requested change to one service item, for one team to carry out, and its history.

use crate::actor::{Actor, TeamRef};
use crate::charge::Prices;
use crate::id::{ChangeId, DeployedId, ItemId, SubmissionId, TeamId};
use crate::item::RuntimeState;
use crate::json::Hash;
use crate::service::ServiceRef;
use crate::state::State;
use crate::timestamp::Timestamp;
use sha2::{Digest, Sha256};
use std::fmt;

/// What is to be done with the service item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeType {
    /// A new service item.
    Create,
    /// A change to an existing one.
    Modify,
    /// Its removal.
    Delete,
}

impl ChangeType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Create, Self::Modify, Self::Delete];

    /// The one name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Modify => "MODIFY",
            Self::Delete => "DELETE",
        }
    }

    /// Reads a type's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

/// Why the change instance exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The consumer changed this item's declaration.
    Direct,
    /// A dependent team's share of another change instance.
    Dependent,
    /// An item that this one references was modified.
    Referenced,
    /// The owner tries a rejected or failed one again (R13).
    Retry,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Direct, Self::Dependent, Self::Referenced, Self::Retry];

    /// The one name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "DIRECT",
            Self::Dependent => "DEPENDENT",
            Self::Referenced => "REFERENCED",
            Self::Retry => "RETRY",
        }
    }

    /// Reads a kind's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What the item shall become: a declaration, by its hash, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The item as declared.
    Declared(Hash),
    /// The item is gone.
    Removed,
}

impl Target {
    /// What an item with this declaration, or none, shall become.
    pub fn of(declared: Option<Hash>) -> Self {
        declared.map_or(Self::Removed, Self::Declared)
    }

    /// The declaration's hash, unless the item shall be gone.
    pub const fn hash(self) -> Option<Hash> {
        match self {
            Self::Declared(hash) => Some(hash),
            Self::Removed => None,
        }
    }
}

/// A declaration of an item, by its version (counted from 1 per item) and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Counts the item's declarations from 1.
    pub number: u64,
    /// The hash of the declaration's canonical form.
    pub hash: Hash,
}

/// Why the stack rules, or generation, closed a change instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// A newer one entered its stage (Examples 1 and 2).
    Displaced(ChangeId),
    /// The consumer answered the rejection or error by changing the declaration (Example 3).
    Answered(ChangeId),
    /// A later submission's change had already landed when it was generated (R25).
    Overtaken,
    /// It met a rejection or error that the consumer still has to answer (R24).
    Blocked,
    /// The owner tries again with a new attempt (R13).
    Retried(ChangeId),
}

impl ClosedBy {
    /// The sentence that the history shows.
    pub fn describe(self) -> String {
        match self {
            Self::Displaced(by) => format!("displaced by change instance {by}"),
            Self::Answered(by) => format!("answered by change instance {by}"),
            Self::Overtaken => "overtaken by a later submission".to_owned(),
            Self::Blocked => "blocked by a rejection or error that is not answered".to_owned(),
            Self::Retried(by) => format!("retried as change instance {by}"),
        }
    }
}

/// What a history entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A move to another state.
    State,
    /// A new log text in the same state.
    Log,
}

/// The link of a history's hash chain: 16 bytes over all entries so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chain(pub [u8; 16]);

impl Chain {
    /// What the first entry follows.
    pub const START: Self = Self([0; 16]);
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One step in the life of a change instance; entries are only ever appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The state before; none at birth.
    pub from: Option<State>,
    /// The state after; the same as before for a log entry.
    pub to: State,
    /// When; never earlier than the entry before, whatever the clock says.
    pub at: Timestamp,
    /// Who.
    pub by: Actor,
    /// The request that wrote it: the own mark by which an unknown outcome is settled.
    pub request: String,
    /// What it records.
    pub reason: Reason,
    /// Which rule closed the change instance, if one did.
    pub closed_by: Option<ClosedBy>,
    /// The owner's log text as of this entry, if it changed.
    pub log: Option<String>,
    /// The type as of this entry; the Exception turns a MODIFY into a CREATE.
    pub change_type: ChangeType,
    /// The hash chain up to and with this entry.
    pub chain: Chain,
}

impl Entry {
    /// Completes an entry with the link that ties it to all entries before.
    pub fn chained(mut self, previous: Chain) -> Self {
        self.chain = self.link(previous);
        self
    }

    /// The link of this entry when `previous` is that of the one before.
    pub fn link(&self, previous: Chain) -> Chain {
        let mut hash = Sha256::new();
        hash.update(previous.0);
        let by = self.by.changed_by();
        let team = self.by.team().map(|team| team.id.to_string());
        let closed = self.closed_by.map(ClosedBy::describe);
        let reason = match self.reason {
            Reason::State => "state",
            Reason::Log => "log",
        };
        let at = self.at.micros().to_string();
        let fields = [
            Some(self.from.map_or("", State::name)),
            Some(self.to.name()),
            Some(at.as_str()),
            Some(by.as_str()),
            team.as_deref(),
            Some(self.request.as_str()),
            Some(reason),
            closed.as_deref(),
            self.log.as_deref(),
            Some(self.change_type.name()),
        ];
        // Each field carries its length, so that no two entries read the same; an absent one has none.
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
        let mut chain = [0; 16];
        chain.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        Chain(chain)
    }
}

/// The end of a history: what the next entry follows, and what a conditional write compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// How many entries there are.
    pub entries: u64,
    /// When the last one was written.
    pub at: Timestamp,
    /// The link of the last one.
    pub chain: Chain,
}

/// A change instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its id.
    pub id: ChangeId,
    /// The service item it changes.
    pub item: ItemId,
    /// The item's name.
    pub item_name: String,
    /// The application's name.
    pub application: String,
    /// The item's service.
    pub service: ServiceRef,
    /// The team that carries it out and decides.
    pub owner: TeamRef,
    /// The team that owns the service.
    pub service_owner: TeamRef,
    /// The team that declared the item.
    pub consumer: TeamRef,
    /// Why it exists.
    pub kind: Kind,
    /// The change instance that this one follows from: for a dependent one, or a retry.
    pub cause: Option<ChangeId>,
    /// What is to be done.
    pub change_type: ChangeType,
    /// Where it stands.
    pub state: State,
    /// The submission it comes from; its number orders all changes of the consumer.
    pub submission: SubmissionId,
    /// The commit that the consumer named with the submission.
    pub commit_id: Option<String>,
    /// Counts the owner's retries from 1.
    pub attempt: u64,
    /// What the item shall become; none when it shall be gone.
    pub new: Option<Version>,
    /// What the item was declared as before; none for a first declaration.
    pub old: Option<Version>,
    /// Open change instances that this one displaced: what they began may have to be undone.
    pub supersedes: Vec<ChangeId>,
    /// How many of them it displaced when it was born.
    pub superseded_at_birth: usize,
    /// A DELETE of an item of which nothing was ever begun, or nothing is left (R5).
    pub never_in_service: bool,
    /// Whether the item existed out there once this was born.
    pub runtime_state: RuntimeState,
    /// The deployed item version that was the newest when this was requested.
    pub deployed_before: Option<DeployedId>,
    /// The owner's message on the current state.
    pub log: String,
    /// What the service's definition asked for it, and for the item with it, at the submission (R38, R39).
    pub prices: Prices,
    /// When it was born (R30).
    pub created: Timestamp,
    /// Every step of its life.
    pub history: Vec<Entry>,
}

impl Mark {
    /// What the first entry follows.
    pub const START: Self = Self { entries: 0, at: Timestamp::from_micros(0), chain: Chain::START };
}

impl Change {
    /// What the item shall become.
    pub fn target(&self) -> Target {
        Target::of(self.new.map(|version| version.hash))
    }

    /// Whether it is a dependent team's share.
    pub fn is_dependant(&self) -> bool {
        self.owner.id != self.service_owner.id
    }

    /// Returns the change instance that has answered this one's rejection or error, if one has (Example 3).
    pub fn answered_by(&self) -> Option<ChangeId> {
        let answered = |entry: &Entry| {
            if let Some(ClosedBy::Answered(by)) = entry.closed_by { Some(by) } else { None }
        };
        self.history.iter().find_map(answered)
    }

    /// The teams that it concerns: those see it, and nobody else.
    pub const fn parties(&self) -> [TeamId; 3] {
        [self.owner.id, self.service_owner.id, self.consumer.id]
    }

    /// The end of its history.
    pub fn mark(&self) -> Mark {
        let last = self.history.last();
        Mark {
            entries: self.history.iter().fold(0, |count, _| count + 1),
            at: last.map_or(self.created, |entry| entry.at),
            chain: last.map_or(Chain::START, |entry| entry.chain),
        }
    }

    /// When the last entry was written (R30).
    pub fn modified(&self) -> Timestamp {
        self.mark().at
    }

    /// Whether `request` has written an entry: the own mark (docs/explanation/architecture.md, lost answers).
    pub fn bears(&self, request: &str) -> bool {
        self.history.iter().any(|entry| entry.request == request)
    }

    /// The change instance as it was at birth: what the reply to the submission shows, every time.
    pub fn as_born(&self) -> Self {
        let mut born = self.clone();
        born.history.truncate(1);
        born.supersedes.truncate(self.superseded_at_birth);
        born.log = String::new();
        if let Some(first) = self.history.first() {
            born.state = first.to;
            born.change_type = first.change_type;
        }
        born
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
    }
}
