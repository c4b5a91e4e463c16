//! Commits transactions, all or nothing, with a bounded number of retries (docs/explanation/concurrency.md).

use super::statement;
use crate::client::call::Call as _;
use crate::client::error::{denial, describe, is_full};
use crate::client::{ACTIONS_MAX, Error, Table};
use crate::key::Key;
use crate::record::{Attributes, size};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, TransactWriteItem, WriteRequest};
use domain::model::write::Write;
use dovetail_aws::{count_conflict, count_retry, retry};

/// The most bytes of one transaction; DynamoDB allows 4 MB, and [`size`] only estimates.
const BYTES_MAX: usize = 3_500_000;

/// The most records of one `BatchWriteItem`, a limit of DynamoDB.
const BATCH_MAX: usize = 25;

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// All actions are written.
    Done,
    /// A condition did not hold: a record has changed since the decision, or this transaction was written before.
    ///
    /// This outcome does not prove that nothing was written, because the answer to a first, successful attempt may be
    /// lost. The caller must look for its own request id in the records first.
    Stale,
    /// Every attempt conflicted with other transactions, or was throttled for too long; nothing is written.
    Busy,
    /// The answer is lost; the caller must look for its own request id in the records.
    Unknown,
    /// The transaction exceeds the limit of actions or bytes; nothing was sent.
    TooLarge,
}

impl Table {
    /// Returns the most writes of a submission in one transaction; a larger submission is staged
    /// (docs/explanation/staging.md).
    pub const fn actions_max(&self) -> usize {
        self.actions_max
    }

    /// Writes all of `writes` in one transaction, or nothing.
    pub async fn commit(&self, writes: &[Write]) -> Result<Commit, Error> {
        if writes.len() > ACTIONS_MAX {
            return Ok(Commit::TooLarge);
        }
        self.transact(|| writes.iter().map(|write| statement::of(&self.name, write)).collect()).await
    }

    /// Sends one transaction and retries it while the table is busy.
    ///
    /// The SDK consumes the actions of each attempt, so `actions` builds them again for a retry, which is rare.
    pub(crate) async fn transact(
        &self,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
    ) -> Result<Commit, Error> {
        let mut attempts = retry::TRANSACTION.attempts();
        while let Some(attempt) = attempts.next().await {
            if attempt > 0 {
                count_retry();
            }
            let actions = actions()?;
            // DynamoDB reports an oversized transaction as a validation error, the same as a defect. The check here
            // lets the caller stage the submission instead.
            if size::of_actions(&actions) > BYTES_MAX {
                return Ok(Commit::TooLarge);
            }
            let request = self.client.transact_write_items().set_transact_items(Some(actions));
            let Err(error) = request.call().await else { return Ok(Commit::Done) };
            let failure = classify_and_count(&error);
            if matches!(failure, Failure::Throttled) {
                // A limited rate refutes no plan and costs no budget, so the same actions go out until the deadline.
                attempts.uncount();
                continue;
            }
            retry::charge();
            match failure {
                Failure::Condition => return Ok(Commit::Stale),
                // Another attempt could succeed where the first was written, or fail because of it. Only the caller
                // can find out, by its request id (docs/explanation/concurrency.md).
                Failure::Ambiguous => return Ok(Commit::Unknown),
                Failure::Refused => return Err(Error::NotTaken(describe(&error))),
                Failure::Denied => return Err(Error::Denied(describe(&error))),
                Failure::Full => return Err(Error::Full(describe(&error))),
                Failure::Busy | Failure::Throttled => {}
            }
        }
        Ok(Commit::Busy)
    }

