//! The patch that writes a pod's status, and whether it is needed.

use gantry_json::{Value, json};
use k8s_openapi::api::core::v1::{ContainerStatus, PodCondition, PodStatus};

use crate::pod_lifecycle::{RESIZE_IN_PROGRESS, RESIZE_PENDING};

/// The conditions that a pod has only temporarily.
const TEMPORARY: [&str; 2] = [RESIZE_PENDING, RESIZE_IN_PROGRESS];

/// Whether a new status differs from the stored one in a field that the node owns.
pub(crate) fn is_needed(stored: &PodStatus, new: &PodStatus) -> bool {
    let conditions = stored.conditions.as_deref().unwrap_or_default();
    let is_stored = |condition: &PodCondition| {
        conditions.iter().any(|old| PodCondition { last_probe_time: None, ..old.clone() } == *condition)
    };
    let is_same = new.phase == stored.phase
        && new.host_ip == stored.host_ip
        && new.host_ips == stored.host_ips
        && (new.pod_ip.is_none() || new.pod_ip == stored.pod_ip)
        && (new.pod_ips.is_none() || new.pod_ips == stored.pod_ips)
        && new.start_time == stored.start_time
        && new.init_container_statuses == stored.init_container_statuses
        && new.container_statuses == stored.container_statuses
        && new.ephemeral_container_statuses == stored.ephemeral_container_statuses
        && new.allocated_resources == stored.allocated_resources
        && new.resources == stored.resources
        && new.observed_generation == stored.observed_generation;
    !is_same || !new.conditions.iter().flatten().all(is_stored) || removed(stored, new).next().is_some()
}

/// Whether no decision can depend on a status: containers of a new pod are being created, or only the generation of the
/// spec differs.
pub(crate) fn is_passing(stored: &PodStatus, new: &PodStatus) -> bool {
    let is_pending = |status: &PodStatus| status.phase.as_deref().is_none_or(|phase| phase == "Pending");
    if is_pending(stored) && is_pending(new) {
        let containers = new.init_container_statuses.iter().chain(&new.container_statuses).flatten();
        return containers.into_iter().all(is_being_created);
    }
    let without_generation = |status: &PodStatus| {
        let mut status = status.clone();
        status.observed_generation = None;
        for condition in status.conditions.iter_mut().flatten() {
            condition.observed_generation = None;
        }
        status
    };
    !is_needed(&without_generation(stored), &without_generation(new))
}

fn is_being_created(container: &ContainerStatus) -> bool {
    let waiting = container.state.as_ref().and_then(|state| state.waiting.as_ref());
    let reason = waiting.and_then(|waiting| waiting.reason.as_deref());
    container.restart_count == 0 && matches!(reason, Some("ContainerCreating" | "PodInitializing"))
}

/// Returns a status that was written: if it has no addresses, it has those of the previous one, as the stored status
/// does.
pub(crate) fn with_addresses(written: PodStatus, before: &PodStatus) -> PodStatus {
    PodStatus {
        pod_ip: written.pod_ip.or_else(|| before.pod_ip.clone()),
        pod_ips: written.pod_ips.or_else(|| before.pod_ips.clone()),
        ..written
    }
}

/// Returns the conditions that the node has reported and does not report any more.
fn removed<'a>(stored: &'a PodStatus, new: &'a PodStatus) -> impl Iterator<Item = &'a str> {
    let stored = stored.conditions.iter().flatten().map(|condition| condition.type_.as_str());
    let is_absent = |name: &str| !new.conditions.iter().flatten().any(|condition| condition.type_ == name);
    stored.filter(|name| TEMPORARY.contains(name)).filter(move |name| is_absent(name))
}

