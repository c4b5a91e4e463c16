//! The calls of the table.
//!
//! What an `async` function does is compiled where it is awaited, into each program, and what the SDK does for one call
//! is a lot. Behind a pointer it is compiled here, once, and no future that awaits it is large.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation;
use std::pin::Pin;

/// A call that is under way.
pub(crate) type Calling<T, E> = Pin<Box<dyn Future<Output = Result<T, SdkError<E>>> + Send>>;

/// A request that is ready to be sent.
pub(crate) trait Call {
    /// What is answered.
    type Output;
    /// Why it may not be.
    type Error;

    /// Sends it.
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
