//! How a pod looks in the live view: one character, one style.

use gantry_model::Timestamp;

use crate::snapshot::{PodSeen, Snapshot};
use crate::span::Style;
use crate::standing::SetStanding;
use crate::why::{Weight, complaint};

/// How far a pod has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// It counts as available.
    Available,
    /// It is ready, but not for long enough.
    Ready,
    /// It starts.
    Starting,
    /// It has no node yet.
    Pending,
    /// It complains of something.
    Troubled,
    /// It is on its way out.
    Leaving,
}

/// The characters that a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// All of them.
    Unicode,
    /// Those of a typewriter.
    Ascii,
}

impl Look {
    /// All of them, in the order of the legend.
    pub const ALL: [Self; 6] =
        [Self::Available, Self::Ready, Self::Starting, Self::Pending, Self::Troubled, Self::Leaving];

    /// How a pod of this set looks now; `None` for one that has ended and counts no more.
    pub fn of(now: Timestamp, snapshot: &Snapshot, set: &SetStanding<'_>, seen: &PodSeen) -> Option<Self> {
        if seen.pod.phase.is_finished() {
            return None;
        }
        if seen.pod.is_terminating() {
            return Some(Self::Leaving);
        }
        if set.counts_available(now, seen) {
            return Some(Self::Available);
        }
        if seen.pod.is_ready() {
            return Some(Self::Ready);
        }
        let is_troubled = complaint(now, snapshot, seen).is_some_and(|it| it.weight == Weight::Blocks);
        Some(match (is_troubled, &seen.pod.node) {
            (true, _) => Self::Troubled,
            (false, Some(_)) => Self::Starting,
            (false, None) => Self::Pending,
        })
    }

    /// The one character.
    pub fn glyph(self, charset: Charset) -> char {
        let (unicode, ascii) = match self {
            Self::Available => ('●', '#'),
            Self::Ready => ('◕', '+'),
            Self::Starting => ('◐', 'o'),
            Self::Pending => ('○', '.'),
            Self::Troubled => ('✗', 'x'),
            Self::Leaving => ('◌', '-'),
        };
        if charset == Charset::Unicode { unicode } else { ascii }
    }

    /// How it is meant.
    pub fn style(self) -> Style {
        match self {
            Self::Available => Style::Good,
            Self::Ready | Self::Starting => Style::Busy,
            Self::Pending | Self::Leaving => Style::Dim,
            Self::Troubled => Style::Bad,
        }
    }

    /// The word in the legend.
    pub fn word(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Ready => "ready",
            Self::Starting => "starting",
            Self::Pending => "pending",
            Self::Troubled => "in trouble",
            Self::Leaving => "leaving",
        }
    }
}
