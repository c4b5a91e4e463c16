//! A plan as a Markdown comment of a pull request.
//!
//! Declared texts stand in code spans, where a renderer knows no HTML, link, mention or emoji.

use super::path::from_root;
use crate::{
    api::kinds::ITEM,
    base::{failure::Failure, json::At as _, location::Located, text::joined},
    document::file::save,
    output::plan::{counts, direct, is_price, notes},
};
use dovetail_terminal::plain;
use serde_json::Value;
use std::path::Path;

/// The most bytes of a comment. GitHub refuses more than 65,536 characters.
const BYTES_MAX: usize = 65_000;
/// The most characters of a cell; the rest is cut off.
const CELL_MAX: usize = 200;
/// The first line. A pipeline finds its comment by it, and replaces it.
const MARKER: &str = "<!-- dovetail-plan -->\n";

/// Writes the plan, or the problems of the declaration, to a file. Other failures leave the file as it is.
pub(crate) fn write(path: &Path, result: &Result<Value, Failure>) -> Result<(), Failure> {
    match result {
        Ok(preview) => save(path, &plan(preview)),
        Err(failure) => failure.problems().map_or(Ok(()), |problems| save(path, &invalid(&problems))),
    }
}

/// Returns the comment of a preview.
fn plan(preview: &Value) -> String {
    let token = preview.text_at("/plan");
    let is_token = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let token: String = token.chars().filter(is_token).collect();
    let mut comment = Comment::new(format!("\n<!-- dovetail-plan-token: {token} -->\n"));
    comment.push(&format!("### Dovetail plan\n\n{}\n", counts(preview)));
    let notes = ["/warnings", "/messages"].map(|pointer| preview.list_at(pointer)).concat();
    let note = |note: &Value| {
        // A message is an object, a warning a text.
        let text = if note.is_object() { note.text_at("/description") } else { note.text_at("") };
        row(&[code(&text)])
    };
    comment.table("\n| Warnings and messages |\n|---|\n", notes.iter().map(note), "");
    let direct = || direct(preview);
    // Removals come first, so that no limit hides them.
    let of = |wanted: &'static str| direct().filter(move |change| change.text_at("/change_type") == wanted);
    let sorted = || of("DELETE").chain(of("MODIFY")).chain(of("CREATE"));
    comment.table("\n| Change | Item | Owner | Notes |\n|---|---|---|---|\n", sorted().map(change), "");
    comment.table("\n| Price | Per change | Per month |\n|---|---|---|\n", direct().filter_map(price), "");
    let metadata = preview.list_at("/metadata").iter().flat_map(|change| {
        let of = change.at("/application").as_str().unwrap_or_default();
        fields(&code(&format!("{of} metadata")), change)
    });
    let of_items = sorted().flat_map(|change| {
        let name = code(&joined(change, ITEM));
        [fields(&name, change), declared(&name, change)].concat()
    });
    comment.table(
        "\n<details><summary>Differences</summary>\n\n| Of | Field | Old | New |\n|---|---|---|---|\n",
        metadata.chain(of_items),
        "\n</details>\n",
    );
    comment.finish()
}

/// Returns the comment of an invalid declaration.
fn invalid(problems: &[Located]) -> String {
    let mut comment = Comment::new(String::new());
    comment.push("### Dovetail plan\n\nThe declaration is invalid and has no plan.\n");
    let problem = |located: &Located| {
        let place = located.file.as_deref().map(|file| {
            let line = located.position.map(|position| format!(":{}", position.line)).unwrap_or_default();
            format!("{}{line}", from_root(file))
        });
        row(&[code(&place.unwrap_or_default()), code(&located.message()), code(&located.problem.rule)])
    };
    comment.table("\n| Place | Problem | Rule |\n|---|---|---|\n", problems.iter().map(problem), "");
    comment.finish()
}

/// A comment that leaves room for its end.
struct Comment {
    text: String,
    end: String,
}

