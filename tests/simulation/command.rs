//! Commands of clients as data. A seed draws them, and a failed run can print and shrink them.

use crate::declared::Application;
use domain::model::submission::Scope;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::prop_compose;

/// One command of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A submission of a consumer.
    Submit {
        /// Index of the consumer.
        consumer: usize,
        scope: Scope,
        applications: [Option<Application>; 2],
        /// Whether the request has an idempotency key.
        with_key: bool,
    },
    /// An owner's decision on one of its listed change instances.
    Decide {
        /// Index of the owner.
        owner: usize,
        /// Selects one of the open change instances.
        pick: usize,
        /// Selects the new state.
        to: usize,
        /// Whether the decision reports a deployed item.
        deployed: bool,
    },
    /// An owner's retry, or closing, of a rejected or failed change instance.
    ///
    /// Without such a change instance, the owner acts on other objects (see [`catalogue`](crate::catalogue)).
    Retry {
        /// Index of the owner.
        owner: usize,
        /// Selects one of these change instances.
        pick: usize,
    },
    /// A scheduled run of the sweep.
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

/// Returns a strategy for any command.
pub fn command() -> impl Strategy<Value = Command> {
    let applications = [weighted(0.8, application()), weighted(0.3, application())];
    let submit = (0..10_usize, scope(), applications, any::<bool>());
    prop_oneof![
        7 => submit.prop_map(|(consumer, scope, applications, with_key)| {
            // Nine in ten submissions belong to one team, so that they race.
            Command::Submit { consumer: consumer / 9, scope, applications, with_key }
        }),
        12 => (0..3_usize, any::<usize>(), any::<usize>(), any::<bool>())
            .prop_map(|(owner, pick, to, deployed)| Command::Decide { owner, pick, to, deployed }),
        1 => (0..3_usize, any::<usize>()).prop_map(|(owner, pick)| Command::Retry { owner, pick }),
        1 => Just(Command::Sweep),
    ]
}

/// Returns a strategy for the commands of a run, each with the index of its client.
pub fn commands(most: usize) -> impl Strategy<Value = Vec<(usize, Command)>> {
    vec((0..CLIENTS, command()), most / 2..=most)
}

/// Number of clients. Each sends its commands in sequence.
pub const CLIENTS: usize = 4;
