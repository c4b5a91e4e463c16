//! Removals that need a confirmation, in previews and refusals (R57, R62, R71).

use domain::rules::plan::{ItemInUse, ItemRemoval, Removal};
use serde_json::{Value, json};

/// Maximum number of names in a sentence; the list has all of them.
const NAMED_MAX: usize = 10;

/// Returns the applications with the numbers of their removed items.
pub(crate) fn applications(removals: &[Removal]) -> Value {
    removals.iter().map(application).collect()
}

fn application(Removal { application, name, items }: &Removal) -> Value {
    json!({"id": application.get(), "name": name, "items": items})
}

/// Returns the emptied applications, then the items that the submission removes or replaces, and then the removed items
/// that are in use.
pub(crate) fn all(removals: &[Removal], items: &[ItemRemoval], in_use: &[ItemInUse]) -> Value {
    let item = |removal: &ItemRemoval| {
        let ItemRemoval { application, service, name, .. } = removal;
        let replacement = removal.is_replacement();
        json!({"application": application, "service": service, "name": name, "replacement": replacement})
    };
    let used = |item: &ItemInUse| {
        let ItemInUse { application, service, name, uses, users } = item;
        json!({"application": application, "service": service, "name": name, "replacement": false,
            "uses": uses, "users": users.as_deref().unwrap_or_default()})
    };
    let of_items = items.iter().map(item).chain(in_use.iter().map(used));
    removals.iter().map(application).chain(of_items).collect()
}

/// Returns a sentence for each removed item that is in use.
pub(crate) fn sentences_about_uses(in_use: &[ItemInUse]) -> impl Iterator<Item = String> {
    in_use.iter().map(|item| {
        let ItemInUse { application, service, name, .. } = item;
        let users = item.detail();
        format!("the submission removes {service} '{name}' of application '{application}' in use: {users}")
    })
}

/// Returns a sentence with the items and the ways to go on.
pub(crate) fn sentence_about_items(removals: &[ItemRemoval]) -> String {
    let name = |ItemRemoval { application, service, name, .. }: &ItemRemoval| {
        format!("{service} '{name}' of application '{application}'")
    };
    let names: Vec<String> = removals.iter().map(name).collect();
    format!(
        "the submission removes or replaces {}: confirm it with allow_removal=true or with the plan of a preview in \
         If-Match",
        few(names)
    )
}

/// Joins the first names, and counts the rest.
fn few(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// Returns a sentence with the applications and the ways to go on.
pub(crate) fn sentence(removals: &[Removal]) -> String {
    let name = |Removal { name, items, .. }: &Removal| match items {
        1 => format!("'{name}' (1 item)"),
        items => format!("'{name}' ({items} items)"),
    };
    let names: Vec<String> = removals.iter().map(name).collect();
    let applications = if removals.len() == 1 { "application" } else { "applications" };
    format!(
        "the submission leaves no item in {applications} {}: add what must stay, or confirm the removal with \
         allow_removal=true or with the plan of a preview in If-Match",
        few(names)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::TeamId;
    use domain::base::id::ApplicationId;

    fn removals(count: u64) -> Vec<Removal> {
        let removal = |n: u64| Removal {
            application: ApplicationId::new(TeamId::new(1).unwrap(), n).unwrap(),
            name: format!("app{n}"),
            items: usize::try_from(n).unwrap(),
        };
        (1..=count).map(removal).collect()
    }

    #[test]
    fn a_sentence_names_at_most_ten_applications() {
        let names = |count| {
            let text = sentence(&removals(count));
            text.split_once(": ")
                .unwrap()
                .0
                .strip_prefix("the submission leaves no item in ")
                .unwrap()
                .to_owned()
        };
        assert_eq!(names(1), "application 'app1' (1 item)");
        assert_eq!(names(2), "applications 'app1' (1 item), 'app2' (2 items)");
        assert!(names(10).ends_with("'app10' (10 items)"));
        assert!(names(12).ends_with("'app10' (10 items), and 2 more"));
    }
}
