//! The size of records and requests as DynamoDB counts it: names and values, without the JSON around them.

use super::attributes::Attributes;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};

/// Returns the bytes of the actions of a transaction.
pub(crate) fn of_actions(actions: &[TransactWriteItem]) -> usize {
    actions.iter().map(of_action).sum()
}

fn of_action(action: &TransactWriteItem) -> usize {
    let put = action.put().map_or(0, |put| of_record(put.item()));
    let update = action.update().and_then(|update| update.expression_attribute_values());
    // Keys and the values of a condition are small; only records can approach the limit of 4 MB.
    put + update.map_or(0, of_record)
}

/// Returns the bytes of a record: attribute names and values.
pub(crate) fn of_record(attributes: &Attributes) -> usize {
    attributes.iter().map(|(name, value)| name.len() + of_value(value)).sum()
}

fn of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        // DynamoDB stores two digits in a byte. The estimate is never too low, so a check against it is safe.
        AttributeValue::N(number) => number.len() / 2 + 2,
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + of_value(value)).sum::<usize>(),
        AttributeValue::M(map) => {
            3 + map.iter().map(|(name, value)| 1 + name.len() + of_value(value)).sum::<usize>()
        }
        // Booleans and nulls take one byte. Sets do not occur in any record.
        AttributeValue::Bool(_) | AttributeValue::Null(_) | _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_count() {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let list = AttributeValue::L(vec![text("abc"), AttributeValue::Bool(true)]);
        let map = AttributeValue::M(Attributes::from([("ab".to_owned(), text("c"))]));
        let record = Attributes::from([
            ("pk".to_owned(), text("12345")),
            ("n".to_owned(), AttributeValue::N("123456".to_owned())),
            ("l".to_owned(), list),
            ("m".to_owned(), map),
        ]);
        assert_eq!(of_record(&record), (2 + 5) + (1 + 5) + (1 + 3 + 4 + 2) + (1 + 3 + 1 + 2 + 1));
    }
}
