//! Snapshots: all keys at one revision, in one file. A backup is one too.
//!
//! The file is a header and blocks of items in key order, each with its length and checksum; the last block is empty
//! and contains the number of items. A snapshot is written under another name, synced, and only then renamed, so a file
//! of this name is complete or damaged, never unfinished.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use gantry_store::memory::SteppedRead;
use gantry_store::{Item, Key, Revision, Versioned};

use crate::codec::{self, Input, Malformed};
use crate::disk::{Disk, DiskFile};
use crate::error::OpenError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The revision of the state.
    pub(crate) revision: Revision,
    /// The segment with the first change after it.
    pub(crate) first_segment: u64,
}

/// A snapshot read back.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) header: Header,
    pub(crate) keys: BTreeMap<Key, Versioned>,
    pub(crate) bytes: u64,
}

const MAGIC: [u8; 8] = *b"gantrysn";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 32;
const BLOCK_HEADER_BYTES: usize = 16;
/// Large enough for the disk's full speed, small enough for memory.
const BLOCK_BYTES: usize = 256 << 10;
/// A block holds at least one item, whatever its size; beyond this it is damage.
const BLOCK_BYTES_MAX: usize = BLOCK_BYTES + (8 << 20);
const ITEMS_AT_ONCE: usize = 64;
const SUFFIX: &str = ".snapshot";

/// The name of a snapshot's file.
pub(crate) fn name(revision: Revision) -> String {
    format!("{:020}{SUFFIX}", revision.get())
}

/// The revision of the snapshot with this name, if it is one.
pub(crate) fn revision_of(name: &str) -> Option<Revision> {
    Revision::new(name.strip_suffix(SUFFIX)?.parse().ok()?)
}

/// Writes a read's items as the snapshot of its revision, or leaves no files.
pub(crate) fn write(disk: &dyn Disk, mut read: SteppedRead<'_>, first_segment: u64) -> io::Result<()> {
    let header = Header { revision: read.at(), first_segment };
    write_as(disk, &name(read.at()), header, || read.take(ITEMS_AT_ONCE).map_err(io::Error::other))
}

/// Writes a snapshot under a name; `more` returns the next items, none at the end.
pub(crate) fn write_as(
    disk: &dyn Disk,
    name: &str,
    header: Header,
    more: impl FnMut() -> io::Result<Vec<Item>>,
) -> io::Result<()> {
    let unfinished = format!("{name}.new");
    let written = disk.create(&unfinished).and_then(|file| write_blocks(&*file, header, more));
    written.inspect_err(|_| {
        // The space is needed. A file that cannot be removed now is removed at the next start.
        let _ = disk.remove(&unfinished);
    })?;
    disk.rename(&unfinished, name)?;
    disk.sync_names()
}

/// Reads a snapshot back, or returns where it is damaged.
pub(crate) fn load(disk: &dyn Disk, name: &str) -> Result<Snapshot, OpenError> {
    let path = disk.path(name);
    let file = disk.open(name).map_err(OpenError::read(&path))?;
    let mut blocks = Blocks { file: &*file, path: path.clone(), offset: 0 };
    let header = blocks.header()?;
    let mut items: Vec<(Key, Versioned)> = Vec::new();
    loop {
        let start = blocks.offset;
        let damaged = |Malformed(why)| OpenError::damaged(path.clone(), start, why);
        let (block, count) = blocks.next()?;
        if block.is_empty() {
            if count != items.len() as u64 {
                return Err(damaged(Malformed("another number of items than were written")));
            }
            let keys = in_order(items).map_err(damaged)?;
            return Ok(Snapshot { header, keys, bytes: blocks.offset });
        }
        let mut input = Input(&block);
        while !input.is_empty() {
            let item = input.item().map_err(damaged)?;
            if item.revision > header.revision {
                return Err(damaged(Malformed("an item newer than its snapshot")));
            }
            items.push((item.key, Versioned { value: item.value, revision: item.revision }));
        }
    }
}

fn write_blocks(
    file: &dyn DiskFile,
    header: Header,
    mut more: impl FnMut() -> io::Result<Vec<Item>>,
) -> io::Result<()> {
    file.write_at(&header.encode(), 0)?;
    let mut offset = HEADER_BYTES as u64;
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let mut count = 0;
    loop {
        let items = more()?;
        let at_end = items.is_empty();
        for item in items {
            count += 1;
            codec::put_item(&mut block, &item);
            if block.len() >= BLOCK_BYTES {
                offset = write_block(file, offset, &block, count)?;
                block.clear();
            }
        }
        if at_end {
            break;
        }
    }
    if !block.is_empty() {
        offset = write_block(file, offset, &block, count)?;
    }
    write_block(file, offset, &[], count)?;
    file.sync()
}

