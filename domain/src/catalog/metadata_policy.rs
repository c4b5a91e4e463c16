//! The platform's schemas for the metadata of teams and applications (R42).

use crate::base::problem::Problem;
use crate::base::timestamp::Timestamp;
use crate::catalog::schema;
use crate::catalog::schema::Schema;
use std::sync::Arc;

/// The compiled schemas for metadata.
#[derive(Clone, Debug, Default)]
pub struct MetadataPolicy {
    /// The schema for a team's metadata, if set.
    pub team: Option<Arc<Schema>>,
    /// The schema for an application's metadata, if set.
    pub application: Option<Arc<Schema>>,
}

/// A stored version of the schemas for metadata, which never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The number, from 1.
    pub number: u64,
    /// The schema for a team's metadata, canonical JSON.
    pub team: Option<String>,
    /// The schema for an application's metadata, canonical JSON.
    pub application: Option<String>,
    pub created: Timestamp,
}

impl Version {
    /// Returns the version after the newest one; none if it has the same content.
    pub fn after(newest: Option<&Self>, policy: &MetadataPolicy, created: Timestamp) -> Option<Self> {
        let text = |schema: &Option<Arc<Schema>>| schema.as_ref().map(|schema| schema.text.clone());
        let (team, application) = (text(&policy.team), text(&policy.application));
        // An operator may load the same file twice, which must not create a version.
        let (number, is_same) = match newest {
            Some(newest) => (newest.number, newest.team == team && newest.application == application),
            None => (0, team.is_none() && application.is_none()),
        };
        (!is_same).then(|| Self { number: number.saturating_add(1), team, application, created })
    }

    /// Compiles the schemas.
    pub fn compile(&self) -> Result<MetadataPolicy, Vec<Problem>> {
        let compiled = |text: &Option<String>| {
            text.as_deref().map(|text| schema::load_of_metadata(text).map(Arc::new)).transpose()
        };
        Ok(MetadataPolicy { team: compiled(&self.team)?, application: compiled(&self.application)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: &str) -> Option<Arc<Schema>> {
        Some(Arc::new(schema::of_metadata(schema.as_bytes()).unwrap()))
    }

    #[test]
    fn a_version_is_made_where_something_differs_and_compiles_to_what_was_set() {
        let (first, second) = (Timestamp::from_micros(1), Timestamp::from_micros(2));
        assert_eq!(Version::after(None, &MetadataPolicy::default(), first), None);
        let policy =
            MetadataPolicy { team: None, application: of(r#"{"type": "object", "required": ["a"]}"#) };
        let one = Version::after(None, &policy, first).unwrap();
        assert_eq!((one.number, one.team.as_deref()), (1, None));
        assert_eq!(one.application.as_deref(), Some(r#"{"required":["a"],"type":"object"}"#));
        assert_eq!(Version::after(Some(&one), &one.compile().unwrap(), second), None);
        let none = Version::after(Some(&one), &MetadataPolicy::default(), second).unwrap();
        assert_eq!((none.number, none.team, none.application, none.created), (2, None, None, second));
    }

    #[test]
    fn a_schema_of_metadata_is_bounded_as_a_definition_is() {
        for (schema, rule) in [
            (r#"[]"#, "wrong_type"),
            (r#"{"type": "array"}"#, "wrong_type"),
            (
                r#"{"type": "object", "$schema": "http://json-schema.org/draft-04/schema#"}"#,
                "unsupported_draft",
            ),
            (
                r#"{"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}}"#,
                "remote_reference",
            ),
            (
                r##"{"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}"##,
                "recursive_reference",
            ),
            (r#"{"type": "object", "properties": {"a": {"pattern": "(?=x)"}}}"#, "invalid_pattern"),
            (r#"{"type": "object", "required": "a"}"#, "invalid_schema"),
        ] {
            let rules: Vec<&str> = schema::of_metadata(schema.as_bytes())
                .err()
                .into_iter()
                .flatten()
                .map(|problem| problem.rule)
                .collect();
            assert!(rules.contains(&rule), "{schema}: {rules:?}");
        }
        for draft in
            ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
        {
            let schema = format!(r#"{{"$schema": "{draft}", "type": "object"}}"#);
            assert!(schema::of_metadata(schema.as_bytes()).is_ok(), "{draft}");
        }
    }
}
