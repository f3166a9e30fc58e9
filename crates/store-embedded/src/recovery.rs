//! From files to state: the snapshot, then every frame of the log after it. Only reads; necessary repairs are part of
//! the result.
//!
//! The effects of a crash are repaired: unfinished and superseded files, a torn last frame. Anything else is damage,
//! and the store refuses to open. The high-water mark distinguishes both: a torn frame was never acknowledged.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use gantry_store::memory::{HistoryLimits, State};
use gantry_store::{Corruption, Revision};

use crate::codec::Malformed;
use crate::disk::{Disk, read_into};
use crate::error::OpenError;
use crate::frame::{self, Frame, Kind, ScannedFrame};
use crate::high_water_mark::{Slot, Slots};
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
    /// Why the rest of the log could not be read.
    pub(crate) damage: Option<Corruption>,
}

/// The end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) header: Header,
    pub(crate) bytes: u64,
    /// The offset of the next frame.
    pub(crate) end: u64,
    /// Bytes after the end that a crash left there.
    pub(crate) torn_bytes: u64,
    /// The high-water mark; `None` in version 1.
    pub(crate) slots: Option<Slots>,
}

/// The last frame of the log, to be written again.
///
/// It was read from the page cache. A process that was killed before its sync, or whose sync failed, may have left it
/// there and not on disk; every frame before it is durable, because the next one is only written after a sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastFrame {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

/// How the frames of a segment end.
enum LogEnd {
    /// The log continues in the next segment.
    Sealed,
    /// The content at the place of the next frame.
    Here(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) frames: u64,
}

/// Reads the whole directory.
pub(crate) fn read(disk: &dyn Disk, limits: HistoryLimits) -> Result<Recovered, OpenError> {
    let mut recovered = read_intact(disk, limits)?;
    recovered.damage.take().map_or(Ok(recovered), |damage| Err(OpenError::Corrupt(damage)))
}

/// Reads a directory up to the first damage of its log.
pub(crate) fn read_intact(disk: &dyn Disk, limits: HistoryLimits) -> Result<Recovered, OpenError> {
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
    let (numbers, missing) = segment_numbers(&names, first_segment, snapshot_at);
    let missing = missing.map(|number| disk.path(&segment::name(number)));
    let missing = missing.map(|path| {
        OpenError::damaged(path, 0, "the file is missing, and with it changes that were acknowledged")
    });
    let mut replay = Replay::new(disk, state);
    let replayed = match missing {
        // Without the beginning of the log, and without a snapshot, nothing can be kept.
        Some(missing) if numbers.is_empty() && snapshot_at.is_none() => return Err(missing),
        missing => replay.all(&numbers).and_then(|()| missing.map_or_else(|| replay.finish(), Err)),
    };
    let Replay { state, sealed, tail, segments, spares, last_frame, .. } = replay;
    let damage = match replayed {
        Ok(()) => None,
        Err(OpenError::Corrupt(found)) => Some(repairable(found, disk, state.bounds().current)),
        Err(other) => return Err(other),
    };
    let mut leftovers = leftover_names(&names, first_segment, snapshot_at);
    leftovers.extend(spares);
    let current = tail.as_ref().map_or(first_segment, |tail| tail.header.number);
    let files = Files { sealed, snapshot: snapshot_at, current };
    Ok(Recovered { state, files, tail, last_frame, leftovers, segments, snapshot_bytes, damage })
}

/// The numbers of the segments to replay, from the first on without a gap, and the number of the segment that is
/// missing, if one is.
fn segment_numbers(names: &[String], first: u64, snapshot: Option<Revision>) -> (Vec<u64>, Option<u64>) {
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number_of(name)).collect();
    numbers.retain(|number| *number >= first);
    numbers.sort_unstable();
    let gapless = (first..).zip(&numbers).take_while(|(expected, number)| expected == *number).count();
    let is_missing = gapless < numbers.len() || (numbers.is_empty() && snapshot.is_some());
    numbers.truncate(gapless);
    (numbers, is_missing.then_some(first + gapless as u64))
}

fn leftover_names(names: &[String], first_segment: u64, snapshot: Option<Revision>) -> Vec<String> {
    let is_leftover = |name: &&String| {
        name.strip_suffix(".new").is_some()
            || segment::number_of(name).is_some_and(|number| number < first_segment)
            || snapshot::revision_of(name).is_some_and(|revision| Some(revision) < snapshot)
    };
    names.iter().filter(is_leftover).cloned().collect()
}

/// Damage of the log: everything before it can be kept.
fn repairable(mut damage: Corruption, disk: &dyn Disk, intact: Revision) -> Corruption {
    let directory = disk.path("").components().as_path().display().to_string();
    damage.advice = format!(
        "nothing was changed, and everything up to revision {intact} can be read; put the undamaged file back, or \
         restore the latest backup into an empty directory with `gantry store restore`, or continue without the \
         missing changes: `gantry store repair --accept-loss {directory}`"
    );
    damage
}

