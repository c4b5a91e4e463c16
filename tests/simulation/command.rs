//! What clients do, as data: so that a run can be drawn from a seed, told, and made smaller.

use crate::declared::Application;
use domain::submission::Scope;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::prop_compose;

/// One thing that a client does.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A consumer submits.
    Submit {
        /// Which consumer.
        consumer: usize,
        /// Whole or partial.
        scope: Scope,
        /// The applications.
        applications: [Option<Application>; 2],
        /// Whether it sends an idempotency key.
        with_key: bool,
    },
    /// An owner moves one of the change instances that it is shown.
    Decide {
        /// Which owner.
        owner: usize,
        /// Which of those that are open.
        pick: usize,
        /// To which of the states that it may be moved to.
        to: usize,
        /// Whether it brings a deployed item.
        deployed: bool,
    },
    /// An owner tries one that was rejected or has failed again; where there is none, it does other things (see
    /// [`catalogue`](crate::catalogue)).
    Retry {
        /// Which owner.
        owner: usize,
        /// Which of those.
        pick: usize,
    },
    /// The schedule has the sweep run.
    Sweep,
}

prop_compose! {
    fn application()(
        cpus in [weighted(0.7, 1..=2_u8), weighted(0.6, 1..=2_u8), weighted(0.3, 1..=2_u8)],
        load_balancer in weighted(0.6, (0..8_u8, 0..2_usize)),
    ) -> Application {
        Application { cpus, load_balancer }
    }
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![2 => Just(Scope::Whole), 1 => Just(Scope::Partial)]
}

/// Any command.
pub fn command() -> impl Strategy<Value = Command> {
    let applications = [weighted(0.8, application()), weighted(0.3, application())];
    let submit = (0..10_usize, scope(), applications, any::<bool>());
    prop_oneof![
        7 => submit.prop_map(|(consumer, scope, applications, with_key)| {
            // Mostly the same team, so that its submissions meet.
            Command::Submit { consumer: consumer / 9, scope, applications, with_key }
        }),
        12 => (0..3_usize, any::<usize>(), any::<usize>(), any::<bool>())
            .prop_map(|(owner, pick, to, deployed)| Command::Decide { owner, pick, to, deployed }),
        1 => (0..3_usize, any::<usize>()).prop_map(|(owner, pick)| Command::Retry { owner, pick }),
        1 => Just(Command::Sweep),
    ]
}

/// What the clients of a run do: which client, and what.
pub fn commands(most: usize) -> impl Strategy<Value = Vec<(usize, Command)>> {
    vec((0..CLIENTS, command()), most / 2..=most)
}

/// How many clients there are, each of which does one thing after the other.
pub const CLIENTS: usize = 4;
