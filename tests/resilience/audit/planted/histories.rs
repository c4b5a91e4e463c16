//! Corruptions of I1 to I13, I26, I31, I33 and I35: states, histories, numbers, sums, work and charges.

use super::corruption::{
    Corruption, HASH, VM_OWNER, is, is_change, is_item, is_of_dependent, main_stack, number, removed,
    repairable, stored, text,
};
use serde_json::json;

pub(crate) const PLANTED: &[Corruption] = &[
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
        "I29",
        "a definition without words has a plan",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["hi"]["L"][1]["M"]["pl"] = json!({"B": "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="});
        },
    ),
    stored(
        "I35",
        "what has answered it was never planned",
        |r| is_change(r, "CoreVM4", "CLOSED"),
        |r| {
            let last = r["hi"]["L"].as_array_mut().unwrap().last_mut().unwrap();
            last["M"]["cb"] = json!({"M": {"why": {"S": "ANSWERED"}, "ci": {"N": "137438953600"}}});
        },
    ),
    stored(
        "I35",
        "what has answered it is of another item",
        |r| is_change(r, "CoreVM4", "CLOSED"),
        |r| {
            let last = r["hi"]["L"].as_array_mut().unwrap().last_mut().unwrap();
            // The consumer's first change instance belongs to CoreVM1.
            last["M"]["cb"] = json!({"M": {"why": {"S": "ANSWERED"}, "ci": {"N": "137438953488"}}});
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
        "I5",
        "change instances would be numbered again",
        |r| is(r, "HEAD"),
        |r| {
            r["nc"] = json!({"N": "16"});
        },
    ),
    stored(
        "I5",
        "change instances would have no numbers for deployed items",
        |r| is(r, "HEAD"),
        |r| {
            number(r, "/nc/N", 1);
        },
    ),
    stored(
        "I5",
        "an application would be numbered again",
        |r| is(r, "HEAD"),
        |r| {
            r["na"] = json!({"N": "1"});
        },
    ),
    stored(
        "I5",
        "an item would be numbered again",
        |r| is(r, "APP"),
        |r| {
            r["ni"] = json!({"N": "1"});
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
        "I6",
        "an owner has no stack",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["own"].as_object_mut().unwrap()["M"].as_object_mut().unwrap().remove(VM_OWNER);
        },
    ),
    stored(
        "I6",
        "another one seems to have landed last",
        |r| is_item(r, "CoreVM1"),
        |r| {
            number(r, "/lc/N", 16);
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
    repairable(stored("I8", "the digest is another", |r| is(r, "APP"), |r| r["dig"] = json!({"S": HASH}))),
    repairable(stored("I8", "the root is another", |r| is(r, "HEAD"), |r| r["root"] = json!({"S": HASH}))),
    repairable(stored("I9", "one more seems to wait", |r| is(r, "HEAD"), |r| number(r, "/attn/N", 1))),
    repairable(stored("I9", "something else seems to wait", |r| is(r, "HEAD"), |r| number(r, "/att/N", 1))),
    removed("I10", "a change instance is lost", |r| is_change(r, "CoreVM4", "CLOSED")),
    stored(
        "I10",
        "nobody submitted it",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            number(r, "/sub/N", 90);
        },
    ),
    stored(
        "I10",
        "another kind of it was planned",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["kd"] = json!({"S": "REFERENCED"});
        },
    ),
    stored(
        "I10",
        "it is the second attempt at nothing",
        |r| is_change(r, "CoreVM1", "COMPLETED"),
        |r| {
            r["ap"] = json!({"N": "2"});
        },
    ),
    stored("I10", "a share follows from nothing", is_of_dependent, |r| {
        r["cause"] = json!({"N": "137438969472"});
    }),
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
        "I11",
        "the head is held by what does not exist",
        |r| is(r, "HEAD"),
        |r| {
            r["inf"] = json!({"N": "137438953562"});
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
    stored(
        "I13",
        "a CREATE seems not to be completed",
        |r| is_item(r, "CoreVM1"),
        |r| {
            main_stack(r)["c"] = json!({"S": "NEVER"});
        },
    ),
    removed("I26", "a change instance is not charged for", |r| is(r, "CHARGE") && text(r, "pr") == "0.5"),
    stored(
        "I26",
        "time in service has a gap",
        |r| is(r, "CHARGE") && text(r, "pr") == "49.99",
        |r| {
            number(r, "/cr/N", -1);
        },
    ),
    stored(
        "I26",
        "a change instance is charged for at another price",
        |r| is(r, "CHARGE") && text(r, "pr") == "0.5",
        |r| {
            r["pr"] = json!({"S": "0.25"});
        },
    ),
    stored(
        "I26",
        "an item knows another sum",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["ch"]["M"]["en"]["M"]["c"] = json!({"S": "1"});
        },
    ),
    stored(
        "I26",
        "an item does not know what runs",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["ch"]["M"].as_object_mut().unwrap().remove("ru");
        },
    ),
    stored(
        "I31",
        "an item has a gone record, too",
        |r| is_item(r, "CoreVM4"),
        |r| {
            let sequence: u64 = main_stack(r)["s"]["N"].as_str().unwrap().parse().unwrap();
            let id: u64 = r["id"]["N"].as_str().unwrap().parse().unwrap();
            r["pk"] = json!({"S": text(r, "pk").replace("ITEM#", "GONE#")});
            r["gn"] = json!({"BOOL": true});
            r["v"] = json!({"N": "3"});
            r["gs2pk"] = json!({"S": text(r, "gs2pk").replace("#ITEMS", "#GONE")});
            r["gs3pk"] = json!({"S": "TEAM#4#REMOVED"});
            r["gs3sk"] = json!({"S": format!("{sequence:011}#{id:016}")});
        },
    ),
    stored(
        "I33",
        "an item waits for shares of no submission",
        |r| is_item(r, "CoreVM1"),
        |r| {
            r["du"] = json!({"N": "1"});
            r["v"] = json!({"N": "3"});
        },
    ),
];
