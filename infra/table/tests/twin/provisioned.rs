//! Tests of teams, services and keys: each name exists once, and one of several concurrent requests wins.

use crate::twin::{Twin, run};
use crate::world::{CONSUMER, VM_OWNER, World, team};
use domain::Timestamp;
use domain::account::api_key::{ApiKey, KEYS_MAX, Made};
use domain::account::audit_log::{AuditEntry, Event, Subject};
use domain::base::actor::{Actor, Role};
use domain::base::context::RequestContext;
use domain::base::id::ConfigId;
use domain::catalog::config::CONFIGS_MAX;
use domain::catalog::docs::Docs;
use domain::catalog::service::{Service, Settings};
use domain::catalog::{config, schema, service};
use domain::model::team::Team;
use domain::model::write::Write;
use dovetail_table::{ACTIONS_MAX, Commit, NewService, Publication, Stored};
use serde_json::json;

#[test]
fn a_team_is_made_once() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let rows = twin.rows();
        let existing = twin.table.ensure_team(CONSUMER, "another", true, &ctx(1)).await.unwrap();
        assert_eq!((existing.id, existing.metadata.as_str()), (team(CONSUMER).id, "{}"));
        assert!(rows == twin.rows());
        let next = twin.table.ensure_team("Next", "{\"a\":1}", true, &ctx(1)).await.unwrap();
        assert_eq!((next.id.get(), next.metadata.as_str()), (6, "{\"a\":1}"));
        assert_eq!(twin.table.team(next.id).await.unwrap(), Some(next.clone()));
        assert_eq!(twin.table.head(next.id).await.unwrap(), Some(next.first_head()));
    });
}

#[test]
fn a_declaration_of_metadata_and_a_change_of_settings_keep_each_other() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let before = twin.table.team(team(CONSUMER).id).await.unwrap().unwrap();
        let setting = |confirm_removals, from: &Team| Team { confirm_removals, ..from.clone() };
        let on = setting(true, &before);
        let entry = |team: &Team, at| AuditEntry::of_team(Event::TeamChanged, team, &ctx(at));
        let change = async |from: &Team, to: &Team, at| {
            twin.table.change_team(from, to, &entry(to, at)).await.unwrap()
        };
        assert_eq!(change(&before, &on, 1).await, Stored::Done(()));
        // The submission was planned on the team without the setting.
        let metadata = "{\"budget\":1}".to_owned();
        let since = before.since.replaced_by(1, domain::Timestamp::from_micros(2));
        let declared = Team { metadata, since, ..before.clone() };
        assert_eq!(twin.table.commit(&[Write::ReplaceTeam(declared.clone())]).await.unwrap(), Commit::Done);
        let both = setting(true, &declared);
        assert_eq!(twin.table.team(before.id).await.unwrap(), Some(both.clone()));
        assert_eq!(change(&both, &declared, 3).await, Stored::Done(()));
        assert_eq!(twin.table.team(before.id).await.unwrap(), Some(declared));
        // Another request had the same wish and was faster.
        assert_eq!(change(&both, &before, 4).await, Stored::Done(()));
        let log = twin.table.audit_log(before.id, None, 10).await.unwrap();
        let changes = log.iter().filter(|(_, entry)| entry.event == Event::TeamChanged);
        let settings: Vec<&Subject> = changes.map(|(_, entry)| &entry.subject).collect();
        let subject = |confirm_removals| Subject::Team { confirm_removals };
        assert_eq!(settings, [&subject(false), &subject(true)]);
    });
}

#[test]
fn a_title_is_given_once_and_a_service_is_replaced_where_nothing_has_moved() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let (table, owner, now) = (&twin.table, team(VM_OWNER), Timestamp::from_micros(7));
        let definition = json!({"title": "VM", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
        let taken = table.create_service(&owner, &schema, Settings::default(), &ctx(7)).await.unwrap();
        assert_eq!(taken, NewService::Stale);

        let before = table.service("VM").await.unwrap().unwrap();
        let after = Service { schema_version: 2, revision: 2, modified: now, ..before.clone() };
        let publication = Publication { service: after.clone(), schema: Some(schema.text.clone()) };
        for _ in 0..2 {
            // A repeated request must find its own write, as after a lost answer.
            let stored = table.update_service(1, publication.clone(), &ctx(7)).await.unwrap();
            assert_eq!(stored, Stored::Done(after.clone()));
        }
        assert_eq!(table.schema(&after).await.unwrap().text, schema.text);
        let late = Publication { service: Service { revision: 2, ..before }, schema: None };
        assert_eq!(table.update_service(1, late, &ctx(8)).await.unwrap(), Stored::Stale);
        assert_eq!(table.service("VM").await.unwrap(), Some(after));
    });
}

