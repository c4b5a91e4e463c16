//! The one reader of JSON bodies: a rule for each field, and one error reply with all broken rules.

use crate::call::Call;
use crate::code::Code;
use crate::field::FieldError;
use crate::reply::{Failure, Reply};
use domain::Timestamp;
use domain::base::json;
use domain::model::storable::StorableValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::RangeInclusive;

type Text = Cow<'static, str>;

/// A reader of the fields of a body, which collects the errors, at most one for each field.
pub struct Fields {
    body: Map<String, Value>,
    errors: Vec<FieldError>,
}

/// A field of a body, with the rules so far. `optional`, `nullable`, `or`, `required` or `present` ends the rules.
#[must_use]
pub struct Field<'f, T> {
    fields: &'f mut Fields,
    name: &'static str,
    /// The error text of a value of another type, of an unexpected null, and of an absent required field.
    expected: Text,
    read: Read<T>,
}

enum Read<T> {
    Absent,
    Null,
    /// A value of another type.
    Mistyped,
    /// A value that breaks a rule; contains the error text.
    Invalid(Text),
    Value(T),
}

impl Call {
    /// Returns a reader of the body's fields. [`Call::object`] checks the body first.
    pub fn fields(&self) -> Result<Fields, Failure> {
        Ok(Fields::of(self.object()?))
    }
}

impl Fields {
    /// Creates a reader of a body.
    pub const fn of(body: Map<String, Value>) -> Self {
        Self { body, errors: Vec::new() }
    }

