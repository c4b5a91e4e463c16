//! A configuration prepared for the search, and the execution of its transactions.

use crate::ablation::Missing;
use crate::audit::Audited;
use crate::config::{Command, Config};
use crate::given::{self, NOW};
use crate::owner::{self, Decision};
use crate::planned::Shown;
use crate::state::State;
use crate::step_rules;
use crate::submitter::{self, Step, Submitter};
use crate::worker::{self, Worker};
use domain::Hash;
use domain::audit::invariant::Definitions;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::catalog::schema::DecisionForms;
use domain::model::declaration::Declaration;
use domain::model::write::Write;
use domain::rules::plan::Offers;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use store::{Fence, Table};

/// The fate of a sent transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The answer arrives.
    Answered,
    /// The table executes the transaction if its conditions hold, but the answer gets lost.
    AnswerLost,
    /// The request gets lost.
    RequestLost,
}

/// A command with its parsed declaration and its ids, computed once.
pub(crate) struct Prepared {
    pub(crate) declaration: Declaration,
    /// Request id.
    pub(crate) request: String,
    pub(crate) ctx: RequestContext,
    pub(crate) idempotency: Option<(String, Hash)>,
}

/// A configuration prepared for the search.
pub struct World {
    pub(crate) config: Config,
    pub(crate) offers: Offers,
    prepared: Vec<Prepared>,
    /// Removed fences.
    pub(crate) fences: Vec<Fence>,
    /// Removed parts of the protocol.
    missing: Vec<Missing>,
    pub(crate) audited: Audited,
    /// The definition of V, if it is verified.
    pub(crate) forms: Option<DecisionForms>,
    /// The same definition for the audit.
    pub(crate) definitions: Arc<Definitions>,
    /// The texts of declarations and plans by their hash, which never change.
    texts: Mutex<BTreeMap<Hash, String>>,
}

impl World {
    /// Prepares a configuration without some parts of the protocol, for about this number of states.
    pub fn new(config: &Config, missing: &[Missing], states: usize) -> Self {
        let fence = |missing: &Missing| if let Missing::Fence(fence) = missing { Some(*fence) } else { None };
        let offers = given::offers(config);
        let forms = offers.get("V").filter(|_| config.verified);
        let mut definitions = Definitions::default();
        if let Some(offer) = forms {
            definitions.insert("V", 1, &offer.schema.text);
        }
        let prepared = config.commands.iter().enumerate().map(|(n, command)| prepared(n, command));
        let prepared: Vec<Prepared> = prepared.collect();
        let items = prepared.iter().flat_map(|prepared| &prepared.declaration.applications);
        let items = items.flat_map(|application| &application.items);
        Self {
            config: *config,
            forms: forms.map(|offer| DecisionForms::load(&offer.schema.text).unwrap()),
            definitions: Arc::new(definitions),
            texts: Mutex::new(items.map(|item| (item.hash, item.canonical.clone())).collect()),
            offers,
            prepared,
            fences: missing.iter().filter_map(fence).collect(),
            missing: missing.to_vec(),
            audited: Audited::new(states),
        }
    }

    /// Returns whether the protocol has this part.
    pub(crate) fn has(&self, part: Missing) -> bool {
        !self.missing.contains(&part)
    }

    pub(crate) fn command(&self, n: usize) -> &Command {
        &self.config.commands[n]
    }

    pub(crate) fn prepared(&self, n: usize) -> &Prepared {
        &self.prepared[n]
    }

    /// Returns the text of a declaration or a plan.
    pub(crate) fn text(&self, hash: Hash) -> Option<String> {
        self.texts.lock().unwrap().get(&hash).cloned()
    }

    /// Keeps the texts in writes.
    pub(crate) fn learn(&self, writes: &[Write]) {
        let texts = writes.iter().filter_map(|write| {
            let Write::StoreDeclaration { hash, text, .. } = write else { return None };
            Some((*hash, text.clone()))
        });
        self.texts.lock().unwrap().extend(texts);
    }

    /// Returns the violated rule if an earlier preview with another effect had this token.
    pub(crate) fn distinguishes(&self, shown: Shown) -> Option<&'static str> {
        let mut effects = self.audited.effects.lock().unwrap();
        let earlier = *effects.entry(shown.token).or_insert(shown.effect);
        (earlier != shown.effect).then_some("R34: two effects have the same plan token")
    }

    /// Returns the command of a request id.
    pub(crate) fn command_of(&self, request: &str) -> Option<usize> {
        self.prepared.iter().position(|prepared| prepared.request == request)
    }

    /// Returns the first state.
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
        if config.former_dependents > 0 {
            self.reject(&mut state);
        }
        state
    }

    /// Executes the first submission without interleaving.
    fn submit_first(&self, state: &mut State) {
        while !matches!(state.submitters[0].step, Step::Done(_)) {
            submitter::step(self, state, 0, Fate::Answered).unwrap();
        }
    }

    /// Executes the first submission with all generated changes. Then every dependent team rejects its share and
    /// leaves the service.
    fn reject(&self, state: &mut State) {
        let earlier = Self { offers: given::earlier_offers(&self.config), ..Self::new(&self.config, &[], 0) };
        earlier.submit_first(state);
        // Deaths and later reads could repeat for ever.
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

    /// Executes the first submission and reports deployed items for each of its change instances.
    fn deploy(&self, state: &mut State) {
        self.submit_first(state);
        let changes: Vec<_> = state.table.changes().map(|change| change.id).collect();
        for change in changes {
            for _ in 0..self.config.deployed {
                state.decisions += 1;
                owner::decide_at_once(self, state, change, Decision::Deploy).unwrap();
            }
        }
    }

    /// Sends a transaction. Returns whether the sender has an answer and the transaction is written.
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
        ctx: RequestContext { by, request: request.clone(), now: NOW },
        idempotency: command.key.map(|key| (key.to_owned(), Hash::of(&content))),
        declaration,
        request,
    }
}
