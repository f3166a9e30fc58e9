//! The glyph of a pod in the live view: one character, one style.

use gantry_model::Timestamp;

use crate::rollout_state::ReplicaSetState;
use crate::snapshot::{ObservedPod, Snapshot};
use crate::span::Style;
use crate::why::{Severity, pod_problem};

gantry_model::text_enum! {
    /// The state of a pod in the live view.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PodGlyph {
        /// It is available.
        Available = "available",
        /// It is ready, but not for `minReadySeconds` yet.
        Ready = "ready",
        /// It is starting.
        Starting = "starting",
        /// It has no node yet.
        Pending = "pending",
        /// It has a problem that blocks it.
        Failing = "failing",
        /// It is terminating.
        Terminating = "terminating",
    }

    /// All states, in the order of the legend.
    pub const ALL: [Self; 6];
    /// The label in the legend.
    pub fn label(self) -> &'static str;
}

/// The characters that a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Unicode characters.
    Unicode,
    /// ASCII characters only.
    Ascii,
}

impl PodGlyph {
    /// The state of a pod of this set; `None` for a terminated one.
    pub fn of(
        now: Timestamp,
        snapshot: &Snapshot,
        set: &ReplicaSetState<'_>,
        seen: &ObservedPod,
    ) -> Option<Self> {
        if seen.pod.phase.is_finished() {
            return None;
        }
        if seen.pod.is_terminating() {
            return Some(Self::Terminating);
        }
        if set.counts_available(now, seen) {
            return Some(Self::Available);
        }
        if seen.pod.is_ready() {
            return Some(Self::Ready);
        }
        let is_failing = pod_problem(now, snapshot, seen).is_some_and(|it| it.severity == Severity::Blocks);
        Some(match (is_failing, &seen.pod.node) {
            (true, _) => Self::Failing,
            (false, Some(_)) => Self::Starting,
            (false, None) => Self::Pending,
        })
    }

    /// The character for it.
    pub fn glyph(self, charset: Charset) -> char {
        let (unicode, ascii) = match self {
            Self::Available => ('●', '#'),
            Self::Ready => ('◕', '+'),
            Self::Starting => ('◐', 'o'),
            Self::Pending => ('○', '.'),
            Self::Failing => ('✗', 'x'),
            Self::Terminating => ('◌', '-'),
        };
        if charset == Charset::Unicode { unicode } else { ascii }
    }

    /// Its style.
    pub fn style(self) -> Style {
        match self {
            Self::Available => Style::Good,
            Self::Ready | Self::Starting => Style::Busy,
            Self::Pending | Self::Terminating => Style::Dim,
            Self::Failing => Style::Bad,
        }
    }
}
