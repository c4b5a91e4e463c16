//! The list of request shapes, by which `tests/engines/run` chooses the tests for the second engine.

use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::Running;

#[test]
fn a_test_with_a_request_of_an_unlisted_shape_fails() {
    let system = Running::demo();
    let query = json!({
        "TableName": system.tables.table,
        "IndexName": "gs3",
        "KeyConditionExpression": "#pk = :pk AND begins_with(gs3sk, :unlisted)",
        "ExpressionAttributeNames": {"#pk": "gs3pk"},
        "ExpressionAttributeValues": {":pk": {"S": "one"}, ":unlisted": {"S": "two"}},
    });
    system.engine("DynamoDB_20120810.Query", &query);
    let failure = catch_unwind(AssertUnwindSafe(move || drop(system))).unwrap_err();
    let shape =
        "Query table IndexName=gs3 KeyCondition(gs3pk = :pk AND begins_with(gs3sk, :unlisted)) -> done";
    let text = failure.downcast_ref::<String>().unwrap();
    assert!(text.lines().any(|line| line == shape), "{text}");
}
