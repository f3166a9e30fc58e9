//! Rules of pods: bindings, evictions, and status fields that nodes may leave out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::lifecycle::{Part, Updated, update};
use gantry_registry::pods::eviction::{EvictionCost, check, decrement_disruptions_allowed, mark};
use gantry_registry::pods::{binding, container};
use gantry_schema::kinds::kinds;

const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

fn running(is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    json!({
        "metadata": {"name": "p", "uid": "u", "resourceVersion": "7", "labels": {"app": "web"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
    })
}

fn budget(selector: &Value, allowed: i64, healthy: i64, needed: i64) -> Value {
    json!({
        "metadata": {"name": "pdb", "generation": 1}, "spec": {"selector": selector},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": needed},
    })
}

/// A8.1: the target of a binding has a valid name of a node.
#[test]
fn a_binding_names_a_valid_node_name() {
    let to = |name: &str| binding::check(&json!({"target": {"kind": "Node", "name": name}}));
    assert!(to("n1").is_ok());
    let refused = to("../x").unwrap_err();
    assert!(
        refused.message.starts_with("target.name: Invalid value: \"../x\": a lowercase RFC 1123 subdomain")
    );
}

/// A8.1: the transition time of the condition is the time of the binding.
#[test]
fn a_bound_pod_is_scheduled_since_then() {
    let mut waiting = running(true);
    waiting["spec"].as_object_mut().unwrap().remove("nodeName");
    waiting["status"]["conditions"] =
        json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]);
    let bound = binding::bind(&waiting, &json!({"target": {"name": "n2"}}), NOON).unwrap();
    assert_eq!(bound["spec"]["nodeName"], "n2");
    let scheduled = json!([{
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T12:00:00Z",
    }]);
    assert_eq!(bound["status"]["conditions"], scheduled);
    assert!(
        binding::bind(&bound, &json!({"target": {"name": "n2"}}), NOON).is_err(),
        "A8.2: a pod is bound once"
    );
}

/// A8.7: an empty selector selects every pod, an absent or invalid one none.
#[test]
fn a_budget_applies_to_the_pods_that_it_selects() {
    let pod = running(true);
    let cost = |selector: Value| check(&pod, &[budget(&selector, 1, 3, 2)]).unwrap();
    assert_eq!(cost(json!({})), EvictionCost::Decrements("pdb".to_owned()));
    assert_eq!(cost(json!({"matchLabels": {"app": "web"}})), EvictionCost::Decrements("pdb".to_owned()));
    assert_eq!(cost(json!({"matchLabels": {"app": "other"}})), EvictionCost::Free);
    assert_eq!(cost(Value::Null), EvictionCost::Free);
    assert_eq!(cost(json!({"matchExpressions": [{"key": "app", "operator": "Foo"}]})), EvictionCost::Free);
}

/// A8.7: evicting a pod that does not run is free; if it might run again, only at the version that was checked.
#[test]
fn a_pod_that_might_run_is_evicted_at_the_checked_version_only() {
    let budgets = [budget(&json!({}), 0, 1, 2)];
    let cost = |pod: &Value| check(pod, &budgets).unwrap();
    let mut pod = running(false);
    for phase in ["Succeeded", "Failed"] {
        pod["status"]["phase"] = json!(phase);
        assert_eq!(cost(&pod), EvictionCost::Free);
    }
    pod["status"]["phase"] = json!("Pending");
    assert_eq!(cost(&pod), EvictionCost::FreeAt { version: "7".to_owned(), budget: None });
    let healthy = [budget(&json!({}), 0, 2, 2)];
    let free = EvictionCost::FreeAt { version: "7".to_owned(), budget: Some("pdb".to_owned()) };
    assert_eq!(check(&running(false), &healthy).unwrap(), free);
    assert_eq!(check(&running(true), &healthy).unwrap(), EvictionCost::Decrements("pdb".to_owned()));
    let none_needed = [budget(&json!({}), 0, 0, 0)];
    assert_eq!(
        check(&running(false), &none_needed).unwrap(),
        EvictionCost::Decrements("pdb".to_owned()),
        "no healthy pod is required"
    );
}

/// A8.7, A8.8: a disruption is recorded in the budget, and the last allowed one changes its condition.
#[test]
fn a_disruption_is_recorded_in_the_budget() {
    let twice = budget(&json!({}), 2, 4, 2);
    let once = decrement_disruptions_allowed(&twice, "a", NOON).unwrap();
    assert_eq!(once["status"].get("conditions"), None);
    let none = decrement_disruptions_allowed(&once, "b", NOON.plus(5)).unwrap();
    assert_eq!(
        none["status"]["disruptedPods"],
        json!({"a": "2026-01-01T12:00:00Z", "b": "2026-01-01T12:00:05Z"})
    );
    assert_eq!(none["status"]["conditions"][0]["reason"], "InsufficientPods");
    assert_eq!(decrement_disruptions_allowed(&none, "c", NOON).unwrap_err().reason.code(), 429);
    let negative = budget(&json!({}), -1, 4, 2);
    assert_eq!(decrement_disruptions_allowed(&negative, "a", NOON).unwrap_err().reason.code(), 403);
}

/// A8.7: a pod that is marked as disrupted is not marked again.
#[test]
fn a_pod_is_marked_as_disrupted_once() {
    let marked = mark(&running(true), NOON);
    assert_eq!(mark(&marked, NOON.plus(60)), marked);
}

/// A8.4, A8.3: a status without the QoS class and observed generations does not remove them.
#[test]
fn a_status_without_qos_class_and_generations_keeps_them() {
    let mut stored = running(true);
    stored["status"]["qosClass"] = json!("Burstable");
    stored["status"]["observedGeneration"] = json!(3);
    stored["status"]["conditions"][0]["observedGeneration"] = json!(2);
    let mut sent = running(false);
    sent["status"]["phase"] = json!("Failed");
    let Updated::Store(object) =
        update(&stored, sent, Part::Status, kinds().resource("", "v1", "pods").unwrap())
    else {
        panic!("the status differs")
    };
    assert_eq!(
        (&object["status"]["qosClass"], &object["status"]["observedGeneration"]),
        (&json!("Burstable"), &json!(3))
    );
    assert_eq!(object["status"]["conditions"][0]["observedGeneration"], 2);
    assert_eq!(object["status"]["phase"], "Failed");
}

/// A§8.5: the container of a request is the named one, or the only one.
#[test]
fn a_container_is_named_or_the_only_one() {
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], "ephemeralContainers": [{"name": "debug"}]},
    });
    assert_eq!(container(&running(true), "").unwrap(), "c");
    assert_eq!(container(&pod, "debug").unwrap(), "debug");
    let why = "a container name must be specified for pod p, choose one of: [a b]";
    assert_eq!(container(&pod, "").unwrap_err().message, why);
}
