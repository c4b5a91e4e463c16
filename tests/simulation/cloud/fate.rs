//! Faults of a request on its way or on its arrival.

use super::{Cloud, State};
use crate::faults::befalls;
use crate::network::Fate;
use embedded::Reply;
use serde_json::{Value, json};
use std::time::Duration;

impl Cloud {
    /// Draws the fate of a request.
    pub fn fate(&self, target: &str) -> Fate {
        let mut state = self.state();
        let State { faults, dice, .. } = &mut *state;
        let mut millis = |range| Duration::from_millis(dice.u64(range));
        let mut fate = Fate {
            there: millis(0..8),
            back: millis(1..12),
            arrives: true,
            is_answered: true,
            has_connection_error: dice.bool(),
        };
        if target.starts_with("AWSEvents") {
            fate.is_answered = !befalls(dice, faults.bus / 3);
            if !fate.is_answered {
                state.count("bus reply lost");
            }
            return fate;
        }
        let mut fault = None;
        if befalls(dice, faults.request_lost) {
            (fate.arrives, fault) = (false, Some("request lost"));
        } else if befalls(dice, faults.reply_lost) {
            (fate.is_answered, fault) = (false, Some("reply lost"));
        } else if befalls(dice, faults.late) {
            fate.there = Duration::from_secs(dice.u64(6..90));
            (fate.is_answered, fault) = (false, Some("late"));
        } else if befalls(dice, faults.slow) {
            fate.there = Duration::from_millis(dice.u64(100..4_000));
            fate.back = Duration::from_millis(dice.u64(100..2_000));
            fault = Some("slow");
        }
        if let Some(fault) = fault {
            state.count(fault);
        }
        fate
    }

    /// Draws an error that does not depend on the request: throttling, an internal error or a transaction conflict.
    pub(super) fn refusal(&self, operation: &str, request: &Value) -> Option<Reply> {
        let faults = self.faults();
        if self.befalls("throttled", faults.throttled) {
            let code = self.draw(|dice| dice.usize(0..4));
            return Some(match code {
                0 => Reply::error(400, "ProvisionedThroughputExceededException"),
                1 => Reply::error(400, "ThrottlingException"),
                2 => Reply::error(500, "InternalServerError"),
                _ => Reply::error(400, "RequestLimitExceeded"),
            });
        }
        if operation != "TransactWriteItems" || !self.befalls("transaction conflict", faults.conflict) {
            return None;
        }
        let actions = request["TransactItems"].as_array().map_or(1, Vec::len);
        let conflicting = self.draw(|dice| dice.usize(0..actions));
        if self.draw(|dice| dice.u32(0..5)) == 0 {
            return Some(Reply::error(400, "TransactionInProgressException"));
        }
        let code = |at| if at == conflicting { "TransactionConflict" } else { "None" };
        let mut cancelled = Reply::error(400, "TransactionCanceledException");
        cancelled.body["CancellationReasons"] = (0..actions).map(|at| json!({"Code": code(at)})).collect();
        Some(cancelled)
    }
}