    /// Reads a field with `parse`. Each field can be read once.
    pub fn value<T>(
        &mut self,
        name: &'static str,
        expected: impl Into<Text>,
        parse: impl FnOnce(Value) -> Option<T>,
    ) -> Field<'_, T> {
        let read = match self.body.remove(name) {
            None => Read::Absent,
            Some(Value::Null) => Read::Null,
            Some(value) => parse(value).map_or(Read::Mistyped, Read::Value),
        };
        Field { fields: self, name, expected: expected.into(), read }
    }

    /// Reads a string.
    pub fn string(&mut self, name: &'static str) -> Field<'_, String> {
        let text = |value| if let Value::String(text) = value { Some(text) } else { None };
        self.value(name, "must be a string", text)
    }

    /// Reads a boolean.
    pub fn boolean(&mut self, name: &'static str) -> Field<'_, bool> {
        self.value(name, "must be true or false", |value| value.as_bool())
    }

    /// Reads an integer in a range. The error text calls the integer `what`, such as `an integer number of seconds`.
    pub fn integer(&mut self, name: &'static str, range: RangeInclusive<u64>, what: &str) -> Field<'_, u64> {
        let expected = format!("must be {what} from {} to {}", range.start(), range.end());
        self.value(name, expected, |value| value.as_u64().filter(|number| range.contains(number)))
    }

    /// Reads an enum by name. The error text lists `names`.
    pub fn one_of<T, const N: usize>(
        &mut self,
        name: &'static str,
        names: [&str; N],
        parse: fn(&str) -> Option<T>,
    ) -> Field<'_, T> {
        let expected = format!("must be one of {}", names.join(", "));
        self.value(name, expected, |value| value.as_str().and_then(parse))
    }

    /// Reads a date or a time.
    pub fn timestamp(&mut self, name: &'static str) -> Field<'_, Timestamp> {
        self.value(name, "must be a date or a time", |value| value.as_str().and_then(Timestamp::parse))
    }

    /// Reads an array. The error text calls its entries `entries`, such as `strings`.
    pub fn array(&mut self, name: &'static str, entries: &str) -> Field<'_, Vec<Value>> {
        let list = |value| if let Value::Array(list) = value { Some(list) } else { None };
        self.value(name, format!("must be an array of {entries}"), list)
    }

    /// Reads a JSON object.
    pub fn object(&mut self, name: &'static str) -> Field<'_, Value> {
        self.value(name, "must be a JSON object", |value| value.is_object().then_some(value))
    }

    /// Makes a field absent if it is an empty string.
    pub fn ignore_empty(&mut self, name: &str) {
        if self.body.get(name).is_some_and(|value| value == "") {
            self.body.remove(name);
        }
    }

    /// Returns whether a field has an error so far.
    pub fn is_wrong(&self, name: &str) -> bool {
        self.errors.iter().any(|error| error.field == name)
    }

    /// Adds the error of a field. An earlier error of the field stays instead.
    pub fn refuse(&mut self, name: &str, message: impl Into<String>) {
        if !self.is_wrong(name) {
            self.errors.push(FieldError::new(name, message));
        }
    }

    /// Returns the value, or the reply with all errors in the order of reading.
    ///
    /// A required field is none only after an error, so `value` may use `?` on each of them.
    pub fn finish<T>(self, value: impl FnOnce() -> Option<T>) -> Result<T, Failure> {
        if !self.errors.is_empty() {
            return Err(Reply::invalid_fields(Code::InvalidField, &self.errors).into());
        }
        value().ok_or_else(|| Code::Broken.into())
    }
}

impl<'f, T> Field<'f, T> {
    /// Converts the value, or makes it invalid.
    pub fn parse<U, M: Into<Text>>(self, parse: impl FnOnce(T) -> Result<U, M>) -> Field<'f, U> {
        let Self { fields, name, expected, read } = self;
        let read = match read {
            Read::Absent => Read::Absent,
            Read::Null => Read::Null,
            Read::Mistyped => Read::Mistyped,
            Read::Invalid(message) => Read::Invalid(message),
            Read::Value(value) => parse(value).map_or_else(|why| Read::Invalid(why.into()), Read::Value),
        };
        Field { fields, name, expected, read }
    }

    /// Adds a rule with its error text.
    pub fn ensure(self, holds: impl FnOnce(&T) -> bool, message: impl Into<Text>) -> Self {
        self.parse(|value| if holds(&value) { Ok(value) } else { Err(message) })
    }

    /// Replaces the error text of a value of another type.
    pub fn message(mut self, expected: impl Into<Text>) -> Self {
        self.expected = expected.into();
        self
    }

    /// Sets the error text of null.
    pub fn null(mut self, message: &'static str) -> Self {
        if matches!(self.read, Read::Null) {
            self.read = Read::Invalid(message.into());
        }
        self
    }

    /// Makes the field required, with this error text for an absent one.
    pub fn absent(mut self, message: &'static str) -> Self {
        if matches!(self.read, Read::Absent) {
            self.read = Read::Invalid(message.into());
        }
        self
    }

    /// Accepts null as a value of its own, and mentions it in the error text.
    pub fn or_null(self) -> Field<'f, Option<T>> {
        let expected = self.expected.replacen("must be", "must be null or", 1);
        let mut field = self.parse(|value| Ok::<_, Text>(Some(value))).message(expected);
        if matches!(field.read, Read::Null) {
            field.read = Read::Value(None);
        }
        field
    }

    /// Returns the value; none for an absent or invalid field.
    pub fn optional(self) -> Option<T> {
        match self.read {
            Read::Absent => return None,
            Read::Value(value) => return Some(value),
            Read::Null | Read::Mistyped => self.fields.refuse(self.name, self.expected),
            Read::Invalid(message) => self.fields.refuse(self.name, message),
        }
        None
    }

    /// Returns the value; null counts as absent.
    pub fn nullable(mut self) -> Option<T> {
        if matches!(self.read, Read::Null) {
            self.read = Read::Absent;
        }
        self.optional()
    }

    /// Returns the value, or `default` for an absent or invalid field.
    pub fn or(self, default: T) -> T {
        self.optional().unwrap_or(default)
    }

    /// Returns the value; none only after an error. An absent field gets the error of a value of another type.
    pub fn required(mut self) -> Option<T> {
        if matches!(self.read, Read::Absent) {
            self.read = Read::Mistyped;
        }
        self.optional()
    }

    /// Returns the value; none only after an error. An absent field gets the error `must be present`.
    pub fn present(self) -> Option<T> {
        self.absent("must be present").optional()
    }
}

impl Field<'_, String> {
    /// Adds a maximum length in bytes.
    pub fn max(self, bytes: usize) -> Self {
        self.ensure(|text| text.len() <= bytes, format!("must be at most {bytes} bytes"))
    }

    /// Adds a rule. `problem` returns the error text of a text that breaks it.
    pub fn check<M: Into<Text>>(self, problem: impl FnOnce(&str) -> Option<M>) -> Self {
        self.parse(|text| problem(&text).map_or_else(|| Ok(text), Err))
    }
}

impl Field<'_, Vec<Value>> {
    /// Adds a maximum number of entries. The error text calls the entries `entries`.
    pub fn max(self, count: usize, entries: &str) -> Self {
        self.ensure(|list| list.len() <= count, format!("must have at most {count} {entries}"))
    }
}

