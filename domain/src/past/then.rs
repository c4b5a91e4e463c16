//! What a team declared then, as a document that declares it again (R36).

use crate::declaration::{METADATA, SERVICES};
use crate::digest;
use crate::json::Hash;
use crate::plan::NO_METADATA;
use crate::team::Application;
use serde_json::Value;
use std::collections::BTreeMap;

/// What an application declared then.
#[derive(Clone)]
pub struct Then {
    /// It as it is now.
    pub now: Application,
    /// Its metadata; none before it was first declared.
    pub metadata: Option<String>,
    /// The items that it declared: the title of the service, the name, the hash of the declaration.
    pub items: Vec<(String, String, Hash)>,
}

impl Then {
    /// The digest that it had.
    pub fn digest(&self) -> Hash {
        let items = self.items.iter().map(|(title, name, hash)| (title.as_str(), name.as_str(), *hash));
        digest::application(self.metadata.as_deref().unwrap_or(NO_METADATA), items)
    }

    /// Whether it declares the same now.
    pub fn is_now(&self) -> bool {
        self.digest() == self.now.digest
    }
}

/// The digest of everything that a team declared then: `metadata`, what applications declare still, and what the others
/// declared.
pub fn root(metadata: &str, still: &[&Application], then: &[Then]) -> Hash {
    let existed = then.iter().filter(|then| then.metadata.is_some());
    let then: Vec<Application> =
        existed.map(|then| Application { digest: then.digest(), ..then.now.clone() }).collect();
    digest::root(metadata, still.iter().copied().chain(&then))
}

/// The document that declares of these applications what they declared then; none where a declaration is not among
/// `texts`. One that was not there yet declares nothing.
pub fn document(
    team: &str,
    metadata: &str,
    applications: &[&Then],
    texts: &BTreeMap<Hash, String>,
) -> Option<String> {
    // Every text is JSON already: it is put together as it is.
    let mut members = vec![member(METADATA, metadata)];
    for then in applications {
        members.push(member(&then.now.name, &content(then, texts)?));
    }
    Some(object(&[member(team, &object(&members))]))
}

fn content(then: &Then, texts: &BTreeMap<Hash, String>) -> Option<String> {
    let mut services: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (title, _, hash) in &then.items {
        services.entry(title).or_default().push(texts.get(hash)?);
    }
    let services: Vec<String> =
        services.iter().map(|(title, items)| member(title, &format!("[{}]", items.join(",")))).collect();
    let metadata = then.metadata.as_deref().unwrap_or(NO_METADATA);
    Some(object(&[member(METADATA, metadata), member(SERVICES, &object(&services))]))
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", Value::from(name))
}
