//! What the queues hold, and what becomes of it.

use std::fmt;

use gantry_model::Uid;

use super::{Graph, Node, Outcome, Presence};

/// An object that somebody should look at.
///
/// Only its uid and what was known of it: everything else is looked up when its turn comes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// An owner of which the graph knew from references only.
    Virtual(Uid),
    /// An object that a watch had shown.
    Observed(Uid),
}

/// What becomes of an item after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It leaves the queue, and its failures are forgotten.
    Forget,
    /// It comes back, rate limited, however often that was the case before.
    Retry,
}

impl Item {
    /// The object meant.
    pub fn uid(&self) -> &Uid {
        match self {
            Self::Virtual(uid) | Self::Observed(uid) => uid,
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.uid(), f)
    }
}

impl Outcome {
    /// What becomes of the item that was worked on.
    ///
    /// An owner that exists but that no watch has shown yet is polled: should it go before a watch shows it, only the
    /// poll would notice.
    pub fn fate(&self, item: &Item, graph: &Graph) -> Fate {
        match self {
            Self::Absent(_) => Fate::Forget,
            Self::Failed(trouble) if trouble.is_permanent() => Fate::Forget,
            Self::Failed(_) => Fate::Retry,
            Self::Settled { .. } => match graph.node(item.uid()).map(Node::presence) {
                Some(Presence::Virtual) => Fate::Retry,
                Some(_) | None => Fate::Forget,
            },
        }
    }
}