impl<'f> Field<'f, Value> {
    /// Converts the value into canonical JSON.
    pub fn canonical(self) -> Field<'f, String> {
        self.parse(|value| Ok::<_, Text>(json::canonical(&value)))
    }

    /// Checks that a record can hold the value. The error text has the size that is accepted, in bytes.
    pub fn storable(self, bytes_max: usize) -> Field<'f, StorableValue> {
        self.parse(|value| StorableValue::new(value).map_err(|reason| reason.message(bytes_max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Content;
    use domain::State;
    use serde_json::json;

    /// Reads the field `x` of `{"x": value}`, or of `{}`, and returns the result and the errors.
    fn read<T>(value: Option<Value>, rules: impl FnOnce(&mut Fields) -> T) -> (T, Vec<String>) {
        let mut fields = Fields::of(value.map(|value| ("x".to_owned(), value)).into_iter().collect());
        let read = rules(&mut fields);
        (read, fields.errors.into_iter().map(|error| format!("{}: {}", error.field, error.message)).collect())
    }

    fn error<T>(value: Value, rules: impl FnOnce(&mut Fields) -> T) -> String {
        read(Some(value), rules).1.concat()
    }

    #[test]
    fn each_ending_treats_absent_null_and_other_types_as_documented() {
        let none = (None, Vec::new());
        let wrong = (None, vec!["x: must be a string".to_owned()]);
        let good = (Some("a".to_owned()), Vec::new());
        let cases = [
            (None, [&none, &none, &wrong]),
            (Some(Value::Null), [&wrong, &none, &wrong]),
            (Some(json!(5)), [&wrong, &wrong, &wrong]),
            (Some(json!("a")), [&good, &good, &good]),
        ];
        for (value, [optional, nullable, required]) in cases {
            assert_eq!(read(value.clone(), |fields| fields.string("x").optional()), *optional, "{value:?}");
            assert_eq!(read(value.clone(), |fields| fields.string("x").nullable()), *nullable, "{value:?}");
            assert_eq!(read(value.clone(), |fields| fields.string("x").required()), *required, "{value:?}");
            let or = (optional.0.clone().unwrap_or("b".to_owned()), optional.1.clone());
            assert_eq!(read(value, |fields| fields.string("x").or("b".to_owned())), or);
        }
        let present = read(None, |fields| fields.string("x").present());
        assert_eq!(present, (None, vec!["x: must be present".to_owned()]));
    }

    #[test]
    fn null_can_be_a_value_or_have_an_error_text() {
        let version = |fields: &mut Fields| fields.integer("x", 1..=3, "a version").or_null().optional();
        assert_eq!(read(None, version), (None, Vec::new()));
        assert_eq!(read(Some(Value::Null), version), (Some(None), Vec::new()));
        assert_eq!(read(Some(json!(3)), version), (Some(Some(3)), Vec::new()));
        for bad in [json!(0), json!(4), json!(-1), json!(1.0), json!("1"), json!([])] {
            let wrong = vec!["x: must be null or a version from 1 to 3".to_owned()];
            assert_eq!(read(Some(bad), version), (None, wrong));
        }
        let data = |fields: &mut Fields| fields.object("x").null("not null").absent("not absent").optional();
        assert_eq!(read(Some(Value::Null), data), (None, vec!["x: not null".to_owned()]));
        assert_eq!(read(None, data), (None, vec!["x: not absent".to_owned()]));
    }

    #[test]
    fn each_type_accepts_its_values_and_names_them_in_the_error() {
        let state =
            |fields: &mut Fields| fields.one_of("x", State::ALL.map(State::name), State::parse).optional();
        assert_eq!(read(Some(json!("ERRORED")), state).0, Some(State::Errored));
        assert!(
            read(Some(json!("DONE")), state).1.concat().starts_with("x: must be one of PENDING, REJECTED, ")
        );
        assert_eq!(read(Some(json!(false)), |fields| fields.boolean("x").optional()).0, Some(false));
        assert_eq!(error(json!(0), |fields| fields.boolean("x").optional()), "x: must be true or false");
        let day = read(Some(json!("2030-01-31")), |fields| fields.timestamp("x").optional()).0;
        assert_eq!(day, Timestamp::parse("2030-01-31"));
        assert_eq!(
            error(json!(5), |fields| fields.timestamp("x").message("must be a time").optional()),
            "x: must be a time"
        );
        let object =
            read(Some(json!({"b": 1, "a": 2})), |fields| fields.object("x").canonical().optional()).0;
        assert_eq!(object.as_deref(), Some(r#"{"a":2,"b":1}"#));
        let list = |fields: &mut Fields| fields.array("x", "tags").max(2, "entries").optional();
        assert_eq!(read(Some(json!([1, 2])), list).0.map(|list| list.len()), Some(2));
        assert_eq!(read(Some(json!([1, 2, 3])), list).1, ["x: must have at most 2 entries"]);
        assert_eq!(read(Some(json!({})), list).1, ["x: must be an array of tags"]);
        let even = |fields: &mut Fields| {
            fields
                .value("x", "must be even", |value| value.as_u64().filter(|number| number % 2 == 0))
                .optional()
        };
        assert_eq!((read(Some(json!(4)), even).0, read(Some(json!(5)), even).0), (Some(4), None));
    }

    #[test]
    fn the_first_broken_rule_of_a_field_is_its_error() {
        let name = |fields: &mut Fields| {
            let no_space = |text: &str| text.contains(' ').then_some("must not contain a space");
            let text = fields.string("x").max(3).check(no_space);
            text.ensure(|text| !text.is_empty(), "must not be empty").optional();
            fields.refuse("x", "must differ");
        };
        assert_eq!(error(json!("ä  "), name), "x: must be at most 3 bytes");
        assert_eq!(error(json!("a b"), name), "x: must not contain a space");
        assert_eq!(error(json!(""), name), "x: must not be empty");
        assert_eq!(error(json!("abc"), name), "x: must differ");
    }

    #[test]
    fn an_ignored_empty_string_is_absent() {
        let log = |fields: &mut Fields| {
            fields.ignore_empty("x");
            fields.boolean("x").optional()
        };
        assert_eq!(read(Some(json!("")), log), (None, Vec::new()));
        assert_eq!(read(Some(json!(true)), log), (Some(true), Vec::new()));
        assert_eq!(read(Some(json!("a")), log).1.len(), 1);
    }

    #[test]
    fn the_reply_lists_all_errors_in_the_order_of_reading() {
        let body = json!({"b": 1, "c": "x", "a": null});
        let mut fields = Fields::of(body.as_object().unwrap().clone());
        let (b, c) = (fields.string("b").required(), fields.string("c").required());
        let a = fields.boolean("a").or(true);
        assert!(fields.is_wrong("a") && !fields.is_wrong("c"));
        let Err(Failure::Refused(reply)) = fields.finish(|| Some((a, b?, c?))) else { panic!("accepted") };
        let Content::Problem(reply) = reply.body else { panic!("no problem") };
        assert_eq!(reply["detail"], "b: must be a string; a: must be true or false");
        assert_eq!((&reply["pointer"], &reply["code"]), (&json!("/b"), &json!("invalid_field")));
        assert_eq!(reply["a"], json!(["must be true or false"]));
        assert!(matches!(Fields::of(Map::new()).finish(|| Some(7)), Ok(7)));
    }
}
