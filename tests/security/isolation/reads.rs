//! Storage reads of requests for foreign objects, record by record, as the engine sees them.
//!
//! An id contains its consumer (docs/adr/0001-ids-are-keys.md), so a request of another consumer reads nothing. Only
//! the record itself shows whether an owner or a dependent team has a share. That one record is read, and no other.

use super::tenants::{Foreign, populated};
use super::trespass::{Target, body, guarded, targets};
use domain::base::actor::Role;
use domain::rules::visibility::Side;
use dovetail_http::{Access, Operation, Route, Scope};
use serde_json::{Value, json};
use support::{Answer, ApiRequest, Running, Seen, Watched};

/// API keys, each with the mark of foreign records of Alpha and Beta. Without a mark, all their records are foreign.
const STRANGERS: &[(&str, Option<&str>)] =
    &[("beta", None), ("owner-two", Some("mark-vm")), ("db-dependent", Some("mark-vm")), ("stranger", None)];

/// A caller with the consumers of its foreign records.
struct Asking {
    key: &'static str,
    /// Ids of the other consumers.
    others: Vec<u64>,
    marker: Option<&'static str>,
}

impl Asking {
    fn all(system: &Running) -> Vec<Self> {
        let id = |key: &str| system.get("/v1/account/teams/", key).at("/results/0/id").as_u64().unwrap();
        let others =
            |key: &str| ["alpha", "beta"].into_iter().filter(|other| *other != key).map(id).collect();
        STRANGERS.iter().map(|&(key, marker)| Self { key, others: others(key), marker }).collect()
    }

    /// Returns the keys of the caller's foreign records among the results.
    fn foreign(&self, seen: &[Seen]) -> Vec<String> {
        let rows = seen.iter().flat_map(Seen::rows);
        let foreign = rows.filter_map(|row| {
            let partition = row.pointer("/pk/S")?.as_str()?;
            // In keys of the catalogue, the second part is the id or title of a service, not of a team.
            let (_, consumer) = partition.split_once('#').filter(|(kind, _)| !kind.starts_with("SERVICE"))?;
            let is_others = consumer.parse().is_ok_and(|consumer| self.others.contains(&consumer));
            let is_marked = self.marker.is_none_or(|marker| row.to_string().contains(marker));
            (is_others && is_marked)
                .then(|| format!("{partition} {}", row.pointer("/sk/S").unwrap_or(&Value::Null)))
        });
        foreign.collect()
    }
}

/// Returns the number of foreign records that an operation must read before it rejects: 0, or the object itself.
fn deciding(route: &Route, side: Side) -> usize {
    match route.scope {
        Scope::Shared => usize::from(side == Side::ServiceOwner),
        // The grant is in the metadata of the application.
        Scope::Granted => 2,
        // Only owners decide, so the role in the path does not matter.
        Scope::Decision => 1,
        // The id in the path shows the team, or the catalogue is common to all.
        Scope::Public
        | Scope::List
        | Scope::Own
        | Scope::Catalogue
        | Scope::Creation
        | Scope::Declaration => 0,
    }
}

fn request_of<'a>(
    route: &Route,
    method: &'a str,
    target: &'a Target,
    key: &'a str,
    foreign: &Foreign,
) -> ApiRequest<'a> {
    let body = body(route.operation, foreign);
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    ApiRequest { method, path: &target.path, key: Some(key), body, headers: &[] }
}

/// Fails unless the consumer of the foreign objects reads at least one record where another team must read none.
#[track_caller]
fn assert_consumer_reads(watched: &Watched<'_>, foreign: &Foreign) {
    let consumer = Asking { key: "alpha", others: vec![foreign.team], marker: None };
    let mut operations = Vec::new();
    for route in guarded().filter(|route| route.scope == Scope::Shared && route.access == Access::Read) {
        for target in targets(route, foreign).iter().filter(|target| target.side == Side::Consumer) {
            let (answer, seen) = watched.send(&request_of(route, "GET", target, consumer.key, foreign));
            let read = consumer.foreign(&seen);
            assert!(answer.status == 200 && !read.is_empty(), "{}: {answer:?} {read:?}", target.path);
            operations.push(route.operation);
        }
    }
    operations.dedup();
    assert_eq!(operations.len(), 6, "{operations:?}");
}

