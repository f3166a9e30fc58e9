//! Small histories of a Deployment `web`, its sets and its pods, and the rules that they break.

use std::time::Duration;

use gantry_json::{Value, json};

use super::{Judge, ObservedWrite, PodRequest, Writer};

/// The maximum time by which the caches of these histories are late.
const STALENESS: Duration = Duration::from_secs(2);

struct History {
    judge: Judge,
    now: Duration,
}

impl History {
    /// Begins with a Deployment of this spec.
    fn of(spec: Value) -> Self {
        let mut history = Self { judge: Judge::new(STALENESS), now: Duration::ZERO };
        assert_eq!(history.user("deployments", "web", &web(1, spec)), [""; 0]);
        history
    }

    /// Advances the time by more than any cache may be late.
    fn later(&mut self) {
        self.now += Duration::from_secs(10);
    }

    fn user(&mut self, resource: &str, name: &str, object: &Value) -> Vec<&'static str> {
        self.write(Writer::Other, resource, name, object)
    }

    fn controller(&mut self, resource: &str, name: &str, object: &Value) -> Vec<&'static str> {
        self.write(Writer::Controller, resource, name, object)
    }

    fn collector(&mut self, resource: &str, name: &str, object: &Value) -> Vec<&'static str> {
        self.write(Writer::GarbageCollector, resource, name, object)
    }

    /// The garbage collector removes an object, or the last finalizer of one that is being deleted.
    fn collected(&mut self, resource: &str, name: &str) -> Vec<&'static str> {
        self.observe(Writer::GarbageCollector, resource, name, None)
    }

    fn write(&mut self, by: Writer, resource: &str, name: &str, object: &Value) -> Vec<&'static str> {
        self.observe(by, resource, name, Some(object))
    }

    fn observe(
        &mut self,
        by: Writer,
        resource: &str,
        name: &str,
        object: Option<&Value>,
    ) -> Vec<&'static str> {
        let key = format!("/registry/{resource}/default/{name}");
        let write = ObservedWrite { at: self.now, by, key: &key, object };
        self.judge.observe(write).into_iter().map(|finding| finding.broken).collect()
    }
}

fn web(generation: u64, spec: Value) -> Value {
    let mut web = json!({"metadata": {"name": "web", "uid": "web", "generation": generation}, "status": {}});
    web["spec"] = spec;
    web
}

/// A set of this template, sized for a Deployment of `sized[0]` replicas and at most `sized[1]` pods in all sets.
fn set(name: &str, size: u64, sized: [u64; 2]) -> Value {
    let sized = sized.map(|number| number.to_string());
    json!({
        "metadata": {
            "name": name, "uid": name, "generation": 1,
            "ownerReferences": [{"uid": "web", "controller": true}],
            "annotations": {
                "deployment.kubernetes.io/desired-replicas": sized[0],
                "deployment.kubernetes.io/max-replicas": sized[1],
            },
        },
        "spec": {"replicas": size, "template": template(name)},
        "status": {"observedGeneration": 1},
    })
}

fn template(name: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"image": name}]}})
}

