//! Copies of parts of other definitions (R68).

use super::*;
use crate::catalog::schema::tests::service as definition;

/// Returns the definition L2VPN with the part SAP, which needs the part Vlan.
fn l2vpn() -> Value {
    let defs = json!({
        "SAP": {"type": "object", "required": ["vlan"], "additionalProperties": false, "properties": {
            "port": {"type": "string", "format": "reference", "service_reference": "Port"},
            "vlan": {"$ref": "#/$defs/Vlan"}}},
        "Vlan": {"type": "integer", "minimum": 2, "maximum": 4094},
    });
    let saps = json!({"saps": {"type": "array", "items": {"$ref": "#/$defs/SAP"}}});
    definition("L2VPN", &saps, &json!({"$defs": defs}))
}

fn definitions(all: &[(&str, u64, &Value)]) -> Definitions {
    let version = |(title, version, text): &(&str, u64, &Value)| {
        let text = publish_with(text.to_string().as_bytes(), &Definitions::new()).unwrap().text;
        (DefinitionVersion { title: (*title).to_owned(), version: *version }, text.into())
    };
    all.iter().map(version).collect()
}

fn published(definition: &Value, definitions: &Definitions) -> Result<Schema, Vec<(&'static str, String)>> {
    publish_with(definition.to_string().as_bytes(), definitions)
        .map_err(|problems| problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect())
}

fn nsistp(reference: &str) -> Value {
    definition("NSISTP", &json!({"sap": {"$ref": reference}}), &json!({}))
}

#[test]
fn a_part_is_copied_with_all_parts_that_it_needs() {
    let known = definitions(&[("L2VPN", 2, &l2vpn())]);
    let sent = nsistp("dovetail:L2VPN/2#/$defs/SAP");
    let named = named_definitions(sent.to_string().as_bytes());
    assert_eq!(named, known.keys().cloned().collect());
    let schema = published(&sent, &known).unwrap();
    let stored: Value = serde_json::from_str(&schema.text).unwrap();
    let expected = definition(
        "NSISTP",
        &json!({"sap": {"$ref": "#/$defs/L2VPN.2.SAP"}}),
        &json!({"$defs": {
            "L2VPN.2.SAP": {"type": "object", "required": ["vlan"], "additionalProperties": false, "properties": {
                "port": {"type": "string", "format": "reference", "service_reference": "Port"},
                "vlan": {"$ref": "#/$defs/L2VPN.2.Vlan"}}, "x-block": "L2VPN/2#/$defs/SAP"},
            "L2VPN.2.Vlan": {"type": "integer", "minimum": 2, "maximum": 4094, "x-block": "L2VPN/2#/$defs/Vlan"},
        }}),
    );
    assert_eq!(stored, expected);
    assert_eq!(warnings(&schema), [""; 0]);
    let body = json!({"name": "n", "sap": {"port": "p", "vlan": 1}});
    let problems = schema.problems(&body, &mut Budget::of_request());
    assert_eq!(problems.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), ["/sap/vlan"]);
    assert_eq!(schema.named(&body).iter().map(Named::pointer).collect::<Vec<_>>(), ["/sap/port"]);
    assert_eq!(published(&sent, &known).unwrap().text, schema.text, "equal texts have equal copies");
}

#[test]
fn a_copy_of_a_copy_is_the_same_part() {
    let mut known = definitions(&[("L2VPN", 2, &l2vpn())]);
    let part = json!({"$defs": {"End": {"type": "object", "properties":
        {"sap": {"$ref": "dovetail:L2VPN/2#/$defs/SAP"}}}}});
    let end = definition("Access Port", &json!({}), &part);
    let text = published(&end, &known).unwrap().text;
    known.insert(DefinitionVersion { title: "Access Port".to_owned(), version: 1 }, text.into());
    let properties = json!({"end": {"$ref": "dovetail:Access%20Port/1#/$defs/End"},
        "sap": {"$ref": "dovetail:L2VPN/2#/$defs/SAP"}});
    let stored = published(&definition("NSISTP", &properties, &json!({})), &known).unwrap().text;
    let stored: Value = serde_json::from_str(&stored).unwrap();
    let names: Vec<&String> = stored["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Access Port.1.End", "L2VPN.2.SAP", "L2VPN.2.Vlan"]);
    assert_eq!(stored["$defs"]["Access Port.1.End"]["x-block"], "Access%20Port/1#/$defs/End");
}

#[test]
fn a_name_in_the_definition_stays() {
    let known = definitions(&[("L2VPN", 2, &l2vpn())]);
    let mut sent = nsistp("dovetail:L2VPN/2#/$defs/Vlan");
    sent["$defs"] = json!({"L2VPN.2.Vlan": {"type": "string"}});
    let stored: Value = serde_json::from_str(&published(&sent, &known).unwrap().text).unwrap();
    assert_eq!(stored["$defs"]["L2VPN.2.Vlan"], json!({"type": "string"}));
    assert_eq!(stored["properties"]["sap"]["$ref"], "#/$defs/L2VPN.2.Vlan.2");
}

