//! Linearizability: concurrent requests need a sequential order with the same answers. Each takes effect between its
//! beginning and its end.
//!
//! The search is that of Wing and Gong. It remembers visited states, and leaves paths without a way to the outcome.

use crate::spec::{Change, Item, Op, Ret};
use std::collections::BTreeSet;

/// A request, and its answer if there is one. Without an answer, its execution is uncertain.
#[derive(Clone, Debug)]
pub struct Attempt {
    op: Op,
    began: usize,
    answer: Option<(usize, Ret)>,
}

/// A history: beginnings and ends, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct History {
    attempts: Vec<Attempt>,
    moments: usize,
}

/// Maximum number of attempts in a history: the bits of a `u128`.
const ATTEMPTS_MAX: usize = 128;

impl History {
    /// Records a request and returns its number.
    pub fn begin(&mut self, op: Op) -> usize {
        let began = self.moment();
        self.push(Attempt { op, began, answer: None })
    }

    /// Records the answer of a request.
    pub fn end(&mut self, attempt: usize, ret: Ret) {
        let ended = self.moment();
        self.attempts[attempt].answer = Some((ended, ret));
    }

    /// Records a further request in the time of an attempt that has just ended.
    pub fn meanwhile(&mut self, attempt: usize, op: Op, ret: Ret) {
        let Attempt { began, answer: Some((ended, _)), .. } = self.attempts[attempt] else {
            panic!("no response")
        };
        self.push(Attempt { op, began, answer: Some((ended, ret)) });
    }

    fn push(&mut self, attempt: Attempt) -> usize {
        assert!(self.attempts.len() < ATTEMPTS_MAX, "the history is too long");
        self.attempts.push(attempt);
        self.attempts.len() - 1
    }

