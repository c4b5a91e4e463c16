//! The JSON Schema of world files, as a check of the worlds of the tests.

use serde_json::Value;
use std::sync::LazyLock;

/// The JSON Schema of a world file, for editors.
pub const WORLD_SCHEMA: &str = include_str!("../../infra/daemon/src/world.schema.json");

/// Returns the errors of a world under [`WORLD_SCHEMA`].
pub fn world_schema_problems(world: &Value) -> Vec<String> {
    static VALIDATOR: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| jsonschema::draft202012::new(&serde_json::from_str(WORLD_SCHEMA).unwrap()).unwrap());
    VALIDATOR.iter_errors(world).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
