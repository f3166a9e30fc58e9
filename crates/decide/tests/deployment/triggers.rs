//! Which Deployments a change enqueues.

use gantry_decide::deployment::triggers::{
    Lookup, on_deployment, on_pod_deleted, on_set_added, on_set_deleted, on_set_updated,
};
use gantry_model::{Deployment, Name, Namespace, ObjectKey, ReplicaSet, Selector};
use gantry_testkit::{
    DeploymentBuilder, PodBuilder, ReplicaSetBuilder, deployment, invalid_selector, labels, noon_plus, pod,
    replica_set, selector,
};

#[derive(Default)]
struct Caches {
    deployments: Vec<Deployment>,
    sets: Vec<ReplicaSet>,
}

impl Lookup for Caches {
    fn deployment(&self, namespace: &Namespace, name: &Name) -> Option<&Deployment> {
        self.deployments(namespace).find(|deployment| deployment.meta.name == *name)
    }

    fn deployments(&self, namespace: &Namespace) -> impl Iterator<Item = &Deployment> {
        self.deployments.iter().filter(move |deployment| deployment.meta.namespace == *namespace)
    }

    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.iter().find(|set| set.meta.namespace == *namespace && set.meta.name == *name)
    }
}

fn caches(deployments: &[&Deployment]) -> Caches {
    Caches { deployments: deployments.iter().copied().cloned().collect(), sets: Vec::new() }
}

fn names(keys: &[ObjectKey]) -> Vec<&str> {
    keys.iter().map(|key| key.name.as_str()).collect()
}

/// The next version of a set.
fn changed(set: &ReplicaSet, change: impl FnOnce(&mut ReplicaSet)) -> ReplicaSet {
    let mut set = set.clone();
    set.meta.resource_version = "2".into();
    change(&mut set);
    set
}

/// D1.1: a change of a Deployment enqueues it.
#[test]
fn a_changed_deployment_is_enqueued() {
    assert_eq!(on_deployment(&deployment("web")), ObjectKey::new("default", "web"));
}

/// D1.2, D1.7: an owned set enqueues its owner, an orphan every Deployment that might adopt it.
#[test]
fn an_added_set_enqueues_its_owner_or_all_that_match() {
    let (web, also, mut other) = (deployment("web"), deployment("also"), deployment("other"));
    other.selector = Ok(selector(&[("app", "other")]));
    let caches = caches(&[&web, &also, &other]);
    assert_eq!(names(&on_set_added(&replica_set("rs").owned_by(&also), &caches)), ["also"]);
    assert_eq!(names(&on_set_added(&replica_set("rs"), &caches)), ["web", "also"]);
    let terminating_orphan = replica_set("rs").deleting_since(noon_plus(0));
    assert_eq!(names(&on_set_added(&terminating_orphan, &caches)), [""; 0], "treated as a deletion");
    let terminating = replica_set("rs").owned_by(&web).deleting_since(noon_plus(0));
    assert_eq!(names(&on_set_added(&terminating, &caches)), ["web"]);
}

/// D1.7: a set without labels matches nothing, and selectors of everything and invalid selectors match nothing.
#[test]
fn orphans_match_only_by_real_labels_and_real_selectors() {
    let (mut all, mut invalid) = (deployment("all"), deployment("invalid"));
    all.selector = Ok(Selector::Everything);
    invalid.selector = Err(invalid_selector());
    let found = caches(&[&all, &invalid]);
    assert_eq!(names(&on_set_added(&replica_set("rs"), &found)), [""; 0]);
    let mut unlabelled = replica_set("rs");
    unlabelled.meta.labels.clear();
    assert_eq!(names(&on_set_added(&unlabelled, &caches(&[&deployment("web")]))), [""; 0]);
}

/// D1.3, O7.5: kind, name and uid must agree; the apiVersion need not.
#[test]
fn a_controller_reference_resolves_by_kind_name_and_uid() {
    let web = deployment("web");
    let found = caches(&[&web]);
    let with_owner = |change: fn(&mut gantry_model::OwnerReference)| {
        let mut set = replica_set("rs").owned_by(&web);
        change(&mut set.meta.owners[0]);
        on_set_added(&set, &found)
    };
    assert_eq!(names(&with_owner(|owner| owner.api_version = "extensions/v1beta1".into())), ["web"]);
    assert_eq!(with_owner(|owner| owner.kind = "StatefulSet".into()), []);
    assert_eq!(with_owner(|owner| owner.name = "web2".into()), []);
    assert_eq!(with_owner(|owner| owner.uid = "another".into()), []);
}

