//! Quotas: charged on create, never exceeded, released on delete.

use gantry_json::{Value, json};
use http::Method;

use super::harness::call;
use super::{PODS, created, get, patched, pod, post, refused, server};

const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn quota(name: &str, hard: Value) -> Value {
    let mut quota = json!({"metadata": {"name": name}, "spec": {}});
    quota["spec"]["hard"] = hard;
    quota
}

/// A§2.6 quota: a refusal has the name of the quota and the requested, used and limited amounts.
#[tokio::test]
async fn requests_beyond_a_quota_are_refused() {
    let server = server().await;
    created(&server, QUOTAS, quota("q", json!({"pods": "0"}))).await;
    assert_eq!(
        refused(&server, PODS, pod("v1", json!({})), 403).await,
        "pods \"v1\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"
    );
    let dry = refused(&server, &format!("{PODS}?dryRun=All"), pod("v1", json!({})), 403).await;
    assert!(dry.contains("exceeded quota"), "a dry run is refused as well");
}

/// A§2.6 quota: any resource can be counted, its usage is in the status, and deleting objects reduces it.
#[tokio::test]
async fn usage_is_reported_and_released() {
    let server = server().await;
    created(&server, MAPS, json!({"metadata": {"name": "before"}})).await;
    created(
        &server,
        QUOTAS,
        quota("q", json!({"count/configmaps": "2", "count/jobs.batch": "1", "configmaps": "5"})),
    )
    .await;
    created(&server, MAPS, json!({"metadata": {"name": "one"}})).await;
    let path = format!("{QUOTAS}/q");
    let used = json!({"count/configmaps": "2", "count/jobs.batch": "0", "configmaps": "2"});
    assert_eq!(
        get(&server, &path).await["status"]["used"],
        used,
        "objects that existed before count as well"
    );
    let message = refused(&server, MAPS, json!({"metadata": {"name": "two"}}), 403).await;
    assert!(message.ends_with("exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2"), "{message}");
    call(&server, Method::DELETE, &format!("{MAPS}/before"), Value::Null).await;
    assert_eq!(get(&server, &path).await["status"]["used"]["count/configmaps"], "1");
    created(&server, MAPS, json!({"metadata": {"name": "two"}})).await;
    let (_, more) = patched(&server, &path, json!({"spec": {"hard": {"count/configmaps": "3"}}})).await;
    assert_eq!(more["spec"]["hard"]["count/configmaps"], "3");
    created(&server, MAPS, json!({"metadata": {"name": "three"}})).await;
    assert_eq!(get(&server, &path).await["status"]["hard"]["count/configmaps"], "3");
}

/// A§2.6 quota: amounts add up, and every container must set the limited resources.
#[tokio::test]
async fn amounts_are_charged_to_a_quota() {
    let server = server().await;
    created(&server, QUOTAS, quota("q", json!({"requests.cpu": "1", "limits.memory": "1Gi"}))).await;
    let with = |cpu: &str, memory: &str| {
        let resources = json!({"requests": {"cpu": cpu}, "limits": {"memory": memory}});
        json!({"containers": [{"name": "c", "image": "x:1", "resources": resources}]})
    };
    created(&server, PODS, pod("a", with("600m", "512Mi"))).await;
    assert_eq!(
        refused(&server, PODS, pod("b", with("500m", "1Mi")), 403).await,
        "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1"
    );
    assert_eq!(
        refused(&server, PODS, pod("b", json!({})), 403).await,
        "pods \"b\" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c"
    );
    let done = json!({"status": {"phase": "Succeeded"}});
    patched(&server, &format!("{PODS}/a/status"), done).await;
    let used = get(&server, &format!("{QUOTAS}/q")).await["status"]["used"].clone();
    assert_eq!(used, json!({"requests.cpu": "0", "limits.memory": "0"}), "a finished pod uses nothing");
    created(&server, PODS, pod("b", with("1", "1Gi"))).await;
}

/// A§2.6 quota: a scope selects pods.
#[tokio::test]
async fn a_quota_is_about_the_pods_of_its_scope() {
    let server = server().await;
    let mut scoped = quota("q", json!({"pods": "0"}));
    scoped["spec"]["scopes"] = json!(["Terminating"]);
    created(&server, QUOTAS, scoped).await;
    created(&server, PODS, pod("stays", json!({}))).await;
    assert_eq!(post(&server, PODS, pod("ends", json!({"activeDeadlineSeconds": 5}))).await.0, 403);
}

/// A§2.6 quota: concurrent requests do not exceed the quota.
#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_do_not_exceed_a_quota() {
    let server = server().await;
    created(&server, QUOTAS, quota("q", json!({"count/configmaps": "5"}))).await;
    let requests = (0..20).map(|n| {
        let server = server.clone();
        tokio::spawn(
            async move { post(&server, MAPS, json!({"metadata": {"name": format!("m{n}")}})).await.0 },
        )
    });
    let mut accepted = 0;
    for request in requests.collect::<Vec<_>>() {
        accepted += usize::from(request.await.unwrap() == 201);
    }
    assert_eq!(accepted, 5);
    let (_, maps) = call(&server, Method::GET, MAPS, Value::Null).await;
    assert_eq!(maps["items"].as_array().unwrap().len(), 5);
    assert_eq!(get(&server, &format!("{QUOTAS}/q")).await["status"]["used"]["count/configmaps"], "5");
}

/// A§2.6 quota: an update is charged by the difference.
#[tokio::test]
async fn an_update_is_charged_by_the_difference() {
    let server = server().await;
    created(&server, QUOTAS, quota("q", json!({"services.nodeports": "1"}))).await;
    let services = "/api/v1/namespaces/default/services";
    for name in ["a", "b"] {
        created(&server, services, json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}))
            .await;
    }
    let path = |name: &str| format!("{services}/{name}");
    let used = async || get(&server, &format!("{QUOTAS}/q")).await["status"]["used"].clone();
    let outside = json!({"spec": {"type": "NodePort"}});
    assert_eq!(patched(&server, &path("a"), outside.clone()).await.0, 200);
    assert_eq!(used().await, json!({"services.nodeports": "1"}));
    let (status, refusal) = patched(&server, &path("b"), outside.clone()).await;
    assert_eq!(
        (status, refusal["message"].as_str().unwrap_or_default()),
        (
            403,
            "services \"b\" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1"
        )
    );
    let dry = patched(&server, &format!("{}?dryRun=All", path("b")), outside.clone()).await;
    assert_eq!(dry.0, 403, "a dry run is refused as well");
    let inside = json!({"spec": {"type": "ClusterIP"}});
    assert_eq!(patched(&server, &path("a"), inside).await.0, 200);
    assert_eq!(used().await, json!({"services.nodeports": "0"}));
    assert_eq!(patched(&server, &path("b"), outside).await.0, 200, "released amounts can be used");
}