fn pod(owner: &str, is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    json!({
        "metadata": {"uid": owner, "ownerReferences": [{"uid": owner, "controller": true}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
    })
}

fn deleted(mut object: Value) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T12:00:00Z");
    object
}

/// An object that is being deleted, with this finalizer.
fn deleted_with(finalizer: &str, object: Value) -> Value {
    let mut object = deleted(object);
    object["metadata"]["finalizers"] = json!([finalizer]);
    object
}

fn rolling(replicas: u64, surge: u64, unavailable: u64) -> Value {
    let limits = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    json!({"replicas": replicas, "strategy": {"rollingUpdate": limits}})
}

#[test]
fn a_paused_deployment_gets_no_new_set_once_every_cache_shows_that_it_is_paused() {
    let paused = json!({"replicas": 1, "paused": true});
    let mut history = History::of(rolling(1, 1, 0));
    history.later();
    history.user("deployments", "web", &web(2, paused));
    assert_eq!(history.controller("replicasets", "v1", &set("v1", 0, [1, 2])), [""; 0]);
    history.later();
    let broken = history.controller("replicasets", "v2", &set("v2", 0, [1, 2]));
    assert_eq!(broken, ["a paused Deployment gets no new set"]);
}

#[test]
fn recreate_waits_until_terminating_pods_are_removed() {
    let spec = json!({"replicas": 1, "strategy": {"type": "Recreate"}, "template": template("v2")});
    let mut history = History::of(spec);
    history.controller("replicasets", "v1", &set("v1", 1, [1, 1]));
    history.controller("pods", "v1-a", &pod("v1", true));
    history.controller("replicasets", "v1", &set("v1", 0, [1, 1]));
    history.controller("pods", "v1-a", &deleted(pod("v1", true)));
    history.later();
    let broken = history.controller("replicasets", "v2", &set("v2", 1, [1, 1]));
    assert_eq!(broken, ["Recreate creates no pod before the old ones have ended"]);
    let ended = json!({"metadata": {"ownerReferences": [{"uid": "v1", "controller": true}]}, "status": {"phase": "Failed"}});
    history.user("pods", "v1-a", &ended);
    let mut history_of_ended = history;
    history_of_ended.later();
    assert_eq!(history_of_ended.controller("replicasets", "v3", &set("v3", 1, [1, 1])), [""; 0]);
}

#[test]
fn scaling_during_a_rollout_keeps_proportions() {
    let scaled = |old: u64| {
        let mut history = History::of(rolling(10, 3, 0));
        history.controller("replicasets", "v1", &set("v1", 8, [10, 13]));
        history.controller("replicasets", "v2", &set("v2", 5, [10, 13]));
        history.later();
        history.user("deployments", "web", &web(2, rolling(20, 3, 0)));
        assert_eq!(history.controller("replicasets", "v2", &set("v2", 23 - old, [20, 23])), [""; 0]);
        history.controller("replicasets", "v1", &set("v1", old, [20, 23]))
    };
    assert_eq!(scaled(14), [""; 0]);
    assert_eq!(
        scaled(13),
        ["scaling in the middle of a rollout keeps the proportions"],
        "rounded by more than a half each"
    );
    assert_eq!(scaled(8), ["scaling in the middle of a rollout keeps the proportions"]);
}

/// The remainder of rounding is added to the first set, before the other one is written.
#[test]
fn a_set_that_is_not_scaled_yet_counts_with_its_share_of_the_new_total() {
    let raised = |size: u64| {
        let mut history = History::of(rolling(7, 2, 0));
        history.controller("replicasets", "v1", &set("v1", 3, [7, 9]));
        history.controller("replicasets", "v2", &set("v2", 3, [7, 9]));
        history.later();
        history.user("deployments", "web", &web(2, rolling(5, 2, 0)));
        history.later();
        history.controller("replicasets", "v2", &set("v2", size, [5, 7]))
    };
    assert_eq!(raised(5), [""; 0]);
    assert_eq!(raised(6), ["no set is raised above the wanted number and the surge of all sets"]);
}

/// The first set was sized for another total, so the shares of the two are not comparable.
#[test]
fn proportions_are_not_expected_if_the_surge_changes_between_two_sets() {
    let mut history = History::of(rolling(10, 3, 0));
    history.controller("replicasets", "v1", &set("v1", 8, [10, 13]));
    history.controller("replicasets", "v2", &set("v2", 5, [10, 13]));
    history.later();
    history.user("deployments", "web", &web(2, rolling(20, 6, 0)));
    assert_eq!(history.controller("replicasets", "v2", &set("v2", 13, [20, 26])), [""; 0]);
    history.user("deployments", "web", &web(3, rolling(20, 1, 0)));
    assert_eq!(history.controller("replicasets", "v1", &set("v1", 8, [20, 21])), [""; 0]);
}

/// The set chooses again from its cache, in which the first pod is not deleted yet.
#[test]
fn a_set_deletes_a_pod_too_many_only_if_the_response_to_another_deletion_was_lost() {
    let deletes_both = |is_lost: bool| {
        let mut history = History::of(rolling(2, 0, 1));
        history.controller("replicasets", "v1", &set("v1", 2, [2, 2]));
        for name in ["v1-a", "v1-b"] {
            history.controller("pods", name, &pod("v1", true));
        }
        history.later();
        history.user("replicasets", "v1", &set("v1", 1, [1, 1]));
        history.controller("pods", "v1-a", &deleted(pod("v1", true)));
        if is_lost {
            history.judge.lost_response(history.now, PodRequest::Delete);
        }
        history.controller("pods", "v1-b", &deleted(pod("v1", true)))
    };
    assert_eq!(deletes_both(true), [""; 0]);
    assert_eq!(deletes_both(false), ["no set deletes a pod unless it has too many"]);
}

#[test]
fn pods_that_are_not_ready_are_deleted_first() {
    let mut history = History::of(rolling(3, 0, 1));
    history.controller("replicasets", "v1", &set("v1", 3, [3, 3]));
    for (name, is_ready) in [("v1-a", true), ("v1-b", false), ("v1-c", true)] {
        history.controller("pods", name, &pod("v1", is_ready));
    }
    history.later();
    history.user("replicasets", "v1", &set("v1", 2, [2, 2]));
    let broken = history.controller("pods", "v1-a", &deleted(pod("v1", true)));
    assert_eq!(broken, ["pods that are not ready are deleted before those that are"]);
}

#[test]
fn ready_pods_are_deleted_together_with_others_if_those_are_too_few() {
    let mut history = History::of(rolling(3, 0, 1));
    history.controller("replicasets", "v1", &set("v1", 3, [3, 3]));
    for (name, is_ready) in [("v1-a", true), ("v1-b", false), ("v1-c", true)] {
        history.controller("pods", name, &pod("v1", is_ready));
    }
    history.later();
    history.user("replicasets", "v1", &set("v1", 1, [1, 1]));
    assert_eq!(history.controller("pods", "v1-a", &deleted(pod("v1", true))), [""; 0], "one of two");
}

#[test]
fn a_pod_is_available_only_after_min_ready_seconds() {
    let reported = |available: u64| {
        let mut set = set("v1", 1, [1, 1]);
        set["spec"]["minReadySeconds"] = json!(30);
        set["status"] = json!({"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": available});
        set
    };
    let mut history = History::of(rolling(1, 1, 0));
    history.controller("replicasets", "v1", &set("v1", 1, [1, 1]));
    history.controller("pods", "v1-a", &pod("v1", false));
    history.later();
    history.user("pods", "v1-a", &pod("v1", true));
    assert_eq!(history.controller("replicasets", "v1", &reported(0)), [""; 0]);
    history.later();
    let broken = history.controller("replicasets", "v1", &reported(1));
    assert_eq!(broken, ["a pod is available only when it has been ready for long enough"]);
    history.now += Duration::from_secs(30);
    history.controller("replicasets", "v1", &reported(0));
    assert_eq!(history.controller("replicasets", "v1", &reported(1)), [""; 0]);
}

#[test]
fn a_rollout_that_misses_its_deadline_has_to_be_reported() {
    let progressing = |reason: &str| {
        let mut object = web(1, json!({"replicas": 1, "progressDeadlineSeconds": 60}));
        object["status"] = json!({"conditions": [{"type": "Progressing", "reason": reason}]});
        object
    };
    let overdue = |reason: &str, seconds: u64| {
        let mut history = History::of(json!({"replicas": 1, "progressDeadlineSeconds": 60}));
        history.controller("deployments", "web", &progressing(reason));
        history.judge.overdue(Duration::from_secs(seconds), Duration::from_secs(5)).len()
    };
    assert_eq!(overdue("ReplicaSetUpdated", 64), 0);
    assert_eq!(overdue("ReplicaSetUpdated", 66), 1);
    assert_eq!(overdue("ProgressDeadlineExceeded", 66), 0);
    assert_eq!(overdue("NewReplicaSetAvailable", 6600), 0);
}

/// Pods that had just become unready were removed from an old set first, and the judge counted them as available.
#[test]
fn unready_pods_of_an_old_set_are_removed_below_the_floor() {
    let reported = |name: &str, size: u64, available: u64| {
        let mut set = set(name, size, [4, 5]);
        let [replicas, ready] = [size, available];
        set["status"] = json!({"observedGeneration": 1, "replicas": replicas, "readyReplicas": ready, "availableReplicas": available});
        set
    };
    let mut history = History::of(rolling(4, 1, 0));
    history.user("replicasets", "v1", &reported("v1", 4, 4));
    history.user("replicasets", "v2", &reported("v2", 1, 0));
    history.later();
    history.user("replicasets", "v1", &reported("v1", 4, 2));
    let mut smaller = reported("v1", 4, 2);
    smaller["spec"]["replicas"] = json!(3);
    assert_eq!(history.controller("replicasets", "v1", &smaller), [""; 0]);
    history.user("replicasets", "v1", &reported("v1", 3, 2));
    history.later();
    let mut below_floor = reported("v1", 3, 2);
    below_floor["spec"]["replicas"] = json!(1);
    let broken = history.controller("replicasets", "v1", &below_floor);
    assert_eq!(broken, ["no set is scaled down below the availability floor"]);
}

/// In the first case the image was set back while the Deployment was being deleted in the foreground, after the set
/// with the latest revision had been removed. In the second case a paused Deployment that keeps no old sets got another
/// image: all sets were old, and were removed.
#[test]
fn the_revision_of_a_deployment_decreases_only_with_that_of_its_sets() {
    let annotated = |mut object: Value, revision: &str| {
        object["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": revision});
        object
    };
    let revised = |revision: &str| annotated(web(1, rolling(1, 1, 0)), revision);
    let lowered = |revision_left: &str, after: Value| {
        let mut history = History::of(rolling(1, 1, 0));
        history.controller("replicasets", "v1", &annotated(set("v1", 0, [1, 1]), revision_left));
        history.controller("deployments", "web", &revised("2"));
        history.later();
        history.controller("deployments", "web", &after)
    };
    assert_eq!(lowered("2", revised("1")), ["the revision of a Deployment never decreases"]);
    assert_eq!(lowered("2", deleted(revised("1"))), [""; 0]);
    assert_eq!(lowered("1", revised("1")), [""; 0], "the set of the latest revision is gone");
}

