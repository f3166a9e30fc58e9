//! When to requeue a key.

use std::time::Duration;

/// When a key is requeued if nothing changes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Only when something changes.
    OnChange,
    /// At once, but through the queue's rate limit.
    Soon,
    /// When so much time has passed.
    After(Duration),
}
