//! Responses as text, in the form of the scenario files.

use super::names::Names;
use super::script::Outcome;
use domain::base::json::canonical;
use serde_json::{Value, json};
use support::Answer;

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("?")
}

fn id(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the id at the end of a URL.
fn id_in(url: &str) -> u64 {
    url.trim_end_matches('/').rsplit('/').next().unwrap().parse().unwrap()
}

/// Returns the text of an error response, or this line for a success.
pub(super) fn line(answer: &Answer, names: &Names, success: impl FnOnce() -> String) -> Outcome {
    error(answer, names).unwrap_or_else(|| Outcome::head(success()))
}

/// Returns this text if an object has the mark.
fn marked(object: &Value, mark: &str, text: &'static str) -> &'static str {
    if object[mark] == true { text } else { "" }
}

/// Returns the text of an error response, or `None` for a success.
///
/// The text is, for example, `400 illegal_transition "cannot …"`, with a row for each problem of a declaration and
/// each message in its nested errors.
pub(super) fn error(answer: &Answer, names: &Names) -> Option<Outcome> {
    let (status, body) = (answer.status, &answer.body);
    if status < 300 {
        return None;
    }
    let Some(code) = body.get("code").and_then(Value::as_str) else {
        return Some(Outcome::head(format!("{status} {}", canonical(body))));
    };
    assert_eq!(body["status"], status, "the problem's status is that of the reply");
    let head = format!("{status} {code}");
    let Some(problems) = body.get("problems").and_then(Value::as_array) else {
        let detail = names.replace_ids(text(body, "/detail"));
        let says_more = body["detail"] != body["title"];
        return Some(Outcome::head(if says_more { format!("{head} {detail:?}") } else { head }));
    };
    if code == "invalid_for_state" {
        let row = |problem| {
            let [pointer, rule, detail] = ["/pointer", "/rule", "/detail"].map(|of| text(problem, of));
            format!("{} breaks {rule}: {detail}", if pointer.is_empty() { "the item" } else { pointer })
        };
        return Some(Outcome { head, rows: problems.iter().map(row).collect() });
    }
    assert_eq!(body["is_valid"], false);
    let mut rows: Vec<String> = problems
        .iter()
        .map(|problem| match (text(problem, "/pointer"), text(problem, "/rule")) {
            ("", rule) => format!("the document breaks {rule}"),
            (pointer, rule) => format!("{pointer} breaks {rule}"),
        })
        .collect();
    let (mut messages, mut path) = (Vec::new(), Vec::new());
    leaves(&body["errors"], &mut path, &mut messages);
    assert_eq!(messages.len(), problems.len(), "each problem has one message under its names");
    rows.extend(messages.iter().map(|message| names.replace_ids(message)));
    rows.extend(removals(&body["applications"]));
    if code == "removal_not_confirmed" {
        rows.push(text(body, "/detail").to_owned());
    }
    rows.extend(self::messages(body));
    Some(Outcome { head, rows })
}

/// Returns the text of removals without a confirmation.
fn removals(applications: &Value) -> impl Iterator<Item = String> + '_ {
    let row = |one: &Value| match one["service"].as_str() {
        Some(service) => {
            let replaced = marked(one, "replacement", ", replaced");
            format!("unconfirmed: {} {service} {}{replaced}", text(one, "/application"), text(one, "/name"))
        }
        None => format!("unconfirmed: {} with {} items", text(one, "/name"), one["items"]),
    };
    applications.as_array().into_iter().flatten().map(row)
}

/// Collects the messages of nested errors, each with its path of names.
fn leaves(errors: &Value, path: &mut Vec<String>, messages: &mut Vec<String>) {
    match errors {
        Value::Object(below) => {
            for (name, below) in below {
                path.push(name.clone());
                leaves(below, path, messages);
                path.pop();
            }
        }
        Value::Array(values) => {
            assert!(path.len() >= 2, "errors are a dict of dicts");
            let texts = values.iter().map(|message| message.as_str().unwrap());
            messages.extend(texts.map(|message| format!("{}: {message}", path.join(" > "))));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            panic!("`{errors}` among errors")
        }
    }
}

/// Returns the text of a submission: the created change instances and the number of pending ones.
pub(super) fn submission(answer: &Answer, names: &Names) -> Outcome {
    if let Some(error) = error(answer, names) {
        return error;
    }
    assert_eq!((answer.at("/is_valid"), answer.at("/errors")), (&json!(true), &json!({})));
    let planned = answer.at("/planned");
    let created = answer.at("/change_instances").as_array().unwrap();
    assert_eq!(planned["direct"], created.len(), "each direct change instance is created at once");
    assert_eq!(answer.at("/changed"), &json!(answer.status == 201));
    let head = match &planned["generated"] {
        none if *none == 0 => answer.status.to_string(),
        more => format!("{} generates {more}", answer.status),
    };
    let created = created.iter().map(|change| self::created(change, names));
    Outcome { head, rows: created.chain(messages(&answer.body)).collect() }
}

/// Returns the messages of owners in a response.
fn messages(body: &Value) -> impl Iterator<Item = String> + '_ {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.map(|message| format!("message {} of {}", self::message(message), text(message, "/owner/name")))
}

