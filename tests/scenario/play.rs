//! Playing a scenario: each command becomes a request, each reply the text that the file must have.

use super::given;
use super::names::Names;
use super::reply;
use super::script::{Outcome, Script, Step};
use super::text::{json_prefix, pairs};
use domain::json::canonical;
use dovetail_table::ACTIONS_MAX;
use serde_json::{Map, Value, json};
use simulation::crashes;
use simulation::system::{Asked as Asking, STAGED};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tests::{Answer, Ask, Redelivery, Running, Site};

/// What carries out the work that submissions leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The functions that the stream wakes; what it delivers is delivered again.
    Stream,
    /// The sweep alone: the stream delivers nothing.
    Sweep,
    /// The stream, of submissions that are all staged: a transaction takes one write. The change instances of one
    /// submission are then born side by side, and may be listed in the order in which that happened.
    Staged,
}

/// Plays the scenario in a file; `UPDATE_EXPECT` in the environment writes the results into it instead.
pub(super) fn file(path: &str) {
    drop(rows_after(path, By::Stream));
}

/// Plays the scenario in a file with every submission staged, unless it is about what is seen of the stream itself.
pub(super) fn staged(path: &str) {
    let text = fs::read_to_string(path).unwrap();
    if !text.contains("\ngeneration rests") && !text.contains("\nevents ->") {
        drop(rows_after(path, By::Staged));
    }
}

/// Plays the scenario in a file; the rows of the table in the end.
pub(crate) fn rows_after(path: &str, by: By) -> Vec<Value> {
    let script = fs::read_to_string(path).unwrap();
    let script = Script::parse(&script).unwrap_or_else(|problem| panic!("{path}:{problem}"));
    let actions_max = if by == By::Staged { 1 } else { ACTIONS_MAX };
    let (system, keys) = given::start(&script.given, actions_max);
    played(path, &script, Stage::new(system, keys), by)
}

/// Plays the scenario in a file in which people act beside the keys of their teams.
pub(super) fn with_people(path: &str) {
    let script = fs::read_to_string(path).unwrap();
    let script = Script::parse(&script).unwrap_or_else(|problem| panic!("{path}:{problem}"));
    let (system, keys, issuer) = given::start_with_people(&script.given);
    let tokens = keys.keys().map(|team| (team.clone(), issuer.token(team))).collect();
    drop(played(path, &script, Stage { tokens, ..Stage::new(system, keys) }, By::Stream));
}

fn played(path: &str, script: &Script, mut stage: Stage<Running>, by: By) -> Vec<Value> {
    let mut stream = Redelivery::new();
    if by == By::Sweep {
        stage.system.enable("generate", false);
        stage.system.enable("notify", false);
    }
    let update = by == By::Stream && std::env::var_os("UPDATE_EXPECT").is_some();
    let mut results = Vec::new();
    for step in &script.steps {
        let _scene = Scene { path, step };
        let actual = stage.play(step);
        if by == By::Sweep {
            stage.system.sweep();
        }
        stage.system.assert_sound();
        if by != By::Sweep && !stage.rests {
            stream.again_at_once(&stage.system);
        }
        if !update {
            assert_expected(step, &actual, by == By::Staged);
        }
        results.push(actual);
    }
    if by != By::Sweep {
        stream.again_in_the_end(&stage.system);
        stage.system.assert_told();
    }
    if update {
        fs::write(path, script.with_results(&results)).unwrap();
    }
    stage.system.rows()
}

/// Fails unless a step has the result that it must have. Where submissions are staged, lists are in any order.
#[track_caller]
pub(super) fn assert_expected(step: &Step, actual: &Outcome, is_staged: bool) {
    let expected = &step.expected;
    let is_same = if is_staged && step.command.contains(" lists ") {
        expected.in_any_order() == actual.in_any_order()
    } else {
        expected.written() == actual.written()
    };
    assert!(is_same, "expected:\n{}\nactual:\n{}\n", expected.written(), actual.written());
}

