//! Thousands of crashes: acknowledged writes exist afterwards, others exist completely or not at all.

use std::collections::BTreeMap;

use gantry_store::suite::{Rng, key, seeds};
use gantry_store::{Error, Key, ListRequest, Op, Prefix, Revision, Transaction, Versioned};

use super::{open, small, small_with_all_history};
use crate::check::check_disk;
use crate::disk::simulated::{CrashKind, Faults, SimulatedDisk};
use crate::engine::Engine;
use crate::options::Options;

/// The acknowledged state.
#[derive(Clone, Debug, Default)]
struct Acknowledged {
    keys: BTreeMap<Key, Versioned>,
    current: Option<Revision>,
    /// Transactions of the batch without a response, in order.
    unacknowledged: Vec<Transaction>,
}

/// Many processes on one disk, each ended by a crash.
#[test]
fn acknowledged_writes_survive_every_crash() {
    for seed in seeds(150, 10_000) {
        run_and_crash(seed, 4, small, crash_only);
    }
}

/// The same with all of history kept, which must be restored exactly.
#[test]
fn history_survives_every_crash() {
    for seed in seeds(50, 2_000) {
        run_and_crash(seed, 3, small_with_all_history, crash_only);
    }
}

/// A process is killed at every operation in turn, the next one loses power at every operation of its start.
#[test]
fn a_crash_during_the_repair_of_a_crash_loses_nothing() {
    for killed_at in 30..150 {
        let mut acknowledged = Acknowledged::default();
        let disk = SimulatedDisk::new(killed_at);
        disk.set_faults(Faults { crashes_at: Some(killed_at), ..Faults::default() });
        run_maintenance(&disk, &mut acknowledged);
        for starts_for in 1..12 {
            let disk = disk.after(CrashKind::Killed);
            disk.set_faults(Faults { crashes_at: Some(disk.operations() + starts_for), ..Faults::default() });
            drop(open(&disk, small()));
            let engine = open(&disk.after(CrashKind::PowerFailure), small()).unwrap_or_else(|error| {
                unreachable!("killed at {killed_at}, power lost {starts_for} operations later: {error}");
            });
            acknowledged.clone().holds(&engine).unwrap_or_else(|broken| {
                unreachable!("killed at {killed_at}, power lost {starts_for} operations later: {broken}");
            });
        }
    }
}

/// Runs with a new segment and a snapshot every few writes.
fn run_maintenance(disk: &SimulatedDisk, acknowledged: &mut Acknowledged) {
    let Ok(mut engine) = open(disk, small()) else { return };
    let mut rng = Rng::new(1);
    loop {
        let batch = [some_transaction(&engine, &mut rng)];
        let outcome = engine.commit(batch.clone());
        if !acknowledged.record(&batch, &outcome.answers) || engine.maintenance().prepare_spare().is_err() {
            return;
        }
        let floor = engine.live().bounds().current.before();
        if engine.compact(floor).and_then(|()| engine.maintenance().snapshot()).is_err() {
            return;
        }
    }
}

/// A crash and no other fault.
fn crash_only(rng: &mut Rng, operations: u64) -> Faults {
    Faults { crashes_at: Some(operations + 1 + rng.below(120)), ..Faults::default() }
}

/// Several processes on one disk, each ended by a crash.
pub(super) fn run_and_crash(
    seed: u64,
    crashes: u64,
    options: fn() -> Options,
    faults: fn(&mut Rng, u64) -> Faults,
) {
    let mut rng = Rng::new(seed);
    let mut disk = SimulatedDisk::new(rng.number());
    let mut acknowledged = Acknowledged::default();
    for crash in 0..crashes {
        disk.set_faults(faults(&mut rng, disk.operations()));
        run_process(&disk, &mut rng, &mut acknowledged, options);
        let end = if rng.one_in(4) { CrashKind::Killed } else { CrashKind::PowerFailure };
        disk = disk.after(end);
        let engine = open(&disk, options()).unwrap_or_else(|error| {
            unreachable!("GANTRY_SEED={seed}, crash {crash} ({end:?}): {error}");
        });
        let torn = check_disk(&disk).map(|report| report.torn_bytes);
        assert!(
            matches!(torn, Ok(0)),
            "GANTRY_SEED={seed}, crash {crash}: {torn:?} torn bytes after a start"
        );
        acknowledged.holds(&engine).unwrap_or_else(|broken| {
            unreachable!("GANTRY_SEED={seed}, crash {crash} ({end:?}): {broken}");
        });
    }
}

/// One process: opens, writes batches and runs maintenance until it crashes.
fn run_process(
    disk: &SimulatedDisk,
    rng: &mut Rng,
    acknowledged: &mut Acknowledged,
    options: fn() -> Options,
) {
    let Ok(mut engine) = open(disk, options()) else { return };
    for _ in 0..200 {
        match rng.below(12) {
            0 => drop(engine.maintenance().prepare_spare()),
            1 => drop(engine.maintenance().snapshot()),
            2 if engine.maintenance().is_snapshot_due() => drop(engine.maintenance().snapshot()),
            3 => {
                let bounds = engine.live().bounds();
                let through = bounds.floor.advanced(rng.below(bounds.current.get() - bounds.floor.get() + 1));
                drop(engine.compact(through));
            }
            4 if rng.one_in(10) => {
                engine.close();
                return;
            }
            5 => engine.sync_mark(),
            _ => {
                let batch: Vec<_> = (0..=rng.below(4)).map(|_| some_transaction(&engine, rng)).collect();
                let outcome = engine.commit(batch.clone());
                if !acknowledged.record(&batch, &outcome.answers) {
                    return;
                }
            }
        }
    }
}

