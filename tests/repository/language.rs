//! The language of the project: words that do not occur, links that lead somewhere, and a comment on every public item.

use regex::Regex;
use repository::{files, name, read, root, sources};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The most lines that the README may have.
const README_LINES_MAX: usize = 140;
/// The most columns of a line of prose in a Markdown file; rows of tables may be longer.
const COLUMNS_MAX: usize = 120;

/// Words with a plainer replacement, in prose, comments and texts.
static BANNED: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "told|tell|tells|telling|whoever|whom|nobody|somebody|in vain|anew|mend|mended|mends|beside|be it",
        "otherwise than|is no [a-z]+|is none of",
    ]
    .join("|");
    Regex::new(&format!(r"(?i)\b({words})\b")).unwrap()
});

pub(crate) fn documents() -> Vec<PathBuf> {
    // `files` skips hidden folders, but this one has documents.
    [files(&root(), ".md"), files(&root().join(".github"), ".md")].concat()
}

/// The lines of a Markdown file outside of fenced blocks, with their numbers.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let lines = text.lines().zip(1..).filter_map(|(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((number, line))
    });
    lines.collect()
}

/// A line without its code spans, because code keeps its own words.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("x")
}

/// The lines with a banned word, each with its file and number.
fn with_banned_words<'a>(path: &Path, lines: impl IntoIterator<Item = (usize, &'a str)>) -> Vec<String> {
    let lines_with_words = lines.into_iter().filter(|(_, line)| BANNED.is_match(&without_code(line)));
    lines_with_words.map(|(number, line)| format!("{}:{number}: {}", name(path), line.trim())).collect()
}