/// Has each function die at each of its calls while the scenario in a file is played.
pub(super) fn crashing(path: &str) {
    let text = fs::read_to_string(path).unwrap();
    // Here generation never rests, so that what follows may be answered otherwise.
    let rests = text.contains("\ngeneration rests");
    let script = Script::parse(&text).unwrap();
    let asked = asked(&script);
    let is_accepted =
        asked.iter().any(|(request, status)| request.path.contains("/submissions/submit/") && *status == 201);
    let mut requests: Vec<_> =
        asked.into_iter().map(|(request, status)| (request, (!rests).then_some(status))).collect();
    for ((request, _), number) in requests.iter_mut().zip(1..) {
        // Who asks again says that it is the same.
        let submits = request.path.contains("/submit/") || request.path.contains("/revert/");
        if submits && request.idempotency_key.is_none() {
            request.idempotency_key = Some(format!("request-{number}"));
        }
    }
    for actions_max in [ACTIONS_MAX, STAGED] {
        let swept = crashes::sweep(&given::world(&script.given), actions_max, &requests).unwrap();
        let is_submitted = requests.iter().any(|(request, _)| request.path.contains("/submissions/"));
        assert!(swept.asked > 0 || !is_submitted, "nobody has died");
        assert!(swept.woken > 0 || !is_accepted, "the stream woke nobody: {swept:?}");
        // At once something is owed only where there are dependents or references.
        assert!(swept.sweeping > 0 || !is_accepted || actions_max != STAGED, "nothing was owed: {swept:?}");
    }
}

/// What a scenario asks for that may change something.
fn asked(script: &Script) -> Vec<(Asking, u16)> {
    let (system, keys) = given::start(&script.given, ACTIONS_MAX);
    let mut stage = Stage::new(system, keys);
    for step in &script.steps {
        drop(stage.play(step));
        stage.system.settle();
    }
    let asked = stage.system.asked.lock().unwrap();
    asked.clone()
}

/// Says at which step a test panicked, if it does.
pub(super) struct Scene<'a> {
    pub(super) path: &'a str,
    pub(super) step: &'a Step,
}

impl Drop for Scene<'_> {
    #[expect(clippy::print_stderr, reason = "what a failed test says")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}:{}: {}", self.path, self.step.line, self.step.command);
        }
    }
}

/// A system in the middle of a scenario.
pub(super) struct Stage<S> {
    pub(super) system: S,
    keys: BTreeMap<String, String>,
    /// The token of a member of each team, if people act.
    tokens: BTreeMap<String, String>,
    /// The teams that have submitted: whose change instances have names.
    submitters: BTreeSet<String>,
    /// What each team's last preview stands for.
    plans: BTreeMap<String, String>,
    /// The replies to submissions with an idempotency key.
    replies: BTreeMap<(String, String), Value>,
    /// How many events there were when they were last looked at.
    events_read: u64,
    /// Whether generation rests: what is new in the stream is not delivered at all.
    pub(super) rests: bool,
}

const CORE: &str = "/v1/orcabase";
const MESSAGES: &str = "/v1/orcaexternal/serviceowner/messages/";
const CHARGES: &str = "/v1/marketplace";

impl<S: Site> Stage<S> {
    pub(super) fn new(system: S, keys: BTreeMap<String, String>) -> Self {
        let (submitters, plans, replies) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let tokens = BTreeMap::new();
        Self { system, keys, tokens, submitters, plans, replies, events_read: 0, rests: false }
    }

