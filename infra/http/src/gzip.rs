//! Compression with gzip: of request bodies by `Content-Encoding`, of responses by `Accept-Encoding`.

mod member;

use crate::code::Code;
use crate::reply::{Failure, Reply};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, header};
use member::{BLOCKS_MAX, MEMBERS_MAX};
use std::io::Write as _;

/// Minimum size of a compressed response, in bytes.
const PACKED_FROM: usize = 1_024;

/// Returns the body, decompressed if its coding is gzip.
///
/// Decompression stops one byte above the limit of a body, so a larger body fails like an uncompressed one and uses no
/// more memory.
pub(crate) fn unpacked(headers: &HeaderMap, body: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let coding = headers.get(header::CONTENT_ENCODING).map_or(Ok(""), |coding| coding.to_str());
    // A header without text names an unknown coding.
    let coding = coding.unwrap_or("?").trim().to_ascii_lowercase();
    match coding.as_str() {
        _ if body.is_empty() => Ok(body),
        "" | "identity" => Ok(body),
        "gzip" | "x-gzip" => member::unpacked(&body).ok_or_else(|| {
            let bounds = format!("at most {MEMBERS_MAX} members and {BLOCKS_MAX} blocks");
            refused(&format!("the body must be valid gzip with {bounds}"))
        }),
        _ => Err(refused("Content-Encoding must be gzip or identity")),
    }
}

fn refused(detail: &str) -> Failure {
    Reply::refused(Code::InvalidBody, detail).into()
}

/// Returns whether the client accepts a compressed response.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING);
    let mut codings =
        accepted.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.split_once('=').map_or("1", |(_, weight)| weight.trim());
        // Only the weight 0 matters: it excludes the coding (RFC 9110).
        name.trim().eq_ignore_ascii_case("gzip") && !weight.bytes().all(|byte| matches!(byte, b'0' | b'.'))
    })
}

/// Returns whether a response is large enough for compression.
pub(crate) const fn is_worth_packing(text: &str) -> bool {
    text.len() >= PACKED_FROM
}

