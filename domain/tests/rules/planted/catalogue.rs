//! Faults in the records that all teams share.

use super::{Planted, assert_each_is_reported, busy, change, item};
use crate::world::{NP_OWNER, STRANGER, VM_OWNER, team};
use domain::audit::invariant::Snapshot;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::{ConfigId, MessageId, ServiceId};
use domain::base::refs::ServiceRef;
use domain::outreach::message::{Content, Messages};
use domain::{TeamId, Timestamp};
use std::collections::BTreeSet;

const NOWHERE: &str = "it refers to no team, or to a team with another name";
const NO_SERVICE: &str = "it refers to no service, or to a service with another id";
const OTHERWISE: &str = "items have another service id or owner, or the service does not exist";
const VERSION: &str = "items or change instances have a schema version that does not exist";
const CONFIG: &str = "has another service id or owner, or the service does not exist";

/// Stores a config that names the service VM and this owner.
fn keep(s: &mut Snapshot, service: ServiceId, version: u64, owner: &str) {
    let named = ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() };
    s.catalogue.configs.insert(ConfigId::new(service, version).unwrap(), (named, team(owner)));
}

const FOREIGN: &str = "a message names a service that the team does not own";

/// Stores a message of this team for the consumers of the service VM.
fn store_message<'a>(s: &'a mut Snapshot, owner: &str) -> &'a mut Messages {
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: Timestamp::from_micros(1) };
    let services = vec![ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() }];
    let content = Content { description: "rest".to_owned(), expires: None, services };
    let messages = Messages::none(team(owner)).with(content, &ctx).unwrap();
    s.catalogue.messages.entry(messages.owner.id).or_insert(messages)
}

const FORMER_DEPENDENTS_DETAIL: &str =
    "former dependent teams must exist, be sorted and unique, and not be dependent teams now";

fn set_former_dependents(s: &mut Snapshot, teams: impl IntoIterator<Item = TeamId>) {
    s.catalogue.services.get_mut("VM").unwrap().former_dependents = teams.into_iter().collect();
}

