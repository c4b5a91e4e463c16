//! Counts of the repository with their limits. `tests/meta/counts` prints them, also for an older commit.

use crate::language::{documents, prose};
use crate::shape::{circles, code, functions, is_test, source_folders};
use regex::Regex;
use repository::{files, name, read, root, sources};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A count with its limit.
struct Count {
    what: &'static str,
    count: usize,
    limit: usize,
}

/// Pages that a test writes completely.
const GENERATED: &[&str] = &["docs/reference/compatibility.md", "docs/reference/errors.md"];

/// The folder of the pages with measured figures.
const FIGURES: &str = "docs/reference/figures/";

/// A block that a program writes into a page.
static BLOCK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)<!-- (?:figures|records|resources).*?<!-- /\w+ -->").unwrap());
/// A span of code.
static SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`[^`]*`").unwrap());
/// A link, with its text.
static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap());
/// The end of a sentence that is not the last one.
static END: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[.!?]\s+").unwrap());
/// The first line of an item of a list.
static ITEM: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*([-*] |\d+\. )").unwrap());
/// The start of a function up to its name.
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bfn (\w+)").unwrap());

/// Maximum number of parameters of a function without a reason.
const PARAMETERS_MAX: usize = 5;

/// Minimum number of words of a sentence.
const SENTENCE_WORDS_MIN: usize = 5;

fn rust_files() -> Vec<PathBuf> {
    let all = source_folders().into_iter().flat_map(|folder| files(&folder, ".rs"));
    all.filter(|path| !is_test(path)).collect()
}

/// Returns the number of words in the pages of `docs` that a person writes.
fn words() -> usize {
    let is_written = |path: &PathBuf| {
        let name = name(path);
        !GENERATED.contains(&name.as_str()) && !name.starts_with(FIGURES)
    };
    let pages = files(&root().join("docs"), ".md").into_iter().filter(is_written);
    pages.map(|page| BLOCK.replace_all(&read(&page), "").split_whitespace().count()).sum()
}

/// Returns the number of parameters of each function, without `self`.
fn parameters(code: &str) -> Vec<(String, usize)> {
    let count = |text: &str| {
        let (mut depth, mut parameters, mut is_empty) = (0_usize, 0, true);
        for letter in text.chars() {
            match letter {
                ')' if depth == 0 => break,
                '(' | '[' | '<' | '{' => depth += 1,
                ')' | ']' | '>' | '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => (parameters, is_empty) = (parameters + usize::from(!is_empty), true),
                letter if !letter.is_whitespace() => is_empty = false,
                _ => {}
            }
        }
        parameters + usize::from(!is_empty)
    };
    let arrows = code.replace("->", "");
    let found = FUNCTION.captures_iter(&arrows).filter_map(|captured| {
        let rest = after_generics(&arrows[captured.get(0)?.end()..]).strip_prefix('(')?;
        let own = ["self", "&self", "&mut self", "mut self"].iter().any(|own| {
            let after = rest.trim_start().strip_prefix(own);
            after.is_some_and(|after| after.starts_with([',', ')']))
        });
        Some((captured[1].to_owned(), count(rest) - usize::from(own)))
    });
    found.collect()
}

/// Returns the code after the generic parameters at its beginning, if it has any.
fn after_generics(code: &str) -> &str {
    let mut depth = 0_usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => return &code[at..],
            _ => {}
        }
    }
    code
}

/// Returns the sentences of a text, without the spans of code and without the targets of links.
fn sentences(text: &str) -> Vec<String> {
    let text = SPAN.replace_all(text.trim(), "X");
    let text = LINK.replace_all(&text, "$1");
    let mut sentences = Vec::new();
    let mut start = 0;
    for found in END.find_iter(&text) {
        // An abbreviation or a number does not end a sentence.
        if text[found.end()..].starts_with(char::is_uppercase) {
            sentences.push(text[start..=found.start()].to_owned());
            start = found.end();
        }
    }
    let last = text[start..].trim_end();
    if last.ends_with(['.', '!', '?']) {
        sentences.push(last.to_owned());
    }
    sentences
}

/// Returns the paragraphs of a page: no headings, lists, tables and code.
fn paragraphs(page: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut in_list = false;
    let mut last = 0;
    for (number, line) in prose(page) {
        let is_apart = line.trim().is_empty() || number > last + 1;
        last = number;
        in_list = !is_apart && (in_list || ITEM.is_match(line)) || ITEM.is_match(line);
        if is_apart || in_list || line.starts_with(['#', '|', '>', '<']) {
            paragraphs.push(String::new());
        }
        if !in_list && !line.starts_with(['#', '|', '>', '<']) {
            let paragraph = paragraphs.last_mut().unwrap();
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    paragraphs
}

/// Returns the comments of a Rust file, each without its first sentence, which is its title.
fn explanations(text: &str) -> Vec<String> {
    let mut comments = vec![String::new()];
    for line in text.lines() {
        let comment =
            line.trim_start().strip_prefix("//").map(|line| line.trim_start_matches(['/', '!']).trim());
        match comment.filter(|line| !line.is_empty() && !line.starts_with(['-', '|', '#', '`', '*'])) {
            Some(line) => {
                let comment = comments.last_mut().unwrap();
                comment.push_str(line);
                comment.push(' ');
            }
            None => comments.push(String::new()),
        }
    }
    comments
}

