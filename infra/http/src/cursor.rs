//! Cursors: opaque and signed positions in lists, each for one team, one list and one day.

use crate::call::Call;
use crate::code::Code;
use crate::reply::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::model::secrets::MaskKey;
use domain::{TeamId, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// Lifetime of a cursor, in microseconds: one day.
const LIFETIME_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

/// The key for the signatures of cursors.
#[derive(Clone, derive_more::Debug)]
#[debug("CursorKey")]
pub struct CursorKey(Vec<u8>);

impl CursorKey {
    /// Creates a key from a secret text.
    pub fn new(secret: &str) -> Self {
        Self(secret.as_bytes().to_vec())
    }

    /// Returns the key of the masks of secrets (R58).
    pub fn masks(&self) -> MaskKey {
        MaskKey::new(&self.0)
    }
}

/// A position in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Position of the last row of the page before.
    pub after: String,
    /// Count in the pages so far, if there is one: of the whole list, or of the matches so far.
    pub count: Option<u64>,
    /// For matches so far: the number of matches before this position.
    pub before: Option<u64>,
    /// Number of rows of the offset that are still to be skipped.
    pub skip: u64,
    pub issued: Timestamp,
}

impl Cursor {
    /// Serializes and signs the cursor.
    pub fn seal(&self, key: &CursorKey, team: TeamId, list: &str) -> String {
        let payload = json!({
            "v": 1, "a": self.after, "c": self.count, "b": self.before, "s": self.skip, "t": self.issued.micros(),
        });
        let payload = payload.to_string();
        let mac = sign(key, team, list, &payload).map(|mac| mac.finalize().into_bytes());
        let mac = mac.map(|mac| URL_SAFE_NO_PAD.encode(mac)).unwrap_or_default();
        format!("{}.{mac}", URL_SAFE_NO_PAD.encode(payload))
    }

    /// Parses a cursor of [`Cursor::seal`], if it is for the same team and list and at most a day old.
    pub fn open(text: &str, key: &CursorKey, team: TeamId, list: &str, now: Timestamp) -> Option<Self> {
        let (payload, mac) = text.split_once('.')?;
        let payload = String::from_utf8(URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        // The signature comes first, because unsigned content must not choose where a query starts.
        sign(key, team, list, &payload)?.verify_slice(&mac).ok()?;
        let value: Value = serde_json::from_str(&payload).ok()?;
        let cursor = Self {
            after: value.get("a")?.as_str()?.to_owned(),
            count: value.get("c")?.as_u64(),
            before: value.get("b").and_then(Value::as_u64),
            skip: value.get("s")?.as_u64()?,
            issued: Timestamp::from_micros(value.get("t")?.as_u64()?),
        };
        // The clocks of processes differ, so a cursor from the future counts as new.
        let age = now.micros().saturating_sub(cursor.issued.micros());
        (value.get("v")?.as_u64()? == 1 && age <= LIFETIME_MICROS).then_some(cursor)
    }
}

impl Call {
    /// Returns the cursor in the query, if any; it must be valid for the caller's team and `list`.
    pub fn position(&self, key: &CursorKey, list: &str) -> Result<Option<Cursor>, Failure> {
        let Some(text) = self.query.get("cursor") else { return Ok(None) };
        let cursor = Cursor::open(text, key, self.caller.team.id, list, self.now);
        cursor.map(Some).ok_or_else(|| Code::InvalidCursor.into())
    }

    /// Returns the URL of the page after a row, in a list without a count.
    pub fn page_after(&self, key: &CursorKey, list: &str, after: &str) -> String {
        let cursor = Cursor { after: after.to_owned(), count: None, before: None, skip: 0, issued: self.now };
        self.page_at(key, list, &cursor)
    }

    /// Returns the URL of the page at a cursor.
    pub fn page_at(&self, key: &CursorKey, list: &str, cursor: &Cursor) -> String {
        self.at_position(&cursor.seal(key, self.caller.team.id, list))
    }
}

fn sign(key: &CursorKey, team: TeamId, list: &str, payload: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).ok()?;
    // A list may contain line breaks. With its length in front, no other list and payload give the same text.
    mac.update(format!("{team}\n{}\n{list}\n{payload}", list.len()).as_bytes());
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_good_for_its_team_its_list_and_its_day() {
        let (key, team) = (CursorKey::new("secret"), TeamId::new(7).unwrap());
        let issued = Timestamp::from_micros(1_000_000);
        let cursor = Cursor { after: "0001".to_owned(), count: Some(12), before: Some(4), skip: 3, issued };
        let sealed = cursor.seal(&key, team, "items?a=b");
        let open = |text: &str, team: u64, list: &str, micros| {
            let now = Timestamp::from_micros(micros);
            Cursor::open(text, &key, TeamId::new(team).unwrap(), list, now)
        };
        assert_eq!(open(&sealed, 7, "items?a=b", 2_000_000), Some(cursor));
        assert_eq!(open(&sealed, 8, "items?a=b", 2_000_000), None, "another team");
        assert_eq!(open(&sealed, 7, "items?a=c", 2_000_000), None, "another list");
        assert_eq!(open(&sealed, 7, "items?a=b", 2_000_000 + LIFETIME_MICROS), None, "a day later");
        // The first byte belongs to the position, and one of the last ones to the signature.
        for at in [0, sealed.len() - 6] {
            let mut forged = sealed.clone().into_bytes();
            forged[at] ^= 1;
            assert_eq!(open(&String::from_utf8(forged).unwrap(), 7, "items?a=b", 2_000_000), None, "{at}");
        }
        for text in ["", ".", "a.b", "é.é", &sealed[..sealed.len() - 1]] {
            assert_eq!(open(text, 7, "items?a=b", 2_000_000), None, "{text}");
        }
    }
}
