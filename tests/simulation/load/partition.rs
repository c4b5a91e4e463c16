//! Partitions, and the units that a request takes from each.

use embedded::{Key, item_bytes, key_of};
use serde_json::{Map, Value};

/// Indexes of the table, with their partition keys.
const INDEXES: [(&str, &str); 3] = [("gs1", "gs1pk"), ("gs2", "gs2pk"), ("gs3", "gs3pk")];

/// The index that contains all attributes. The others contain keys, so an entry takes one unit.
const COMPLETE: &str = "gs1";

/// A thousand thousandths are one unit.
const UNIT: u64 = 1_000;

/// A partition key of a table or of an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// Name of the table or of the index.
    pub of: String,
    /// Value of the partition key.
    pub key: String,
}

impl Partition {
    pub fn new(of: &str, key: &str) -> Self {
        Self { of: of.to_owned(), key: key.to_owned() }
    }
}

/// One record of a write, with the effect on it.
#[derive(Clone, Debug)]
pub struct Part {
    /// Name of the table.
    pub table: String,
    pub key: Key,
    pub effect: Effect,
    /// Whether a condition compares a value of the record. Then each other write of the record makes it fail.
    pub is_fenced: bool,
}

/// The effect of a write on one record.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The record becomes this row.
    Put(Value),
    Update,
    Delete,
    /// Only a condition. It takes units like a write.
    Check,
}

impl Part {
    fn new(table: &Value, action: &Value, effect: Effect) -> Option<Self> {
        let key = match &effect {
            Effect::Put(row) => key_of(row),
            Effect::Update | Effect::Delete | Effect::Check => key_of(&action["Key"]),
        };
        let is_fenced = action["ConditionExpression"].as_str().is_some_and(|text| text.contains(" = "));
        Some(Self { table: table.as_str()?.to_owned(), key: key?, effect, is_fenced })
    }

    /// Returns the partitions of the entries of a row in the indexes.
    fn entries(row: Option<&Value>) -> impl Iterator<Item = (&'static str, &str)> {
        let key = move |attribute| row?.get(attribute)?.get("S")?.as_str();
        INDEXES.into_iter().filter_map(move |(index, attribute)| Some((index, key(attribute)?)))
    }

    /// Returns the partitions that must have units left: the table's, and those of the entries before and after.
    pub fn partitions(&self, before: Option<&Value>) -> Vec<Partition> {
        let after = match &self.effect {
            Effect::Put(row) => Some(row),
            Effect::Update | Effect::Delete | Effect::Check => None,
        };
        let entries = Self::entries(before).chain(Self::entries(after));
        let entries = entries.map(|(index, key)| Partition::new(index, key));
        std::iter::once(Partition::new(&self.table, &self.key.0)).chain(entries).collect()
    }

    /// Returns the units by partition, in thousandths. A transaction takes twice the units of the table.
    pub fn units(
        &self,
        before: Option<&Value>,
        after: Option<&Value>,
        in_transaction: bool,
    ) -> Vec<(Partition, u64)> {
        let bytes = [before, after].into_iter().flatten().map(item_bytes).max().unwrap_or_default();
        let of_table = write_units(bytes) * if in_transaction { 2 } else { 1 };
        let mut units = vec![(Partition::new(&self.table, &self.key.0), of_table)];
        for (index, attribute) in INDEXES {
            units.extend(entry_units(index, attribute, before, after));
        }
        units
    }
}