/// The log being replayed.
struct Replay<'a> {
    disk: &'a dyn Disk,
    state: State,
    /// The revision of the snapshot: changes up to it are in the state already.
    known: Revision,
    /// The revision after the last frame; `None` before the first.
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

    /// Replays every segment from the first on.
    fn all(&mut self, numbers: &[u64]) -> Result<(), OpenError> {
        // One buffer for all segments: most of the time of a start is the first access to memory.
        let mut buffer = Vec::new();
        for number in numbers {
            self.segment(*number, &mut buffer)?;
        }
        Ok(())
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
        let (length, end) = (bytes.len() as u64, header.first_frame() as u64);
        let slots = Slots::read(bytes, header.nonce).filter(|_| header.bytes.is_some());
        let mut tail = Tail { header, bytes: length, end, torn_bytes: 0, slots };
        let (frames, end) = self.frames(&name, bytes, &mut tail)?;
        self.segments.push(Read { number, bytes: length, used_bytes: tail.end, frames });
        self.check_length(path.clone(), &tail)?;
        match end {
            LogEnd::Sealed => {
                let last = self.reached.unwrap_or(self.known);
                self.sealed.insert(number, Sealed { bytes: length, last });
            }
            LogEnd::Here(found) => {
                self.check_end(path, &tail, found)?;
                self.tail = Some(tail);
            }
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
        if frame::find(bytes, header.first_frame(), header.nonce).is_some() {
            let broken = self.disk.path(&segment::name(tail.header.number));
            let found = format!("the log ends here, but continues in {name}");
            return Err(OpenError::damaged(broken, tail.end, found));
        }
        self.spares.push(name);
        Ok(())
    }

    /// A file whose size is not the size in its header has lost data, or has other content than was written.
    fn check_length(&self, path: PathBuf, tail: &Tail) -> Result<(), OpenError> {
        match tail.header.bytes {
            Some(made) if made != tail.bytes => {
                let found = format!("the file has {} bytes and was made with {made}", tail.bytes);
                Err(OpenError::damaged(path, made.min(tail.bytes), self.with_missing(found, tail)))
            }
            _ => Ok(()),
        }
    }

    /// Distinguishes the end of the log from damage: acknowledged writes are never torn.
    fn check_end(&self, path: PathBuf, tail: &Tail, found: &str) -> Result<(), OpenError> {
        if tail.header.bytes.is_none() {
            // A file of version 1 does not have its size, only space for the last frame and a seal.
            let is_cut = found == frame::TOO_LONG || tail.bytes < tail.end + frame::HEADER_BYTES as u64;
            let found = "the file ends here, and was longer when it was written";
            return if is_cut { Err(OpenError::damaged(path, tail.bytes, found)) } else { Ok(()) };
        }
        let unknown = "it is not known which writes were acknowledged";
        let Some(Slots { newest, slot, is_other_torn }) = tail.slots else {
            let found = format!("no valid high-water mark, so {unknown}");
            return Err(OpenError::damaged(path, Slot::First.offset() as u64, found));
        };
        if tail.end < newest.end {
            let found = format!("{found}, although writes up to byte {} were acknowledged", newest.end);
            return Err(OpenError::damaged(path, tail.end, self.with_missing(found, tail)));
        }
        if is_other_torn && tail.end == newest.end {
            let found = format!("a high-water mark whose checksum does not match, so {unknown}");
            return Err(OpenError::damaged(path, slot.other().offset() as u64, found));
        }
        Ok(())
    }

    /// Adds which revisions are missing, if the high-water mark has the last one.
    fn with_missing(&self, found: String, tail: &Tail) -> String {
        let acknowledged = tail.slots.and_then(|slots| slots.newest.revision);
        let next = self.reached.unwrap_or(self.known).next();
        match acknowledged.filter(|acknowledged| *acknowledged >= next) {
            Some(last) if last == next => format!("{found}; revision {last} is missing"),
            Some(last) => format!("{found}; revisions {next} to {last} are missing"),
            None => found,
        }
    }

    /// Replays the frames of a segment; returns how many there were and how they end.
    fn frames(&mut self, name: &str, bytes: &[u8], tail: &mut Tail) -> Result<(u64, LogEnd), OpenError> {
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
                        self.record_last_frame(tail.header.number, last, bytes);
                        return Ok((frames, LogEnd::Sealed));
                    }
                }
                other => {
                    let why = if let ScannedFrame::Broken(why) = other { why } else { "zeros" };
                    if frame::find(bytes, offset, nonce).is_some() {
                        let found = format!("{why}, and valid changes after it");
                        return Err(OpenError::damaged(self.disk.path(name), tail.end, found));
                    }
                    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    tail.torn_bytes = (written as u64).saturating_sub(tail.end);
                    self.record_last_frame(tail.header.number, last, bytes);
                    return Ok((frames, LogEnd::Here(why)));
                }
            }
        }
    }

    /// Records the last frame of a segment, if it has one.
    fn record_last_frame(&mut self, segment: u64, last: Option<Range<usize>>, bytes: &[u8]) {
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
            state.compact(floor).map_err(|_| Malformed("a compaction beyond the current revision"))?;
        }
        *reached = Some(frame.end());
        Ok(())
    }

    /// Checks that need the whole log.
    fn finish(&mut self) -> Result<(), OpenError> {
        let Some(last) = self.segments.last() else { return Ok(()) };
        if self.tail.is_none() {
            let missing = self.disk.path(&segment::name(last.number + 1));
            return Err(OpenError::damaged(
                missing,
                0,
                "the file is missing, although the log continues in it",
            ));
        }
        if self.reached.is_some_and(|reached| reached < self.known) {
            let path = self.disk.path(&segment::name(last.number));
            return Err(OpenError::damaged(path, last.used_bytes, "the log ends before its snapshot does"));
        }
        Ok(())
    }
}
