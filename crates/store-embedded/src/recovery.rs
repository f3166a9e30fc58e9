//! From files to state: the snapshot, then every frame of the log after it. Reads only; repairs are part of the
//! result.
//!
//! What a crash can leave behind is repaired: unfinished and superseded files, a torn last frame. Anything else is
//! damage, and the store refuses to open.

use std::collections::BTreeMap;
use std::ops::Range;

use gantry_store::Revision;
use gantry_store::memory::{HistoryLimits, State};

use crate::codec::Malformed;
use crate::disk::{Disk, read_into};
use crate::error::OpenError;
use crate::frame::{self, Frame, Kind, ScannedFrame};
use crate::maintenance::{Files, Sealed};
use crate::segment::{self, Header};
use crate::snapshot;

#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) state: State,
    pub(crate) files: Files,
    /// Where the log ends; `None` in a directory without a store.
    pub(crate) tail: Option<Tail>,
    /// `None` in a log without frames.
    pub(crate) last_frame: Option<LastFrame>,
    /// Unreferenced files.
    pub(crate) leftovers: Vec<String>,
    /// The segments, for a report.
    pub(crate) segments: Vec<Read>,
    pub(crate) snapshot_bytes: u64,
}

/// The end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) header: Header,
    pub(crate) bytes: u64,
    /// Where the next frame goes.
    pub(crate) end: u64,
    /// Bytes after the end that a crash left there.
    pub(crate) torn_bytes: u64,
}

/// The last frame of the log, to be written once more.
///
/// It was read from the page cache. A process that was killed before its sync, or whose sync failed, may have left it
/// there and not on disk; every frame before it is durable, because the next one is only written after a sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastFrame {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) frames: u64,
}

/// Reads a directory.
pub(crate) fn read(disk: &dyn Disk, limits: HistoryLimits) -> Result<Recovered, OpenError> {
    let names = disk.names().map_err(OpenError::read(&disk.path("")))?;
    let snapshot_at = names.iter().filter_map(|name| snapshot::revision_of(name)).max();
    let (state, first_segment, snapshot_bytes) = match snapshot_at {
        None => (State::empty(limits), 1, 0),
        Some(revision) => {
            let snapshot = snapshot::load(disk, &snapshot::name(revision))?;
            let state = State::at(snapshot.header.revision, snapshot.keys, limits);
            (state, snapshot.header.first_segment, snapshot.bytes)
        }
    };
    let numbers = segment_numbers(disk, &names, first_segment, snapshot_at)?;
    let mut replay = Replay::new(disk, state);
    // One buffer for all segments: most of the time of a start is first access to memory.
    let mut buffer = Vec::new();
    for number in &numbers {
        replay.segment(*number, &mut buffer)?;
    }
    replay.finish()?;
    let Replay { state, sealed, tail, segments, spares, last_frame, .. } = replay;
    let mut leftovers = leftover_names(&names, first_segment, snapshot_at);
    leftovers.extend(spares);
    let current = tail.as_ref().map_or(first_segment, |tail| tail.header.number);
    let files = Files { sealed, snapshot: snapshot_at, current };
    Ok(Recovered { state, files, tail, last_frame, leftovers, segments, snapshot_bytes })
}

/// The numbers of the segments to replay: from the first on, without a hole.
fn segment_numbers(
    disk: &dyn Disk,
    names: &[String],
    first: u64,
    snapshot: Option<Revision>,
) -> Result<Vec<u64>, OpenError> {
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number_of(name)).collect();
    numbers.retain(|number| *number >= first);
    numbers.sort_unstable();
    if numbers.is_empty() && snapshot.is_none() {
        return Ok(numbers);
    }
    let missing =
        (first..).zip(&numbers).find(|(expected, number)| expected != *number).map(|(expected, _)| expected);
    match missing.or(numbers.is_empty().then_some(first)) {
        None => Ok(numbers),
        Some(missing) => {
            let why = "the file is missing, and with it changes that were acknowledged";
            Err(OpenError::damaged(disk.path(&segment::name(missing)), 0, why))
        }
    }
}

fn leftover_names(names: &[String], first_segment: u64, snapshot: Option<Revision>) -> Vec<String> {
    let is_leftover = |name: &&String| {
        name.strip_suffix(".new").is_some()
            || segment::number_of(name).is_some_and(|number| number < first_segment)
            || snapshot::revision_of(name).is_some_and(|revision| Some(revision) < snapshot)
    };
    names.iter().filter(is_leftover).cloned().collect()
}

/// The log being replayed.
struct Replay<'a> {
    disk: &'a dyn Disk,
    state: State,
    /// The revision of the snapshot: changes up to it are in the state already.
    known: Revision,
    /// Where the last frame ended; `None` before the first.
    reached: Option<Revision>,
    sealed: BTreeMap<u64, Sealed>,
    tail: Option<Tail>,
    last_frame: Option<LastFrame>,
    segments: Vec<Read>,
    /// Segments that were created but not used.
    spares: Vec<String>,
}

impl<'a> Replay<'a> {
    fn new(disk: &'a dyn Disk, state: State) -> Self {
        let known = state.bounds().current;
        let (sealed, segments, spares) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { disk, state, known, reached: None, sealed, tail: None, last_frame: None, segments, spares }
    }