/// Returns the units of an index: none for an unchanged entry, and two writes for an entry that moves.
fn entry_units(
    index: &str,
    attribute: &str,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Vec<(Partition, u64)> {
    let sort = attribute.replace("pk", "sk");
    let text = |row: Option<&Value>, name: &str| Some(row?.get(name)?.get("S")?.as_str()?.to_owned());
    let position = |row| text(row, attribute).zip(text(row, &sort));
    let size = |row: Option<&Value>| match row {
        Some(row) if index == COMPLETE => write_units(item_bytes(row)),
        Some(_) | None => UNIT,
    };
    let entry = |row, (key, _): &(String, String)| (Partition::new(index, key), size(row));
    match (position(before), position(after)) {
        (None, None) => Vec::new(),
        (Some(old), None) => vec![entry(before, &old)],
        (None, Some(new)) => vec![entry(after, &new)],
        (Some(old), Some(new)) if old != new => vec![entry(before, &old), entry(after, &new)],
        (Some(_), Some(_)) if index != COMPLETE || before == after => Vec::new(),
        (Some(_), Some(new)) => vec![(Partition::new(index, &new.0), size(before).max(size(after)))],
    }
}

/// Returns the write units of a record: one for each KB begun.
fn write_units(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(1_024).max(1)).unwrap_or(u64::MAX) * UNIT
}

/// Returns the records of a write, in the order of the request.
pub fn parts(operation: &str, request: &Value) -> Vec<Part> {
    let table = &request["TableName"];
    let parts: Vec<Option<Part>> = match operation {
        "PutItem" => vec![Part::new(table, request, Effect::Put(request["Item"].clone()))],
        "UpdateItem" => vec![Part::new(table, request, Effect::Update)],
        "DeleteItem" => vec![Part::new(table, request, Effect::Delete)],
        "TransactWriteItems" => request["TransactItems"].as_array().unwrap().iter().map(of_action).collect(),
        "BatchWriteItem" => of_batch(request).map(|(table, _, write)| of_write(&table, write)).collect(),
        _ => Vec::new(),
    };
    parts.into_iter().map(Option::unwrap).collect()
}

/// Returns the keys that a request writes.
pub fn written(operation: &str, request: &Value) -> Vec<Key> {
    let parts = parts(operation, request).into_iter();
    parts.filter(|part| !matches!(part.effect, Effect::Check)).map(|part| part.key).collect()
}

fn of_action(action: &Value) -> Option<Part> {
    let (kind, action) = action.as_object()?.iter().find(|(_, action)| action.is_object())?;
    let effect = match kind.as_str() {
        "Put" => Effect::Put(action["Item"].clone()),
        "Update" => Effect::Update,
        "Delete" => Effect::Delete,
        _ => Effect::Check,
    };
    Part::new(&action["TableName"], action, effect)
}

fn of_write(table: &str, write: &Value) -> Option<Part> {
    let table = Value::from(table);
    match write.get("PutRequest") {
        Some(put) => Part::new(&table, put, Effect::Put(put["Item"].clone())),
        None => Part::new(&table, &write["DeleteRequest"], Effect::Delete),
    }
}

/// Returns the parts of a batch of writes or reads: table, whether the read is strongly consistent, and part.
fn of_batch(request: &Value) -> impl Iterator<Item = (String, bool, &Value)> {
    request["RequestItems"].as_object().into_iter().flatten().flat_map(|(table, wanted)| {
        let parts = wanted.get("Keys").unwrap_or(wanted).as_array();
        let is_consistent = wanted["ConsistentRead"] == true;
        parts.into_iter().flatten().map(move |part| (table.clone(), is_consistent, part))
    })
}

/// Returns the partitions that a read uses: one for each key of a batch, or one.
pub fn read_partitions(operation: &str, request: &Value) -> Vec<Partition> {
    let table = request["TableName"].as_str().unwrap_or_default();
    match operation {
        "GetItem" => vec![Partition::new(table, request["Key"]["pk"]["S"].as_str().unwrap())],
        "BatchGetItem" => of_batch(request)
            .map(|(table, _, key)| Partition::new(&table, key["pk"]["S"].as_str().unwrap()))
            .collect(),
        "Query" => {
            let condition = request["KeyConditionExpression"].as_str().unwrap();
            let value = condition.split_once(" = ").unwrap().1.split_whitespace().next().unwrap();
            let key = request["ExpressionAttributeValues"][value]["S"].as_str().unwrap();
            vec![Partition::new(request["IndexName"].as_str().unwrap_or(table), key)]
        }
        // Clients never scan or define a table.
        _ => Vec::new(),
    }
}

