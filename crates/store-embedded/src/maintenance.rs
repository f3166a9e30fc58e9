//! Keeps the log short and its next segment ready. Called by the maintenance thread, or by a test, step by step.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_store::memory::Live;
use gantry_store::{Error, Prefix, Revision};

use crate::disk::{Disk, is_full};
use crate::options::Options;
use crate::segment::{self, Segment};
use crate::snapshot;

/// The files of the store besides the end of the log.
#[derive(Debug)]
pub(crate) struct Maintenance {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) live: Arc<Live>,
    pub(crate) options: Options,
    /// Locked while the next segment is created: a concurrent caller waits for it instead of creating another.
    spare: Mutex<Spare>,
    files: Mutex<Files>,
    request: Mutex<MaintenanceRequest>,
    requested: Condvar,
}

/// A request to the maintenance thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaintenanceRequest {
    None,
    Run,
    /// The store is being closed.
    Quit,
}

#[derive(Debug)]
struct Spare {
    ready: Option<Segment>,
    /// The number and size of the next segment.
    number: u64,
    bytes: u64,
}

/// The files on disk besides the segment being written.
#[derive(Debug)]
pub(crate) struct Files {
    /// Sealed segments by number, with their size and last revision.
    pub(crate) sealed: BTreeMap<u64, Sealed>,
    /// The revision of the snapshot, if there is one.
    pub(crate) snapshot: Option<Revision>,
    /// The number of the segment being written.
    pub(crate) current: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealed {
    pub(crate) bytes: u64,
    pub(crate) last: Revision,
}

/// A full disk may still have space for one more small segment.
const SMALL_SEGMENT_BYTES: u64 = 64 << 10;

impl Maintenance {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        live: Arc<Live>,
        options: Options,
        files: Files,
        bytes: u64,
    ) -> Self {
        let bytes = grown(bytes, &options);
        let spare = Spare { ready: None, number: files.current + 1, bytes };
        let request = Mutex::new(MaintenanceRequest::Run);
        Self {
            disk,
            live,
            options,
            spare: Mutex::new(spare),
            files: Mutex::new(files),
            request,
            requested: Condvar::new(),
        }
    }

    /// Wakes the maintenance thread.
    pub(crate) fn request_run(&self, request: MaintenanceRequest) {
        let mut waiting = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        if *waiting != MaintenanceRequest::Quit {
            *waiting = request;
        }
        self.requested.notify_all();
    }

    /// Waits for a request, or until it is time to retry.
    pub(crate) fn wait_for_request(&self, retry_after: Option<Duration>) -> MaintenanceRequest {
        let waiting = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        let timeout = retry_after.unwrap_or(Duration::from_hours(1));
        let idle = |request: &mut MaintenanceRequest| *request == MaintenanceRequest::None;
        let waited =
            self.requested.wait_timeout_while(waiting, timeout, idle).unwrap_or_else(PoisonError::into_inner);
        let mut waiting = waited.0;
        if *waiting != MaintenanceRequest::Quit {
            *waiting = MaintenanceRequest::None;
        }
        *waiting
    }

    /// The next segment, created now if it is not ready or too small.
    pub(crate) fn take_spare(&self, number: u64, need: u64) -> io::Result<Segment> {
        let mut spare = self.spare();
        if let Some(ready) = spare.ready.take_if(|ready| ready.number == number && ready.bytes >= need) {
            return Ok(spare.hand_out(ready, &self.options));
        }
        let made = self.make(number, spare.bytes.max(need)).or_else(|error| {
            if is_full(&error) { self.make(number, SMALL_SEGMENT_BYTES.max(need)) } else { Err(error) }
        })?;
        // A segment that was ready but too small was replaced by the file with the same name.
        spare.ready = None;
        Ok(spare.hand_out(made, &self.options))
    }

    /// Returns a segment that the log could not switch to.
    pub(crate) fn give_back_spare(&self, segment: Segment) {
        let mut spare = self.spare();
        spare.number = segment.number;
        spare.ready = Some(segment);
    }

    /// Makes the next segment ready, if it is not.
    pub(crate) fn prepare_spare(&self) -> io::Result<()> {
        let mut spare = self.spare();
        if spare.ready.is_none() {
            spare.ready = Some(self.make(spare.number, spare.bytes)?);
        }
        Ok(())
    }

    /// Records that a segment is complete.
    pub(crate) fn sealed(&self, number: u64, bytes: u64, last: Revision) {
        let mut files = self.files();
        files.sealed.insert(number, Sealed { bytes, last });
        files.current = number + 1;
        drop(files);
        self.request_run(MaintenanceRequest::Run);
    }

    /// Whether a snapshot would free enough of the log to be worth its cost.
    pub(crate) fn is_snapshot_due(&self) -> bool {
        let floor = self.live.bounds().floor;
        let garbage: u64 = self.files().covered_by(floor).map(|(_, sealed)| sealed.bytes).sum();
        garbage >= self.options.garbage_bytes_min.max(self.live.usage().live_bytes as u64 / 2)
    }

    /// Writes the state at the oldest readable revision, then removes superseded files.
    ///
    /// Not the current state: the log from the floor on is kept anyway, for history, and replaying it rebuilds history
    /// after a restart.
    pub(crate) fn snapshot(&self) -> Result<(), Error> {
        let floor = self.live.bounds().floor;
        let read = self.live.read_at(Prefix::ALL, None, Some(floor))?;
        let first_segment = {
            let files = self.files();
            let covered = files.covered_by(floor).last().map(|(number, _)| number + 1);
            covered.unwrap_or_else(|| files.sealed.keys().next().copied().unwrap_or(files.current))
        };
        snapshot::write(&*self.disk, read, first_segment).map_err(|error| failed(&error))?;
        self.remove_covered(floor).map_err(|error| failed(&error))
    }

    fn remove_covered(&self, floor: Revision) -> io::Result<()> {
        let mut files = self.files();
        if let Some(old) = files.snapshot.replace(floor).filter(|old| *old != floor) {
            self.disk.remove(&snapshot::name(old))?;
        }
        let covered: Vec<u64> = files.covered_by(floor).map(|(number, _)| number).collect();
        for number in covered {
            self.disk.remove(&segment::name(number))?;
            files.sealed.remove(&number);
        }
        self.disk.sync_names()
    }

    fn make(&self, number: u64, bytes: u64) -> io::Result<Segment> {
        segment::prepare(&*self.disk, number, nonce((self.options.clock)(), number), bytes)
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spare {
    fn hand_out(&mut self, segment: Segment, options: &Options) -> Segment {
        self.number = segment.number + 1;
        self.bytes = grown(segment.bytes, options);
        segment
    }
}

impl Files {
    /// The sealed segments that a snapshot at this revision supersedes, oldest first.
    fn covered_by(&self, floor: Revision) -> impl Iterator<Item = (u64, Sealed)> {
        self.sealed
            .iter()
            .map(|(number, sealed)| (*number, *sealed))
            .take_while(move |(_, sealed)| sealed.last <= floor)
    }
}

/// A number that no other segment has: the time and the segment's number, mixed.
pub(crate) fn nonce(now_millis: u64, number: u64) -> u64 {
    let mixed = (now_millis ^ number.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

fn grown(bytes: u64, options: &Options) -> u64 {
    bytes.saturating_mul(2).clamp(options.segment_bytes_min, options.segment_bytes_max)
}

fn failed(error: &io::Error) -> Error {
    if is_full(error) {
        Error::OutOfSpace { why: format!("no space for a snapshot: {error}") }
    } else {
        Error::Unavailable { why: format!("no snapshot could be written: {error}") }
    }
}
