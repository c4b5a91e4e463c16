//! Corruptions, at least one for each invariant: how the rows of a sound table are changed past every rule.

use serde_json::{Value, json};

/// A corruption.
pub(crate) struct Planted {
    /// The invariant that it breaks.
    pub(crate) rule: &'static str,
    /// What is done to which row.
    pub(crate) what: &'static str,
    /// The rows that it may be done to; it is done to the first one.
    pub(crate) to: fn(&Value) -> bool,
    /// How the row is changed.
    pub(crate) how: How,
    /// Whether it can be computed again.
    pub(crate) is_mended: bool,
}

/// How a row is changed.
pub(crate) enum How {
    /// It is stored so, under the same key or another one.
    Stored(fn(&mut Value)),
    /// It is removed.
    Removed,
}

use How::{Removed, Stored};

/// The consumer whose records are corrupted, and an owner of its change instances: the demo world's numbers.
const TEAM: &str = "4";
const VM_OWNER: &str = "1";

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]["S"].as_str().unwrap_or_default()
}

/// Whether a row is of this type, and the consumer's if it is a consumer's.
fn is(row: &Value, ty: &str) -> bool {
    let (_, team) = text(row, "pk").split_once('#').unwrap_or_default();
    text(row, "ty") == ty && (team == TEAM || ty.contains('_') || ty == "SERVICE")
}

fn is_item(row: &Value, name: &str) -> bool {
    is(row, "ITEM") && text(row, "nm") == name
}

fn is_change(row: &Value, name: &str, state: &str) -> bool {
    is(row, "CHANGE") && text(row, "nm") == name && text(row, "st") == state
}

fn number(row: &mut Value, pointer: &str, add: i64) {
    let value = row.pointer_mut(pointer).unwrap();
    *value = json!((value.as_str().unwrap().parse::<i64>().unwrap() + add).to_string());
}

fn main_stack(row: &mut Value) -> &mut Value {
    &mut row["own"]["M"][VM_OWNER]["M"]
}

const fn stored(
    rule: &'static str,
    what: &'static str,
    to: fn(&Value) -> bool,
    edit: fn(&mut Value),
) -> Planted {
    Planted { rule, what, to, how: Stored(edit), is_mended: false }
}

const fn removed(rule: &'static str, what: &'static str, to: fn(&Value) -> bool) -> Planted {
    Planted { rule, what, to, how: Removed, is_mended: false }
}

const fn mended(planted: Planted) -> Planted {
    Planted { is_mended: true, ..planted }
}

/// Another hash than any that is stored.
const HASH: &str = "C_R0iWNjUF5epeXWrOjr-xOnYKQJsftGfUKPxxb58oQ";

