//! Estimates the seats of a request: one, unless it reads or writes many bytes.
//!
//! Kubernetes estimates lists by the number and size of the stored objects, which it polls. Here the estimate is the
//! size of the last list of the same collection.

use std::collections::BTreeMap;

/// The bytes per seat, as in Kubernetes.
const BYTES_PER_SEAT: u64 = 100_000;
/// The maximum number of seats of a request.
const SEATS_MAX: u32 = 10;
/// The maximum number of collections whose size is kept.
const COLLECTIONS_MAX: usize = 1024;

/// The properties of a request that its estimate depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// One object or none.
    Single,
    /// A list, or a watch that begins with one.
    List {
        collection: CollectionHash,
        /// The maximum number of requested objects; 0 for all.
        limit: u64,
        /// Whether objects are selected, which requires reading all of them.
        is_selective: bool,
    },
    /// A write with a body of this size.
    Write { bytes: u64 },
}

/// Identifies a collection: a resource, in one namespace or in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CollectionHash(u64);

impl CollectionHash {
    pub(crate) fn of(group: &str, resource: &str, namespace: &str) -> Self {
        let words = [group, resource, namespace].map(str::bytes);
        // FNV-1a. An estimate for another collection does no harm.
        Self(words.into_iter().flat_map(|word| word.chain([0])).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }
}

/// The sizes of large collections.
#[derive(Debug, Default)]
pub(super) struct CollectionSizes(BTreeMap<CollectionHash, CollectionSize>);

#[derive(Clone, Copy, Debug)]
struct CollectionSize {
    objects: u64,
    bytes: u64,
}

/// Whether reading or writing this many bytes takes more than one seat.
pub(super) fn is_large(bytes: u64) -> bool {
    bytes > BYTES_PER_SEAT
}

impl CollectionSizes {
    pub(super) fn contains(&self, collection: CollectionHash) -> bool {
        self.0.contains_key(&collection)
    }

    /// Records how much a list has read; returns whether any collection is large now.
    pub(super) fn note(&mut self, collection: CollectionHash, objects: u64, bytes: u64) -> bool {
        if !is_large(bytes) {
            self.0.remove(&collection);
        } else if self.0.len() < COLLECTIONS_MAX || self.0.contains_key(&collection) {
            self.0.insert(collection, CollectionSize { objects, bytes });
        }
        !self.0.is_empty()
    }

    /// The seats of a request, at most `most`.
    pub(super) fn seats(&self, work: Work, most: u32) -> u32 {
        let bytes = match work {
            Work::Single => 0,
            Work::Write { bytes } => bytes,
            Work::List { collection, limit, is_selective } => {
                let Some(size) = self.0.get(&collection) else { return 1 };
                if limit == 0 || is_selective || limit >= size.objects {
                    size.bytes
                } else {
                    size.bytes / size.objects.max(1) * limit
                }
            }
        };
        let seats = u32::try_from(bytes.div_ceil(BYTES_PER_SEAT)).unwrap_or(u32::MAX);
        seats.min(most).clamp(1, SEATS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_take_seats_by_the_objects_of_the_last_list() {
        let pods = CollectionHash::of("", "pods", "");
        let list = |limit, is_selective| Work::List { collection: pods, limit, is_selective };
        let mut sizes = CollectionSizes::default();
        assert_eq!(sizes.seats(list(0, false), 100), 1, "nothing is known yet");
        assert!(sizes.note(pods, 1000, 550_000));
        assert_eq!(sizes.seats(list(0, false), 100), 6);
        assert_eq!(sizes.seats(list(0, false), 4), 4, "the level's limit");
        assert_eq!(sizes.seats(list(500, false), 100), 3, "half of it");
        assert_eq!(sizes.seats(list(500, true), 100), 6, "a selector reads all");
        sizes.note(pods, 1_000_000, 1 << 40);
        assert_eq!(sizes.seats(list(0, false), 100), 10);
        assert!(!sizes.note(pods, 1, 1), "it is small again");
        assert_ne!(pods, CollectionHash::of("", "pods", "shop"));
    }

    #[test]
    fn large_writes_take_more_seats() {
        let sizes = CollectionSizes::default();
        assert_eq!(sizes.seats(Work::Single, 100), 1);
        assert_eq!(sizes.seats(Work::Write { bytes: 0 }, 100), 1);
        assert_eq!(sizes.seats(Work::Write { bytes: 250_000 }, 100), 3);
    }
}
