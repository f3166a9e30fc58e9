//! The status of a pod as a patch, and whether there is anything to say.

use k8s_openapi::api::core::v1::{PodCondition, PodStatus};
use serde_json::{Value, json};

/// Whether a report says something that the stored status does not.
pub(crate) fn is_news(stored: &PodStatus, report: &PodStatus) -> bool {
    let conditions = stored.conditions.as_deref().unwrap_or_default();
    let known = |new: &PodCondition| {
        conditions.iter().any(|old| PodCondition { last_probe_time: None, ..old.clone() } == *new)
    };
    let with_the_report = PodStatus {
        phase: report.phase.clone(),
        host_ip: report.host_ip.clone(),
        host_ips: report.host_ips.clone(),
        pod_ip: report.pod_ip.clone().or_else(|| stored.pod_ip.clone()),
        pod_ips: report.pod_ips.clone().or_else(|| stored.pod_ips.clone()),
        start_time: report.start_time.clone(),
        init_container_statuses: report.init_container_statuses.clone(),
        container_statuses: report.container_statuses.clone(),
        observed_generation: report.observed_generation,
        ..stored.clone()
    };
    with_the_report != *stored || !report.conditions.iter().flatten().all(known)
}

/// The patch that reports a status of the pod with this uid.
///
/// Conditions are merged by type, so what a condition no longer says must be said to be nothing.
pub(crate) fn patch(uid: &str, report: &PodStatus) -> Value {
    let mut status = serde_json::to_value(report).unwrap_or_default();
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
        serde_json::from_value(json).unwrap()
    }

    /// A8.3: a condition that is true again has neither reason nor message.
    #[test]
    fn what_a_condition_no_longer_says_is_taken_back() {
        let ready = status(json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}));
        let patch = patch("u1", &ready);
        assert_eq!(patch["metadata"], json!({"uid": "u1"}));
        let condition = &patch["status"]["conditions"][0];
        assert!(condition["reason"].is_null() && condition.get("reason").is_some());
        assert!(condition["message"].is_null() && condition.get("message").is_some());
    }

    #[test]
    fn only_news_is_reported() {
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
        assert!(!is_news(&stored, &same));
        let phase = PodStatus { phase: Some("Failed".to_owned()), ..same.clone() };
        assert!(is_news(&stored, &phase));
        let mut unready = same;
        unready.conditions.as_mut().unwrap()[0].status = "False".to_owned();
        assert!(is_news(&stored, &unready));
    }
}
