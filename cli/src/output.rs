//! What the commands print: tables on a terminal, plain lines in a pipe, or JSON.

pub(crate) mod changes;
pub(crate) mod graph;
mod jq;
pub(crate) mod plan;
pub(crate) mod sections;
mod table;

use crate::{
    base::{
        colour,
        failure::Failure,
        text::{Column, joined},
    },
    document::write,
    output::{jq::Jq, table::table},
};
use clap::ValueEnum;
use console::Term;
use dovetail_terminal::{plain, printed};
use serde_json::Value;
use std::io::{self, IsTerminal as _, Write};

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table on a terminal; lines with tabs in a pipe
    #[default]
    Table,
    /// One JSON document
    Json,
    /// One JSON document in each line
    Ndjson,
    /// One YAML document
    Yaml,
    /// Ids or names, one in each line
    Name,
}

/// Standard output, with its form.
pub(crate) struct Output {
    pub(crate) format: Format,
    is_terminal: bool,
    /// Number of columns of the terminal; none in a pipe.
    width: Option<u16>,
    jq: Option<Jq>,
    out: Box<dyn Write>,
}

impl Output {
    /// Opens standard output. Colours depend on the terminal and on `NO_COLOR`. A filter of `--jq` needs JSON.
    pub(crate) fn new(format: Format, jq: Option<&str>) -> Result<Self, Failure> {
        let jq = jq.map(Jq::new).transpose()?;
        let format = match (&jq, format) {
            (Some(_), Format::Table) => Format::Json,
            (Some(_), Format::Name | Format::Yaml) => {
                return Err(Failure::Usage("--jq needs -o json or ndjson".to_owned()));
            }
            (_, format) => format,
        };
        let is_terminal = io::stdout().is_terminal();
        let width = is_terminal.then(|| Term::stdout().size_checked()).flatten().map(|(_, columns)| columns);
        Ok(Self { format, is_terminal, width, jq, out: Box::new(anstream::stdout()) })
    }

    /// Returns the width of a table, in characters; none if it has no limit.
    pub(crate) const fn width(&self) -> Option<u16> {
        self.width
    }

    /// Prints a text with its own line ends.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        printed(self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush())).map_err(Failure::failed)
    }

    /// Returns whether a text replaces the former one: a table on a terminal.
    pub(crate) fn is_screen(&self) -> bool {
        self.is_terminal && self.format == Format::Table
    }

    /// Prints one document as JSON, if the format is JSON; returns whether it did.
    pub(crate) fn json(&mut self, value: &Value) -> Result<bool, Failure> {
        if self.filtered(value)? {
            return Ok(true);
        }
        let text = match self.format {
            Format::Json => format!("{value:#}\n"),
            Format::Ndjson => format!("{value}\n"),
            Format::Yaml => write::document(value),
            Format::Table | Format::Name => return Ok(false),
        };
        self.text(&text).map(|()| true)
    }

    /// Returns whether the output has another form than its JSON: that of a filter or YAML.
    pub(crate) fn converts(&self) -> bool {
        self.jq.is_some() || self.format == Format::Yaml
    }

    /// Prints the results of the filter, a line each; returns false without a filter.
    fn filtered(&mut self, value: &Value) -> Result<bool, Failure> {
        let Self { jq: Some(jq), out, is_terminal, .. } = self else { return Ok(false) };
        let print = |text: &str| {
            // A terminal would execute control characters of a text.
            let safe = |line: &str| if *is_terminal { plain(line) } else { line.to_owned() };
            text.split('\n').try_for_each(|line| writeln!(out, "{}", safe(line)))
        };
        jq.each(value, print)?;
        printed(self.out.flush()).map_err(Failure::failed).map(|()| true)
    }

    /// Prints one row without a header, or one document.
    pub(crate) fn row<const N: usize>(&mut self, value: &Value, shown: &[Column; N]) -> Result<(), Failure> {
        if self.json(value)? {
            return Ok(());
        }
        if !self.is_screen() {
            return self.list(std::slice::from_ref(value), shown);
        }
        let text = |(_, pointers): &Column| {
            let text = plain(&joined(value, pointers));
            let colour = colour::is_word(pointers).then(|| colour::of(&text)).flatten();
            colour::painted(&text, colour)
        };
        let row = shown.iter().map(text).collect::<Vec<_>>().join("  ");
        self.text(&format!("{row}\n"))
    }

    /// Prints a list. With `-o name`, it is the first column.
    pub(crate) fn list<const N: usize>(
        &mut self,
        values: &[Value],
        shown: &[Column; N],
    ) -> Result<(), Failure> {
        if self.jq.is_some() {
            self.filtered(&Value::from(values))?;
            return Ok(());
        }
        let row = |value: &Value| shown.map(|(_, pointers)| plain(&joined(value, pointers)));
        let lines = |line: &dyn Fn(&Value) -> String| values.iter().map(line).collect::<Vec<_>>().join("\n");
        let mut text = match self.format {
            Format::Json => format!("{:#}", Value::from(values)),
            Format::Ndjson => lines(&Value::to_string),
            Format::Yaml => return self.text(&write::document(&Value::from(values))),
            Format::Name => lines(&|value| row(value).into_iter().next().unwrap_or_default()),
            Format::Table if self.is_terminal && values.is_empty() => "Nothing found.".to_owned(),
            Format::Table if self.is_terminal => {
                table(&values.iter().map(row).collect::<Vec<_>>(), shown, self.width)
            }
            Format::Table => lines(&|value| row(value).join("\t")),
        };
        if !text.is_empty() {
            text.push('\n');
        }
        self.text(&text)
    }
}
