//! Signatures: whoever has the secret can tell that a request is ours, and how old it is.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write as _;

/// What is sent as `Dovetail-Signature`: the time, and the HMAC-SHA256 over time and body with the secret as its key.
pub fn signature(secret: &str, seconds: u64, body: &str) -> String {
    let mut text = format!("t={seconds},v1=");
    // A key of any length will do.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) {
        mac.update(format!("{seconds}.{body}").as_bytes());
        for byte in mac.finalize().into_bytes() {
            // A text takes whatever is written to it.
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
