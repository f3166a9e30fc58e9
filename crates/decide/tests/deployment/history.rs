//! History clean-up beyond the worked examples.

use gantry_decide::deployment::{Action, IfRefused};
use gantry_model::{Deployment, ReplicaSet, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

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

/// D13: nothing is deleted without a limit, or before the rollout is complete.
#[test]
fn without_a_limit_all_are_kept() {
    let web = complete(None);
    assert_eq!(cleaned(&web, vec![drained(&web, "a", "1", 9)]), [""; 0]);
    let web = complete(Some(0)).reported(1, 1, 0);
    assert_eq!(cleaned(&web, vec![drained(&web, "a", "1", 9)]), [""; 0], "not complete");
    let web = complete(Some(0));
    let too_large = replica_set("new").owned_by(&web).revision(9).size(3).available(1).sized_for(1, 2);
    let trimmed = decided(&web, &[drained(&web, "a", "1", 9), too_large]);
    assert_eq!(sizes(&trimmed), ["scale new 3 -> 1"], "nothing is deleted in a sync that resizes");
}

/// D13: sets are deleted by revision, and by age where revisions do not decide.
#[test]
fn revision_decides_and_then_age() {
    let web = complete(Some(1));
    let sets = vec![drained(&web, "two", "2", 9), drained(&web, "one", "1", 5)];
    assert_eq!(cleaned(&web, sets), ["delete one"], "the lower revision, although younger");
    let new = replica_set("new").owned_by(&web).revision(9).size(1).available(1).sized_for(1, 2);
    let refused = decided(&web, &[drained(&web, "two", "2", 9), drained(&web, "one", "1", 5), new]);
    let deletion = refused.steps.iter().find(|step| matches!(step.action, Action::DeleteReplicaSet { .. }));
    assert_eq!(deletion.unwrap().if_refused, IfRefused::Fail, "a refusal ends the sync");
    let sets = vec![drained(&web, "young", "what", 5), drained(&web, "aged", "ever", 9)];
    assert_eq!(cleaned(&web, sets), ["delete aged"]);
    let sets = vec![drained(&web, "young", "7", 5), drained(&web, "aged", "7", 9)];
    assert_eq!(cleaned(&web, sets), ["delete aged"], "equal revisions do not decide");
    let sets = vec![drained(&web, "young", "what", 5), drained(&web, "aged", "7", 9)];
    assert_eq!(cleaned(&web, sets), ["delete aged"], "an unreadable revision does not count as zero");
    let sets = vec![
        drained(&web, "three", "3", 9),
        drained(&web, "what", "ever", 7),
        drained(&web, "two", "2", 5),
        drained(&web, "one", "1", 3),
    ];
    assert_eq!(
        cleaned(&web, sets),
        ["delete three", "delete what", "delete one"],
        "a set without a readable revision keeps its place by age"
    );
}

/// D13: sets that are being deleted do not count; sets that lag or have pods are skipped.
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

/// D13: a set that this sync scales to or from zero is not drained, whatever its last observed status.
#[test]
fn sets_resized_in_the_same_sync_are_kept() {
    let web = complete(Some(0)).paused();
    let emptied = drained(&web, "emptied", "1", 9).size(1).pods(0).sized_for(2, 3);
    assert_eq!(cleaned(&web, vec![emptied]), ["scale emptied 1 -> 0"]);
    let filled = drained(&web, "filled", "1", 9);
    assert_eq!(sizes(&decided(&web, &[filled])), ["scale filled 0 -> 1"], "no set has the template");
}