/// A node that was lost for a while reports its pods as ready since their original time.
#[test]
fn pods_of_a_lost_node_are_available_as_soon_as_it_is_back() {
    let reported = |available: u64| {
        let mut set = set("v1", 1, [1, 1]);
        set["spec"]["minReadySeconds"] = json!(30);
        set["status"] = json!({
            "observedGeneration": 1, "replicas": 1, "readyReplicas": available, "availableReplicas": available,
        });
        set
    };
    let mut history = History::of(rolling(1, 1, 0));
    history.controller("replicasets", "v1", &set("v1", 1, [1, 1]));
    history.controller("pods", "v1-a", &pod("v1", true));
    history.now += Duration::from_secs(60);
    assert_eq!(history.controller("replicasets", "v1", &reported(1)), [""; 0]);
    history.controller("pods", "v1-a", &pod("v1", false));
    assert_eq!(history.controller("replicasets", "v1", &reported(0)), [""; 0]);
    history.later();
    history.user("pods", "v1-a", &pod("v1", true));
    assert_eq!(history.controller("replicasets", "v1", &reported(1)), [""; 0]);
}

#[test]
fn an_orphaned_set_is_collected_only_if_it_was_new_when_its_deployment_was_removed() {
    let (web, orphaned) = (web(1, rolling(1, 1, 0)), "an orphaned ReplicaSet is not collected");
    let mut history = History::of(rolling(1, 1, 0));
    history.controller("replicasets", "v1", &set("v1", 1, [1, 2]));
    history.later();
    history.user("deployments", "web", &deleted_with("orphan", web.clone()));
    // Created by a controller whose cache does not show yet that the Deployment is being deleted.
    history.controller("replicasets", "v2", &set("v2", 0, [1, 2]));
    history.controller("deployments", "web", &deleted_with("orphan", web));
    assert_eq!(history.collected("deployments", "web"), [""; 0]);
    assert_eq!(history.collected("replicasets", "v2"), [""; 0]);
    assert_eq!(history.collected("replicasets", "v1"), [orphaned]);
}

