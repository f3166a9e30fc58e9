//! The staleness check.

use gantry_decide::replica_set::{ControllerState, MetExpectation};
use gantry_decide::written_versions::{CachedResource, ReadVersions, StaleCache};
use gantry_model::ReplicaSet;
use gantry_testkit::{NOON, replica_set};

use crate::key;

fn read(pods: &str, replica_sets: &str) -> ReadVersions {
    ReadVersions::from([
        (CachedResource::Pods, pods.into()),
        (CachedResource::ReplicaSets, replica_sets.into()),
    ])
}

/// Begins a sync of `web` with caches at these versions.
fn begin_sync(state: &mut ControllerState, read: &ReadVersions) -> Result<(), StaleCache> {
    let web = replica_set("web");
    state.begin_sync(NOON, &key("web"), Some(&web), read).map(|_| ())
}

fn having_written(set: &ReplicaSet, versions: &[(CachedResource, &str)]) -> ControllerState {
    let mut state = ControllerState::default();
    for (resource, version) in versions {
        state.wrote(set, *resource, &(*version).into());
    }
    state
}

/// R2.8: the message of the error.
#[test]
fn a_stale_cache_fails_the_sync_with_a_message() {
    let web = replica_set("web");
    let mut state = having_written(&web, &[(CachedResource::Pods, "120")]);
    assert_eq!(
        begin_sync(&mut state, &read("99", "500")).unwrap_err().to_string(),
        "read version: 99 is not as new as written version: 120 for group resource pods"
    );
    let mut state = having_written(&web, &[(CachedResource::ReplicaSets, "120")]);
    assert_eq!(
        begin_sync(&mut state, &read("500", "99")).unwrap_err().to_string(),
        "read version: 99 is not as new as written version: 120 for group resource replicasets.apps"
    );
    assert_eq!(
        begin_sync(&mut state, &read("500", "")).unwrap_err().to_string(),
        "read version is not synced (written version: 120) for group resource replicasets.apps"
    );
}

/// R2.8, R3.1: staleness is checked first, even before whether the set exists.
#[test]
fn staleness_is_checked_first() {
    let mut state = having_written(&replica_set("web"), &[(CachedResource::Pods, "120")]);
    state.expectations.expect_creations(NOON, &key("web"), 1);
    let before = state.clone();
    assert!(state.begin_sync(NOON, &key("web"), None, &read("99", "99")).is_err());
    assert_eq!(state, before, "a failed sync forgets nothing");
}

/// R2.8: once the caches have reached the version, it is forgotten.
#[test]
fn a_cache_that_has_reached_the_version_passes_the_check() {
    let web = replica_set("web");
    for reached in ["120", "121", "1000"] {
        let mut state =
            having_written(&web, &[(CachedResource::Pods, "120"), (CachedResource::ReplicaSets, "119")]);
        assert_eq!(begin_sync(&mut state, &read(reached, reached)), Ok(()));
        assert_eq!(state, ControllerState::default(), "the version is forgotten");
    }
}

/// R2.8: responses to parallel writes arrive in any order.
#[test]
fn only_the_newest_version_counts() {
    let web = replica_set("web");
    for versions in [["99", "120", "100"], ["120", "99", "100"], ["99", "100", "120"]] {
        let written = versions.map(|version| (CachedResource::Pods, version));
        let mut state = having_written(&web, &written);
        assert!(begin_sync(&mut state, &read("119", "119")).is_err(), "{versions:?}");
        assert!(begin_sync(&mut state, &read("120", "120")).is_ok(), "{versions:?}");
    }
}

/// R2.8: a version that is not a number does not block the set.
#[test]
fn versions_that_cannot_be_compared_do_not_block() {
    let web = replica_set("web");
    let mut state = having_written(&web, &[(CachedResource::Pods, "opaque"), (CachedResource::Pods, "")]);
    assert_eq!(state, ControllerState::default());
    state.wrote(&web, CachedResource::Pods, &"120".into());
    state.wrote(&web, CachedResource::Pods, &"opaque".into());
    assert!(begin_sync(&mut state, &read("119", "")).is_err(), "the number still counts");
    assert!(begin_sync(&mut state, &read("opaque", "")).is_ok());
}

/// R2.8, R1.2: the record belongs to one uid, not to the name.
#[test]
fn a_record_is_identified_by_name_and_uid() {
    let web = replica_set("web");
    let mut successor = web.clone();
    successor.meta.uid = "another".into();
    let gone =
        |set: &ReplicaSet| MetExpectation::Everything { set: set.meta.key(), uid: set.meta.uid.clone() };

    let mut state = having_written(&web, &[(CachedResource::Pods, "500")]);
    state.wrote(&successor, CachedResource::Pods, &"120".into());
    assert!(begin_sync(&mut state.clone(), &read("120", "120")).is_ok(), "the predecessor's record is gone");
    state.lower(&gone(&web));
    assert!(
        begin_sync(&mut state.clone(), &read("119", "119")).is_err(),
        "a late deletion leaves the successor's"
    );
    state.lower(&gone(&successor));
    assert_eq!(state, ControllerState::default());
}
