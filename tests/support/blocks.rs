//! Generated blocks in documents: each stands between two comments.

/// The line at the end of each block.
const END: &str = "<!-- /figures -->";

/// Returns the line at the start of a block. A page with one block needs no name.
fn begin(name: &str) -> String {
    if name.is_empty() { "<!-- figures -->\n".to_owned() } else { format!("<!-- figures: {name} -->\n") }
}

/// Returns a page with another content of one block.
///
/// # Panics
///
/// Panics if the page does not have the block.
pub fn replaced(page: &str, name: &str, content: &str) -> String {
    let (begin, (before, _, after)) = (begin(name), split(page, name));
    format!("{before}{begin}{content}{END}{after}")
}

/// Returns the content of a block of a page.
///
/// # Panics
///
/// Panics if the page does not have the block.
pub fn content<'a>(page: &'a str, name: &str) -> &'a str {
    split(page, name).1
}

fn split<'a>(page: &'a str, name: &str) -> (&'a str, &'a str, &'a str) {
    let (before, rest) = page.split_once(&begin(name)).unwrap_or_else(|| panic!("no block {name}"));
    let (content, after) = rest.split_once(END).unwrap();
    (before, content, after)
}
