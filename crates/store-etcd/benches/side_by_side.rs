//! The embedded store and etcd on the same disk, in turns: `cargo bench -p gantry-store-etcd`.
//!
//! Both directories are made in `GANTRY_BENCH_DIR`, or where temporary files are. etcd is measured twice: with the
//! writes that Kubernetes makes, to which the ratio refers, and with the marks that our backend adds. Rounds alternate,
//! so that a slower disk affects all stores alike; the median of the rounds counts.
//!
//! It compares whole stores by time, and so has no cases whose instructions `cargo xtask bench` could count: `--list`
//! prints nothing.

#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gantry_store::suite::{StoreUnderTest, workload};
use gantry_store_embedded::{EmbeddedStore, Options};
use gantry_store_etcd::{EtcdStore, LostAnswers, Settings};

#[path = "../tests/it/etcd.rs"]
#[allow(dead_code, reason = "the benchmark needs an etcd, but not everything tests do with it")]
mod etcd;

use etcd::Etcd;

const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(2);
const VALUE_BYTES: usize = 1024;

/// One store under measurement.
struct Contender {
    name: &'static str,
    store: StoreUnderTest,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    // `cargo bench` passes --bench; a command that only checks that every target runs does not.
    if !has("--bench") || has("--list") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime can be started").block_on(measure());
}

async fn measure() {
    let parent = std::env::var_os("GANTRY_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = parent.join(format!("gantry-side-by-side-{}", std::process::id()));
    let etcd = Etcd::start_in(&parent, 1, &[]);
    let embedded = EmbeddedStore::open(&directory, Options::default()).expect("the directory can be opened");
    let contenders = [
        Contender { name: "embedded", store: Arc::new(embedded) },
        Contender { name: "etcd", store: on(&etcd, LostAnswers::Report).await },
        Contender { name: "etcd+marks", store: on(&etcd, LostAnswers::Resolve).await },
    ];
    println!("durable writes of {VALUE_BYTES} bytes in {}, medians of {ROUNDS} rounds", parent.display());
    println!("writers  store       writes/s       p50       p99  failed  embedded is");
    for writers in [1, 16, 64, 1000] {
        compare_writes(&contenders, writers).await;
    }
    println!("write to watch, beyond the acknowledgement");
    for watchers in [1, 100] {
        compare_watches(&contenders, watchers).await;
    }
    drop(contenders);
    let _ = std::fs::remove_dir_all(directory);
}

async fn on(etcd: &Etcd, lost_answers: LostAnswers) -> StoreUnderTest {
    let store =
        EtcdStore::new(&Settings { lost_answers, ..etcd.settings() }).expect("the settings are right");
    store.ready().await.expect("etcd responds");
    Arc::new(store)
}

async fn compare_writes(contenders: &[Contender], writers: usize) {
    let mut rounds: Vec<Vec<workload::Writes>> = contenders.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (contender, results) in contenders.iter().zip(&mut rounds) {
            results.push(workload::durable_writes(&contender.store, writers, VALUE_BYTES, ROUND).await);
        }
    }
    let medians: Vec<_> = rounds.into_iter().map(median).collect();
    for (contender, writes) in contenders.iter().zip(&medians) {
        let [middle, worst] = [0.5, 0.99].map(|share| workload::percentile(&writes.latencies, share));
        let ratio = medians[0].per_second() / writes.per_second();
        println!(
            "{writers:>7}  {:<10} {:>9.0} {:>6.2} ms {:>6.2} ms {:>7}  {ratio:.1}x",
            contender.name,
            writes.per_second(),
            milliseconds(middle),
            milliseconds(worst),
            writes.failed,
        );
    }
}

async fn compare_watches(contenders: &[Contender], watchers: usize) {
    for Contender { name, store } in contenders {
        let latencies =
            workload::write_to_watch(store, watchers, 200, VALUE_BYTES).await.expect("the store works");
        let [acknowledged, middle, worst] =
            [(&latencies.acknowledged, 0.5), (&latencies.beyond, 0.5), (&latencies.beyond, 0.99)]
                .map(|(sorted, share)| milliseconds(workload::percentile(sorted, share)));
        println!(
            "{watchers:>7} watchers  {name:<10} write p50 {acknowledged:.2} ms, received p50 {middle:.2} ms, p99 {worst:.2} ms"
        );
    }
}

fn median(mut rounds: Vec<workload::Writes>) -> workload::Writes {
    rounds.sort_by(|one, other| one.per_second().total_cmp(&other.per_second()));
    let middle = rounds.len() / 2;
    rounds.swap_remove(middle)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
