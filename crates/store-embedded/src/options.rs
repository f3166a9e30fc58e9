//! The options of an embedded store.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use gantry_store::memory::HistoryLimits;

/// The options of an embedded store.
#[derive(Clone)]
pub struct Options {
    /// The limits of history, in memory and on disk.
    pub history: HistoryLimits,
    /// The size of the first log segment; each next one is twice as large, up to the maximum.
    pub segment_bytes_min: u64,
    /// The maximum size of a log segment.
    pub segment_bytes_max: u64,
    /// A snapshot is written when it supersedes this much of the log, or half of the live data if that is more.
    pub garbage_bytes_min: u64,
    /// Milliseconds since 1970; used only for the age limit of history.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            history: HistoryLimits::default(),
            // Small enough that an empty store starts in a few milliseconds.
            segment_bytes_min: 256 << 10,
            segment_bytes_max: 16 << 20,
            garbage_bytes_min: 16 << 20,
            clock: Arc::new(wall_clock_millis),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("history", &self.history)
            .field("segment_bytes_max", &self.segment_bytes_max)
            .field("garbage_bytes_min", &self.garbage_bytes_min)
            .finish_non_exhaustive()
    }
}

fn wall_clock_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
