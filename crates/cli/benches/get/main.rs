//! `gantry get pods -A` compared with kubectl: the real binaries over TLS, 10,000 pods.
//!
//! `cargo xtask bench get` runs it. Processor time is read from `/proc`, so this is for Linux. `GANTRY_BENCH_PODS` is
//! the number of pods, `GANTRY_BENCH_DIR` the directory for temporary files, `GANTRY_BENCH_KUBECTL` the kubectl to use.

#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot go on should say so and stop")]
#![allow(clippy::cast_precision_loss, reason = "numbers for display")]

#[path = "../api/client.rs"]
#[allow(dead_code, reason = "the other benchmark needs another part of it")]
mod client;
#[path = "../api/process.rs"]
#[allow(dead_code, reason = "the other benchmark needs another part of it")]
mod process;
#[path = "../api/report.rs"]
#[allow(dead_code, reason = "the other benchmark needs another part of it")]
mod report;
mod run;

use std::path::{Path, PathBuf};

use client::{Client, Sender};
use process::Process;
use report::{Bound, Row};
use run::{Measurement, median};

const PODS: usize = 10_000;
const NAMESPACES: usize = 4;
const CONNECTIONS: usize = 16;
const RUNS: usize = 7;
/// The limit for the first line.
const FIRST_LINE_MILLISECONDS: f64 = 200.0;

fn main() {
    let parent = std::env::var_os("GANTRY_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = parent.join(format!("gantry-bench-get-{}", std::process::id()));
    let pods = std::env::var("GANTRY_BENCH_PODS").ok().and_then(|pods| pods.parse().ok()).unwrap_or(PODS);
    let process = Process::start(&directory);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(fill(&Client::of(&directory, process.address()), pods));
    let kubeconfig = kubeconfig(&directory, process.address());
    println!("{}", report::table(&compare(&directory, &kubeconfig, pods)));
    drop(process);
    let _ = std::fs::remove_dir_all(directory);
}

/// Runs both in turn, so that other load on the machine affects both.
fn compare(home: &Path, kubeconfig: &Path, pods: usize) -> Vec<Row> {
    let kubectl = std::env::var_os("GANTRY_BENCH_KUBECTL").unwrap_or_else(|| "kubectl".into());
    let (mut ours, mut theirs): (Vec<Measurement>, Vec<Measurement>) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(Measurement::take(Path::new(env!("CARGO_BIN_EXE_gantry")), home, kubeconfig));
        theirs.push(Measurement::take(Path::new(&kubectl), home, kubeconfig));
    }
    for one in ours.iter().chain(&theirs) {
        assert_eq!(one.lines, pods + 1, "a header and a line for each pod");
    }
    let their_time = median(&theirs, |one| one.processor_milliseconds);
    let row = |who: &str, what: &str, value: f64, bound: Bound| {
        Row::new(&format!("{who} get pods -A, {pods} pods: {what}"), "ms", value, bound)
    };
    vec![
        row("kubectl", "first line", median(&theirs, |one| one.first_milliseconds), Bound::None),
        row("kubectl", "last line", median(&theirs, |one| one.last_milliseconds), Bound::None),
        row("kubectl", "processor", their_time, Bound::None),
        row(
            "gantry",
            "first line",
            median(&ours, |one| one.first_milliseconds),
            Bound::AtMost(FIRST_LINE_MILLISECONDS),
        ),
        row("gantry", "last line", median(&ours, |one| one.last_milliseconds), Bound::None),
        row(
            "gantry",
            "processor",
            median(&ours, |one| one.processor_milliseconds),
            Bound::AtMost(their_time),
        ),
    ]
}

/// Creates the pods, in a few namespaces. No controller runs, so no pod changes.
async fn fill(client: &Client, pods: usize) {
    let mut sender = client.sender(Sender::One).await;
    for nth in 0..NAMESPACES {
        let body = format!(r#"{{"metadata":{{"name":"shop-{nth}"}}}}"#);
        assert_eq!(sender.send("POST", "/api/v1/namespaces", body).await.0, 201);
        // No controller creates the default service account here.
        let path = format!("/api/v1/namespaces/shop-{nth}/serviceaccounts");
        assert_eq!(sender.send("POST", &path, r#"{"metadata":{"name":"default"}}"#).await.0, 201);
    }
    let senders = client.senders(CONNECTIONS).await;
    let tasks: Vec<_> = senders
        .into_iter()
        .enumerate()
        .map(|(connection, mut sender)| {
            tokio::spawn(async move {
                for nth in (connection..pods).step_by(CONNECTIONS) {
                    let path = format!("/api/v1/namespaces/shop-{}/pods", nth % NAMESPACES);
                    assert_eq!(sender.send("POST", &path, pod(nth)).await.0, 201);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn pod(nth: usize) -> String {
    format!(
        r#"{{"metadata":{{"name":"web-{nth:05}","labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"web","image":"nginx:1"}}]}}}}"#
    )
}

/// A kubeconfig of the administrator, for both clients.
fn kubeconfig(directory: &Path, address: &str) -> PathBuf {
    let pki = directory.join("pki");
    let (ca, certificate, key) = (pki.join("ca.crt"), pki.join("admin.crt"), pki.join("admin.key"));
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: bench\n\
         clusters: [{{name: bench, cluster: {{server: 'https://{address}', certificate-authority: '{}'}}}}]\n\
         users: [{{name: bench, user: {{client-certificate: '{}', client-key: '{}'}}}}]\n\
         contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]\n",
        ca.display(),
        certificate.display(),
        key.display()
    );
    let file = directory.join("bench.kubeconfig");
    std::fs::write(&file, text).unwrap();
    file
}
