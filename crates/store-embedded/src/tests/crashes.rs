//! Thousands of crashes: what was acknowledged is there, what was not is there as a whole or not at all.

use std::collections::BTreeMap;

use gantry_store::suite::{Dice, key, seeds};
use gantry_store::{Error, Key, ListRequest, Op, Prefix, Revision, Transaction, Versioned};

use super::{open, small, small_with_all_history};
use crate::check::check_disk;
use crate::disk::simulated::{End, Faults, SimulatedDisk};
use crate::engine::Engine;
use crate::options::Options;

/// What the world has been told.
#[derive(Clone, Debug, Default)]
struct Promised {
    keys: BTreeMap<Key, Versioned>,
    current: Option<Revision>,
    /// Transactions of the batch nobody got an answer for, in order.
    unanswered: Vec<Transaction>,
}

/// Every crash of a life of many processes on one disk.
#[test]
fn acknowledged_writes_survive_every_crash() {
    for seed in seeds(150, 10_000) {
        live_through(seed, 4, small, death);
    }
}

/// The same with all of history kept, which must be rebuilt exactly.
#[test]
fn history_survives_every_crash() {
    for seed in seeds(50, 2_000) {
        live_through(seed, 3, small_with_all_history, death);
    }
}

/// A process is killed at every moment of its life in turn, the next one loses power at every moment of its start.
#[test]
fn a_crash_during_the_repair_of_a_crash_loses_nothing() {
    for killed_at in 30..150 {
        let mut promised = Promised::default();
        let disk = SimulatedDisk::new(killed_at);
        disk.set_faults(Faults { dies_at: Some(killed_at), ..Faults::default() });
        keep_house(&disk, &mut promised);
        for starts_for in 1..12 {
            let disk = disk.after(End::Killed);
            disk.set_faults(Faults { dies_at: Some(disk.operations() + starts_for), ..Faults::default() });
            drop(open(&disk, small()));
            let engine = open(&disk.after(End::PowerFailure), small()).unwrap_or_else(|error| {
                unreachable!("killed at {killed_at}, power lost {starts_for} operations later: {error}");
            });
            promised.clone().holds(&engine).unwrap_or_else(|broken| {
                unreachable!("killed at {killed_at}, power lost {starts_for} operations later: {broken}");
            });
        }
    }
}

/// A life with a new segment and a snapshot every few writes.
fn keep_house(disk: &SimulatedDisk, promised: &mut Promised) {
    let Ok(mut engine) = open(disk, small()) else { return };
    let mut dice = Dice::new(1);
    loop {
        let batch = [some_transaction(&engine, &mut dice)];
        let outcome = engine.commit(batch.clone());
        if !promised.note(&batch, &outcome.answers) || engine.upkeep().prepare_spare().is_err() {
            return;
        }
        let floor = engine.live().bounds().current.before();
        if engine.compact(floor).and_then(|()| engine.upkeep().snapshot()).is_err() {
            return;
        }
    }
}

/// Nothing goes wrong but the end.
fn death(dice: &mut Dice, operations: u64) -> Faults {
    Faults { dies_at: Some(operations + 1 + dice.below(120)), ..Faults::default() }
}

/// The life of several processes on one disk, each ended by a crash.
pub(super) fn live_through(
    seed: u64,
    crashes: u64,
    options: fn() -> Options,
    faults: fn(&mut Dice, u64) -> Faults,
) {
    let mut dice = Dice::new(seed);
    let mut disk = SimulatedDisk::new(dice.number());
    let mut promised = Promised::default();
    for crash in 0..crashes {
        disk.set_faults(faults(&mut dice, disk.operations()));
        live(&disk, &mut dice, &mut promised, options);
        let end = if dice.one_in(4) { End::Killed } else { End::PowerFailure };
        disk = disk.after(end);
        let engine = open(&disk, options()).unwrap_or_else(|error| {
            unreachable!("GANTRY_SEED={seed}, crash {crash} ({end:?}): {error}");
        });
        let torn = check_disk(&disk).map(|report| report.torn_bytes);
        assert!(
            matches!(torn, Ok(0)),
            "GANTRY_SEED={seed}, crash {crash}: {torn:?} torn bytes after a start"
        );
        promised.holds(&engine).unwrap_or_else(|broken| {
            unreachable!("GANTRY_SEED={seed}, crash {crash} ({end:?}): {broken}");
        });
    }
}

