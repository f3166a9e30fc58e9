//! Many clients, many crashes, one history: the checker on the whole store with its threads.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::checker::{HistoryRecorder, Load, Recorded};
use gantry_store::suite::{Rng, key, seeds, soon};
use gantry_store::{Error, Revision, Store, Transaction};

use super::small_with_all_history;
use crate::disk::simulated::{CrashKind, Faults, SimulatedDisk};
use crate::store::EmbeddedStore;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_see_one_history_through_crashes() {
    for seed in seeds(6, 500) {
        let mut rng = Rng::new(seed);
        let mut disk = SimulatedDisk::new(rng.number());
        let recorder = HistoryRecorder::new();
        for life in 0..3 {
            let store =
                Arc::new(EmbeddedStore::start(Arc::new(disk.clone()), small_with_all_history()).unwrap());
            let crashes_at = Some(disk.operations() + 50 + rng.below(150));
            disk.set_faults(Faults { crashes_at, ..Faults::default() });
            let load = Load { seed: seed * 10 + life, writers: 4, readers: 2, watchers: 3, steps: 40 };
            load.run(Recorded::new(store.clone(), &recorder), Revision::EMPTY).await;
            store.close();
            disk = disk.after(if rng.one_in(3) { CrashKind::Killed } else { CrashKind::PowerFailure });
        }
        let store = EmbeddedStore::start(Arc::new(disk), small_with_all_history()).unwrap();
        assert_eq!(recorder.verdict(&store, Revision::EMPTY).await, Ok(()), "GANTRY_SEED={seed}");
        assert!(store.usage().changes > 0, "the store was written to");
    }
}

#[tokio::test]
async fn a_stopped_log_is_unhealthy_and_watches_end_with_the_store() {
    let disk = SimulatedDisk::new(1);
    let store = EmbeddedStore::start(Arc::new(disk.clone()), small_with_all_history()).unwrap();
    let revision = store.commit(Transaction::create(key("/a"), "one")).await.unwrap();
    let mut watch = store.watch(gantry_store::Prefix::ALL, revision).await.unwrap();
    assert_eq!((store.last_failure(), store.health().await), (None, Ok(())));

    disk.set_faults(Faults { crashes_at: Some(0), ..Faults::default() });
    let unknown = store.commit(Transaction::create(key("/b"), "one")).await.unwrap_err();
    assert!(matches!(unknown, Error::OutcomeUnknown { .. }), "{unknown:?}");
    assert!(store.last_failure().is_some());
    assert!(matches!(store.health().await, Err(Error::Unavailable { .. })));
    assert_eq!(store.get(&key("/a")).await.unwrap().revision, revision);

    store.close();
    assert!(matches!(watch.next().await, Some(Err(Error::Unavailable { .. }))));
    assert!(watch.next().await.is_none());
    let closed = store.commit(Transaction::create(key("/c"), "one")).await.unwrap_err();
    assert!(matches!(closed, Error::Unavailable { .. }));
    assert_eq!(store.health().await, Err(closed));
}

#[tokio::test]
async fn a_full_disk_is_unhealthy_until_it_has_free_space() {
    let disk = SimulatedDisk::new(1);
    let store = EmbeddedStore::start(Arc::new(disk.clone()), small_with_all_history()).unwrap();
    disk.set_faults(Faults { capacity: Some(disk.bytes_used()), ..Faults::default() });
    let mut number = 0;
    let refused = loop {
        number += 1;
        let written = store.commit(Transaction::create(key(format!("/{number}")), vec![0; 500])).await;
        if let Err(error) = written {
            break error;
        }
    };
    assert!(matches!(refused, Error::OutOfSpace { .. }), "{refused:?}");
    assert_eq!(store.health().await, Err(refused));
    assert!(matches!(store.get(&key("/1")).await, Ok(fetched) if fetched.found.is_some()), "reads continue");
    let healthy = async {
        while store.health().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Without a write: the maintenance thread detects it.
    disk.set_faults(Faults::default());
    soon("the recovery", healthy).await;
}
