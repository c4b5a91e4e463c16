//! References of load balancers to machines of other applications and of the other consumer (R69), and the moments of
//! the submissions with them.

use crate::client::Client;
use crate::declared::{APPLICATIONS, Application, Body};
use crate::locked;
use crate::shape::CONSUMERS;
use crate::stream::Stream;
use crate::system::{Answer, ApiRequest, SUBMIT, System};
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// The property of a load balancer with its references elsewhere.
pub const USES: &str = "uses";

/// The key in an application's metadata with the teams that may refer to its items.
pub const GRANTED_TEAMS: &str = "dovetail_granted_teams";

/// The parameter that confirms removals.
pub const CONFIRMED: &str = "?allow_removal=true";

/// Path of a consumer's items.
const ITEMS: &str = "/v1/orcabase/consumer/service_items/?limit=50";

/// Maximum number of references elsewhere of one load balancer.
const USES_MAX: usize = 2;

/// Maximum age of a record in a torn read, rounded up: a reply takes at most two seconds.
const OLDEST: Duration = Duration::from_secs(3);

/// Returns the definition of the property with references elsewhere.
pub fn property() -> Value {
    let reference = json!({"type": ["string", "object"], "format": "reference", "service_reference": "VM",
        "x-reach": "granted"});
    json!({"type": "array", "items": reference})
}

