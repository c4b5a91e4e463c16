//! Generated blocks in documents: each stands between two comments, and its last line names its source.

/// The start of the line at the start of each block, before its name.
const BEGIN: &str = "<!-- figures: ";

/// The end of the line at the start of each block.
const NAMED: &str = " -->\n";

/// The line at the end of each block.
const END: &str = "<!-- /figures -->";

/// Returns the line at the start of a block.
fn begin(name: &str) -> String {
    format!("{BEGIN}{name}{NAMED}")
}

/// Returns a page with another body and source of one block. Fails if the page does not have the block.
pub fn replaced(page: &str, name: &str, body: &str, source: &str) -> String {
    let (begin, (before, _, after)) = (begin(name), split(page, name));
    format!("{before}{begin}\n{}\n\n{source}\n\n{END}{after}", body.trim())
}

/// Returns the body of a block of a page, without its source. Fails if the page does not have the block.
pub fn body<'a>(page: &'a str, name: &str) -> &'a str {
    let content = split(page, name).1.trim();
    content.rsplit_once("\n\n").map_or(content, |(body, _)| body)
}

/// Returns name and content of each block of a page.
pub fn all(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split(BEGIN).skip(1);
    blocks
        .map(|block| {
            let (name, rest) = block.split_once(NAMED).unwrap();
            (name, rest.split_once(END).unwrap_or_else(|| panic!("block {name} has no end")).0)
        })
        .collect()
}

fn split<'a>(page: &'a str, name: &str) -> (&'a str, &'a str, &'a str) {
    let (before, rest) = page.split_once(&begin(name)).unwrap_or_else(|| panic!("no block {name}"));
    let (content, after) = rest.split_once(END).unwrap();
    (before, content, after)
}
