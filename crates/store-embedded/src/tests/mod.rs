//! Tests on the simulated disk, where every crash can be reproduced.
//!
//! `GANTRY_LONG=1` runs many more; a failure prints its seed, and `GANTRY_SEED=n` runs that one alone.

mod corruption;
mod crashes;
mod damage;
mod decoding;
mod faults;
mod history;
mod linearizable;
mod space;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gantry_store::memory::HistoryLimits;
use gantry_store::suite::key;
use gantry_store::{Error, Prefix, Revision, Transaction};

use crate::disk::simulated::SimulatedDisk;
use crate::engine::Engine;
use crate::error::OpenError;
use crate::options::Options;
use crate::segment::FIRST_FRAME;

/// Small limits, so that a short test sees new segments and snapshots.
fn small() -> Options {
    let now = AtomicU64::new(1_000_000);
    Options {
        history: HistoryLimits { age: Duration::from_hours(1), bytes: 4000 },
        segment_bytes_min: FIRST_FRAME as u64 + 1024,
        segment_bytes_max: FIRST_FRAME as u64 + 4096,
        garbage_bytes_min: 4096,
        clock: Arc::new(move || now.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Small segments, unlimited history.
fn small_with_all_history() -> Options {
    Options { history: HistoryLimits::UNLIMITED, ..small() }
}

fn open(disk: &SimulatedDisk, options: Options) -> Result<Engine, OpenError> {
    Engine::open(Arc::new(disk.clone()), options)
}

/// Writes one key, whatever its current value.
fn put(engine: &mut Engine, name: &str, value: &str) -> Result<Revision, Error> {
    let found = engine.live().get(&key(name)).found;
    let transaction = match found {
        None => Transaction::create(key(name), value.to_owned()),
        Some(seen) => Transaction::update(key(name), value.to_owned(), seen.revision),
    };
    engine.commit([transaction]).answers.remove(0)
}

fn value(engine: &Engine, name: &str) -> Option<String> {
    let found = engine.live().get(&key(name)).found?;
    Some(String::from_utf8_lossy(&found.value).into_owned())
}

fn everything(engine: &Engine) -> Vec<String> {
    let page = engine.live().list(&gantry_store::ListRequest::all(Prefix::ALL)).unwrap();
    let text = |item: &gantry_store::Item| format!("{}@{}", item.key, item.revision);
    page.items.iter().map(text).collect()
}
