//! Finds one object by its id or its name, on the side of the API that shows it to the team.

use crate::{
    api::{
        client::{Api, ORCABASE, TEAMS},
        filter::query,
        kinds::{Kind, NAME_OF_ITEM, SIDES},
    },
    base::{failure::Failure, json::At as _, text::joined},
};
use domain::base::suggest::did_you_mean;
use serde_json::Value;

/// Maximum number of objects in the search for a similar name.
const NAMES_MAX: usize = 1_000;

/// An object, with the side that shows it.
pub(crate) struct Found {
    pub(crate) side: &'static str,
    pub(crate) value: Value,
}

/// Reads an object by its id or name.
pub(crate) fn read(api: &Api, kind: Kind, text: &str, as_of: Option<&str>) -> Result<Found, Failure> {
    let id = id(api, kind, text)?;
    let mut parameters: Vec<_> = as_of.iter().map(|time| ("as_of".to_owned(), (*time).to_owned())).collect();
    parameters.extend((kind == Kind::Submissions).then(|| ("counts".to_owned(), "true".to_owned())));
    either_side(api, kind.sides(), &format!("{}/{id}/{}", kind.path(), query(&parameters)))
}

/// Reads a path on the first side that shows it to the team.
pub(crate) fn either_side(api: &Api, sides: &[&'static str], path: &str) -> Result<Found, Failure> {
    let mut last = Failure::Failed("nothing to read".to_owned());
    for side in sides {
        match api.get(&format!("{ORCABASE}/{side}/{path}")) {
            Err(failure @ Failure::Failed(_)) => last = failure,
            result => return result.map(|value| Found { side, value }),
        }
    }
    Err(last)
}

/// Returns the id of an object: the number in the text, or that of the object with this name.
pub(crate) fn id(api: &Api, kind: Kind, text: &str) -> Result<u64, Failure> {
    id_on(api, kind, kind.sides(), text)
}

/// Returns the same among the objects on these sides.
pub(crate) fn id_on(api: &Api, kind: Kind, sides: &[&str], text: &str) -> Result<u64, Failure> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(Failure::failed);
    }
    match kind {
        Kind::Items => one(api, kind, sides, text, &item(text)?),
        Kind::Applications | Kind::Services => {
            one(api, kind, sides, text, &[("name".to_owned(), exactly(text))])
        }
        Kind::Changes => newest_change(api, text),
        Kind::Submissions => Err(Failure::Usage(format!("a submission has an id, not the name `{text}`"))),
    }
}

/// Returns the filters of the item with a full name.
fn item(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let parts: Vec<&str> = text.splitn(3, '/').collect();
    let [application, service, item] = *parts.as_slice() else {
        let message = format!("an item has an id or a name APPLICATION/SERVICE/ITEM, not `{text}`");
        return Err(Failure::Usage(message));
    };
    let filters = [("application_name", application), ("service_name", service), ("name", item)];
    Ok(filters.map(|(name, value)| (name.to_owned(), exactly(value))).to_vec())
}

/// Returns the value of a filter for this name alone: a comma means OR.
fn exactly(name: &str) -> String {
    name.replace(',', "\\,")
}

/// Returns the id of the one object with this name. A gone item has given up its name.
fn one(
    api: &Api,
    kind: Kind,
    sides: &[&str],
    name: &str,
    filters: &[(String, String)],
) -> Result<u64, Failure> {
    let pointers = if kind == Kind::Items { NAME_OF_ITEM } else { &["/name"] };
    for side in sides {
        let mut found =
            api.list(&format!("{ORCABASE}/{side}/{}/{}", kind.path(), query(filters)), NAMES_MAX)?;
        // A filter ignores quotes around a value.
        found.retain(|object| joined(object, pointers) == name);
        if found.iter().any(|object| !object.is_at("/gone")) {
            found.retain(|object| !object.is_at("/gone"));
        } else {
            found = found.pop().into_iter().collect();
        }
        let ids: Vec<u64> = found.iter().filter_map(|object| object.at("/id").as_u64()).collect();
        if let Some(id) = only_id(kind.word(), name, &ids)? {
            return Ok(id);
        }
    }
    let near = near(api, kind, sides, name, pointers);
    Err(Failure::Failed(format!("no {} has the name `{name}`{near}", kind.word())))
}

/// Returns the only id of the objects with a name; none without an object.
pub(crate) fn only_id(word: &str, name: &str, ids: &[u64]) -> Result<Option<u64>, Failure> {
    match *ids {
        [] => Ok(None),
        [id] => Ok(Some(id)),
        // Items of two consumers can have the same name.
        _ => {
            let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
            let message = format!("several {word}s have the name `{name}`, give an id: ");
            Err(Failure::Failed(message + &ids.join(", ")))
        }
    }
}

/// Returns `, did you mean ...?` with the most similar name.
fn near(api: &Api, kind: Kind, sides: &[&str], name: &str, pointers: &[&str]) -> String {
    let lists = sides
        .iter()
        .filter_map(|side| api.list(&format!("{ORCABASE}/{side}/{}/", kind.path()), NAMES_MAX).ok());
    let names: Vec<String> = lists.flatten().map(|object| joined(&object, pointers)).collect();
    did_you_mean(name, names.iter().map(String::as_str))
}

/// Returns the id of the newest change of the item with this name.
fn newest_change(api: &Api, name: &str) -> Result<u64, Failure> {
    let item = id(api, Kind::Items, name)?;
    for side in SIDES {
        let path = format!("{ORCABASE}/{side}/change_instances/?service_item_id={item}&ordering=-id");
        if let Some(id) = api.list(&path, 1)?.first().and_then(|change| change.at("/id").as_u64()) {
            return Ok(id);
        }
    }
    Err(Failure::Failed(format!("no change of `{name}` is visible to your team")))
}

/// Returns the definition of a service.
pub(crate) fn definition(api: &Api, service: &str) -> Result<Value, Failure> {
    let services = api.list(&format!("{ORCABASE}/consumer/services/"), usize::MAX)?;
    Ok(find_service(&services, service)?.at("/schema/schema").clone())
}

/// Returns the service with a name.
pub(crate) fn find_service<'a>(services: &'a [Value], name: &str) -> Result<&'a Value, Failure> {
    services.iter().find(|service| service.text_at("/name") == name).ok_or_else(|| {
        let near = did_you_mean(name, services.iter().filter_map(|service| service.at("/name").as_str()));
        Failure::Failed(format!("no service has the name `{name}`{near}"))
    })
}

/// Returns the team of the API key; null if it has none.
pub(crate) fn own_team(api: &Api) -> Result<Value, Failure> {
    Ok(api.get(TEAMS)?.at("/results/0").clone())
}
