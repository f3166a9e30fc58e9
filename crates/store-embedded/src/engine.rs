//! The store without threads: batches in, durable and visible state out. One writer; blocks on the disk only.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use gantry_store::memory::{Live, Staged, Wakes};
use gantry_store::{Error, Revision, Transaction};

use crate::disk::{Disk, DiskFile};
use crate::error::OpenError;
use crate::frame::{self, Kind};
use crate::high_water_mark::{HighWaterMark, Slots};
use crate::log::Log;
use crate::maintenance::{self, Files, Maintenance, Sealed};
use crate::options::Options;
use crate::recovery::{self, Recovered, Tail};
use crate::segment::{self, FIRST_FRAME, Segment};

/// A store and its log.
#[derive(Debug)]
pub(crate) struct Engine {
    live: Arc<Live>,
    log: Log,
    maintenance: Arc<Maintenance>,
    /// The time at which all history beyond its limits was last dropped.
    forgot_at_millis: u64,
}

/// The interval at which all history beyond its limits is dropped. A write drops as much of it as several writes add,
/// but after a rollout few writes follow many: a lease is renewed from time to time.
pub(crate) const FORGET_EVERY: Duration = Duration::from_secs(10);

/// The result of a batch: a response for each transaction, and wakers of watchers.
pub(crate) struct BatchResult {
    pub(crate) answers: Vec<Result<Revision, Error>>,
    pub(crate) wakes: Option<Wakes>,
}

impl Engine {
    /// Reads the directory, repairs the effects of a crash, and is ready to write.
    pub(crate) fn open(disk: Arc<dyn Disk>, options: Options) -> Result<Self, OpenError> {
        let recovered = recovery::read(&*disk, options.history)?;
        make_durable(&*disk, &recovered)?;
        let Recovered { state, mut files, tail, .. } = recovered;
        let (segment, end) = match tail {
            None => (new_segment(&*disk, files.current, &options)?, FIRST_FRAME as u64),
            Some(tail) => {
                let current = state.bounds().current;
                match tail.slots {
                    Some(slots) => (repair(&*disk, &tail, slots, current)?, tail.end),
                    None => (upgrade(&*disk, &tail, &mut files, current, &options)?, FIRST_FRAME as u64),
                }
            }
        };
        let live = Live::new(state);
        let maintenance = Arc::new(Maintenance::new(disk, Arc::clone(&live), options, files, segment.bytes));
        let log = Log::new(Arc::clone(&maintenance), segment, end);
        Ok(Self { live, log, maintenance, forgot_at_millis: 0 })
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    pub(crate) fn maintenance(&self) -> &Arc<Maintenance> {
        &self.maintenance
    }

    /// Why the last write failed, if it did.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.log.failure()
    }

    /// Whether [`Engine::sync_mark`] has something to do.
    pub(crate) fn is_mark_unsynced(&self) -> bool {
        self.log.is_mark_unsynced()
    }

    /// Makes the high-water mark durable when there are no writes for a while.
    pub(crate) fn sync_mark(&mut self) {
        self.log.sync_mark();
    }

    /// Drops all history beyond its limits if that was not done for a while. Called after each batch, and when there was none for that long.
    pub(crate) fn forget(&mut self) {
        let now = self.now();
        // The system's clock may have been set back.
        if u128::from(now.abs_diff(self.forgot_at_millis)) >= FORGET_EVERY.as_millis() {
            self.live.forget(now);
            self.forgot_at_millis = now;
        }
    }

    /// Decides on a batch, makes it durable, and then visible.
    pub(crate) fn commit(&mut self, batch: impl IntoIterator<Item = Transaction>) -> BatchResult {
        let mut staged = Staged::default();
        let stage = |transaction| self.live.stage(&mut staged, transaction);
        let mut answers: Vec<_> = batch.into_iter().map(stage).collect();
        if staged.is_empty() {
            return BatchResult { answers, wakes: None };
        }
        let at_millis = self.now();
        let base = self.live.bounds().current;
        let transactions = staged.transactions();
        let (bytes, through) = (frame_bytes(transactions), base.advanced(transactions.len() as u64));
        let frame = |nonce| frame::batch(nonce, base, at_millis, transactions);
        match self.log.append(base, through, at_millis, bytes, frame) {
            Ok(()) => BatchResult { answers, wakes: Some(self.live.publish(staged, at_millis)) },
            Err(error) => {
                // A conflict with a change that was not made must not be reported.
                answers.fill(Err(error));
                BatchResult { answers, wakes: None }
            }
        }
    }

    /// Compacts history durably: the floor does not go back with a restart.
    pub(crate) fn compact(&mut self, through: Revision) -> Result<(), Error> {
        let bounds = self.live.bounds();
        if through > bounds.current {
            return Err(Error::FutureRevision { current: bounds.current });
        }
        if through <= bounds.floor {
            return Ok(());
        }
        let (base, at_millis) = (bounds.current, self.now());
        let frame = |nonce| frame::compact(nonce, base, at_millis, through);
        self.log.append(base, base, at_millis, frame::HEADER_BYTES + 8, frame)?;
        self.live.compact(through)
    }

