//! What was declared then, and what differs between two moments, on the wire.

use super::planned::differences;
use super::{Viewpoint, declaration, light_application};
use domain::actor::TeamRef;
use domain::change::{ChangeType, Version};
use domain::id::ApplicationId;
use domain::item::Item;
use domain::related::Related;
use domain::team::Application;
use serde_json::{Value, json};

/// An application as it was, with items that it declared then, and where the others are.
pub fn application_then(
    then: &Application,
    owner: &TeamRef,
    items: Vec<Value>,
    next: Option<String>,
    viewpoint: &Viewpoint,
) -> Value {
    let mut body = light_application(then, owner, viewpoint);
    if let Some(body) = body.as_object_mut() {
        body.insert("service_items".to_owned(), Value::Array(items));
        body.insert("service_items_next".to_owned(), json!(next));
    }
    body
}

/// An item as it was declared.
pub fn item_then(item: &Item, version: Version, related: &Related, viewpoint: &Viewpoint) -> Value {
    let mut body = named(item, viewpoint);
    if let Some(body) = body.as_object_mut() {
        body.insert("declaration".to_owned(), declaration(item.consumer.id, version.hash, related));
        body.insert("declaration_version".to_owned(), json!(version.number));
    }
    body
}

/// Something that is declared otherwise at another moment.
#[derive(Clone)]
pub enum Differing {
    /// Metadata.
    Metadata {
        /// The application; none for the team's own.
        application: Option<(ApplicationId, String)>,
        /// What they were, canonical JSON.
        old: String,
        /// What they were then.
        new: String,
    },
    /// An item.
    Item {
        /// It as it is now.
        item: Box<Item>,
        /// As it was declared, if it was.
        old: Option<Version>,
        /// As it was declared then, if it was.
        new: Option<Version>,
    },
}

impl Differing {
    /// The declarations that it is made of.
    pub fn versions(&self) -> impl Iterator<Item = Version> + use<> {
        let versions = match self {
            Self::Metadata { .. } => [None, None],
            Self::Item { old, new, .. } => [*old, *new],
        };
        versions.into_iter().flatten()
    }
}

/// What differs, with what was there and what was there then.
pub fn differing(differing: &Differing, related: &Related, viewpoint: &Viewpoint) -> Value {
    match differing {
        Differing::Metadata { application, old, new } => {
            let application = application.as_ref().map(|(id, name)| json!({"id": id.get(), "name": name}));
            json!({"application": application, "differences": differences(old, new)})
        }
        Differing::Item { item, old, new } => {
            let text = |version: &Version| related.declarations.get(&(item.consumer.id, version.hash));
            let (old, new) = (old.as_ref().and_then(text), new.as_ref().and_then(text));
            let (change_type, differences) = match (old, new) {
                (Some(old), Some(new)) => (ChangeType::Modify, differences(old, new)),
                (Some(old), None) => {
                    (ChangeType::Delete, json!([{"pointer": "", "old": super::parsed(old)}]))
                }
                (None, new) => {
                    let new = new.map(|new| super::parsed(new));
                    (ChangeType::Create, json!([{"pointer": "", "new": new}]))
                }
            };
            let mut body = named(item, viewpoint);
            if let Some(body) = body.as_object_mut() {
                body.insert("change_type".to_owned(), json!(change_type.name()));
                body.insert("differences".to_owned(), differences);
            }
            body
        }
    }
}

fn named(item: &Item, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": item.id.get(),
        "url": viewpoint.url("service_items", item.id.get()),
        "name": item.name,
        "application": {"id": item.id.application().get(), "name": item.application},
        "service": {"id": item.service.id.get(), "name": item.service.title},
    })
}
