//! Corruptions of I15 to I25: versions, names, pointers, indexes, limits and formats.

use super::corruption::{
    Corruption, is, is_change, is_item, is_of_dependent, number, removed, repairable, stored, text,
};
use serde_json::{Value, json};

fn is_metadata_policy(row: &Value) -> bool {
    text(row, "ty") == "MANDATORY"
}

fn is_messages(row: &Value) -> bool {
    text(row, "ty") == "MESSAGES"
}

pub(crate) const PLANTED: &[Corruption] = &[
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
        "I15",
        "the newest version is another",
        |r| is_item(r, "CoreVM1"),
        |r| {
            number(r, "/dp/M/no/N", 1);
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
    stored(
        "I16",
        "a deployed item names another service",
        |r| is(r, "DEPLOYED"),
        |r| {
            r["svc"]["M"]["ti"] = json!({"S": "Disk"});
        },
    ),
    stored("I16", "a share seems to be the consumer's own change", is_of_dependent, |r| {
        r.as_object_mut().unwrap().remove("kd");
    }),
    stored("I16", "an owner has another name", is_of_dependent, |r| {
        r["ow"]["M"]["nm"] = json!({"S": "Nobody"});
    }),
    stored(
        "I16",
        "a submission is of a team with another name",
        |r| is(r, "SUBMISSION"),
        |r| {
            r["tm"]["M"]["nm"] = json!({"S": "Nobody"});
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
    stored("I5", "a message has a number that was not allotted", is_messages, |r| number(r, "/nx/N", -1)),
    stored("I16", "a message is for another owner's service", is_messages, |r| {
        r["all"]["L"][0]["M"]["sv"]["L"][0]["M"]["ti"] = json!({"S": "LoadBalancer"});
    }),
    stored("I18", "a team is not found by its messages", is_messages, |r| {
        r.as_object_mut().unwrap().remove("gs3pk");
    }),
    stored("I16", "what metadata have to be has a version too many", is_metadata_policy, |r| {
        r["no"] = json!({"N": "3"});
        r["sk"] = json!({"S": "0000003"});
    }),
    stored("I24", "a schema of metadata is too long", is_metadata_policy, |r| {
        r["tm"] =
            json!({"S": format!("{{\"type\":\"object\",\"description\":\"{}\"}}", "x".repeat(65 * 1024))});
    }),
    stored("I25", "a schema of metadata does not compile", is_metadata_policy, |r| {
        r["tm"] = json!({"S": "{"});
    }),
    stored("I24", "a message is too long", is_messages, |r| {
        r["all"]["L"][0]["M"]["ds"] = json!({"S": "x".repeat(1025)});
    }),
    removed("I16", "a schema is lost", |r| text(r, "ty") == "SCHEMA"),
    removed("I16", "unexpected record type head in a team", |r| is(r, "HEAD")),
    stored(
        "I17",
        "a reference leads nowhere",
        |r| is_item(r, "CoreLB1"),
        |r| {
            r["rf"]["L"][0]["M"]["nm"] = json!({"S": "CoreVM9"});
        },
    ),
    repairable(removed("I18", "a share is not noted", |r| is(r, "SHARE"))),
    repairable(stored(
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
    removed("I19", "a secret is lost", |r| is(r, "SECRETS")),
    removed("I20", "a submission is lost", |r| is(r, "SUBMISSION")),
    stored("I20", "an idempotency key leads nowhere", |r| is(r, "KEY"), |r| number(r, "/sub/N", 90)),
    stored(
        "I20",
        "an idempotency key leads to another team's submission",
        |r| is(r, "KEY"),
        |r| {
            r["sub"] = json!({"N": "171798691841"});
        },
    ),
    stored(
        "I20",
        "two keys refer to one submission",
        |r| is(r, "KEY"),
        |r| {
            r["key"] = json!({"S": "another"});
            r["sk"] = json!({"S": "another"});
        },
    ),
    stored(
        "I24",
        "a service has named more dependent teams than it may",
        |r| is(r, "SERVICE"),
        |r| {
            let teams: Vec<Value> = (1..=101).map(|team| json!({"N": team.to_string()})).collect();
            r["fd"] = json!({"L": teams});
        },
    ),
    stored(
        "I16",
        "a dependent team is a former one",
        |r| text(r, "ti") == "LoadBalancer" && is(r, "SERVICE"),
        |r| {
            r["fd"] = json!({"L": [r["dt"]["L"][0]["M"]["id"].clone()]});
        },
    ),
    stored(
        "I24",
        "an item's row is too large",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["app"] = json!({"S": "x".repeat(300 * 1024)});
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
        "a declaration or plan is too long",
        |r| is(r, "DECLARATION"),
        |r| {
            r["json"] = json!({"S": "x".repeat(256 * 1024 + 1)});
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
    removed("I19", "metadata that were replaced are lost", |r| is(r, "METADATA")),
    stored(
        "I19",
        "metadata are kept of a time when there were none",
        |r| is(r, "METADATA"),
        |r| {
            r["sk"] = json!({"S": "0001#00000000000"});
            r["si"] = json!({"M": {"sub": {"N": "0"}, "at": {"N": "1"}}});
        },
    ),
    stored(
        "I24",
        "metadata that were replaced are too large",
        |r| is(r, "METADATA"),
        |r| {
            r["meta"] = json!({"S": "x".repeat(5_000)});
        },
    ),
    stored(
        "I8",
        "a submission tells another root",
        |r| is(r, "SUBMISSION") && text(r, "sk").ends_with('2'),
        |r| {
            r["root"] = json!({"S": super::corruption::HASH});
        },
    ),
    stored(
        "I8",
        "an application was changed later than it says",
        |r| is(r, "APP"),
        |r| number(r, "/lc/N", -1),
    ),
    stored(
        "I34",
        "an application before it seems to be missing",
        |r| is(r, "APP"),
        |r| {
            r["ib"] = json!({"N": "1"});
        },
    ),
];