    /// Writes records without conditions, in as many requests as necessary.
    ///
    /// The write is not atomic. It suits records that nothing refers to yet, or whose content is the same for every
    /// writer.
    pub(crate) async fn put_all(&self, records: Vec<Attributes>) -> Result<(), Error> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for record in records {
            let more = size::of_record(&record);
            if batch.len() == BATCH_MAX || bytes + more > BYTES_MAX {
                self.write_batch(std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
            bytes += more;
            batch.push(put_request(record)?);
        }
        if batch.is_empty() { Ok(()) } else { self.write_batch(batch).await }
    }

    /// Removes the records that exist under these keys. The removal is not atomic.
    pub(crate) async fn remove_all(&self, keys: Vec<Key>) -> Result<(), Error> {
        for some in keys.chunks(BATCH_MAX) {
            let requests = some.iter().cloned().map(delete_request).collect::<Result<_, _>>()?;
            self.write_batch(requests).await?;
        }
        Ok(())
    }

    async fn write_batch(&self, mut requests: Vec<WriteRequest>) -> Result<(), Error> {
        let mut attempts = retry::BATCH.attempts();
        while attempts.next().await.is_some() {
            let sent = requests.len();
            let batch = self.client.batch_write_item().request_items(&self.name, requests.clone());
            let reply = match batch.call().await {
                Err(error) if error.code().is_some_and(is_throttle) => {
                    attempts.uncount();
                    continue;
                }
                reply => reply?,
            };
            // DynamoDB may process a part of a batch and return the rest. Only the rest is sent again.
            requests = reply
                .unprocessed_items
                .and_then(|mut unprocessed| unprocessed.remove(&self.name))
                .unwrap_or_default();
            if requests.is_empty() {
                return Ok(());
            }
            if requests.len() < sent {
                attempts.uncount();
            }
        }
        Err(Error::Unavailable("DynamoDB did not process a batch of writes".to_owned()))
    }
}

fn put_request(attributes: Attributes) -> Result<WriteRequest, Error> {
    let put = PutRequest::builder()
        .set_item(Some(attributes))
        .build()
        .map_err(|error| Error::corrupt("put", error))?;
    Ok(WriteRequest::builder().put_request(put).build())
}

fn delete_request(key: Key) -> Result<WriteRequest, Error> {
    let delete = DeleteRequest::builder().set_key(Some(key.into())).build();
    let delete = delete.map_err(|error| Error::corrupt("delete", error))?;
    Ok(WriteRequest::builder().delete_request(delete).build())
}

/// The meaning of a failed transaction.
enum Failure {
    Condition,
    /// The transaction met a conflict, and is certainly not written.
    Busy,
    /// The transaction was above the rate of the table, and is certainly not written.
    Throttled,
    /// The transaction may or may not be written.
    Ambiguous,
    /// The table rejects the request as invalid: a defect.
    Refused,
    /// The function lacks a permission, or the table does not exist.
    Denied,
    /// The disk of another engine is full.
    Full,
}

/// Classifies a failure and counts a conflict for the metrics of the request.
fn classify_and_count<R>(error: &SdkError<TransactWriteItemsError, R>) -> Failure {
    let failure = classify(error);
    if matches!(failure, Failure::Condition | Failure::Busy | Failure::Throttled) {
        count_conflict();
    }
    failure
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's errors are an open set")]
fn classify<R>(error: &SdkError<TransactWriteItemsError, R>) -> Failure {
    // Timeouts, broken connections and unreadable answers: the request may have reached the table.
    let SdkError::ServiceError(service) = error else { return Failure::Ambiguous };
    if is_full(error) {
        return Failure::Full;
    }
    match service.err() {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => {
            // The reasons come in the order of the actions. A failed condition wins over a conflict next to it,
            // because a retry with the same actions would fail on that condition again.
            let codes = || cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code());
            if codes().any(|code| code == "ConditionalCheckFailed") {
                Failure::Condition
            } else if codes()
                .any(|code| code == "ValidationError" || code == "ItemCollectionSizeLimitExceeded")
            {
                Failure::Refused
            } else if codes().any(is_throttle) {
                Failure::Throttled
            } else {
                Failure::Busy
            }
        }
        // A retry of the SDK while its first attempt still runs, or an error after the write: both leave the outcome
        // open.
        TransactWriteItemsError::TransactionInProgressException(_)
        | TransactWriteItemsError::InternalServerError(_) => Failure::Ambiguous,
        TransactWriteItemsError::ProvisionedThroughputExceededException(_)
        | TransactWriteItemsError::RequestLimitExceeded(_)
        | TransactWriteItemsError::ThrottlingException(_) => Failure::Throttled,
        TransactWriteItemsError::IdempotentParameterMismatchException(_) => Failure::Refused,
        TransactWriteItemsError::ResourceNotFoundException(_)
        | TransactWriteItemsError::InvalidEndpointException(_) => Failure::Denied,
        unhandled => by_code(unhandled.code()),
    }
}

/// Returns whether an error code means that a rate is exceeded.
fn is_throttle(code: &str) -> bool {
    matches!(
        code,
        "ThrottlingError"
            | "ThrottlingException"
            | "ProvisionedThroughputExceeded"
            | "ProvisionedThroughputExceededException"
            | "RequestLimitExceeded"
    )
}

/// Returns the meaning of an error that the SDK does not model, by its code.
fn by_code(code: Option<&str>) -> Failure {
    match code {
        Some(code) if is_throttle(code) => Failure::Throttled,
        Some("ValidationException") => Failure::Refused,
        Some(code) if denial(code).is_some() => Failure::Denied,
        Some(_) | None => Failure::Ambiguous,
    }
}