impl Comment {
    fn new(end: String) -> Self {
        Self { text: MARKER.to_owned(), end }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a table in at most half of the room that is left; nothing without rows.
    fn table(&mut self, head: &str, rows: impl Iterator<Item = String>, foot: &str) {
        let room = BYTES_MAX.saturating_sub(self.text.len() + self.end.len()) / 2;
        let (mut table, mut cut) = (String::new(), 0_usize);
        for row in rows {
            if cut == 0 && head.len() + table.len() + row.len() + foot.len() <= room {
                table.push_str(&row);
            } else {
                cut += 1;
            }
        }
        if table.is_empty() && cut == 0 {
            return;
        }
        self.text.extend([head, &table]);
        if cut > 0 {
            self.push(&format!("\n{cut} more, which do not fit into a comment.\n"));
        }
        self.push(foot);
    }

    fn finish(self) -> String {
        self.text + &self.end
    }
}

fn change(change: &Value) -> String {
    row(&[
        change.text_at("/change_type"),
        code(&joined(change, ITEM)),
        code(&change.text_at("/owner/name")),
        notes(change).join("; "),
    ])
}

/// Returns the prices of a change; none if it is free.
fn price(change: &Value) -> Option<String> {
    let prices = ["/cost_per_change", "/monthly_cost"].map(|pointer| change.text_at(pointer));
    let [once, monthly] = &prices;
    prices
        .iter()
        .any(|price| is_price(price))
        .then(|| row(&[code(&joined(change, ITEM)), code(once), code(monthly)]))
}

/// Returns a row for each changed field.
fn fields(of: &str, change: &Value) -> Vec<String> {
    let field = |difference: &Value| {
        let is_secret = difference.is_at("/secret");
        let shown = |name: &str| difference.get(name).map(|value| code(&value.to_string()));
        let value =
            |name: &str| if is_secret { "*secret*".to_owned() } else { shown(name).unwrap_or_default() };
        row(&[of.to_owned(), code(&difference.text_at("/pointer")), value("old"), value("new")])
    };
    change.list_at("/differences").iter().map(field).collect()
}

/// Returns a row for each member of a new item.
fn declared(of: &str, change: &Value) -> Vec<String> {
    let members = change.at("/new_declaration/declaration").as_object();
    let is_new = change.text_at("/change_type") == "CREATE" && change.list_at("/differences").is_empty();
    let members = members.filter(|_| is_new).into_iter().flatten().filter(|(name, _)| *name != "name");
    let field = |(name, value): (&String, &Value)| {
        row(&[of.to_owned(), code(&format!("/{name}")), String::new(), code(&value.to_string())])
    };
    members.map(field).collect()
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Returns a text as a code span of a table's cell.
fn code(text: &str) -> String {
    // Characters that change the direction of the text around them would reorder a row.
    let is_direction =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text: String = plain(text)
        .chars()
        .map(|c| if is_direction(c) { '\u{fffd}' } else { c })
        .take(CELL_MAX + 1)
        .collect();
    if let Some((end, _)) = text.char_indices().nth(CELL_MAX) {
        text.truncate(end);
        text.push('…');
    }
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    // A bar ends a cell even inside of a code span, unless it has a backslash.
    format!("{fence}{space}{}{space}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};
    use serde_json::json;

    /// Texts that end a cell, a code span or a comment, or that a host of repositories would interpret.
    const HOSTILE: &[&str] = &[
        "a|b",
        "a\\|b",
        "a\\",
        "`",
        "``x`",
        " `x` ",
        "</details><script>alert(1)</script>",
        "--> <!--",
        "[x](https://example.com) https://example.com @team #1 !1 :tada:",
        "**bold** ~~cut~~ $x$",
        "a\n\n# heading\n| b |\r\n/close",
        "&lt;&#124;",
        "\u{202e}desrever",
    ];

    fn preview(text: &str) -> Value {
        let change = |change_type: &str| {
            json!({
                "kind": "DIRECT", "change_type": change_type, "closes": [7], "cost_per_change": text.len(),
                "application": {"name": text}, "service": {"name": text}, "service_item": {"name": text},
                "owner": {"name": text}, "differences": [{"pointer": text, "old": text, "new": {text: text}}],
            })
        };
        let new = json!({
            "kind": "DIRECT", "change_type": "CREATE", "owner": {"name": text},
            "new_declaration": {"declaration": {"name": text, text: text}},
        });
        json!({
            "changed": true, "plan": format!("{text}to-ken_1"), "warnings": [text], "messages": [{"description": text}],
            "change_instances": [change("CREATE"), change("DELETE"), new],
            "metadata": [{"application": text, "differences": [{"pointer": text, "old": text}]}],
        })
    }

    #[test]
    fn no_declared_text_leaves_its_cell() {
        for text in HOSTILE {
            let comment = plan(&preview(text));
            let (mut rows, mut cells, mut html) = (0, 0, String::new());
            for event in Parser::new_ext(&comment, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
                match event {
                    Event::Start(Tag::TableRow) => rows += 1,
                    Event::Start(Tag::TableCell) => cells += 1,
                    Event::Html(text) => html.push_str(&text),
                    Event::Start(tag) => assert!(
                        matches!(
                            tag,
                            Tag::Table(_)
                                | Tag::TableHead
                                | Tag::Heading { .. }
                                | Tag::Paragraph
                                | Tag::HtmlBlock
                        ),
                        "{text}: {tag:?}"
                    ),
                    Event::InlineHtml(html) => panic!("{text}: {html}"),
                    Event::Text(shown) => assert!(!shown.contains(['`', '<', '[']), "{text}: {shown}"),
                    Event::Code(_) | Event::End(_) | Event::SoftBreak => {}
                    other @ (Event::InlineMath(_)
                    | Event::DisplayMath(_)
                    | Event::FootnoteReference(_)
                    | Event::HardBreak
                    | Event::Rule
                    | Event::TaskListMarker(_)) => panic!("{text}: {other:?}"),
                }
            }
            // Two notes, three changes, two prices, four differences, and four heads.
            assert_eq!((rows, cells), (11, 2 + 12 + 6 + 16 + 1 + 4 + 3 + 4), "{text}: {comment}");
            let letters: String =
                text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
            let expected = format!(
                "<!-- dovetail-plan -->\n<details><summary>Differences</summary>\n</details>\n\
                 <!-- dovetail-plan-token: {letters}to-ken_1 -->\n"
            );
            assert_eq!(html, expected, "{text}");
        }
    }

    #[test]
    fn code_spans_show_the_text() {
        for (text, expected) in [
            ("a|b", "`a\\|b`"),
            ("`", "`` ` ``"),
            (" x", "`  x `"),
            ("\n", "`\u{fffd}`"),
            ("", ""),
            ("  ", ""),
        ] {
            assert_eq!(code(text), expected);
        }
    }

    #[test]
    fn a_large_plan_fits_into_a_comment_and_counts_what_is_missing() {
        let change = |index: usize| {
            json!({
                "kind": "DIRECT", "change_type": if index == 9_999 { "DELETE" } else { "CREATE" },
                "application": {"name": "Shop"}, "service": {"name": "VM"},
                "service_item": {"name": format!("web{index}-{}", "ä".repeat(300))}, "owner": {"name": "Owner"},
                "differences": [{"pointer": "/cpu", "old": "x".repeat(1_000), "new": "|".repeat(1_000)}],
            })
        };
        let preview = json!({
            "changed": true, "plan": "abc", "warnings": vec!["w".repeat(1_000); 1_000], "messages": [],
            "change_instances": (0..10_000).map(change).collect::<Vec<_>>(), "metadata": [],
        });
        let comment = plan(&preview);
        assert!(comment.len() < 65_536, "{}", comment.len());
        assert_eq!(comment.matches("more, which do not fit into a comment.").count(), 3);
        assert!(comment.contains("Plan: 9999 to create, 0 to modify, 1 to delete."));
        assert!(comment.contains("| DELETE | `Shop/VM/web9999-"), "removals come first");
        assert!(comment.ends_with("</details>\n\n<!-- dovetail-plan-token: abc -->\n"));
    }
}