/// Compresses a response; none if the result is longer in base64, the form of a binary body in an event.
pub(crate) fn packed(text: &str) -> Option<Vec<u8>> {
    let mut packing = GzEncoder::new(Vec::new(), Compression::fast());
    packing.write_all(text.as_bytes()).ok()?;
    let packed = packing.finish().ok()?;
    // Base64 adds a third. Random text would grow, and a function's response ends at 6 MB.
    let length = base64::encoded_len(packed.len(), true)?;
    (length < text.len()).then_some(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::model::declaration::BODY_BYTES_MAX;
    use flate2::bufread::MultiGzDecoder;
    use flate2::{Crc, GzBuilder};
    use http::HeaderName;
    use std::io::Read as _;

    fn headers(name: HeaderName, value: &[u8]) -> HeaderMap {
        HeaderMap::from_iter([(name, http::HeaderValue::from_bytes(value).unwrap())])
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packing = GzEncoder::new(Vec::new(), Compression::default());
        packing.write_all(bytes).unwrap();
        packing.finish().unwrap()
    }

    /// A coding, a body, and its content; none for a rejected one.
    type Case<'a> = (&'a [u8], Vec<u8>, Option<&'a [u8]>);

    #[test]
    fn a_body_is_unpacked_as_it_says() {
        let twice = [gzip(b"{\"a\":"), gzip(b"1}")].concat();
        let table: [Case<'_>; 12] = [
            (b"", b"{}".to_vec(), Some(b"{}")),
            (b"identity", b"{}".to_vec(), Some(b"{}")),
            (b"gzip", gzip(b"{}"), Some(b"{}")),
            (b" GZip ", gzip(b"{}"), Some(b"{}")),
            (b"x-gzip", gzip(b"{}"), Some(b"{}")),
            (b"gzip", twice, Some(b"{\"a\":1}")),
            (b"gzip", Vec::new(), Some(b"")),
            (b"gzip", b"{}".to_vec(), None),
            (b"gzip", [gzip(b"{}"), b"more".to_vec()].concat(), None),
            (b"br", b"{}".to_vec(), None),
            (b"gzip, gzip", gzip(b"{}"), None),
            (b"\xff", b"{}".to_vec(), None),
        ];
        for (coding, body, expected) in table {
            let actual = unpacked(&headers(header::CONTENT_ENCODING, coding), body).ok();
            assert_eq!(actual.as_deref(), expected, "{}", String::from_utf8_lossy(coding));
        }
        assert_eq!(unpacked(&HeaderMap::new(), b"{}".to_vec()).ok().as_deref(), Some(&b"{}"[..]));
        let whole = gzip(b"a declaration");
        for end in 1..whole.len() {
            let coding = headers(header::CONTENT_ENCODING, b"gzip");
            assert!(unpacked(&coding, whole[..end].to_vec()).is_err(), "cut off at {end}");
        }
    }

    #[test]
    fn no_more_is_unpacked_than_shows_that_it_is_too_large() {
        let coding = headers(header::CONTENT_ENCODING, b"gzip");
        for (bytes, expected_bytes) in [(-1, -1), (0, 0), (1, 1), (2, 1), (50_000_000, 1)] {
            let [bytes, expected_bytes] =
                [bytes, expected_bytes].map(|more| BODY_BYTES_MAX.checked_add_signed(more).unwrap());
            let actual = unpacked(&coding, gzip(&vec![b' '; bytes])).unwrap();
            assert_eq!(actual.len(), expected_bytes, "{bytes}");
        }
    }

    #[test]
    fn a_body_has_a_bounded_number_of_members() {
        let coding = headers(header::CONTENT_ENCODING, b"gzip");
        let empty = gzip(b"");
        let most = [empty.repeat(MEMBERS_MAX - 1), gzip(b"{}")].concat();
        assert_eq!(unpacked(&coding, most.clone()).unwrap(), b"{}");
        assert!(unpacked(&coding, [empty.clone(), most].concat()).is_err());
        assert!(unpacked(&coding, empty.repeat(100_000)).is_err());
    }

    /// Returns a member of stored blocks: empty ones, and a last one with a text of fewer than 256 bytes.
    fn member_of_blocks(empty: usize, text: &[u8]) -> Vec<u8> {
        let length = u8::try_from(text.len()).unwrap();
        let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        let last = [1, length, 0, !length, 255];
        let mut crc = Crc::new();
        crc.update(text);
        let tail = [crc.sum().to_le_bytes(), [length, 0, 0, 0]].concat();
        [&head[..], &[0, 0, 0, 255, 255].repeat(empty), &last, text, &tail].concat()
    }

    #[test]
    fn a_body_has_a_bounded_number_of_blocks() {
        let coding = headers(header::CONTENT_ENCODING, b"gzip");
        assert_eq!(unpacked(&coding, member_of_blocks(BLOCKS_MAX - 1, b"{}")).unwrap(), b"{}");
        assert!(unpacked(&coding, member_of_blocks(BLOCKS_MAX, b"{}")).is_err());
        let twice =
            [member_of_blocks(BLOCKS_MAX / 2 - 1, b"{"), member_of_blocks(BLOCKS_MAX / 2 - 1, b"}")].concat();
        assert_eq!(unpacked(&coding, twice).unwrap(), b"{}", "the blocks of all members count");
        let twice =
            [member_of_blocks(BLOCKS_MAX / 2 - 1, b"{"), member_of_blocks(BLOCKS_MAX / 2, b"}")].concat();
        assert!(unpacked(&coding, twice).is_err(), "the blocks of all members count");
    }

    #[test]
    fn a_member_is_refused_if_its_sums_or_its_references_do_not_fit() {
        let coding = headers(header::CONTENT_ENCODING, b"gzip");
        let whole = member_of_blocks(0, b"{}");
        for back in 1..=8 {
            let mut other = whole.clone();
            let at = other.len() - back;
            other[at] ^= 1;
            assert!(unpacked(&coding, other).is_err(), "byte {at}");
        }
        // The second member begins with a reference into the first: length 3 at distance 1.
        let reference = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255][..], &[0x03, 0x02, 0x00], &[0; 8]].concat();
        assert!(unpacked(&coding, [whole, reference].concat()).is_err());
    }

    #[test]
    fn a_member_may_name_its_file() {
        let coding = headers(header::CONTENT_ENCODING, b"gzip");
        let mut packing = GzBuilder::new()
            .filename("body.json")
            .comment("c")
            .extra([1, 2])
            .write(Vec::new(), Compression::best());
        let text = b"{\"a\": 1}".repeat(100_000);
        packing.write_all(&text).unwrap();
        assert_eq!(unpacked(&coding, packing.finish().unwrap()).unwrap(), text);
    }

    #[test]
    fn gzip_is_accepted_where_it_is_named_with_a_weight() {
        let table = [
            ("gzip", true),
            ("gzip, deflate", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("deflate,gzip ; q=0.001", true),
            ("gzip;q=1", true),
            ("", false),
            ("identity", false),
            ("br, deflate", false),
            ("gzip;q=0", false),
            ("gzip; q=0.000, br", false),
            ("xgzip", false),
        ];
        for (accepted, expected) in table {
            let headers = headers(header::ACCEPT_ENCODING, accepted.as_bytes());
            assert_eq!(is_accepted(&headers), expected, "{accepted}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }

    #[test]
    fn what_does_not_get_shorter_is_not_packed() {
        let text = "abc".repeat(1_000);
        let unpacked = packed(&text).unwrap();
        let mut read = String::new();
        MultiGzDecoder::new(unpacked.as_slice()).read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
        // Pseudorandom characters, so gzip finds no repetition.
        let noise: String =
            (0..2_000_u32).filter_map(|n| char::from_u32(n.wrapping_mul(2_654_435_761) >> 15)).collect();
        assert!(is_worth_packing(&noise) && packed(&noise).is_none());
    }
}
