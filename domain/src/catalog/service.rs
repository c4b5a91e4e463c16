//! Services in the catalogue: owner, settings and current schema version.

mod settings;
mod state;

pub use self::settings::{
    ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_EVER_MAX, DEPENDENT_TEAMS_MAX, ReferencesSee, SETTINGS, Settings,
    TAG_BYTES_MAX, TAGS_MAX, UpdateStrategy, tag_problem,
};
pub use self::state::{Closed, ServiceState};
use crate::base::id::{ServiceId, TeamId};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::timestamp::Timestamp;
use crate::catalog::schema::Schema;

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub id: ServiceId,
    /// Unique among all services.
    pub title: String,
    pub owner: TeamRef,
    pub settings: Settings,
    /// The former dependent teams, sorted by id.
    ///
    /// The list is empty if the dependent teams have not changed since this field exists.
    pub former_dependents: Vec<TeamId>,
    /// Whether documentation is stored.
    pub has_docs: bool,
    /// The newest schema version, from 1.
    pub schema_version: u64,
    /// The first schema version with words (R46); none without one.
    ///
    /// Words in an older version have no meaning, because nothing checked them at its publication.
    pub first_with_words: Option<u64>,
    /// The number of writes of this record: the fence of every change.
    pub revision: u64,
    /// The time of the first publication.
    pub created: Timestamp,
    pub modified: Timestamp,
}

impl Service {
    /// Returns the service by id and title.
    pub fn to_ref(&self) -> ServiceRef {
        ServiceRef { id: self.id, title: self.title.clone() }
    }

    /// Returns whether the words of the newest schema version have a meaning (R46).
    pub fn has_words(&self) -> bool {
        self.first_with_words.is_some_and(|first| first <= self.schema_version)
    }

    /// Returns the owner and the dependent teams.
    pub fn teams(&self) -> impl Iterator<Item = &TeamRef> {
        std::iter::once(&self.owner).chain(&self.settings.dependent_teams)
    }

    /// Returns the former dependent teams: all that ever were, without `dependents`.
    pub fn former_without(&self, dependents: &[TeamRef]) -> Vec<TeamId> {
        let current = self.settings.dependent_teams.iter().map(|team| team.id);
        let mut ever: Vec<TeamId> = self.former_dependents.iter().copied().chain(current).collect();
        ever.sort_unstable();
        ever.dedup();
        ever.retain(|team| dependents.iter().all(|dependent| dependent.id != *team));
        ever
    }

    /// Returns whether `dependents` keep the service within [`DEPENDENT_TEAMS_EVER_MAX`] different dependent teams.
    pub fn may_depend_on(&self, dependents: &[TeamRef]) -> bool {
        self.former_without(dependents).len() + dependents.len() <= DEPENDENT_TEAMS_EVER_MAX
    }
}

/// The result of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publish {
    /// The title is free: a new service with its initial settings.
    New(Settings),
    /// A new schema version of the owner's service.
    NewVersion(Service),
    /// The same schema is published already.
    Unchanged,
    /// The title belongs to another team's service.
    Foreign,
    /// The pointer of a `required` that the owner cannot meet, because the service requires no approval (R50).
    NeedsApproval(String),
}

/// Publishes a schema under its title, as a new service or a new version (docs/reference/http/services.md).
///
/// `before` is the service with that title and its current schema. `approval_required` in the metadata takes effect
/// with the version that changes it, and holds until a setting or another version changes it.
pub fn publish(
    before: Option<(&Service, &Schema)>,
    schema: &Schema,
    owner: &TeamRef,
    now: Timestamp,
) -> Publish {
    let Some((service, current)) = before else {
        let mut settings = Settings::default();
        settings.approval_required = schema.approval_required.unwrap_or(settings.approval_required);
        return needs_approval(schema, &settings).unwrap_or(Publish::New(settings));
    };
    // The owner comes first, because an answer about equality would reveal another team's definition.
    if service.owner != *owner {
        return Publish::Foreign;
    }
    // A pipeline publishes the same definition with every run, which must create no version.
    if current.text == schema.text {
        return Publish::Unchanged;
    }
    let mut settings = service.settings.clone();
    // Only a changed value counts, because otherwise each publication of a pipeline would undo the owner's setting (ADR
    // 19).
    if schema.approval_required != current.approval_required {
        settings.approval_required = schema.approval_required.unwrap_or(settings.approval_required);
    }
    if let Some(contradiction) = needs_approval(schema, &settings) {
        return contradiction;
    }
    let schema_version = service.schema_version + 1;
    Publish::NewVersion(Service {
        settings,
        schema_version,
        first_with_words: service.first_with_words.or(schema.has_words.then_some(schema_version)),
        revision: service.revision + 1,
        modified: now,
        ..service.clone()
    })
}

fn needs_approval(schema: &Schema, settings: &Settings) -> Option<Publish> {
    let pointer = schema.owner_path_at_approval.clone();
    pointer.filter(|_| !settings.approval_required).map(Publish::NeedsApproval)
}

/// Returns the service with other settings; none if they are the same.
pub fn set(service: &Service, settings: Settings, now: Timestamp) -> Option<Service> {
    (service.settings != settings).then(|| Service {
        former_dependents: service.former_without(&settings.dependent_teams),
        settings,
        revision: service.revision + 1,
        modified: now,
        ..service.clone()
    })
}