/// Returns the patch that writes the status of the pod with this uid.
///
/// Conditions are merged by type, so fields that a condition no longer has must be set to null.
pub(crate) fn patch(uid: &str, stored: &PodStatus, new: &PodStatus) -> Value {
    let mut status = gantry_json::to_value(new);
    let conditions = status["conditions"].as_array_mut().into_iter().flatten();
    for condition in conditions.filter_map(Value::as_object_mut) {
        for field in ["reason", "message"] {
            condition.entry(field).or_insert(Value::Null);
        }
    }
    // Addresses are merged, too: a pod that was started again after a restart of the machine would keep its old one.
    let is_new = |ip: &str| new.pod_ips.iter().flatten().any(|new| new.ip == ip);
    let old = stored.pod_ips.iter().flatten().filter(|old| !is_new(&old.ip));
    if let Some(addresses) = status.get_mut("podIPs").and_then(Value::as_array_mut) {
        addresses.extend(old.map(|old| json!({"$patch": "delete", "ip": old.ip})));
    }
    let removed = removed(stored, new).map(|name| json!({"$patch": "delete", "type": name}));
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.extend(removed);
    }
    json!({"metadata": {"uid": uid}, "status": status})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(json: Value) -> PodStatus {
        gantry_json::from_value(json).unwrap()
    }

    /// A8.3: a condition that is true again has neither reason nor message.
    #[test]
    fn removed_fields_of_a_condition_are_set_to_null() {
        let ready = status(json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}));
        let patch = patch("u1", &PodStatus::default(), &ready);
        assert_eq!(patch["metadata"], json!({"uid": "u1"}));
        let condition = &patch["status"]["conditions"][0];
        assert!(condition["reason"].is_null() && condition.get("reason").is_some());
        assert!(condition["message"].is_null() && condition.get("message").is_some());
    }

    /// A8.3: conditions are merged by type, so one that does not hold any more is removed by name, and those of other
    /// components are left alone.
    #[test]
    fn an_absent_condition_is_removed() {
        let stored = status(json!({"conditions": [
            {"type": "PodResizeInProgress", "status": "True"}, {"type": "shop.io/open", "status": "True"},
        ]}));
        let ready = status(json!({"conditions": [{"type": "Ready", "status": "True"}]}));
        assert!(is_needed(&stored, &status(json!({"conditions": []}))));
        let patch = patch("u1", &stored, &ready);
        let conditions = patch["status"]["conditions"].as_array().unwrap();
        assert_eq!(conditions.len(), 2);
        assert_eq!(conditions[1], json!({"$patch": "delete", "type": "PodResizeInProgress"}));
    }

    #[test]
    fn a_new_address_replaces_the_old_one() {
        let moved = status(json!({"podIP": "10.0.0.2", "podIPs": [{"ip": "10.0.0.2"}]}));
        let stored = with_addresses(moved.clone(), &status(json!({"podIPs": [{"ip": "10.0.0.1"}]})));
        assert_eq!(stored, moved);
        let restarted = with_addresses(status(json!({})), &status(json!({"podIPs": [{"ip": "10.0.0.1"}]})));
        let patch = patch("u1", &restarted, &moved);
        let expected = json!([{"ip": "10.0.0.2"}, {"$patch": "delete", "ip": "10.0.0.1"}]);
        assert_eq!(patch["status"]["podIPs"], expected);
    }

    #[test]
    fn only_changes_are_written() {
        let stored = status(json!({
            "phase": "Running", "qosClass": "BestEffort", "startTime": "2026-01-01T00:00:00Z",
            "conditions": [
                {"type": "Ready", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "shop.io/open", "status": "False"},
            ],
        }));
        let same = status(json!({
            "phase": "Running", "startTime": "2026-01-01T00:00:00Z",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        }));
        assert!(!is_needed(&stored, &same));
        let phase = PodStatus { phase: Some("Failed".to_owned()), ..same.clone() };
        assert!(is_needed(&stored, &phase));
        let debugged = PodStatus {
            ephemeral_container_statuses: Some(vec![ContainerStatus::default()]),
            ..same.clone()
        };
        assert!(is_needed(&stored, &debugged));
        let mut unready = same;
        unready.conditions.as_mut().unwrap()[0].status = "False".to_owned();
        assert!(is_needed(&stored, &unready));
    }
}
