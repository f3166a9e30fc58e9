//! Disk errors: nothing is acknowledged that is not durable, and nothing is retried as if nothing had happened.

use std::io::ErrorKind;

use gantry_store::Error;
use gantry_store::suite::{Rng, seeds};

use super::crashes::run_and_crash;
use super::{open, put, small, value};
use crate::disk::simulated::{CrashKind, Faults, SimulatedDisk};

#[test]
fn after_a_failed_sync_nothing_is_written_until_a_restart() {
    let disk = SimulatedDisk::new(7);
    let mut engine = open(&disk, small()).unwrap();
    put(&mut engine, "/a", "one").unwrap();
    disk.set_faults(Faults {
        sync_fails_at: Some((disk.operations(), ErrorKind::Other)),
        ..Faults::default()
    });

    let unknown = put(&mut engine, "/a", "two").unwrap_err();
    assert!(matches!(unknown, Error::OutcomeUnknown { .. }), "{unknown:?}");
    let refused = put(&mut engine, "/b", "one").unwrap_err();
    assert!(matches!(refused, Error::Unavailable { .. }), "{refused:?}");
    assert!(engine.failure().unwrap().to_string().contains("restart"));
    assert_eq!(value(&engine, "/a").as_deref(), Some("one"), "reads continue with the durable state");

    // The restart finds the write in the cache, where it may be the only copy, and makes it durable first.
    let mut engine = open(&disk.after(CrashKind::Killed), small()).unwrap();
    let found = value(&engine, "/a").unwrap();
    assert!(["one", "two"].contains(&found.as_str()));
    put(&mut engine, "/b", "one").unwrap();
}

#[test]
fn writes_found_in_the_page_cache_at_a_restart_are_durable() {
    for seed in seeds(50, 2_000) {
        let disk = SimulatedDisk::new(seed);
        let mut engine = open(&disk, small()).unwrap();
        put(&mut engine, "/a", "one").unwrap();
        disk.set_faults(Faults {
            sync_fails_at: Some((disk.operations(), ErrorKind::Other)),
            ..Faults::default()
        });
        put(&mut engine, "/a", "two").unwrap_err();
        let disk = disk.after(CrashKind::Killed);
        let found = value(&open(&disk, small()).unwrap(), "/a");
        assert_eq!(found.as_deref(), Some("two"), "the cache had the write");
        let again = open(&disk.after(CrashKind::PowerFailure), small()).unwrap();
        assert_eq!(value(&again, "/a"), found, "GANTRY_SEED={seed}");
    }
}

/// Some file systems report only at the sync that they are full.
#[test]
fn a_write_that_failed_at_the_sync_of_a_full_disk_does_not_reappear() {
    for end in [CrashKind::Killed, CrashKind::PowerFailure] {
        let disk = SimulatedDisk::new(7);
        let mut engine = open(&disk, small()).unwrap();
        let first = put(&mut engine, "/a", "one").unwrap();
        disk.set_faults(Faults {
            sync_fails_at: Some((disk.operations(), ErrorKind::StorageFull)),
            ..Faults::default()
        });
        let refused = put(&mut engine, "/a", "two").unwrap_err();
        assert!(matches!(refused, Error::OutOfSpace { .. }), "{refused:?}");
        let reopened = open(&disk.after(end), small()).unwrap();
        assert_eq!(value(&reopened, "/a").as_deref(), Some("one"), "{end:?}");
        assert_eq!(put(&mut engine, "/a", "three"), Ok(first.next()), "and with space, writes succeed again");
    }
}

#[test]
fn acknowledged_writes_survive_failing_syncs_and_crashes() {
    fn failing_sync(rng: &mut Rng, operations: u64) -> Faults {
        let kind = if rng.one_in(2) { ErrorKind::Other } else { ErrorKind::StorageFull };
        let sync_fails_at = Some((operations + rng.below(80), kind));
        Faults { crashes_at: Some(operations + 1 + rng.below(160)), sync_fails_at, capacity: None }
    }
    for seed in seeds(70, 5_000) {
        run_and_crash(seed, 4, small, failing_sync);
    }
}

#[test]
fn acknowledged_writes_survive_a_full_disk_and_crashes() {
    fn small_disk(rng: &mut Rng, operations: u64) -> Faults {
        let crashes_at = Some(operations + 1 + rng.below(160));
        Faults { crashes_at, sync_fails_at: None, capacity: Some(10_000 + rng.below(20_000)) }
    }
    for seed in seeds(70, 5_000) {
        run_and_crash(seed, 4, small, small_disk);
    }
}
