//! The log: appends frames durably, and marks them as acknowledged.
//!
//! Disk errors:
//!
//! - *No space.* The frame is undone (its header is overwritten with zeros, synced), the write is refused, and the next
//!   one is attempted as usual. If the frame cannot be undone, the log stops as below.
//! - *A write fails otherwise.* The same: undone and refused.
//! - *A sync fails otherwise.* The kernel may have dropped the pages, and a second sync would report success for data
//!   that is not on disk. Nothing is retried: the outcome of this batch is unknown, and the log accepts no more. A
//!   restart reads the actual content and writes its last frame again before it continues.

use std::io;
use std::sync::Arc;

use gantry_store::{Error, Revision};

use crate::disk::is_full;
use crate::frame::{self, Kind};
use crate::high_water_mark::HighWaterMark;
use crate::maintenance::Maintenance;
use crate::segment::{FIRST_FRAME, Segment};

#[derive(Debug)]
pub(crate) struct Log {
    maintenance: Arc<Maintenance>,
    segment: Segment,
    /// The offset of the next frame.
    end: u64,
    /// Why the last frame could not be appended.
    failure: Option<Error>,
    /// Whether the disk failed in a way that leaves the end of the log unknown.
    is_stopped: bool,
    /// Whether the newest high-water mark is in the cache only.
    is_mark_unsynced: bool,
}

/// Bytes of the frame that seals a segment; there is always space for it.
const SEAL_BYTES: u64 = frame::HEADER_BYTES as u64;

impl Log {
    /// The log that ends in this segment, at this offset.
    pub(crate) fn new(maintenance: Arc<Maintenance>, segment: Segment, end: u64) -> Self {
        Self { maintenance, segment, end, failure: None, is_stopped: false, is_mark_unsynced: false }
    }

    /// Why the last frame could not be appended. It is final if the log has stopped.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// Whether [`Log::sync_mark`] has something to do.
    pub(crate) fn is_mark_unsynced(&self) -> bool {
        self.is_mark_unsynced && !self.is_stopped
    }

    /// Makes the high-water mark durable when no frame follows for a while.
    pub(crate) fn sync_mark(&mut self) {
        if self.is_mark_unsynced() {
            match self.segment.file.sync() {
                Ok(()) => self.is_mark_unsynced = false,
                Err(error) => drop(self.stop(&error)),
            }
        }
    }

    /// Appends a frame, encoded with the nonce of its segment, and returns when it is durable and marked.
    pub(crate) fn append(
        &mut self,
        base: Revision,
        through: Revision,
        at_millis: u64,
        bytes: usize,
        frame: impl FnOnce(u64) -> Vec<u8>,
    ) -> Result<(), Error> {
        if let Some(stopped) = self.failure.as_ref().filter(|_| self.is_stopped) {
            return Err(stopped.clone());
        }
        let appended = self.ensure_space(base, at_millis, bytes as u64).and_then(|()| {
            let frame = frame(self.segment.nonce);
            self.write(&frame, through)
        });
        if !self.is_stopped {
            self.failure = appended.clone().err();
        }
        appended
    }

    /// Switches to the next segment if this one has no space.
    fn ensure_space(&mut self, base: Revision, at_millis: u64, bytes: u64) -> Result<(), Error> {
        if self.end + bytes + SEAL_BYTES <= self.segment.bytes {
            return Ok(());
        }
        // First the next segment, then the seal: a sealed segment always has a successor.
        let need = bytes + SEAL_BYTES + FIRST_FRAME as u64;
        let next =
            self.maintenance.take_spare(self.segment.number + 1, need).map_err(|error| refused(&error))?;
        let seal = frame::mark(self.segment.nonce, Kind::Seal, base, at_millis);
        if let Err(error) = self.write(&seal, base) {
            self.maintenance.give_back_spare(next);
            return Err(not_begun(error));
        }
        self.maintenance.sealed(self.segment.number, self.segment.bytes, base);
        self.segment = next;
        self.is_mark_unsynced = false;
        self.end = FIRST_FRAME as u64;
        Ok(())
    }

    fn write(&mut self, frame: &[u8], through: Revision) -> Result<(), Error> {
        if let Err(error) = self.segment.file.write_at(frame, self.end) {
            return Err(self.take_back(&error));
        }
        match self.segment.file.sync() {
            Ok(()) => self.end += frame.len() as u64,
            Err(error) if is_full(&error) => return Err(self.take_back(&error)),
            Err(error) => return Err(self.stop(&error)),
        }
        self.is_mark_unsynced = true;
        let mark = HighWaterMark { end: self.end, revision: Some(through) };
        self.segment.write_mark(mark).map_err(|error| self.stop(&error))
    }

    /// Makes sure that the failed frame is not read after a crash.
    fn take_back(&mut self, cause: &io::Error) -> Error {
        let erased = self.segment.file.write_at(&[0; frame::HEADER_BYTES], self.end);
        // A failed sync may have dropped the mark as well.
        let marked = erased.and_then(|()| self.segment.rewrite_mark());
        match marked.and_then(|()| self.segment.file.sync()) {
            Ok(()) => refused(cause),
            Err(error) => self.stop(&error),
        }
    }

    fn stop(&mut self, cause: &io::Error) -> Error {
        let why = format!("the log could not be written: {cause}; restart after the disk has been repaired");
        self.failure = Some(Error::Unavailable { why: why.clone() });
        self.is_stopped = true;
        Error::OutcomeUnknown { why }
    }
}

/// A write that did not happen.
fn refused(cause: &io::Error) -> Error {
    if is_full(cause) {
        Error::OutOfSpace { why: format!("the disk is full: {cause}") }
    } else {
        Error::Unavailable { why: format!("the log could not be written: {cause}") }
    }
}

/// It is unknown whether the segment was sealed; the batch itself was not written.
fn not_begun(error: Error) -> Error {
    match error {
        Error::OutcomeUnknown { why } => Error::Unavailable { why },
        other => other,
    }
}
