//! Random damage to any file: either the store is refused, or every acknowledged write exists.

use gantry_store::suite::{Rng, seeds};
use gantry_store::{Corruption, Revision};

use super::{everything, open, put, small, value};
use crate::check::check_disk;
use crate::disk::simulated::{CrashKind, SimulatedDisk};
use crate::disk::{Disk, read_all};
use crate::error::OpenError;
use crate::high_water_mark::Slot;
use crate::repair::{RepairReport, repair_disk};
use crate::segment::{self, FIRST_FRAME};

/// A store after its last process ended, and its acknowledged state.
struct StoppedStore {
    disk: SimulatedDisk,
    acknowledged: Vec<String>,
    current: Revision,
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Closed,
    Killed,
    /// The power failed while the store was idle.
    PowerFailure,
}

fn stopped_store(writes: usize, ending: Ending) -> StoppedStore {
    let disk = SimulatedDisk::new(5);
    let mut engine = open(&disk, small()).unwrap();
    for number in 0..writes {
        put(&mut engine, &format!("/{}", number % 9), &"v".repeat(number % 200)).unwrap();
        engine.maintenance().prepare_spare().unwrap();
        if engine.maintenance().is_snapshot_due() {
            engine.maintenance().snapshot().unwrap();
        }
    }
    let (acknowledged, current) = (everything(&engine), engine.live().bounds().current);
    let crash = match ending {
        Ending::Closed => {
            engine.close();
            CrashKind::PowerFailure
        }
        Ending::Killed => CrashKind::Killed,
        Ending::PowerFailure => {
            engine.sync_mark();
            CrashKind::PowerFailure
        }
    };
    StoppedStore { disk: disk.after(crash), acknowledged, current }
}

/// The segment being written, and the bytes of it that are in use.
fn last_segment(disk: &SimulatedDisk) -> (String, usize) {
    let report = check_disk(disk).unwrap();
    let last = report.segments.last().unwrap();
    (last.name.clone(), usize::try_from(last.used_bytes).unwrap())
}

fn refusal(disk: &SimulatedDisk) -> Corruption {
    let Err(OpenError::Corrupt(found)) = check_disk(disk) else { unreachable!("the check found nothing") };
    match open(disk, small()) {
        Err(OpenError::Corrupt(corruption)) => {
            assert_eq!(corruption, found, "a check and a start report the same");
        }
        other => unreachable!("the damage was not detected: {other:?}"),
    }
    found
}

#[test]
fn damaged_files_are_refused_or_every_acknowledged_write_is_there() {
    let endings = [Ending::Closed, Ending::Killed, Ending::PowerFailure];
    let stores: Vec<StoppedStore> =
        endings.iter().flat_map(|end| [3, 60, 83].map(|writes| stopped_store(writes, *end))).collect();
    let (mut refused, mut opened) = (0, 0);
    for seed in seeds(600, 100_000) {
        let mut rng = Rng::new(seed);
        let StoppedStore { disk, acknowledged, current } = &stores[rng.index(stores.len())];
        let copy = disk.after(CrashKind::Killed);
        let names = copy.names().unwrap();
        let name = &names[rng.index(names.len())];
        let mut bytes = read_all(&copy, name).unwrap();
        let what = damage(&mut bytes, &mut rng);
        copy.replace(name, bytes);
        let case = format!("GANTRY_SEED={seed}: {what} of {name}");
        let checked = check_disk(&copy);
        match open(&copy, small()) {
            Ok(engine) => {
                assert!(checked.is_ok(), "{case}: opened, but the check reports {checked:?}");
                assert_eq!(engine.live().bounds().current, *current, "{case}");
                assert_eq!(everything(&engine), *acknowledged, "{case}");
                opened += 1;
            }
            Err(OpenError::Corrupt(corruption)) => {
                assert!(corruption.advice.contains("gantry store restore"), "{case}: {corruption}");
                assert!(checked.is_err(), "{case}: refused, but the check finds nothing");
                refused += 1;
            }
            Err(error) => unreachable!("{case}: {error}"),
        }
    }
    assert!(
        refused + opened < 100 || (refused > opened / 4 && opened > 0),
        "{refused} refused, {opened} opened"
    );
}