/// Fails unless each rejection reads the expected number of foreign records and writes nothing.
#[track_caller]
fn assert_reads(system: &Running, watched: &Watched<'_>, decided: impl Fn(&Route, Side) -> usize) {
    let (foreign, mut wrong, mut tried) = (Foreign::of(system), Vec::new(), 0);
    for asking in Asking::all(system) {
        for route in guarded() {
            for target in targets(route, &foreign) {
                for method in route.methods {
                    let (answer, seen) =
                        watched.send(&request_of(route, method, &target, asking.key, &foreign));
                    let read = asking.foreign(&seen);
                    let writes: Vec<_> = seen.iter().filter(|seen| !seen.is_read()).collect();
                    // Only some callers know the application of the item.
                    let is_expected = if route.scope == Scope::Granted {
                        (1..=2).contains(&read.len())
                    } else {
                        read.len() == decided(route, target.side)
                    };
                    if !is_expected || !writes.is_empty() {
                        let what = format!("{}: {method} {}", asking.key, target.path);
                        wrong.push(format!("{what} {} reads {read:?}, writes {writes:?}", answer.status));
                    }
                    tried += 1;
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // A lower number would mean that the loops skip routes.
    assert!(tried > 200, "{tried}");
}

#[test]
fn of_another_teams_objects_only_the_deciding_record_is_read() {
    let system = populated();
    let watched = Watched::on(&system);
    assert_reads(&system, &watched, deciding);
    assert_consumer_reads(&watched, &Foreign::of(&system));
}

#[test]
fn the_teams_of_a_change_instance_are_read_once_and_cached() {
    let system = populated();
    let watched = Watched::on(&system);
    let foreign = Foreign::of(&system);
    let back = json!({"state": "PENDING"}).to_string().into_bytes();
    for (id, owner) in
        [(foreign.change, "owner-one"), (foreign.share, "vm-dependent"), (foreign.referenced, "owner-one")]
    {
        let path = format!("/v1/orcabase/serviceowner/change_instances/{id}/");
        let request =
            ApiRequest { method: "PATCH", path: &path, key: Some(owner), body: back.clone(), headers: &[] };
        let (answer, _) = watched.send(&request);
        assert!(answer.status < 404, "{owner} sees it: {answer:?}");
    }
    let decisions =
        [Operation::UpdateChangeInstance, Operation::RetryChangeInstance, Operation::CreateDeployedItem];
    assert_reads(&system, &watched, |route, side| {
        if decisions.contains(&route.operation) { 0 } else { deciding(route, side) }
    });
}

#[test]
fn a_list_with_the_filter_of_a_foreign_item_reads_nothing() {
    let system = populated();
    let (watched, foreign) = (Watched::on(&system), Foreign::of(&system));
    let consumer = Asking { key: "alpha", others: vec![foreign.team], marker: None };
    let send = |side: Side, list: &str, asking: &Asking| {
        let path = format!("/v1/orcabase/{}/{list}service_item_id={}", side.name(), foreign.item);
        let request =
            ApiRequest { method: "GET", path: &path, key: Some(asking.key), ..ApiRequest::default() };
        let (answer, seen) = watched.send(&request);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        (path, asking.foreign(&seen))
    };
    for list in [
        "change_instances/?",
        "change_instances/?state=PENDING,APPROVED&",
        "change_instances/?light=true&",
        "change_instances/dependant/?",
        "change_instances/referenced/?",
        "deployed_items/?",
        "deployed_items/dependant/?",
    ] {
        for asking in Asking::all(&system) {
            for side in Side::ALL {
                let (path, read) = send(side, list, &asking);
                let is_item = read.iter().all(|partition| partition.starts_with("ITEM#"));
                let read_max = usize::from(side == Side::ServiceOwner);
                assert!(is_item && read.len() <= read_max, "{} {path}: {read:?}", asking.key);
            }
        }
        let (path, read) = send(Side::Consumer, list, &consumer);
        assert!(read.len() > 1, "the consumer of the item finds rows with {path}: {read:?}");
    }
}

#[test]
fn without_a_caller_a_path_or_a_position_that_is_good_nothing_is_read() {
    let system = populated();
    let (watched, foreign) = (Watched::on(&system), Foreign::of(&system));
    let send = |method: &str, path: &str, key: Option<&str>, body: Value| {
        watched.send(&ApiRequest { method, path, key, body: body.to_string().into_bytes(), headers: &[] })
    };
    for route in guarded() {
        for target in targets(route, &foreign) {
            for method in route.methods {
                let body = body(route.operation, &foreign);
                for key in [None, Some("no-such-key"), Some("alpha-read-")] {
                    let (answer, seen) = send(method, &target.path, key, body.clone());
                    assert_eq!((answer.status, seen.len()), (401, 0), "{method} {}", target.path);
                }
                if !route.access.is_open_to(Role::ReadOnly) {
                    let (answer, seen) = send(method, &target.path, Some("alpha-read"), body);
                    assert_eq!((answer.status, seen.len()), (403, 0), "{method} {}", target.path);
                }
            }
        }
    }
    let items = "/v1/orcabase/consumer/service_items";
    for path in ["../../../account/teams", "%2e%2e", "007", "1.0", "7%23", "7%00", "-7", "٣", "7/history"] {
        let path = format!("{items}/{}/", path.replace('٣', "%D9%A3"));
        let (answer, seen) = send("GET", &path, Some("alpha"), Value::Null);
        assert_eq!((answer.status, seen.len()), (404, 0), "{path}");
    }
    let page = system.get(&format!("{items}/?limit=1"), "alpha");
    let next = page.at("/next").as_str().unwrap();
    let (_, others) = next.split_once("cursor=").unwrap();
    for cursor in [others, "AAAA", "e30.AAAA", "..", "%00"] {
        let path = format!("{items}/?limit=1&cursor={cursor}");
        let (answer, seen) = send("GET", &path, Some("beta"), Value::Null);
        assert_eq!((answer.status, seen.len()), (400, 0), "{path}: {answer:?}");
    }
}

/// Returns the parts of a response that do not depend on time or request id.
fn stable_parts(answer: Answer) -> (u16, Value, Vec<(String, String)>) {
    let mut headers = answer.headers;
    headers.retain(|(name, _)| !["date", "apigw-requestid"].contains(&name.as_str()));
    (answer.status, answer.body, headers)
}

#[test]
fn an_object_of_another_team_looks_like_a_missing_one() {
    let system = populated();
    let foreign = Foreign::of(&system);
    for route in guarded().filter(|route| route.path.contains("{id}")) {
        for target in targets(route, &foreign) {
            let Some(id) = target.id.filter(|id| *id != foreign.vm) else { continue };
            // An id of the same length without an object.
            let nothing = target.path.replace(&id.to_string(), &(id + 4_000).to_string());
            for method in route.methods {
                let body = body(route.operation, &foreign);
                let actual = stable_parts(system.call(method, &target.path, "stranger", &body));
                assert_eq!(actual.0, 404, "{method} {}", target.path);
                let missing = stable_parts(system.call(method, &nothing, "stranger", &body));
                assert_eq!(actual, missing, "{method} {}", target.path);
            }
        }
    }
}
