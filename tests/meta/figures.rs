//! Blocks of figures: each names the version that wrote it, and none is older than the newest release. The page for
//! readers has their numbers.

use repository::{files, name, read, root};
use std::collections::BTreeSet;
use support::blocks;
use support::ratchet::{self, Counts};
use support::source::{Method, Source, VERSION, version, version_of};

const PERFORMANCE: &str = include_str!("../../docs/explanation/performance.md");

/// Returns the newest released version in a changelog, if it has one: `## 1.2.3` or `## [1.2.3] - 2026-01-15`.
fn released(changelog: &str) -> Option<[u64; 3]> {
    let headings = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    headings.filter_map(|heading| version(heading.trim_start_matches('[').split([']', ' ']).next()?)).max()
}

/// Returns the blocks of a page without a valid version: an older one than the release, or one from the future.
fn outdated(page: &str, released: Option<[u64; 3]>) -> Vec<String> {
    let is_valid = |content: &str| {
        version_of(content).is_some_and(|of| Some(of) >= released && Some(of) <= version(VERSION))
    };
    let blocks = blocks::all(page).into_iter().filter(|(_, content)| !is_valid(content));
    blocks.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn no_block_of_figures_is_older_than_the_newest_release() {
    let released = released(include_str!("../../CHANGELOG.md"));
    let mut blocks = 0;
    let mut wrong = Vec::new();
    for path in files(&root().join("docs"), ".md") {
        let page = read(&path);
        blocks += blocks::all(&page).len();
        wrong.extend(outdated(&page, released).into_iter().map(|block| format!("{}: {block}", name(&path))));
    }
    assert!(blocks >= 20, "{blocks}");
    assert!(wrong.is_empty(), "run `just figures`: {wrong:#?}");
}

#[test]
fn an_older_block_and_one_without_a_version_are_found() {
    let changelog = "# Changelog\n\n## Unreleased\n\n## [0.10.0] - 2026-01-15\n\n## 0.9.0\n";
    assert_eq!(released(changelog), Some([0, 10, 0]));
    assert_eq!(released("# Changelog\n\n## Unreleased\n"), None);
    let line = Source::uncommitted().line(Method::Measured);
    let block = |name: &str, line: &str| format!("<!-- figures: {name} -->\n\n{line}\n\n<!-- /figures -->\n");
    let page = [
        block("current", &line),
        block("old", "Measured by version 0.0.9, commit 25e66ddd, on 2 cores."),
        block("future", "Simulated by version 999.0.0. Every machine gives these figures."),
        block("none", "Machine: 2 cores."),
    ]
    .concat();
    assert_eq!(outdated(&page, Some([0, 0, 10])), ["old", "future", "none"]);
    assert_eq!(outdated(&page, None), ["future", "none"]);
    let page = blocks::replaced(&page, "old", "\n| figure |\n", &line);
    assert_eq!(blocks::body(&page, "old"), "| figure |");
    assert_eq!(outdated(&page, version(VERSION)), ["future", "none"]);
}

/// Returns figures, generated page and anchor of a row that links to its source: operation, figures, source.
fn sourced(row: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = row.strip_prefix("| ")?.split_once(" | ")?;
    let (figures, source) = rest.split_once(" | ")?;
    let (_, link) = source.split_once("](../reference/figures/")?;
    let (file, anchor) = link.split_once(')')?.0.split_once('#')?;
    Some((figures, file, anchor))
}

/// Returns the numbers of a text, such as `2.5` and `10,000`.
fn numbers(text: &str) -> BTreeSet<&str> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != ',' && c != '.');
    parts.map(|part| part.trim_matches([',', '.'])).filter(|number| !number.is_empty()).collect()
}

/// Returns whether a row below the heading with this anchor has all numbers of the figures.
fn has_row(page: &str, anchor: &str, figures: &str) -> bool {
    let wanted = numbers(figures);
    let anchor_of = |line: &str| Some(line.strip_prefix("## ")?.to_lowercase().replace(' ', "-"));
    let below = page.lines().skip_while(|line| anchor_of(line).as_deref() != Some(anchor)).skip(1);
    let mut rows = below.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    !wanted.is_empty() && rows.any(|row| wanted.is_subset(&numbers(row)))
}

#[test]
fn the_page_for_readers_has_the_figures_of_the_generated_pages() {
    let pages = root().join("docs/reference/figures");
    let rows: Vec<_> = PERFORMANCE.lines().filter_map(sourced).collect();
    assert!(rows.len() >= 10, "{rows:?}");
    for (figures, file, anchor) in rows {
        let page = read(&pages.join(file));
        assert!(has_row(&page, anchor, figures), "`{figures}` must be in one row below #{anchor} of {file}");
    }
}

#[test]
fn a_figure_of_another_row_or_section_is_found() {
    let page = "# Costs\n\n## One\n\n| a | 15 | 2.5 |\n| b | 4 | 10,000 |\n\n## Two words\n\n| c | 9 |\n";
    let row = "| a | 15 units, 2.5 units | [costs](../reference/figures/costs.md#one) |";
    assert_eq!(sourced(row), Some(("15 units, 2.5 units", "costs.md", "one")));
    assert_eq!(sourced("| a | 15 units | elsewhere |"), None);
    for (anchor, figures, expected) in [
        ("one", "15 units, 2.5 units", true),
        ("one", "$10,000, and 4.", true),
        ("two-words", "9 units", true),
        ("one", "15 units, 4 units", false),
        ("one", "9 units", false),
        ("one", "1 unit", false),
        ("one", "none", false),
        ("three", "9 units", false),
    ] {
        assert_eq!(has_row(page, anchor, figures), expected, "{anchor}: {figures}");
    }
}

#[test]
fn counts_may_fall_and_must_not_grow() {
    let committed =
        ratchet::read("# comment\n 1000000 a: stable\n 1000 b: falls\n   1000 c: grows\n 1 d: gone\n");
    let counted: Counts = [("a: stable", 1_015_000), ("b: falls", 900), ("c: grows", 1_021), ("e: new", 5)]
        .map(|(name, count)| (name.to_owned(), count))
        .into();
    assert_eq!(ratchet::grown(&committed, &counted), ["c: grows"]);
    let lines = |accept| ratchet::lines(&ratchet::renewed(&committed, &counted, accept));
    let [stable, falls, new] = ["   1000000 a: stable\n", "       900 b: falls\n", "         5 e: new\n"];
    assert_eq!(lines(false), [stable, falls, "      1000 c: grows\n", new].concat());
    assert_eq!(lines(true), [stable, falls, "      1021 c: grows\n", new].concat());
}
