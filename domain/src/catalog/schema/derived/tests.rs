//! Texts of derived values: their form and their limits (R70).

use super::*;
use proptest::prelude::*;

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn path(steps: &[&str]) -> Piece {
    let step = |name: &&str| if *name == "*" { Step::Each } else { Step::Member((*name).to_owned()) };
    Piece::Path(steps.iter().map(step).collect())
}

#[test]
fn a_text_has_names_and_braces() {
    let cases: [(&str, &[Piece]); 8] = [
        ("", &[]),
        ("plain", &[text("plain")]),
        (
            "{port_name} on {node.node_name}",
            &[path(&["port_name"]), text(" on "), path(&["node", "node_name"])],
        ),
        ("{saps.*.port.title}", &[path(&["saps", "*", "port", "title"])]),
        ("{at.team}{at.runtime_state}", &[Piece::Fact(Fact::Team), Piece::Fact(Fact::RuntimeState)]),
        ("{{a}} }", &[text("{a}} }")]),
        ("{{{a}}", &[text("{"), path(&["a"]), text("}")]),
        ("é{größe in cm}", &[text("é"), path(&["größe in cm"])]),
    ];
    for (source, pieces) in cases {
        assert_eq!(Expression::parse(source).unwrap().pieces(), pieces, "{source}");
    }
}

#[test]
fn a_malformed_text_has_the_position_of_its_error() {
    for (source, position) in [
        ("{", 1),
        ("é{name", 2),
        ("{}", 2),
        ("{a..b}", 2),
        ("{.a}", 2),
        ("{a.}", 2),
        ("{*}", 2),
        ("{*.a}", 2),
        ("ab{a*}", 4),
        ("{a{{b}", 2),
        ("{a} { b}", 6),
        ("{at}", 2),
        ("{at.time}", 2),
        ("{at.team.name}", 2),
        ("{at.*}", 2),
    ] {
        let Err(Malformed::At(at, reason)) = Expression::parse(source) else { panic!("{source}") };
        assert_eq!(at, position, "{source}: {reason}");
    }
    assert_eq!(Expression::parse(&"a".repeat(1_025)), Err(Malformed::TooLong));
    assert!(Expression::parse(&"a".repeat(1_024)).is_ok());
}

proptest! {
    #[test]
    fn the_parser_ends_and_its_result_is_bounded(source in "[{}.*at eé-]{0,1100}") {
        match Expression::parse(&source) {
            Ok(expression) => prop_assert!(expression.pieces().len() <= source.len()),
            Err(Malformed::TooLong) => prop_assert!(source.len() > EXPRESSION_BYTES_MAX),
            Err(Malformed::At(position, _)) => {
                prop_assert!(position >= 1 && position <= source.chars().count() + 1);
            }
        }
    }

    #[test]
    fn the_parts_of_a_text_are_the_text(names in proptest::collection::vec("[a-z ä{}]{0,9}", 0..20)) {
        let (mut source, mut expected) = (String::new(), String::new());
        for name in &names {
            source.push_str(&name.replace('{', "{{"));
            source.push_str("{x}");
            expected.push_str(name);
            expected.push('X');
        }
        let expression = Expression::parse(&source).unwrap();
        let shown = expression.pieces().iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Path(_) => "X",
            Piece::Fact(_) => "",
        });
        prop_assert_eq!(shown.collect::<String>(), expected);
    }
}
