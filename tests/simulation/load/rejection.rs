//! Replies of DynamoDB to requests above its limits, as the API reference words them.

use embedded::Reply;
use serde_json::{Value, json};

/// The message of a throttled request or action.
const THROTTLED: &str = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically \
     scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: \
     https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html.";

/// The message of an action in conflict.
const CONFLICT: &str = "Transaction is ongoing for the item";

/// The reason why DynamoDB rejects an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The partition of the table or of an index has no units left.
    Throttled,
    /// A transaction with the record is in progress.
    Conflict,
}

impl Reason {
    const fn code_and_message(self) -> (&'static str, &'static str) {
        match self {
            Self::Throttled => ("ThrottlingError", THROTTLED),
            Self::Conflict => ("TransactionConflict", CONFLICT),
        }
    }

    /// Returns the name of the counter of such rejections.
    pub const fn counter(self) -> &'static str {
        match self {
            Self::Throttled => "throttled by load",
            Self::Conflict => "conflict by load",
        }
    }

    /// Returns the reply to a request without a transaction.
    pub fn reply(self) -> Reply {
        let (code, message) = match self {
            // A table on demand answers this. A batch gets it if every part is throttled.
            Self::Throttled => ("ThrottlingException", THROTTLED),
            Self::Conflict => ("TransactionConflictException", CONFLICT),
        };
        let mut reply = Reply::error(400, code);
        reply.body["message"] = json!(message);
        reply
    }
}

/// Returns the reply to a transaction with the reason of each action, if it has one.
pub fn cancelled(reasons: &[Option<Reason>]) -> Reply {
    let codes: Vec<&str> =
        reasons.iter().map(|reason| reason.map_or("None", |reason| reason.code_and_message().0)).collect();
    let mut reply = Reply::error(400, "TransactionCanceledException");
    reply.body["message"] = json!(format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    ));
    reply.body["CancellationReasons"] = reasons.iter().map(|reason| of_action(*reason)).collect();
    reply
}

fn of_action(reason: Option<Reason>) -> Value {
    reason.map_or_else(
        || json!({"Code": "None"}),
        |reason| {
            let (code, message) = reason.code_and_message();
            json!({"Code": code, "Message": message})
        },
    )
}
