//! A check for strict JSON that builds no value, for the audit of stored texts. `dovetail plan` compares documents by their text with it and with [`super::cursor`].

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{NUMBER_MAX, NUMBER_MAX_FLOAT};

/// Maximum number of keys for a comparison pair by pair; more keys are sorted.
const FEW_KEYS: usize = 16;

/// Returns whether [`parse`](super::parse) finds no problem in `text`, which must not be empty.
pub(crate) fn is_sound(text: &str, depth_max: usize) -> bool {
    let mut check = Check { keys: Vec::new(), depth_left: depth_max };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    check.deserialize(&mut deserializer).and_then(|()| deserializer.end()).is_ok()
}

/// Walks through the text and stops at the first problem.
struct Check<'de> {
    /// The keys of the open objects, those of the innermost last.
    keys: Vec<Cow<'de, str>>,
    depth_left: usize,
}

impl Check<'_> {
    fn enter<E: Error>(&mut self) -> Result<(), E> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or_else(|| E::custom("nested too deep"))?;
        Ok(())
    }

    /// Leaves an object whose keys begin at `first`.
    fn leave<E: Error>(&mut self, first: usize) -> Result<(), E> {
        self.depth_left += 1;
        let keys = self.keys.get_mut(first..).unwrap_or_default();
        let has_duplicates = if keys.len() > FEW_KEYS {
            keys.sort_unstable();
            keys.array_windows().any(|[one, next]| one == next)
        } else {
            let mut before = keys.iter().enumerate();
            before.any(|(index, key)| keys.iter().take(index).any(|earlier| earlier == key))
        };
        self.keys.truncate(first);
        if has_duplicates { Err(E::custom("duplicate key")) } else { Ok(()) }
    }
}

fn in_range<E: Error>(in_range: bool) -> Result<(), E> {
    if in_range { Ok(()) } else { Err(E::custom("number out of range")) }
}

impl<'de> DeserializeSeed<'de> for &mut Check<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Check<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        in_range(value <= NUMBER_MAX)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        in_range(value.unsigned_abs() <= NUMBER_MAX)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        in_range(value.abs() <= NUMBER_MAX_FLOAT)
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.enter()?;
        while entries.next_element_seed(&mut *self)?.is_some() {}
        self.depth_left += 1;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.enter()?;
        let first = self.keys.len();
        while let Some(key) = entries.next_key_seed(Key)? {
            if super::is_reserved(&key) {
                return Err(A::Error::custom("reserved key"));
            }
            self.keys.push(key);
            entries.next_value_seed(&mut *self)?;
        }
        self.leave(first)
    }
}

/// A key, borrowed unless it contains escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::json::parse;

    const DEPTH_MAX: usize = 32;

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    fn object(keys: impl Iterator<Item = usize>) -> String {
        let entries: Vec<String> = keys.map(|key| format!("\"k{key}\":[{{\"k0\":0}}]")).collect();
        format!("{{{}}}", entries.join(","))
    }

    #[test]
    fn it_checks_as_the_strict_parser_does() {
        let mut texts: Vec<String> = [
            r#"{"a":[1,-2,0.5,true,false,null,"x\u00e9\ud83d\ude00"],"b":{}}"#,
            "  ",
            "{",
            "[1,]",
            "{} {}",
            "01",
            "1e400",
            r#""\ud800""#,
            r#"{"\ud800":1}"#,
            "\"\u{0}\"",
            r#"{"a":{"b":1,"b":2}}"#,
            r#"[{"e":1,"\u0065":2}]"#,
            r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#,
            "9007199254740991",
            "-9007199254740991",
            "9007199254740992",
            "-9007199254740992",
            "18446744073709551616",
            "9007199254740992.0",
            "-1e16",
            "1e-400",
        ]
        .map(str::to_owned)
        .into();
        texts.extend([DEPTH_MAX, DEPTH_MAX + 1, 100_000].map(nested));
        for count in [FEW_KEYS - 1, FEW_KEYS, FEW_KEYS + 1, 1_000] {
            texts.extend([object(0..count), object((0..count).chain([count / 2]))]);
        }
        for text in texts {
            let expected = parse(text.as_bytes(), DEPTH_MAX).is_ok();
            assert_eq!(is_sound(&text, DEPTH_MAX), expected, "{text:.80}");
        }
    }
}