const PLANTED: &[Planted] = &[
    ("I16 service VM", FORMER_DEPENDENTS_DETAIL, |s| set_former_dependents(s, [team(NP_OWNER).id])),
    ("I16 service VM", FORMER_DEPENDENTS_DETAIL, |s| set_former_dependents(s, [team(STRANGER).id; 2])),
    ("I16 service VM", FORMER_DEPENDENTS_DETAIL, |s| set_former_dependents(s, TeamId::new(77))),
    ("I24 service VM", "dependent teams, former ones included: 101, must be at most 100", |s| {
        set_former_dependents(s, (1..=100).filter_map(TeamId::new));
    }),
    ("I24 service VM", "dependent teams: 16, must be at most 15", |s| {
        s.catalogue.services.get_mut("VM").unwrap().settings.dependent_teams = vec![team(NP_OWNER); 16];
    }),
    ("I16 service VM", "its first version with words is not one of its schema versions", |s| {
        s.catalogue.services.get_mut("VM").unwrap().first_with_words = Some(77);
    }),
    ("I16 team name", NOWHERE, |s| {
        s.catalogue.names.insert("Nowhere".to_owned(), team(STRANGER).id);
    }),
    ("I16 team name", "it does not refer to team 3", |s| {
        s.catalogue.names.remove(NP_OWNER);
    }),
    ("I16 team name", "it does not refer to team 3", |s| {
        s.catalogue.names.insert(NP_OWNER.to_owned(), team(STRANGER).id);
    }),
    ("I16 service id", NO_SERVICE, |s| {
        s.catalogue.titles.insert(ServiceId::new(1).unwrap(), "LoadBalancer".to_owned());
    }),
    ("I16 service id", NO_SERVICE, |s| {
        s.catalogue.titles.insert(ServiceId::new(2).unwrap(), "Nothing".to_owned());
    }),
    ("I16 service id", "it does not refer to its service", |s| {
        s.catalogue.titles.remove(&ServiceId::new(1).unwrap());
    }),
    ("I16 service", "has another name or does not exist", |s| {
        s.teams.get_mut(&team(NP_OWNER).id).unwrap().name.push('x');
        s.catalogue.services.get_mut("VM").unwrap().settings.dependent_teams.push(team(NP_OWNER));
    }),
    ("I16 service", "has another name or does not exist", |s| {
        s.catalogue.services.get_mut("VM").unwrap().owner.name.push('x');
    }),
    ("I16 service VM", "its schema versions have gaps", |s| {
        s.catalogue.schemas.remove(&("VM".to_owned(), 1));
    }),
    ("I16 service VM", "its schema versions have gaps", |s| {
        s.catalogue.schemas.insert(("VM".to_owned(), 3));
    }),
    ("I16 service VM", "its schema versions have gaps", |s| {
        s.catalogue.services.get_mut("VM").unwrap().schema_version = 2;
    }),
    ("I16 service VM", "its minimum_version is not one of its schema versions", |s| {
        s.catalogue.services.get_mut("VM").unwrap().settings.minimum_version = Some(9);
    }),
    ("I16 service VM", "its documentation flag does not match the stored documentation", |s| {
        s.catalogue.services.get_mut("VM").unwrap().has_docs = true;
    }),
    ("I16 service VM", "its documentation flag does not match the stored documentation", |s| {
        s.catalogue.documented.insert("VM".to_owned(), ServiceId::new(1).unwrap());
    }),
    ("I16 service VM", CONFIG, |s| keep(s, ServiceId::new(2).unwrap(), 1, VM_OWNER)),
    ("I16 service VM", CONFIG, |s| keep(s, ServiceId::new(1).unwrap(), 1, STRANGER)),
    ("I16 service VM", "is missing", |s| {
        keep(s, ServiceId::new(1).unwrap(), 7, VM_OWNER);
        keep(s, ServiceId::new(1).unwrap(), 9, VM_OWNER);
    }),
    ("I16 service VM", OTHERWISE, |s| {
        s.catalogue.services.remove("VM");
    }),
    ("I16 service VM", OTHERWISE, |s| item(s, "a").service.id = ServiceId::new(2).unwrap()),
    ("I16 service VM", OTHERWISE, |s| item(s, "a").service_owner = team(STRANGER)),
    ("I16 service VM", VERSION, |s| item(s, "a").schema_version = 2),
    ("I16 service VM", VERSION, |s| item(s, "a").schema_version = 0),
    ("I16 service VM", VERSION, |s| change(s, "b", VM_OWNER).schema_version = Some(2)),
    ("I16 team", "has another team name, or the team does not exist", |s| {
        s.changes.values_mut().filter(|change| change.owner.id == team(VM_OWNER).id).for_each(|change| {
            change.owner.name.push('x');
        });
    }),
    ("I16 team", "has another team name, or the team does not exist", |s| {
        s.teams.remove(&team(NP_OWNER).id);
    }),
    ("I5 messages of team 1", "message ids must be in order, of this team, and below the counter", |s| {
        store_message(s, VM_OWNER).next = 1;
    }),
    ("I5 messages of team 1", "message ids must be in order, of this team, and below the counter", |s| {
        store_message(s, VM_OWNER).all[0].id = MessageId::new(team(STRANGER).id, 1).unwrap();
    }),
    ("I5 messages of team 1", "message ids must be in order, of this team, and below the counter", |s| {
        let messages = store_message(s, VM_OWNER);
        messages.all.push(messages.all[0].clone());
    }),
    ("I16 messages of team 1", "the team has another name or does not exist", |s| {
        store_message(s, VM_OWNER).owner.name.push('x');
    }),
    ("I16 messages of team", FOREIGN, |s| {
        store_message(s, STRANGER);
    }),
    ("I16 messages of team 1", FOREIGN, |s| {
        store_message(s, VM_OWNER).all[0].content.services[0].id = ServiceId::new(2).unwrap();
    }),
    ("I16 mandatory metadata", "its versions have gaps", |s| {
        s.catalogue.policy_versions = BTreeSet::from([1, 3]);
    }),
    ("I5 counters", "the counters are 4 and 2", |s| s.catalogue.counted = (4, 2)),
    ("I5 counters", "the counters are 5 and 1", |s| s.catalogue.counted = (5, 1)),
];

#[test]
fn references_between_records_match_in_both_directions() {
    assert_each_is_reported(busy, PLANTED);
}
