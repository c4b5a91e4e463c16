//! Patterns in queries: small ones, with a bounded amount of work for each page.

use domain::model::declaration::DECLARATION_BYTES_MAX;
use regex::{Regex, RegexBuilder};

/// Maximum size of a compiled pattern, in KiB. `\w` takes 32 KiB, because it covers every script.
const KIB_MAX: usize = 16;

/// Maximum length of a pattern, in bytes.
///
/// The compiler needs memory and time before it knows the size: 6 KiB for a class such as `\w`, and milliseconds for a
/// class that ignores case.
const TEXT_BYTES_MAX: usize = 256;

/// Size classes of compiled patterns, in KiB. Each costs another compilation, so there are few.
const KIB_SIZES: [usize; 3] = [1, 4, KIB_MAX];

/// Maximum work of one page, in KiB times bytes: the work of the largest pattern on the largest declaration.
pub const WORK_MAX: usize = KIB_MAX * DECLARATION_BYTES_MAX;

/// A compiled pattern. The time of a match is proportional to its size and to the length of the text.
pub(crate) struct Pattern {
    regex: Regex,
    /// Size in KiB, rounded up to one of [`KIB_SIZES`].
    kib: usize,
}

impl Pattern {
    /// Compiles a pattern, or returns the broken requirement.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(format!("must be at most {TEXT_BYTES_MAX} bytes"));
        }
        let mut refused = None;
        for kib in KIB_SIZES {
            match RegexBuilder::new(text).size_limit(kib * 1_024).build() {
                Ok(regex) => return Ok(Self { regex, kib }),
                Err(error) => refused = Some(error),
            }
        }
        Err(match refused {
            Some(regex::Error::CompiledTooBig(_)) => {
                format!("must compile to at most {KIB_MAX} KiB; write [A-Za-z0-9_] for \\w")
            }
            _ => "must be a pattern without backreferences and lookaround".to_owned(),
        })
    }

    /// Returns the work of matching a text, in KiB times bytes.
    pub(crate) const fn work(&self, text: &str) -> usize {
        self.kib.saturating_mul(text.len())
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}
