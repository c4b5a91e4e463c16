//! The specification for histories: one item and its change instances over HTTP, one request at a time.

use domain::State;
use domain::base::state::ChangeType;

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The consumer declares the item with this number of CPUs, or removes it.
    Declare(Option<u8>),
    /// The owner moves the change instance with this number to a state.
    Decide(usize, State),
    /// A client reads the change instance with this number.
    Read(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ret {
    /// Number and type of the new change instance, and number of the displaced one.
    Created(usize, ChangeType, Option<usize>),
    /// The declaration changes nothing.
    Unchanged,
    /// A rejection or error without an answer blocks the submission.
    Blocked,
    /// State and type of the change instance.
    Is(State, ChangeType),
    /// No transition leads from this state to the requested one.
    Illegal(State),
    /// No change instance has this number.
    Missing,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    changes: Vec<Change>,
    declared: Option<u8>,
    completed_target: Option<Option<u8>>,
    is_created: Creation,
    is_in_service: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Creation {
    #[default]
    Never,
    Outstanding,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub state: State,
    pub change_type: ChangeType,
    /// CPUs of the item after the change, or `None` for a removal.
    pub target: Option<u8>,
}

impl Item {
    /// Returns the change instances, in the order of their numbers.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns whether this state can lead to the outcome. Change instances never disappear, and their targets never
    /// change.
    pub fn leads_to(&self, outcome: &[Change]) -> bool {
        let same = self.changes.iter().zip(outcome).all(|(one, other)| one.target == other.target);
        same && self.changes.len() <= outcome.len()
    }

    fn open(&self, states: [State; 2]) -> Option<usize> {
        self.changes.iter().position(|change| states.contains(&change.state))
    }

    fn waiting(&self) -> Option<usize> {
        self.open([State::Pending, State::Rejected])
    }

    fn validated(&self) -> Option<usize> {
        self.open([State::Approved, State::Errored])
    }

    fn is_orphan(&self) -> bool {
        let idle = self.waiting().is_none() && self.validated().is_none();
        idle && !self.changes.is_empty() && self.completed_target != Some(self.declared)
    }

    fn has_failed_removal(&self) -> bool {
        let open = [self.waiting(), self.validated()].into_iter().flatten().map(|at| self.changes[at]);
        let open: Vec<Change> = open.collect();
        let is_removing = open.iter().any(|one| one.target.is_none() && !one.state.is_blocked());
        self.declared.is_none() && open.iter().any(|one| one.state.is_blocked()) && !is_removing
    }

    fn change_type(&self) -> ChangeType {
        let is_creating = self.validated().is_some_and(|at| {
            let change = self.changes[at];
            change.state == State::Approved && change.change_type == ChangeType::Create
        });
        if self.is_in_service == Some(true) && (self.is_created == Creation::Done || is_creating) {
            ChangeType::Modify
        } else {
            ChangeType::Create
        }
    }

    fn declare(&mut self, target: Option<u8>) -> Ret {
        let blocked = |one: &Change| one.state.is_blocked() && one.target == target;
        if target.is_some() && self.changes.iter().any(blocked) {
            return Ret::Blocked;
        }
        if self.declared == target && !self.is_orphan() && !self.has_failed_removal() {
            return Ret::Unchanged;
        }
        self.declared = target;
        let is_answered = |one: &Change| target.is_none() || one.target != target;
        for change in self.changes.iter_mut().filter(|one| one.state.is_blocked() && is_answered(one)) {
            change.state = State::Closed;
        }
        let change_type = if target.is_none() { ChangeType::Delete } else { self.change_type() };
        let displaced = self.waiting();
        if let Some(at) = displaced {
            self.changes[at].state = State::Closed;
        }
        self.changes.push(Change { state: State::Pending, change_type, target });
        Ret::Created(self.changes.len() - 1, change_type, displaced)
    }

    fn decide(&mut self, at: usize, to: State) -> Ret {
        let Some(change) = self.changes.get(at).copied() else { return Ret::Missing };
        if change.state == to {
            return Ret::Is(to, change.change_type);
        }
        let mut change_type = change.change_type;
        match (change.state, to) {
            (State::Pending, State::Approved) => {
                if let Some(displaced) = self.validated() {
                    self.changes[displaced].state = State::Closed;
                }
                if change_type == ChangeType::Modify && self.is_created == Creation::Outstanding {
                    change_type = ChangeType::Create;
                }
                match change_type {
                    ChangeType::Create => {
                        (self.is_created, self.is_in_service) = (Creation::Outstanding, Some(true));
                    }
                    ChangeType::Delete => self.is_in_service = Some(false),
                    ChangeType::Modify => {}
                }
                self.completed_target = None;
            }
            (State::Approved, State::Completed) => {
                match change_type {
                    ChangeType::Create => self.is_created = Creation::Done,
                    ChangeType::Delete => self.is_created = Creation::Never,
                    ChangeType::Modify => {}
                }
                self.completed_target = Some(change.target);
            }
            (State::Pending, State::Rejected)
            | (State::Approved, State::Errored)
            | (State::Rejected | State::Errored, State::Closed) => {}
            (from, _) => return Ret::Illegal(from),
        }
        self.changes[at] = Change { state: to, change_type, ..change };
        Ret::Is(to, change_type)
    }

    /// Executes a request and returns its answer.
    pub fn invoke(&mut self, op: &Op) -> Ret {
        match op {
            Op::Declare(target) => self.declare(*target),
            Op::Decide(at, to) => self.decide(*at, *to),
            Op::Read(at) => match self.changes.get(*at) {
                Some(change) => Ret::Is(change.state, change.change_type),
                None => Ret::Missing,
            },
        }
    }
}
