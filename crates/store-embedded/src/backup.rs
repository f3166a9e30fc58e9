//! A backup in one file, taken while the store is in use, and the restore from it.
//!
//! A backup reads the files like recovery does, while another process writes them: they only grow, or are replaced as a
//! whole. If a file is removed meanwhile, it starts over.

use std::path::{Path, PathBuf};

use gantry_store::memory::{HistoryLimits, State};
use gantry_store::{Item, Revision};

use crate::disk::{Directory, Disk};
use crate::error::OpenError;
use crate::lock::{self, DirectoryLock};
use crate::maintenance;
use crate::options::Options;
use crate::recovery;
use crate::segment;
use crate::snapshot;

/// The content of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The file.
    pub file: PathBuf,
    /// The revision it shows.
    pub revision: Revision,
    /// The number of keys.
    pub keys: usize,
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The revision of the backup.
    pub revision: Revision,
    /// The revision the restored store is at.
    pub continues_at: Revision,
    /// The number of keys.
    pub keys: usize,
}

/// How often a backup starts over when the store replaces its files meanwhile; snapshots are minutes apart.
const ATTEMPTS: usize = 5;

/// How many revisions a restored store skips, so that none is used twice: clients may have seen later ones than the
/// backup has, and would not notice that the state went back. A million writes a day would take years.
pub(crate) const SKIPPED: u64 = 1_000_000_000;

const FIRST_SEGMENT: u64 = 1;

/// Writes the current state of a store into a file. The store may be in use.
pub fn backup(directory: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<Backup, OpenError> {
    let file = file.as_ref();
    if file.exists() {
        return Err(OpenError::NotEmpty { path: file.to_owned() });
    }
    let state = read_while_in_use(&Directory::existing(directory))?;
    let revision = state.bounds().current;
    let (target, name) = place_of(file)?;
    let header = snapshot::Header { revision, first_segment: FIRST_SEGMENT };
    write_state(&target, &name, header, &state)?;
    // Reads the backup back: one that cannot be restored is useless.
    let keys = snapshot::load(&target, &name)?.keys.len();
    Ok(Backup { file: file.to_owned(), revision, keys })
}

/// Creates a store from a backup, in a directory that is empty or does not exist.
///
/// It continues well after the revision of the backup, and has no history: every client has to list again.
pub fn restore(file: impl AsRef<Path>, directory: impl AsRef<Path>) -> Result<Restored, OpenError> {
    let (source, name) = place_of(file.as_ref())?;
    let backup = snapshot::load(&source, &name)?;
    let path = directory.as_ref();
    let disk = Directory::create(path).map_err(OpenError::writing(path))?;
    let names = disk.names().map_err(OpenError::read(path))?;
    if let Some(name) = names.iter().find(|name| *name != lock::NAME) {
        return Err(OpenError::NotEmpty { path: disk.path(name) });
    }
    let _lock = DirectoryLock::take(path)?;
    let revision = backup.header.revision;
    let continues_at = revision.advanced(SKIPPED);
    let state = State::at(continues_at, backup.keys, HistoryLimits::UNLIMITED);
    let header = snapshot::Header { revision: continues_at, first_segment: FIRST_SEGMENT };
    // The snapshot first: a directory with a log and no snapshot would look like an empty store.
    write_state(&disk, &snapshot::name(continues_at), header, &state)?;
    let options = Options::default();
    let nonce = maintenance::nonce((options.clock)(), FIRST_SEGMENT);
    let prepared = segment::prepare(&disk, FIRST_SEGMENT, nonce, options.segment_bytes_min);
    prepared.map_err(OpenError::writing(&disk.path(&segment::name(FIRST_SEGMENT))))?;
    Ok(Restored { revision, continues_at, keys: state.live().len() })
}

/// Reads a store's files while it may be writing them.
fn read_while_in_use(disk: &Directory) -> Result<State, OpenError> {
    let mut attempts = (1..ATTEMPTS).map(|_| recovery::read(disk, HistoryLimits::default()));
    let recovered = attempts.find_map(Result::ok);
    let recovered = recovered.map_or_else(|| recovery::read(disk, HistoryLimits::default()), Ok)?;
    if recovered.tail.is_none() {
        return Err(OpenError::damaged(disk.as_path().to_owned(), 0, "no store in this directory"));
    }
    Ok(recovered.state)
}

pub(crate) fn write_state(
    disk: &dyn Disk,
    name: &str,
    header: snapshot::Header,
    state: &State,
) -> Result<(), OpenError> {
    let mut items = state.live().iter().map(|(key, version)| Item {
        key: key.clone(),
        value: version.value.clone(),
        revision: version.revision,
    });
    let more = || Ok(items.by_ref().take(64).collect());
    snapshot::write_as(disk, name, header, more).map_err(OpenError::writing(&disk.path(name)))
}

/// The directory and the name of a file.
fn place_of(file: &Path) -> Result<(Directory, String), OpenError> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| {
        OpenError::io(format!("writing {}", file.display()))(std::io::ErrorKind::IsADirectory.into())
    })?;
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((Directory::existing(parent.unwrap_or(Path::new("."))), name))
}