#[test]
fn documentation_is_stored_with_a_word_of_it_on_the_service_as_it_was_read() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let table = &twin.table;
        let before = table.service("VM").await.unwrap().unwrap();
        let docs = |number: u64| Docs {
            service: before.to_ref(),
            text: format!("# VM {number}"),
            request: ctx(number).request,
            modified: ctx(number).now,
        };
        let first = service::documented(&before, ctx(1).now);
        for _ in 0..2 {
            // A repeated request must find its own write, as after a lost answer.
            let outcome = table.put_docs(&before, &first, &docs(1), &ctx(1)).await.unwrap();
            assert_eq!(outcome, Stored::Done(()));
        }
        assert_eq!(table.service("VM").await.unwrap().as_ref(), Some(&first));
        // A writer that read no documentation must not overwrite it unseen.
        let late = service::documented(&before, ctx(2).now);
        assert_eq!(table.put_docs(&before, &late, &docs(2), &ctx(2)).await.unwrap(), Stored::Stale);
        assert_eq!(table.docs("VM").await.unwrap(), Some(docs(1)));
        assert_eq!(table.put_docs(&first, &first, &docs(2), &ctx(2)).await.unwrap(), Stored::Done(()));
        assert_eq!(table.docs("VM").await.unwrap(), Some(docs(2)));
        assert_eq!(table.service("VM").await.unwrap(), Some(first));
        // Documentation that does not exist must not be replaced.
        let other = table.service("LoadBalancer").await.unwrap().unwrap();
        let with_docs = Service { has_docs: true, ..other.clone() };
        let docs = Docs { service: other.to_ref(), ..docs(3) };
        assert_eq!(table.put_docs(&with_docs, &with_docs, &docs, &ctx(3)).await.unwrap(), Stored::Stale);
        assert_eq!(table.docs("LoadBalancer").await.unwrap(), None);
    });
}

#[test]
fn a_version_of_a_config_is_given_once_and_the_oldest_leaves_for_the_newest() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let table = &twin.table;
        let service = table.service("VM").await.unwrap().unwrap();
        assert_eq!(table.newest_config(service.id).await.unwrap(), None);
        for number in 1..=CONFIGS_MAX + 2 {
            let newest = table.newest_config(service.id).await.unwrap();
            assert_eq!(newest.unwrap_or_default(), number - 1);
            let next = config::next(&service, newest, "{}".to_owned(), &ctx(number)).unwrap();
            for _ in 0..2 {
                let outcome = table.put_config(&next, &service, &ctx(number)).await.unwrap();
                assert_eq!(outcome, Stored::Done(()));
            }
            let late = config::next(&service, newest, "{}".to_owned(), &ctx(999)).unwrap();
            assert_eq!(table.put_config(&late, &service, &ctx(999)).await.unwrap(), Stored::Stale);
            assert_eq!(table.config(next.config.id).await.unwrap(), Some(next.config));
        }
        for (version, is_stored) in [(1, false), (2, false), (3, true), (CONFIGS_MAX + 2, true)] {
            let id = ConfigId::new(service.id, version).unwrap();
            assert_eq!(table.config(id).await.unwrap().is_some(), is_stored, "{version}");
        }
    });
}

#[test]
fn a_person_decides_only_while_the_service_is_as_it_was_read() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let stays = |revision| [Write::CheckService { title: "VM".to_owned(), revision }];
        assert_eq!(twin.table.commit(&stays(1)).await.unwrap(), Commit::Done);
        assert_eq!(twin.table.commit(&stays(2)).await.unwrap(), Commit::Stale);
    });
}

#[test]
fn a_key_is_read_by_its_hash_alone() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let table = &twin.table;
        for (number, role) in [(1, Role::Admin), (2, Role::General), (3, Role::ReadOnly)] {
            let (key, audit_entry) = key(number, role);
            // A repeated request must find its own write, as after a lost answer.
            for _ in 0..2 {
                assert_eq!(table.create_api_key(&key, &audit_entry).await.unwrap(), Stored::Done(()));
            }
            assert_eq!(table.api_key(&key.hash).await.unwrap(), Some(key));
        }
        assert_eq!(table.api_key("h4").await.unwrap(), None);
        let team = team(CONSUMER).id;
        let names: Vec<String> =
            table.api_keys(team).await.unwrap().into_iter().map(|key| key.name).collect();
        assert_eq!(names, ["n1", "n2", "n3"]);
        let newest = table.audit_log(team, None, 2).await.unwrap();
        let older = table.audit_log(team, Some(&newest[1].0), 2).await.unwrap();
        let names = |page: &[(String, AuditEntry)]| -> String {
            let name = |(_, audit_entry): &(String, AuditEntry)| match &audit_entry.subject {
                Subject::Key { name, .. } | Subject::Member { name, .. } | Subject::Webhook { name, .. } => {
                    name.clone()
                }
                Subject::Healthcheck { service, .. } => service.title.clone(),
                Subject::Service { title, .. } => title.clone(),
                Subject::Change { name, .. } => name.clone(),
                Subject::Message { .. } | Subject::Team { .. } => String::new(),
            };
            page.iter().map(name).collect()
        };
        assert_eq!((names(&newest), names(&older)), ("n3n2".to_owned(), "n1".to_owned()));
    });
}

