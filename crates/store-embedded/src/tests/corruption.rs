//! Damage is distinguished from the effects of crashes, and reported with its location.

use std::time::Duration;

use gantry_store::Corruption;
use gantry_store::memory::HistoryLimits;
use gantry_store::suite::is_long_run;

use super::{everything, open, put, small};
use crate::check::check_disk;
use crate::disk::simulated::{CrashKind, SimulatedDisk};
use crate::disk::{Disk, read_all};
use crate::error::OpenError;
use crate::options::Options;
use crate::segment;

/// Enough history for several segments after the snapshot.
fn with_long_history() -> Options {
    Options { history: HistoryLimits { age: Duration::from_hours(1), bytes: 16_000 }, ..small() }
}

/// A store with a snapshot and several segments, closed gracefully.
fn filled() -> SimulatedDisk {
    let disk = SimulatedDisk::new(5);
    let mut engine = open(&disk, with_long_history()).unwrap();
    for number in 0..200 {
        put(&mut engine, &format!("/{}", number % 9), &"v".repeat(number)).unwrap();
        if engine.maintenance().is_snapshot_due() {
            engine.maintenance().snapshot().unwrap();
        }
    }
    engine.close();
    disk.after(CrashKind::PowerFailure)
}

fn damage_in(disk: &SimulatedDisk) -> Corruption {
    match open(disk, with_long_history()) {
        Err(OpenError::Corrupt(corruption)) => corruption,
        other => unreachable!("the damage was not detected: {other:?}"),
    }
}

fn segments(disk: &SimulatedDisk) -> Vec<String> {
    let mut names = disk.names().unwrap();
    names.retain(|name| segment::number_of(name).is_some());
    names
}

fn snapshot(disk: &SimulatedDisk) -> String {
    disk.names().unwrap().into_iter().find(|name| name.ends_with(".snapshot")).expect("a snapshot exists")
}

#[test]
fn a_damaged_frame_is_named_by_file_and_offset() {
    let disk = filled();
    let name = segments(&disk)[0].clone();
    disk.damage(&name, segment::FIRST_FRAME + 40);
    let corruption = damage_in(&disk);
    assert_eq!(corruption.file, disk.path(&name));
    assert_eq!(corruption.offset, segment::FIRST_FRAME as u64);
    assert_eq!(corruption.found, "a checksum that does not match, and valid changes after it");
    assert!(corruption.advice.contains("gantry store restore"), "{corruption}");
}

#[test]
fn after_a_clean_stop_a_damaged_last_write_is_detected() {
    let disk = filled();
    let report = check_disk(&disk).unwrap();
    let last = report.segments.last().unwrap();
    // The last frame records the clean shutdown; the byte before it belongs to the last write or its padding.
    let name = last.name.clone();
    let bytes = read_all(&disk, &name).unwrap();
    let end = usize::try_from(last.used_bytes).unwrap() - crate::frame::HEADER_BYTES;
    let last_byte = bytes[..end].iter().rposition(|byte| *byte != 0).unwrap();
    disk.damage(&name, last_byte);
    assert_eq!(damage_in(&disk).file, disk.path(&name));
}

#[test]
fn a_missing_file_is_named() {
    for (missing, name) in segments(&filled()).into_iter().enumerate() {
        let disk = filled();
        disk.remove(&name).unwrap();
        let corruption = damage_in(&disk);
        assert_eq!(corruption.file, disk.path(&name), "segment {missing} of {:?}", segments(&filled()));
        assert!(corruption.found.contains("missing"), "{corruption}");
    }
}

#[test]
fn a_missing_snapshot_is_detected() {
    let disk = filled();
    disk.remove(&snapshot(&disk)).unwrap();
    assert!(damage_in(&disk).found.contains("missing"));
}

#[test]
fn every_damaged_byte_of_a_snapshot_is_detected() {
    let disk = filled();
    let name = snapshot(&disk);
    for offset in 0..read_all(&disk, &name).unwrap().len() {
        disk.damage(&name, offset);
        assert_eq!(damage_in(&disk).file, disk.path(&name), "byte {offset}");
        disk.damage(&name, offset);
    }
}

#[test]
fn a_damaged_byte_of_the_log_is_detected_or_irrelevant() {
    let disk = filled();
    let expected = everything(&open(&disk, with_long_history()).unwrap());
    let step = if is_long_run() { 1 } else { 13 };
    for name in segments(&disk) {
        let used = read_all(&disk, &name).unwrap().iter().rposition(|byte| *byte != 0).unwrap();
        for offset in (0..=used).step_by(step) {
            disk.damage(&name, offset);
            match open(&disk.after(CrashKind::Killed), with_long_history()) {
                Err(OpenError::Corrupt(corruption)) => assert_eq!(corruption.file, disk.path(&name)),
                Err(error) => unreachable!("byte {offset} of {name}: {error}"),
                // Padding between frames, or the record of the clean shutdown.
                Ok(engine) => assert_eq!(everything(&engine), expected, "byte {offset} of {name}"),
            }
            disk.damage(&name, offset);
        }
    }
}

#[test]
fn a_renamed_file_is_detected() {
    let disk = filled();
    let names = segments(&disk);
    let other = read_all(&disk, &names[1]).unwrap();
    disk.create(&names[0]).unwrap().write_at(&other, 0).unwrap();
    assert!(damage_in(&disk).found.contains("another name"));
}

#[test]
fn a_check_reports_the_contents_and_changes_nothing() {
    let disk = filled();
    let before = disk.operations();
    let report = check_disk(&disk).unwrap();
    assert_eq!(disk.operations(), before, "a check only reads");
    assert_eq!((report.keys, report.torn_bytes), (9, 0));
    assert!(report.segments.iter().all(|segment| segment.frames > 0), "{report:?}");
    // The floor may differ: a check drops no history.
    assert_eq!(report.bounds.current, open(&disk, with_long_history()).unwrap().live().bounds().current);
}
