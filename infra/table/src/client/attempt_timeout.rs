//! The timeouts of an attempt, by operation.
//!
//! The SDK sends a call again after the timeout of an attempt, so a short one replaces a stalled connection quickly.

use aws_sdk_dynamodb::config::interceptors::BeforeSerializationInterceptorContextMut;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint;
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use dovetail_aws::Endpoint;
use std::time::Duration;

/// Timeout of a read of single records, which DynamoDB answers in milliseconds.
const RECORD_READ: Duration = Duration::from_secs(1);

/// Timeout of any other call: writes, pages of a query and batches of reads.
///
/// A page has up to 1 MB and a batch up to 16 MB. A large submission reads many of them concurrently, and the function
/// decodes them on a fraction of a CPU. With a timeout of one second, the last ones would expire unread.
const OTHER: Duration = Duration::from_secs(3);

/// Returns the timeouts of a client, based on its default timeouts; none if these apply.
///
/// Another engine may be slow, and an operator may have a slow connection to AWS. In both cases, the default timeouts
/// apply. A function reaches another engine by the environment variable of the SDK, which sets `url`.
pub(super) fn timeouts(
    endpoint: &Endpoint,
    url: Option<&str>,
    default: Option<&TimeoutConfig>,
) -> Option<TimeoutConfig> {
    match (endpoint, url) {
        (Endpoint::Aws, None) | (Endpoint::Through(_), _) => default.map(|default| with(default, OTHER)),
        (Endpoint::Aws, Some(_)) | (Endpoint::Account(_) | Endpoint::Engine(_), _) => None,
    }
}

fn with(timeouts: &TimeoutConfig, attempt: Duration) -> TimeoutConfig {
    timeouts.to_builder().operation_attempt_timeout(attempt).build()
}

/// The interceptor of the SDK client that sets the timeout of reads of single records.
#[derive(Debug)]
pub(super) struct RecordReads;

#[dyn_dispatch_hint]
impl Intercept for RecordReads {
    fn name(&self) -> &'static str {
        "RecordReads"
    }

    fn modify_before_serialization(
        &self,
        _: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let operation = config.load::<Metadata>().map(Metadata::name);
        let reads_records = matches!(operation, Some("GetItem" | "TransactGetItems"));
        let timeouts = config.load::<TimeoutConfig>().filter(|_| reads_records);
        if let Some(timeouts) = timeouts.map(|timeouts| with(timeouts, RECORD_READ)) {
            config.interceptor_state().store_put(timeouts);
        }
        Ok(())
    }
}