    pub(super) fn play(&mut self, step: &Step) -> Outcome {
        let words: Vec<&str> = step.command.split(' ').collect();
        match words.as_slice() {
            ["history", change] => self.history(change),
            ["deployed", item] => self.deployed(item),
            ["charges", item] => self.charges(item),
            [team, "bills", item, number] => self.bill(team, item, number.parse().unwrap()),
            [
                kind @ ("change" | "item" | "application" | "service" | "submission" | "team"),
                name,
                fields @ ..,
            ] => self.read(None, kind, name, fields),
            [team, "reads", kind, name, fields @ ..] => self.read(Some(team), kind, name, fields),
            [team, "lists", view @ ("dependant" | "referenced"), collection, words @ ..] => {
                self.list(team, collection, Some(view), words)
            }
            [team, "lists", collection, words @ ..] => self.list(team, collection, None, words),
            [team, "submits" | "patches" | "validates" | "reverts", ..] => self.submit(team, step),
            [team, "moves", change, "to", state, ..] => {
                let body = json!({"state": state});
                self.update(team, "POST", change, body, rest_of(step, 5))
            }
            ["a", "person", "of", _, "moves", change, "to", state, ..] => {
                let (who, _) = step.command.split_once(" moves ").unwrap();
                self.update(who, "PATCH", change, json!({"state": state}), rest_of(step, 8))
            }
            [team, "updates", change, ..] => self.update(team, "PATCH", change, json!({}), rest_of(step, 3)),
            [team, "retries", change] => self.retry(team, change),
            [team, "deploys", ..] => self.deploy(team, rest_of(step, 2)),
            [team, "sets", service, ..] => self.set(team, service, &pairs(rest_of(step, 3))),
            [team, "tells", ..] => self.tell(team, rest_of(step, 2)),
            [team, "withdraws", ..] => self.withdraw(team, rest_of(step, 2)),
            [team, "publishes"] => self.publish(team, &step.body.join("\n")),
            ["generation", "rests"] => self.generation(false),
            ["generation", "goes", "on"] => self.generation(true),
            ["events"] => self.events(),
            _ => panic!("`{}` is no command", step.command),
        }
    }

    fn key(&self, team: &str) -> &str {
        self.keys.get(team).unwrap_or_else(|| panic!("there is no team `{team}`"))
    }

    /// What is called how now.
    fn names(&self) -> Names {
        let mut names = Names::default();
        for team in &self.submitters {
            let path = format!("{CORE}/consumer/change_instances/?limit=1000");
            for change in self.results(&path, team) {
                names.learn(&change);
            }
        }
        names
    }