/// The garbage collector may not have observed the adoption when it orphaned the others.
#[test]
fn an_orphaned_set_is_collected_if_it_was_adopted_just_before() {
    let web = web(1, rolling(1, 1, 0));
    let mut history = History::of(rolling(1, 1, 0));
    let mut adopted = set("v1", 1, [1, 2]);
    adopted["metadata"]["ownerReferences"] = json!(null);
    history.user("replicasets", "v1", &adopted);
    history.later();
    history.controller("replicasets", "v1", &set("v1", 1, [1, 2]));
    history.user("deployments", "web", &deleted_with("orphan", web));
    assert_eq!(history.collected("deployments", "web"), [""; 0]);
    assert_eq!(history.collected("replicasets", "v1"), [""; 0]);
}

/// The user deletes the Deployment again before its sets are orphaned.
#[test]
fn sets_are_collected_if_a_second_deletion_does_not_orphan_them() {
    let web = web(1, rolling(1, 1, 0));
    let orphaning = || {
        let mut history = History::of(rolling(1, 1, 0));
        history.controller("replicasets", "v1", &set("v1", 1, [1, 2]));
        history.later();
        history.user("deployments", "web", &deleted_with("orphan", web.clone()));
        history
    };
    let mut background = orphaning();
    background.observe(Writer::Other, "deployments", "web", None);
    assert_eq!(background.collected("replicasets", "v1"), [""; 0]);
    let mut foreground = orphaning();
    foreground.user("deployments", "web", &deleted_with("foregroundDeletion", web.clone()));
    assert_eq!(foreground.collected("replicasets", "v1"), [""; 0]);
}

