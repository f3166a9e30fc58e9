//! The speed of the embedded store on this disk: `cargo bench -p gantry-store-embedded`.
//!
//! The directory is made in `GANTRY_BENCH_DIR`, or where temporary files are. The workloads are the suite's, so any
//! other backend can be measured by them. Memory and recovery are measured in a separate process of this program.

#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_store::suite::{StoreUnderTest, workload};
use gantry_store_embedded::{EmbeddedStore, Options};

const OBJECTS: usize = 100_000;
const OBJECT_BYTES: usize = 2048;
const ROLE: &str = "GANTRY_BENCH_ROLE";
const DIRECTORY: &str = "GANTRY_BENCH_DIRECTORY";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime can be started");
    match (std::env::var(ROLE).as_deref(), std::env::var_os(DIRECTORY)) {
        (Ok("fill"), Some(directory)) => runtime.block_on(fill(Path::new(&directory))),
        (Ok("recover"), Some(directory)) => recover(Path::new(&directory)),
        _ => runtime.block_on(measure_all()),
    }
}

async fn measure_all() {
    let parent = std::env::var_os("GANTRY_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = parent.join(format!("gantry-bench-{}", std::process::id()));
    raw_sync(&parent);
    start_empty(&directory);
    let store: StoreUnderTest = Arc::new(open(&directory));
    for writers in [1, 16, 64, 1000] {
        print_writes(&workload::durable_writes(&store, writers, 1024, Duration::from_secs(3)).await);
    }
    for watchers in [1, 1000] {
        let latencies = workload::write_to_watch(&store, watchers, 300, 1024).await.expect("the store works");
        let [acknowledged, beyond, worst] =
            [(&latencies.acknowledged, 0.5), (&latencies.beyond, 0.5), (&latencies.beyond, 0.99)]
                .map(|(sorted, share)| workload::percentile(sorted, share));
        println!(
            "{watchers:>5} watchers: written p50 {acknowledged:?}, received p50 {beyond:?} p99 {worst:?} later"
        );
    }
    drop(store);
    remove(&directory);
    run_as("fill", &directory);
    run_as("recover", &directory);
    remove(&directory);
}

/// The speed of the disk without a store: one small write and sync after the other, into a file that exists in full.
fn raw_sync(parent: &Path) {
    use std::os::unix::fs::FileExt;
    let path = parent.join(format!("gantry-bench-raw-{}", std::process::id()));
    let file = std::fs::File::create(&path).expect("a file can be made");
    file.write_all_at(&vec![0; 4 << 20], 0).and_then(|()| file.sync_all()).expect("a file can be written");
    let mut times = Vec::new();
    for number in 0..500 {
        let began = Instant::now();
        file.write_all_at(&[7; 1100], number * 1100)
            .and_then(|()| file.sync_data())
            .expect("a file can be synced");
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let [middle, worst] = [0.5, 0.99].map(|share| workload::percentile(&times, share));
    println!("the disk alone: write and sync p50 {middle:?} p99 {worst:?}");
    let _ = std::fs::remove_file(path);
}

fn start_empty(directory: &Path) {
    let began = Instant::now();
    let store = open(directory);
    println!("start with an empty directory: {:?}", began.elapsed());
    drop(store);
    remove(directory);
}

fn print_writes(writes: &workload::Writes) {
    let [middle, worst] = [0.5, 0.99].map(|share| workload::percentile(&writes.latencies, share));
    let (rate, failed) = (writes.per_second(), writes.failed);
    println!(
        "{:>5} writers: {rate:>8.0} writes/s, p50 {middle:?} p99 {worst:?}, {failed} failed",
        writes.writers
    );
}

async fn fill(directory: &Path) {
    let before = resident_bytes();
    let store: StoreUnderTest = Arc::new(open(directory));
    let took = workload::fill(&store, OBJECTS, OBJECT_BYTES).await;
    let grown = resident_bytes().saturating_sub(before);
    println!(
        "{OBJECTS} objects of {OBJECT_BYTES} bytes written in {took:?}; memory grown by {}",
        megabytes(grown)
    );
    tokio::time::sleep(Duration::from_millis(500)).await;
    drop(store);
    println!("on disk: {}", megabytes(disk_bytes(directory)));
}

fn recover(directory: &Path) {
    let before = resident_bytes();
    let began = Instant::now();
    let store = open(directory);
    let took = began.elapsed();
    let usage = store.usage();
    let grown = resident_bytes().saturating_sub(before);
    let stored = usage.live_bytes + usage.history_bytes;
    println!(
        "recovered {} objects in {took:?}; memory grown by {} for {} live, {} with history",
        usage.keys,
        megabytes(grown),
        megabytes(usage.live_bytes as u64),
        megabytes(stored as u64)
    );
}

fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, Options::default()).expect("the directory can be opened")
}

fn run_as(role: &str, directory: &Path) {
    let this = std::env::current_exe().expect("this program has a path");
    let status = Command::new(this).env(ROLE, role).env(DIRECTORY, directory).status();
    assert!(status.is_ok_and(|status| status.success()), "{role} failed");
}

fn remove(directory: &Path) {
    let _ = std::fs::remove_dir_all(directory);
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn disk_bytes(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}
