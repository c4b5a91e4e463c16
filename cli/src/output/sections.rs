//! The text of an object: a title, fields, and sections with a heading.

use crate::{
    api::kinds::ITEM,
    base::{json::At as _, text::joined},
    document::write,
    output::plan::side,
};
use dovetail_terminal::plain;
use serde_json::Value;

/// Width of the names of fields.
const WIDTH: usize = 16;

/// The text so far. Absent fields and empty sections are left out.
pub(crate) struct Sections(String);

impl Sections {
    /// Starts with a title: word, name and id.
    pub(crate) fn new(word: &str, name: &str, id: &str) -> Self {
        let mut title = [word, name].join(" ");
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self(format!("{} ({id})\n", plain(title.trim_end())))
    }

    /// Adds fields with the texts at their pointers.
    pub(crate) fn fields(&mut self, value: &Value, fields: &[(&str, &[&str])]) {
        for (name, pointers) in fields {
            let texts = pointers.iter().map(|pointer| value.text_at(pointer));
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            self.field(name, &texts.join(", "));
        }
    }

    /// Adds a field.
    pub(crate) fn field(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.0.extend([&format!("  {name:WIDTH$}"), plain(text).as_str(), "\n"]);
        }
    }

    /// Adds a section with a JSON document in the form of YAML.
    pub(crate) fn document(&mut self, title: &str, value: &Value) {
        let is_empty = value.is_null() || value.as_object().is_some_and(|members| members.is_empty());
        if !is_empty {
            self.section(title, write::document(value).lines().map(str::to_owned));
        }
    }

    /// Adds a section with changed fields, a line each.
    pub(crate) fn differences(&mut self, title: &str, differences: &[Value]) {
        self.lines(title, differences, |difference| {
            let [old, new] = ["old", "new"].map(|name| side(difference, name));
            format!("{}: {old} -> {new}", difference.text_at("/pointer"))
        });
    }

    /// Adds a section with change instances, a line each.
    pub(crate) fn changes(&mut self, title: &str, changes: &[Value]) {
        self.lines(title, changes, |change| {
            let [id, kind, state, owner, log] = ["/id", "/change_type", "/state", "/owner/name", "/log"]
                .map(|pointer| change.text_at(pointer));
            let log = if log.is_empty() { log } else { format!(": {log}") };
            format!("{id}  {kind}  {}  {state}, {owner}{log}", joined(change, ITEM))
        });
    }

    /// Adds a section with a line for each value.
    pub(crate) fn lines(&mut self, title: &str, values: &[Value], line: impl Fn(&Value) -> String) {
        if !values.is_empty() {
            self.section(title, values.iter().map(|value| plain(&line(value))));
        }
    }

    fn section(&mut self, title: &str, lines: impl Iterator<Item = String>) {
        self.0.extend(["\n", title, ":\n"]);
        for line in lines {
            self.0.push_str(format!("  {line}").trim_end());
            self.0.push('\n');
        }
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}
