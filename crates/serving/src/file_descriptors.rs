//! The limit of file descriptors: as high as the system allows, and some are kept for the store.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The descriptors that connections may not use: they are for files of the store, listeners, logs, and clients of our
/// own.
const RESERVED: usize = 128;

/// Raises the limit of open files of this process as far as it may.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // If this fails, the old limit applies, and the number of connections is derived from it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// The number of connections that leave enough descriptors for everything else.
pub(crate) fn connections_max() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    connections_below(limit)
}

/// At least half of the descriptors are for connections, should there be very few.
fn connections_below(limit: usize) -> usize {
    limit.saturating_sub(RESERVED).max(limit / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_kept_for_the_store() {
        assert_eq!(connections_below(1024), 896);
        assert_eq!(connections_below(64), 32);
        assert_eq!(connections_below(0), 1);
        assert_eq!(connections_below(usize::MAX), usize::MAX - RESERVED);
    }
}
