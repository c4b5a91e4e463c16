//! Signatures of webhook requests: a receiver with the secret can verify the sender and the age of a request.
//!
//! Each request has two signatures: the one of Dovetail, and the one of [Standard
//! Webhooks](https://www.standardwebhooks.com).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write as _;

/// Returns the value of `Dovetail-Signature`: the time in seconds, and the HMAC-SHA256 of time and body.
pub fn signature(secret: &str, seconds: u64, body: &str) -> String {
    let mut text = format!("t={seconds},v1=");
    // The time is part of the signed text, so a recorded request cannot be replayed with a new time.
    for byte in hmac(secret.as_bytes(), &format!("{seconds}.{body}")) {
        // Writing to a string never fails.
        let _taken = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the value of `webhook-signature`; `id` must not contain a full stop.
///
/// The specification separates id, time and body by full stops. With a full stop in the id, two requests could share a
/// signature.
pub fn standard_signature(key: &[u8], id: &str, seconds: u64, body: &str) -> String {
    format!("v1,{}", STANDARD.encode(hmac(key, &format!("{id}.{seconds}.{body}"))))
}

/// Returns a secret in the form for libraries of Standard Webhooks, which use the decoded bytes as the key.
pub fn standard_secret(secret: &str) -> String {
    format!("whsec_{}", STANDARD.encode(secret))
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    // HMAC accepts a key of any length, so this never fails.
    let mac = Hmac::<Sha256>::new_from_slice(key).map(|mac| mac.chain_update(text).finalize());
    mac.map(|mac| mac.into_bytes().to_vec()).unwrap_or_default()
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

    #[test]
    fn the_published_example_of_standard_webhooks_has_the_same_signature() {
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", "{\"test\": 2432232314}");
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(standard_signature(&key, id, 1_614_265_330, body), expected);
    }

    #[test]
    fn the_standard_secret_decodes_to_the_secret() {
        let secret = standard_secret("dvt_secret");
        let encoded = secret.strip_prefix("whsec_").unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap(), b"dvt_secret");
    }
}