    /// The whole of a list that fits on one page.
    fn results(&self, path: &str, team: &str) -> Vec<Value> {
        let answer = self.system.get(path, self.key(team));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.at("/next").is_null(), "{path} has more than one page");
        answer.at("/results").as_array().unwrap().clone()
    }

    fn submit(&mut self, team: &str, step: &Step) -> Outcome {
        let (verb, options) = rest_of(step, 1).split_once(' ').unwrap_or((rest_of(step, 1), ""));
        let mut options: Vec<&str> = options.split(' ').filter(|word| !word.is_empty()).collect();
        let method = if verb == "patches" { "PATCH" } else { "POST" };
        let reverted_to = match options.as_slice() {
            ["reverting", "to", submission, rest @ ..] | ["to", submission, rest @ ..] => {
                let id = self.submission_named(submission);
                options = rest.to_vec();
                Some(format!("{CORE}/consumer/submissions/{id}/revert/"))
            }
            _ => None,
        };
        let mut path = match verb {
            "reverts" => reverted_to.clone().unwrap(),
            "validates" if reverted_to.is_some() => format!("{}validate/", reverted_to.as_ref().unwrap()),
            "validates" => format!("{CORE}/consumer/submissions/validate/"),
            _ => format!("{CORE}/consumer/submissions/submit/"),
        };
        let (mut headers, mut idempotency_key) = (Vec::new(), None);
        if let [rest @ .., "as", "previewed"] = options.as_slice() {
            headers.push(("if-match", self.plans[team].as_str()));
            options = rest.to_vec();
        }
        if let [rest @ .., "with", "key", key] = options.as_slice() {
            headers.push(("idempotency-key", *key));
            idempotency_key = Some((*key).to_owned());
            options = rest.to_vec();
        }
        if let [rest @ .., "with", "commit", commit] = options.as_slice() {
            path.push_str("?commit_id=");
            path.push_str(commit);
            options = rest.to_vec();
        }
        assert!(matches!(options.as_slice(), [] | ["nothing"]), "`{options:?}` is no option");
        let body = if reverted_to.is_some() { String::new() } else { document(team, &step.body) };
        let body = body.into_bytes();
        let ask = Ask { method, path: &path, key: Some(self.key(team)), headers: &headers, body };
        let answer = self.system.send(&ask);
        if let (200 | 201, Some(key)) = (answer.status, idempotency_key) {
            let first = self.replies.entry((team.to_owned(), key));
            let first = first.or_insert_with(|| answer.body.clone());
            assert_eq!(*first, answer.body, "the reply is repeated as it was");
        }
        self.submitters.insert(team.to_owned());
        if verb == "validates" && answer.status == 200 {
            // Where an earlier submission still owes something there is none; nothing matches this.
            let plan = answer.at("/plan").as_str().unwrap_or("none");
            self.plans.insert(team.to_owned(), format!("\"{plan}\""));
            return reply::preview(&answer, &self.names());
        }
        reply::submission(&answer, &self.names())
    }

    /// What `TEAM`, or `a person of TEAM`, is answered.
    fn call(&self, who: &str, method: &str, path: &str, body: &Value) -> Answer {
        let Some(team) = who.strip_prefix("a person of ") else {
            return self.system.call(method, path, self.key(who), body);
        };
        let bearer = format!("Bearer {}", self.tokens[team]);
        let (headers, body) = ([("authorization", bearer.as_str())], body.to_string().into_bytes());
        self.system.send(&Ask { method, path, headers: &headers, body, ..Ask::default() })
    }

    fn update(&self, who: &str, method: &str, change: &str, mut body: Value, options: &str) -> Outcome {
        let names = self.names();
        let fields = body.as_object_mut().unwrap();
        let mut rest = options;
        while !rest.is_empty() {
            let (field, text) = if let Some(text) = rest.strip_prefix("with log ") {
                ("log", text)
            } else if let Some(text) = rest.strip_prefix("with deployed ") {
                ("deployed_item", text)
            } else {
                panic!("`{rest}` is no option")
            };
            let (value, after) = json_prefix(text).unwrap_or_else(|| panic!("`{text}` is no JSON"));
            fields.insert(field.to_owned(), value);
            rest = after;
        }
        let path = format!("{CORE}/serviceowner/change_instances/{}/", names.change_named(change).id);
        let answer = self.call(who, method, &path, &body);
        let done = reply::change(&answer.body, &names);
        reply::error(&answer, &names).unwrap_or_else(|| Outcome::head(format!("{} {done}", answer.status)))
    }

    fn retry(&self, team: &str, change: &str) -> Outcome {
        let id = self.names().change_named(change).id;
        let path = format!("{CORE}/serviceowner/change_instances/{id}/retry/");
        let answer = self.system.call("POST", &path, self.key(team), &Value::Null);
        let names = self.names();
        let born = || Outcome::head(format!("{} {}", answer.status, reply::born(&answer.body, &names)));
        reply::error(&answer, &names).unwrap_or_else(born)
    }

    /// `{…} for CoreVM1`, `{…} with CoreVM1#1`, or `{…} onto CoreVM1 v1`.
    fn deploy(&self, team: &str, text: &str) -> Outcome {
        let names = self.names();
        let (data, target) = json_prefix(text).unwrap_or_else(|| panic!("`{text}` is no JSON"));
        let url = |collection: &str, id: u64| {
            format!("{}{CORE}/serviceowner/{collection}/{id}/", self.system.base())
        };
        let post = format!("{CORE}/serviceowner/deployed_items/");
        let (method, path, body) = match target.split(' ').collect::<Vec<_>>().as_slice() {
            ["for", item] => {
                let item = url("service_items", names.item_named(item).id);
                ("POST", post, json!({"data": data, "service_item": item}))
            }
            ["with", change] => {
                let change = url("change_instances", names.change_named(change).id);
                ("POST", post, json!({"data": data, "change_instance": change}))
            }
            ["onto", item, version] => {
                let versions = self.versions(item, &names);
                let found = versions.iter().find(|row| format!("v{}", row["version"]) == *version).unwrap();
                ("PATCH", url("deployed_items", found["id"].as_u64().unwrap()), json!({"data": data}))
            }
            _ => panic!("`{target}` is no place to deploy to"),
        };
        let answer = self.system.call(method, &path, self.key(team), &body);
        let message = answer.at("/message").as_str().map(|text| format!(" {text:?}")).unwrap_or_default();
        let done = || format!("{} {}{message}", answer.status, reply::deployed(&answer.body, &names));
        reply::error(&answer, &names).unwrap_or_else(|| Outcome::head(done()))
    }

    fn versions(&self, item: &str, names: &Names) -> Vec<Value> {
        let item = names.item_named(item);
        let path = format!("{CORE}/consumer/deployed_items/?limit=1000&service_item_id={}", item.id);
        self.results(&path, &item.consumer)
    }

    fn deployed(&self, item: &str) -> Outcome {
        let names = self.names();
        let versions = self.versions(item, &names);
        let head = if versions.is_empty() { "none" } else { "" };
        let rows = versions.iter().map(|version| reply::deployed(version, &names)).collect();
        Outcome { head: head.to_owned(), rows }
    }

    /// The charges of an item, as its consumer sees them.
    fn charges_of(&self, item: &str, names: &Names) -> Vec<Value> {
        let item = names.item_named(item);
        let path = format!("{CHARGES}/consumer/charges/?limit=100&service_item_id={}", item.id);
        self.results(&path, &item.consumer)
    }

    fn charges(&self, item: &str) -> Outcome {
        let names = self.names();
        let charges = self.charges_of(item, &names);
        let head = if charges.is_empty() { "none" } else { "" };
        Outcome {
            head: head.to_owned(),
            rows: charges.iter().map(|charge| reply::charge(charge, &names)).collect(),
        }
    }

    fn bill(&self, team: &str, item: &str, number: usize) -> Outcome {
        let names = self.names();
        let id = &self.charges_of(item, &names)[number - 1]["id"];
        let path = format!("{CHARGES}/serviceowner/charges/{id}/");
        let answer = self.system.call("PATCH", &path, self.key(team), &json!({"processed": true}));
        let done = || Outcome::head(format!("{} {}", answer.status, reply::charge(&answer.body, &names)));
        reply::error(&answer, &names).unwrap_or_else(done)
    }

    fn history(&self, change: &str) -> Outcome {
        let names = self.names();
        let found = names.change_named(change);
        let path = format!("{CORE}/consumer/change_instances/{}/history/", found.id);
        let entries = self.results(&path, &found.consumer);
        Outcome { head: String::new(), rows: reply::history(&entries, &names) }
    }

    fn set(&self, team: &str, service: &str, settings: &Map<String, Value>) -> Outcome {
        let path = format!("{CORE}/serviceowner/services/{}/", self.service_id(service));
        let answer = self.system.call("PATCH", &path, self.key(team), &Value::Object(settings.clone()));
        reply::error(&answer, &self.names()).unwrap_or_else(|| Outcome::head(answer.status.to_string()))
    }

    /// `"…" to all`, `"…" to VM,LoadBalancer`, `"…" to VM until 2030-01-01`.
    fn tell(&self, team: &str, text: &str) -> Outcome {
        let (description, rest) = json_prefix(text).unwrap_or_else(|| panic!("`{text}` is no JSON"));
        let mut body = json!({"description": description});
        let rest = rest.strip_prefix("to ").unwrap_or_else(|| panic!("`{text}` says to nobody"));
        let (services, expiry) = rest.split_once(" until ").map_or((rest, None), |(to, at)| (to, Some(at)));
        if services != "all" {
            let url = |title: &str| format!("{CORE}/serviceowner/services/{}/", self.service_id(title));
            body["scopes"] = services.split(',').map(url).collect();
        }
        if let Some(expiry) = expiry {
            body["expiry_date"] = json!(expiry);
        }
        let answer = self.system.call("POST", MESSAGES, self.key(team), &body);
        reply::error(&answer, &self.names()).unwrap_or_else(|| Outcome::head(answer.status.to_string()))
    }

    fn withdraw(&self, team: &str, text: &str) -> Outcome {
        let (description, _) = json_prefix(text).unwrap_or_else(|| panic!("`{text}` is no JSON"));
        let messages = self.results(&format!("{MESSAGES}?limit=100"), team);
        let found = messages.iter().find(|message| message["description"] == description);
        let found = found.unwrap_or_else(|| panic!("there is no message {text}"));
        let path = format!("{MESSAGES}{}/", found["id"]);
        let answer = self.system.call("DELETE", &path, self.key(team), &Value::Null);
        reply::error(&answer, &self.names()).unwrap_or_else(|| Outcome::head(answer.status.to_string()))
    }

    fn service_id(&self, title: &str) -> u64 {
        let owned = |team: &String| self.results(&format!("{CORE}/serviceowner/services/?limit=1000"), team);
        let service = self.keys.keys().flat_map(owned).find(|service| service["name"] == title);
        service.unwrap_or_else(|| panic!("there is no service `{title}`"))["id"].as_u64().unwrap()
    }

    fn publish(&self, team: &str, schema: &str) -> Outcome {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let answer =
            self.system.call("POST", &format!("{CORE}/serviceowner/services/"), self.key(team), &schema);
        let done = || {
            let (name, version) = (answer.at("/name").as_str().unwrap(), answer.at("/schema/version"));
            Outcome::head(format!("{} {name} version {version}", answer.status))
        };
        reply::error(&answer, &self.names()).unwrap_or_else(done)
    }

    /// Disables or enables the mapping that feeds generation from the stream.
    fn generation(&mut self, enabled: bool) -> Outcome {
        self.system.enable("generate", enabled);
        self.rests = !enabled;
        Outcome::default()
    }

    /// The events since they were last looked at, by subject.
    fn events(&mut self) -> Outcome {
        let names = self.names();
        let events = self.system.events(self.events_read);
        self.events_read = events.last().map_or(self.events_read, |event| event.number);
        let mut rows: Vec<_> = events.iter().map(|event| reply::event(&event.envelope, &names)).collect();
        // Those of one subject are in order; between subjects there is none, and any may come twice.
        rows.sort_by_key(|(subject, _)| subject.clone());
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(row.clone()));
        Outcome { head: String::new(), rows: rows.into_iter().map(|(_, row)| row).collect() }
    }

    /// Reads one object, as its consumer or owner when no team is named.
    fn read(&self, team: Option<&str>, kind: &str, name: &str, fields: &[&str]) -> Outcome {
        let names = self.names();
        let (collection, id, reader) = match kind {
            "change" => {
                let found = names.change_named(name);
                ("change_instances", found.id, found.consumer)
            }
            "item" => {
                let found = names.item_named(name);
                ("service_items", found.id, found.consumer)
            }
            "application" => self.found("applications", "name", &json!(name)),
            "submission" => {
                let (team, _) = name.split_once('#').unwrap();
                ("submissions", self.submission_named(name), team.to_owned())
            }
            "service" => ("services", self.service_id(name), "AwesomeConsumer".to_owned()),
            "team" => {
                let found = &self.results("/v1/account/teams/", name)[0];
                let ["as", "of", submission, fields @ ..] = fields else {
                    return Outcome::head(reply::fields(found, fields, &names));
                };
                let (id, as_of) = (&found["id"], self.submission_named(submission));
                let path = format!("/v1/account/teams/{id}/?as_of={as_of}");
                let answer = self.system.get(&path, self.key(name));
                let shown = reply::fields(&answer.body, fields, &names);
                return reply::error(&answer, &names).unwrap_or_else(|| Outcome::head(shown));
            }
            _ => panic!("`{kind}` cannot be read"),
        };
        let is_consumers_own = matches!(collection, "applications" | "submissions");
        let as_consumer = is_consumers_own || team.is_none_or(|team| team == reader);
        let pov = if as_consumer { "consumer" } else { "serviceowner" };
        let (as_of, fields) = match fields {
            ["as", "of", submission, fields @ ..] => {
                (format!("?as_of={}", self.submission_named(submission)), fields)
            }
            fields => (String::new(), fields),
        };
        let path = format!("{CORE}/{pov}/{collection}/{id}/{as_of}");
        let answer = self.system.get(&path, self.key(team.unwrap_or(&reader)));
        let shown = |answer: &Answer| match (kind, fields) {
            ("change", []) => reply::change(&answer.body, &names),
            ("item", []) => reply::item(&answer.body),
            _ => reply::fields(&answer.body, fields, &names),
        };
        reply::error(&answer, &names).unwrap_or_else(|| Outcome::head(shown(&answer)))
    }

    /// The id of `T#1`, T's first submission: the upper bits are the team's, the number counts its submissions.
    fn submission_named(&self, name: &str) -> u64 {
        let (team, number) = name.split_once('#').unwrap();
        let number: usize = number.parse().unwrap();
        let rows = self.results(&format!("{CORE}/consumer/submissions/?limit=1000"), team);
        rows[number - 1]["id"].as_u64().unwrap()
    }

    /// What the team that has it finds under a name.
    fn found(&self, collection: &'static str, field: &str, name: &Value) -> (&'static str, u64, String) {
        for team in &self.submitters {
            let rows = self.results(&format!("{CORE}/consumer/{collection}/?limit=1000"), team);
            if let Some(row) = rows.iter().find(|row| row[field] == *name) {
                return (collection, row["id"].as_u64().unwrap(), team.clone());
            }
        }
        panic!("nothing among {collection} is called {name}")
    }

    /// `changes state=PENDING`, `dependant items`; behind `as consumer` as a consumer.
    fn list(&self, team: &str, collection: &str, view: Option<&str>, words: &[&str]) -> Outcome {
        let names = self.names();
        let (pov, filters) = match words {
            ["as", "consumer", filters @ ..] => ("consumer", filters),
            filters => ("serviceowner", filters),
        };
        let filters = filters.iter().map(|filter| match filter.split_once('=') {
            Some(("service_item_id", item)) => format!("service_item_id={}", names.item_named(item).id),
            _ => (*filter).to_owned(),
        });
        let (collection, pov) = match collection {
            "changes" => ("change_instances", pov),
            "items" => ("service_items", pov),
            "deployed" => ("deployed_items", pov),
            "submissions" => ("submissions", "consumer"),
            other => (other, pov),
        };
        let filters = filters.collect::<Vec<_>>().join("&");
        let view = view.map(|view| format!("{view}/")).unwrap_or_default();
        let base = if collection == "messages" { "/v1/orcaexternal" } else { CORE };
        let path = format!("{base}/{pov}/{collection}/{view}?{filters}");
        let answer = self.system.get(&path, self.key(team));
        reply::error(&answer, &names).unwrap_or_else(|| {
            let rows = answer.at("/results").as_array().unwrap();
            assert_eq!(answer.at("/count"), rows.len(), "the count is the number of rows");
            let rows: Vec<String> = rows.iter().map(|row| reply::row(collection, row, &names)).collect();
            Outcome::head(if rows.is_empty() { "none".to_owned() } else { rows.join(", ") })
        })
    }
}

