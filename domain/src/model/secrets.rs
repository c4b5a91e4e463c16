//! Secrets: the declared values at `writeOnly` paths, and the masks in their place (R58).
//!
//! A stored declaration has masks. The values are in a record of their own, so no read of other records finds them.

use crate::base::hash::Hash;
use crate::base::id::TeamId;
use crate::base::json;
use crate::model::storable::{STORABLE_BYTES_MAX, StorableValue, Unstorable};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use std::collections::BTreeMap;

/// The begin of a mask.
const PREFIX: &str = "secret:";
/// The length of the rest of a mask: 132 bits of the code.
const CODE_CHARS: usize = 22;

/// The key of masks.
#[derive(Clone, derive_more::Debug)]
#[debug("MaskKey")]
pub struct MaskKey(Vec<u8>);

/// The item of a secret: the same value of two items has two masks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretOwner {
    pub team: TeamId,
    pub application: String,
    pub service: String,
    pub item: String,
}

/// The values of the secrets of a declaration, by mask.
#[derive(Clone, Default, derive_more::Debug, PartialEq)]
#[debug("Secrets")]
pub struct Secrets(BTreeMap<String, StorableValue>);

/// The secrets of a stored declaration. The record never changes after its creation.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSecrets {
    pub owner: SecretOwner,
    /// The hash of the declaration with masks.
    pub hash: Hash,
    pub secrets: Secrets,
}

impl MaskKey {
    /// Creates a key from secret bytes.
    pub fn new(secret: &[u8]) -> Self {
        Self(secret.to_vec())
    }

    /// Returns the mask of a value; none without a usable key.
    pub(crate) fn mask(&self, owner: &SecretOwner, value: &StorableValue) -> Option<String> {
        let SecretOwner { team, application, service, item } = owner;
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        // The same key signs cursors. The texts of cursors begin with a number, so no cursor has the same text as a
        // mask.
        let text = json!(["secret", team.get(), application, service, item, value.text()]);
        mac.update(text.to_string().as_bytes());
        let mut code = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
        code.truncate(CODE_CHARS);
        Some(format!("{PREFIX}{code}"))
    }
}

/// Returns whether a text has the form of a mask.
pub fn is_mask(text: &str) -> bool {
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.strip_prefix(PREFIX).is_some_and(|code| code.len() == CODE_CHARS && code.bytes().all(is_code))
}

/// Returns whether a text in canonical form may contain masks.
pub fn may_have_masks(text: &str) -> bool {
    text.contains(&format!("\"{PREFIX}"))
}

impl Secrets {
    /// Reads the values from their canonical form.
    pub fn parse(text: &str) -> Option<Self> {
        let secrets: BTreeMap<String, Value> = serde_json::from_str(text).ok()?;
        let secret = |(mask, value)| Some((mask, StorableValue::new(value).ok()?));
        secrets.into_iter().map(secret).collect::<Option<_>>().map(Self)
    }

    /// Returns the canonical form.
    pub fn to_text(&self) -> String {
        let secret = |(mask, value): (&String, &StorableValue)| (mask.clone(), Value::clone(value));
        json::canonical(&self.0.iter().map(secret).collect())
    }

    /// Returns whether the declaration has no secrets.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a mask.
    pub(crate) fn value(&self, mask: &str) -> Option<&StorableValue> {
        self.0.get(mask)
    }

