//! The SDK calls of the table, each behind one boxed future.
//!
//! Rust compiles an `async` function into every program that awaits it, and one SDK call is a lot of code. A boxed
//! future is compiled once, in this crate, and the futures that await it stay small.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation;
use std::pin::Pin;

/// The boxed future of a call.
pub(crate) type Calling<T, E> = Pin<Box<dyn Future<Output = Result<T, SdkError<E>>> + Send>>;

/// A request builder of the SDK whose call can be boxed.
pub(crate) trait Call {
    type Output;
    type Error;

    fn call(self) -> Calling<Self::Output, Self::Error>;
}

macro_rules! calls {
    ($($operation:ident: $builder:ident, $output:ident, $error:ident;)*) => {
        $(impl Call for operation::$operation::builders::$builder {
            type Output = operation::$operation::$output;
            type Error = operation::$operation::$error;

            fn call(self) -> Calling<Self::Output, Self::Error> {
                Box::pin(self.send())
            }
        })*
    };
}

calls! {
    batch_get_item: BatchGetItemFluentBuilder, BatchGetItemOutput, BatchGetItemError;
    batch_write_item: BatchWriteItemFluentBuilder, BatchWriteItemOutput, BatchWriteItemError;
    create_table: CreateTableFluentBuilder, CreateTableOutput, CreateTableError;
    describe_table: DescribeTableFluentBuilder, DescribeTableOutput, DescribeTableError;
    get_item: GetItemFluentBuilder, GetItemOutput, GetItemError;
    put_item: PutItemFluentBuilder, PutItemOutput, PutItemError;
    query: QueryFluentBuilder, QueryOutput, QueryError;
    scan: ScanFluentBuilder, ScanOutput, ScanError;
    transact_get_items: TransactGetItemsFluentBuilder, TransactGetItemsOutput, TransactGetItemsError;
    transact_write_items: TransactWriteItemsFluentBuilder, TransactWriteItemsOutput, TransactWriteItemsError;
    update_item: UpdateItemFluentBuilder, UpdateItemOutput, UpdateItemError;
}