fn some_transaction(engine: &Engine, rng: &mut Rng) -> Transaction {
    let mut transaction = None;
    let last = key(format!("/{}", rng.below(8)));
    if let Some(seen) = engine.live().get(&last).found.filter(|_| rng.one_in(4)) {
        return Transaction::update_and_delete(last, rng.bytes(200), seen.revision);
    }
    for _ in 0..=rng.below(3) {
        let key = key(format!("/{}", rng.below(8)));
        let length_max = if rng.one_in(10) { 3000 } else { 200 };
        let length = rng.index(length_max);
        let value = rng.bytes(length).into();
        let op = match engine.live().get(&key).found {
            None => Op::Create { value },
            Some(seen) if rng.one_in(4) => Op::Delete { seen: seen.revision },
            Some(seen) => Op::Update { value, seen: seen.revision },
        };
        transaction = Some(match transaction {
            None => Transaction::single(key, op),
            Some(transaction) => Transaction::clone(&transaction).and(key, op).unwrap_or(transaction),
        });
    }
    transaction.unwrap()
}

impl Acknowledged {
    /// Records the results; false when the process is crashing.
    fn record(&mut self, batch: &[Transaction], results: &[Result<Revision, Error>]) -> bool {
        for (transaction, result) in batch.iter().zip(results) {
            match result {
                Ok(revision) => self.apply(transaction, *revision),
                Err(Error::Conflict { .. } | Error::Unavailable { .. } | Error::OutOfSpace { .. }) => {}
                Err(_) => self.unacknowledged.push(transaction.clone()),
            }
        }
        self.unacknowledged.is_empty()
    }

    /// Applies a transaction whose last revision is this one.
    fn apply(&mut self, transaction: &Transaction, revision: Revision) {
        for (key, op) in transaction.ops() {
            match op.value() {
                Some(value) => self.keys.insert(key.clone(), Versioned { value: value.clone(), revision }),
                None => self.keys.remove(key),
            };
        }
        for (key, _) in transaction.following_deletion(revision).iter().flat_map(Transaction::ops) {
            self.keys.remove(key);
        }
        self.current = Some(revision);
    }

    /// Whether a reopened store has all acknowledged writes; its state counts as acknowledged from now on.
    fn holds(&mut self, engine: &Engine) -> Result<(), String> {
        let current = engine.live().bounds().current;
        let acknowledged = self.current.unwrap_or(Revision::EMPTY);
        if current < acknowledged {
            return Err(format!("revision {acknowledged} was acknowledged, but the store is at {current}"));
        }
        // Beyond that only the unacknowledged batch is possible, as a whole: it is one frame.
        if current > acknowledged {
            for transaction in std::mem::take(&mut self.unacknowledged) {
                if self.allows(&transaction) {
                    let next = self.current.unwrap_or(Revision::EMPTY).next();
                    let has_deletion = transaction.following_deletion(next).is_some();
                    self.apply(&transaction, if has_deletion { next.next() } else { next });
                }
            }
        }
        self.unacknowledged.clear();
        if self.current.unwrap_or(Revision::EMPTY) != current {
            return Err(format!("the store is at {current}, which was never written"));
        }
        let page = engine.live().list(&ListRequest::all(Prefix::ALL)).map_err(|error| error.to_string())?;
        let found = page.items.into_iter();
        let found: BTreeMap<_, _> =
            found.map(|item| (item.key, Versioned { value: item.value, revision: item.revision })).collect();
        if found != self.keys {
            return Err(format!("found {:?}, acknowledged {:?}", revisions(&found), revisions(&self.keys)));
        }
        history_is_whole(engine)
    }

    fn allows(&self, transaction: &Transaction) -> bool {
        transaction.ops().all(|(key, op)| op.expects() == self.keys.get(key).map(|version| version.revision))
    }
}

/// Every kept revision can be read, and the changes lead from one to the next.
fn history_is_whole(engine: &Engine) -> Result<(), String> {
    let bounds = engine.live().bounds();
    let mut watch = engine.live().watch(Prefix::ALL, bounds.floor).map_err(|error| error.to_string())?;
    watch.request_progress();
    let at_floor = engine.live().list(&ListRequest::all(Prefix::ALL).at(bounds.floor));
    let at_floor = at_floor.map_err(|error| error.to_string())?.items.into_iter();
    let mut state: BTreeMap<_, _> = at_floor.map(|item| (item.key, item.revision)).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut reached = bounds.floor;
    while let std::task::Poll::Ready(Some(notice)) = std::pin::pin!(watch.next()).poll(&mut context) {
        let event = match notice.map_err(|error| error.to_string())? {
            gantry_store::Notice::Change(event) => event,
            gantry_store::Notice::Progress(_) => break,
        };
        if event.revision != reached && event.revision != reached.next() {
            return Err(format!("history jumps from {reached} to {}", event.revision));
        }
        reached = event.revision;
        if event.previous().map(|previous| previous.revision) != state.get(&event.key).copied() {
            return Err(format!("{event:?} does not follow {:?}", state.get(&event.key)));
        }
        match event.value() {
            Some(_) => state.insert(event.key.clone(), event.revision),
            None => state.remove(&event.key),
        };
    }
    let now = engine.live().list(&ListRequest::all(Prefix::ALL)).map_err(|error| error.to_string())?;
    let now: BTreeMap<_, _> = now.items.into_iter().map(|item| (item.key, item.revision)).collect();
    if reached == bounds.current && state == now { Ok(()) } else { Err(format!("history ends at {reached}")) }
}

fn revisions(keys: &BTreeMap<Key, Versioned>) -> Vec<String> {
    keys.iter().map(|(key, version)| format!("{key}@{}", version.revision)).collect()
}
