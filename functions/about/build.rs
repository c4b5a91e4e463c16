//! Converts the OpenAPI document to JSON at build time, and finds the version of the contract and the git commit.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const DOCUMENT: &str = "../../infra/openapi.yaml";
const GIT: &str = "../../.git";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let text = fs::read_to_string(DOCUMENT)?;
    let documents = Yaml::load_from_str(&text)?;
    let document = value(documents.first().ok_or("must not be empty")?)?;
    let out = env::var_os("OUT_DIR").ok_or("cargo must set OUT_DIR")?;
    fs::write(Path::new(&out).join("openapi.json"), document.to_string())?;
    let version = document.pointer("/info/version").and_then(Value::as_str);
    println!("cargo::rustc-env=CONTRACT_VERSION={}", version.ok_or("info.version must be a string")?);
    println!("cargo::rustc-env=COMMIT={}", commit().as_deref().unwrap_or("unknown"));
    Ok(())
}

/// Returns the checked out commit. The script runs again when the checkout moves to another commit.
fn commit() -> Option<String> {
    // In a worktree, `.git` is a file with the path of the directory.
    let git = match read(GIT.into()) {
        Some(file) => Path::new("../..").join(file.strip_prefix("gitdir: ")?),
        None => GIT.into(),
    };
    let head = read(git.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ") else { return Some(head) };
    // A worktree shares the branches of its repository.
    let shared = read(git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
    read(shared.join(name)).or_else(|| {
        // The next commit writes a file for the branch.
        println!("cargo::rerun-if-changed={}", shared.join("refs").display());
        let packed = read(shared.join("packed-refs"))?;
        packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ')).map(str::to_owned)
    })
}

/// Returns the text of a file of git, and runs the script again when it changes.
fn read(path: PathBuf) -> Option<String> {
    let text = fs::read_to_string(&path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text.trim().to_owned())
}

fn value(yaml: &Yaml<'_>) -> Result<Value, String> {
    match yaml {
        Yaml::Value(Scalar::Null) => Ok(Value::Null),
        Yaml::Value(Scalar::Boolean(boolean)) => Ok(json!(boolean)),
        Yaml::Value(Scalar::Integer(number)) => Ok(json!(number)),
        Yaml::Value(Scalar::String(text)) => Ok(json!(text)),
        Yaml::Sequence(all) => all.iter().map(value).collect(),
        Yaml::Mapping(fields) => {
            let mut object = Map::new();
            for (name, field) in fields {
                let name = name.as_str().ok_or_else(|| format!("{name:?} must be a name"))?;
                object.insert(name.to_owned(), value(field)?);
            }
            Ok(Value::Object(object))
        }
        // The document has none of these forms, so their occurrence is a mistake in the document.
        Yaml::Value(Scalar::FloatingPoint(_))
        | Yaml::Tagged(..)
        | Yaml::Representation(..)
        | Yaml::Alias(_)
        | Yaml::BadValue => Err(format!("{yaml:?} is not supported")),
    }
}
