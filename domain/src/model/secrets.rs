//! Secrets: the declared values at `writeOnly` paths, and the masks in their place (R58).
//!
//! A stored declaration has masks. The values are in a record of their own, so no other read finds them.

use crate::base::hash::Hash;
use crate::base::id::TeamId;
use crate::base::json;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
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
pub struct Secrets(BTreeMap<String, Value>);

/// The secrets of a stored declaration. The record never changes.
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
    pub(crate) fn mask(&self, owner: &SecretOwner, value: &Value) -> Option<String> {
        let SecretOwner { team, application, service, item } = owner;
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        // The same key signs cursors. Their texts begin with a number, so none is equal to this one.
        let text = json!(["secret", team.get(), application, service, item, json::canonical(value)]);
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
        serde_json::from_str(text).ok().map(Self)
    }

    /// Returns the canonical form.
    pub fn to_text(&self) -> String {
        json::canonical(&self.0.iter().map(|(mask, value)| (mask.clone(), value.clone())).collect())
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a mask.
    pub(crate) fn value(&self, mask: &str) -> Option<&Value> {
        self.0.get(mask)
    }

    /// Returns the mask of a value.
    pub(crate) fn mask_of(&self, value: &Value) -> Option<&str> {
        self.0.iter().find(|(_, of)| *of == value).map(|(mask, _)| mask.as_str())
    }

    pub(crate) fn insert(&mut self, mask: String, value: Value) {
        self.0.insert(mask, value);
    }

    /// Returns a value with the secrets in place of their masks.
    pub fn revealed(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.value(text).unwrap_or(value).clone(),
            Value::Array(elements) => elements.iter().map(|element| self.revealed(element)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.revealed(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Returns a stored declaration with the secrets in place of their masks.
    pub fn revealed_text(&self, text: &str) -> String {
        // Stored text is canonical, so it parses.
        serde_json::from_str(text)
            .map_or_else(|_| text.to_owned(), |value| json::canonical(&self.revealed(&value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(application: &str, item: &str) -> SecretOwner {
        let [application, item] = [application, item].map(str::to_owned);
        SecretOwner { team: TeamId::new(7).unwrap(), application, service: "Vault".to_owned(), item }
    }

    #[test]
    fn a_mask_belongs_to_an_item_a_value_and_a_key() {
        let (key, value) = (MaskKey::new(b"key"), json!("one"));
        let mask = key.mask(&owner("App", "v"), &value).unwrap();
        assert!(is_mask(&mask), "{mask}");
        assert_eq!(key.mask(&owner("App", "v"), &value).unwrap(), mask);
        let others = [
            key.mask(&owner("App", "w"), &value),
            key.mask(&owner("Other", "v"), &value),
            key.mask(&owner("App", "v"), &json!("two")),
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
        let mask = MaskKey::new(b"key").mask(&owner("App", "v"), &json!({"a": 1})).unwrap();
        let mut secrets = Secrets::default();
        secrets.insert(mask.clone(), json!({"a": 1}));
        let text = json::canonical(&json!({"list": [mask], "name": "v", "other": "secret:other"}));
        assert!(may_have_masks(&text));
        assert_eq!(secrets.revealed_text(&text), r#"{"list":[{"a":1}],"name":"v","other":"secret:other"}"#);
        assert_eq!(Secrets::parse(&secrets.to_text()), Some(secrets));
    }
}
