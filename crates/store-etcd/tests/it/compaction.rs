//! Compaction shared by several processes.

use std::time::{Duration, Instant};

use gantry_store::Transaction;
use gantry_store::suite::key;
use gantry_store_etcd::Settings;

use crate::etcd::{Etcd, open};
use crate::proxy::Proxy;

const INTERVAL: Duration = Duration::from_millis(200);
/// The timeout of each step on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Three processes, one compaction per interval, each to the store's revision an interval before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_processes_one_compacts_each_interval() {
    let etcd = Etcd::quick();
    let settings = Settings { compact_every: Some(INTERVAL), ..etcd.settings() };
    let began = Instant::now();
    let stores = [open(&settings).await, open(&settings).await, open(&settings).await];
    let mut seen = stores[0].commit(Transaction::create(key("/a"), "v")).await.unwrap();
    let start = seen;
    let mut floor = start;
    while floor <= start.advanced(5) {
        assert!(began.elapsed() < TIMEOUT, "no process compacts");
        seen = stores[1].commit(Transaction::update(key("/a"), "v", seen)).await.unwrap();
        floor = stores[2].bounds().await.unwrap().floor;
        assert!(floor < seen, "the last interval is kept");
    }
    // The version of the key is the number of turns.
    let turns = etcd.ctl(&["get", "compact_rev_key", "--write-out=json"]);
    let turns: gantry_json::Value = gantry_json::from_str(&turns).unwrap();
    let turns = turns["kvs"][0]["version"].as_u64().unwrap();
    let intervals = u64::try_from(began.elapsed().as_millis() / INTERVAL.as_millis()).unwrap();
    assert!(turns <= intervals + 1, "{turns} turns in {intervals} intervals");
}

/// Our key has the value that a kube-apiserver expects: the revision to compact to next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_stops_compacts_no_more() {
    let etcd = Etcd::quick();
    let proxy = Proxy::to(&etcd.urls()[0]).await;
    let settings = Settings { endpoints: vec![proxy.url().to_owned()], ..etcd.settings() };
    let store = open(&Settings { compact_every: Some(INTERVAL), ..settings }).await;
    let value = || etcd.ctl(&["get", "compact_rev_key", "--print-value-only"]);
    let began = Instant::now();
    while value().is_empty() {
        assert!(began.elapsed() < TIMEOUT, "the store never compacts");
        tokio::time::sleep(INTERVAL).await;
    }
    drop(store);
    // A compactor that is still running keeps its connection.
    proxy.all_closed().await;
    let value = value();
    assert!(value.trim().parse::<u64>().is_ok(), "{value:?}");
}
