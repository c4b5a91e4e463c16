//! The text of a plan: one line for each change, one for each changed field.

use crate::{
    api::kinds::{ITEM, NAME_OF_ITEM},
    base::{
        colour::{self, painted},
        json::At as _,
        text::joined,
    },
};
use anstyle::AnsiColor;
use dovetail_terminal::{cell, plain};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The pointer of the mark of a DELETE after which the owner creates the item again.
pub(super) const REPLACEMENT: &str = "/replacement";

/// The pointer of the name of a change's item.
const NAME: &str = "/service_item/name";

/// Maximum number of awaited items that the note of a change names.
const AWAITED_MAX: usize = 3;

/// Returns the changes of a preview, its warnings and its counts.
pub(crate) fn text(preview: &Value) -> String {
    if !has_changes(preview) {
        return format!("{}No changes.\n", warnings(preview));
    }
    let direct = || direct(preview);
    let prices: String = direct().filter_map(price).collect();
    let prices = if prices.is_empty() { prices } else { format!("Prices:\n{prices}") };
    [
        in_waves(preview).into_iter().map(change).collect(),
        longest_chain(preview),
        preview.list_at("/metadata").iter().map(metadata).collect(),
        warnings(preview),
        format!("\n{}\n{prices}", counts(preview)),
    ]
    .concat()
}

/// Returns the direct changes in the order of their waves: a change comes after those that it waits for.
fn in_waves(preview: &Value) -> Vec<&Value> {
    let mut changes: Vec<&Value> = direct(preview).collect();
    changes.sort_by_key(|change| wave(change));
    changes
}

fn wave(change: &Value) -> u64 {
    change.at("/wave").as_u64().unwrap_or_default()
}

/// Returns the line with the longest chain of changes that wait for each other; empty for at most two.
fn longest_chain(preview: &Value) -> String {
    let changes = in_waves(preview);
    let Some(last) = changes.last().filter(|change| wave(change) > 1) else { return String::new() };
    let mut chain = vec![last.text_at(NAME)];
    let mut next = *last;
    let before = |of: &Value| {
        let is_awaited = |change: &&&Value| {
            let is_named = |wait: &Value| {
                [("/service", "/service/name"), ("/name", NAME)]
                    .iter()
                    .all(|(name, at)| wait.text_at(name) == change.text_at(at))
            };
            wave(change) + 1 == wave(of) && of.list_at("/waits_for").iter().any(is_named)
        };
        changes.iter().find(is_awaited).copied()
    };
    while let Some(change) = before(next) {
        chain.push(change.text_at(NAME));
        next = change;
    }
    chain.reverse();
    format!("  Longest chain: {}\n", plain(&chain.join(" -> ")))
}

/// Returns whether a preview has changes.
pub(crate) fn has_changes(preview: &Value) -> bool {
    preview.is_at("/changed")
}

/// Returns the changes of declared items, without those of dependent teams and references.
pub(crate) fn direct(preview: &Value) -> impl Iterator<Item = &Value> {
    preview.list_at("/change_instances").iter().filter(|change| change.text_at("/kind") == "DIRECT")
}

/// Returns the line with the numbers of changes.
pub(crate) fn counts(preview: &Value) -> String {
    if !has_changes(preview) {
        return "No changes.".to_owned();
    }
    let count = |change_type: &str| {
        let is_one =
            |change: &&Value| change.text_at("/change_type") == change_type && !change.is_at(REPLACEMENT);
        direct(preview).filter(is_one).count()
    };
    let [create, modify, delete] = ["CREATE", "MODIFY", "DELETE"].map(count);
    let replaced = match direct(preview).filter(|change| change.is_at(REPLACEMENT)).count() {
        0 => String::new(),
        count => format!(", {count} to replace"),
    };
    let generated = match preview.list_at("/change_instances").len() - direct(preview).count() {
        0 => String::new(),
        more => format!(" {more} more for dependent teams and references."),
    };
    format!("Plan: {create} to create, {modify} to modify, {delete} to delete{replaced}.{generated}")
}

/// Returns the removals that need a confirmation: applications with the number of their items, and items.
pub(crate) fn unconfirmed_removals(preview: &Value) -> Vec<String> {
    let removal = |removal: &Value| match removal.at("/items").as_u64() {
        Some(items) => {
            let items = if items == 1 { "1 item".to_owned() } else { format!("{items} items") };
            format!("{} with {items}", plain(&removal.text_at("/name")))
        }
        None => plain(&joined(removal, &["/application", "/service", "/name"])),
    };
    preview.list_at("/unconfirmed_removals").iter().map(removal).collect()
}

/// Returns the warnings, and the messages of the owners.
pub(crate) fn warnings(preview: &Value) -> String {
    let label = painted("Warning:", Some(AnsiColor::Yellow));
    let warning = |warning: &Value| format!("{label} {}\n", plain(&warning.text_at("")));
    let message = |message: &Value| format!("Message: {}\n", plain(&message.text_at("/description")));
    let warnings = preview.list_at("/warnings").iter().map(warning);
    warnings.chain(preview.list_at("/messages").iter().map(message)).collect()
}

