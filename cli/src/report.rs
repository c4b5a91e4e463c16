//! What pipelines read: annotations at the lines of a file, SARIF, a Markdown comment and JUnit.

mod annotations;
mod junit;
mod markdown;
mod path;
mod sarif;
mod snippet;

pub(crate) use self::{junit::write as write_junit, markdown::write as write_markdown, snippet::render};
use crate::base::failure::Failure;
use clap::{Args, ValueEnum};
use std::{env, path::PathBuf};

/// Who shows annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Annotate {
    /// Workflow commands of GitHub, on standard error; the default in a GitHub workflow
    Github,
    /// The file `gl-code-quality-report.json`, for `artifacts:reports:codequality`
    Gitlab,
    /// No annotations
    None,
}

/// Reports about the problems of a declaration.
#[derive(Args, Clone, Debug)]
pub(crate) struct Reports {
    /// Annotate problems at their lines
    #[arg(long, value_name = "PLATFORM", value_enum)]
    annotate: Option<Annotate>,
    /// Write the problems as SARIF 2.1.0 to this file
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

impl Reports {
    /// Writes the reports about a check, and returns its result.
    pub(crate) fn write<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let problems = match &result {
            Ok(_) => Vec::new(),
            Err(failure) => match failure.problems() {
                Some(problems) => problems,
                // A network failure says nothing about the files, so the last reports stay.
                None => return result,
            },
        };
        let is_github = || env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
        match self.annotate {
            Some(Annotate::Github) => annotations::github(&problems),
            Some(Annotate::Gitlab) => annotations::gitlab(&problems)?,
            Some(Annotate::None) => {}
            None if is_github() => annotations::github(&problems),
            None => {}
        }
        if let Some(path) = &self.sarif {
            sarif::write(path, &problems)?;
        }
        result
    }
}
