//! Segments: the files of the log.
//!
//! A segment is prepared before it is used: zeros to its end, synced, and only then given its name. Appending
//! therefore never changes the file's size or its extents, and a sync has nothing but the data to write. The size is
//! in the header: a file of another size is damaged.
//!
//! ```text
//! 0       8         12       20      28     36       40        512    1024   1536
//! │ magic │ version │ number │ nonce │ size │ crc32c │ zeros … │ slot │ slot │ frames … zeros up to the size
//! ```
//!
//! Version 1 had neither the size nor slots for the high-water mark, and frames from byte 32 on. It is read, but never
//! written.

use std::io;

use crate::codec::Input;
use crate::disk::{Disk, DiskFile};
use crate::high_water_mark::{HighWaterMark, SLOTS_END, Slot};

/// A segment file open for appending.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    /// Covered by every checksum of this segment, and different in every segment.
    pub(crate) nonce: u64,
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) bytes: u64,
    pub(crate) mark: HighWaterMark,
    /// The slot of that mark.
    pub(crate) slot: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) number: u64,
    pub(crate) nonce: u64,
    /// The size of the file; `None` in version 1.
    pub(crate) bytes: Option<u64>,
}

/// Where the first frame begins.
pub(crate) const FIRST_FRAME: usize = SLOTS_END;

const MAGIC: [u8; 8] = *b"gantrylg";
const VERSION: u32 = 2;
const HEADER_BYTES: usize = 40;
const VERSION_1_HEADER_BYTES: usize = 32;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
const SUFFIX: &str = ".log";
const UNFINISHED: &str = ".new";

/// The name of a segment's file.
pub(crate) fn name(number: u64) -> String {
    format!("{number:012}{SUFFIX}")
}

/// The number of the segment with this name, if it is one.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

/// Creates a segment, or leaves no files.
pub(crate) fn prepare(disk: &dyn Disk, number: u64, nonce: u64, bytes: u64) -> io::Result<Segment> {
    let name = name(number);
    let unfinished = format!("{name}{UNFINISHED}");
    let bytes = bytes.max(FIRST_FRAME as u64);
    let mark = HighWaterMark { end: FIRST_FRAME as u64, revision: None };
    let header = Header { number, nonce, bytes: Some(bytes) };
    let file = write_unused(disk, &unfinished, header, bytes, mark).inspect_err(|_| {
        // The space is needed. A file that cannot be removed now is removed at the next start.
        let _ = disk.remove(&unfinished);
    })?;
    disk.rename(&unfinished, &name)?;
    disk.sync_names()?;
    Ok(Segment { number, nonce, file, bytes, mark, slot: Slot::First })
}

fn write_unused(
    disk: &dyn Disk,
    name: &str,
    header: Header,
    bytes: u64,
    mark: HighWaterMark,
) -> io::Result<Box<dyn DiskFile>> {
    let file = disk.create(name)?;
    let mut offset = 0;
    while offset < bytes {
        let length = ZEROS.len().min(usize::try_from(bytes - offset).unwrap_or(usize::MAX));
        file.write_at(&ZEROS[..length], offset)?;
        offset += length as u64;
    }
    file.write_at(&header.encode(bytes), 0)?;
    for slot in [Slot::First, Slot::Second] {
        file.write_at(&mark.encode(header.nonce), slot.offset() as u64)?;
    }
    file.sync()?;
    Ok(file)
}

impl Segment {
    /// Writes a mark to the slot of the older one. It is durable after the next sync.
    pub(crate) fn write_mark(&mut self, mark: HighWaterMark) -> io::Result<()> {
        (self.mark, self.slot) = (mark, self.slot.other());
        self.rewrite_mark()
    }

    /// Writes the newest mark again, in case it is in the cache and not on disk.
    pub(crate) fn rewrite_mark(&self) -> io::Result<()> {
        self.file.write_at(&self.mark.encode(self.nonce), self.slot.offset() as u64)
    }
}

impl Header {
    /// Where the first frame begins.
    pub(crate) fn first_frame(self) -> usize {
        if self.bytes.is_some() { FIRST_FRAME } else { VERSION_1_HEADER_BYTES }
    }

    fn encode(self, bytes: u64) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[0..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..20].copy_from_slice(&self.number.to_le_bytes());
        out[20..28].copy_from_slice(&self.nonce.to_le_bytes());
        out[28..36].copy_from_slice(&bytes.to_le_bytes());
        let sum = crc32c::crc32c(&out[..36]);
        out[36..40].copy_from_slice(&sum.to_le_bytes());
        out
    }

    pub(crate) fn decode(segment: &[u8]) -> Result<Self, &'static str> {
        let mut input = Input(segment);
        let early = |_| "a file too short for a log segment";
        let magic: [u8; 8] = input.array().map_err(early)?;
        if magic != MAGIC {
            return Err("a file that is not a log segment");
        }
        let version = input.u32().map_err(early)?;
        let (number, nonce) = (input.u64().map_err(early)?, input.u64().map_err(early)?);
        // If the version was damaged, the checksum is read at the wrong offset and does not match.
        let bytes = if version == 1 { None } else { Some(input.u64().map_err(early)?) };
        let covered = segment.len() - input.0.len();
        let sum = input.u32().map_err(early)?;
        if sum != crc32c::crc32c(&segment[..covered]) {
            return Err("a checksum that does not match, in the header");
        }
        if ![1, VERSION].contains(&version) {
            return Err("a log of a version this program does not know");
        }
        Ok(Self { number, nonce, bytes })
    }
}
