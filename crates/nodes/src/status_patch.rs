//! The patch that writes a pod's status, and whether it is needed.

use gantry_json::{Value, json};
use k8s_openapi::api::core::v1::{PodCondition, PodStatus};

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
        && new.observed_generation == stored.observed_generation;
    !is_same || !new.conditions.iter().flatten().all(is_stored)
}

/// Returns the patch that writes the status of the pod with this uid.
///
/// Conditions are merged by type, so fields that a condition no longer has must be set to null.
pub(crate) fn patch(uid: &str, status: &PodStatus) -> Value {
    let mut status = gantry_json::to_value(status);
    let conditions = status["conditions"].as_array_mut().into_iter().flatten();
    for condition in conditions.filter_map(Value::as_object_mut) {
        for field in ["reason", "message"] {
            condition.entry(field).or_insert(Value::Null);
        }
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
        let patch = patch("u1", &ready);
        assert_eq!(patch["metadata"], json!({"uid": "u1"}));
        let condition = &patch["status"]["conditions"][0];
        assert!(condition["reason"].is_null() && condition.get("reason").is_some());
        assert!(condition["message"].is_null() && condition.get("message").is_some());
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
            ephemeral_container_statuses: Some(vec![k8s_openapi::api::core::v1::ContainerStatus::default()]),
            ..same.clone()
        };
        assert!(is_needed(&stored, &debugged));
        let mut unready = same;
        unready.conditions.as_mut().unwrap()[0].status = "False".to_owned();
        assert!(is_needed(&stored, &unready));
    }
}
