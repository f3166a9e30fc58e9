//! Frames: the unit of the log that is complete or absent.
//!
//! One group commit is one frame. The next is not begun before this one is synced, so at most one frame, the last, can
//! be torn by a crash. Hence the rule of recovery: an invalid frame is a torn tail if it is after the high-water mark
//! and no valid frame follows it, and damage otherwise.
//!
//! ```text
//! 0        4        8          16          24       28       32
//! │ length │ crc32c │ base     │ at millis │ kind   │ count  │ payload … zeros up to a multiple of 8
//! ```
//!
//! The checksum also covers a number drawn for each segment, so that bytes of another segment, or a value that
//! happens to look like a frame, never count as one here.

use gantry_store::{Revision, Transaction};

use crate::codec::{self, Input, Malformed};

/// Bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 32;

/// Where frames begin.
pub(crate) const ALIGNMENT: usize = 8;

/// Payloads beyond this are damage, not data: a batch is a few transactions of at most 4 MiB.
const PAYLOAD_BYTES_MAX: usize = 64 << 20;

/// The error of a frame that ends after its segment.
pub(crate) const TOO_LONG: &str = "a frame longer than its segment";

/// The purpose of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Transactions, each taking the next revision.
    Batch,
    /// History before a revision is compacted.
    Compact,
    /// The log continues in the next segment.
    Seal,
    /// The store was closed; everything before this is durable.
    Close,
}

/// A valid frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    /// The revision before the first transaction.
    pub(crate) base: Revision,
    pub(crate) at_millis: u64,
    /// The number of transactions.
    pub(crate) count: u32,
    pub(crate) payload: &'a [u8],
    /// Bytes from its start to the next frame's.
    pub(crate) bytes: usize,
}

/// The content at an offset where a frame may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScannedFrame<'a> {
    Frame(Frame<'a>),
    /// Nothing was written here.
    Nothing,
    /// Something that is not a frame.
    Broken(&'static str),
}

/// The frame of a batch.
pub(crate) fn batch(nonce: u64, base: Revision, at_millis: u64, transactions: &[Transaction]) -> Vec<u8> {
    let payload: usize = transactions.iter().map(|transaction| transaction.bytes() + 64).sum();
    let mut out = begin(payload);
    for transaction in transactions {
        codec::put_transaction(&mut out, transaction);
    }
    finish(out, nonce, Kind::Batch, base, at_millis, u32::try_from(transactions.len()).unwrap_or(u32::MAX))
}

/// The frame of a compaction.
pub(crate) fn compact(nonce: u64, base: Revision, at_millis: u64, floor: Revision) -> Vec<u8> {
    let mut out = begin(8);
    out.extend_from_slice(&floor.get().to_le_bytes());
    finish(out, nonce, Kind::Compact, base, at_millis, 0)
}

/// A frame without payload.
pub(crate) fn mark(nonce: u64, kind: Kind, base: Revision, at_millis: u64) -> Vec<u8> {
    finish(begin(0), nonce, kind, base, at_millis, 0)
}

/// Reads the content at an offset of a segment.
pub(crate) fn read(segment: &[u8], offset: usize, nonce: u64) -> ScannedFrame<'_> {
    let Some(bytes) = segment.get(offset..) else { return ScannedFrame::Nothing };
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return if bytes.iter().all(|byte| *byte == 0) {
            ScannedFrame::Nothing
        } else {
            ScannedFrame::Broken("an incomplete header")
        };
    };
    if header.iter().all(|byte| *byte == 0) {
        return ScannedFrame::Nothing;
    }
    match parse(header, rest, nonce) {
        Ok(frame) => ScannedFrame::Frame(frame),
        Err(Malformed(why)) => ScannedFrame::Broken(why),
    }
}

/// The offset of the first valid frame at or after an offset.
pub(crate) fn find(segment: &[u8], from: usize, nonce: u64) -> Option<usize> {
    let mut offset = from.next_multiple_of(ALIGNMENT);
    while let Some(word) = segment.get(offset..offset + ALIGNMENT) {
        // Most of a segment's end is not written; no frame begins with a length of zero and a checksum of zero.
        if word != [0; ALIGNMENT] && matches!(read(segment, offset, nonce), ScannedFrame::Frame(_)) {
            return Some(offset);
        }
        offset += ALIGNMENT;
    }
    None
}

