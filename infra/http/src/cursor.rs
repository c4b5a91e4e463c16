//! Positions in lists: opaque to clients, signed, bound to the team and the list they were given out for.

use crate::call::Call;
use crate::code::Code;
use crate::reply::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::TeamId;
use domain::timestamp::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// How long a position is good for, in microseconds.
const LIFETIME_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

/// The key that positions are signed with.
#[derive(Clone)]
pub struct CursorKey(Vec<u8>);

impl CursorKey {
    /// A key from a secret text.
    pub fn new(secret: &str) -> Self {
        Self(secret.as_bytes().to_vec())
    }
}

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey")
    }
}

/// A position in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Where the page before has ended.
    pub after: String,
    /// How many rows were told of, if they are counted: as many as there were when the first page was read.
    pub count: Option<u64>,
    /// If that is only how many were found so far: how many of them are before the position.
    pub before: Option<u64>,
    /// How many rows are still to be skipped.
    pub skip: u64,
    /// When it was given out.
    pub issued: Timestamp,
}

impl Cursor {
    /// The text that clients get.
    pub fn seal(&self, key: &CursorKey, team: TeamId, list: &str) -> String {
        let payload = json!({
            "v": 1, "a": self.after, "c": self.count, "b": self.before, "s": self.skip, "t": self.issued.micros(),
        });
        let payload = payload.to_string();
        let mac = sign(key, team, list, &payload).map(|mac| mac.finalize().into_bytes());
        let mac = mac.map(|mac| URL_SAFE_NO_PAD.encode(mac)).unwrap_or_default();
        format!("{}.{mac}", URL_SAFE_NO_PAD.encode(payload))
    }

    /// Reads a text that [`Cursor::seal`] made for the same team and list within the last day.
    pub fn open(text: &str, key: &CursorKey, team: TeamId, list: &str, now: Timestamp) -> Option<Self> {
        let (payload, mac) = text.split_once('.')?;
        let payload = String::from_utf8(URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        sign(key, team, list, &payload)?.verify_slice(&mac).ok()?;
        let value: Value = serde_json::from_str(&payload).ok()?;
        let cursor = Self {
            after: value.get("a")?.as_str()?.to_owned(),
            count: value.get("c")?.as_u64(),
            before: value.get("b").and_then(Value::as_u64),
            skip: value.get("s")?.as_u64()?,
            issued: Timestamp::from_micros(value.get("t")?.as_u64()?),
        };
        let age = now.micros().saturating_sub(cursor.issued.micros());
        (value.get("v")?.as_u64()? == 1 && age <= LIFETIME_MICROS).then_some(cursor)
    }
}

impl Call {
    /// Opens the position in the query, if there is one: `list` gave it to this team within the last day.
    pub fn position(&self, key: &CursorKey, list: &str) -> Result<Option<Cursor>, Failure> {
        let Some(text) = self.query.get("cursor") else { return Ok(None) };
        let cursor = Cursor::open(text, key, self.caller.team.id, list, self.now);
        cursor.map(Some).ok_or_else(|| Code::InvalidCursor.into())
    }

    /// Returns the URL of the page after a row of a list without a count.
    pub fn page_after(&self, key: &CursorKey, list: &str, after: &str) -> String {
        let cursor = Cursor { after: after.to_owned(), count: None, before: None, skip: 0, issued: self.now };
        self.page_at(key, list, &cursor)
    }

    /// Returns the URL of the page at a position.
    pub fn page_at(&self, key: &CursorKey, list: &str, cursor: &Cursor) -> String {
        self.at_position(&cursor.seal(key, self.caller.team.id, list))
    }
}

fn sign(key: &CursorKey, team: TeamId, list: &str, payload: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).ok()?;
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
        let mut forged = sealed.clone().into_bytes();
        forged[0] ^= 1;
        assert_eq!(open(&String::from_utf8(forged).unwrap(), 7, "items?a=b", 2_000_000), None);
        for text in ["", ".", "a.b", "é.é", &sealed[..sealed.len() - 1]] {
            assert_eq!(open(text, 7, "items?a=b", 2_000_000), None, "{text}");
        }
    }
}