fn ctx(now: u64) -> RequestContext {
    RequestContext { by: Actor::System, request: "r".to_owned(), now: Timestamp::from_micros(now) }
}

fn key(number: u64, role: Role) -> (ApiKey, AuditEntry) {
    let ctx = ctx(number);
    let made = Made { hash: format!("h{number}"), name: format!("n{number}"), role, expires: None };
    let key = ApiKey::new(made, team(CONSUMER), &ctx);
    (key.clone(), AuditEntry::of_key(Event::KeyCreated, &key, &ctx))
}

#[test]
fn a_name_is_given_once_a_key_is_rotated_once_and_a_team_has_a_hundred_keys() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let table = &twin.table;
        let (first, audit_entry) = key(1, Role::Admin);
        assert_eq!(table.create_api_key(&first, &audit_entry).await.unwrap(), Stored::Done(()));
        let (mut second, audit_entry) = key(2, Role::Admin);
        second.name.clone_from(&first.name);
        assert_eq!(table.create_api_key(&second, &audit_entry).await.unwrap(), Stored::Stale);
        assert!(table.is_key_name_taken(first.team.id, &first.name).await.unwrap());

        for number in [3, 4] {
            let ctx = RequestContext {
                by: Actor::System,
                request: "r".to_owned(),
                now: Timestamp::from_micros(number),
            };
            let (ended, made) = first.rotated(format!("h{number}"), None, 7, &ctx);
            let audit_entry = AuditEntry::of_key(Event::KeyRotated, &ended, &ctx);
            let keyed = table.rotate_api_key(&ended, &made, &audit_entry).await.unwrap();
            assert_eq!(keyed, if number == 3 { Stored::Done(()) } else { Stored::Stale });
        }
        let ended = table.api_key("h1").await.unwrap().unwrap();
        let successor = table.api_key("h3").await.unwrap().unwrap();
        assert_eq!((ended.successor, ended.expires), (Some(successor.id), Some(Timestamp::from_micros(10))));
        assert_eq!(table.api_key_by_id(ended.id).await.unwrap(), Some(ended));

        for number in 5..=KEYS_MAX + 2 {
            let (key, audit_entry) = key(number, Role::General);
            assert_eq!(table.create_api_key(&key, &audit_entry).await.unwrap(), Stored::Done(()), "{number}");
        }
        let (more, audit_entry) = key(200, Role::General);
        assert_eq!(table.create_api_key(&more, &audit_entry).await.unwrap(), Stored::Stale);
        let (_, revoked) = key(201, Role::General);
        // A repeated removal must succeed, as after a lost answer.
        for _ in 0..2 {
            assert_eq!(table.revoke_api_key(&first, &revoked).await.unwrap(), Stored::Done(()));
        }
        assert_eq!(table.create_api_key(&more, &audit_entry).await.unwrap(), Stored::Done(()));
    });
}

#[test]
fn a_transaction_takes_a_hundred_writes_and_three_and_a_half_megabytes() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        assert_eq!(twin.table.actions_max(), ACTIONS_MAX);
        let declarations = |count: usize, bytes: usize| -> Vec<Write> {
            let text = |number: usize| format!("\"{number:03}{}\"", "x".repeat(bytes));
            let of = |text: String| Write::StoreDeclaration {
                team: team(CONSUMER).id,
                hash: domain::Hash::of(&text),
                text,
            };
            (0..count).map(text).map(of).collect()
        };
        for (count, bytes, expected) in [
            (ACTIONS_MAX + 1, 1, Commit::TooLarge),
            (36, 100_000, Commit::TooLarge),
            (34, 100_000, Commit::Done),
            (ACTIONS_MAX, 1, Commit::Done),
        ] {
            let rows = twin.rows().len();
            let writes = declarations(count, bytes);
            assert_eq!(twin.table.commit(&writes).await.unwrap(), expected, "{count} of {bytes}");
            let more = if expected == Commit::Done { count } else { 0 };
            assert_eq!(twin.rows().len(), rows + more);
        }
    });
}
