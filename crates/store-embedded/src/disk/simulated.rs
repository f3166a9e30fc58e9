//! A simulated disk that loses what was not synced: in part, out of order, as far as POSIX allows.
//!
//! Each file has cached and safe content. At a power failure, every unsynced write is cut into sectors, and of each
//! sector all, a beginning or nothing is kept; every unsynced change of a name is kept or lost. A failed sync drops
//! pages from what is still to be written while they stay readable, as on Linux.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_store::suite::Rng;

use crate::disk::{Disk, DiskFile};

/// A disk in memory, shared by its clones.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedDisk(Arc<Mutex<DiskState>>);

#[derive(Debug)]
struct DiskState {
    rng: Rng,
    files: Vec<Content>,
    /// The directory as programs see it.
    names: BTreeMap<String, usize>,
    /// The directory that is safe.
    safe_names: BTreeMap<String, usize>,
    /// Changes of names that are not safe yet, each kept or lost as a whole.
    name_changes: Vec<Vec<(String, Option<usize>)>>,
    operations: u64,
    faults: Faults,
}

/// The injected faults.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// The operation at which the process crashes; every later one fails.
    pub(crate) crashes_at: Option<u64>,
    /// The operation from which on one sync fails, and the error.
    pub(crate) sync_fails_at: Option<(u64, io::ErrorKind)>,
    /// The size of the disk.
    pub(crate) capacity: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Content {
    cached: Vec<u8>,
    safe: Vec<u8>,
    unsynced: Vec<(usize, Vec<u8>)>,
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    file: usize,
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrashKind {
    /// It is killed; the cache survives.
    Killed,
    /// The power fails; only safe content and a random part of the rest survive.
    PowerFailure,
}

const SECTOR_BYTES: usize = 512;

impl SimulatedDisk {
    pub(crate) fn new(seed: u64) -> Self {
        let (files, names, safe_names) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let (name_changes, faults) = (Vec::new(), Faults::default());
        let rng = Rng::new(seed);
        Self(Arc::new(Mutex::new(DiskState {
            rng,
            files,
            names,
            safe_names,
            name_changes,
            operations: 0,
            faults,
        })))
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.lock().faults = faults;
    }

    pub(crate) fn operations(&self) -> u64 {
        self.lock().operations
    }

    /// The disk as the next process finds it.
    pub(crate) fn after(&self, end: CrashKind) -> Self {
        let mut platter = self.lock();
        let seed = platter.rng.number();
        let next = Self::new(seed);
        {
            let mut after = next.lock();
            after.names = match end {
                CrashKind::Killed => platter.names.clone(),
                CrashKind::PowerFailure => platter.names_after_power_failure(),
            };
            if end == CrashKind::Killed {
                after.safe_names = platter.safe_names.clone();
                after.name_changes = platter.name_changes.clone();
            } else {
                after.safe_names = after.names.clone();
            }
            let DiskState { files, rng, .. } = &mut *platter;
            after.files = files.iter().map(|content| content.after(end, rng)).collect();
            after.forget_unnamed();
            after.operations = platter.operations;
        }
        next
    }

    /// Changes a byte of a file.
    pub(crate) fn damage(&self, name: &str, offset: usize) {
        let mut platter = self.lock();
        let file = platter.names[name];
        let content = &mut platter.files[file];
        content.cached[offset] ^= 0x40;
        content.safe = content.cached.clone();
    }

    /// Replaces the content of a file.
    pub(crate) fn replace(&self, name: &str, bytes: Vec<u8>) {
        let mut platter = self.lock();
        let file = platter.names[name];
        platter.files[file] = Content { safe: bytes.clone(), cached: bytes, unsynced: Vec::new() };
    }

    pub(crate) fn bytes_used(&self) -> u64 {
        self.lock().used()
    }

    fn lock(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskState {
    /// Counts an operation; fails if the process has crashed.
    fn operate(&mut self) -> io::Result<()> {
        self.operations += 1;
        match self.faults.crashes_at {
            Some(crashes_at) if self.operations >= crashes_at => {
                Err(io::Error::other("the process has crashed"))
            }
            _ => Ok(()),
        }
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn used(&self) -> u64 {
        self.names.values().map(|file| self.files[*file].cached.len() as u64).sum()
    }

    /// Frees the memory of files without a name.
    fn forget_unnamed(&mut self) {
        let changed = self.name_changes.iter().flatten().filter_map(|(_, file)| *file);
        let named = self.names.values().chain(self.safe_names.values()).copied();
        let named: BTreeSet<usize> = named.chain(changed).collect();
        let unnamed = |file: &usize| !named.contains(file);
        for file in (0..self.files.len()).filter(unnamed) {
            self.files[file] = Content::default();
        }
    }

    fn change_names(&mut self, changes: Vec<(String, Option<usize>)>) {
        apply_names(&mut self.names, &changes);
        self.name_changes.push(changes);
    }

    fn names_after_power_failure(&mut self) -> BTreeMap<String, usize> {
        let mut names = self.safe_names.clone();
        for changes in &self.name_changes {
            if self.rng.one_in(2) {
                apply_names(&mut names, changes);
            }
        }
        names
    }
}

impl Content {
    fn after(&self, end: CrashKind, rng: &mut Rng) -> Self {
        let mut left = match end {
            CrashKind::Killed => self.cached.clone(),
            CrashKind::PowerFailure => self.safe.clone(),
        };
        if end == CrashKind::PowerFailure {
            for (offset, bytes) in &self.unsynced {
                write_some_sectors(&mut left, *offset, bytes, rng);
            }
        }
        // A killed process leaves its unsynced writes to the kernel, and the next power failure may still lose them.
        let unsynced = if end == CrashKind::Killed { self.unsynced.clone() } else { Vec::new() };
        let safe = if end == CrashKind::Killed { self.safe.clone() } else { left.clone() };
        Self { cached: left, safe, unsynced }
    }
}

fn write_some_sectors(left: &mut Vec<u8>, offset: usize, bytes: &[u8], rng: &mut Rng) {
    let mut start = 0;
    while start < bytes.len() {
        let end = bytes.len().min((offset + start + 1).next_multiple_of(SECTOR_BYTES) - offset);
        let arrived = match rng.below(4) {
            0 => 0,
            1 => rng.index(end - start),
            _ => end - start,
        };
        overwrite(left, offset + start, &bytes[start..start + arrived]);
        start = end;
    }
}

fn overwrite(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}

fn apply_names(names: &mut BTreeMap<String, usize>, changes: &[(String, Option<usize>)]) {
    for (name, file) in changes {
        match file {
            Some(file) => names.insert(name.clone(), *file),
            None => names.remove(name),
        };
    }
}

impl Disk for SimulatedDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.lock().names.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let file = self.lock().find(name)?;
        Ok(Box::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut platter = self.lock();
        platter.operate()?;
        platter.files.push(Content::default());
        let file = platter.files.len() - 1;
        platter.change_names(vec![(name.to_owned(), Some(file))]);
        Ok(Box::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut platter = self.lock();
        platter.operate()?;
        let file = platter.find(from)?;
        platter.change_names(vec![(from.to_owned(), None), (to.to_owned(), Some(file))]);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut platter = self.lock();
        platter.operate()?;
        platter.find(name)?;
        platter.change_names(vec![(name.to_owned(), None)]);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut platter = self.lock();
        platter.operate()?;
        platter.safe_names = platter.names.clone();
        platter.name_changes.clear();
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from("/simulated").join(name)
    }
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().files[self.file].cached.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let platter = self.disk.lock();
        let content = &platter.files[self.file].cached;
        let start = content.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
        let length = buffer.len().min(content.len() - start);
        buffer[..length].copy_from_slice(&content[start..start + length]);
        Ok(length)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut platter = self.disk.lock();
        let operated = platter.operate();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let used = platter.used();
        let capacity = platter.faults.capacity;
        let DiskState { files, rng, .. } = &mut *platter;
        let content = &mut files[self.file];
        let growth = (offset + bytes.len()).saturating_sub(content.cached.len()) as u64;
        let full = capacity.is_some_and(|capacity| growth > 0 && used + growth > capacity);
        // A failed write may have been carried out in part.
        let done = if operated.is_err() || full { rng.index(bytes.len() + 1) } else { bytes.len() };
        let done = if full { done.min(content.cached.len().saturating_sub(offset)) } else { done };
        overwrite(&mut content.cached, offset, &bytes[..done]);
        content.unsynced.push((offset, bytes[..done].to_vec()));
        operated?;
        if full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&self) -> io::Result<()> {
        let mut platter = self.disk.lock();
        platter.operate()?;
        let operations = platter.operations;
        let failure = platter.faults.sync_fails_at.take_if(|(at, _)| operations >= *at);
        let DiskState { files, rng, .. } = &mut *platter;
        let content = &mut files[self.file];
        for (offset, bytes) in std::mem::take(&mut content.unsynced) {
            if failure.is_some() {
                write_some_sectors(&mut content.safe, offset, &bytes, rng);
            } else {
                overwrite(&mut content.safe, offset, &bytes);
            }
        }
        failure.map_or(Ok(()), |(_, kind)| Err(kind.into()))
    }
}
