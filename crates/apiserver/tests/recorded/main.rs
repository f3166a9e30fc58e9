//! Replays conversations recorded with Kubernetes 1.37: every response and watch event must be the recorded one,
//! except for differences that conforming servers may have.
//!
//! The recordings are data (the registry's tests read them too). They have requests and responses, with uids, versions
//! and times replaced by placeholders; `unrecorded.json` has the requests in between. `mask` resolves the
//! placeholders, `replay` sends, `part` finds a partial recording in a response. `left_out.tsv` lists the cases that
//! cannot be replayed, and why; each of them is tested elsewhere.
//!
//! `random` has conversations of another kind: randomly changed objects sent to Kubernetes, one case a line, one file a
//! resource. Each of them once had a different response here.
//!
//! A single case: `CASE=watches.tables cargo test -p gantry-apiserver --test recorded`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../harness/mod.rs"]
mod harness;
mod mask;
mod part;
mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gantry_json::Value;

/// All recordings, by name.
fn recordings() -> BTreeMap<String, PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../registry/tests/recorded");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let recordings = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    recordings.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

fn left_out() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("left_out.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').expect("a name, a tab and a reason")).collect()
}

async fn replay_area(area: &str) {
    let (left_out, only) = (left_out(), std::env::var("CASE").unwrap_or_default());
    let aside: Value = gantry_json::from_str(include_str!("unrecorded.json")).unwrap();
    let mut failures = Vec::new();
    let mut replayed = 0;
    for (name, path) in recordings() {
        let is_wanted = name.starts_with(&format!("{area}.")) && name.contains(&only);
        if !is_wanted || left_out.contains_key(name.as_str()) {
            continue;
        }
        replayed += 1;
        let exchanges: Vec<Value> = gantry_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        if let Err(difference) = replay::replay_conversation(&exchanges, &aside[&name]).await {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{} of {replayed} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(replayed > 0 || !only.is_empty(), "nothing was recorded about {area}");
}

macro_rules! areas {
    ($($area:ident),*) => {
        // On a paused clock a sleep lasts until no other task is ready, however busy the machine is.
        $(#[tokio::test(start_paused = true)]
        async fn $area() {
            replay_area(stringify!($area)).await;
        })*

        /// Every recorded area is tested.
        #[test]
        fn every_recorded_area_is_tested() {
            let replayed = BTreeSet::from([$(stringify!($area).to_owned()),*]);
            let recorded = recordings().into_keys().map(|name| name.split('.').next().unwrap().to_owned());
            assert_eq!(recorded.collect::<BTreeSet<_>>(), replayed);
        }
    };
}

areas!(
    access, apply, decoding, deletion, discovery, dryrun, events, lists, namespaces, objects, patches, pods,
    protobuf, tables, validation, watches, writes
);

/// Randomly changed objects get the responses of Kubernetes.
#[tokio::test(start_paused = true)]
async fn random_requests() {
    let only = std::env::var("CASE").unwrap_or_default();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/random");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (mut played, mut failures) = (0, Vec::new());
    for line in files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>().lines() {
        let case: Value = gantry_json::from_str(line).unwrap();
        let name = case["case"].as_str().expect("a case has a name");
        if !name.contains(&only) {
            continue;
        }
        played += 1;
        let exchanges = case["exchanges"].as_array().expect("a case has exchanges");
        if let Err(difference) = replay::replay_conversation(exchanges, &Value::Null).await {
            failures.push(format!("{name}: {difference}"));
        }
    }
    assert!(failures.is_empty(), "{} of {played} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(played > 0 || !only.is_empty(), "no random request was replayed");
}

/// Every left-out case exists, so that the list stays current.
#[test]
fn excluded_cases_were_recorded() {
    let recorded = recordings();
    let unknown: Vec<_> = left_out().into_keys().filter(|name| !recorded.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "left out, but not recorded: {unknown:?}");
}
