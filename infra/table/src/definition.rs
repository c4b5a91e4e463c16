//! The definition of the tables, for engines that are not set up by the template.

use crate::{Error, Table};
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
};

/// The indexes: name, and what they project.
const INDEXES: [(&str, ProjectionType); 3] =
    [("gs1", ProjectionType::All), ("gs2", ProjectionType::KeysOnly), ("gs3", ProjectionType::KeysOnly)];

/// The attributes that keys are made of.
const ATTRIBUTES: [&str; 8] = ["pk", "sk", "gs1pk", "gs1sk", "gs2pk", "gs2sk", "gs3pk", "gs3sk"];

impl Table {
    /// Creates the tables unless they exist.
    pub async fn create(&self) -> Result<(), Error> {
        let mut create = self
            .client
            .create_table()
            .table_name(&self.name)
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(attributes(&ATTRIBUTES))
            .set_key_schema(key_schema("pk", Some("sk")))
            .stream_specification(stream()?);
        for (index, projection) in INDEXES {
            let (pk, sk) = (format!("{index}pk"), format!("{index}sk"));
            create = create.global_secondary_indexes(
                GlobalSecondaryIndex::builder()
                    .index_name(index)
                    .set_key_schema(key_schema(&pk, Some(&sk)))
                    .projection(Projection::builder().projection_type(projection).build())
                    .build()
                    .map_err(|error| Error::corrupt(index, error))?,
            );
        }
        unless_exists(create.send().await.map_err(|error| error.into_service_error()).map(drop))?;
        let keys = self
            .client
            .create_table()
            .table_name(&self.keys)
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(attributes(&["pk"]))
            .set_key_schema(key_schema("pk", None));
        unless_exists(keys.send().await.map_err(|error| error.into_service_error()).map(drop))
    }
}

fn unless_exists(outcome: Result<(), CreateTableError>) -> Result<(), Error> {
    match outcome {
        Err(error) if !error.is_resource_in_use_exception() => Err(Error::Unavailable(error.to_string())),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn attributes(names: &[&str]) -> Option<Vec<AttributeDefinition>> {
    let define = |name: &&str| {
        AttributeDefinition::builder()
            .attribute_name(*name)
            .attribute_type(ScalarAttributeType::S)
            .build()
            .ok()
    };
    names.iter().map(define).collect()
}

fn key_schema(hash: &str, range: Option<&str>) -> Option<Vec<KeySchemaElement>> {
    let element = |name: &str, ty| KeySchemaElement::builder().attribute_name(name).key_type(ty).build().ok();
    std::iter::once((hash, KeyType::Hash))
        .chain(range.map(|range| (range, KeyType::Range)))
        .map(|(name, ty)| element(name, ty))
        .collect()
}

fn stream() -> Result<StreamSpecification, Error> {
    StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewAndOldImages)
        .build()
        .map_err(|error| Error::corrupt("stream", error))
}