/// One process: opens, writes batches and keeps house until it dies.
fn live(disk: &SimulatedDisk, dice: &mut Dice, promised: &mut Promised, options: fn() -> Options) {
    let Ok(mut engine) = open(disk, options()) else { return };
    for _ in 0..200 {
        match dice.below(12) {
            0 => drop(engine.upkeep().prepare_spare()),
            1 => drop(engine.upkeep().snapshot()),
            2 if engine.upkeep().is_snapshot_due() => drop(engine.upkeep().snapshot()),
            3 => {
                let bounds = engine.live().bounds();
                let through =
                    bounds.floor.advanced(dice.below(bounds.current.get() - bounds.floor.get() + 1));
                drop(engine.compact(through));
            }
            4 if dice.one_in(10) => {
                engine.close();
                return;
            }
            _ => {
                let batch: Vec<_> = (0..=dice.below(4)).map(|_| some_transaction(&engine, dice)).collect();
                let outcome = engine.commit(batch.clone());
                if !promised.note(&batch, &outcome.answers) {
                    return;
                }
            }
        }
    }
}

fn some_transaction(engine: &Engine, dice: &mut Dice) -> Transaction {
    let mut transaction = None;
    for _ in 0..=dice.below(3) {
        let key = key(format!("/{}", dice.below(8)));
        let length_max = if dice.one_in(10) { 3000 } else { 200 };
        let length = dice.index(length_max);
        let value = dice.bytes(length).into();
        let op = match engine.live().get(&key).found {
            None => Op::Create { value },
            Some(seen) if dice.one_in(4) => Op::Delete { seen: seen.revision },
            Some(seen) => Op::Update { value, seen: seen.revision },
        };
        transaction = Some(match transaction {
            None => Transaction::single(key, op),
            Some(transaction) => Transaction::clone(&transaction).and(key, op).unwrap_or(transaction),
        });
    }
    transaction.unwrap()
}

impl Promised {
    /// Notes what was answered; false when the process is dying.
    fn note(&mut self, batch: &[Transaction], answers: &[Result<Revision, Error>]) -> bool {
        for (transaction, answer) in batch.iter().zip(answers) {
            match answer {
                Ok(revision) => self.apply(transaction, *revision),
                Err(Error::Conflict { .. } | Error::Unavailable { .. } | Error::OutOfSpace { .. }) => {}
                Err(_) => self.unanswered.push(transaction.clone()),
            }
        }
        self.unanswered.is_empty()
    }

    fn apply(&mut self, transaction: &Transaction, revision: Revision) {
        for (key, op) in transaction.ops() {
            match op.value() {
                Some(value) => self.keys.insert(key.clone(), Versioned { value: value.clone(), revision }),
                None => self.keys.remove(key),
            };
        }
        self.current = Some(revision);
    }

    /// Whether a reopened store keeps what was promised; from here on, what it shows is what was promised.
    fn holds(&mut self, engine: &Engine) -> Result<(), String> {
        let current = engine.live().bounds().current;
        let promised = self.current.unwrap_or(Revision::EMPTY);
        if current < promised {
            return Err(format!("revision {promised} was acknowledged, but the store is at {current}"));
        }
        // Beyond the promise there can only be the unanswered batch, as a whole: it is one frame.
        if current > promised {
            for transaction in std::mem::take(&mut self.unanswered) {
                if self.allows(&transaction) {
                    let next = self.current.unwrap_or(Revision::EMPTY).next();
                    self.apply(&transaction, next);
                }
            }
        }
        self.unanswered.clear();
        if self.current.unwrap_or(Revision::EMPTY) != current {
            return Err(format!("the store is at {current}, which nobody wrote"));
        }
        let page = engine.live().list(&ListRequest::all(Prefix::ALL)).map_err(|error| error.to_string())?;
        let found = page.items.into_iter();
        let found: BTreeMap<_, _> =
            found.map(|item| (item.key, Versioned { value: item.value, revision: item.revision })).collect();
        if found != self.keys {
            return Err(format!("found {:?}, promised {:?}", revisions(&found), revisions(&self.keys)));
        }
        history_is_whole(engine)
    }

    fn allows(&self, transaction: &Transaction) -> bool {
        transaction.ops().all(|(key, op)| op.expects() == self.keys.get(key).map(|version| version.revision))
    }
}

/// Every remembered state can be read, and leads to the present one change after the other.
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
