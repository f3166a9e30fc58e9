//! When to look again.

use std::time::Duration;

/// When a decision wants to be made again, if nothing changes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Only when something changes.
    OnChange,
    /// At once, but through the queue's rate limit.
    Soon,
    /// When so much time has passed.
    After(Duration),
}