    /// Records that everything is durable, so that the next start can distinguish damage from a crash even in the last
    /// frame.
    pub(crate) fn close(&mut self) {
        let (base, at_millis) = (self.live.bounds().current, self.now());
        let mark = |nonce| frame::mark(nonce, Kind::Close, base, at_millis);
        // Without that record the next start is the same as after a crash.
        let _ = self.log.append(base, base, at_millis, frame::HEADER_BYTES, mark);
        self.log.sync_mark();
    }

    fn now(&self) -> u64 {
        (self.maintenance.options.clock)()
    }
}

/// An upper bound of the frame's size: it decides only whether a segment has space.
fn frame_bytes(transactions: &[Transaction]) -> usize {
    let ops: usize = transactions.iter().map(|transaction| transaction.ops().len()).sum();
    let data: usize = transactions.iter().map(Transaction::bytes).sum();
    frame::HEADER_BYTES + data + ops * 17 + transactions.len() * 4 + frame::ALIGNMENT
}

/// Makes the recovered log durable before anything is added to it, and only then removes superseded files.
fn make_durable(disk: &dyn Disk, recovered: &Recovered) -> Result<(), OpenError> {
    let syncing = || OpenError::io(format!("syncing {}", disk.path("").display()));
    disk.sync_names().map_err(syncing())?;
    if let Some(last) = &recovered.last_frame {
        let name = segment::name(last.segment);
        let rewrite = || {
            let file = disk.open(&name)?;
            file.write_at(&last.bytes, last.offset)?;
            file.sync()
        };
        rewrite().map_err(OpenError::writing(&disk.path(&name)))?;
    }
    for name in &recovered.leftovers {
        disk.remove(name).map_err(OpenError::io(format!("removing {}", disk.path(name).display())))?;
    }
    if recovered.leftovers.is_empty() { Ok(()) } else { disk.sync_names().map_err(syncing()) }
}

fn new_segment(disk: &dyn Disk, number: u64, options: &Options) -> Result<Segment, OpenError> {
    let nonce = maintenance::nonce((options.clock)(), number);
    let path = disk.path(&segment::name(number));
    segment::prepare(disk, number, nonce, options.segment_bytes_min).map_err(OpenError::writing(&path))
}

/// Opens the last segment for writing: erases a torn frame, and marks all recovered frames as acknowledged, because
/// from now on they may be read.
fn repair(disk: &dyn Disk, tail: &Tail, slots: Slots, current: Revision) -> Result<Segment, OpenError> {
    let name = segment::name(tail.header.number);
    let open = || -> io::Result<Segment> {
        let file = disk.open(&name)?;
        erase(&*file, tail.end, tail.torn_bytes)?;
        let (number, nonce) = (tail.header.number, tail.header.nonce);
        let (mark, slot) = (slots.newest, slots.slot);
        let mut segment = Segment { number, nonce, file, bytes: tail.bytes, mark, slot };
        // It was read from the cache, like the last frame. The other slot is written only when this one is durable.
        segment.rewrite_mark()?;
        segment.file.sync()?;
        if tail.end > mark.end {
            segment.write_mark(HighWaterMark { end: tail.end, revision: Some(current) })?;
            segment.file.sync()?;
        }
        Ok(segment)
    };
    open().map_err(OpenError::writing(&disk.path(&name)))
}

/// Seals the last segment of a log of version 1, which continues in a segment of the current version.
fn upgrade(
    disk: &dyn Disk,
    tail: &Tail,
    files: &mut Files,
    current: Revision,
    options: &Options,
) -> Result<Segment, OpenError> {
    let number = tail.header.number;
    let next = new_segment(disk, number + 1, options)?;
    let name = segment::name(number);
    let seal = || {
        let file = disk.open(&name)?;
        erase(&*file, tail.end, tail.torn_bytes)?;
        file.sync()?;
        file.write_at(&frame::mark(tail.header.nonce, Kind::Seal, current, (options.clock)()), tail.end)?;
        file.sync()
    };
    seal().map_err(OpenError::writing(&disk.path(&name)))?;
    files.sealed.insert(number, Sealed { bytes: tail.bytes, last: current });
    files.current = next.number;
    Ok(next)
}

fn erase(file: &dyn DiskFile, from: u64, bytes: u64) -> io::Result<()> {
    let zeros = [0; 4096];
    let mut erased = 0;
    while erased < bytes {
        let length = zeros.len().min(usize::try_from(bytes - erased).unwrap_or(usize::MAX));
        file.write_at(&zeros[..length], from + erased)?;
        erased += length as u64;
    }
    Ok(())
}
