//! Derived values of items: names, references, limits and circles (R70).

use super::*;
use crate::catalog::schema::Words;
use proptest::prelude::*;
use serde_json::json;

fn derived(text: &str) -> Value {
    json!({"type": "string", "readOnly": true, "x-derived": text})
}

fn reference() -> Value {
    json!({"type": "string", "format": "reference", "service_reference": "S"})
}

fn references() -> Value {
    json!({"type": "array", "format": "reference_list", "service_reference": "S"})
}

/// Returns the newest definition of the service `S` with these properties.
fn derivations(properties: &Value) -> Arc<Derivations> {
    let definition = json!({"title": "S", "type": "object", "required": ["name"], "properties": properties});
    Arc::new(Derivations::load(&definition.to_string(), Words::Apply).unwrap())
}

fn application() -> ApplicationId {
    ApplicationId::new(TeamId::new(1).unwrap(), 1).unwrap()
}

fn id(number: u64) -> ItemId {
    ItemId::new(application(), number).unwrap()
}

fn target(number: u64) -> Target {
    let reference = Reference { service: "S".to_owned(), name: number.to_string() };
    Target::Named { application: application(), reference, item: None }
}

/// Returns the targets of the references within the application.
fn references_in(derivations: &Derivations, value: &Value) -> BTreeMap<String, Target> {
    let named = |reference| Target::Named { application: application(), reference, item: None };
    let all = derivations.references().named(value);
    all.iter().filter_map(|one| Some((one.pointer(), named(one.reference()?)))).collect()
}

/// Returns the documents of items with the names `1`, `2`, and so on.
fn documents(properties: &Value, values: &[Value]) -> Documents {
    let derivations = derivations(properties);
    let mut documents = Documents::default();
    for (number, value) in (1..).zip(values) {
        let document = Document {
            id: id(number),
            team: "Team".to_owned(),
            application: "Lab".to_owned(),
            service: "S".to_owned(),
            service_owner: TeamId::new(2).unwrap(),
            sees: ReferencesSee::State,
            name: number.to_string(),
            runtime_state: "IN_SERVICE",
            references: references_in(&derivations, value),
            value: value.clone(),
            derivations: Arc::clone(&derivations),
        };
        documents.resolve(target(number), Some(id(number)));
        documents.documents.insert(document.id, document);
    }
    documents
}

/// Returns the derived value `x` of the first document, or the reason for its absence.
fn first(documents: &Documents) -> Result<String, String> {
    let derived = documents.evaluate(id(1)).unwrap().derived;
    let reason = |problem: &Problem| {
        assert_eq!((problem.pointer.as_str(), problem.rule), ("/x", "derived"));
        problem.message.clone()
    };
    derived.values.get("x").cloned().ok_or_else(|| reason(&derived.problems[0]))
}

/// Returns the derived value of a text with the value of one document.
fn of_text(text: &str, value: &Value) -> Result<String, String> {
    let plain = json!({"a": {}, "nodes": references(), "secret": {"writeOnly": true}, "x": derived(text)});
    first(&documents(&plain, std::slice::from_ref(value)))
}

