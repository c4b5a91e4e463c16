//! Decompression of gzip members within bounds.
//!
//! The time depends on the output, except for empty members and blocks. Each of these takes microseconds and a few
//! bits, so a small body can have millions. The numbers of members and of blocks are therefore limited.

use domain::model::declaration::BODY_BYTES_MAX;
use flate2::Crc;
use flate2::bufread::GzDecoder;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// Maximum number of members in a body.
pub(super) const MEMBERS_MAX: usize = 64;
/// Maximum number of blocks in all members together. A compressor begins one about every ten thousand bytes, or at a
/// flush.
pub(super) const BLOCKS_MAX: usize = 16_384;

/// Minimum size of the output buffer, in bytes.
const ROOM: usize = 64 * 1_024;
/// The output is one buffer, and the decompressor reports each boundary of blocks.
const FLAGS: u32 = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF | TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY;

/// Decompresses the members of a body in order, up to one byte above the limit of a body.
pub(super) fn unpacked(mut packed: &[u8]) -> Option<Vec<u8>> {
    let (mut whole, mut blocks) = (Vec::new(), BLOCKS_MAX);
    for _ in 0..MEMBERS_MAX {
        packed = member(packed, &mut whole, &mut blocks)?;
        if packed.is_empty() || whole.len() > BODY_BYTES_MAX {
            return Some(whole);
        }
    }
    None
}

/// Appends the content of one member, and returns the rest of the body; none if it is not gzip.
fn member<'a>(packed: &'a [u8], whole: &mut Vec<u8>, blocks: &mut usize) -> Option<&'a [u8]> {
    let start = whole.len();
    let header = GzDecoder::new(packed);
    header.header()?;
    let packed = inflated(header.into_inner(), whole, blocks)?;
    // The body is too large in any case, so its checksum no longer matters.
    if whole.len() > BODY_BYTES_MAX {
        return Some(packed);
    }
    let mut sum = Crc::new();
    sum.update(whole.get(start..)?);
    let (tail, rest) = packed.split_at_checked(8)?;
    // Checksum and length (RFC 1952): a damaged body must not pass as a valid declaration.
    let expected = [sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].concat();
    (tail == expected).then_some(rest)
}

/// Appends the content of a deflate stream, and returns the rest of the body.
fn inflated<'a>(mut packed: &'a [u8], whole: &mut Vec<u8>, blocks: &mut usize) -> Option<&'a [u8]> {
    let mut state = Box::<DecompressorOxide>::default();
    // The buffer begins with this stream, so its references cannot reach earlier members.
    let (start, mut length) = (whole.len(), 0);
    // The first block of a stream has no boundary before it.
    *blocks = blocks.checked_sub(1)?;
    loop {
        let (status, read, written) = decompress(&mut state, packed, whole.get_mut(start..)?, length, FLAGS);
        (packed, length) = (packed.get(read..)?, length + written);
        let end = start + length;
        #[expect(clippy::wildcard_enum_match_arm, reason = "every other status is a failure")]
        match status {
            TINFLStatus::Done => {
                whole.truncate(end);
                return Some(packed);
            }
            TINFLStatus::BlockBoundary => *blocks = blocks.checked_sub(1)?,
            TINFLStatus::HasMoreOutput if end > BODY_BYTES_MAX => return Some(packed),
            TINFLStatus::HasMoreOutput => {
                whole.resize(end.saturating_mul(2).clamp(ROOM, BODY_BYTES_MAX + 1), 0);
            }
            _ => return None,
        }
    }
}
