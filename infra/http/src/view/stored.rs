//! Stored JSON texts: an object contains them as they are, without a parse.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, from_str};

/// A stored JSON text in canonical form (RFC 8785).
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a>(pub(super) &'a str);

impl Stored<'_> {
    /// The object without members, for an absent text.
    pub(super) const NONE: Self = Self("{}");

    /// The value of an absent plan.
    pub(super) const NULL: Self = Self("null");

    /// Parses the text, which never fails because the text is canonical.
    pub(super) fn parsed(self) -> Value {
        from_str(self.0).unwrap_or_default()
    }
}

impl Serialize for Stored<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // On the wire `0.000001` is `1e-6`, and keys are in the order of their bytes. The canonical form therefore
        // differs in small numbers, and in keys with characters outside of the first plane of Unicode.
        if self.0.contains("0.00000") || self.0.bytes().any(|byte| byte >= 0xf0) {
            return from_str::<Value>(self.0).map_err(S::Error::custom)?.serialize(serializer);
        }
        // The check of the syntax builds no value. A corrupt text would make the whole reply invalid.
        from_str::<&RawValue>(self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Failure, objects};
    use domain::base::json::canonical;
    use dovetail_table::Error;
    use fastrand::Rng;

    fn text(rng: &mut Rng) -> String {
        let chars = ['a', 'b', '"', '\\', '\n', '\u{1}', '\u{7f}', 'ä', '\u{2028}', '\u{fb33}', '😀'];
        (0..rng.usize(..4)).filter_map(|_| rng.choice(chars)).collect()
    }

    fn value(rng: &mut Rng, depth: u32) -> Value {
        match rng.u32(..if depth == 0 { 4 } else { 6 }) {
            0 => rng.choice([Value::Null, true.into(), false.into()]).unwrap(),
            1 => (rng.i64(..) >> rng.u32(11..64)).into(),
            2 => format!("{}e{}", rng.i64(..) >> 11, rng.i32(-40..1)).parse::<f64>().unwrap().into(),
            3 => text(rng).into(),
            4 => (0..rng.usize(..4)).map(|_| value(rng, depth - 1)).collect(),
            _ => (0..rng.usize(..4)).map(|_| (text(rng), value(rng, depth - 1))).collect(),
        }
    }

    #[test]
    fn a_canonical_text_is_written_like_its_parsed_value() {
        for seed in 0..20_000 {
            let text = canonical(&value(&mut Rng::with_seed(seed), 3));
            let expected = from_str::<Value>(&text).unwrap().to_string();
            assert_eq!(objects([Stored(&text)]).unwrap()[0].get(), expected, "seed {seed}");
        }
    }

    #[test]
    fn a_corrupt_text_is_an_error() {
        for text in ["", "{", "{}}", r#"{"a":}"#, "\"\n\"", "😀", "0.00000x"] {
            assert!(matches!(objects([Stored(text)]), Err(Failure::Broken(Error::Corrupt { .. }))), "{text}");
        }
    }
}
