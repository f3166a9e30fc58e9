//! The table of served kinds, and lookups in it.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_schema::kinds::{
    BlindPut, DefaultPropagation, DeleteAnswer, Generation, Kind, PutAbsent, Scope, Verb, kinds,
};

fn kind(group: &str, version: &str, resource: &str) -> &'static Kind {
    kinds().resource(group, version, resource).unwrap()
}

#[test]
fn a_resource_is_found_by_its_plural_and_by_its_kind() {
    let deployments = kind("apps", "v1", "deployments");
    assert_eq!((deployments.kind, deployments.scope), ("Deployment", Scope::Namespaced));
    assert_eq!(kinds().kind("apps", "v1", "Deployment").unwrap().resource, "deployments");
    assert_eq!(deployments.group_resource(), "deployments.apps");
    assert_eq!(deployments.api_version, "apps/v1");
    assert!(kinds().resource("apps", "v9", "deployments").is_none());
}

/// A1.10: storage.k8s.io and resource.k8s.io are served, because kube-scheduler waits for their lists.
#[test]
fn resources_of_the_scheduler_are_served() {
    for (group, resource) in [
        ("storage.k8s.io", "storageclasses"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csistoragecapacities"),
        ("storage.k8s.io", "volumeattachments"),
        ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceslices"),
        ("resource.k8s.io", "deviceclasses"),
        ("resource.k8s.io", "devicetaintrules"),
        ("", "persistentvolumes"),
        ("", "persistentvolumeclaims"),
    ] {
        assert!(kind(group, "v1", resource).allows(Verb::Watch), "{resource}");
    }
}

/// A1.6: every resource that can be deleted can be listed and watched; otherwise garbage collection would not start.
#[test]
fn deletable_resources_can_be_watched() {
    for kind in kinds().all().filter(|kind| kind.allows(Verb::Delete)) {
        assert!(kind.allows(Verb::List) && kind.allows(Verb::Watch), "{}", kind.resource);
    }
}

/// A2.27: dependents of jobs and replication controllers are orphaned by default; events have no dependents.
#[test]
fn dependents_are_treated_by_kind() {
    assert_eq!(kind("batch", "v1", "jobs").propagation, DefaultPropagation::Orphan);
    assert_eq!(kind("", "v1", "replicationcontrollers").propagation, DefaultPropagation::Orphan);
    assert_eq!(kind("apps", "v1", "deployments").propagation, DefaultPropagation::Background);
    assert_eq!(kind("", "v1", "events").propagation, DefaultPropagation::Unsupported);
}

/// A2.16, A2.18, A2.5: which kinds PUT creates, which need a resourceVersion, and which have a generation.
#[test]
fn writes_differ_by_kind() {
    let leases = kind("coordination.k8s.io", "v1", "leases");
    assert_eq!((leases.put_absent, leases.blind_put), (PutAbsent::Creates, BlindPut::Refused));
    let definitions = kind("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    assert_eq!((definitions.put_absent, definitions.blind_put), (PutAbsent::NotFound, BlindPut::Refused));
    assert_eq!(definitions.generation, Generation::Spec);
    let deployments = kind("apps", "v1", "deployments");
    assert_eq!((deployments.put_absent, deployments.blind_put), (PutAbsent::NotFound, BlindPut::Overwrites));
    assert_eq!(deployments.generation, Generation::SpecOrAnnotations);
    assert_eq!(kind("", "v1", "configmaps").generation, Generation::Absent);
    assert_eq!(kind("discovery.k8s.io", "v1", "endpointslices").generation, Generation::Anything);
}

/// A2.28: a DELETE of a pod or a service returns the object, of most other kinds a Status.
#[test]
fn responses_to_deletes_depend_on_the_kind() {
    assert_eq!(kind("", "v1", "pods").deleted, DeleteAnswer::Object);
    assert_eq!(kind("", "v1", "services").deleted, DeleteAnswer::Object);
    assert_eq!(kind("apps", "v1", "deployments").deleted, DeleteAnswer::Status);
    assert_eq!(kind("", "v1", "nodes").deleted, DeleteAnswer::Status);
}

/// A2.31: namespaces cannot be deleted as a collection.
#[test]
fn namespaces_cannot_be_deleted_as_a_collection() {
    assert!(!kind("", "v1", "namespaces").allows(Verb::DeleteCollection));
    assert!(kind("", "v1", "secrets").allows(Verb::DeleteCollection));
}

#[test]
fn both_event_groups_and_both_autoscaling_versions_share_their_objects() {
    assert_eq!(kind("", "v1", "events").segment, kind("events.k8s.io", "v1", "events").segment);
    assert_eq!(kinds().preferred("autoscaling"), Some("v2"));
    let hpa = |version| kind("autoscaling", version, "horizontalpodautoscalers").segment;
    assert_eq!(hpa("v1"), hpa("v2"));
}
