//! Hashes as binary attributes. 32 bytes instead of 43 characters save write units at every write of a record.

use super::conversion::{Bad, Part};
use domain::Hash;
use domain::model::change::{Chain, Target};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A binary attribute of a fixed length.
pub(crate) struct Bytes<const N: usize>([u8; N]);

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Reader)
    }
}

/// Reads exactly `N` bytes.
struct Reader<const N: usize>;

impl<'de, const N: usize> Visitor<'de> for Reader<N> {
    type Value = Bytes<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes<N>, E> {
        bytes.try_into().map(Bytes).map_err(|_| E::invalid_length(bytes.len(), &self))
    }

    /// Reads the bytes in JSON, as in [`Packed`](super::packed::Packed): a list of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Bytes<N>, A::Error> {
        let mut bytes = Vec::with_capacity(N);
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// The SHA-256 of a declaration or of a deployed item: 32 bytes.
pub(crate) type HashPart = Bytes<32>;

impl Part<Hash> for HashPart {
    fn of(hash: &Hash) -> Self {
        Self(*hash.as_bytes())
    }

    fn value(self) -> Result<Hash, Bad> {
        Ok(Hash::from_bytes(self.0))
    }
}

/// A link of a history's hash chain: 16 bytes.
pub(crate) type ChainPart = Bytes<16>;

impl Part<Chain> for ChainPart {
    fn of(chain: &Chain) -> Self {
        Self(chain.0)
    }

    fn value(self) -> Result<Chain, Bad> {
        Ok(Chain(self.0))
    }
}

/// The target of a change: the hash of a declaration, or the text `REMOVED`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum TargetPart {
    Declared(HashPart),
    Word(String),
}

/// The text for a removal.
const REMOVED: &str = "REMOVED";

impl Part<Target> for TargetPart {
    fn of(target: &Target) -> Self {
        target
            .hash()
            .map_or_else(|| Self::Word(REMOVED.to_owned()), |hash| Self::Declared(HashPart::of(&hash)))
    }

    fn value(self) -> Result<Target, Bad> {
        match self {
            Self::Declared(hash) => Ok(Target::Declared(hash.value()?)),
            Self::Word(word) if word == REMOVED => Ok(Target::Removed),
            Self::Word(_) => Err(Bad("target")),
        }
    }
}
