//! A configuration made ready to be searched, and how everything in it is written.

use crate::ablation::Missing;
use crate::audit::Audited;
use crate::config::{Command, Config};
use crate::given::{self, NOW};
use crate::owner::{self, Decision};
use crate::state::State;
use crate::step_rules;
use crate::submitter::{self, Step, Submitter};
use crate::worker::{self, Worker};
use domain::actor::Actor;
use domain::declaration::Declaration;
use domain::json::Hash;
use domain::land::Stamp;
use domain::plan::Offers;
use domain::write::Write;
use std::sync::Arc;
use store::{Fence, Table};

/// What becomes of a transaction that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is answered.
    Answered,
    /// It is written, if it can be, and not answered.
    AnswerLost,
    /// It never comes.
    RequestLost,
}

/// A command with what is made of it once.
pub(crate) struct Prepared {
    pub(crate) declaration: Declaration,
    /// The id of the request.
    pub(crate) request: String,
    pub(crate) stamp: Stamp,
    pub(crate) idempotency: Option<(String, Hash)>,
}

/// A configuration made ready.
pub struct World {
    pub(crate) config: Config,
    pub(crate) offers: Offers,
    prepared: Vec<Prepared>,
    /// The fences that are taken away.
    pub(crate) fences: Vec<Fence>,
    /// Whether a plan is made only on a read that is whole.
    pub(crate) checks_reads: bool,
    /// Whether generation sees which submission was the last one to land.
    pub(crate) knows_sequence: bool,
    /// Whether a submitter looks for what it has written already.
    pub(crate) looks_for_own_mark: bool,
    pub(crate) audited: Audited,
}

impl World {
    /// A configuration without these parts of the protocol, of which about so many states are visited.
    pub fn new(config: &Config, missing: &[Missing], states: usize) -> Self {
        let fence = |missing: &Missing| if let Missing::Fence(fence) = missing { Some(*fence) } else { None };
        Self {
            config: *config,
            offers: given::offers(config),
            prepared: config.commands.iter().enumerate().map(|(n, command)| prepared(n, command)).collect(),
            fences: missing.iter().filter_map(fence).collect(),
            checks_reads: !missing.contains(&Missing::CheckOfReads),
            knows_sequence: !missing.contains(&Missing::Sequence),
            looks_for_own_mark: !missing.contains(&Missing::OwnMark),
            audited: Audited::new(states),
        }
    }

    pub(crate) fn command(&self, n: usize) -> &Command {
        &self.config.commands[n]
    }

    pub(crate) fn prepared(&self, n: usize) -> &Prepared {
        &self.prepared[n]
    }

    /// The command whose request this was.
    pub(crate) fn command_of(&self, request: &str) -> Option<usize> {
        self.prepared.iter().position(|prepared| prepared.request == request)
    }

    /// The first state.
    pub(crate) fn start(&self) -> State {
        let config = &self.config;
        let mut state = State {
            table: Arc::new(given::table()),
            submitters: vec![Submitter::NEW; config.commands.len()],
            workers: vec![Worker::Idle; config.workers],
            owners: vec![owner::Owner::Idle; config.owners.at_once],
            sweeping: None,
            decisions: config.owners.budget,
            lost: config.lost,
            crashes: config.crashes,
            broken: None,
        };
        if config.deployed > 0 {
            self.deploy(&mut state);
        }
        if config.former > 0 {
            self.reject(&mut state);
        }
        state
    }

    /// The first submission is written and all that follows generated; then every dependent team rejects its share, and
    /// depends on the service no more.
    fn reject(&self, state: &mut State) {
        let earlier = Self { offers: given::earlier_offers(&self.config), ..Self::new(&self.config, &[], 0) };
        while !matches!(state.submitters[0].step, Step::Done(_)) {
            submitter::step(&earlier, state, 0, Fate::Answered).unwrap();
        }
        let is_progress = |next: &worker::Move| !matches!(next, worker::Move::Die | worker::Move::Later(..));
        while let Some(next) = state.workers[0].moves(&earlier, state).into_iter().find(is_progress) {
            worker::step(&earlier, state, 0, next).unwrap();
        }
        let shares = state.table.changes().filter(|change| change.is_dependant());
        let shares: Vec<_> = shares.map(|change| change.id).collect();
        for share in shares {
            state.decisions += 1;
            owner::decide_at_once(&earlier, state, share, Decision::Reject).unwrap();
        }
    }

    /// The first submission is written, and every change instance of it has brought deployed items.
    fn deploy(&self, state: &mut State) {
        while !matches!(state.submitters[0].step, Step::Done(_)) {
            submitter::step(self, state, 0, Fate::Answered).unwrap();
        }
        let changes: Vec<_> = state.table.changes().map(|change| change.id).collect();
        for change in changes {
            for _ in 0..self.config.deployed {
                state.decisions += 1;
                owner::decide_at_once(self, state, change, Decision::Deploy).unwrap();
            }
        }
    }

    /// Sends a transaction; tells whether it is known to be written.
    pub(crate) fn answered(&self, state: &mut State, writes: &[Write], fate: Fate) -> bool {
        if fate == Fate::RequestLost {
            state.lost -= 1;
            return false;
        }
        if state.table.takes(writes, &self.fences).is_err() {
            return false;
        }
        let mut after = Table::clone(&state.table);
        after.apply(writes);
        let broken = step_rules::broken(self, &state.table, &after, writes);
        state.broken = state.broken.or(broken);
        state.table = Arc::new(after);
        if fate == Fate::AnswerLost {
            state.lost -= 1;
        }
        fate == Fate::Answered
    }
}

fn prepared(n: usize, command: &Command) -> Prepared {
    let declaration = given::declaration(command.declares);
    let request = format!("r{n}");
    let by = Actor::Key { name: "k".to_owned(), team: given::consumer() };
    let content = format!("{:?} {:?}", command.declares, command.scope);
    Prepared {
        stamp: Stamp { by, request: request.clone(), now: NOW },
        idempotency: command.key.map(|key| (key.to_owned(), Hash::of(&content))),
        declaration,
        request,
    }
}
