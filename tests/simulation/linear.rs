//! Linearizability: whether requests that were made beside each other could have been carried out one after the other, each
//! between its beginning and its end, with the same answers.
//!
//! The search of Wing and Gong, which remembers where it has been.

use crate::spec::{Item, Op, Ret};
use std::collections::BTreeSet;

/// A request, and its answer if there was one; one that nobody answered may still have been carried out, or never.
#[derive(Clone, Debug)]
pub struct Attempt {
    op: Op,
    began: usize,
    answer: Option<(usize, Ret)>,
}

/// A history: what began and what ended, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct History {
    attempts: Vec<Attempt>,
    moments: usize,
}

/// How many attempts a history has at most: a bit each.
const ATTEMPTS_MAX: usize = 128;

impl History {
    /// A request is made; its number.
    pub fn begin(&mut self, op: Op) -> usize {
        assert!(self.attempts.len() < ATTEMPTS_MAX, "the history is too long");
        let began = self.moment();
        self.attempts.push(Attempt { op, began, answer: None });
        self.attempts.len() - 1
    }

    /// It is answered.
    pub fn end(&mut self, attempt: usize, ret: Ret) {
        let ended = self.moment();
        self.attempts[attempt].answer = Some((ended, ret));
    }

    /// How many requests were answered.
    pub fn answered(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.answer.is_some()).count()
    }

    const fn moment(&mut self) -> usize {
        self.moments += 1;
        self.moments
    }

    /// Whether there is an order in which it could have happened.
    pub fn is_linearizable(&self) -> bool {
        let answered = |(_, attempt): &(usize, &Attempt)| attempt.answer.is_some();
        let all =
            self.attempts.iter().enumerate().filter(answered).fold(0, |all, (at, _)| all | 1_u128 << at);
        let mut seen = BTreeSet::new();
        let mut open = vec![(0_u128, Item::default())];
        while let Some((done, item)) = open.pop() {
            if done & all == all {
                return true;
            }
            if seen.insert((done, item.clone())) {
                open.extend(self.next(done, &item));
            }
        }
        false
    }

    /// What may have been carried out next, with what comes of it.
    fn next(&self, done: u128, item: &Item) -> Vec<(u128, Item)> {
        let left = || self.attempts.iter().enumerate().filter(move |(at, _)| done >> at & 1 == 0);
        let ends = left().filter_map(|(_, attempt)| attempt.answer.as_ref().map(|(ended, _)| *ended));
        let first_end = ends.min().unwrap_or(usize::MAX);
        let may_be_next = left().filter(|(_, attempt)| attempt.began < first_end);
        let carried_out = may_be_next.filter_map(|(at, attempt)| {
            let mut after = item.clone();
            let ret = after.invoke(&attempt.op);
            let fits = match &attempt.answer {
                Some((_, told)) => *told == ret,
                // What nobody was told of and changes nothing needs no place.
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
    use domain::change::ChangeType::Create;
    use domain::state::State::{Approved, Closed, Pending, Rejected};

    /// Born, then two decisions beside each other with these answers.
    fn two_decisions(first: Ret, second: Ret) -> bool {
        let mut history = History::default();
        let born = history.begin(Op::Declare(Some(1)));
        history.end(born, Ret::Born(0, Create, None));
        let approve = history.begin(Op::Decide(0, Approved));
        let reject = history.begin(Op::Decide(0, Rejected));
        history.end(reject, second);
        history.end(approve, first);
        history.is_linearizable()
    }

    #[test]
    fn one_of_two_decisions_wins_and_the_other_is_told() {
        assert!(two_decisions(Ret::Is(Approved, Create), Ret::Illegal(Approved)));
        assert!(two_decisions(Ret::Illegal(Rejected), Ret::Is(Rejected, Create)));
        assert!(!two_decisions(Ret::Is(Approved, Create), Ret::Is(Rejected, Create)));
        assert!(!two_decisions(Ret::Illegal(Closed), Ret::Is(Rejected, Create)));
    }

    #[test]
    fn what_is_read_after_a_decision_shows_it() {
        let read = |seen| {
            let mut history = History::default();
            let born = history.begin(Op::Declare(Some(1)));
            history.end(born, Ret::Born(0, Create, None));
            let approve = history.begin(Op::Decide(0, Approved));
            history.end(approve, Ret::Is(Approved, Create));
            let read = history.begin(Op::Read(0));
            history.end(read, Ret::Is(seen, Create));
            history.is_linearizable()
        };
        assert!(read(Approved));
        assert!(!read(Pending));
    }

    #[test]
    fn what_nobody_was_told_of_may_have_happened_or_not() {
        for seen in [Pending, Approved] {
            let mut history = History::default();
            let born = history.begin(Op::Declare(Some(1)));
            history.end(born, Ret::Born(0, Create, None));
            history.begin(Op::Decide(0, Approved));
            let read = history.begin(Op::Read(0));
            history.end(read, Ret::Is(seen, Create));
            assert!(history.is_linearizable(), "{seen}");
        }
    }
}