/// All corruptions.
pub(crate) const PLANTED: &[Planted] = &[
    stored(
        "I1",
        "a displaced one is open again",
        |r| is_change(r, "CoreVM4", "CLOSED"),
        |r| {
            r["st"] = json!({"S": "PENDING"});
        },
    ),
    stored(
        "I2",
        "a slot is empty",
        |r| is_item(r, "CoreVM4"),
        |r| {
            main_stack(r).as_object_mut().unwrap().remove("p");
        },
    ),
    stored(
        "I2",
        "a slot knows another end of the history",
        |r| is_item(r, "CoreVM4"),
        |r| {
            number(main_stack(r), "/p/M/end/M/n/N", 1);
        },
    ),
    stored(
        "I3",
        "the state is not that of the history",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["st"] = json!({"S": "CLOSED"});
        },
    ),
    stored(
        "I3",
        "an entry is from another time",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            number(r, "/hi/L/1/M/a/N", 1);
        },
    ),
    stored(
        "I3",
        "an entry is missing",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["hi"]["L"].as_array_mut().unwrap().remove(1);
        },
    ),
    stored(
        "I3",
        "the count of entries is another",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            number(r, "/n/N", 1);
        },
    ),
    stored(
        "I5",
        "a record is stored a second time elsewhere",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["sk"] = json!({"S": "0001#0000099"});
        },
    ),
    stored(
        "I5",
        "a deployed item is another team's",
        |r| is(r, "DEPLOYED"),
        |r| {
            number(r, "/cs/M/id/N", 1);
        },
    ),
    stored(
        "I5",
        "a number would be allotted again",
        |r| text(r, "pk") == "COUNTERS",
        |r| {
            number(r, "/teams/N", -1);
        },
    ),
    stored(
        "I6",
        "something newer has landed",
        |r| is_item(r, "CoreVM4"),
        |r| {
            number(main_stack(r), "/s/N", 1);
        },
    ),
    stored(
        "I7",
        "nobody approved that",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["rs"] = json!({"S": "DECOMMISSIONED"});
        },
    ),
    mended(stored("I8", "the digest is another", |r| is(r, "APP"), |r| r["dig"] = json!({"S": HASH}))),
    mended(stored("I8", "the root is another", |r| is(r, "HEAD"), |r| r["root"] = json!({"S": HASH}))),
    mended(stored("I9", "one more seems to wait", |r| is(r, "HEAD"), |r| number(r, "/attn/N", 1))),
    mended(stored("I9", "something else seems to wait", |r| is(r, "HEAD"), |r| number(r, "/att/N", 1))),
    removed("I10", "a change instance is lost", |r| is_change(r, "CoreVM4", "CLOSED")),
    removed("I11", "work is lost", |r| is(r, "WORK")),
    stored(
        "I11",
        "work belongs to nothing",
        |r| is(r, "WORK"),
        |r| {
            number(r, "/sub/N", 90);
            r["sk"] = json!({"S": text(r, "sk").replace("00000000002#", "00000000092#")});
        },
    ),
    stored("I11", "more work is counted", |r| is(r, "SUBMISSION"), |r| number(r, "/wl/N", 1)),
    stored("I11", "its state is ahead", |r| is(r, "SUBMISSION"), |r| r["st"] = json!({"S": "COMMITTED"})),
    stored(
        "I11",
        "the head is held by nobody",
        |r| is(r, "HEAD"),
        |r| {
            r["inf"] = json!({"N": "137438953473"});
        },
    ),
    stored(
        "I12",
        "it is settled as nothing that was completed",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["sh"] = json!({"S": "REMOVED"});
        },
    ),
    stored(
        "I13",
        "a MODIFY is ahead of the CREATE",
        |r| is_item(r, "CoreVM3"),
        |r| {
            main_stack(r)["v"]["M"]["ct"] = json!({"S": "MODIFY"});
        },
    ),
    stored("I15", "a version is skipped", |r| is(r, "DEPLOYED"), |r| number(r, "/no/N", 1)),
    stored(
        "I15",
        "the data is not what was reported",
        |r| is(r, "DEPLOYED"),
        |r| {
            r["data"] = json!({"S": "{}"});
        },
    ),
    stored(
        "I16",
        "it names another item",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["nm"] = json!({"S": "CoreVM2"});
        },
    ),
    stored(
        "I16",
        "two items have one name",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["nm"] = json!({"S": "CoreVM2"});
        },
    ),
    stored(
        "I16",
        "it names another application",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["app"] = json!({"S": "NewApp2"});
        },
    ),
    stored("I16", "a team's name leads elsewhere", |r| is(r, "TEAM_NAME"), |r| number(r, "/to/N", 1)),
    stored("I16", "a team's name leads nowhere", |r| is(r, "TEAM_NAME"), |r| number(r, "/to/N", 90)),
    removed("I16", "a team is not found by its name", |r| is(r, "TEAM_NAME")),
    stored(
        "I16",
        "a service's id leads nowhere",
        |r| is(r, "SERVICE_ID"),
        |r| {
            r["to"] = json!({"S": "Disk"});
        },
    ),
    removed("I16", "a service is not found by its id", |r| is(r, "SERVICE_ID")),
    stored(
        "I16",
        "a service has another owner than its items say",
        |r| is(r, "SERVICE"),
        |r| {
            r["so"] = json!({"M": {"id": {"N": "3"}, "nm": {"S": "NPOwnerTeam"}}});
        },
    ),
    removed("I16", "a schema is lost", |r| text(r, "ty") == "SCHEMA"),
    removed("I16", "a team has no head", |r| is(r, "HEAD")),
    stored(
        "I17",
        "a reference leads nowhere",
        |r| is_item(r, "CoreLB1"),
        |r| {
            r["rf"]["L"][0]["M"]["nm"] = json!({"S": "CoreVM9"});
        },
    ),
    mended(removed("I18", "a share is not noted", |r| is(r, "SHARE"))),
    mended(stored(
        "I18",
        "a share of nobody is noted",
        |r| is(r, "SHARE"),
        |r| {
            r["ow"] = json!({"N": "5"});
            let key = text(r, "sk").rsplit_once('#').unwrap().0.to_owned();
            r["sk"] = json!({"S": format!("{key}#5")});
            r["gs2pk"] = json!({"S": "OWNER#5#SHARES"});
        },
    )),
    stored(
        "I18",
        "an item is in another owner's list",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["gs2pk"] = json!({"S": "OWNER#2#ITEMS"});
        },
    ),
    stored(
        "I18",
        "a change instance is in the queue of another state",
        |r| is_change(r, "CoreVM4", "PENDING"),
        |r| {
            r["gs1pk"] = json!({"S": "OWNER#1#CLOSED"});
        },
    ),
    stored(
        "I18",
        "work is in no index",
        |r| is(r, "WORK"),
        |r| {
            r.as_object_mut().unwrap().remove("gs3pk");
        },
    ),
    stored(
        "I19",
        "a declaration is not what its hash says",
        |r| is(r, "DECLARATION"),
        |r| {
            r["json"] = json!({"S": "{}"});
        },
    ),
    removed("I19", "a declaration is lost", |r| is(r, "DECLARATION")),
    removed("I20", "a submission is lost", |r| is(r, "SUBMISSION")),
    stored("I20", "an idempotency key leads nowhere", |r| is(r, "KEY"), |r| number(r, "/sub/N", 90)),
    stored(
        "I20",
        "two keys lead to one submission",
        |r| is(r, "KEY"),
        |r| {
            r["key"] = json!({"S": "another"});
            r["sk"] = json!({"S": "another"});
        },
    ),
    stored(
        "I24",
        "a log is too long",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["hi"]["L"][2]["M"]["log"] = json!({"S": "x".repeat(1025)});
        },
    ),
    stored(
        "I24",
        "a declaration is too long",
        |r| is(r, "DECLARATION"),
        |r| {
            r["json"] = json!({"S": "x".repeat(128 * 1024 + 1)});
        },
    ),
    stored(
        "I24",
        "metadata is too long",
        |r| is(r, "APP"),
        |r| {
            r["meta"] = json!({"S": "x".repeat(4 * 1024 + 1)});
        },
    ),
    stored("I25", "a record does not decode", |r| is_item(r, "CoreVM1"), |r| r["rs"] = json!({"S": "GONE"})),
    stored(
        "I25",
        "an attribute is missing",
        |r| is(r, "HEAD"),
        |r| {
            r.as_object_mut().unwrap().remove("root");
        },
    ),
    stored(
        "I25",
        "a record is of a format to come",
        |r| is(r, "DECLARATION"),
        |r| r["v"] = json!({"N": "9"}),
    ),
    stored("I25", "a record is of no known type", |r| is(r, "KEY"), |r| r["ty"] = json!({"S": "LEASE"})),
    stored(
        "I25",
        "a team's name leads to no number",
        |r| is(r, "TEAM_NAME"),
        |r| r["to"] = json!({"S": "x"}),
    ),
];
