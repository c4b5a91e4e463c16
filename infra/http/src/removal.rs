//! Removals that need a confirmation, in previews and refusals (R57).

use domain::rules::plan::Removal;
use serde_json::{Value, json};

/// Maximum number of applications in a sentence; the list has all of them.
const NAMED_MAX: usize = 10;

/// Returns the applications with the numbers of their removed items.
pub(crate) fn applications(removals: &[Removal]) -> Value {
    let view = |Removal { application, name, items }: &Removal| json!({"id": application.get(), "name": name, "items": items});
    removals.iter().map(view).collect()
}

/// Returns a sentence with the applications and the ways to go on.
pub(crate) fn sentence(removals: &[Removal]) -> String {
    let name = |Removal { name, items, .. }: &Removal| match items {
        1 => format!("'{name}' (1 item)"),
        items => format!("'{name}' ({items} items)"),
    };
    let mut names: Vec<String> = removals.iter().take(NAMED_MAX).map(name).collect();
    if let more @ 1.. = removals.len().saturating_sub(NAMED_MAX) {
        names.push(format!("and {more} more"));
    }
    let applications = if removals.len() == 1 { "application" } else { "applications" };
    format!(
        "the submission leaves no item in {applications} {}: add what must stay, or confirm the removal with \
         allow_removal=true or with the plan of a preview in If-Match",
        names.join(", ")
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
