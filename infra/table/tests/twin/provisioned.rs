//! Teams, services, keys: one of each name, and whoever was faster wins.

use crate::twin::{Twin, run};
use crate::world::{CONSUMER, VM_OWNER, World, team};
use domain::actor::Role;
use domain::schema;
use domain::service::{Service, Settings};
use domain::timestamp::Timestamp;
use domain::write::Write;
use dovetail_table::{ACTIONS_MAX, ApiKey, Commit, Publication, Published};
use serde_json::json;

#[test]
fn a_team_is_made_once() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let rows = twin.rows();
        let known = twin.table.ensure_team(CONSUMER, "another").await.unwrap();
        assert_eq!((known.id, known.metadata.as_str()), (team(CONSUMER).id, "{}"));
        assert!(rows == twin.rows());
        let next = twin.table.ensure_team("Next", "{\"a\":1}").await.unwrap();
        assert_eq!((next.id.get(), next.metadata.as_str()), (6, "{\"a\":1}"));
        assert_eq!(twin.table.team(next.id).await.unwrap(), Some(next.clone()));
        assert_eq!(twin.table.head(next.id).await.unwrap(), Some(next.first_head()));
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
        let taken = table.create_service(&owner, &schema, Settings::default(), now).await.unwrap();
        assert_eq!(taken, Published::Stale);

        let before = table.service("VM").await.unwrap().unwrap();
        let after = Service { schema_version: 2, revision: 2, modified: now, ..before.clone() };
        let publication = Publication { service: after.clone(), schema: Some(schema.text.clone()) };
        for _ in 0..2 {
            // The second time it finds what it has done.
            let stored = table.update_service(1, publication.clone()).await.unwrap();
            assert_eq!(stored, Published::Stored(after.clone()));
        }
        assert_eq!(table.schema(&after).await.unwrap().text, schema.text);
        let late = Publication { service: Service { revision: 2, ..before }, schema: None };
        assert_eq!(table.update_service(1, late).await.unwrap(), Published::Stale);
        assert_eq!(table.service("VM").await.unwrap(), Some(after));
    });
}

#[test]
fn a_key_is_found_by_its_hash_alone() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        let of = |role| ApiKey { hash: "h1".to_owned(), name: "n".to_owned(), team: team(CONSUMER), role };
        for role in [Role::Admin, Role::General, Role::ReadOnly] {
            twin.table.put_api_key(&of(role)).await.unwrap();
            assert_eq!(twin.table.api_key("h1").await.unwrap(), Some(of(role)));
        }
        assert_eq!(twin.table.api_key("h2").await.unwrap(), None);
    });
}

#[test]
fn a_transaction_takes_a_hundred_writes_and_three_and_a_half_megabytes() {
    run(|| async {
        let twin = Twin::of(World::new()).await;
        assert_eq!(twin.table.actions_max(), ACTIONS_MAX);
        let declarations = |count: usize, bytes: usize| -> Vec<Write> {
            let text = |number: usize| format!("\"{number:03}{}\"", "x".repeat(bytes));
            let of = |text: String| Write::Declaration {
                team: team(CONSUMER).id,
                hash: domain::json::Hash::of(&text),
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
