//! The repair of a damaged log: keeps the readable part and drops the rest.
//!
//! The readable part becomes a snapshot followed by an empty log. Its revision is far beyond every one that was
//! returned to clients, as after a restore: clients that saw lost changes have to list again. The damaged files are
//! kept, under other names.

use std::path::Path;

use gantry_store::memory::HistoryLimits;
use gantry_store::{Corruption, Revision};

use crate::backup::{SKIPPED, write_state};
use crate::disk::{Directory, Disk};
use crate::error::OpenError;
use crate::lock::DirectoryLock;
use crate::maintenance;
use crate::options::Options;
use crate::recovery;
use crate::segment;
use crate::snapshot::{self, Header};

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// The damage; `None` if there was nothing to repair.
    pub damage: Option<Corruption>,
    /// The revision up to which everything can be read.
    pub revision: Revision,
    /// The number of keys.
    pub keys: usize,
    /// The revision of the repaired store; `None` if nothing was changed.
    pub continues_at: Option<Revision>,
}

/// The suffix of damaged files after a repair. Files with this name are never read or removed.
const DAMAGED: &str = ".damaged";

/// Repairs a store that is not in use; without `accept_loss` only reports how much can be kept.
///
/// A damaged snapshot cannot be repaired: the log contains only the changes since.
pub fn repair(directory: impl AsRef<Path>, accept_loss: bool) -> Result<RepairReport, OpenError> {
    let path = directory.as_ref();
    let _lock = if accept_loss { DirectoryLock::take(path).map(Some)? } else { DirectoryLock::share(path)? };
    let disk = Directory::existing(path);
    repair_disk(&disk, accept_loss, &Options::default())
}

pub(crate) fn repair_disk(
    disk: &dyn Disk,
    accept_loss: bool,
    options: &Options,
) -> Result<RepairReport, OpenError> {
    let recovered = recovery::read_intact(disk, HistoryLimits::default())?;
    let (revision, keys) = (recovered.state.bounds().current, recovered.state.live().len());
    let report = RepairReport { damage: recovered.damage, revision, keys, continues_at: None };
    if report.damage.is_none() || !accept_loss {
        return Ok(report);
    }
    let names = disk.names().map_err(OpenError::read(&disk.path("")))?;
    let first_segment = names.iter().filter_map(|name| segment::number_of(name)).max().unwrap_or(0) + 1;
    let continues_at = revision.advanced(SKIPPED);
    // The segment first: until the snapshot has its name, the store is only as damaged as before.
    let nonce = maintenance::nonce((options.clock)(), first_segment);
    let prepared = segment::prepare(disk, first_segment, nonce, options.segment_bytes_min);
    prepared.map_err(OpenError::writing(&disk.path(&segment::name(first_segment))))?;
    let header = Header { revision: continues_at, first_segment };
    write_state(disk, &snapshot::name(continues_at), header, &recovered.state)?;
    let is_old = |name: &&String| segment::number_of(name).is_some() || snapshot::revision_of(name).is_some();
    for name in names.iter().filter(is_old) {
        let renamed = disk.rename(name, &format!("{name}{DAMAGED}"));
        renamed.map_err(OpenError::io(format!("renaming {}", disk.path(name).display())))?;
    }
    disk.sync_names().map_err(OpenError::io(format!("syncing {}", disk.path("").display())))?;
    Ok(RepairReport { continues_at: Some(continues_at), ..report })
}
