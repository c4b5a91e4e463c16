//! The query of a partition of the table or of an index, from one position to another.

use crate::client::Table;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue;

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// A partition of the table or of an index, or its part with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// Number of the index; `None` means the table. `gs1` holds whole records, the others only keys.
    pub(super) index: Option<u8>,
    pub(super) pk: String,
    pub(super) prefix: Option<String>,
    /// Sort key of the first row; `None` means the start of the partition.
    pub(super) from: Option<String>,
    /// Sort key of the last row; `None` means the end of the partition.
    pub(super) to: Option<String>,
}

impl Table {
    /// Returns the query of the rows of a partition after a position.
    pub(super) fn query(
        &self,
        partition: &Partition,
        direction: Direction,
        after: Option<&str>,
    ) -> QueryFluentBuilder {
        let (pk, sk) = partition.index.map_or_else(
            || ("pk".to_owned(), "sk".to_owned()),
            |index| (format!("gs{index}pk"), format!("gs{index}sk")),
        );
        let mut query = self
            .client
            .query()
            .table_name(&self.name)
            // DynamoDB does not allow consistent reads of a global secondary index.
            .consistent_read(partition.index.is_none())
            .set_index_name(partition.index.map(|index| format!("gs{index}")))
            .scan_index_forward(direction == Direction::Ascending)
            .expression_attribute_names("#pk", pk)
            .expression_attribute_values(":pk", AttributeValue::S(partition.pk.clone()));
        let (low, high) = bounds(partition, direction, after);
        let condition = match (&low, &high) {
            (None, None) => "#pk = :pk",
            (Some(_), None) => "#pk = :pk AND #sk >= :low",
            (None, Some(_)) => "#pk = :pk AND #sk <= :high",
            (Some(_), Some(_)) => "#pk = :pk AND #sk BETWEEN :low AND :high",
        };
        if low.is_some() || high.is_some() {
            query = query.expression_attribute_names("#sk", sk);
        }
        for (name, bound) in [(":low", low), (":high", high)] {
            if let Some(bound) = bound {
                query = query.expression_attribute_values(name, AttributeValue::S(bound));
            }
        }
        query.key_condition_expression(condition)
    }
}

/// Returns the first and last sort key of a query.
///
/// DynamoDB has no open range with two ends, so the range includes `after`, and the reader skips it.
fn bounds(
    partition: &Partition,
    direction: Direction,
    after: Option<&str>,
) -> (Option<String>, Option<String>) {
    let Partition { prefix, from, to, .. } = partition;
    let low = from.clone().or_else(|| prefix.clone());
    // Sort keys are ASCII, so this sorts after every key with the prefix.
    let all = || prefix.as_ref().map(|prefix| format!("{prefix}\u{7f}"));
    let high = to.clone().or_else(all);
    match (after.map(str::to_owned), direction) {
        (None, _) => (low, high),
        (Some(after), Direction::Ascending) => (Some(after), high),
        (Some(after), Direction::Descending) => (low, Some(after)),
    }
}
