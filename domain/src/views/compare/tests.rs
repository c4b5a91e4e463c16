//! Examples of two documents each, and random ones.

use serde_json::{Value, json};

use super::*;
use crate::base::json::canonical;
use crate::model::declaration;

/// Returns the differences, one line each: type, key, and the fields as `pointer old new`.
fn lines(old: &[u8], new: &[u8]) -> Vec<String> {
    let differences = compare(old, new).unwrap();
    let fields = |fields: &[Field]| -> String {
        let side = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
        fields.iter().map(|f| format!(" {} {} {}", f.pointer, side(&f.old), side(&f.new))).collect()
    };
    let metadata =
        differences.metadata.iter().map(|m| format!("METADATA {}{}", m.application, fields(&m.fields)));
    let changes = differences.changes.iter().map(|change| {
        let Key { application, service, item } = &change.key;
        format!("{} {application}/{service}/{item}{}", change.change_type.name(), fields(&change.fields))
    });
    metadata.chain(changes).chain([format!("unchanged {}", differences.unchanged)]).collect()
}

fn compared(old: &str, new: &str) -> Vec<String> {
    lines(old.as_bytes(), new.as_bytes())
}

/// Returns a declaration with these services in one application.
fn services(services: &str) -> String {
    format!(r#"{{"T": {{"A": {{"services": {services}}}}}}}"#)
}

/// Returns every problem as `old|new rule pointer`.
fn problems(old: &str, new: &str) -> Vec<String> {
    let refused = compare(old.as_bytes(), new.as_bytes()).err().unwrap();
    let lines = |which: &'static str, problems: Vec<Problem>| {
        problems.into_iter().map(move |problem| format!("{which} {} {}", problem.rule, problem.pointer))
    };
    lines("old", refused.old).chain(lines("new", refused.new)).collect()
}

#[test]
fn items_are_created_modified_and_deleted() {
    let old = r#"{"T": {"B": {"services": {"VM": [{"name": "b1"}]}}, "A": {"services": {
        "VM": [{"name": "a1", "cpu": 1}, {"name": "a2"}, {"name": "same"}], "LB": [{"name": "a1"}]}}}}"#;
    let new = r#"{"T": {"A": {"services": {
        "VM": [{"name": "a3"}, {"name": "same"}, {"cpu": 2, "name": "a1"}, {"name": "a2"}]}},
        "C": {"services": {"LB": [{"name": "a1"}]}}}}"#;
    let expected = [
        "DELETE A/LB/a1",
        "MODIFY A/VM/a1 /cpu 1 2",
        "CREATE A/VM/a3",
        "DELETE B/VM/b1",
        "CREATE C/LB/a1",
        "unchanged 2",
    ];
    assert_eq!(compared(old, new), expected);
}

