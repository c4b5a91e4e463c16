//! The secrets that API keys are.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};

/// How many bytes of chance a secret has.
const CHANCE_BYTES: usize = 32;

/// A secret that nobody can guess, in a form that scanners for secrets know it by.
///
/// `dvt_`, 64 hexadecimal digits, `_`, and 8 more, which are the CRC-32 of all that is before them: what only looks like a
/// key is told from one.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A new one; none where the system has no chance to offer.
    pub fn made() -> Option<Self> {
        let mut chance = [0; CHANCE_BYTES];
        getrandom::fill(&mut chance).ok()?;
        Some(Self::of(&chance))
    }

    fn of(chance: &[u8]) -> Self {
        let mut text = String::from("dvt_");
        for byte in chance {
            // A text takes whatever is written to it.
            let _taken = write!(text, "{byte:02x}");
        }
        let check = crc32fast::hash(text.as_bytes());
        let _taken = write!(text, "_{check:08x}");
        Self(text)
    }

    /// The text, for whoever is to have it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The form in which it is stored.
    pub fn hash(&self) -> String {
        key_hash(&self.0)
    }
}

/// The form in which an API key is stored.
pub fn key_hash(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_form() {
        let secret = Secret::of(&[0xAB; CHANCE_BYTES]);
        let (before, check) = secret.text().rsplit_once('_').unwrap();
        assert_eq!(before, format!("dvt_{}", "ab".repeat(CHANCE_BYTES)));
        assert_eq!(check, format!("{:08x}", crc32fast::hash(before.as_bytes())));
        assert_ne!(Secret::made(), Secret::made());
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
