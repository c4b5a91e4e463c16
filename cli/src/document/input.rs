//! The declaration of a team: a file, a directory with one file per application, or a repository with `.netorca/`.

use crate::{
    base::{
        failure::Failure,
        location::{Located, Position},
        problem::Problem,
        text,
    },
    document::{
        file,
        json::{self, unreadable},
        sources::{self, LeftOut},
        yaml::{self, Node},
    },
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The folder of an existing repository, with one file per application and the file `config.yaml`.
const REPOSITORY: &str = ".netorca";

/// The applications of a team, with the files that declare them.
pub(crate) struct Input {
    /// Metadata of the team, if the input has any.
    metadata: Option<Value>,
    applications: Vec<Application>,
    files: Vec<File>,
    /// What the directories have besides.
    pub(crate) left_out: Vec<LeftOut>,
}

struct Application {
    name: String,
    content: Value,
    /// Index of its file.
    file: usize,
    /// Path of the application in its file.
    path: Vec<String>,
}

struct File {
    path: PathBuf,
    text: String,
}

impl Input {
    /// Reads files and directories for a team, possibly with the directories below.
    pub(crate) fn read(paths: &[PathBuf], recursive: bool, team: &str) -> Result<Self, Failure> {
        let mut input =
            Self { metadata: None, applications: Vec::new(), files: Vec::new(), left_out: Vec::new() };
        for path in paths {
            if path.is_dir() {
                input.add_directory(path, recursive, team)?;
            } else {
                input.add_file(path, team)?;
            }
        }
        Ok(input)
    }

    /// Adds a file that the user names, so it must declare applications.
    fn add_file(&mut self, path: &Path, team: &str) -> Result<(), Failure> {
        let text = file::read(path)?;
        let Value::Object(members) = json::value(path, &text)? else {
            let position = Position { line: 1, column: 1 };
            let message = "must be an object of applications".to_owned();
            return Err(unreadable(path, Some((position, &text)), message));
        };
        self.add(path, text, members, team)
    }

    /// Adds the files of a directory, or of the repository in it.
    fn add_directory(&mut self, path: &Path, recursive: bool, team: &str) -> Result<(), Failure> {
        let repository = path.join(REPOSITORY);
        let directory = if repository.is_dir() { &repository } else { path };
        let found = sources::files(directory, recursive)?;
        let before = self.files.len();
        self.left_out.extend(found.left_out);
        for path in found.files {
            let text = file::read(&path)?;
            match json::value(&path, &text)? {
                Value::Object(members) if may_declare(&members) => self.add(&path, text, members, team)?,
                Value::Object(_) => self.left_out.push(LeftOut::File(path)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    self.left_out.push(LeftOut::Other(path));
                }
            }
        }
        if self.files.len() == before {
            let message = format!("{}: must have a file with an application", directory.display());
            return Err(Failure::Failed(message));
        }
        Ok(())
    }

    /// Adds the applications of a file.
    fn add(
        &mut self,
        path: &Path,
        text: String,
        members: Map<String, Value>,
        team: &str,
    ) -> Result<(), Failure> {
        let file = self.files.len();
        self.files.push(File { path: path.to_owned(), text });
        if is_config(path) {
            self.metadata = members.get("netorca_global").and_then(|global| global.get("metadata")).cloned();
            return Ok(());
        }
        // The form in which a declaration is submitted has the team above its applications.
        let (members, above) = match members.get(team) {
            Some(Value::Object(applications)) if members.len() == 1 && !is_application(applications) => {
                (applications.clone(), vec![team.to_owned()])
            }
            _ => (members, Vec::new()),
        };
        for (name, content) in members.into_iter().filter(|(name, content)| !is_shared(name, content)) {
            if name == "metadata" {
                self.metadata = Some(content);
                continue;
            }
            if let Some(other) = self.applications.iter().find(|other| other.name == name) {
                let other = self.files.get(other.file).map(|file| file.path.display().to_string());
                let other = other.unwrap_or_default();
                let message = format!("must not repeat the application `{name}` of {other}");
                return Err(unreadable(path, None, message));
            }
            let path = above.iter().cloned().chain([name.clone()]).collect();
            self.applications.push(Application { name, content, file, path });
        }
        Ok(())
    }

    /// Returns the body of a submission.
    pub(crate) fn body(&self, team: &str) -> Value {
        let mut content = Map::new();
        content.extend(self.metadata.iter().map(|metadata| ("metadata".to_owned(), metadata.clone())));
        let applications = self.applications.iter();
        content
            .extend(applications.map(|application| (application.name.clone(), application.content.clone())));
        json!({team: content})
    }

    /// Returns problems with their places in the files.
    pub(crate) fn locate(&self, problems: &[Problem]) -> Vec<Located> {
        // Only a refused declaration needs positions, so each file is parsed for them here, once.
        let nodes: Vec<Option<Node>> = self.files.iter().map(|file| yaml::parse(&file.text).ok()).collect();
        problems.iter().map(|problem| self.located(&nodes, problem)).collect()
    }

    fn located(&self, nodes: &[Option<Node>], problem: &Problem) -> Located {
        let nowhere = Located::nowhere(problem.clone());
        let path = text::parts(&problem.pointer);
        let found = path.get(1).and_then(|name| self.applications.iter().find(|one| one.name == *name));
        let Some(application) = found else { return nowhere };
        let Some(file) = self.files.get(application.file) else { return nowhere };
        let inner = application.path.iter().chain(path.iter().skip(2)).cloned().collect::<Vec<_>>();
        let node = nodes.get(application.file).and_then(Option::as_ref);
        Located {
            file: Some(file.path.clone()),
            position: node.map(|node| node.position(&inner)),
            source: node.map(|_| file.text.clone()),
            ..nowhere
        }
    }
}

/// Returns whether the members of a file are a declaration: one is an application, or all can be one.
///
/// Tools have other files in the same directory, for example `package.json`.
fn may_declare(members: &Map<String, Value>) -> bool {
    let own =
        || members.iter().filter(|(name, content)| !is_shared(name, content)).map(|(_, content)| content);
    own().any(|content| content.as_object().is_some_and(is_application))
        || own().all(|content| content.is_object() || content.is_null())
}

/// Returns whether a file is the configuration of a repository.
fn is_config(path: &Path) -> bool {
    let is_named = path.file_stem().is_some_and(|stem| stem == "config");
    is_named && path.parent().is_some_and(|parent| parent.ends_with(REPOSITORY))
}

/// Returns whether a member is a place for anchors instead of an application: its name begins with `x-` or a dot.
fn is_shared(name: &str, content: &Value) -> bool {
    let is_named = name.starts_with("x-") || name.starts_with('.');
    is_named && !content.as_object().is_some_and(is_application)
}

/// Returns whether an object is an application, and not a team with applications.
fn is_application(members: &Map<String, Value>) -> bool {
    members.contains_key("services")
}