/// Returns the result of a submission.
pub(crate) fn submission(submission: &Value) -> String {
    let change = |change: &Value| {
        let [id, change_type, state, owner] =
            ["/id", "/change_type", "/state", "/owner/name"].map(|pointer| plain(&change.text_at(pointer)));
        let [change_type, state] = [change_type, state].map(|word| painted(&word, colour::of(&word)));
        format!("  {id}  {change_type}  {}  {state}, {owner}\n", plain(&joined(change, ITEM)))
    };
    let changes: String = submission.list_at("/change_instances").iter().map(change).collect();
    let generated = match submission.at("/planned/generated").as_u64() {
        None | Some(0) => String::new(),
        Some(more) => format!("{more} more follow for dependent teams and references.\n"),
    };
    format!("Applied as submission {}.\n{changes}{generated}", submission.at("/id"))
}

/// Returns the differences between two submissions.
pub(crate) fn difference(difference: &Value) -> String {
    let item = |item: &Value| {
        let (head, fields) = head(item, &joined(item, NAME_OF_ITEM));
        format!("{head}\n{fields}")
    };
    let items: String = difference.list_at("/service_items").iter().map(item).collect();
    let of_application = |change: &Value| {
        let named =
            json!({"application": change.at("/application/name"), "differences": change.at("/differences")});
        metadata(&named)
    };
    let metadata: String = difference.list_at("/metadata").iter().map(of_application).collect();
    if items.is_empty() && metadata.is_empty() { "No difference.\n".to_owned() } else { items + &metadata }
}

/// Returns the ids of the change instances of a submission, a line each.
pub(crate) fn ids(submission: &Value) -> String {
    let changes = submission.list_at("/change_instances").iter();
    changes.map(|change| format!("{}\n", change.at("/id"))).collect()
}

fn change(change: &Value) -> String {
    let notes = [vec![plain(&change.text_at("/owner/name"))], notes(change)].concat();
    let (head, fields) = head(change, &joined(change, ITEM));
    format!("{head}  ({})\n{fields}", notes.join("; "))
}

/// Returns what an approval must not overlook: a replacement, an unneeded change, an item that was never in service, an
/// earlier name, and changes that will be closed.
pub(crate) fn notes(change: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if change.is_at(REPLACEMENT) {
        notes.push("removed, then created again".to_owned());
    }
    if change.is_at("/unneeded") {
        notes.push("nothing to do".to_owned());
    }
    if change.is_at("/never_in_service") {
        notes.push("never in service".to_owned());
    }
    let renamed = change.list_at("/differences").iter().find(|of| of.text_at("/pointer") == "/name");
    notes.extend(renamed.map(|difference| format!("renamed from {}", plain(&difference.text_at("/old")))));
    let waits = change.list_at("/waits_for");
    let mut awaited: Vec<String> =
        waits.iter().take(AWAITED_MAX).map(|wait| plain(&wait.text_at("/name"))).collect();
    if waits.len() > AWAITED_MAX {
        awaited.push(format!("{} more", waits.len() - AWAITED_MAX));
    }
    if !awaited.is_empty() {
        notes.push(format!("after {}", awaited.join(", ")));
    }
    let closes: Vec<String> = change.list_at("/closes").iter().map(Value::to_string).collect();
    if !closes.is_empty() {
        notes.push(format!("closes {}", closes.join(", ")));
    }
    notes
}

/// Returns the sign and the name of a change, and the lines of its changed fields.
fn head(change: &Value, name: &str) -> (String, String) {
    let (sign, fields) = match change.text_at("/change_type").as_str() {
        "CREATE" => ("+", String::new()),
        "DELETE" if change.is_at(REPLACEMENT) => ("-/+", fields(change)),
        "DELETE" => ("-", String::new()),
        _ => ("~", fields(change)),
    };
    let colour = colour::of(&change.text_at("/change_type")).unwrap_or(AnsiColor::Yellow);
    (format!("  {}", painted(&format!("{sign} {}", plain(name)), Some(colour))), fields)
}

fn metadata(change: &Value) -> String {
    let of = change.at("/application").as_str().map_or_else(|| "the team".to_owned(), plain);
    let head = painted(&format!("~ metadata of {of}"), Some(AnsiColor::Yellow));
    format!("  {head}\n{}", fields(change))
}

/// Returns the changed fields, a line each.
fn fields(change: &Value) -> String {
    let field = |difference: &Value| {
        let pointer = plain(&difference.text_at("/pointer"));
        if difference.is_at("/secret") {
            return format!("      {pointer}: another secret\n");
        }
        let [old, new] = ["old", "new"].map(|name| side(difference, name));
        format!("      {pointer}: {old} -> {new}\n")
    };
    change.list_at("/differences").iter().map(field).collect()
}

/// Returns the old or the new value of a changed field.
pub(super) fn side(difference: &Value, name: &str) -> Cow<'static, str> {
    difference.get(name).map_or("(absent)".into(), |value| cell(&value.to_string()))
}

/// Returns whether a price is not zero.
pub(crate) fn is_price(price: &str) -> bool {
    price.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

/// Returns the prices of a change; none if it is free.
fn price(change: &Value) -> Option<String> {
    let price = |pointer: &str, of: &str| {
        Some(change.text_at(pointer)).filter(|price| is_price(price)).map(|price| format!("{price} {of}"))
    };
    let prices = [price("/cost_per_change", "per change"), price("/monthly_cost", "per month")];
    let prices: Vec<String> = prices.into_iter().flatten().collect();
    (!prices.is_empty()).then(|| format!("  {}: {}\n", plain(&joined(change, ITEM)), prices.join(", ")))
}
