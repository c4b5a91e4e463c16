//! The parser of scenario files: `given` lines, then steps, each with its expected result.

use std::fs;
use std::ops::Range;

pub(super) struct Script {
    /// All lines of the file.
    lines: Vec<String>,
    /// Changes of the demo world.
    pub(super) given: Vec<String>,
    pub(super) steps: Vec<Step>,
}

/// A step: a command, the lines below it, and its expected result.
pub(super) struct Step {
    /// Line number of the command, from 1.
    pub(super) line: usize,
    pub(super) command: String,
    /// Indented lines below the command, trimmed.
    pub(super) body: Vec<String>,
    pub(super) expected: Outcome,
    /// Whether the result starts on the command's own line.
    inline: bool,
    /// Lines of the result in the file, without the command's own line.
    result: Range<usize>,
}

/// The result of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Text after the arrow.
    pub(super) head: String,
    /// Indented lines below it.
    pub(super) rows: Vec<String>,
}

impl Outcome {
    /// Returns a result of one line.
    pub(super) fn head(head: impl Into<String>) -> Self {
        Self { head: head.into(), rows: Vec::new() }
    }

    /// Returns the parts of a list, sorted, to compare lists without their order.
    pub(super) fn in_any_order(&self) -> Vec<&str> {
        let mut listed: Vec<&str> =
            self.head.split(", ").chain(self.rows.iter().map(String::as_str)).collect();
        listed.sort_unstable();
        listed
    }

    /// Returns the result in the format of the files.
    pub(super) fn written(&self) -> String {
        let mut text = format!("-> {}", self.head).trim_end().to_owned();
        for row in &self.rows {
            text.push_str("\n  ");
            text.push_str(row);
        }
        text
    }
}

const ARROW: &str = "->";

impl Script {
    /// Reads the scenario of a file.
    pub(super) fn read(path: &str) -> Self {
        let text = fs::read_to_string(path).unwrap();
        Self::parse(&text).unwrap_or_else(|problem| panic!("{path}:{problem}"))
    }

    /// Parses a scenario. An error starts with its line number.
    fn parse(text: &str) -> Result<Self, String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if !lines.first().is_some_and(|line| line.starts_with("# ")) {
            return Err("1: a scenario begins with what it shows: `# …`".to_owned());
        }
        let (mut given, mut steps, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(line) = lines.get(at) {
            if line.is_empty() || line.starts_with('#') {
                at += 1;
            } else if let Some(setting) = line.strip_prefix("given ") {
                if !steps.is_empty() {
                    return Err(format!("{}: what is given comes before the steps", at + 1));
                }
                given.push(setting.to_owned());
                at += 1;
            } else {
                let step = Step::parse(&lines, at)?;
                at = step.result.end;
                steps.push(step);
            }
        }
        if steps.is_empty() {
            Err("1: a scenario has steps".to_owned())
        } else {
            Ok(Self { lines, given, steps })
        }
    }

    /// Returns the text of the scenario with these results.
    pub(super) fn with_results(&self, results: &[Outcome]) -> String {
        let mut text = String::new();
        let mut push = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        let mut at = 0;
        for (step, result) in self.steps.iter().zip(results) {
            for line in self.lines.iter().take(step.line - 1).skip(at) {
                push(line);
            }
            if step.inline {
                push(&format!("{} {}", step.command, result.written()));
            } else {
                for line in self.lines.iter().take(step.result.start).skip(step.line - 1) {
                    push(line);
                }
                push(&result.written());
            }
            at = step.result.end;
        }
        for line in self.lines.iter().skip(at) {
            push(line);
        }
        text
    }
}

impl Step {
    fn parse(lines: &[String], at: usize) -> Result<Self, String> {
        let first = &lines[at];
        let indented = |from: usize| {
            let rows = lines.iter().skip(from).take_while(|line| line.starts_with("  "));
            rows.map(|row| row.trim().to_owned()).collect::<Vec<_>>()
        };
        let wrong = |problem: &str| Err(format!("{}: {problem}", at + 1));
        if first.starts_with(' ') || first.starts_with(ARROW) {
            return wrong("a step begins with a command");
        }
        let (command, inline, body, head, start) = match split_at_arrow(first) {
            Some((command, head)) => (command, true, Vec::new(), head, at + 1),
            None => {
                let body = indented(at + 1);
                let arrow = at + 1 + body.len();
                let head = lines.get(arrow).and_then(|line| line.strip_prefix(ARROW));
                let Some(head) = head else { return wrong("the step has no result: `-> …`") };
                (first.trim(), false, body, head.trim(), arrow)
            }
        };
        let rows = indented(if inline { start } else { start + 1 });
        let end = start + usize::from(!inline) + rows.len();
        Ok(Self {
            line: at + 1,
            command: command.to_owned(),
            body,
            expected: Outcome { head: head.to_owned(), rows },
            inline,
            result: start..end,
        })
    }
}

/// Splits a line with a command and the head of its result.
fn split_at_arrow(line: &str) -> Option<(&str, &str)> {
    if let Some(command) = line.strip_suffix(ARROW) {
        return Some((command.trim(), ""));
    }
    line.split_once(" -> ").map(|(command, head)| (command.trim(), head.trim()))
}

#[test]
fn a_script_is_read_and_written_with_other_results() {
    let text = "\
# What it shows.
given service VM approval not required

A submits
  NewApp1 VM CoreVM1
-> 201
  old

# Aside.
change CoreVM1#1 -> CLOSED
history CoreVM1#1 ->
  one
  two
";
    let script = Script::parse(text).unwrap();
    assert_eq!(script.given, ["service VM approval not required"]);
    let steps: Vec<_> = script.steps.iter().map(|step| (step.line, step.command.as_str())).collect();
    assert_eq!(steps, [(4, "A submits"), (10, "change CoreVM1#1"), (11, "history CoreVM1#1")]);
    assert_eq!(script.steps[0].body, ["NewApp1 VM CoreVM1"]);
    assert_eq!(script.steps[2].expected.rows, ["one", "two"]);
    let same: Vec<Outcome> = script.steps.iter().map(|step| step.expected.clone()).collect();
    assert_eq!(script.with_results(&same), text);
    let others = ["200", "COMPLETED", ""].map(Outcome::head);
    let expected =
        text.replace("201\n  old", "200").replace("CLOSED", "COMPLETED").replace("->\n  one\n  two", "->");
    assert_eq!(script.with_results(&others), expected);
}

#[test]
fn an_invalid_script_is_reported_with_its_line() {
    let parse_error = |text: &str| Script::parse(text).err().unwrap();
    assert_eq!(parse_error("A submits -> 200"), "1: a scenario begins with what it shows: `# …`");
    assert_eq!(parse_error("# Shows nothing."), "1: a scenario has steps");
    assert_eq!(parse_error("# S.\nA submits\n  NewApp1 VM V"), "2: the step has no result: `-> …`");
    assert_eq!(parse_error("# S.\n  NewApp1 VM V\n-> 1"), "2: a step begins with a command");
    assert_eq!(parse_error("# S.\nA x -> 1\ngiven y"), "3: what is given comes before the steps");
}
