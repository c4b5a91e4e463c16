//! Problems on a terminal: each with its line of the file and a mark.

use crate::base::{
    failure::Failure,
    location::{Located, Position},
};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;

/// Returns the text of a failure for a terminal with this number of columns.
pub(crate) fn render(failure: &Failure, columns: u16) -> String {
    let rendered = match failure {
        Failure::Invalid(problems) | Failure::Unreadable(problems) => snippets(problems, columns),
        Failure::Failed(_)
        | Failure::Refused(_)
        | Failure::Problems(_)
        | Failure::NotAllowed(_)
        | Failure::PlanChanged
        | Failure::Usage(_)
        | Failure::UnknownFilter { .. }
        | Failure::Interrupted => None,
    };
    rendered.unwrap_or_else(|| format!("dovetail: {failure}\n"))
}

/// Returns the problems for a terminal with this number of columns; none if no problem has a position.
fn snippets(problems: &[Located], columns: u16) -> Option<String> {
    if problems.iter().all(|problem| problem.position.is_none()) {
        return None;
    }
    let renderer = Renderer::styled().term_width(columns.into());
    let texts = problems.iter().map(|problem| snippet(&renderer, problem));
    Some(texts.map(|text| text + "\n").collect::<Vec<_>>().join("\n"))
}

fn snippet(renderer: &Renderer, problem: &Located) -> String {
    let Located { file: Some(file), position: Some(position), source: Some(source), .. } = problem else {
        return problem.to_string();
    };
    let (path, title) = (file.display().to_string(), problem.message_and_rule());
    let mark = AnnotationKind::Primary.span(span(source, *position));
    let snippet = Snippet::source(source.as_str()).path(path.as_str()).annotation(mark);
    renderer.render(&[Level::ERROR.primary_title(title.as_str()).element(snippet)])
}

/// Returns the bytes of the word at a position, at least one character.
fn span(source: &str, Position { line, column }: Position) -> Range<usize> {
    let mut start = 0;
    let mut text = "";
    for (number, own) in (1..).zip(source.split_inclusive('\n')) {
        text = own;
        if number == line {
            break;
        }
        start += own.len();
    }
    let before = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let rest = text.get(before..).unwrap_or_default();
    let word = rest.find(|c: char| c.is_whitespace() || ",:]}".contains(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    start + before..start + before + word.max(first)
}
