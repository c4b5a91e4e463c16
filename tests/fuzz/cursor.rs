//! Target `cursor`: only a sealed cursor opens, unchanged, for its team and its list, with its key, for one day.

use crate::input::Input;
use domain::{TeamId, Timestamp};
use dovetail_http::{Cursor, CursorKey};

const DAY_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

pub(crate) fn opened(bytes: &[u8]) {
    let mut input = Input(bytes);
    let key = CursorKey::new("secret");
    let team = |number: u8| TeamId::new(u64::from(number) + 1).unwrap();
    let (own, list, issued) = (input.byte(), input.text(), input.number());
    let (counted, count, skip) = (input.byte(), input.number(), input.number());
    let count = (counted % 2 == 1).then_some(count);
    let before = count.filter(|count| count % 2 == 1);
    let cursor = Cursor { after: input.text(), count, before, skip, issued: Timestamp::from_micros(issued) };
    let sealed = cursor.seal(&key, team(own), &list);
    let now = Timestamp::from_micros(issued.saturating_add(input.number() % (2 * DAY_MICROS)));
    let is_fresh = now.micros().saturating_sub(issued) <= DAY_MICROS;
    let open = |text: &str| Cursor::open(text, &key, team(own), &list, now);
    assert_eq!(open(&sealed), is_fresh.then_some(cursor), "as it was sealed");

    let other_key = CursorKey::new("another");
    assert_eq!(Cursor::open(&sealed, &other_key, team(own), &list, now), None, "another key");
    assert_eq!(Cursor::open(&sealed, &key, team(own.wrapping_add(1)), &list, now), None, "another team");
    assert_eq!(Cursor::open(&sealed, &key, team(own), &format!("{list}?"), now), None, "another list");

    let rest = String::from_utf8_lossy(input.0).into_owned();
    if rest != sealed {
        assert_eq!(open(&rest), None, "made up");
    }
    if let Some(forged) = edited(&sealed, input).filter(|forged| *forged != sealed) {
        assert_eq!(open(&forged), None, "forged");
    }
}

/// Returns the text with bytes replaced or removed, as the input directs.
fn edited(text: &str, mut input: Input<'_>) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    while !input.is_empty() && !bytes.is_empty() {
        let at = usize::from(input.byte()) * 256 + usize::from(input.byte());
        let at = at % bytes.len();
        match input.byte() {
            0 => drop(bytes.remove(at)),
            1 => bytes.truncate(at),
            byte => bytes[at] = byte,
        }
    }
    String::from_utf8(bytes).ok()
}
