//! Annotations at the lines of a pull request: workflow commands of GitHub, and code quality of GitLab.

use super::path::from_root;
use crate::base::{
    failure::Failure,
    location::{Located, Position},
};
use crate::document::file::save;
use domain::Hash;
use serde_json::{Value, json};
use std::{io::Write as _, path::Path};

/// The file that GitLab's own jobs write.
const GITLAB_FILE: &str = "gl-code-quality-report.json";

/// Prints a workflow command for each problem. Standard output stays with the result of the command.
pub(super) fn github(problems: &[Located]) {
    for problem in problems {
        // Without standard error only the exit code remains.
        drop(writeln!(anstream::stderr(), "{}", command(problem)));
    }
}

/// Returns the workflow command of a problem.
fn command(problem: &Located) -> String {
    let title = ("title", format!("dovetail: {}", problem.problem.rule));
    let properties = match &problem.file {
        Some(file) => {
            let Position { line, column } = problem.position();
            vec![("file", from_root(file)), ("line", line.to_string()), ("col", column.to_string()), title]
        }
        None => vec![title],
    };
    let properties = properties.iter().map(|(name, value)| format!("{name}={}", property(value)));
    format!("::error {}::{}", properties.collect::<Vec<_>>().join(","), data(&problem.message()))
}

/// Escapes the text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Writes the report of GitLab: all problems with a file. An empty report removes the problems of the last one.
pub(super) fn gitlab(problems: &[Located]) -> Result<(), Failure> {
    let problems: Value =
        problems.iter().filter_map(|one| Some(quality(one, one.file.as_deref()?))).collect();
    save(Path::new(GITLAB_FILE), &format!("{problems:#}\n"))
}

fn quality(problem: &Located, file: &Path) -> Value {
    let path = from_root(file);
    let (rule, pointer) = (&problem.problem.rule, &problem.problem.pointer);
    json!({
        "description": problem.message(),
        "check_name": rule,
        // Without the line, so a problem that moves stays the same one.
        "fingerprint": Hash::of(&json!([path, pointer, rule, problem.problem.detail]).to_string()).to_string(),
        "severity": "major",
        "location": {"path": path, "lines": {"begin": problem.position().line}},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::problem::Problem;

    #[test]
    fn workflow_commands_are_escaped() {
        let problem = Located {
            file: Some("a,b/100%:x.yaml".into()),
            position: Some(Position { line: 3, column: 7 }),
            problem: Problem {
                pointer: "/Team/Shop".to_owned(),
                rule: "schema".to_owned(),
                detail: "must be 100%, not\n::error::x".to_owned(),
            },
            source: None,
        };
        assert_eq!(
            command(&problem),
            "::error file=a%2Cb/100%25%3Ax.yaml,line=3,col=7,title=dovetail%3A schema\
             ::must be 100%25, not\u{fffd}::error::x"
        );
        let nowhere = Located { file: None, position: None, ..problem };
        assert_eq!(
            command(&nowhere),
            "::error title=dovetail%3A schema::/Team/Shop: must be 100%25, not\u{fffd}::error::x"
        );
    }
}
