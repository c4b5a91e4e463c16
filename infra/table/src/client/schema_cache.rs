//! A cache of definitions in a process: texts, and the compiled forms of definitions that checked an item.

use domain::catalog::schema::{DecisionForms, Derivations, Part, Schema, Upgrade};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most memory of the cache in bytes; a function has little memory (decision record 8).
pub(crate) const SCHEMAS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The estimated memory of an entry without its texts, in bytes.
const ENTRY_BYTES: usize = 256;

/// The title and number of a schema version, which never changes.
pub(crate) type Version = (String, u64);

/// A compiled definition.
pub(crate) trait Weight {
    /// Returns the memory of the definition in bytes.
    fn bytes(&self) -> usize;
}

impl Weight for Schema {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Weight for DecisionForms {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Weight for Part {
    fn bytes(&self) -> usize {
        self.bytes()
    }
}

impl Weight for Derivations {
    fn bytes(&self) -> usize {
        self.bytes()
    }
}

impl Weight for Upgrade {
    fn bytes(&self) -> usize {
        self.bytes()
    }
}

/// The most recently used schemas.
#[derive(Debug)]
pub(crate) struct Schemas<T> {
    entries: BTreeMap<Version, Entry<T>>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry<T> {
    text: Arc<str>,
    compiled: Option<Arc<T>>,
    bytes: usize,
    used: u64,
}

impl<T> Default for Schemas<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), bytes: 0, uses: 0 }
    }
}

impl<T: Weight> Schemas<T> {
    /// Returns the text of a version.
    pub(crate) fn text(&mut self, version: &Version) -> Option<Arc<str>> {
        self.entry(version).map(|entry| Arc::clone(&entry.text))
    }

    /// Returns the compiled form of a version.
    pub(crate) fn compiled(&mut self, version: &Version) -> Option<Arc<T>> {
        self.entry(version)?.compiled.clone()
    }

    /// Returns whether the cache has any version of the schema with this title.
    pub(crate) fn has(&self, title: &str) -> bool {
        self.entries
            .range((title.to_owned(), 0)..)
            .next()
            .is_some_and(|((cached_title, _), _)| cached_title == title)
    }

    /// Adds a version, and evicts the least recently used versions until there is room for it.
    pub(crate) fn keep(&mut self, version: Version, text: Arc<str>, compiled: Option<Arc<T>>) {
        self.remove(&version);
        let schema = compiled.as_ref().map_or(0, |schema| schema.bytes());
        let bytes =
            [ENTRY_BYTES, version.0.len(), text.len(), schema].into_iter().fold(0, usize::saturating_add);
        while self.bytes.saturating_add(bytes) > SCHEMAS_BYTES_MAX {
            // A schema larger than the whole cache is not cached; the caller still uses its own copy.
            let Some(oldest) = self.entries.iter().min_by_key(|(_, entry)| entry.used) else { return };
            let oldest = oldest.0.clone();
            self.remove(&oldest);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.uses = self.uses.saturating_add(1);
        self.entries.insert(version, Entry { text, compiled, bytes, used: self.uses });
    }

    fn entry(&mut self, version: &Version) -> Option<&Entry<T>> {
        let entry = self.entries.get_mut(version)?;
        self.uses = self.uses.saturating_add(1);
        entry.used = self.uses;
        Some(entry)
    }

    fn remove(&mut self, version: &Version) {
        if let Some(entry) = self.entries.remove(version) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::catalog::schema;
    use serde_json::json;

    /// Returns a schema that takes about 3 MB when compiled.
    fn big(title: &str) -> Arc<Schema> {
        let properties: serde_json::Map<_, _> = (0..2_500)
            .map(|n| (format!("p{n}"), json!({"type": "string"})))
            .chain([("name".to_owned(), json!({"type": "string"}))])
            .collect();
        let definition =
            json!({"title": title, "type": "object", "required": ["name"], "properties": properties});
        Arc::new(schema::publish(definition.to_string().as_bytes()).unwrap())
    }

    fn keep(schemas: &mut Schemas<Schema>, schema: &Arc<Schema>, title: &str) {
        schemas.keep((title.to_owned(), 1), schema.text.as_str().into(), Some(Arc::clone(schema)));
    }

    #[test]
    fn sixty_big_services_take_no_more_than_there_is_room_for() {
        let (schema, mut schemas) = (big("Big"), Schemas::<Schema>::default());
        assert!(60 * schema.bytes > 2 * SCHEMAS_BYTES_MAX, "{}", schema.bytes);
        let (first, mut left) = (("0".to_owned(), 1), Vec::new());
        for service in 0..60 {
            keep(&mut schemas, &schema, &service.to_string());
            // The first schema is in constant use, so it must survive.
            assert!(schemas.compiled(&first).is_some());
            let sum: usize = schemas.entries.values().map(|entry| entry.bytes).sum();
            assert!(sum == schemas.bytes && sum <= SCHEMAS_BYTES_MAX);
            assert!(schemas.entries.values().all(|entry| entry.bytes >= schema.bytes));
            left.push(schemas.entries.len());
        }
        let room = SCHEMAS_BYTES_MAX / (schema.bytes + schema.text.len() + ENTRY_BYTES + 2);
        assert_eq!(left.last(), Some(&room));
        // The other survivors must be the newest schemas.
        assert!(!schemas.has("1") && schemas.has("59") && schemas.has("58"));
    }

    #[test]
    fn a_version_is_cached_once_and_its_text_alone_takes_little() {
        let (schema, mut schemas) = (big("Big"), Schemas::<Schema>::default());
        let version = ("Big".to_owned(), 1);
        schemas.keep(version.clone(), schema.text.as_str().into(), None);
        assert!(schemas.bytes < 2 * schema.text.len());
        assert_eq!(schemas.text(&version).as_deref(), Some(schema.text.as_str()));
        assert!(schemas.compiled(&version).is_none() && schemas.has("Big") && !schemas.has("Bi"));
        for _ in 0..3 {
            keep(&mut schemas, &schema, "Big");
        }
        assert_eq!((schemas.entries.len(), schemas.compiled(&version).is_some()), (1, true));
    }
}
