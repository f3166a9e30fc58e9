//! Limit ranges.

use gantry_json::json;

use super::{PODS, created, pod, refused, server};

/// A§2.6 limit range: containers get the defaults of a limit range, and may not exceed its limits.
#[tokio::test]
async fn containers_are_defaulted_and_limited_by_limit_ranges() {
    let server = server().await;
    let limit = json!({"type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"}, "max": {"cpu": "1"}});
    let range = json!({"metadata": {"name": "lr"}, "spec": {"limits": [limit]}});
    created(&server, "/api/v1/namespaces/default/limitranges", range).await;
    let made = created(&server, PODS, pod("p", json!({}))).await;
    let resources = json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}});
    assert_eq!(made["spec"]["containers"][0]["resources"], resources);
    assert_eq!(made["status"]["qosClass"], "Burstable", "the defaults count for the class");
    assert_eq!(
        made["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
    );
    let greedy =
        json!({"containers": [{"name": "c", "image": "x:1", "resources": {"limits": {"cpu": "2"}}}]});
    assert_eq!(
        refused(&server, PODS, pod("greedy", greedy), 403).await,
        "pods \"greedy\" is forbidden: maximum cpu usage per Container is 1, but limit is 2"
    );
}