/// A Deployment that is created again has not observed the orphaned set yet and creates one of another name; then it
/// adopts the orphan.
#[test]
fn of_equal_sets_one_may_be_left_over_only_if_one_was_adopted() {
    let equal = |name: &str, revision: &str, owner: &str| {
        let mut set = set(name, 0, [0, 0]);
        set["spec"]["template"] = template("app");
        set["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!(revision);
        set["metadata"]["ownerReferences"][0]["uid"] = json!(owner);
        set
    };
    let mut rolled_out = web(1, rolling(0, 1, 0));
    rolled_out["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": "2"});
    rolled_out["status"] = json!({"observedGeneration": 1});
    rolled_out["spec"]["template"] = template("app");
    for (owner, broken) in
        [("web", Some("a rollout ends in one set of the present template")), ("before", None)]
    {
        let mut history = History::of(rolling(0, 1, 0));
        history.controller("replicasets", "orphan", &equal("orphan", "1", owner));
        history.controller("replicasets", "created", &equal("created", "1", "web"));
        history.controller("replicasets", "orphan", &equal("orphan", "2", "web"));
        history.user("deployments", "web", &rolled_out);
        let found = history.judge.settled().into_iter().map(|finding| finding.broken).next();
        assert_eq!(found, broken, "owned by {owner} at first");
    }
}

/// A deletion in the foreground has begun; then the user deletes the Deployment again, with its sets orphaned.
#[test]
fn a_set_in_foreground_deletion_is_removed_although_a_later_deletion_orphans() {
    let web = web(1, rolling(1, 1, 0));
    let mut history = History::of(rolling(1, 1, 0));
    for name in ["v1", "v2", "v3"] {
        history.controller("replicasets", name, &set(name, 1, [1, 2]));
    }
    history.later();
    history.user("deployments", "web", &deleted_with("foregroundDeletion", web.clone()));
    let ending = deleted_with("foregroundDeletion", set("v1", 1, [1, 2]));
    assert_eq!(history.collector("replicasets", "v1", &ending), [""; 0]);
    history.user("deployments", "web", &deleted_with("orphan", web));
    assert_eq!(history.collected("replicasets", "v3"), [""; 0], "its deletion was under way");
    history.later();
    let broken = history.collector("replicasets", "v2", &deleted(set("v2", 1, [1, 2])));
    assert_eq!(broken, ["the garbage collector deletes nothing with a living owner"]);
    assert_eq!(history.collected("replicasets", "v1"), [""; 0]);
}
