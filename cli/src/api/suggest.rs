//! Suggestions: the filter or the property that a user may have meant.

use crate::{
    api::{client::Api, object},
    base::{failure::Failure, json::At as _, problem::Problem, text},
};
use domain::base::suggest::{did_you_mean, nearest};
use serde_json::Value;
use std::collections::BTreeMap;

/// Query parameters of the client itself.
const OWN: [&str; 4] = ["limit", "cursor", "ordering", "count"];
/// Maximum number of problems with a suggestion. Each is compared with all properties of an object.
const SUGGESTIONS_MAX: usize = 20;

/// Names the filter that the server does not know. Any other failure stays as it is.
pub(crate) fn filter(failure: Failure) -> Failure {
    let Failure::UnknownFilter { path, meant } = failure else { return failure };
    Failure::Usage(unknown_filter(&path, meant.as_deref()))
}

/// Returns the error of a list for an unknown filter, of which the server names only the most similar one.
fn unknown_filter(path: &str, meant: Option<&str>) -> String {
    let query = path.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let names = query.split('&').filter_map(|filter| filter.split('=').next());
    let names: Vec<&str> = names.filter(|name| !OWN.contains(name) && Some(*name) != meant).collect();
    let unknown = match (names.as_slice(), meant) {
        ([one], _) => Some(*one),
        (_, Some(meant)) => nearest(meant, names.iter().copied()),
        (_, None) => None,
    };
    let near = meant.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
    match unknown {
        Some(unknown) => format!("no filter has the name `{unknown}`{near}"),
        None => format!("one of these filters is unknown: {}", names.join(", ")),
    }
}

/// Adds the most similar property to each problem of a property that the definition of its service lacks.
pub(crate) fn properties(api: &Api, declaration: &Value, problems: &mut [Problem]) {
    let mut definitions = BTreeMap::new();
    let surplus =
        problems.iter_mut().filter(|problem| problem.rule == "schema" && is_member(declaration, problem));
    for problem in surplus.take(SUGGESTIONS_MAX) {
        let path = text::parts(&problem.pointer);
        // TEAM, APPLICATION, `services`, SERVICE, the index of the item, and the path within the item.
        let [_, _, services, service, _, inner @ ..] = path.as_slice() else { continue };
        if services != "services" {
            continue;
        }
        // Without the definition, the problem stays as it is.
        let definition = definitions
            .entry(service.clone())
            .or_insert_with(|| object::definition(api, service).unwrap_or_default());
        problem.detail.push_str(&similar(definition, inner));
    }
}

/// Returns whether a problem is at a declared member of an object.
fn is_member(declaration: &Value, problem: &Problem) -> bool {
    let parent = problem.pointer.rsplit_once('/').map(|(parent, _)| declaration.at(parent));
    parent.is_some_and(Value::is_object) && declaration.pointer(&problem.pointer).is_some()
}

/// Returns `, did you mean ...?` with the property most similar to a surplus one.
fn similar(definition: &Value, path: &[String]) -> String {
    let Some((name, above)) = path.split_last() else { return String::new() };
    let object = above.iter().try_fold(definition, |schema, token| part(definition, schema, token));
    let properties = object.and_then(|schema| resolved(definition, schema).at("/properties").as_object());
    let names = || properties.into_iter().flatten().map(|(name, _)| name.as_str());
    // A property of the definition has another problem.
    if names().any(|known| known == name) { String::new() } else { did_you_mean(name, names()) }
}

/// Returns the schema of a member or an element.
fn part<'a>(root: &'a Value, schema: &'a Value, token: &str) -> Option<&'a Value> {
    let schema = resolved(root, schema);
    let of_member = schema.at("/properties").get(token);
    of_member.or_else(|| schema.get("items")).or_else(|| schema.get("additionalProperties"))
}

/// Returns the schema that a reference within the definition names, or the schema itself.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.at("/$ref").as_str().and_then(|target| root.pointer(target.strip_prefix('#')?));
    target.unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_unknown_filter_has_its_name_and_the_similar_one() {
        for (path, meant, expected) in [
            ("/l/?sate=A&limit=100", Some("state"), "no filter has the name `sate`, did you mean `state`?"),
            ("/l/?colour=red&limit=100", None, "no filter has the name `colour`"),
            (
                "/l/?state=A&servic_name=VM&limit=1&cursor=x",
                Some("service_name"),
                "no filter has the name `servic_name`, did you mean `service_name`?",
            ),
            ("/l/?state=A&colour=red&limit=1", None, "one of these filters is unknown: state, colour"),
        ] {
            assert_eq!(unknown_filter(path, meant), expected);
        }
    }

    #[test]
    fn a_property_is_searched_in_the_schema_of_its_object() {
        let definition = json!({"properties": {
            "cpu": {}, "disks": {"items": {"$ref": "#/$defs/disk"}}, "tags": {"additionalProperties": {"properties": {"colour": {}}}}},
            "$defs": {"disk": {"properties": {"size": {}}}}});
        for (path, expected) in [
            ("cpus", ", did you mean `cpu`?"),
            ("disks/0/sice", ", did you mean `size`?"),
            ("tags/a/color", ", did you mean `colour`?"),
            ("tags/a/size", ""),
            ("cpu", ""),
            ("other/x", ""),
        ] {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            assert_eq!(similar(&definition, &path), expected, "{path:?}");
        }
    }
}