    /// Returns the number of answered requests.
    pub fn answered(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.answer.is_some()).count()
    }

    const fn moment(&mut self) -> usize {
        self.moments += 1;
        self.moments
    }

    /// Returns whether a sequential order leads to these change instances.
    pub fn is_linearizable(&self, outcome: &[Change]) -> bool {
        let answered = |(_, attempt): &(usize, &Attempt)| attempt.answer.is_some();
        let all =
            self.attempts.iter().enumerate().filter(answered).fold(0, |all, (at, _)| all | 1_u128 << at);
        let mut seen = BTreeSet::new();
        let mut open = vec![(0_u128, Item::default())];
        while let Some((done, item)) = open.pop() {
            if done & all == all && item.changes() == outcome {
                return true;
            }
            if seen.insert((done, item.clone())) {
                let next = self.next(done, &item).into_iter();
                open.extend(next.filter(|(_, item)| item.leads_to(outcome)));
            }
        }
        false
    }

    /// Returns the possible next requests, each with the resulting state.
    fn next(&self, done: u128, item: &Item) -> Vec<(u128, Item)> {
        let left = || self.attempts.iter().enumerate().filter(move |(at, _)| done >> at & 1 == 0);
        let ends = left().filter_map(|(_, attempt)| attempt.answer.as_ref().map(|(ended, _)| *ended));
        let first_end = ends.min().unwrap_or(usize::MAX);
        // Equal requests without an answer are interchangeable, so the first of them suffices.
        let is_first = |at: usize, attempt: &Attempt| {
            attempt.answer.is_some()
                || !left()
                    .take_while(|(other, _)| *other < at)
                    .any(|(_, other)| other.answer.is_none() && other.op == attempt.op)
        };
        let may_be_next = left().filter(|(at, attempt)| attempt.began < first_end && is_first(*at, attempt));
        let carried_out = may_be_next.filter_map(|(at, attempt)| {
            let mut after = item.clone();
            let ret = after.invoke(&attempt.op);
            let fits = match &attempt.answer {
                Some((_, returned)) => *returned == ret,
                // A request without answer and effect needs no position in the order.
                None => after != *item,
            };
            fits.then_some((done | 1 << at, after))
        });
        carried_out.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::State;
    use domain::State::{Approved, Closed, Pending, Rejected};
    use domain::base::state::ChangeType::Create;

    fn change(state: State, target: Option<u8>) -> Change {
        Change { state, change_type: Create, target }
    }

    /// Returns a history with one new change instance.
    fn created() -> History {
        let mut history = History::default();
        let created = history.begin(Op::Declare(Some(1)));
        history.end(created, Ret::Created(0, Create, None));
        history
    }

    fn ends(history: &History, state: State) -> bool {
        history.is_linearizable(&[change(state, Some(1))])
    }

    /// Returns whether two concurrent decisions can have these answers and this outcome.
    fn two_decisions(first: Ret, second: Ret, outcome: State) -> bool {
        let mut history = created();
        let approve = history.begin(Op::Decide(0, Approved));
        let reject = history.begin(Op::Decide(0, Rejected));
        history.end(reject, second);
        history.end(approve, first);
        ends(&history, outcome)
    }

    #[test]
    fn one_of_two_decisions_wins_and_the_other_gets_the_state() {
        let is = |state| Ret::Is(state, Create);
        for (first, second, outcome, expected) in [
            (is(Approved), Ret::Illegal(Approved), Approved, true),
            (Ret::Illegal(Rejected), is(Rejected), Rejected, true),
            (Ret::Illegal(Rejected), is(Rejected), Approved, false),
            (is(Approved), is(Rejected), Approved, false),
            (is(Approved), is(Rejected), Rejected, false),
            (Ret::Illegal(Closed), is(Rejected), Rejected, false),
        ] {
            assert_eq!(two_decisions(first, second, outcome), expected, "{outcome}");
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Approval {
        /// It is answered before the read begins.
        Before,
        /// It is answered, and the read takes place in its time.
        Meanwhile,
        /// It gets no answer.
        Unanswered,
    }
    use Approval::{Before, Meanwhile, Unanswered};

    #[test]
    fn a_read_shows_an_approval_before_it_and_may_show_a_concurrent_or_unanswered_one() {
        for (approval, seen, outcome, expected) in [
            (Before, Approved, Approved, true),
            (Before, Pending, Approved, false),
            (Meanwhile, Pending, Approved, true),
            (Meanwhile, Approved, Approved, true),
            (Meanwhile, Rejected, Approved, false),
            (Unanswered, Pending, Pending, true),
            (Unanswered, Pending, Approved, true),
            (Unanswered, Approved, Approved, true),
            (Unanswered, Approved, Pending, false),
        ] {
            let mut history = created();
            let approve = history.begin(Op::Decide(0, Approved));
            if approval != Unanswered {
                history.end(approve, Ret::Is(Approved, Create));
            }
            if approval == Meanwhile {
                history.meanwhile(approve, Op::Read(0), Ret::Is(seen, Create));
            } else {
                let read = history.begin(Op::Read(0));
                history.end(read, Ret::Is(seen, Create));
            }
            assert_eq!(ends(&history, outcome), expected, "{approval:?}, {seen}, {outcome}");
        }
    }

    #[test]
    fn of_equal_unanswered_requests_any_may_have_taken_effect() {
        let outcome = |targets: &[u8]| {
            let mut changes: Vec<_> = targets.iter().map(|cpu| change(Closed, Some(*cpu))).collect();
            changes.last_mut().unwrap().state = Pending;
            changes
        };
        for (targets, expected) in [
            (&[1][..], true),
            (&[1, 2, 1], true),
            (&[2, 1], true),
            (&[1, 2], true),
            (&[1, 1], false),
            (&[3], false),
        ] {
            let mut history = History::default();
            for cpu in [1, 2, 1] {
                history.begin(Op::Declare(Some(cpu)));
            }
            assert_eq!(history.is_linearizable(&outcome(targets)), expected, "{targets:?}");
        }
    }
}