    fn segment(&mut self, number: u64, bytes: &mut Vec<u8>) -> Result<(), OpenError> {
        let name = segment::name(number);
        let path = self.disk.path(&name);
        read_into(self.disk, &name, bytes).map_err(OpenError::read(&path))?;
        let header = Header::decode(bytes).map_err(|why| OpenError::damaged(path.clone(), 0, why))?;
        if header.number != number {
            return Err(OpenError::damaged(
                path,
                12,
                format!("this is segment {} under another name", header.number),
            ));
        }
        if let Some(tail) = &self.tail {
            return self.behind_the_end(&tail.clone(), name, bytes, header);
        }
        let mut tail =
            Tail { header, bytes: bytes.len() as u64, end: segment::HEADER_BYTES as u64, torn_bytes: 0 };
        let (frames, is_sealed) = self.frames(&name, bytes, &mut tail)?;
        self.segments.push(Read { number, bytes: tail.bytes, used_bytes: tail.end, frames });
        if is_sealed {
            let last = self.reached.unwrap_or(self.known);
            self.sealed.insert(number, Sealed { bytes: tail.bytes, last });
        } else {
            self.tail = Some(tail);
        }
        Ok(())
    }

    /// A segment after one that was not sealed: it was created, but never used, or the log has a gap.
    fn behind_the_end(
        &mut self,
        tail: &Tail,
        name: String,
        bytes: &[u8],
        header: Header,
    ) -> Result<(), OpenError> {
        if frame::find(bytes, segment::HEADER_BYTES, header.nonce).is_some() {
            let broken = self.disk.path(&segment::name(tail.header.number));
            let found = format!("the log ends here, but goes on in {name}");
            return Err(OpenError::damaged(broken, tail.end, found));
        }
        self.spares.push(name);
        Ok(())
    }

    /// Replays the frames of a segment; returns how many there were and whether the last one seals it.
    fn frames(&mut self, name: &str, bytes: &[u8], tail: &mut Tail) -> Result<(u64, bool), OpenError> {
        let nonce = tail.header.nonce;
        let mut frames = 0;
        let mut last = None;
        loop {
            let offset = usize::try_from(tail.end).unwrap_or(usize::MAX);
            match frame::read(bytes, offset, nonce) {
                ScannedFrame::Frame(frame) => {
                    let found = |Malformed(why)| OpenError::damaged(self.disk.path(name), tail.end, why);
                    Self::apply(&mut self.state, &mut self.reached, self.known, &frame).map_err(found)?;
                    frames += 1;
                    let frame_end = offset + frame.bytes;
                    last = Some(offset..frame_end);
                    tail.end += frame.bytes as u64;
                    if frame.kind == Kind::Seal {
                        self.remember(tail.header.number, last, bytes);
                        return Ok((frames, true));
                    }
                }
                other => {
                    let why = if let ScannedFrame::Broken(why) = other { why } else { "zeros" };
                    if frame::find(bytes, offset, nonce).is_some() {
                        let found = format!("{why}, and valid changes behind it");
                        return Err(OpenError::damaged(self.disk.path(name), tail.end, found));
                    }
                    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    tail.torn_bytes = (written as u64).saturating_sub(tail.end);
                    self.remember(tail.header.number, last, bytes);
                    return Ok((frames, false));
                }
            }
        }
    }

    /// Records the last frame of a segment, if it has one.
    fn remember(&mut self, segment: u64, last: Option<Range<usize>>, bytes: &[u8]) {
        if let Some(last) = last {
            let (offset, bytes) = (last.start as u64, bytes[last].to_vec());
            self.last_frame = Some(LastFrame { segment, offset, bytes });
        }
    }

    fn apply(
        state: &mut State,
        reached: &mut Option<Revision>,
        known: Revision,
        frame: &Frame<'_>,
    ) -> Result<(), Malformed> {
        let follows = reached.map_or(frame.base <= known, |reached| reached == frame.base);
        if !follows {
            return Err(Malformed("a gap in the revisions"));
        }
        if frame.kind == Kind::Batch && frame.end() > known {
            for (revision, transaction) in (frame.base.get() + 1..).zip(frame.transactions()?) {
                if revision > known.get() {
                    let replayed = state.replay(transaction, frame.at_millis);
                    replayed.map_err(|_| Malformed("a change that does not fit the one before it"))?;
                }
            }
        }
        if frame.kind == Kind::Compact {
            let floor = frame.floor()?.min(state.bounds().current);
            state.compact(floor).map_err(|_| Malformed("a compaction of the future"))?;
        }
        *reached = Some(frame.end());
        Ok(())
    }

    /// Checks that need the whole log.
    fn finish(&mut self) -> Result<(), OpenError> {
        let Some(last) = self.segments.last() else { return Ok(()) };
        if self.tail.is_none() {
            let missing = self.disk.path(&segment::name(last.number + 1));
            return Err(OpenError::damaged(missing, 0, "the file is missing, though the log goes on in it"));
        }
        if self.reached.is_some_and(|reached| reached < self.known) {
            let path = self.disk.path(&segment::name(last.number));
            return Err(OpenError::damaged(path, last.used_bytes, "the log ends before its snapshot does"));
        }
        Ok(())
    }
}
