//! The shape of the code: short functions, folders in an order, and no circles of files that import each other.

use regex::Regex;
use repository::{files, name, read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum number of lines between the braces of a function.
const FUNCTION_LINES_MAX: usize = 50;

/// Returns the folders `src` of the domain, the functions, the infrastructure and the client.
pub(crate) fn source_folders() -> Vec<PathBuf> {
    let of = |crates: &str| files(&root().join(crates), "Cargo.toml");
    let manifests = ["cli", "domain", "functions", "infra"].into_iter().flat_map(of);
    let folders = manifests.filter_map(|manifest| Some(manifest.parent()?.join("src")));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Returns the code of a Rust file without its tests and comments.
pub(crate) fn code(path: &Path) -> String {
    without_comments(read(path).split("#[cfg(test)]").next().unwrap_or_default())
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

pub(crate) fn is_test(path: &Path) -> bool {
    let name = name(path);
    name.ends_with("/tests.rs") || name.contains("/tests/")
}

/// Returns the name and the number of lines of each function with a body of several lines.
pub(crate) fn functions(code: &str) -> Vec<(String, usize)> {
    let start = Regex::new(r"^( *)(?:pub(?:\([a-z]+\))? )?(?:const |async |unsafe )*fn (\w+)").unwrap();
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(captured) = start.captures(line) else { continue };
        let rest = lines.iter().enumerate().skip(index);
        let opens = rest.clone().find(|(_, line)| line.ends_with(['{', ';', '}']));
        let Some((open, _)) = opens.filter(|(_, line)| line.ends_with('{')) else { continue };
        // The formatter closes a function with a brace below its first letter.
        let brace = format!("{}}}", &captured[1]);
        let close = rest.skip(open - index).find(|(_, line)| **line == brace);
        let (close, _) = close.unwrap_or_else(|| panic!("{} has no end", &captured[2]));
        found.push((captured[2].to_owned(), close - open - 1));
    }
    found
}

#[test]
fn functions_stay_short() {
    let mut all = 0;
    for path in source_folders().iter().flat_map(|folder| files(folder, ".rs")).filter(|path| !is_test(path))
    {
        for (function, lines) in functions(&code(&path)) {
            all += 1;
            assert!(lines <= FUNCTION_LINES_MAX, "{}: {function} has {lines} lines", name(&path));
        }
    }
    assert!(all > 1_000, "the test finds only {all} functions");
}

/// The files of a crate by the path of their module.
type Modules = BTreeMap<Vec<String>, PathBuf>;

fn modules(folder: &Path) -> Modules {
    let module = |path: &PathBuf| {
        let relative = path.strip_prefix(folder).unwrap().with_extension("");
        let names = relative.iter().map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| !matches!(name.as_str(), "lib" | "main" | "mod")).collect()
    };
    files(folder, ".rs").into_iter().map(|path| (module(&path), path)).collect()
}

/// Returns the paths in the trees of `use`, and in the rest of the code.
fn paths(code: &str) -> Vec<String> {
    let import = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);").unwrap();
    let path = Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").unwrap();
    let mut all = Vec::new();
    for tree in import.captures_iter(code) {
        let text: String = tree[1].split_whitespace().collect();
        leaves("", &text, &mut all);
    }
    let rest = import.replace_all(code, "");
    all.extend(path.find_iter(&rest).map(|found| found.as_str().to_owned()));
    all
}

