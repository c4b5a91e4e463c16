//! Signatures of webhook requests: a receiver with the secret can verify the sender and the age of a request.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write as _;

/// Returns the value of `Dovetail-Signature`: the time in seconds, and the HMAC-SHA256 of time and body.
pub fn signature(secret: &str, seconds: u64, body: &str) -> String {
    let mut text = format!("t={seconds},v1=");
    // HMAC accepts a key of any length, so this never fails.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) {
        // The time is part of the signed text, so a recorded request cannot be replayed with a new time.
        mac.update(format!("{seconds}.{body}").as_bytes());
        for byte in mac.finalize().into_bytes() {
            // Writing to a string never fails.
            let _taken = write!(text, "{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_others_would_make_it() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
        let expected = "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
        assert_eq!(signature("secret", 1_700_000_000, "{\"a\":1}"), expected);
    }
}
