//! The high-water mark: the end of a segment's acknowledged frames.
//!
//! A segment has two slots for it, in sectors of their own between its header and its first frame. When a frame is
//! synced, and before it is acknowledged, its end is written to the slot of the older mark. That needs no sync of its
//! own: the next frame's sync includes it, or a separate sync if no frame follows for a moment. A killed process
//! therefore leaves an exact mark, and a power failure at worst one that lacks the last group commit.
//!
//! What recovery concludes from the slots:
//!
//! - A log that ends before the mark has lost acknowledged writes.
//! - An invalid slot was being written when the power failed. The frame of that mark was synced before, so the log
//!   continues after the mark in the other slot; if it does not, writes are lost or the slot is damaged.
//! - Without any valid slot the segment is damaged: a segment has two from the beginning.

use gantry_store::Revision;

use crate::codec::Input;

/// The end of the last acknowledged frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HighWaterMark {
    /// The offset after the frame.
    pub(crate) end: u64,
    /// The revision after the frame; `None` before the first.
    pub(crate) revision: Option<Revision>,
}

/// The slots of a segment as they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    /// The newest valid mark.
    pub(crate) newest: HighWaterMark,
    /// The slot it is in.
    pub(crate) slot: Slot,
    /// Whether the other slot is invalid.
    pub(crate) is_other_torn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    First,
    Second,
}

const SECTOR_BYTES: usize = 512;
const BYTES: usize = 20;

/// The offset after both slots.
pub(crate) const SLOTS_END: usize = 3 * SECTOR_BYTES;

impl HighWaterMark {
    /// The bytes of a slot; the checksum covers the segment's nonce, so that a slot of another segment is invalid here.
    pub(crate) fn encode(self, nonce: u64) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        out[0..8].copy_from_slice(&self.end.to_le_bytes());
        out[8..16].copy_from_slice(&self.revision.map_or(0, Revision::get).to_le_bytes());
        let sum = checksum(nonce, &out[..16]);
        out[16..20].copy_from_slice(&sum.to_le_bytes());
        out
    }

    fn decode(segment: &[u8], slot: Slot, nonce: u64) -> Option<Self> {
        let bytes = segment.get(slot.offset()..)?.first_chunk::<BYTES>()?;
        let mut input = Input(bytes);
        let (end, revision, sum) = (input.u64().ok()?, input.u64().ok()?, input.u32().ok()?);
        (sum == checksum(nonce, &bytes[..16])).then_some(Self { end, revision: Revision::new(revision) })
    }
}

impl Slots {
    /// Reads both slots; `None` if neither is valid.
    pub(crate) fn read(segment: &[u8], nonce: u64) -> Option<Self> {
        let [first, second] =
            [Slot::First, Slot::Second].map(|slot| HighWaterMark::decode(segment, slot, nonce));
        let is_second_newer = match (first, second) {
            (Some(first), Some(second)) => second.end > first.end,
            (None, second) => second.is_some(),
            (Some(_), None) => false,
        };
        let (newest, slot) = if is_second_newer { (second?, Slot::Second) } else { (first?, Slot::First) };
        Some(Self { newest, slot, is_other_torn: first.is_none() || second.is_none() })
    }
}

impl Slot {
    pub(crate) fn offset(self) -> usize {
        match self {
            Self::First => SECTOR_BYTES,
            Self::Second => 2 * SECTOR_BYTES,
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

fn checksum(nonce: u64, fields: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&nonce.to_le_bytes()), fields)
}