/// Adds the paths of a tree of `use`.
fn leaves(prefix: &str, tree: &str, all: &mut Vec<String>) {
    let (mut depth, mut start) = (0, 0);
    let ends = tree.char_indices().filter(|(_, letter)| matches!(letter, '{' | '}' | ','));
    let mut branches = Vec::new();
    for (index, letter) in ends {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ if depth == 0 => {
                branches.push(&tree[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    branches.push(&tree[start..]);
    for branch in branches.into_iter().filter(|branch| !branch.is_empty()) {
        match branch.split_once('{') {
            Some((head, rest)) => leaves(&format!("{prefix}{head}"), rest.trim_end_matches('}'), all),
            None => all.push(format!("{prefix}{branch}")),
        }
    }
}

/// Returns the names of a path from the crate; none for a path into another crate.
fn from_crate(path: &str, module: &[String]) -> Option<Vec<String>> {
    let mut names: Vec<&str> = path.split("::").collect();
    let mut full: Vec<String> = match *names.first()? {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    if names[0] != "super" {
        names.remove(0);
    }
    while names.first() == Some(&"super") {
        full.pop();
        names.remove(0);
    }
    full.extend(names.into_iter().map(str::to_owned));
    Some(full)
}

/// Returns the file of the longest module at the beginning of a path.
fn file_of<'a>(
    path: &str,
    module: &[String],
    modules: &'a Modules,
) -> Option<(&'a Vec<String>, &'a PathBuf)> {
    let full = from_crate(path, module)?;
    (0..=full.len()).rev().find_map(|length| modules.get_key_value(&full[..length]))
}

/// The files that each file imports.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Returns the imports of a crate. A module and its own parts may import each other, and each file its crate.
fn rust_imports(folder: &Path) -> Imports {
    let modules = modules(folder);
    let imports = |(module, path): (&Vec<String>, &PathBuf)| {
        let found = paths(&code(path));
        let found = found.iter().filter_map(|path| file_of(path, module, &modules));
        let others = found.filter(|(other, _)| !other.starts_with(module) && !module.starts_with(other));
        (path.clone(), others.map(|(_, path)| path.clone()).collect())
    };
    modules.iter().map(imports).collect()
}

/// Returns the imports of the console.
fn console_imports() -> Imports {
    let folder = root().join("console/src");
    let all: Vec<PathBuf> = [files(&folder, ".ts"), files(&folder, ".tsx")].concat();
    let import = Regex::new(r#"from "(\.[^"]+)""#).unwrap();
    let imports = |path: &PathBuf| {
        let text = read(path);
        let found = import.captures_iter(&text).filter_map(|captured| {
            let mut target = path.parent()?.to_owned();
            for part in captured[1].split('/') {
                match part {
                    "." => {}
                    ".." => drop(target.pop()),
                    part => target.push(part),
                }
            }
            all.iter().find(|file| file.with_extension("") == target).cloned()
        });
        (path.clone(), found.collect())
    };
    all.iter().map(imports).collect()
}

/// Returns the files that lead back to themselves.
fn in_circles(imports: &Imports) -> Vec<String> {
    let leads_back = |start: &PathBuf| {
        let (mut open, mut seen) = (vec![start], BTreeSet::new());
        while let Some(path) = open.pop() {
            for next in imports.get(path).into_iter().flatten() {
                if next == start {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    };
    imports.keys().filter(|path| leads_back(path)).map(|path| name(path)).collect()
}

/// Returns the imports of all crates and of the console.
fn all_imports() -> Vec<Imports> {
    source_folders().iter().map(|folder| rust_imports(folder)).chain([console_imports()]).collect()
}

/// Returns all files in circles.
pub(crate) fn circles() -> Vec<String> {
    let mut circles: Vec<String> = all_imports().iter().flat_map(in_circles).collect();
    circles.sort_unstable();
    circles
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let edges: usize = all_imports().iter().flat_map(BTreeMap::values).map(BTreeSet::len).sum();
    assert!(edges > 1_000, "the test finds only {edges} imports");
    let circles = circles();
    assert!(circles.is_empty(), "files that lead back to themselves:\n{}", circles.join("\n"));
}

/// The folders of a crate from the lowest one, each with the folders that it may import.
type Order = &'static [(&'static str, &'static [&'static str])];

const DOMAIN: Order = &[
    ("base", &[]),
    ("model", &["base"]),
    ("catalog", &["base", "model"]),
    ("rules", &["base", "model", "catalog"]),
    ("outreach", &["base", "model", "catalog"]),
    ("account", &["base", "model", "catalog", "outreach"]),
    ("views", &["base", "model", "catalog", "rules", "outreach"]),
    ("audit", &["base", "model", "catalog", "rules", "outreach", "account", "views"]),
];

/// A file at the top is the folder of its name: `output.rs` belongs to `output`.
const CLIENT: Order = &[
    ("base", &[]),
    ("document", &["base"]),
    ("api", &["base", "document"]),
    ("output", &["base", "document", "api"]),
    ("report", &["base", "document", "api", "output"]),
    ("account", &["base", "document", "api", "output", "report"]),
    ("commands", &["base", "document", "api", "output", "report", "account"]),
    ("mcp", &["base", "document", "api", "output", "report", "account", "commands"]),
    ("webhook", &["base", "document", "api", "output", "report", "account"]),
    ("arguments", &["base", "output", "account", "commands", "mcp", "webhook"]),
];

const CONSOLE: Order = &[
    ("api", &[]),
    ("lib", &["api"]),
    ("session", &["api", "lib"]),
    ("ui", &["api", "lib", "session"]),
    ("editor", &["api", "lib", "session", "ui"]),
    ("tour", &["api", "lib", "session", "ui", "editor"]),
    ("pages", &["api", "lib", "session", "ui", "editor", "tour"]),
    ("shell", &["api", "lib", "session", "ui", "editor", "tour", "pages"]),
];

/// The names at the top of the sources that each file imports: folders, and macros of a crate.
type Tops = Vec<(PathBuf, Vec<String>)>;

fn rust_tops(source: &Path) -> Tops {
    let first = |names: Vec<String>| names.into_iter().next();
    let tops = |(module, path): (Vec<String>, PathBuf)| {
        let imports = paths(&without_comments(&read(&path)));
        let tops = imports.iter().filter_map(|import| first(from_crate(import, &module)?)).collect();
        (path, tops)
    };
    modules(source).into_iter().map(tops).collect()
}

fn console_tops(source: &Path) -> Tops {
    let tops = |(path, imported): (PathBuf, BTreeSet<PathBuf>)| {
        (path, imported.iter().map(|other| top_of(source, other)).collect())
    };
    console_imports().into_iter().map(tops).collect()
}

/// Returns the folder of a file, or the name of a file at the top.
fn top_of(source: &Path, path: &Path) -> String {
    let first = path.strip_prefix(source).unwrap().iter().next().unwrap();
    Path::new(first).file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn each_folder_imports_only_lower_folders() {
    let [domain, client, console] =
        ["domain/src", "cli/src", "console/src"].map(|source| root().join(source));
    for (source, order, files) in [
        (&domain, DOMAIN, rust_tops(&domain)),
        (&client, CLIENT, rust_tops(&client)),
        (&console, CONSOLE, console_tops(&console)),
    ] {
        let mut found = BTreeSet::new();
        for (path, imported) in files {
            let folder = top_of(source, &path);
            // The root of a crate, or of the console, knows all folders.
            if matches!(folder.as_str(), "lib" | "main") && path.parent() == Some(source) {
                continue;
            }
            let place = order.iter().find(|(name, _)| *name == folder);
            let (own, lower) =
                place.unwrap_or_else(|| panic!("{} is in no folder of the order", name(&path)));
            for other in imported.iter().filter(|other| order.iter().any(|(name, _)| name == other)) {
                let is_allowed = other == own || lower.contains(&other.as_str());
                assert!(is_allowed, "{} imports {other}", name(&path));
            }
            found.insert(*own);
        }
        let folders: BTreeSet<&str> = order.iter().map(|(name, _)| *name).collect();
        assert_eq!(found, folders, "each folder of the order has files");
    }
}