#[test]
fn single_values_are_texts() {
    let value =
        json!({"s": "é", "n": 1.50, "b": false, "o": {"p": 7}, "l": [{"m": 1}, {"m": "two"}], "e": []});
    for (text, expected) in [
        ("{s} {n} {b} {o.p}", "é 1.5 false 7"),
        ("{l.*.m}", "1, two"),
        ("<{e.*}>", "<>"),
        ("{at.team}/{at.application}/{at.service}/{at.name} {at.runtime_state}", "Team/Lab/S/1 IN_SERVICE"),
    ] {
        assert_eq!(of_text(text, &value).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn a_text_without_one_of_its_values_is_absent() {
    let mask = format!("secret:{}", "a".repeat(22));
    let value = json!({"o": {"p": null}, "l": [{"m": 1}, {}], "secret": "s", "nodes": ["9"], "mask": mask});
    for (text, expected) in [
        ("{a}", "`a` must have a value"),
        ("{o.q}", "`o.q` must have a value"),
        ("{o.p}", "`o.p` must be a string, a number, or true or false"),
        ("{o}", "`o` must be a string, a number, or true or false"),
        ("{l}", "`l` must be a string, a number, or true or false"),
        ("{l.*.m}", "`l.*.m` must have a value"),
        ("{o.*}", "`o.*` must be at the elements of an array"),
        ("{l.0.m}", "`l.0` must have a value"),
        ("{secret}", "`secret` must not be `writeOnly`"),
        ("{mask}", "`mask` must be a string, a number, or true or false"),
        ("{nodes.*.name}", "must need less of other items than one response can read"),
    ] {
        assert_eq!(of_text(text, &value), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_reference_leads_to_the_document_of_its_item() {
    let properties =
        json!({"node": reference(), "x": derived("{node.node.name}, {node.y}"), "y": derived("{name}!")});
    let values = [json!({"node": "2"}), json!({"node": "3", "name": "two"}), json!({"name": "three"})];
    let mut documents = documents(&properties, &values);
    assert_eq!(first(&documents).as_deref(), Ok("three, two!"));
    // Each round goes one reference further.
    let third = documents.documents.remove(&id(3)).unwrap();
    let evaluated = documents.evaluate(id(1)).unwrap();
    assert_eq!((evaluated.lacking, evaluated.derived.values.len()), (vec![target(3)], 0));
    documents.documents.insert(third.id, third);
    documents.resolve(target(3), None);
    let message = "`node.node.name` must go through references to declared items";
    assert_eq!(first(&documents), Err(message.to_owned()));
}

#[test]
fn a_reference_to_an_item_of_another_owner_leads_nowhere() {
    let properties =
        json!({"node": reference(), "port": {"type": "string"}, "title": derived("{node.port}")});
    let mut documents = documents(&properties, &[json!({"node": "2"}), json!({"port": "ge-0"})]);
    let title = |documents: &Documents| documents.evaluate(id(1)).unwrap().derived;
    assert_eq!(title(&documents).values["title"], "ge-0");
    documents.documents.get_mut(&id(2)).unwrap().service_owner = TeamId::new(3).unwrap();
    let absent = title(&documents);
    assert!(absent.values.is_empty(), "{absent:?}");
    assert_eq!(
        absent.problems[0].message,
        "`node.port` must stay within services of one owner or with `references_see` ALL"
    );
}

#[test]
fn three_levels_are_enough_and_four_are_too_many() {
    let properties = json!({"node": reference(), "x": derived("{name}{node.x}"), "y": derived("{node.node.node.name}"),
        "z": derived("{node.y}")});
    let chain = |length: u64| -> Vec<Value> {
        (1..=length)
            .map(|number| json!({"name": number.to_string(), "node": (number + 1).to_string()}))
            .collect()
    };
    let documents = documents(&properties, &chain(6));
    let derived = documents.evaluate(id(1)).unwrap().derived;
    assert_eq!(derived.values, BTreeMap::from([("y".to_owned(), "4".to_owned())]));
    let messages: BTreeSet<_> = derived.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, BTreeSet::from(["must need at most 3 levels of other values"]));
}

#[test]
fn a_circle_is_absent() {
    let properties =
        json!({"node": reference(), "x": derived("{node.x}"), "y": derived("{z}"), "z": derived("{y}")});
    let documents = documents(&properties, &[json!({"node": "2"}), json!({"node": "1"})]);
    let derived = documents.evaluate(id(1)).unwrap().derived;
    let pointers: Vec<_> = derived.problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!((derived.values.len(), pointers), (0, vec!["/x", "/y", "/z"]));
}

#[test]
fn a_derived_value_replaces_a_stored_one() {
    let properties = json!({"x": derived("{name}"), "y": derived("{gone}")});
    let document = json!({"name": "a", "x": "old", "y": "old"});
    let derived = documents(&properties, std::slice::from_ref(&document)).evaluate(id(1)).unwrap().derived;
    assert_eq!(derived.apply(document), json!({"name": "a", "x": "a"}));
}

#[test]
fn the_limits_of_one_item_hold() {
    let properties = json!({"nodes": references(), "x": derived("{nodes.*.name}")});
    let values = |count: u64| -> Vec<Value> {
        let nodes: Vec<String> = (2..count + 2).map(|number| number.to_string()).collect();
        let others = (0..count).map(|_| json!({"name": "n"}));
        std::iter::once(json!({"nodes": nodes})).chain(others).collect()
    };
    assert_eq!(first(&documents(&properties, &values(100))).map(|joined| joined.len()), Ok(298));
    let too_many = Err("must need at most 100 other items".to_owned());
    assert_eq!(first(&documents(&properties, &values(101))), too_many);

    let long = json!({"a": "a".repeat(2_048), "l": vec![""; 3_000], "m": vec![json!([]); 11_000]});
    assert_eq!(of_text("{a}{a}", &long).map(|text| text.len()), Ok(4_096));
    for (text, expected) in [
        ("{a}{a}.", "must be at most 4096 bytes"),
        ("{l.*}", "must be at most 4096 bytes"),
        ("{m.*.*}", "must need at most 10000 steps"),
    ] {
        assert_eq!(of_text(text, &long), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn equal_values_are_evaluated_once() {
    // Without the stored values, each level would evaluate the next one 200 times.
    let text = |name: &str| derived(&format!("{{{name}}}").repeat(200));
    let properties = json!({"x": text("u"), "u": text("v"), "v": text("w"), "w": derived("")});
    let documents = documents(&properties, &[json!({})]);
    let mut evaluation = Evaluation::of(&documents);
    assert_eq!(evaluation.value(&documents.documents[&id(1)], "x", 0), Ok(String::new()));
}

/// Returns a name of the test below.
fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["a", "b", "x", "y", "nodes", "node", "*", "name"]).prop_map(str::to_owned)
}

fn names() -> impl Strategy<Value = String> {
    let path = proptest::collection::vec(name(), 1..6).prop_map(|steps| format!("{{{}}}", steps.join(".")));
    proptest::collection::vec(path, 0..8).prop_map(|paths| paths.join("-"))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = proptest::sample::select(vec![json!("1"), json!("2"), json!(null), json!(true), json!(1.5)]);
    leaf.prop_recursive(4, 40, 5, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array);
        let object = proptest::collection::vec((name(), inner), 0..5);
        prop_oneof![list, object.prop_map(|members| Value::Object(members.into_iter().collect()))]
    })
}

fn document() -> impl Strategy<Value = Value> {
    let members = proptest::collection::vec((name(), value()), 0..6);
    (members, 1..3_u64, 1..4_u64).prop_map(|(members, node, other)| {
        let mut document: serde_json::Map<_, _> = members.into_iter().collect();
        document.insert("node".to_owned(), json!(node.to_string()));
        document.insert("nodes".to_owned(), json!([node.to_string(), other.to_string()]));
        Value::Object(document)
    })
}

proptest! {
    #[test]
    fn each_value_is_bounded_or_has_a_problem(
        texts in (names(), names()),
        values in proptest::collection::vec(document(), 1..4),
    ) {
        let (x, y) = (derived(&texts.0), derived(&texts.1));
        let properties = json!({"node": reference(), "nodes": references(), "x": x, "y": y});
        let documents = documents(&properties, &values);
        let known = documents.evaluate(id(1));
        // A text such as `{*}` is refused, so the definition may have fewer derived values.
        let Some(Evaluated { derived, lacking }) = known else { return Ok(()) };
        let expressions = documents.documents[&id(1)].derivations.expressions().len();
        prop_assert_eq!(derived.values.len() + derived.problems.len(), expressions);
        prop_assert!(derived.values.values().all(|value| value.len() <= RESULT_BYTES_MAX));
        prop_assert!(lacking.len() <= DOCUMENTS_MAX);
        // The result does not depend on earlier evaluations.
        prop_assert_eq!(documents.evaluate(id(1)).unwrap().derived, derived);
    }
}
