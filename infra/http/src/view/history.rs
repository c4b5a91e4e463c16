//! Earlier declarations and the differences between two moments, on the wire.

use super::difference::differences;
use super::{Stored, Viewpoint, declaration, light_application};
use domain::base::id::ApplicationId;
use domain::base::state::ChangeType;
use domain::model::change::Version;
use domain::model::team::Application;
use domain::views::history::DeclaredThen;
use domain::views::related::Related;
use domain::{Item, TeamRef};
use serde_json::{Value, json};

/// Returns an application at an earlier time, with a page of its items and the URL of the next page.
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

/// Returns an item as declared at an earlier time.
pub fn item_then(item: &Item, then: &DeclaredThen, related: &Related, viewpoint: &Viewpoint) -> Value {
    let (mut body, version) = (named(item, viewpoint), then.version);
    if let Some(body) = body.as_object_mut() {
        body.insert("name".to_owned(), json!(then.name));
        body.insert("declaration".to_owned(), declaration(item.consumer.id, version.hash, related).parsed());
        body.insert("declaration_version".to_owned(), json!(version.number));
    }
    body
}

/// A difference between two moments.
#[derive(Clone)]
pub enum Differing {
    Metadata {
        /// The application; none for the team.
        application: Option<(ApplicationId, String)>,
        /// Canonical JSON at the first moment.
        old: String,
        /// Canonical JSON at the second moment.
        new: String,
    },
    Item {
        /// The present item, with its name at the later moment.
        item: Box<Item>,
        /// The declaration at the first moment, if any.
        old: Option<Version>,
        /// The declaration at the second moment, if any.
        new: Option<Version>,
    },
}

impl Differing {
    /// Returns the declarations in the difference; none for metadata.
    pub fn versions(&self) -> impl Iterator<Item = Version> + use<> {
        let versions = match self {
            Self::Metadata { .. } => [None, None],
            Self::Item { old, new, .. } => [*old, *new],
        };
        versions.into_iter().flatten()
    }
}

/// Returns a difference with the values at both moments.
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
                    (ChangeType::Delete, json!([{"pointer": "", "old": Stored(old).parsed()}]))
                }
                (None, new) => {
                    let new = new.map(|new| Stored(new).parsed());
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

pub(super) fn named(item: &Item, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": item.id.get(),
        "url": viewpoint.url("service_items", item.id.get()),
        "name": item.name,
        "application": {"id": item.application_id().get(), "name": item.application},
        "service": {"id": item.service.id.get(), "name": item.service.title},
    })
}
