//! History clean-up beyond the worked examples.

use gantry_model::{Deployment, ReplicaSet, keys};
use gantry_testkit::{DeploymentWords, ReplicaSetWords, deployment, noon_plus, replica_set};

use crate::{decided, sizes};

fn complete(limit: Option<u16>) -> Deployment {
    let mut web = deployment("web").size(1).reported(1, 1, 1).annotated(keys::REVISION, "9");
    web.revision_history_limit = limit.map(Into::into);
    web
}

fn cleaned(web: &Deployment, mut sets: Vec<ReplicaSet>) -> Vec<String> {
    sets.push(replica_set("new").owned_by(web).revision(9).size(1).available(1).sized_for(1, 2));
    sizes(&decided(web, &sets))
}

fn drained(web: &Deployment, name: &str, revision: &str, age: i64) -> ReplicaSet {
    let set = replica_set(name).owned_by(web).image(&format!("old:{name}")).created(noon_plus(-age));
    set.annotated(keys::REVISION, revision)
}

/// D13: no limit, no clean-up; and none before the rollout is complete.
#[test]
fn without_a_limit_all_are_kept() {
    let web = complete(None);
    assert_eq!(cleaned(&web, vec![drained(&web, "a", "1", 9)]), [""; 0]);
    let web = complete(Some(0)).reported(1, 1, 0);
    assert_eq!(cleaned(&web, vec![drained(&web, "a", "1", 9)]), [""; 0], "not complete");
}

/// D13: by revision, and by age where revisions do not tell.
#[test]
fn revision_decides_and_then_age() {
    let web = complete(Some(1));
    let sets = vec![drained(&web, "two", "2", 9), drained(&web, "one", "1", 5)];
    assert_eq!(cleaned(&web, sets), ["delete one"], "the lower revision, although younger");
    let sets = vec![drained(&web, "young", "what", 5), drained(&web, "aged", "ever", 9)];
    assert_eq!(cleaned(&web, sets), ["delete aged"]);
}

/// D13: sets that are going already do not count; sets that lag or have pods are passed over.
#[test]
fn sets_with_pods_or_lagging_are_passed_over() {
    let web = complete(Some(1));
    let going = drained(&web, "going", "1", 9).deleting_since(noon_plus(0));
    assert_eq!(cleaned(&web, vec![going, drained(&web, "kept", "2", 5)]), [""; 0]);
    let reporting = drained(&web, "reporting", "1", 9).pods(1);
    assert_eq!(cleaned(&web, vec![reporting, drained(&web, "kept", "2", 5)]), [""; 0]);
    let mut lagging = drained(&web, "lagging", "1", 9);
    lagging.meta.generation = 2;
    assert_eq!(cleaned(&web, vec![lagging, drained(&web, "kept", "2", 5)]), [""; 0]);
}
