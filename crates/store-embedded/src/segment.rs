//! Segments: the files of the log.
//!
//! A segment is prepared before it is used: zeros to its end, synced, and only then given its name. Appending
//! therefore never changes the file's size or its extents, and a sync has nothing but the data to write.

use std::io;

use crate::codec::Input;
use crate::disk::{Disk, DiskFile};

/// A segment file open for appending.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    /// Covered by every checksum of this segment, and different in every segment.
    pub(crate) nonce: u64,
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) number: u64,
    pub(crate) nonce: u64,
}

/// Where the first frame begins.
pub(crate) const HEADER_BYTES: usize = 32;

const MAGIC: [u8; 8] = *b"gantrylg";
const VERSION: u32 = 1;
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

/// Creates a segment, or leaves nothing behind.
pub(crate) fn prepare(disk: &dyn Disk, header: Header, bytes: u64) -> io::Result<Segment> {
    let name = name(header.number);
    let unfinished = format!("{name}{UNFINISHED}");
    let file = write_zeros(disk, &unfinished, header, bytes).inspect_err(|_| {
        // The space is needed; a file that cannot be removed is removed at the next start.
        let _ = disk.remove(&unfinished);
    })?;
    disk.rename(&unfinished, &name)?;
    disk.sync_names()?;
    Ok(Segment { number: header.number, nonce: header.nonce, file, bytes })
}

fn write_zeros(disk: &dyn Disk, name: &str, header: Header, bytes: u64) -> io::Result<Box<dyn DiskFile>> {
    let file = disk.create(name)?;
    let mut offset = 0;
    while offset < bytes {
        let length = ZEROS.len().min(usize::try_from(bytes - offset).unwrap_or(usize::MAX));
        file.write_at(&ZEROS[..length], offset)?;
        offset += length as u64;
    }
    file.write_at(&header.encode(), 0)?;
    file.sync()?;
    Ok(file)
}

impl Header {
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[0..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..20].copy_from_slice(&self.number.to_le_bytes());
        out[20..28].copy_from_slice(&self.nonce.to_le_bytes());
        let sum = crc32c::crc32c(&out[..28]);
        out[28..32].copy_from_slice(&sum.to_le_bytes());
        out
    }

    pub(crate) fn decode(segment: &[u8]) -> Result<Self, &'static str> {
        let header: &[u8; HEADER_BYTES] =
            segment.first_chunk().ok_or("a file too short for a log segment")?;
        let mut input = Input(&header[..]);
        let early = |_| "a file too short for a log segment";
        let magic: [u8; 8] = input.array().map_err(early)?;
        let version = input.u32().map_err(early)?;
        let (number, nonce) = (input.u64().map_err(early)?, input.u64().map_err(early)?);
        let sum = input.u32().map_err(early)?;
        if magic != MAGIC {
            return Err("a file that is no log segment");
        }
        if sum != crc32c::crc32c(&header[..28]) {
            return Err("a checksum that does not match, in the header");
        }
        if version != VERSION {
            return Err("a log of a version this program does not know");
        }
        Ok(Self { number, nonce })
    }
}
