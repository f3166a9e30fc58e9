//! The items of the queues, and what happens to them after an attempt.

use std::fmt;

use gantry_model::Uid;

use super::{AttemptResult, Graph, GraphNode, Presence};

/// An object to check.
///
/// Holds the uid and whether the object was observed; everything else is looked up when it is processed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueItem {
    /// An owner that the graph knows only from references.
    Virtual(Uid),
    /// An object that a watch has shown.
    Observed(Uid),
}

/// The disposition of an item after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemDisposition {
    /// It leaves the queue, and its failures are forgotten.
    Forget,
    /// It is requeued with backoff, without limit.
    Retry,
}

impl QueueItem {
    /// The uid of the object.
    pub fn uid(&self) -> &Uid {
        match self {
            Self::Virtual(uid) | Self::Observed(uid) => uid,
        }
    }
}

impl fmt::Display for QueueItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.uid(), f)
    }
}

impl AttemptResult {
    /// The disposition of the item after this result.
    ///
    /// An owner that exists but that no watch has shown yet is polled: if it is deleted before a watch shows it, only
    /// the poll notices.
    pub fn disposition(&self, item: &QueueItem, graph: &Graph) -> ItemDisposition {
        match self {
            Self::Absent(_) => ItemDisposition::Forget,
            Self::Failed(error) if error.is_permanent() => ItemDisposition::Forget,
            Self::Failed(_) => ItemDisposition::Retry,
            Self::Settled { .. } => match graph.node(item.uid()).map(GraphNode::presence) {
                Some(Presence::Virtual) => ItemDisposition::Retry,
                Some(_) | None => ItemDisposition::Forget,
            },
        }
    }
}