    /// Returns the mask of each value by its canonical form.
    pub(crate) fn masks(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(mask, value)| (value.text(), mask.as_str()))
    }

    pub(crate) fn insert(&mut self, mask: String, value: StorableValue) {
        self.0.insert(mask, value);
    }

    /// Returns a value with the secrets in place of their masks.
    pub fn revealed(&self, value: &Value) -> Result<StorableValue, Unstorable> {
        // Many masks may stand for one large secret, so a check of the size at the end would come too late.
        StorableValue::new(self.revealed_within(value, &mut { STORABLE_BYTES_MAX })?)
    }

    /// Returns a value with the secrets in place of their masks; `room` is the number of bytes for secrets.
    fn revealed_within(&self, value: &Value, room: &mut usize) -> Result<Value, Unstorable> {
        Ok(match value {
            Value::String(text) => match self.value(text) {
                Some(secret) => {
                    *room = room.checked_sub(secret.text().len()).ok_or(Unstorable::Bytes)?;
                    Value::clone(secret)
                }
                None => value.clone(),
            },
            Value::Array(elements) => {
                let revealed = elements.iter().map(|element| self.revealed_within(element, room));
                Value::Array(revealed.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let revealed = members
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.revealed_within(value, room)?)));
                Value::Object(revealed.collect::<Result<Map<_, _>, _>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    /// Returns a stored declaration with the secrets in place of their masks.
    pub fn revealed_text(&self, text: &str) -> Result<String, Unstorable> {
        Ok(self.revealed(&*StorableValue::read(text)?)?.into_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(application: &str, item: &str) -> SecretOwner {
        let [application, item] = [application, item].map(str::to_owned);
        SecretOwner { team: TeamId::new(7).unwrap(), application, service: "Vault".to_owned(), item }
    }

    fn storable(value: Value) -> StorableValue {
        StorableValue::new(value).unwrap()
    }

    #[test]
    fn a_mask_belongs_to_an_item_a_value_and_a_key() {
        let (key, value) = (MaskKey::new(b"key"), storable(json!("one")));
        let mask = key.mask(&owner("App", "v"), &value).unwrap();
        assert!(is_mask(&mask), "{mask}");
        assert_eq!(key.mask(&owner("App", "v"), &value).unwrap(), mask);
        let others = [
            key.mask(&owner("App", "w"), &value),
            key.mask(&owner("Other", "v"), &value),
            key.mask(&owner("App", "v"), &storable(json!("two"))),
            MaskKey::new(b"another").mask(&owner("App", "v"), &value),
        ];
        assert!(others.iter().flatten().all(|other| is_mask(other) && *other != mask));
        for text in
            ["secret:", "secret:short", "secret:0123456789012345678901 ", "Secret:0123456789012345678901"]
        {
            assert!(!is_mask(text), "{text}");
        }
    }

    #[test]
    fn secrets_replace_their_masks() {
        let secret = storable(json!({"a": 1}));
        let mask = MaskKey::new(b"key").mask(&owner("App", "v"), &secret).unwrap();
        let mut secrets = Secrets::default();
        secrets.insert(mask.clone(), secret);
        let text = json::canonical(&json!({"list": [mask], "name": "v", "other": "secret:other"}));
        assert!(may_have_masks(&text));
        let revealed = r#"{"list":[{"a":1}],"name":"v","other":"secret:other"}"#;
        assert_eq!(secrets.revealed_text(&text).as_deref(), Ok(revealed));
        assert_eq!(Secrets::parse(&secrets.to_text()), Some(secrets));
    }

    #[test]
    fn masks_of_a_large_secret_end_at_what_a_record_can_hold() {
        let mut secrets = Secrets::default();
        let large = storable(json!("x".repeat(100_000)));
        secrets.insert("secret:large".to_owned(), large);
        let revealed = |masks: usize| secrets.revealed(&json!(vec!["secret:large"; masks]));
        assert!(revealed(STORABLE_BYTES_MAX / 100_002).is_ok());
        assert_eq!(revealed(4_000), Err(Unstorable::Bytes));
        // The work ends at the limit, and not after all secrets are in place.
        let (masks, mut room) = (json!(vec!["secret:large"; 4_000]), STORABLE_BYTES_MAX);
        assert_eq!(secrets.revealed_within(&masks, &mut room), Err(Unstorable::Bytes));
        assert!(room < 100_002, "{room} bytes are left");
    }
}
