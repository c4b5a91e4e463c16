//! Patterns in queries: each is small, and a page spends a bounded amount of work on it.

use domain::declaration::DECLARATION_BYTES_MAX;
use regex::{Regex, RegexBuilder};

/// The largest program that a pattern may compile to, in KiB. `\w` takes 32, for it knows every script.
const KIB_MAX: usize = 16;

/// The longest pattern, in bytes. A class such as `\w` takes 6 KiB, and one without regard to case milliseconds, before the
/// size of the program is known.
const TEXT_BYTES_MAX: usize = 256;

/// The sizes of programs that are told apart, in KiB. Each takes another try, so there are few.
const KIB_SIZES: [usize; 3] = [1, 4, KIB_MAX];

/// The work that one page may spend: as much as the largest pattern takes on the largest declaration.
pub const WORK_MAX: usize = KIB_MAX * DECLARATION_BYTES_MAX;

/// A compiled pattern. Matching takes time in proportion to its size times the length of the text.
pub(crate) struct Pattern {
    regex: Regex,
    /// The size of the program in KiB, rounded up to one of [`KIB_SIZES`].
    kib: usize,
}

impl Pattern {
    /// Compiles a pattern, or says what must hold.
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
