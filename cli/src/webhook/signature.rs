//! The signatures of a delivery: those of Dovetail and of Standard Webhooks.

use crate::{base::failure::Failure, document::file};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::path::Path;

/// The greatest difference between the clocks of sender and receiver, in seconds. An older delivery may be a copy.
const AGE_MAX: u64 = 300;
/// The start of a secret in the form of Standard Webhooks.
const STANDARD_PREFIX: &str = "whsec_";

/// The key of the signatures of a webhook.
#[derive(derive_more::Debug)]
pub(super) struct Secret(#[debug(skip)] Vec<u8>);

impl Secret {
    /// Reads the secret in the first line of a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let secret = Self::of(&file::first_line(path)?);
        secret.ok_or_else(|| {
            Failure::Failed(format!("{}: must contain the secret of a webhook", path.display()))
        })
    }

    /// Returns the key of a secret. Both forms of a secret have the same key.
    fn of(text: &str) -> Option<Self> {
        let key = match text.strip_prefix(STANDARD_PREFIX) {
            Some(encoded) => STANDARD.decode(encoded).ok()?,
            None => text.as_bytes().to_vec(),
        };
        (!key.is_empty()).then_some(Self(key))
    }

    /// Verifies every signature of a delivery at a time in seconds. Returns the reason of a refusal.
    pub(super) fn verify<'a>(
        &self,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
        now: u64,
    ) -> Result<(), &'static str> {
        let own = header("dovetail-signature").map(|signature| self.verify_own(signature, body, now));
        let standard = header("webhook-signature").map(|signatures| {
            let id = header("webhook-id").ok_or("no webhook-id")?;
            let time = header("webhook-timestamp").ok_or("no webhook-timestamp")?;
            self.verify_standard(id, time, signatures, body, now)
        });
        own.into_iter().chain(standard).reduce(Result::and).unwrap_or(Err("not signed"))
    }

    /// Verifies `t=SECONDS,v1=HEX`.
    fn verify_own(&self, signature: &str, body: &[u8], now: u64) -> Result<(), &'static str> {
        let parts = || signature.split(',').filter_map(|part| part.split_once('='));
        let time = parts().find_map(|(name, time)| (name == "t").then_some(time)).ok_or("no time")?;
        check_age(time, now)?;
        let text = [time.as_bytes(), b".", body].concat();
        let mut signatures = parts().filter(|(name, _)| *name == "v1").filter_map(|(_, hex)| bytes(hex));
        self.any_is_ours(&mut signatures, &text)
    }

    /// Verifies `v1,BASE64` in a list with spaces.
    fn verify_standard(
        &self,
        id: &str,
        time: &str,
        signatures: &str,
        body: &[u8],
        now: u64,
    ) -> Result<(), &'static str> {
        check_age(time, now)?;
        let text = [id.as_bytes(), b".", time.as_bytes(), b".", body].concat();
        let encoded = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
        self.any_is_ours(&mut encoded.filter_map(|encoded| STANDARD.decode(encoded).ok()), &text)
    }

    fn any_is_ours(
        &self,
        signatures: &mut impl Iterator<Item = Vec<u8>>,
        text: &[u8],
    ) -> Result<(), &'static str> {
        // HMAC accepts a key of any length. It compares in constant time.
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).map_err(|_| "no key")?.chain_update(text);
        let is_ours = signatures.any(|signature| mac.clone().verify_slice(&signature).is_ok());
        if is_ours { Ok(()) } else { Err("another secret or body") }
    }
}

fn check_age(time: &str, now: u64) -> Result<(), &'static str> {
    let time: u64 = time.parse().map_err(|_| "no time")?;
    if now.abs_diff(time) <= AGE_MAX { Ok(()) } else { Err("over 5 minutes old, or of the future") }
}

/// Returns the bytes of hexadecimal digits.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNED: u64 = 1_614_265_330;
    /// The published example of Standard Webhooks.
    const EXAMPLE: [(&str, &str); 3] = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ];

    fn verify(
        secret: &str,
        headers: &[(&str, &'static str)],
        body: &[u8],
        now: u64,
    ) -> Result<(), &'static str> {
        let header = |name: &str| headers.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        Secret::of(secret).unwrap().verify(header, body, now)
    }

    #[test]
    fn the_example_of_standard_webhooks_is_valid_for_five_minutes() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        for (now, expected) in [
            (SIGNED, Ok(())),
            (SIGNED + 300, Ok(())),
            (SIGNED - 300, Ok(())),
            (SIGNED + 301, Err("over 5 minutes old, or of the future")),
            (SIGNED - 301, Err("over 5 minutes old, or of the future")),
        ] {
            assert_eq!(verify(secret, &EXAMPLE, BODY, now), expected, "{now}");
        }
        assert_eq!(verify(secret, &EXAMPLE, b"{}", SIGNED), Err("another secret or body"));
        assert_eq!(verify("whsec_AAAA", &EXAMPLE, BODY, SIGNED), Err("another secret or body"));
        assert_eq!(verify(secret, &EXAMPLE[1..], BODY, SIGNED), Err("no webhook-id"));
        assert_eq!(verify(secret, &[], BODY, SIGNED), Err("not signed"));
    }

    #[test]
    fn each_signature_of_a_delivery_must_be_valid() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
        let own = "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
        let (body, now) = (br#"{"a":1}"#, 1_700_000_000);
        assert_eq!(verify("secret", &[("dovetail-signature", own)], body, now), Ok(()));
        // The other form of the same secret.
        assert_eq!(verify("whsec_c2VjcmV0", &[("dovetail-signature", own)], body, now), Ok(()));
        let both = [
            ("dovetail-signature", own),
            ("webhook-id", "1"),
            ("webhook-timestamp", "1700000000"),
            ("webhook-signature", "v1,AAAA"),
        ];
        assert_eq!(verify("secret", &both, body, now), Err("another secret or body"));
        for own in ["", "t=1700000000", "v1=49f2", "t=x,v1=49f2", "t=1700000000,v1=4x"] {
            assert!(verify("secret", &[("dovetail-signature", own)], body, now).is_err(), "{own}");
        }
    }
}