#[test]
fn documents_contract_and_templates_have_no_banned_word() {
    let mut lines = Vec::new();
    for path in documents() {
        lines.extend(with_banned_words(&path, prose(&read(&path))));
    }
    let templates = files(&root().join("examples"), ".yaml");
    let infra = ["infra/openapi.yaml", "infra/template.yaml"].map(|file| root().join(file));
    for path in infra.into_iter().chain(templates) {
        lines.extend(with_banned_words(&path, (1..).zip(read(&path).lines())));
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn a_sentence_in_a_table_names_its_subject() {
    let pronoun = Regex::new(r"^(It|This|They|One|Such)\b").unwrap();
    for path in documents() {
        for (number, line) in prose(&read(&path)).into_iter().filter(|(_, line)| line.starts_with('|')) {
            for cell in line.trim_matches('|').split(" | ") {
                assert!(!pronoun.is_match(cell.trim()), "{}:{number}: {}", name(&path), cell.trim());
            }
        }
    }
}

/// Sentences that a reader has to read twice, because their subject stands elsewhere.
const RIDDLES: &[&str] = &[
    "It counts.",
    "A mark is final.",
    "It takes no plan",
    "They inform people.",
    "It has the state according to",
    "is laid over the plan before",
    "The stream only wakes",
    "Decides on the read records",
    "What judges",
    "Newest deployed version of the earlier life",
    "it cools",
    "stands for five",
];

#[test]
fn no_sentence_is_a_riddle() {
    let own = root().join("tests/repository");
    for path in documents().into_iter().chain(sources()).filter(|path| !path.starts_with(&own)) {
        let text = read(&path);
        let riddle = RIDDLES.iter().find(|riddle| text.contains(**riddle));
        assert_eq!(riddle, None, "{}", name(&path));
    }
}

#[test]
fn comments_have_no_banned_word() {
    let comment = |line: &&str| line.trim_start().starts_with("//");
    let mut lines = Vec::new();
    for path in sources() {
        let text = read(&path);
        lines.extend(with_banned_words(&path, (1..).zip(text.lines()).filter(|(_, line)| comment(line))));
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn texts_of_the_code_have_no_banned_word() {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let braces = Regex::new(r"\{\w*(:[^}]*)?\}").unwrap();
    let mut lines = Vec::new();
    for path in ["domain", "functions", "infra"].iter().flat_map(|folder| files(&root().join(folder), ".rs"))
    {
        let text = read(&path);
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            // A name in braces is an identifier, not a word of the text.
            let texts =
                literal.captures_iter(line).map(|text| braces.replace_all(text.get(1).unwrap().as_str(), ""));
            let texts: Vec<_> = texts.collect();
            lines.extend(with_banned_words(&path, texts.iter().map(|text| (number, &**text))));
        }
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn prose_fits_on_the_screen_and_the_readme_on_three() {
    let mut long = Vec::new();
    for path in documents() {
        let text = read(&path);
        let lines = prose(&text).into_iter().filter(|(_, line)| {
            !line.starts_with('|') && line.chars().count() > COLUMNS_MAX && line.trim().contains(' ')
        });
        long.extend(lines.map(|(number, _)| format!("{}:{number}", name(&path))));
    }
    assert!(long.is_empty(), "over {COLUMNS_MAX} columns:\n{}", long.join("\n"));
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= README_LINES_MAX, "the README has {lines} lines");
}

/// The anchors of a page's headings, as repository hosts make them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).into_iter().filter(|(_, line)| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let letters = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = letters.map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = seen.entry(anchor.clone()).or_default();
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    };
    headings.map(|(_, line)| line).map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let link = Regex::new(r"\]\(([^()\s]+)\)").unwrap();
    let mut broken = Vec::new();
    for document in documents() {
        let text = read(&document);
        for (number, line) in prose(&text) {
            for target in link.captures_iter(line).map(|link| link.get(1).unwrap().as_str()) {
                if target.starts_with("http") || target.starts_with("mailto:") {
                    continue;
                }
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let path =
                    if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
                let has_anchor =
                    anchor.is_empty() || anchors(&read(&path)).iter().any(|anchor_of| anchor_of == anchor);
                if !path.exists() || !has_anchor {
                    broken.push(format!("{}:{number}: {target}", name(&document)));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Fields and variants need no comment where the name says all; every other public item has one.
#[test]
fn every_public_item_has_a_comment() {
    let item =
        Regex::new(r"^\s*pub (async |const |unsafe )*(fn|struct|enum|trait|type|const|static) ").unwrap();
    let mut bare = Vec::new();
    for path in
        ["domain/src", "functions", "infra"].iter().flat_map(|folder| files(&root().join(folder), ".rs"))
    {
        let text = read(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| item.is_match(line)) {
            let above = lines[..index].iter().rev().map(|line| line.trim());
            let mut in_attribute = false;
            let mut above = above.skip_while(|line| {
                // Upwards, an attribute of several lines begins with its last one.
                in_attribute = !line.starts_with("#[") && (in_attribute || line.ends_with(")]"));
                in_attribute || line.starts_with("#[")
            });
            if !above.next().is_some_and(|line| line.starts_with("///")) {
                bare.push(format!("{}:{}: {}", name(&path), index + 1, line.trim()));
            }
        }
    }
    assert!(bare.is_empty(), "{}", bare.join("\n"));
}

/// Words with a more precise name in identifiers, besides the banned ones.
const VAGUE: &[&str] = &[
    "anew",
    "asked",
    "beside",
    "birth",
    "born",
    "concerned",
    "happened",
    "judge",
    "judged",
    "judgement",
    "kept",
    "landed",
    "mend",
    "mended",
    "mends",
    "nobody",
    "owed",
    "recorded",
    "pov",
    "said",
    "shed",
    "somebody",
    "spent",
    "stillborn",
    "tell",
    "tells",
    "told",
    "verdict",
    "whoever",
    "whom",
];

/// Identifiers with such a word that others rely on: an error code, and a scenario by its file.
const NAMES_ELSEWHERE: &[&str] = &["AskedJustNow", "a_submission_without_changes_is_recorded"];

#[test]
fn identifiers_have_no_vague_word() {
    let text = Regex::new(r#""(?:[^"\\]|\\.)*"|//.*"#).unwrap();
    let identifier = Regex::new(r"\b[A-Za-z_]\w*\b").unwrap();
    let word = Regex::new(r"[A-Z]?[a-z]+|[A-Z]+").unwrap();
    let is_vague = |identifier: &str| {
        let mut words = word.find_iter(identifier).map(|word| word.as_str().to_ascii_lowercase());
        !NAMES_ELSEWHERE.contains(&identifier) && words.any(|word| VAGUE.contains(&word.as_str()))
    };
    let mut vague = Vec::new();
    for path in sources() {
        for (number, line) in (1..).zip(read(&path).lines()) {
            let code = text.replace_all(line, "\"\"");
            let names = identifier.find_iter(&code).map(|name| name.as_str()).filter(|name| is_vague(name));
            vague.extend(names.map(|identifier| format!("{}:{number}: {identifier}", name(&path))));
        }
    }
    assert!(vague.is_empty(), "{}", vague.join("\n"));
}