impl Frame<'_> {
    /// The transactions, in the order of their revisions.
    pub(crate) fn transactions(&self) -> Result<Vec<Transaction>, Malformed> {
        let mut input = Input(self.payload);
        let transactions = (0..self.count).map(|_| input.transaction()).collect::<Result<Vec<_>, _>>()?;
        if input.is_empty() { Ok(transactions) } else { Err(Malformed("more bytes than transactions")) }
    }

    /// The new floor, of a compaction.
    pub(crate) fn floor(&self) -> Result<Revision, Malformed> {
        Input(self.payload).revision()
    }

    /// The revision after the last transaction.
    pub(crate) fn end(&self) -> Revision {
        self.base.advanced(u64::from(self.count))
    }
}

impl Kind {
    fn code(self) -> u32 {
        match self {
            Self::Batch => 1,
            Self::Compact => 2,
            Self::Seal => 3,
            Self::Close => 4,
        }
    }

    fn from_code(code: u32) -> Result<Self, Malformed> {
        let kinds = [Self::Batch, Self::Compact, Self::Seal, Self::Close];
        kinds.into_iter().find(|kind| kind.code() == code).ok_or(Malformed("an unknown kind of frame"))
    }
}

fn begin(payload: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity((HEADER_BYTES + payload).next_multiple_of(ALIGNMENT));
    out.resize(HEADER_BYTES, 0);
    out
}

fn finish(mut out: Vec<u8>, nonce: u64, kind: Kind, base: Revision, at_millis: u64, count: u32) -> Vec<u8> {
    let length = u32::try_from(out.len() - HEADER_BYTES).unwrap_or(u32::MAX);
    out[0..4].copy_from_slice(&length.to_le_bytes());
    out[8..16].copy_from_slice(&base.get().to_le_bytes());
    out[16..24].copy_from_slice(&at_millis.to_le_bytes());
    out[24..28].copy_from_slice(&kind.code().to_le_bytes());
    out[28..32].copy_from_slice(&count.to_le_bytes());
    let sum = checksum(nonce, length, &out[8..HEADER_BYTES], &out[HEADER_BYTES..]);
    out[4..8].copy_from_slice(&sum.to_le_bytes());
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
    out
}

fn parse<'a>(header: &[u8; HEADER_BYTES], rest: &'a [u8], nonce: u64) -> Result<Frame<'a>, Malformed> {
    let mut input = Input(header);
    let length = input.u32()?;
    let sum = input.u32()?;
    let (base, at_millis) = (input.u64()?, input.u64()?);
    let (kind, count) = (input.u32()?, input.u32()?);
    let bytes = usize::try_from(length).map_err(|_| Malformed("an impossible length"))?;
    if bytes > PAYLOAD_BYTES_MAX {
        return Err(Malformed("an impossible length"));
    }
    let padded = (HEADER_BYTES + bytes).next_multiple_of(ALIGNMENT);
    let padded_payload = rest.get(..padded - HEADER_BYTES).ok_or(Malformed(TOO_LONG))?;
    let payload = &padded_payload[..bytes];
    // Cheap checks first: the search for frames runs them at every eighth byte.
    let kind = Kind::from_code(kind)?;
    let base = Revision::new(base).ok_or(Malformed("a revision of zero"))?;
    if sum != checksum(nonce, length, &header[8..], payload) {
        return Err(Malformed("a checksum that does not match"));
    }
    Ok(Frame { kind, base, at_millis, count, payload, bytes: padded })
}

fn checksum(nonce: u64, length: u32, header: &[u8], payload: &[u8]) -> u32 {
    let sum = crc32c::crc32c(&nonce.to_le_bytes());
    let sum = crc32c::crc32c_append(sum, &length.to_le_bytes());
    let sum = crc32c::crc32c_append(sum, header);
    crc32c::crc32c_append(sum, payload)
}
