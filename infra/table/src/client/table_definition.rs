//! The definition of the tables, for engines that the template of the stack does not set up.

use super::call::Call as _;
use super::connect::Table;
use super::error::Error;
use crate::key::INDEXES;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType, TableStatus,
};
use dovetail_aws::retry;

/// The projection of each index, in the order of [`INDEXES`].
const PROJECTIONS: [ProjectionType; INDEXES.len()] =
    [ProjectionType::All, ProjectionType::KeysOnly, ProjectionType::KeysOnly];

impl Table {
    /// Creates the tables unless they exist, and waits until they are active.
    pub async fn create(&self) -> Result<(), Error> {
        let keys_of_indexes = INDEXES.iter().flat_map(|index| [index.pk, index.sk]);
        let mut create = self
            .client
            .create_table()
            .table_name(&self.name)
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(attributes(["pk", "sk"].into_iter().chain(keys_of_indexes)))
            .set_key_schema(key_schema("pk", "sk"))
            .stream_specification(stream()?);
        for (index, projection) in INDEXES.into_iter().zip(PROJECTIONS) {
            create = create.global_secondary_indexes(
                GlobalSecondaryIndex::builder()
                    .index_name(index.name)
                    .set_key_schema(key_schema(index.pk, index.sk))
                    .projection(Projection::builder().projection_type(projection).build())
                    .build()
                    .map_err(|error| Error::corrupt(index.name, error))?,
            );
        }
        unless_exists(create.call().await)?;
        let keys = self
            .client
            .create_table()
            .table_name(&self.keys)
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(attributes(["pk", "sk"].into_iter()))
            .set_key_schema(key_schema("pk", "sk"));
        unless_exists(keys.call().await)?;
        for name in [&self.name, &self.keys] {
            self.active(name).await?;
        }
        Ok(())
    }

    /// Waits until a table is active, because some engines create it in the background.
    async fn active(&self, name: &str) -> Result<(), Error> {
        let mut looks = retry::TABLE_CREATION.attempts();
        while looks.next().await.is_some() {
            let described = self.client.describe_table().table_name(name).call().await?;
            let status = described.table().and_then(|table| table.table_status());
            if status == Some(&TableStatus::Active) {
                return Ok(());
            }
        }
        Err(Error::Unavailable(format!("table {name} did not become active in time")))
    }
}

fn unless_exists<O>(outcome: Result<O, SdkError<CreateTableError>>) -> Result<(), Error> {
    let exists = |error: &SdkError<CreateTableError>| {
        error.as_service_error().is_some_and(CreateTableError::is_resource_in_use_exception)
    };
    match outcome {
        Err(error) if !exists(&error) => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn attributes<'a>(names: impl Iterator<Item = &'a str>) -> Option<Vec<AttributeDefinition>> {
    let define = |name: &str| {
        AttributeDefinition::builder()
            .attribute_name(name)
            .attribute_type(ScalarAttributeType::S)
            .build()
            .ok()
    };
    names.map(define).collect()
}

fn key_schema(hash: &str, range: &str) -> Option<Vec<KeySchemaElement>> {
    let element = |name: &str, ty| KeySchemaElement::builder().attribute_name(name).key_type(ty).build().ok();
    [(hash, KeyType::Hash), (range, KeyType::Range)].map(|(name, ty)| element(name, ty)).into_iter().collect()
}

fn stream() -> Result<StreamSpecification, Error> {
    StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewAndOldImages)
        .build()
        .map_err(|error| Error::corrupt("stream", error))
}
