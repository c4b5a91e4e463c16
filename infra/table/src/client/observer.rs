//! The observer of the calls: reports each call to the request that awaits it (docs/reference/figures/costs.md).
//!
//! DynamoDB reports no units for a failed condition or a cancelled transaction, although they consume some. A call
//! without units counts only as a call and a round trip. All attempts of the SDK for one call count as one call.

use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextMut, BeforeSerializationInterceptorContextRef,
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::{
    batch_get_item::{BatchGetItemInput, BatchGetItemOutput},
    batch_write_item::{BatchWriteItemInput, BatchWriteItemOutput},
    delete_item::{DeleteItemInput, DeleteItemOutput},
    get_item::{GetItemInput, GetItemOutput},
    put_item::{PutItemInput, PutItemOutput},
    query::{QueryInput, QueryOutput},
    scan::{ScanInput, ScanOutput},
    transact_get_items::{TransactGetItemsInput, TransactGetItemsOutput},
    transact_write_items::{TransactWriteItemsInput, TransactWriteItemsOutput},
    update_item::{UpdateItemInput, UpdateItemOutput},
};
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};
use aws_smithy_runtime_api::client::interceptors::context::{Input, Output};
use aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint;
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use dovetail_aws::{Cost, OpenCall, Units};

/// The interceptor of the SDK client.
#[derive(Debug)]
pub(crate) struct Observer;

#[dyn_dispatch_hint]
impl Intercept for Observer {
    fn name(&self) -> &'static str {
        "Observer"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        config.interceptor_state().store_put(OpenCall::begin());
        Ok(())
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        request_capacity(context.input_mut());
        Ok(())
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(call) = config.load::<OpenCall>() {
            let operation = config.load::<Metadata>();
            call.attempt(|| operation.map(|metadata| metadata.name().to_owned()).unwrap_or_default());
        }
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(call) = config.load::<OpenCall>() {
            let output = context.output_or_error().and_then(Result::ok);
            call.add(output.map_or(Cost::of_call(), consumed));
        }
        Ok(())
    }
}

/// Makes a call request its consumed capacity, as one total for the table and its indexes.
fn request_capacity(input: &mut Input) {
    macro_rules! request_capacity {
        ($($operation:ty),+) => {
            $(if let Some(input) = input.downcast_mut::<$operation>() {
                input.return_consumed_capacity = Some(ReturnConsumedCapacity::Total);
            })+
        };
    }
    request_capacity!(GetItemInput, BatchGetItemInput, QueryInput, ScanInput, TransactGetItemsInput);
    request_capacity!(
        PutItemInput,
        UpdateItemInput,
        DeleteItemInput,
        BatchWriteItemInput,
        TransactWriteItemsInput
    );
}

/// Returns the cost of a call from its response.
fn consumed(output: &Output) -> Cost {
    let mut cost = Cost::of_call();
    macro_rules! count {
        ($kind:expr; $($operation:ty),+) => {
            $(if let Some(output) = output.downcast_ref::<$operation>() {
                output.consumed_capacity().into_iter().for_each(|capacity| count(&mut cost, $kind, capacity));
            })+
        };
    }
    count!(Kind::Read; GetItemOutput, BatchGetItemOutput, QueryOutput, ScanOutput, TransactGetItemsOutput);
    count!(Kind::Write; PutItemOutput, UpdateItemOutput, DeleteItemOutput);
    count!(Kind::Write; BatchWriteItemOutput, TransactWriteItemsOutput);
    cost
}

/// The effect of an operation, for a total that does not name its kind.
#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}

/// Adds the total of one table.
fn count(cost: &mut Cost, kind: Kind, capacity: &ConsumedCapacity) {
    let units = Units::of(capacity.capacity_units().unwrap_or_default());
    // The total is the only reliable number: some engines leave the indexes out of the numbers by kind. A write that
    // reports read units alone is a repeated transaction, for which DynamoDB charges reads.
    let is_read = capacity.read_capacity_units().is_some() && capacity.write_capacity_units().is_none();
    match kind {
        Kind::Write if !is_read => cost.consume(units, Units::default()),
        Kind::Read | Kind::Write => cost.consume(Units::default(), units),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_counts_as_what_the_operation_does_unless_it_says_what_it_counts() {
        let consumed = |plain, write, read| {
            ConsumedCapacity::builder()
                .set_capacity_units(plain)
                .set_write_capacity_units(write)
                .set_read_capacity_units(read)
                .build()
        };
        let table = [
            (Kind::Read, consumed(Some(2.5), None, None), "0", "2.5"),
            (Kind::Write, consumed(Some(3.0), None, None), "3", "0"),
            (Kind::Write, consumed(Some(3.0), Some(3.0), None), "3", "0"),
            // Only the total includes the index.
            (Kind::Write, consumed(Some(3.0), Some(2.0), None), "3", "0"),
            (Kind::Write, consumed(Some(2.0), None, Some(2.0)), "0", "2"),
            (Kind::Read, consumed(Some(4.0), None, Some(4.0)), "0", "4"),
            (Kind::Read, consumed(None, None, None), "0", "0"),
        ];
        for (kind, capacity, write, read) in table {
            let mut cost = Cost::default();
            count(&mut cost, kind, &capacity);
            let actual = (cost.write_units.to_string(), cost.read_units.to_string());
            assert_eq!(actual, (write.to_owned(), read.to_owned()), "{capacity:?}");
        }
    }

    #[test]
    fn replies_are_read_by_their_operation() {
        let capacity = || ConsumedCapacity::builder().capacity_units(1.5).build();
        let table = [
            (Output::erase(QueryOutput::builder().consumed_capacity(capacity()).build()), "0", "1.5"),
            (Output::erase(PutItemOutput::builder().consumed_capacity(capacity()).build()), "1.5", "0"),
            (
                Output::erase(
                    BatchGetItemOutput::builder()
                        .consumed_capacity(capacity())
                        .consumed_capacity(capacity())
                        .build(),
                ),
                "0",
                "3",
            ),
            (Output::erase("another operation's".to_owned()), "0", "0"),
        ];
        for (output, write, read) in table {
            let cost = consumed(&output);
            let actual = (cost.write_units.to_string(), cost.read_units.to_string());
            assert_eq!(actual, (write.to_owned(), read.to_owned()), "{output:?}");
            assert_eq!((cost.round_trips, cost.calls), (1, 1));
        }
    }

    #[test]
    fn every_operation_requests_its_capacity() {
        macro_rules! assert_requested {
            ($($operation:ident),+) => {
                $(let mut input = Input::erase($operation::builder().build().unwrap());
                request_capacity(&mut input);
                let requested = input.downcast_ref::<$operation>().unwrap().return_consumed_capacity();
                assert_eq!(requested, Some(&ReturnConsumedCapacity::Total), stringify!($operation));)+
            };
        }
        assert_requested!(GetItemInput, BatchGetItemInput, QueryInput, ScanInput, TransactGetItemsInput);
        assert_requested!(PutItemInput, UpdateItemInput, DeleteItemInput, BatchWriteItemInput);
        assert_requested!(TransactWriteItemsInput);
    }
}
