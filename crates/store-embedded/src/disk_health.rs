//! Whether the disk works, according to the store's threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gantry_store::Error;

/// The latest failures, shared by the threads and the port.
#[derive(Debug, Default)]
pub(crate) struct DiskHealth(Mutex<Failures>);

#[derive(Debug, Default)]
struct Failures {
    /// Why the last write failed.
    write: Option<Error>,
    /// Why the last maintenance failed.
    maintenance: Option<String>,
}

impl DiskHealth {
    /// Records how the last write ended, and returns whether it failed.
    pub(crate) fn record_write(&self, failure: Option<&Error>) -> bool {
        self.lock().write = failure.cloned();
        failure.is_some()
    }

    /// Records how the last maintenance ended. If it had space for its files, the next write has space, too.
    pub(crate) fn record_maintenance(&self, failure: Option<String>) {
        let mut failures = self.lock();
        if failure.is_none() && matches!(failures.write, Some(Error::OutOfSpace { .. })) {
            failures.write = None;
        }
        failures.maintenance = failure;
    }

    /// Why writes fail, if they do.
    pub(crate) fn write_failure(&self) -> Option<Error> {
        self.lock().write.clone()
    }

    /// Why writes fail, or soon will.
    pub(crate) fn failure(&self) -> Option<String> {
        let failures = self.lock();
        failures.write.as_ref().map(Error::to_string).or_else(|| failures.maintenance.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Failures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
