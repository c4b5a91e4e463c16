//! Committing: one transaction, all or nothing, with bounded and jittered retries (docs/explanation/architecture.md, lost answers).

use crate::call::Call as _;
use crate::error::{denial, describe, is_full};
use crate::key::Key;
use crate::record::Attributes;
use crate::{Error, Table, size, spent, statement};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, TransactWriteItem, WriteRequest};
use domain::write::Write;
use dovetail_aws::pause;

/// How many actions a transaction takes.
pub const ACTIONS_MAX: usize = 100;

/// How many bytes a transaction holds; DynamoDB takes 4 MB.
const BYTES_MAX: usize = 3_500_000;

/// How many records one batch write takes.
const BATCH_MAX: usize = 25;

/// How often a write that the table refuses for now is tried again as it is; then its decision is made anew,
/// and both together stay well below the 30 seconds that API Gateway waits.
const RETRIES_MAX: u32 = 5;

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It is written.
    Done,
    /// A condition did not hold: something it was decided on has moved, or it was written before.
    ///
    /// Never to be taken for "not written" without a look at the own mark: the answer to a first, successful
    /// attempt may have been lost below us.
    Stale,
    /// It met other traffic each time it was tried.
    Busy,
    /// Nobody knows; the own mark tells.
    Unknown,
    /// It has more writes or bytes than a transaction takes; nothing was sent.
    TooLarge,
}

impl Table {
    /// How many writes a submission makes at once; a larger one is staged.
    pub const fn actions_max(&self) -> usize {
        self.actions_max
    }

    /// Writes all of `writes` or nothing.
    pub async fn commit(&self, writes: &[Write]) -> Result<Commit, Error> {
        if writes.len() > ACTIONS_MAX {
            return Ok(Commit::TooLarge);
        }
        self.transact(|| writes.iter().map(|write| statement::of(&self.name, write)).collect()).await
    }

    /// Sends one transaction. Each attempt takes its actions along: they are made again for the next one, which is rare.
    pub(crate) async fn transact(
        &self,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
    ) -> Result<Commit, Error> {
        let mut attempt = 0;
        loop {
            let actions = actions()?;
            if size::of_actions(&actions) > BYTES_MAX {
                return Ok(Commit::TooLarge);
            }
            let request = self.client.transact_write_items().set_transact_items(Some(actions));
            match request.call().await {
                Ok(_) => return Ok(Commit::Done),
                Err(error) => match told(&error) {
                    Failure::Condition => return Ok(Commit::Stale),
                    Failure::Ambiguous => return Ok(Commit::Unknown),
                    Failure::Refused => return Err(Error::NotTaken(describe(&error))),
                    Failure::Denied => return Err(Error::Denied(describe(&error))),
                    Failure::Full => return Err(Error::Full(describe(&error))),
                    Failure::Busy if attempt < RETRIES_MAX => {}
                    Failure::Busy => return Ok(Commit::Busy),
                },
            }
            pause(attempt).await;
            spent::retry();
            attempt += 1;
        }
    }

    /// Writes records without conditions, in as many requests as it takes: nobody sees them, or they are the same
    /// whoever writes them.
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

    /// Removes records, as far as they exist.
    pub(crate) async fn remove_all(&self, keys: Vec<Key>) -> Result<(), Error> {
        for some in keys.chunks(BATCH_MAX) {
            let requests = some.iter().cloned().map(delete_request).collect::<Result<_, _>>()?;
            self.write_batch(requests).await?;
        }
        Ok(())
    }

    async fn write_batch(&self, mut requests: Vec<WriteRequest>) -> Result<(), Error> {
        for attempt in 0..=RETRIES_MAX {
            let reply = self.client.batch_write_item().request_items(&self.name, requests).call().await?;
            requests = reply
                .unprocessed_items
                .and_then(|mut unprocessed| unprocessed.remove(&self.name))
                .unwrap_or_default();
            if requests.is_empty() {
                return Ok(());
            }
            pause(attempt).await;
        }
        Err(Error::Unavailable("a batch of writes stays unprocessed".to_owned()))
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

/// What a failed transaction means.
enum Failure {
    /// A condition did not hold.
    Condition,
    /// It met other traffic and was certainly not written.
    Busy,
    /// It may have been written.
    Ambiguous,
    /// The table does not take it: a defect.
    Refused,
    /// The function may not do this, or there is no such table.
    Denied,
    /// The storage takes no writes.
    Full,
}

/// The same, noted for the request's metrics.
fn told<R>(error: &SdkError<TransactWriteItemsError, R>) -> Failure {
    let failure = classify(error);
    if matches!(failure, Failure::Condition | Failure::Busy) {
        spent::conflict();
    }
    failure
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's errors are an open set")]
fn classify<R>(error: &SdkError<TransactWriteItemsError, R>) -> Failure {
    let SdkError::ServiceError(service) = error else { return Failure::Ambiguous };
    if is_full(error) {
        return Failure::Full;
    }
    match service.err() {
        TransactWriteItemsError::TransactionCanceledException(cancelled) => {
            let codes = || cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code());
            if codes().any(|code| code == "ConditionalCheckFailed") {
                Failure::Condition
            } else if codes()
                .any(|code| code == "ValidationError" || code == "ItemCollectionSizeLimitExceeded")
            {
                Failure::Refused
            } else {
                Failure::Busy
            }
        }
        TransactWriteItemsError::TransactionInProgressException(_)
        | TransactWriteItemsError::InternalServerError(_) => Failure::Ambiguous,
        TransactWriteItemsError::ProvisionedThroughputExceededException(_)
        | TransactWriteItemsError::RequestLimitExceeded(_) => Failure::Busy,
        TransactWriteItemsError::ThrottlingException(_) => Failure::Busy,
        TransactWriteItemsError::IdempotentParameterMismatchException(_) => Failure::Refused,
        TransactWriteItemsError::ResourceNotFoundException(_)
        | TransactWriteItemsError::InvalidEndpointException(_) => Failure::Denied,
        unhandled => by_code(unhandled.code()),
    }
}

/// What a failure that the SDK does not model means, by its code.
fn by_code(code: Option<&str>) -> Failure {
    match code {
        Some("ThrottlingError") => Failure::Busy,
        Some("ValidationException") => Failure::Refused,
        Some(code) if denial(code).is_some() => Failure::Denied,
        Some(_) | None => Failure::Ambiguous,
    }
}