/// Returns the text of a message and its audience.
fn message(message: &Value) -> String {
    let scopes = message["scopes"].as_array().unwrap().iter();
    let scopes: Vec<&str> = scopes.map(|scope| text(scope, "/scope/name")).collect();
    let to = if scopes.is_empty() { "all".to_owned() } else { scopes.join(" and ") };
    let expired = marked(message, "has_expired", ", expired");
    format!("{} to {to}{expired}", message["description"])
}

/// Returns the text of a preview: change instances, metadata differences, warnings and messages.
pub(super) fn preview(answer: &Answer, names: &Names) -> Outcome {
    assert_eq!((answer.at("/is_valid"), answer.at("/errors")), (&json!(true), &json!({})));
    let list = |pointer: &str| answer.at(pointer).as_array().unwrap().clone();
    let planned = list("/change_instances");
    let count = |name: &str| answer.at(&format!("/planned/{name}")).as_u64().unwrap();
    assert_eq!(count("direct") + count("generated"), u64::try_from(planned.len()).unwrap());
    let mut rows: Vec<String> = planned.iter().map(|change| self::planned(change, names)).collect();
    rows.extend(list("/metadata").iter().map(|changed| {
        let application = changed["application"].as_str().map(|name| format!("application {name}"));
        format!("metadata of {}{}", application.as_deref().unwrap_or("the team"), differences(changed))
    }));
    rows.extend(removals(answer.at("/unconfirmed_removals")));
    let warning = |text: &Value| format!("warning: {}", names.replace_ids(text.as_str().unwrap()));
    rows.extend(list("/warnings").iter().map(warning));
    rows.extend(messages(&answer.body));
    let head = if answer.at("/changed") == true { "200 would change" } else { "200 would change nothing" };
    let uncertain = if answer.at("/plan").is_null() { ", without a plan" } else { "" };
    Outcome { head: format!("{head}{uncertain}"), rows }
}

/// Returns the text of a planned change instance.
fn planned(change: &Value, names: &Names) -> String {
    let (owner, service_owner) = (text(change, "/owner/name"), text(change, "/service_owner_team/name"));
    let item = text(change, "/service_item/name");
    let dependent = (change["is_dependant"] == true).then(|| format!(", dependent of {service_owner}"));
    let closes = change["closes"].as_array().unwrap().iter();
    let closes: Vec<String> = closes.map(|id| names.change(id.as_u64().unwrap())).collect();
    let closes = (!closes.is_empty()).then(|| format!(", closes {}", closes.join(" and ")));
    let replaces = marked(change, "replacement", ", to replace it");
    let never = marked(change, "never_in_service", ", never in service");
    let price = |field: &str, of: &str| {
        let price = &change[field];
        if *price == json!(0) { String::new() } else { format!(", {of} {price}") }
    };
    let prices = price("cost_per_change", "fee") + &price("monthly_cost", "monthly");
    let labels = dependent.unwrap_or_default()
        + &causes(change)
        + replaces
        + &closes.unwrap_or_default()
        + never
        + &prices;
    let labels = match change["wave"].as_u64() {
        Some(0) | None => labels,
        Some(wave) => format!("{labels}, wave {wave}"),
    };
    let is_new = if change["service_item"]["id"].is_null() { "new " } else { "" };
    format!("{is_new}{item} {} for {owner}{labels}{}", kind(change), differences(change))
}

