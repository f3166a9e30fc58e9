//! Verifies a store's files by reading all of them.

use std::path::Path;

use gantry_store::memory::HistoryLimits;
use gantry_store::{Bounds, Revision};

use crate::disk::{Directory, Disk};
use crate::error::OpenError;
use crate::lock::DirectoryLock;
use crate::recovery::{self, Recovered};
use crate::segment;

/// The result of a check without errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The oldest readable and the current revision.
    pub bounds: Bounds,
    /// Live keys.
    pub keys: usize,
    /// Bytes of live keys and values.
    pub live_bytes: usize,
    /// The snapshot, if there is one: its revision and its bytes.
    pub snapshot: Option<(Revision, u64)>,
    /// The log segments in their order.
    pub segments: Vec<SegmentReport>,
    /// Bytes of a last write that a crash interrupted; the next start removes them.
    pub torn_bytes: u64,
    /// Unreferenced files; the next start removes them.
    pub leftovers: Vec<String>,
}

/// The result of a check of a log segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentReport {
    /// Its file.
    pub name: String,
    /// The size of the file.
    pub bytes: u64,
    /// How much of it is written.
    pub used_bytes: u64,
    /// How many group commits and marks are in it.
    pub frames: u64,
}

/// Reads all files of a store that is not in use. Writes nothing, so that a directory may be read-only.
pub fn check(directory: impl AsRef<Path>) -> Result<CheckReport, OpenError> {
    let path = directory.as_ref();
    let _lock = DirectoryLock::share(path)?;
    check_disk(&Directory::existing(path))
}

pub(crate) fn check_disk(disk: &dyn Disk) -> Result<CheckReport, OpenError> {
    // Without history limits, so that every change is replayed from disk.
    Ok(CheckReport::from(recovery::read(disk, HistoryLimits::UNLIMITED)?))
}

impl From<Recovered> for CheckReport {
    fn from(recovered: Recovered) -> Self {
        let usage = recovered.state.usage();
        let segments = recovered.segments.iter().map(|read| SegmentReport {
            name: segment::name(read.number),
            bytes: read.bytes,
            used_bytes: read.used_bytes,
            frames: read.frames,
        });
        Self {
            bounds: recovered.state.bounds(),
            keys: usage.keys,
            live_bytes: usage.live_bytes,
            snapshot: recovered.files.snapshot.map(|revision| (revision, recovered.snapshot_bytes)),
            segments: segments.collect(),
            torn_bytes: recovered.tail.as_ref().map_or(0, |tail| tail.torn_bytes),
            leftovers: recovered.leftovers,
        }
    }
}
