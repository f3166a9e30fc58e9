//! The log as its one writer sees it: append, and know that it is durable.
//!
//! What happens when the disk says no:
//!
//! - *No room.* The frame is taken back (its header is overwritten with zeros, synced), the write is refused, and the next
//!   one tries again. If it cannot be taken back, the log stops as below.
//! - *A write fails otherwise.* The same: taken back and refused.
//! - *A sync fails otherwise.* The kernel may have dropped the pages and a second sync would say "fine" about data that is
//!   not there. Nothing is retried: the outcome of this batch is unknown, and the log takes no more. A restart reads
//!   what is really there and writes its last frame anew before it goes on.

use std::io;
use std::sync::Arc;

use gantry_store::{Error, Revision};

use crate::disk::is_full;
use crate::frame::{self, Kind};
use crate::segment::Segment;
use crate::upkeep::Upkeep;

/// The end of the log.
#[derive(Debug)]
pub(crate) struct Log {
    upkeep: Arc<Upkeep>,
    segment: Segment,
    /// Where the next frame goes.
    end: u64,
    state: LogState,
}

#[derive(Debug)]
enum LogState {
    Open,
    /// The disk failed in a way that leaves the end of the log unknown.
    Stopped {
        why: String,
    },
}

/// Bytes of the frame that says the log goes on elsewhere; there is always room for it.
const SEAL_BYTES: u64 = frame::HEADER_BYTES as u64;

impl Log {
    /// The log that ends in this segment, at this offset.
    pub(crate) fn new(upkeep: Arc<Upkeep>, segment: Segment, end: u64) -> Self {
        Self { upkeep, segment, end, state: LogState::Open }
    }

    /// Whether the disk has failed for good.
    pub(crate) fn stopped(&self) -> Option<&str> {
        match &self.state {
            LogState::Stopped { why } => Some(why),
            LogState::Open => None,
        }
    }

    /// Appends a frame, made for the nonce of the segment it goes to, and returns when it is durable.
    pub(crate) fn append(
        &mut self,
        base: Revision,
        at_millis: u64,
        bytes: usize,
        frame: impl FnOnce(u64) -> Vec<u8>,
    ) -> Result<(), Error> {
        if let LogState::Stopped { why } = &self.state {
            return Err(Error::Unavailable { why: why.clone() });
        }
        self.make_room(base, at_millis, bytes as u64)?;
        let frame = frame(self.segment.nonce);
        self.write(&frame)
    }

    /// Goes on in the next segment if this one has no room.
    fn make_room(&mut self, base: Revision, at_millis: u64, bytes: u64) -> Result<(), Error> {
        if self.end + bytes + SEAL_BYTES <= self.segment.bytes {
            return Ok(());
        }
        // First the next segment, then the seal: a sealed segment always has a successor.
        let need = bytes + SEAL_BYTES + crate::segment::HEADER_BYTES as u64;
        let next = self.upkeep.take_spare(self.segment.number + 1, need).map_err(|error| refused(&error))?;
        let seal = frame::mark(self.segment.nonce, Kind::Seal, base, at_millis);
        if let Err(error) = self.write(&seal) {
            self.upkeep.give_back_spare(next);
            return Err(not_begun(error));
        }
        self.upkeep.sealed(self.segment.number, self.segment.bytes, base);
        self.segment = next;
        self.end = crate::segment::HEADER_BYTES as u64;
        Ok(())
    }

    fn write(&mut self, frame: &[u8]) -> Result<(), Error> {
        if let Err(error) = self.segment.file.write_at(frame, self.end) {
            return Err(self.take_back(&error));
        }
        match self.segment.file.sync() {
            Ok(()) => {
                self.end += frame.len() as u64;
                Ok(())
            }
            Err(error) if is_full(&error) => Err(self.take_back(&error)),
            Err(error) => Err(self.stop(&error)),
        }
    }

    /// Makes sure the frame that failed is not there after a crash.
    fn take_back(&mut self, cause: &io::Error) -> Error {
        let erased = self.segment.file.write_at(&[0; frame::HEADER_BYTES], self.end);
        match erased.and_then(|()| self.segment.file.sync()) {
            Ok(()) => refused(cause),
            Err(error) => self.stop(&error),
        }
    }

    fn stop(&mut self, cause: &io::Error) -> Error {
        let why = format!("the log could not be written: {cause}; restart after the disk has been seen to");
        self.state = LogState::Stopped { why: why.clone() };
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

/// What is unknown is whether the segment was sealed; the batch itself was not written.
fn not_begun(error: Error) -> Error {
    match error {
        Error::OutcomeUnknown { why } => Error::Unavailable { why },
        other => other,
    }
}