/// Truncates, zeroes, flips or reorders some of the bytes; returns a description of the damage.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) -> String {
    let (one, two) = (rng.index(bytes.len() + 1), rng.index(bytes.len() + 1));
    let (from, to) = (one.min(two), one.max(two));
    match rng.below(7) {
        0 => {
            bytes.truncate(from);
            format!("truncation to {from}")
        }
        1 => {
            bytes[from..].fill(0);
            format!("zeros from {from} on")
        }
        2 => {
            bytes[from..to].fill(0);
            format!("zeros from {from} to {to}")
        }
        3 => {
            let flips = 1 + rng.below(4);
            for _ in 0..flips {
                let at = rng.index(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
            format!("{flips} flipped bits")
        }
        4 => {
            bytes[from..to].reverse();
            format!("reversal from {from} to {to}")
        }
        5 => {
            // Two blocks change places, as when a disk writes to wrong addresses.
            let block = [8, 64, 512][rng.index(3)];
            let blocks = bytes.len() / block;
            let (one, two) = (rng.index(blocks) * block, rng.index(blocks) * block);
            for offset in 0..block.min(bytes.len()) {
                bytes.swap(one + offset, two + offset);
            }
            format!("exchange of {block} bytes at {one} and {two}")
        }
        _ => {
            let by = rng.index(bytes.len() - from + 1);
            bytes[from..].rotate_left(by);
            format!("rotation from {from} on")
        }
    }
}

#[test]
fn every_truncation_of_the_last_segment_is_refused() {
    for ending in [Ending::Closed, Ending::Killed] {
        let StoppedStore { disk, .. } = stopped_store(83, ending);
        let (name, used) = last_segment(&disk);
        let whole = read_all(&disk, &name).unwrap();
        for length in (0..whole.len()).step_by(if used > 2000 { 7 } else { 3 }) {
            disk.replace(&name, whole[..length].to_vec());
            assert_eq!(refusal(&disk).file, disk.path(&name), "{length} bytes, {ending:?}");
        }
    }
}

#[test]
fn a_zeroed_tail_is_refused_with_the_revisions_that_are_missing() {
    let StoppedStore { disk, current, .. } = stopped_store(83, Ending::Killed);
    let (name, used) = last_segment(&disk);
    let whole = read_all(&disk, &name).unwrap();
    for from in FIRST_FRAME..used {
        let mut bytes = whole.clone();
        bytes[from..].fill(0);
        // The end of the last frame may be padding.
        if bytes == whole {
            continue;
        }
        disk.replace(&name, bytes);
        let found = refusal(&disk).found;
        let missing = [format!("to {current} are missing"), format!("revision {current} is missing")];
        assert!(missing.iter().any(|text| found.ends_with(text)), "zeros from {from} on: {found}");
    }
}

#[test]
fn a_damaged_high_water_mark_is_refused_unless_the_log_continues_after_it() {
    for slot in [Slot::First, Slot::Second] {
        let StoppedStore { disk, .. } = stopped_store(83, Ending::Closed);
        let (name, _) = last_segment(&disk);
        disk.damage(&name, slot.offset());
        if let Ok(engine) = open(&disk, small()) {
            // The newest mark was damaged: the last frame proves that there was one.
            assert_eq!(everything(&engine), stopped_store(83, Ending::Closed).acknowledged);
        } else {
            assert!(refusal(&disk).found.contains("high-water mark"));
        }
    }
    let StoppedStore { disk, .. } = stopped_store(83, Ending::Closed);
    let (name, _) = last_segment(&disk);
    disk.damage(&name, Slot::First.offset());
    disk.damage(&name, Slot::Second.offset());
    assert!(refusal(&disk).found.starts_with("no valid high-water mark"));
}

#[test]
fn a_repair_keeps_readable_writes_and_reuses_no_revision() {
    let StoppedStore { disk, current, .. } = stopped_store(83, Ending::Killed);
    let (name, used) = last_segment(&disk);
    let mut bytes = read_all(&disk, &name).unwrap();
    bytes[used - 200..].fill(0);
    disk.replace(&name, bytes);
    let damage = refusal(&disk);
    assert!(damage.advice.contains("`gantry store repair --accept-loss /simulated`"), "{damage}");

    let before = disk.operations();
    let report = repair_disk(&disk, false, &small()).unwrap();
    assert_eq!((report.damage.as_ref(), report.continues_at), (Some(&damage), None));
    assert_eq!(disk.operations(), before, "nothing is changed without `accept_loss`");

    let RepairReport { revision, keys, continues_at, .. } = repair_disk(&disk, true, &small()).unwrap();
    assert!(revision < current, "some changes are lost");
    let mut engine = open(&disk.after(CrashKind::PowerFailure), small()).unwrap();
    assert_eq!(everything(&engine).len(), keys);
    assert_eq!(Some(engine.live().bounds().current), continues_at);
    assert!(continues_at > Some(current));
    put(&mut engine, "/new", "value").unwrap();
    assert!(disk.names().unwrap().contains(&format!("{name}.damaged")), "the damaged file is kept");
    assert_eq!(repair_disk(&disk, true, &small()).unwrap().damage, None, "nothing remains to repair");
}

#[test]
fn a_repair_can_be_interrupted_anywhere_and_done_again() {
    let StoppedStore { disk, .. } = stopped_store(60, Ending::Killed);
    let (name, used) = last_segment(&disk);
    let mut bytes = read_all(&disk, &name).unwrap();
    bytes[used - 200..].fill(0);
    disk.replace(&name, bytes);
    let kept = repair_disk(&disk.after(CrashKind::Killed), true, &small()).unwrap();
    for operations in 1..20 {
        for crash in [CrashKind::Killed, CrashKind::PowerFailure] {
            let disk = disk.after(CrashKind::Killed);
            let crashes_at = Some(disk.operations() + operations);
            disk.set_faults(crate::disk::simulated::Faults { crashes_at, ..Default::default() });
            let _ = repair_disk(&disk, true, &small());
            let disk = disk.after(crash);
            repair_disk(&disk, true, &small()).unwrap();
            let engine = open(&disk, small()).unwrap();
            assert_eq!(Some(engine.live().bounds().current), kept.continues_at);
            assert_eq!(everything(&engine).len(), kept.keys);
        }
    }
}

#[test]
fn a_damaged_snapshot_cannot_be_repaired() {
    let StoppedStore { disk, .. } = stopped_store(83, Ending::Closed);
    let snapshot = disk.names().unwrap().into_iter().find(|name| name.ends_with(".snapshot")).unwrap();
    disk.damage(&snapshot, 40);
    let Err(OpenError::Corrupt(damage)) = repair_disk(&disk, true, &small()) else { unreachable!() };
    assert_eq!(damage.file, disk.path(&snapshot));
    assert!(!damage.advice.contains("store repair"), "{damage}");
    disk.remove(&snapshot).unwrap();
    let Err(OpenError::Corrupt(damage)) = repair_disk(&disk, true, &small()) else { unreachable!() };
    assert!(damage.found.contains("missing") && !damage.advice.contains("store repair"), "{damage}");
}

/// A file of version 1 does not contain its size, but it always had space for a frame and a seal.
#[test]
fn a_log_of_version_1_is_read_and_continued_and_a_truncated_one_refused() {
    for (ending, files) in RECORDED {
        let disk = SimulatedDisk::new(1);
        for (name, bytes) in *files {
            disk.create(name).unwrap();
            disk.replace(name, bytes.to_vec());
        }
        disk.sync_names().unwrap();
        let (name, used) = last_segment(&disk);
        let whole = read_all(&disk, &name).unwrap();
        for length in 0..used {
            disk.replace(&name, whole[..length].to_vec());
            assert_eq!(refusal(&disk).file, disk.path(&name), "{ending}, cut to {length} bytes");
        }
        disk.replace(&name, whole);

        let mut engine = open(&disk, small()).unwrap();
        assert_eq!(engine.live().bounds().current.get(), 121, "{ending}");
        assert!(value(&engine, "/k/0").unwrap().starts_with("119 "), "{ending}");
        put(&mut engine, "/k/new", "value").unwrap();
        let acknowledged = everything(&engine);
        let next = disk.after(CrashKind::PowerFailure);
        assert_eq!(everything(&open(&next, small()).unwrap()), acknowledged, "{ending}");
        let (name, _) = last_segment(&next);
        let header = segment::Header::decode(&read_all(&next, &name).unwrap()).unwrap();
        assert!(header.bytes.is_some(), "{ending}: the log continues in a segment of the current version");
    }
}

macro_rules! recorded {
    ($ending:literal: $($name:literal),*) => {
        ($ending, &[$(($name, include_bytes!(concat!("../../tests/recorded/version-1/", $ending, "/", $name)))),*])
    };
}

/// A directory: how its process ended, and its files.
type Recorded = (&'static str, &'static [(&'static str, &'static [u8])]);

/// The files of the first version of the format.
const RECORDED: &[Recorded] = &[
    recorded!("closed": "00000000000000000106.snapshot", "000000000003.log", "000000000004.log", "000000000005.log"),
    recorded!("killed": "00000000000000000106.snapshot", "000000000003.log", "000000000004.log", "000000000005.log"),
];
