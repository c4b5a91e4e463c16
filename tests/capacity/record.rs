//! From the calls of a run to a sequence: names instead of ids, and equal calls as one step.

use crate::sequence::{Direction, Sequence, Shared, Step, Units};
use simulation::cloud::{KEYS_TABLE, TABLE};
use simulation::load::partition::Partition;
use simulation::load::trace::TracedCall;
use std::collections::BTreeMap;
use std::time::Duration;

/// Ids of the teams of a run, with their names in sequences.
pub type Roles = BTreeMap<String, &'static str>;

/// The calls of a function, and the numbers of events that its writes cause.
pub struct Traced {
    pub calls: Vec<TracedCall>,
    pub events: usize,
    /// Events of change instances.
    pub changes: usize,
}

pub fn sequence(name: &str, traced: Traced, roles: &Roles) -> Sequence {
    let Traced { mut calls, events, changes } = traced;
    calls.sort_by_key(|call| call.began);
    let mut rounds: Vec<Vec<Step>> = Vec::new();
    let mut ended = Duration::ZERO;
    let mut open: Vec<TracedCall> = Vec::new();
    for call in calls {
        if !open.is_empty() && call.began >= ended {
            rounds.push(steps(&std::mem::take(&mut open), roles));
        }
        ended = ended.max(call.ended);
        open.push(call);
    }
    rounds.push(steps(&open, roles));
    let numbered = joined(rounds).into_iter().zip(1..);
    let steps = numbered.flat_map(|(steps, round)| steps.into_iter().map(move |step| Step { round, ..step }));
    Sequence { name: name.to_owned(), events, changes, steps: steps.collect() }
}

/// Joins a round with the one before if it only repeats its calls: then they are a chain.
fn joined(rounds: Vec<Vec<Step>>) -> Vec<Vec<Step>> {
    let mut joined: Vec<Vec<Step>> = Vec::new();
    for steps in rounds {
        let repeats = joined
            .last()
            .is_some_and(|last| steps.iter().all(|step| last.iter().any(|one| one.is_like(step))));
        if repeats && let Some(last) = joined.last_mut() {
            for step in steps {
                if let Some(like) = last.iter_mut().find(|one| one.is_like(&step)) {
                    like.add(step);
                }
            }
        } else {
            joined.push(steps);
        }
    }
    joined
}

fn steps(calls: &[TracedCall], roles: &Roles) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for call in calls {
        let at_once = calls.iter().filter(|one| one.began <= call.began && one.ended > call.began);
        let mut step = step(call, roles);
        step.at_once = at_once.filter(|one| self::step(one, roles).is_like(&step)).count();
        match steps.iter_mut().find(|one| one.is_like(&step)) {
            Some(like) => like.add(step),
            None => steps.push(step),
        }
    }
    steps.sort_by(|one, other| (&one.operation, &one.units).cmp(&(&other.operation, &other.units)));
    steps
}

fn step(call: &TracedCall, roles: &Roles) -> Step {
    let mut units: BTreeMap<(Direction, String, String), u64> = BTreeMap::new();
    for (direction, charged) in [(Direction::Write, &call.writes), (Direction::Read, &call.reads)] {
        for (partition, thousandths) in charged {
            let (of, key) = named(partition, roles);
            *units.entry((direction, of, key)).or_default() += thousandths;
        }
    }
    let units = units.into_iter();
    let units = units.map(|((direction, of, key), thousandths)| Units { of, key, direction, thousandths });
    // A record with a number in its sort key belongs to one item or submission.
    let shared = call.records.iter().filter(|((_, sk), _)| !sk.contains(|c: char| c.is_ascii_digit()));
    let shared = shared.map(|((pk, sk), is_fenced)| {
        let (_, key) = named(&Partition::new(TABLE, pk), roles);
        Shared { key: format!("{key} {sk}"), is_fenced: *is_fenced }
    });
    Step {
        round: 0,
        operation: call.operation.clone(),
        times: 1,
        at_once: 1,
        units: units.collect(),
        shared: shared.collect(),
    }
}

impl Step {
    /// Returns whether both have the same operation, partitions and shared records.
    fn is_like(&self, other: &Self) -> bool {
        let key = |step: &Self| -> Vec<(String, String, Direction)> {
            step.units.iter().map(|units| (units.of.clone(), units.key.clone(), units.direction)).collect()
        };
        self.operation == other.operation && key(self) == key(other) && self.shared == other.shared
    }

    /// Adds calls of the same kind.
    fn add(&mut self, other: Self) {
        self.times += other.times;
        self.at_once = self.at_once.max(other.at_once);
        for (units, more) in self.units.iter_mut().zip(other.units) {
            units.thousandths += more.thousandths;
        }
    }
}

/// Returns the name of a table or index, and a partition key with names instead of ids.
fn named(partition: &Partition, roles: &Roles) -> (String, String) {
    let of = match partition.of.as_str() {
        TABLE => "table",
        KEYS_TABLE => "keys",
        index => index,
    };
    let mut parts = partition.key.split('#');
    let prefix = parts.next().unwrap_or_default();
    let named = parts.map(|id| match (of, prefix, roles.get(id)) {
        (_, "SERVICE", _) => "{service}".to_owned(),
        ("gs3", "WORK", _) => "{shard}".to_owned(),
        (_, _, Some(role)) => format!("{{{role}}}"),
        _ if id.contains(|c: char| c.is_ascii_digit()) => "{id}".to_owned(),
        _ => id.to_owned(),
    });
    let key: Vec<String> = std::iter::once(prefix.to_owned()).chain(named).collect();
    (of.to_owned(), key.join("#"))
}
