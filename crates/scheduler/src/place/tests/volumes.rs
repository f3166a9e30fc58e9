//! Pods with persistent volume claims. The messages are those of kube-scheduler 1.37.

use super::*;

/// The placement of a pod that claims `data` in a cluster of the nodes a and b.
fn place_pod(claim: Option<Value>, volumes: &[Value], classes: &[Value]) -> Placement {
    let mut cluster = cluster(&[node("a"), node("b")]);
    let storage = cluster.storage_mut();
    if let Some(mut claim) = claim {
        claim["metadata"]["name"] = json!("data");
        claim["metadata"]["namespace"] = json!("shop");
        storage.set_claim(&gantry_json::from_value(claim).unwrap());
    }
    for volume in volumes {
        storage.set_volume(&gantry_json::from_value(volume.clone()).unwrap());
    }
    for class in classes {
        storage.set_class(&gantry_json::from_value(class.clone()).unwrap());
    }
    let spec = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]});
    place(&cluster, &parsed_pod(&pod("web", &spec)))
}

fn message(placement: &Placement) -> String {
    match placement {
        Placement::Node(node) => format!("on {node}"),
        Placement::Unschedulable(reasons) => reasons.to_string(),
    }
}

fn claim(class: &str, volume: Option<&str>) -> Value {
    json!({"metadata": {}, "spec": {
        "storageClassName": class, "volumeName": volume, "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }})
}

fn bound(volume: &str) -> Value {
    let mut claim = claim("manual", Some(volume));
    claim["status"] = json!({"phase": "Bound"});
    claim
}

fn volume(name: &str, class: &str, node: Option<&str>) -> Value {
    let affinity = node.map(|node| {
        let here = json!({"key": "kubernetes.io/hostname", "operator": "In", "values": [node]});
        json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}})
    });
    json!({"metadata": {"name": name}, "spec": {
        "storageClassName": class, "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "nodeAffinity": affinity,
    }})
}

fn class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode})
}

#[test]
fn a_missing_claim_makes_the_pod_unschedulable() {
    assert_eq!(
        message(&place_pod(None, &[], &[])),
        "0/2 nodes are available: persistentvolumeclaim \"data\" not found. not found"
    );
    let ephemeral = json!({"volumes": [{"name": "v", "ephemeral": {}}]});
    let placement = place(&cluster(&[node("a")]), &parsed_pod(&pod("web", &ephemeral)));
    assert_eq!(
        message(&placement),
        "0/1 nodes are available: waiting for ephemeral volume controller to create the \
         persistentvolumeclaim \"web-v\". not found"
    );
}

#[test]
fn an_unbound_immediate_claim_makes_the_pod_unschedulable() {
    let unbound = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
    let immediate = class("fast", "example.com/disks", "Immediate");
    let waits = class("late", "example.com/disks", "WaitForFirstConsumer");
    for claim in [claim("", None), claim("fast", None), claim("missing", None), claim("late", Some("pv"))] {
        assert_eq!(message(&place_pod(Some(claim), &[], &[immediate.clone(), waits.clone()])), unbound);
    }
}

#[test]
fn a_claim_being_deleted_makes_the_pod_unschedulable() {
    let mut deleting = bound("pv");
    deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(
        message(&place_pod(Some(deleting), &[volume("pv", "manual", None)], &[])),
        "0/2 nodes are available: persistentvolumeclaim \"data\" is being deleted. not found"
    );
}

#[test]
fn a_bound_claim_restricts_the_pod_to_the_nodes_of_its_volume() {
    let here = volume("pv", "manual", Some("b"));
    assert_eq!(message(&place_pod(Some(bound("pv")), &[here], &[])), "on b");
    let unknown_nodes = volume("pv", "manual", Some("c"));
    let not_helpful = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    assert_eq!(
        message(&place_pod(Some(bound("pv")), &[unknown_nodes], &[])),
        format!(
            "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity. {not_helpful}"
        )
    );
    assert_eq!(
        message(&place_pod(Some(bound("pv")), &[], &[])),
        format!(
            "0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent \
             pv(s). {not_helpful}"
        )
    );
}

#[test]
fn a_claim_that_waits_for_its_first_consumer_needs_a_volume_or_a_provisioner() {
    let by_hand = class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
    let made = class("made", "example.com/disks", "WaitForFirstConsumer");
    let classes = [by_hand, made];
    let nothing = "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. \
                   preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    assert_eq!(message(&place_pod(Some(claim("local", None)), &[], &classes)), nothing);
    let other = volume("pv", "other", None);
    assert_eq!(message(&place_pod(Some(claim("local", None)), &[other], &classes)), nothing);
    let timed_out = "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";
    assert_eq!(message(&place_pod(Some(claim("made", None)), &[], &classes)), timed_out);
    let fitting = volume("pv", "local", Some("b"));
    assert_eq!(message(&place_pod(Some(claim("local", None)), &[fitting], &classes)), timed_out);
}
