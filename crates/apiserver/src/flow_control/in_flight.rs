//! The plain limits of a server without priority and fairness: a number of concurrent reads and a number of concurrent
//! writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The limits and the requests in flight.
#[derive(Debug)]
pub(super) struct InFlightLimits {
    reading: Arc<InFlightLimit>,
    mutating: Arc<InFlightLimit>,
}

/// One limit; 0 is none.
#[derive(Debug)]
struct InFlightLimit {
    limit: u32,
    requests: AtomicU32,
}

/// A counted request; dropping it ends it.
#[derive(Debug)]
pub(super) struct CountedRequest(Option<Arc<InFlightLimit>>);

impl InFlightLimits {
    pub(super) fn new(reading: u32, mutating: u32) -> Self {
        let limit = |limit| Arc::new(InFlightLimit { limit, requests: AtomicU32::new(0) });
        Self { reading: limit(reading), mutating: limit(mutating) }
    }

    /// Counts a request; `None` if there are too many. Administrators are not limited.
    pub(super) fn begin(&self, is_mutating: bool, is_master: bool) -> Option<CountedRequest> {
        let limit = if is_mutating { &self.mutating } else { &self.reading };
        if limit.limit == 0 {
            return Some(CountedRequest(None));
        }
        if limit.requests.fetch_add(1, Ordering::AcqRel) < limit.limit {
            return Some(CountedRequest(Some(Arc::clone(limit))));
        }
        limit.requests.fetch_sub(1, Ordering::AcqRel);
        is_master.then_some(CountedRequest(None))
    }
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        if let Some(limit) = &self.0 {
            limit.requests.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_have_separate_limits() {
        let limits = InFlightLimits::new(1, 1);
        let read = limits.begin(false, false);
        assert!(read.is_some() && limits.begin(false, false).is_none());
        assert!(limits.begin(true, false).is_some(), "a write");
        assert!(limits.begin(false, true).is_some(), "an administrator");
        drop(read);
        assert!(limits.begin(false, false).is_some());
        let unlimited = InFlightLimits::new(0, 0);
        let many: Vec<_> = (0..100).map(|_| unlimited.begin(false, false)).collect();
        assert!(many.iter().all(Option::is_some));
    }
}
