//! Limits of single records: the audit accepts the maximum and reports more.

use super::{busy, change, consumer, item, staged, violation_lines};
use crate::world::VM_OWNER;
use domain::audit::invariant::Snapshot;
use domain::base::refs::ItemReference;
use domain::catalog::schema::REFERENCES_MAX;
use domain::model::change::Entry;
use domain::model::declaration::expansion::KEYS_BYTES_MAX;
use domain::model::declaration::{DEPTH_MAX, METADATA_BYTES_MAX, NAME_BYTES_MAX};
use domain::model::deployed::DEPLOYED_BYTES_MAX;
use domain::model::submission::{COMMIT_ID_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX, MESSAGE_CHARACTERS_MAX};
use domain::model::work::{ENTRIES_MAX, ITEMS_MAX, PlannedChange};
use domain::rules::decide::{LOG_BYTES_MAX, LOG_ENTRIES_MAX};
use domain::{ItemId, State};

/// The name of a size, its limit, and a function that sets it.
type Sized = (&'static str, usize, fn(&mut Snapshot, usize));

const BUSY: &[Sized] = &[
    ("bytes of its name", NAME_BYTES_MAX, |s, size| item(s, "a").name = "n".repeat(size)),
    ("references", REFERENCES_MAX, |s, size| {
        let reference = ItemReference { service: "VM".to_owned(), name: "a".to_owned(), item: None };
        item(s, "l").references = vec![reference; size];
    }),
    ("references to items elsewhere", REFERENCES_MAX, |s, size| {
        let application = item(s, "a").application_id();
        item(s, "l").uses =
            (100..).take(size).filter_map(|number| ItemId::new(application, number)).collect();
    }),
    ("bytes of its data", DEPLOYED_BYTES_MAX, |s, size| s.deployed[0].data = "d".repeat(size)),
    ("bytes of metadata", METADATA_BYTES_MAX, |s, size| {
        s.teams.get_mut(&consumer()).unwrap().metadata = "m".repeat(size);
    }),
    ("bytes of keys that add items in metadata", KEYS_BYTES_MAX, |s, size| {
        let empty = r#"{"dovetail_each":[""]}"#.len();
        let metadata = serde_json::json!({"dovetail_each": ["e".repeat(size - empty)]}).to_string();
        s.teams.get_mut(&consumer()).unwrap().metadata = metadata;
    }),
    ("bytes of its name", NAME_BYTES_MAX, |s, size| {
        s.applications.values_mut().for_each(|application| application.name = "n".repeat(size));
    }),
    ("bytes of metadata", METADATA_BYTES_MAX, |s, size| {
        s.applications.values_mut().for_each(|application| application.metadata = "m".repeat(size));
    }),
    ("bytes of its commit id", COMMIT_ID_BYTES_MAX, |s, size| {
        s.submissions[0].commit_id = Some("c".repeat(size));
    }),
    ("characters of its message", MESSAGE_CHARACTERS_MAX, |s, size| {
        s.submissions[0].message = Some("\u{e9}".repeat(size));
    }),
    ("bytes of the key", IDEMPOTENCY_KEY_BYTES_MAX, |s, size| s.remembered[0].1.key = "k".repeat(size)),
    ("bytes of a log text", LOG_BYTES_MAX, |s, size| {
        change(s, "a", VM_OWNER).history[0].log = Some("l".repeat(size));
    }),
    ("log entries", LOG_ENTRIES_MAX, |s, size| {
        let change = change(s, "a", VM_OWNER);
        let note = Entry { from: Some(change.state), to: change.state, ..change.history[0].clone() };
        change.history.extend(vec![note; size]);
    }),
    ("transitions", State::ALL.len(), |s, size| {
        let change = change(s, "a", VM_OWNER);
        change.history = vec![change.history[0].clone(); size];
    }),
    ("attempts", 31, |s, size| change(s, "a", VM_OWNER).attempt = u64::try_from(size).unwrap()),
];

const STAGED: &[Sized] = &[
    ("entries", ENTRIES_MAX, |s, size| {
        let planned = s.works[0].entries[0].clone();
        s.works[0].entries = vec![planned; size];
    }),
    ("items", ITEMS_MAX, |s, size| {
        let planned = s.works[0].entries[0].clone();
        let application = planned.item.application(0);
        let of =
            |number| PlannedChange { item: ItemId::new(application, number).unwrap(), ..planned.clone() };
        s.works[0].entries = (1..=u64::try_from(size).unwrap()).map(of).collect();
    }),
];

#[test]
fn a_record_over_its_size_limit_is_a_violation() {
    for (sound, sizes) in [(busy(), BUSY), (staged(), STAGED)] {
        for (what, most, grow) in sizes {
            let is_reported = |size: usize| {
                let mut grown = sound.clone();
                grow(&mut grown, size);
                let line = format!(": {what}: {size}, must be at most {most}");
                violation_lines(&grown)
                    .iter()
                    .any(|reported| reported.starts_with("I24 ") && reported.ends_with(&line))
            };
            assert_eq!([*most, most + 1].map(is_reported), [false, true], "{what}, at most {most}");
        }
    }
}

#[test]
fn a_deployed_item_that_no_request_could_bring_is_a_violation() {
    let nested = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    let table = [
        (nested(DEPTH_MAX), false),
        (nested(DEPTH_MAX + 1), true),
        (nested(200), true),
        (r#"{"a":9007199254740993}"#.to_owned(), true),
    ];
    for (data, is_reported) in table {
        let mut planted = busy();
        planted.deployed[0].data.clone_from(&data);
        let lines = violation_lines(&planted);
        let found =
            lines.iter().any(|line| line.starts_with("I24 ") && line.contains("its data: must be JSON"));
        assert_eq!(found, is_reported, "{data:.40}: {lines:?}");
    }
}

#[test]
fn notes_are_no_moves() {
    let mut noted = busy();
    let (_, most, note) = BUSY.iter().find(|(what, ..)| *what == "log entries").unwrap();
    note(&mut noted, *most);
    assert!(!violation_lines(&noted).iter().any(|line| line.starts_with("I24 ")));
}