/// D1.4: the old owner and the new one are enqueued; an orphan enqueues only if its labels or owners changed.
#[test]
fn an_updated_set_enqueues_both_owners() {
    let (web, also) = (deployment("web"), deployment("also"));
    let found = caches(&[&web, &also]);
    let set = replica_set("rs").owned_by(&web);
    assert_eq!(on_set_updated(&set, &set, &found), [], "the same version is ignored");
    let touched = changed(&set, |_| {});
    assert_eq!(names(&on_set_updated(&set, &touched, &found)), ["web"]);
    let moved = changed(&set, |set| *set = set.clone().owned_by(&also));
    assert_eq!(names(&on_set_updated(&set, &moved, &found)), ["web", "also"]);
    let released = changed(&set, |set| set.meta.owners.clear());
    assert_eq!(
        names(&on_set_updated(&set, &released, &found)),
        ["web", "web", "also"],
        "the queue coalesces"
    );
    let orphan = replica_set("rs");
    assert_eq!(on_set_updated(&orphan, &changed(&orphan, |set| set.replicas = 9.into()), &found), []);
    let relabelled = changed(&orphan, |set| set.meta.labels = labels(&[("app", "web"), ("tier", "gold")]));
    assert_eq!(names(&on_set_updated(&orphan, &relabelled, &found)), ["web", "also"]);
}

/// D1.4: a controller reference that changed in any field counts as changed.
#[test]
fn a_changed_reference_enqueues_the_previous_owner() {
    let web = deployment("web");
    let found = caches(&[&web]);
    let set = replica_set("rs").owned_by(&web);
    let unblocked = changed(&set, |set| set.meta.owners[0].block_owner_deletion = false);
    assert_eq!(names(&on_set_updated(&set, &unblocked, &found)), ["web", "web"]);
}

/// D1.5, D1.8: a deleted set enqueues its owner, however stale its last known state; an orphan enqueues none.
#[test]
fn a_deleted_set_enqueues_its_owner() {
    let web = deployment("web");
    let found = caches(&[&web]);
    let stale = replica_set("rs").owned_by(&web).size(7);
    assert_eq!(names(&on_set_deleted(&stale, &found)), ["web"]);
    assert_eq!(on_set_deleted(&replica_set("rs"), &found), []);
}

/// D1.6: a deleted pod enqueues a Deployment with the strategy Recreate, and no other.
#[test]
fn a_deleted_pod_enqueues_a_recreating_deployment() {
    let woken = |web: &Deployment, set: &ReplicaSet, cached: Option<&ReplicaSet>| {
        let found = Caches { deployments: vec![web.clone()], sets: cached.into_iter().cloned().collect() };
        on_pod_deleted(&pod("p").owned_by(set), &found)
    };
    let recreating = deployment("web").recreate();
    let rolling = deployment("web");
    let set = replica_set("rs").owned_by(&recreating);
    assert_eq!(woken(&recreating, &set, Some(&set)), Some(ObjectKey::new("default", "web")));
    assert_eq!(woken(&rolling, &set, Some(&set)), None);
    assert_eq!(woken(&recreating, &set, None), None, "the set is not known");
    let orphan = replica_set("rs");
    assert_eq!(woken(&recreating, &orphan, Some(&orphan)), None);
    let mut recreated = set.clone();
    recreated.meta.uid = "another".into();
    assert_eq!(woken(&recreating, &set, Some(&recreated)), None, "another set of the same name");
    let found = Caches { deployments: vec![recreating], sets: vec![set] };
    assert_eq!(on_pod_deleted(&pod("p"), &found), None, "an orphan");
    let mut foreign = pod("p").owned_by(&found.sets[0]);
    foreign.meta.owners[0].kind = "StatefulSet".into();
    assert_eq!(on_pod_deleted(&foreign, &found), None);
}