#[test]
fn bad_blocks_are_refused_at_their_reference() {
    let seventh = json!({"$schema": "http://json-schema.org/draft-07/schema#"});
    let whole = json!({"root": {"type": "array", "items": {"$ref": "#"}}});
    let known = definitions(&[
        ("L2VPN", 2, &l2vpn()),
        ("Old", 1, &definition("Old", &json!({}), &seventh)),
        ("Tree", 1, &definition("Tree", &whole, &json!({}))),
        ("NSISTP", 1, &definition("NSISTP", &json!({}), &json!({}))),
    ]);
    for (reference, rule) in [
        ("dovetail:L2VPN#/$defs/SAP", "invalid_schema"),
        ("dovetail:L2VPN/02#/$defs/SAP", "invalid_schema"),
        ("dovetail:L2VPN/0#/$defs/SAP", "invalid_schema"),
        ("dovetail:L2VPN/2", "invalid_schema"),
        ("dovetail:L2VPN/2#", "invalid_schema"),
        ("dovetail:/2#/$defs/SAP", "invalid_schema"),
        ("dovetail:L2VPN/1#/$defs/SAP", "unknown_definition"),
        ("dovetail:L3VPN/1#/$defs/SAP", "unknown_definition"),
        ("dovetail:L2VPN/2#/$defs/UNI", "dangling_reference"),
        ("dovetail:Tree/1#/properties/root", "dangling_reference"),
        ("dovetail:Old/1#/properties/name", "unsupported_draft"),
        ("dovetail:NSISTP/1#/properties/name", "recursive_reference"),
        ("https://example.org/schema", "remote_reference"),
    ] {
        let expected = vec![(rule, "/properties/sap/$ref".to_owned())];
        assert_eq!(published(&nsistp(reference), &known).unwrap_err(), expected, "{reference}");
    }
    let sent = definition("NSISTP", &json!({"sap": {"x-block": "L2VPN/2#/$defs/SAP"}}), &json!({}));
    let expected = vec![("invalid_keyword", "/properties/sap/x-block".to_owned())];
    assert_eq!(published(&sent, &known).unwrap_err(), expected);
}

#[test]
fn two_services_do_not_take_parts_from_each_other() {
    let mut known = definitions(&[("L2VPN", 2, &l2vpn())]);
    let text = published(&nsistp("dovetail:L2VPN/2#/$defs/SAP"), &known).unwrap().text;
    known.insert(DefinitionVersion { title: "NSISTP".to_owned(), version: 1 }, text.into());
    let back = json!({"stp": {"$ref": "dovetail:NSISTP/1#/properties/sap"}});
    let expected = vec![("recursive_reference", "/properties/stp/$ref".to_owned())];
    assert_eq!(published(&definition("L2VPN", &back, &json!({})), &known).unwrap_err(), expected);
}

#[test]
fn a_problem_in_a_copy_belongs_to_the_reference_that_needs_it() {
    let mut other = l2vpn();
    other["properties"]["speed"] = json!({"type": "integer", "x-on-change": "refuse"});
    other["$defs"]["Link"] =
        json!({"type": "object", "properties": {"speed": {"$ref": "#/properties/speed"}}});
    let known = definitions(&[("L2VPN", 2, &other)]);
    let sent = nsistp("dovetail:L2VPN/2#/$defs/Link");
    let found = publish_with(sent.to_string().as_bytes(), &known).unwrap_err();
    let [problem] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((problem.rule, problem.pointer.as_str()), ("misplaced_keyword", "/properties/sap/$ref"));
    assert_eq!(
        problem.message,
        "must name a part that fits here: in L2VPN/2#/properties/speed, `/x-on-change` must be at a property of the \
         item itself"
    );
}

#[test]
fn the_number_and_the_size_of_copies_are_limited() {
    let many = |count: u64| {
        let reference = |n| (format!("p{n}"), json!({"$ref": format!("dovetail:L2VPN/{n}#/$defs/Vlan")}));
        definition("NSISTP", &(1..=count).map(reference).collect::<Map<_, _>>().into(), &json!({}))
    };
    let limit = u64::try_from(BLOCK_DEFINITIONS_MAX).unwrap();
    let l2vpn = l2vpn();
    let known: Vec<_> = (1..=limit + 1).map(|version| ("L2VPN", version, &l2vpn)).collect();
    let known = definitions(&known);
    assert!(published(&many(limit), &known).is_ok());
    assert_eq!(published(&many(limit + 1), &known).unwrap_err(), [("too_complex", String::new())]);
    let mut large = l2vpn.clone();
    large["$defs"]["Vlan"]["description"] = json!("a".repeat(50_000));
    let known = definitions(&[("L2VPN", 1, &large), ("L2VPN", 2, &large)]);
    assert!(published(&many(1), &known).is_ok());
    assert_eq!(published(&many(2), &known).unwrap_err(), [("too_large", String::new())]);
}