#[test]
fn fields_differ_by_their_path() {
    let cases = [
        (r#"{"a": 1}"#, r#"{"a": 2}"#, " /a 1 2"),
        (r#"{"a": 1}"#, r#"{"b": 1}"#, " /a 1 - /b - 1"),
        (r#"{"a": null}"#, "{}", " /a null -"),
        (r#"{"a": {"b": {"c": 1, "d": 2}}}"#, r#"{"a": {"b": {"c": 3, "d": 2}}}"#, " /a/b/c 1 3"),
        (r#"{"a": {"b": 1}}"#, r#"{"a": [1]}"#, r#" /a {"b":1} [1]"#),
        (r#"{"a": {}}"#, r#"{"a": []}"#, " /a {} []"),
        (r#"{"a": [1, 2, 3]}"#, r#"{"a": [1, 3, 2]}"#, " /a/1 2 - /a/2 - 2"),
        (r#"{"a": [1, 2, 3]}"#, r#"{"a": [2]}"#, " /a/2 3 - /a/0 1 -"),
        (r#"{"a": [8, 12]}"#, r#"{"a": [3, 8, 12]}"#, " /a/0 - 3"),
        (r#"{"a": [{"name": "x", "b": 1}]}"#, r#"{"a": [2, {"name": "x", "b": 3}]}"#, " /a/0 - 2 /a/1/b 1 3"),
        (r#"{"a": [1]}"#, r#"{"a": [1, 2, null]}"#, " /a/1 - 2 /a/2 - null"),
        (r#"{"a": [{"b": 1}]}"#, r#"{"a": [{"b": "1"}]}"#, r#" /a/0/b 1 "1""#),
        (r#"{"x/y~z": 1, "": 2}"#, r#"{"x/y~z": 2, "": 3}"#, " / 2 3 /x~1y~0z 1 2"),
    ];
    for (old, new, expected) in cases {
        let list = |item: &str| format!(r#"{{"items": {{"i": {item}}}}}"#);
        assert_eq!(
            compared(&list(old), &list(new)),
            [&format!("MODIFY //i{expected}"), "unchanged 0"],
            "{old}"
        );
    }
}

#[test]
fn what_has_one_canonical_form_is_unchanged() {
    let same = [
        (r#"{"name":"i","n":1}"#, r#"{ "n" : 1.0, "name" : "i" }"#),
        (r#"{"name":"i","n":[0,100]}"#, r#"{"name":"i","n":[-0.0,1E2]}"#),
        (r#"{"name":"i","n":0.1}"#, r#"{"name":"i","n":0.1000}"#),
        (r#"{"name":"i","n":"é/"}"#, r#"{"\u006eame":"i","n":"\u00e9\/"}"#),
    ];
    for (old, new) in same {
        let (old, new) =
            (services(&format!(r#"{{"VM":[{old}]}}"#)), services(&format!(r#"{{"VM":[{new}]}}"#)));
        assert_eq!(compared(&old, &new), ["unchanged 1"], "{new}");
    }
}

#[test]
fn metadata_differences_are_listed_and_absent_ones_stay() {
    let old = r#"{"T": {"metadata": {"code": 1}, "A": {"metadata": {"env": "dev", "x": [1]}}, "B": {}}}"#;
    let new =
        r#"{"T": {"B": {"metadata": {"env": "dev"}}, "A": {"metadata": {"x": [1]}}, "C": {"metadata": {}}}}"#;
    assert_eq!(
        compared(old, new),
        [r#"METADATA A /env "dev" -"#, r#"METADATA B /env - "dev""#, "unchanged 0"]
    );
    let other = r#"{"T": {"metadata": {"code": 2}}}"#;
    assert_eq!(
        compared(old, other),
        ["METADATA  /code 1 2", r#"METADATA A /env "dev" - /x [1] -"#, "unchanged 0"]
    );
    assert_eq!(compared(r#"{"T": {}}"#, other), ["METADATA  /code - 2", "unchanged 0"]);
    assert!(compare(old.as_bytes(), old.as_bytes()).unwrap().is_empty());
}

#[test]
fn a_declaration_has_the_problems_of_a_submission() {
    let good = services(r#"{"VM": [{"name": "i"}]}"#);
    let deep =
        services(&format!(r#"{{"VM": [{{"name": "i", "a": {}{}}}]}}"#, "[".repeat(27), "]".repeat(27)));
    let many: Vec<_> = (0..=declaration::ITEMS_MAX).map(|n| format!(r#"{{"name": "i{n}"}}"#)).collect();
    let bad = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"T": {}, "U": {}}"#.to_owned(),
        r#"{" T": {}}"#.to_owned(),
        r#"{"T": {"A": {"VM": []}}}"#.to_owned(),
        r#"{"T": {"metadata": 1, "A": {"metadata": []}}}"#.to_owned(),
        format!(r#"{{"T": {{"metadata": {{"a": "{}"}}}}}}"#, "y".repeat(declaration::METADATA_BYTES_MAX)),
        services("[]"),
        services(r#"{"VM": {}}"#),
        services(r#"{"VM": [1]}"#),
        services(r#"{"VM": [{}, {"name": 1}, {"name": ""}]}"#),
        services(r#"{"VM": [{"name": "i"}, {"name": "\u0069"}]}"#),
        services(r#"{"VM": [{"name": "i", "a": 1, "a": 1}]}"#),
        services(r#"{"VM": [{"name": "i", "a": 9007199254740992}]}"#),
        services(&format!(r#"{{"VM": [{{"name": "{}"}}]}}"#, "y".repeat(declaration::NAME_BYTES_MAX + 1))),
        services(&format!(
            r#"{{"VM": [{{"name": "i", "a": "{}"}}]}}"#,
            "y".repeat(declaration::DECLARATION_BYTES_MAX)
        )),
        services(&format!(
            r#"{{"VM": [{{"name": "i", "a": [{}1]}}]}}"#,
            "9e15,".repeat(declaration::DECLARATION_BYTES_MAX / 17)
        )),
        services(&format!(r#"{{"VM": [{}]}}"#, many.join(","))),
        deep.clone(),
        format!("{}{}", " ".repeat(declaration::BODY_BYTES_MAX), r#"{"T": {}}"#),
    ];
    for text in bad {
        let expected = declaration::parse(text.as_bytes()).unwrap_err();
        let refused = compare(text.as_bytes(), good.as_bytes()).err().unwrap();
        assert_eq!(refused, Refused { old: expected.clone(), new: Vec::new() }, "{text:.80}");
        let refused = compare(text.as_bytes(), text.as_bytes()).err().unwrap();
        assert_eq!(refused.old, expected, "{text:.80}");
    }
    assert_eq!(
        problems(&deep, "{}"),
        [format!("old too_deep /T/A/services/VM/0/a{}", "/0".repeat(26)), "new one_team ".to_owned()]
    );
}

#[test]
fn what_is_large_and_still_within_its_limit_is_compared() {
    let item = |byte: &str| {
        let text = byte.repeat(declaration::DECLARATION_BYTES_MAX / 2);
        let metadata = byte.repeat(declaration::METADATA_BYTES_MAX / 2);
        format!(
            r#"{{"T": {{"A": {{"metadata": {{"m": "{metadata}"}}, "services": {{"VM": [{{"name": "i", "a": "{text}"}}]}}}}}}}}"#
        )
    };
    assert_eq!(compared(&item("x"), &item("x")), ["unchanged 1"]);
    assert_eq!(compare(item("x").as_bytes(), item("y").as_bytes()).unwrap().changes.len(), 1);
}

#[test]
fn a_list_of_items_has_problems_of_its_own() {
    let good = r#"{"items": {"i": {}}}"#;
    let cases = [
        (r#"{"items": {"i": 1, "j": []}}"#, vec!["new wrong_type /items/i", "new wrong_type /items/j"]),
        (r#"{"items": {"i": {}, "i": {}}}"#, vec!["new duplicate_key /items/i"]),
        (r#"{"items": {" i": {}, "j": {}}}"#, vec!["new invalid_name /items/ i"]),
        (r#"{"items": []}"#, vec!["new wrong_type /items"]),
        (r#"{"items": {}, "more": 1}"#, vec!["new unknown_key /more"]),
        (r#"{"items": {"#, vec!["new invalid_json "]),
        (r#"{"items": {"i": {"a": 1e99}}}"#, vec!["new number_out_of_range /items/i/a"]),
        (r#"{"T": {}}"#, vec!["new other_form "]),
    ];
    for (text, expected) in cases {
        assert_eq!(problems(good, text), expected, "{text}");
    }
    assert_eq!(problems(r#"{"T": {}}"#, good), ["new other_form "]);
    assert_eq!(problems(r#"{"T": {}}"#, r#"{"U": {}}"#), ["new foreign_team /U"]);
    let many = |n: usize| {
        let items: serde_json::Map<_, _> = (0..n).map(|i| (i.to_string(), json!({"a": i}))).collect();
        json!({ "items": items }).to_string()
    };
    assert_eq!(compared(&many(declaration::ITEMS_MAX + 1), &many(declaration::ITEMS_MAX)).len(), 2);
}

/// `SplitMix64`: a seed gives the same document on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn key(&mut self) -> String {
        ["a", "b", "a/b", "~1", "", "ö", "0", "name"][usize::try_from(self.below(8)).unwrap()].to_owned()
    }

    fn object(&mut self, depth: u64) -> Value {
        (0..self.below(4)).map(|_| (self.key(), self.value(depth))).collect::<serde_json::Map<_, _>>().into()
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(3)),
            3 => json!([0.0, 1.0, 0.5][usize::try_from(self.below(3)).unwrap()]),
            4 => json!(["", "x", "\"]}\\"][usize::try_from(self.below(3)).unwrap()]),
            5 | 6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect::<Vec<_>>().into(),
            _ => self.object(depth - 1),
        }
    }

    fn items(&mut self) -> Value {
        let items: Vec<_> = (0..self.below(5)).map(|_| (self.key(), self.object(3))).collect();
        let named = items.into_iter().filter(|(name, _)| !name.is_empty());
        json!({ "items": named.collect::<serde_json::Map<_, _>>() })
    }
}

/// Applies one listed difference.
fn apply(value: &mut Value, field: &Field) {
    let (parent, token) = field.pointer.rsplit_once('/').unwrap();
    let key = token.replace("~1", "/").replace("~0", "~");
    match (value.pointer_mut(parent).unwrap(), field.new.clone()) {
        (Value::Object(object), new) => {
            assert_eq!(object.remove(&key), field.old);
            object.extend(new.map(|new| (key, new)));
        }
        (Value::Array(array), Some(new)) if field.old.is_none() => {
            array.insert(key.parse().unwrap(), new);
        }
        (Value::Array(array), Some(new)) => array[key.parse::<usize>().unwrap()] = new,
        (Value::Array(array), None) => {
            assert_eq!(Some(array.remove(key.parse().unwrap())), field.old);
        }
        (other, _) => panic!("nothing is below {other}"),
    }
}

#[test]
fn the_listed_differences_make_the_new_document_of_the_old_one() {
    for seed in 0..5_000 {
        let mut random = Random(seed);
        let (old, new) = (random.items(), random.items());
        let (old_text, new_text) = (old.to_string(), format!("{new:#}"));
        let differences = compare(old_text.as_bytes(), new_text.as_bytes())
            .unwrap_or_else(|refused| panic!("seed {seed}: {refused:?}"));
        let mut made = old;
        for change in &differences.changes {
            let items = made["items"].as_object_mut().unwrap();
            let name = change.key.item.as_ref();
            match change.change_type {
                ChangeType::Create => drop(items.insert(name.to_owned(), new["items"][name].clone())),
                ChangeType::Delete => drop(items.remove(name).unwrap()),
                ChangeType::Modify => change.fields.iter().for_each(|field| apply(&mut items[name], field)),
            }
        }
        assert_eq!(canonical(&made), canonical(&new), "seed {seed}");
        let items = new["items"].as_object().unwrap().len();
        let remaining = items - differences.count(ChangeType::Create) - differences.count(ChangeType::Modify);
        assert_eq!(differences.unchanged, remaining, "seed {seed}");
    }
}