/// Returns the causes of a referenced change with their pointers, for example `, follows web /cpu`.
fn causes(change: &Value) -> String {
    let causes = change["causes"].as_array().into_iter().flatten().map(|cause| {
        assert_eq!(cause["change_instance"], Value::Null, "a preview knows no id of a new change instance");
        let pointers = cause["pointers"].as_array().unwrap().iter().map(|pointer| pointer.as_str().unwrap());
        format!(", follows {} {}", text(cause, "/name"), pointers.collect::<Vec<_>>().join(" "))
    });
    causes.collect()
}

/// Returns the differences of a change, for example `: /cpu 8 -> 16, /memory 2 ->`.
fn differences(of: &Value) -> String {
    let row = |field: &Value| {
        let side = |name: &str| field.get(name).map(|value| format!(" {value}")).unwrap_or_default();
        format!("{}{} ->{}", text(field, "/pointer"), side("old"), side("new"))
    };
    let fields: Vec<String> = of["differences"].as_array().unwrap().iter().map(row).collect();
    if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) }
}

/// Returns the text of a charge: price, cause and state. Times and their totals differ in each run, so they are
/// absent.
pub(super) fn charge(charge: &Value, names: &Names) -> String {
    let change = names.change(id(charge, "/change_instance"));
    let (price, total) = (&charge["price"], &charge["total_charge"]);
    let of = if charge["charge_type"] == "cost_per_change" {
        assert_eq!((price, &charge["start"]), (total, &charge["end"]));
        format!("{price} for {change}")
    } else {
        let runs = if charge["end"].is_null() { ", runs" } else { "" };
        format!("{price} a month since {change}{runs}")
    };
    let processed = marked(charge, "processed", ", processed");
    assert_eq!(charge["processed"] == true, charge["processed_by"].is_string());
    format!("{of}{processed}")
}

/// Returns the text of a new change instance: a row of the guide's tables about generation.
pub(super) fn created(change: &Value, names: &Names) -> String {
    let (owner, service_owner) = (text(change, "/owner/name"), text(change, "/service_owner_team/name"));
    assert_eq!(change["is_dependant"], owner != service_owner);
    let consumer = text(change, "/consumer_team/name");
    let created = format!("{} {} of {consumer} for {owner}", names.change(id(change, "/id")), kind(change));
    let dependent = (change["is_dependant"] == true).then(|| format!(", dependent of {service_owner}"));
    created + &dependent.unwrap_or_default() + &labels(change, names)
}

/// Returns a change instance that a batch has claimed.
pub(super) fn claimed(change: &Value, names: &Names) -> String {
    format!("{} {}, {}", names.change(id(change, "/id")), kind(change), claim(change))
}

/// Returns the claim on the work of a change instance. Only the test of races looks at times.
pub(super) fn claim(change: &Value) -> String {
    let claim = &change["claim"];
    match claim["worker"].as_str() {
        Some(worker) => format!("claim {} of {worker}", claim["number"]),
        None if claim.is_null() => "no claim".to_owned(),
        None => format!("claim {} released", claim["number"]),
    }
}

/// Returns type, state and marks of a change instance.
pub(super) fn change(change: &Value, names: &Names) -> String {
    kind(change) + &labels(change, names)
}

fn kind(change: &Value) -> String {
    format!("{} {}", text(change, "/change_type"), text(change, "/state"))
}

/// Returns the marks of unusual change instances.
fn labels(change: &Value, names: &Names) -> String {
    let mut labels = vec![
        marked(change, "replacement", ", to replace it").to_owned(),
        marked(change, "never_in_service", ", never in service").to_owned(),
    ];
    if change["attempt"] != 1 {
        let cause = names.change(id(change, "/cause"));
        labels.push(format!(", attempt {} after {cause}", change["attempt"]));
    }
    if change["supersedes"] != json!([]) {
        labels.push(format!(", supersedes {}", names.changes(&change["supersedes"])));
    }
    labels.concat()
}

/// Returns the runtime state and change state of an item.
pub(super) fn item(item: &Value) -> String {
    format!("{} {}", text(item, "/runtime_state"), text(item, "/change_state"))
}

