//! One file for each application. A file with another declaration stays, unless the user forces its replacement.

use crate::{
    base::failure::Failure,
    document::{file, json, sources, write},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Characters of an application's name that do not stand for themselves in the name of its file.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b' ');
/// Name of the member, and of the file, with the metadata of the team.
const METADATA: &str = "metadata";
/// Name of the file that has another meaning in an existing repository.
const CONFIG: &str = "config";

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Create,
    Replace,
    /// The file declares the same.
    Keep,
}

impl Outcome {
    /// Returns the word for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Replace => "replaced",
            Self::Keep => "unchanged",
        }
    }
}

/// A file with one application.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    content: Value,
    pub(crate) outcome: Outcome,
}

/// Writes the applications of a declaration, and returns each file with its outcome.
pub(crate) fn save(directory: &Path, declaration: &Value, force: bool) -> Result<Vec<File>, Failure> {
    fs::create_dir_all(directory).map_err(Failure::file(directory))?;
    let files = chosen(directory, declaration, force)?;
    for File { path, content, .. } in files.iter().filter(|file| file.outcome != Outcome::Keep) {
        replace(path, content)?;
    }
    Ok(files)
}

/// Returns the file of each application, or all files that must stay.
fn chosen(directory: &Path, declaration: &Value, force: bool) -> Result<Vec<File>, Failure> {
    let teams = || declaration.as_object().into_iter().flatten();
    let present = present(directory, teams().next().map(|(team, _)| team.as_str()).unwrap_or_default())?;
    let members = teams().filter_map(|(_, team)| team.as_object()).flatten();
    // A team without metadata needs no file for them.
    let wanted = members.filter(|(name, value)| *name != METADATA || *value != &json!({}));
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for (name, value) in wanted {
        let content = json!({name: value});
        let (path, outcome) = match present.get(name) {
            None => (free(directory, name, &files), Outcome::Create),
            Some((path, declared)) if *declared == content => (path.clone(), Outcome::Keep),
            Some((path, declared)) => {
                let is_alone = declared.as_object().map(Map::len) == Some(1);
                if !is_alone {
                    refused.push(format!("{}: must declare `{name}` alone, to be replaced", path.display()));
                } else if !force {
                    let message = "must declare the same, or be replaced with --force";
                    refused.push(format!("{}: `{name}` {message}", path.display()));
                }
                (path.clone(), Outcome::Replace)
            }
        };
        files.push(File { path, content, outcome });
    }
    if refused.is_empty() { Ok(files) } else { Err(Failure::Failed(refused.join("\n"))) }
}

/// Returns the files of a directory by the names that they declare, with their whole content.
fn present(directory: &Path, team: &str) -> Result<BTreeMap<String, (PathBuf, Value)>, Failure> {
    let mut present = BTreeMap::new();
    for path in sources::files(directory, false)?.files {
        let content = json::value(&path, &file::read(&path)?)?;
        // In the form of a submission, the team is above all its applications.
        let whole = content.get(team).and_then(Value::as_object);
        let names = whole.or(content.as_object()).into_iter().flatten().map(|(name, _)| name.clone());
        let declared = if whole.is_some() { &Value::Null } else { &content };
        present.extend(names.map(|name| (name, (path.clone(), declared.clone()))));
    }
    Ok(present)
}

/// Returns the path of a new file for an application.
fn free(directory: &Path, name: &str, files: &[File]) -> PathBuf {
    let stem = utf8_percent_encode(name, ESCAPED).to_string();
    let numbers = std::iter::once(String::new()).chain((2_u32..).map(|number| format!("-{number}")));
    let paths = numbers.map(|number| directory.join(format!("{stem}{number}.yaml")));
    // Some systems do not distinguish upper and lower case.
    let lower = |path: &Path| path.to_string_lossy().to_lowercase();
    let is_taken = |path: &PathBuf| {
        path.exists()
            || path.file_stem().is_some_and(|stem| stem == CONFIG)
            || files.iter().any(|file| lower(&file.path) == lower(path))
    };
    paths.into_iter().find(|path| !is_taken(path)).unwrap_or_else(|| directory.join(stem))
}

/// Writes a file in the form of its name.
fn replace(path: &Path, content: &Value) -> Result<(), Failure> {
    let text = if json::is_json(path) { format!("{content:#}\n") } else { write::document(content) };
    file::replace(path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::input::Input;

    fn declared() -> Value {
        json!({"Team": {
            "metadata": {"since": "2024-01-01"},
            "Shop": {"metadata": {"env": "on"}, "services": {"VM": [{"name": "no", "cpu": 1.5}, {"name": "007"}]}},
            "Lab/1": {"metadata": {}, "services": {"VM": []}}}})
    }

    fn pull(directory: &Path, declaration: &Value, force: bool) -> Result<Vec<&'static str>, String> {
        let files = save(directory, declaration, force).map_err(|failure| failure.to_string())?;
        Ok(files.iter().map(|file| file.outcome.name()).collect())
    }

    #[test]
    fn the_files_declare_the_same() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(pull(directory.path(), &declared(), false).unwrap(), ["created"; 3]);
        let input = Input::read(&[directory.path().to_owned()], false, "Team").unwrap();
        assert_eq!(input.body("Team"), declared());
        assert_eq!(pull(directory.path(), &declared(), false).unwrap(), ["unchanged"; 3]);
    }

    #[test]
    fn a_file_with_another_declaration_stays_without_force() {
        let directory = tempfile::tempdir().unwrap();
        let [own, same] = ["own.json", "same.yml"].map(|name| directory.path().join(name));
        fs::write(&own, r#"{"Shop": {"services": {}}}"#).unwrap();
        let text = "# By hand.\nLab/1: {metadata: {}, services: {VM: []}}\n";
        fs::write(&same, text).unwrap();
        let refused = pull(directory.path(), &declared(), false).unwrap_err();
        assert!(
            refused.ends_with("own.json: `Shop` must declare the same, or be replaced with --force"),
            "{refused}"
        );
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing was written");
        let outcomes = pull(directory.path(), &declared(), true).unwrap();
        assert_eq!(outcomes, ["unchanged", "replaced", "created"]);
        assert_eq!(fs::read_to_string(&same).unwrap(), text);
        let content: Value = serde_json::from_str(&fs::read_to_string(&own).unwrap()).unwrap();
        assert_eq!(content["Shop"], declared()["Team"]["Shop"]);
    }

    #[test]
    fn a_file_with_several_applications_stays() {
        let directory = tempfile::tempdir().unwrap();
        for text in ["Shop: {}\nOther: {}\n", "Team: {Shop: {}}\n"] {
            fs::write(directory.path().join("all.yaml"), text).unwrap();
            let refused = pull(directory.path(), &declared(), true).unwrap_err();
            assert!(refused.ends_with("all.yaml: must declare `Shop` alone, to be replaced"), "{refused}");
        }
    }

    #[test]
    fn a_file_has_the_name_of_its_application() {
        let directory = tempfile::tempdir().unwrap();
        let (mut files, mut names) = (Vec::new(), Vec::new());
        for name in ["Shop", "shop", "a/b", "config", "..", "Größe 1"] {
            let path = free(directory.path(), name, &files);
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
            files.push(File { path, content: Value::Null, outcome: Outcome::Create });
        }
        let expected = [
            "Shop.yaml",
            "shop-2.yaml",
            "a%2Fb.yaml",
            "config-2.yaml",
            "%2E%2E.yaml",
            "Gr%C3%B6%C3%9Fe 1.yaml",
        ];
        assert_eq!(names, expected);
    }
}
