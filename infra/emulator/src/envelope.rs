//! The envelope of EventBridge around published and scheduled events.

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

/// The AWS account of the local system.
pub const ACCOUNT: &str = "000000000000";
/// The AWS region of the local system.
pub const REGION: &str = "local";

const TIME: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");

/// Returns an event with a new id.
pub fn envelope(
    source: &str,
    detail_type: &str,
    at: OffsetDateTime,
    resources: &[String],
    detail: &Value,
) -> Value {
    json!({
        "version": "0",
        "id": uuid(),
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": time(at),
        "region": REGION,
        "resources": resources,
        "detail": detail,
    })
}

/// Returns a time in UTC with seconds, in the format of AWS.
pub fn time(at: OffsetDateTime) -> String {
    // Formatting fails only for a component that a type lacks, and this type has all of them.
    at.to_offset(time::UtcOffset::UTC).format(TIME).unwrap_or_default()
}

/// Returns a random UUID, version 4.
pub fn uuid() -> String {
    let random = fastrand::u128(..);
    // RFC 9562 fixes the version (4) and the variant (binary 10) of a random UUID.
    let versioned = (random >> 64) & 0x0fff | 0x4000;
    let variant = (random >> 48) & 0x3fff | 0x8000;
    let (first, second, last) = (random >> 96, (random >> 80) & 0xffff, random & 0xffff_ffff_ffff);
    format!("{first:08x}-{second:04x}-{versioned:04x}-{variant:04x}-{last:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_fields_of_eventbridge() {
        let at = OffsetDateTime::from_unix_timestamp(1_583_348_638).unwrap();
        let mut event = envelope("here", "Thing.v1", at, &["one".to_owned()], &json!({"a": 1}));
        let id = event["id"].take();
        let expected = json!({
            "version": "0", "id": null, "detail-type": "Thing.v1", "source": "here",
            "account": "000000000000", "time": "2020-03-04T19:03:58Z", "region": "local",
            "resources": ["one"], "detail": {"a": 1},
        });
        assert_eq!(event, expected);
        let groups: Vec<&str> = id.as_str().unwrap().split('-').collect();
        assert_eq!(groups.iter().map(|group| group.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{id}");
        assert!(groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit())), "{id}");
        assert!(groups[2].starts_with('4') && groups[3].starts_with(['8', '9', 'a', 'b']), "{id}");
        assert_ne!(uuid(), uuid());
    }
}
