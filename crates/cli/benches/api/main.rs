//! The speed of the API over TLS, and the resources it needs: `cargo xtask bench api`.
//!
//! The real binary on a fresh directory, 64 connections that are kept alive, objects of about 1 KB, everything durable
//! before it is acknowledged. The load is made by this process, on the same cores. The directory is created in
//! `GANTRY_BENCH_DIR`, or in the system's directory for temporary files.

#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot go on should say so and stop")]
#![allow(clippy::cast_precision_loss, reason = "numbers for display")]

mod client;
mod fan_out;
mod load;
mod process;
mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use client::{Client, Sender};
use process::Process;
use report::{Bound, Row};

const CONNECTIONS: usize = 64;
const LOAD: Duration = Duration::from_secs(5);
const LISTED: usize = 5_000;
const WATCHERS: usize = 1_000;
const MANY: usize = 100_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let parent = std::env::var_os("GANTRY_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = parent.join(format!("gantry-bench-api-{}", std::process::id()));
    let many = std::env::var("GANTRY_BENCH_OBJECTS").ok().and_then(|many| many.parse().ok()).unwrap_or(MANY);
    let rows = runtime.unwrap().block_on(measure(&directory, many));
    println!("{}", report::table(&rows));
    let _ = std::fs::remove_dir_all(directory);
}

async fn measure(directory: &std::path::Path, many: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    // The first start creates the certificates, so the second one is typical; both are reported.
    let first = started(directory).await;
    rows.push(Row::new("very first start to first response", "ms", first.1, Bound::None));
    drop(first);
    let (process, taken) = started(directory).await;
    rows.push(Row::new("start to first response, empty store", "ms", taken, Bound::AtMost(100.0)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let idle = process.resident_bytes();
    rows.push(Row::new("idle resident memory", "MB", megabytes(idle), Bound::AtMost(20.0)));

    let client = Client::of(directory, process.address());
    let senders = client.senders(CONNECTIONS).await;
    load::namespaces(&client).await;
    let (creates, senders) = load::creates(senders, LOAD).await;
    rows.push(Row::new("creates", "/s", creates, Bound::AtLeast(5.0 * 630.0)));
    let (updates, senders) = load::updates(senders, LOAD).await;
    rows.push(Row::new("updates", "/s", updates, Bound::AtLeast(5.0 * 770.0)));
    let (gets, senders) = load::gets(senders, LOAD).await;
    rows.push(Row::new("gets", "/s", gets, Bound::AtLeast(5.0 * 1_460.0)));

    let (_, senders) = load::fill(senders, load::LISTED, LISTED).await;
    let lists = load::lists(&client, LISTED, 30).await;
    rows.push(Row::new("list of 5,000 objects, median", "ms", lists, Bound::AtMost(15.0)));

    for (shape, kind) in [("64 HTTP/2 connections", Sender::Two), ("1,000 HTTP/1.1 connections", Sender::One)]
    {
        let delays = fan_out::measure(&client, kind, WATCHERS).await;
        let row = |what: &str, value, bound| {
            Row::new(&format!("write to {what} watcher, {shape}"), "ms", value, bound)
        };
        rows.push(row("median", delays.median, Bound::None));
        rows.push(row("99% of", delays.most, Bound::None));
        rows.push(row("last of 1,000, median", delays.last, Bound::AtMost(20.0)));
    }

    let (size, _) = load::fill(senders, load::MANY, many).await;
    drop(process);
    let began = Instant::now();
    let (process, taken) = started(directory).await;
    println!("started again with {many} objects more in {:?}", began.elapsed());
    rows.push(Row::new(
        &format!("start to first response, {many} objects"),
        "ms",
        taken,
        Bound::AtMost(1000.0),
    ));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let kept = (many + LISTED) as f64 + creates * LOAD.as_secs_f64();
    let each = (process.resident_bytes() as f64 - idle as f64) / kept;
    rows.push(Row::new(
        "resident memory per object over its JSON",
        "×",
        each / size as f64,
        Bound::AtMost(3.0),
    ));
    rows
}

/// Starts a server and waits for its first response; returns the milliseconds that it took.
async fn started(directory: &std::path::Path) -> (Process, f64) {
    let began = Instant::now();
    let process = Process::start(directory);
    let client = Client::of(directory, process.address());
    let mut sender = client.sender(Sender::One).await;
    let (status, _) = sender.send("GET", "/version", "").await;
    assert_eq!(status, 200);
    (process, began.elapsed().as_secs_f64() * 1000.0)
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
