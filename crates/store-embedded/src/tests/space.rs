//! A full disk: writes are refused, reads continue, and writes succeed again when there is space.

use gantry_store::Error;

use super::{everything, open, put, small, value};
use crate::disk::simulated::{CrashKind, Faults, SimulatedDisk};

#[test]
fn a_full_disk_refuses_writes_serves_reads_and_recovers() {
    let disk = SimulatedDisk::new(1);
    let mut engine = open(&disk, small()).unwrap();
    put(&mut engine, "/a", "one").unwrap();
    disk.set_faults(Faults { capacity: Some(disk.bytes_used()), ..Faults::default() });

    let mut written = Vec::new();
    let refused = loop {
        let name = format!("/{}", written.len());
        match put(&mut engine, &name, &"x".repeat(100)) {
            Ok(revision) => written.push((name, revision)),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::OutOfSpace { .. }), "{refused:?}");
    assert!(written.len() > 2, "the remaining space has been used");
    let current = engine.live().bounds().current;
    assert_eq!(Some(current), written.last().map(|(_, revision)| *revision));
    assert_eq!(value(&engine, "/a").as_deref(), Some("one"));
    let again = put(&mut engine, "/a", &"x".repeat(100));
    assert!(matches!(again, Err(Error::OutOfSpace { .. })), "the disk is still full");

    disk.set_faults(Faults::default());
    let next = put(&mut engine, "/a", &"y".repeat(500)).unwrap();
    assert_eq!(next, current.next(), "a refused write takes no revision");
    let before = everything(&engine);
    assert_eq!(everything(&open(&disk.after(CrashKind::PowerFailure), small()).unwrap()), before);
}

#[test]
fn disk_use_stays_within_a_small_multiple_of_the_live_data() {
    let disk = SimulatedDisk::new(1);
    let mut engine = open(&disk, small()).unwrap();
    let mut most = 0;
    for round in 0..3000 {
        put(&mut engine, &format!("/{}", round % 20), &"x".repeat(200)).unwrap();
        engine.maintenance().prepare_spare().unwrap();
        if engine.maintenance().is_snapshot_due() {
            engine.maintenance().snapshot().unwrap();
        }
        most = most.max(disk.bytes_used());
    }
    // Live data and history are 4 kB each, garbage 4 kB before it is collected, and the two segments in use 8 kB.
    assert!(most < 32_000, "{most} bytes on disk for 4,000 live and 600,000 written");
    let report = crate::check::check_disk(&disk).unwrap();
    assert_eq!(report.keys, 20);
    let snapshot = report.snapshot.expect("thousands of writes made a snapshot necessary");
    assert!(
        snapshot.0 <= report.bounds.floor,
        "the snapshot is at the floor, so that history can be rebuilt"
    );
}

#[test]
fn a_transaction_larger_than_a_segment_gets_one_of_its_own() {
    let disk = SimulatedDisk::new(1);
    let mut engine = open(&disk, small()).unwrap();
    put(&mut engine, "/before", "v").unwrap();
    engine.maintenance().prepare_spare().unwrap();
    put(&mut engine, "/large", &"x".repeat(50_000)).unwrap();
    put(&mut engine, "/after", "v").unwrap();
    let engine = open(&disk.after(CrashKind::PowerFailure), small()).unwrap();
    assert_eq!(value(&engine, "/large").unwrap().len(), 50_000);
    assert_eq!(value(&engine, "/after").as_deref(), Some("v"));
}
