//! The members of a packed body, unpacked within bounds.
//!
//! The time to unpack follows the output, except for members and blocks that are empty: each takes microseconds and
//! few bits, so a small body has millions of them. Both are counted.

use domain::declaration::BODY_BYTES_MAX;
use flate2::Crc;
use flate2::bufread::GzDecoder;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// How many members a body may have.
pub(super) const MEMBERS_MAX: usize = 64;
/// How many blocks its members may have together. A packer begins one for some ten thousand bytes, or at a flush.
pub(super) const BLOCKS_MAX: usize = 16_384;

/// From how many bytes on the output grows.
const ROOM: usize = 64 * 1_024;
/// The output is one piece of memory, and the packer's last block is not the only one that is reported.
const FLAGS: u32 = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF | TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY;

/// Unpacks the members of a body one after the other, to one byte more than a body may have.
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

/// Appends what one member unpacks to, and returns what follows the member; none where it is not gzip.
fn member<'a>(packed: &'a [u8], whole: &mut Vec<u8>, blocks: &mut usize) -> Option<&'a [u8]> {
    let start = whole.len();
    let header = GzDecoder::new(packed);
    header.header()?;
    let packed = inflated(header.into_inner(), whole, blocks)?;
    if whole.len() > BODY_BYTES_MAX {
        return Some(packed);
    }
    let mut sum = Crc::new();
    sum.update(whole.get(start..)?);
    let (tail, rest) = packed.split_at_checked(8)?;
    let expected = [sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].concat();
    (tail == expected).then_some(rest)
}

/// Appends what a deflate stream unpacks to, and returns what follows the stream.
fn inflated<'a>(mut packed: &'a [u8], whole: &mut Vec<u8>, blocks: &mut usize) -> Option<&'a [u8]> {
    let mut state = Box::<DecompressorOxide>::default();
    // References lead no further back than to the start of the stream.
    let (start, mut length) = (whole.len(), 0);
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
