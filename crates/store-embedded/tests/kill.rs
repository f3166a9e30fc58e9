//! A process that writes is repeatedly killed with SIGKILL, on the same directory.
//!
//! This program is both processes: without arguments of its own the one that kills, and with `GANTRY_KILL_DIRECTORY`
//! set the one that is killed. It counts ten kills, or two hundred with `GANTRY_LONG=1`. After each kill a file is
//! damaged in copies of the directory, which is detected unless every acknowledged write exists.

#![expect(
    clippy::print_stdout,
    reason = "the killed process reports what was acknowledged on its standard output"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use gantry_store::suite::{Rng, is_long_run, key, seeds};
use gantry_store::{Revision, Store, Transaction};
use gantry_store_embedded::{EmbeddedStore, Options, check};

mod scratch;

use scratch::Scratch;

const DIRECTORY: &str = "GANTRY_KILL_DIRECTORY";
const WRITERS: u64 = 8;
/// How many copies are damaged after each kill.
const DAMAGES: u64 = 5;

/// The acknowledged writes of the killed processes, by key: the last number and its revision.
type Acknowledged = BTreeMap<String, (u64, u64)>;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime can be started");
    match std::env::var_os(DIRECTORY) {
        Some(directory) => runtime.block_on(write_until_killed(Path::new(&directory))),
        None => runtime.block_on(kill_many()),
    }
}

async fn kill_many() {
    let scratch = Scratch::new("kill");
    let kills = if is_long_run() { 200 } else { 10 };
    let seed = seeds(1, 1).next().unwrap_or_default();
    let mut rng = Rng::new(seed);
    let mut acknowledged = Acknowledged::new();
    for kill in 0..kills {
        let new = run_and_kill(scratch.path(), 1 + rng.index(300));
        let highest = acknowledged.values().map(|(_, revision)| *revision).max();
        for (name, (number, revision)) in new {
            assert!(Some(revision) > highest, "kill {kill}: revision {revision} was returned before");
            let before = acknowledged.insert(name, (number, revision));
            assert!(before.is_none_or(|(before, _)| before < number));
        }
        let highest = acknowledged.values().map(|(_, revision)| *revision).max().unwrap_or_default();
        for _ in 0..DAMAGES {
            damage_a_copy(scratch.path(), highest, &mut rng);
        }
        check(scratch.path())
            .unwrap_or_else(|error| unreachable!("kill {kill}, GANTRY_SEED={seed}: {error}"));
        let store = open(scratch.path());
        verify(&store, &mut acknowledged, kill).await;
    }
    println!(
        "{kills} kills, {} revisions, nothing lost",
        acknowledged.values().map(|(_, at)| at).max().unwrap_or(&0)
    );
}

/// Truncates or zeroes a file in a copy of the directory, and checks the copy.
fn damage_a_copy(directory: &Path, acknowledged: u64, rng: &mut Rng) {
    let copy = Scratch::new("damaged");
    std::fs::create_dir(copy.path()).expect("a directory can be made");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the directory exists").flatten() {
        let path = copy.path().join(entry.file_name());
        std::fs::copy(entry.path(), &path).expect("a file can be copied");
        files.push(path);
    }
    files.sort();
    let path = &files[rng.index(files.len())];
    let mut bytes = std::fs::read(path).expect("the copy exists");
    let from = rng.index(bytes.len() + 1);
    if rng.one_in(2) {
        bytes.truncate(from);
    } else {
        bytes[from..].fill(0);
    }
    std::fs::write(path, &bytes).expect("the copy can be written");
    if let Ok(report) = check(copy.path()) {
        let current = report.bounds.current.get();
        assert!(
            current >= acknowledged,
            "{} damaged from byte {from} on: {acknowledged} was acknowledged, the store is at {current}",
            path.display()
        );
    }
}

fn open(directory: &Path) -> EmbeddedStore {
    // Small limits, so that kills also occur during snapshots and changes of the segment.
    let options =
        Options { segment_bytes_max: 256 << 10, garbage_bytes_min: 256 << 10, ..Options::default() };
    let options = Options {
        history: gantry_store::memory::HistoryLimits { bytes: 256 << 10, ..options.history },
        ..options
    };
    EmbeddedStore::open(directory, options).unwrap_or_else(|error| unreachable!("{error}"))
}

/// Every acknowledged write exists; beyond it, at most the one unacknowledged write of each writer.
async fn verify(store: &EmbeddedStore, acknowledged: &mut Acknowledged, kill: u64) {
    for writer in 0..WRITERS {
        let name = format!("/{writer}");
        let expected = acknowledged.get(&name).copied();
        let found = store.get(&key(name.as_str())).await.ok().and_then(|fetched| fetched.found);
        let found = found.map(|found| (number_in(&found.value), found.revision.get()));
        match (expected, found) {
            (Some((expected, at)), Some((found, revision))) => {
                assert!(
                    found == expected || found == expected + 1,
                    "kill {kill}: {expected} was acknowledged, {found} was found"
                );
                assert!(
                    (found == expected) == (revision == at),
                    "kill {kill}: {found} is at {revision}, not {at}"
                );
            }
            (Some(expected), None) => {
                unreachable!("kill {kill}: {expected:?} was acknowledged and is missing")
            }
            (None, _) => {}
        }
        // The found state counts as acknowledged from now on.
        if let Some(found) = found {
            acknowledged.insert(name, found);
        }
    }
}

/// Starts a writer, kills it after that many acknowledged writes, and returns all that were acknowledged.
fn run_and_kill(directory: &Path, writes: usize) -> Acknowledged {
    let this = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(this)
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut acknowledged = Acknowledged::new();
    let mut note = |line: String| {
        let words: Vec<&str> = line.split(' ').collect();
        if let [name, number, revision, "."] = words[..] {
            let numbers = (number.parse().unwrap_or(0), revision.parse().unwrap_or(0));
            acknowledged.insert(name.to_owned(), numbers);
        }
    };
    for _ in 0..writes {
        note(lines.next().and_then(Result::ok).expect("the writer writes until it is killed"));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it was killed");
    lines.map_while(Result::ok).for_each(&mut note);
    acknowledged
}

async fn write_until_killed(directory: &Path) {
    let store: Arc<dyn Store> = Arc::new(open(directory));
    let writers = (0..WRITERS).map(|writer| tokio::spawn(count_up(Arc::clone(&store), format!("/{writer}"))));
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("writers write until they are killed");
    }
}

/// Counts a key up and reports every number that was acknowledged.
async fn count_up(store: Arc<dyn Store>, name: String) {
    let found = store.get(&key(name.as_str())).await.ok().and_then(|fetched| fetched.found);
    let mut seen: Option<(u64, Revision)> = found.map(|found| (number_in(&found.value), found.revision));
    loop {
        let number = seen.map_or(0, |(number, _)| number + 1);
        let value = format!("{number} {}", "x".repeat(700));
        let transaction = match seen {
            None => Transaction::create(key(name.as_str()), value),
            Some((_, revision)) => Transaction::update(key(name.as_str()), value, revision),
        };
        let revision = store.commit(transaction).await.expect("one task writes this key");
        // One write to the pipe: a line is complete or missing.
        let line = format!("{name} {number} {revision} .\n");
        std::io::stdout().write_all(line.as_bytes()).expect("the test reads the output");
        std::io::stdout().flush().expect("the test reads the output");
        seen = Some((number, revision));
    }
}

fn number_in(value: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(value);
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
}