/// Returns the writes, or the keys to read, of a table in a batch.
pub fn batch_parts(wanted: &mut Value) -> &mut Value {
    if wanted.is_array() { wanted } else { &mut wanted["Keys"] }
}

/// Divides a batch. Leaves the admitted parts in the request, and returns the others, if there are any.
pub fn divide(request: &mut Value, is_admitted: &[bool]) -> Option<Value> {
    let mut admitted = is_admitted.iter();
    let mut left = Map::new();
    for (table, wanted) in request["RequestItems"].as_object_mut().unwrap() {
        let all = std::mem::take(batch_parts(wanted).as_array_mut().unwrap());
        let (stays, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|_| admitted.next() == Some(&true));
        *batch_parts(wanted) = Value::Array(stays);
        if !rest.is_empty() {
            let mut unprocessed = wanted.clone();
            *batch_parts(&mut unprocessed) = Value::Array(rest);
            left.insert(table.clone(), unprocessed);
        }
    }
    (!left.is_empty()).then_some(Value::Object(left))
}

/// Returns the units of a reply, in thousandths, as the engine counts them.
pub fn consumed(reply: &Value) -> u64 {
    // A batch and a transaction have one capacity for each table.
    let capacity = &reply["ConsumedCapacity"];
    let capacities = capacity.as_array().map_or(std::slice::from_ref(capacity), Vec::as_slice);
    let units = capacities.iter().filter_map(|one| one["CapacityUnits"].as_f64());
    units.map(|units| dovetail_aws::Units::of(units).thousandths()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_batch_is_divided_by_its_parts() {
        let put = |key: &str| json!({"PutRequest": {"Item": {"pk": {"S": key}, "sk": {"S": key}}}});
        let mut request = json!({"RequestItems": {"t": [put("a"), put("b"), put("c")]}});
        let left = divide(&mut request, &[true, false, true]);
        assert_eq!(left, Some(json!({"t": [put("b")]})));
        assert_eq!(request, json!({"RequestItems": {"t": [put("a"), put("c")]}}));
        assert_eq!(divide(&mut request, &[true, true]), None);
        let key = |key: &str| json!({"pk": {"S": key}, "sk": {"S": key}});
        let mut request =
            json!({"RequestItems": {"t": {"Keys": [key("a"), key("b")], "ConsistentRead": true}}});
        let left = divide(&mut request, &[false, true]);
        assert_eq!(left, Some(json!({"t": {"Keys": [key("a")], "ConsistentRead": true}})));
        assert_eq!(read_partitions("BatchGetItem", &request), [Partition::new("t", "b")]);
    }

    #[test]
    fn an_entry_that_moves_takes_two_writes() {
        let row = |place: &str, extra: &str| {
            json!({"pk": {"S": "p"}, "sk": {"S": "s"}, "gs1pk": {"S": place}, "gs1sk": {"S": "1"},
                   "gs3pk": {"S": "w"}, "gs3sk": {"S": "1"}, "x": {"S": extra}})
        };
        let key = json!({"Key": {"pk": {"S": "p"}, "sk": {"S": "s"}}});
        let part = Part::new(&json!("t"), &key, Effect::Update).unwrap();
        let units = |before: Option<&Value>, after: Option<&Value>| {
            let units = part.units(before, after, true);
            units.into_iter().map(|(at, units)| format!("{}/{} {units}", at.of, at.key)).collect::<Vec<_>>()
        };
        let large = "x".repeat(1_500);
        let (a, b, long) = (row("a", ""), row("b", ""), row("a", &large));
        assert_eq!(units(None, Some(&a)), ["t/p 2000", "gs1/a 1000", "gs3/w 1000"]);
        assert_eq!(units(Some(&a), Some(&b)), ["t/p 2000", "gs1/a 1000", "gs1/b 1000"]);
        assert_eq!(units(Some(&a), Some(&long)), ["t/p 4000", "gs1/a 2000"]);
        assert_eq!(units(Some(&long), None), ["t/p 4000", "gs1/a 2000", "gs3/w 1000"]);
        assert_eq!(units(Some(&a), Some(&a)), ["t/p 2000"]);
    }
}