/// Returns the text of a deployed item version.
pub(super) fn deployed(deployed: &Value, names: &Names) -> String {
    let change = names.change(id_in(text(deployed, "/change_instance")));
    let observed = marked(deployed, "observed", ", observed");
    let drifted = marked(deployed, "is_drifted", ", drifted");
    format!("v{} {} with {change}{observed}{drifted}", deployed["version"], canonical(&deployed["data"]))
}

/// Returns the values of fields. `object/field` is a field of an object.
pub(super) fn fields(object: &Value, fields: &[&str], names: &Names) -> String {
    let values = fields.iter().map(|field| {
        let value = object.pointer(&format!("/{field}"));
        value.map_or_else(
            || format!("no {field}"),
            |value| match *field {
                "supersedes" => names.changes(value),
                "cause" if value.is_u64() => names.change(value.as_u64().unwrap_or_default()),
                "owner" | "service_owner_team" => text(value, "/name").to_owned(),
                _ => canonical(value),
            },
        )
    });
    values.collect::<Vec<_>>().join(" ")
}

/// Returns the subject of an event, and its text.
pub(super) fn event(envelope: &Value, names: &Names) -> (String, String) {
    let data = &envelope["detail"]["data"];
    let from = data["from"].as_str().map(|from| format!("{from} to ")).unwrap_or_default();
    let summary = match text(envelope, "/detail-type") {
        "ChangeInstance.StateChanged.v1" => {
            let change = names.change(id(data, "/id"));
            let (kind, ty, owner) = (text(data, "/kind"), text(data, "/change_type"), text(data, "/owner"));
            let unblocks = data["unblocks"].as_u64().map(|count| format!(", unblocks {count}"));
            let unblocks = unblocks.unwrap_or_default();
            format!("{change} {from}{} {kind} {ty} for {owner}{unblocks}", text(data, "/to"))
        }
        "Submission.StateChanged.v1" => {
            format!("submission of {} {from}{}", text(data, "/consumer_team"), text(data, "/to"))
        }
        "DeployedItem.Created.v1" => {
            let drifted = marked(data, "is_drifted", ", drifted");
            format!("deployed {} v{}{drifted}", names.item(id(data, "/service_item_id")), data["version"])
        }
        other => panic!("no event is a {other}"),
    };
    (text(envelope, "/resources/0").to_owned(), summary)
}

/// Returns the text of a list row.
pub(super) fn row(collection: &str, row: &Value, names: &Names) -> String {
    match collection {
        "change_instances" => names.change(id(row, "/id")),
        "service_items" => names.item(id(row, "/id")),
        "deployed_items" => {
            format!("{} v{}", names.item(id_in(text(row, "/service_item"))), row["version"])
        }
        "messages" => message(row),
        "submissions" => {
            let scope = if row["partial"] == true { "partial" } else { "whole" };
            let changed = if row["changed"] == true { "changed" } else { "unchanged" };
            format!("{scope} {changed} {}+{}", row["planned"]["direct"], row["planned"]["generated"])
        }
        _ => text(row, "/name").to_owned(),
    }
}

/// Returns the entries of a history, oldest first. Fails if the chain of states has a gap.
pub(super) fn history(entries: &[Value], names: &Names) -> Vec<String> {
    let mut before = (json!(null), String::new(), String::new());
    let mut rows = Vec::new();
    for (entry, sequence) in entries.iter().rev().zip(1..) {
        let (previous, at, log) = &before;
        assert_eq!(entry["sequence"], sequence, "entries are numbered without a gap");
        assert_eq!(entry["previous_state"], *previous, "each entry goes on where the last one ended");
        assert!(text(entry, "/modified") >= at.as_str(), "entries come in the order of time");
        let by = text(entry, "/changed_by");
        let mut row = vec![format!("{} {} by {by}", text(entry, "/reason"), kind(entry))];
        let team = entry["changed_by_team"].as_str();
        row.extend(team.map(|team| format!(" of {team}")));
        if entry["log"] != log.as_str() {
            row.push(format!(", log {}", entry["log"]));
        }
        row.extend(entry["note"].as_str().map(|note| format!(", {}", names.replace_ids(note))));
        before =
            (entry["state"].clone(), text(entry, "/modified").to_owned(), text(entry, "/log").to_owned());
        rows.push(row.concat());
    }
    rows
}
