//! Compressed parts: JSON in gzip, as a binary attribute.

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::de::{DeserializeOwned, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::io::{Read as _, Write as _};
use std::marker::PhantomData;

/// The most decompressed bytes: several times the largest part that this code writes.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A part of a record that is stored compressed. DynamoDB charges for each KB, and nothing else reads the part.
pub(super) struct Packed<T>(pub(super) T);

impl<T: Serialize> Serialize for Packed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = serde_json::to_vec(&self.0).map_err(S::Error::custom)?;
        // The fastest level: a function with little CPU packs up to 5 MiB in a request.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&json).map_err(S::Error::custom)?;
        serializer.serialize_bytes(&encoder.finish().map_err(S::Error::custom)?)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Packed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Reader(PhantomData))
    }
}

/// Reads the compressed bytes.
struct Reader<T>(PhantomData<T>);

impl<T: DeserializeOwned> Visitor<'_> for Reader<T> {
    type Value = Packed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("compressed JSON")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Packed<T>, E> {
        let mut json = Vec::new();
        GzDecoder::new(bytes).take(BYTES_MAX).read_to_end(&mut json).map_err(E::custom)?;
        // The decoder's message may contain values, so the error leaves it out.
        serde_json::from_slice(&json).map(Packed).map_err(|_| E::custom("invalid JSON"))
    }
}