/// Returns the service with a mark that documentation is stored.
pub fn documented(service: &Service, now: Timestamp) -> Service {
    // Later uploads leave the revision alone, so they do not fail decisions that check it (R32).
    if service.has_docs {
        return service.clone();
    }
    Service { has_docs: true, revision: service.revision + 1, modified: now, ..service.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn team(number: u64) -> TeamRef {
        TeamRef { id: TeamId::new(number).unwrap(), name: format!("Team{number}") }
    }

    fn service() -> Service {
        Service {
            id: ServiceId::new(1).unwrap(),
            title: "VM".to_owned(),
            owner: team(1),
            settings: Settings { dependent_teams: vec![team(2)], ..Settings::default() },
            former_dependents: Vec::new(),
            has_docs: false,
            schema_version: 3,
            first_with_words: None,
            revision: 7,
            created: Timestamp::from_micros(1),
            modified: Timestamp::from_micros(2),
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(9);

    /// Returns a definition with this description, and with `approval_required` if given.
    fn schema(description: &str, approval_required: Option<bool>) -> Schema {
        let mut schema = json!({"title": "VM", "description": description, "type": "object",
            "required": ["name"], "properties": {"name": {"type": "string"}}, "metadata": {}});
        if let Some(required) = approval_required {
            schema["metadata"]["approval_required"] = Value::Bool(required);
        }
        crate::catalog::schema::publish(schema.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_schema_is_published_under_a_free_title_or_as_a_new_version() {
        let (before, text, other) = (service(), schema("text", None), schema("other", None));
        let publish = |schema, owner: &TeamRef| publish(Some((&before, &text)), schema, owner, NOW);
        assert_eq!(super::publish(None, &text, &team(2), NOW), Publish::New(Settings::default()));
        assert_eq!(publish(&text, &team(1)), Publish::Unchanged);
        for schema in [&text, &other] {
            assert_eq!(publish(schema, &team(2)), Publish::Foreign);
        }
        let after = Service { schema_version: 4, revision: 8, modified: NOW, ..before.clone() };
        assert_eq!(publish(&other, &team(1)), Publish::NewVersion(after));
    }

    #[test]
    fn what_metadata_say_of_approval_is_set_by_the_version_that_is_the_first_to_say_it() {
        let required = |published| match published {
            Publish::New(settings) => settings.approval_required,
            Publish::NewVersion(service) => service.settings.approval_required,
            other @ (Publish::Unchanged | Publish::Foreign | Publish::NeedsApproval(_)) => {
                panic!("{other:?}")
            }
        };
        for (approval, expected) in [(None, true), (Some(true), true), (Some(false), false)] {
            assert_eq!(
                required(publish(None, &schema("", approval), &team(1), NOW)),
                expected,
                "{approval:?}"
            );
        }
        for (set, before, after, expected) in [
            (true, None, None, true),
            (true, None, Some(false), false),
            // The owner has changed the setting since the last version.
            (true, Some(false), Some(false), true),
            (false, Some(true), Some(true), false),
            (false, Some(false), Some(true), true),
            // A removed value leaves the setting as it is.
            (false, Some(false), None, false),
        ] {
            let mut service = service();
            service.settings.approval_required = set;
            let (current, next) = (schema("before", before), schema("after", after));
            let published = publish(Some((&service, &current)), &next, &team(1), NOW);
            assert_eq!(required(published), expected, "{set} {before:?} {after:?}");
        }
    }

    #[test]
    fn other_settings_are_another_revision() {
        let before = service();
        assert_eq!(set(&before, before.settings.clone(), NOW), None);
        let settings = Settings { approval_required: false, ..before.settings.clone() };
        let after = Service { settings: settings.clone(), revision: 8, modified: NOW, ..before.clone() };
        assert_eq!(set(&before, settings, NOW), Some(after));
    }

    #[test]
    fn a_service_counts_every_team_that_ever_depended_on_it() {
        let named = |before: &Service, teams: std::ops::RangeInclusive<u64>| {
            let dependent_teams = teams.map(team).collect();
            set(before, Settings { dependent_teams, ..before.settings.clone() }, NOW).unwrap()
        };
        let former_ids =
            |service: &Service| service.former_dependents.iter().map(|team| team.get()).collect();
        let other = named(&service(), 5..=7);
        let fewer = named(&other, 2..=2);
        assert_eq!(
            (former_ids(&other), former_ids(&fewer)),
            (vec![2], vec![5, 6, 7]),
            "one that returns is not former"
        );
        let mut all = service();
        for first in (2..102).step_by(10) {
            assert!(all.may_depend_on(&(first..first + 10).map(team).collect::<Vec<_>>()));
            all = named(&all, first..=first + 9);
        }
        assert_eq!((former_ids(&all).len(), all.settings.dependent_teams.len()), (90, 10));
        assert!(all.may_depend_on(&[team(2), team(101)]), "those that it has named may be named again");
        assert!(all.may_depend_on(&[]));
        assert!(!all.may_depend_on(&[team(2), team(102)]));
    }

    #[test]
    fn the_first_documentation_alone_changes_the_service() {
        let after = documented(&service(), NOW);
        assert_eq!(after, Service { has_docs: true, revision: 8, modified: NOW, ..service() });
        assert_eq!(documented(&after, Timestamp::from_micros(10)), after);
    }

    #[test]
    fn a_service_names_its_owner_and_its_dependents() {
        let service = service();
        assert_eq!(service.teams().cloned().collect::<Vec<_>>(), [team(1), team(2)]);
        let dependents = [1, 2, 3].map(|number| service.settings.has_dependent(team(number).id));
        assert_eq!(dependents, [false, true, false]);
    }
}