/// Writes a block: length, checksum, the number of items up to its end, and the items.
fn write_block(file: &dyn DiskFile, offset: u64, block: &[u8], count: u64) -> io::Result<u64> {
    let length = u32::try_from(block.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut header = [0; BLOCK_HEADER_BYTES];
    header[0..4].copy_from_slice(&length.to_le_bytes());
    header[8..16].copy_from_slice(&count.to_le_bytes());
    let sum = checksum(offset, length, count, block);
    header[4..8].copy_from_slice(&sum.to_le_bytes());
    file.write_at(&header, offset)?;
    file.write_at(block, offset + header.len() as u64)?;
    Ok(offset + (header.len() + block.len()) as u64)
}

/// The offset is covered too: a block at another block's offset is damage.
fn checksum(offset: u64, length: u32, count: u64, block: &[u8]) -> u32 {
    let sum = crc32c::crc32c(&offset.to_le_bytes());
    let sum = crc32c::crc32c_append(sum, &length.to_le_bytes());
    let sum = crc32c::crc32c_append(sum, &count.to_le_bytes());
    crc32c::crc32c_append(sum, block)
}

fn in_order(items: Vec<(Key, Versioned)>) -> Result<BTreeMap<Key, Versioned>, Malformed> {
    if items.is_sorted_by(|(one, _), (next, _)| one < next) {
        Ok(items.into_iter().collect())
    } else {
        Err(Malformed("keys out of order"))
    }
}

/// A snapshot file being read.
struct Blocks<'a> {
    file: &'a dyn DiskFile,
    path: PathBuf,
    offset: u64,
}

impl Blocks<'_> {
    fn header(&mut self) -> Result<Header, OpenError> {
        let bytes = self.read(HEADER_BYTES)?;
        Header::decode(&bytes).map_err(|Malformed(why)| OpenError::damaged(self.path.clone(), 0, why))
    }

    /// The next block and the number of items up to its end.
    fn next(&mut self) -> Result<(Vec<u8>, u64), OpenError> {
        let start = self.offset;
        let damaged = |path: &PathBuf, Malformed(why)| OpenError::damaged(path.clone(), start, why);
        let header = self.read(BLOCK_HEADER_BYTES)?;
        let mut input = Input(&header);
        let mut parse = || Ok((input.u32()?, input.u32()?, input.u64()?));
        let (length, sum, count) = parse().map_err(|why| damaged(&self.path, why))?;
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if bytes > BLOCK_BYTES_MAX {
            return Err(damaged(&self.path, Malformed("a block of an impossible length")));
        }
        let block = self.read(bytes)?;
        if sum != checksum(start, length, count, &block) {
            return Err(damaged(&self.path, Malformed("a checksum that does not match")));
        }
        Ok((block, count))
    }

    fn read(&mut self, bytes: usize) -> Result<Vec<u8>, OpenError> {
        let mut buffer = vec![0; bytes];
        let read = self.file.read_at(&mut buffer, self.offset).map_err(OpenError::read(&self.path))?;
        if read < bytes {
            let end = self.offset + read as u64;
            return Err(OpenError::damaged(
                self.path.clone(),
                end,
                "the end of the file before the end of the snapshot",
            ));
        }
        self.offset += bytes as u64;
        Ok(buffer)
    }
}

impl Header {
    fn encode(self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[0..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..20].copy_from_slice(&self.revision.get().to_le_bytes());
        out[20..28].copy_from_slice(&self.first_segment.to_le_bytes());
        let sum = crc32c::crc32c(&out[..28]);
        out[28..32].copy_from_slice(&sum.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Input(bytes);
        let magic: [u8; 8] = input.array()?;
        let version = input.u32()?;
        let (revision, first_segment) = (input.u64()?, input.u64()?);
        let sum = input.u32()?;
        if magic != MAGIC {
            return Err(Malformed("a file that is not a snapshot"));
        }
        if sum != crc32c::crc32c(&bytes[..28]) {
            return Err(Malformed("a checksum that does not match, in the header"));
        }
        if version != VERSION {
            return Err(Malformed("a snapshot of a version this program does not know"));
        }
        let revision = Revision::new(revision).ok_or(Malformed("a revision of zero"))?;
        Ok(Self { revision, first_segment })
    }
}
