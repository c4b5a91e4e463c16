//! The built files of the console, from `console/dist`.

use dovetail_http::PackedFile;

/// A file of the console.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: &'static str,
    /// A tag that changes with the content.
    pub(crate) tag: &'static str,
    pub(crate) content: PackedFile,
}

include!(concat!(env!("OUT_DIR"), "/files.rs"));

impl File {
    /// Returns the file at a path; none if the console has no such file. The path of the directory means its index.
    pub(crate) fn at(path: &str) -> Option<&'static Self> {
        let name = path.trim_start_matches('/');
        let name = if name.is_empty() { "index.html" } else { name };
        FILES.iter().find(|file| file.name == name)
    }

    /// Returns the media type by the ending of the name.
    pub(crate) fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "text/plain; charset=utf-8",
        }
    }

    /// Returns the value of `ETag`, which is weak because the compressed form has the same tag.
    pub(crate) fn etag(&self) -> String {
        format!("W/\"{}\"", self.tag)
    }

    /// Returns whether a value of `If-None-Match` has the tag of this file (RFC 9110, 13.1.2).
    pub(crate) fn is_known(&self, if_none_match: &str) -> bool {
        let mut known = if_none_match.split(',').map(str::trim);
        known.any(|tag| tag == "*" || tag.trim_start_matches("W/").trim_matches('"') == self.tag)
    }
}