/// The command without its first words.
fn rest_of(step: &Step, words: usize) -> &str {
    let mut rest = step.command.as_str();
    for _ in 0..words {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
    }
    rest
}

/// The document that a team submits: lines as `NewApp1 VM CoreVM1 cpu=8`, or JSON as it is.
fn document(team: &str, lines: &[String]) -> String {
    if lines.first().is_some_and(|line| line.starts_with('{')) {
        return lines.join("\n");
    }
    let mut content = json!({});
    for line in lines {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["metadata", ..] => {
                content["metadata"] = Value::Object(pairs(line.strip_prefix("metadata").unwrap()));
            }
            [application, "metadata", ..] => {
                let (_, metadata) = line.split_once(" metadata").unwrap();
                content[application]["metadata"] = Value::Object(pairs(metadata));
            }
            [application, "nothing"] => content[application]["services"] = json!({}),
            [application, service, name, rest @ ..] => {
                let mut item = rest.first().map(|rest| pairs(rest)).unwrap_or_default();
                item.insert("name".to_owned(), json!(name));
                let items = &mut content[application]["services"][service];
                if items.is_null() {
                    *items = json!([]);
                }
                items.as_array_mut().unwrap().push(Value::Object(item));
            }
            _ => panic!("`{line}` declares nothing"),
        }
    }
    canonical(&json!({team: content}))
}
