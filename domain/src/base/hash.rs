//! The hash of a canonical text: it identifies declarations, definitions and documents.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The SHA-256 of a canonical text.
#[derive(Clone, Copy, derive_more::Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[debug("{self}")]
pub struct Hash([u8; 32]);

impl Hash {
    /// Returns the hash of `text`.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Parses the 43 characters of `Display`, and no other spelling of them.
    pub fn parse(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns the hash with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_from_its_only_spelling() {
        let hash = Hash::of("");
        assert_eq!(hash.to_string(), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
        assert_eq!(format!("{hash:?}"), hash.to_string());
        assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
        assert_eq!(hash.as_bytes()[0], 0xe3);
        assert_ne!(Hash::of("a"), hash);
        let other_last_bits = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFV";
        for text in ["", "abc", other_last_bits, &format!("{hash}="), &hash.to_string().replace('-', "+")] {
            assert_eq!(Hash::parse(text), None, "{text}");
        }
    }
}
