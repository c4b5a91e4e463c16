//! List prices of us-east-1, on demand, without free tiers and volume discounts.
//!
//! Source: the public price pages of each service, read in November 2025. The unit is the millionth of a millionth of
//! a dollar, so that all sums are integers.

use crate::sequence::Sequence;

pub const DOLLAR: u128 = 1_000_000_000_000;

/// Name, price and unit of everything on the bill.
pub const PRICES: [(&str, u128, &str); 14] = [
    ("DynamoDB, write units", WRITE_UNIT * 1_000_000, "million units"),
    ("DynamoDB, read units", READ_UNIT * 1_000_000, "million units"),
    ("DynamoDB, storage", STORED_GB, "GB and month"),
    ("DynamoDB, point-in-time recovery", RECOVERY_GB, "GB and month"),
    ("DynamoDB Streams, reads by Lambda", 0, "million reads"),
    ("Lambda, requests", INVOCATION * 1_000_000, "million"),
    ("Lambda, arm64", GB_SECOND * 1_000_000, "million GB-s"),
    ("API Gateway, HTTP API", REQUEST * 1_000_000, "million requests"),
    ("EventBridge, custom events", EVENT * 1_000_000, "million"),
    ("EventBridge, archive", ARCHIVED_GB, "GB"),
    ("SQS, standard queue", MESSAGE * 1_000_000, "million requests"),
    ("CloudWatch Logs, ingestion", LOG_GB, "GB"),
    ("CloudWatch, alarm", ALARM, "month"),
    ("CloudWatch, metric", METRIC, "month"),
];

pub const WRITE_UNIT: u128 = 625_000;
pub const READ_UNIT: u128 = 125_000;
pub const STORED_GB: u128 = DOLLAR / 4;
pub const RECOVERY_GB: u128 = DOLLAR / 5;
pub const INVOCATION: u128 = 200_000;
pub const GB_SECOND: u128 = 13_333_400;
pub const REQUEST: u128 = 1_000_000;
pub const EVENT: u128 = 1_000_000;
pub const ARCHIVED_GB: u128 = DOLLAR / 10;
pub const MESSAGE: u128 = 400_000;
pub const LOG_GB: u128 = DOLLAR / 2;
pub const ALARM: u128 = DOLLAR / 10;
pub const METRIC: u128 = DOLLAR * 3 / 10;

/// Memory of `submit` and of the other functions in `infra/template.yaml`, in MB.
pub const MEMORY_OF_SUBMIT: u64 = 512;
pub const MEMORY: u64 = 256;

/// Bytes in the log for each invocation: Lambda's lines and the metrics.
pub const LOG_BYTES: u128 = 1_500;

/// Bytes of an event in the archive.
pub const EVENT_BYTES: u128 = 1_500;

/// Instructions of one action of a transaction, and of each further call with its request and response.
///
/// Both follow from two earlier counts of instructions: a submission of ten changed items took 16.7 million
/// instructions for 43 actions and 5 calls, and an approval 5.4 million for two actions and 4 calls. So they are upper
/// bounds.
const ACTION: u64 = 250_000;
const CALL: u64 = 1_200_000;

/// Instructions of a whole core in a millisecond. Lambda gives a function with 1769 MB one core, and others a share.
const INSTRUCTIONS_PER_MILLI: u64 = 3_000_000;
const MEMORY_OF_A_CORE: u64 = 1_769;

/// Returns the memory of the function of a sequence, in MB.
pub fn memory(sequence: &Sequence) -> u64 {
    let is_submission = ["submit ", "re-apply "].iter().any(|prefix| sequence.name.starts_with(prefix));
    if is_submission { MEMORY_OF_SUBMIT } else { MEMORY }
}

/// Returns the compute time of an invocation, in milliseconds.
pub fn compute_millis(sequence: &Sequence) -> u64 {
    compute_millis_with(sequence, memory(sequence))
}

/// Returns the compute time of an invocation with this memory in MB, in milliseconds.
pub fn compute_millis_with(sequence: &Sequence, memory: u64) -> u64 {
    let calls: u64 = sequence.steps.iter().map(|step| u64::try_from(step.times).unwrap()).sum();
    let tables = sequence.steps.iter().flat_map(|step| &step.units);
    // An action takes two units of the table.
    let written =
        tables.filter(|units| units.of == "table" && units.direction == crate::sequence::Direction::Write);
    let actions: u64 = written.map(|units| units.thousandths / 2_000).sum();
    (calls * CALL + actions * ACTION) * MEMORY_OF_A_CORE / (INSTRUCTIONS_PER_MILLI * memory)
}
