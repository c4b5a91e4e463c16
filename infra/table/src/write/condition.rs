//! The condition of an action, and the actions that carry it.

use crate::client::Error;
use crate::key::Key;
use crate::record::Attributes;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::builders::{ConditionCheckBuilder, DeleteBuilder, PutBuilder, UpdateBuilder};
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
    Update,
};
use std::collections::HashMap;

/// A condition with its names and values. Every name has an alias, because DynamoDB reserves many words.
pub(super) struct Condition {
    expression: &'static str,
    names: HashMap<String, String>,
    values: Attributes,
}

impl Condition {
    pub(super) fn new(expression: &'static str) -> Self {
        Self { expression, names: HashMap::new(), values: HashMap::new() }
    }

    pub(super) fn value(self, name: &str, value: AttributeValue) -> Self {
        let mut condition = self.name(name);
        condition.values.insert(format!(":{name}"), value);
        condition
    }

    /// Adds a name that the condition compares with no value.
    pub(super) fn name(self, name: &str) -> Self {
        self.alias(name, name)
    }

    /// Adds an alias that differs from its name.
    pub(super) fn alias(mut self, alias: &str, name: &str) -> Self {
        self.names.insert(format!("#{alias}"), name.to_owned());
        self
    }

    /// Removes the name alias of a value. DynamoDB rejects an alias that the expression does not use.
    pub(super) fn without_name(mut self, name: &str) -> Self {
        self.names.remove(&format!("#{name}"));
        self
    }

    pub(super) fn text(self, name: &str, value: &str) -> Self {
        self.value(name, AttributeValue::S(value.to_owned()))
    }

    pub(super) fn number(self, name: &str, value: impl ToString) -> Self {
        self.value(name, AttributeValue::N(value.to_string()))
    }

    /// Adds the condition to an action.
    pub(super) fn apply<B: Conditional>(self, action: B) -> B {
        // DynamoDB rejects empty maps.
        let names = (!self.names.is_empty()).then_some(self.names);
        let values = (!self.values.is_empty()).then_some(self.values);
        action.with(self.expression, names, values)
    }

    pub(super) fn put(self, table: &str, attributes: Attributes) -> Result<TransactWriteItem, Error> {
        let put = Put::builder()
            .table_name(table)
            .set_item(Some(attributes))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::None);
        let put = self.apply(put).build().map_err(|error| Error::corrupt("put", error))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    pub(super) fn check(self, table: &str, key: Key) -> Result<TransactWriteItem, Error> {
        let check = ConditionCheck::builder().table_name(table).set_key(Some(key.into()));
        let check = self.apply(check).build().map_err(|error| Error::corrupt("check", error))?;
        Ok(TransactWriteItem::builder().condition_check(check).build())
    }

    pub(super) fn delete(self, table: &str, key: Key) -> Result<TransactWriteItem, Error> {
        let delete = Delete::builder().table_name(table).set_key(Some(key.into()));
        let delete = self.apply(delete).build().map_err(|error| Error::corrupt("delete", error))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    pub(super) fn update(self, table: &str, key: Key, update: &str) -> Result<TransactWriteItem, Error> {
        let update = Update::builder().table_name(table).set_key(Some(key.into())).update_expression(update);
        let update = self.apply(update).build().map_err(|error| Error::corrupt("update", error))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

/// The builder of an action that takes a condition.
pub(super) trait Conditional {
    fn with(
        self,
        expression: &str,
        names: Option<HashMap<String, String>>,
        values: Option<Attributes>,
    ) -> Self;
}

macro_rules! conditional {
    ($($builder:ident),+) => {
        $(impl Conditional for $builder {
            fn with(
                self,
                expression: &str,
                names: Option<HashMap<String, String>>,
                values: Option<Attributes>,
            ) -> Self {
                self.condition_expression(expression)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
            }
        })+
    };
}

conditional! { PutItemFluentBuilder, PutBuilder, ConditionCheckBuilder, DeleteBuilder, UpdateBuilder }
