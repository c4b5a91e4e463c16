//! The secrets of API keys and webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Random bytes of a secret: too many to guess, so a plain SHA-256 protects the stored form (ADR 16).
const CHANCE_BYTES: usize = 32;

/// A random secret in a form for secret scanners.
///
/// The text is `dvt_`, 64 hexadecimal digits, `_`, and 8 digits with the CRC-32 of everything before. With this
/// checksum a scanner recognizes real keys.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Secret")]
pub struct Secret(String);

impl Secret {
    /// Creates a secret; none if the system has no randomness.
    pub fn made() -> Option<Self> {
        let mut chance = [0; CHANCE_BYTES];
        getrandom::fill(&mut chance).ok()?;
        Some(Self::of(&chance))
    }

    fn of(chance: &[u8]) -> Self {
        let mut text = String::from("dvt_");
        for byte in chance {
            // Writing to a `String` cannot fail.
            let _taken = write!(text, "{byte:02x}");
        }
        let check = crc32fast::hash(text.as_bytes());
        let _taken = write!(text, "_{check:08x}");
        Self(text)
    }

    /// Returns the secret text, for the one reply that contains it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the stored form.
    pub fn hash(&self) -> String {
        key_hash(&self.0)
    }
}

/// Returns the stored form of an API key: its SHA-256 in base64.
pub fn key_hash(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_recognized_by_its_form() {
        let secret = Secret::of(&[0xAB; CHANCE_BYTES]);
        let (before, check) = secret.text().rsplit_once('_').unwrap();
        assert_eq!(before, format!("dvt_{}", "ab".repeat(CHANCE_BYTES)));
        assert_eq!(check, format!("{:08x}", crc32fast::hash(before.as_bytes())));
        assert_ne!(Secret::made(), Secret::made());
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