/// Adds references and grants to the content of a team's applications. Returns the query of the request.
pub async fn add(client: Client<'_>, consumer: usize, content: &mut Value) -> &'static str {
    let mut dice = Rng::with_seed(client.system.cloud.draw(|dice| dice.u64(..)));
    let other = 1 - consumer;
    let team = if dice.u32(0..4) == 0 { consumer } else { other };
    let listed = listed(client, team).await;
    let declared = content.clone();
    for (name, application) in content.as_object_mut().unwrap() {
        let granted = match dice.u32(0..16) {
            0 => json!([]),
            1..4 => json!([CONSUMERS[other].0]),
            _ => json!(["*"]),
        };
        application["metadata"] = json!({GRANTED_TEAMS: granted});
        let Some(balancer) = application.pointer_mut("/services/LoadBalancer/0") else { continue };
        let count = 1 + dice.usize(0..USES_MAX);
        let uses = (0..count).filter_map(|_| reference(&mut dice, name, &declared, &listed));
        balancer[USES] = Value::Array(uses.collect());
    }
    if dice.u32(0..4) == 0 { CONFIRMED } else { "" }
}

/// Returns a partial declaration of one application, by the drawn number.
pub fn partial(pick: usize) -> [Option<Application>; 2] {
    let bits = |shift: u32| pick.rotate_right(shift) % 4;
    let cpus = [10, 12, 14].map(|shift| u8::try_from(bits(shift)).ok().filter(|cpu| *cpu > 0));
    let balancer = (u8::try_from(bits(16)).unwrap_or_default(), bits(18));
    let application = Application { cpus, load_balancer: (bits(20) > 0).then_some(balancer) };
    if bits(22) % 2 == 0 { [Some(application), None] } else { [None, Some(application)] }
}

/// Removes a consumer's machines of an application, while the other consumer begins to use one of them.
pub async fn meet(client: Client<'_>, consumer: usize) {
    let listed = listed(client, consumer).await;
    let draw = |end: usize| client.system.cloud.draw(|dice| dice.usize(0..end));
    let Some(machine) = listed.get(draw(listed.len().max(1))) else { return };
    let metadata = json!({GRANTED_TEAMS: ["*"]});
    let removal = json!({"metadata": metadata, "services": {}});
    let removal = json!({machine["application"]["name"].as_str().unwrap(): removal});
    let balancer = json!({"name": "lb", USES: [{"service_item": machine["id"]}]});
    let using = json!({"metadata": metadata, "services": {"LoadBalancer": [balancer]}});
    let using = json!({APPLICATIONS[draw(APPLICATIONS.len())]: using});
    tokio::join!(submit(client, consumer, removal), submit(client, 1 - consumer, using));
}

/// Submits the content of one application, without a confirmation.
async fn submit(client: Client<'_>, consumer: usize, content: Value) {
    let wait = client.system.cloud.draw(|dice| dice.u64(0..60));
    tokio::time::sleep(Duration::from_millis(wait)).await;
    let (team, key) = CONSUMERS[consumer];
    let request = ApiRequest::new("PATCH", SUBMIT, key, json!({team: content}));
    drop(client.persist(&request, Some(&Body::new(content))).await);
}

/// Returns a consumer's machines, and sometimes all its items.
async fn listed(client: Client<'_>, consumer: usize) -> Vec<Value> {
    let request = ApiRequest::new("GET", ITEMS, CONSUMERS[consumer].1, Value::Null);
    let Some(answer) = client.persist(&request, None).await else { return Vec::new() };
    let any = client.system.cloud.draw(|dice| dice.u32(0..20)) == 0;
    let rows = answer.body["results"].as_array().cloned().unwrap_or_default().into_iter();
    let is_usual = |row: &Value| row["service"]["name"] == "VM" && row["runtime_state"] != "DECOMMISSIONED";
    rows.filter(|row| any || is_usual(row)).collect()
}

/// Draws a reference of an item in an application, by name or by the id of a listed item.
fn reference(dice: &mut Rng, application: &str, declared: &Value, listed: &[Value]) -> Option<Value> {
    if dice.u32(0..3) > 0 {
        let item = listed.get(dice.usize(0..listed.len().max(1)))?;
        return Some(json!({"service_item": item["id"]}));
    }
    let other = APPLICATIONS.into_iter().find(|other| *other != application)?;
    let machines = declared[other]["services"]["VM"].as_array();
    let names: Vec<&Value> = machines.into_iter().flatten().map(|machine| &machine["name"]).collect();
    let name = match names.get(dice.usize(0..names.len().max(1))) {
        Some(name) => (*name).clone(),
        // A partial submission keeps the other application, so that the name may exist.
        None if dice.bool() => json!("vm1"),
        None => return None,
    };
    Some(json!({"application": other, "name": name}))
}

/// One attempt of a submission, and the commits that its reads can have seen.
#[derive(Clone)]
pub struct Attempt {
    pub request: ApiRequest,
    pub body: Body,
    /// The number of commits before the oldest record that it can have read.
    pub from: usize,
    /// The number of commits before its answer, and the answer. `None` without an answer.
    pub answered: Option<(usize, Answer)>,
}

/// Records the attempts of all submissions, by request id.
pub struct Observer {
    stream: Stream,
    /// The number of commits at the beginning of each attempt.
    positions: Mutex<Vec<(Instant, usize)>>,
    attempts: Mutex<BTreeMap<String, Attempt>>,
}

impl Observer {
    pub fn new(system: &System) -> Self {
        Self { stream: Stream::whole(system), positions: Mutex::default(), attempts: Mutex::default() }
    }

    /// Returns the number of commits so far.
    fn position(&self, system: &System) -> usize {
        self.stream.read(system);
        self.stream.read_so_far()
    }

    /// Records the beginning of an attempt.
    pub fn begins(&self, system: &System, id: &str, request: &ApiRequest, body: &Body) {
        let now = Instant::now();
        let mut positions = locked(&self.positions);
        let is_old = |(at, _): &&(Instant, usize)| *at + OLDEST <= now;
        let from = positions.iter().rev().find(is_old).map_or(0, |(_, position)| *position);
        positions.push((now, self.position(system)));
        let attempt = Attempt { request: request.clone(), body: body.clone(), from, answered: None };
        locked(&self.attempts).insert(id.to_owned(), attempt);
    }

    /// Records the answer to an attempt.
    pub fn ends(&self, system: &System, id: &str, answer: &Answer) {
        if let Some(attempt) = locked(&self.attempts).get_mut(id) {
            attempt.answered = Some((self.position(system), answer.clone()));
        }
    }

    pub fn attempts(&self) -> BTreeMap<String, Attempt> {
        locked(&self.attempts).clone()
    }
}