/// Returns all sentences of documents and comments with the names of their files.
fn all_sentences() -> Vec<(String, String)> {
    let of = |path: &PathBuf, texts: Vec<String>, titles: usize| {
        let name = name(path);
        let sentences = texts.iter().flat_map(move |text| sentences(text).into_iter().skip(titles));
        sentences.map(|sentence| (name.clone(), sentence)).collect::<Vec<_>>()
    };
    let pages = documents();
    let pages = pages.iter().filter(|page| !page.ends_with("CHANGELOG.md"));
    let pages = pages.flat_map(|page| of(page, paragraphs(&read(page)), 0));
    let rust = sources();
    let rust = rust.iter().flat_map(|path| of(path, explanations(&read(path)), 1));
    pages.chain(rust).collect()
}

fn short_sentences() -> Vec<String> {
    let sentences = all_sentences().into_iter();
    let short = sentences.filter(|(_, sentence)| sentence.split_whitespace().count() < SENTENCE_WORDS_MIN);
    short.map(|(name, sentence)| format!("{name}: {sentence}")).collect()
}

fn with_many_parameters() -> Vec<String> {
    let all = rust_files().into_iter().flat_map(|path| {
        let name = name(&path);
        parameters(&code(&path))
            .into_iter()
            .map(move |(function, count)| (format!("{name}: {function}"), count))
    });
    all.filter(|(_, count)| *count > PARAMETERS_MAX).map(|(function, _)| function).collect()
}

/// Returns the files with a loop of optimistic writes of their own.
fn own_loops() -> Vec<String> {
    let attempts = Regex::new(r"\b(?:WRITE|PLAN)\.attempts\(\)").unwrap();
    let loops = |path: PathBuf| vec![name(&path); attempts.find_iter(&code(&path)).count()];
    rust_files().into_iter().flat_map(loops).filter(|file| file != "infra/aws/src/retry.rs").collect()
}

fn counts() -> Vec<Count> {
    let long =
        rust_files().iter().flat_map(|path| functions(&code(path))).filter(|(_, lines)| *lines > 50).count();
    let lines = files(&root().join("tests"), ".rs").iter().map(|path| read(path).lines().count()).sum();
    let (all, short) = (all_sentences().len(), short_sentences().len());
    vec![
        Count { what: "files in circles", count: circles().len(), limit: 0 },
        Count { what: "functions of over 50 lines", count: long, limit: 0 },
        Count { what: "functions with over 5 parameters", count: with_many_parameters().len(), limit: 10 },
        Count { what: "own loops of optimistic writes", count: own_loops().len(), limit: 1 },
        Count { what: "words of docs written by hand", count: words(), limit: 70_000 },
        Count { what: "sentences under 5 words, per 1,000", count: short * 1_000 / all, limit: 25 },
        Count { what: "lines of Rust in tests", count: lines, limit: 51_500 },
    ]
}

/// Prints the counts, and with `COUNTS=details` also the places that they count.
fn print(counts: &[Count]) {
    let lines =
        counts.iter().map(|Count { what, count, limit }| format!("{count:>7} {what} (limit {limit})"));
    let is_detailed = std::env::var("COUNTS").is_ok_and(|value| value == "details");
    let places = [short_sentences(), with_many_parameters(), own_loops(), circles()].concat();
    let all: Vec<String> = lines.chain(places.into_iter().filter(|_| is_detailed)).collect();
    writeln!(std::io::stdout(), "{}", all.join("\n")).unwrap();
}

#[test]
fn counts_stay_within_their_limits() {
    let counts = counts();
    if std::env::var_os("COUNTS").is_some() {
        print(&counts);
        return;
    }
    let exceeded: Vec<_> =
        counts.iter().filter(|count| count.count > count.limit).map(|count| count.what).collect();
    assert!(exceeded.is_empty(), "`tests/meta/counts --details` shows the places: {exceeded:?}");
}

#[test]
fn sentences_and_parameters_are_counted() {
    let page = "# Title\n\nOne fact. It counts. A longer sentence\nwith `code.` in it.\n\n- An item.\n  More.\n\n| a. B c. |\n";
    let found: Vec<_> = paragraphs(page).iter().flat_map(|text| sentences(text)).collect();
    assert_eq!(found, ["One fact.", "It counts.", "A longer sentence with X in it."]);
    let comments = explanations("/// Returns it.\n/// It counts. Why not?\nfn f() {} // aside\n// - list");
    assert_eq!(comments.iter().flat_map(|text| sentences(text).into_iter().skip(1)).count(), 2);
    let counted = parameters(
        "fn a<T: Fn(u8) -> u8>(&self, a: (u8, u8), b: &[u8; 2],) {}\nfn b() {}\nfn c(a: Map<K, V>, b: u8) {}",
    );
    assert_eq!(counted.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 0, 2]);
}
